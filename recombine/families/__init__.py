"""The families, by name. One line each; a family is imported when it is first asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from recombine.core import Family
from recombine.errors import UnknownName

FAMILIES: dict[str, str] = {
    "scan": "recombine.families.scan:SCAN",
    "nacs": "recombine.families.scan:NACS",
    "gscan": "recombine.families.gscan",
    "reascan": "recombine.families.reascan",
    "clutrr": "recombine.families.clutrr:CLUTRR",
    "lilgym": "recombine.families.lilgym",
}
"""Name -> `module` or `module:member` that keeps the `Family` protocol."""

if TYPE_CHECKING:  # the type checker sees a missing member here
    from recombine.families import clutrr, gscan, lilgym, reascan, scan

    _CHECKED: tuple[Family, ...] = (scan.SCAN, scan.NACS, gscan, reascan, clutrr.CLUTRR, lilgym)


def family(name: str) -> Family:
    """The family of this name; an unknown one is an error that lists the known names."""
    if name not in FAMILIES:
        raise UnknownName("family", name, FAMILIES)
    module, _, member = FAMILIES[name].partition(":")
    loaded = importlib.import_module(module)
    found: Family = getattr(loaded, member) if member else loaded
    return found
