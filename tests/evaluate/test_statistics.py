"""The formulas against scipy and statsmodels, and against themselves on made-up evaluations."""

from __future__ import annotations

import importlib.util
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar as sm_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from recombine.evaluate import statistics as st
from recombine.evaluate.pooled import Stratum, pool


def test_quantiles_agree_with_scipy() -> None:
    for df in (1, 2, 9, 29, 179, 5000):
        for p in (0.6, 0.9, 0.975, 0.995):
            assert st.t_quantile(p, df) == pytest.approx(scipy_stats.t.ppf(p, df), abs=1e-8)
        for t in (0.0, 0.3, 1.7, 4.0, 12.0):
            assert st.t_tail(t, df) == pytest.approx(2 * scipy_stats.t.sf(t, df), abs=1e-10)
    for p in (0.025, 0.5, 0.8, 0.999):
        assert st.normal_quantile(p) == pytest.approx(scipy_stats.norm.ppf(p), abs=1e-9)


@pytest.mark.parametrize(("right", "rows"), [(0, 12), (12, 12), (95, 100), (500, 1000), (1, 4000)])
def test_single_rows_give_wilson(right: int, rows: int) -> None:
    found = st.interval([1.0] * right + [0.0] * (rows - right), list(range(rows)))
    low, high = proportion_confint(right, rows, method="wilson")
    assert found.low == pytest.approx(low, abs=1e-9)
    assert found.high == pytest.approx(high, abs=1e-9)


@pytest.mark.parametrize("rows", [11, 12, 40, 97, 1000])
@pytest.mark.parametrize("per_cluster", [1, 3])
def test_closed_ends_are_exact(rows: int, per_cluster: int) -> None:
    """Rounding once gave 0 of 40 a low end of 7e-18, above a baseline of 0."""
    clusters = [row for row in range(rows) for _ in range(per_cluster)]
    assert st.interval([0.0] * len(clusters), clusters).low == 0.0
    assert st.interval([1.0] * len(clusters), clusters).high == 1.0


def test_clustered_error_agrees_with_statsmodels() -> None:
    import statsmodels.api as sm

    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(40), 7)
    gap = rng.choice([-1.0, 0.0, 1.0], 280) + rng.normal(0, 0.5, 40)[clusters]
    fitted = sm.OLS(gap, np.ones(280)).fit(cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False})
    found = st.compare(gap, np.zeros(280), clusters.tolist())
    error = float(fitted.bse[0]) * math.sqrt(40 / 39)
    assert found.difference == pytest.approx(float(fitted.params[0]), abs=1e-12)
    assert found.high - found.low == pytest.approx(2 * scipy_stats.t.ppf(0.975, 39) * error, abs=1e-9)


@pytest.mark.parametrize("groups", [12, 30, 1000])
def test_clusters_that_score_alike_still_have_an_interval(groups: int) -> None:
    """All clusters are (right, wrong). Up to 3 / groups of the clusters may be otherwise, which moves the mean by half of that."""
    clusters = np.repeat(np.arange(groups), 2).tolist()
    scores = [1.0, 0.0] * groups
    found = st.interval(scores, clusters)
    assert found.mean == 0.5
    half = (found.high - found.low) / 2
    assert 0.8 * 1.5 / groups < half < 1.3 * 1.5 / groups
    gap = st.compare(scores, [0.0] * len(scores), clusters)
    assert gap.high - gap.low == pytest.approx(2 * half, rel=0.1)
    assert gap.p < 0.001


def test_runs_that_always_differ_by_the_same_have_an_interval_and_a_p_value() -> None:
    found = st.compare([1.0] * 12, [0.0] * 12, list(range(12)))
    assert found.low < found.high == 1.0
    assert 0 < found.p < 0.001
    same = st.compare([1.0] * 12, [1.0] * 12, list(range(12)))
    assert same.low < 0 < same.high
    assert same.p == 1.0


def test_the_floor_leaves_intervals_near_the_ceiling_alone() -> None:
    clusters = np.repeat(np.arange(100), 10).tolist()
    found = st.interval([0.0] + [1.0] * 999, clusters)
    assert found.design_effect == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 1), (5, 2), (30, 12), (400, 390)])
def test_mcnemar_agrees_with_statsmodels(b: int, c: int) -> None:
    expected = sm_mcnemar([[10, b], [c, 10]], exact=True).pvalue if b + c else 1.0
    assert st.mcnemar(b, c) == pytest.approx(min(1.0, expected), abs=1e-9)


def test_holm_agrees_with_statsmodels() -> None:
    p = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.6}
    _, expected, _, _ = multipletests(list(p.values()), method="holm")
    assert list(st.holm(p).values()) == pytest.approx(list(expected), abs=1e-12)


def test_threshold_agrees_with_statsmodels() -> None:
    import statsmodels.api as sm

    rng = np.random.default_rng(1)
    x = rng.integers(1, 12, 3000).astype(float)
    y = (rng.random(3000) < 1 / (1 + np.exp(x - 6.5))).astype(float)
    found = st.threshold(x, y, list(range(3000)))
    fitted = sm.Logit(y, sm.add_constant(x)).fit(disp=0)
    assert found.value == pytest.approx(-fitted.params[0] / fitted.params[1], abs=1e-6)
    assert found.low < 6.5 < found.high
    assert st.threshold([1, 2], [1, 1], [0, 1]).reason == "always right"
    assert st.threshold([1, 1], [1, 0], [0, 1]).value is None
    assert st.threshold([1.0] * 50 + [2.0] * 50, [1.0] * 50 + [0.0] * 50, list(range(100))).value is None


