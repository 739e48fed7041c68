"""List the families; with a family's name its recipes, splits with claims and sizes, and options."""

from __future__ import annotations

import argparse
import re
import textwrap
from typing import Any

from recombine.cli.printing import print_json, print_table, say
from recombine.core import Family, Split
from recombine.families import FAMILIES, family

WIDTH = 80
"""Columns that every line fits."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine list`."""
    parser.add_argument("family", nargs="?", help="only this family, with its recipes, splits and options")
    parser.add_argument("--all", action="store_true", help="every split by itself, also those of a series")
    parser.add_argument("--facets", action="store_true", help="the facets of the family's examples, with shares")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print what there is."""
    names = [arguments.family] if arguments.family else list(FAMILIES)
    found = [family(name) for name in names]
    if arguments.facets:
        return _print_facets(found, arguments.json)
    if arguments.json:
        print_json({item.NAME: describe(item) for item in found})
        return 0
    if not arguments.family and not arguments.all:
        _print_families(found)
        return 0
    for item in found:
        _print_family(item, arguments.all)
    return 0


def _print_families(found: list[Family]) -> None:
    width = max(len(item.NAME) for item in found)
    for item in found:
        _wrapped(f"{item.NAME:<{width}}  {item.TITLE.partition(': ')[2] or item.TITLE}", width + 2)
        series = folded(item)
        recipes = " or ".join(item.RECIPES)
        _wrapped(f"{'':<{width}}  {len(item.SPLITS)} splits in {len(series)} series; recipe {recipes}", width + 2)
    say("")
    say("recombine list FAMILY shows its splits; recombine show FAMILY shows an example.")


def _print_family(item: Family, everything: bool) -> None:
    _wrapped(f"{item.NAME}: {item.TITLE}", 2)
    for recipe in item.RECIPES.values():
        _wrapped(f"  recipe {recipe.name} (version {recipe.version}): {recipe.claim}", 4)
    series = [(split.name, [split]) for split in item.SPLITS.values()] if everything else folded(item)
    for name, splits in series:
        say("")
        more = f"  ({len(splits)} splits)" if len(splits) > 1 else ""
        say(f"{name}{more}")
        _wrapped(f"  {sizes(item, splits[0])}" + (f" (of {splits[0].name})" if more else ""), 4)
        needs = f" Needs {splits[0].needs_files}." if splits[0].needs_files else ""
        _wrapped(f"  {splits[0].claim}{needs}", 4)
    if item.OPTIONS:
        say("")
        say("options (--set NAME=VALUE):")
        for option_name, option in item.OPTIONS.items():
            _wrapped(f"  {option_name} = {option.default}: {option.help}", 4)
    say("")


def _wrapped(text: str, indent: int) -> None:
    """Lines of at most 80 columns; those after the first are indented. Long names are never broken at a hyphen."""
    spaces = len(text) - len(text.lstrip(" "))
    lines = textwrap.wrap(text.lstrip(" "), WIDTH - spaces, subsequent_indent=" " * (indent - spaces), break_on_hyphens=False)
    for line in lines:
        say(" " * spaces + line)


def folded(item: Family) -> list[tuple[str, list[Split]]]:
    """The splits, with those whose names differ in numbers only as one series: `fewshot_num{1,2,…,1024}_rep{1,…,5}`."""
    groups: dict[str, list[Split]] = {}
    for split in item.SPLITS.values():
        stem = re.sub(r"(?<=num)\d+|(?<=rep)\d+|(?<=_p)\d+$", "{}", split.name)
        groups.setdefault(stem, []).append(split)
    found = []
    for stem, splits in groups.items():
        if len(splits) < 2:
            found += [(split.name, [split]) for split in splits]
            continue
        pattern = re.compile(re.escape(stem).replace(re.escape("{}"), r"(\d+)"))
        columns = zip(*(pattern.fullmatch(split.name).groups() for split in splits), strict=True)  # type: ignore[union-attr]
        found.append((stem.format(*(_span(list(dict.fromkeys(column))) for column in columns)), splits))
    return found


def _span(numbers: list[str]) -> str:
    return (
        numbers[0]
        if len(numbers) == 1
        else f"{{{','.join(numbers)}}}"
        if len(numbers) < 4
        else f"{{{numbers[0]}…{numbers[-1]}}}"
    )


SHARE_ROWS = 200
"""Rows of the first split from which the shares of values are counted."""
SHOWN_VALUES = 12


def facet_shares(item: Family) -> dict[str, dict[str, float]]:
    """Facet -> value -> the share of examples that have it, in the first rows of the default split's training part."""
    from collections import Counter

    from recombine.abilities import Faceted
    from recombine.jobs import make_job

    if not isinstance(item, Faceted):
        return {}
    job = make_job(item, part="train")
    rows = min(SHARE_ROWS, job.stop)
    batch = item.generate(job.rows(0, rows))
    counts: dict[str, Counter[str]] = {name: Counter() for name in item.FACETS}
    for row in range(len(batch)):
        for name, value in item.facet_values(item.example(batch, row)).items():
            counts[name].update({str(v) for v in value} if isinstance(value, tuple) else {str(value)})
    return {name: {value: n / rows for value, n in found.most_common()} for name, found in counts.items()}


def _print_facets(found: list[Family], as_json: bool) -> int:
    from recombine.abilities import Faceted

    tables: dict[str, Any] = {}
    for item in found:
        if not isinstance(item, Faceted):
            continue
        shares = facet_shares(item)
        tables[item.NAME] = {
            name: {"kind": f.kind, "sentence": f.sentence, "values": list(f.values), "many": f.many, "shares": shares[name]}
            for name, f in item.FACETS.items()
        }
        if not as_json:
            rows = []
            for name, facet in item.FACETS.items():
                listed = [f"{value} {share:.0%}" for value, share in list(shares[name].items())[:SHOWN_VALUES]]
                rows.append((f"any({name})" if facet.many else name, facet.kind, facet.sentence, ", ".join(listed)))
            print_table(item.NAME, ("facet", "kind", "meaning", "values and shares"), rows)
    if as_json:
        print_json(tables)
    return 0


def sizes(item: Family, split: Split) -> str:
    """`train 16,990, test 3,920` under the split's first recipe."""
    recipe = next(r for r in item.RECIPES if r in split.recipes)
    named = [f"{p.name} {p.rows(recipe):,}" for p in split.parts.values() if p.default]
    return ", ".join([*(f"{name} = {other}/{part}" for name, (other, part) in split.aliases.items()), *named])


def describe(item: Family) -> dict[str, Any]:
    """A family as a plain value."""
    return {
        "title": item.TITLE,
        "recipes": {name: {"version": r.version, "claim": r.claim} for name, r in item.RECIPES.items()},
        "options": {
            name: {"default": o.default, "help": o.help, "choices": list(o.choices)} for name, o in item.OPTIONS.items()
        },
        "splits": {
            name: {
                "claim": split.claim,
                "axis": split.axis,
                "recipes": list(split.recipes),
                "needs_files": split.needs_files,
                "aliases": {part: "/".join(target) for part, target in split.aliases.items()},
                "parts": {
                    part.name: {
                        "rule": part.rule,
                        "rows": {recipe: part.rows(recipe) for recipe in split.recipes},
                        "finite": part.finite,
                        "default": part.default,
                    }
                    for part in split.parts.values()
                },
            }
            for name, split in item.SPLITS.items()
        },
    }
