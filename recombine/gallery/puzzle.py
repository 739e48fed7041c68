"""A puzzle: one example as the gallery's page plays it. The page judges answers by what is worked out here beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from recombine.core import Example

EASY, HARDER, HARDEST = 0, 1, 2
LEVELS = ("easy", "harder", "hardest")


@dataclass(frozen=True)
class Step:
    """A sentence of the proof, and what it speaks of: marks that the page's picture knows."""

    text: str
    marks: Sequence[Any] = ()


@dataclass(frozen=True)
class Reader:
    """A careless reader: its name, what it does, and every answer by which the page knows it."""

    name: str
    does: str
    answers: Sequence[Any]


@dataclass(frozen=True)
class Puzzle:
    """All data with which the page draws, asks, judges and proves one example. `kind` chooses the page's way to draw and to answer."""

    example: Example
    kind: str
    level: int
    question: str
    right: Sequence[Any]
    steps: Sequence[Step]
    readers: Sequence[Reader]
    shown: str
    """The right answer for people."""
    scene: dict[str, Any] = field(default_factory=dict)
    """The data of the picture."""

    def packed(self) -> dict[str, Any]:
        """The puzzle as JSON values, with short names."""
        family, _, split, *_ = self.example.id.split("/")
        shortcuts = self.example.explain().shortcuts
        said = {s.name: s.answer or "" for s in shortcuts if s.answer != self.example.answer}
        return {
            "id": self.example.id,
            "family": family.split("@")[0],
            "split": split,
            "kind": self.kind,
            "level": self.level,
            "question": self.question,
            "right": list(self.right),
            "shown": self.shown,
            "steps": [[step.text, list(step.marks)] for step in self.steps],
            "readers": [[r.name, r.does, list(r.answers), said.get(r.name, "")] for r in self.readers],
            **self.scene,
        }


def wrong_readers(example: Example, right: Iterable[str]) -> list[Reader]:
    """The shortcut readers that answer this example wrongly, each with its answer."""
    accepted = set(right)
    return [
        Reader(s.name, s.reader, [s.answer])
        for s in example.explain().shortcuts
        if s.answer is not None and s.answer not in accepted
    ]


def is_tempting(puzzle: Puzzle) -> bool:
    """Whether at least two careless readers give different wrong answers. Then a wrong answer shows which one was at work."""
    return len({str(reader.answers[0]) for reader in puzzle.readers if reader.answers}) >= 2
