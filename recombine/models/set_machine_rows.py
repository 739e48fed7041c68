"""Rows of a grid world as arrays, for the set machine: from columns, without an object per row, or from examples.

Only what a model may see is read, and the actions where they are asked for. Objects are sorted by place, so their order says
nothing. Column names and the words for headings and actions are those that gSCAN and ReaSCAN share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.columns import Coded, Ragged, distinct, inside, places_in, values_of
from recombine.errors import UsageError, shown

if TYPE_CHECKING:
    from recombine.core import Batch, Example
    from recombine.models.set_machine_camera import Camera

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SmallInts = NDArray[np.int8]

HEADINGS = ("east", "south", "west", "north")
ACTIONS = ("", "end", "turn left", "turn right", "walk", "push", "pull", "stay")
NONE, END, TURN_LEFT, TURN_RIGHT, WALK, PUSH, PULL, STAY = range(8)
SIZES = 4
VALUES = 4
"""Sizes, and at most this many colours and shapes."""
STEP = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]], np.int64)
"""Row and column steps of the headings."""


class Vocabulary(NamedTuple):
    """Words (number 0 is kept for unknown words), colours and shapes that training showed, sorted."""

    words: tuple[str, ...]
    colors: tuple[str, ...]
    shapes: tuple[str, ...]


class Rows(NamedTuple):
    """Rows as arrays. Words are numbers from 1 on; 0 pads and stands for unknown words."""

    words: SmallInts  # (rows, most words), in the order of the command
    lengths: Ints  # (rows,)
    objects: SmallInts  # (rows, most objects, 5): size - 1, colour, shape, row, column
    counts: Ints  # (rows,): objects
    agents: Ints  # (rows, 3): row, column, heading
    actions: SmallInts  # all actions end to end; empty where they were not asked for
    ends: Ints  # (rows + 1,): where each row's actions begin and end
    grid: int
    pictures: Floats | None = None  # (pictures, pixels): then objects are picture, 0, picture, row, column


def vocabulary_of(batches: Iterable[Batch]) -> Vocabulary:
    """The words, colours and shapes in these batches."""
    words, colors, shapes = set[str](), set[str](), set[str]()
    for batch in batches:
        _check(batch)
        c: Mapping[str, Any] = batch.columns
        for command in distinct(c["command"]):
            words.update(command.split())
        colors.update(distinct(inside(c["object_colors"])))
        shapes.update(distinct(inside(c["object_shapes"])))
    if max(len(colors), len(shapes)) > VALUES or len(words) > 126:
        raise UsageError(
            f"the set machine takes at most {VALUES} colours, {VALUES} shapes and 126 words, but these rows have "
            f"{len(colors)}, {len(shapes)} and {len(words)}."
        )
    return Vocabulary(tuple(sorted(words)), tuple(sorted(colors)), tuple(sorted(shapes)))


def _check(batch: Batch) -> None:
    needed = ("command", "actions", "grid_size", "agent_row", "object_sizes", "object_colors", "object_shapes")
    if missing := [name for name in needed if name not in batch.columns]:
        raise UsageError(f"the set machine reads grid worlds (gscan, reascan); {batch.job.family} has no column {missing[0]}.")


def rows_of(batches: Iterable[Batch], known: Vocabulary, camera: Camera | None = None) -> Rows:
    """All rows of these batches, with their actions. With a camera, objects are pictures instead of symbols."""
    rows = joined([_converted(batch, known, camera) for batch in batches])
    return rows if camera is None else rows._replace(pictures=camera.pictures())


def _converted(batch: Batch, known: Vocabulary, camera: Camera | None) -> Rows:
    _check(batch)
    c: Mapping[str, Any] = batch.columns
    sizes: Ragged = c["object_sizes"]
    owner = np.repeat(np.arange(len(batch)), np.diff(sizes.offsets))
    places = [np.asarray(inside(c[name]), np.int64) for name in ("object_rows", "object_columns")]
    size, colors, shapes = np.asarray(inside(sizes), np.int64), inside(c["object_colors"]), inside(c["object_shapes"])
    if camera is not None:
        numbers = _pictured(size, colors, shapes, camera)
        looks = [numbers, np.zeros_like(numbers), numbers]
    else:
        looks = [size - 1, places_in(colors, known.colors), places_in(shapes, known.shapes)]
    flat = np.stack([*looks, *places], 1)
    agents = np.stack([c["agent_row"], c["agent_column"], places_in(c["agent_heading"], HEADINGS)], 1).astype(np.int64)
    said = values_of(c["command"])
    actions: Ragged = c["actions"]
    ends = np.asarray(actions.offsets, np.int64) - int(actions.offsets[0])
    return _arranged(
        said, known, owner, flat, agents, places_in(inside(actions), ACTIONS).astype(np.int8), ends, _grid(c["grid_size"])
    )


def _grid(sizes: Any) -> int:
    found = np.unique(sizes)
    if len(found) != 1:
        raise UsageError(f"the set machine reads worlds of one grid size; these rows have {found.tolist()}.")
    return int(found[0])


def _pictured(sizes: Ints, colors: Coded, shapes: Coded, camera: Camera) -> Ints:
    """The numbers of the objects' pictures; each look is drawn once."""
    parts = np.stack([sizes, np.asarray(colors.codes, np.int64), np.asarray(shapes.codes, np.int64)], 1)
    distinct, which = np.unique(parts, axis=0, return_inverse=True)
    looks = [(int(size), str(colors.values[color]), str(shapes.values[shape])) for size, color, shape in distinct]
    found: Ints = camera.numbers_of(looks)[which.reshape(-1)]
    return found


