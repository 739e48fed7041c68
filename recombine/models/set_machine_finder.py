"""The set machine's finder: which object a command speaks of. Every word's operation and meaning are learnt by gradient.

Parameters are logits per word: which of five operations it does, which attribute and which values a filter wants, and what R(i, j)
asks of the difference of places, of sizes, of colours and of shapes. `meanings_of` turns them into the factors that the kernel
multiplies, and `spread` takes gradients of the factors back to the logits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine import kernels
from recombine.models.set_machine_kernel import (
    COMPARE,
    FARTHEST,
    FILTER,
    LOOKS,
    NEARLY_ONE,
    OPERATIONS,
    PASS,
    PLACES,
    RELATE,
    SMALLEST,
    SPAN,
    Desk,
    Meanings,
    Sheet,
)  # fmt: skip
from recombine.models.set_machine_rows import SIZES, VALUES, Rows, Vocabulary

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Parameters = dict[str, NDArray[Any]]

KERNEL_NAME = "recombine.models.set_machine_kernel"
NAMES = ("pass", "filter", "compare", "relate", "aside")
PRIOR = np.array([2.0, 1.0, 0.0, 0.0, 0.0])
"""Added to the logits of the operations: a word does nothing until it must."""
PRICE = np.array([0.0, 0.5, 1.0, 1.0, 1.0])
"""What a word pays for each operation, times the setting `penalty`."""
SHARP_GATE, SHARP, OPEN = 3.0, 2.0, 2.0
"""Slopes of the gate and of all other logits, and where R begins: a factor of R is near 0.88 until it must be something else."""
SPEAK = 0.5
"""In a printed lexicon a value counts as wanted if its factor is above this share of the largest one."""
LITTLE = 0.7
"""A factor that allows at least this share of all cases is not printed."""


def new_parameters(words: int, rng: np.random.Generator) -> Parameters:
    """Small random logits for this many words, number 0 included."""
    shapes = {
        "operation": (words, OPERATIONS), "attribute": (words, 3), "value": (words, 3, VALUES), "row": (words, SPAN, SIZES),
        "column": (words, SPAN, SIZES), "color": (words, VALUES, VALUES), "shape": (words, VALUES, VALUES), "size": (words, SIZES, SIZES),
    }  # fmt: skip
    return {name: 0.1 * rng.standard_normal(shape) for name, shape in shapes.items()}


def sigmoid(x: Floats) -> Floats:
    """The logistic function."""
    out: Floats = 1.0 / (1.0 + np.exp(-np.clip(x, -60.0, 60.0)))
    return out


def softmax(x: Floats) -> Floats:
    """Shares along the second axis."""
    e = np.exp(x - x.max(1, keepdims=True))
    out: Floats = e / e.sum(1, keepdims=True)
    return out


def operations_of(parameters: Parameters) -> Floats:
    """The probability of every operation of every word; word 0 (unknown) always passes."""
    p = softmax(parameters["operation"] + PRIOR)
    p[0] = np.eye(OPERATIONS)[PASS]
    return p


def relation_factors(parameters: Parameters) -> dict[str, Floats]:
    """The factors of R, each between 0 and 1."""
    return {name: sigmoid(SHARP * parameters[name] + OPEN) for name in ("row", "column", "size", "color", "shape")}


def fits_of(parameters: Parameters) -> tuple[Floats, Floats, Floats]:
    """The factors of filters, and the gate and the acceptance that make them: fit = 1 - gate * (1 - acceptance)."""
    gate = softmax(SHARP_GATE * parameters["attribute"])
    accepted = sigmoid(SHARP * parameters["value"])
    return 1.0 - gate[:, :, None] * (1.0 - accepted), gate, accepted


def meanings_of(parameters: Parameters) -> Meanings:
    """What the kernel multiplies."""
    words = len(parameters["operation"])
    f = relation_factors(parameters)
    places = f["row"][:, :, None, None, :] * f["column"][:, None, :, None, :] * f["size"][:, None, None, :, :]
    looks = f["color"][:, :, :, None, None] * f["shape"][:, None, None, :, :]
    return Meanings(
        operations_of(parameters),
        fits_of(parameters)[0],
        np.ascontiguousarray(places.reshape(words, PLACES)),
        np.ascontiguousarray(looks.reshape(words, LOOKS)),
    )


def spread_operations(parameters: Parameters, to_p: Floats) -> Floats:
    """Gradients of the operations' probabilities as gradients of their logits."""
    p = operations_of(parameters)
    operation: Floats = p * (to_p - (p * to_p).sum(1, keepdims=True))
    operation[0] = 0.0
    return operation


