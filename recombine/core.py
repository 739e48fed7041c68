"""The contract: what a family of benchmarks is, and the few values that pass between the stages.

A family is an object with the members of `Family`. Everything else in the package (files, sharding,
evaluation, environments, the command line) is written once, against this page. Nothing here imports more than numpy.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TextIO

from recombine import keys
from recombine.columns import Column, value_at
from recombine.errors import BadOption, UnknownName, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ColumnType = Literal[
    "string", "bool", "int8", "int16", "int32", "int64", "uint64", "float32", "float64", "binary",
    "list<int8>", "list<int16>", "list<int32>", "list<int64>", "list<string>", "list<float32>",
]  # fmt: skip
Medium = Literal["text", "ascii", "svg", "png", "graph"]
Severity = Literal["error", "artifact"]
Axis = Literal["random", "substitution", "length", "composition", "distractors", "inversion", "grounding"]
"""The ability that a split tests, for the profile over families. `random` holds nothing out: it is the in-distribution set."""
OptionValue = bool | int | float | str
FILES = "files"
"""The option for the folder of published files. It does not change the rows, so ids do not hold it."""


# --- what can be asked for -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Option:
    """A dial of a recipe: `--set name=value`. `default` fixes the kind; `choices` or `low`/`high` bound the value."""

    default: OptionValue
    help: str
    choices: tuple[OptionValue, ...] = ()
    low: float | None = None
    high: float | None = None

    def parse(self, name: str, value: object) -> OptionValue:
        """The value in canonical form, from text or from Python; a clear error if it does not fit."""
        parsed = self._of_kind(name, value)
        if self.choices and parsed not in self.choices:
            raise UnknownName(f"value for option {name}", value, [str(c) for c in self.choices])
        if not isinstance(parsed, str | bool):
            if self.low is not None and parsed < self.low:
                raise BadOption(f"option {name} is {shown(value)}, but must be at least {self.low:g}.")
            if self.high is not None and parsed > self.high:
                raise BadOption(f"option {name} is {shown(value)}, but must be at most {self.high:g}.")
        return parsed

    def _of_kind(self, name: str, value: object) -> OptionValue:
        kind = type(self.default)
        if kind is bool:
            words: dict[str, OptionValue] = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
            if str(value).lower() not in words:
                raise BadOption(f"option {name} is {shown(value)}, but takes true or false.")
            return words[str(value).lower()]
        if kind is str:
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)  # `k=3` for `k="3"`: a number has one text form
            if not isinstance(value, str) or len(value) > 200 or not value.isprintable():
                raise BadOption(f"option {name} is {shown(value)}, but takes a printable text of at most 200 characters.")
            return value
        try:
            parsed: OptionValue = int(str(value)) if kind is int else float(str(value))
        except ValueError:
            raise BadOption(
                f"option {name} is {shown(value)}, but takes {'an integer' if kind is int else 'a number'}."
            ) from None
        if parsed != parsed or parsed in (float("inf"), float("-inf")):
            raise BadOption(f"option {name} is {shown(value)}, but must be finite.")
        return parsed


@dataclass(frozen=True)
class Recipe:
    """A frozen way of generating: `release` does what the original authors' code does, `sound` is ours.

    `version` is the number after `@` in an id. Raise it, at most once per release, when the same job gives other rows.
    """

    name: str
    claim: str
    version: int = 1


@dataclass(frozen=True)
class Part:
    """One set of a split: its rule as a sentence, how many rows it has, and what a user may expect of them.

    `size`: the number of rows, one number or one per recipe; or a function of the recipe that counts what the rule gives.
    `finite`: exactly that many rows exist (a larger `--size` is an error, a smaller one a seeded sample).
    Otherwise any number can be drawn and the size is only the default. `default`: written when no part is named.
    `shares`: parts of the same split with which rows are shared by design of the original (so they are no leak).
    `repeats`: how often one canonical form may stand in the part; 0 if as often as it is drawn. `verify` counts.
    `fixed`: every seed gives the same rows, so a new seed does not make the items new.
    `exists`: how many canonical forms the part draws from, where that number is small enough to matter.
    """

    name: str
    rule: str
    size: int | Mapping[str, int] | Callable[[str], int]
    finite: bool = False
    default: bool = True
    shares: tuple[str, ...] = ()
    repeats: int = 1
    fixed: bool = False
    exists: int | None = None

    def rows(self, recipe: str) -> int:
        """The number of rows under this recipe (the default number, if the part is not finite)."""
        if isinstance(self.size, int):
            return self.size
        return self.size[recipe] if isinstance(self.size, Mapping) else self.size(recipe)


@dataclass(frozen=True)
class Split:
    """Which combinations are held out: a sentence, and the parts. `aliases` sends a part to another split's part.

    `is_published`: the split is one of the paper's, so the suite of the paper holds it.
    """

    name: str
    claim: str
    parts: Mapping[str, Part]
    aliases: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    recipes: tuple[str, ...] = ("release", "sound")
    axis: Axis = "substitution"
    needs_files: str = ""
    is_published: bool = field(default=True, kw_only=True)


Claim = Callable[["Example", str], str]
"""`claim(example, part)`: why the example may not stand in this part of the split, as a clause; "" if it may.

