"""The hot loop of the release recipe: what the original generator does for one draw, its quirks included, many times over.

Size words are pairwise, pivots go to the first free cell of the row or column, and a draw that is not unique is thrown away as a
whole. What is put into a world, and how, is in `release.decoys`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from recombine.families.reascan.kernel import (
    ATTRIBUTE,
    CELLS,
    CONTRAST,
    FLAG_ATTRIBUTE,
    FLAG_ISOMORPHISM,
    FLAG_RANDOM,
    FLAG_RELATION,
    GRID,
    ISOMORPHISM,
    NODES,
    PIVOT,
    RANDOM,
    RELATION,
    TARGET,
    N,
    adverb_of,
    clear,
    column_of,
    draw_cell,
    mentions_red_square,
    name_new,
    row_of,
    unpack,
    verb_of,
    write_row,
)
from recombine.families.reascan.release.decoys import (
    ATTRIBUTE_KIND,
    ATTRIBUTE_NODE,
    EVERYONE,
    SWAP_KIND,
    add_contrasts,
    add_fill,
    add_relation,
    add_swapped,
    choose_change,
    list_contrasts,
    place_group,
    place_mentioned,
)
from recombine.grid.codes import CYLINDER, PAIRWISE, RED, SMALL, SQUARE, YELLOW
from recombine.grid.kernel import fill_board, is_bindable, lowest, phrase, plan, popcount

if TYPE_CHECKING:
    from recombine.families.reascan.rows import Desk, Ints, Saying, Scene, Sink, Speech, Words

KERNEL = True
LEAN = True

ALL_STRATEGIES, RANDOM_ONLY, RELATION_AND_RANDOM = 0, 1, 2
KEEP_ALL, KEEP_A1, KEEP_A2, KEEP_A3, KEEP_NO_RED_SQUARE = 0, 1, 2, 3, 4
"""Which draws a part keeps besides being unique."""
M_GRID, M_MODE, M_KEEP, M_DRAWS, M_WANTED = 0, 1, 2, 3, 4
"""Settings of a call: strategies, which draws to keep, most draws for a row, after how many good ones to stop."""
R_REFERENT, R_SPLIT = 0, 1
"""Rows of the rejection counts: draws without a unique referent, draws of another split."""


class Draft(NamedTuple):
    """What one draw notes down."""

    bounds: Ints  # [20, 2]: small and big size of 4 shapes, then of 16 colours and shapes; 0 if they are free
    kinds: Ints  # [8, 3]: size, colour, shape of the objects of a group
    due: Ints  # [8, 4]: size word, colour, shape, size of the contrasts that are due
    notes: Ints  # [3]: see `decoys.ATTRIBUTE_NODE` and the others


def draw_world(mode: int, scene: Scene, said: Saying, draft: Draft, desk: Desk) -> Any:
    """One draw, not yet judged; returns the flags of the strategies that worked, or -1 if an object found no place."""
    things, sets, boards, st = scene.things, scene.sets, scene.boards, scene.st
    roles, catches, agent = desk.marks[0], desk.marks[1], scene.agent
    clear(sets, boards, desk.marks, st)
    draft.notes[ATTRIBUTE_NODE], draft.notes[ATTRIBUTE_KIND], draft.notes[SWAP_KIND] = -1, -1, 0
    flags = 0
    if not place_mentioned(things, sets, boards, st, said.words, said.links, draft.bounds, draft.kinds, desk.rng):
        return -1
    name_new(0, st, roles, catches, PIVOT, -1)
    roles[0] = TARGET
    before = st[N]
    if mode != RANDOM_ONLY and st[NODES] > 1 and add_relation(scene, said, draft, desk):
        flags |= FLAG_RELATION
    name_new(before, st, roles, catches, RELATION, -1)
    if add_changed(mode, scene, said, draft, desk):
        flags |= FLAG_ATTRIBUTE
    before = st[N]
    if mode == ALL_STRATEGIES and add_swapped(scene, said, draft, desk):
        flags |= FLAG_ISOMORPHISM
    name_new(before, st, roles, catches, ISOMORPHISM, -1)
    before = st[N]
    filled = add_fill(things, sets, boards, st, said.words, draft.bounds, draft.kinds[0], desk.lists, desk.rng)
    if filled < 0:
        return -1
    if filled > 0:
        flags |= FLAG_RANDOM
    name_new(before, st, roles, catches, RANDOM, -1)
    cell = draw_cell(boards, CELLS, 0, st[GRID] - 1, 0, st[GRID] - 1, desk.rng)
    if cell < 0:
        return -1
    agent[0], agent[1], agent[2], agent[3] = row_of(cell), column_of(cell), 0, 0
    return flags


def add_changed(mode: int, scene: Scene, said: Saying, draft: Draft, desk: Desk) -> Any:
    """The attribute distractor with the size contrasts that belong to it, or these alone; True if the former is there in full.

    Which contrasts are due is decided before the group is there, and they are left out when it stops midway.
    """
    things, sets, boards, st, words, notes = scene.things, scene.sets, scene.boards, scene.st, said.words, draft.notes
    made = choose_change(things, sets, st, words, said.other, notes, desk.lists, desk.rng) if mode == ALL_STRATEGIES else 0
    if made < 0:
        return False
    covered = notes[ATTRIBUTE_NODE] if notes[ATTRIBUTE_KIND] == 0 else -1
    count = list_contrasts(things, sets, st, words, draft.bounds, covered, draft.due)
    before = st[N]
    is_whole = True
    if made == 1:
        is_whole = place_group(
            things, sets, boards, st, said.other, said.links, draft.bounds, draft.kinds, EVERYONE, desk.lists, desk.rng
        )
        name_new(before, st, desk.marks[0], desk.marks[1], ATTRIBUTE, -1)
    before = st[N]
    if is_whole:
        is_whole = add_contrasts(things, sets, boards, st, draft.bounds, draft.due, count, draft.kinds[0], desk.rng)
        name_new(before, st, desk.marks[0], desk.marks[1], CONTRAST, -1)
    return is_whole and made == 1


def is_only_referent(things: Ints, sets: Ints, st: Ints, words: Ints, links: Ints, scratch: Ints) -> Any:
    """Whether the command means object 0 and nothing else, size words pairwise."""
    everything = (1 << st[N]) - 1
    for j in range(st[NODES]):
        scratch[0, j] = phrase(sets, everything, words[j, 0], words[j, 1], words[j, 2], PAIRWISE)
    left = scratch[0, 0]
    if left & 1 == 0:
        return False
    while left:
        root = lowest(left)
        left &= left - 1
        if is_bindable(things, sets, scratch[0], links[0], links[1], st[NODES], root, scratch[4], scratch[5]) != (root == 0):
            return False
    return True


def is_kept(things: Ints, words: Ints, nodes: int, notes: Ints, flags: int, keep: int) -> Any:
    """Whether the part keeps the draw: the attribute distractor must be there in full and aim at the held-out word itself."""
    node, kind = notes[ATTRIBUTE_NODE], notes[ATTRIBUTE_KIND] if flags & FLAG_ATTRIBUTE != 0 else -1
    if keep == KEEP_NO_RED_SQUARE:
        return not mentions_red_square(things, nodes)
    if keep == KEEP_A1:
        return kind == 1 and words[node, 1] == YELLOW and words[node, 2] == SQUARE
    if keep == KEEP_A3:
        return kind == 0 and words[node, 0] == SMALL and words[node, 2] == CYLINDER
    if keep == KEEP_A2:
        for j in range(nodes):
            if words[j, 1] == RED and words[j, 2] == SQUARE:
                return kind == 1 and words[node, 1] == RED and words[node, 2] == SQUARE
        return mentions_red_square(things, nodes)
    return True


def release_rows(
    states: Words,
    forms: Ints,
    settings: Ints,
    speech: Speech,
    scene: Scene,
    said: Saying,
    draft: Draft,
    desk: Desk,
    sink: Sink,
    strategy: Ints,
    alive: Ints,
    rejected: Ints,
) -> Any:
    """One row per state and form; alive[i] is how many draws were good, up to the number wanted. Returns how many rows were found.

    If more than one is wanted, nothing is written: that call only asks which commands are worth their draws.
    """
    st, words, notes = scene.st, said.words, draft.notes
    done = 0
    for i in range(states.shape[0]):
        desk.rng[0] = states[i]
        nodes = unpack(forms[i], words, said.codes, said.links)
        st[NODES] = nodes
        alive[i] = 0
        flags, draws = -1, 0
        for draw in range(settings[M_DRAWS]):
            flags = draw_world(settings[M_MODE], scene, said, draft, desk)
            if flags < 0 or not is_only_referent(scene.things, scene.sets, st, words, said.links, desk.scratch):
                rejected[R_REFERENT] += 1
                continue
            if not is_kept(scene.things, words, nodes, notes, flags, settings[M_KEEP]):
                rejected[R_SPLIT] += 1
                continue
            alive[i] += 1
            draws = draw + 1
            if alive[i] >= settings[M_WANTED]:
                break
        if settings[M_WANTED] > 1 or alive[i] == 0:
            continue
        done += 1
        everything = (1 << st[N]) - 1
        for j in range(nodes):
            fitting = phrase(scene.sets, everything, words[j, 0], words[j, 1], words[j, 2], PAIRWISE)
            said.the[j] = 1 if j == 0 or popcount(fitting) == 1 else 0
        for k in range(3):
            strategy[i, k] = notes[k]
        board, grid = scene.boards[CELLS], st[GRID]
        fill_board(board, grid, scene.things, st[N])
        length = plan(board, grid, scene.agent, scene.things[0], verb_of(forms[i]), adverb_of(forms[i]), desk.out)
        write_row(i, forms[i], flags, draws, 0, length, scene, said, desk, sink, speech)
    return done
