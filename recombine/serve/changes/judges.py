"""The verdict of a grid family's oracle on a command in a world. Generators take no part in it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from recombine.errors import UsageError
from recombine.grid.codes import SHAPES
from recombine.grid.world import World
from recombine.serve.changes.base import Finding, Word


@dataclass(frozen=True)
class Judgement:
    """The finding, and the objects that the command can mean."""

    finding: Finding
    meant: tuple[int, ...]


class Judge(Protocol):
    """One family's oracle."""

    @property
    def NAME(self) -> str:
        """The family."""

    @property
    def SHAPES(self) -> tuple[str, ...]:
        """The shapes that its worlds may hold."""

    def judge(self, command: str, world: World) -> Judgement:
        """What the command means in the world."""

    def document(self, command: str, world: World, target: int, actions: list[str]) -> str:
        """The example in the released layout."""


def named(world: World, i: int) -> str:
    """`the red square of size 2 in row 1, column 3`."""
    thing = world.things[i]
    return f"the {thing.name} of size {thing.size} in row {thing.row + 1}, column {thing.column + 1}"


def _listed(world: World, meant: tuple[int, ...]) -> str:
    return "; ".join(named(world, i) for i in meant)


def _first_target(world: World, target: int, others: tuple[int, ...] = ()) -> World:
    """The world with the target first, then the other mentioned objects."""
    order = [target, *others, *(i for i in range(len(world.things)) if i != target and i not in others)]
    roles = ["target", *["pivot"] * len(others), *[""] * len(order)]
    return replace(world, things=tuple(replace(world.things[i], role=role) for i, role in zip(order, roles, strict=False)))


def _judgement(world: World, meant: tuple[int, ...], nothing: str, actions: list[str], words: tuple[Word, ...]) -> Judgement:
    if not meant:
        return Judgement(Finding("impossible", nothing, words=words), ())
    if len(meant) > 1:
        text = f"The command can mean {len(meant)} objects: {_listed(world, meant)}."
        return Judgement(Finding("ambiguous", text, words=words), meant)
    notes = tuple(f"The word {word.text!r} is not needed: {word.without}." for word in words if not word.is_needed)
    return Judgement(Finding("unique", f"The command means {named(world, meant[0])}.", ",".join(actions), words, notes), meant)


