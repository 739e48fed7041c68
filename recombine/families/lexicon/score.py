"""One answer -> right or wrong, and the names of the careless readers who would have given it."""

from __future__ import annotations

from recombine.core import Example, Score
from recombine.families.lexicon.plan import TOKENS

MAX_ANSWER = 2_000
_LONG = {f"I_{token}": token for token in TOKENS} | {"I_TURN_LEFT": "LTURN", "I_TURN_RIGHT": "RTURN"}


def read_answer(answer: object) -> list[str] | None:
    """The tokens of an answer on one line, separated by blanks or commas; None if it is none."""
    if not isinstance(answer, str) or len(answer) > MAX_ANSWER:
        return None
    line = answer.strip()
    if not line or "\n" in line or "\r" in line:
        return None
    tokens = [_LONG.get(token, token) for token in line.replace(",", " ").split()]
    return tokens if all(token in TOKENS for token in tokens) else None


def score(example: Example, answer: str) -> Score:
    """Right iff the actions are exactly those of the test command. `prefix` says how many are right from the start."""
    given, right = read_answer(answer), example.answer.split()
    if not given:
        return Score(0.0, "unparsable", (), {"reason": "not one line of action tokens"})
    prefix = next((i for i, (a, b) in enumerate(zip(given, right, strict=False)) if a != b), min(len(given), len(right)))
    detail = {"prefix": prefix, "tokens": len(given)}
    if given == right:
        return Score(1.0, "right", (), detail)
    text = " ".join(given)
    return Score(0.0, "wrong", tuple(s.name for s in example.explain().shortcuts if s.answer == text), detail)
