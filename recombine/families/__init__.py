"""The families, by name: ours, and those of other packages. A family is imported when it is first asked for.

A package offers a family by an entry point of the group `recombine.families`, with the family's name and `module:member`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from recombine.core import Family
from recombine.errors import RecombineError, UnknownName

OURS: dict[str, str] = {
    "scan": "recombine.families.scan:SCAN",
    "nacs": "recombine.families.scan:NACS",
    "gscan": "recombine.families.gscan:GSCAN",
    "reascan": "recombine.families.reascan:REASCAN",
    "clutrr": "recombine.families.clutrr:CLUTRR",
    "lilgym": "recombine.families.lilgym:LILGYM",
    "abstract": "recombine.families.abstract:ABSTRACT",
    "lexicon": "recombine.families.lexicon:LEXICON",
}
"""Name -> `module:member` that keeps the `Family` protocol."""

if TYPE_CHECKING:  # the type checker sees a missing member here
    from recombine.families import abstract, clutrr, gscan, lexicon, lilgym, reascan, scan

    _CHECKED: tuple[Family, ...] = (
        scan.SCAN,
        scan.NACS,
        gscan.GSCAN,
        reascan.REASCAN,
        clutrr.CLUTRR,
        lilgym.LILGYM,
        abstract.ABSTRACT,
        lexicon.LEXICON,
    )


class _Families(Mapping[str, str]):
    """Our families first, then those that installed packages offer. Entry points are looked up only when they are needed."""

    def __getitem__(self, name: str) -> str:
        return OURS[name] if name in OURS else self._others[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**OURS, **self._others})

    def __len__(self) -> int:
        return len({**OURS, **self._others})

    @cached_property
    def _others(self) -> dict[str, str]:
        from importlib.metadata import entry_points

        found = sorted(entry_points(group="recombine.families"), key=lambda entry: entry.name)
        return {entry.name: entry.value for entry in found if entry.name not in OURS}


FAMILIES: Mapping[str, str] = _Families()


def family(name: str) -> Family:
    """The family of this name; an unknown one is an error that lists the known names."""
    if name not in FAMILIES:
        raise UnknownName("family", name, FAMILIES)
    module, _, member = FAMILIES[name].partition(":")
    try:
        loaded = importlib.import_module(module)
        found: Family = getattr(loaded, member) if member else loaded
    except (ImportError, AttributeError) as problem:
        if name in OURS:
            raise
        raise RecombineError(f"family {name} cannot be loaded from {FAMILIES[name]}: {problem}.") from problem
    return found
