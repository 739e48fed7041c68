"""Rows of a user's split. The kernel takes the conditions that it can settle; rows that break the others are drawn again."""

from __future__ import annotations

from itertools import product

from recombine import kernels
from recombine.core import Batch, Job
from recombine.facets import Value
from recombine.families.reascan.facets import FACETS, facet_columns
from recombine.families.reascan.plan import PATTERNS
from recombine.families.reascan.sound.generate import KERNEL_NAME, rule_for, sound
from recombine.families.reascan.splits import (
    MIX,
    OPTIONS,
    Atom,
    Combination,
    Rule,
    does,
    has_pattern,
    is_kind,
    lies,
    relates,
    says,
)
from recombine.grid.codes import SIZES
from recombine.predicates import And, Not, Or, Predicate
from recombine.predicates import Atom as Comparison
from recombine.predicates.draw import Source, draw, predicate_of

MOST_ALTERNATIVES = 64
"""Alternatives of one condition; a predicate with more is left to drawing again."""
_WORDS = {"np.size": "size", "np.color": "color", "np.shape": "shape"}
_OPEN = ("none", "object")
"""Values that say that a word is missing: the kernel has no condition for that."""


def held_out(job: Job) -> Batch:
    """Rows [job.start, job.stop) of `hold_out`."""
    return draw(job, predicate_of(job, OPTIONS), SOURCE, is_wanted=job.part == "test")


def _propose(job: Job) -> Batch:
    is_large = job.stop - job.start >= kernels.COMPILE_FROM_ROWS or kernels.is_loaded(KERNEL_NAME)
    return sound(job, compiled=is_large, rule=rule_with_predicate(job))


SOURCE = Source(_propose, facet_columns)


def rule_with_predicate(job: Job) -> Rule:
    """The part's rule; for the test with every condition of the predicate that the kernel knows."""
    rule, predicate = rule_for(job), predicate_of(job, OPTIONS)
    if job.part != "test":
        return rule
    conjuncts = predicate.items if isinstance(predicate, And) else (predicate,)
    wanted = tuple(found for item in conjuncts if (found := combination(item)) is not None)
    return rule._replace(wanted=wanted)


def combination(predicate: Predicate) -> Combination | None:
    """The predicate as alternatives of conditions; None where the kernel has no such conditions."""
    if isinstance(predicate, Comparison):
        return _compared(predicate)
    if isinstance(predicate, Not):
        return None
    found = [combination(item) for item in predicate.items]
    known = [item for item in found if item is not None]
    if len(known) < len(found):
        return None
    if isinstance(predicate, Or):
        joined = tuple(alternative for item in known for alternative in item)
    else:
        joined = tuple(tuple(atom for part in parts for atom in part) for parts in product(*known))
    return joined if len(joined) <= MOST_ALTERNATIVES else None


def _compared(atom: Comparison) -> Combination | None:
    """One comparison; each value that it allows is an alternative."""
    allowed: list[Value]
    if atom.facet in ("target.size", "clauses"):
        allowed = [n for n in (SIZES if atom.facet == "target.size" else range(3)) if _holds(atom, n)]
    elif atom.operator in ("=", "in"):
        allowed = list(atom.values)
    elif not FACETS[atom.facet].many:
        allowed = [value for value in FACETS[atom.facet].values if value not in atom.values]
    else:
        return None
    found = [_condition(atom, value) for value in allowed]
    known = [condition for condition in found if condition is not None]
    return tuple((condition,) for condition in known) if known and len(known) == len(found) else None


def _holds(atom: Comparison, number: int) -> bool:
    first = int(atom.values[0])
    return {
        "=": number == first, "!=": number != first, "<": number < first, "<=": number <= first, ">": number > first,
        ">=": number >= first, "in": number in atom.values,
    }[atom.operator]  # fmt: skip


def _condition(atom: Comparison, value: object) -> Atom | None:
    """The kernel's condition that a facet has this value; None if there is none."""
    text = str(value)
    if atom.facet == "target.size":
        return is_kind(size=int(text), target_only=True)
    if atom.facet == "clauses":
        return has_pattern(next(name for name, widths in PATTERNS.items() if widths == MIX[int(text)][0]))
    if text in _OPEN:
        return None
    if atom.facet in _WORDS and (atom.mode == "any" or atom.place == 1):
        return says(**{_WORDS[atom.facet]: text}, first_only=atom.place == 1)
    if atom.facet == "relation" and atom.mode == "any":
        return relates(text)
    if atom.facet == "pattern":
        return has_pattern(text)
    makers = {
        "verb": lambda: does(verb=text),
        "adverb": lambda: does(adverb=text),
        "direction": lambda: lies(text),
        "target.color": lambda: is_kind(color=text, target_only=True),
        "target.shape": lambda: is_kind(shape=text, target_only=True),
    }
    return makers[atom.facet]() if atom.facet in makers else None
