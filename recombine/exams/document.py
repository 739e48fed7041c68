"""The public document of an exam: what it asks, of which versions, and the commitment to its secret."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from recombine import __version__
from recombine.core import Family, Job
from recombine.data.plan import PartPlan, plan_part
from recombine.data.versions import maker_of
from recombine.errors import FileError, UnknownName, UsageError, shown
from recombine.evaluate.prompts import STYLES
from recombine.exams.faults import EditedExam, OtherSecret, OtherVersion, ReplayedChain
from recombine.exams.secret import Secret, hashed, write_secret
from recombine.families import family as find_family
from recombine.files import Kind, holds, inside, own_folder, read_json, write_json
from recombine.jobs import make_job
from recombine.schemas import check, listing, mapping, option, record, text, whole

EXAM, SECRET = "exam.json", "secret.json"
LONGEST_SERIES = 1_000
MOST_ITEMS = 200_000
"""Items of one exam: they are held in memory."""
_HEX = re.compile(r"[0-9a-f]{64}")
_SECTION_SHAPE = record({
    "family": text(40), "version": whole(1, 10**6), "recipe": text(40), "split": text(200), "part": text(200),
    "options": mapping(option), "rows": whole(1, MOST_ITEMS),
})  # fmt: skip
EXAM_SHAPE = record({
    "format": whole(1, 1), "package": text(60), "title": text(200), "sections": listing(_SECTION_SHAPE, least=1),
    "style": text(40), "beacon": text(200), "series": whole(1, LONGEST_SERIES), "closes": text(40), "anchor": text(64),
    "commitment": text(64),
})  # fmt: skip
REVEALED_SHAPE = record({
    "commitment": text(64), "number": whole(1, LONGEST_SERIES), "secret": text(64), "beacon": text(200),
})  # fmt: skip


@dataclass(frozen=True)
class Section:
    """So many rows of one part of a family's split."""

    family: str
    version: int
    recipe: str
    split: str
    part: str
    rows: int
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """`reascan/a1/test`, with the recipe and the dials that are not at their default."""
        recipe = () if self.recipe == next(iter(find_family(self.family).RECIPES)) else (("recipe", self.recipe),)
        dials = "".join(f"+{name}={value}" for name, value in (*recipe, *self.options))
        return f"{self.family}/{self.split}{dials}/{self.part}"

    def to_json(self) -> dict[str, Any]:
        """A plain value."""
        return {**asdict(self), "options": dict(self.options)}

    def plan(self, seed: int) -> tuple[Family, PartPlan]:
        """The rows of this section under a seed."""
        family = find_family(self.family)
        job = make_job(family, self.split, self.part, self.recipe, seed, dict(self.options))
        if job.version != self.version:
            raise OtherVersion(
                f"{self.name} is of version {self.version} of {self.family} {self.recipe}, "
                f"which {maker_of(self.family, self.recipe, self.version)} makes; this package makes version {job.version}."
            )
        return family, plan_part(family, job, self.rows)


def make_section(
    family: str,
    split: str | None = None,
    part: str | None = None,
    *,
    rows: int,
    recipe: str | None = None,
    options: Mapping[str, object] | None = None,
) -> Section:
    """A checked section. Parts that are read from published files cannot be sealed."""
    found = find_family(family)
    job: Job = make_job(found, split, part, recipe, 0, options)
    if found.SPLITS[job.split].needs_files:
        raise UsageError(f"{family}/{job.split} is read from published files, so its items cannot be sealed.")
    plan_part(found, job, rows)
    if rows > MOST_ITEMS:
        raise UsageError(f"a section of {rows:,} rows is too large; an exam has at most {MOST_ITEMS:,} items.")
    return Section(family, job.version, job.recipe, job.split, job.part, rows, job.options)


def _check_series(series: int) -> None:
    if not 1 <= series <= LONGEST_SERIES:
        raise UsageError(f"a series has 1 to {LONGEST_SERIES:,} exams, not {series}.")


