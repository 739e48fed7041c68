"""What the training rows of SCAN's splits leave open: `docs/results/identify-scan.json`, one record per split.

python benchmarks/identify_splits.py
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from recombine.data.datasets import load
from recombine.files import read_json, write_json
from recombine.models.identification import identify
from recombine.models.sequence_machine import Entry, SequenceMachineConfig, alphabet_of, pairs_of, sides
from recombine.models.sequence_machine_train import best_search

SPLITS = (
    "length", "addprim_jump", "template_around_right", "template_opposite_right", "template_right", "addprim_turn_left",
    "template_jump_around_right", "simple", "filler_num0", "filler_num1", "filler_num2", "filler_num3", "fewshot_num1_rep1",
    "addprim_complex_jump_num1_rep1", "nacs_jump_num1",
)  # fmt: skip
OUT = Path(__file__).parent.parent / "docs" / "results" / "identify-scan.json"


def run(split: str) -> dict[str, Any]:
    """One search, then every word varied."""
    clock = time.process_time()
    rows = list(load("scan", split, "train"))
    alphabet = alphabet_of(rows)
    pairs = pairs_of(rows, alphabet)
    config = SequenceMachineConfig()
    learnt = best_search(pairs, alphabet, config, 0)
    lexicon = [Entry(level, bytes(template)) for level, template in learnt["lexicon"]]
    commands = [alphabet.command(sides(example)[0]) for example in load("scan", split, "test")]
    found = identify(lexicon, pairs, [words for words in commands if words is not None], alphabet, config)
    opened = {
        item.word: {
            "learnt": alphabet.template(item.entry.template), "level": item.entry.level, "alternatives": len(item.changing),
            "cheapest": alphabet.template(item.changing[0].entry.template), "cheapest_level": item.changing[0].entry.level,
            "nats": round(item.changing[0].nats, 3), "tests_changed": item.changing[0].changed,
        }
        for item in found.words
        if item.changing
    }  # fmt: skip
    seconds = round(time.process_time() - clock, 1)
    wrong = learnt["wrong"]
    return {
        "split": split,
        "training_wrong": wrong,
        "tests": found.tests,
        "open": found.open,
        "words": opened,
        "cpu_seconds": seconds,
    }


def main() -> None:
    """Make the records that are missing."""
    found: dict[str, Any] = (
        read_json(OUT) if OUT.is_file() else {"command": "python benchmarks/identify_splits.py", "splits": []}
    )
    for split in SPLITS:
        if all(item["split"] != split for item in found["splits"]):
            found["splits"].append(run(split))
            write_json(OUT, found)
            print(json.dumps(found["splits"][-1]), flush=True)


if __name__ == "__main__":
    main()
