"""The search for splits of large divergence: its figures, its pools, and every family."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from recombine import kernels
from recombine.predicates import search, search_kernel
from recombine.predicates.search import Pool, choose, pool_of_pairs, similarity


def small_pools(rows: int = 300) -> tuple[Pool, Pool]:
    present = np.random.default_rng(3).random((3 * rows, 12)) < 0.3
    present[:, 0] = True
    weights = np.full((12, 12), 0.75)
    return pool_of_pairs(present[: 2 * rows], weights), pool_of_pairs(present[2 * rows :], weights)


def tallied(pool: Pool, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    atoms, compounds = np.zeros(pool.sizes[0]), np.zeros(pool.sizes[1])
    for row in rows:
        for i in range(pool.atom_offsets[row], pool.atom_offsets[row + 1]):
            atoms[pool.atoms[i]] += 1
        for i in range(pool.compound_offsets[row], pool.compound_offsets[row + 1]):
            compounds[pool.compounds[i]] += pool.weights[i]
    return atoms, compounds


def test_the_search_states_the_figures_of_the_rows_that_it_took() -> None:
    pools = small_pools()
    choice = choose(pools, (100, 40), seed=1, name="figures")
    assert (len(set(choice.train)), len(set(choice.test))) == (100, 40)
    assert max(choice.train) < len(pools[0]) and max(choice.test) < len(pools[1])
    (train_atoms, train), (test_atoms, test) = tallied(pools[0], choice.train), tallied(pools[1], choice.test)
    assert choice.atoms == pytest.approx(1 - similarity(train_atoms, test_atoms, 0.5), abs=1e-9)
    assert choice.compounds == pytest.approx(1 - similarity(train, test, 0.1), abs=1e-9)
    drawn = [tallied(pool, np.arange(size)) for pool, size in zip(pools, (100, 40), strict=True)]
    assert choice.compounds > 1 - similarity(drawn[0][1], drawn[1][1], 0.1) + 0.05
    assert choice.atoms <= 0.02


def test_one_pool_gives_no_row_twice_and_both_speeds_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, _ = small_pools(60)
    monkeypatch.setattr(search, "STEPS_PER_ROW", 10)
    found = []
    for compiled in (False, True):
        kernel = kernels.load(search_kernel.__name__, compiled)
        monkeypatch.setattr(kernels, "for_rows", lambda _name, _rows, kernel=kernel: kernel)
        found.append(choose((pool, pool), (50, 30), seed=2, name="one", limit=0.5))
    assert not set(found[0].train) & set(found[0].test)
    assert [list(one.train) for one in found] == [list(found[0].train)] * 2
    assert [list(one.test) for one in found] == [list(found[0].test)] * 2


def test_a_row_in_both_parts_of_a_choice_is_a_leak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recombine.data.generate import run
    from recombine.data.mcd import make_mcd_plan
    from recombine.data.verify import verify

    monkeypatch.setattr(search, "STEPS_PER_ROW", 5)
    plan, choice = make_mcd_plan("scan", 0.5, sizes=(300, 60))
    assert not set(choice.train) & set(choice.test)
    train, test = plan.parts
    chosen = tuple(sorted({*train.chosen[:-1], test.chosen[0]}))
    wrong = replace(plan, parts=(replace(train, chosen=chosen, rows=len(chosen)), test))
    run(wrong, tmp_path / "out", workers=1)
    assert "leak" in {problem.code for problem in verify(tmp_path / "out").problems}


@pytest.mark.parametrize("name", ["clutrr", "lilgym", "abstract", "lexicon"])
def test_every_family_can_be_split_by_divergence(name: str) -> None:
    from recombine.data.mcd import make_mcd_plan

    plan, choice = make_mcd_plan(name, pool=(400, 200))
    assert [part.job.part for part in plan.parts] == ["train", "test"]
    assert [part.rows for part in plan.parts] == [100, 25]
    assert choice.atoms <= 0.02 < choice.compounds


def test_powers_have_the_same_bits_everywhere() -> None:
    """The bits are literals: a machine on which they differ would choose other rows."""
    from recombine import exact

    compiled = kernels.load(exact.__name__, True)
    for kernel in (exact, compiled):
        assert [kernel.exponential(x).hex() for x in (-0.3, -7.5, 2.0)] == [
            "0x1.7b4c869c37c05p-1", "0x1.21f9ba40f31d5p-11", "0x1.d8e64b8d4ddafp+2",
        ]  # fmt: skip
        assert [kernel.tenth_root(x).hex() for x in (3.0, 1e-6, 12345.625)] == [
            "0x1.1dba3f92c888cp+0", "0x1.0137987dd704cp-2", "0x1.485e4b8b418a1p+1",
        ]  # fmt: skip
        assert (kernel.exponential(-800.0), kernel.exponential(0.0), kernel.tenth_root(0.0)) == (0.0, 1.0, 0.0)
    for x in np.random.default_rng(5).uniform(-40, 5, 2_000).tolist():
        assert exact.exponential(x) == pytest.approx(np.exp(x), rel=1e-14)
        assert exact.tenth_root(np.exp(x)) == pytest.approx(np.exp(x / 10), rel=1e-14)


@pytest.mark.parametrize("name", ["scan", "nacs", "gscan", "reascan", "clutrr", "lilgym", "abstract", "lexicon"])
def test_the_default_pools_are_no_larger_than_what_exists(name: str) -> None:
    from recombine.abilities import Bounded
    from recombine.data import mcd
    from recombine.families import family

    found = family(name)
    for part, most in zip(("train", "test"), mcd.POOL_ROWS, strict=True):
        plan = mcd._pool_plan(found, None, part, None, 0, None, most)
        exists = found.bound(plan.job) if isinstance(found, Bounded) else most
        assert 0 < plan.rows <= min(most, exists)
