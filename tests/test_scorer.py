"""The scorer: the verdicts of `score`, from every kind of source, in threads, forks and pickles, without heavy imports."""

from __future__ import annotations

import concurrent.futures
import importlib.metadata
import json
import multiprocessing
import pickle
import subprocess
import sys
import types
from pathlib import Path

import pytest

import recombine
from recombine import kernels
from recombine.errors import BadOption, FileError, RecombineError, UsageError
from recombine.evaluate.prompts import prompts_of
from recombine.families import FAMILIES
from recombine.families.clutrr.kinship import RELATIONS
from recombine.scorer import PARTIAL, Scorer

NAMES = ("scan", "nacs", "gscan", "reascan", "clutrr", "lilgym")


def asked(name: str, n: int = 6) -> list[tuple[str, str]]:
    """Each row with its own answer and its neighbour's, as replies."""
    rows = list(recombine.load(name, size=n))
    words = prompts_of(rows[0].family)
    answers = [f"Thinking.\n\nAnswer: {words.answer(row)}" for row in rows]
    return [(row.id, reply) for i, row in enumerate(rows) for reply in (answers[i], answers[i - 1], "no idea\nat all")]


def test_two_rows_of_one_id_are_an_error(tmp_path: Path) -> None:
    from recombine.evaluate.released import read_examples

    folder = recombine.generate("clutrr", tmp_path / "out", split="random", part="test", size=3, format="native").path
    (file,) = folder.rglob("*_test.csv")
    first = next(iter(read_examples(file, "clutrr")))
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join([*lines, lines[1]]), encoding="utf-8")
    for read in (lambda: Scorer(file, family="clutrr"), lambda: read_examples(file, "clutrr")):
        with pytest.raises(FileError, match=f"have the id '{first}'"):
            read()


@pytest.mark.parametrize("name", list(FAMILIES))
def test_verdicts_are_those_of_score(name: str) -> None:
    scorer = Scorer(name)
    for place, (identifier, reply) in enumerate(asked(name)):
        score = scorer(identifier, reply)
        if place % 3 == 2:
            assert (score.value, score.status) == (0.0, "unparsable")
            continue
        assert score == recombine.score(identifier, reply.rpartition("Answer: ")[2])
        assert scorer(identifier, reply) is score
        if place % 3 == 0:
            assert score.value == 1.0


def test_blocks_hold_the_rows_that_single_rows_are() -> None:
    scorer = Scorer("reascan", most_rows=1000)
    job = recombine.load("reascan").job
    for index in (5, 6, 63, 64, 70, 5752):
        found = scorer.example(job.id(index))
        assert found.id == job.id(index) and found.inputs == recombine.load("reascan")[index].inputs
    assert len(scorer._rows.values) > 64


def test_long_thoughts_are_not_kept() -> None:
    scorer = recombine.Scorer("scan")
    row = recombine.load("scan", size=1)[0]
    for thought in ("a" * 5_000, "b" * 5_000):
        assert scorer(row.id, f"{thought}\n\nAnswer: {row.answer}").status == "right"
    assert list(scorer._verdicts.values) == [(row.id, row.answer, "ok")]


def test_the_cache_is_bounded() -> None:
    scorer = Scorer("scan", most_rows=3)
    for identifier, reply in asked("scan", 20):
        scorer(identifier, reply)
    assert len(scorer._rows.values) <= 3 and len(scorer._verdicts.values) <= 12


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
@pytest.mark.parametrize("size", [40, None])
def test_rows_of_folders(tmp_path: Path, kind: str, size: int | None) -> None:
    recombine.generate("scan", tmp_path / "d", split="addprim_jump", part="test", size=size, format=kind)
    rows = recombine.load(tmp_path / "d")
    scorer = Scorer(tmp_path / "d")
    for row in (rows[0], rows[17], rows[len(rows) - 1]):
        assert scorer(row.id, f"Answer: {row.answer}").value == 1.0
    with pytest.raises(UsageError, match="not a row of"):
        scorer("scan@1/release/simple/test/0/000001", "Answer: I_WALK")
    for index in (str(10**7), "²", "٣", "9" * 5_000, "-1", ""):
        with pytest.raises(UsageError, match="not a row of"):
            scorer(f"{rows.job.key}/{index}", "Answer: I_WALK")
    again = pickle.loads(pickle.dumps(scorer))
    assert again(rows[0].id, f"Answer: {rows[0].answer}").value == 1.0


