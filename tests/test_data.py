"""The data layer: resume, engines, shards, card, leaks, and every kind of damage."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import recombine
from recombine.data import columns, plan
from recombine.data.folders import open_folder
from recombine.data.generate import generate, locked, merge, run
from recombine.data.plan import make_plan
from recombine.errors import FileError, UsageError
from recombine.files import writing


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder with the hash of its bytes."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()
    }


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many shards from few rows."""
    monkeypatch.setattr(plan, "SHARD_ROWS", 2_000)
    monkeypatch.setattr(plan, "CHUNK_ROWS", 500)


def test_engines_and_shards_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "SHARD_ROWS", 2_000)  # the plan tells the workers
    monkeypatch.setattr("recombine.data.engines.SMALL_JOB_ROWS", 0)  # or there would be no worker
    made = make_plan("scan", ("length",), seed=1)
    assert len(made.shards) == 11
    run(made, tmp_path / "serial", engine="serial")
    run(made, tmp_path / "processes", engine="processes", workers=2)
    for i in (2, 1, 3):
        run(made, tmp_path / "sharded", engine="serial", only=(i, 3))
    with pytest.raises(FileError, match="unfinished"):
        open_folder(tmp_path / "sharded")
    merge(tmp_path / "sharded")
    assert tree(tmp_path / "serial") == tree(tmp_path / "processes") == tree(tmp_path / "sharded")
    assert recombine.verify(tmp_path / "serial", workers=1).ok


def test_the_bar_of_a_pool_ends_at_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the workers' last words come too late."""
    from recombine.data import engines

    monkeypatch.setattr(plan, "SHARD_ROWS", 500)
    monkeypatch.setattr(engines, "SMALL_JOB_ROWS", 10)
    monkeypatch.setattr(engines, "_drain", lambda ticks, tick: None)
    told: list[int] = []
    made = make_plan("scan", ("length",), ("test",))
    run(made, tmp_path / "x", workers=2, on_rows=told.append)
    assert sum(told) == sum(part.rows for part in made.parts)


@pytest.mark.usefixtures("small_shards")
def test_merge_names_what_is_missing(tmp_path: Path) -> None:
    run(make_plan("scan", ("length",)), tmp_path / "out", engine="serial", only=(1, 2))
    with pytest.raises(FileError, match="lacks 5 of 11"):
        merge(tmp_path / "out")
    with pytest.raises(FileError):
        merge(tmp_path / "nothing")


def test_fingerprint_does_not_depend_on_the_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = generate("scan", tmp_path / "one", split="length")
    monkeypatch.setattr(plan, "SHARD_ROWS", 10_000)
    many = generate("scan", tmp_path / "many", split="length")
    assert len(many.plan.shards) == 3
    assert one.manifest["fingerprint"] == many.manifest["fingerprint"]


@pytest.mark.usefixtures("small_shards")
def test_only_missing_and_damaged_shards_are_made_again(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "out", split="length").path
    before = tree(folder)
    victim, gone = folder / "length/train-00002-of-00009.parquet", folder / "length/test-00001-of-00002.parquet"
    stamps = {p: p.stat().st_mtime_ns for p in folder.rglob("*.parquet")}
    victim.write_bytes(victim.read_bytes()[:-1])
    gone.unlink()
    generate("scan", folder, split="length")
    assert tree(folder) == before
    assert {p for p, stamp in stamps.items() if p.stat().st_mtime_ns != stamp} == {victim, gone}


def test_two_writers(tmp_path: Path) -> None:
    made = make_plan("scan", ("length",), ("test",), size=10)
    run(made, tmp_path / "out")
    with locked(tmp_path / "out", None), pytest.raises(FileError, match="another process"):
        run(made, tmp_path / "out")


def test_writing_is_all_or_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing(tmp_path / "a") as out:
        out.write(b"half")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/proc/self/ns/user").exists(), reason="needs a folder that refuses writes")
def test_folder_that_cannot_be_written() -> None:
    with pytest.raises(FileError, match="cannot write"):
        generate("scan", "/proc/nowhere/out", split="length", size=5)


