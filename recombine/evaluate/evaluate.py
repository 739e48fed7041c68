"""The whole of an evaluation: runs over the parts of a folder, baselines beside them, comparisons, and the findings as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from pathlib import Path
from typing import Any, Literal

from recombine import __version__
from recombine.core import Example
from recombine.data.datasets import Dataset
from recombine.data.folders import Folder, open_folder
from recombine.data.plan import plan_part
from recombine.errors import UsageError, shown
from recombine.evaluate.answerers import ANSWERERS, MADE_UP, SHORTCUT, TRAIN_ROWS, make_answerer, shortcut_names
from recombine.evaluate.answers import Answer
from recombine.evaluate.diagnosis import NamedMistake, diagnose
from recombine.evaluate.dials import joined_curves
from recombine.evaluate.pooled import Pooled, Stratum, pool
from recombine.evaluate.published import published
from recombine.evaluate.scoring import Run, answering, from_file, score_run
from recombine.evaluate.statistics import Comparison, Interval, compare, holm, interval, tied_groups
from recombine.jobs import make_job
from recombine.pages import table

ALL_BASELINES = "all-baselines"
Progress = Callable[[int], None]
Missing = Literal["error", "wrong", "skip"]
"""What becomes of rows that a run does not answer."""


@dataclass(frozen=True)
class Evaluation:
    """Runs over the same examples. `baselines` names those that are built in."""

    sources: Mapping[str, str]
    recipes: Mapping[str, str]
    runs: Sequence[Run]
    baselines: frozenset[str] = frozenset()
    mistakes: Mapping[tuple[str, str], list[NamedMistake]] = field(default_factory=dict)

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
    on_rows: Progress | None = None,
) -> Evaluation:
    """Score runs (name -> answers by id) over the folder's parts that they answer, with built-in answerers beside them.

    `missing` says what becomes of rows that a run does not answer: they are an error, count as `wrong`, or are left out (`skip`).
    `rows` restricts everything to these ids.
    """
    folder = data if isinstance(data, Folder) else open_folder(data)
    runs: list[Run] = []
    names: set[str] = set()
    known: set[str] = set()
    for number in _chosen_parts(folder, answers, parts, rows):
        job = folder.plan.parts[number].job
        whole = Dataset(folder.family, folder.plan.parts[number], folder, number)
        examples = [example for example in whole if rows is None or example.id in rows]
        known |= {example.id for example in examples}
        if not examples:
            continue
        where: dict[str, Any] = {"split": job.split, "part": job.part, "on_rows": on_rows}
        for name, given in answers.items():
            if any(example.id in given for example in examples):
                _check_missing(name, given, examples, missing, f"{folder.family.NAME}/{job.split}/{job.part}")
                runs.append(score_run(name, examples, from_file(given), skips_missing=missing == "skip", **where))
        train = train_examples(folder, number)
        for name in baseline_names(baselines, examples):
            names.add(name)
            runs.append(score_run(name, examples, answering(make_answerer(name, train)), **where))
    if rows is None:
        _check_ids(answers, known, str(folder.path))
    mistakes = {(run.name, run.key): diagnose(run) for run in runs if run.name not in names}
    recipes = {f"{folder.family.NAME}/{p.job.split}/{p.job.part}": p.job.recipe for p in folder.plan.parts}
    return Evaluation(
        {str(folder.path): str(folder.manifest.get("fingerprint", ""))}, recipes, runs, frozenset(names), mistakes
    )


def evaluate_all(data: Sequence[str | Path | Folder], answers: Mapping[str, Mapping[str, Answer]], **words: Any) -> Evaluation:
    """`evaluate` over several folders, as one evaluation. Each run's answers go to the folders that they belong to."""
    folders = [item if isinstance(item, Folder) else open_folder(item) for item in data]
    owners = {part.job.key: number for number, folder in enumerate(folders) for part in folder.plan.parts}
    places = ", ".join(str(folder.path) for folder in folders)
    for name, given in answers.items():
        _check_ids({name: given}, {i for i in given if i.rpartition("/")[0] in owners}, places)
    found = []
    for number, folder in enumerate(folders):
        own = {
            name: {k: v for k, v in given.items() if owners[k.rpartition("/")[0]] == number} for name, given in answers.items()
        }
        found.append(evaluate(folder, {name: given for name, given in own.items() if given}, **words))
    return join_evaluations(found)


