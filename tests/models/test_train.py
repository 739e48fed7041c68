"""The training loop: every sequence model overfits a handful, saves, loads, predicts the same; a broken run ends like an unbroken one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import recombine  # noqa: E402
from recombine.errors import FileError, UsageError  # noqa: E402
from recombine.models import MODELS, find_model  # noqa: E402
from recombine.models.base import Training, changed  # noqa: E402
from recombine.models.batching import END, buckets, by_length, dropout  # noqa: E402
from recombine.models.checkpoints import LAST, State, load_model, load_tensors  # noqa: E402
from recombine.models.train import Plan, predict, prediction_lines, scores, train  # noqa: E402

FEW = 12
SMALL = {"units": 48, "embedding": 24, "dropout": 0.0}
QUICK = Training(epochs=150, batch=8, optimizer="adam", rate=4e-3, decay=0.99)
SEQUENCE_MODELS = [name for name, entry in MODELS.items() if entry.reads == "words"]


def easy(family: str = "scan", count: int = 32) -> list:
    """Examples whose longer side is short, without two that share an input (NACS has those)."""
    found = {}
    for example in recombine.load(family, "simple", "train", seed=3):
        source = next(iter(example.inputs.values()))
        if max(len(source.split()), len(example.answer.split())) <= 8:
            found.setdefault(source, example)
        if len(found) == count:
            break
    return list(found.values())


@pytest.mark.parametrize("name", SEQUENCE_MODELS)
def test_model_overfits_saves_loads_and_predicts_the_same(name: str, tmp_path: Path) -> None:
    _, config = find_model(name)
    config = changed(config, {name: value for name, value in SMALL.items() if hasattr(config, name)})
    family = "scan" if "nodep" in name else "nacs"
    examples = easy(family, FEW)
    result = train(Plan(name, config, replace(QUICK, batch=4)), examples, examples, tmp_path / "run")
    assert result.best == 1.0, result
    model = load_model(tmp_path / "run")
    answers = predict(model, examples)
    assert scores(examples, answers) == [1.0] * FEW
    assert predict(model, examples[::-1], batch=5) == answers[::-1]
    lines = [json.loads(line) for line in prediction_lines(examples, answers)]
    assert lines[0] == {"id": examples[0].id, "answer": answers[0]}


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_tensors(folder / LAST)[0]


class Killed(Exception):
    pass


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_broken_run_ends_in_the_same_weights(optimizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.models.train.CHECKPOINT_SECONDS", -1.0)
    _, config = find_model("gru-attn")
    config = changed(config, {**SMALL, "dropout": 0.3})
    rate = 0.1 if optimizer == "sgd" else 1e-3
    training = replace(QUICK, epochs=3, optimizer=optimizer, rate=rate)
    examples = easy()
    plan = Plan("gru-attn", config, training)
    train(plan, examples, examples[:8], tmp_path / "whole")
    for stop in (2, 5, 7):

        def kill(state: State, _: int, stop: int = stop) -> None:
            if state.steps == stop:
                raise Killed

        with pytest.raises(Killed):
            train(plan, examples, examples[:8], tmp_path / "broken", kill)
    train(plan, examples, examples[:8], tmp_path / "broken")
    whole, broken = weights(tmp_path / "whole"), weights(tmp_path / "broken")
    assert whole.keys() == broken.keys()
    assert all(torch.equal(whole[name], broken[name]) for name in whole)
    records = [json.loads(line) for line in (tmp_path / "broken" / "metrics.jsonl").read_text().splitlines()]
    assert [r["epoch"] for r in records] == [1, 2, 3]


PROGRAM = """
import sys, pathlib
sys.path.insert(0, "tests/models")
from test_train import *
import recombine.models.train as loop
loop.CHECKPOINT_SECONDS = -1.0
config = changed(find_model("gru-attn")[1], {**SMALL, "dropout": 0.3})
def report(state, steps):
    pathlib.Path(sys.argv[2]).write_text(str(state.steps))
