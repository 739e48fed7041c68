"""What the kernels of both recipes share: commands as numbers, objects on boards, and finished rows.

Outer functions take bundles of arrays (`rows.Scene` and others). Inner functions take the arrays themselves, because unpacking
a bundle in an inner loop costs a quarter of the speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.draws import below, bits
from recombine.families.reascan.plan import N_ADVERBS, N_DIGITS, N_MANNERS, N_PHRASES
from recombine.grid.codes import (
    BOX,
    COLOR,
    COLUMN,
    CYLINDER,
    DO_PULL,
    DO_PUSH,
    INSIDE,
    NO_SIZE,
    RED,
    ROW,
    SAME_SIZE,
    SHAPE,
    SIZE,
    SMALL,
    SQUARE,
    YELLOW,
)
from recombine.grid.kernel import nth, popcount

if TYPE_CHECKING:
    from recombine.families.reascan.rows import Bytes, Desk, Ints, Saying, Scene, Sink, Speech, Words

KERNEL = True
LEAN = True

N, GRID, LIMIT, LOW, HIGH, NODES, SPARE_OK = 0, 1, 2, 3, 4, 5, 6
"""`st`: objects so far, grid size, most objects, the small and the big size, phrases, whether words may be marked as spare."""
CELLS, ANCHORS = 0, 1
"""`boards`: cells that objects take or that are kept free; anchors of boxes."""
CELL_BITS = 6
"""A cell is encode_cell(row, column), so the grid has at most 64 columns."""
TARGET, PIVOT, RELATION, ATTRIBUTE, ISOMORPHISM, CONTRAST, RANDOM = 0, 1, 2, 3, 4, 5, 6
"""Roles of objects; their names are `rows.ROLES`."""
FLAG_RELATION, FLAG_ATTRIBUTE, FLAG_ISOMORPHISM, FLAG_RANDOM = 1, 2, 4, 8
"""The strategies that worked, as a sum."""
FORM, AGENT_CELL, MOVED, LENGTH, FLAGS, SPARE, PATTERN, ATTEMPTS = 0, 1, 2, 3, 4, 5, 6, 7
"""Columns of `Sink.rows`."""
ROLE_ROW, CATCH_ROW = 5, 6
"""Rows of `Sink.flat` after the five columns of an object; rows 0 and 1 of `marks` hold the same for the present world."""
VARIANT = 8
"""A variant of a command drops one thing of one phrase j: its code is VARIANT * j + kind."""
TAG_A1, TAG_A2, TAG_A3, TAG_B1, TAG_B2 = 1, 2, 4, 8, 16
"""Novel colour word, novel colour, novel size word, novel set of phrases, novel pair of relations."""
B1_SHARE = 10
"""One in so many sets of three phrases is held out from two-clause commands."""
SPELL_ADVERB, SPELL_THAT, SPELL_AND, SPELL_A, SPELL_THE, SPELL_PHRASE = 2, 7, 13, 19, 20, 21
"""Where the kinds of text pieces begin (`plan.spellings`)."""


# --- codes -----------------------------------------------------------------------------------------------------------


def encode_manner(verb: int, adverb: int) -> int:
    """Verb and adverb as a number below 15."""
    return verb * N_ADVERBS + adverb


def verb_of(form: int) -> int:
    """The verb of a form or manner."""
    return form % N_MANNERS // N_ADVERBS


def adverb_of(form: int) -> int:
    """The adverb of a form or manner."""
    return form % N_ADVERBS


def encode_cell(row: int, column: int) -> int:
    """A cell as one number."""
    return (row << CELL_BITS) + column


def row_of(cell: int) -> int:
    """The row of a cell."""
    return cell >> CELL_BITS


def column_of(cell: int) -> int:
    """The column of a cell."""
    return cell & ((1 << CELL_BITS) - 1)


# --- commands --------------------------------------------------------------------------------------------------------


def draw_form(pattern: Ints, roots: Ints, table: Ints, counts: Ints, codes: Ints, links: Ints, rng: Words) -> Any:
    """A uniform structure of the pattern with a uniform verb and adverb, as its form.

    pattern[0] is the number of phrases, pattern[1 + k] the parent of phrase k; roots[0] how many phrases may come first, then they.
    Every phrase draws one of `most` clauses and the whole is drawn again if there are fewer, or if it breaks a rule: so all
    structures are equally likely.
    """
    most = table.shape[1]
    nodes = pattern[0]
    is_whole = False
    while not is_whole:
        codes[0] = roots[1 + below(rng, roots[0])]
        links[0, 0], links[1, 0] = -1, 0
        is_whole = True
        k = 1
        while k < nodes and is_whole:
            pick = below(rng, most)
            is_whole = hang(pattern, table, counts, codes, links, k, pick)
            k += 1
    return pack(nodes, codes, links) * N_MANNERS + below(rng, N_MANNERS)


def hang(pattern: Ints, table: Ints, counts: Ints, codes: Ints, links: Ints, k: int, pick: int) -> Any:
    """Let phrase k hang by clause number `pick` of its parent; False if there is no such clause or the command breaks a rule."""
    parent = pattern[1 + k]
    if pick >= counts[codes[parent]]:
        return False
    step = table[codes[parent], pick]
    relation, code = step // N_PHRASES, step % N_PHRASES
    for e in range(k):
        if codes[e] == code:
            return False
        if e > 0 and links[0, e] == parent and links[1, e] == relation:
            return False
    codes[k], links[0, k], links[1, k] = code, parent, relation
    return True


def form_at(pattern: Ints, roots: Ints, table: Ints, counts: Ints, codes: Ints, links: Ints, rank: int) -> Any:
    """The structure with this number among all that `draw_form` proposes, without verb and adverb; 0 if it breaks a rule."""
    most = table.shape[1]
    nodes = pattern[0]
    scale = 1
    for _ in range(nodes - 1):
        scale *= most
    codes[0] = roots[1 + rank // scale]
    links[0, 0], links[1, 0] = -1, 0
    for k in range(1, nodes):
        scale //= most
        if not hang(pattern, table, counts, codes, links, k, rank // scale % most):
            return 0
    return pack(nodes, codes, links)


def list_forms(
    pattern: Ints, roots: Ints, table: Ints, counts: Ints, codes: Ints, links: Ints, start: int, stop: int, out: Ints
) -> Any:
    """Write every structure whose number is in [start, stop) to `out`, as far as it reaches; returns how many there are."""
    found = 0
    for rank in range(start, stop):
        form = form_at(pattern, roots, table, counts, codes, links, rank)
        if form != 0:
            if found < out.shape[0]:
                out[found] = form
            found += 1
    return found


def pack(nodes: int, codes: Ints, links: Ints) -> Any:
    """Phrases and links as one number, without verb and adverb."""
    value = codes[0] * 0 + 1
    for k in range(nodes):
        deeper = 1 if k > 0 and links[0, k] == k - 1 else 0
        value = value * N_DIGITS + (links[1, k] * 2 + deeper) * N_PHRASES + codes[k]
    return value


def unpack(form: int, words: Ints, codes: Ints, links: Ints) -> Any:
    """Fill words[k] = (size word, colour, shape), codes and links of a form; returns how many phrases it has."""
    value = form // N_MANNERS
    nodes = 0
    while value > 1:
        value //= N_DIGITS
        nodes += 1
    value = form // N_MANNERS
    for k in range(nodes - 1, -1, -1):
        digit = value % N_DIGITS
        value //= N_DIGITS
        link, code = digit // N_PHRASES, digit % N_PHRASES
        codes[k] = code
        links[0, k] = link % 2
        links[1, k] = link // 2
        words[k, 0], words[k, 1], words[k, 2] = code // 25, code // 5 % 5 - 1, code % 5 - 1
    links[0, 0] = -1
    for k in range(1, nodes):
        links[0, k] = k - 1 if links[0, k] == 1 else links[0, k - 1]
    return nodes


def is_dead(nodes: int, words: Ints, links: Ints) -> Any:
    """Whether no world can need every word: "the small red circle … a square that is in the same size as a red circle".

    Whatever the square is as big as, a red circle of that size is there by the size word of the first phrase.
    """
    if nodes != 3 or links[0, 2] != 1 or links[1, 2] != SAME_SIZE:
        return False
    if words[0, 0] == NO_SIZE or words[0, 1] < 0 or words[0, 2] < 0:
        return False
    return words[0, 1] == words[2, 1] and words[0, 2] == words[2, 2]


def tags_of(nodes: int, words: Ints, codes: Ints, links: Ints, mixer: Words) -> Any:
    """Which held-out sets the command itself belongs to, as a sum of tags; `mixer` is a uint64 scratch array of one word."""
    tags = 0
    has_size, has_inside = False, False
    for k in range(nodes):
        size, color, shape = words[k, 0], words[k, 1], words[k, 2]
        if color == YELLOW and shape == SQUARE:
            tags |= TAG_A1
        if color == RED and shape == SQUARE:
            tags |= TAG_A2
        if size == SMALL and shape == CYLINDER:
            tags |= TAG_A3
        if k > 0:
            has_size = has_size or links[1, k] == SAME_SIZE
            has_inside = has_inside or links[1, k] == INSIDE
    if has_size and has_inside:
        tags |= TAG_B2
    if nodes == 3 and links[0, 2] == 0 and is_novel_set(codes, mixer):
        tags |= TAG_B1
    return tags


def is_novel_set(codes: Ints, mixer: Words) -> Any:
    """Whether the set of the first three phrases is held out, by its hash."""
    a, b, c = codes[0], codes[1], codes[2]
    low, high = min(a, min(b, c)), max(a, max(b, c))
    mixer[0] = np.uint64((low * N_PHRASES + (a + b + c - low - high)) * N_PHRASES + high)
    return below(mixer, B1_SHARE) == 0


def mentions_red_square(things: Ints, nodes: int) -> Any:
    """Whether the target or another object that the command speaks of is a red square."""
    for i in range(nodes):  # noqa: SIM110 - Numba compiles no generators
        if things[i, COLOR] == RED and things[i, SHAPE] == SQUARE:
            return True
    return False


def bucket_of(form: int, place: int, mixer: Words) -> Any:
    """Which part a command with this target and agent belongs to: 0 test, 1 validation, 2 and 3 train."""
    mixer[0] = np.uint64(form)
    word = bits(mixer)
    mixer[0] = word ^ np.uint64(place)
    return below(mixer, 4)


def say(piece: int, letters: Bytes, starts: Ints, out: Bytes, m: int) -> Any:
    """Append one piece of text; returns the new length."""
    for i in range(starts[piece], starts[piece + 1]):
        out[m] = letters[i]
        m += 1
    return m


def spell(form: int, the: Ints, nodes: int, codes: Ints, links: Ints, letters: Bytes, starts: Ints, out: Bytes, m: int) -> Any:
    """Append the command's text, "the" before each phrase k with the[k] != 0; returns the new length. See `plan.spellings`."""
    m = say(verb_of(form), letters, starts, out, m)
    for k in range(nodes):
        if k > 0:
            m = say((SPELL_THAT if links[0, k] == k - 1 else SPELL_AND) + links[1, k], letters, starts, out, m)
        m = say(SPELL_THE if the[k] != 0 else SPELL_A, letters, starts, out, m)
        m = say(SPELL_PHRASE + codes[k], letters, starts, out, m)
    if adverb_of(form) > 0:
        m = say(SPELL_ADVERB + adverb_of(form), letters, starts, out, m)
    return m


