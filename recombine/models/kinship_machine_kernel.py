"""The kinship machine's reader: which word of a story ties two people, and from which side it is said.

A pair of people is read through its closest mentions. Every word near them is a clue, taken twice: it names the second person as seen
from the first, or the other way round. Clues compete with "nothing ties them" in one softmax over weights of what stands around the
clue. What a clue's word means, seen from either side, is a distribution over relations. Both are learnt together.

Tokens are numbers: -1 - i mentions person i; others are words. Features are hashed into the rows of one table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from recombine.draws import Ints
from recombine.models.set_machine_kernel import Floats

KERNEL = True

N_FEATURES = 15
"""Features of a clue."""
N_NOTHING = 4
"""Features of "nothing ties them", for each pair of mentions."""
AROUND = 6
"""Words before the first and behind the second mention that may be clues, in the same sentence."""
MOST_CLUES = 128
SIDES = 2
LEAST = 1e-9
EDGE, SELF, OTHER, PERSON, WORDS = 0, 1, 2, 3, 4
"""What stands at a place: nothing, the person from whom the relation is seen, the other one, somebody else, or WORDS + a word."""
WORD, COMMA, STOP = 0, 1, 2
"""Kinds of words: one that may be a clue, one that separates words, one that ends a sentence."""
PRIME = 2_147_483_629
FACTOR = 1_000_003


class Stories(NamedTuple):
    """Tokens of many stories, one behind the other, and what kind each word is."""

    tokens: Ints  # [tokens]
    ends: Ints  # [stories + 1]
    kinds: Ints  # [words]


class Pairs(NamedTuple):
    """Ordered pairs of people: their story and up to two pairs of mentions, as places in `tokens`."""

    story: Ints  # [pairs]
    places: Ints  # [pairs, 2, 2]; -1: there is none
    labels: Ints  # [pairs]: relation, or the number of relations for none


class Reader(NamedTuple):
    """What is learnt."""

    weights: Floats  # [rows, 2]: for clues that name the second person, and the first
    meanings: Floats  # [words, 2, relations]: each sums to 1


class Slate(NamedTuple):
    """Working space for one pair of people."""

    rows: Ints  # [clues, features]
    words: Ints  # [clues]
    nothing: Ints  # [2 * N_NOTHING]
    shares: Floats  # [clues, 2]


def mix(value: int, part: int) -> Any:
    """A hash that stays below 2 ** 31."""
    return (value * FACTOR + part + 1) % PRIME


def tag(stories: Stories, first: int, end: int, place: int, p: int, q: int) -> Any:
    """What stands at a place of the story that begins at `first`."""
    if place < first or place >= end:
        return EDGE
    if place == p:
        return SELF
    if place == q:
        return OTHER
    return PERSON if stories.tokens[place] < 0 else WORDS + stories.tokens[place]


def tally(stories: Stories, a: int, b: int, is_stop: bool) -> Any:
    """How many ends of sentences, or mentions, lie between two places."""
    found = 0
    for place in range(min(a, b) + 1, max(a, b)):
        token = stories.tokens[place]
        if is_stop:
            found += 1 if token >= 0 and stories.kinds[token] == STOP else 0
        else:
            found += 1 if token < 0 else 0
    return found


def describe(stories: Stories, first: int, end: int, place: int, p: int, q: int, rank: int, size: int, row: Ints) -> None:
    """Fill `row` with the features of the clue at `place`: where it stands, and what stands around it."""
    low, high = min(p, q), max(p, q)
    zone = 6 * rank + (3 if p < q else 0) + (0 if place < low else 1 if place < high else 2)
    near, far = min(abs(place - p), 6), min(abs(place - q), 6)
    people = 3 * min(2, tally(stories, place, p, False)) + min(2, tally(stories, place, q, False))
    stops = 2 * min(1, tally(stories, place, p, True)) + min(1, tally(stories, place, q, True))
    a, b, c = (tag(stories, first, end, place - 1, p, q), tag(stories, first, end, place - 2, p, q),
               tag(stories, first, end, place - 3, p, q))  # fmt: skip
    x, y, z = (tag(stories, first, end, place + 1, p, q), tag(stories, first, end, place + 2, p, q),
               tag(stories, first, end, place + 3, p, q))  # fmt: skip
    left, right = mix(mix(zone, a), 1), mix(mix(zone, x), 2)
    row[0] = mix(mix(mix(zone, near), far), 3)
    row[1] = mix(mix(zone, people), 4)
    row[2] = mix(mix(zone, stops), 5)
    row[3] = mix(stories.tokens[place], 6)
    row[4], row[5] = left, right
    row[6] = mix(mix(left, x), 7)
    row[7] = mix(mix(left, b), 8)
    row[8] = mix(mix(right, y), 9)
    row[9] = mix(mix(row[8], z), 10)
    row[10] = mix(mix(row[7], c), 11)
    row[11] = mix(mix(row[6], y), 12)
    row[12] = mix(mix(row[6], b), 13)
    row[13] = mix(mix(mix(mix(zone, people), min(near, 3)), min(far, 3)), 14)
    row[14] = mix(mix(mix(mix(mix(a, b), x), y), 15), 0)
    for f in range(N_FEATURES):
        row[f] = mix(row[f], f) % size


def look(stories: Stories, pairs: Pairs, n: int, size: int, slate: Slate) -> Any:
    """Fill the slate with the clues of pair n; returns how many there are."""
    first, end = stories.ends[pairs.story[n]], stories.ends[pairs.story[n] + 1]
    count = 0
    for rank in range(2):
        p, q = pairs.places[n, rank, 0], pairs.places[n, rank, 1]
        at = N_NOTHING * rank
        if p < 0:
            for f in range(N_NOTHING):
                slate.nothing[at + f] = -1
            continue
        low, high = min(p, q), max(p, q)
        order = 2 * rank + (1 if p < q else 0)
        slate.nothing[at] = mix(mix(mix(order, min(high - low, 12)), 20), 0) % size
        slate.nothing[at + 1] = mix(mix(mix(order, tally(stories, low, high, False)), 21), 1) % size
        slate.nothing[at + 2] = mix(mix(mix(order, tally(stories, low, high, True)), 22), 2) % size
        slate.nothing[at + 3] = mix(23, 3) % size
        start, stop = low, high
        while start > first and low - start < AROUND and not is_stop(stories, start - 1):
            start -= 1
        while stop + 1 < end and stop - high < AROUND and not is_stop(stories, stop + 1):
            stop += 1
        for place in range(start, stop + 1):
            token = stories.tokens[place]
            if token >= 0 and stories.kinds[token] == WORD and count < MOST_CLUES:
                slate.words[count] = token
                describe(stories, first, end, place, p, q, rank, size, slate.rows[count])
                count += 1
    return count


def is_stop(stories: Stories, place: int) -> Any:
    """Whether a sentence ends here."""
    token = stories.tokens[place]
    return token >= 0 and stories.kinds[token] == STOP


def is_left_out(salt: int, n: int, clue: int, feature: int, share: int) -> Any:
    """Whether this feature of this clue is not seen at this step: so for `share` of a thousand."""
    return mix(mix(mix(salt, n), MOST_CLUES * feature + clue), 30) % 1000 < share


def weigh(reader: Reader, slate: Slate, count: int, n: int, salt: int, dropout: int) -> Any:
    """Fill the shares of the clues; returns the share of "nothing ties them"."""
    nothing = 0.0
    for f in range(2 * N_NOTHING):
        if slate.nothing[f] >= 0:
            nothing += reader.weights[slate.nothing[f], 0]
    most = nothing
    for c in range(count):
        for side in range(SIDES):
            total = 0.0
            for f in range(N_FEATURES):
                if dropout == 0 or not is_left_out(salt, n, c, f, dropout):
                    total += reader.weights[slate.rows[c, f], side]
            slate.shares[c, side] = total
            most = max(most, total)
    nothing = np.exp(nothing - most)
    whole = nothing
    for c in range(count):
        for side in range(SIDES):
            slate.shares[c, side] = np.exp(slate.shares[c, side] - most)
            whole += slate.shares[c, side]
    for c in range(count):
        for side in range(SIDES):
            slate.shares[c, side] /= whole
    return nothing / whole


def read_pairs(stories: Stories, pairs: Pairs, reader: Reader, slate: Slate, out: Floats) -> None:
    """out[n]: the probability of each relation of pair n, and of none at the end."""
    relations = reader.meanings.shape[2]
    for n in range(len(pairs.story)):
        count = look(stories, pairs, n, reader.weights.shape[0], slate)
        out[n, relations] = weigh(reader, slate, count, n, 0, 0)
        for c in range(count):
            for side in range(SIDES):
                for r in range(relations):
                    out[n, r] += slate.shares[c, side] * reader.meanings[slate.words[c], side, r]


def learn_pairs(
    order: Ints, stories: Stories, pairs: Pairs, reader: Reader, slate: Slate, salt: int, dropout: int, slopes: Reader
) -> float:
    """The summed loss, -log of the label's probability, of the pairs in `order`; adds to the slopes (those of meanings: of their logits)."""
    relations, total = reader.meanings.shape[2], 0.0
    for k in range(len(order)):
        n = order[k]
        label = pairs.labels[n]
        count = look(stories, pairs, n, reader.weights.shape[0], slate)
        nothing = weigh(reader, slate, count, n, salt, dropout)
        right = nothing if label == relations else 0.0
        if label < relations:
            for c in range(count):
                for side in range(SIDES):
                    right += slate.shares[c, side] * reader.meanings[slate.words[c], side, label]
        right = max(right, LEAST)
        total -= np.log(right)
        slope = nothing * (1.0 - (1.0 if label == relations else 0.0) / right)
        for f in range(2 * N_NOTHING):
            if slate.nothing[f] >= 0:
                slopes.weights[slate.nothing[f], 0] += slope
        for c in range(count):
            word = slate.words[c]
            for side in range(SIDES):
                share = slate.shares[c, side]
                told = reader.meanings[word, side, label] / right if label < relations else 0.0
                for f in range(N_FEATURES):
                    if dropout == 0 or not is_left_out(salt, n, c, f, dropout):
                        slopes.weights[slate.rows[c, f], side] += share * (1.0 - told)
                if told > 0.0:
                    for r in range(relations):
                        slopes.meanings[word, side, r] += share * told * reader.meanings[word, side, r]
                    slopes.meanings[word, side, label] -= share * told
    return total
