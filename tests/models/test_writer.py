"""The grounded models' fast paths against plain ones: the writer's recurrence, convolutions at present cells, items from columns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import recombine  # noqa: E402
from recombine.models import find_model, sparse, writer  # noqa: E402
from recombine.models.base import Training, changed  # noqa: E402
from recombine.models.checkpoints import CURVE, LAST, METRICS, State, load_tensors  # noqa: E402
from recombine.models.grounded import ActionWriter, Read, packed  # noqa: E402
from recombine.models.parts import Columns  # noqa: E402
from recombine.models.plain import plain_write  # noqa: E402
from recombine.models.reproduce import Wish, reproduce  # noqa: E402
from recombine.models.tables_reascan import SCALES  # noqa: E402
from recombine.models.train import Plan, train  # noqa: E402

STEPS = (7, 7, 4, 2, 1)
WORDS = (3, 6, 1, 5, 6)


def case(kind: torch.dtype) -> tuple[ActionWriter, Read, torch.Tensor]:
    """A writer, a source whose rows have different numbers of words, and actions of different lengths, longest first."""
    torch.manual_seed(3)
    made = ActionWriter(9, 12, 10, 20, 0.0).to(kind)
    actions = torch.zeros(len(STEPS), max(STEPS), dtype=torch.int64)
    for row, count in enumerate(STEPS):
        actions[row, :count] = torch.randint(1, 9, (count,))
    text, last, world = (torch.randn(*shape, dtype=kind) for shape in ((5, 6, 10), (5, 10), (5, 16, 20)))
    return made, Read(text, last, torch.tensor(WORDS), world), actions


def measured(made: ActionWriter, source: Read, actions: torch.Tensor, run: object) -> list[torch.Tensor]:
    """Outputs, and the gradients of a sum that weighs all outputs differently."""
    leaves = [source.text.clone().requires_grad_(), source.last.clone().requires_grad_(), source.world.clone().requires_grad_()]
    made.zero_grad()
    logits, taken, looks = run(made, Read(leaves[0], leaves[1], source.lengths, leaves[2]), actions)  # type: ignore[operator]
    torch.manual_seed(5)
    total = (logits * torch.randn_like(logits)).sum() + (looks * torch.randn_like(looks)).sum()
    total.backward()
    return [logits.detach(), looks.detach(), taken, *(leaf.grad for leaf in leaves), *(p.grad for p in made.parameters())]


@pytest.mark.parametrize(("kind", "near"), [(torch.float64, 1e-10), (torch.float32, 1e-4)])
def test_writer_equals_the_plain_loop(kind: torch.dtype, near: float) -> None:
    made, source, actions = case(kind)
    ours, plain = measured(made, source, actions, ActionWriter.forward), measured(made, source, actions, plain_write)
    for one, other in zip(ours, plain, strict=True):
        assert torch.allclose(one, other, atol=near, rtol=near)
    assert float(ours[4].abs().max()) > 0.01


def test_compiled_and_torch_steps_agree() -> None:
    made, source, actions = case(torch.float32)
    assert isinstance(writer.steps_for(source.text), writer.CompiledSteps)
    compiled = measured(made, source, actions, ActionWriter.forward)
    with mock.patch.object(writer, "steps_for", lambda _: writer.TorchSteps()):
        for one, other in zip(compiled, measured(made, source, actions, ActionWriter.forward), strict=True):
            assert torch.allclose(one, other, atol=1e-4, rtol=1e-4)


def test_packed_rows_have_no_padding() -> None:
    _, _, actions = case(torch.float32)
    taken, previous, counts = packed(actions)
    assert counts == [5, 4, 3, 3, 2, 2, 2]
    assert len(taken) == len(previous) == sum(STEPS)
    assert bool((taken != 0).all())
    assert previous[:5].tolist() == [0] * 5
    assert previous[5:9].tolist() == actions[:4, 0].tolist()


@pytest.mark.parametrize("is_compiled", [True, False])
def test_convolutions_at_present_cells_equal_dense_ones(is_compiled: bool) -> None:
    torch.manual_seed(1)
    layers = torch.nn.ModuleList(torch.nn.Conv2d(6, 4, k, padding=k // 2) for k in (1, 3, 5))
    grids, shape = 3, (5, 4)
    cells = torch.tensor([0, 3, 7, 12, 19, 20, 39, 41, 58])  # the first grid's, the second's, the third's
    features = torch.randn(len(cells), 6, requires_grad=True)
    ask = torch.randn(grids * 20, 12)

    def gradients(out: torch.Tensor) -> list[torch.Tensor]:
        layers.zero_grad()
        features.grad = None
        (out * ask).sum().backward()
        return [out.detach(), features.grad, *(p.grad.clone() for p in layers.parameters())]

    full = torch.zeros(grids * 20, 6).index_copy(0, cells, features).view(grids, *shape, 6).permute(0, 3, 1, 2)
    dense = torch.cat([layer(full) for layer in layers], 1).flatten(2).transpose(1, 2).reshape(grids * 20, 12)
    wanted = gradients(dense)
    with mock.patch.object(sparse, "_kernel_for", sparse._kernel_for if is_compiled else lambda _: None):
        found = gradients(sparse.convolve(list(layers), features, cells, shape, grids))
    for one, other in zip(found, wanted, strict=True):
        assert torch.allclose(one, other, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("family", "split"), [("gscan", "compositional"), ("reascan", "all")])
@pytest.mark.parametrize("recipe", ["sound", "release"])
def test_items_from_columns_are_those_from_examples(family: str, split: str, recipe: str) -> None:
    rows = recombine.load(family, split, "train", recipe=recipe, seed=2, size=150)
    examples, batches = list(rows), list(rows.batches(64))
    cls, config = find_model("gcn-lstm")
    codec = cls.learn_codec(config, examples)
    assert cls.learn_codec_from(batches) == codec
    poorer = {**codec, "words": codec["words"][:-2], "colors": codec["colors"][1:], "actions": codec["actions"][:-1]}
    for known in (codec, poorer):  # a word, a colour and an action that training never had
        model = cls(config, known)
        found = model.encode_all(batches)
        assert len(found) == len(examples)
        assert found[-1].words.tolist() == found[len(found) - 1].words.tolist() and len(found[-2:]) == 2
        with pytest.raises(IndexError):
            found[len(found)]
        for item, example in zip(found, examples, strict=True):
            due = model.encode(example, True)
            assert (item.words.tolist(), item.actions.tolist(), item.cell) == (
                due.words.tolist(),
                due.actions.tolist(),
                due.cell,
            )
            assert item.grid.dtype == due.grid.dtype
            assert np.array_equal(item.grid, due.grid)
    assert cls.fingerprint(batches) == cls.fingerprint(list(rows.batches()))
    assert cls.fingerprint(batches) != cls.fingerprint(batches[:1])


@pytest.mark.parametrize("name", ["gcn-lstm", "mlstm", "grounded-transformer"])
def test_the_target_loss_can_be_turned_on(name: str) -> None:
    rows = recombine.load("gscan", part="train", seed=3, size=24)
    examples = list(rows)
    cls, config = find_model(name)
    quiet = {key: 0.0 for key in ("dropout", "world_dropout", "input_dropout", "command_dropout") if hasattr(config, key)}
    torch.manual_seed(0)
    model = cls.build(changed(config, {**quiet, "target_weight": 0.3}), examples)
    batch = model.collate([model.encode(e, True) for e in examples])
    whole = float(model.loss(batch).value.detach())
    blind = float(model.loss(replace(batch, cells=torch.full_like(batch.cells, -1))).value.detach())
    assert whole > blind + 0.3  # -log of one cell in many, times 0.3
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(30):
        optimizer.zero_grad()
        model.loss(batch).value.backward()
        optimizer.step()
    after = float(model.loss(batch).value.detach())
    missed = after - float(model.loss(replace(batch, cells=torch.full_like(batch.cells, -1))).value.detach())
    assert missed < 0.8 * (whole - blind)
    off = cls.build(changed(config, {**quiet, "target_weight": 0.0}), examples)
    same = float(off.loss(batch).value.detach()), float(off.loss(replace(batch, cells=batch.cells * 0)).value.detach())
    assert same[0] == same[1]


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_tensors(folder / LAST)[0]


def test_training_from_columns_ends_in_the_same_weights_as_from_examples(tmp_path: Path) -> None:
    rows = recombine.load("reascan", "all", "train", recipe="release", size=40)
    held = rows[:4]
    _, config = find_model("gcn-lstm")
    plan = Plan("gcn-lstm", changed(config, {"max_answer_tokens": 5}), Training(epochs=2, batch=8, optimizer="adam", rate=1e-3))
    train(plan, list(rows), held, tmp_path / "examples")
    train(plan, Columns(tuple(rows.batches(16))), held, tmp_path / "columns")
    one, other = _weights(tmp_path / "examples"), _weights(tmp_path / "columns")
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_the_learning_curve_survives_a_kill(tmp_path: Path) -> None:
    rows = recombine.load("gscan", part="train", seed=3, size=40)
    columns, held = Columns(tuple(rows.batches())), rows[:4]
    _, config = find_model("mlstm")
    plan = Plan("mlstm", changed(config, {"max_answer_tokens": 5}), Training(epochs=2, batch=4, optimizer="adam", rate=1e-3))

    def killed(state: State, _: int) -> None:
        if state.steps == 13:
            raise KeyboardInterrupt

    with mock.patch("recombine.models.train.CURVE_STEPS", 3), mock.patch("recombine.models.train.CHECKPOINT_SECONDS", 0.0):
        train(plan, columns, held, tmp_path / "whole")
        with pytest.raises(KeyboardInterrupt):
            train(plan, columns, held, tmp_path / "killed", killed)
        train(plan, columns, held, tmp_path / "killed")
    curves = [
        [(p["steps"], p["loss"], p["accuracy"]) for p in map(json.loads, (tmp_path / name / CURVE).read_text().splitlines())]
        for name in ("whole", "killed")
    ]
    assert [steps for steps, *_ in curves[0]] == [3, 6, 9, 12, 15, 18]
    assert curves[0] == curves[1]
    history = [json.loads(line) for line in (tmp_path / "whole" / METRICS).read_text().splitlines()]
    first = [loss for steps, loss, _ in curves[0] if steps <= 9]
    assert abs(sum(first) / 3 - history[0]["loss"]) < 0.2 * history[0]["loss"]  # nine of the epoch's ten steps


def test_the_target_table_compares_runs_without_and_with_the_loss(tmp_path: Path) -> None:
    report = reproduce(Wish("reascan-target", "smoke", 1, only=("| M-LSTM",)), tmp_path)
    assert report.header == ["ours | paper", "M-LSTM, target loss off", "M-LSTM, target loss on"]
    assert len(report.rows) == 11
    document = json.loads(report.json_path.read_text())
    assert ["target_weight=0.3" in run["experiment"] for run in document["runs"]] == [False, True]
    off, on = (run["history"][0]["loss"] for run in document["runs"])
    assert on > off + 0.3
    assert all("curve" in run for run in document["runs"])


def test_a_day_is_three_million_visits() -> None:
    day = SCALES["day"]
    assert (day.rows, day.test_rows, day.training["batch"]) == (0, 2_000, 200)
    assert day.epochs * 539_722 > 3_000_000