def _check_missing(name: str, given: Mapping[str, Answer], examples: Sequence[Example], missing: Missing, key: str) -> None:
    """Rows without an answer are an error unless the caller said what becomes of them."""
    answered = sum(example.id in given for example in examples)
    if missing == "error" and answered < len(examples):
        raise UsageError(
            f"{name} answers {answered:,} of the {len(examples):,} rows of {key}. Say --missing skip to score the answered rows only, "
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
    )


def _chosen_parts(
    folder: Folder, answers: Mapping[str, Mapping[str, Answer]], parts: Sequence[str], rows: Set[str] | None
) -> list[int]:
    """Parts that were named; else those that some run answers; else those of the named rows; else all but train and its like."""
    jobs = [part.job for part in folder.plan.parts]
    if parts:
        return list(dict.fromkeys(folder.part(*_split_part(name)) for name in parts))
    if rows is not None and not answers:
        return [i for i, job in enumerate(jobs) if job.key in {identifier.rpartition("/")[0] for identifier in rows}]
    prefixes = {identifier.rpartition("/")[0] for given in answers.values() for identifier in given}
    answered = [i for i, job in enumerate(jobs) if job.key in prefixes]
    held_out = [i for i, job in enumerate(jobs) if job.part not in ("train", "fit")]
    return answered or ([] if answers else held_out or list(range(len(jobs))))


def _split_part(name: str) -> tuple[str | None, str]:
    split, slash, part = name.partition("/")
    return (split, part) if slash else (None, split)


def _check_ids(answers: Mapping[str, Mapping[str, Answer]], known: Set[str], place: str) -> None:
    """Answers to rows that are not there are an error."""
    for name, given in answers.items():
        strange = [identifier for identifier in given if identifier not in known]
        if strange:
            text = f"{name} answers {len(strange):,} ids that are not in {shown(place)}, the first is {shown(strange[0])}."
            raise UsageError(f"{text} Were they made for another seed, size or version?")


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
    """The answerers to run; `all-baselines` is every one of them, with every shortcut reader."""
    names: list[str] = []
    for name in wanted:
        readers = shortcut_names(examples[:40]) if name == ALL_BASELINES else []
        built_in = [known for known in ANSWERERS if known != MADE_UP]
        names += [*built_in, *(SHORTCUT + reader for reader in readers)] if name == ALL_BASELINES else [name]
    return list(dict.fromkeys(names))


# --- findings as a plain value ---------------------------------------------------------------------------------------


def findings(evaluation: Evaluation) -> dict[str, Any]:
    """Everything the report says, ready for JSON."""
    return {
        "package": f"recombine {__version__}",
        "data": dict(evaluation.sources),
        "baselines": sorted(evaluation.baselines),
        "parts": {key: _part_findings(evaluation, key) for key in evaluation.parts()},
        "comparisons": _comparison_findings(evaluation),
        "pooled": _pooled_findings(evaluation),
        "dials": _dial_findings(evaluation),
        "profile": profile(evaluation),
        "gaps": gaps(evaluation),
    }


def _interval(found: Interval) -> dict[str, Any]:
    return {
        "mean": found.mean,
        "low": found.low,
        "high": found.high,
        "rows": found.rows,
        "clusters": found.clusters,
        "design_effect": found.design_effect,
        "intra_cluster_correlation": found.correlation,
        "text": found.text,
    }