class ReascanJudge:
    """ReaSCAN."""

    NAME: ClassVar[str] = "reascan"
    SHAPES: ClassVar[tuple[str, ...]] = SHAPES

    def judge(self, command: str, world: World) -> Judgement:
        """What the oracle reads and finds."""
        from recombine.families.reascan.oracle import expected_actions
        from recombine.families.reascan.oracle_reader import Misread, grammar_faults, means, understand

        try:
            said = understand(command)
        except Misread as problem:
            return Judgement(Finding("impossible", f"The command cannot be read: {problem}."), ())
        faults = list(grammar_faults(said))
        if faults:
            return Judgement(Finding("impossible", f"The command breaks a rule of the grammar: {faults[0]}."), ())
        meant = tuple(sorted(means(world, said.nouns)))
        boxes = [i for i in meant if world.things[i].is_box]
        if boxes:
            return Judgement(Finding("impossible", "The command means a box, and boxes cannot be reached for."), meant)
        words = tuple(self._words(world, said.nouns, meant))
        actions = expected_actions(world, meant[0], said.verb, said.adverb) if len(meant) == 1 else []
        return _judgement(world, meant, self._why_nothing(world, said.nouns), actions, words)

    def _words(self, world: World, nouns: tuple[object, ...], meant: tuple[int, ...]) -> Iterator[Word]:
        from recombine.families.reascan.oracle_reader import KINDS, each_omission, means

        for code, shorter in each_omission(nouns):  # type: ignore[arg-type]
            noun, kind = nouns[code // 8], KINDS[code % 8]
            spoken = _phrase(noun)
            text = (
                f"the clause with {spoken}"
                if kind == "clause"
                else f"{getattr(noun, 'head' if kind == 'shape' else kind)} in {spoken}"
            )
            left = tuple(sorted(means(world, shorter)))
            yield Word(text, left != meant, f"without it {_meaning(world, left)}")

    def _why_nothing(self, world: World, nouns: tuple[object, ...]) -> str:
        from recombine.families.reascan.oracle_reader import denotation, means, without

        for noun in nouns:
            if not denotation(world, noun, False):  # type: ignore[arg-type]
                return f"Nothing is a {_phrase(noun)}."
        for j in range(1, len(nouns)):
            shorter = without(nouns, 8 * j + 3)  # type: ignore[arg-type]
            if shorter is not None and means(world, shorter):
                return f"The clause with {_phrase(nouns[j])} is true of no object that fits the rest."
        return "No object fits the whole command."

    def document(self, command: str, world: World, target: int, actions: list[str]) -> str:
        """One example in a document of the released layout."""
        from recombine.families.reascan.explain import READING
        from recombine.families.reascan.native import derived, header, vocabulary_members
        from recombine.families.reascan.plan import parse_command
        from recombine.grid.documents import write_document
        from recombine.grid.matching import bindings

        plan, _ = parse_command(command)
        bound = next(b for b in bindings(world, plan.description, READING) if b[0] == target)
        record = derived(command, plan, _first_target(world, target, bound[1:]), actions)
        out = io.StringIO()
        write_document({**header(world.size), **vocabulary_members()}, (), [("test", record)], out)
        return out.getvalue()


class GscanJudge:
    """gSCAN."""

    NAME: ClassVar[str] = "gscan"
    SHAPES: ClassVar[tuple[str, ...]] = SHAPES[:3]

    def judge(self, command: str, world: World) -> Judgement:
        """What the oracle reads and finds."""
        from recombine.families.gscan.oracle import gold, needless_words
        from recombine.families.gscan.oracle_reader import read_command, referents

        reading = read_command(command)
        if reading is None:
            text = 'The command cannot be read. Commands read "walk to a red big square cautiously" (colour before size).'
            return Judgement(Finding("impossible", text), ())
        if any(thing.is_box for thing in world.things):
            return Judgement(Finding("impossible", "gSCAN has circles, cylinders and squares only."), ())
        parts = (reading.size, reading.color, reading.noun)
        meant = tuple(referents(world.things, *parts))
        needless = needless_words(world.things, *parts)
        shorter = {reading.size: ("", *parts[1:]), reading.color: (parts[0], "", parts[2]), reading.noun: (*parts[:2], "")}
        words = tuple(
            Word(word, word not in needless, f"without it {_meaning(world, tuple(referents(world.things, *rest)))}")
            for word, rest in shorter.items()
            if word
        )
        phrase = " ".join(part for part in parts if part)
        actions = gold(world, world.things[meant[0]], reading.verb, reading.manner) if len(meant) == 1 else []
        return _judgement(world, meant, f"Nothing is a {phrase}.", actions, words)

    def document(self, command: str, world: World, target: int, actions: list[str]) -> str:
        """One example in a document of the released layout."""
        from recombine.families.gscan.native import header, record
        from recombine.families.gscan.plan import parse_command
        from recombine.grid.documents import write_document

        out = io.StringIO()
        row = record(parse_command(command), _first_target(world, target), actions)
        write_document(header(world.size), (), [("test", row)], out)
        return out.getvalue()


def _phrase(noun: object) -> str:
    words = (getattr(noun, name) for name in ("size", "color", "head"))
    return repr(" ".join(word for word in words if word))


def _meaning(world: World, meant: tuple[int, ...]) -> str:
    if not meant:
        return "nothing would be meant"
    if len(meant) == 1:
        return f"{named(world, meant[0])} would be meant"
    return f"{len(meant)} objects could be meant"


JUDGES: dict[str, Judge] = {"reascan": ReascanJudge(), "gscan": GscanJudge()}
"""Family -> its oracle."""


def actions_of(finding: Finding) -> list[str]:
    """The actions of a unique answer."""
    if finding.status != "unique":
        raise UsageError("only an example with one answer can be saved.")
    return finding.answer.split(",") if finding.answer else []
