"""What teaches the set machine's finder when the target's cell is not given: the likelihood of the right actions.

For every object the actor says how likely the right actions are if that object is the target. The finder's loss is -log of the sum over
objects of its share times this likelihood. The actor learns from one object of each row, drawn by the product of both: this is
stochastic expectation maximisation, and neither half is told the target. The actor must start alone: it learns that an agent ends
where its target stands. A finder that learns from an actor that knows nothing settles on any object.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.models.set_machine_actor import Moments, forward, log_shares
from recombine.models.set_machine_finder import Parameters
from recombine.models.set_machine_rows import Rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def likelihoods(weights: Parameters, rows: Rows, order: Ints, moments: Moments, right: Ints) -> Floats:
    """For each row and object, the likelihood of the right actions at these moments over that of the likeliest object."""
    objects = rows.objects[order]
    is_there = objects[:, :, 0] >= 0
    moment, thing = np.nonzero(is_there[moments.owners])
    owner = moments.owners[moment]
    chosen = objects[owner, thing].astype(np.int64)
    asked = Moments(
        owner, moments.poses[moment], moments.past[moment], moments.moved[moment], chosen[:, 3:5], chosen[:, 0], moments.has_compass
    )  # fmt: skip
    logs = log_shares(forward(weights, rows, order, asked).logits)[np.arange(len(moment)), right[moment]]
    total = np.bincount(owner * is_there.shape[1] + thing, logs, is_there.size).reshape(is_there.shape)
    total = np.where(is_there, total, -np.inf)
    out: Floats = np.exp(total - total.max(1, keepdims=True))
    return out


def drawn(posterior: Floats, *parts: keys.Key) -> Ints:
    """An object of each row, drawn by its weight."""
    below = np.cumsum(posterior, 1)
    point = (keys.states(keys.state(*parts), 0, len(posterior)) >> np.uint64(11)).astype(np.float64) / 2.0**53
    found: Ints = np.minimum((below <= point[:, None] * below[:, -1:]).sum(1), posterior.shape[1] - 1)
    return found


def aimed(rows: Rows, order: Ints, moments: Moments, things: Ints) -> Moments:
    """The same moments for an agent that goes to these objects, one of each row."""
    chosen = rows.objects[order, things].astype(np.int64)[moments.owners]
    return moments._replace(targets=chosen[:, 3:5], sizes=chosen[:, 0])
