"""How test parts differ from training in what makes a task hard: each dial's values side by side.

A held-out part should differ in what it holds out. Where a dial such as the number of objects differs as well, the card says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from recombine.data.folders import Folder
from recombine.data.stats import Distribution

ROWS = 10_000
"""Rows of each part that are compared: the first ones."""
FAR = 0.05
"""A Kolmogorov distance above this is marked."""
Dials = dict[str, NDArray[np.int64]]


def dials_of(source: Folder, number: int) -> Dials:
    """The whole-number dials of a part's first rows."""
    names = [name for name in source.family.DIALS if source.family.SCHEMA[name].lstrip("u").startswith("int")]
    found: dict[str, list[NDArray[np.int64]]] = {name: [] for name in names}
    seen = 0
    for batch in source.batches(number):
        for name in names:
            found[name].append(np.asarray(batch.columns[name])[: ROWS - seen].astype(np.int64))
        seen += len(batch)
        if seen >= ROWS:
            break
    return {name: np.concatenate(pieces) for name, pieces in found.items() if pieces}


def distance(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
    """The Kolmogorov distance: the largest difference between the shares of values up to a limit."""
    limits = np.union1d(a, b)
    shares = [np.searchsorted(np.sort(values), limits, side="right") / len(values) for values in (a, b)]
    return float(np.abs(shares[0] - shares[1]).max())


def training_of(source: Folder) -> int | None:
    """The number of the folder's training part."""
    return next((n for n, part in enumerate(source.plan.parts) if part.job.part == "train" and part.rows), None)


def card_lines(source: Folder) -> Iterator[str]:
    """Every dial of every other part beside training's; nothing for a folder without training."""
    number = training_of(source)
    if number is None or len(source.plan.parts) == 1:
        return
    base = dials_of(source, number)
    yield from ("## Dials beside training", "")
    yield f"What makes a task hard, in the first {ROWS:,} rows of each part. The distance is Kolmogorov's, 0 to 1; ✱ marks more than {FAR}."
    yield from ("", "| part | dial | in training | here | distance |", "|---|---|---|---|---:|")
    for other, part in enumerate(source.plan.parts):
        if other != number and part.rows:
            for name, values in dials_of(source, other).items():
                apart = distance(base[name], values)
                mark = " ✱" if apart > FAR else ""
                yield f"| {part.job.split}/{part.job.part} | {name} | {_told(base[name])} | {_told(values)} | {apart:.3f}{mark} |"
    yield ""


def _told(values: NDArray[np.int64]) -> str:
    return f"{values.mean():.1f} ({values.min()} to {values.max()})"


def pictures(source: Folder) -> Iterator[tuple[str, str]]:
    """(dial, SVG) of the training part."""
    number = training_of(source)
    for name, values in (dials_of(source, number) if number is not None else {}).items():
        yield name, Distribution(f"{name} in training", True, dict(sorted(Counter(values.tolist()).items()))).picture()