def _arranged(
    said: Sequence[str], known: Vocabulary, owner: Ints, flat: Ints, agents: Ints, actions: SmallInts, ends: Ints, grid: int
) -> Rows:
    """Commands as numbers, and objects sorted by place in each row."""
    count = len(said)
    order = np.lexsort((flat[:, 0], flat[:, 1], flat[:, 2], flat[:, 4], flat[:, 3], owner))
    counts = np.bincount(owner, minlength=count).astype(np.int64)
    starts = np.cumsum(counts) - counts
    objects = np.full((count, int(counts.max(initial=1)), 5), -1, np.int8)
    objects[owner, np.arange(len(owner)) - starts[owner]] = flat[order]
    number = {word: i + 1 for i, word in enumerate(known.words)}
    seen: dict[str, list[int]] = {}
    for command in said:
        if command not in seen:
            seen[command] = [number.get(word, 0) for word in command.split()]
    listed = [seen[command] for command in said]
    lengths = np.array([len(words) for words in listed], np.int64)
    words = np.zeros((count, int(lengths.max(initial=1))), np.int8)
    words[np.repeat(np.arange(count), lengths), _within(lengths)] = [word for numbers in listed for word in numbers]
    return Rows(words, lengths, objects, counts, agents, actions, ends, grid)


def _within(lengths: Ints) -> Ints:
    """0, 1, … inside every group of these lengths, end to end."""
    ends = np.cumsum(lengths)
    inside: Ints = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    return inside


def joined(pieces: Sequence[Rows]) -> Rows:
    """Rows end to end."""
    if not pieces:
        raise UsageError("training needs at least one example.")
    if len({piece.grid for piece in pieces}) > 1:
        raise UsageError("the set machine reads worlds of one grid size; these rows have several.")
    ends = [np.zeros(1, np.int64)]
    for piece in pieces:
        ends.append(piece.ends[1:] + ends[-1][-1])
    return Rows(
        _padded([piece.words for piece in pieces], 0),
        np.concatenate([piece.lengths for piece in pieces]),
        _padded([piece.objects for piece in pieces], -1),
        np.concatenate([piece.counts for piece in pieces]),
        np.concatenate([piece.agents for piece in pieces]),
        np.concatenate([piece.actions for piece in pieces]),
        np.concatenate(ends),
        pieces[0].grid,
    )