@pytest.fixture
def small_disk() -> Iterator[None]:
    """No file may grow beyond 2,000 bytes: the system refuses the write, as it does on a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("small_disk")
def test_disk_full(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot write .* File too large"), writing(tmp_path / "x") as out:
        out.write(bytes(10_000))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileError, match=r"cannot write .*test-0.* File too large"):
        generate("scan", tmp_path / "out", split="length", part="test", size=500)
    assert not [p for p in (tmp_path / "out").rglob("*") if p.suffix in (".parquet", ".tmp")]


def test_an_error_of_whoever_fills_a_file_is_not_told_as_an_error_of_writing(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), writing(tmp_path / "x"):
        raise PermissionError(13, os.strerror(13), "input.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [1, 2, 3, 1 << 20])
def test_a_file_cut_inside_a_character_is_not_text(tmp_path: Path, size: int) -> None:
    from recombine.files import read_chunks

    path = tmp_path / "a.json"
    path.write_bytes("a\u20ac\U0001f600".encode())
    assert "".join(read_chunks(path, size)) == "a\u20ac\U0001f600"
    path.write_bytes("a\u20ac\U0001f600".encode()[:-1])
    with pytest.raises(FileError, match="not UTF-8"):
        list(read_chunks(path, size))


def test_the_good_error_is_told_when_the_leftover_cannot_be_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(KeyError, match="the good error"), writing(tmp_path / "x"):
        raise KeyError("the good error")


def test_killed_at_moments_of_each_kind() -> None:
    script = Path(__file__).parents[1] / "benchmarks" / "kill_points.py"
    points = ["fsync/13", "rename/13", "unlink/13", "mkdir/13", "write/120"]
    done = subprocess.run([sys.executable, str(script), *points], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"killed at [1-9]", done.stdout)) == len(points)


SIMPLE = ["generate", "scan", "--split", "simple", "--format", "jsonl", "--out"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a command that nothing cut short."""
    folder = tmp_path_factory.mktemp("simple") / "whole"
    subprocess.run([sys.executable, "-m", "recombine", *SIMPLE, str(folder)], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("moment", range(5))
def test_kill_9_at_a_random_moment(tmp_path: Path, whole: Path, moment: int) -> None:
    from recombine.cli import main

    out = tmp_path / "cut"
    process = subprocess.Popen([sys.executable, "-m", "recombine", *SIMPLE, str(out)], stdout=subprocess.DEVNULL)
    time.sleep(random.Random(moment).uniform(0.2, 1.5))
    process.kill()
    process.wait()
    assert main([*SIMPLE, str(out)]) == 0
    assert tree(out) == tree(whole)


HOLDER = """
import fcntl, sys, time
from recombine.processes import pool
kept = []
def hold(path):
    kept.append(open(path, "w"))
    fcntl.flock(kept[0], fcntl.LOCK_EX)
if __name__ == "__main__":
    workers = pool(1)  # a pool that nobody keeps ends its workers
    workers.submit(hold, sys.argv[1]).result()
    print("held", flush=True)
    time.sleep(60)
"""


def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    import fcntl

    (tmp_path / "holder.py").write_text(HOLDER)
    words = [sys.executable, str(tmp_path / "holder.py"), str(tmp_path / "lock")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent, (tmp_path / "lock").open("w") as lock:
        assert parent.stdout is not None and parent.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        parent.kill()
        for _ in range(300):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.1)
            else:
                return
    pytest.fail("the worker lives on")


def test_verify_finds_every_damage(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "out", split="length", size=60).path
    files = sorted(folder.rglob("*.parquet"))
    originals = {file: file.read_bytes() for file in files}
    dice = random.Random(1)
    for _ in range(200):
        file = dice.choice(files)
        raw = bytearray(originals[file])
        kind = dice.choice(["flip", "cut", "swap"])
        if kind == "flip":
            raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
        elif kind == "cut":
            raw = raw[: dice.randrange(len(raw))]
        else:
            raw = bytearray(originals[files[1 - files.index(file)]])
        file.write_bytes(raw)
        assert not recombine.verify(folder, sample=3).ok, kind
        file.write_bytes(originals[file])
    assert recombine.verify(folder).ok


def test_verify_finds_a_leak_and_a_wrong_row(tmp_path: Path) -> None:
    from recombine.data import formats
    from recombine.families import family

    folder = generate("scan", tmp_path / "out", split="simple", size=40)
    train, test = folder.files(0)[0], folder.files(1)[0]
    schema = columns.schema(family("scan").SCHEMA)
    leaked = next(formats.read_parquet(train, schema))
    mine = next(formats.read_parquet(test, schema))
    names = [n for n in schema.names if n != "id"]
    mixed = mine.slice(0, 39).select(names)
    import pyarrow as pa

    rows = pa.concat_tables([mixed, leaked.slice(0, 1).select(names)])
    table = rows.add_column(0, "id", mine.column("id")).cast(schema)
    with test.open("wb") as out:
        formats.write_parquet([table], schema, out)
    codes = {p.code for p in recombine.verify(folder.path).problems}
    assert {"leak", "wrong_hash", "wrong_rows", "wrong_fingerprint"} <= codes


def test_datasets_loads_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    generate("scan", tmp_path / "out", split=["length", "addprim_jump"], size=20)
    program = (
        "import datasets, json, sys\n"
        "print(json.dumps(datasets.get_dataset_config_names(sys.argv[1])))\n"
        "d = datasets.load_dataset(sys.argv[1], 'length')\n"
        "print(json.dumps({k: v[3] for k, v in d.items()}))\n"
        "print(datasets.load_dataset(sys.argv[1])['test'].num_rows)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "out")], capture_output=True, text=True, check=True)
    configs, rows, count = done.stdout.splitlines()[-3:]
    assert json.loads(configs) == ["length", "addprim_jump"]
    assert json.loads(rows)["test"]["id"].startswith("scan@1/release/length/test/0/")
    assert int(count) == 20


def test_sample_of_a_finite_part_keeps_the_ids(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "out", split="length", part="test", size=30, seed=5)
    data = recombine.load(folder.path)
    whole = recombine.load("scan", split="length", part="test", seed=5)
    ids = [example.id for example in data]
    assert ids != [whole[i].id for i in range(30)]
    for example in data:
        assert recombine.families is not None
        assert whole[int(example.id.rpartition("/")[2])].answer == example.answer


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
@pytest.mark.parametrize("size", [1, 7, 20])
def test_size_takes_the_first_rows_of_a_folder(tmp_path: Path, kind: str, size: int) -> None:
    generate("clutrr", tmp_path / "d", split="generalization_23", part="test_k2", size=20, seed=3, format=kind)
    whole, some = recombine.load(tmp_path / "d"), recombine.load(tmp_path / "d", size=size)
    ids = [example.id for example in whole][:size]
    assert len(some) == size
    assert [example.id for example in some] == ids
    assert [some[row].id for row in range(size)] == ids
    assert [batch.id(row) for batch in some.batches() for row in range(len(batch))] == ids
    with pytest.raises(IndexError):
        some[size]


def test_a_default_size_of_an_integration_fits_small_folders(tmp_path: Path) -> None:
    from recombine.integrations import first_rows

    generate("scan", tmp_path / "d", split="length", part="test", size=20)
    assert [len(first_rows(str(tmp_path / "d"), None, None, 0, size)) for size in (5, 20, 100)] == [5, 20, 20]
    assert len(first_rows("scan", "length", "test", 0, 7)) == 7


def test_what_a_folder_does_not_hold_cannot_be_asked_of_it(tmp_path: Path) -> None:
    from recombine.errors import UnknownName

    generate("clutrr", tmp_path / "d", split="generalization_23", part="test_k2", size=20, seed=3, options={"coreference": 0.5})
    same = recombine.load(tmp_path / "d", seed=3, recipe="sound", coreference="0.5", size=20)
    assert [e.id for e in same] == [e.id for e in recombine.load(tmp_path / "d")]
    wrong: list[tuple[dict[str, object], str]] = [
        ({"size": 21}, "size is 21, but generalization_23/test_k2 of .* has 20 rows"),
        ({"size": 0}, "size is 0"),
        ({"seed": 4}, "seed is 4, but the rows of .* were made with 3"),
        ({"recipe": "release"}, "recipe is 'release', but the rows of .* were made with 'sound'"),
        ({"coreference": 0.25}, "coreference is 0.25, but the rows of .* were made with 0.5"),
    ]
    for words, message in wrong:
        with pytest.raises(UsageError, match=message):
            recombine.load(tmp_path / "d", **words)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="colour"):
        recombine.load(tmp_path / "d", colour="red")


def test_ids_make_examples() -> None:
    from recombine.data.datasets import example

    data = recombine.load("nacs", split="simple", part="test", seed=3, style="paper")
    assert "+style=paper/" in data[5].id
    assert example(data[5].id).inputs == data[5].inputs
    assert recombine.score(data[5].id, data[5].answer).value == 1.0


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("scan@1/release/length/test/0/0000017", "scan@1/release/length/test/0/000017"),
        ("scan@1/release/length/test/00/000017", "scan@1/release/length/test/0/000017"),
        ("scan@1/release/length/test/\u0660/000017", ""),
        ("scan@1/release/length/test/0/00001\u0667", ""),
        ("reascan@2/sound/a1/train/0/000003", "reascan@2/sound/all/train/0/000003"),
        ("nacs@1/release+style=file/simple/test/0/000003", "nacs@1/release/simple/test/0/000003"),
    ],
)
def test_a_row_has_one_id(wrong: str, right: str) -> None:
    """Another spelling of an id is an error that names the id, for every way from an id to its row."""
    from recombine.data.datasets import example

    message = re.escape(f"that row's id is {right!r}") if right else "is not an id"
    for ask in (example, lambda name: recombine.Scorer()(name, "Answer: I_WALK")):
        with pytest.raises(UsageError, match=message):
            ask(wrong)


