"""Which sections an exam has: as words of a command line, with sizes from a power calculation."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from recombine.data.datasets import Dataset
from recombine.errors import UsageError, shown
from recombine.evaluate.planning import contexts_of, plan_rows
from recombine.evaluate.statistics import plan_size
from recombine.exams.document import Section, make_section
from recombine.families import family as find_family
from recombine.jobs import make_job

DEFAULT_SECTIONS = (
    "gscan/situational_1/test",
    "reascan/a1/test",
    "clutrr/generalization_23/test_k6",
    "lilgym/depth/test",
    "abstract/operation_relation/test",
)
"""One held-out part of every family that has more items than anybody can list."""
CORRELATION = 0.3
"""Assumed correlation of rows in one cluster, the default of `plan-eval`."""
_WORD = re.compile(
    r"(?P<family>[a-z]+)/(?P<split>[A-Za-z0-9_.-]+)(?P<dials>(?:\+[a-z0-9_]+=[^/+]*)*)(?:/(?P<part>[A-Za-z0-9_.-]+))?(?::(?P<rows>\d{1,7}))?"
)


@dataclass(frozen=True)
class Power:
    """The difference between two models that each section must be able to show."""

    detect: float = 0.05
    power: float = 0.8
    alpha: float = 0.05

    def rows(self, section: Section) -> int:
        """So many rows, by the contexts that the rows of the section share; all rows of a finite part that has fewer."""
        if not 0 < self.detect < 1 or not 0 < self.power < 1:
            raise UsageError(f"--detect {100 * self.detect:g} and --power {self.power:g} must be above 0, and below 100 and 1.")
        discordant = max(0.2, min(0.99, 2 * self.detect))
        family, plan = section.plan(0)
        contexts = contexts_of(Dataset(family, plan))
        base = plan_size(self.detect, self.power, alpha=self.alpha, discordant=discordant)
        needed = plan_rows(base, contexts, CORRELATION)
        if needed is None and plan.available is None:
            raise UsageError(
                f"{section.name} has {contexts}, too few to find {100 * self.detect:g} points; name its rows: {section.name}:N."
            )
        return needed.rows if needed is not None else int(plan.available or 1)


def parse_section(word: str, power: Power) -> Section:
    """`FAMILY/SPLIT[+NAME=VALUE…][/PART][:ROWS]` as a section; without rows the power calculation gives them."""
    match = _WORD.fullmatch(word)
    if match is None:
        raise UsageError(
            f"{shown(word)} is no section; write FAMILY/SPLIT/PART:ROWS, such as reascan/a1/test:400 or gscan/adverb_2+recipe=sound."
        )
    options = dict(dial.split("=", 1) for dial in match["dials"].split("+")[1:])
    recipe = options.pop("recipe", None)
    family, split, part = match["family"], match["split"], match["part"]
    if match["rows"] is not None:
        return make_section(family, split, part, rows=int(match["rows"]), recipe=recipe, options=options)
    job = make_job(find_family(family), split, part, recipe, 0, options)
    whole = make_section(family, split, part, rows=max(1, job.stop), recipe=recipe, options=options)
    return replace(whole, rows=power.rows(whole))
