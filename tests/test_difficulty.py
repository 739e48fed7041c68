"""Difficulty: levels are jobs with ids of their own, and a curriculum follows its scores."""

from __future__ import annotations

import pytest

import recombine
from recombine.data.ids import example_of
from recombine.data.plan import make_plan
from recombine.difficulty import PATHS, Curriculum, level_of
from recombine.errors import BadOption, UsageError
from recombine.families import OURS


def test_every_family_has_a_path_of_five_different_levels() -> None:
    assert set(PATHS) == set(OURS)
    for family, path in PATHS.items():
        keys = [recombine.load(family, difficulty=n / 4, size=2).job.key for n in range(5)]
        assert len(path) == len(set(keys)) == 5


@pytest.mark.parametrize("family", ["scan", "gscan", "reascan", "clutrr"])
def test_the_id_says_the_level(family: str) -> None:
    rows = recombine.load(family, difficulty=1.0, size=3)
    example = rows[2]
    assert example_of(example.id).answer == example.answer
    assert recombine.load(family, difficulty=0.0, size=3)[2].id != example.id
    assert example.validate() == []


def test_a_difficulty_means_the_nearer_level() -> None:
    assert level_of("clutrr", 0.1).part == "test_k2"
    assert level_of("clutrr", 0.2).part == "test_k4"
    assert level_of("clutrr", "0.75").part == "test_k8"
    assert recombine.load("clutrr", difficulty=0.7, size=1)[0].meta["k"] == 8


@pytest.mark.parametrize("wrong", [-0.1, 1.1, "x", float("nan"), True, None])
def test_a_wrong_difficulty_is_refused(wrong: object) -> None:
    with pytest.raises(BadOption, match="from 0 to 1"):
        level_of("scan", wrong)


def test_a_difficulty_does_not_go_with_what_it_stands_for() -> None:
    with pytest.raises(UsageError, match="leave out split"):
        recombine.load("clutrr", "robust_clean", difficulty=0.5)
    with pytest.raises(UsageError, match="grid_size"):
        recombine.load("gscan", difficulty=0.5, grid_size=9)
    with pytest.raises(UsageError, match="leave out split"):
        make_plan("clutrr", ("robust_clean",), options={"difficulty": 0.5})
    assert make_plan("clutrr", (), options={"difficulty": "0.5"}, size=9).parts[0].job.part == "test_k6"


def test_a_curriculum_is_a_function_of_its_scores() -> None:
    scores = [1.0] * 10 + [0.0] * 20 + [0.5] * 7 + [1.0] * 40
    first, second = Curriculum("scan", window=5), Curriculum("scan", window=5)
    walked = [first.record(score) for score in scores]
    assert walked == [second.record(score) for score in scores]
    assert walked[4] == 0.25
    assert walked[9] == 0.5
    assert min(walked[10:30]) == 0.0
    assert walked[-1] == 1.0
    assert first.top == 4


def test_a_curriculum_refuses_what_it_cannot_follow() -> None:
    with pytest.raises(UsageError, match="no path"):
        Curriculum("nosuch")
    for words in ({"window": 0}, {"raise_at": 0.2, "lower_at": 0.3}, {"level": 9}):
        with pytest.raises(BadOption):
            Curriculum("scan", **words)
    with pytest.raises(BadOption, match="a score"):
        Curriculum("scan").record(1.5)
