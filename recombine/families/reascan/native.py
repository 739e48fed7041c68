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

from recombine.core import Batch, Example, Job, Problem
from recombine.errors import shown
from recombine.families.reascan.plan import RELATION_WORDS, VERB_WORDS, Command, encode_form, parse_command
from recombine.grid import wording
from recombine.grid.codes import ACTIONS, ADVERBS, COLORS, RELATIONS, SHAPES
from recombine.grid.documents import read_document, write_document
from recombine.grid.matching import Phrase
from recombine.grid.situations import (
    MALFORMED,
    not_a_prediction,
    read_actions,
    read_prediction_rows,
    read_thing,
    read_world,
    reason,
    situation,
    vocabulary,
)
from recombine.grid.tensor import REASCAN
from recombine.grid.world import World, inputs_of, world_of

if TYPE_CHECKING:
    from recombine.core import Family


RELATION_NAMES = ("$SAME_ROW", "$SAME_COLUMN", "$SAME_COLOR", "$SAME_SHAPE", "$SAME_SIZE", "$IS_INSIDE")
ATTRIBUTE_NAMES = ("$SIZE", "$COLOR", "$SHAPE")
_SECTIONS = {"validation": "dev"}
_ENDINGS = {"simple": "p1", "one_clause": "p2", "two_clauses": "p3", "two_clauses_rd": "p3-rd"}
INPUT_WORDS = tuple(
    dict.fromkeys(
        " ".join(
            [*VERB_WORDS, "the a small big", *COLORS, *SHAPES, "object that is and", *RELATION_WORDS, *ADVERBS[1:]]
        ).split()
    )
)
"""The 35 words of the commands."""
HELD_OUT = ("a1", "a2", "a3", "b1", "b2", "c1", "c2")
VOCABULARY_FILES = ("training_input_vocab.txt", "training_target_vocab.txt")
VOCABULARY_ROWS = 2_000
"""Word frequencies are counted in this many rows; the original's models do not use them."""


# --- writing ---------------------------------------------------------------------------------------------------------


def header(grid_size: int) -> dict[str, Any]:
    """The members of a document other than its examples."""
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
        "situation": situation(world, REASCAN),
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
        "full_relation_distractor": _is_full(row, command),
        "has_relation_distractor": bool(row["relation_distractor"]),
        "has_attribute_distractor": bool(row["attribute_distractor"]),
        "has_isomorphism_distractor": bool(row["isomorphism_distractor"]),
        "has_random_distractor": bool(randoms),
        "n_random_distractor": len(randoms),
        "relation_distractor_metadata": _relation_notes(command) if row["relation_distractor"] else [],
        "attribute_distractor_metadata": _attribute_notes(command, world, strategy),
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


def _is_full(row: Mapping[str, Any], command: Command) -> bool:
    """Whether every relation distractor of the release recipe found its place (`sound` places none in part)."""
    nodes = len(command.phrases)
    if not row["strategy"] or not row["relation_distractor"]:
        return True
    whole = 1 if nodes == 2 else 2 if command.description.parents[2] == 1 else (nodes - 1) ** 2
    return bool(row["object_roles"].count("relation") == whole)


def _attribute_notes(command: Command, world: World, strategy: Sequence[int]) -> list[dict[str, Any]]:
    if strategy[0] < 0:
        boxes = sum(thing.shape == "box" and thing.role in ("pivot", "relation") for thing in world.things)
        if boxes < 2 and not any(phrase.shape not in ("", "box") for phrase in command.phrases):
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
        if phrase.size and world.things[k].shape == thing.shape and phrase.color in ("", thing.color):
            is_same = world.things[k].size == thing.size
            word = phrase.size if is_same else {"small": "big", "big": "small"}[phrase.size]
    return f"{word} {thing.color} {thing.shape}"


def folder_of(split: str) -> str:
    """The released folder of a split: `ReaSCAN-compositional` for `all`, with an ending for every other one."""
    ending = "" if split == "all" else f"-{_ENDINGS.get(split, split)}"
    return f"ReaSCAN-compositional{ending}"


def native_path(job: Job) -> str:
    """The released document of a split: one for its train, dev and test sections together."""
    return f"{folder_of(job.split)}/data-compositional-splits.txt"