def test_thresholds_of_odd_data_have_a_reason() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        rows = int(rng.integers(2, 30))
        x = rng.integers(0, rng.integers(1, 5) + 1, rows).astype(float)
        y = (rng.random(rows) < rng.random()).astype(float)
        found = st.threshold(x, y, rng.integers(0, rng.integers(1, 20), rows).tolist())
        assert (found.value is None) == bool(found.reason)


def test_too_few_clusters_print_no_interval() -> None:
    found = st.interval([1, 0] * 100, [0] * 100 + [1] * 100)
    assert found.low is None
    assert "too few clusters" in found.text
    assert st.compare([1, 0], [0, 0], [0, 1]).p is None


def test_sizes_of_the_plan() -> None:
    assert 610 <= st.plan_size(0.05).rows <= 635
    assert 1_720 <= st.plan_size(0.03).rows <= 1_760
    assert st.plan_size(0.03, per_cluster=4).rows > st.plan_size(0.03).rows
    with pytest.raises(ValueError, match="disagreement"):
        st.plan_size(0.3, discordant=0.2)


def test_tied_groups() -> None:
    means = {"a": 0.9, "b": 0.88, "c": 0.5}
    assert st.tied_groups(means, {("a", "b"): 0.4, ("a", "c"): 0.001, ("b", "c"): 0.001}) == [["a", "b"], ["c"]]


def test_coverage_and_false_alarms() -> None:
    """A small run of benchmarks/interval_coverage.py."""
    rng = np.random.default_rng(3)
    covered = alarms = 0
    for _ in range(400):
        rate = rng.beta(2.4, 0.6, 40)
        clusters = np.repeat(np.arange(40), 5)
        y, z = ((rng.random(200) < rate[clusters]).astype(float) for _ in range(2))
        found = st.interval(y, clusters.tolist())
        covered += found.low <= 0.8 <= found.high
        alarms += st.compare(y, z, clusters.tolist()).p < 0.05
    assert 365 <= covered <= 396
    assert 6 <= alarms <= 36


# --- the pooled comparison -------------------------------------------------------------------------------------------


def _simulated(name: str, times: int) -> tuple[float, float]:
    """Coverage and false alarms of one setting of the benchmark."""
    place = Path(__file__).parents[2] / "benchmarks" / "pooled_coverage.py"
    spec = importlib.util.spec_from_file_location("pooled_coverage", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pooled_coverage"] = module
    spec.loader.exec_module(module)
    (setting,) = [setting for setting in module.SETTINGS if setting.name == name]
    found: tuple[float, float] = module.simulate(setting, times)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unequal sets", "shared clusters"])
def test_the_pooled_interval_covers_the_truth(name: str) -> None:
    """A sample of the benchmark, with bounds that chance leaves once in some thousand runs; the seed is fixed."""
    coverage, alarms = _simulated(name, 400)
    assert 0.92 <= coverage <= 0.98
    assert alarms <= 0.085


def test_pooling_one_set_is_the_paired_comparison() -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 2, 400).astype(float) for _ in range(2))
    clusters = np.repeat(np.arange(80), 5).tolist()
    alone, pooled = st.compare(a, b, clusters), pool("a", "b", {"s": Stratum(a, b, clusters)})
    assert alone.low is not None and pooled.low is not None
    assert pooled.difference == pytest.approx(alone.difference)
    assert pooled.low == pytest.approx(alone.low, abs=3e-3)
    assert pooled.df == pytest.approx(79)


def test_a_cluster_in_two_sets_counts_once() -> None:
    """The same rows under two names of sets say no more than one set says."""
    rng = np.random.default_rng(4)
    a, b = (rng.integers(0, 2, 200).astype(float).tolist() for _ in range(2))
    names = [str(i // 4) for i in range(200)]
    once = pool("a", "b", {"s": Stratum(a, b, names)})
    twice = pool("a", "b", {"s": Stratum(a, b, names), "t": Stratum(a, b, names)})
    apart = pool("a", "b", {"s": Stratum(a, b, names), "t": Stratum(a, b, [f"t{n}" for n in names])})
    assert once.low is not None and twice.low is not None and apart.low is not None
    assert twice.low == pytest.approx(once.low, abs=5e-3)
    assert apart.low > twice.low + 0.01


def test_the_pooled_sentence() -> None:
    right, wrong = [1.0] * 40, [0.0] * 40
    names = [str(i) for i in range(40)]
    mixed = [float(i % 2) for i in range(40)]
    found = pool("alpha", "beta", {"s": Stratum(right, mixed, names), "t": Stratum(mixed, mixed, names)})
    assert found.sentence.startswith("alpha is ahead of beta by 25.0 points [")
    assert found.sentence.endswith("in 1 of 2 sets")
    behind = pool("alpha", "beta", {"s": Stratum(wrong, mixed, names)})
    assert behind.sentence.startswith("beta is ahead of alpha by 50.0 points [")
    assert behind.sentence.endswith("in 1 of 1 set")
    tied = pool("alpha", "beta", {"s": Stratum(mixed, mixed, names)})
    assert "cannot be told apart: +0.0 points [" in tied.sentence
    assert tied.low is not None
    assert tied.low < 0
    few = pool("alpha", "beta", {"s": Stratum(right, wrong, ["x"] * 40)})
    assert (few.low, few.left_out) == (None, ("s",))
    assert "cannot be compared" in few.sentence


def test_several_pairs_are_corrected() -> None:
    found = pool("a", "b", {"s": Stratum([1.0] * 30 + [0.0] * 30, [0.0] * 60, range(60))})
    assert found.is_decided
    assert not replace(found, holm=0.06).is_decided
    assert "after Holm's correction" in replace(found, holm=0.06).sentence
