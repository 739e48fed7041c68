"""Table 2 of the lilGym paper from the official files: `python benchmarks/lilgym_table2.py FOLDER`.

For each official file in the folder: records, different sentences, and for FLIPIT different (sentence, target) contexts, beside the paper's.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recombine.core import Example
from recombine.families import family

PAPER: dict[tuple[str, str], tuple[int, ...]] = {
    ("tower_scratch", "train"): (989,), ("tower_scratch", "dev"): (163,), ("tower_scratch", "test"): (324,),
    ("scatter_scratch", "train"): (1_241,), ("scatter_scratch", "dev"): (87,), ("scatter_scratch", "test"): (155,),
    ("tower_flipit", "train"): (5_704, 1_910), ("tower_flipit", "dev"): (676, 317), ("tower_flipit", "test"): (1_383, 619),
    ("scatter_flipit", "train"): (6_696, 2_340), ("scatter_flipit", "dev"): (313, 164), ("scatter_flipit", "test"): (591, 285),
}  # fmt: skip
"""(environment, set) -> records, and for FLIPIT contexts, as the paper prints them."""


def counts(path: Path) -> tuple[int, int, int]:
    """(records, different sentences, different contexts) of a file."""
    examples = [item for item in family("lilgym").read(path) if isinstance(item, Example)]
    sentences = {str(example.inputs["statement"]) for example in examples}
    contexts = {(str(example.inputs["statement"]), str(example.inputs.get("target"))) for example in examples}
    return len(examples), len(sentences), len(contexts)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    print(f"{'file':<24} {'records':>8} {'sentences':>10} {'contexts':>9}   the paper's records and contexts")
    for (environment, part), paper in PAPER.items():
        paths = sorted(path for path in folder.rglob("*.json*") if environment in str(path).lower() and part in path.name)
        found = [f"{number:,}" for number in counts(paths[0])] if paths else ["no file", "", ""]
        printed = ", ".join(f"{number:,}" for number in paper)
        print(f"{environment + ' ' + part:<24} {found[0]:>8} {found[1]:>10} {found[2]:>9}   {printed}", flush=True)


if __name__ == "__main__":
    main()
