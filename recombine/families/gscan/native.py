"""The released layout: `dataset.txt` (one JSON document), the models' vocabularies and their prediction files.

The original's spellings (dev, manner, target_commands, positions as strings) live here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from recombine.core import Batch, Example, Problem
from recombine.errors import shown
from recombine.families.gscan.plan import Command, parse_command
from recombine.files import read_chunks
from recombine.grid import wording
from recombine.grid.codes import SHAPES
from recombine.grid.documents import read_document, write_document
from recombine.grid.situations import (
    MALFORMED,
    not_a_prediction,
    prediction,
    read_actions,
    read_prediction_rows,
    read_thing,
    read_world,
    reason,
    situation,
    vocabulary,
    write_list,
)
from recombine.grid.tensor import GSCAN
from recombine.grid.world import World, inputs_of, world_of

if TYPE_CHECKING:
    from recombine.core import Family

NATIVE_NAME = "dataset-{part}.txt"
SECTIONS = (
    "train", "dev", "test", "visual", "situational_1", "situational_2", "contextual", "adverb_1", "adverb_2", "visual_easier",
    "target_lengths",
)  # fmt: skip
HELD_OUT = SECTIONS[3:10]
_ADVERBS = ("cautiously", "while spinning", "hesitantly", "while zigzagging")
_HELD_OUT_START = re.compile(rf'"({"|".join(HELD_OUT)})"\s*:\s*\[\s*{{')


# --- writing ---------------------------------------------------------------------------------------------------------


def header(grid_size: int) -> dict[str, Any]:
    """The members of a document other than its examples: the grammar and the word lists, as the original prints them."""
    words = {
        "intransitive_verbs": ("walk",),
        "transitive_verbs": ("pull", "push"),
        "nouns": GSCAN.shapes,
        "adverbs": _ADVERBS,
        "color_adjectives": GSCAN.colors,
        "size_adjectives": ("big", "small"),
    }
    lexicon = {"VV_intransitive": ("walk",), "VV_transitive": ("pull", "push"), "RB": _ADVERBS, "NN": GSCAN.shapes}
    rules = [
        "ROOT -> VP",
        "VP -> VP RB",
        "VP -> VV_intrans 'to' DP",
        "VP -> VV_trans DP",
        "DP -> 'a' NP",
        "NP -> JJ NP",
        "NP -> NN",
    ]
    rules += [f"{head} -> {word}" for head, listed in lexicon.items() for word in listed]
    rules += [f"JJ -> {word}" for word in (*GSCAN.colors, "big", "small")]
    return {
        "grid_size": grid_size,
        "type_grammar": "adverb",
        "grammar": ";".join(rules) + ";",
        "min_object_size": 1,
        "max_object_size": 4,
        "max_recursion": 1,
        "percentage_train": 0.9,
        **{name: {word: word for word in listed} for name, listed in words.items()},
    }


def derivation(command: Command) -> str:
    """How the original's grammar derives the command: rules from the bottom up, then the words with their rules."""
    phrase = command.phrase
    adjectives = [word for word in (phrase.color, phrase.size) if word]
    is_walk = command.verb == "walk"
    rules = ["NP -> NN", *["NP -> JJ NP"] * len(adjectives), "DP -> 'a' NP"]
    rules.append("VP -> VV_intrans 'to' DP" if is_walk else "VP -> VV_trans DP")
    rules += ["VP -> VP RB"] if command.adverb else []
    words = [f"T:{command.verb}", f"NT:VV_{'intransitive' if is_walk else 'transitive'} -> {command.verb}"]
    words += ["T:to"] if is_walk else []
    words.append("T:a")
    for i, word in enumerate(adjectives):
        words.append(f"T:{word}")
        if i == 0:
            words.append("NT:" + ":".join(f"JJ -> {adjective}" for adjective in reversed(adjectives)))
    words += [f"T:{phrase.shape}", f"NT:NN -> {phrase.shape}"]
    words += [f"T:{command.adverb}", f"NT:RB -> {command.adverb}"] if command.adverb else []
    return ",".join([*rules, "ROOT -> VP"]) + ";" + ",".join(words)


def record(command: Command, world: World, actions: Sequence[str]) -> dict[str, Any]:
    """One example as the released files write it."""
    phrase = command.phrase
    words = ",".join(command.tokens)
    return {
        "command": words,
        "meaning": words,
        "derivation": derivation(command),
        "situation": situation(world, GSCAN),
        "target_commands": ",".join(actions),
        "verb_in_command": command.verb,
        "manner": command.adverb,
        "referred_target": f"{phrase.size} {phrase.color} {phrase.shape}",
    }


