"""What a split asks of a row: its verb and adverb, held-out combinations, part and number of actions."""

from __future__ import annotations

from typing import Any

from recombine.families.reascan.commands import TAG_A2, bucket_of, tags_of
from recombine.families.reascan.growing import CELLS
from recombine.grid.codes import CAUTIOUS, COLOR, PULL, RED, SHAPE, SIZE, SPIN, SQUARE, WALK
from recombine.grid.kernel import plan

KERNEL = True
LEAN = True

(
    P_GRID, P_RD, P_PART, P_TAGS, P_MANNER, P_LENGTH, P_CUT, P_INTERACTION, P_SPARE_OK, P_SHOTS, P_FIRST,
) = range(11)  # fmt: skip
"""Settings of the whole call; -1 in P_PART or P_TAGS is "any"."""


def is_manner_wanted(manner: Any, rule: Any, row: Any, shots: Any) -> Any:
    """Whether verb and adverb belong to the split: rule 0 any; 1 cautiously, 2 not; 3 pull while spinning, 4 not.

    Under rule 2 the first `shots` rows are "cautiously" and no others.
    """
    verb, adverb = manner // 5, manner % 5
    if rule == 1 or (rule == 2 and row < shots):
        return adverb == CAUTIOUS
    if rule == 2:
        return adverb != CAUTIOUS
    if rule == 3:
        return verb == PULL and adverb == SPIN
    if rule == 4:
        return verb != PULL or adverb != SPIN
    return True


def wanted_red(form: Any, nodes: Any, words: Any, codes: Any, links: Any, settings: Any, row: Any, mixer: Any) -> Any:
    """-2 if the command is outside the split; else whether a mentioned object must be a red square (1), must not (0), or may (-1)."""
    if not is_manner_wanted(form % 15, settings[P_MANNER], row, settings[P_SHOTS]):
        return -2
    wanted = settings[P_TAGS]
    if wanted < 0:
        return -1
    tags = tags_of(nodes, words, codes, links, mixer)
    if (tags | TAG_A2) != (wanted | TAG_A2):
        return -2
    if wanted & TAG_A2 == 0:
        return -2 if tags & TAG_A2 != 0 else 0
    if tags & TAG_A2 != 0:
        return -1
    for j in range(nodes):
        if (words[j, 1] < 0 or words[j, 1] == RED) and (words[j, 2] < 0 or words[j, 2] == SQUARE):
            return 1
    return -2


def is_part(form: Any, things: Any, aim: Any, settings: Any, mixer: Any) -> Any:
    """Whether command, target and agent belong to the part: a hash of the three decides, so parts are disjoint."""
    if settings[P_PART] < 0:
        return True
    cells = settings[P_GRID] * settings[P_GRID]
    kind = (things[0, SIZE] * 4 + things[0, COLOR]) * 4 + things[0, SHAPE]
    return min(bucket_of(form, (kind * cells + aim[0]) * cells + aim[1], mixer), 2) == settings[P_PART]


def can_have_length(form: Any, agent: Any, things: Any, settings: Any, boards: Any, out: Any) -> Any:
    """Whether the number of actions can still be what the split asks for, judged by the way to the target."""
    if settings[P_LENGTH] == 0:
        return True
    walk = plan(boards[CELLS], settings[P_GRID], agent, things[0], WALK, form % 5, out)
    if settings[P_LENGTH] == 1:
        return walk <= settings[P_CUT]
    most = 0 if form % 15 // 5 == WALK else 10 * settings[P_GRID]
    return walk + most > settings[P_CUT]


def mentions_red_square(things: Any, nodes: Any) -> Any:
    """Whether the target or another object that the command speaks of is a red square."""
    for i in range(nodes):  # noqa: SIM110 - Numba compiles no generators
        if things[i, COLOR] == RED and things[i, SHAPE] == SQUARE:
            return True
    return False
