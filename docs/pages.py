"""Pages of the documentation that are written by the package itself: the gallery, the reference and the benchmarks.

    python docs/pages.py gallery      # docs/gallery.md and docs/pictures/: one example of every split
    python docs/pages.py reference    # docs/reference/: commands, columns, actions, benchmarks

Nothing here is edited by hand. A test compares a part of each page with what this script writes.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from recombine.core import Example, Family, Split
from recombine.families import FAMILIES, family
from recombine.gallery.choice import rows_of
from recombine.jobs import make_job

DOCS = Path(__file__).resolve().parent
SERIES = re.compile(r"(.*_p|.*_num)\d+(_rep\d+)?$")
"""Splits that differ in one number; the gallery shows the first of each series."""
LONGEST = 700
INTRODUCTION = (
    "One example of every split of every family. The first line says what training never shows. The table lists what readers "
    "answer who cut one corner. Play with more of them in the page that `make demo` leaves."
)
WRITTEN = "<!-- Written by docs/pages.py. Do not edit. -->\n"


# --- the gallery -----------------------------------------------------------------------------------------------------


def first_of_series(item: Family) -> Iterator[Split]:
    """The splits, but only the first of those that differ in their numbers."""
    seen: set[str] = set()
    for name, split in item.SPLITS.items():
        series = SERIES.match(name)
        key = series[1] if series else name
        if key not in seen:
            seen.add(key)
            yield split


def shown_splits(item: Family) -> list[Split]:
    """The splits that the gallery shows: those that need no files, and the first of each series."""
    return [split for split in first_of_series(item) if not split.needs_files]


def test_part(split: Split) -> str:
    """The part that shows what the split asks: its hardest test part of moderate size."""
    parts = [name for name in split.parts if name.startswith("test")] or list(split.parts)
    preferred = [name for name in ("test", "test_k4") if name in parts]
    return (preferred or parts)[-1]


def one_of(item: Family, split: Split) -> Example:
    """The first example of the split's test part."""
    job = make_job(item, split.name, test_part(split), seed=0)
    return item.example(rows_of(item, job.rows(0, 1)), 0)


def section(item: Family, split: Split, pictures: dict[str, str]) -> str:
    """One example: claim, picture, inputs, answer, careless readers. The picture is added to `pictures`."""
    example = one_of(item, split)
    name = f"{item.NAME}-{split.name}.svg"
    lines = [f"### {item.NAME} `{split.name}`", "", split.claim, ""]
    if "svg" in item.MEDIA:
        drawn = example.render("svg")
        pictures[name] = drawn if isinstance(drawn, str) else drawn.decode()
        lines += [f"![The world of {example.id}](pictures/gallery/{name})", ""]
    text = example.render("text")
    shown = text if isinstance(text, str) else text.decode()
    lines += [
        f"`{example.id}`",
        "",
        "```text",
        *_cut(shown).splitlines(),
        "```",
        "",
        f"**Answer:** `{_cut(example.answer)}`",
        "",
    ]
    wrong = [s for s in example.explain().shortcuts if s.answer is not None and s.answer != example.answer]
    if wrong:
        lines += ["| a reader who … | answers |", "|---|---|"]
        lines += [f"| {_cell(s.reader)} (`{s.name}`) | `{_cell(_cut(s.answer or '', 160))}` |" for s in wrong]
        lines.append("")
    return "\n".join(lines)


def family_page(name: str) -> tuple[str, dict[str, str]]:
    """The family's part of the gallery, and its pictures by file name."""
    item = family(name)
    pictures: dict[str, str] = {}
    parts = [f"## {name}", "", *(section(item, split, pictures) for split in shown_splits(item))]
    return "\n".join(parts), pictures


