"""The released layout: `data-compositional-splits.txt` (one JSON document), the models' vocabularies and their prediction files.

The original's spellings (grammer_pattern, $OBJ_0, dev, positions as strings) live here and nowhere else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from recombine.core import Batch, Example, Problem
from recombine.errors import FileError, RecombineError, shown
from recombine.families.reascan.plan import Command, encode_form, parse_command
from recombine.files import read_json
from recombine.grid.codes import ACTIONS, ADVERBS, COLORS, HEADINGS, RELATIONS, SHAPES
from recombine.grid.documents import read_document, write_document
from recombine.grid.matching import Phrase
from recombine.grid.tensor import REASCAN
from recombine.grid.world import Thing, World, inputs_of, world_of

if TYPE_CHECKING:
    from recombine.core import Family

NATIVE_NAME = "data-{split}-{part}.txt"
RELATION_NAMES = ("$SAME_ROW", "$SAME_COLUMN", "$SAME_COLOR", "$SAME_SHAPE", "$SAME_SIZE", "$IS_INSIDE")
ATTRIBUTE_NAMES = ("$SIZE", "$COLOR", "$SHAPE")
_MAX_SIDE = 24
_SECTIONS = {"validation": "dev"}


# --- writing ---------------------------------------------------------------------------------------------------------


def header(grid_size: int) -> dict[str, Any]:
    """The members of a document besides its examples."""
    return {
        "grid_size": grid_size,
        "type_grammar": "ReaSCAN-Grammer",
        "min_object_size": 1,
        "max_object_size": 4,
        "percentage_train": 0.9,
    }


def vocabulary_members() -> dict[str, Any]:
    """The word lists of a document."""
    return {
        "intransitive_verbs": ["walk"],
        "transitive_verbs": ["push", "pull"],
        "adverbs": list(ADVERBS[1:]),
        "nouns": list(SHAPES),
        "color_adjectives": list(COLORS),
        "size_adjectives": ["big", "small"],
        "relative_pronouns": ["that is"],
        "relation_clauses": [
            "in the same row as", "in the same column as", "in the same color as", "in the same shape as", "in the same size as",
            "inside of",
        ],
    }  # fmt: skip


def pattern_string(command: Command) -> str:
    """`$OBJ_0 ^ $OBJ_1 & $OBJ_2`."""
    parents = command.description.parents
    text = "$OBJ_0"
    for k in range(1, len(parents)):
        text += f" {'^' if parents[k] == k - 1 else '&'} $OBJ_{k}"
    return text


def expression(phrase: Phrase) -> str:
    """`big green object`."""
    return str(phrase)


def slots(phrase: Phrase) -> str:
    """`$SIZE $COLOR $ABS_SHAPE`: which words the phrase has."""
    present = [name for name, word in (("$SIZE", phrase.size), ("$COLOR", phrase.color)) if word]
    return " ".join([*present, "$SHAPE" if phrase.shape else "$ABS_SHAPE"])


def placed(thing: Thing) -> dict[str, Any]:
    """One object as the released files write it."""
    return {
        "vector": REASCAN.vector(thing),
        "position": {"row": str(thing.row), "column": str(thing.column)},
        "object": {"shape": thing.shape, "color": thing.color, "size": str(thing.size)},
    }


def situation(world: World) -> dict[str, Any]:
    """The world as the released files write it; object 0 is the target, the other mentioned ones follow."""
    target = world.things[0]
    return {
        "grid_size": world.size,
        "agent_position": {"row": str(world.row), "column": str(world.column)},
        "agent_direction": HEADINGS.index(world.heading),
        "target_object": placed(target),
        "distance_to_target": str(world.distance_to(target)),
        "direction_to_target": world.direction_to(target),
        "placed_objects": {str(i): placed(thing) for i, thing in enumerate(world.things)},
        "carrying_object": None,
    }


def derived(text: str, command: Command, world: World, actions: Sequence[str]) -> dict[str, Any]:
    """The fields that follow from command, world and actions; the parity test compares them with released files."""
    said = command.description
    tokens = text.replace(" ", ",")
    edges = [
        [[f"$OBJ_{said.parents[k]}", f"$OBJ_{k}"], RELATION_NAMES[RELATIONS.index(said.relations[k])]]
        for k in range(1, len(said.phrases))
    ]
    return {
        "command": tokens,
        "grammer_pattern": pattern_string(command),
        "meaning": tokens,
        "derivation": pattern_string(command),
        "situation": situation(world),
        "target_commands": ",".join(actions),
        "verb_in_command": command.verb,
        "adverb_in_command": command.adverb,
        "referred_target": expression(said.phrases[0]),
        "object_pattern_map": {f"$OBJ_{k}": slots(phrase) for k, phrase in enumerate(said.phrases)},
        "relation_map": edges,
        "object_expression": {f"$OBJ_{k}": expression(phrase) for k, phrase in enumerate(said.phrases)},
        "n_object": len(world.things),
        "n_distractor": len(world.things) - len(said.phrases),
    }


def record(row: Mapping[str, Any]) -> dict[str, Any]:
    """One row of a batch as the released files write it, with what is known about its distractors."""
    world, (command, _) = world_of(row), parse_command(row["command"])
    said = command.description
    randoms = [i for i, thing in enumerate(world.things) if thing.role == "random"]
    strategy = list(row["strategy"]) or _strategy(row)
    return {
        **derived(row["command"], command, world, row["actions"]),
        "full_relation_distractor": True,
        "has_relation_distractor": bool(row["relation_distractor"]),
        "has_attribute_distractor": bool(row["attribute_distractor"]),
        "has_isomorphism_distractor": bool(row["isomorphism_distractor"]),
        "has_random_distractor": bool(randoms),
        "n_random_distractor": len(randoms),
        "relation_distractor_metadata": _relation_notes(command) if row["relation_distractor"] else [],
        "attribute_distractor_metadata": _attribute_notes(command, strategy),
        "isomorphism_distractor_metadata": _swap_notes(said.phrases, strategy) if row["isomorphism_distractor"] else [],
        "random_distractor_metadata": [{f"$OBJ_{i}": _random_note(world, said.phrases, i) for i in randoms}],
    }


def _strategy(row: Mapping[str, Any]) -> list[int]:
    """[phrase, word] of the first attribute decoy, [swap kind, a, b] of the isomorphic one: what the sound recipe notes by roles."""
    found = [-1, -1, 0, 0, 0]
    for role, code in zip(row["object_roles"], row["object_catches"], strict=True):
        if role == "attribute" and found[0] < 0:
            found[0], found[1] = code // 8, code % 8
        if role == "isomorphism" and not found[2]:
            found[2:] = [3, (code - 64) // 8, (code - 64) % 8]
    return found


def _relation_notes(command: Command) -> list[dict[str, Any]]:
    said = command.description
    if len(said.phrases) == 2:
        return [{"distractor_metadata": {"edge": "null", "relation_old_type": "null", "full_set": True}}]
    return [
        {
            "distractor_metadata": {
                "edge": [f"$OBJ_{said.parents[k]}", f"$OBJ_{k}"],
                "relation_old_type": RELATION_NAMES[RELATIONS.index(said.relations[k])],
                "full_set": True,
            }
        }
        for k in range(1, len(said.phrases))
    ]


def _attribute_notes(command: Command, strategy: Sequence[int]) -> list[dict[str, Any]]:
    if strategy[0] < 0:
        if not any(phrase.shape not in ("", "box") for phrase in command.phrases):
            return []
        return [{"distractor_metadata": [{"modified_obj": None, "modified_attribute": None}]}]
    note = {"modified_obj": f"$OBJ_{strategy[0]}", "modified_attribute": ATTRIBUTE_NAMES[strategy[1]]}
    return [{"distractor_metadata": [note]}]


def _swap_notes(phrases: Sequence[Phrase], strategy: Sequence[int]) -> list[dict[str, Any]]:
    kind, a, b = strategy[2], strategy[3], strategy[4]
    before = phrases[a], phrases[b]
    if kind == 1:
        after = replace(before[0], color=before[1].color), replace(before[1], color=before[0].color)
    else:
        after = (
            replace(before[0], size=before[1].size, shape=before[1].shape),
            replace(before[1], size=before[0].size, shape=before[0].shape),
        )
    note = {
        "swapped_pair": [f"$OBJ_{a}", f"$OBJ_{b}"],
        "before_pair_obj_str": [expression(p) for p in before],
        "after_pair_obj_str": [expression(p) for p in after],
        "size_shuffled": kind != 1,
        "color_shuffled": kind == 1,
        "shape_shuffled": kind != 1,
    }
    return [{"distractor_metadata": [note]}]


def _random_note(world: World, phrases: Sequence[Phrase], i: int) -> str:
    """`big green square`, or ` green square` where no size word of the command binds that shape's sizes."""
    thing = world.things[i]
    word = ""
    for k, phrase in enumerate(phrases):
        if phrase.size and phrase.shape == thing.shape and phrase.color in ("", thing.color):
            is_same = world.things[k].size == thing.size
            word = phrase.size if is_same else {"small": "big", "big": "small"}[phrase.size]
    return f"{word} {thing.color} {thing.shape}"


