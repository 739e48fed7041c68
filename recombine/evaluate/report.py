"""The report: one HTML file that needs no network, and the same findings as Markdown and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recombine.evaluate.answerers import SHORTCUT
from recombine.evaluate.contents import rule_table, told_p
from recombine.evaluate.evaluate import Evaluation
from recombine.evaluate.findings import findings
from recombine.evaluate.page import EXAMPLES, to_html
from recombine.evaluate.verdict import coverage_lines, verdict
from recombine.files import write_json, write_text


def write_report(
    evaluation: Evaluation,
    out: str | Path,
    title: str = "Evaluation",
    *,
    examples: int = EXAMPLES,
    command: str = "",
    found: Mapping[str, Any] | None = None,
) -> Path:
    """Write index.html, report.md and report.json into a folder; returns the page's path.

    The page holds at most `examples` examples. `command` is what made the report; the footer shows it.
    `found` are the evaluation's findings, if the caller has them already.
    """
    found, folder = findings(evaluation) if found is None else found, Path(out) if isinstance(out, str) else out
    write_json(folder / "report.json", found)
    write_text(folder / "report.md", to_markdown(found, title))
    write_text(folder / "index.html", to_html(evaluation, found, title, examples=examples, command=command))
    return folder / "index.html"


# --- Markdown --------------------------------------------------------------------------------------------------------


def to_markdown(found: Mapping[str, Any], title: str) -> str:
    """The headline and the named mistakes, for people who paste."""
    partial = [line for sentence in coverage_lines(found) for line in (f"**{_plain(sentence)}**", "")]
    told = [line for sentence in verdict(found) for line in (_plain(sentence), "")]
    lines = [f"# {title}", "", *partial, *told, "| set | answerer | accuracy | rows | clusters |", "|---|---|---|---:|---:|"]
    for key, part in found["parts"].items():
        for name, run in _ordered(part["runs"], found["baselines"]):
            a = run["accuracy"]
            lines.append(f"| {key} | {_plain(name)} | {a['text']} | {a['rows']:,} | {a['clusters']:,} |")
    header, rules = rule_table(found)
    if rules:
        told = [f"| {' | '.join(map(_plain, row))} |" for row in (header, *rules)]
        lines += ["", "## Rule or cases", "", told[0], "|---|---|---|---|", *told[1:]]
    mistakes = [
        f"- {key}, {_plain(name)}: {run['mistakes'][0]['sentence']}."
        for key, part in found["parts"].items()
        for name, run in part["runs"].items()
        if run["mistakes"] and name not in found["baselines"]
    ]
    compared = [
        f"- {c['part']}: {_plain(c['a'])} − {_plain(c['b'])} = {100 * c['difference']:+.1f} points (Holm p {told_p(c['holm'])})."
        for c in found["comparisons"]
    ]
    for title, listed in (("Named mistakes", mistakes), ("Comparisons", compared)):
        lines += ["", f"## {title}", "", *listed] if listed else []
    return "\n".join([*lines, ""])


def _ordered(runs: Mapping[str, Any], baselines: Sequence[str]) -> list[tuple[str, Any]]:
    """Given runs first, then baselines, the best first; shortcut readers are cut to the five best."""
    given = [(n, r) for n, r in runs.items() if n not in baselines]
    runs = {n: r for n, r in runs.items() if not (n.startswith(SHORTCUT) and r["accuracy"]["mean"] == 1)}
    built = sorted(((n, r) for n, r in runs.items() if n in baselines), key=lambda pair: -pair[1]["accuracy"]["mean"])
    plain = [pair for pair in built if not pair[0].startswith(SHORTCUT)]
    readers = [pair for pair in built if pair[0].startswith(SHORTCUT)][:5]
    return given + plain + readers


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