def spread(parameters: Parameters, grads: Meanings) -> Parameters:
    """Gradients of the factors as gradients of the logits."""
    words = len(parameters["operation"])
    operation = spread_operations(parameters, grads.operations)
    _, gate, accepted = fits_of(parameters)
    to_gate = (-(1.0 - accepted) * grads.fits).sum(2)
    attribute = SHARP_GATE * gate * (to_gate - (gate * to_gate).sum(1, keepdims=True))
    value = SHARP * accepted * (1.0 - accepted) * gate[:, :, None] * grads.fits
    f = relation_factors(parameters)
    slopes = {name: SHARP * factor * (1.0 - factor) for name, factor in f.items()}
    to_places = grads.places.reshape(words, SPAN, SPAN, SIZES, SIZES)
    to_looks = grads.looks.reshape(words, VALUES, VALUES, VALUES, VALUES)
    return {
        "operation": operation,
        "attribute": attribute,
        "value": value,
        "row": slopes["row"] * np.einsum("wrcij,wcj,wij->wrj", to_places, f["column"], f["size"], optimize=True),
        "column": slopes["column"] * np.einsum("wrcij,wrj,wij->wcj", to_places, f["row"], f["size"], optimize=True),
        "size": slopes["size"] * np.einsum("wrcij,wrj,wcj->wij", to_places, f["row"], f["column"], optimize=True),
        "color": slopes["color"] * np.einsum("wabst,wst->wab", to_looks, f["shape"], optimize=True),
        "shape": slopes["shape"] * np.einsum("wabst,wab->wst", to_looks, f["color"], optimize=True),
    }


def no_gradients(words: int) -> Meanings:
    """Gradients to add to."""
    return Meanings(
        np.zeros((words, OPERATIONS)), np.zeros((words, 3, VALUES)), np.zeros((words, PLACES)), np.zeros((words, LOOKS))
    )


def sheet_of(rows: Rows) -> Sheet:
    """What the finder reads of these rows."""
    return Sheet(rows.words, rows.lengths, rows.objects, rows.counts, 0 if rows.pictures is None else len(rows.pictures))


def new_desk(rows: Rows) -> Desk:
    """Working space for these rows."""
    t, n = rows.words.shape[1], rows.objects.shape[1]
    after, at = (t + 1, n), (t, n)
    return Desk(
        np.zeros(after), np.zeros(after), np.zeros(after), np.zeros(at), np.zeros(at), np.zeros(at), np.zeros((6, n)),
        np.zeros((2, n, n), np.int64),
    )  # fmt: skip


def find(meanings: Meanings, rows: Rows, order: Ints, least: float) -> Floats:
    """The score of every object of these rows; 0 where a row has no such object."""
    if not kernels.is_worth_compiling(KERNEL_NAME, len(order)):
        return find_together(meanings, rows, order, least)
    scores = np.zeros((len(order), rows.objects.shape[1]))
    kernel = kernels.load(KERNEL_NAME, compiled=True)
    kernel.find_batch(order, sheet_of(rows), meanings, least, new_desk(rows), scores)
    return scores


def find_together(meanings: Meanings, rows: Rows, order: Ints, least: float) -> Floats:
    """The same as the kernel's `find_batch` for all rows at once: quick for a few rows, without compiled code."""
    things, lengths = np.maximum(rows.objects[order].astype(np.int64), 0), rows.lengths[order]
    count, most = things.shape[:2]
    is_there = np.arange(most) < rows.counts[order][:, None]
    size, color, form, row, column = np.moveaxis(things, 2, 0)
    across = [np.clip(x[:, :, None] - x[:, None, :], -FARTHEST, FARTHEST) + FARTHEST for x in (row, column)]
    if rows.pictures is not None:
        pictures = len(rows.pictures)
        place = (across[0] * SPAN + across[1]) * pictures + size[:, None, :]
        look = size[:, :, None] * pictures + size[:, None, :]
    else:
        place = ((across[0] * SPAN + across[1]) * SIZES + size[:, :, None]) * SIZES + size[:, None, :]
        look = ((color[:, :, None] * VALUES + color[:, None, :]) * VALUES + form[:, :, None]) * VALUES + form[:, None, :]
    others = is_there[:, None, :] & ~np.eye(most, dtype=bool)
    near, asked, kept = np.ones((3, count, most))
    for t in range(int(lengths.max(initial=0))):
        at = lengths - 1 - t
        w = np.where(at >= 0, rows.words[order, np.maximum(at, 0)], 0).astype(np.int64)
        p = meanings.operations[w]
        p_pass, p_filter, p_compare, p_relate, p_aside = (p[:, k, None] for k in range(OPERATIONS))
        fit = np.ones((count, most))
        for k, value in enumerate((size, color, form)):
            fit *= meanings.fits[w[:, None], k, value]
        some_near, some_asked = np.zeros((2, count, most))
        live = np.nonzero(p[:, COMPARE] + p[:, RELATE] > least)[0]
        if len(live):
            one = w[live][:, None, None]
            r = meanings.places[one, place[live]] * meanings.looks[one, look[live]] * others[live] * near[live][:, None, :]
            some_near[live] = 1.0 - np.prod(1.0 - np.minimum(r, NEARLY_ONE), 2)
            some_asked[live] = 1.0 - np.prod(1.0 - np.minimum(r * asked[live][:, None, :], NEARLY_ONE), 2)
        kept = kept * (1.0 - p_aside + p_aside * asked)
        near = near * (p_pass + p_aside + p_filter * fit + p_compare * some_near) + p_relate
        asked = (1.0 - p_relate - p_aside) * asked + p_relate * some_asked + p_aside
    return np.where(is_there, near * asked * kept + SMALLEST, 0.0)


