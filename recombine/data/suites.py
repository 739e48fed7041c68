"""Whole published suites as one plan: every split and set of a paper, at the paper's size, in one folder."""

from __future__ import annotations

from collections.abc import Mapping

from recombine.core import FILES, Family
from recombine.data.plan import PartPlan, Plan, plan_part
from recombine.errors import UnknownName, UsageError
from recombine.families import family as find_family
from recombine.jobs import make_job

SUITES = {"paper": "every split and set of the paper at its size (recipe `release` where there is one)"}
"""Suite -> what it holds."""


def make_suite(
    family: str,
    suite: str,
    *,
    seed: int = 0,
    recipe: str | None = None,
    options: Mapping[str, object] | None = None,
    size: int | None = None,
    format: str = "parquet",  # noqa: A002 - the word that users type
) -> Plan:
    """The plan of a suite. A recipe that is only read from files needs their folder; a `size` cuts each part."""
    if suite not in SUITES:
        raise UnknownName("suite", suite, SUITES)
    found = find_family(family)
    published = (name for name in ("release", "official") if name in found.RECIPES)
    wanted = recipe or next(published, next(iter(found.RECIPES)))
    if wanted not in found.RECIPES:
        raise UnknownName(f"recipe of {family}", wanted, found.RECIPES)
    parts: list[PartPlan] = []
    for split in _splits(found, wanted, bool((options or {}).get(FILES))):
        for part in _parts(found, split):
            job = make_job(found, split, part, wanted, seed, options)
            full = job.stop
            plan = plan_part(found, job, min(size, full) if size is not None else None)
            if plan not in parts:
                parts.append(plan)
    return Plan(found.NAME, parts[0].job.version, format, tuple(parts))


def _splits(family: Family, recipe: str, has_files: bool) -> list[str]:
    """The published splits of a recipe. Those read from published files are left out, unless the recipe has no others."""
    known = {name: split for name, split in family.SPLITS.items() if recipe in split.recipes and split.is_published}
    found = [name for name, split in known.items() if not split.needs_files]
    if found:
        return found
    if not has_files:
        needs = ", ".join(dict.fromkeys(split.needs_files for split in known.values()))
        raise UsageError(f"the sets of the paper on {family.NAME} are read from {needs}: add --set files=FOLDER.")
    return list(known)


def _parts(family: Family, split: str) -> list[str]:
    """The parts that are not cut from another part, development sets included."""
    return [name for name, part in family.SPLITS[split].parts.items() if part.default or not part.shares]
