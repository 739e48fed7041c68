"""Damaged documents: every place of a JSON value replaced by every strange value, and bytes cut, flipped and repeated."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 10**9, 10**30, -5_000_000_000, 1.5, float("inf"), float("nan"), "", "x", "../../x", "/etc/passwd", "..\\x",
    "x\0y", "\x1b[2J", "\ud800", "n" * 5_000, [], {}, [[]], {"a": 1}, "999999999999999999999",
)  # fmt: skip
"""Values that stand where another was expected."""


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every value inside a document; long lists by their first and last items."""
    yield here
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*here, key))
    elif isinstance(value, list):
        for i in sorted({0, len(value) - 1} if value else ()):
            yield from places(value[i], (*here, i))


def put(document: Any, place: tuple[Any, ...], strange: Any) -> Any:
    """A copy of the document with one value replaced; `...` removes it."""
    if not place:
        return strange
    made = copy.deepcopy(document)
    inner = made
    for step in place[:-1]:
        inner = inner[step]
    if strange is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = strange
    return made


def damaged(document: Any) -> Iterator[tuple[str, Any]]:
    """Every document with one value removed or made strange, each with a name."""
    for place in places(document):
        for strange in (*STRANGE, ...) if place else STRANGE:
            yield f"{'.'.join(map(str, place))} = {str(strange)[:30]!r}", put(document, place, strange)


def garbled(raw: bytes, times: int, seed: int = 0) -> Iterator[bytes]:
    """The bytes with a few random flips, cuts, repetitions or insertions."""
    dice = random.Random(seed)
    for _ in range(times):
        made = bytearray(raw)
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(made) + 1)
            match dice.randrange(5):
                case 0:
                    made[at : at + 1] = bytes([dice.randrange(256)])
                case 1:
                    del made[at : at + dice.randint(1, 40)]
                case 2:
                    made[at:at] = made[at : at + dice.randint(1, 40)]
                case 3:
                    made[at:at] = dice.choice([b"\0", b"\xff\xfe", b"\x1b[31m", b"1e999", b"[[[[", b'"\\ud800"', b"-", b"NaN"])
                case _:
                    made[at : at + 8] = dice.randbytes(8)
        yield bytes(made)
