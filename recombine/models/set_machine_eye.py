"""The set machine's eye: what words mean where objects are pictures. Slots, their values and the meanings are learnt together.

A perceptron turns the pixels of a picture into `SLOTS` slots. Each slot is a distribution over `KINDS` values without names. Words mean
functions of slots, in the form in which they mean functions of size, colour and shape where these are given: a filter chooses
a slot and the values it accepts, and R(i, j) is a product of one factor per slot and of factors for the differences of rows and columns,
which depend on the slots of j. Where a slot is undecided, the logarithms of its factors are averaged. There are few pictures, so all of this becomes tables by picture once per step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.models.set_machine_finder import (
    NAMES,
    OPEN,
    SHARP,
    SHARP_GATE,
    SPEAK,
    Parameters,
    operations_of,
    sigmoid,
    softmax,
    spread_operations,
)  # fmt: skip
from recombine.models.set_machine_kernel import COMPARE, FARTHEST, FILTER, OPERATIONS, RELATE, SPAN, Meanings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SLOTS, KINDS, HIDDEN = 6, 4, 32
"""Slots, values of each, and units between pixels and slots. Nothing says which slot is for what; there are more than attributes."""
CODES = SLOTS * KINDS
PIXEL_SCALE, SLOT_SCALE = 0.01, 0.5
"""The eye's weights are these multiples of its parameters, so that one step of Adam moves it less than it moves a word."""
PIXEL_START, SLOT_START = 1.0, 1.0
"""Deviations of the eye's parameters at the start."""
TINY = 1e-12


class Glance(NamedTuple):
    """What the eye makes of all pictures."""

    hidden: Floats  # (pictures, HIDDEN)
    codes: Floats  # (pictures, SLOTS, KINDS), each slot adding up to 1


class Parts(NamedTuple):
    """The factors of the tables, for the words that may use R (`live`)."""

    live: Ints  # (live,)
    row: Floats  # (live, SPAN, pictures)
    column: Floats  # (live, SPAN, pictures)
    tie: Floats  # (live, SLOTS, KINDS, KINDS)
    looks: Floats  # (live, pictures, pictures)
    gate: Floats  # (words, SLOTS)
    accepted: Floats  # (words, SLOTS, KINDS)
    fits: Floats  # (words, SLOTS, pictures)


def new_eye_parameters(words: int, pixels: int, rng: np.random.Generator) -> Parameters:
    """Small random logits for this many words, number 0 included, and an eye for pictures of this many numbers."""
    shapes = {
        "operation": (words, OPERATIONS), "attribute": (words, SLOTS), "value": (words, SLOTS, KINDS), "row": (words, SPAN),
        "column": (words, SPAN), "row_by_code": (words, SPAN, CODES), "column_by_code": (words, SPAN, CODES),
        "tie": (words, SLOTS, KINDS, KINDS),
    }  # fmt: skip
    found: Parameters = {name: 0.1 * rng.standard_normal(shape) for name, shape in shapes.items()}
    return found | {
        "eye_pixels": PIXEL_START * rng.standard_normal((pixels, HIDDEN)),
        "eye_bias": np.zeros(HIDDEN),
        "eye_slots": SLOT_START * rng.standard_normal((HIDDEN, CODES)),
    }


def glance(parameters: Parameters, pictures: Floats) -> Glance:
    """The slots of every picture."""
    hidden = np.tanh(pictures @ (PIXEL_SCALE * parameters["eye_pixels"]) + parameters["eye_bias"])
    logits = (hidden @ (SLOT_SCALE * parameters["eye_slots"])).reshape(-1, KINDS)
    return Glance(hidden, softmax(logits).reshape(-1, SLOTS, KINDS))


def codes_of(parameters: Parameters, pictures: Floats) -> Floats:
    """The slots of every picture side by side: (pictures, CODES)."""
    return glance(parameters, pictures).codes.reshape(-1, CODES)


def parts_of(parameters: Parameters, codes: Floats, least: float) -> Parts:
    """All factors of the tables. Words whose operations on pairs are not likelier than `least` have no R."""
    p = operations_of(parameters)
    live = np.nonzero(p[:, COMPARE] + p[:, RELATE] > least)[0]
    flat = codes.reshape(-1, CODES)
    gate, accepted = softmax(SHARP_GATE * parameters["attribute"]), sigmoid(SHARP * parameters["value"])
    fits = 1.0 - gate[:, :, None] * (1.0 - np.einsum("wgk,pgk->wgp", accepted, codes))
    row, column = (
        sigmoid(SHARP * (parameters[name][live][:, :, None] + parameters[f"{name}_by_code"][live] @ flat.T) + OPEN)
        for name in ("row", "column")
    )
    tie = sigmoid(SHARP * parameters["tie"][live] + OPEN)
    looks = np.exp(flat @ _blocks(np.log(tie)) @ flat.T)
    return Parts(live, row, column, tie, looks, gate, accepted, fits)


