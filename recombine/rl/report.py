"""The page of a run: the curve, the tests, the mistakes by kind as in the paper, and filmstrips of what the policy did."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from recombine.charts import bars, curves, legend
from recombine.families.lilgym.play.episodes import Instances, Setting
from recombine.pages import page, table
from recombine.rl.play import Episode, filmstrip

STRIPS = 4
"""Filmstrips of solved episodes, and of each kind of mistake, at most."""


def mistake_lines(measured: Mapping[str, Any]) -> list[str]:
    """The error analysis of one test in words, as the paper's section 4 gives it."""
    shares, kinds = measured["mistakes"], measured["invalid"]
    wrong = sum(measured["errors"].values())
    if not wrong:
        return ["no mistakes"]
    rest = f"{shares['stopped_early']:.0%} early stops, {shares['never_stopped']:.0%} ran into the horizon"
    lines = [f"of {wrong} mistakes: {shares['invalid']:.0%} invalid actions, {rest}"]
    if shares["invalid"]:
        parts = ", ".join(f"{share:.0%} {name.replace('_', ' ')}" for name, share in kinds.items())
        lines.append(f"of the invalid actions: {parts}")
    return lines


def report_page(
    description: Mapping[str, Any],
    result: Mapping[str, Any],
    history: Sequence[Mapping[str, Any]],
    measured: Mapping[str, Mapping[str, Any]],
    played: Mapping[str, tuple[Instances, Sequence[Episode]]],
    setting: Setting,
) -> str:
    """The whole page."""
    title = f"PPO on {description['env']} with the {description['policy']} policy"
    body = [f"<h1>{escape(title)}</h1>"]
    forced = {"none": "no stop forcing", "relabel": "stop forcing (relabelled)", "imitate": "stop forcing (imitation loss)"}
    source = "published statements" if description["files"] else "embedded statements"
    body.append(
        f"<p>{result['steps']:,} steps, {forced[description['forcing']]}, {source}; {result['seconds']:,.0f} s "
        f"({result['cpu_seconds']:,.0f} s of CPU). Best validation accuracy {100 * result['best']:.1f} % after period "
        f"{result['best_period']}; {escape(result['stopped'])}. Tests are greedy and never forced.</p>"
    )
    rows = [
        (name, m["episodes"], f"{100 * m['accuracy']:.2f}", f"{m['reward']:.3f}", f"{m['length']:.1f}")
        for name, m in measured.items()
    ]
    body.append(table(["test", "episodes", "accuracy, %", "mean reward", "mean length"], rows))
    for name, m in measured.items():
        body.append(f"<h3>Mistakes on {escape(name)}</h3><p>{'<br>'.join(escape(line) for line in mistake_lines(m))}</p>")
        body.append(bars(f"mistakes, {name}", {kind.replace("_", " "): float(count) for kind, count in m["errors"].items()}))
    points = {
        shown: [(r["steps"] / 1000, r[key], r[key], r[key]) for r in history]
        for shown, key in (("validation", "validation"), ("training, unforced", "accuracy"))
    }
    if history:
        body.append(f"<h2>Training</h2><div>{legend(list(points))}</div>" + curves("accuracy", points, across="thousand steps"))
    body.append("<h2>Episodes</h2>")
    for name, (instances, episodes) in played.items():
        for episode in _chosen(episodes):
            body.append(_figure(name, instances, setting, episode))
    settings = [(key, value) for key, value in description.items()]
    body.append("<h2>Settings</h2>" + table(["name", "value"], settings))
    return page(title, "".join(body))


def _chosen(episodes: Sequence[Episode]) -> list[Episode]:
    """A few of each outcome, the first ones; solved ones by falling length, since one edit says little."""
    by_error: dict[str, list[Episode]] = {}
    for episode in sorted(episodes, key=lambda e: (-len(e.actions), e.row) if not e.error else (0, e.row)):
        by_error.setdefault(episode.error, []).append(episode)
    return [episode for error in sorted(by_error) for episode in by_error[error][: STRIPS if not error else 2]]


def _figure(test: str, instances: Instances, setting: Setting, episode: Episode) -> str:
    picture = base64.b64encode(filmstrip(instances, setting, episode)).decode()
    what = episode.error.replace("_", " ") or "solved"
    kind = "bad" if episode.error else "ok"
    said = escape(instances.sentences[episode.row])
    return (
        f"<div class='card'><p><span class='{kind}'>{what}</span> <code>{escape(test)} {escape(instances.ids[episode.row])}</code>"
        f"<br>{said}</p><img alt='{said}' src='data:image/png;base64,{picture}'></div>"
    )
