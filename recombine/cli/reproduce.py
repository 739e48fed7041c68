"""Run the experiments behind a published table and print our mean ± deviation beside the paper's value.

Finished runs are kept: a killed command goes on where it stopped, and tables that share runs train them once.

  recombine reproduce list
  recombine reproduce nacs-table1 --scale minute --out /tmp/table1
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recombine.cli.printing import print_table, say
from recombine.cli.requests import whole_number
from recombine.errors import UnknownName

LILGYM = "lilgym-table1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine reproduce`."""
    parser.add_argument("table", help="a table's name, or `list`")
    parser.add_argument("--scale", default="minute", metavar="S", help="paper, day, hour or minute (default)")
    parser.add_argument("--out", metavar="FOLDER", default="runs", help="runs and reports are kept here (default: runs)")
    parser.add_argument("--workers", type=whole_number, default=0, metavar="N", help="runs at a time (default: one per core)")
    parser.add_argument("--seeds", type=whole_number, default=0, metavar="N", help="so many seeds instead of the scale's")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="only cells whose name has this text")
    parser.add_argument(
        "--files", metavar="FOLDER", help="translation: folder with the sentence pairs; CLUTRR: encoder instead of BERT"
    )
    parser.add_argument("--templates", metavar="FILE", help="CLUTRR: word the stories with the original authors' template file")


def run(arguments: argparse.Namespace) -> int:
    """Run the cells, print the table, write JSON and Markdown."""
    from recombine.models.tables import TABLES

    titles = {name: table.title for name, table in TABLES.items()} | {
        LILGYM: "lilGym, Table 1: PPO and PPO+SF on four environments"
    }
    if arguments.table == "list":
        print_table("", ["table", "what"], list(titles.items()))
        return 0
    if arguments.table not in titles:
        raise UnknownName("table", arguments.table, titles)
    from recombine.files import Kind, holds, own_folder
    from recombine.models.reproduce import Wish, reproduce

    if not arguments.scale.isalnum():
        raise UnknownName("scale", arguments.scale, ("paper", "day", "hour", "minute"))
    stem = f"{arguments.table}-{arguments.scale}"
    is_ours = lambda folder: holds(folder / f"{stem}.json", lambda found: found["table"] == arguments.table)
    own_folder(
        arguments.out,
        Kind(f"a table of `recombine reproduce {arguments.table}`", is_ours, (f"{stem}.json", f"{stem}.md"), is_local=True),
    )

    wish = Wish(
        arguments.table, arguments.scale, arguments.workers, arguments.seeds, tuple(arguments.only), arguments.files or "",
        arguments.templates or "",
    )  # fmt: skip
    if arguments.table == LILGYM:
        from recombine.rl.table1 import reproduce_table1

        report = reproduce_table1(wish, Path(arguments.out))
    else:
        report = reproduce(wish, Path(arguments.out))
    print_table(report.title, report.header, report.rows)
    say(report.scale)
    say(f"written: {report.json_path}, {report.markdown_path}")
    return 0
