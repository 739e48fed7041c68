"""The pointwise and attention steps of the action writer, compiled: float32, one row after the other, all of it in the cache.

tanh is a quotient of polynomials (as in Eigen; within 4e-7 of the true value), because a quotient becomes vector code and a
library call does not. The tanh of the forward pass is computed again in the backward pass: that is cheaper than keeping it.
`FUSED` lets the compiler reorder sums and join products with sums, so compiled results differ from interpreted ones in the
last bits.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

KERNEL = True
FUSED = True

Floats = NDArray[np.float32]

ZERO, HALF, ONE = np.float32(0), np.float32(0.5), np.float32(1)
FLAT = np.float32(9)
"""tanh is 1 from here on, in float32."""
A1, A3, A5, A7 = np.float32(4.89352455891786e-03), np.float32(6.37261928875436e-04), np.float32(1.48572235717979e-05), np.float32(5.12229709037114e-08)  # fmt: skip
A9, A11, A13 = np.float32(-8.60467152213735e-11), np.float32(2.00018790482477e-13), np.float32(-2.76076847742355e-16)
B0, B2, B4, B6 = np.float32(4.89352518554385e-03), np.float32(2.26843463243900e-03), np.float32(1.18534705686654e-04), np.float32(1.19825839466702e-06)  # fmt: skip
"""Coefficients of the powers of x above and below the line."""


def tanh(x: np.float32) -> np.float32:
    """tanh in float32."""
    x = FLAT if x > FLAT else x
    x = -FLAT if x < -FLAT else x
    y = x * x
    above = x * (A1 + y * (A3 + y * (A5 + y * (A7 + y * (A9 + y * (A11 + y * A13))))))
    below = B0 + y * (B2 + y * (B4 + y * B6))
    return above / below


def sigmoid(x: np.float32) -> np.float32:
    """The logistic function in float32."""
    return HALF * tanh(HALF * x) + HALF


def look(
    keys: Floats,  # (batch, places, units), also the values
    places: NDArray[np.int64],  # (batch,): how many places a row has
    queries: Floats,  # (rows, units)
    scorer: Floats,  # (units,)
    weights: Floats,  # (rows, places), written
    contexts: Floats,  # (rows, units), written
) -> None:
    """One attention step for the first rows of a batch."""
    rows, units = queries.shape
    for b in range(rows):
        count = places[b]
        query, weight, context = queries[b], weights[b], contexts[b]
        top = np.float32(-np.inf)
        for p in range(count):
            key = keys[b, p]
            score = ZERO
            for u in range(units):
                score += scorer[u] * tanh(key[u] + query[u])
            weight[p] = score
            top = max(top, score)
        total = ZERO
        for p in range(count):
            share = np.float32(math.exp(weight[p] - top))
            weight[p] = share
            total += share
        for u in range(units):
            context[u] = ZERO
        scale = ONE / total
        for p in range(count):
            share = weight[p] * scale
            weight[p] = share
            key = keys[b, p]
            for u in range(units):
                context[u] += share * key[u]
        for p in range(count, weight.shape[0]):
            weight[p] = ZERO


def look_back(
    keys: Floats,
    places: NDArray[np.int64],
    queries: Floats,
    scorer: Floats,
    weights: Floats,
    d_contexts: Floats,  # (rows, units)
    d_weights: Floats,  # (batch, places): what else is asked of the weights, the same at each step
    d_keys: Floats,  # (batch, places, units), added to
    d_queries: Floats,  # (rows, units), written
    d_scorer: Floats,  # (units,), added to
) -> None:
    """The gradients of one attention step."""
    rows, units = queries.shape
    d_scores = np.empty(keys.shape[1], np.float32)
    for b in range(rows):
        count = places[b]
        query, weight, d_context, d_query = queries[b], weights[b], d_contexts[b], d_queries[b]
        mean = ZERO
        for p in range(count):
            key = keys[b, p]
            d_weight = d_weights[b, p]
            for u in range(units):
                d_weight += d_context[u] * key[u]
            d_scores[p] = d_weight
            mean += weight[p] * d_weight
        for u in range(units):
            d_query[u] = ZERO
        for p in range(count):
            key, d_key = keys[b, p], d_keys[b, p]
            share = weight[p]
            d_score = share * (d_scores[p] - mean)
            for u in range(units):
                told = tanh(key[u] + query[u])
                d_scorer[u] += d_score * told
                through = d_score * scorer[u] * (ONE - told * told)
                d_query[u] += through
                d_key[u] += through + share * d_context[u]


def lstm_step(
    gates: Floats,  # (rows, 4 units): pre-activations, replaced by activations (input, forget, cell, output)
    before: Floats,  # (batch, units): memory
    after: Floats,  # (rows, units): memory, written
    hidden: Floats,  # (rows, units), written
) -> None:
    """One step of an LSTM."""
    rows, units = after.shape
    for b in range(rows):
        gate, c, h, kept = gates[b], after[b], hidden[b], before[b]
        # One array per loop: a loop that writes several is not turned into vector code.
        for u in range(2 * units):
            gate[u] = sigmoid(gate[u])
        for u in range(2 * units, 3 * units):
            gate[u] = tanh(gate[u])
        for u in range(3 * units, 4 * units):
            gate[u] = sigmoid(gate[u])
        for u in range(units):
            c[u] = gate[units + u] * kept[u] + gate[u] * gate[2 * units + u]
        for u in range(units):
            h[u] = gate[3 * units + u] * tanh(c[u])


def lstm_back(
    gates: Floats,  # (rows, 4 units): activations
    before: Floats,
    after: Floats,
    d_hidden: Floats,  # (rows, units)
    d_memory: Floats,  # (rows, units): gradient of `after`, replaced by that of `before`
    d_gates: Floats,  # (rows, 4 units): gradients of the pre-activations, written
) -> None:
    """The gradients of one step of an LSTM."""
    rows, units = after.shape
    for b in range(rows):
        gate, d_gate = gates[b], d_gates[b]
        for u in range(units):
            i, f, g, o = gate[u], gate[units + u], gate[2 * units + u], gate[3 * units + u]
            shown = tanh(after[b, u])
            dh = d_hidden[b, u]
            dc = d_memory[b, u] + dh * o * (ONE - shown * shown)
            d_gate[u] = dc * g * i * (ONE - i)
            d_gate[units + u] = dc * before[b, u] * f * (ONE - f)
            d_gate[2 * units + u] = dc * i * (ONE - g * g)
            d_gate[3 * units + u] = dh * shown * o * (ONE - o)
            d_memory[b, u] = dc * f