def _cut(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("`", "'")


def write_gallery() -> None:
    """docs/gallery.md, and a picture for each of its examples."""
    folder = DOCS / "pictures" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.svg"):
        stale.unlink()
    parts = [
        WRITTEN,
        "# Gallery",
        "",
        INTRODUCTION,
        "",
    ]
    for name in FAMILIES:
        page, pictures = family_page(name)
        parts.append(page)
        for file, drawn in pictures.items():
            (folder / file).write_text(drawn, encoding="utf-8")
        print(name, len(pictures), "pictures", flush=True)
    (DOCS / "gallery.md").write_text("\n".join(parts), encoding="utf-8")
    write_front()


def front_picture() -> str:
    """The README's picture: a ReaSCAN world, and beside it the command and the proof."""
    item = family("reascan")
    job = make_job(item, "two_clauses", "test", seed=0)
    batch = item.generate(job.rows(0, 60))
    found = (item.example(batch, row) for row in range(60))
    example = min((e for e in found if e.plan.verb == "walk" and not e.plan.adverb), key=lambda e: (len(e.world.things), e.id))
    drawn = str(example.render("svg"))
    width, height = (float(re.search(rf'<svg[^>]* {side}="([0-9.]+)"', drawn)[1]) for side in ("width", "height"))  # type: ignore[index]
    lines = ["Why it is this object", ""]
    steps = [step for step in example.explain().steps if not step.startswith("'")]  # what words rule out is plain to see
    for number, step in enumerate(steps, 1):
        lines += [*textwrap.wrap(f"{number}. {step}", 62, subsequent_indent="    ")]
    lines += ["", *textwrap.wrap(f"Answer: {example.answer.replace(',', ', ')}", 62)]
    first, *rest = textwrap.wrap(lines[0], 52)
    texts = [(first, True), *((line, True) for line in rest), *((line, False) for line in lines[1:])]
    whole = max(height, 40 + 21 * len(texts))
    words = "".join(
        f'<text x="{width + 24:g}" y="{36 + 21 * k}" font-size="14" {bold}fill="#2b2d33" xml:space="preserve">{escape(text)}</text>'
        for k, (text, is_bold) in enumerate(texts)
        for bold in ('font-weight="600" ' if is_bold else "",)
    )
    inner = drawn[drawn.index("<svg") :]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + 500:g} {whole:g}" width="{width + 500:g}" height="{whole:g}" '
        f'font-family="Inter, Helvetica, Arial, sans-serif" role="img"><rect width="100%" height="100%" fill="#fbfaf7"/>{inner}{words}</svg>\n'
    )


def write_front() -> None:
    """docs/pictures/reascan.svg."""
    (DOCS / "pictures" / "reascan.svg").write_text(front_picture(), encoding="utf-8")


# --- the reference ---------------------------------------------------------------------------------------------------


def commands_page() -> str:
    """Every verb with its help, from the parsers."""
    from recombine.cli import VERBS

    lines = [WRITTEN, "# Commands", "", "`recombine VERB --help` prints the same.", ""]
    for verb, does in VERBS.items():
        parser = argparse.ArgumentParser(prog=f"recombine {verb}", formatter_class=_Plain)
        importlib.import_module(f"recombine.cli.{verb.replace('-', '_')}").add_arguments(parser)
        lines += [f"## {verb}", "", f"{does[:1].upper()}{does[1:]}.", "", "```text", parser.format_help().rstrip(), "```", ""]
    return "\n".join(lines)


