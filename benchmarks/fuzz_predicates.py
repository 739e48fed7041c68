"""Predicates out of pieces, right and wrong: each is parsed or refused with a typed error, and what is parsed can be spelled and parsed again.

python benchmarks/fuzz_predicates.py [--count 200000] [--seed 0]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from recombine.abilities import Faceted
from recombine.errors import RecombineError
from recombine.families import OURS, family
from recombine.keys import Stream
from recombine.predicates import format_predicate, parse

JUNK = ("'", '"', "((", "))", "=", "==", "<>", ",", "in", "in (", "not", "and", "or", "any(", "all(", "[1]", "[0]", "[999999999]", "\x00", "é", "𝛑",
        "-1", "1e9", "__import__", "true", "false", "99999999999999999999", " ", "\n", "%s", "{}", ";", "--")  # fmt: skip


def predicate(stream: Stream, words: list[str], values: list[str], known: Mapping[str, list[str]]) -> str:
    """A text of up to forty pieces, most of them in an order that could be right."""
    pieces: list[str] = []
    for _ in range(1 + stream.below(6)):
        word = stream.choice(words)
        own = known.get(word) if stream.below(8) else None
        number = bool(own) and str(own[0]).lstrip("-").isdecimal()
        signs = ("=", "!=", "<", "<=", ">", ">=") if number else ("=", "!=")
        atom = [word, stream.choice(signs if stream.below(10) else ("in", "<", "=")), stream.choice(own or values)]
        if stream.below(16) == 0:
            atom[stream.below(3)] = stream.choice(JUNK)
        pieces += (
            ["not "] * (stream.below(5) == 0) + atom + [stream.choice((" and ", " or ", " and ", " or ", " and (", ") or "))]
        )
    if stream.below(10):
        pieces.pop()
    if stream.below(10) == 0:
        pieces.insert(stream.below(len(pieces)), stream.choice(JUNK))
    return (" " if stream.below(12) else "").join(pieces)


def _spelled(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"'{text}'" if " " in text else text


def main() -> None:
    """Parse, count, and stop at the first text that is neither parsed nor refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    families = [found for found in map(family, OURS) if isinstance(found, Faceted)]
    parsed = refused = 0
    for number in range(arguments.count):
        found = families[number % len(families)]
        stream = Stream("fuzz predicates", arguments.seed, number)
        words = [*found.FACETS, *(f"any({name})" for name, facet in found.FACETS.items() if facet.many), "nosuch"]
        values = [str(value) for facet in found.FACETS.values() for value in facet.values[:8]] or ["x"]
        known = {name: [_spelled(value) for value in facet.values[:8]] for name, facet in found.FACETS.items() if facet.values}
        known |= {f"any({name})": values for name, values in known.items() if found.FACETS[name].many}
        text = predicate(stream, words, values, known)
        try:
            tree = parse(text, found.FACETS, found.NAME)
        except RecombineError:
            refused += 1
            continue
        parsed += 1
        spelled = format_predicate(tree)
        try:
            again = parse(spelled, found.FACETS, found.NAME)
        except RecombineError as problem:
            raise SystemExit(f"{text!r} was parsed, but its spelling {spelled!r} is refused: {problem}") from problem
        if format_predicate(again) != spelled:
            raise SystemExit(f"{text!r} is spelled {spelled!r} and then {format_predicate(again)!r}")
    print(f"{arguments.count:,} predicates: {parsed:,} parsed and spelled alike twice, {refused:,} refused by a typed error")


if __name__ == "__main__":
    main()
