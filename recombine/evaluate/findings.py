"""The findings of an evaluation as one plain value, ready for JSON: everything that the report says."""

from __future__ import annotations

from typing import Any

from recombine import __version__
from recombine.evaluate.answerers import SHORTCUT
from recombine.evaluate.dials import joined_curves
from recombine.evaluate.evaluate import Evaluation
from recombine.evaluate.published import published
from recombine.evaluate.scoring import Run
from recombine.evaluate.statistics import Interval, holm, interval, tied_groups


def findings(evaluation: Evaluation) -> dict[str, Any]:
    """Everything the report says, ready for JSON."""
    return {
        "package": f"recombine {__version__}",
        "data": dict(evaluation.sources),
        "where": evaluation.where,
        "baselines": sorted(evaluation.baselines),
        "unscored": {name: dict(sets) for name, sets in evaluation.unscored.items()},
        "absent": {name: list(sets) for name, sets in evaluation.absent.items()},
        "parts": {key: _part_findings(evaluation, key) for key in evaluation.parts()},
        "comparisons": _comparison_findings(evaluation),
        "pooled": _pooled_findings(evaluation),
        "dials": _dial_findings(evaluation),
        "profile": profile(evaluation),
        "gaps": gaps(evaluation),
    }


def _interval(found: Interval) -> dict[str, Any]:
    return {
        "mean": found.mean,
        "low": found.low,
        "high": found.high,
        "rows": found.rows,
        "clusters": found.clusters,
        "design_effect": found.design_effect,
        "intra_cluster_correlation": found.correlation,
        "text": found.text,
    }


def _part_findings(evaluation: Evaluation, key: str) -> dict[str, Any]:
    family, split, part = key.split("/")
    runs = {}
    for run in evaluation.of(key):
        mistakes = evaluation.mistakes.get((run.name, key), [])
        runs[run.name] = {
            "asked": run.asked or len(run.records),
            "answered": run.answered,
            "coverage": run.coverage,
            "acted": run.is_acted,
            "rule": run.rule,
            "accuracy": _interval(run.accuracy()),
            "accuracy_of_answered": _interval(run.answered_accuracy()),
            "statuses": run.statuses(),
            "details": run.details(),
            "curves": {d: [{"at": x, **_interval(i)} for x, i in run.curve(d)] for d in _dials(run)},
            "thresholds": {d: vars(run.threshold(d)) for d in _dials(run)},
            "mistakes": [{**vars(m), "sentence": m.sentence, "above_chance": m.is_above_chance} for m in mistakes],
        }
    printed = [vars(p) | {"text": p.text} for p in published(family, split, part, evaluation.recipes.get(key, ""))]
    return {"recipe": evaluation.recipes.get(key, ""), "published": printed, "runs": runs}


def _dial_findings(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Accuracy along each dial of a family, joined over its sets. Shortcut readers and the oracle are left out."""
    drawn = [run for run in evaluation.runs if not run.name.startswith(SHORTCUT) and run.name != "oracle"]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for curve in joined_curves(drawn):
        item = found.setdefault(
            (curve.family, curve.dial), {"family": curve.family, "dial": curve.dial, "sets": [], "runs": {}}
        )
        item["sets"] = list(dict.fromkeys([*item["sets"], *curve.keys]))
        points = [{"at": x, **_interval(i)} for x, i in curve.points]
        item["runs"][curve.run] = {"points": points, "threshold": vars(curve.threshold)}
    return list(found.values())


def _dials(run: Run) -> list[str]:
    return list(run.records[0].dials) if run.records else []


def _comparison_findings(evaluation: Evaluation) -> list[dict[str, Any]]:
    found = []
    for (a, b), by_part in evaluation.comparisons().items():
        p_values = {key: c.p if c.p is not None else c.mcnemar for key, c in by_part.items()}
        adjusted = holm(p_values)  # over the sets
        for key, comparison in by_part.items():
            means = {run.name: run.accuracy().mean for run in evaluation.of(key) if run.name in (a, b)}
            ties = tied_groups(means, {(a, b): adjusted[key]})
            found.append(
                {
                    "a": a,
                    "b": b,
                    "part": key,
                    **vars(comparison),
                    "decided_by": "clustered t" if comparison.p is not None else "McNemar",
                    "decisive_p": p_values[key],
                    "holm": adjusted[key],
                    "groups": ties,
                }
            )
    return found


def _pooled_findings(evaluation: Evaluation) -> list[dict[str, Any]]:
    return [{**vars(item), "sentence": item.sentence, "decided": item.is_decided} for item in evaluation.pooled()]


def profile(evaluation: Evaluation) -> dict[str, dict[str, Any]]:
    """The systematicity profile: for each run, accuracy on each axis over all families' held-out sets."""
    found: dict[str, dict[str, Any]] = {}
    for name in evaluation.names():
        by_axis: dict[str, list[Run]] = {}
        for run in evaluation.runs:
            if run.name == name and run.part != "validation":
                by_axis.setdefault(run.axis, []).append(run)
        found[name] = {}
        for axis, runs in sorted(by_axis.items()):
            values = [value for run in runs for value in run.values]
            clusters = [f"{run.key}:{cluster}" for run in runs for cluster in run.clusters]
            found[name][axis] = {**_interval(interval(values, clusters)), "sets": [run.key for run in runs]}
    return found


def gaps(evaluation: Evaluation) -> list[dict[str, Any]]:
    """In-distribution minus held-out accuracy, where a run covers both for one family."""
    found = []
    for name in evaluation.names():
        by_family: dict[str, list[Run]] = {}
        for run in evaluation.runs:
            if run.name == name:
                by_family.setdefault(run.family, []).append(run)
        for family, runs in by_family.items():
            known = [run for run in runs if run.axis == "random" or run.part == "validation"]
            for run in runs:
                if run not in known and known:
                    inside = known[0].accuracy()
                    found.append(
                        {
                            "run": name,
                            "family": family,
                            "known": known[0].key,
                            "held_out": run.key,
                            "gap": inside.mean - run.accuracy().mean,
                        }
                    )
    return found
