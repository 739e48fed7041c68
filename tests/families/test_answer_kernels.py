"""The verdicts of the answer kernels are those of `score`, one by one."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import recombine
from recombine import kernels, keys
from recombine.core import Batch
from recombine.families import family
from recombine.grid.score import judged

CASES = [
    ("gscan", "sound", "compositional"), ("gscan", "sound", "target_lengths"), ("gscan", "release", "target_lengths"),
    ("reascan", "sound", "simple"), ("reascan", "sound", "a1"), ("reascan", "sound", "c1"), ("reascan", "sound", "c2"),
    ("reascan", "release", "a1"),
]  # fmt: skip


def _answers(batch: Batch, item: Any, seed: str) -> list[str]:
    """Right answers, readers' answers, answers of other rows, damaged ones, and texts that are none."""
    stream, found = keys.Stream("answers", seed), []
    examples = [item.example(batch, row) for row in range(len(batch))]
    for example in examples:
        tempting = [s.answer for s in example.explain().shortcuts if s.answer]
        other = stream.choice(examples).answer
        choice = stream.below(8)
        if choice < 4 and tempting:
            found.append(stream.choice(tempting))
        else:
            plain = [
                "stay," + stream.choice(tempting or [other]),
                other,
                example.answer,
                example.answer + ",push",
                "",
                "nonsense",
            ]
            found.append(plain[stream.below(len(plain))])
    return found


@pytest.mark.parametrize(("name", "recipe", "split"), CASES)
def test_kernel_and_plain_scores_agree(name: str, recipe: str, split: str) -> None:
    item: Any = family(name)
    module: Any = importlib.import_module(f"recombine.families.{name}.score")
    data = recombine.load(name, split, recipe=recipe, size=40 if recipe == "sound" else 8, seed=5)
    batch = next(iter(data.batches()))
    answers = _answers(batch, item, f"{name}{recipe}{split}")
    kernel = kernels.load(module.KERNEL_NAME, compiled=False)
    rows = list(range(len(batch)))
    plain = [item.example(batch, row).score(answer) for row, answer in zip(rows, answers, strict=True)]
    assert judged(batch, rows, answers, True, kernel, module.judge) == plain
    bare = judged(batch, rows, answers, False, kernel, module.judge)
    assert bare is not None
    assert [(s.value, s.status, s.detail) for s in bare] == [(s.value, s.status, s.detail) for s in plain]
    assert not any(s.mistakes for s in bare)
    assert list(item.score_batch(batch, rows[::-1], answers[::-1], True)) == plain[::-1]


def test_grid_families_judge_alike() -> None:
    """The same kinds of answers get the same status and the same keys of `detail` in gSCAN and ReaSCAN."""
    verdicts = []
    for name in ("gscan", "reascan"):
        example = recombine.load(name, size=1, seed=5)[0]
        answers = [example.answer, f"stay,{example.answer}", "push", "", " ", ",", "nonsense", "walk," * 2_001, None]
        scores = [example.score(answer) for answer in answers]  # type: ignore[arg-type]
        verdicts.append([(score.value, score.status, list(score.detail)) for score in scores])
    assert verdicts[0] == verdicts[1]