def section_of(split: str, part: str) -> str:
    """The section of the released layout in which a part is found: held-out sets under their own names."""
    if split in ("a1", "a2", "a3", "b1", "b2", "c1", "c2"):
        return split
    return _SECTIONS.get(part, part)


def write(batches: Iterable[Batch], out: TextIO) -> None:
    """The rows as one document; parts must come one after the other."""
    stream = iter(batches)
    first = next(stream, None)
    grid = 6 if first is None or not len(first) else int(first.row(0)["grid_size"])

    def rows() -> Iterator[tuple[str, dict[str, Any]]]:
        for batch in () if first is None else (first, *stream):
            for i in range(len(batch)):
                yield section_of(batch.job.split, batch.job.part), record(batch.row(i))

    write_document({**header(grid), **vocabulary_members()}, (), rows(), out)


# --- reading ---------------------------------------------------------------------------------------------------------


def read(family: Family, path: Path) -> Iterator[Example | Problem]:
    """The examples of a released document; a row that is none becomes a Problem with its place."""
    for section, key, value in read_document(path):
        if not section:
            continue
        place = f"{section}[{key}]"
        try:
            yield read_record(family, f"{Path(path).name}:{place}", value, section, place)
        except (RecombineError, KeyError, TypeError, ValueError, IndexError, AttributeError) as problem:
            reason = f"no {problem}" if isinstance(problem, KeyError) else str(problem)
            yield Problem("malformed", f"this row is no ReaSCAN example: {reason[:200]}", place=place)


