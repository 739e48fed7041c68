"""Against the released files: every row re-derived, rule-based splits equal as multisets, sampled ones in their sizes."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from recombine.core import Example, Problem
from recombine.families.scan import NACS, SCAN, splits
from recombine.families.scan.corpus import action_texts, corpus, places
from recombine.jobs import make_job

ROWS = {
    "tasks": 20_910,
    "simple_train": 16_728,
    "simple_test": 4_182,
    "length_train": 16_990,
    "length_test": 3_920,
    "addprim_jump_train": 14_670,
    "addprim_jump_test": 7_706,
    "addprim_turn_left_train": 21_890,
    "addprim_turn_left_test": 1_208,
    "mcd1_train": 8_365,
    "mcd1_test": 1_045,
}


def released(shared: Path, name: str) -> list[Example]:
    rows = list(SCAN.read(shared / "scan" / f"{name}.txt.gz"))
    assert not any(isinstance(row, Problem) for row in rows)
    return [row for row in rows if isinstance(row, Example)]


@pytest.mark.parametrize("name", ROWS)
def test_every_released_row_is_rederived(shared: Path, name: str) -> None:
    texts = action_texts("file")
    rows = released(shared, name)
    assert len(rows) == ROWS[name]
    for row in rows:
        assert texts[places()[row.inputs["command"]]] == row.answer
        assert SCAN.validate(row) == []


def test_tasks_is_the_corpus(shared: Path) -> None:
    assert sorted(row.inputs["command"] for row in released(shared, "tasks")) == sorted(corpus().commands)


@pytest.mark.parametrize("split", ["length", "addprim_jump", "addprim_turn_left"])
@pytest.mark.parametrize("part", ["train", "test"])
def test_rule_based_splits_are_the_released_multisets(shared: Path, split: str, part: str) -> None:
    batch = SCAN.generate(make_job(SCAN, split, part, seed=11))
    ours = Counter((batch.row(i)["command"], batch.row(i)["actions"]) for i in range(len(batch)))
    rows = released(shared, f"{split}_{part}")
    assert ours == Counter((row.inputs["command"], row.answer) for row in rows)
    assert SCAN.survey(rows)["equals"] == [f"{split}/{part}"]


def test_the_released_simple_split_leaks_3567_of_its_rows(shared: Path) -> None:
    train, test = (
        np.array([places()[row.inputs["command"]] for row in released(shared, f"simple_{part}")]) for part in ("train", "test")
    )
    assert (len(train), len(test)) == tuple(SCAN.SPLITS["simple"].parts[part].rows("release") for part in ("train", "test"))
    assert int((~splits.leak_free(test, train)).sum()) == 3_567
    assert len(np.unique(corpus().meaning[test])) == 3_579


def test_mcd1_reads(shared: Path) -> None:
    for part in ("train", "test"):
        job = make_job(NACS, "mcd1", part, options={"files": str(shared / "scan")})
        batch = NACS.generate(job)
        assert [batch.row(i)["command"] for i in range(len(batch))] == [
            row.inputs["command"] for row in released(shared, f"mcd1_{part}")
        ]
        assert list(NACS.validate_batch(batch)) == []


def test_three_corrupted_lines_are_found_and_no_other(shared: Path, tmp_path: Path) -> None:
    lines = gzip.decompress((shared / "scan" / "length_test.txt.gz").read_bytes()).decode().splitlines()
    lines[16] = lines[16].removesuffix(" I_RUN") + " I_FLY"
    lines[400] = lines[400].replace(" OUT: ", " OUT: I_WALK ")
    lines[3_919] = lines[3_919].replace("IN: ", "IN: please ")
    file = tmp_path / "corrupted.txt"
    file.write_text("\n".join(lines) + "\n")
    problems = [p for row in SCAN.read(file) for p in ([row] if isinstance(row, Problem) else SCAN.validate(row))]
    assert [(p.place, p.code) for p in problems] == [
        ("line 17", "unknown_action"),
        ("line 401", "wrong_label"),
        ("line 3920", "not_in_grammar"),
    ]
