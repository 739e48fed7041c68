"""Whether one example satisfies a predicate: a deliberate second implementation for the oracles.

It shares no code with `parser` and `truth`. It cuts the canonical text at its connectives and looks values up in what an oracle
read from the example. That both agree is the proof of a held-out split.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from recombine.errors import UsageError, shown

Seen = Mapping[str, "str | int | bool | tuple[str | int | bool, ...]"]
"""What an oracle read from an example: facet -> its value, or its values in order."""

_COMPARISON = re.compile(
    r"(?:(?P<mode>any|all)\((?P<inner>[\w.-]+)\)|(?P<name>[\w.-]+?)(?:\[(?P<place>\d+)\])?) "
    r"(?:(?P<sign>=|!=|<=|>=|<|>) (?P<value>'[^']*'|[\w-]+)|in \((?P<values>[^()]*)\))"
)


def holds(text: str, seen: Seen) -> bool:
    """The truth of a predicate in canonical text; a `UsageError` if it is no such text or names what the oracle cannot read."""
    text = text.strip()
    for word in (" or ", " and "):
        pieces = _cut(text, word)
        if len(pieces) > 1:
            verdicts = [holds(piece, seen) for piece in pieces]
            return any(verdicts) if word == " or " else all(verdicts)
    if text.startswith("not "):
        return not holds(text[4:], seen)
    if text.startswith("(") and text.endswith(")"):
        return holds(text[1:-1], seen)
    return _comparison_holds(text, seen)


def _cut(text: str, word: str) -> list[str]:
    """The pieces between the words that stand outside brackets and quotes."""
    pieces, depth, quoted, last = [], 0, False, 0
    for at, letter in enumerate(text):
        if letter == "'":
            quoted = not quoted
        elif not quoted:
            depth += (letter == "(") - (letter == ")")
            if depth == 0 and text.startswith(word, at):
                pieces.append(text[last:at])
                last = at + len(word)
    return [*pieces, text[last:]]


def _comparison_holds(text: str, seen: Seen) -> bool:
    match = _COMPARISON.fullmatch(text)
    if match is None:
        raise UsageError(f"{shown(text)} is not a comparison.")
    name = match["inner"] or match["name"]
    if name not in seen:
        raise UsageError(f"the oracle cannot read facet {shown(name)}.")
    value = seen[name]
    values = value if isinstance(value, tuple) else (value,)
    if match["place"]:
        values = values[int(match["place"]) - 1 : int(match["place"])]
    wanted = [item.strip().strip("'") for item in (match["values"] or match["value"]).split(",")]
    verdicts = [_is_so(item, match["sign"] or "in", wanted) for item in values]
    return bool(verdicts) and (all(verdicts) if match["mode"] == "all" else any(verdicts))


def _is_so(value: str | int | bool, sign: str, wanted: list[str]) -> bool:
    if isinstance(value, bool):
        value = "true" if value else "false"
    if isinstance(value, str):
        value = value.replace("+", "&").replace("'", "")
        if sign in ("=", "in"):
            return value in wanted
        if sign == "!=":
            return value not in wanted
        raise UsageError(f"{sign!r} does not apply to {shown(value)}.")
    numbers = [int(text) for text in wanted]
    difference = value - numbers[0]
    if sign == "in":
        return value in numbers
    return {
        "=": difference == 0,
        "!=": difference != 0,
        "<": difference < 0,
        "<=": difference <= 0,
        ">": difference > 0,
        ">=": difference >= 0,
    }[sign]
