"""Frames: words around and between two statements that join them into one, learnt from statements whose parts are known statements.

"A, and B" or "either A, or B, or both" is a frame if training has A, B and the joined statement, and the joined program is A's, one token, B's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from recombine.models.scene_machine_text import Tokens

MOST_BEFORE, MOST_BETWEEN, MOST_AFTER = 2, 3, 3
"""Most words that a frame has before the first part, between the parts, and after the second."""
LEAST_PART = 3
"""Fewest words of a part."""
LEAST_SHOWN = 2
"""A frame counts if this many statements show it."""


class Words(NamedTuple):
    """The words of a frame."""

    before: Tokens
    between: Tokens
    after: Tokens


class Frame(NamedTuple):
    """A frame, the program token that joins the parts, and how often that was right when both parts were known."""

    words: Words
    joint: str
    right: int
    tried: int


def cuts(words: Tokens) -> Iterator[tuple[Words, Tokens, Tokens]]:
    """Every way to see two parts in a statement: the frame's words and the parts."""
    n = len(words)
    for before, after in product(range(MOST_BEFORE + 1), range(MOST_AFTER + 1)):
        for start in range(before + LEAST_PART, n - after - LEAST_PART):
            for between in range(1, MOST_BETWEEN + 1):
                if n - after - start - between >= LEAST_PART:
                    found = Words(words[:before], words[start : start + between], words[n - after :] if after else ())
                    yield found, words[before:start], words[start + between : n - after]


def learn_frames(
    statements: Sequence[Tokens], programs: Sequence[Tokens], program_of: Callable[[Tokens], Tokens | None]
) -> list[Frame]:
    """The frames of these statements; `program_of` gives the program of a known statement, None for other words."""
    tried: Counter[Words] = Counter()
    right: Counter[tuple[Words, str]] = Counter()
    remembered: dict[Tokens, Tokens | None] = {}

    def known(part: Tokens) -> Tokens | None:
        if part not in remembered:
            remembered[part] = program_of(part)
        return remembered[part]

    for words, program in zip(statements, programs, strict=True):
        for frame, first, second in cuts(words):
            left = known(first)
            joined = known(second) if left is not None else None
            if left is None or joined is None:
                continue
            tried[frame] += 1
            for a, b in ((left, joined), (joined, left)):
                if len(program) == len(a) + 1 + len(b) and program[: len(a)] == a and program[len(a) + 1 :] == b:
                    right[frame, program[len(a)]] += 1
                    break
    return [
        Frame(frame, joint, n, tried[frame])
        for (frame, joint), n in sorted(right.items())
        if n >= LEAST_SHOWN and 2 * n > tried[frame]
    ]


def joined(words: Tokens, frames: Mapping[Words, Sequence[Frame]]) -> Iterator[tuple[Frame, Tokens, Tokens]]:
    """The frames that fit a statement, with its two parts."""
    for found, first, second in cuts(words):
        for frame in frames.get(found, ()):
            yield frame, first, second
