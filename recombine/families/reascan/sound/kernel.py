"""The hot loop of the sound recipe: commands, worlds, roles, actions and texts of many rows, straight into arrays.

A world is grown, never repaired: target, agent and mentioned objects first; then, for every word and every clause, a decoy that
a reader who skips it would take for the target, unless one is already there; then an isomorphic decoy and random objects.
After each addition the target must still be the only referent, or the addition is taken back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine.draws import below
from recombine.families.reascan.commands import (
    MAYBE,
    NO,
    adverb_of,
    bucket_of,
    direction_of,
    draw_form,
    is_dead,
    unpack,
    verb_of,
    verdict,
)
from recombine.families.reascan.kernel import (
    ATTRIBUTE,
    CELLS,
    FLAG_ATTRIBUTE,
    FLAG_ISOMORPHISM,
    FLAG_RANDOM,
    FLAG_RELATION,
    GOAL,
    GRID,
    HIGH,
    LIMIT,
    LOW,
    NODES,
    PIVOT,
    RANDOM,
    RELATION,
    SPARE_OK,
    TARGET,
    N,
    add,
    clear,
    encode_cell,
    finish,
    name_new,
    write_row,
)
from recombine.families.reascan.sound.decoys import (
    add_contrasts,
    add_decoys,
    add_isomorph,
    add_random,
    add_seconds,
    mark_spare,
    scatter,
)
from recombine.families.reascan.sound.world import NEW, NO_KIND, build, draw_size, fit, is_unique, set_pairs
from recombine.grid.codes import (
    BIG,
    COLOR,
    COLUMN,
    COLUMN_STEP,
    NO_SIZE,
    PULL,
    PUSH,
    ROW,
    ROW_STEP,
    SHAPE,
    SIZE,
    SMALL,
    WALK,
    ZIGZAG,
)
from recombine.grid.kernel import arrival, plan, popcount

if TYPE_CHECKING:
    from recombine.families.reascan.rows import Asked, Bench, Desk, Grammar, Ints, Saying, Scene, Sink, Speech, Words
    from recombine.families.reascan.sound.generate import Aims

KERNEL = True
LEAN = True

P_GRID, P_STRATEGIES, P_PART, P_LENGTH, P_CUT, P_INTERACTION, P_SPARE_OK, P_SHOTS, P_FIRST, P_MATCHED = range(10)
"""Settings of the whole call. P_PART is -1 if any part will do; the first P_SHOTS rows show what training must not show."""
N_SETTINGS = 10
UP_TO, BEYOND = 1, 2
"""Values of P_LENGTH: at most P_CUT actions, or more; 0 if any number will do."""
PLANNED = FLAG_RELATION | FLAG_ATTRIBUTE
"""With both of these strategies, every word and clause is needed."""
ANYWHERE, CAN_PUSH, CAN_PUSH_ZIGZAG, CANNOT_PULL = 0, 1, 2, 3
"""Modes of the aim tables. ANYWHERE: every pair of cells. CAN_PUSH and CAN_PUSH_ZIGZAG: the cell behind the target is in the
grid, for plain and for zigzag walking. CANNOT_PULL: the agent is not next to the target."""
MILLION = 1_000_000
R_COMMAND, R_PART, R_WORLD, R_CLAIM, R_GIVEN_UP = 0, 1, 2, 3, 4
"""Rows of the rejection counts: commands outside the split, draws of other parts, worlds, worlds outside the split, commands."""
FAILED, OUTSIDE, NO_PIVOTS, SKIPPED = -1, -2, -3, -4
"""Why there is no world yet: this attempt failed; it is outside the split; the mentioned objects do not fit with this target;
command, target and agent are not wanted."""
SPARE_FROM = 60
"""After this many draws, a row whose command was given may mark words as spare instead."""
MOST_TRIES, MOST_COMMANDS = 100_000, 300
"""A row is hopeless after this many draws of a command, or after this many commands without a world."""
LIMIT_COLUMN = 7
"""Column of `Grammar.patterns` with the most objects."""
TARGET_TRIES, WORLD_TRIES, BLOCK_TRIES = 8, 6, 12
"""Draws of a target for a command, of a world for a target, of an object that blocks the target's way."""


# --- what the split asks for -------------------------------------------------------------------------------------------


def is_part(form: int, things: Ints, aim: Ints, settings: Ints, mixer: Words) -> Any:
    """Whether command, target and agent belong to the part: a hash of the three decides, so parts are disjoint."""
    if settings[P_PART] < 0:
        return True
    cells = settings[P_GRID] * settings[P_GRID]
    kind = (things[0, SIZE] * 4 + things[0, COLOR]) * 4 + things[0, SHAPE]
    return min(bucket_of(form, (kind * cells + aim[0]) * cells + aim[1], mixer), 2) == settings[P_PART]


