"""Many gSCAN examples through the oracle: every split and part of a recipe, replayed and re-derived; exits 1 at any error.

python benchmarks/check_gscan.py [rows] [recipe]
"""

from __future__ import annotations

import sys
import time
from collections import Counter

import numpy as np

from recombine import kernels
from recombine.families.gscan import GSCAN
from recombine.jobs import make_job

CHUNK = 5_000


def check(rows: int, recipe: str, seed: int = 11) -> Counter[str]:
    """Codes of all errors, over `rows` examples spread evenly over the parts; `leak` counts forms in two parts of a split."""
    parts = [(split, part) for split, entry in GSCAN.SPLITS.items() for part in entry.parts]
    found: Counter[str] = Counter()
    for name in ("sound.kernel", "release.kernel"):
        kernels.load(f"recombine.families.gscan.{name}", compiled=True)
    for split, part in parts:
        job = make_job(GSCAN, split, part, recipe, seed)
        count = -(-rows // len(parts)) if recipe == "sound" else min(job.stop, -(-rows // len(parts)))
        for first in range(0, count, CHUNK):
            batch = GSCAN.generate(job.rows(first, min(count, first + CHUNK)))
            found.update(p.code for _, p in GSCAN.validate_batch(batch) if p.severity == "error")
            found["checked"] += len(batch)
    found["leak"] = leaks(rows // 3, recipe, seed)
    return found


def leaks(rows: int, recipe: str, seed: int) -> int:
    """Examples that two parts of `compositional`, or a held-out test set and its training part, have in common."""
    forms = []
    for split, part in (*(("compositional", part) for part in GSCAN.SPLITS["compositional"].parts), ("adverb_1", "test")):
        job = make_job(GSCAN, split, part, recipe, seed)
        forms.append(np.unique(GSCAN.canonical_batch(GSCAN.generate(job.rows(0, min(job.stop, rows))))))
    merged = np.concatenate(forms)
    return len(merged) - len(np.unique(merged))


def main(rows: int, recipe: str) -> int:
    start = time.process_time()
    found = check(rows, recipe)
    errors = {code: n for code, n in sorted(found.items()) if code != "checked" and n}
    print(f"{recipe}: {found['checked']} examples, errors {errors or 'none'}, {time.process_time() - start:.0f} CPU-seconds")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000, sys.argv[2] if len(sys.argv) > 2 else "sound"))