def native_extras(family: Family, jobs: Sequence[Job]) -> dict[str, str]:
    """The two vocabulary files that stand beside every document."""
    found: dict[str, str] = {}
    for job in jobs:
        folder = folder_of(job.split)
        if f"{folder}/{VOCABULARY_FILES[0]}" not in found or job.part == "train":
            batch = family.generate(job.rows(0, min(VOCABULARY_ROWS, job.stop)))
            for name, words in zip(VOCABULARY_FILES, vocabularies(batch), strict=True):
                found[f"{folder}/{name}"] = json.dumps(words, indent=4) + "\n"
    return found


def section_of(part: str) -> str:
    """The section of the released layout in which a part is found; a held-out set is its document's `test`."""
    return _SECTIONS.get(part, part)


def write(batches: Iterable[Batch], out: TextIO) -> None:
    """The rows as one document; parts must come one after the other."""
    stream = iter(batches)
    first = next(stream, None)
    grid = 6 if first is None or not len(first) else int(first.row(0)["grid_size"])

    def rows() -> Iterator[tuple[str, dict[str, Any]]]:
        for batch in () if first is None else (first, *stream):
            wording.refuse_natural(batch.job)
            for i in range(len(batch)):
                yield section_of(batch.job.part), record(batch.row(i))

    write_document({**header(grid), **vocabulary_members()}, (), rows(), out)


# --- reading ---------------------------------------------------------------------------------------------------------


def read(family: Family, path: Path) -> Iterator[Example | Problem]:
    """The examples of a released document; a row that is none becomes a Problem with its place."""
    split = held_out_by(Path(path))
    for section, key, value in read_document(path):
        if not section:
            continue
        place = f"{section}[{key}]"
        try:
            yield read_record(
                family, f"{Path(path).name}:{place}", value, split if section == "test" and split else section, place
            )
        except MALFORMED as problem:
            yield Problem("malformed", f"this row is no ReaSCAN example: {reason(problem)}", place=place)


def held_out_by(path: Path) -> str:
    """The held-out set that a released document is, by its folder; "" for every other document."""
    ending = path.resolve().parent.name.rpartition("-")[2]
    return ending if path.resolve().parent.name == folder_of(ending) and ending in HELD_OUT else ""


def read_record(family: Family, name: str, value: Any, section: str, place: str) -> Example:
    """One released record as an example; its other claims are kept under meta["claims"]."""
    if not isinstance(value, dict):
        raise TypeError(f"it is {shown(value)}, not an object")
    text = str(value["command"]).replace(",", " ")
    command, _ = parse_command(text)
    world = read_situation(value["situation"], len(command.phrases))
    actions = read_actions(value["target_commands"])
    held_out = section if section in HELD_OUT else ""
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
    listed = [value["placed_objects"][key] for key in sorted(value["placed_objects"], key=int)]
    roles = ["target", *["pivot"] * (mentioned - 1), *[""] * len(listed)]
    things = [read_thing(there, SHAPES, role) for there, role in zip(listed, roles, strict=False)]
    if not things or things[0] != read_thing(value["target_object"], SHAPES, "target"):
        raise ValueError("the target is not the first placed object")
    return read_world(value, things)


# --- other files of the original's models ----------------------------------------------------------------------------


def vocabularies(batch: Batch) -> tuple[dict[str, Any], dict[str, Any]]:
    """The input and target vocabularies as the original's models store them: every word of the language, counted in these rows."""
    words = Counter(word for row in range(len(batch)) for word in str(batch.columns["command"][row]).split(" "))
    actions = Counter(action for row in range(len(batch)) for action in batch.columns["actions"][row])
    return _vocabulary(INPUT_WORDS, words), _vocabulary(ACTIONS, actions)


def _vocabulary(words: Sequence[str], counts: Mapping[str, int]) -> dict[str, Any]:
    found = vocabulary(words)
    return {**found, "word_frequencies": {word: counts.get(word, 0) for word in words}}


def read_predictions(family: Family, path: Path) -> Iterator[tuple[Example, str]]:
    """(example, predicted actions) of a prediction file; any other file is an error."""
    for i, value, answer in read_prediction_rows(path):
        try:
            yield read_record(family, f"{Path(path).name}:[{i}]", value, "test", f"[{i}]"), answer
        except MALFORMED as problem:
            raise not_a_prediction(path, i, problem) from None