The oracle has one for every split, in a table `CLAIMS` with the names of `SPLITS`. It is another formulation of the split's
sentence and shares no code with the rule that makes the rows. It reads the example, never `meta["part"]`.
"""


@dataclass(frozen=True)
class Job:
    """What to generate: rows [start, stop) of a part. Two jobs with equal `key` draw from the same part."""

    family: str
    version: int
    recipe: str
    split: str
    part: str
    seed: int = 0
    options: tuple[tuple[str, OptionValue], ...] = ()
    start: int = 0
    stop: int = 0

    @property
    def key(self) -> str:
        """The canonical name of the part: the first segments of every example's id."""
        named = [
            (name, json.dumps(value) if isinstance(value, bool) else value) for name, value in self.options if name != FILES
        ]
        dials = "".join(f"+{name}={value}" for name, value in named)
        return f"{self.family}@{self.version}/{self.recipe}{dials}/{self.split}/{self.part}/{self.seed}"

    def id(self, index: int) -> str:
        """The id of row `index`: `reascan@1/sound/a1/test/7/000017`."""
        return f"{self.key}/{index:06d}"

    def base(self, purpose: str = "items") -> int:
        """The 64-bit state from which this part's items are keyed (`keys.states(job.base(), start, stop)`)."""
        return keys.state(self.key, purpose)

    def rows(self, start: int, stop: int) -> Job:
        """The same part, other rows."""
        return replace(self, start=start, stop=stop)


def option(job: Job, table: Mapping[str, Option], name: str) -> Any:
    """The job's value of an option, or its default."""
    return dict(job.options).get(name, table[name].default)


# --- rows ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    """Rows [start, start + len) of a part as columns; `rejections` counts the draws that were thrown away, by reason."""

    job: Job
    start: int
    columns: Mapping[str, Column]
    rejections: Mapping[str, int] = field(default_factory=dict)
    indices: NDArray[np.int64] | None = None  # of the rows in their part, where these are a sample and not a range

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def row(self, row: int) -> dict[str, Any]:
        """One row as plain Python values (numbers, strings, lists)."""
        return {name: value_at(column, row) for name, column in self.columns.items()}

    def value(self, name: str, row: int) -> Any:
        """The plain Python value of one column in one row."""
        return value_at(self.columns[name], row)

    def id(self, row: int) -> str:
        """The id of the row at this place of the batch."""
        return self.job.id(self.index(row))

    def index(self, row: int) -> int:
        """The index in the part of the row at this place of the batch."""
        return self.start + row if self.indices is None else int(self.indices[row])


# --- one example -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """A broken law. `error` breaks a law of the example's own recipe; `artifact` breaks a law of `sound` only."""

    code: str
    text: str
    severity: Severity = "error"
    place: str = ""


@dataclass(frozen=True)
class Shortcut:
    """The answer of one shortcut reader; None if that reader has no answer to this example."""

    name: str
    reader: str
    answer: str | None


@dataclass(frozen=True)
class Explanation:
    """The proof, step by step, and each shortcut reader's answer to the same example."""

    steps: tuple[str, ...]
    shortcuts: tuple[Shortcut, ...]

    def __str__(self) -> str:
        lines = [f"{i}. {step}" for i, step in enumerate(self.steps, 1)]
        lines += [f"   {s.name}: {s.answer}" for s in self.shortcuts if s.answer is not None]
        return "\n".join(lines)


