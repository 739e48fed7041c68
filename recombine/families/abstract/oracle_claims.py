"""The oracle's judgement on every split, in words of its own: it reads the rule's text and the worlds."""

from __future__ import annotations

import re

from recombine import keys
from recombine.core import Claim, Example
from recombine.predicates.judge import Seen, holds

_PAIRS = {"paint": "column", "move": "row", "grow": "color", "remove": "inside", "reshape": "size", "add": "shape"}
"""Operation -> the relation that is held out with it."""
_TENTHS = {"test": {0}, "validation": {1}, "train": set(range(2, 10))}


def _tenth(example: Example) -> int:
    """The share of the rule: the description's and the operation's numbers, mixed."""
    from recombine.families.abstract.oracle_numbers import rule_number

    return keys.mix(keys.state("abstract", "shares") ^ keys.mix(rule_number(example))) % 10


def _clauses(example: Example) -> list[str]:
    """The relations that the description names, in order."""
    return [a or b for a, b in re.findall(r"same (\w+) as|(inside) of", str(example.meta["description"]))]


def _ordinary(example: Example, part: str) -> str:
    """Why a row may not stand in a training or validation part with one clause: everything but the split's own condition."""
    most = max(len(example.inputs["test"]), *(len(pair["input"]) for pair in example.inputs["demonstrations"]))
    if most > 9:
        return f"a world holds {most} objects, more than nine"
    if len(_clauses(example)) != 1:
        return f"the description has {len(_clauses(example))} clauses, not one"
    return _wrong_share(example, part)


def _wrong_share(example: Example, part: str) -> str:
    tenth = _tenth(example)
    return "" if tenth in _TENTHS.get(part, ()) else f"its rule is of share {tenth}, which belongs to another part"


def _demonstrations(example: Example, fewer: int) -> str:
    wanted = int(example.meta.get("asked_demonstrations", 3)) - fewer
    count = len(example.inputs["demonstrations"])
    return "" if count == wanted else f"it has {count} demonstrations, not {wanted}"


def _pattern(example: Example) -> str:
    said = str(example.meta["description"])
    count = len(_clauses(example))
    return ("simple", "one_clause")[count] if count < 2 else "nested" if said.count("that is") > 1 else "two_clauses"


def _random(example: Example, part: str) -> str:
    wanted = str(example.meta.get("asked_pattern", "one_clause"))
    if wanted != _pattern(example):
        return f"the description is {_pattern(example)}, not {wanted}"
    if wanted in ("simple", "one_clause"):
        most = max(len(example.inputs["test"]), *(len(pair["input"]) for pair in example.inputs["demonstrations"]))
        if most > 9:
            return f"a world holds {most} objects, more than nine"
    return _demonstrations(example, 0) or _wrong_share(example, part)


def _held_pair(example: Example) -> bool:
    kind = str(example.meta["operation"]).split()[0]
    return " and " not in str(example.meta["operation"]) and _PAIRS.get(kind) in _clauses(example)


def _operation_relation(example: Example, part: str) -> str:
    if _held_pair(example) != (part == "test"):
        return "operation and relation " + ("are held out" if _held_pair(example) else "are not held out")
    return _demonstrations(example, 0) or ("" if part == "test" else _ordinary(example, part))


def _color_shape(example: Example, part: str) -> str:
    is_said = "yellow square" in str(example.meta["description"])
    if is_said != (part == "test"):
        return f"the description {'says' if is_said else 'does not say'} 'yellow square'"
    return _demonstrations(example, 0) or ("" if part == "test" else _ordinary(example, part))


def _two_clauses(example: Example, part: str) -> str:
    return "" if part == "test" and _pattern(example) == "two_clauses" else f"the description is {_pattern(example)}"


def _nested(example: Example, part: str) -> str:
    return "" if part == "test" and _pattern(example) == "nested" else f"the description is {_pattern(example)}"


def _more_objects(example: Example, part: str) -> str:
    worlds = [example.inputs["test"], *(pair["input"] for pair in example.inputs["demonstrations"])]
    fewest = min(len(world) for world in worlds)
    return "" if part == "test" and fewest >= 10 else f"a world holds {fewest} objects, fewer than ten"


def _fewer_demonstrations(example: Example, part: str) -> str:
    if part != "test":
        return "the split has a test part only"
    return _demonstrations(example, 1)


_SHAPES = ("circle", "cylinder", "square", "box")


def _seen(example: Example) -> Seen:
    """What a predicate can say of a task, read from the rule's text and the worlds."""
    description, operation = str(example.meta["description"]), str(example.meta["operation"])
    phrases = [phrase.split() for phrase in re.split(r"\bthe (?!same\b)", description)[1:]]
    phrases = [phrase[: phrase.index("that")] if "that" in phrase else phrase for phrase in phrases]
    phrases = [phrase[: phrase.index("and")] if "and" in phrase else phrase for phrase in phrases]
    return {
        "operation": "two" if " and " in operation else operation.split()[0],
        "pattern": _pattern(example),
        "clauses": len(_clauses(example)),
        "relation": tuple(_clauses(example)),
        "np.size": tuple(_one_of(phrase, ("small", "big"), "none") for phrase in phrases),
        "np.color": tuple(_one_of(phrase, ("red", "blue", "green", "yellow"), "none") for phrase in phrases),
        "np.shape": tuple(_one_of(phrase, _SHAPES, "object") for phrase in phrases),
        "demonstrations": len(example.inputs["demonstrations"]),
        "object_count": len(example.inputs["test"]),
        **{name: example.meta[name] for name in ("determined", "rival_bits", "proved_unique")},  # judged by the elimination
    }


def _one_of(phrase: list[str], words: tuple[str, ...], otherwise: str) -> str:
    return next((word for word in phrase if word in words), otherwise)


def _hold_out(example: Example, part: str) -> str:
    text = str(example.meta.get("predicate", ""))
    is_shown = holds(text, _seen(example))
    if is_shown != (part == "test"):
        return f"it {'satisfies' if is_shown else 'does not satisfy'} {text!r}"
    wanted = str(example.meta.get("asked_pattern", "one_clause"))
    if wanted != _pattern(example):
        return f"the description is {_pattern(example)}, not {wanted}"
    return _demonstrations(example, 0) or ("" if part == "test" else _wrong_share(example, part))


CLAIMS: dict[str, Claim] = {
    "random": _random,
    "operation_relation": _operation_relation,
    "color_shape": _color_shape,
    "two_clauses": _two_clauses,
    "nested": _nested,
    "more_objects": _more_objects,
    "fewer_demonstrations": _fewer_demonstrations,
    "hold_out": _hold_out,
}
