"""Make a study with people, list studies, and write out what people gave. Works while the server runs.

recombine study people.sqlite --create "Kinship" --condition clutrr/generalization_23/test_k4=10 --groups timed untimed
recombine study people.sqlite                            # list the studies with their links
recombine study people.sqlite --export STUDY --out DIR   # answers for evaluate, templates for generate
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli.requests import whole_number

if TYPE_CHECKING:
    from recombine.serve.studies.store import Store


EXPORT = "export.json"
"""The file by which a later export knows the folder as its own."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine study`."""
    parser.add_argument("file", help="the SQLite file of the studies; the same as `recombine serve --studies`")
    parser.add_argument("--create", metavar="TITLE", help="make a study with this title")
    parser.add_argument(
        "--kind", choices=("answer", "write", "state"), default="answer", help="the task of the participants (default: answer)"
    )
    parser.add_argument(
        "--condition",
        action="append",
        default=[],
        metavar="FAMILY/SPLIT/PART=ITEMS",
        help="rows to be answered; may be repeated",
    )
    parser.add_argument("--items", type=whole_number, default=10, metavar="N", help="items for each person (default 10)")
    parser.add_argument("--practice", type=whole_number, default=1, metavar="N", help="practice items (default 1)")
    parser.add_argument(
        "--limit", type=whole_number, default=0, metavar="SECONDS", help="time limit for an answer (default: none)"
    )
    parser.add_argument("--groups", nargs="+", default=["all"], metavar="NAME", help="groups of people; one link each")
    parser.add_argument("--untimed", nargs="*", default=[], metavar="NAME", help="groups without the time limit")
    parser.add_argument(
        "--texts", type=whole_number, default=20, metavar="N", help="stories for each length, or statements (default 20)"
    )
    parser.add_argument("--reviewers", type=whole_number, default=2, metavar="N", help="reviewers of a story (default 2)")
    parser.add_argument("--consent", metavar="FILE", help="a text file with the consent text")
    parser.add_argument("--seed", type=whole_number, default=0, metavar="K", help="seed of the items (default 0)")
    parser.add_argument("--export", metavar="STUDY", help="write the files of this study")
    parser.add_argument("--out", metavar="DIR", help="where the files go")


def run(arguments: argparse.Namespace) -> int:
    """Create, export or list."""
    from recombine.errors import UsageError, shown
    from recombine.serve.studies.store import Store

    path = Path(arguments.file)
    if arguments.create is None and not path.is_file():
        raise UsageError(f"{shown(arguments.file)} does not exist; --create TITLE makes a study in it.")
    if arguments.create is None and not path.stat().st_size:
        raise UsageError(f"{shown(arguments.file)} is an empty file without studies; --create TITLE makes one in it.")
    if arguments.create is not None and arguments.kind != "answer" and arguments.condition:
        raise UsageError(
            f"--condition goes with --kind answer: the other kinds ask about no rows, and this is {arguments.kind}."
        )
    store = Store(path)
    try:
        if arguments.create is not None:
            _list(store, _create(store, arguments))
        elif arguments.export:
            _export(store, arguments)
        else:
            _list(store)
    finally:
        store.close()
    return 0


def _create(store: Store, arguments: argparse.Namespace) -> str:
    from recombine.files import read_text
    from recombine.serve.studies import design

    made = design.Design(
        title=arguments.create,
        kind=arguments.kind,
        conditions=tuple(design.Condition.parse(text) for text in arguments.condition),
        items_per_person=arguments.items,
        practice=arguments.practice,
        limit_seconds=arguments.limit,
        groups=tuple(arguments.groups),
        untimed=tuple(arguments.untimed),
        reviewers=arguments.reviewers,
        texts=arguments.texts,
        consent=read_text(Path(arguments.consent), 1 << 16).strip() if arguments.consent else design.CONSENT,
        seed=arguments.seed,
    )
    return design.create(store, made)


def _list(store: Store, only: str | None = None) -> None:
    from recombine.cli.printing import say

    for study, title, _ in store.studies():
        if only is None or study == only:
            say(f"{study}  {title}")
            for link in store.links(study):
                say(f"    {link.role} ({link.group}): /take/{link.token}")


def _export(store: Store, arguments: argparse.Namespace) -> None:
    from recombine.cli.printing import say
    from recombine.errors import UsageError
    from recombine.files import Kind, holds, own_folder, write_json, write_text
    from recombine.serve.studies import design, export

    if not arguments.out:
        raise UsageError("--export needs --out DIR.")
    made = design.design_of(store.study(arguments.export)[1])
    is_ours = lambda folder: holds(folder / EXPORT, lambda found: found["exported_by"] == "recombine study")
    kind = Kind("an export of `recombine study`", is_ours)
    folder = own_folder(arguments.out, kind)
    write_json(folder / EXPORT, {"exported_by": "recombine study", "study": arguments.export})
    listed = list(export.files(store, arguments.export, made.reviewers, made.seed))
    for name, text in listed:
        write_text(folder / name, text)
        say(f"wrote {folder / name}")
    if not listed:
        say(f"wrote {folder / EXPORT} alone: nobody has given anything to this study yet")
