"""Asking for a job: names resolved, options checked, sizes known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recombine.abilities import Listing, Vetting
from recombine.core import Family, Job, OptionValue
from recombine.difficulty import with_level
from recombine.errors import UnknownName, UsageError, shown
from recombine.predicates.draw import HOLD_OUT, PREDICATE


def with_predicate(family: Family, options: Mapping[str, object] | None) -> dict[str, object]:
    """The options, in which a predicate given as `hold_out` has the name of its option.

    A family may have an option `hold_out` of its own that takes a number: a number stays what it is.
    """
    given = dict(options or {})
    text = given.get(HOLD_OUT)
    if isinstance(text, str) and PREDICATE in family.OPTIONS and not _is_number(text):
        if PREDICATE in given:
            raise UsageError("both hold_out and predicate are given; leave one out.")
        given[PREDICATE] = given.pop(HOLD_OUT)
    return given


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def default_split(family: Family, options: Mapping[str, object]) -> str:
    """The split that is meant when none is named: the one of the predicate, or the family's first."""
    return HOLD_OUT if PREDICATE in options and PREDICATE in family.OPTIONS else next(iter(family.SPLITS))


def default_part(names: Iterable[str]) -> str:
    """What is meant where no part is named: `test`, or the first of several test parts (CLUTRR has one for each length)."""
    return min(names, key=lambda name: (name != "test", not name.startswith("test")))


def make_job(
    family: Family,
    split: str | None = None,
    part: str | None = None,
    recipe: str | None = None,
    seed: int = 0,
    options: Mapping[str, object] | None = None,
) -> Job:
    """A checked job over all rows of a part: names resolved, aliases followed, options canonical (defaults left out).

    The option `difficulty` stands for a split, a part and dials of its own.
    """
    split, part, options = with_level(family.NAME, split, part, options or {})
    options = with_predicate(family, options)
    split_name = split if split is not None else default_split(family, options)
    if PREDICATE in options and split_name in family.SPLITS and split_name != HOLD_OUT:
        raise UsageError(
            f"a predicate makes the split {HOLD_OUT!r}, so it does not go with the split {split_name!r}; leave one out."
        )
    if split_name not in family.SPLITS:
        raise UnknownName(f"split of {family.NAME}", split_name, family.SPLITS)
    chosen = family.SPLITS[split_name]
    recipe_name = recipe if recipe is not None else next(r for r in family.RECIPES if r in chosen.recipes)
    if recipe_name not in family.RECIPES:
        raise UnknownName(f"recipe of {family.NAME}", recipe_name, family.RECIPES)
    if recipe_name not in chosen.recipes:
        raise UsageError(
            f"split {split_name!r} of {family.NAME} has no recipe {recipe_name!r}; it has {', '.join(chosen.recipes)}."
        )
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 63:
        raise UsageError(f"seed is {shown(seed)}, but must be an integer from 0 to 2**63 - 1.")
    part_name = part if part is not None else default_part(chosen.parts)
    if part_name in chosen.aliases:
        split_name, part_name = chosen.aliases[part_name]
        chosen = family.SPLITS[split_name]
    if part_name not in chosen.parts:
        raise UnknownName(f"part of {family.NAME} {split_name}", part_name, [*chosen.parts, *chosen.aliases])
    given: dict[str, OptionValue] = {}
    for name, value in sorted((options or {}).items()):
        if name not in family.OPTIONS:
            raise UnknownName(f"option of {family.NAME}", name, family.OPTIONS)
        parsed = family.OPTIONS[name].parse(name, value)
        if parsed != family.OPTIONS[name].default:
            given[name] = parsed
    job = Job(family.NAME, family.RECIPES[recipe_name].version, recipe_name, split_name, part_name, seed, tuple(given.items()))
    if given and isinstance(family, Vetting):
        family.vet(job)
    return job.rows(0, part_size(family, job))


def part_size(family: Family, job: Job) -> int:
    """How many rows the job's part holds: exact if it is finite, the default number otherwise."""
    if isinstance(family, Listing):
        return family.size(job)
    return family.SPLITS[job.split].parts[job.part].rows(job.recipe)
