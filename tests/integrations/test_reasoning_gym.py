"""reasoning-gym runs every family as a data set of its own."""

from __future__ import annotations

import pytest

reasoning_gym = pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed")

import recombine
from recombine.families import FAMILIES
from recombine.integrations import reasoning_gym as plug


@pytest.mark.parametrize("name", list(FAMILIES))
def test_rows_and_scores(name: str) -> None:
    assert f"recombine_{name}" in plug.register() == plug.register()
    made = reasoning_gym.create_dataset(f"recombine_{name}", size=3, seed=7)
    assert len(made) == 3
    for index, entry in enumerate(made):
        assert set(entry) == {"question", "answer", "metadata"} and entry["metadata"]["source_index"] == index
        assert recombine.data.datasets.example(entry["metadata"]["id"]).id == entry["metadata"]["id"]
        assert made.score_answer(f"I think.\n\nAnswer: {entry['answer']}", entry) == 1.0
        assert made.score_answer(None, entry) == 0.0 and made.score_answer("no idea at\nall", entry) == 0.0


def test_seeds_share_no_rows() -> None:
    plug.register()
    one, two = (reasoning_gym.create_dataset("recombine_reascan", size=20, seed=seed) for seed in (42, 43))
    assert not {e["question"] for e in one} & {e["question"] for e in two}


def test_composites_hold_our_families() -> None:
    plug.register()
    from reasoning_gym.composite import DatasetSpec

    specs = [DatasetSpec(name=n, weight=1, config={}) for n in ("recombine_scan", "recombine_gscan", "leg_counting")]
    mixed = reasoning_gym.create_dataset("composite", datasets=specs, size=12, seed=1)
    for entry in mixed:
        assert mixed.score_answer(entry["answer"], entry) == 1.0


def test_bad_settings_are_clear_errors() -> None:
    plug.register()
    with pytest.raises(recombine.RecombineError, match="style"):
        reasoning_gym.create_dataset("recombine_scan", style="loud")
    with pytest.raises(recombine.RecombineError, match="split"):
        reasoning_gym.create_dataset("recombine_scan", split="lenght")
