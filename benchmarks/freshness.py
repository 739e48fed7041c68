"""How many items each part draws from, and how many two seeds share, by chance and in fact.

python benchmarks/freshness.py [rows] [family …] [--json]
"""

from __future__ import annotations

import json
import sys

import numpy as np

from recombine.data.freshness import shared_share
from recombine.data.plan import plan_part
from recombine.data.verify import canonical_words
from recombine.families import OURS, family
from recombine.jobs import make_job
from recombine.testing import cases

SEEDS = (0, 20_261_116)


def main(rows: int, names: list[str], as_json: bool) -> None:
    table = []
    for name in names:
        item = family(name)
        for recipe, split, part in cases(item):
            plans = []
            for seed in SEEDS:
                job = make_job(item, split, part, recipe, seed)
                is_finite = item.SPLITS[split].parts[part].finite
                plans.append(plan_part(item, job, min(rows, job.stop) if is_finite else rows))
            forms = [np.concatenate([canonical_words(item, b) for b in p.batches(item, 0, p.rows)]) for p in plans]
            declared = item.SPLITS[split].parts[part]
            table.append(
                {
                    "family": name, "recipe": recipe, "split": split, "part": part, "rows": plans[0].rows,
                    "exist": "fixed" if declared.fixed else declared.exists or "many",
                    "shared_by_chance": round(shared_share(item, plans[0]) * plans[0].rows),
                    "shared_in_fact": int(np.isin(forms[0], forms[1]).sum()),
                    "distinct": len(np.unique(forms[0])),
                }
            )  # fmt: skip
            if not as_json:
                print("  ".join(str(value) for value in table[-1].values()), flush=True)
    if as_json:
        print(json.dumps(table, indent=1))


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--json"]
    numbers = [int(word) for word in words if word.isdigit()]
    main(numbers[0] if numbers else 2_000, [word for word in words if not word.isdigit()] or list(OURS), "--json" in sys.argv)
