"""Run the experiments behind a published table and print our mean ± deviation beside the paper's value.

Finished runs are kept: a killed command goes on where it stopped, and tables that share runs train them once.

  recombine reproduce list
  recombine reproduce nacs-table1 --scale smoke --out table1
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recombine import moved
from recombine.cli.printing import print_as, print_table, say
from recombine.cli.requests import whole_number
from recombine.errors import FileError, UnknownName, shown
from recombine.files import parse_json

LILGYM = "lilgym-table1"
DECODER = "nacs-figure2"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine reproduce`."""
    parser.add_argument("table", help="a table's name, or `list`")
    parser.add_argument(
        "--scale", metavar="S", help="paper, day, hour or smoke; without it the scales are listed and nothing runs"
    )
    parser.add_argument("--out", metavar="FOLDER", default="runs", help="runs and reports are kept here (default: runs)")
    parser.add_argument("--workers", type=whole_number, default=0, metavar="N", help="runs at a time (default: one per core)")
    parser.add_argument("--seeds", type=whole_number, default=0, metavar="N", help="number of seeds (default: the scale's)")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="only cells whose name has this text")
    parser.add_argument(
        "--files", metavar="FOLDER", help="translation: folder with the sentence pairs; CLUTRR: encoder instead of BERT"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--templates", metavar="FILE", help="CLUTRR: word the stories with the original authors' template file")


def run(arguments: argparse.Namespace) -> int:
    """Run the cells, print the table, write JSON and Markdown."""
    print_as(arguments.json, lambda: _run(arguments))
    return 0


def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    from recombine.models.tables import TABLES

    titles = {name: table.title for name, table in TABLES.items()} | {
        LILGYM: "lilGym, Table 1: PPO and PPO+SF on four environments",
        DECODER: "NACS, Figure 2: the decoder's connections, and those that -Dep removes (a drawing; nothing is trained)",
    }
    if arguments.table == "list":
        print_table("", ["table", "what"], list(titles.items()))
        return {"tables": titles}
    if arguments.table not in titles:
        raise UnknownName("table", arguments.table, titles)
    if arguments.table == DECODER:
        return _draw_decoder(arguments.out)
    scales = _scales(arguments.table, arguments.files or "")
    if arguments.scale is None:
        _list_scales(arguments.table, scales, Path(arguments.out))
        return {"table": arguments.table, "scales": scales}
    if arguments.scale in moved.SCALES:
        say(
            f"the scale {arguments.scale!r} is called {moved.SCALES[arguments.scale]!r} now; the old name goes with the next release."
        )
        arguments.scale = moved.SCALES[arguments.scale]
    if arguments.scale not in scales:
        raise UnknownName("scale", arguments.scale, scales)
    from recombine.files import Kind, holds, own_folder
    from recombine.models.reproduce import Wish, reproduce

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
    return {
        "title": report.title, "scale": report.scale, "rows": [dict(zip(report.header, row, strict=True)) for row in report.rows],
        "json": str(report.json_path), "markdown": str(report.markdown_path),
    }  # fmt: skip


def _draw_decoder(out: str) -> dict[str, Any]:
    """Figure 2 of NACS as an SVG file, and its connections as a table."""
    from recombine.files import Kind, own_folder, writing
    from recombine.models.figure_decoder import TITLE, decoders, edges, figure

    models = decoders()
    name = f"{DECODER}.svg"
    is_ours = lambda folder: f"<title>{TITLE}" in (folder / name).read_text(encoding="utf-8", errors="replace")
    path = own_folder(out, Kind(f"a drawing of `recombine reproduce {DECODER}`", is_ours, (name,), is_local=True)) / name
    with writing(path) as file:
        file.write(figure(models).encode())
    found = {name: edges(model) for name, model in models.items()}
    rows = [
        (edge.name, f"{edge.start} to {edge.end}", *("yes" if of[number].is_there else "no" for of in found.values()))
        for number, edge in enumerate(next(iter(found.values())))
    ]
    print_table(TITLE, ("name", "connection", *found), rows)
    say(f"written: {path}")
    return {
        "title": TITLE,
        "drawing": str(path),
        "connections": [dict(zip(("name", "connection", *found), row, strict=True)) for row in rows],
    }


def _scales(table: str, files: str) -> dict[str, str]:
    """The scales of a table by name, each with what it means."""
    if table == LILGYM:
        from recombine.rl.table1 import SCALES

        return {name: scale.sentence(name, files) for name, scale in SCALES.items()}
    from recombine.models.tables import TABLES

    return {name: scale.sentence() for name, scale in TABLES[table].scales.items()}


def _list_scales(table: str, meanings: Mapping[str, str], out: Path) -> None:
    """Print what each scale of a table means, and the time that it took here, where it has been run."""
    rows = [(name, meaning.partition(": ")[2], _time_here(out / f"{table}-{name}.json")) for name, meaning in meanings.items()]
    print_table(f"scales of {table}; nothing was run", ("scale", "what", "training time here"), rows)
    say("`smoke` shows that everything runs; its figures mean nothing.")
    say(f"next: recombine reproduce {table} --scale smoke --out {shlex.quote(str(out))}")


def _time_here(path: Path) -> str:
    """The CPU time of the runs behind a finished table, or that it has not been run."""
    if not path.is_file():
        return "not run here yet"
    found = parse_json(path.read_text(encoding="utf-8"), shown(str(path)))
    seconds = found.get("train_cpu_seconds") if isinstance(found, dict) else None
    if not isinstance(seconds, int | float):
        raise FileError(f"{shown(str(path))} is no table of `recombine reproduce`; give another --out.")
    return f"{seconds:,.0f} s of one core"
