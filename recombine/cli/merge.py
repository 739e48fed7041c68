"""Finish a folder whose shards were made on several machines with `recombine generate … --shard I/N`."""

from __future__ import annotations

import argparse

from recombine.cli.printing import print_json, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine merge`."""
    parser.add_argument("dir", help="the folder")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Check that every shard is there, then write card and manifest."""
    from recombine.data.generate import merge

    folder = merge(arguments.dir)
    if arguments.json:
        print_json({key: value for key, value in folder.manifest.items() if key != "plan"})
        return 0
    say(f"{arguments.dir}: {sum(folder.manifest['counts'].values()):,} rows, fingerprint {folder.manifest['fingerprint']}")
    return 0
