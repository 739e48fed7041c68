"""Every file that we read back is checked: a damaged one is a typed error, and no path leads out of its folder."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import recombine
from recombine.cli import main
from recombine.data import plan as plans
from recombine.data.datasets import load
from recombine.data.folders import open_folder
from recombine.data.generate import generate, merge
from recombine.data.stats import stats
from recombine.data.verify import verify
from recombine.errors import FileError, RecombineError

_spec = importlib.util.spec_from_file_location("mutations", Path(__file__).with_name("mutations.py"))
assert _spec is not None and _spec.loader is not None
mutations = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mutations)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate("scan", tmp_path_factory.mktemp("made") / "data", split="length", part="test", size=20).path


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "data"))


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def test_damaged_manifests(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    tried = opened = 0
    for name, value in mutations.damaged(manifest):
        write(folder / "manifest.json", value)
        tried += 1
        try:
            found = open_folder(folder)
        except RecombineError:
            continue
        opened += 1  # what is told for the record only may be changed; everything must still work on it
        try:
            list(found.batches(0))
            verify(folder, workers=1)
        except RecombineError:
            pass
        except Exception as problem:
            pytest.fail(f"{name}: {problem!r}")
    assert tried > 900
    assert opened < tried / 4


def test_garbled_manifests(folder: Path) -> None:
    raw = (folder / "manifest.json").read_bytes()
    for made in mutations.garbled(raw, 300):
        (folder / "manifest.json").write_bytes(made)
        try:
            load(folder)[0]
            stats(folder)
        except RecombineError:
            pass


@pytest.mark.parametrize("name", ["../../x", "..", "/etc", "nowhere", "length/../length", "%2e%2e"])
def test_a_split_name_cannot_lead_out(folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path.parent / "x").mkdir(exist_ok=True)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["plan"]["parts"][0]["job"]["split"] = name
    for part in manifest["parts"]:
        part["split"] = name
        for shard in part["shards"]:
            shard["path"] = shard["path"].replace("length", name)
    manifest["counts"] = {f"{name}/test": 20}
    write(folder / "manifest.json", manifest)
    for look in (load, stats, verify):
        with pytest.raises(FileError, match="unknown split"):
            look(folder)


@pytest.mark.parametrize("rows", [10**9, 10**11, 10**12, -1])
def test_rows_are_bounded_by_the_files(folder: Path, rows: int) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    part = manifest["plan"]["parts"][0]
    for shard_rows in (plans.SHARD_ROWS, max(1, rows)):
        manifest["plan"]["shard_rows"] = shard_rows
        part["rows"] = part["available"] = part["job"]["stop"] = rows
        manifest["counts"] = {"length/test": rows}
        manifest["parts"][0]["rows"] = manifest["parts"][0]["shards"][0]["rows"] = rows
        write(folder / "manifest.json", manifest)
        with pytest.raises(FileError):
            verify(folder)


@pytest.mark.parametrize("rows", [19, 21])
def test_another_number_of_rows_is_never_silent(folder: Path, rows: int) -> None:
    """The folder has so few rows that it opens. Both a reader of the part and `verify` get an error."""
    manifest = json.loads((folder / "manifest.json").read_text())
    part = manifest["plan"]["parts"][0]
    assert part["rows"] == 20
    part["rows"] = part["available"] = part["job"]["stop"] = rows
    manifest["counts"] = {"length/test": rows}
    manifest["parts"][0]["rows"] = manifest["parts"][0]["shards"][0]["rows"] = rows
    write(folder / "manifest.json", manifest)
    with pytest.raises(FileError, match=f"has 20 rows, its manifest says {rows}"):
        list(open_folder(folder).batches(0))
    assert not verify(folder).ok


def test_rows_of_an_unbounded_part_are_bounded_too(tmp_path: Path) -> None:
    out = generate("gscan", tmp_path / "g", split="compositional", part="train", size=5).path
    text = (out / "manifest.json").read_text()
    manifest = json.loads(text)
    assert manifest["plan"]["parts"][0]["available"] is None
    changed = manifest["plan"]["parts"][0]
    changed["rows"] = changed["job"]["stop"] = 10**9
    manifest["plan"]["shard_rows"] = 10**9
    manifest["counts"] = {"compositional/train": 10**9}
    manifest["parts"][0]["rows"] = manifest["parts"][0]["shards"][0]["rows"] = 10**9
    write(out / "manifest.json", manifest)
    with pytest.raises(FileError, match="cannot have 1,000,000,000 rows"):
        open_folder(out)


def test_links_inside_a_folder_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "length").rename(tmp_path / "elsewhere")
    (folder / "length").symlink_to(tmp_path / "elsewhere")
    for look in (load, stats, verify):
        with pytest.raises(FileError, match="symbolic link"):
            look(folder)
    with pytest.raises(FileError, match="symbolic link"):
        generate("scan", folder, split="length", part="test", size=20)
    assert len(list((tmp_path / "elsewhere").iterdir())) == 1


def test_a_linked_records_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "plan.json").write_text("{}")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".recombine").symlink_to(tmp_path / "away")
    for act in (lambda: generate("scan", tmp_path / "out", split="length", size=5), lambda: merge(tmp_path / "out")):
        with pytest.raises(FileError, match="symbolic link"):
            act()
    assert [p.name for p in (tmp_path / "away").iterdir()] == ["plan.json"]
    assert (tmp_path / "away" / "plan.json").read_text() == "{}"


def test_damaged_plans_and_records_of_an_unfinished_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "SHARD_ROWS", 10)
    from recombine.data.generate import run

    plan = plans.make_plan("scan", ("length",), ("test",), size=20)
    out = tmp_path / "out"
    run(plan, out, only=(1, 2))
    record = next((out / ".recombine").glob("*__*.json"))
    whole = json.loads(record.read_text())
    for _, value in mutations.damaged(whole):
        write(record, value)
        try:
            merge(out)
        except FileError as problem:
            assert "lacks" in str(problem)
        else:
            pytest.fail("one shard is missing")
    described = json.loads((out / ".recombine" / "plan.json").read_text())
    for _, value in mutations.damaged(described):
        write(out / ".recombine" / "plan.json", value)
        with pytest.raises(RecombineError):
            merge(out)
    write(out / ".recombine" / "plan.json", described)
    record.write_text("{")
    assert recombine.verify(run(plan, out).path).ok, "a damaged record only means that the shard is made again"


def test_rows_with_strange_ids_or_missing_values(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = next(folder.rglob("*.parquet"))
    table = pq.read_table(file)
    for strange in ("", "x", "a/b", "a/" + "9" * 30, "a/-1x", "a/\x1b[2J"):
        ids = pa.array([strange, *table.column("id").to_pylist()[1:]])
        pq.write_table(table.set_column(0, "id", ids), file)
        assert not verify(folder, workers=1).ok
        with pytest.raises(RecombineError):
            list(load(folder))
    name = table.column_names[1]
    nulls = pa.array([None] * table.num_rows, table.column(1).type)
    pq.write_table(table.set_column(1, name, nulls), file)
    with pytest.raises(FileError, match="lacks values"):
        list(load(folder))


def test_the_command_line_says_it_in_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    for place in ("parts", "plan", "fingerprint", "counts"):
        write(folder / "manifest.json", {**manifest, place: 5})
        for words in (
            ["verify", str(folder)],
            ["stats", str(folder)],
            ["show", str(folder)],
            ["evaluate", "--data", str(folder)],
        ):
            assert main(words) == 2
            told = capsys.readouterr().err
            assert told.count("\n") == 1
            assert "manifest.json" in told