def test_rows_of_published_files(tmp_path: Path) -> None:
    file = tmp_path / "tasks_test.txt"
    file.write_text("IN: jump twice OUT: I_JUMP I_JUMP\nIN: walk left OUT: I_TURN_LEFT I_WALK\n")
    held = list(recombine.families.family("scan").read(file))
    scorer = Scorer(file, family="scan")
    assert [scorer(row.id, "Answer: I_JUMP I_JUMP").value for row in held] == [1.0, 0.0]
    with pytest.raises(UsageError, match="family="):
        Scorer(file)
    assert pickle.loads(pickle.dumps(scorer))(held[0].id, "I_JUMP I_JUMP").value == 1.0


def test_lists_and_examples_and_any() -> None:
    rows = recombine.load("clutrr", size=2)
    scorer = Scorer([rows[0], "scan"])
    assert scorer(rows[0].id, rows[0].answer).value == 1.0
    with pytest.raises(UsageError, match="not a row"):
        scorer(rows[1].id, "aunt")
    with pytest.raises(UsageError, match="pickled"):
        pickle.dumps(scorer)
    assert Scorer()(rows[1].id, rows[1].answer).value == 1.0


def test_threads_agree() -> None:
    pairs = asked("gscan", 9)
    alone = [Scorer("gscan")(*pair) for pair in pairs]
    shared = Scorer("gscan", most_rows=7)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda pair: shared(*pair), pairs * 3)) == alone * 3


_SHARED = Scorer("scan")


def _in_child(pair: tuple[str, str]) -> float:
    return _SHARED(*pair).value


def test_a_fork_while_the_lock_is_held_does_not_hang() -> None:
    pairs = asked("scan", 4)
    held = _SHARED._rows.lock, _SHARED._verdicts.lock, _SHARED._misses.lock
    with held[0], held[1], held[2], multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(_in_child, pairs).get(timeout=120)
    assert found == [_SHARED(*pair).value for pair in pairs]


PARTIALS = [
    ("scan", lambda row: " ".join(row.answer.split()[:-1]), lambda row: 1 - 1 / len(row.answer.split())),
    ("reascan", lambda row: row.answer + ",stay", lambda row: 0.5),
    ("gscan", lambda row: row.answer + ",stay", lambda row: 0.5),
    ("lilgym", lambda row: "STOP", lambda row: 0.2),
]


@pytest.mark.parametrize(("name", "answer", "worth"), PARTIALS)
def test_partial_credit_is_an_option(name: str, answer: object, worth: object) -> None:
    row = next(row for row in recombine.load(name, size=30) if len(row.answer.split()) > 1 or name != "scan")
    reply = f"Answer: {answer(row)}"  # type: ignore[operator]
    assert Scorer(name)(row.id, reply).value == 0.0
    score = Scorer(name, partial=True)(row.id, reply)
    assert score.status == "wrong" and score.value == pytest.approx(worth(row)) and score.detail["strict"] == 0.0  # type: ignore[operator]
    assert Scorer(name, partial=True)(row.id, f"Answer: {prompts_of(row.family).answer(row)}").value == 1.0


def test_partial_credit_of_hops() -> None:
    row = next(row for row in recombine.load("clutrr", size=30) if row.answer != "aunt")
    first = row.plan.facts[0]
    names, relations = row.plan.names, RELATIONS
    stated = f"{names[first.relative]} is the {relations[first.relation]} of {names[first.subject]}"
    subject, relative = (names[p] for p in row.plan.query)
    reply = f"Answer: {stated}. {relative} is the aunt of {subject}."
    assert Scorer("clutrr", partial=True)(row.id, reply).value == pytest.approx(0.25)


def test_partial_credit_is_defined_for_every_family_and_below_one() -> None:
    assert set(PARTIAL) == set(NAMES)
    for name in NAMES:
        scorer = Scorer(name, partial=True)
        for identifier, reply in asked(name):
            score = scorer(identifier, reply)
            assert score.value == 1.0 if score.status == "right" else 0 <= score.value < 1


