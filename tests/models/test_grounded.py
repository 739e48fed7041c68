"""The grounded models: each overfits a handful of scenes, saves, loads, and answers the same; what they see is the inputs alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import recombine  # noqa: E402
from recombine.errors import UsageError  # noqa: E402
from recombine.models import find_model  # noqa: E402
from recombine.models.base import Training, changed  # noqa: E402
from recombine.models.checkpoints import load_model  # noqa: E402
from recombine.models.experiments import Scale  # noqa: E402
from recombine.models.train import Plan, predict, scores, train  # noqa: E402

FEW = 12
QUIET = {"dropout": 0.0, "world_dropout": 0.0, "input_dropout": 0.0, "command_dropout": 0.0, "max_answer_tokens": 20}
SMALL = {"units": 48, "heads": 4, "blocks": 2, "layers": 1, "feed_forward": 96, "channels": 24}
QUICK = Training(epochs=120, batch=4, optimizer="adam", rate=3e-3, decay=0.99, clip=1.0)


def short(family: str, count: int = FEW) -> list:
    """Examples with few actions."""
    found = []
    for example in recombine.load(family, part="train", seed=3, size=2_000):
        if len(example.answer.split(",")) <= 5:
            found.append(example)
        if len(found) == count:
            break
    return found


@pytest.mark.parametrize(("name", "family"), [("mlstm", "gscan"), ("gcn-lstm", "reascan"), ("grounded-transformer", "reascan")])
def test_model_overfits_saves_loads_and_predicts_the_same(name: str, family: str, tmp_path: Path) -> None:
    _, config = find_model(name)
    config = changed(config, {key: value for key, value in {**QUIET, **SMALL}.items() if hasattr(config, key)})
    rate = 2e-3 if "transformer" in name else 8e-3
    examples = short(family)
    result = train(Plan(name, config, replace(QUICK, rate=rate)), examples, examples, tmp_path / "run")
    assert result.best == 1.0, result
    model = load_model(tmp_path / "run")
    answers = predict(model, examples)
    assert scores(examples, answers) == [1.0] * FEW
    assert predict(model, examples[::-1], batch=5) == answers[::-1]


def test_the_grid_is_built_from_inputs_alone() -> None:
    examples = short("gscan", 8)
    cls, config = find_model("mlstm")
    model = cls.build(config, examples)
    blind = replace(examples[0], answer="", plan=None, world=None, meta={})
    seen, again = model.encode(examples[0], False), model.encode(blind, False)
    assert (seen.grid == again.grid).all()
    assert (seen.words == again.words).all()
    assert int(seen.grid.sum()) == 3 * len(examples[0].inputs["objects"]) + 2
    assert seen.grid.shape[2] == 16


def test_a_larger_grid_than_there_are_places_is_refused() -> None:
    cls, config = find_model("grounded-transformer")
    small = {"units": 8, "max_answer_tokens": 5}
    examples = list(recombine.load("gscan", part="train", recipe="sound", grid_size=7, size=3))
    model = cls.build(changed(config, {**small, "grid": 6}), examples)
    with pytest.raises(UsageError, match="--with grid=7"):
        predict(model, examples)
    assert len(predict(cls.build(changed(config, {**small, "grid": 7}), examples), examples)) == 3


def test_random_actions_have_the_right_length_and_are_hardly_ever_right(tmp_path: Path) -> None:
    examples = short("gscan", 16)
    cls, config = find_model("random-actions")
    train(Plan("random-actions", config, cls.TRAINING), examples, examples, tmp_path / "run")
    answers = predict(load_model(tmp_path / "run"), examples)
    assert [len(a.split(",")) for a in answers] == [len(e.answer.split(",")) for e in examples]
    assert len(set(answers)) > 8


def test_table_3_runs_whole(tmp_path: Path) -> None:
    from recombine.models.reproduce import Wish, reproduce

    report = reproduce(Wish("reascan-table3", "smoke", 1, only=("| GCN", "| Random")), tmp_path)
    assert [row[0] for row in report.rows] == [
        "Simple",
        "1-relative-clause",
        "2-relative-clauses",
        "All",
        "A1",
        "A2",
        "A3",
        "B1",
        "B2",
        "C1",
        "C2",
    ]
    assert report.rows[4][2].endswith("| 92.2 ± 0.8")


def test_auxiliary_loss_looks_for_the_target() -> None:
    examples = short("gscan", 8)
    cls, config = find_model("mlstm")
    config = changed(config, {key: value for key, value in QUIET.items() if hasattr(config, key)})
    torch.manual_seed(0)
    model = cls.build(config, examples)
    items = [model.encode(e, True) for e in examples]
    assert [item.cell for item in items] == [e.world.things[0].row * 6 + e.world.things[0].column for e in examples]
    plain = float(model.loss(model.collate(items)).value.detach())
    model.config = changed(config, {"target_weight": 0.3})
    assert float(model.loss(model.collate(items)).value.detach()) > plain + 0.3


@pytest.mark.parametrize("name", ["mlstm", "gcn-lstm", "grounded-transformer"])
def test_a_row_s_loss_does_not_depend_on_the_rows_beside_it(name: str) -> None:
    examples = short("reascan", 8)
    assert len({len(e.inputs["objects"]) for e in examples}) > 1, "rows with unequal numbers of objects are wanted"
    cls, config = find_model(name)
    quiet = {key: value for key, value in QUIET.items() if hasattr(config, key)}
    torch.manual_seed(0)
    model = cls.build(changed(config, {**quiet, "target_weight": 0.3}), examples)
    items = [model.encode(e, True) for e in examples]
    alone = [float(model.loss(model.collate([item])).value.detach()) for item in items]
    together = float(model.loss(model.collate(items)).value.detach())
    assert together == pytest.approx(sum(alone) / len(alone), rel=1e-4)


def test_a_scale_makes_one_model_smaller_and_says_so() -> None:
    scale = Scale("tiny", 1, 1, 0, changes={"layers": 1}, smaller={"grounded-transformer": {"units": 8, "heads": 2}})
    assert scale.sentence().endswith("layers = 1, grounded-transformer with units = 8 and heads = 2")
    assert scale.of("grounded-transformer").changes == {"layers": 1, "units": 8, "heads": 2}
    assert scale.of("gcn-lstm").sentence().endswith("all test rows, layers = 1")
