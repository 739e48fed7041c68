"""Splits of large compound divergence: the plan of a folder whose rows a search chose.

Training rows come from the training part of a split and test rows from its test part, so the two are disjoint as always. Where both parts hold
the same rows (a split that is a pool), each row is taken once at most. The search takes a share of each and keeps known atoms in like
proportion. The chosen rows stand in the plan, and every row keeps its id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from recombine.abilities import Bounded, Deriving, Faceted
from recombine.core import Family
from recombine.data.datasets import Dataset
from recombine.data.plan import PartPlan, Plan, plan_part
from recombine.errors import UsageError
from recombine.families import family as find_family
from recombine.jobs import make_job
from recombine.predicates.divergence import WEIGHED_ROWS, Counter, measured_facets, pair_weights
from recombine.predicates.draw import HOLD_OUT
from recombine.predicates.search import SLACK, Choice, Pool, choose, pool_of_pairs
from recombine.predicates.trees import tree_pools

POOL_ROWS = (80_000, 40_000)
"""Rows of the training and the test part to choose from, or all where a part has fewer."""
SHARES = (4, 8)
"""Rows of the pool for each row that is taken: of training and of test."""
POOL_SHARES = (2.5, 20)
"""The same if training and test come from one pool: the shares of the published splits of SCAN."""
POOL_SLACK = 0.3
"""In one pool, the search aims at this share of the limit of atom divergence. The published splits of SCAN have no less."""


def make_mcd_plan(
    family: str,
    target: float | None = None,
    *,
    split: str | None = None,
    seed: int = 0,
    recipe: str | None = None,
    options: Mapping[str, object] | None = None,
    format: str = "parquet",  # noqa: A002 - the word that users type
    pool: tuple[int, int] = POOL_ROWS,
    sizes: tuple[int | None, int | None] = (None, None),
) -> tuple[Plan, Choice]:
    """The plan of a split with the wanted compound divergence (the largest that is found, if none is given)."""
    if target is not None and not 0 < target < 1:
        raise UsageError(f"the compound divergence is {target:g}, but must be above 0 and below 1.")
    if format == "native":
        raise UsageError(
            "a split by divergence is written as parquet or jsonl; the released layouts cannot hold a choice of rows."
        )
    found = find_family(family)
    parts = [
        _pool_plan(found, split, part, recipe, seed, options, rows) for part, rows in zip(("train", "test"), pool, strict=True)
    ]
    is_one = _is_pool(found, parts[0].job.split)
    shares = POOL_SHARES if is_one else SHARES
    train, test = (size or max(1, int(part.rows / share)) for size, part, share in zip(sizes, parts, shares, strict=True))
    for part, size in zip(parts, (train + test,) * 2 if is_one else (train, test), strict=True):
        if size >= part.rows:
            raise UsageError(f"{size:,} rows of {part.job.part} cannot be chosen from a pool of {part.rows:,}; take fewer.")
    first, second = _pools(found, parts, is_one)
    name = parts[0].job.key
    slack = POOL_SLACK if is_one else SLACK
    choice = choose((first, second), (train, test), seed=seed, name=name, target=target, slack=slack)
    chosen = tuple(
        PartPlan(part.job, len(rows), part.rows, tuple(int(part.picks[row]) if part.is_sample else int(row) for row in rows))
        for part, rows in zip(parts, (choice.train, choice.test), strict=True)
    )
    return Plan(found.NAME, parts[0].job.version, format, tuple(map(_bounded, chosen))), choice


def _bounded(part: PartPlan) -> PartPlan:
    """The part with its pool as the number of available rows."""
    top = max(part.available or 0, part.job.stop)
    return replace(part, available=top, job=part.job.rows(0, top))


def _is_pool(family: Family, split: str) -> bool:
    """Whether training and test are two names for the same finite list of rows."""
    parts = family.SPLITS[split].parts
    return (
        {"train", "test"} <= set(parts)
        and parts["train"].finite
        and parts["test"].finite
        and parts["test"].shares == ("train",)
    )


def _default_split(family: Family) -> str:
    """A split that is a pool, or else the first split with training and test of its own."""
    own = [name for name, split in family.SPLITS.items() if {"train", "test"} <= set(split.parts) and name != HOLD_OUT]
    if not own:
        raise UsageError(f"{family.NAME} has no split with the parts train and test, so rows cannot be chosen by divergence.")
    return next((name for name in own if _is_pool(family, name)), own[0])


def _pool_plan(
    family: Family, split: str | None, part: str, recipe: str | None, seed: int, options: Mapping[str, object] | None, rows: int
) -> PartPlan:
    name = split if split is not None else _default_split(family)
    job = make_job(family, name, part, recipe, seed, options)
    if job.part != part:
        raise UsageError(f"{family.NAME}/{name} has no parts train and test of its own; name another --split.")
    if _is_pool(family, job.split):
        return plan_part(family, job, None)
    if family.SPLITS[job.split].parts[job.part].finite:
        rows = min(rows, job.stop)
    elif isinstance(family, Bounded):
        rows = min(rows, family.bound(job))
    return plan_part(family, job, rows)


def _pools(family: Family, parts: list[PartPlan], is_one: bool) -> tuple[Pool, Pool]:
    """The rows of both parts with their atoms and weighted compounds; one object twice, if both parts are one pool."""
    if isinstance(family, Deriving):
        trees = [[family.derivation(example) for example in Dataset(family, part)] for part in parts[: 1 if is_one else 2]]
        pools = tree_pools(trees)
        return pools[0], pools[-1]
    if not isinstance(family, Faceted):
        raise UsageError(f"{family.NAME} publishes no facets, so it cannot be split by divergence.")
    counter = Counter(measured_facets(family.FACETS))
    pieces = [
        [
            counter.presence(family.facet_columns(batch, counter.names), len(batch)).astype(np.bool_)
            for batch in part.batches(family, 0, part.rows)
        ]
        for part in parts
    ]
    size = max(piece.shape[1] for own in pieces for piece in own)
    train, test = (np.concatenate([np.pad(piece, ((0, 0), (0, size - piece.shape[1]))) for piece in own]) for own in pieces)
    weights = pair_weights(np.concatenate([train[:WEIGHED_ROWS], test[:WEIGHED_ROWS]]))
    return pool_of_pairs(train, weights), pool_of_pairs(test, weights)