def _blocks(by_slot: Floats) -> Floats:
    """Tables of values by values (words, SLOTS, KINDS, KINDS) as one table of codes by codes; two slots have nothing to do with each other."""
    found = np.zeros((len(by_slot), SLOTS, KINDS, SLOTS, KINDS))
    slots = np.arange(SLOTS)
    found[:, slots, :, slots] = by_slot.transpose(1, 0, 2, 3)
    return found.reshape(len(by_slot), CODES, CODES)


def eye_meanings(parameters: Parameters, pictures: Floats, least: float) -> Meanings:
    """What the kernel multiplies, by picture."""
    parts = parts_of(parameters, glance(parameters, pictures).codes, least)
    return _tables(operations_of(parameters), parts)


def _tables(operations: Floats, parts: Parts) -> Meanings:
    words, count = len(operations), parts.fits.shape[2]
    fits = np.ones((words, 3, count))
    fits[:, 0] = parts.fits.prod(1)
    places, looks = np.zeros((words, SPAN * SPAN * count)), np.zeros((words, count * count))
    places[parts.live] = (parts.row[:, :, None] * parts.column[:, None]).reshape(len(parts.live), -1)
    looks[parts.live] = parts.looks.reshape(len(parts.live), -1)
    return Meanings(operations, fits, places, looks)


def eye_spread(parameters: Parameters, pictures: Floats, least: float, even: float, grads: Meanings) -> Parameters:
    """Gradients of the tables as gradients of the parameters, the eye's included, with the slope of `even` times `unevenness`."""
    seen = glance(parameters, pictures)
    codes, count = seen.codes, len(pictures)
    flat = codes.reshape(count, CODES)
    parts = parts_of(parameters, codes, least)
    found = {name: np.zeros_like(array) for name, array in parameters.items()}
    found["operation"] = spread_operations(parameters, grads.operations)
    to_codes = np.zeros_like(codes)
    # Filters: fit = product over slots of 1 - gate * (1 - accepted share).
    to_fits = (grads.fits[:, 0] * parts.fits.prod(1))[:, None] / np.maximum(parts.fits, TINY)
    to_share = to_fits * parts.gate[:, :, None]
    to_gate = -(to_fits * (1.0 - np.einsum("wgk,pgk->wgp", parts.accepted, codes))).sum(2)
    found["attribute"] = SHARP_GATE * parts.gate * (to_gate - (parts.gate * to_gate).sum(1, keepdims=True))
    found["value"] = SHARP * parts.accepted * (1.0 - parts.accepted) * np.einsum("wgp,pgk->wgk", to_share, codes)
    to_codes += np.einsum("wgp,wgk->pgk", to_share, parts.accepted, optimize=True)
    # Places: a factor for rows and one for columns, both by the picture of the other object.
    live = parts.live
    to_places = grads.places[live].reshape(len(live), SPAN, SPAN, count)
    for name, own, to_own in (
        ("row", parts.row, (to_places * parts.column[:, None]).sum(2)),
        ("column", parts.column, (to_places * parts.row[:, :, None]).sum(1)),
    ):
        slope = SHARP * own * (1.0 - own) * to_own
        found[name][live] = slope.sum(2)
        found[f"{name}_by_code"][live] = slope @ flat
        by_code = parameters[f"{name}_by_code"][live]
        to_codes += np.einsum("wdp,wdc->pc", slope, by_code, optimize=True).reshape(codes.shape)
    # Looks: a factor per slot, by the values of both objects.
    to_logs = grads.looks[live].reshape(parts.looks.shape) * parts.looks
    to_left, to_right = to_logs @ flat, to_logs.transpose(0, 2, 1) @ flat  # (live, pictures, CODES)
    slots = np.arange(SLOTS)
    to_tie = (flat.T @ to_left).reshape(len(live), SLOTS, KINDS, SLOTS, KINDS)[:, slots, :, slots].transpose(1, 0, 2, 3)
    found["tie"][live] = SHARP * (1.0 - parts.tie) * to_tie  # the slope of log tie
    blocks = _blocks(np.log(parts.tie))
    to_codes += (to_left @ blocks.transpose(0, 2, 1) + to_right @ blocks).sum(0).reshape(codes.shape)
    to_codes += even * even_slopes(codes)
    return found | _unglance(parameters, pictures, seen, to_codes)


