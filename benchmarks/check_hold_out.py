"""Three predicates for every family: rows are made, verified, and all of them read again by other code.

    python benchmarks/check_hold_out.py [FAMILY …] [--rows 100000] [--state FILE] [--work FOLDER]

Of the three, one is rare, one says "any" and one compares a number. Half of the rows are training rows and half are test rows, or as many as exist.
`verify` recomputes hashes, laws, claims and the certificate. Then every row is read from its file, its facets are read from the example, and
`holds` judges the predicate; neither uses the columns and masks that made the split. Finished predicates stand in the state file, and a
folder that was begun is finished, so a killed run goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from recombine.abilities import Bounded, Faceted
from recombine.core import Family
from recombine.data.folders import Folder, open_folder
from recombine.data.generate import remove, run
from recombine.data.plan import Plan, plan_part
from recombine.data.verify import verify
from recombine.families import OURS, family
from recombine.files import read_json, write_json
from recombine.jobs import make_job
from recombine.predicates import holds
from recombine.predicates.draw import PREDICATE

PREDICATES: dict[str, tuple[str, str, str]] = {
    "scan": (
        "verb[1] = jump and manner[1] = around and repeat = thrice",
        "any(repeat) = twice and any(verb) = turn",
        "action_length >= 20 and conjunction = after",
    ),
    "nacs": (
        "verb[1] = jump and manner[1] = around and repeat = thrice",
        "any(manner) = around and conjunction = after",
        "action_length >= 20 and any(verb) = walk",
    ),
    "gscan": (
        "verb = pull and adverb = 'while spinning' and target.shape = circle",
        "target.color in (red, blue) and verb = push",
        "verb = pull and distance >= 5",
    ),
    "reascan": (
        "verb = pull and target.color = green and target.shape = square",
        "any(np.color) = red and any(relation) = inside",
        "any(np.color) = red and clauses >= 1 and verb = push",
    ),
    "clutrr": (
        "target = aunt and first.relation = father",
        "any(path.relation) = brother and target.gender = female",
        "any(path.relation) = sister and k >= 3",
    ),
    "lilgym": (
        "color = yellow and place = top and any(quantifier) = exactly",
        "any(color) = yellow and any(place) = bottom",
        "words >= 16 and any(color) = blue",
    ),
    "abstract": (
        "operation = copy and any(np.color) = red and any(np.size) = small",
        "operation = paint and any(relation) = column",
        "object_count >= 8 and operation = move",
    ),
    "lexicon": (
        "verb[1] = jump and manner[1] = around and repeat[1] = thrice",
        "any(verb) = walk and any(repeat) = thrice",
        "demonstrations >= 5 and any(side) = left",
    ),
}
"""Family -> a rare predicate, one with "any" (gSCAN has no facet with several values), and one with a number."""


def plan_of(item: Family, text: str, rows: int) -> Plan:
    """Train and test of the predicate's split, half of the rows each or all that exist."""
    parts = []
    for name in ("train", "test"):
        job = make_job(item, None, name, options={PREDICATE: text})
        most = rows // 2
        if item.SPLITS[job.split].parts[name].finite:
            most = min(most, job.stop)
        elif isinstance(item, Bounded):
            most = min(most, item.bound(job))
        parts.append(plan_part(item, job, most))
    return Plan(item.NAME, parts[0].job.version, "parquet", tuple(parts))


def reread(folder: Folder) -> list[str]:
    """The ids of rows that stand in the wrong part, by the facets of the examples."""
    item = folder.family
    assert isinstance(item, Faceted)
    wrong = []
    for number, part in enumerate(folder.plan.parts):
        for batch in folder.batches(number):
            for row in range(len(batch)):
                example = item.example(batch, row)
                if holds(str(example.meta[PREDICATE]), item.facet_values(example)) != (part.job.part == "test"):
                    wrong.append(example.id)
    return wrong


def cpu_seconds() -> float:
    """CPU time of this process and of the processes that it waited for."""
    return sum(os.times()[:4])


def check(name: str, text: str, rows: int, work: Path) -> dict[str, Any]:
    """Make, verify and read again; the figures."""
    began = cpu_seconds()
    plan = plan_of(family(name), text, rows)
    folder = work / plan.hash
    run(plan, folder, workers=1)
    verdict = verify(folder)
    wrong = reread(open_folder(folder))
    remove(folder)
    return {
        "family": name, "predicate": text, "rows": {part.job.part: part.rows for part in plan.parts},
        "problems": [f"{problem.code}: {problem.text}" for problem in verdict.problems[:5]], "misplaced": wrong[:5],
        "cpu_seconds": round(cpu_seconds() - began),
    }  # fmt: skip


def main() -> None:
    """Check what is not checked yet; exit 1 if a row is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", default=list(OURS))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--state", default="")
    parser.add_argument("--work", default="")
    arguments = parser.parse_args()
    state = Path(arguments.state) if arguments.state else None
    done: list[dict[str, Any]] = read_json(state)["done"] if state is not None and state.is_file() else []
    work = Path(arguments.work or tempfile.mkdtemp(prefix="hold-out-"))
    work.mkdir(parents=True, exist_ok=True)
    for turn in range(3):
        for name in arguments.families:
            text = PREDICATES[name][turn]
            if any((one["family"], one["predicate"], one["asked"]) == (name, text, arguments.rows) for one in done):
                continue
            found = {**check(name, text, arguments.rows, work), "asked": arguments.rows}
            done.append(found)
            print(json.dumps(found), flush=True)
            if state is not None:
                write_json(state, {"done": done})
    bad = [one for one in done if one["problems"] or one["misplaced"]]
    total = sum(sum(one["rows"].values()) for one in done)
    print(f"{total:,} rows of {len(done)} predicates; {len(bad)} predicates with a wrong row")
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
