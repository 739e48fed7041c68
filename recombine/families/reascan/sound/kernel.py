"""The hot loop of the sound recipe: commands, worlds, roles, actions and texts of many rows, straight into arrays.

A world is grown, never repaired: target, agent and mentioned objects first; then, for every word and every clause, a decoy that
a reader who skips it would take for the target, unless one is already there; then an isomorphic decoy and random objects.
After each addition the target must still be the only referent, or the addition is taken back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine.draws import below
from recombine.families.reascan.kernel import (
    ATTRIBUTE,
    CELLS,
    FLAG_ATTRIBUTE,
    FLAG_ISOMORPHISM,
    FLAG_RANDOM,
    FLAG_RELATION,
    GRID,
    HIGH,
    LIMIT,
    LOW,
    NODES,
    PIVOT,
    RANDOM,
    RELATION,
    SPARE_OK,
    TAG_A2,
    TARGET,
    N,
    add,
    adverb_of,
    bucket_of,
    clear,
    draw_form,
    encode_cell,
    is_dead,
    mentions_red_square,
    name_new,
    tags_of,
    unpack,
    verb_of,
    write_row,
)
from recombine.families.reascan.sound.decoys import (
    add_contrasts,
    add_decoys,
    add_isomorph,
    add_random,
    mark_spare,
    scatter,
)
from recombine.families.reascan.sound.world import NEW, NO_KIND, build, draw_size, fit, is_unique, set_pairs
from recombine.grid.codes import (
    BIG,
    CAUTIOUS,
    COLOR,
    COLUMN,
    COLUMN_STEP,
    NO_SIZE,
    PULL,
    PUSH,
    RED,
    ROW,
    ROW_STEP,
    SHAPE,
    SIZE,
    SMALL,
    SPIN,
    SQUARE,
    WALK,
    ZIGZAG,
)
from recombine.grid.kernel import arrival, fill_board, plan, popcount

if TYPE_CHECKING:
    from recombine.families.reascan.rows import Desk, Grammar, Ints, Saying, Scene, Sink, Speech, Words
    from recombine.families.reascan.sound.generate import Aims

KERNEL = True
LEAN = True

(
    P_GRID, P_RD, P_PART, P_TAGS, P_MANNER, P_LENGTH, P_CUT, P_INTERACTION, P_SPARE_OK, P_SHOTS, P_FIRST,
) = range(11)  # fmt: skip
N_SETTINGS = 11
"""Settings of the whole call; -1 in P_PART or P_TAGS is "any"."""
ANYWHERE, CAN_PUSH, CAN_PUSH_ZIGZAG, CANNOT_PULL = 0, 1, 2, 3
"""Modes of the aim tables. ANYWHERE: every pair of cells. CAN_PUSH and CAN_PUSH_ZIGZAG: the cell behind the target is in the
grid, for plain and for zigzag walking. CANNOT_PULL: the agent is not next to the target."""
MILLION = 1_000_000
R_COMMAND, R_PART, R_WORLD, R_CLAIM, R_GIVEN_UP = 0, 1, 2, 3, 4
"""Rows of the rejection counts: commands outside the split, draws of other parts, worlds, worlds outside the split, commands."""
FAILED, OUTSIDE, NO_PIVOTS, SKIPPED = -1, -2, -3, -4
"""Why there is no world yet: this attempt failed; it is outside the split; the mentioned objects do not fit with this target;
command, target and agent are not wanted."""
OUT, ANY_RED, NO_RED, SOME_RED = -2, -1, 0, 1
"""What `wanted_red` says of a command."""
SPARE_FROM = 60
"""After so many draws, a row whose command was given may mark words as spare instead."""
MOST_TRIES, MOST_COMMANDS = 100_000, 300
"""A row is hopeless after so many draws of a command, or after so many commands without a world."""
LIMIT_COLUMN = 7
"""Column of `Grammar.patterns` with the most objects."""
TARGET_TRIES, WORLD_TRIES, BLOCK_TRIES = 8, 6, 12
"""Draws of a target for a command, of a world for a target, of an object that blocks the target's way."""


# --- what the split asks for -------------------------------------------------------------------------------------------


