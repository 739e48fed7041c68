"""The report as one HTML page: the verdict first, charts before tables, details folded, examples to filter.

Answers are hostile input. Everything that a model wrote is escaped, and the page's policy lets one script run: its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from html import escape
from pathlib import Path
from typing import Any, get_args

from recombine import charts
from recombine.core import Axis
from recombine.evaluate.answerers import SHORTCUT
from recombine.evaluate.contents import (
    MOST_LINES,
    Cell,
    MistakeMap,
    accuracy_rows,
    accuracy_table,
    comparison_table,
    dial_series,
    drawn_runs,
    gap_table,
    known_rows,
    mistake_maps,
    published_table,
    rule_table,
    short,
)
from recombine.evaluate.evaluate import Evaluation
from recombine.evaluate.gallery import Shown, choose, packed, slug, static_cards
from recombine.evaluate.scoring import Run
from recombine.evaluate.script import SCRIPT
from recombine.evaluate.verdict import coverage_lines, given_runs, verdict
from recombine.pages import page, table

EXAMPLES = 200
"""Examples in a page unless the caller says otherwise."""
STYLE = """
body{max-width:80rem;padding:1.2rem clamp(.8rem,2.5vw,2rem)}
.layout{display:grid;grid-template-columns:11rem minmax(0,1fr);gap:2.5rem}
nav{position:sticky;top:1rem;align-self:start;font-size:.9rem;max-height:calc(100vh - 2rem);overflow-y:auto}
nav a{display:block;padding:.3rem .2rem;text-decoration:none;color:var(--soft)}nav a:hover{color:var(--ink);text-decoration:underline}
.verdict{font-size:clamp(1.15rem,2.4vw,1.6rem);line-height:1.35;margin:1rem 0 .6rem;max-width:38em}
.key{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;font-size:.88rem;color:var(--soft);margin:.4rem 0;padding:0;list-style:none}
.key svg{vertical-align:-2px;margin-right:.35rem}
.chart svg{display:block;width:100%;max-width:60rem}.chart .narrow{display:none}
.multi{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(15.5rem,100%),1fr));gap:1rem}.multi svg{width:100%}.multi figcaption{font-size:.85rem;color:var(--soft)}
.heat caption{text-align:left}.heat td{text-align:center;vertical-align:middle;white-space:nowrap}.heat td a{color:inherit;display:block}.heat th{vertical-align:bottom}.heat tbody th{min-width:11.5rem;overflow-wrap:normal;font-weight:500}.heat thead th{max-width:8.5rem;overflow-wrap:break-word;font-weight:500}
.ex{display:grid;grid-template-columns:minmax(0,15rem) minmax(0,1fr);gap:1.2rem}.ex>div:only-child{grid-column:1/-1}
.world img{background:#fff;border-radius:.3rem;max-height:24rem}.answer{font:.9rem/1.5 ui-monospace,monospace;margin:.1rem 0 .6rem}.ex p.small{margin:.5rem 0 0}
.tag{display:inline-block;border:1px solid var(--line);border-radius:1rem;padding:0 .6rem;margin-left:.4rem;font-size:.82rem}.tag.ok,.tag.bad{border-color:currentColor}
mark{background:color-mix(in srgb,var(--bad) 24%,transparent);color:inherit;border-radius:3px;padding:0 .15em}
.filters{display:flex;flex-wrap:wrap;gap:.6rem 1rem}.filters label{font-size:.85rem;color:var(--soft);max-width:100%}
.filters select,button{display:block;font:inherit;font-size:.92rem;max-width:min(22rem,86vw);padding:.35rem .5rem;border:1px solid var(--soft);border-radius:.4rem;background:var(--card);color:var(--ink)}
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.8rem;font-size:.85rem;color:var(--soft)}.skip{position:absolute;left:-99rem}.skip:focus{left:1rem}
[hidden]{display:none!important}
@media (max-width:56rem){.layout{display:block}nav{position:sticky;top:0;z-index:1;background:var(--bg);display:flex;overflow-x:auto;gap:.9rem;white-space:nowrap;border-bottom:1px solid var(--line);padding:.2rem 0}html{scroll-padding-top:3.2rem}
.heat thead th{writing-mode:vertical-rl;max-width:none;white-space:nowrap}.heat td,.heat th{padding:.25rem .4rem}}
@media (max-width:40rem){.ex{grid-template-columns:1fr}.chart .broad{display:none}.chart .narrow{display:block}.heat table{font-size:.7rem;line-height:1.35}.heat tbody th{min-width:4.2rem;max-width:5.1rem;overflow-wrap:break-word}.heat td{padding:.2rem .1rem}.heat th{padding:.2rem .1rem}.card.chart,.card:has(.heat){padding:.6rem}}
@page{margin:12mm}
@media print{nav,.screen,#examples{display:none}.layout{display:block}body{max-width:none;padding:0}.wide{overflow:visible}.chart svg{max-height:225mm}.card.chart{break-inside:auto}.block,tr{break-inside:avoid}.chart .broad{display:block}.chart .narrow{display:none}
p{break-inside:avoid}h2,h2+p,.key{break-after:avoid}details:not([open]):not(.card){display:none}details.card{border:0;padding:0;margin:.15rem 0}
.heat table{font-size:7.5pt}.heat td,.heat th{padding:.12rem .2rem}.heat td{print-color-adjust:exact}.heat thead th{writing-mode:vertical-rl;max-width:none;white-space:nowrap;vertical-align:bottom}.heat tbody th{overflow-wrap:break-word;min-width:6rem}
.wide table:not(.heat table){font-size:8pt}.wide td,.wide th{padding:.15rem .3rem;white-space:normal;overflow-wrap:anywhere}.wide td:first-child,.wide th:first-child{overflow-wrap:break-word;min-width:4.5rem}}
"""


def to_html(
    evaluation: Evaluation, found: Mapping[str, Any], title: str, *, examples: int = EXAMPLES, command: str = ""
) -> str:
    """The whole page with at most `examples` examples; `command` is what made it, for the footer."""
    shown = choose(evaluation, examples)
    held = {(i.key, run, mistake) for i in shown for run, record in i.records.items() for mistake in record.mistakes}
    sections = [
        ("verdict", "Verdict", _verdict(found, title)),
        ("accuracy", "Accuracy", _accuracy(found)),
        ("rules", "Rule or cases", _rules(found)),
        ("mistakes", "Mistakes", _mistakes(found, held)),
        ("dials", "Where it breaks", _dials(found)),
        ("known", "Known and new", _known(found)),
        ("profile", "Profile", _profile(found)),
        ("comparison", "Comparison", _comparisons(found)),
        ("examples", "Examples", _examples(evaluation, found, shown)),
        ("details", "Details per set", _details(evaluation, found)),
        ("made", "How this was made", _footer(found, command)),
    ]
    kept = [section for section in sections if section[2]]
    links = "".join(f"<a href='#{anchor}'>{escape(name)}</a>" for anchor, name, _ in kept)
    body = "".join(f"<section id='{anchor}'>{html}</section>" for anchor, _, html in kept)
    whole = (
        f"<a class='skip' href='#verdict'>Skip to the findings</a><div class='layout'><nav aria-label='Contents'>{links}</nav>"
        f"<main>{body}</main></div>"
    )
    return page(title, whole, style=STYLE, script=SCRIPT)


def _hint(text: str) -> str:
    return f"<p class='soft small'>{text}</p>"


def _legend(names: Sequence[str], more: str = "") -> str:
    items = []
    for number, name in enumerate(names):
        dot = f"<svg width='12' height='12' viewBox='0 0 12 12' aria-hidden='true'>{charts.mark(number, 6, 6)}</svg>"
        items.append(f"<li>{dot}{escape(name)}</li>")
    return f"<ul class='key'>{''.join(items)}{f'<li>{more}</li>' if more else ''}</ul>"


# --- what was found --------------------------------------------------------------------------------------------------


def _verdict(found: Mapping[str, Any], title: str) -> str:
    first, *others = verdict(found)
    partial = "".join(f"<p class='bad'>{escape(line)}</p>" for line in coverage_lines(found))
    rows = sum(next(iter(part["runs"].values()))["asked"] for part in found["parts"].values())
    sets = len(found["parts"])
    return (
        f"<h1>{escape(title)}</h1><p class='soft small'>{rows:,} rows in {sets} set{'s' * (sets > 1)}</p>{partial}"
        f"<p class='verdict'>{escape(first)}</p>{''.join(f'<p>{escape(line)}</p>' for line in others)}"
        + _hint(
            "Accuracy is strict: whatever is no right answer counts as wrong. Intervals are 95 %. They account for <b>clusters</b>: "
            "rows that share a context, such as one command in several worlds, are not independent."
        )
    )


def _two_widths(title: str, rows: Sequence[charts.DotRow]) -> str:
    """The chart for screens and paper in blocks, and the chart for phones. The style shows one of them."""
    longest = max([len(row.label) for row in rows], default=1)
    broad = "".join(
        f"<div class='block'>{charts.dots(title, block, longest=longest)}</div>" for block in charts.dot_blocks(rows)
    )
    narrow = charts.dots(title, rows, width=340, above=True)
    return f"<div class='card chart'><div class='broad'>{broad}</div><div class='narrow'>{narrow}</div></div>"


def _accuracy(found: Mapping[str, Any]) -> str:
    legend = _legend(drawn_runs(found), "grey ticks: baselines and careless readers (point at one for its name)")
    chart = _two_widths("Accuracy by set with 95 % intervals", accuracy_rows(found))
    return f"<h2>Accuracy</h2>{legend}{chart}<details><summary>The same as a table</summary>{_table(found)}</details>"


def _table(found: Mapping[str, Any]) -> str:
    header, rows = accuracy_table(found)
    beside = published_table(found)
    published = "<h3>Published on comparable sets</h3>" + table(*beside) if beside[1] else ""
    return table(header, rows) + published


def _rules(found: Mapping[str, Any]) -> str:
    """Runs whose answers a rule gave, beside those that answered each row."""
    header, rows = rule_table(found)
    if not rows:
        return ""
    hint = _hint(
        "Some answers were given by a <b>rule</b>: its writer saw examples, said the rule, and a machine ran it on every row. A good rule "
        "beside poor answers means that its writer knows the rule and does not follow it; good answers beside a poor rule, that it goes by cases."
    )
    return f"<h2>Rule or cases</h2>{hint}<div class='card'>{table(header, rows)}</div>"


def _mistakes(found: Mapping[str, Any], held: Set[Cell]) -> str:
    """A heat map for each family: sets and runs down, readers across. A cell of `held` leads to its examples."""
    maps = mistake_maps(found)
    if not maps:
        return ""
    drawn = "".join(_heat_map(item, held) for item in maps)
    hint = _hint(
        "A <b>reader</b> cuts one corner, for instance by ignoring a clause. A cell is the share of the wrong answers that this reader "
        "would have given. Shares overlap: one answer can be that of several readers. Pale figures are not above chance. "
        "An underlined cell leads to its examples."
    )
    return f"<h2>Mistakes</h2>{hint}{drawn}"


def _heat_map(item: MistakeMap, held: Set[Cell]) -> str:
    head = "".join(f"<th scope='col'>{escape(name.replace('_', ' '))}</th>" for name in item.columns)
    body = []
    for row in item.rows:
        cells = "".join(_heat_cell((row.key, row.run, name), row.named.get(name), held) for name in item.columns)
        body.append(f"<tr><th scope='row'>{_breakable(row.label)}</th>{cells}</tr>")
    told = "".join(
        f"<li><b>{escape(name.replace('_', ' '))}</b>: a reader who {escape(reader)}</li>"
        for name, reader in sorted(item.readers.items())
    )
    return (
        f"<div class='card'><div class='wide heat' tabindex='0'><table><caption class='soft small'>{escape(item.family)}: share of the errors"
        f"</caption><thead><tr><td></td>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
        f"<details><summary>What these readers do</summary><ul>{told}</ul></details></div>"
    )


def _breakable(name: str) -> str:
    """The name of a set, which may be broken after `/` and `_`."""
    return escape(name).replace("/", "/<wbr>").replace("_", "_<wbr>")


def _heat_cell(cell: Cell, mistake: Mapping[str, Any] | None, held: Set[Cell]) -> str:
    if mistake is None:
        return "<td class='soft'>–</td>"
    strength = 0.08 + 0.42 * mistake["share"] if mistake["above_chance"] else 0.0
    look = f" style='background:rgba(var(--heat),{strength:.2f})'" if strength else " class='soft'"
    words = f"{mistake['errors']} errors, chance {mistake['chance']:.0%}"
    share = f"{mistake['share']:.0%}"
    if cell in held:
        data = "".join(f" data-{n}='{escape(v, quote=True)}'" for n, v in zip(("set", "run", "reader"), cell, strict=True))
        share = f"<a href='#examples-{slug(cell[0])}'{data}>{share}</a>"
    return f"<td{look} title='{escape(words, quote=True)}'>{share}</td>"


# --- along dials, known and new --------------------------------------------------------------------------------------


def _dials(found: Mapping[str, Any]) -> str:
    figures = []
    for family, dial, series, item in dial_series(found):
        halves = []
        for name in series:
            half = item["runs"].get(name, {}).get("threshold", {})
            if half.get("value") is not None:
                halves.append(
                    f"{name} is right half of the time at {half['value']:.1f} [{half['low']:.1f}, {half['high']:.1f}]"
                )
        splits = sorted({key.split("/")[1] for key in item["sets"]})
        over = f"over {len(item['sets'])} sets" if len(item["sets"]) > 1 else f"over {short(item['sets'][0])}"
        caution = "; the sets differ in more than this dial" if len(splits) > 1 else ""
        caption = escape(". ".join([*halves, f"{over[0].upper()}{over[1:]}{caution}"]) + ".")
        title = f"{family}: {dial.replace('_', ' ')}"
        drawn = charts.curves(title, series, across=dial.replace("_", " "), width=290, height=190)
        figures.append(f"<figure class='card'>{drawn}<figcaption>{caption}</figcaption></figure>")
    if not figures:
        return ""
    hint = _hint(
        "A <b>dial</b> is a number that makes an example harder, such as its length. Bands are 95 % intervals; a hollow point has too few clusters for one."
    )
    return f"<h2>Where it breaks</h2>{hint}{_legend(drawn_runs(found)[:MOST_LINES])}<div class='multi'>{''.join(figures)}</div>"


def _known(found: Mapping[str, Any]) -> str:
    rows = known_rows(found)
    if not rows:
        return ""
    return (
        "<h2>Known and new</h2>"
        + _hint(
            "Hollow: accuracy on known combinations. Full: on combinations that were held out. "
            "The gap is the distance between the two points. Coloured lines are 95 % intervals."
        )
        + _legend(drawn_runs(found))
        + _two_widths("Accuracy on known and on new combinations", rows)
        + f"<details><summary>The same as a table, in points</summary>{table(*gap_table(found))}</details>"
    )


def _profile(found: Mapping[str, Any]) -> str:
    """A table tinted by accuracy: one row an answerer, one column an axis."""
    axes = [axis for axis in get_args(Axis) if any(axis in run for run in found["profile"].values())]
    if not axes:
        return ""
    head = "".join(f"<th scope='col'>{escape(axis)}</th>" for axis in axes)
    rows = []
    for name, run in found["profile"].items():
        if not name.startswith(SHORTCUT):
            cells = "".join(_tinted(run.get(axis)) for axis in axes)
            rows.append(f"<tr><th scope='row'>{escape(name)}</th>{cells}</tr>")
    shown = f"<div class='wide' tabindex='0'><table><thead><tr><td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    return f"<h2>Profile</h2>{_hint('Accuracy by what is asked of the model, over all families.')}{shown}"


def _tinted(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return "<td class='soft'>—</td>"
    return f"<td style='background:rgba(var(--heat),{0.04 + 0.36 * cell['mean']:.2f})'>{escape(cell['text'])}</td>"


def _comparisons(found: Mapping[str, Any]) -> str:
    header, rows = comparison_table(found)
    if not rows:
        return ""
    pooled = "".join(f"<li>{escape(item['sentence'])}.</li>" for item in found["pooled"])
    about = _hint(
        "Over all sets: the mean of the sets' differences, each set counting the same; the interval is stratified by set and clustered. "
        "By set: paired, on the same rows. Holm's correction over the sets decides; it takes the p shown beside it."
    )
    return f"<h2>Comparison</h2><ul>{pooled}</ul>{about}<details><summary>By set</summary>{table(header, rows)}</details>"


# --- examples, details, footer ---------------------------------------------------------------------------------------


def _examples(evaluation: Evaluation, found: Mapping[str, Any], shown: Sequence[Shown]) -> str:
    if not shown:
        return ""
    known = {name for item in shown for name in item.records}
    runs = [name for name in (*given_runs(found), *evaluation.names()) if name in known]
    names = (("set", "Set"), ("run", "Run"), ("verdict", "Verdict"), ("reader", "Reader"))
    verdicts = "<option value='wrong'>wrong</option><option value='right'>right</option><option value='none'>no answer</option>"
    selects = "".join(
        f"<label for='filter-{name}'>{title}<select id='filter-{name}'><option value=''>all</option>"
        f"{verdicts if name == 'verdict' else ''}</select></label>"
        for name, title in names
    )
    live = (
        f"<div id='live' hidden><div class='filters'>{selects}</div><p id='count' class='soft small' role='status'></p>"
        "<div id='gallery'></div><button id='more' type='button' hidden>Show more</button></div>"
    )
    hint = _hint("The first token that differs from the right answer is marked.")
    unique = list(dict.fromkeys(runs))
    return f"<h2>Examples</h2>{hint}{live}<div id='static'>{static_cards(shown)}</div>{packed(shown, unique)}"


def _details(evaluation: Evaluation, found: Mapping[str, Any]) -> str:
    return "<h2>Details per set</h2>" + "".join(_part(evaluation, found["parts"][key], key) for key in evaluation.parts())


def _part(evaluation: Evaluation, found: Mapping[str, Any], key: str) -> str:
    runs = evaluation.of(key)
    family = runs[0].examples[0].family
    size = next(iter(found["runs"].values()))["accuracy"]
    summary = f"{key}: {size['rows']:,} rows, {size['clusters']:,} clusters, recipe {found['recipe']}"
    given = [run for run in runs if run.name not in evaluation.baselines]
    body = [f"<p>{escape(family.SPLITS[runs[0].split].claim)}</p>"]
    body += [_run_details(run, found["runs"][run.name]) for run in given]
    listed = [
        (name, run["accuracy"]["text"], f"{run['accuracy']['design_effect']:.1f}")
        for name, run in sorted(found["runs"].items(), key=lambda pair: -pair[1]["accuracy"]["mean"])
    ]
    body.append("<h3>Everybody</h3>" + table(("answerer", "accuracy", "design effect"), listed))
    return f"<details class='card' id='set-{slug(key)}'><summary>{escape(summary)}</summary>{''.join(body)}</details>"


def _run_details(run: Run, found: Mapping[str, Any]) -> str:
    body = [f"<h3>{escape(run.name)}</h3>"]
    body.append(table(("status", "examples"), [(status, f"{count:,}") for status, count in found["statuses"].items()]))
    if found["details"]:
        body.append(table(("also measured", "mean"), [(name, f"{value:.3f}") for name, value in found["details"].items()]))
    halves = [
        (dial, f"{t['value']:.1f} [{t['low']:.1f}, {t['high']:.1f}]" if t["value"] is not None else f"none: {t['reason']}")
        for dial, t in found["thresholds"].items()
    ]
    if halves:
        body.append(table(("dial", "half of the answers are right at"), halves))
    if found["mistakes"]:
        body.append(f"<p><b>{escape(found['mistakes'][0]['sentence'])}.</b></p>")
        rows = [
            (m["name"], m["reader"], f"{m['share']:.1%} [{100 * m['low']:.1f}, {100 * m['high']:.1f}]", f"{m['chance']:.1%}")
            for m in found["mistakes"]
        ]
        body.append(table(("reader", "who", "share of the errors", "by chance"), rows))
    return "".join(body)


def _footer(found: Mapping[str, Any], command: str) -> str:
    prints = "".join(
        f"<li>{escape(Path(path).name)}: fingerprint <code>{escape(mark)}</code></li>" for path, mark in found["data"].items()
    )
    effects = [run["accuracy"]["design_effect"] for part in found["parts"].values() for run in part["runs"].values()]
    made = f"<p>Command: <code>{escape(command)}</code></p>" if command else ""
    return (
        f"<footer><p>{escape(found['package'])}. Design effects from {min(effects):.1f} to {max(effects):.1f}: so many times more rows "
        f"are needed than if all rows were independent.</p><ul>{prints}</ul>{made}</footer>"
    )
