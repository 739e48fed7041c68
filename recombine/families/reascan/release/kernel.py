"""The hot loop of the release recipe: what the original generator does for one draw, its quirks included, many times over.

Size words are pairwise, pivots go to the first free cell of the row or column, and a draw that is not unique is thrown away as a
whole. What is put into a world, and how, is in `release.decoys`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from recombine.families.reascan.commands import NO, direction_of, unpack, verdict
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
    clear,
    column_of,
    draw_cell,
    finish,
    name_new,
    row_of,
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
from recombine.grid.codes import PAIRWISE
from recombine.grid.kernel import is_bindable, lowest, phrase, popcount

if TYPE_CHECKING:
    from recombine.families.reascan.rows import Asked, Bench, Desk, Ints, Saying, Scene, Sink, Speech, Words

KERNEL = True
LEAN = True

M_GRID, M_STRATEGIES, M_DRAWS, M_WANTED, M_LENGTH, M_CUT, M_AIM_KIND, M_AIM_SIZE, M_AIM_COLOR, M_AIM_SHAPE = range(10)
"""Settings of a call: strategies as flags, most draws for a row, after how many good ones to stop, and what is kept.

M_LENGTH: 1 at most M_CUT actions, 2 more, 0 any number. M_AIM_KIND: if a phrase has the words M_AIM_SIZE, M_AIM_COLOR and
M_AIM_SHAPE (-1: any), the attribute distractor must change this kind of word of such a phrase; -1 if it need not.
"""
R_REFERENT, R_SPLIT = 0, 1
"""Rows of the rejection counts: draws without a unique referent, draws of another split."""


class Draft(NamedTuple):
    """What one draw notes down."""

    bounds: Ints  # [20, 2]: small and big size of 4 shapes, then of 16 colours and shapes; 0 if they are free
    kinds: Ints  # [8, 3]: size, colour, shape of the objects of a group
    due: Ints  # [8, 4]: size word, colour, shape, size of the contrasts that are due
    notes: Ints  # [3]: see `decoys.ATTRIBUTE_NODE` and the others


def draw_world(strategies: int, scene: Scene, said: Saying, draft: Draft, desk: Desk) -> Any:
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
    if strategies & FLAG_RELATION != 0 and st[NODES] > 1 and add_relation(scene, said, draft, desk):
        flags |= FLAG_RELATION
    name_new(before, st, roles, catches, RELATION, -1)
    if add_changed(strategies, scene, said, draft, desk):
        flags |= FLAG_ATTRIBUTE
    before = st[N]
    if strategies & FLAG_ISOMORPHISM != 0 and add_swapped(scene, said, draft, desk):
        flags |= FLAG_ISOMORPHISM
    name_new(before, st, roles, catches, ISOMORPHISM, -1)
    before = st[N]
    filled = 0
    if strategies & FLAG_RANDOM != 0:
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


def add_changed(strategies: int, scene: Scene, said: Saying, draft: Draft, desk: Desk) -> Any:
    """The attribute distractor with the size contrasts that belong to it, or these alone; True if the former is there in full.

    Which contrasts are due is decided before the group is there, and they are left out when it stops midway.
    """
    things, sets, boards, st, words, notes = scene.things, scene.sets, scene.boards, scene.st, said.words, draft.notes
    made = 0
    if strategies & FLAG_ATTRIBUTE != 0:
        made = choose_change(things, sets, st, words, said.other, notes, desk.lists, desk.rng)
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


def is_kept(form: int, flags: int, asked: Asked, scene: Scene, said: Saying, draft: Draft, desk: Desk) -> Any:
    """Whether the part keeps the draw: it shows what it must, and its attribute distractor changes the held-out word."""
    settings, words, nodes = asked.settings, said.words, scene.st[NODES]
    if verdict(
        form, nodes, direction_of(scene.agent, scene.things), scene.things, nodes, words, said.codes, said.links, asked.atoms,
        asked.combinations, False, desk.mixer,
    ) == NO:  # fmt: skip
        return False
    if settings[M_LENGTH] != 0 and (finish(form, scene, desk) > settings[M_CUT]) != (settings[M_LENGTH] == 2):
        return False
    if settings[M_AIM_KIND] < 0:
        return True
    node, kind = draft.notes[ATTRIBUTE_NODE], draft.notes[ATTRIBUTE_KIND] if flags & FLAG_ATTRIBUTE != 0 else -1
    for j in range(nodes):
        if is_aim(words, j, settings):
            return kind == settings[M_AIM_KIND] and is_aim(words, node, settings)
    return True


def is_aim(words: Ints, j: int, settings: Ints) -> Any:
    """Whether phrase j has the words at which the attribute distractor must aim."""
    is_size = settings[M_AIM_SIZE] < 0 or words[j, 0] == settings[M_AIM_SIZE]
    is_color = settings[M_AIM_COLOR] < 0 or words[j, 1] == settings[M_AIM_COLOR]
    return is_size and is_color and (settings[M_AIM_SHAPE] < 0 or words[j, 2] == settings[M_AIM_SHAPE])


def release_rows(
    states: Words,
    forms: Ints,
    asked: Asked,
    speech: Speech,
    bench: Bench,
    draft: Draft,
    sink: Sink,
    strategy: Ints,
    alive: Ints,
    rejected: Ints,
) -> Any:
    """One row per state and form; alive[i] is how many draws were good, up to the number wanted. Returns how many rows were found.

    If more than one is wanted, nothing is written: that call only asks which commands are worth their draws.
    """
    scene, said, desk = bench.scene, bench.said, bench.desk
    st, words, settings = scene.st, said.words, asked.settings
    done = 0
    for i in range(states.shape[0]):
        desk.rng[0] = states[i]
        nodes = unpack(forms[i], words, said.codes, said.links)
        st[NODES] = nodes
        alive[i] = 0
        flags, draws = -1, 0
        for draw in range(settings[M_DRAWS]):
            flags = draw_world(settings[M_STRATEGIES], scene, said, draft, desk)
            if flags < 0 or not is_only_referent(scene.things, scene.sets, st, words, said.links, desk.scratch):
                rejected[R_REFERENT] += 1
                continue
            if not is_kept(forms[i], flags, asked, scene, said, draft, desk):
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
            strategy[i, k] = draft.notes[k]
        write_row(i, forms[i], flags, draws, 0, finish(forms[i], scene, desk), scene, said, desk, sink, speech)
    return done