# --- objects ---------------------------------------------------------------------------------------------------------


def add(things: Ints, sets: Ints, boards: Ints, st: Ints, size: int, color: int, shape: int, row: int, column: int) -> Any:
    """Put an object into the world; returns its index."""
    i = st[N]
    things[i, SIZE], things[i, COLOR], things[i, SHAPE], things[i, ROW], things[i, COLUMN] = size, color, shape, row, column
    bit = 1 << i
    sets[SIZE, size] |= bit
    sets[COLOR, color] |= bit
    sets[SHAPE, shape] |= bit
    sets[ROW, row] |= bit
    sets[COLUMN, column] |= bit
    board = ANCHORS if shape == BOX else CELLS
    boards[board, row] |= 1 << column
    st[N] = i + 1
    return i


def cut(things: Ints, sets: Ints, boards: Ints, st: Ints, n: int) -> None:
    """Take back the objects from index n on."""
    while st[N] > n:
        i = st[N] - 1
        keep = ~(1 << i)
        for a in range(5):
            sets[a, things[i, a]] &= keep
        board = ANCHORS if things[i, SHAPE] == BOX else CELLS
        boards[board, things[i, ROW]] &= ~(1 << things[i, COLUMN])
        st[N] = i


def clear(sets: Ints, boards: Ints, marks: Ints, st: Ints) -> None:
    """An empty world."""
    st[N] = 0
    for a in range(5):
        for b in range(sets.shape[1]):
            sets[a, b] = 0
    for a in range(2):
        for r in range(boards.shape[1]):
            boards[a, r] = 0
    marks[2, 0] = 0


