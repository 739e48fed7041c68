"""The oracle: judges a task from what a model sees. A second implementation on purpose; it shares no code with the generator.

It goes from actions back to commands. For each demonstration it looks up every command of SCAN that does the shown actions and has the
same pattern of words; each gives a partial lexicon. The lexicons that fit all demonstrations are the join of these.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recombine import keys
from recombine.checks import claim_problems
from recombine.core import Claim, Example, Problem
from recombine.predicates.judge import Seen, holds

_SCAN_WORDS = 13
_TOKENS = {"W": "WALK", "L": "LOOK", "R": "RUN", "J": "JUMP", "<": "LTURN", ">": "RTURN"}


@functools.cache
def _deeds() -> dict[str, str]:
    """Clause in SCAN's words -> its actions as letters."""
    found: dict[str, str] = {}
    for verb, letter in {"walk": "W", "look": "L", "run": "R", "jump": "J", "turn": ""}.items():
        ways = {f"{verb} {side}": turn + letter for side, turn in (("left", "<"), ("right", ">"))}
        ways |= {f"{verb} opposite {side}": 2 * turn + letter for side, turn in (("left", "<"), ("right", ">"))}
        ways |= {f"{verb} around {side}": 4 * (turn + letter) for side, turn in (("left", "<"), ("right", ">"))}
        if letter:
            ways[verb] = letter
        for said, done in ways.items():
            found |= {said: done, f"{said} twice": 2 * done, f"{said} thrice": 3 * done}
    return found


@functools.cache
def _meanings() -> dict[str, str]:
    """Command in SCAN's words -> its actions as letters."""
    deeds = _deeds()
    found = dict(deeds)
    for (a, first), (b, second) in itertools.product(deeds.items(), repeat=2):
        found[f"{a} and {b}"] = first + second
        found[f"{a} after {b}"] = second + first
    return found


@functools.cache
def _commands() -> dict[tuple[str, int], list[tuple[str, ...]]]:
    """(actions as tokens, number of words) -> the commands that do them."""
    found: dict[tuple[str, int], list[tuple[str, ...]]] = {}
    for command, letters in _meanings().items():
        words = tuple(command.split())
        found.setdefault((" ".join(_TOKENS[letter] for letter in letters), len(words)), []).append(words)
    return found


def actions_of(gloss: str) -> str | None:
    """What a command in SCAN's words does; None if it is not grammatical."""
    letters = _meanings().get(gloss)
    return None if letters is None else " ".join(_TOKENS[letter] for letter in letters)


def readings(command: str, actions: str) -> list[dict[str, str]]:
    """Every way to give the words of a command meanings, so that it does these actions."""
    words = command.split()
    found = []
    for meant in _commands().get((actions, len(words)), ()):
        lexicon = dict(zip(words, meant, strict=True))
        if len(set(lexicon.values())) == len(lexicon) and tuple(lexicon[word] for word in words) == meant:
            found.append(lexicon)
    return found


def eliminate(demonstrations: Sequence[Mapping[str, str]]) -> tuple[list[dict[str, str]], list[list[dict[str, str]]]]:
    """The lexicons over the words shown that fit all demonstrations, and those that were left after each."""
    left: list[dict[str, str]] = [{}]
    each = []
    for pair in demonstrations:
        options = readings(str(pair["command"]), str(pair["actions"]))
        joined = []
        for known, more in itertools.product(left, options):
            both = {**known, **more}
            if all(both[word] == meaning for word, meaning in known.items()) and len(set(both.values())) == len(both):
                joined.append(both)
        left = joined
        each.append(left)
    return left, each


def outcomes(left: Sequence[Mapping[str, str]], command: str) -> dict[str | None, int]:
    """What the lexicons say about a command: actions -> how many; None where a word is unknown or it is not grammatical."""
    found: dict[str | None, int] = {}
    for lexicon in left:
        said = actions_of(" ".join(lexicon.get(word, "?") for word in command.split()))
        found[said] = found.get(said, 0) + 1
    return found


# --- the laws --------------------------------------------------------------------------------------------------------