def is_manner_wanted(manner: int, rule: int, row: int, shots: int) -> Any:
    """Whether verb and adverb belong to the split: rule 0 any; 1 cautiously, 2 not; 3 pull while spinning, 4 not.

    Under rule 2 the first `shots` rows are "cautiously" and no others.
    """
    verb, adverb = verb_of(manner), adverb_of(manner)
    if rule == 1 or (rule == 2 and row < shots):
        return adverb == CAUTIOUS
    if rule == 2:
        return adverb != CAUTIOUS
    if rule == 3:
        return verb == PULL and adverb == SPIN
    if rule == 4:
        return verb != PULL or adverb != SPIN
    return True


def wanted_red(form: int, nodes: int, words: Ints, codes: Ints, links: Ints, settings: Ints, row: int, mixer: Words) -> Any:
    """OUT if the command is outside the split; else whether a mentioned object must be a red square, must not, or may."""
    if not is_manner_wanted(form, settings[P_MANNER], row, settings[P_SHOTS]):
        return OUT
    wanted = settings[P_TAGS]
    if wanted < 0:
        return ANY_RED
    tags = tags_of(nodes, words, codes, links, mixer)
    if (tags | TAG_A2) != (wanted | TAG_A2):
        return OUT
    if wanted & TAG_A2 == 0:
        return OUT if tags & TAG_A2 != 0 else NO_RED
    if tags & TAG_A2 != 0:
        return ANY_RED
    for j in range(nodes):
        if (words[j, 1] < 0 or words[j, 1] == RED) and (words[j, 2] < 0 or words[j, 2] == SQUARE):
            return SOME_RED
    return OUT


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
    if settings[P_LENGTH] == 1:
        return walk <= settings[P_CUT]
    most = 0 if verb_of(form) == WALK else 10 * settings[P_GRID]
    return walk + most > settings[P_CUT]


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


def grow(manner: int, is_rd: int, red: int, attempt: int, scene: Scene, said: Saying, desk: Desk) -> Any:
    """Everything after the target's own attributes; returns the flags of the strategies used, or FAILED, OUTSIDE or NO_PIVOTS.

    things[0] already holds the target. `red` says whether a mentioned object must be a red square. Later attempts promise less
    "the".
    """
    things, sets, boards, st = scene.things, scene.sets, scene.boards, scene.st
    words, links, marks, aim = said.words, said.links, desk.marks, scene.aim
    grid = st[GRID]
    target_size, target_color, target_shape = things[0, SIZE], things[0, COLOR], things[0, SHAPE]
    row, column = aim[0] // grid, aim[0] % grid
    clear(sets, boards, marks, st)
    add(things, sets, boards, st, target_size, target_color, target_shape, row, column)
    boards[CELLS, scene.agent[0]] |= 1 << scene.agent[1]
    way = arrival(scene.agent, things[0], adverb_of(manner))
    if verb_of(manner) == PULL:
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
    promise_the(links, nodes, said.the, attempt, is_rd, desk.rng)
    if not build(things, sets, boards, st, scene.pairs, words, links, desk.lists[0], -1, NO_KIND, desk.rng):
        return NO_PIVOTS
    if red >= 0 and mentions_red_square(things, nodes) != (red == SOME_RED):
        return OUTSIDE
    name_new(0, st, marks[0], marks[1], PIVOT, -1)
    marks[0, 0] = TARGET
    if not is_unique(things, sets, st, words, links, said.the, desk.scratch):
        return FAILED
    flags = 0
    if is_rd == 0:
        if not add_decoys(scene, said, desk):
            return FAILED
        if add_isomorph(scene, said, desk):
            flags |= FLAG_ISOMORPHISM
    if not add_contrasts(scene, said, desk):
        return FAILED
    # Something that is not to move needs an object, or the wall, in its way.
    if verb_of(manner) != WALK and aim[2] == 0 and is_in and (boards[CELLS, next_row] >> next_column) & 1 == 0:
        if not add_block(encode_cell(next_row, next_column), scene, said, desk):
            return FAILED
        flags |= FLAG_RANDOM
    if add_random(scene, said, desk) > 0:
        flags |= FLAG_RANDOM
    if is_rd != 0 or st[SPARE_OK] != 0:
        mark_spare(things, sets, st, words, links, marks[2], desk.scratch)
    for i in range(nodes, st[N]):
        if marks[0, i] == RELATION:
            flags |= FLAG_RELATION
        elif marks[0, i] == ATTRIBUTE:
            flags |= FLAG_ATTRIBUTE
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


