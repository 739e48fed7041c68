"""The set machine: its rows, its gradients against differences, its two forward passes, learning, resuming, files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine import kernels, keys
from recombine.data.datasets import load
from recombine.data.generate import generate
from recombine.errors import FileError, UsageError
from recombine.models import arrays, set_machine_train
from recombine.models.machines import load_machine, train_machine
from recombine.models.set_machine import SetMachine, SetMachineConfig, turned
from recombine.models.set_machine_actor import act, forward, gradients, log_shares, new_actor
from recombine.models.set_machine_finder import (
    KERNEL_NAME,
    find_together,
    lexicon_lines,
    meanings_of,
    new_desk,
    new_parameters,
    no_gradients,
    sheet_of,
    spread,
)  # fmt: skip
from recombine.models.set_machine_rows import (
    ACTIONS,
    WALK,
    Rows,
    Vocabulary,
    joined,
    rows_of,
    rows_of_examples,
    vocabulary_of,
    walked,
)  # fmt: skip
from recombine.models.set_machine_train import Lesson, moments_of, shares_of

SMALL: dict[str, object] = {"rows": 2_000, "batch": 64, "first": 16, "second": 8, "short_rows": 0, "middle_rows": 0}


@pytest.fixture(scope="module")
def known_rows() -> tuple[Vocabulary, Rows]:
    batches = list(load("reascan", "all", "train", size=60).batches())
    known = vocabulary_of(batches)
    return known, rows_of(batches, known)


def scores_of(kernel: Any, rows: Rows, meanings: Any, order: Any) -> Any:
    scores = np.zeros((len(order), rows.objects.shape[1]))
    kernel.find_batch(order, sheet_of(rows), meanings, 0.0, new_desk(rows), scores)
    return scores


def test_columns_and_examples_give_the_same_rows(known_rows: tuple[Vocabulary, Rows]) -> None:
    known, rows = known_rows
    seen = rows_of_examples(list(load("reascan", "all", "train", size=60)), known)
    for name in ("words", "lengths", "objects", "counts", "agents", "grid"):
        assert np.array_equal(getattr(seen, name), getattr(rows, name)), name
    assert len(seen.actions) == 0


@pytest.mark.parametrize("family", ["reascan", "gscan"])
def test_the_agent_walks_to_the_target(family: str) -> None:
    dataset = load(family, None, "train", size=40)
    known = vocabulary_of(dataset.batches())
    rows = rows_of(dataset.batches(), known)
    cells = walked(rows).targets
    for row, example in enumerate(dataset):
        assert any((o["row"], o["column"]) == tuple(cells[row]) for o in example.inputs["objects"]), example.id
        taken = ",".join(ACTIONS[a] for a in rows.actions[rows.ends[row] : rows.ends[row + 1]])
        assert taken == example.answer


def test_two_forward_passes_and_two_speeds_agree(known_rows: tuple[Vocabulary, Rows]) -> None:
    known, rows = known_rows
    parameters = new_parameters(len(known.words) + 1, np.random.default_rng(1))
    parameters["operation"] *= 20  # words that really do something
    order, meanings = np.arange(12), meanings_of(parameters)
    plain = scores_of(kernels.load(KERNEL_NAME, False), rows, meanings, order)
    assert np.array_equal(plain, scores_of(kernels.load(KERNEL_NAME, True), rows, meanings, order))
    assert np.allclose(plain, find_together(meanings, rows, order, 0.0), rtol=1e-12, atol=0)
    assert plain.max() > 1e-6


def test_the_finders_gradients_are_the_slopes_of_its_loss(known_rows: tuple[Vocabulary, Rows]) -> None:
    known, rows = known_rows
    lesson = Lesson(rows, rows, walked(rows), SetMachineConfig(), 0)
    order = np.arange(6)
    shares = shares_of(lesson, order)
    kernel = kernels.load(KERNEL_NAME, True)
    parameters = new_parameters(len(known.words) + 1, np.random.default_rng(2))
    parameters["operation"] *= 10

    def loss(grads: Any) -> float:
        scores, meanings = np.zeros(shares.shape), meanings_of(parameters)
        total: float = kernel.learn_batch(order, sheet_of(rows), meanings, 0.0, new_desk(rows), shares, scores, grads)
        return total

    grads = no_gradients(len(known.words) + 1)
    loss(grads)
    slopes = spread(parameters, grads)
    rng = np.random.default_rng(3)
    for name, array in parameters.items():
        flat, strongest = array.reshape(-1), np.argsort(-np.abs(slopes[name]).reshape(-1))[:3]
        for place in [*strongest, *rng.integers(0, flat.size, 3)]:
            kept, step = flat[place], 1e-5
            flat[place] = kept + step
            above = loss(no_gradients(len(known.words) + 1))
            flat[place] = kept - step
            below = loss(no_gradients(len(known.words) + 1))
            flat[place] = kept
            assert (above - below) / (2 * step) == pytest.approx(slopes[name].reshape(-1)[place], rel=1e-4, abs=1e-7), name


def test_the_actors_gradients_are_the_slopes_of_its_loss(known_rows: tuple[Vocabulary, Rows]) -> None:
    known, rows = known_rows
    lesson = Lesson(rows, rows, walked(rows), SetMachineConfig(moments=4), 0)
    order = np.arange(8)
    moments, right = moments_of(lesson, order, np.zeros(8, np.int64), 0)
    weights = {
        n: a.astype(np.float64) for n, a in new_actor(len(known.words) + 1, 6, (12, 6), np.random.default_rng(4)).items()
    }
    weights["feature"] += 0.01  # away from the kinks
    single = {name: array.astype(np.float32) for name, array in weights.items()}
    _, _, slopes = gradients(single, rows, order, moments, right)

    def loss() -> float:
        logs = log_shares(forward({n: a.astype(np.float32) for n, a in weights.items()}, rows, order, moments).logits)
        return -float(logs[np.arange(len(right)), right].astype(np.float64).mean())

    for name, array in weights.items():
        flat, place = array.reshape(-1), int(np.argmax(np.abs(slopes[name])))
        kept, step = flat[place], 1e-2
        flat[place] = kept + step
        above = loss()
        flat[place] = kept - step
        below = loss()
        flat[place] = kept
        assert (above - below) / (2 * step) == pytest.approx(float(slopes[name].reshape(-1)[place]), rel=0.05, abs=2e-4), name


def test_moments_hold_what_the_agent_did(known_rows: tuple[Vocabulary, Rows]) -> None:
    _, rows = known_rows
    walk = walked(rows)
    order = np.arange(10)
    moments, right = moments_of(Lesson(rows, rows, walk, SetMachineConfig(moments=8), 5), order, np.zeros(10, np.int64), 2)
    assert len(right) == 80
    for m, row in enumerate(moments.owners):
        answer = rows.actions[rows.ends[row] : rows.ends[row + 1]].tolist()
        past = [a for a in moments.past[m][::-1].tolist() if a]
        candidates = [t for t in range(len(answer) + 1) if answer[max(0, t - 8) : t] == past and [*answer, 1][t] == right[m]]
        places = [rows.agents[row] if t == 0 else walk.poses[rows.ends[row] + t - 1] for t in candidates]
        assert any(np.array_equal(moments.poses[m], place) for place in places)


def test_without_a_compass_the_heading_is_not_seen(known_rows: tuple[Vocabulary, Rows]) -> None:
    known, rows = known_rows
    order = np.arange(4)
    config = SetMachineConfig(moments=8, compass=False)
    blind, _ = moments_of(Lesson(rows, rows, walked(rows), config, 0), order, np.zeros(4, np.int64), 0)
    weights = new_actor(len(known.words) + 1, 6, (12, 6), np.random.default_rng(4))
    before = [forward(weights, rows, order, m).logits for m in (blind, blind._replace(has_compass=True))]
    weights["feature"][1:4] += 5.0  # all headings but the first
    after = [forward(weights, rows, order, m).logits for m in (blind, blind._replace(has_compass=True))]
    assert np.array_equal(before[0], after[0])
    assert not np.array_equal(before[1], after[1])


def test_it_learns_a_small_problem(tmp_path: Path) -> None:
    """Commands without clauses: it finds nearly all targets, and knows colours and shapes."""
    rows = load("reascan", "simple", "train", size=3_000)
    settings = {"rows": 20_000, "first": 64, "second": 32, "moments": 4, "short_rows": 0, "middle_rows": 0}
    machine, trained = train_machine("set-machine", settings, rows, tmp_path / "run", 0, lambda _line: None)
    assert isinstance(machine, SetMachine)
    lines = {line[0]: line for line in machine.lines()}
    assert lines["red"][1:4:2] == ("filter", "colour red")
    assert lines["circle"][1:4:2] == ("filter", "shape circle")
    tests = rows_of(load("reascan", "simple", "test", size=200).batches(), machine.known)
    _, cells = machine.run(tests, np.arange(200))
    assert (cells == walked(tests).targets).all(1).mean() > 0.9
    assert trained.sizes["parameters"] == sum(a.size for part in (machine.finder, machine.actor) for a in part.values())
    examples = list(load("reascan", "simple", "test", size=20))
    assert machine.answers(examples) == load_machine(tmp_path / "run").answers(examples)


@pytest.mark.parametrize("changes", [{}, {"signal": "actions", "warm_rows": 200}])
def test_a_killed_run_goes_on_and_ends_in_the_same_weights(
    changes: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `signal = actions` the finder begins after the actor, so it has taken fewer of Adam's steps."""
    rows, settings = load("gscan", None, "train", size=300), {**SMALL, **changes}
    monkeypatch.setattr(set_machine_train, "CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(set_machine_train, "SAY_ROWS", 500)

    def stop(_line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_machine("set-machine", settings, rows, tmp_path / "a", 1, stop)
    assert (tmp_path / "a" / "progress.npz").is_file()
    train_machine("set-machine", settings, rows, tmp_path / "a", 1, lambda _line: None)
    train_machine("set-machine", settings, rows, tmp_path / "b", 1, lambda _line: None)
    assert (tmp_path / "a" / "machine.npz").read_bytes() == (tmp_path / "b" / "machine.npz").read_bytes()
    told, whole = (json.loads((tmp_path / run / "result.json").read_text())["figures"] for run in "ab")
    assert told == whole and len(whole["curve"]) == 4
    (tmp_path / "a" / "result.json").unlink()
    (tmp_path / "a" / "progress.npz").write_bytes(b"PK half of a file")
    with pytest.raises(FileError, match=r"progress\.npz"):
        train_machine("set-machine", settings, rows, tmp_path / "a", 1, lambda _line: None)


def test_a_stuck_finder_begins_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No loss is low enough here: both starts run, also where the second one is killed, and the finder with the least loss is kept."""
    rows = load("gscan", None, "train", size=300)
    monkeypatch.setattr(set_machine_train, "STUCK", -1.0)
    monkeypatch.setattr(set_machine_train, "WINDOW", 2)
    monkeypatch.setattr(set_machine_train, "CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(set_machine_train, "SAY_ROWS", 500)
    twice = {**SMALL, "starts": 2}
    said: list[str] = []
    _, trained = train_machine("set-machine", twice, rows, tmp_path / "a", 1, said.append)
    assert trained.figures["starts"] == 2
    again = [n for n, line in enumerate(said) if "begins again (2 of 2)" in line]
    assert len(again) == 1

    def stop_in_the_second(line: str) -> None:
        said.append(line)
        if len(said) > again[0] + 2:
            raise KeyboardInterrupt

    said.clear()
    with pytest.raises(KeyboardInterrupt):
        train_machine("set-machine", twice, rows, tmp_path / "b", 1, stop_in_the_second)
    assert (tmp_path / "b" / "progress-1.npz").is_file()
    (tmp_path / "b" / "progress-2.npz").write_text("years of work")
    train_machine("set-machine", twice, rows, tmp_path / "b", 1, lambda _line: None)
    assert sorted(path.name for path in (tmp_path / "b").glob("progress*")) == ["progress-2.npz"]
    assert (tmp_path / "a" / "machine.npz").read_bytes() == (tmp_path / "b" / "machine.npz").read_bytes()
    losses = []
    for seed in (1, keys.state("set machine", "start", 1, 1)):
        _, once = train_machine("set-machine", {**twice, "starts": 1}, rows, tmp_path / str(seed), seed, lambda _line: None)
        losses.append(once.figures["loss_of_the_kept_finder"])
    assert trained.figures["loss_of_the_kept_finder"] == min(losses)
    with pytest.raises(UsageError, match="at least 1"):
        train_machine("set-machine", {**SMALL, "starts": 0}, rows, tmp_path / "c", 1, lambda _line: None)


def test_damaged_files_and_other_worlds_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Vocabulary(("circle", "the"), ("red",), ("circle",))
    rng = np.random.default_rng(0)
    config = SetMachineConfig(first=4, second=4)
    machine = SetMachine(config, known, 6, new_parameters(3, rng), new_actor(3, 6, (4, 4), rng))
    machine.save(tmp_path)
    assert SetMachine.load(tmp_path).sizes() == machine.sizes()
    machine.save(tmp_path, np.float16)
    assert SetMachine.load(tmp_path).actor["second"].dtype == np.float32
    replace_config = SetMachine(replace(config, first=5), known, 6, machine.finder, machine.actor)
    replace_config.save(tmp_path)
    with pytest.raises(FileError, match="no set machine"):
        SetMachine.load(tmp_path)
    (tmp_path / "machine.npz").write_bytes((tmp_path / "machine.npz").read_bytes()[:-40])
    with pytest.raises(FileError, match="cannot read the machine"):
        SetMachine.load(tmp_path)
    with zipfile.ZipFile(tmp_path / "machine.npz", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("header.npy", bytes(90_000))
    monkeypatch.setattr(arrays, "MOST_BYTES", 50_000)
    with pytest.raises(FileError, match="unpacks to more"):
        SetMachine.load(tmp_path)
    with pytest.raises(UsageError, match="grid worlds"):
        machine.answers(load("scan", "simple", "test").pick([0]))
    with pytest.raises(UsageError, match="grids of size 6"):
        machine.answers(list(load("gscan", None, "test", size=1, grid_size=7)))


def test_words_can_be_read_in_either_order(known_rows: tuple[Vocabulary, Rows]) -> None:
    _, rows = known_rows
    back = turned(rows)
    for row in range(5):
        length = rows.lengths[row]
        assert back.words[row, :length].tolist() == rows.words[row, :length][::-1].tolist()


def test_acting_stops_at_its_limit_and_at_walls(known_rows: tuple[Vocabulary, Rows]) -> None:
    known, rows = known_rows
    weights = new_actor(len(known.words) + 1, 6, (8, 8), np.random.default_rng(0))
    weights["last_bias"][WALK] = 1_000.0  # always walks, never ends
    order = np.arange(3)
    taken = act(weights, rows, order, rows.objects[order, 0, 3:5].astype(np.int64), np.zeros(3, np.int64))
    assert [len(actions) for actions in taken] == [128, 128, 128]


def test_pieces_of_other_widths_join(known_rows: tuple[Vocabulary, Rows]) -> None:
    known, rows = known_rows
    batches = list(load("reascan", "simple", "train", size=5).batches())
    both = joined([rows, rows_of(batches, known)])
    assert len(both.lengths) == 65
    assert both.ends[-1] == len(both.actions)
    with pytest.raises(UsageError, match="one grid size"):
        joined([rows, rows._replace(grid=7)])


def test_a_lexicon_is_told_in_words() -> None:
    known = Vocabulary(("column", "red", "small"), ("blue", "red"), ("circle",))
    p = {name: np.zeros_like(array) for name, array in new_parameters(4, np.random.default_rng(0)).items()}
    p["operation"][1, 3] = p["operation"][2, 1] = p["operation"][3, 2] = 9.0
    p["column"][1] = -9.0
    p["column"][1, 5] = 9.0
    p["attribute"][2, 1] = 9.0
    p["value"][2, 1] = [-9.0, 9.0, -9.0, -9.0]
    p["size"][3] = np.where(np.arange(4)[:, None] < np.arange(4), 9.0, -9.0)
    told = {line[0]: (line[1], line[3]) for line in lexicon_lines(p, known)}
    assert told == {
        "column": ("relate", "column differs by 0"),
        "red": ("filter", "colour red"),
        "small": ("compare", "smaller than the other"),
    }


def test_answers_need_no_torch() -> None:
    program = (
        "import sys\nimport recombine.models.set_machine_train, recombine.models.shipped, recombine.models.machines\n"
        "print('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_rows_from_files_are_those_from_memory(tmp_path: Path) -> None:
    """Files hold strings as they are, without codes."""
    generate("gscan", tmp_path / "rows", split="compositional", part="train", size=60)
    read, made = load(tmp_path / "rows", None, "train"), load("gscan", "compositional", "train", size=60)
    known = vocabulary_of(made.batches())
    assert vocabulary_of(read.batches()) == known
    for one, other in zip(rows_of(read.batches(), known)[:8], rows_of(made.batches(), known)[:8], strict=True):
        assert np.array_equal(one, other)


def test_the_command_line_trains_on_one_core(tmp_path: Path) -> None:
    """Products of matrices that several threads share have other last bits, so the number must be set before NumPy is imported."""
    program = (
        "import os, sys\n"
        "class Watch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'numpy':\n"
        "            print(os.environ['OPENBLAS_NUM_THREADS'])\n"
        "sys.meta_path.insert(0, Watch())\n"
        "from recombine.cli import main\n"
        f"main(['train', 'set-machine', '--data', 'scan', '--split', 'simple_p1', '--out', {str(tmp_path / 'run')!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},
    )
    assert done.stdout.split() == ["1"]
    assert "the set machine reads grid worlds" in done.stderr
