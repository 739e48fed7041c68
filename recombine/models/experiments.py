"""One run of an experiment: data by name, a model, a seed and a scale; trained, tested, and its score written beside it.

The folder of a run is named by what was run, so that two tables that share a run train it once, a killed queue goes on where
it stopped, and a run made by hand counts.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from recombine import keys
from recombine.errors import UnknownName
from recombine.files import read_json, read_lines, read_text, write_json, writing_text

if TYPE_CHECKING:
    from recombine.core import Example
    from recombine.data.datasets import Dataset
    from recombine.models.base import Model
    from recombine.models.parts import Columns
    from recombine.models.train import Report

SAMPLE_FROM = 60_000
"""Parts of up to this many rows are generated whole when only a sample of them is wanted."""
TEST, ANSWERS = "test.json", "answers-{part}.jsonl"


@dataclass(frozen=True)
class Scale:
    """How much of the published experiment is run. What differs from `paper` is part of every report.

    `rows`: at most this many training rows, `test_rows`: at most this many rows for validation and each test (0: all).
    `epochs`: at most this many, and never more than the model's own (0: the model's own).
    `patience`: stop after this many epochs without a better validation score (0: never, as in the papers).
    `changes`: settings of the model that are made smaller; `training`: settings of the training that are changed.
    `smaller`: further settings, of one model each, by its name.
    """

    name: str
    seeds: int
    epochs: int
    patience: int
    rows: int = 0
    test_rows: int = 0
    changes: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    smaller: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, model: str) -> Scale:
        """The scale as this model meets it."""
        return replace(self, changes={**self.changes, **self.smaller.get(model, {})}, smaller={})

    def sentence(self) -> str:
        """What this scale means, for the report."""
        parts = [
            f"{self.seeds} seed{'s' * (self.seeds > 1)}",
            f"at most {self.epochs} epochs" if self.epochs else "the model's own epochs",
        ]
        parts.append(f"stopped after {self.patience} epochs without improvement" if self.patience else "no patience")
        parts.append(f"{self.rows:,} training rows" if self.rows else "all training rows")
        parts.append(f"{self.test_rows:,} test rows" if self.test_rows else "all test rows")
        parts += [f"{name} = {value}" for name, value in {**self.changes, **self.training}.items()]
        parts += [f"{model} with {_settings(changes)}" for model, changes in self.smaller.items()]
        return f"{self.name}: " + ", ".join(parts)


def _settings(changes: Mapping[str, Any]) -> str:
    return " and ".join(f"{name} = {value}" for name, value in changes.items())


class Rows(Protocol):
    """Where an experiment's rows come from: `Source` for families, `translation.Translation` for sentence pairs."""

    @property
    def fit(self) -> str:
        """The part to learn from."""

    @property
    def validation(self) -> str:
        """The part to stop by."""

    @property
    def tests(self) -> tuple[str, ...]:
        """The parts to measure."""

    def name(self) -> str:
        """The rows as part of a folder's name."""

    def load(self, part: str, rows: int, seed: int) -> list[Example]:
        """The rows of a part, at most `rows` of them (0: all), for the run with this seed."""

    def metric(self, examples: Sequence[Example], answers: Sequence[str]) -> float:
        """The score that validation uses; 1.0 is perfect."""

    def measures(self, examples: Sequence[Example], answers: Sequence[str]) -> dict[str, Any]:
        """Further measures on a test part, in addition to the mean score."""

    def is_measured(self, record: Mapping[str, Any]) -> bool:
        """Whether a test part's record holds all that these rows measure (another table may have asked for less)."""