def can_have_length(form: int, agent: Ints, things: Ints, settings: Ints, boards: Ints, out: Ints) -> Any:
    """Whether the number of actions can still be what the split asks for, judged by the way to the target."""
    if settings[P_LENGTH] == 0:
        return True
    walk = plan(boards[CELLS], settings[P_GRID], agent, things[0], WALK, adverb_of(form), out)
    if settings[P_LENGTH] == UP_TO:
        return walk <= settings[P_CUT]
    most = 0 if verb_of(form) == WALK else 10 * settings[P_GRID]
    return walk + most > settings[P_CUT]


def is_wanted(form: int, known: int, is_shot: bool, asked: Asked, scene: Scene, said: Saying, desk: Desk) -> Any:
    """The verdict on a row whose target and agent are drawn, and `known` of its mentioned objects: MAYBE counts as true."""
    return verdict(
        form, known, direction_of(scene.agent, scene.things), scene.things, scene.st[NODES], said.words, said.codes, said.links,
        asked.atoms, asked.combinations, is_shot, desk.mixer,
    ) != NO  # fmt: skip


# --- target and agent ------------------------------------------------------------------------------------------------


def draw_cumulative(weights: Ints, rng: Words) -> Any:
    """An index with probability proportional to its weight, given the running sums (at most 2**31); -1 if they are 0."""
    size = weights.shape[0]
    total = weights[size - 1]
    if total == 0:
        return -1
    point = below(rng, total)
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) // 2
        if weights[middle] > point:
            high = middle
        else:
            low = middle + 1
    return low


def draw_aim(verb: int, adverb: int, settings: Ints, targets: Ints, agents: Ints, aim: Ints, rng: Words) -> Any:
    """Draw aim = [target cell, agent cell, whether something must move]; False if no agent fits."""
    cells = targets.shape[1]
    share = settings[P_INTERACTION]
    mode, aim[2] = ANYWHERE, 0
    if verb == PULL:
        if below(rng, MILLION) < share:
            aim[2] = 1
        else:
            mode = CANNOT_PULL
        aim[0] = draw_cumulative(targets[mode], rng)
    elif verb == PUSH:
        able = CAN_PUSH_ZIGZAG if adverb == ZIGZAG else CAN_PUSH
        everywhere, somewhere = targets[ANYWHERE, cells - 1], targets[able, cells - 1]
        if share * everywhere <= MILLION * somewhere:
            aim[0] = draw_cumulative(targets[ANYWHERE], rng)
            is_able = aim[0] >= 0 and agents[able, aim[0], cells - 1] > 0
            if is_able and below(rng, MILLION) * somewhere < share * everywhere:
                mode, aim[2] = able, 1
        elif below(rng, MILLION) < share and somewhere > 0:
            mode, aim[2] = able, 1
            aim[0] = draw_cumulative(targets[able], rng)
        else:
            aim[0] = draw_cumulative(targets[ANYWHERE], rng)
    else:
        aim[0] = draw_cumulative(targets[ANYWHERE], rng)
    if aim[0] < 0:
        return False
    aim[1] = draw_cumulative(agents[mode, aim[0]], rng)
    return aim[1] >= 0


def draw_target(manner: int, settings: Ints, aims: Aims, scene: Scene, said: Saying, rng: Words) -> Any:
    """Draw the pair of sizes, the target's attributes, and where it and the agent stand; False if no agent fits."""
    things, st, words, aim, agent = scene.things, scene.st, said.words, scene.aim, scene.agent
    st[LOW] = 1 + below(rng, 3)
    st[HIGH] = st[LOW] + 1 + below(rng, 4 - st[LOW])
    color = words[0, 1] if words[0, 1] >= 0 else below(rng, 4)
    shape = words[0, 2] if words[0, 2] >= 0 else below(rng, 3)
    if words[0, 0] == SMALL:
        size = st[LOW]
    elif words[0, 0] == BIG:
        size = st[HIGH]
    else:
        size = draw_size(scene.pairs, st, color, shape, rng)
    things[0, SIZE], things[0, COLOR], things[0, SHAPE] = size, color, shape
    if not draw_aim(verb_of(manner), adverb_of(manner), settings, aims.targets, aims.agents, aim, rng):
        return False
    grid = st[GRID]
    things[0, ROW], things[0, COLUMN] = aim[0] // grid, aim[0] % grid
    agent[0], agent[1], agent[2], agent[3] = aim[1] // grid, aim[1] % grid, 0, 0
    return True


