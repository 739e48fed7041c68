"""Accuracy along a dial, joined over the sets of a family: k = 2 … 10 of CLUTRR makes one curve although each k is a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from recombine.evaluate.scoring import Run
from recombine.evaluate.statistics import Interval, Threshold


@dataclass(frozen=True)
class DialCurve:
    """One run's accuracy along one dial of a family, over the sets in `keys`."""

    run: str
    family: str
    dial: str
    keys: tuple[str, ...]
    points: Sequence[tuple[float, Interval]]
    threshold: Threshold


def joined_curves(runs: Sequence[Run]) -> list[DialCurve]:
    """A curve for every run, family and dial that takes at least two values. Validation parts are left out."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        if run.part != "validation" and run.records:
            groups.setdefault((run.family, run.name), []).append(run)
    found = []
    for (family, name), own in groups.items():
        records = [record for run in own for record in run.records]
        for dial in dict.fromkeys(chain.from_iterable(record.dials for record in records)):
            having = [run for run in own if any(dial in record.dials for record in run.records)]
            kept = [record for record in records if dial in record.dials]
            if len({record.dials[dial] for record in kept}) < 2:
                continue
            joined = Run(name, family, "", "", "", kept)
            keys = tuple(run.key for run in having)
            found.append(DialCurve(name, family, dial, keys, joined.curve(dial), joined.threshold(dial)))
    return found