@dataclass(frozen=True)
class Source:
    """Where the rows come from: a family, split, recipe and options, and the parts to fit, to validate and to test on.

    A test may stand in another split: `a1/test`. `fresh`: generate with the run's own seed (every run sees new data);
    otherwise always with seed 0. `by`: a column by whose values test scores are also given apart. `hold`: the fraction of the rows to
    fit that is held back for validation, drawn anew for every seed; the part `validation` is then not used.
    """

    family: str
    split: str
    fit: str = "fit"
    validation: str = "validation"
    tests: tuple[str, ...] = ("test",)
    recipe: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    fresh: bool = False
    by: str = ""
    hold: float = 0.0

    def name(self) -> str:
        """The source as part of a folder's name."""
        dials = [f"{key}={_short(key, value)}" for key, value in sorted(self.options.items())]
        dials += [f"hold={self.hold}"] if self.hold else []
        recipe = [self._recipe_name()] if self.recipe else []
        return "-".join([self.family, self.split, *recipe, *dials, *(["fresh"] if self.fresh else [])])

    def _recipe_name(self) -> str:
        """The recipe, and its version from the second on: runs on rows of an older version have another name."""
        version = self._dataset(self.validation if not self.hold else self.fit, 0, 0).job.version
        return str(self.recipe) if version == 1 else f"{self.recipe}@{version}"

    def load(self, part: str, rows: int, seed: int) -> list[Example]:
        """The rows of a part, at most `rows` of them (0: all).

        Fewer than all are a sample drawn over the whole part (a part may be ordered, say by length); of a part too large to
        generate for that they are its first rows.
        """
        from recombine.models.batching import permutation

        if self.hold and part in (self.fit, self.validation):
            whole = replace(self, hold=0.0).load(self.fit, 0, seed)
            cut = round(len(whole) * self.hold)
            order = permutation(len(whole), "held back", self.name(), seed).tolist()
            kept = order[:cut] if part == self.validation else order[cut:]
            return [whole[i] for i in (kept[:rows] if rows else kept)]
        loaded = self._dataset(part, 0, seed)
        if not rows or rows >= len(loaded):
            return list(loaded)
        if len(loaded) > SAMPLE_FROM:
            return list(self._dataset(part, rows, seed))
        return loaded.pick(permutation(len(loaded), "sample", loaded.job.key)[:rows].tolist())

    def columns(self, part: str, rows: int, seed: int) -> Columns:
        """The same rows in the same order as columns; not for rows of which some are held back."""
        import numpy as np

        from recombine.models.batching import permutation
        from recombine.models.parts import Columns

        assert not self.hold, "rows that are split for validation are examples"
        loaded = self._dataset(part, 0, seed)
        if not rows or rows >= len(loaded):
            return Columns(tuple(loaded.batches()))
        if len(loaded) > SAMPLE_FROM:
            return Columns(tuple(self._dataset(part, rows, seed).batches()))
        chosen = sorted(permutation(len(loaded), "sample", loaded.job.key)[:rows].tolist())
        return Columns((loaded.plan.at(loaded.family, np.array(chosen, np.int64)),))

    def _dataset(self, part: str, size: int, seed: int) -> Dataset:
        """A part; `size`: this many of its rows (0: all)."""
        from recombine.data.datasets import load

        split, _, name = part.rpartition("/")
        words: dict[str, Any] = {"seed": seed if self.fresh else 0, "recipe": self.recipe, **self.options}
        return load(self.family, split or self.split, name, size=size or None, **words)

    def metric(self, examples: Sequence[Example], answers: Sequence[str]) -> float:
        """The mean of the family's own scores."""
        from recombine.models.train import mean_score

        return mean_score(examples, answers)

    def measures(self, examples: Sequence[Example], answers: Sequence[str]) -> dict[str, Any]:
        """Scores by the values of column `by`, and on leak-free rows, where the family marks them and not all are."""
        from recombine.models.train import scores

        verdicts = list(zip(examples, scores(examples, answers), strict=True))
        found: dict[str, Any] = {}
        if self.by:
            values = sorted({str(e.meta[self.by]) for e in examples})
            found[f"by_{self.by}"] = {v: _share([s for e, s in verdicts if str(e.meta[self.by]) == v]) for v in values}
        fresh = [s for e, s in verdicts if e.meta.get("leak_free")]
        if len(fresh) != len(examples) and any("leak_free" in e.meta for e in examples[:1]):
            found["leak_free"] = _share(fresh)
        return found

    def is_measured(self, record: Mapping[str, Any]) -> bool:
        """Whether the scores by column are there, if they are wanted."""
        return not self.by or f"by_{self.by}" in record


def _short(key: str, value: Any) -> str:
    """An option's value for a folder's name: of a file the hash of what it holds."""
    if key != "templates":
        return str(value)
    return keys.digest(read_text(Path(str(value)))).hex()[:8]


def _share(verdicts: Sequence[float]) -> dict[str, float]:
    return {"rows": len(verdicts), "right": sum(verdicts), "score": sum(verdicts) / max(1, len(verdicts))}


@dataclass(frozen=True)
class Experiment:
    """A source, a model, settings that differ from the model's own, a seed, and a scale."""

    source: Rows
    model: str
    scale: Scale
    seed: int = 0
    config: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The folder's name; equal experiments have equal names."""
        dials = [f"{key}={value}" for key, value in sorted({**self.config, **self.training}.items())]
        name = "--".join([self.source.name(), "-".join([self.model, *dials]), self.scale.name, f"seed{self.seed}"])
        return name.replace("/", "_")