def test_stats_count_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from recombine.cli import main
    from recombine.data.stats import stats

    folder = generate("scan", tmp_path / "out", split="length", part="test")
    found = stats(folder.path)["length/test"]
    assert sum(found["action_length"].counts.values()) == 3920
    assert set(found["action_length"].counts) == {24, 25, 26, 27, 28, 30, 32, 33, 36, 40, 48}
    assert "<svg" in found["action_length"].picture()
    assert main(["stats", str(folder.path), "--column", "action_length", "--html", str(tmp_path / "s.html")]) == 0
    assert "█" in capsys.readouterr().out
    assert "<svg" in (tmp_path / "s.html").read_text()
    assert main(["stats", str(folder.path), "--column", "acton_length"]) == 2
    capsys.readouterr()
    assert main(["stats", str(folder.path), "--column", "command", "--most", "2"]) == 0
    assert "command" in capsys.readouterr().out, "a column that is asked for is shown, however many values it has"


def test_a_suite_is_one_folder(tmp_path: Path) -> None:
    from recombine.cli import main

    out = tmp_path / "suite"
    assert main(["generate", "scan", "--suite", "paper", "--size", "3", "--out", str(out)]) == 0
    folder = open_folder(out)
    splits = {part.job.split for part in folder.plan.parts}
    assert {"simple", "length", "addprim_jump", "template_right", "filler_num3"} <= splits
    assert recombine.verify(out).ok
    assert main(["generate", "scan", "--suite", "papers", "--out", str(tmp_path / "x")]) == 2
    assert main(["generate", "scan", "--suite", "paper", "--split", "length", "--out", str(tmp_path / "x")]) == 2


