"""Write parts of a family's splits into a folder.

The folder is a Hugging Face data set (`datasets.load_dataset("DIR")`) and describes itself in manifest.json. It is made of
shards fixed by the job: a run that was interrupted is finished by giving the same command again, and the bytes never depend
on the number of workers or the engine.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from recombine.cli.printing import print_json, print_table, progress, say
from recombine.cli.requests import add_request, fraction, options_of, whole_number

if TYPE_CHECKING:
    from recombine.data.plan import Plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine generate`."""
    parser.add_argument("family", help="scan, nacs, gscan, reascan, clutrr or lilgym")
    add_request(parser, several=True)
    parser.add_argument("--suite", metavar="NAME", help="a whole published suite in one folder: paper")
    parser.add_argument("--size", type=whole_number, metavar="N", help="rows of each part (default: the split's own size)")
    parser.add_argument(
        "--format", default="parquet", metavar="F", help="parquet (default), jsonl, or native: the originally released layout"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder to write")
    parser.add_argument("--engine", default="processes", metavar="E", help="processes (default), serial, or ray")
    parser.add_argument("--workers", type=whole_number, default=0, metavar="N", help="processes to use (default: one per core)")
    parser.add_argument("--address", metavar="A", help="address of a Ray cluster (default: start a local one)")
    parser.add_argument(
        "--shard",
        type=fraction,
        metavar="I/N",
        help="make only every N-th shard from the I-th; `recombine merge` seals the folder",
    )
    parser.add_argument("--json", action="store_true", help="print the manifest as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Generate, with a bar on a terminal; print counts and fingerprint."""
    from recombine.data.freshness import freshness
    from recombine.data.generate import run as carry_out

    plan = _plan(arguments)
    with progress(f"{arguments.family} → {os.path.basename(arguments.out)}", sum(part.rows for part in plan.parts)) as tick:  # noqa: PTH119
        folder = carry_out(
            plan,
            arguments.out,
            engine=arguments.engine,
            workers=arguments.workers,
            address=arguments.address,
            only=arguments.shard,
            on_rows=tick,
        )
    if arguments.shard is not None:
        say("shard {} of {} is done; when all are: recombine merge {}".format(*arguments.shard, arguments.out))
        return 0
    manifest = folder.manifest
    if arguments.json:
        print_json({key: value for key, value in manifest.items() if key != "plan"})
        return 0
    rows = [(p["split"], p["part"], f"{p['rows']:,}", p["fingerprint"]) for p in manifest["parts"]]
    print_table("", ("split", "part", "rows", "fingerprint"), rows)
    rejected = sum(manifest["rejections"].values())
    if rejected:
        say(f"{rejected:,} draws were thrown away: " + ", ".join(f"{k} {v:,}" for k, v in manifest["rejections"].items()))
    for part in plan.parts:
        if sentence := freshness(folder.family, part):
            say(sentence)
    say(f"{arguments.out}: fingerprint {manifest['fingerprint']}")
    sys.stdout.flush()
    return 0


def _plan(arguments: argparse.Namespace) -> Plan:
    from recombine.data.plan import make_plan
    from recombine.data.suites import make_suite
    from recombine.errors import UsageError

    words = {
        "size": arguments.size,
        "seed": arguments.seed,
        "recipe": arguments.recipe,
        "options": options_of(arguments),
        "format": arguments.format,
    }
    if arguments.suite is None:
        return make_plan(arguments.family, tuple(arguments.split or ()), tuple(arguments.part or ()), **words)
    if arguments.split or arguments.part:
        raise UsageError("--suite names all splits and parts itself; leave out --split and --part.")
    return make_suite(arguments.family, arguments.suite, **words)