@pytest.mark.parametrize("source", ["sacn", "/no/such/folder", 7, ["scan", 3.5]])
def test_bad_sources_are_clear_errors(source: object) -> None:
    with pytest.raises(UsageError, match="neither a family"):
        Scorer(source if isinstance(source, list | str) else [source])  # type: ignore[list-item]


def test_bad_ids_and_replies() -> None:
    scorer = Scorer("scan")
    for identifier in (
        "",
        "scan",
        "scan@1/release/simple/test/0/999999",
        "scan@9/release/simple/test/0/000001",
        "clutrr@1/x/y/z/0/000001",
    ):
        with pytest.raises(RecombineError):
            scorer(identifier, "I_WALK")
    row = recombine.load("scan", size=1)[0]
    for reply in ("", "x" * 3_000_000, "Answer:", "\x00"):
        assert scorer(row.id, reply).status == "unparsable"
    assert scorer(row.id, row.answer, finish="length").status == "unparsable"
    with pytest.raises(BadOption, match="most_rows"):
        Scorer("scan", most_rows=0)


WORKER = """
import json, sys
before = set(sys.modules)
from recombine import Scorer
asked, file = json.load(sys.stdin)
scorer = Scorer()
values = [scorer(identifier, reply).value for identifier, reply in asked]
rows = Scorer(file, family="scan")
values += [rows(identifier, "Answer: I_WALK").value for identifier in rows._held]
print(json.dumps([values, sorted({name.split(".")[0] for name in set(sys.modules) - before})]))
"""
MOST_INSTALLED_BYTES = 120 * 10**6


def size_of(distribution: importlib.metadata.Distribution) -> int:
    """The installed bytes of a distribution, without byte code that Python writes itself."""
    files = [path for path in distribution.files or () if "__pycache__" not in path.parts]
    return sum(Path(path.locate()).stat().st_size for path in files if Path(path.locate()).is_file())


def test_a_reward_worker_needs_numpy_and_this_package_alone(tmp_path: Path) -> None:
    """A process that scores rows of every family, and rows of a published file, has imported nothing else."""
    asked = []
    for name in FAMILIES:
        rows = [row for _, row in zip(range(12), recombine.load(name, size=200), strict=False)]
        asked += [(row.id, f"Answer: {prompts_of(row.family).answer(row)}") for row in rows]
    (tmp_path / "tasks.txt").write_text("IN: walk OUT: I_WALK\n")
    given = json.dumps([asked, str(tmp_path / "tasks.txt")])
    done = subprocess.run([sys.executable, "-c", WORKER], input=given, capture_output=True, text=True, check=True)
    values, loaded = json.loads(done.stdout)
    assert values == [1.0] * (len(asked) + 1)
    owners = importlib.metadata.packages_distributions()
    assert {owner for module in loaded for owner in owners.get(module, ())} - {"recombine"} == {"numpy"}
    own = sum(path.stat().st_size for path in Path(recombine.__file__).parent.rglob("*") if "__pycache__" not in path.parts)
    assert size_of(importlib.metadata.distribution("numpy")) + own < MOST_INSTALLED_BYTES


def test_a_scorer_may_load_what_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """`compiled` is passed on to the kernels, and survives pickling; without it no kernel is compiled."""
    wanted: list[tuple[str, bool]] = []
    monkeypatch.setattr(kernels, "is_worth_compiling", lambda *_: True)
    loaded = kernels._loaded

    def load(name: str, compiled: bool) -> types.SimpleNamespace:
        wanted.append((name, compiled))
        return loaded(name, False)

    monkeypatch.setattr(kernels, "_loaded", load)
    monkeypatch.setattr(kernels, "_READY", {})
    monkeypatch.setattr(kernels, "is_loaded", lambda _name: False)
    identifier = recombine.load("lexicon", size=1).job.id(0)
    for compiled in (False, True):
        wanted.clear()
        pickle.loads(pickle.dumps(Scorer("lexicon", compiled=compiled)))(identifier, "Answer: x")
        assert {used for name, used in wanted if name == "recombine.families.lexicon.kernel"} == {compiled}


def test_a_folder_without_pyarrow_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recombine.generate("scan", tmp_path / "d", split="length", part="test", size=3)
    monkeypatch.setitem(sys.modules, "recombine.data.folders", None)
    with pytest.raises(UsageError, match="reading a folder needs"):
        Scorer(tmp_path / "d")