def draw_cell(boards: Ints, board: int, top: int, bottom: int, left: int, right: int, rng: Words) -> Any:
    """A uniform free cell of the rectangle (ends included) as encode_cell(row, column), or -1 if there is none.

    A few cells are tried before the free ones are counted: in open rectangles that is quicker, and just as uniform.
    """
    if top > bottom or left > right:
        return -1
    wide = right - left + 1
    area = wide * (bottom - top + 1)
    for _ in range(3):
        k = below(rng, area)
        row, column = top + k // wide, left + k % wide
        if (boards[board, row] >> column) & 1 == 0:
            return encode_cell(row, column)
    mask = ((1 << (right + 1)) - 1) & ~((1 << left) - 1)
    free = 0
    for r in range(top, bottom + 1):
        free += popcount(mask & ~boards[board, r])
    if free == 0:
        return -1
    k = below(rng, free)
    for r in range(top, bottom + 1):
        word = mask & ~boards[board, r]
        here = popcount(word)
        if k < here:
            return encode_cell(r, nth(word, k))
        k -= here
    return -1


def name_new(before: int, st: Ints, roles: Ints, catches: Ints, role: int, catch: int) -> None:
    """Write role and reason of the objects from index `before` on."""
    for i in range(before, st[N]):
        roles[i] = role
        catches[i] = catch


