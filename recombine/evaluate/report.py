"""The report: one HTML file that needs no network, and the same findings as Markdown and JSON.

Answers are hostile input: everything that a model wrote is escaped, and the page's policy forbids scripts.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, get_args

from recombine import charts
from recombine.core import Axis, Example
from recombine.evaluate.answerers import ANSWERERS, MADE_UP, SHORTCUT
from recombine.evaluate.evaluate import Evaluation, findings
from recombine.evaluate.scoring import Record, Run
from recombine.files import write_json, write_text
from recombine.pages import page, table

EXAMPLES_PER_PART = 4
PLAIN = tuple(name for name in ANSWERERS if name not in ("oracle", MADE_UP))
"""Built-in answerers that stand in the headline: what a model must beat."""
LONGEST_SHOWN = 600


def write_report(evaluation: Evaluation, out: Path, title: str = "Evaluation") -> Path:
    """Write index.html, report.md and report.json into a folder; returns the page's path."""
    found = findings(evaluation)
    write_json(out / "report.json", found)
    write_text(out / "report.md", to_markdown(found, title))
    write_text(out / "index.html", to_html(evaluation, found, title))
    return out / "index.html"


def coverage_lines(found: Mapping[str, Any]) -> list[str]:
    """A sentence for every run that leaves rows unanswered: what was answered, and how well."""
    return [
        f"{name} on {key}: {run['coverage']}; {run['accuracy_of_answered']['mean']:.1%} of those are right."
        for key, part in found["parts"].items()
        for name, run in part["runs"].items()
        if run["coverage"]
    ]


# --- HTML ------------------------------------------------------------------------------------------------------------


def to_html(evaluation: Evaluation, found: Mapping[str, Any], title: str) -> str:
    """The whole page."""
    body = [f"<h1>{escape(title)}</h1>", _intro(found), "<h2>Accuracy</h2>", _headline(found)]
    body += [_profile(found), _gaps(found), _comparisons(found)]
    for key in evaluation.parts():
        body.append(_part(evaluation, found["parts"][key], key))
    return page(title, "".join(body))


def _intro(found: Mapping[str, Any]) -> str:
    prints = "".join(
        f"<li><code>{escape(Path(path).name)}</code> fingerprint <code>{escape(mark)}</code></li>"
        for path, mark in found["data"].items()
    )
    partial = "".join(f"<p class='bad'>{escape(line)}</p>" for line in coverage_lines(found))
    return partial + (
        f"<p>Strict accuracy: whatever is no right answer counts as wrong. Intervals are 95 % and take the clusters (rows that share a "
        f"context) into account. {escape(found['package'])}.</p><ul>{prints}</ul>"
    )


def _headline(found: Mapping[str, Any]) -> str:
    """One row a set: the given runs, what they must beat, and what the papers printed."""
    baselines = found["baselines"]
    given = list(dict.fromkeys(n for part in found["parts"].values() for n in part["runs"] if n not in baselines))
    plain = [name for name in PLAIN if any(name in part["runs"] for part in found["parts"].values())]
    rows = []
    for key, part in found["parts"].items():
        runs = part["runs"]
        cells = [runs[name]["accuracy"]["text"] if name in runs else "—" for name in (*given, *plain)]
        readers = [(r["accuracy"]["mean"], n) for n, r in runs.items() if n.startswith(SHORTCUT) and r["accuracy"]["mean"] < 1]
        best = "{:.1%} {}".format(*max(readers)).replace(SHORTCUT, "") if readers else "—"
        size = next(iter(runs.values()))["accuracy"]
        effect = max(r["accuracy"]["design_effect"] for r in runs.values())
        rows.append((key, *cells, best, f"{size['rows']:,} in {size['clusters']:,}", f"{effect:.1f}"))
    header = ("set", *given, *plain, "best shortcut reader", "rows in clusters", "design effect")
    printed = [(key, p["model"], _printed(p), p["source"]) for key, part in found["parts"].items() for p in part["published"]]
    beside = "<h3>Published on comparable sets</h3>" + table(("set", "model", "accuracy", "where"), printed) if printed else ""
    return table(header, rows) + beside


def _printed(value: Mapping[str, Any]) -> str:
    return f"{value['accuracy']:g}%" + (f" ± {value['deviation']:g}" if value["deviation"] is not None else "")