def _padded(arrays: Sequence[SmallInts], value: int) -> SmallInts:
    width = max(array.shape[1] for array in arrays)
    out = np.full((sum(map(len, arrays)), width, *arrays[0].shape[2:]), value, np.int8)
    start = 0
    for array in arrays:
        out[start : start + len(array), : array.shape[1]] = array
        start += len(array)
    return out


def rows_of_examples(examples: Sequence[Example], known: Vocabulary, camera: Camera | None = None) -> Rows:
    """The inputs of examples of one grid size; no actions. With a camera, objects are pictures instead of symbols."""
    owner, flat, shown_as, agents, grids = [], [], [], [], set()
    place = [{name: i for i, name in enumerate(names)} for names in (known.colors, known.shapes, HEADINGS)]
    for row, example in enumerate(examples):
        inputs = example.inputs
        if not {"command", "grid_size", "agent", "objects"} <= set(inputs):
            raise UsageError(f"the set machine reads grid worlds (gscan, reascan); {example.id} has {shown(sorted(inputs))}.")
        agent = inputs["agent"]
        agents.append([agent["row"], agent["column"], place[2][agent["heading"]]])
        grids.add(int(inputs["grid_size"]))
        for thing in inputs["objects"]:
            owner.append(row)
            shown_as.append((thing["size"], thing["color"], thing["shape"]))
            looks = place[0].get(thing["color"], -1), place[1].get(thing["shape"], -1)
            flat.append([thing["size"] - 1, *looks, thing["row"], thing["column"]])
    if len(grids) != 1:
        raise UsageError(f"the set machine answers rows of one grid size at a time, not of {sorted(grids)}.")
    things = np.array(flat, np.int64).reshape(-1, 5)
    if camera is not None:  # all looks at once: their numbers then follow from their pixels alone
        numbers = camera.numbers_of(shown_as)
        things[:, :3] = np.stack([numbers, np.zeros_like(numbers), numbers], 1)
    rows = _arranged(
        [str(example.inputs["command"]) for example in examples], known, np.array(owner, np.int64), things,
        np.array(agents, np.int64), np.zeros(0, np.int8), np.zeros(1, np.int64), grids.pop(),
    )  # fmt: skip
    return rows if camera is None else rows._replace(pictures=camera.pictures())


class Walk(NamedTuple):
    """What follows from the actions: the pose after each one, pushes and pulls so far, and the cell that was walked to."""

    poses: SmallInts  # (actions, 3): row, column, heading
    moved: SmallInts  # (actions,): pushes and pulls up to and with this action
    targets: Ints  # (rows, 2): row and column where the agent stands after its walks


def walked(rows: Rows) -> Walk:
    """Follow every row's actions from its agent. Pushing and pulling do not count as walking."""
    lengths = np.diff(rows.ends)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    acts = rows.actions

    def so_far(values: Ints) -> Ints:
        total = np.cumsum(values)
        before = np.concatenate([[0], total])[rows.ends[:-1]]
        found: Ints = total - before[owner]
        return found

    turns = (acts == TURN_RIGHT).astype(np.int64) - (acts == TURN_LEFT)
    heading = (so_far(turns) + rows.agents[owner, 2]) % 4
    step = STEP[heading] * (acts == WALK)[:, None]
    place = [so_far(step[:, k]) + rows.agents[owner, k] for k in (0, 1)]
    poses = np.stack([*place, heading], 1).astype(np.int8)
    moved = np.minimum(so_far(((acts == PUSH) | (acts == PULL)).astype(np.int64)), 127).astype(np.int8)
    last = np.maximum(rows.ends[1:] - 1, 0)
    targets = np.where((lengths > 0)[:, None], poses[last, :2] if len(poses) else 0, rows.agents[:, :2]).astype(np.int64)
    return Walk(poses, moved, targets)