def validate(example: Example) -> list[Problem]:
    """Every broken law."""
    return [*_laws(example), *claim_problems(CLAIMS, example)]


def _laws(example: Example) -> Iterator[Problem]:
    shown, command = list(example.inputs["demonstrations"]), str(example.inputs["command"])
    words = sorted({word for text in (command, *(str(pair["command"]) for pair in shown)) for word in text.split()})
    if len(words) > _SCAN_WORDS:
        yield Problem("wrong_lexicon", f"the task has {len(words)} words; only {_SCAN_WORDS} meanings exist")
        return
    left, each = eliminate(shown)
    if not left:
        number = next(i for i, lexicons in enumerate(each, 1) if not lexicons)
        yield Problem("unexplained", f"no lexicon explains the first {number} demonstrations")
        return
    said = outcomes(left, command)
    if example.answer not in said:
        yield Problem("wrong_label", f"no lexicon that is left gives the answer {example.answer[:80]!r}")
    elif len(said) > 1:
        against = sum(count for actions, count in said.items() if actions != example.answer)
        yield Problem("undetermined", f"{against} of {len(left)} lexicons that fit the demonstrations do not give the answer")
    if any(pair["command"] == command for pair in shown):
        yield Problem("shown_test", f"the test command {command!r} is one of the demonstrations")
    if len({str(pair["command"]) for pair in shown}) < len(shown):
        yield Problem("repeated_demonstration", "a demonstration is shown twice")
    if "gloss" in example.meta:
        yield from _columns(example, words, left, each)


def _columns(
    example: Example, words: Sequence[str], left: list[dict[str, str]], each: list[list[dict[str, str]]]
) -> Iterator[Problem]:
    lexicon = {str(word): str(meaning) for word, meaning in example.meta["lexicon"].items()}
    if sorted(lexicon) != list(words) or lexicon not in left:
        yield Problem("wrong_lexicon", f"the lexicon {lexicon} is not one that the demonstrations leave", place="words")
        return
    gloss = " ".join(lexicon[word] for word in str(example.inputs["command"]).split())
    seen = [len(lexicons[0]) for lexicons in each]
    expected: dict[str, Any] = {
        "gloss": gloss,
        "word_count": len(words),
        "demonstrations": len(each),
        "command_length": gloss.count(" ") + 1,
        "action_length": len(example.answer.split()),
        "clauses": 2 if re.search(r"\b(and|after)\b", gloss) else 1,
        "space": math.perm(_SCAN_WORDS, len(words)),
        "survivors": [
            len(lexicons) * math.perm(_SCAN_WORDS - n, len(words) - n) for lexicons, n in zip(each, seen, strict=True)
        ],
        "proved_unique": len(left) == 1,
    }
    for name, value in expected.items():
        if example.meta[name] != value:
            yield Problem("wrong_column", f"{name} is {example.meta[name]!r}, expected {value!r}", place=name)


# --- claims ----------------------------------------------------------------------------------------------------------

_HELD = {"walk": "thrice", "look": "around", "run": "opposite", "jump": "twice"}
_TENTHS = {"test": {0}, "validation": {1}, "train": set(range(2, 10))}


def _gloss(example: Example, command: str) -> str:
    return " ".join(str(example.meta["lexicon"].get(word, "?")) for word in command.split())


def _wrong_words(example: Example, more: int) -> str:
    texts = [example.inputs["command"], *(pair["command"] for pair in example.inputs["demonstrations"])]
    count, wanted = len({word for text in texts for word in text.split()}), int(example.meta.get("asked_words", 6)) + more
    return "" if count == wanted else f"it has {count} words, not {wanted}"


def _wrong_share(example: Example, part: str) -> str:
    tenth = keys.state("lexicon", "shares", _gloss(example, example.inputs["command"])) % 10
    return "" if tenth in _TENTHS.get(part, ()) else f"its test command is of share {tenth}, which belongs to another part"


def _wrong_length(example: Example, fewest: int, most: int) -> str:
    length = len(example.inputs["command"].split())
    return "" if fewest <= length <= most else f"its test command has {length} words, not {fewest} to {most}"


