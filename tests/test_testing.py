"""The conformance kit finds what it must: a toy family passes, and each way of cheating is caught."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from recombine import keys, testing
from recombine.core import Batch, Claim, Example, Job, Part, Split

OUTSIDE = Path(__file__).parent / "outside"


def _module() -> Any:
    spec = importlib.util.spec_from_file_location("recombine_reversal", OUTSIDE / "recombine_reversal.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["recombine_reversal"] = module
    spec.loader.exec_module(module)
    return module


toy = _module()


def _faults(family: Any) -> str:
    with pytest.raises(testing.Nonconforming) as caught:
        testing.check_family(family)
    return str(caught.value)


def test_the_toy_family_conforms() -> None:
    testing.check_family(toy.REVERSAL)


def test_items_keyed_by_seed_plus_index_are_caught() -> None:
    class Leaking(toy.Reversal):  # type: ignore[misc]
        def stream(self, job: Job, index: int) -> keys.Stream:
            return keys.Stream("leaking", job.part, job.seed + index)

    assert "share 199 of 200 rows" in _faults(Leaking())


def _with_split(split: Split, claim: Claim | None) -> Any:
    class More(toy.Reversal):  # type: ignore[misc]
        SPLITS: ClassVar[Mapping[str, Split]] = {**toy.SPLITS, split.name: split}
        CLAIMS: ClassVar[Mapping[str, Claim]] = {**toy.CLAIMS, **({split.name: claim} if claim else {})}

    return More()


def _anything(_example: Example, _part: str) -> str:
    return ""


def test_a_second_split_whose_test_is_its_train_is_caught() -> None:
    parts = {name: Part(name, "", 100) for name in ("train", "test")}

    class Same(toy.Reversal):  # type: ignore[misc]
        SPLITS: ClassVar[Mapping[str, Split]] = {**toy.SPLITS, "same": Split("same", "Nothing.", parts)}
        CLAIMS: ClassVar[Mapping[str, Claim]] = {**toy.CLAIMS, "same": _anything}

        def generate(self, job: Job) -> Batch:
            source = dataclasses.replace(job, split="length", part="train") if job.split == "same" else job
            return dataclasses.replace(super().generate(source), job=job)

        def validate(self, example: Example) -> list[Any]:
            return [] if example.meta["split"] == "same" else list(super().validate(example))

    found = _faults(Same())
    assert "same: test shares" in found
    assert "though the split holds it out" in found


def test_a_split_without_a_claim_is_caught() -> None:
    split = Split("longer", "More words.", {"test": Part("test", "", 100)}, {"train": ("length", "train")}, axis="length")
    found = _faults(_with_split(split, None))
    assert "the oracle has no claim for longer" in found
    assert "unjudged_split" in found


def test_lost_rows_and_repeated_rows_are_caught() -> None:
    class Losing(toy.Reversal):  # type: ignore[misc]
        SPLITS: ClassVar[Mapping[str, Split]] = {
            "length": dataclasses.replace(
                toy.SPLITS["length"],
                parts={n: dataclasses.replace(p, finite=True) for n, p in toy.SPLITS["length"].parts.items()},
            )
        }

        def generate(self, job: Job) -> Batch:
            return super().generate(job.rows(job.start, min(job.stop, 190)))

    assert "row 199 does not exist" in _faults(Losing())

    class Repeating(toy.Reversal):  # type: ignore[misc]
        def stream(self, job: Job, index: int) -> keys.Stream:
            return super().stream(job, index // 2)

    assert "one row stands there 2 times" in _faults(Repeating())


# --- a family in another package -------------------------------------------------------------------------------------


def _recombine(*words: str, folder: Path) -> str:
    import os

    path = os.pathsep.join([str(OUTSIDE), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    done = subprocess.run(
        [sys.executable, "-m", "recombine", *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_verb_works_on_a_family_of_another_package(tmp_path: Path) -> None:
    assert "reversal" in json.loads(_recombine("list", "--json", folder=tmp_path))
    _recombine("generate", "reversal", "--split", "length", "--size", "40", "--out", "out", folder=tmp_path)
    assert json.loads(_recombine("verify", "out", "--json", folder=tmp_path))["ok"]
    asked = _recombine(
        "ask",
        "reversal",
        "--split",
        "length",
        "--model",
        "x",
        "--price",
        "1,1",
        "--endpoint",
        "http://127.0.0.1:9/v1",
        "--size",
        "2",
        "--dry-run",
        folder=tmp_path,
    )
    assert "reverse order" in asked
    _recombine("evaluate", "--data", "out", "--with", "all-baselines", "--part", "test", "--out", "report", folder=tmp_path)
    assert (tmp_path / "report" / "report.json").exists()
