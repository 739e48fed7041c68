"""What `verify` finds besides the oracle's laws: repeated rows, rows of another seed, rows in the wrong part, lost rows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import recombine
from recombine.core import Example
from recombine.data import columns, folders
from recombine.data.generate import generate
from recombine.data.plan import PartPlan
from recombine.data.shards import sha256_of
from recombine.families import family
from recombine.families.scan import oracle, splits
from recombine.jobs import make_job


def _codes(path: Path) -> set[str]:
    return {problem.code for problem in recombine.verify(path).problems if problem.severity == "error"}


def _doctor(folder: folders.Folder, number: int, made: object) -> None:
    """Put other rows into a part, with hashes and fingerprints that fit: only the content can give it away."""
    import pyarrow.parquet as pq

    table = columns.to_arrow(made, folder.family.SCHEMA)  # type: ignore[arg-type]
    file = folder.files(number)[0]
    ids = [folder.plan.parts[number].job.id(i) for i in range(table.num_rows)]
    table = table.set_column(0, "id", [ids])
    pq.write_table(table.cast(folder.schema), file)
    manifest = json.loads((folder.path / "manifest.json").read_text())
    entry = manifest["parts"][number]
    chunk = columns.digest(table)
    entry["shards"][0] |= {"sha256": sha256_of(file), "chunks": [chunk], "bytes": file.stat().st_size}
    entry["fingerprint"] = folders.fingerprint([chunk])
    manifest["fingerprint"] = folders.fingerprint([part["fingerprint"] for part in manifest["parts"]])
    (folder.path / "manifest.json").write_text(json.dumps(manifest))


def test_rows_of_another_seed_are_found(tmp_path: Path) -> None:
    folder = generate("gscan", tmp_path / "out", split="visual", part="test", size=40, seed=7)
    assert _codes(folder.path) == set()
    item = family("gscan")
    _doctor(folder, 0, item.generate(make_job(item, "visual", "test", None, 8).rows(0, 40)))
    assert _codes(folder.path) == {"other_rows"}


def test_repeated_rows_are_found_and_counted(tmp_path: Path) -> None:
    folder = generate("gscan", tmp_path / "out", split="visual", part="test", size=40, seed=7)
    batch = folder.family.generate(folder.plan.parts[0].job.rows(0, 39))
    import numpy as np

    _doctor(folder, 0, columns.take(batch, np.array([*range(39), 5])))
    verdict = recombine.verify(folder.path)
    assert "repeated" in {p.code for p in verdict.problems}
    assert verdict.parts[0].distinct == 39
    assert "stands 2 times" in next(p.text for p in verdict.problems if p.code == "repeated")


def test_a_file_that_the_manifest_does_not_list_is_an_error(tmp_path: Path) -> None:
    """The card's pattern `simple/test-*.parquet` matches it, so `datasets.load_dataset` reads its rows."""
    folder = generate("scan", tmp_path / "out", split="simple", size=20)
    shutil.copy(folder.files(1)[0], folder.path / "simple" / "test-extra.parquet")
    (folder.path / "simple" / "notes.txt").write_text("no pattern matches this")
    verdict = recombine.verify(folder.path)
    assert [(p.code, p.place) for p in verdict.problems] == [("unlisted_file", "simple/test-extra.parquet")]
    assert not verdict.ok
    assert [part.errors for part in verdict.parts] == [0, 1]


