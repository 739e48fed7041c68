"""What the set machine's two halves need to know of how it sees: the finder's parameters and tables, and the actor's features.

With symbols the actor has a feature for each size of the target, and for each shape in each cell before and behind it. With pictures
it has one for each value of the eye's slots instead. A picture's features are then weighted by its slots: `dressed` multiplies them out
to a table by picture, and `undressed` takes the gradients back. The eye itself learns from the finder's loss alone.
"""

from __future__ import annotations

import numpy as np

from recombine.errors import UsageError
from recombine.models.set_machine_actor import line_places, new_actor
from recombine.models.set_machine_eye import (
    CODES,
    codes_of,
    eye_meanings,
    eye_spread,
    new_eye_parameters,
    no_eye_gradients,
)  # fmt: skip
from recombine.models.set_machine_finder import Parameters, meanings_of, new_parameters, no_gradients, spread
from recombine.models.set_machine_kernel import Meanings
from recombine.models.set_machine_rows import VALUES, Rows

SYMBOLS, PICTURES = "symbols", "pictures"
SIGHTS = (SYMBOLS, PICTURES)
"""Values of the setting `sight`."""


def check_sight(sight: str, rows: Rows) -> None:
    """Refuse rows that were read in the other way."""
    if (sight == PICTURES) != (rows.pictures is not None):
        held = SYMBOLS if rows.pictures is None else PICTURES
        raise UsageError(f"this set machine has sight = {sight}, but these rows hold {held}.")


def new_finder(words: int, rows: Rows, rng: np.random.Generator) -> Parameters:
    """Small random parameters for what these rows hold."""
    return new_parameters(words, rng) if rows.pictures is None else new_eye_parameters(words, rows.pictures.shape[1], rng)


def actor_kinds(sight: str) -> int:
    """How many values the actor tells apart in the target and in each cell of its line."""
    return CODES if sight == PICTURES else VALUES


def new_sighted_actor(words: int, sight: str, grid: int, hidden: tuple[int, int], rng: np.random.Generator) -> Parameters:
    """Random weights for an actor with this sight."""
    return new_actor(words, grid, hidden, rng, actor_kinds(sight))


def sighted_meanings(parameters: Parameters, rows: Rows, least: float) -> Meanings:
    """What the kernel multiplies for these rows."""
    if rows.pictures is None:
        return meanings_of(parameters)
    if rows.pictures.shape[1] != len(parameters["eye_pixels"]):
        raise UsageError(
            f"this set machine's eye sees {len(parameters['eye_pixels']):,} numbers a picture; these pictures have {rows.pictures.shape[1]:,}."
        )
    return eye_meanings(parameters, rows.pictures, least)


def sighted_spread(parameters: Parameters, rows: Rows, least: float, even: float, grads: Meanings) -> Parameters:
    """Gradients of what the kernel multiplies as gradients of the parameters; with pictures, also of the price of uneven slots."""
    return spread(parameters, grads) if rows.pictures is None else eye_spread(parameters, rows.pictures, least, even, grads)


def sighted_gradients(words: int, rows: Rows) -> Meanings:
    """Gradients to add to."""
    return no_gradients(words) if rows.pictures is None else no_eye_gradients(words, len(rows.pictures))


def dressed(actor: Parameters, finder: Parameters, rows: Rows) -> Parameters:
    """The actor's weights with features by picture; with symbols, the weights as they are."""
    if rows.pictures is None:
        return actor
    codes, table = codes_of(finder, rows.pictures).astype(np.float32), actor["feature"]
    size, line, wall = line_places(rows.grid, CODES)
    cells = table[line:wall].reshape(-1, CODES, table.shape[1])
    pieces = (
        table[:size], codes @ table[size : size + CODES], table[size + CODES : line],
        (codes @ cells).reshape(-1, table.shape[1]), table[wall:],
    )  # fmt: skip
    return actor | {"feature": np.concatenate(pieces)}


def undressed(grads: Parameters, finder: Parameters, rows: Rows) -> Parameters:
    """Gradients of dressed weights as gradients of the actor's own."""
    if rows.pictures is None:
        return grads
    codes, table, count = codes_of(finder, rows.pictures).astype(np.float32), grads["feature"], len(rows.pictures)
    size, line, wall = line_places(rows.grid, count)
    cells = table[line:wall].reshape(-1, count, table.shape[1])
    pieces = (
        table[:size], codes.T @ table[size : size + count], table[size + count : line],
        (codes.T @ cells).reshape(-1, table.shape[1]), table[wall:],
    )  # fmt: skip
    return grads | {"feature": np.concatenate(pieces)}
