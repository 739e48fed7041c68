"""Print the release recipe's acceptance and flag rates beside those measured of the original generator and its demo file.

    python benchmarks/release_reascan.py --draws 400

The original's acceptance was measured on samples (40 one-clause commands a relation with 25 draws each, 150 two-clause commands with
20), so each figure has the sampling error that such a sample has here. Its demo file is two-clause data of version 1.0, held-out
combinations left out: the rows of `all` are what compares with it, those of `two_clauses` stand beside. Version 1.0 forced the
mentioned objects' sizes on relation distractors, so that hardly any "same size" clause survived there, and dropped worlds in which a
pivot is "the"; the last column leaves commands with "same size" out.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from recombine import keys
from recombine.families import family
from recombine.families.reascan import plan
from recombine.families.reascan.release import generate as release
from recombine.families.reascan.release import pools as release_pools
from recombine.grid.codes import RELATIONS
from recombine.grid.matching import Description
from recombine.jobs import make_job

ACCEPTED = {"row": 0.638, "column": 0.631, "inside": 0.418, "color": 0.160, "shape": 0.139, "size": 0.000}
ACCEPTED_TWO = 0.279
DEMO = {"relation": 1.0, "attribute": 0.524, "isomorphism": 0.515, "random": 0.479, "inside": 0.476}
COMMANDS, DRAWS = 40, 25
COMMANDS_TWO, DRAWS_TWO = 150, 20


def one_clause_forms() -> dict[str, list[int]]:
    """All one-clause commands, by relation."""
    found: dict[str, list[int]] = {name: [] for name in RELATIONS}
    for codes, relations in plan.each_structure((1,)):
        names = ("", *(RELATIONS[r] for r in relations[1:]))
        said = Description(tuple(plan.phrase_of(c) for c in codes), plan.parents_of((1,)), names)
        found[names[1]].append(plan.encode_form(plan.Command("walk", "", said)))
    return found


def sampling_error(rates: np.ndarray, commands: int, draws: int) -> float:
    """The standard error of a mean over so many commands with so many draws each, given each command's rate."""
    return float(np.sqrt((rates.var() + (rates * (1 - rates)).mean() / draws) / commands))


def acceptance(draws: int) -> int:
    """Print the acceptance table; returns how many figures are more than three standard errors away."""
    print(f"{'share of draws accepted':26}{'ours':>8}{'original':>10}{'error':>8}{'z':>7}")
    far = 0
    rows = [(name, forms, ACCEPTED[name], COMMANDS, DRAWS) for name, forms in one_clause_forms().items()]
    two = release_pools.sample_forms(keys.Stream("reascan", "acceptance"), (2,), 3_000)
    rows.append(("two clauses", two, ACCEPTED_TWO, COMMANDS_TWO, DRAWS_TWO))
    for name, forms, due, commands, each in rows:
        rates = release.acceptance(forms, draws)
        error = sampling_error(rates, commands, each)
        z = (due - rates.mean()) / error if error else 0.0 if rates.mean() == due else np.inf
        far += abs(z) > 3
        print(f"{name:26}{rates.mean():8.3f}{due:10.3f}{error:8.3f}{z:7.2f}")
    return far


def flags(rows: int, seed: int) -> None:
    """Print the shares of the distractor strategies and of "inside" among two-clause rows."""
    item = family("reascan")
    shares: dict[str, list[float]] = {name: [] for name in DEMO}
    for split in ("two_clauses", "all", "all"):
        part = make_job(item, split, "train", "release", seed).rows(0, rows)
        batch = release.release(part, compiled=True)
        relations = [set(plan.decode_form(int(form)).description.relations) for form in np.asarray(batch.columns["form"])]
        kept = np.asarray(batch.columns["clauses"]) == 2
        if shares["inside"][1:]:
            kept &= np.array(["size" not in found for found in relations])
        for name in ("relation", "attribute", "isomorphism", "random"):
            shares[name].append(float(np.asarray(batch.columns[f"{name}_distractor"])[kept].mean()))
        shares["inside"].append(float(np.array(["inside" in found for found in relations])[kept].mean()))
    print(f"\n{'share of two-clause rows':26}{'demo 1.0':>10}{'two_clauses':>13}{'all':>8}{'all, no size':>14}")
    for name, found in shares.items():
        print(f"{name:26}{DEMO[name]:10.3f}{found[0]:13.3f}{found[1]:8.3f}{found[2]:14.3f}")


def main() -> int:
    """Print both tables; exit code 1 if an acceptance is beyond three standard errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200, help="draws of each command")
    parser.add_argument("--rows", type=int, default=50_000, help="rows for the flag rates")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    began = time.process_time()
    far = acceptance(arguments.draws)
    flags(arguments.rows, arguments.seed)
    print(f"\n{time.process_time() - began:.1f} CPU-seconds")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