@dataclass(frozen=True)
class Score:
    """The verdict on one answer. `mistake` names the shortcut reader(s) that give the same wrong answer.

    `status` is `right`, `wrong` or `unparsable`; `detail` holds further measures of the family (target cell, hops, …).
    """

    value: float
    status: Literal["right", "wrong", "unparsable"]
    mistakes: tuple[str, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def mistake(self) -> str | None:
        """The first named mistake, or None."""
        return self.mistakes[0] if self.mistakes else None


@dataclass(frozen=True, eq=False)
class Example:
    """The readable view of one row. A model may see `inputs` and nothing else."""

    family: Family = field(repr=False)
    id: str
    inputs: Mapping[str, Any]
    answer: str
    plan: Any = field(default=None, repr=False)
    world: Any = field(default=None, repr=False)
    meta: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def validate(self) -> list[Problem]:
        """Every broken law, found by the oracle; empty if the example is right."""
        return self.family.validate(self)

    def explain(self) -> Explanation:
        """The proof and the shortcut readers' answers (computed once and kept, because scoring uses them often)."""
        return self._explanation

    @cached_property
    def _explanation(self) -> Explanation:
        return self.family.explain(self)

    def render(self, medium: Medium = "text") -> str | bytes:
        """For people, prompts and pixels: text, ascii, svg, png, or the family's graph."""
        return self.family.render(self, medium)

    def score(self, answer: str) -> Score:
        """Right or wrong, and the name of the mistake. Never executes the answer."""
        return self.family.score(self, answer)

    def _repr_html_(self) -> str:
        """The example for notebooks: id, text, answer and proof, all escaped."""
        text = self.render("text")
        steps = "".join(f"<li>{escape(step)}</li>" for step in self.explain().steps)
        return (
            f"<code>{escape(self.id)}</code><pre>{escape(text if isinstance(text, str) else text.decode())}</pre>"
            f"<p>answer: <b>{escape(self.answer)}</b></p><details><summary>proof</summary><ol>{steps}</ol></details>"
        )

    @cached_property
    def recipe(self) -> str:
        """The recipe whose laws apply to this example."""
        return str(self.meta.get("recipe", "release"))


# --- the protocols ---------------------------------------------------------------------------------------------------


class Family(Protocol):
    """The contract of a family: an object with these members, most simply a frozen dataclass."""

    @property
    def NAME(self) -> str:
        """The name used everywhere: `scan`, `nacs`, `gscan`, `reascan`, `clutrr`, `lilgym`, `abstract` or `lexicon`."""

    @property
    def TITLE(self) -> str:
        """One line for people."""

    @property
    def CITATION(self) -> str:
        """The original paper, as BibTeX."""

    @property
    def RECIPES(self) -> Mapping[str, Recipe]:
        """By name; the first is the default."""

    @property
    def SPLITS(self) -> Mapping[str, Split]:
        """By name; the first is the default."""

    @property
    def CLAIMS(self) -> Mapping[str, Claim]:
        """The oracle's judgement on every split, by the split's name."""

    @property
    def OPTIONS(self) -> Mapping[str, Option]:
        """The dials that `--set` turns."""

    @property
    def SCHEMA(self) -> Mapping[str, ColumnType]:
        """The columns of one row, in order; `id` is added in front by the data layer."""

    @property
    def CLUSTER(self) -> str:
        """The column whose equal values share context: the unit of the statistics."""

    @property
    def DIALS(self) -> tuple[str, ...]:
        """Numeric columns over which accuracy is drawn as a curve."""

    @property
    def MEDIA(self) -> tuple[Medium, ...]:
        """The media that `render` can make."""

    @property
    def NATIVE_NAME(self) -> str:
        """The released layout's file name, with `{split}` and `{part}`."""

    def generate(self, job: Job) -> Batch:
        """Rows [job.start, job.stop) of the part: a pure function of the job; slices join to the whole."""

    def example(self, batch: Batch, row: int) -> Example:
        """The readable view of one row; needs only the columns of `SCHEMA`, so it works on what a file held."""

    def canonical(self, example: Example) -> bytes:
        """The example without names, order and symmetry: equal bytes in two parts are a leak."""

    def validate(self, example: Example) -> list[Problem]:
        """Every broken law, from the example alone, by other means than the generator's."""

    def explain(self, example: Example) -> Explanation:
        """The proof step by step, and each shortcut reader's answer."""

    def render(self, example: Example, medium: Medium) -> str | bytes:
        """The example for people, prompts or pixels."""

    def score(self, example: Example, answer: str) -> Score:
        """One answer's verdict; never executes the answer."""

    def read(self, path: Path) -> Iterator[Example | Problem]:
        """The examples of an originally released file, each with meta["place"]; a Problem for a row that is none."""

    def write(self, batches: Iterable[Batch], out: TextIO) -> None:
        """The same rows in the originally released layout."""
