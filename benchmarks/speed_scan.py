"""How fast SCAN and NACS are: `python benchmarks/speed_scan.py [scores]`. Prints CPU seconds and rates; asserts nothing.

The original has no generator to compare with: its 209 files were released as data.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable

from recombine.families.scan import NACS, SCAN, inverses
from recombine.families.scan.corpus import action_texts, corpus
from recombine.families.scan.splits import SPLITS
from recombine.jobs import make_job


def timed(title: str, count: int, act: Callable[[], object]) -> None:
    """Run once, print CPU seconds and the rate."""
    started = time.process_time()
    act()
    seconds = time.process_time() - started
    print(f"{title:<58} {seconds:8.3f} s {count / max(seconds, 1e-9):14,.0f} per CPU-second")


def main(scores: int) -> None:
    """The measurements, first uses first."""
    timed("enumerate and interpret all commands", 20_910, lambda: (corpus(), action_texts("file")))
    whole = [make_job(SCAN, "length", part) for part in ("train", "test")]
    timed("generate all commands as columns (length)", 20_910, lambda: [SCAN.generate(job) for job in whole])
    timed("write them in the released layout", 20_910, lambda: SCAN.write((SCAN.generate(job) for job in whole), io.StringIO()))
    official = [name for name in SPLITS if not name.startswith(("nacs_", "mcd"))]
    total = sum(SPLITS[name].parts[part].rows("release") for name in official for part in ("train", "test"))
    timed(
        f"the rows of all {len(official)} official splits",
        total,
        lambda: [SPLITS[n].rows(p, 1) for n in official for p in ("train", "test")],
    )
    timed(
        "judge all commands by the oracle, first time",
        20_910,
        lambda: [list(SCAN.validate_batch(SCAN.generate(j))) for j in whole],
    )
    timed("judge them again", 20_910, lambda: [list(SCAN.validate_batch(SCAN.generate(j))) for j in whole])
    batch = NACS.generate(make_job(NACS, "simple", "test"))
    examples = [NACS.example(batch, row) for row in range(len(batch))]
    n = len(examples)
    timed(
        "score NACS answers, right ones", scores, lambda: [examples[i % n].score(examples[i % n].answer) for i in range(scores)]
    )
    timed(
        "score NACS answers, wrong ones",
        scores,
        lambda: [examples[i % n].score(examples[i * 7 % n].answer) for i in range(scores)],
    )
    texts = action_texts("file")
    timed("all commands for an action sequence", 20_910, lambda: [inverses(text) for text in texts])
    timed("explain a NACS example, first time", 1, lambda: examples[0].explain())
    timed("explain NACS examples", 1_000, lambda: [example.explain() for example in examples[:1_000]])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