def _unglance(parameters: Parameters, pictures: Floats, seen: Glance, to_codes: Floats) -> Parameters:
    """The way back through the eye."""
    slope = seen.codes * (to_codes - (seen.codes * to_codes).sum(2, keepdims=True))
    to_logits = slope.reshape(len(pictures), CODES)
    to_hidden = (to_logits @ (SLOT_SCALE * parameters["eye_slots"]).T) * (1.0 - seen.hidden**2)
    return {
        "eye_pixels": PIXEL_SCALE * (pictures.T @ to_hidden),
        "eye_bias": to_hidden.sum(0),
        "eye_slots": SLOT_SCALE * (seen.hidden.T @ to_logits),
    }


def unevenness(codes: Floats) -> float:
    """Minus the entropies of the values of every two slots together, over all pictures: least if slots are used evenly and independently."""
    joint = np.einsum("pgk,phl->ghkl", codes, codes) / len(codes)
    found: float = (np.triu(np.ones((SLOTS, SLOTS)), 1)[:, :, None, None] * joint * np.log(joint + TINY)).sum()
    return found


def even_slopes(codes: Floats) -> Floats:
    """The gradient of `unevenness`."""
    joint = np.einsum("pgk,phl->ghkl", codes, codes) / len(codes)
    slope = (1.0 - np.eye(SLOTS))[:, :, None, None] * (np.log(joint + TINY) + joint / (joint + TINY))
    out: Floats = np.einsum("ghkl,phl->pgk", slope, codes) / len(codes)
    return out


def no_eye_gradients(words: int, pictures: int) -> Meanings:
    """Gradients to add to."""
    return Meanings(
        np.zeros((words, OPERATIONS)), np.zeros((words, 3, pictures)), np.zeros((words, SPAN * SPAN * pictures)),
        np.zeros((words, pictures * pictures)),
    )  # fmt: skip


def eye_lines(parameters: Parameters, words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Every word's likeliest operation, its probability, and which slots decide. Slots and values have numbers, not names."""
    p = operations_of(parameters)
    gate, accepted = softmax(SHARP_GATE * parameters["attribute"]), sigmoid(SHARP * parameters["value"])
    tie = sigmoid(SHARP * parameters["tie"] + OPEN)
    lines = []
    for number, word in enumerate(words, 1):
        operation, told = int(p[number].argmax()), ""
        if operation == FILTER:
            slot = int(gate[number].argmax())
            values = [str(k + 1) for k in range(KINDS) if accepted[number, slot, k] > SPEAK * accepted[number, slot].max()]
            told = f"slot {slot + 1}: value {' or '.join(values)}"
        elif operation in (COMPARE, RELATE):
            told = _tie_words(parameters, number, tie[number])
        lines.append((word, NAMES[operation], f"{p[number, operation]:.2f}", told))
    return sorted(lines, key=lambda line: (-NAMES.index(line[1]), line[0]))


def _tie_words(parameters: Parameters, number: int, tie: Floats) -> str:
    """Differences of places that R allows whatever the other is, and the slots in which it asks for something."""
    told = []
    for name in ("row", "column"):
        factor = sigmoid(SHARP * parameters[name][number] + OPEN)
        allowed = factor > SPEAK * factor.max()
        if not allowed.all():
            told.append(f"{name} differs by {', '.join(str(d - FARTHEST) for d in np.nonzero(allowed)[0])}")
    strict = [str(slot + 1) for slot in range(SLOTS) if tie[slot].min() < SPEAK * tie[slot].max()]
    if strict:
        told.append(f"slots {', '.join(strict)}")
    return "; ".join(told) or "any other"


def as_eye(found: Mapping[str, NDArray[Any]], words: int) -> Parameters:
    """Loaded parameters, checked for their shapes; how many pixels there are is the file's word."""
    pixels = len(found["eye_pixels"]) if "eye_pixels" in found and found["eye_pixels"].ndim else 0
    fresh = new_eye_parameters(words, pixels, np.random.default_rng(0))
    for name, array in fresh.items():
        if name not in found or found[name].shape != array.shape:
            raise ValueError(f"{name} has the shape {found[name].shape if name in found else None}, not {array.shape}")
    return {name: np.asarray(found[name], np.float64) for name in fresh}
