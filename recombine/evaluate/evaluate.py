"""The whole of an evaluation: runs over the parts of a folder, baselines beside them, comparisons, and the findings as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from pathlib import Path
from typing import Any, Literal, TypeVar

from recombine.abilities import Answering
from recombine.core import Example, Family
from recombine.data.datasets import Dataset
from recombine.data.folders import Folder, open_folder
from recombine.data.plan import plan_part
from recombine.errors import UnknownName, UsageError, shown
from recombine.evaluate.answerers import ANSWERERS, MADE_UP, SHORTCUT, TRAIN_ROWS, make_answerer, shortcut_names
from recombine.evaluate.answers import Answer
from recombine.evaluate.diagnosis import NamedMistake, diagnose
from recombine.evaluate.pooled import Pooled, Stratum, pool
from recombine.evaluate.rows import Rows, part_rows
from recombine.evaluate.scoring import Run, answering, from_file, score_run
from recombine.evaluate.statistics import Comparison, compare, holm
from recombine.jobs import make_job
from recombine.pages import table

T = TypeVar("T")
ALL_BASELINES = "all-baselines"
LONGEST_INDEX = 18
"""Digits of the longest index in an id."""
Progress = Callable[[int], None]
Missing = Literal["error", "wrong", "skip"]
"""How to treat rows that a run does not answer: raise an error, count them as wrong, or skip them."""


@dataclass(frozen=True)
class Evaluation:
    """Runs over the same examples. `baselines` names those that are built in."""

    sources: Mapping[str, str]
    recipes: Mapping[str, str]
    runs: Sequence[Run]
    baselines: frozenset[str] = frozenset()
    mistakes: Mapping[tuple[str, str], list[NamedMistake]] = field(default_factory=dict)
    where: str = ""
    """The predicate that chose the rows, in the words of its caller; empty if all rows are there."""
    unscored: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Run -> set -> how many of the run's answers are not scored, because that set is not evaluated."""
    absent: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Run -> the evaluated sets of which it answers no row, where missing rows are left out."""

    def parts(self) -> list[str]:
        """`family/split/part` of every set, in order."""
        return list(dict.fromkeys(run.key for run in self.runs))

    def names(self) -> list[str]:
        """The runs' names, given ones first."""
        names = list(dict.fromkeys(run.name for run in self.runs))
        return sorted(names, key=lambda name: name in self.baselines)

    def of(self, key: str) -> list[Run]:
        """The runs over one part."""
        return [run for run in self.runs if run.key == key]

    def comparisons(self) -> dict[tuple[str, str], dict[str, Comparison]]:
        """For each pair of given runs: part -> paired comparison."""
        given = [name for name in self.names() if name not in self.baselines]
        found: dict[tuple[str, str], dict[str, Comparison]] = {}
        for a, b in combinations(given, 2):
            for key in self.parts():
                pair = {run.name: run for run in self.of(key)}
                if a in pair and b in pair and (both := _shared(pair[a], pair[b])):
                    found.setdefault((a, b), {})[key] = compare(*both)
        return found

    def _repr_html_(self) -> str:
        """The accuracies as a table, for notebooks."""
        rows = [(run.key, run.name, run.coverage or f"{len(run.records):,} rows", run.accuracy().text) for run in self.runs]
        return table(("set", "answerer", "answered", "accuracy"), rows)

    def pooled(self) -> list[Pooled]:
        """For each pair of given runs: one comparison over all sets that both answer; Holm's correction is over the pairs."""
        given = [name for name in self.names() if name not in self.baselines]
        found = []
        for a, b in combinations(given, 2):
            strata = {}
            for key in self.parts():
                pair = {run.name: run for run in self.of(key)}
                if a in pair and b in pair and (both := _shared(pair[a], pair[b])):
                    first, second, clusters = both
                    strata[key] = Stratum(first, second, [f"{pair[a].family}:{cluster}" for cluster in clusters])
            if strata:
                found.append(pool(a, b, strata))
        adjusted = holm({str(number): item.p for number, item in enumerate(found) if item.p is not None})
        return [replace(item, holm=adjusted.get(str(number))) for number, item in enumerate(found)]


