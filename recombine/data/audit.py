"""Judging files that others released: every row through the family's reader and oracle, and what a careless reader scores."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from recombine.abilities import Surveying
from recombine.core import Example, Problem
from recombine.data.shortcuts import ShortcutScore, shortcut_scores
from recombine.families import family as find_family
from recombine.pages import page, table

SURVEYED = 200_000
"""Examples kept in memory for figures about a whole file; a larger file is surveyed on its first ones."""
SHORTCUT_ROWS = 300
"""Examples, spread evenly over the file, on which the shortcut readers are tried."""


@dataclass(frozen=True)
class Audit:
    """What was found in a file. `wrong_labels` and `ambiguous` count examples; every problem is listed with its place."""

    path: str
    family: str
    checked: int
    wrong_labels: int
    ambiguous: int
    duplicates: int
    leaks: int
    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    shortcuts: tuple[ShortcutScore, ...]
    survey: Mapping[str, Any]

    @property
    def ok(self) -> bool:
        """Whether no error was found (artifacts do not count)."""
        return not any(problem.severity == "error" for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        """A plain value for scripts."""
        shortcuts = [{**asdict(score), "accuracy": score.accuracy} for score in self.shortcuts]
        return {**asdict(self), "shortcuts": shortcuts, "ok": self.ok}

    def to_html(self) -> str:
        """One page of findings; whatever the file said is escaped."""
        state = "<span class='ok'>no error</span>" if self.ok else "<span class='bad'>errors</span>"
        figures = [(n, f"{getattr(self, n):,}") for n in ("checked", "wrong_labels", "ambiguous", "duplicates", "leaks")]
        body = [f"<h1>Audit of {escape(Path(self.path).name)} as {escape(self.family)}: {state}</h1>"]
        body.append(table(("finding", "count"), [*figures, *((code, f"{n:,}") for code, n in self.counts.items())]))
        if self.shortcuts:
            rows = [(s.name, s.reader, f"{s.accuracy:.1%}", f"{s.examples:,}") for s in self.shortcuts]
            body.append("<h2>What a careless reader scores</h2>" + table(("reader", "who", "right", "of"), rows))
        if self.survey:
            body.append("<h2>Figures</h2>" + table(("figure", "value"), list(flat(self.survey))))
        listed = [(p.severity, p.code, p.place, p.text[:500]) for p in self.problems[:2_000]]
        if listed:
            cut = f"<p class='soft'>the first 2,000 of {len(self.problems):,}</p>" if len(self.problems) > len(listed) else ""
            body.append("<h2>Problems</h2>" + cut + table(("severity", "code", "place", "text"), listed))
        return page(f"Audit of {Path(self.path).name}", "".join(body))


def flat(survey: Any, name: str = "") -> Iterable[tuple[str, str]]:
    """A nested survey as lines of name and value."""
    if isinstance(survey, Mapping):
        for key, value in survey.items():
            yield from flat(value, f"{name} {key}".strip())
    elif survey is not None:
        yield name, f"{survey:.4g}" if isinstance(survey, float) else str(survey)


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
    rows_with: dict[str, set[int]] = {"wrong_label": set(), "ambiguous": set()}
    kept: list[Example] = []
    forms: Counter[bytes] = Counter()
    others = (
        {_form(found.canonical(item)) for item in found.read(Path(against)) if isinstance(item, Example)} if against else set()
    )
    checked = leaks = 0
    for item in found.read(Path(path)):
        if isinstance(item, Problem):
            problems.append(item)
            continue
        place = str(item.meta.get("place", item.id))
        for problem in found.validate(item):
            problems.append(Problem(problem.code, problem.text, problem.severity, problem.place or place))
            rows_with.setdefault(problem.code, set()).add(checked)
        form = _form(found.canonical(item))
        forms[form] += 1
        if form in others:
            leaks += 1
            problems.append(Problem("leak", f"the same example is in {Path(str(against)).name}", place=place))
        checked += 1
        tick(1)
        if len(kept) < SURVEYED:
            kept.append(item)
    return Audit(
        path=str(path),
        family=family,
        checked=checked,
        wrong_labels=len(rows_with["wrong_label"]),
        ambiguous=len(rows_with["ambiguous"]),
        duplicates=checked - len(forms),
        leaks=leaks,
        problems=tuple(problems),
        counts=dict(sorted(Counter(f"{p.severity}:{p.code}" for p in problems).items())),
        shortcuts=tuple(shortcut_scores(kept[:: max(1, len(kept) // SHORTCUT_ROWS)])),
        survey=found.survey(kept) if isinstance(found, Surveying) and kept else {},
    )


def _form(canonical: bytes) -> bytes:
    return hashlib.blake2b(canonical, digest_size=12).digest()
