"""The set machine's actor: the next action, from what an agent at the present moment knows. A small perceptron.

It sees features, not the plan: own heading, way to the target, what stands before and behind the target, the target's size, the
last eight actions, pushes and pulls so far, and the words of the command as a bag. Poses follow from its own actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine import kernels
from recombine.models.set_machine_finder import KERNEL_NAME, Parameters
from recombine.models.set_machine_kernel import HISTORY
from recombine.models.set_machine_rows import ACTIONS, END, NONE, PULL, PUSH, STEP, TURN_LEFT, TURN_RIGHT, VALUES, WALK, Rows

Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
LINE_OBJECTS = 12
"""At most this many objects before and behind the target are seen."""
COMPASS = [0, 1, 2]
"""Where the features of heading and of rows and columns stand."""
SEEN = 6 + HISTORY + 3 + LINE_OBJECTS


def line_places(grid: int, kinds: int) -> tuple[int, int, int]:
    """Where the features of the target, of the cells in its line and of the walls begin; the layout stands in the kernel's `see_batch`."""
    reach, span = grid - 1, 2 * (grid - 1) + 1
    size = 4 + 4 * span
    line = size + kinds + HISTORY * 8 + 2 * span + 1
    return size, line, line + 2 * reach * kinds


def feature_count(grid: int, kinds: int = VALUES) -> int:
    """How many features there are on a grid of this size; `kinds` of the target and of each cell in its line."""
    return line_places(grid, kinds)[2] + 2 * grid


def new_actor(words: int, grid: int, hidden: tuple[int, int], rng: np.random.Generator, kinds: int = VALUES) -> Parameters:
    """Random weights, scaled so that every layer keeps the size of its inputs."""
    first, second = hidden

    def draw(*shape: int, scale: float) -> Singles:
        return (scale * rng.standard_normal(shape)).astype(np.float32)

    return {
        "word": draw(words, first, scale=0.05),
        "feature": draw(feature_count(grid, kinds), first, scale=0.2),
        "first_bias": np.zeros(first, np.float32),
        "second": draw(first, second, scale=(2 / first) ** 0.5),
        "second_bias": np.zeros(second, np.float32),
        "last": draw(second, len(ACTIONS), scale=(1 / second) ** 0.5),
        "last_bias": np.zeros(len(ACTIONS), np.float32),
    }


class Moments(NamedTuple):
    """Moments at which the actor is asked: the place of each one's row among the batch's rows, and what it knows.

    Without a compass the actor sees the way to the target only as it faces: no heading, no rows and columns.
    """

    owners: Ints  # (moments,): place in `order`
    poses: Ints  # (moments, 3)
    past: Ints  # (moments, HISTORY), the newest first
    moved: Ints  # (moments,)
    targets: Ints  # (moments, 2)
    sizes: Ints  # (moments,): the target's size - 1, or its picture
    has_compass: bool = True


class Layers(NamedTuple):
    """What the forward pass keeps for the way back."""

    seen: Ints
    spoken: Singles
    first: Singles
    second: Singles
    logits: Singles


def forward(weights: Parameters, rows: Rows, order: Ints, moments: Moments, spoken: Singles | None = None) -> Layers:
    """The logits of all actions at each moment."""
    kernel = kernels.for_rows(KERNEL_NAME, len(moments.owners))
    if spoken is None:
        spoken = speak(weights, rows, order)
    seen = np.zeros((len(moments.owners), SEEN), np.int64)
    kernel.see_batch(
        order[moments.owners], moments.poses, moments.past, moments.moved, moments.targets, moments.sizes, rows.objects,
        rows.counts, rows.grid, VALUES if rows.pictures is None else len(rows.pictures), seen,
    )  # fmt: skip
    if not moments.has_compass:
        seen[:, COMPASS] = 0
    first = np.empty((len(seen), spoken.shape[1]), np.float32)
    kernel.add_features(seen, moments.owners, spoken, weights["feature"], first)
    first += weights["first_bias"]
    np.maximum(first, 0, out=first)
    second = first @ weights["second"]
    second += weights["second_bias"]
    np.maximum(second, 0, out=second)
    return Layers(seen, spoken, first, second, second @ weights["last"] + weights["last_bias"])


