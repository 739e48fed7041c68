"""Keep finished runs of `recombine reproduce` as files of docs/results: scores, curve, settings, and the command that made them.

python benchmarks/keep_run.py --command "recombine reproduce reascan-target --scale day" runs/reascan-all-release--gcn-lstm--day--seed0 …
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from recombine.files import read_json, write_json

HERE = Path(__file__).parent.parent / "docs" / "results"


def kept(folder: Path, command: str) -> dict[str, Any]:
    """What is kept of a run: everything that its tests say, and how it was trained."""
    run = read_json(folder / "run.json")
    versions = {name: run[name] for name in ("recombine", "torch")}
    return {
        **read_json(folder / "test.json"),
        "command": command,
        "config": run["config"],
        "training": run["training"],
        "versions": versions,
    }


def main() -> None:
    """Write one file for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--command", required=True)
    parser.add_argument("--out", type=Path, default=HERE)
    given = parser.parse_args()
    for folder in given.runs:
        record = kept(folder, given.command)
        path = given.out / f"{record['experiment'].replace('--', '-').replace('=', '-')}.json"
        write_json(path, record)
        print(path, json.dumps({name: round(100 * one["score"], 1) for name, one in record["tests"].items()}))


if __name__ == "__main__":
    main()