def _part_findings(evaluation: Evaluation, key: str) -> dict[str, Any]:
    family, split, part = key.split("/")
    runs = {}
    for run in evaluation.of(key):
        mistakes = evaluation.mistakes.get((run.name, key), [])
        runs[run.name] = {
            "asked": run.asked or len(run.records),
            "answered": run.answered,
            "coverage": run.coverage,
            "accuracy": _interval(run.accuracy()),
            "accuracy_of_answered": _interval(run.answered_accuracy()),
            "statuses": run.statuses(),
            "details": run.details(),
            "curves": {d: [{"at": x, **_interval(i)} for x, i in run.curve(d)] for d in _dials(run)},
            "thresholds": {d: vars(run.threshold(d)) for d in _dials(run)},
            "mistakes": [{**vars(m), "sentence": m.sentence, "above_chance": m.is_above_chance} for m in mistakes],
        }
    printed = [vars(p) | {"text": p.text} for p in published(family, split, part, evaluation.recipes.get(key, ""))]
    return {"recipe": evaluation.recipes.get(key, ""), "published": printed, "runs": runs}


def _dial_findings(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Accuracy along each dial of a family, joined over its sets. Shortcut readers and the oracle are left out."""
    drawn = [run for run in evaluation.runs if not run.name.startswith(SHORTCUT) and run.name != "oracle"]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for curve in joined_curves(drawn):
        item = found.setdefault(
            (curve.family, curve.dial), {"family": curve.family, "dial": curve.dial, "sets": [], "runs": {}}
        )
        item["sets"] = list(dict.fromkeys([*item["sets"], *curve.keys]))
        points = [{"at": x, **_interval(i)} for x, i in curve.points]
        item["runs"][curve.run] = {"points": points, "threshold": vars(curve.threshold)}
    return list(found.values())


def _dials(run: Run) -> list[str]:
    return list(run.records[0].dials) if run.records else []


def _comparison_findings(evaluation: Evaluation) -> list[dict[str, Any]]:
    found = []
    for (a, b), by_part in evaluation.comparisons().items():
        p_values = {key: c.p if c.p is not None else c.mcnemar for key, c in by_part.items()}
        adjusted = holm(p_values)  # over the sets
        for key, comparison in by_part.items():
            means = {run.name: run.accuracy().mean for run in evaluation.of(key) if run.name in (a, b)}
            ties = tied_groups(means, {(a, b): adjusted[key]})
            found.append(
                {
                    "a": a,
                    "b": b,
                    "part": key,
                    **vars(comparison),
                    "decided_by": "clustered t" if comparison.p is not None else "McNemar",
                    "decisive_p": p_values[key],
                    "holm": adjusted[key],
                    "groups": ties,
                }
            )
    return found


def _pooled_findings(evaluation: Evaluation) -> list[dict[str, Any]]:
    return [{**vars(item), "sentence": item.sentence, "decided": item.is_decided} for item in evaluation.pooled()]


def profile(evaluation: Evaluation) -> dict[str, dict[str, Any]]:
    """The systematicity profile: for each run, accuracy on each axis over all families' held-out sets."""
    found: dict[str, dict[str, Any]] = {}
    for name in evaluation.names():
        by_axis: dict[str, list[Run]] = {}
        for run in evaluation.runs:
            if run.name == name and run.part != "validation":
                by_axis.setdefault(run.axis, []).append(run)
        found[name] = {}
        for axis, runs in sorted(by_axis.items()):
            values = [value for run in runs for value in run.values]
            clusters = [f"{run.key}:{cluster}" for run in runs for cluster in run.clusters]
            found[name][axis] = {**_interval(interval(values, clusters)), "sets": [run.key for run in runs]}
    return found


def gaps(evaluation: Evaluation) -> list[dict[str, Any]]:
    """In-distribution minus held-out accuracy, where a run covers both for one family."""
    found = []
    for name in evaluation.names():
        by_family: dict[str, list[Run]] = {}
        for run in evaluation.runs:
            if run.name == name:
                by_family.setdefault(run.family, []).append(run)
        for family, runs in by_family.items():
            known = [run for run in runs if run.axis == "random" or run.part == "validation"]
            for run in runs:
                if run not in known and known:
                    inside = known[0].accuracy()
                    found.append(
                        {
                            "run": name,
                            "family": family,
                            "known": known[0].key,
                            "held_out": run.key,
                            "gap": inside.mean - run.accuracy().mean,
                        }
                    )
    return found