# --- finished rows ---------------------------------------------------------------------------------------------------


def write_row(
    i: int,
    form: int,
    flags: int,
    attempts: int,
    p: int,
    length: int,
    scene: Scene,
    said: Saying,
    desk: Desk,
    sink: Sink,
    speech: Speech,
) -> None:
    """Write the present world as row i of the outputs."""
    st, marks, out, ends = scene.st, desk.marks, desk.out, sink.ends
    at = ends[0]
    for k in range(st[N]):
        for a in range(5):
            sink.flat[a, at] = scene.things[k, a]
        sink.flat[ROLE_ROW, at] = marks[0, k]
        sink.flat[CATCH_ROW, at] = marks[1, k]
        at += 1
    ends[0] = at
    sink.flat_ends[i] = at
    has_moved = 0
    at = ends[1]
    for k in range(length):
        sink.steps[at] = out[k]
        at += 1
        if out[k] == DO_PUSH or out[k] == DO_PULL:
            has_moved = 1
    ends[1] = at
    sink.step_ends[i] = at
    ends[2] = spell(form, said.the, st[NODES], said.codes, said.links, speech.letters, speech.starts, sink.text, ends[2])
    sink.text_ends[i] = ends[2]
    for k in range(marks[2, 0]):
        sink.spare[ends[3]] = marks[2, 1 + k]
        ends[3] += 1
    sink.rows[i, FORM] = form
    sink.rows[i, AGENT_CELL] = scene.agent[0] * st[GRID] + scene.agent[1]
    sink.rows[i, MOVED] = has_moved
    sink.rows[i, LENGTH] = length
    sink.rows[i, FLAGS] = flags
    sink.rows[i, SPARE] = marks[2, 0]
    sink.rows[i, PATTERN] = p
    sink.rows[i, ATTEMPTS] = attempts
