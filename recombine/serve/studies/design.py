"""The design of a study: its checked settings, and its items. The same settings give the same items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from recombine.core import Job
from recombine.data.ids import example_of
from recombine.errors import BadOption, UnknownName, UsageError, shown
from recombine.families import FAMILIES
from recombine.families import family as find_family
from recombine.jobs import make_job
from recombine.keys import Stream
from recombine.serve.studies.store import Store

KINDS = ("answer", "write", "state")
MOST_ITEMS = 2_000
CONSENT = (
    "You will be asked to solve or write small puzzles. We keep your answers and how long they took, under a random code and without your "
    "name. You may stop at any time and have your data deleted."
)


@dataclass(frozen=True)
class Condition:
    """Rows of one part, written `family/split/part`, for which `items` examples are drawn."""

    part: str
    items: int

    @classmethod
    def parse(cls, text: str) -> Condition:
        """`clutrr/generalization_23/test_k4=10`."""
        part, equals, number = text.strip().partition("=")
        if not equals or not re.fullmatch("[0-9]{1,6}", number) or not 1 <= int(number) <= MOST_ITEMS:
            raise UsageError(f"{shown(text)} is not FAMILY/SPLIT/PART=ITEMS, such as clutrr/generalization_23/test_k4=10.")
        return cls(part, int(number))

    def job(self, seed: int) -> Job:
        """The job of the part; an unknown name is an error."""
        name, _, rest = self.part.partition("/")
        split, _, part = rest.partition("/")
        if name not in FAMILIES:
            raise UnknownName("family", name, FAMILIES)
        return make_job(find_family(name), split or None, part or None, None, seed)


@dataclass(frozen=True)
class Design:
    """The settings of a study. Times are in seconds; 0 is no limit. `lengths` are the facts of stories to be written."""

    title: str
    kind: str = "answer"
    conditions: tuple[Condition, ...] = ()
    items_per_person: int = 10
    practice: int = 1
    limit_seconds: int = 0
    groups: tuple[str, ...] = ("all",)
    reviewers: int = 2
    lengths: tuple[int, ...] = (1, 2, 3)
    texts: int = 20
    consent: str = CONSENT
    seed: int = 0
    untimed: tuple[str, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownName("kind of study", self.kind, KINDS)
        if not self.title.strip() or len(self.title) > 200 or len(self.consent) > 5_000:
            raise BadOption("a study needs a title of at most 200 characters and a consent text of at most 5,000.")
        bounds = {"items_per_person": 1, "practice": 0, "limit_seconds": 0, "reviewers": 2, "texts": 1}
        for name, low in bounds.items():
            if not low <= getattr(self, name) <= 100_000:
                raise BadOption(f"{name} is {getattr(self, name)}, but must be from {low} to 100,000.")
        if self.kind == "answer" and not self.conditions:
            raise UsageError("a study of answers needs conditions, such as clutrr/generalization_23/test_k4=10.")
        if not self.groups or len(set(self.groups)) != len(self.groups) or not all(g.isidentifier() for g in self.groups):
            raise BadOption(f"groups are {shown(list(self.groups))}, but must be different plain words.")
        if not set(self.untimed) <= set(self.groups):
            raise UnknownName("group without a time limit", ", ".join(self.untimed), self.groups)
        if not self.lengths or not set(self.lengths) <= {1, 2, 3}:
            raise BadOption("stories are written for 1, 2 or 3 facts.")

    def limit_of(self, group: str) -> int:
        """The time limit of a group in seconds; 0 if it has none."""
        return 0 if group in self.untimed else self.limit_seconds


def create(store: Store, design: Design) -> str:
    """Draw the items and keep the study; its id."""
    return store.create(design.title, {**asdict(design), "groups": list(design.groups)}, list(_items(design)))


def design_of(settings: Mapping[str, Any]) -> Design:
    """The design that a study was made with."""
    values = dict(settings)
    values["conditions"] = tuple(Condition(**one) for one in values["conditions"])
    for name in ("groups", "lengths", "untimed"):
        values[name] = tuple(values[name])
    return Design(**values)


Item = tuple[str, str, bool, Mapping[str, Any]]


def _items(design: Design) -> Iterator[Item]:
    if design.kind == "answer":
        yield from _examples(design)
    elif design.kind == "write":
        yield from _stories(design)
    else:
        yield from _scenes(design)


def _examples(design: Design) -> Iterator[Item]:
    """Examples of every condition; the practice items are further rows of the same parts."""
    left = design.practice
    for number, condition in enumerate(design.conditions):
        job = condition.job(design.seed)
        wanted = min(left, -(-design.practice // len(design.conditions)))
        left -= wanted
        if condition.items + wanted > job.stop:
            raise UsageError(
                f"{condition.part} has {job.stop:,} rows, fewer than the {condition.items + wanted} that are asked for."
            )
        rows = Stream("study", design.seed, number, job.key).sample(range(min(job.stop, 100_000)), condition.items + wanted)
        for place, row in enumerate(rows):
            yield "answer", condition.part, place < wanted, {"id": job.id(row)}


def _stories(design: Design) -> Iterator[Item]:
    """Facts to be told: the path of a generated story, or its first fact."""
    from recombine.serve.studies.kin import facts_of

    for k in design.lengths:
        job = make_job(find_family("clutrr"), "generalization_23", "train", "sound", design.seed, {"k": str(max(2, k))})
        rows = Stream("study", design.seed, "write", k).sample(range(min(job.stop, 10_000)), design.texts)
        for row in rows:
            yield "write", f"k={k}", False, facts_of(example_of(job.id(row)), k)


def _scenes(design: Design) -> Iterator[Item]:
    """Statements with labelled and hidden scenes."""
    from recombine.serve.studies.scenes import task_of

    job = make_job(find_family("lilgym"), "random", "test", "sound", design.seed)
    rows = Stream("study", design.seed, "state").sample(range(job.stop), min(job.stop, 4 * design.texts))
    found = 0
    for row in rows:
        task = task_of(example_of(job.id(row)))
        if task is not None and found < design.texts:
            found += 1
            yield "state", str(task["kind"]), False, task