def test_croissant_is_valid(tmp_path: Path) -> None:
    pytest.importorskip("mlcroissant")
    folder = generate("scan", tmp_path / "out", split="length", size=20).path
    program = (
        "import sys, warnings\nwarnings.simplefilter('ignore')\nimport mlcroissant as mlc\n"
        "d = mlc.Dataset(jsonld=sys.argv[1] + '/croissant.json')\n"
        "print(len(d.metadata.record_sets), next(iter(d.records('length_test')))['length_test/command'].decode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("2 ")


def test_what_comes_from_the_users_files_is_not_marked_as_ours(tmp_path: Path) -> None:
    """Rows of our generators are CC-BY-4.0; rows from files keep the terms of the files, whatever the format."""
    files = tmp_path / "files"
    files.mkdir()
    line = json.dumps({"sentence": "x", "lf": "True", "label": "true"})
    (files / "tower_scratch_dev.json").write_text(f"{line}\n")
    made = generate("lilgym", tmp_path / "ours", split="random", part="test", size=3).path
    read = generate(
        "lilgym", tmp_path / "read", split="tower_scratch", part="validation", size=1, options={"files": str(files)}
    ).path
    marks = [
        (re.search(r"^license: (.*)$", (path / "README.md").read_text(), re.MULTILINE), path / "croissant.json")
        for path in (made, read)
    ]
    assert [mark[1] for mark, _ in marks if mark] == ["cc-by-4.0", "other"]
    told = [json.loads(path.read_text())["license"] for _, path in marks]
    assert told[0] == "https://creativecommons.org/licenses/by/4.0/"
    assert "lilGym (code and data: MIT)" in told[1]
    card = (read / "README.md").read_text()
    assert "CC-BY-4.0" not in card
    assert "no crowd workers" not in card
    assert all("pypi.org" not in path.read_text() for _, path in marks)


@pytest.mark.parametrize(
    ("name", "split", "options", "licence"),
    [
        ("clutrr", "generalization_23", {"templates": "mine.json"}, "CC BY-NC 4.0"),
        ("scan", "mcd1", {"files": "folder"}, "BSD"),
        ("nacs", "mcd1", {"files": "folder"}, "CC BY-NC 4.0"),
    ],
)
def test_every_option_that_names_files_changes_the_licence(
    name: str, split: str, options: dict[str, object], licence: str
) -> None:
    from recombine.data.licences import CC_BY, licence_of
    from recombine.data.plan import PartPlan, Plan
    from recombine.families import family
    from recombine.jobs import make_job

    job = make_job(family(name), "simple" if split == "mcd1" else split, "train", None, 0)
    ours = Plan(name, job.version, "parquet", (PartPlan(job, 1, None),))
    theirs = Plan(name, job.version, "parquet", (PartPlan(replace(job, options=tuple(options.items())), 1, None),))
    assert licence_of(ours) is CC_BY
    assert licence_of(theirs).mark == "other"
    assert licence in licence_of(theirs).sentence


def test_card_says_how_to_make_it_again(tmp_path: Path) -> None:
    import shlex

    from recombine.cli import main

    folder = generate("nacs", tmp_path / "out", split="length", part="test", size=30, seed=4, options={"style": "paper"})
    card = (folder.path / "README.md").read_text()
    command = next(line.strip() for line in card.splitlines() if line.strip().startswith("recombine generate"))
    words = shlex.split(command.replace("DIR", str(tmp_path / "again")))[1:]
    assert main(words) == 0
    assert tree(tmp_path / "again") == tree(folder.path)
    for heading in ("## Claims", "## Datasheet", "## Citation", "![action_length]"):
        assert heading in card


@pytest.mark.parametrize(
    "words",
    [
        "reascan --split c1 --size 4",
        "reascan --split b1 --split all --size 4",
        "scan --split length --part train --part validation --size train=3,validation=2",
        "gscan --hold-out 'verb = pull' --size train=6,test=3",
        "clutrr --split robust_clean --split generalization_23 --size 2",
        "gscan --suite paper --size 1",
    ],
)
def test_the_command_of_the_card_gives_the_same_plan(tmp_path: Path, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with sizes by part, with a training part that belongs to another split, and with splits of different parts."""
    import shlex

    from recombine.cli import main
    from recombine.data.card import command_of

    plans: list[plan.Plan] = []

    def keep(made: plan.Plan, *_: object, **__: object) -> None:
        plans.append(made)
        raise UsageError("enough")

    monkeypatch.setattr("recombine.data.generate.run", keep)
    assert main(["generate", *shlex.split(words), "--out", str(tmp_path / "a")]) == 2
    command = command_of(plans[0])
    assert command is not None
    assert main([*shlex.split(command.replace("DIR", str(tmp_path / "b")))[1:]]) == 2
    assert plans[1] == plans[0]


def test_the_card_of_a_released_layout_names_the_verb_that_reads_it(tmp_path: Path) -> None:
    for format_, verb in (("native", "`recombine audit FILE --as scan`"), ("jsonl", "`recombine verify DIR`")):
        folder = generate("scan", tmp_path / format_, split="length", size=4, format=format_)
        assert verb in (folder.path / "README.md").read_text()


def test_a_card_gives_no_command_for_rows_that_were_searched_for(tmp_path: Path) -> None:
    from recombine.cli import main

    out = tmp_path / "far"
    assert main(["generate", "scan", "--hold-out-mcd", "--size", "train=60,test=12", "--out", str(out)]) == 0
    card = (out / "README.md").read_text()
    assert "recombine generate scan" not in card
    assert "`recombine generate --hold-out-mcd` chose the rows" in card


def test_the_card_shows_dials_of_training_beside_those_of_the_test(tmp_path: Path) -> None:
    folder = recombine.generate("reascan", tmp_path / "c1", split=["all", "c1"], part=["train", "test"], size=60)
    card = (folder.path / "README.md").read_text()
    rows = {tuple(line.split(" | ")[:2]): line for line in card.splitlines() if line.startswith("| c1/test")}
    assert "1.000 ✱" in rows["| c1/test", "clauses"]
    assert "object_count" in rows["| c1/test", "object_count"]
    for name in ("object_count", "object_count-in-training"):
        assert f"figures/{name}.svg" in card
        assert (folder.path / "figures" / f"{name}.svg").read_text().startswith("<svg")


def test_the_distance_of_dials_is_kolmogorovs() -> None:
    from scipy.stats import ks_2samp

    from recombine.data.contrast import distance

    chance = np.random.default_rng(3)
    for sizes in ((1, 1), (50, 70), (400, 300)):
        a, b = (chance.integers(0, 9, size) for size in sizes)
        assert distance(a, b) == pytest.approx(ks_2samp(a, b).statistic)
