"""List the families, their recipes, and their splits with claims and sizes."""

from __future__ import annotations

import argparse
from typing import Any

from recombine.cli.printing import print_json, print_table, say
from recombine.core import Family, Split
from recombine.families import FAMILIES, family


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine list`."""
    parser.add_argument("family", nargs="?", help="only this family, with its options")
    parser.add_argument("--facets", action="store_true", help="what predicates can say of the family's examples, with shares")
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
    for item in found:
        say(f"{item.NAME}: {item.TITLE}")
        for recipe in item.RECIPES.values():
            say(f"  recipe {recipe.name} (version {recipe.version}): {recipe.claim}")
        rows = [
            (s.name, sizes(item, s), s.claim + (f" Needs {s.needs_files}." if s.needs_files else ""))
            for s in shown_splits(item, bool(arguments.family))
        ]
        print_table("", ("split", "parts", "claim"), rows)
        hidden = len(item.SPLITS) - len(rows)
        if hidden:
            say(f"  … and {hidden} more: recombine list {item.NAME}")
        if arguments.family and item.OPTIONS:
            print_table("", ("option", "default", "meaning"), [(n, o.default, o.help) for n, o in item.OPTIONS.items()])
        say("")
    return 0


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


def shown_splits(item: Family, everything: bool) -> list[Split]:
    """All splits of a family, or the first ones where there are very many."""
    splits = list(item.SPLITS.values())
    return splits if everything or len(splits) <= 24 else splits[:20]


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
