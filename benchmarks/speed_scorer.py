"""Scores per CPU-second of `recombine.Scorer` by id: right and wrong replies, rows cached and verdicts not.

    python benchmarks/speed_scorer.py [FAMILY …]

`warm`: 200 rows that are cached, each with ten different replies. `cold`: the same replies in an empty scorer, rows made anew.
"""

from __future__ import annotations

import sys
import time

import recombine
from recombine.evaluate.prompts import prompts_of

ROWS, REPLIES = 200, 10


def replies(examples: list[recombine.core.Example], place: int) -> list[str]:
    """The right answer and nine right answers of other rows, which are mostly wrong here."""
    words = prompts_of(examples[0].family)
    chosen = [examples[(place + 7 * k) % len(examples)] for k in range(REPLIES)]
    return [f"Let us see.\n\nAnswer: {words.answer(example)}" for example in chosen]


def main() -> None:
    """Print one line per family."""
    for name in sys.argv[1:] or ("scan", "nacs", "clutrr", "gscan", "reascan", "lilgym"):
        examples = list(recombine.load(name, size=ROWS))
        asked = [(example.id, reply) for place, example in enumerate(examples) for reply in replies(examples, place)]
        cold = recombine.Scorer(name)
        began = time.process_time()
        values = [cold(*one).value for one in asked]
        slow = time.process_time() - began
        cold._verdicts.values.clear()
        began = time.process_time()
        again = [cold(*one).value for one in asked]
        fast = time.process_time() - began
        assert values == again
        right = sum(values) / len(values)
        print(f"{name:8} warm {len(asked) / fast:9,.0f}   cold {len(asked) / slow:9,.0f} scores per CPU-s   right {right:.2f}")


if __name__ == "__main__":
    main()