def _shared(a: Run, b: Run) -> tuple[list[float], list[float], list[str]] | None:
    """The two runs' scores and clusters on the rows that both have; None if there are none."""
    other = {record.id: record.value for record in b.records}
    both = [(r.value, other[r.id], r.cluster) for r in a.records if r.id in other]
    return ([x for x, _, _ in both], [y for _, y, _ in both], [c for _, _, c in both]) if both else None


def evaluate(
    data: str | Path | Folder,
    answers: Mapping[str, Mapping[str, Answer]],
    *,
    baselines: Sequence[str] = ("majority",),
    parts: Sequence[str] = (),
    missing: Missing = "error",
    rows: Set[str] | None = None,
    where: str | None = None,
    on_rows: Progress | None = None,
) -> Evaluation:
    """Score runs (name -> answers by id) over the folder's parts that they answer, with built-in answerers beside them.

    `missing` says what becomes of rows that a run does not answer: they are an error, count as `wrong`, or are left out (`skip`).
    `rows` restricts everything to these ids, `where` to the rows that a predicate over the family's facets is true of.
    """
    folder = data if isinstance(data, Folder) else open_folder(data)
    for name, given in answers.items():
        _check_name(name, folder.family)
        _check_ids(f"{name} answers", [i for i in given if not _holds(folder, i)], str(folder.path))
    if rows is not None:
        _check_ids("the rows to score name", [i for i in rows if not _holds(folder, i)], str(folder.path))
    runs: list[Run] = []
    names: set[str] = set()
    absent: dict[str, list[str]] = {}
    numbers = _chosen_parts(folder, answers, parts, rows)
    for number in numbers:
        job = folder.plan.parts[number].job
        whole = Dataset(folder.family, folder.plan.parts[number], folder, number)
        chosen = part_rows(whole, rows, where)
        if not chosen:
            continue
        key = f"{folder.family.NAME}/{job.split}/{job.part}"
        words: dict[str, Any] = {"split": job.split, "part": job.part, "on_rows": on_rows}
        for name, given in answers.items():
            _check_missing(name, given, chosen, missing, key)
            if missing == "skip" and not any(identifier in given for identifier in chosen.ids):
                absent.setdefault(name, []).append(key)
                continue
            runs.append(score_run(name, chosen, from_file(given), skips_missing=missing == "skip", **words))
        train = train_examples(folder, number)
        for name in baseline_names(baselines, chosen):
            names.add(name)
            runs.append(
                score_run(name, chosen, answering(make_answerer(name, train, folder.family)), named=not answers, **words)
            )
    mistakes = {(run.name, run.key): diagnose(run) for run in runs if run.name not in names}
    recipes = {f"{folder.family.NAME}/{p.job.split}/{p.job.part}": p.job.recipe for p in folder.plan.parts}
    return Evaluation(
        {str(folder.path): str(folder.manifest.get("fingerprint", ""))},
        recipes,
        runs,
        frozenset(names),
        mistakes,
        where or "",
        _unscored(folder, answers, numbers) if rows is None else {},
        absent,
    )


def evaluate_all(data: Sequence[str | Path | Folder], answers: Mapping[str, Mapping[str, Answer]], **words: Any) -> Evaluation:
    """`evaluate` over several folders, as one evaluation. Each run's answers go to the folders that they belong to."""
    folders = [item if isinstance(item, Folder) else open_folder(item) for item in data]
    places = ", ".join(str(folder.path) for folder in folders)
    owners = _owners(folders)
    for name, given in answers.items():
        _check_ids(f"{name} answers", [i for i in given if i.rpartition("/")[0] not in owners], places)
    rows: Set[str] | None = words.pop("rows", None)
    _check_ids("the rows to score name", [i for i in rows or () if i.rpartition("/")[0] not in owners], places)
    found = [
        evaluate(folder, _own(number, owners, answers), rows=None if rows is None else _rows_of(number, owners, rows), **words)
        for number, folder in enumerate(folders)
    ]
    joined = join_evaluations(found)
    if words.get("where") is not None and not joined.runs:
        raise UsageError(f"no row of {places} fits the predicate {shown(words['where'])}, or no run answers one that does.")
    for name in words.get("baselines", ()):
        if name.startswith(SHORTCUT) and name not in joined.baselines:
            readers = {
                reader
                for folder in folders
                for number, part in enumerate(folder.plan.parts)
                for reader in shortcut_names(Dataset(folder.family, part, folder, number)[:40])
            }
            raise UnknownName("shortcut reader", name.removeprefix(SHORTCUT), readers)
    return joined