def test_all_problems_are_counted_although_few_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recombine.data import verify

    folder = generate("scan", tmp_path / "out", split="simple", size=40)
    rows = folder.family.generate(folder.plan.parts[0].job.rows(0, 40))
    import numpy as np

    _doctor(folder, 1, columns.take(rows, np.arange(40)))
    _doctor(folder, 0, columns.take(rows, np.arange(40) // 4))
    whole = recombine.verify(folder.path)
    monkeypatch.setattr(verify, "KEPT_PROBLEMS", 3)
    cut = recombine.verify(folder.path)
    assert cut.counts == whole.counts and cut.parts == whole.parts
    assert cut.counts["error:leak"] == cut.parts[1].leaks == 10
    assert sum(p.code == "leak" for p in cut.problems) == 3


def test_artifacts_do_not_hide_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from recombine.core import Problem
    from recombine.data import verify

    monkeypatch.setattr(verify, "KEPT_PROBLEMS", 3)
    found = verify._Found()
    for number in range(5):
        found.add(Problem("noisy", "", "artifact", str(number)))
    found.add(Problem("wrong", ""))
    assert found.problems[-1].code == "wrong"
    assert not verify.Verdict("", "", (), (), {"error:wrong": 1}).ok


def test_damage_to_a_file_stands_in_its_part(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "out", split="simple", size=20)
    manifest = json.loads((folder.path / "manifest.json").read_text())
    manifest["parts"][1]["shards"][0]["sha256"] = "0" * 64
    (folder.path / "manifest.json").write_text(json.dumps(manifest))
    verdict = recombine.verify(folder.path)
    assert verdict.counts == {"error:wrong_hash": 1}
    assert [part.errors for part in verdict.parts] == [0, 1]


def test_rows_that_repeat_by_design_are_no_problem(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "out", split="addprim_jump", part="train")
    verdict = recombine.verify(folder.path)
    assert verdict.ok
    assert (verdict.parts[0].rows, verdict.parts[0].distinct) == (14_670, 13_204)


def test_a_test_row_in_train_is_found(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "out", split="addprim_jump", size=30, seed=1)
    item = folder.family
    test = item.generate(make_job(item, "addprim_jump", "test", None, 1).rows(0, 30))
    _doctor(folder, 0, test)
    assert "wrong_split" in _codes(folder.path)


def test_a_split_that_the_oracle_does_not_know_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split = splits.divide(
        "no_run", "`run` is never trained.", train="No `run`.", test="With `run`.",
        rule=splits._isolated("run", lambda phrase: phrase.verb == "run", 0),
    )  # fmt: skip
    monkeypatch.setitem(splits.SPLITS, "no_run", split)  # type: ignore[misc]
    folder = generate("scan", tmp_path / "out", split="no_run", part="test", size=20)
    assert _codes(folder.path) == {"unjudged_split"}

    def claim(example: Example, part: str) -> str:
        return "" if ("run" in str(example.inputs["command"]).split()) == (part == "test") else "`run` is in the wrong part"

    monkeypatch.setitem(oracle.CLAIMS, "no_run", claim)  # type: ignore[misc]
    assert _codes(folder.path) == set()
    monkeypatch.setitem(oracle.CLAIMS, "no_run", lambda example, part: claim(example, "train" if part == "test" else "test"))  # type: ignore[misc]
    assert _codes(folder.path) == {"wrong_split"}


def test_a_family_that_loses_rows_cannot_finish_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = splits.SPLITS["length"].parts["test"]
    monkeypatch.setitem(splits.SPLITS["length"].parts, "test", type(part)("test", part.rule, 4_830, finite=True))  # type: ignore[index]
    with pytest.raises(recombine.RecombineError, match=r"4,830 rows .* 3,920"):
        generate("scan", tmp_path / "out", split="length", part="test")


def test_a_folder_of_an_older_version_opens_and_says_what_was_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = generate("scan", tmp_path / "out", split="length", part="test", size=20)
    recipe = folder.family.RECIPES["release"]
    monkeypatch.setitem(folder.family.RECIPES, "release", type(recipe)(recipe.name, recipe.claim, 2))  # type: ignore[index]
    verdict = recombine.verify(folder.path)
    assert verdict.ok
    assert "older version" in verdict.notes[0]
    assert recombine.load(folder.path, part="test")[3].score("I_WALK").value == 0.0
    shutil.rmtree(folder.path)


def test_a_part_plan_refuses_a_short_batch() -> None:
    item = family("scan")
    job = make_job(item, "length", "test")
    plan = PartPlan(job.rows(0, 4_000), 4_000, None)
    with pytest.raises(recombine.RecombineError, match="3,920"):
        list(plan.batches(item, 0, 4_000))