def _ordered(runs: Mapping[str, Any], baselines: Sequence[str]) -> list[tuple[str, Any]]:
    """Given runs first, then baselines, the best first; shortcut readers are cut to the five best."""
    given = [(n, r) for n, r in runs.items() if n not in baselines]
    runs = {n: r for n, r in runs.items() if not (n.startswith(SHORTCUT) and r["accuracy"]["mean"] == 1)}
    built = sorted(((n, r) for n, r in runs.items() if n in baselines), key=lambda pair: -pair[1]["accuracy"]["mean"])
    plain = [pair for pair in built if not pair[0].startswith(SHORTCUT)]
    readers = [pair for pair in built if pair[0].startswith(SHORTCUT)][:5]
    return given + plain + readers


def _profile(found: Mapping[str, Any]) -> str:
    """A table whose cells are tinted by accuracy: one row an answerer, one column an axis."""
    axes = [axis for axis in get_args(Axis) if any(axis in run for run in found["profile"].values())]
    if not axes:
        return ""
    head = "".join(f"<th>{escape(axis)}</th>" for axis in axes)
    rows = []
    for name, run in found["profile"].items():
        if not name.startswith(SHORTCUT):
            cells = "".join(_tinted(run.get(axis)) for axis in axes)
            rows.append(f"<tr><td>{escape(name)}</td>{cells}</tr>")
    shown = (
        f"<div class='wide'><table><thead><tr><th>answerer</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
    return f"<h2>Systematicity profile</h2><p>Accuracy by what is asked of the model, over all families.</p>{shown}"


def _tinted(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return "<td class='soft'>—</td>"
    return f"<td style='background:rgba(37,99,235,{0.05 + 0.45 * cell['mean']:.2f})'>{escape(cell['text'])}</td>"


def _gaps(found: Mapping[str, Any]) -> str:
    rows = [
        (g["run"], g["known"], g["held_out"], f"{100 * g['gap']:+.1f}")
        for g in found["gaps"]
        if not g["run"].startswith(SHORTCUT)
    ]
    if not rows:
        return ""
    return "<h2>Known and new</h2><p>Accuracy on known combinations minus accuracy on held-out ones, in points.</p>" + table(
        ("answerer", "known", "held out", "gap"), rows
    )


def _comparisons(found: Mapping[str, Any]) -> str:
    rows = []
    for c in found["comparisons"]:
        span = (
            f"[{100 * c['low']:+.1f}, {100 * c['high']:+.1f}]" if c["low"] is not None else f"too few clusters: {c['clusters']}"
        )
        verdict = "tied" if c["holm"] >= 0.05 else f"{c['a'] if c['difference'] > 0 else c['b']} is better"
        rows.append(
            (
                c["part"],
                c["a"],
                c["b"],
                f"{100 * c['difference']:+.1f}",
                span,
                f"{c['only_a']} / {c['only_b']}",
                f"{c['decisive_p']:.3g} ({c['decided_by']})",
                f"{c['holm']:.3g}",
                verdict,
            )
        )
    if not rows:
        return ""
    header = ("set", "a", "b", "a − b", "95 %", "only a / only b right", "p", "Holm p", "")
    return (
        "<h2>Comparison</h2><p>Paired, on the same rows. Holm's correction over the sets decides; it takes the p shown beside it.</p>"
        + table(header, rows)
    )


def _part(evaluation: Evaluation, found: Mapping[str, Any], key: str) -> str:
    body = [f"<h2 id='{escape(key, quote=True)}'>{escape(key)}</h2>"]
    runs = evaluation.of(key)
    family = runs[0].examples[0].family
    body.append(f"<p>{escape(family.SPLITS[runs[0].split].claim)}</p>")
    pictures = _curves(found)
    shares = {n: r["accuracy"]["mean"] * 100 for n, r in _ordered(found["runs"], sorted(evaluation.baselines))}
    body.append(f"<div class='all'><figure>{charts.bars('accuracy, %', shares)}</figure>{pictures}</div>")
    for run in runs:
        if run.name not in evaluation.baselines:
            body.append(_run_section(run, found["runs"][run.name]))
    body.append(_examples(next((r for r in runs if r.name not in evaluation.baselines), runs[0])))
    return "".join(body)


def _curves(found: Mapping[str, Any]) -> str:
    dials = list(dict.fromkeys(d for run in found["runs"].values() for d in run["curves"]))
    figures = []
    for dial in dials:
        series = {}
        for name, run in found["runs"].items():
            points = run["curves"].get(dial, [])
            if len(points) > 1 and not name.startswith(SHORTCUT) and name not in ("oracle",):
                series[name] = [
                    (
                        p["at"],
                        p["mean"],
                        p["low"] if p["low"] is not None else p["mean"],
                        p["high"] if p["high"] is not None else p["mean"],
                    )
                    for p in points
                ]
        if series:
            shown = dict(list(series.items())[:6])
            legend = " ".join(
                f"<span style='color:{charts.COLORS[i % 8]}'>■</span> {escape(name)}" for i, name in enumerate(shown)
            )
            figures.append(
                f"<figure>{charts.curves(dial, shown, across=dial)}<figcaption class='soft'>{legend}</figcaption></figure>"
            )
    return "".join(figures)


def _run_section(run: Run, found: Mapping[str, Any]) -> str:
    body = [f"<h3>{escape(run.name)}</h3>"]
    body.append(table(("status", "examples"), [(status, f"{count:,}") for status, count in found["statuses"].items()]))
    if found["details"]:
        body.append(table(("also measured", "mean"), [(name, f"{value:.3f}") for name, value in found["details"].items()]))
    thresholds = []
    for dial, t in found["thresholds"].items():
        known = f"{t['value']:.1f} [{t['low']:.1f}, {t['high']:.1f}]" if t["value"] is not None else f"none: {t['reason']}"
        thresholds.append((dial, known))
    if thresholds:
        body.append(table(("dial", "half of the answers are right at"), thresholds))
    mistakes = found["mistakes"]
    if mistakes:
        body.append("<p><b>" + escape(mistakes[0]["sentence"]) + ".</b></p>")
        body.append(charts.bars("errors by reader, %", {m["name"]: 100 * m["share"] for m in mistakes}, most=10))
        rows = [
            (m["name"], m["reader"], f"{m['share']:.1%} [{100 * m['low']:.1f}, {100 * m['high']:.1f}]", f"{m['chance']:.1%}")
            for m in mistakes
        ]
        body.append(table(("reader", "who", "share of the errors", "by chance"), rows))
    return "".join(body)


def _examples(run: Run) -> str:
    """A few examples with picture, proof, answer and verdict: wrong ones first."""
    order = sorted(range(len(run.records)), key=lambda i: (run.records[i].status == "right", i))[:EXAMPLES_PER_PART]
    return "<h3>Examples</h3>" + "".join(_example(run.examples[i], run.records[i], run.name) for i in order)


def _example(example: Example, record: Record, name: str) -> str:
    verdict = f"<span class='{'ok' if record.value == 1 else 'bad'}'>{escape(record.status)}</span>"
    said = escape((record.answer or "no answer")[:LONGEST_SHOWN])
    named = f" <span class='soft'>({escape(', '.join(record.mistakes))})</span>" if record.mistakes else ""
    steps = "".join(f"<li>{escape(step)}</li>" for step in example.explain().steps)
    return (
        f"<div class='card'><code>{escape(example.id)}</code><div>{_picture(example)}</div><pre>{escape(str(example.render('text')))}</pre>"
        f"<p>Right answer: <b>{escape(example.answer[:LONGEST_SHOWN])}</b></p><p>{escape(name)}: {said} — {verdict}{named}</p>"
        f"<details><summary>Proof</summary><ol>{steps}</ol></details></div>"
    )


def _picture(example: Example) -> str:
    """A picture of the question: PNG where the family draws one (small and safe to inline), else SVG of its own making."""
    media = example.family.MEDIA
    if "svg" in media:
        return str(example.render("svg"))
    if "png" in media:
        raw = example.render("png")
        coded = base64.b64encode(raw if isinstance(raw, bytes) else raw.encode()).decode()
        return f"<img alt='' src='data:image/png;base64,{coded}'>"
    return ""


# --- Markdown --------------------------------------------------------------------------------------------------------


def to_markdown(found: Mapping[str, Any], title: str) -> str:
    """The headline and the named mistakes, for people who paste."""
    partial = [line for sentence in coverage_lines(found) for line in (f"**{_plain(sentence)}**", "")]
    lines = [f"# {title}", "", *partial, "| set | answerer | accuracy | rows | clusters |", "|---|---|---|---:|---:|"]
    for key, part in found["parts"].items():
        for name, run in _ordered(part["runs"], found["baselines"]):
            a = run["accuracy"]
            lines.append(f"| {key} | {_plain(name)} | {a['text']} | {a['rows']:,} | {a['clusters']:,} |")
    lines += ["", "## Named mistakes", ""]
    for key, part in found["parts"].items():
        for name, run in part["runs"].items():
            if run["mistakes"] and name not in found["baselines"]:
                lines.append(f"- {key}, {_plain(name)}: {run['mistakes'][0]['sentence']}.")
    for c in found["comparisons"]:
        lines.append(
            f"- {c['part']}: {_plain(c['a'])} − {_plain(c['b'])} = {100 * c['difference']:+.1f} points (Holm p = {c['holm']:.3g})."
        )
    return "\n".join([*lines, ""])


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
