"""From an id to its row: parses an id and generates its example again. Imports no pyarrow."""

from __future__ import annotations

import re

from recombine.core import Example, Family, Job
from recombine.data.versions import maker_of
from recombine.errors import UsageError, shown
from recombine.families import family as find_family
from recombine.jobs import make_job

_ID = re.compile(
    r"([a-z]+)@(\d{1,6})/([a-z]+)((?:\+[a-z0-9_]+=[^/+]*)*)/([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)/(\d{1,19})/(\d{6,18})",
    re.ASCII,
)


def locate(identifier: str) -> tuple[Family, Job, int]:
    """The family, the job and the row that an id names.

    An id of another version of the rows is an error, and so is another spelling of a row's id: a row has one id.
    """
    match = _ID.fullmatch(identifier) if isinstance(identifier, str) else None
    if match is None:
        raise UsageError(f"{shown(identifier)} is not an id; ids look like scan@1/release/length/test/0/000017.")
    name, version, recipe, dials, split, part, seed, index = match.groups()
    family = find_family(name)
    options = dict(dial.split("=", 1) for dial in dials.split("+")[1:])
    job = make_job(family, split, part, recipe, int(seed), options)
    if int(version) != job.version:
        raise UsageError(
            f"{shown(identifier)} is of version {version} of {name} {recipe}, which {maker_of(name, recipe, int(version))} makes; "
            f"this package makes version {job.version}."
        )
    row = int(index)
    if job.id(row) != identifier:
        raise UsageError(f"{shown(identifier)} is not the id of a row; that row's id is {shown(job.id(row))}.")
    if family.SPLITS[job.split].parts[job.part].finite and row >= job.stop:
        raise UsageError(f"{shown(identifier)} does not exist: {job.split}/{job.part} has {job.stop:,} rows.")
    return family, job, row


def example_of(identifier: str) -> Example:
    """The example with this id, made anew from the id alone."""
    family, job, row = locate(identifier)
    return family.example(family.generate(job.rows(row, row + 1)), 0)
