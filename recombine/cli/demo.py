"""The main job on the embedded default: generate, verify and summarise every family, and leave a page to open."""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

from recombine.cli.printing import print_table, say
from recombine.cli.requests import whole_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine demo`."""
    parser.add_argument("--out", default="demo-out", metavar="DIR", help="where the page and the folders go (default demo-out)")
    parser.add_argument("--size", type=whole_number, default=200, metavar="N", help="rows of each part (default 200)")
    parser.add_argument("--seed", type=whole_number, default=0, metavar="K", help="a whole number")


def run(arguments: argparse.Namespace) -> int:
    """Every family in turn; exit 1 if a single row is wrong."""
    from recombine.data.demo import show_family, write_page
    from recombine.families import FAMILIES

    out = Path(arguments.out)
    shutil.rmtree(out, ignore_errors=True)
    shown, rows = [], []
    for name in FAMILIES:
        started = time.perf_counter()
        item = show_family(name, out, arguments.size, arguments.seed)
        shown.append(item)
        seconds = time.perf_counter() - started
        rows.append((name, item.split, f"{item.rows:,}", item.errors, f"{seconds:.1f} s", item.verdict.fingerprint))
    page = write_page(shown, out)
    print_table("", ("family", "split", "rows", "errors", "time", "fingerprint"), rows)
    say(f"open {page}")
    return 0 if all(item.verdict.ok for item in shown) else 1