class _Plain(argparse.HelpFormatter):
    """Help of the same width on every terminal."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=100, max_help_position=30)


def columns_page() -> str:
    """Recipes, splits, parts, options, columns and facets of every family."""
    from recombine.abilities import Faceted

    lines = [WRITTEN, "# Families: splits, options and columns", ""]
    for name in FAMILIES:
        item: Any = family(name)
        lines += [
            f"## {name}",
            "",
            *(f"- recipe `{r.name}` (version {r.version}): {r.claim}" for r in item.RECIPES.values()),
            "",
        ]
        lines += ["| split | claim | parts |", "|---|---|---|"]
        lines += [f"| `{s.name}` | {_cell(s.claim)} | {', '.join(s.parts)} |" for s in first_of_series(item)]
        options = getattr(item, "OPTIONS", {})
        if options:
            lines += ["", "| option | default | meaning |", "|---|---|---|"]
            lines += [f"| `{key}` | `{o.default}` | {_cell(o.help)} |" for key, o in options.items()]
        facets = item.FACETS if isinstance(item, Faceted) else {}
        lines += ["", "| column | type | meaning |", "|---|---|---|"]
        lines += [f"| `{column}` | {kind} | {_meaning(name, column, facets)} |" for column, kind in item.SCHEMA.items()]
        if facets:
            lines += [
                "",
                "| facet | meaning |",
                "|---|---|",
                *(f"| `{key}` | {_cell(f.sentence)} |" for key, f in facets.items()),
            ]
        lines.append("")
    return "\n".join(lines)


def column_words() -> dict[str, dict[str, str]]:
    """Family (or `*`) -> column -> its meaning."""
    found: dict[str, dict[str, str]] = json.loads((DOCS / "columns.json").read_text(encoding="utf-8"))
    return found


def _meaning(name: str, column: str, facets: dict[str, Any]) -> str:
    words = column_words()
    known = words.get(name, {}).get(column) or words["*"].get(column)
    if known is None and column in facets:
        known = facets[column].sentence
    if known is None:
        raise SystemExit(f"docs/columns.json does not say what {name}'s column {column} means")
    return _cell(known)


def actions_page() -> str:
    """Every action number of the environments."""
    from recombine.families.lilgym.play.edits import Setting, edit_of
    from recombine.grid.codes import ACTIONS

    lines = [WRITTEN, "# Action numbers", "", "## gSCAN and ReaSCAN", "", "| number | action |", "|---:|---|"]
    lines += [f"| {number} | {action} |" for number, action in enumerate(ACTIONS)]
    lines += [f"| {len(ACTIONS)} | STOP (environments only) |", "", "## lilGym, TOWER", "", "| number | action |", "|---:|---|"]
    tower = Setting("tower")
    lines += [f"| {number} | {edit_of(tower, number)} |" for number in range(tower.action_count)]
    scatter = Setting("scatter")
    lines += ["", "## lilGym, SCATTER", ""]
    lines.append(
        f"There are {scatter.action_count:,} actions on the grid of 19 × 5 cells. 0 is STOP. "
        "`1 + (((x·5 + y)·3 + shape)·3 + colour)·3 + size` adds an item at cell (x, y). `1 + 27·95 + x·5 + y` removes what covers most "
        "of cell (x, y). Colours are yellow, black, blue; shapes circle, square, triangle; sizes small, medium, big. For example:"
    )
    lines += ["", "| number | action |", "|---:|---|"]
    lines += [f"| {number} | {edit_of(scatter, number)} |" for number in (0, 1, 2, 27, 28, 2565, 2566, 2660)]
    return "\n".join([*lines, ""])


def benchmarks_page() -> str:
    """Results of real runs, from the JSON files in docs/results."""
    lines = [
        WRITTEN,
        "# Measured results",
        "",
        "Each line is a run that was really made. Its file holds the command and all figures.",
        "",
    ]
    lines += ["| file | command | finished | figures |", "|---|---|---|---|"]
    for path in sorted((DOCS / "results").glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        command = found.get("command", "") if isinstance(found, dict) else ""
        date = next(
            (str(found[key])[:10] for key in ("finished", "date", "made") if isinstance(found, dict) and found.get(key)), ""
        )
        lines.append(f"| [{path.stem}](../results/{path.name}) | `{_cell(str(command))[:120]}` | {date} | {_figures(found)} |")
    return "\n".join([*lines, ""])


def _figures(found: Any) -> str:
    """Numbers at the top of a result, by name; at most six."""
    numbers = (
        {k: v for k, v in found.items() if isinstance(v, int | float) and not isinstance(v, bool)}
        if isinstance(found, dict)
        else {}
    )
    return ", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in list(numbers.items())[:6])


def rules_page() -> str:
    """The rules of every family, as prompts give them to language models: complete enough to answer each example."""
    lines = [WRITTEN, "# Grammar and rules of each family", ""]
    lines += [
        "These are the words in which Recombine explains a family to a language model (`--style rules`). They are complete: a careful",
        "reader can answer every example by them.",
        "",
    ]
    for name in FAMILIES:
        item: Any = family(name)
        lines += [
            f"## {name}",
            "",
            "```text",
            *item.prompts.task(name).splitlines(),
            "",
            *item.prompts.rules(name).splitlines(),
            "```",
            "",
        ]
    return "\n".join(lines)


REFERENCE = {"commands": commands_page, "families": columns_page, "actions": actions_page, "results": benchmarks_page}
"""Page of docs/reference -> what writes it; `rules` goes to docs/explanation."""


def write_reference() -> None:
    """All pages of docs/reference."""
    (DOCS / "reference").mkdir(exist_ok=True)
    for name, write in REFERENCE.items():
        (DOCS / "reference" / f"{name}.md").write_text(write(), encoding="utf-8")
    (DOCS / "explanation" / "rules.md").write_text(rules_page(), encoding="utf-8")


if __name__ == "__main__":
    {"gallery": write_gallery, "reference": write_reference, "front": write_front}[sys.argv[1]]()