def read_record(family: Family, name: str, value: Any, section: str, place: str) -> Example:
    """One released record as an example; what it claims besides command, world and actions is kept under meta["claims"]."""
    if not isinstance(value, dict):
        raise TypeError(f"it is {shown(value)}, not an object")
    text = str(value["command"]).replace(",", " ")
    command, _ = parse_command(text)
    world = read_situation(value["situation"], len(command.phrases))
    actions = [word for word in str(value["target_commands"]).split(",") if word]
    if any(action not in ACTIONS for action in actions):
        raise ValueError(f"unknown action in {shown(value['target_commands'])}")
    held_out = section if section in ("a1", "a2", "a3", "b1", "b2", "c1", "c2") else ""
    meta = {
        "recipe": "release",
        "split": held_out,
        "part": "test" if held_out else {"dev": "validation"}.get(section, section),
        "place": place,
        "verb": value.get("verb_in_command", command.verb),
        "adverb": value.get("adverb_in_command", command.adverb),
        "clauses": len(command.phrases) - 1,
        "form": encode_form(command),
        "object_count": len(world.things),
        "action_count": len(actions),
        "interaction": "push" in actions or "pull" in actions,
        "claims": {key: value[key] for key in value if key not in ("situation", "command", "target_commands")},
        "claimed_situation": value["situation"],
    }
    return Example(family, name, {"command": text, **inputs_of(world)}, ",".join(actions), command, world, meta)


