"""Print how far the test parts of a folder lie from its training part: atom and compound divergence.

recombine divergence DIR
recombine divergence TRAIN_FILE TEST_FILE --family scan

Divergence is one minus the Chernoff coefficient, 0.5 for atoms and 0.1 for compounds: 0 if the sets are alike, 1 if they share nothing.
Atoms and weighted compounds come from derivation trees (SCAN, NACS) or from facets (the others); docs/splits.md defines them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recombine.cli.printing import print_json, print_table, say
from recombine.cli.requests import whole_number
from recombine.errors import UsageError

MOST = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine divergence`."""
    parser.add_argument("dir", help="a folder made by recombine generate, or an originally released training file")
    parser.add_argument("test_file", nargs="?", help="the released test file that goes with the training file")
    parser.add_argument("--family", metavar="F", help="the family of the files")
    parser.add_argument(
        "--train", default="train", metavar="P", help="the part that the others are compared with (default train)"
    )
    parser.add_argument("--most", type=whole_number, default=MOST, metavar="N", help="new compounds to print (default 10)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Count, compare, print."""
    from recombine.data.certificate import divergences, file_divergence
    from recombine.families import family as find_family

    if arguments.test_file is not None:
        if not arguments.family:
            raise UsageError("--family is missing: whose files are they?")
        name = Path(arguments.test_file).name
        found = {name: file_divergence(find_family(arguments.family), Path(arguments.dir), Path(arguments.test_file))}
    else:
        found = divergences(arguments.dir, arguments.train)
    if arguments.json:
        print_json(
            {
                name: {
                    "atom_divergence": d.atoms,
                    "compound_divergence": d.compounds,
                    "rarest_test_atom": {"atom": d.rarest_atom[0], "train_rows": d.rarest_atom[1]},
                    "new_compounds": [list(pair) for pair in d.new_compounds],
                }
                for name, d in found.items()
            }
        )
        return 0
    rows = [(name, f"{d.atoms:.4f}", f"{d.compounds:.4f}", f"{len(d.new_compounds):,}") for name, d in found.items()]
    print_table("", ("part", "atom divergence", "compound divergence", "new compounds"), rows)
    for name, d in found.items():
        say(f"{name}: its rarest atom in training is {d.rarest_atom[0]} ({d.rarest_atom[1]:,} rows)")
        for compound, count in d.new_compounds[: arguments.most]:
            say(f"  only in {name}: {compound} ({count:,} rows)")
    return 0