def run(experiment: Experiment, runs: Path, report: Report | None = None) -> dict[str, Any]:
    """Train and test one experiment under `runs`, or return what an earlier call found."""
    from recombine.models import find_model
    from recombine.models.base import changed
    from recombine.models.checkpoints import CURVE, METRICS
    from recombine.models.train import Plan, train

    folder = runs / experiment.name
    scale, source = experiment.scale.of(experiment.model), experiment.source
    if (folder / TEST).is_file():
        return _completed(folder, experiment)
    cls, config = find_model(experiment.model)
    smaller = {name: value for name, value in scale.changes.items() if hasattr(config, name)}
    own = {"draw": experiment.seed} if hasattr(config, "draw") else {}  # every seed of the random baseline draws for itself
    config = changed(config, {**own, **experiment.config, **smaller})
    epochs = min(scale.epochs or cls.TRAINING.epochs, cls.TRAINING.epochs)
    training = replace(cls.TRAINING, epochs=epochs, patience=scale.patience, seed=experiment.seed)
    training = changed(training, {**scale.training, **experiment.training})
    fit, hashed = _rows_to_fit(cls, source, scale.rows, experiment.seed)
    held = source.load(source.validation, scale.test_rows, experiment.seed)
    note = {"source": source.name(), "fit": source.fit, "rows": len(fit), "fingerprint": hashed}
    result = train(Plan(experiment.model, config, training, note), fit, held, folder, report, metric=source.metric)
    outcome = {
        "experiment": experiment.name,
        "model": experiment.model,
        "seed": experiment.seed,
        "scale": scale.sentence(),
        "fit_rows": len(fit),
        "fingerprint": note["fingerprint"],
        "validation_rows": len(held),
        "validation": result.best,
        "best_epoch": result.best_epoch,
        "epochs": result.epochs,
        "stopped": result.stopped,
        "train_seconds": result.seconds,
        "train_cpu_seconds": result.cpu_seconds,
        "history": _lines(folder / METRICS),
        "curve": _lines(folder / CURVE),
        "tests": test(folder, source, {part: source.load(part, scale.test_rows, experiment.seed) for part in source.tests}),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, 1 thread",
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    write_json(folder / TEST, outcome)
    return outcome


def _rows_to_fit(cls: type[Model], source: Rows, rows: int, seed: int) -> tuple[list[Example] | Columns, str]:
    """What to learn from, as columns where both the model and the source can, and its fingerprint."""
    from recombine.models.base import ColumnModel

    if issubclass(cls, ColumnModel) and isinstance(source, Source) and not source.hold:
        columns = source.columns(source.fit, rows, seed)
        return columns, cls.fingerprint(columns.batches)
    fit = source.load(source.fit, rows, seed)
    return fit, fingerprint(fit)


def _lines(path: Path) -> list[Any]:
    """The records of a file with one JSON value a line."""
    return [json.loads(line) for _, line in read_lines(path)]


def _completed(folder: Path, experiment: Experiment) -> dict[str, Any]:
    """The outcome of a finished run, with the test parts that only this experiment asks for measured now."""
    found: dict[str, Any] = read_json(folder / TEST)
    source, tests = experiment.source, found["tests"]
    missing = [part for part in source.tests if part not in tests or not source.is_measured(tests[part])]
    if missing:
        parts = {part: source.load(part, experiment.scale.test_rows, experiment.seed) for part in missing}
        found["tests"] = tests | test(folder, source, parts)
        write_json(folder / TEST, found)
    return found


def fingerprint(examples: Sequence[Example]) -> str:
    """A short hash of what was learnt from, in order: two runs with equal ones saw the same rows."""
    return keys.digest(*(text for e in examples for text in (json.dumps(dict(e.inputs), sort_keys=True), e.answer))).hex()[:16]


def test(folder: Path, source: Rows, parts: Mapping[str, Sequence[Example]]) -> dict[str, Any]:
    """The best weights' mean score on each part, and what else the source measures; the answers are kept."""
    from recombine.models.checkpoints import load_model
    from recombine.models.train import predict, prediction_lines, scores

    model = load_model(folder)
    found: dict[str, Any] = {}
    for part, examples in parts.items():
        answers = predict(model, examples)
        with writing_text(folder / ANSWERS.format(part=part.replace("/", "-"))) as out:
            out.writelines(prediction_lines(examples, answers))
        verdicts = scores(examples, answers)
        found[part] = _share(verdicts)
        found[part] |= source.measures(examples, answers)
    return found


SCALES: dict[str, Scale] = {
    "paper": Scale("paper", 3, 150, 0),
    "day": Scale("day", 1, 50, 8),
    "hour": Scale("hour", 1, 6, 0, rows=2_000, test_rows=400),
    "smoke": Scale("smoke", 1, 1, 0, rows=96, test_rows=24, changes={"units": 16, "embedding": 8}),
}
"""The scales of the sequence experiments. The paper does not say how many epochs. The released README advises 50, but the code's
default of 150 is what its values speak for: without the previous word NACS needs more than 100 to come near them."""


def find_scale(name: str, table: Mapping[str, Scale] = SCALES) -> Scale:
    """The scale of this name."""
    if name not in table:
        raise UnknownName("scale", name, table)
    return table[name]
