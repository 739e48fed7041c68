"""Judging files that others released: every row through the family's reader and oracle, and what a careless reader scores."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from recombine.abilities import Picturing, Surveying
from recombine.core import Example, Family, Problem
from recombine.data.shortcuts import ShortcutScore, shortcut_scores
from recombine.errors import FileError, RecombineError, shown
from recombine.families import family as find_family
from recombine.pages import page, table

T = TypeVar("T")
SURVEYED = 200_000
"""Examples kept in memory for figures about a whole file; a larger file is surveyed on its first ones."""
SHORTCUT_ROWS = 300
"""The most examples, spread evenly over the file, on which the shortcut readers are tried."""

FALSE_CODES = ("false_fact", "false_target")
"""Artifacts of rows that say or ask what is not true."""


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

    @property
    def headline(self) -> str:
        """What share of the rows is at fault: rows that state something false, other artifacts, and broken laws."""
        places: dict[str, set[str]] = {"false": set(), "artifact": set(), "error": set()}
        for problem in self.problems:
            kind = "false" if problem.code in FALSE_CODES and problem.severity == "artifact" else problem.severity
            places[kind].add(problem.place)
        others = places["artifact"] - places["false"]
        told = []
        if places["false"]:
            told.append(f"{self._share(len(places['false']))} state something false under the complete rules")
        if others:
            told.append(f"{self._share(len(others))} have {'another' if told else 'an'} artifact that `sound` does not allow")
        told.append(f"{len(places['error']):,} break the release's own rules")
        return "; ".join(told) + "."

    def _share(self, rows: int) -> str:
        return f"{rows / max(1, self.checked):.0%} of the rows ({rows:,} of {self.checked:,})"

    def to_json(self) -> dict[str, Any]:
        """A plain value for scripts."""
        shortcuts = [{**asdict(score), "accuracy": score.accuracy} for score in self.shortcuts]
        return {**asdict(self), "shortcuts": shortcuts, "ok": self.ok, "headline": self.headline}

    def to_html(self) -> str:
        """One page of findings; whatever the file said is escaped."""
        state = "<span class='ok'>no error</span>" if self.ok else "<span class='bad'>errors</span>"
        figures = [(n, f"{getattr(self, n):,}") for n in ("checked", "wrong_labels", "ambiguous", "duplicates", "leaks")]
        body = [f"<h1>Audit of {escape(Path(self.path).name)} as {escape(self.family)}: {state}</h1>"]
        body.append(f"<p><b>{escape(self.headline)}</b></p>")
        body.append(table(("finding", "count"), [*figures, *((code, f"{n:,}") for code, n in self.counts.items())]))
        if self.shortcuts:
            rows = [(s.name, s.reader, f"{s.accuracy:.1%}", f"{s.examples:,}") for s in self.shortcuts]
            body.append("<h2>What a careless reader scores</h2>" + table(("reader", "who", "right", "of"), rows))
        if self.survey:
            body.append("<h2>Figures</h2>" + "".join(self._pictures()) + table(("figure", "value"), list(flat(self.survey))))
        listed = [(p.severity, p.code, p.place, p.text[:500]) for p in self.problems[:2_000]]
        if listed:
            cut = f"<p class='soft'>the first 2,000 of {len(self.problems):,}</p>" if len(self.problems) > len(listed) else ""
            body.append("<h2>Problems</h2>" + cut + table(("severity", "code", "place", "text"), listed))
        return page(f"Audit of {Path(self.path).name}", "".join(body))

    def _pictures(self) -> Iterable[str]:
        """Charts of the figures, where the family draws them."""
        family = find_family(self.family)
        return family.survey_pictures(self.survey).values() if isinstance(family, Picturing) else ()


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
    others = {_form_of(found, item) for item in read_rows(found, against) if isinstance(item, Example)} if against else set()
    if against and not others:
        raise FileError(_nothing(against, found))
    checked = leaks = 0
    for item in read_rows(found, path):
        if isinstance(item, Problem):
            problems.append(item)
            continue
        place = str(item.meta.get("place", item.id))
        for problem in judge(found, item):
            problems.append(Problem(problem.code, problem.text, problem.severity, problem.place or place))
            rows_with.setdefault(problem.code, set()).add(checked)
        form = _form_of(found, item)
        forms[form] += 1
        if form in others:
            leaks += 1
            problems.append(Problem("leak", f"the same example is in {Path(str(against)).name}", place=place))
        checked += 1
        tick(1)
        if len(kept) < SURVEYED:
            kept.append(item)
    if not checked and not problems:
        raise FileError(_nothing(path, found))
    nothing: tuple[ShortcutScore, ...] = ()
    unknown: Mapping[str, Any] = {}
    shortcuts = _figures(lambda: tuple(shortcut_scores(kept[:: max(1, -(-len(kept) // SHORTCUT_ROWS))])), nothing, problems)
    survey = _figures(lambda: found.survey(kept) if isinstance(found, Surveying) and kept else unknown, unknown, problems)
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
        shortcuts=shortcuts,
        survey=survey,
    )


# A file of somebody else may hold anything. What a family's reader or oracle did not foresee is a finding about the file, so any
# exception is one; it names its type, so that a fault of ours can still be told from a fault of the file.


def count_rows(path: str | Path, family: str) -> int:
    """How many rows of a released file `audit` will judge. Reads the file once, which is quick beside judging it."""
    return sum(isinstance(item, Example) for item in read_rows(find_family(family), path))


def _nothing(path: str | Path, family: Family) -> str:
    return f"{shown(str(path))} holds no example of {family.NAME}; is it the right file, and the right --as?"


def read_rows(family: Family, path: str | Path) -> Iterator[Example | Problem]:
    """The family's reading of a file; where the reader fails, one last Problem instead of what follows."""
    try:
        yield from family.read(Path(path))
    except RecombineError:
        raise
    except Exception as fault:
        yield Problem("unreadable", f"the rest of the file cannot be read as {family.NAME}: {_told(fault)}", place=str(path))


def judge(family: Family, item: Example) -> list[Problem]:
    """Every broken law of a row of somebody else's file; one Problem if the oracle cannot make anything of the row."""
    try:
        return family.validate(item)
    except Exception as fault:
        return [Problem("malformed", f"the row is not an example of {family.NAME}: {_told(fault)}")]


def _form_of(family: Family, item: Example) -> bytes:
    """A short digest of the canonical form; of the inputs where a malformed row has no canonical form."""
    try:
        canonical = family.canonical(item)
    except Exception:  # the row's own problem is told by `judge`
        canonical = repr(sorted(map(repr, item.inputs.items()))).encode("utf-8", "replace")
    return hashlib.blake2b(canonical, digest_size=12).digest()


def _figures(count: Callable[[], T], nothing: T, problems: list[Problem]) -> T:
    """Figures about the whole file; where malformed rows make them impossible, a Problem and no figures."""
    try:
        return count()
    except Exception as fault:
        problems.append(Problem("uncounted", f"figures about the file cannot be made: {_told(fault)}"))
        return nothing


def _told(fault: Exception) -> str:
    return f"{type(fault).__name__}: {shown(str(fault), 200)}"