def promise_the(links: Ints, nodes: int, the: Ints, attempt: int, is_rd: int, rng: Words) -> None:
    """Choose the phrases that must fit one object only: in about half of the first attempts one of the last clause's, else none.

    A phrase with a clause of its own is never chosen: its clause is needed only if the phrase alone fits several objects.
    """
    for j in range(nodes):
        the[j] = 0
    if is_rd != 0 or nodes == 1 or below(rng, 2 + attempt) > 0:
        return
    j = 1 + below(rng, nodes - 1)
    while j + 1 < nodes and links[0, j + 1] == j:
        j += 1
    the[j] = 1


def sound_rows(
    states: Words,
    given: Ints,
    settings: Ints,
    grammar: Grammar,
    aims: Aims,
    speech: Speech,
    scene: Scene,
    said: Saying,
    desk: Desk,
    sink: Sink,
    rejected: Ints,
) -> Any:
    """Generate one row per state. Returns the number of rows done: fewer than asked if no example keeps the split's claim.

    given[i] is row i's form, or 0 to draw one.
    """
    st, rng = scene.st, desk.rng
    for i in range(states.shape[0]):
        rng[0] = states[i]
        found = FAILED
        tries, failures, attempts, p, length = 0, 0, 0, 0, 0
        form = given[i]
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
            row = settings[P_FIRST] + i
            red = wanted_red(form, nodes, said.words, said.codes, said.links, settings, row, desk.mixer)
            if red == OUT or (given[i] == 0 and is_dead(nodes, said.words, said.links)):
                rejected[R_COMMAND] += 1
                continue
            st[NODES] = nodes
            st[LIMIT] = grammar.patterns[p, LIMIT_COLUMN]
            set_pairs(said.words, st, scene.pairs)
            is_given = given[i] != 0 and tries > SPARE_FROM
            for _ in range(TARGET_TRIES):
                if not draw_target(form, settings, aims, scene, said, rng):
                    rejected[R_WORLD] += 1
                    continue
                if not is_part(form, scene.things, scene.aim, settings, desk.mixer):
                    rejected[R_PART] += 1
                    found = SKIPPED
                    break
                if (red == NO_RED and mentions_red_square(scene.things, 1)) or not can_have_length(
                    form, scene.agent, scene.things, settings, scene.boards, desk.out
                ):
                    rejected[R_CLAIM] += 1
                    found = SKIPPED
                    break
                for attempt in range(WORLD_TRIES):
                    attempts += 1
                    is_last_resort = (settings[P_SPARE_OK] != 0 or is_given) and attempt == WORLD_TRIES - 1
                    st[SPARE_OK] = 1 if is_last_resort else 0
                    found = grow(form, settings[P_RD], red, attempt, scene, said, desk)
                    if found != FAILED:
                        break
                    rejected[R_WORLD] += 1
                if found >= 0:
                    length = finish(form, scene, desk)
                    if settings[P_LENGTH] != 0 and (length > settings[P_CUT]) != (settings[P_LENGTH] == 2):
                        found = OUTSIDE
                if found == OUTSIDE:
                    rejected[R_CLAIM] += 1
                if found >= 0 or found == OUTSIDE:
                    break
            if found in (FAILED, NO_PIVOTS):
                failures += 1
                rejected[R_GIVEN_UP] += 1
        for j in range(st[NODES]):
            fitting = fit(scene.sets, st, said.words[j, 0], said.words[j, 1], said.words[j, 2])
            said.the[j] = 1 if j == 0 or popcount(fitting) == 1 else 0
        write_row(i, form, found, attempts, p, length, scene, said, desk, sink, speech)
    return states.shape[0]


def finish(form: int, scene: Scene, desk: Desk) -> Any:
    """Write the actions of a finished world to `desk.out`; returns how many."""
    board, grid = scene.boards[CELLS], scene.st[GRID]
    fill_board(board, grid, scene.things, scene.st[N])
    return plan(board, grid, scene.agent, scene.things[0], verb_of(form), adverb_of(form), desk.out)
