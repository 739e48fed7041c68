"""Divergence: known values, and the order of SCAN's splits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from recombine.cli import main
from recombine.columns import Coded
from recombine.data.certificate import divergences
from recombine.data.generate import generate
from recombine.errors import UsageError
from recombine.predicates.divergence import Counts, count_batches, divergence


def counted(*pairs: tuple[str, str]) -> Counts:
    columns = {name: Coded(np.arange(len(pairs)), [pair[i] for pair in pairs]) for i, name in enumerate(("verb", "color"))}
    return count_batches(["verb", "color"], [(columns, len(pairs))])


def test_known_values() -> None:
    train = counted(("push", "red"), ("pull", "blue"))
    same = divergence(train, train)
    assert (same.atoms, same.compounds, same.new_compounds) == (0.0, 0.0, ())
    crossed = divergence(train, counted(("push", "blue"), ("pull", "red")))
    assert (crossed.atoms, crossed.compounds) == (0.0, 1.0)
    assert [name for name, _ in crossed.new_compounds] == ["color = blue and verb = push", "color = red and verb = pull"]
    # atoms: p = (1/2, 1/2, 0, 0)/2 per facet against q = one verb and one colour: 1 - (2 * sqrt(1/4 * 1/2))
    half = divergence(train, counted(("push", "red")))
    assert half.atoms == pytest.approx(1 - 2 * (0.25 * 0.5) ** 0.5, abs=1e-4)
    assert half.compounds == pytest.approx(1 - 0.5**0.1, abs=1e-4)
    unseen = divergence(train, counted(("walk", "red")))
    assert unseen.rarest_atom == ("verb = walk", 0)


def test_scans_random_split_lies_nearest(tmp_path: Path) -> None:
    found = {}
    for split in ("simple", "length", "addprim_jump"):
        folder = generate("scan", tmp_path / split, split=split)
        found[split] = divergences(folder.path)[f"{split}/test"]
    assert found["simple"].compounds < 0.01 < min(found["length"].compounds, found["addprim_jump"].compounds)


def test_the_verb_prints_json_and_refuses_a_lone_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = generate("scan", tmp_path / "out", split="length", size=200)
    assert main(["divergence", str(folder.path), "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"length/test"}
    alone = generate("scan", tmp_path / "alone", split="length", part="test", size=20)
    with pytest.raises(UsageError, match="one part 'train' and another"):
        divergences(alone.path)
