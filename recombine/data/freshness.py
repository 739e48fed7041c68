"""Says whether a new seed gives new items, for users who need items that no model has seen."""

from __future__ import annotations

from recombine.abilities import Recurring
from recombine.core import Family
from recombine.data.plan import PartPlan

WORTH_SAYING = 0.01
"""A smaller share of items that two seeds have in common is not mentioned."""


def shared_share(family: Family, plan: PartPlan) -> float:
    """The share of the rows that another seed is expected to give too: 1 for a fixed set, near 0 for a large space."""
    part = family.SPLITS[plan.job.split].parts[plan.job.part]
    if part.fixed:
        return plan.rows / plan.available if plan.available else 1.0
    if part.exists:
        return min(1.0, plan.rows / part.exists)
    return family.recurring(plan.job, plan.rows) if isinstance(family, Recurring) else 0.0


def freshness(family: Family, plan: PartPlan) -> str:
    """One sentence where a new seed cannot make all items new; "" where it can."""
    part = family.SPLITS[plan.job.split].parts[plan.job.part]
    name, share = f"{plan.job.split}/{plan.job.part}", shared_share(family, plan)
    if share < WORTH_SAYING:
        return ""
    if part.fixed and not plan.is_sample:
        return f"{name} is one fixed set: every seed gives the same {plan.rows:,} items, so a new seed does not make them new."
    if part.fixed:
        return f"{name} is sampled from one fixed set of {plan.available:,} items: another seed repeats about {share:.0%} of these."
    space = f"{part.exists:,} items" if part.exists else "few items"
    return f"{name} draws as if from {space} in all: another seed repeats about {share:.0%} of these."
