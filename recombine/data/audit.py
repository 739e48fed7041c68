"""Judging files that others released: every row through the family's reader and oracle."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recombine.core import Example, Problem, Surveying
from recombine.families import family as find_family

SURVEYED = 200_000
"""Examples kept in memory for figures about a whole file; a larger file is surveyed on its first ones."""


@dataclass(frozen=True)
class Audit:
    """What was found in a file. `wrong_labels` and `ambiguous` count examples; every problem is listed with its place."""

    path: str
    family: str
    checked: int
    wrong_labels: int
    ambiguous: int
    duplicates: int
    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    survey: Mapping[str, Any]
    leaks: int = 0

    @property
    def ok(self) -> bool:
        """Whether no error was found (artifacts do not count)."""
        return not any(problem.severity == "error" for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        """A plain value for scripts."""
        return {**asdict(self), "ok": self.ok}


def audit(
    path: str | Path,
    family: str,
    *,
    against: str | Path | None = None,
    on_rows: Callable[[int], None] | None = None,
) -> Audit:
    """Judge a released file as this family; `against` names another file (say, train) that must not share an example."""
    found = find_family(family)
    tick = on_rows or (lambda _rows: None)
    problems: list[Problem] = []
    codes: dict[str, set[int]] = {"wrong_label": set(), "ambiguous": set()}
    kept: list[Example] = []
    forms: dict[bytes, str] = {}
    duplicates = checked = 0
    others = _forms(found.read(Path(against)), found.canonical) if against is not None else set()
    leaks = 0
    for item in found.read(Path(path)):
        if isinstance(item, Problem):
            problems.append(item)
            continue
        place = str(item.meta.get("place", item.id))
        for problem in found.validate(item):
            problems.append(Problem(problem.code, problem.text, problem.severity, problem.place or place))
            codes.setdefault(problem.code, set()).add(checked)
        form = _form(found.canonical(item))
        duplicates += form in forms
        forms.setdefault(form, place)
        if form in others:
            leaks += 1
            problems.append(Problem("leak", f"the same example is in {Path(str(against)).name}", place=place))
        checked += 1
        tick(1)
        if len(kept) < SURVEYED:
            kept.append(item)
    counts = Counter(f"{p.severity}:{p.code}" for p in problems)
    survey = found.survey(kept) if isinstance(found, Surveying) and kept else {}
    return Audit(
        str(path), family, checked, len(codes["wrong_label"]), len(codes["ambiguous"]), duplicates,
        tuple(problems), dict(sorted(counts.items())), survey, leaks,
    )  # fmt: skip


def _form(canonical: bytes) -> bytes:
    return hashlib.blake2b(canonical, digest_size=12).digest()


def _forms(items: Iterable[Example | Problem], canonical: Callable[[Example], bytes]) -> set[bytes]:
    return {_form(canonical(item)) for item in items if isinstance(item, Example)}