def section_of(split: str, part: str) -> str:
    """The section of the released layout in which a part is found."""
    if split in ("compositional", "target_lengths", "hold_out"):
        return {"validation": "dev"}.get(part, part)
    return split


def write(batches: Iterable[Batch], out: TextIO) -> None:
    """The rows as one document; parts must come one after the other."""
    stream = iter(batches)
    first = next(stream, None)
    grid = 6 if first is None else int(first.row(0)["grid_size"])

    def rows() -> Iterator[tuple[str, dict[str, Any]]]:
        for batch in () if first is None else (first, *stream):
            wording.refuse_natural(batch.job)
            section = section_of(batch.job.split, batch.job.part)
            for i in range(len(batch)):
                row = batch.row(i)
                yield section, record(parse_command(row["command"]), world_of(row), row["actions"])

    write_document(header(grid), SECTIONS, rows(), out)


# --- reading ---------------------------------------------------------------------------------------------------------


def read(family: Family, path: Path) -> Iterator[Example | Problem]:
    """The examples of a released document; a row that is none becomes a Problem with its place."""
    is_generalization = _has_held_out(path)
    for section, key, value in read_document(path):
        if not section:
            continue
        place = f"{section}[{key}]"
        try:
            yield _example(family, f"{Path(path).name}:{place}", value, _meta(section, place, is_generalization))
        except MALFORMED as problem:
            yield Problem("malformed", f"this row is no gSCAN example: {reason(problem)}", place=place)


def _has_held_out(path: Path) -> bool:
    """Whether a held-out section has examples: a file without was split another way, and its train part owes them nothing."""
    kept = ""
    for chunk in read_chunks(path):
        text = kept + chunk
        if _HELD_OUT_START.search(text):
            return True
        kept = text[-200:]
    return False


def _meta(section: str, place: str, is_generalization: bool) -> dict[str, Any]:
    if section in HELD_OUT:
        split, part = section, "test"
    else:
        split, part = "compositional" if is_generalization else "", {"dev": "validation"}.get(section, section)
    return {"recipe": "release", "split": split, "part": part, "place": place}


def _example(family: Family, name: str, value: Any, meta: dict[str, Any]) -> Example:
    """One released record as an example; its other claims are kept for the oracle."""
    if not isinstance(value, dict):
        raise TypeError(f"it is {shown(value)}, not an object")
    command, world = parse_command(value["command"]), read_situation(value["situation"])
    actions = read_actions(value["target_commands"])
    claims = {
        key: value[key] for key in ("meaning", "derivation", "verb_in_command", "manner", "referred_target") if key in value
    }
    there = value["situation"]
    claims |= {key: there[key] for key in ("distance_to_target", "direction_to_target", "target_object") if key in there}
    claims["vectors"] = [thing["vector"] for thing in there["placed_objects"].values()]
    meta |= {"claims": claims, "object_count": len(world.things), "action_count": len(actions)}
    return Example(family, name, {"command": str(command), **inputs_of(world)}, ",".join(actions), command, world, meta)


def read_situation(value: Mapping[str, Any]) -> World:
    """The world of a released situation, with limits; the target is moved to the front if it is not there."""
    things = [read_thing(there, SHAPES[:3]) for there in value["placed_objects"].values()]
    target = read_thing(value["target_object"], SHAPES[:3])
    if target not in things:
        raise ValueError("the target is not among the placed objects")
    things.remove(target)
    return read_world(value, [replace(target, role="target"), *things])


# --- other files of the original's models ----------------------------------------------------------------------------


def vocabularies(examples: Iterable[Example]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The input and target vocabularies of a training part, as the original's models store them in JSON."""
    listed = list(examples)
    words = (word for example in listed for word in example.plan.tokens)
    return vocabulary(words), vocabulary(word for example in listed for word in example.answer.split(","))


def write_predictions(pairs: Iterable[tuple[Example, str]], out: TextIO) -> None:
    """(example, answer) pairs as the prediction file that the original's error analysis reads (attention weights are empty)."""
    write_list(
        (prediction(e.plan.tokens, derivation(e.plan), situation(e.world, GSCAN), e.answer, answer) for e, answer in pairs),
        out,
    )


def read_predictions(family: Family, path: Path) -> Iterator[tuple[Example, str]]:
    """(example, predicted actions) of a prediction file; any other file is an error."""
    for i, value, answer in read_prediction_rows(path):
        meta = {"recipe": "release", "split": "", "part": "", "place": f"[{i}]"}
        try:
            yield _example(family, f"{Path(path).name}:[{i}]", value, meta), answer
        except MALFORMED as problem:
            raise not_a_prediction(path, i, problem) from None