def read_situation(value: Mapping[str, Any], mentioned: int) -> World:
    """The world of a released situation, with limits; the first objects are the mentioned ones."""
    size = int(value["grid_size"])
    if not 1 <= size <= _MAX_SIDE:
        raise ValueError(f"the grid size is {size}")
    keys = sorted(value["placed_objects"], key=int)
    things = [_thing(value["placed_objects"][key], i, mentioned) for i, key in enumerate(keys)]
    target = _thing(value["target_object"], 0, mentioned)
    if not things or things[0] != target:
        raise ValueError("the target is not the first placed object")
    position = value["agent_position"]
    heading = HEADINGS[int(value["agent_direction"]) % 4]
    world = World(size, tuple(things), int(position["row"]), int(position["column"]), heading)
    if world.problems:
        raise ValueError("; ".join(world.problems[:3]))
    return world


def _thing(value: Mapping[str, Any], i: int, mentioned: int) -> Thing:
    kind, position = value["object"], value["position"]
    if kind["color"] not in COLORS or kind["shape"] not in SHAPES:
        raise ValueError(f"unknown object {shown(kind)}")
    role = "target" if i == 0 else "pivot" if i < mentioned else ""
    return Thing(int(kind["size"]), kind["color"], kind["shape"], int(position["row"]), int(position["column"]), role)


# --- what the original's models read and write besides ---------------------------------------------------------------


def vocabularies(examples: Iterable[Example]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The input and target vocabularies of a training part, as the original's models store them in JSON."""
    inputs: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for example in examples:
        inputs.update(str(example.inputs["command"]).split(" "))
        targets.update(word for word in example.answer.split(",") if word)
    return _vocabulary(inputs), _vocabulary(targets)


def _vocabulary(counts: Counter[str]) -> dict[str, Any]:
    listed = ["<PAD>", "<SOS>", "<EOS>", *counts]
    return {
        "sos_token": "<SOS>",
        "eos_token": "<EOS>",
        "pad_token": "<PAD>",
        "idx_to_word": listed,
        "word_to_idx": {word: i for i, word in enumerate(listed)},
        "word_frequencies": dict(counts),
    }


def write_predictions(pairs: Iterable[tuple[Example, str]], out: TextIO) -> None:
    """(example, answer) pairs as the prediction file that the original's error analysis reads (attention weights are empty)."""
    out.write("[")
    for i, (example, answer) in enumerate(pairs):
        predicted, target = [word for word in answer.split(",") if word], example.answer.split(",")
        equal = sum(a == b for a, b in zip(predicted, target, strict=False))
        value = {
            "input": str(example.inputs["command"]).split(" "),
            "prediction": predicted,
            "derivation": [pattern_string(example.plan)],
            "target": target,
            "situation": [situation(example.world)],
            "attention_weights_input": [],
            "attention_weights_situation": [],
            "accuracy": 100 * equal / max(len(target), len(predicted), 1),
            "exact_match": predicted == target,
        }
        out.write((",\n" if i else "\n") + json.dumps(value))
    out.write("\n]\n")


def read_predictions(family: Family, path: Path) -> Iterator[tuple[Example, str]]:
    """(example, predicted actions) of a prediction file; any other file is an error."""
    rows = read_json(path)
    if not isinstance(rows, list):
        raise FileError(f"{shown(str(path))} is no prediction file: it is not a list.")
    for i, row in enumerate(rows):
        try:
            value = {
                "command": ",".join(row["input"]),
                "situation": row["situation"][0],
                "target_commands": ",".join(row["target"]),
            }
            yield read_record(family, f"{Path(path).name}:[{i}]", value, "test", f"[{i}]"), ",".join(row["prediction"])
        except (RecombineError, KeyError, TypeError, ValueError, IndexError, AttributeError) as problem:
            raise FileError(f"row {i} of {shown(str(path))} is no prediction: {shown(str(problem))}.") from None