def speak(weights: Parameters, rows: Rows, order: Ints) -> Singles:
    """The vector of each row's command."""
    spoken = np.zeros((len(order), weights["word"].shape[1]), np.float32)
    kernels.for_rows(KERNEL_NAME, len(order)).add_words(order, rows.words, rows.lengths, weights["word"], spoken)
    return spoken


def log_shares(logits: Singles) -> Singles:
    """Log-probabilities of the actions."""
    shifted = logits - logits.max(1, keepdims=True)
    out: Singles = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return out


def gradients(weights: Parameters, rows: Rows, order: Ints, moments: Moments, right: Ints) -> tuple[float, float, Parameters]:
    """The mean cross-entropy of the right actions, the share that is right, and the gradients."""
    kernel = kernels.for_rows(KERNEL_NAME, len(right))
    layers = forward(weights, rows, order, moments)
    logs = log_shares(layers.logits)
    place = np.arange(len(right))
    loss = -float(logs[place, right].mean())
    accuracy = float((layers.logits.argmax(1) == right).mean())
    slope = np.exp(logs)
    slope[place, right] -= 1.0
    slope /= np.float32(len(right))
    to_second = (slope @ weights["last"].T) * (layers.second > 0)
    to_first = (to_second @ weights["second"].T) * (layers.first > 0)
    to_feature, to_word = np.zeros_like(weights["feature"]), np.zeros_like(weights["word"])
    to_spoken = np.zeros_like(layers.spoken)
    kernel.spread_features(layers.seen, moments.owners, to_first, to_feature, to_spoken)
    kernel.spread_words(order, rows.words, rows.lengths, to_spoken, to_word)
    return loss, accuracy, {
        "word": to_word,
        "feature": to_feature,
        "first_bias": to_first.sum(0),
        "second": layers.first.T @ to_second,
        "second_bias": to_second.sum(0),
        "last": layers.second.T @ slope,
        "last_bias": slope.sum(0),
    }  # fmt: skip


def act(weights: Parameters, rows: Rows, order: Ints, targets: Ints, sizes: Ints, has_compass: bool = True) -> list[list[int]]:
    """The actions of each row, one after the other until the actor ends or the limit is reached."""
    poses = rows.agents[order].copy()
    past, moved = np.zeros((len(order), HISTORY), np.int64), np.zeros(len(order), np.int64)
    taken: list[list[int]] = [[] for _ in order]
    spoken = speak(weights, rows, order)
    live = np.arange(len(order))
    for _ in range(20 * rows.grid + 8):
        moments = Moments(live, poses[live], past[live], moved[live], targets[live], sizes[live], has_compass)
        logits = forward(weights, rows, order, moments, spoken).logits
        logits[:, NONE] = -np.inf
        chosen = logits.argmax(1)
        live, chosen = live[chosen != END], chosen[chosen != END]
        if not len(live):
            break
        for n, action in zip(live.tolist(), chosen.tolist(), strict=True):
            taken[n].append(action)
        poses[live, 2] = (poses[live, 2] + (chosen == TURN_RIGHT) - (chosen == TURN_LEFT)) % 4
        walking = live[chosen == WALK]
        poses[walking, :2] = np.clip(poses[walking, :2] + STEP[poses[walking, 2]], 0, rows.grid - 1)
        moved[live] += (chosen == PUSH) | (chosen == PULL)
        past[live] = np.concatenate([chosen[:, None], past[live][:, :-1]], 1)
    return taken


def as_weights(
    found: Mapping[str, NDArray[Any]], words: int, grid: int, hidden: tuple[int, int], kinds: int = VALUES
) -> Parameters:
    """Loaded weights, checked for their shapes."""
    fresh = new_actor(words, grid, hidden, np.random.default_rng(0), kinds)
    for name, array in fresh.items():
        if name not in found or found[name].shape != array.shape:
            raise ValueError(f"{name} has the shape {found[name].shape if name in found else None}, not {array.shape}")
    return {name: np.asarray(found[name], np.float32) for name in fresh}
