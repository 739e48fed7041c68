"""Divergence: known values, and the order of SCAN's splits."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from recombine.cli import main
from recombine.columns import Coded
from recombine.data.certificate import divergences, file_divergence
from recombine.data.generate import generate
from recombine.errors import FileError, Infeasible, UsageError
from recombine.families import family
from recombine.predicates.divergence import Counts, Divergence, count_batches, divergence


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
    for split in ("simple", "length"):
        folder = generate("scan", tmp_path / split, split=split, engine="serial")
        found[split] = divergences(folder.path)[f"{split}/test"]
    assert found["simple"].compounds < 0.05 < 0.1 < found["length"].compounds
    assert found["simple"].atoms < 0.001


def test_the_verb_prints_json_and_refuses_a_lone_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = generate("scan", tmp_path / "out", split="length", size=200)
    assert main(["divergence", str(folder.path), "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"length/test"}
    alone = generate("scan", tmp_path / "alone", split="length", part="test", size=20)
    with pytest.raises(UsageError, match="one part 'train' and another"):
        divergences(alone.path)


def test_a_pair_that_always_has_a_third_atom_weighs_nothing() -> None:
    from recombine.predicates.divergence import pair_weights

    # columns a, b, c, d: a and b occur together only with c, which occurs without them as well; d varies freely
    rows = [[1, 1, 1, 0], [1, 1, 1, 1], [1, 0, 1, 1], [1, 0, 0, 0], [0, 1, 1, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    weights = pair_weights(np.array(rows, np.uint8))
    assert weights[0, 1] == 0.0
    assert weights[0, 3] == pytest.approx(0.0)  # a and d have c in common, always
    assert 0 < weights[1, 2] < 1
    assert (weights == weights.T).all()


def test_weights_of_subtrees_by_hand() -> None:
    """`twice(walk)` occurs only under `and`, so the larger compound speaks for it; alone it has its full weight."""
    from collections import Counter

    from recombine.predicates.trees import TreeCounts, Weigher, compounds_of, cut

    walk, run = ("walk", ()), ("run", ())
    joined = ("and", (("twice", (walk,)), run))
    assert cut(joined, 1) == "and(twice run)"
    assert cut(joined, 2) == "and(twice(walk) run)"
    assert compounds_of(joined) == {
        "and(twice run)": [frozenset({"and(twice(walk) run)"})],
        "and(twice(walk) run)": [frozenset()],
        "twice(walk)": [frozenset({"and(twice(walk) run)"})],
    }
    alone = Weigher([TreeCounts(Counter({joined: 4}))])
    assert alone.weights(joined) == {"and(twice run)": 0.0, "and(twice(walk) run)": 1.0, "twice(walk)": 0.0}
    both = Weigher([TreeCounts(Counter({joined: 4})), TreeCounts(Counter({("twice", (walk,)): 12}))])
    assert both.weights(joined)["twice(walk)"] == pytest.approx(0.75)


def published(shared: Path, split: str) -> Divergence:
    return file_divergence(family("scan"), *(shared / "scan" / f"{split}_{part}.txt.gz" for part in ("train", "test")))


@pytest.fixture(scope="module")
def largest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("mcd") / "out"
    assert main(["generate", "scan", "--hold-out-mcd", "--out", str(out), "--engine", "serial"]) == 0
    return out


def test_published_scan_splits_are_in_order_and_ours_goes_further(shared: Path, largest: Path) -> None:
    found = {split: published(shared, split) for split in ("simple", "length", "addprim_jump", "mcd1")}
    compounds = {split: one.compounds for split, one in found.items()}
    assert compounds["simple"] < compounds["length"] < compounds["addprim_jump"] < compounds["mcd1"]
    assert found["mcd1"].atoms <= 0.02
    ours = divergences(largest)["pool/test"]
    assert ours.compounds >= found["mcd1"].compounds
    assert ours.atoms <= found["mcd1"].atoms


def test_a_split_by_divergence_verifies_and_a_false_certificate_does_not(largest: Path, tmp_path: Path) -> None:
    from recombine.data.folders import open_folder
    from recombine.data.verify import verify

    assert verify(largest).problems == ()
    manifest = json.loads((largest / "manifest.json").read_text())
    assert manifest["certificate"]["kind"] == "divergence"
    assert manifest["certificate"]["atom_divergence"] <= 0.02
    shutil.copytree(largest, tmp_path / "copy")
    manifest["certificate"]["compound_divergence"] = 0.99
    (tmp_path / "copy" / "manifest.json").write_text(json.dumps(manifest))
    assert "wrong_certificate" in {problem.code for problem in verify(tmp_path / "copy").problems}
    manifest["plan"]["parts"][0]["chosen"][0] = 10**9
    (tmp_path / "copy" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(FileError, match="rising numbers"):
        open_folder(tmp_path / "copy")


def test_a_wanted_divergence_is_met_and_seeds_differ() -> None:
    from recombine.data.mcd import make_mcd_plan

    plans = {}
    for seed in (0, 1):
        plan, choice = make_mcd_plan("gscan", 0.1, seed=seed, pool=(1200, 600))
        assert choice.compounds == pytest.approx(0.1, abs=0.02)
        assert choice.atoms <= 0.02
        plans[seed] = [part.chosen for part in plan.parts]
    again, _ = make_mcd_plan("gscan", 0.1, seed=0, pool=(1200, 600))
    assert [part.chosen for part in again.parts] == plans[0] != plans[1]
    with pytest.raises(Infeasible, match=r"0\.99 was not reached"):
        make_mcd_plan("gscan", 0.99, pool=(1000, 500))
    with pytest.raises(UsageError, match="above 0 and below 1"):
        make_mcd_plan("gscan", 1.5)


def test_train_and_test_get_sizes_of_their_own(tmp_path: Path) -> None:
    words = ["generate", "scan", "--hold-out", "any(repeat) = twice and any(verb) = turn", "--engine", "serial"]
    assert main([*words, "--size", "train=50,test=20", "--out", str(tmp_path / "out")]) == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["counts"] == {"hold_out/train": 50, "hold_out/test": 20}
    assert manifest["certificate"]["holds"]
    assert main([*words, "--train", "50", "--size", "20", "--out", str(tmp_path / "other")]) == 2
    assert not (tmp_path / "other").exists()


def test_the_old_words_for_sizes_work_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["generate", "scan", "--hold-out", "any(repeat) = twice and any(verb) = turn", "--engine", "serial"]
    assert main([*words, "--train", "50", "--test", "20", "--out", str(tmp_path / "old")]) == 0
    assert "--size train=50,test=20 now" in capsys.readouterr().err
    manifest = json.loads((tmp_path / "old" / "manifest.json").read_text())
    assert manifest["counts"] == {"hold_out/train": 50, "hold_out/test": 20}
    with pytest.raises(SystemExit):
        main(["generate", "--help"])
    assert "--train" not in capsys.readouterr().out


def test_a_split_by_divergence_takes_sizes_by_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["generate", "scan", "--hold-out-mcd", "0.3", "--engine", "serial", "--out", str(tmp_path / "out")]
    for wrong in ("50", "train=0", "validation=5"):
        assert main([*words, "--size", wrong]) == 2
    assert "--size train=5000,test=500" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
