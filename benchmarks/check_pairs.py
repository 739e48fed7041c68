"""So many matched pairs of every facet and family, judged by the family's oracle and read again by other code.

    python benchmarks/check_pairs.py [FAMILY …] [--pairs 1000]

`make_pairs` stops at the first pair in which the oracle finds a wrong answer or a difference in more than one facet. The second reading
knows no facets: it compares the inputs field by field, counts the words and numbers that changed, and gives each example the other one's
answer. In a sensitivity pair that answer must be wrong, in an invariance pair it must be right. Rows come from the default test part, or from
the part that `--part` names; where a part has fewer pairs, the line says how many.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import time
from collections import Counter

from recombine.abilities import Pairing
from recombine.core import Family
from recombine.errors import Infeasible
from recombine.families import OURS, family
from recombine.jobs import make_job
from recombine.pairs import Pair, make_pairs


def changes(pair: Pair) -> dict[str, int]:
    """Input field -> how many words and numbers of it changed, for the fields that differ."""
    found = {}
    for name in {*pair.first.inputs, *pair.second.inputs}:
        texts = [json.dumps(example.inputs.get(name), default=str) for example in (pair.first, pair.second)]
        if texts[0] != texts[1]:
            one, two = (re.findall(r"\w+|[^\w\s]", text) for text in texts)
            blocks = difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes()
            found[name] = sum(max(b - a, d - c) for tag, a, b, c, d in blocks if tag != "equal")
    return found


def misjudged(pair: Pair) -> bool:
    """Whether one example takes the other one's answer in a sensitivity pair, or refuses it in an invariance pair."""
    first, second = pair.first, pair.second
    crossed = [one.score(other.answer).status == "right" for one, other in ((first, second), (second, first))]
    return any(crossed) if pair.kind == "sensitivity" else not all(crossed)


def check(found: Family, facet: str, wanted: int, part: str | None = None) -> tuple[str, int]:
    """A line about the pairs of one facet, and how many of them are wrong."""
    began, fields, widest, wrong, count = time.process_time(), Counter[str](), 0, 0, 0
    for pair in make_pairs(found, make_job(found, part=part), (facet,), wanted):
        changed = changes(pair)
        fields[" + ".join(sorted(changed)) or "nothing"] += 1
        widest = max(widest, *changed.values(), 0)
        wrong += misjudged(pair) or not changed
        count += 1
    where = ", ".join(f"{name} {number:,}" for name, number in fields.most_common())
    spent = time.process_time() - began
    line = f"{found.NAME} {facet}: {count:,} pairs, {wrong} wrong; changed: {where}; at most {widest} words; {spent:.0f} CPU-s"
    return line, wrong


def main() -> None:
    """Print one line per facet; exit 1 if a pair is wrong or missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", default=list(OURS))
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--part")
    parser.add_argument("--facet")
    arguments = parser.parse_args()
    bad = 0
    for name in arguments.families:
        found = family(name)
        for facet in found.PAIRS if isinstance(found, Pairing) else ():
            if arguments.facet not in (None, facet):
                continue
            try:
                line, wrong = check(found, facet, arguments.pairs, arguments.part)
            except Infeasible as problem:
                line, wrong = f"{name} {facet}: {problem}", 1
            bad += wrong
            print(line, flush=True)
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
