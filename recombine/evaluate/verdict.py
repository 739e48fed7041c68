"""The findings in a few sentences: which run is ahead, how good a run is, and its most frequent mistake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recombine.evaluate.answerers import ANSWERERS, MADE_UP

PLAIN = tuple(name for name in ANSWERERS if name not in ("oracle", MADE_UP))
"""Built-in answerers that a model must beat."""


def coverage_lines(found: Mapping[str, Any]) -> list[str]:
    """Which rows are scored, if not all; which answers are not; who acted; a sentence for every run that leaves rows unanswered."""
    chosen = [f"Only rows that fit: {found['where']}."] if found["where"] else []
    acted = dict.fromkeys(name for part in found["parts"].values() for name, run in part["runs"].items() if run["acted"])
    if acted:
        chosen.append(
            f"{', '.join(acted)} acted turn by turn: a solved episode is right, whatever way it took. Runs that answered at once "
            "must give the exact answer, so their figures are not of the same task."
        )
    for name, sets in found["unscored"].items():
        chosen.append(f"{name}: its answers to {sum(sets.values()):,} rows of other sets are not scored ({', '.join(sets)}).")
    for name, sets in found["absent"].items():
        chosen.append(f"{name} answers no row of {', '.join(sets)}, so it is left out there.")
    return chosen + [
        f"{name} on {key}: {run['coverage']}; {run['accuracy_of_answered']['mean']:.1%} of those are right."
        for key, part in found["parts"].items()
        for name, run in part["runs"].items()
        if run["coverage"]
    ]


def given_runs(found: Mapping[str, Any]) -> list[str]:
    """The names of the runs that were given, the best first. Baselines are not among them."""
    names = dict.fromkeys(n for part in found["parts"].values() for n in part["runs"] if n not in found["baselines"])
    return sorted(names, key=lambda name: -_mean(found, name)[0])


def verdict(found: Mapping[str, Any]) -> list[str]:
    """One to four sentences; the first is the headline."""
    runs = given_runs(found)
    if not runs:
        return ["These are baselines; no model was evaluated."]
    if len(runs) == 1:
        return [_alone(found, runs[0]), *_worst(found, runs[0])]
    leader = runs[0]
    pooled = [item for item in found["pooled"] if leader in (item["a"], item["b"])]
    against = {item["b"] if item["a"] == leader else item["a"]: item for item in pooled}
    sentences = [f"{against[name]['sentence']}." for name in runs[1:] if name in against]
    left_out = sorted({key for item in pooled for key in item["left_out"]})
    if left_out:
        sentences.append(f"Left out, because they have too few clusters: {', '.join(left_out)}.")
    if not sentences:
        sentences.append(f"{', '.join(runs)} answered no set in common, so they cannot be compared.")
    return [*sentences, *_worst(found, leader)]


def _mean(found: Mapping[str, Any], name: str) -> tuple[float, int]:
    """A run's mean accuracy over its sets, and how many sets it has."""
    means = [part["runs"][name]["accuracy"]["mean"] for part in found["parts"].values() if name in part["runs"]]
    return (sum(means) / len(means) if means else 0.0), len(means)


def _alone(found: Mapping[str, Any], name: str) -> str:
    mean, sets = _mean(found, name)
    parts = [part["runs"] for part in found["parts"].values() if name in part["runs"]]
    if sets == 1:
        said = f"{name} answers {parts[0][name]['accuracy']['text']} of the rows right"
    else:
        figures = [runs[name]["accuracy"]["mean"] for runs in parts]
        said = f"{name} answers {mean:.1%} right on average over {sets} sets, from {min(figures):.1%} to {max(figures):.1%}"
    compared = [runs for runs in parts if any(plain in runs for plain in PLAIN)]
    if not compared:
        return f"{said}."
    judged = [runs for runs in compared if runs[name]["accuracy"]["low"] is not None]
    few = len(compared) - len(judged)
    if not judged:
        return f"{said}. Too few clusters for an interval, so nothing is said against the simple baselines."
    won = sum(_beats(runs, name) for runs in judged)
    left = f" {_sets(few)} {'has' if few == 1 else 'have'} too few clusters for an interval." if few else ""
    return f"{said}. Its interval lies above every simple baseline (careless readers apart) in {won} of {_sets(len(judged))}.{left}"


def _sets(count: int) -> str:
    return f"{count} {'set' if count == 1 else 'sets'}"


def _beats(runs: Mapping[str, Any], name: str) -> bool:
    """Whether the run's mean and the low end of its interval lie above the mean of every simple baseline."""
    mean, low = runs[name]["accuracy"]["mean"], runs[name]["accuracy"]["low"]
    baselines = [runs[plain]["accuracy"]["mean"] for plain in PLAIN if plain in runs]
    return low is not None and all(low > baseline and mean > baseline for baseline in baselines)


def _worst(found: Mapping[str, Any], name: str) -> list[str]:
    """The mistake that names most of a run's errors in one set, if it stands above chance."""
    named = [
        (mistake["errors"], key, mistake)
        for key, part in found["parts"].items()
        if name in part["runs"]
        for mistake in part["runs"][name]["mistakes"]
        if mistake["above_chance"]
    ]
    if not named:
        return []
    _, key, mistake = max(named, key=lambda item: item[0])
    return [f"{name} on {key}: {mistake['sentence']}."]