def _owners(folders: Sequence[Folder]) -> dict[str, int]:
    """The key of each part -> the number of its folder."""
    return {part.job.key: number for number, folder in enumerate(folders) for part in folder.plan.parts}


def _own(number: int, owners: Mapping[str, int], answers: Mapping[str, Mapping[str, Answer]]) -> dict[str, dict[str, Answer]]:
    """Every run with its answers to one folder."""
    return {
        name: {k: v for k, v in given.items() if owners.get(k.rpartition("/")[0]) == number} for name, given in answers.items()
    }


def _rows_of(number: int, owners: Mapping[str, int], rows: Set[str]) -> set[str]:
    """The ids that belong to one folder."""
    return {identifier for identifier in rows if owners.get(identifier.rpartition("/")[0]) == number}


def planned_rows(
    data: Sequence[Path | str | Folder],
    answers: Mapping[str, Mapping[str, Answer]],
    baselines: Sequence[str],
    parts: Sequence[str] = (),
    rows: Set[str] | None = None,
    missing: Missing = "error",
) -> int:
    """How many verdicts `evaluate_all` will give, for a bar: rows of each chosen part times runs and built-in answerers."""
    total = 0
    keys_of = {name: {identifier.rpartition("/")[0] for identifier in given} for name, given in answers.items()}
    folders = [item if isinstance(item, Folder) else open_folder(item) for item in data]
    owners = _owners(folders)
    for place, folder in enumerate(folders):
        for number in _chosen_parts(folder, _own(place, owners, answers), parts, rows):
            part = folder.plan.parts[number]
            chosen = part.rows if rows is None else sum(identifier.rpartition("/")[0] == part.job.key for identifier in rows)
            runs = sum(missing == "wrong" or part.job.key in keys for keys in keys_of.values())
            total += chosen * (runs + len(baseline_names(baselines, Dataset(folder.family, part, folder, number)[:40])))
    return total


def _check_missing(name: str, given: Mapping[str, Answer], rows: Rows, missing: Missing, key: str) -> None:
    """Rows without an answer are an error unless the caller said what becomes of them."""
    answered = sum(identifier in given for identifier in rows.ids)
    if missing == "error" and answered < len(rows):
        raise UsageError(
            f"{name} answers {answered:,} of the {len(rows):,} rows of {key}. Say --missing skip to score the answered rows only, "
            "--missing wrong to count the others as wrong, or --rows FILE to name the rows to score."
        )


