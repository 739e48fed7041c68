"""The release recipe against worlds that the original generator printed: for its own commands, ours must look like them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from recombine.core import Example
from recombine.families.reascan import REASCAN as reascan
from recombine.families.reascan.release import generate as release

WORLDS = 80
"""How many worlds are drawn here for each of the original's commands."""
DRAWS = {"generated_one_clause": 1_757 - 500, "generated_two_clauses": 7_847 - 2 * 500}
"""Draws that the original needed for the worlds in a file, without the 500 that it lost whenever it gave a command up."""


def features(example: Example) -> dict[str, float]:
    """Numbers by which two generators of worlds for one command can differ."""
    things, phrases = example.world.things, example.plan.phrases
    kinds = [(t.color, t.shape) for t in things]
    found = {
        "objects": len(things),
        "boxes": sum(t.shape == "box" for t in things),
        "mean size": float(np.mean([t.size for t in things])),
        "smallest": sum(t.size == 1 for t in things),
        "biggest": sum(t.size == 4 for t in things),
        "mean row": float(np.mean([t.row for t in things])),
        "mean column": float(np.mean([t.column for t in things])),
        "agent row": example.world.row,
        "like the target": sum((t.size, t.color, t.shape) == (things[0].size, *kinds[0]) for t in things),
        "actions": example.answer.count(","),
        "a": str(example.inputs["command"]).split().count("a"),
    }
    for k, phrase in enumerate(phrases):
        found[f"size {k}"] = things[k].size
        found[f"row {k}"] = things[k].row
        found[f"column {k}"] = things[k].column
        found[f"kind {k}"] = kinds.count(kinds[k])
        found[f"fit {k}"] = sum(phrase.color in ("", t.color) and phrase.shape in ("", t.shape) for t in things)
    return found


@pytest.fixture(scope="module", params=["generated_simple", "generated_one_clause", "generated_two_clauses"])
def theirs(request: pytest.FixtureRequest, shared: Path) -> tuple[str, dict[int, list[Example]]]:
    found: dict[int, list[Example]] = defaultdict(list)
    for example in reascan.read(shared / "reascan" / f"{request.param}.json.gz"):
        assert isinstance(example, Example)
        found[int(example.meta["form"])].append(example)
    return str(request.param), found


def test_worlds_for_the_same_commands_look_the_same(theirs: tuple[str, dict[int, list[Example]]]) -> None:
    _, by_form = theirs
    batch = release.worlds([form for form in by_form for _ in range(WORLDS)], compiled=True)
    rows = [features(reascan.example(batch, i)) for i in range(len(batch))]
    off: dict[str, float] = defaultdict(float)
    spread: dict[str, float] = defaultdict(float)
    for k, examples in enumerate(by_form.values()):
        measured = [features(example) for example in examples]
        for name in measured[0]:
            ours = np.array([row[name] for row in rows[k * WORLDS : (k + 1) * WORLDS]])
            n = len(measured)
            off[name] += sum(m[name] for m in measured) - n * ours.mean()
            spread[name] += ours.var(ddof=1) * (n + n * n / WORLDS)
    scores = {name: off[name] / np.sqrt(spread[name]) if spread[name] else off[name] * 1e6 for name in off}
    assert {name: z for name, z in scores.items() if abs(z) > 4} == {}


def test_strategies_work_as_often(theirs: tuple[str, dict[int, list[Example]]]) -> None:
    _, by_form = theirs
    batch = release.worlds([form for form in by_form for _ in range(WORLDS)], seed=1, compiled=True)
    weights = np.repeat([len(examples) for examples in by_form.values()], WORLDS)
    for name in ("relation", "attribute", "isomorphism", "random"):
        due = np.mean([example.meta["claims"][f"has_{name}_distractor"] for e in by_form.values() for example in e])
        ours = np.average(np.asarray(batch.columns[f"{name}_distractor"]), weights=weights)
        assert abs(ours - due) < 0.02, name


def test_their_worlds_cost_as_many_draws(theirs: tuple[str, dict[int, list[Example]]]) -> None:
    name, by_form = theirs
    rates = release.acceptance(list(by_form), 1_000)
    counts = np.array([len(examples) for examples in by_form.values()])
    if name not in DRAWS:
        assert rates.min() == 1
        return
    expected = float((counts / rates).sum())
    error = float(np.sqrt((counts * (1 - rates) / rates**2).sum()))
    assert abs(DRAWS[name] - expected) < 3 * error
    assert error < 0.15 * expected
