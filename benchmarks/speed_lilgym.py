"""Generated lilGym rows, and what is done with them, per CPU-second of one core.

    python benchmarks/speed_lilgym.py [--rows 10000]

Rows into memory and into a folder of parquet, `ds[i]` in ascending order, the oracle's check, explanations and scores, for TOWER and
SCATTER from scratch and from given scenes. Kernels are warm; run it before and after a change, on the same machine.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import recombine
from recombine.data.generate import generate
from recombine.families.lilgym import LILGYM
from recombine.families.lilgym.scene import KINDS, Kind
from recombine.jobs import make_job


def rate(count: int, work: Callable[[], object]) -> float:
    """Units per CPU-second of work that handles so many."""
    began = time.process_time()
    work()
    return count / (time.process_time() - began)


def measure(kind: Kind, start: str, rows: int) -> dict[str, float]:
    """The rates of one configuration."""
    options = {"scene": kind, "start": start}
    job = make_job(LILGYM, "random", "train", None, 1, options)
    LILGYM.generate(job.rows(0, 300))
    few = max(1, rows // 20)
    found = {"memory": rate(rows, lambda: LILGYM.generate(job.rows(0, rows)))}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        found["parquet"] = rate(
            rows,
            lambda: generate("lilgym", out, split="random", part="train", size=rows, seed=2, options=options, engine="serial"),
        )
    data = recombine.load("lilgym", split="random", part="train", seed=3, size=rows, **options)
    found["ds[i]"] = rate(few, lambda: [(data[i].inputs["statement"], data[i].answer) for i in range(few)])
    batch = LILGYM.generate(job.rows(0, few))
    examples = [LILGYM.example(batch, row) for row in range(few)]
    found["verify"] = rate(few, lambda: list(LILGYM.validate_batch(batch)))
    found["score"] = rate(few, lambda: [example.score(example.answer) for example in examples])
    found["explain"] = rate(few // 5, lambda: [example.explain() for example in examples[: few // 5]])
    return found


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    rows = parser.parse_args().rows
    print(
        f"{'per CPU-second':<18}"
        + "".join(f"{name:>10}" for name in ("memory", "parquet", "ds[i]", "verify", "score", "explain"))
    )
    for kind in KINDS:
        for start in ("scratch", "flipit"):
            found = measure(kind, start, rows)
            print(f"{kind + ' ' + start:<18}" + "".join(f"{value:>10,.0f}" for value in found.values()))


if __name__ == "__main__":
    main()
