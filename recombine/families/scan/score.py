"""One answer -> right or wrong, and the name of the mistake. Nothing is executed: answers are words looked up in tables.

An answer is one line of words separated by blanks or commas. Actions may be spelt in either style (even mixed); commands
are lower-case English. Anything else, an answer of several lines, and one of over `MAX_ANSWER` characters is `unparsable`.
"""

from __future__ import annotations

from recombine.core import Example, Score
from recombine.families.scan.corpus import corpus, places
from recombine.families.scan.explain import readings_of
from recombine.families.scan.generate import texts
from recombine.families.scan.plan import format_actions, parse_actions

MAX_ANSWER = 10_000
"""The longest right answer has 48 actions in 616 characters."""


def words(answer: str) -> str | None:
    """The answer as words separated by single blanks; None if it is not one short line of words."""
    if not isinstance(answer, str) or len(answer) > MAX_ANSWER:
        return None
    line = answer.strip()
    if not line or "\n" in line or "\r" in line:
        return None
    return " ".join(line.replace(",", " ").split())


def score_actions(example: Example, answer: str) -> Score:
    """SCAN: right iff the actions are exactly the command's."""
    line = words(answer)
    given = None if line is None else parse_actions(line)
    if not given:
        return Score(0.0, "unparsable", (), {"reason": "not one line of action tokens"})
    right = parse_actions(example.answer) or ""
    detail = _comparison(given, right)
    if given == right:
        return Score(1.0, "right", (), detail)
    place = places().get(texts(example)[0])
    mistakes = () if place is None else tuple(name for name, letters in readings_of(place) if letters == given)
    return Score(0.0, "wrong", mistakes, detail)


def score_command(example: Example, answer: str) -> Score:
    """NACS: right iff the command is in the grammar and means the actions. A mistake is named after a reader for whom the command means them."""
    line = words(answer)
    place = None if line is None else places().get(line)
    if place is None:
        return Score(0.0, "unparsable", (), {"reason": "not a command of the grammar"})
    asked = parse_actions(str(example.inputs["actions"])) or ""
    meant = corpus().letters[place]
    detail = {"back_mapping": format_actions(meant, str(example.meta.get("style", "file"))), **_comparison(meant, asked)}
    if meant == asked:
        return Score(1.0, "right", (), detail)
    return Score(0.0, "wrong", tuple(name for name, letters in readings_of(place) if letters == asked), detail)


def _comparison(given: str, right: str) -> dict[str, int | None]:
    """How far two sequences agree: the first place (from 0) where they part, None if they never do."""
    pairs = zip(given, right, strict=False)
    prefix = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(given), len(right)))
    return {"first_wrong_token": None if given == right else prefix, "prefix": prefix, "tokens": len(given)}