# --- one world -------------------------------------------------------------------------------------------------------


def grow(form: int, is_open: bool, attempt: int, is_shot: bool, asked: Asked, scene: Scene, said: Saying, desk: Desk) -> Any:
    """Build the world around the target. Returns the flags of the strategies used, or FAILED, OUTSIDE or NO_PIVOTS.

    things[0] already holds the target. `is_open`: whether the rule depends on the mentioned objects. Later attempts put "the" before
    fewer phrases.
    """
    things, sets, boards, st = scene.things, scene.sets, scene.boards, scene.st
    words, links, marks, aim = said.words, said.links, desk.marks, scene.aim
    grid, strategies = st[GRID], asked.settings[P_STRATEGIES]
    is_planned = strategies & PLANNED == PLANNED
    target_size, target_color, target_shape = things[0, SIZE], things[0, COLOR], things[0, SHAPE]
    row, column = aim[0] // grid, aim[0] % grid
    clear(sets, boards, marks, st)
    add(things, sets, boards, st, target_size, target_color, target_shape, row, column)
    boards[CELLS, scene.agent[0]] |= 1 << scene.agent[1]
    way = arrival(scene.agent, things[0], adverb_of(form))
    if verb_of(form) == PULL:
        way = (way + 2) % 4
    next_row, next_column = row + ROW_STEP[way], column + COLUMN_STEP[way]
    is_in = 0 <= next_row < grid and 0 <= next_column < grid
    # Something that is to move needs a free cell to move into.
    if aim[2] != 0:
        boards[CELLS, next_row] |= 1 << next_column
    nodes = st[NODES]
    desk.lists[0, 0] = 0
    for j in range(1, nodes):
        desk.lists[0, j] = NEW
    promise_the(links, nodes, said.the, attempt, is_planned, desk.rng)
    if not build(things, sets, boards, st, scene.pairs, words, links, desk.lists[0], -1, NO_KIND, desk.rng):
        return NO_PIVOTS
    if is_open and not is_wanted(form, nodes, is_shot, asked, scene, said, desk):
        return OUTSIDE
    name_new(0, st, marks[0], marks[1], PIVOT, -1)
    marks[0, 0] = TARGET
    if not is_unique(things, sets, st, words, links, said.the, desk.scratch):
        return FAILED
    flags = 0
    if not add_decoys(strategies, scene, said, desk):
        return FAILED
    if strategies & FLAG_ISOMORPHISM != 0 and add_isomorph(scene, said, desk):
        flags |= FLAG_ISOMORPHISM
    if not add_contrasts(scene, said, desk):
        return FAILED
    # Something that is not to move needs an object, or the wall, in its way.
    is_blocked = verb_of(form) == WALK or aim[2] != 0 or not is_in or (boards[CELLS, next_row] >> next_column) & 1 != 0
    if not is_blocked and not add_block(encode_cell(next_row, next_column), scene, said, desk):
        return FAILED
    if is_planned and strategies & FLAG_RANDOM != 0:
        add_seconds(scene, said, desk)
    if strategies & FLAG_RANDOM != 0 and not add_random(scene, said, desk):
        return FAILED
    if not is_planned or st[SPARE_OK] != 0:
        mark_spare(things, sets, st, words, links, marks[2], desk.scratch)
    for i in range(nodes, st[N]):
        if marks[0, i] == RELATION:
            flags |= FLAG_RELATION
        elif marks[0, i] == ATTRIBUTE:
            flags |= FLAG_ATTRIBUTE
        elif marks[0, i] == RANDOM:
            flags |= FLAG_RANDOM
    return flags


def add_block(at: int, scene: Scene, said: Saying, desk: Desk) -> Any:
    """Put a random object into the cell that the target would move into; False if none keeps the referent unique."""
    before = scene.st[N]
    for _ in range(BLOCK_TRIES):
        if scatter(NO_SIZE, -1, -1, at, scene, said, desk):
            break
    if scene.st[N] == before:
        return False
    name_new(before, scene.st, desk.marks[0], desk.marks[1], RANDOM, -1)
    return True