def _random(example: Example, part: str) -> str:
    return _wrong_words(example, 0) or _wrong_length(example, 3, 9) or _wrong_share(example, part)


def _longer(example: Example, part: str) -> str:
    if part == "test":
        return _wrong_words(example, 2) or _wrong_length(example, 7, 9)
    return _wrong_words(example, 2) or _wrong_length(example, 3, 5) or _wrong_share(example, part)


def _has_pair(gloss: str) -> bool:
    clauses = re.split(r" (?:and|after) ", gloss)
    return any(_HELD.get(clause.split()[0], "-") in clause.split() for clause in clauses)


def _modifier_verb(example: Example, part: str) -> str:
    for pair in example.inputs["demonstrations"]:
        if _has_pair(_gloss(example, pair["command"])):
            return f"the demonstration {pair['command']!r} has a held-out pair"
    is_held = _has_pair(_gloss(example, example.inputs["command"]))
    if is_held != (part == "test"):
        return f"its test command {'has' if is_held else 'has not'} a held-out pair"
    wrong = _wrong_words(example, 0) or _wrong_length(example, 3, 9)
    return wrong or ("" if part == "test" else _wrong_share(example, part))


def _more_words(example: Example, part: str) -> str:
    if part != "test":
        return "the split has a test part only"
    return _wrong_words(example, 3) or _wrong_length(example, 3, 9)


_KINDS = {
    "verb": "walk look run jump turn", "side": "left right", "manner": "opposite around", "repeat": "twice thrice",
    "conjunction": "and after",
}  # fmt: skip


def _said(gloss: str, actions: str) -> dict[str, Any]:
    """What the facets of a command say of it."""
    words = gloss.split()
    return {
        **{kind: tuple(word for word in words if word in values.split()) for kind, values in _KINDS.items()},
        "command_length": len(words),
        "action_length": len(actions.split()),
        "clauses": 1 + len(re.findall(r"\b(?:and|after)\b", gloss)),
    }


@functools.lru_cache(maxsize=8)
def _kept_back(text: str) -> frozenset[tuple[str, str]]:
    """The pairs (verb, modifier) that no demonstration may have: they imply the predicate, and neither of the two alone does."""
    if re.search(r"word_count|demonstrations|proved_unique", text):
        return frozenset()
    refuted: set[object] = set()
    met: set[tuple[str, str]] = set()
    for gloss, letters in _meanings().items():
        clauses = [clause.split() for clause in re.split(r" (?:and|after) ", gloss)]
        pairs = {(clause[0], word) for clause in clauses for word in clause[1:]}
        met |= pairs
        if not holds(text, _said(gloss, " ".join(letters))):
            refuted |= pairs | set(gloss.split())
    return frozenset(pair for pair in met if pair not in refuted and refuted >= set(pair))


def _hold_out(example: Example, part: str) -> str:
    text = str(example.meta.get("predicate", ""))
    gloss = _gloss(example, example.inputs["command"])
    shown = [str(pair["command"]) for pair in example.inputs["demonstrations"]]
    seen: Seen = {
        **_said(gloss, example.answer),
        "word_count": len({word for command in (*shown, str(example.inputs["command"])) for word in command.split()}),
        "demonstrations": len(shown),
        "proved_unique": len(eliminate(example.inputs["demonstrations"])[0]) == 1,
    }
    is_shown = holds(text, seen)
    if is_shown != (part == "test"):
        return f"it {'satisfies' if is_shown else 'does not satisfy'} {text!r}"
    for command in shown:
        for clause in re.split(r" (?:and|after) ", _gloss(example, command)):
            verb, *rest = clause.split()
            if any((verb, word) in _kept_back(text) for word in rest):
                return f"the demonstration {command!r} has a held-out pair"
    wrong = _wrong_words(example, 0) or _wrong_length(example, 3, 9)
    return wrong or ("" if part == "test" else _wrong_share(example, part))


CLAIMS: dict[str, Claim] = {
    "random": _random,
    "longer": _longer,
    "modifier_verb": _modifier_verb,
    "more_words": _more_words,
    "hold_out": _hold_out,
}