examples = easy()
train(Plan("gru-attn", config, replace(QUICK, epochs=15)), examples, examples[:4], pathlib.Path(sys.argv[1]), report)
"""


def test_a_process_killed_at_any_moment_goes_on(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "killed"), str(tmp_path / "steps")]
    process = subprocess.Popen(command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)})
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (tmp_path / "steps").exists():
        time.sleep(0.02)
    time.sleep(0.03)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL, "the run ended before it could be killed"
    config = changed(find_model("gru-attn")[1], {**SMALL, "dropout": 0.3})
    plan, examples = Plan("gru-attn", config, replace(QUICK, epochs=15)), easy()
    for name in ("killed", "whole"):
        train(plan, examples, examples[:4], tmp_path / name)
    killed, whole = weights(tmp_path / "killed"), weights(tmp_path / "whole")
    assert all(torch.equal(killed[name], whole[name]) for name in whole)


def test_a_finished_run_goes_on_when_more_epochs_are_asked_for(tmp_path: Path) -> None:
    """It ends in the same weights as a run that was asked for all of them at first, and says so in its files."""
    config, examples = changed(find_model("gru")[1], {**SMALL, "dropout": 0.3}), easy(count=8)
    for epochs in (1, 3):
        result = train(Plan("gru", config, replace(QUICK, epochs=epochs)), examples, examples, tmp_path / "longer")
        assert (result.epochs, result.stopped) == (epochs, f"all {epochs} epochs are done")
    train(Plan("gru", config, replace(QUICK, epochs=3)), examples, examples, tmp_path / "whole")
    longer, whole = weights(tmp_path / "longer"), weights(tmp_path / "whole")
    assert all(torch.equal(longer[name], whole[name]) for name in whole)
    assert json.loads((tmp_path / "longer" / "run.json").read_text())["training"]["epochs"] == 3


def test_a_folder_with_another_run_is_refused(tmp_path: Path) -> None:
    _, config = find_model("rnn")
    config = changed(config, SMALL)
    examples = easy(count=8)
    train(Plan("rnn", config, replace(QUICK, epochs=1)), examples, examples, tmp_path / "run")
    with pytest.raises(UsageError, match="another run"):
        train(Plan("rnn", config, replace(QUICK, epochs=1, rate=0.5)), examples, examples, tmp_path / "run")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "diary.txt").write_text("mine")
    with pytest.raises(FileError, match="not empty"):
        train(Plan("rnn", config, QUICK), examples, examples, tmp_path / "other")
    (tmp_path / "run" / LAST).write_bytes(b"no tensors")
    with pytest.raises(FileError, match="checkpoint"):
        train(Plan("rnn", config, replace(QUICK, epochs=1)), examples, examples, tmp_path / "run")
    with pytest.raises(FileError, match="not a run"):
        load_model(tmp_path / "other")


def test_unknown_words_do_not_stop_a_prediction(tmp_path: Path) -> None:
    _, config = find_model("gru")
    examples = easy(count=8)
    train(Plan("gru", changed(config, SMALL), replace(QUICK, epochs=1)), examples, examples, tmp_path / "run")
    stranger = replace(examples[0], inputs={"command": "pirouette twice"})
    assert len(predict(load_model(tmp_path / "run"), [stranger])) == 1


def test_batches_hold_every_row_once_and_depend_on_the_epoch() -> None:
    lengths = [(i * 7 % 13, i % 3) for i in range(101)]
    first, again, other = (buckets(lengths, 8, 4, "seed", n) for n in (0, 0, 1))
    assert sorted(int(i) for b in first for i in b) == list(range(101))
    assert [b.tolist() for b in first] == [b.tolist() for b in again] != [b.tolist() for b in other]
    assert sorted(int(i) for b in by_length(lengths, 8) for i in b) == list(range(101))


def test_dropout_keeps_the_expectation() -> None:
    torch.manual_seed(0)
    dropped = dropout(torch.ones(400, 500), 0.2, True)
    assert abs(float(dropped.mean()) - 1) < 0.01
    assert abs(float((dropped == 0).float().mean()) - 51 / 256) < 0.005
    ones = torch.ones(3)
    assert dropout(ones, 0.2, False) is ones


def test_loss_behind_an_early_end_is_left_out_only_when_asked() -> None:
    from recombine.models.seq2seq import token_loss

    logits = torch.zeros(3, 1, 5)
    logits[0, 0, END] = 5.0
    target = torch.tensor([[3], [4], [END]])
    masked, full = token_loss(logits, target, True), token_loss(logits, target)
    uniform = float(torch.log(torch.tensor(5.0)))
    assert float(full.value) - float(masked.value) == pytest.approx(2 * uniform, rel=1e-5)
