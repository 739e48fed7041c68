"""Changing the settings of a model, a training or a machine by name. Imports no torch, so that machines need none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import TypeVar

from recombine.core import Option
from recombine.errors import BadOption, UnknownName, shown

C = TypeVar("C")
MAY_BE_ZERO = (
    "patience", "warmup_steps", "max_steps", "decay_steps", "classifier", "short_rows", "middle_rows", "warm_rows",
)  # fmt: skip
"""Counts for which 0 means "none" or something else of its own, whatever the default is."""
NEVER_ZERO = ("rate", "clip", "finder_rate", "actor_rate")
"""Numbers that may be small, but not 0."""


def changed(config: C, changes: Mapping[str, object]) -> C:
    """A configuration dataclass with some fields changed, from text or from Python values; unknown names are an error."""
    known = {f.name: getattr(config, f.name) for f in fields(config)}  # type: ignore[arg-type]
    values = {}
    for name, value in changes.items():
        if name not in known:
            raise UnknownName(f"setting of {type(config).__name__}", name, known)
        values[name] = Option(known[name], "").parse(name, value)
        _check_sign(name, known[name], values[name])
    return replace(config, **values)  # type: ignore[type-var]


def _check_sign(name: str, usual: object, value: object) -> None:
    """No setting of a model or a training is below zero; a count that is at least 1 by default stays so; a dropout is below 1."""
    if isinstance(usual, bool | str) or not isinstance(value, int | float) or not isinstance(usual, int | float) or usual < 0:
        return
    least = 1 if isinstance(usual, int) and usual > 0 and name not in MAY_BE_ZERO else 0
    if value < least:
        raise BadOption(f"{name} is {shown(value)}, but must be at least {least}.")
    if name in NEVER_ZERO and value == 0:
        raise BadOption(f"{name} is {shown(value)}, but must be above 0: nothing is learnt otherwise.")
    if "dropout" in name and value >= 1:
        raise BadOption(f"{name} is {shown(value)}, but must be below 1.")


def check_choice(name: str, value: str, known: Iterable[str]) -> None:
    """Refuse a value that is none of those that a setting can have."""
    if value not in known:
        raise UnknownName(name, value, known)
