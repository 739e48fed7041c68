"""What the kinship machine's reader learns from: the loss of training stories and its derivatives.

Two sums make the loss of a story. Each fact: -log of the probability that at least one clue states it. Each clue: -log of the probability
that it states a fact or nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.draws import Ints
from recombine.models.kinship_machine_kernel import (
    LEAST,
    N_FEATURES,
    N_NOTHING,
    N_PAIR,
    OWNER,
    PLACES,
    RELATIVE,
    ROLES,
    UNTIED,
    Facts,
    Reader,
    Slate,
    Slopes,
    Stories,
    is_candidate,
    is_left_out,
    look,
    mix,
    weigh,
)
from recombine.models.set_machine_kernel import Floats

KERNEL = True

NEARLY = 1e-6
"""The least probability that a clue does not state a fact."""


def target(stories: Stories, facts: Facts, story: int, slate: Slate, c: int, i: int, j: int) -> Any:
    """The fact that ties the people at two places: side, relation (or UNTIED), the gender of whom it names, and its two people."""
    base = stories.people[story]
    count = stories.people[story + 1] - base
    a, b = -1 - stories.tokens[slate.mentions[c, i]], -1 - stories.tokens[slate.mentions[c, j]]
    relation = facts.relations[facts.first[story] + a * count + b]
    if relation != UNTIED:
        return 0, relation, facts.genders[base + b], a, b
    return 1, facts.relations[facts.first[story] + b * count + a], facts.genders[base + a], b, a


def learn_story(
    stories: Stories, facts: Facts, story: int, reader: Reader, slate: Slate, salt: int, dropout: int, slopes: Slopes
) -> Any:
    """The loss of a story; adds to the slopes."""
    count, people = look(stories, story, len(reader.weights), slate), stories.people[story + 1] - stories.people[story]
    stated, true, total = np.zeros((count, people, people)), np.zeros(count), 0.0
    for c in range(count):
        weigh(stories, reader, slate, c, salt, dropout)
        true[c] = slate.silence[c]
        word = stories.tokens[stories.clues[stories.clue_ends[story] + c]]
        for i in range(PLACES):
            for j in range(PLACES):
                if is_candidate(stories, slate, c, i, j):
                    side, relation, gender, a, b = target(stories, facts, story, slate, c, i, j)
                    if relation != UNTIED:
                        share = slate.shares[c, i, j] * reader.meanings[word, side, gender, relation]
                        stated[c, a, b] += share
                        true[c] += share
        true[c] = max(true[c], LEAST)
        total -= np.log(true[c])
    missed = np.ones((people, people))
    for a in range(people):
        for b in range(people):
            if facts.relations[facts.first[story] + a * people + b] != UNTIED:
                for c in range(count):
                    missed[a, b] *= max(1.0 - stated[c, a, b], NEARLY)
                total -= np.log(max(1.0 - missed[a, b], LEAST))
    for c in range(count):
        spread_clue(stories, facts, story, reader, slate, c, true[c], missed, stated[c], salt, dropout, slopes)
    return total


def spread_clue(
    stories: Stories, facts: Facts, story: int, reader: Reader, slate: Slate, c: int, true: float, missed: Floats, stated: Floats,
    salt: int, dropout: int, slopes: Slopes,
) -> None:  # fmt: skip
    """Add the slopes of one clue: of its weights, and of its word's meanings."""
    word = stories.tokens[stories.clues[stories.clue_ends[story] + c]]
    gains, mean = np.zeros((PLACES, PLACES)), slate.silence[c] / true
    for i in range(PLACES):
        for j in range(PLACES):
            if is_candidate(stories, slate, c, i, j):
                side, relation, gender, a, b = target(stories, facts, story, slate, c, i, j)
                if relation != UNTIED:
                    others = missed[a, b] / max(1.0 - stated[a, b], NEARLY)
                    gain = 1.0 / true + others / max(1.0 - missed[a, b], LEAST)
                    gains[i, j] = gain * reader.meanings[word, side, gender, relation]
                    mean += slate.shares[c, i, j] * gains[i, j]
                    slopes.meanings[word, side, gender, relation] -= slate.shares[c, i, j] * gain
    nothing = slate.silence[c] * (mean - 1.0 / true)
    for f in range(N_NOTHING):
        if not is_left_out(salt, slate.nothing[c, f], c, dropout):
            slopes.weights[slate.nothing[c, f]] += nothing
    roles = np.zeros((PLACES, ROLES))
    for i in range(PLACES):
        for j in range(PLACES):
            if is_candidate(stories, slate, c, i, j):
                slope = slate.shares[c, i, j] * (mean - gains[i, j])
                roles[i, OWNER] += slope
                roles[j, RELATIVE] += slope
                for f in range(N_PAIR):
                    if not is_left_out(salt, slate.pairs[c, i, j, f], c, dropout):
                        slopes.weights[slate.pairs[c, i, j, f]] += slope
    for m in range(PLACES):
        for role in range(ROLES):
            if slate.mentions[c, m] >= 0:
                for f in range(N_FEATURES):
                    if not is_left_out(salt, slate.rows[c, m, role, f], c, dropout):
                        slopes.weights[slate.rows[c, m, role, f]] += roles[m, role]


def learn_stories(
    order: Ints, stories: Stories, facts: Facts, reader: Reader, slate: Slate, salt: int, dropout: int, slopes: Slopes
) -> float:
    """The summed loss of the stories in `order`; adds to the slopes."""
    total = 0.0
    for k in range(len(order)):
        total += learn_story(stories, facts, order[k], reader, slate, mix(salt, order[k]), dropout, slopes)
    return total