def join_evaluations(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Several families' evaluations as one, for one report."""
    return Evaluation(
        {k: v for e in evaluations for k, v in e.sources.items()},
        {k: v for e in evaluations for k, v in e.recipes.items()},
        [run for e in evaluations for run in e.runs],
        frozenset().union(*(e.baselines for e in evaluations)),
        {k: v for e in evaluations for k, v in e.mistakes.items()},
        evaluations[0].where if evaluations else "",
        _joined([e.unscored for e in evaluations], lambda a, b: {**a, **b}),
        _joined([e.absent for e in evaluations], lambda a, b: [*a, *b]),
    )


def _joined(tables: Sequence[Mapping[str, T]], join: Callable[[T, T], T]) -> dict[str, T]:
    """Several tables as one; `join` makes one value of two of the same name."""
    found: dict[str, T] = {}
    for table_of in tables:
        for name, value in table_of.items():
            found[name] = join(found[name], value) if name in found else value
    return found


def _chosen_parts(
    folder: Folder, answers: Mapping[str, Mapping[str, Answer]], parts: Sequence[str], rows: Set[str] | None
) -> list[int]:
    """The parts to evaluate, by number.

    These are the named parts; or the parts of the named rows if there are no runs; or the parts that some run answers; or, without
    runs, all parts but `train` and `fit`.
    """
    jobs = [part.job for part in folder.plan.parts]
    if parts:
        return list(dict.fromkeys(folder.part(*_split_part(name)) for name in parts))
    if rows is not None and not any(answers.values()):
        return [i for i, job in enumerate(jobs) if job.key in {identifier.rpartition("/")[0] for identifier in rows}]
    prefixes = {identifier.rpartition("/")[0] for given in answers.values() for identifier in given}
    answered = [i for i, job in enumerate(jobs) if job.key in prefixes]
    held_out = [i for i, job in enumerate(jobs) if job.part not in ("train", "fit")]
    return answered or held_out or list(range(len(jobs)))


def _split_part(name: str) -> tuple[str | None, str]:
    split, slash, part = name.partition("/")
    return (split, part) if slash else (None, split)


def _check_name(name: str, family: Family) -> None:
    """A run that is called like a built-in answerer would take its place in the report."""
    own: Sequence[str] = list(family.ANSWERERS) if isinstance(family, Answering) else []
    if not name.strip():
        raise UsageError(f"a run is called {shown(name)}; give it a name: --answers mine=FILE.")
    if name in (*ANSWERERS, *own) or name.startswith(SHORTCUT):
        raise UsageError(f"a run may not be called {shown(name)}, as a built-in answerer is; name it: --answers mine=FILE.")


def _check_ids(who: str, strange: Sequence[str], place: str) -> None:
    """Ids of rows that are not there are an error."""
    if strange:
        text = f"{who} {len(strange):,} ids that are not in {shown(place)}, the first is {shown(strange[0])}."
        raise UsageError(f"{text} Were they made for another seed, size or version?")


def _holds(folder: Folder, identifier: str) -> bool:
    """Whether a part of the folder, evaluated or not, has a row with this id."""
    key, _, index = identifier.rpartition("/")
    part = next((part for part in folder.plan.parts if part.job.key == key), None)
    if part is None or not (index.isascii() and index.isdigit()) or len(index) > LONGEST_INDEX:
        return False
    return part.job.id(int(index)) == identifier and part.has(int(index))


def _unscored(folder: Folder, answers: Mapping[str, Mapping[str, Answer]], numbers: Sequence[int]) -> dict[str, dict[str, int]]:
    """Run -> set -> how many of its answers belong to a part that is not evaluated."""
    jobs = [part.job for number, part in enumerate(folder.plan.parts) if number not in numbers]
    sets = {job.key: f"{folder.family.NAME}/{job.split}/{job.part}" for job in jobs}
    counts = {name: Counter(identifier.rpartition("/")[0] for identifier in given) for name, given in answers.items()}
    found = {name: {sets[key]: n for key, n in count.items() if key in sets} for name, count in counts.items()}
    return {name: of for name, of in found.items() if of}


def train_examples(folder: Folder, number: int) -> list[Example]:
    """Some examples of the train part that goes with a part: from the folder if it is there, else generated.

    A folder of an older version without its train part gets the rows that this package makes.
    """
    job = folder.plan.parts[number].job
    split = folder.family.SPLITS[job.split]
    if "train" not in split.parts and "train" not in split.aliases:
        return []
    train = make_job(folder.family, job.split, "train", job.recipe, job.seed, dict(job.options))
    own = replace(train, version=job.version)
    for place, part in enumerate(folder.plan.parts):
        if part.job.key == own.key:
            return list(islice(Dataset(folder.family, part, folder, place), TRAIN_ROWS))
    return list(islice(Dataset(folder.family, plan_part(folder.family, train, None)), TRAIN_ROWS))


def baseline_names(wanted: Sequence[str], examples: Sequence[Example]) -> list[str]:
    """The answerers to run; `all-baselines` is every one of them, with every shortcut reader.

    A shortcut reader that no example knows is left out: it would give the right answer to every row.
    """
    names: list[str] = []
    for name in wanted:
        if name.startswith(SHORTCUT) and not any(name.removeprefix(SHORTCUT) in shortcut_names([e]) for e in examples):
            continue
        readers = shortcut_names(examples[:40]) if name == ALL_BASELINES else []
        family = examples[0].family if examples else None
        own: Sequence[str] = list(family.ANSWERERS) if isinstance(family, Answering) else []
        built_in = [known for known in (*ANSWERERS, *own) if known != MADE_UP]
        names += [*built_in, *(SHORTCUT + reader for reader in readers)] if name == ALL_BASELINES else [name]
    return list(dict.fromkeys(names))