@dataclass(frozen=True)
class Exam:
    """A sealed exam, or a series of them. `anchor` is the public end of the secret's hash chain."""

    title: str
    sections: tuple[Section, ...]
    anchor: str
    style: str = "rules"
    beacon: str = ""
    series: int = 1
    closes: str = ""
    package: str = f"recombine {__version__}"

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise UnknownName("style", self.style, STYLES)
        if not self.sections or sum(section.rows for section in self.sections) > MOST_ITEMS:
            raise UsageError(f"an exam has 1 to {MOST_ITEMS:,} items.")
        names = [section.name for section in self.sections]
        if len(set(names)) < len(names):
            raise UsageError(f"the section {max(names, key=names.count)} is named twice.")
        _check_series(self.series)
        if not _HEX.fullmatch(self.anchor):
            raise FileError(f"the anchor {shown(self.anchor)} is not 64 hexadecimal digits.")
        if self.closes:
            self.closing_second  # noqa: B018 - reading it checks it

    @cached_property
    def closing_second(self) -> int | None:
        """The second (UTC, since 1970) after which no reply counts; None if the exam names none."""
        if not self.closes:
            return None
        try:
            when = datetime.fromisoformat(self.closes)
        except ValueError:
            raise UsageError(f"the closing time {shown(self.closes)} is not like 2026-12-01T18:00:00+00:00.") from None
        return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())

    def description(self) -> dict[str, Any]:
        """All that the commitment covers, as a plain value."""
        return {
            "format": 1,
            "package": self.package,
            "title": self.title,
            "sections": [section.to_json() for section in self.sections],
            "style": self.style,
            "beacon": self.beacon,
            "series": self.series,
            "closes": self.closes,
            "anchor": self.anchor,
        }

    @cached_property
    def commitment(self) -> str:
        """The hash over a tag, the description with its versions, and the anchor, which is itself a hash of the secret."""
        return hashed("commitment", canonical(self.description())).hex()

    def to_json(self) -> dict[str, Any]:
        """The public document."""
        return {**self.description(), "commitment": self.commitment}

    def seed(self, secret: Secret, number: int, beacon: str, place: int) -> int:
        """The seed of one section: 63 bits of a hash of secret, commitment, number, beacon and the section's place."""
        context = (self.commitment.encode(), str(number).encode(), beacon.encode(), str(place).encode())
        return int.from_bytes(secret.seed_bytes(*context)[:8], "big") >> 1

    def secret_of(self, root: Secret, number: int) -> Secret:
        """The secret of one exam of the series."""
        self.check_number(number)
        return root.before(self.series - number)

    def check_number(self, number: int) -> None:
        """Refuse a number that the series does not have."""
        if not 1 <= number <= self.series:
            raise UsageError(f"this series has the exams 1 to {self.series}; there is no exam {number}.")

    def check_beacon(self, beacon: str) -> None:
        """A beacon's value is needed exactly if the exam names a beacon."""
        if bool(beacon) != bool(self.beacon):
            need = f"needs the value of {shown(self.beacon)}" if self.beacon else "names no beacon, so it takes no value"
            raise UsageError(f"this exam {need}: --beacon-value.")
        if not re.fullmatch(r"[\x21-\x7e]{0,200}", beacon):
            raise UsageError(f"the beacon's value {shown(beacon)} is not 1 to 200 printable ASCII characters without blanks.")

    def check_secret(self, secret: Secret, number: int) -> None:
        """Refuse a secret that does not lead to the anchor in `number` steps."""
        self.check_number(number)
        value = secret
        for steps in range(1, self.series + 1):
            value = value.before()
            if value.hex() == self.anchor:
                if steps == number:
                    return
                raise ReplayedChain(f"the secret is that of exam {steps} of the series, not that of exam {number}.")
        raise OtherSecret("the secret is not the one that was sealed: hashing it does not lead to the exam's anchor.")


@dataclass(frozen=True)
class Revealed:
    """The secret of one exam, published after its sittings."""

    commitment: str
    number: int
    secret: Secret
    beacon: str = ""

    def to_json(self) -> dict[str, Any]:
        """The document that makes the secret public."""
        return {"commitment": self.commitment, "number": self.number, "secret": self.secret.hex(), "beacon": self.beacon}


def canonical(value: Any) -> bytes:
    """One spelling of a plain value: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


# --- files -----------------------------------------------------------------------------------------------------------


FOLDER = Kind(
    "a folder of `recombine exam seal`",
    lambda folder: holds(folder / EXAM, lambda found: isinstance(found["commitment"], str)),
    is_local=True,
)


def seal(
    out: str | Path,
    sections: Sequence[Section],
    *,
    title: str = "",
    style: str = "rules",
    beacon: str = "",
    series: int = 1,
    closes: str = "",
    secret: Secret | None = None,
) -> Exam:
    """Draw a secret, write exam.json (publish it) and secret.json (keep it); returns the exam.

    A folder that holds an exam already is refused: one commitment has one secret.
    """
    _check_series(series)  # before the anchor, which takes one hash for each exam of the series
    root = secret or Secret.drawn()
    exam = Exam(title, tuple(sections), root.before(series).hex(), style, beacon, series, closes)
    folder = own_folder(out, FOLDER)
    if (folder / EXAM).exists():
        raise FileError(f"{shown(str(out))} holds an exam already; choose another folder.")
    write_secret(inside(folder, SECRET), exam.commitment, root)
    write_json(inside(folder, EXAM), exam.to_json())
    return exam


def read_exam(path: str | Path, commitment: str = "") -> Exam:
    """The exam of a file or folder. A description that does not belong to its commitment, or to the given one, is a fault."""
    file = Path(path) / EXAM if Path(path).is_dir() else Path(path)
    value = read_json(file, 64 << 20)
    place = shown(str(file))
    check(value, EXAM_SHAPE, place)
    sections = tuple(
        Section(**{**told, "options": tuple(sorted(told["options"].items()))}) for told in map(_known, value["sections"])
    )
    words = {name: value[name] for name in ("title", "anchor", "style", "beacon", "series", "closes", "package")}
    try:
        exam = Exam(sections=sections, **words)
    except UsageError as problem:
        raise FileError(f"{place} is no exam: {problem}") from None
    if exam.commitment != value["commitment"]:
        raise EditedExam(
            f"{place} was changed after it was sealed: its commitment is {value['commitment'][:16]}…, "
            f"its description gives {exam.commitment[:16]}…."
        )
    if commitment and commitment != exam.commitment:
        raise EditedExam(f"{place} has the commitment {exam.commitment[:16]}…, but {shown(commitment[:16])}… was published.")
    return exam


def _known(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: told[name] for name in ("family", "version", "recipe", "split", "part", "rows", "options")}


def read_revealed(path: str | Path) -> Revealed:
    """A published secret."""
    value = read_json(Path(path), 4096)
    place = shown(str(path))
    check(value, REVEALED_SHAPE, place)
    return Revealed(value["commitment"], value["number"], Secret.from_hex(value["secret"], place), value["beacon"])