def promise_the(links: Ints, nodes: int, the: Ints, attempt: int, is_planned: bool, rng: Words) -> None:
    """Choose the phrases that must fit one object only: in about half of the first attempts one of the last clause's, else none.

    A phrase with a clause of its own is never chosen: its clause is needed only if the phrase alone fits several objects.
    """
    for j in range(nodes):
        the[j] = 0
    if not is_planned or nodes == 1 or below(rng, 2 + attempt) > 0:
        return
    j = 1 + below(rng, nodes - 1)
    while j + 1 < nodes and links[0, j + 1] == j:
        j += 1
    the[j] = 1


def sound_rows(
    states: Words, given: Ints, asked: Asked, grammar: Grammar, aims: Aims, speech: Speech, bench: Bench, sink: Sink, rejected: Ints
) -> Any:  # fmt: skip
    """Generate one row per state. Returns the number of rows done: fewer than asked if no example keeps the split's claim.

    given[i] is row i's form, or 0 to draw one.
    """
    scene, said, desk = bench.scene, bench.said, bench.desk
    st, rng, settings = scene.st, desk.rng, asked.settings
    for i in range(states.shape[0]):
        rng[0] = states[i]
        st[GOAL] = asked.crowd[0, draw_cumulative(asked.crowd[1], rng)] if settings[P_MATCHED] != 0 else 0
        is_shot = settings[P_FIRST] + i < settings[P_SHOTS]
        found = FAILED
        tries, failures, p, form = 0, 0, 0, given[i]
        while found < 0:
            tries += 1
            if tries > MOST_TRIES or failures > MOST_COMMANDS:
                return i
            p = draw_cumulative(grammar.shares, rng)
            if given[i] == 0:
                form = draw_form(
                    grammar.patterns[p], grammar.roots[p], grammar.steps, grammar.counts, said.codes, said.links, rng
                )
            nodes = unpack(form, said.words, said.codes, said.links)
            first = verdict(
                form,
                0,
                -1,
                scene.things,
                nodes,
                said.words,
                said.codes,
                said.links,
                asked.atoms,
                asked.combinations,
                is_shot,
                desk.mixer,
            )
            if first == NO or (given[i] == 0 and is_dead(nodes, said.words, said.links)):
                rejected[R_COMMAND] += 1
                continue
            st[NODES] = nodes
            st[LIMIT] = st[GOAL] if st[GOAL] > 0 else grammar.patterns[p, LIMIT_COLUMN]
            set_pairs(said.words, st, scene.pairs)
            st[SPARE_OK] = 1 if settings[P_SPARE_OK] != 0 or (given[i] != 0 and tries > SPARE_FROM) else 0
            found = make_world(form, first == MAYBE, is_shot, asked, aims, scene, said, desk, rejected)
            if found in (FAILED, NO_PIVOTS):
                failures += 1
                rejected[R_GIVEN_UP] += 1
        for j in range(st[NODES]):
            fitting = fit(scene.sets, st, said.words[j, 0], said.words[j, 1], said.words[j, 2])
            said.the[j] = 1 if j == 0 or popcount(fitting) == 1 else 0
        write_row(i, form, found, tries, p, finish(form, scene, desk), scene, said, desk, sink, speech)
    return states.shape[0]


def make_world(
    form: int, is_open: bool, is_shot: bool, asked: Asked, aims: Aims, scene: Scene, said: Saying, desk: Desk, rejected: Ints
) -> Any:
    """Draw target and agent, and grow a world around them, a few times; returns its flags, or why there is none."""
    settings, st = asked.settings, scene.st
    may_spare = st[SPARE_OK]
    found = FAILED
    for _ in range(TARGET_TRIES):
        if not draw_target(form, settings, aims, scene, said, desk.rng):
            rejected[R_WORLD] += 1
            continue
        if not is_part(form, scene.things, scene.aim, settings, desk.mixer):
            rejected[R_PART] += 1
            return SKIPPED
        if (is_open and not is_wanted(form, 1, is_shot, asked, scene, said, desk)) or not can_have_length(
            form, scene.agent, scene.things, settings, scene.boards, desk.out
        ):
            rejected[R_CLAIM] += 1
            return SKIPPED
        for attempt in range(WORLD_TRIES):
            st[SPARE_OK] = may_spare if attempt == WORLD_TRIES - 1 else 0
            found = grow(form, is_open, attempt, is_shot, asked, scene, said, desk)
            if found != FAILED:
                break
            rejected[R_WORLD] += 1
        if found >= 0 and settings[P_LENGTH] != 0:
            is_long = finish(form, scene, desk) > settings[P_CUT]
            if is_long != (settings[P_LENGTH] == BEYOND):
                found = OUTSIDE
        if found == OUTSIDE:
            rejected[R_CLAIM] += 1
        if found >= 0 or found == OUTSIDE:
            break
    return found