# --- the lexicon in words --------------------------------------------------------------------------------------------


def lexicon_lines(parameters: Parameters, known: Vocabulary) -> list[tuple[str, ...]]:
    """Every word's likeliest operation, its probability, and what it means."""
    p = operations_of(parameters)
    lines = []
    for number, word in enumerate(known.words, 1):
        operation = int(p[number].argmax())
        if operation == FILTER:
            told = _filter_words(parameters, number, known)
        elif operation in (COMPARE, RELATE):
            told = _relation_words(parameters, number, known)
        else:
            told = ""
        lines.append((word, NAMES[operation], f"{p[number, operation]:.2f}", told))
    return sorted(lines, key=lambda line: (-NAMES.index(line[1]), line[0]))


def _filter_words(parameters: Parameters, number: int, known: Vocabulary) -> str:
    fits, gate, _ = fits_of(parameters)
    attribute = int(gate[number].argmax())
    sizes = tuple(str(size) for size in range(1, SIZES + 1))
    names = (sizes, known.colors, known.shapes)[attribute]
    row = fits[number, attribute, : len(names)]
    wanted = [name for i, name in enumerate(names) if row[i] > SPEAK * row.max()]
    return f"{('size', 'colour', 'shape')[attribute]} {' or '.join(wanted) or 'none'}"


def _relation_words(parameters: Parameters, number: int, known: Vocabulary) -> str:
    """What R asks, factor by factor; a factor that forbids little is left out."""
    f = {name: factor[number] > SPEAK * factor[number].max() for name, factor in relation_factors(parameters).items()}
    told = []
    for name in ("row", "column"):
        wanted = f[name]  # (difference, size of the other)
        if wanted.mean() < LITTLE:
            differences = [str(d) for d in range(-(SPAN // 2), SPAN // 2 + 1) if wanted[d + SPAN // 2].all()]
            partly = [str(d) for d in range(-(SPAN // 2), SPAN // 2 + 1) if wanted[d + SPAN // 2].any()]
            by_size = f" (some sizes of the other: {', '.join(partly)})" if partly != differences else ""
            told.append(f"{name} differs by {', '.join(differences) or 'nothing allowed'}{by_size}")
    for name, names in (("color", known.colors), ("shape", known.shapes), ("size", tuple(map(str, range(1, SIZES + 1))))):
        wanted = f[name][: len(names), : len(names)]
        spoken = "colour" if name == "color" else name
        if wanted.mean() >= LITTLE:
            continue
        if (wanted == np.eye(len(names), dtype=bool)).all():
            told.append(f"same {spoken}")
        elif name == "size" and _is_order(wanted, -1):
            told.append("smaller than the other")
        elif name == "size" and _is_order(wanted, 1):
            told.append("bigger than the other")
        elif (wanted == np.outer(wanted.any(1), wanted.any(0))).all():
            own, other = ("/".join(name for i, name in enumerate(names) if some[i]) for some in (wanted.any(1), wanted.any(0)))
            told.append(f"{spoken} {own}, of the other {other}")
        else:
            pairs = [f"{names[i]}–{names[j]}" for i, j in zip(*np.nonzero(wanted), strict=True)]
            told.append(f"{spoken} {', '.join(pairs[:8])}{' …' if len(pairs) > 8 else ''}")
    return "; ".join(told) or "any other"


def _is_order(wanted: NDArray[np.bool_], sign: int) -> bool:
    """Whether all pairs of the one order are allowed and none of the other; equal values do not matter."""
    i, j = np.indices(wanted.shape)
    return bool(wanted[sign * (i - j) > 0].all() and not wanted[sign * (i - j) < 0].any())


def as_arrays(found: Mapping[str, NDArray[Any]], words: int) -> Parameters:
    """Loaded parameters, checked for their shapes."""
    fresh = new_parameters(words, np.random.default_rng(0))
    for name, array in fresh.items():
        if name not in found or found[name].shape != array.shape:
            raise ValueError(f"{name} has the shape {found[name].shape if name in found else None}, not {array.shape}")
    return {name: np.asarray(found[name], np.float64) for name in fresh}
