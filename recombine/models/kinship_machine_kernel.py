"""The kinship machine's reader: whose relative each clue of a story names, and who that is.

A clue is a word that can state a fact ("son", "hubby", "married"). Its candidates are the nearest mentions of people before and
behind it. One softmax decides between all (owner, relative) among them and "it states nothing"; the score of a candidate is a sum
of weights of what stands around the clue and around the two mentions. What a clue's word means is a distribution over relations, for the
relative as seen by the owner and for the owner as seen by the relative. Weights and meanings are learnt together: every fact of a
training story should be stated by some clue, and no clue should state anything else.

Tokens are numbers: -1 - i mentions person i; others are words. Features are hashed into the rows of one table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from recombine.draws import Ints
from recombine.models.set_machine_kernel import Floats

KERNEL = True

NEAREST = 4
"""Mentions on each side of a clue that are candidates."""
PLACES = 2 * NEAREST
ROLES = 2
OWNER, RELATIVE = 0, 1
N_FEATURES = 21
"""Features of a mention in a role."""
N_PAIR = 4
"""Features of an owner and a relative together."""
N_NOTHING = 12
"""Features of "this clue states nothing"."""
LEAST = 1e-9
FAR = 50
"""The end of a sentence counts as this many words."""
EDGE, SELF, PERSON, CLUES, WORDS = 0, 1, 2, 3, 4
"""What stands at a place: nothing, the mention itself, a person, a clue, or WORDS + a word (0: any word that is not common)."""
OTHER, COMMON, CLUE, COMMA, STOP, QUOTE = 0, 1, 2, 3, 4, 5
"""Kinds of words."""
UNTIED = -1
PRIME = 2_147_483_629
FACTOR = 1_000_003


class Stories(NamedTuple):
    """Tokens of many stories, one behind the other, their clues, and what is known of their people."""

    tokens: Ints  # [tokens]
    ends: Ints  # [stories + 1]: where each story begins in `tokens`
    kinds: Ints  # [words]
    clues: Ints  # [clues]: places in `tokens`
    clue_ends: Ints  # [stories + 1]: where each story's clues begin
    people: Ints  # [stories + 1]: where each story's people begin
    genders: Ints  # [people]: the likelier gender


class Facts(NamedTuple):
    """The facts of training stories."""

    first: Ints  # [stories]: where a story's table begins; entry first + a * people + b
    relations: Ints  # [sum of people squared]: what b is to a, or UNTIED
    genders: Ints  # [people]: the true gender


class Reader(NamedTuple):
    """What is learnt."""

    weights: Floats  # [rows]
    meanings: Floats  # [words, 2, genders, relations]: given the gender of the person that the relation names; sums to 1


class Slopes(NamedTuple):
    """Derivatives of the loss."""

    weights: Floats  # [rows]
    meanings: Floats  # [words, 2, genders, relations]


class Slate(NamedTuple):
    """Working space for the clues of one story."""

    mentions: Ints  # [clues, places]: places in `tokens`; -1: there is none
    zones: Ints  # [clues, places]: ends of sentences and quotation marks between the clue and the mention, and which one it is there
    rows: Ints  # [clues, places, roles, features]
    pairs: Ints  # [clues, places, places, pair features]
    nothing: Ints  # [clues, features]
    shares: Floats  # [clues, places, places]: owner, relative
    silence: Floats  # [clues]: the share of "states nothing"


def mix(value: int, part: int) -> Any:
    """A hash that stays below 2 ** 31."""
    return (value * FACTOR + part + 1) % PRIME


def tag(stories: Stories, first: int, end: int, place: int, own: int) -> Any:
    """What stands at a place of the story that begins at `first`, seen from the mention at `own`."""
    if place < first or place >= end:
        return EDGE
    if place == own:
        return SELF
    token = stories.tokens[place]
    if token < 0:
        return PERSON
    return CLUES if stories.kinds[token] == CLUE else WORDS + token


def count_kind(stories: Stories, a: int, b: int, kind: int, most: int) -> Any:
    """How many words of a kind stand between two places, up to `most`."""
    found = 0
    for place in range(min(a, b) + 1, max(a, b)):
        token = stories.tokens[place]
        if token >= 0 and stories.kinds[token] == kind:
            found += 1
    return min(found, most)


def is_quoted(stories: Stories, first: int, place: int) -> Any:
    """1 if a quotation that began before this place has not ended."""
    found = 0
    for at in range(first, place):
        token = stories.tokens[at]
        if token >= 0 and stories.kinds[token] == QUOTE:
            found = 1 - found
    return found


def opens_sentence(stories: Stories, first: int, place: int) -> Any:
    """1 if no other person is mentioned before this place in its sentence."""
    for at in range(place - 1, first - 1, -1):
        token = stories.tokens[at]
        if token < 0:
            return 0
        if stories.kinds[token] == STOP:
            return 1
    return 1


def gather(stories: Stories, first: int, end: int, place: int, mentions: Ints) -> None:
    """Fill `mentions` with the nearest mentions: before the clue, nearest first, then behind it."""
    for m in range(PLACES):
        mentions[m] = -1
    found, at = 0, place - 1
    while at >= first and found < NEAREST:
        if stories.tokens[at] < 0:
            mentions[found] = at
            found += 1
        at -= 1
    found, at = NEAREST, place + 1
    while at < end and found < PLACES:
        if stories.tokens[at] < 0:
            mentions[found] = at
            found += 1
        at += 1


def locate(stories: Stories, place: int, mentions: Ints, zones: Ints) -> None:
    """Fill `zones`: for each mention side, ends of sentences (0 to 2), quotation marks (0 to 2), and its rank among those like it."""
    for m in range(PLACES):
        if mentions[m] >= 0:
            stops, quotes = count_kind(stories, place, mentions[m], STOP, 2), count_kind(stories, place, mentions[m], QUOTE, 2)
            zones[m] = NEAREST * (9 * (m // NEAREST) + 3 * quotes + stops)
            for nearer in range(NEAREST * (m // NEAREST), m):
                zones[m] += 1 if zones[nearer] // NEAREST == zones[m] // NEAREST else 0


def stops_of(zone: int) -> Any:
    """The ends of sentences between a clue and a mention in this zone."""
    return zone // NEAREST % 3


def nearest_two(stories: Stories, place: int, mentions: Ints, zones: Ints) -> Any:
    """A number for the two people who are mentioned nearest to a clue, in any order, first in its sentence; -1 if there is only one."""
    best, second = -1, -1
    for turn in range(2):
        least = 1 << 30
        for m in range(PLACES):
            if mentions[m] >= 0:
                person = -1 - stories.tokens[mentions[m]]
                far = abs(mentions[m] - place) + FAR * stops_of(zones[m])
                if far < least and (turn == 0 or person != best):
                    least = far
                    if turn == 0:
                        best = person
                    else:
                        second = person
    return -1 if second < 0 else min(best, second) * 1000 + max(best, second)


def describe_mention(stories: Stories, story: int, place: int, m: int, slate: Slate, c: int, size: int) -> None:
    """Fill the rows of a candidate mention in both roles: where it stands, and what stands around it and around the clue."""
    first, end = stories.ends[story], stories.ends[story + 1]
    at = slate.mentions[c, m]
    gender = stories.genders[stories.people[story] - 1 - stories.tokens[at]]
    zone = slate.zones[c, m]
    far, stops, quotes = min(abs(place - at), 4), stops_of(zone), zone // NEAREST // 3 % 3
    clues, commas = count_kind(stories, place, at, CLUE, 2), count_kind(stories, place, at, COMMA, 2)
    quoted, opens = is_quoted(stories, first, place), opens_sentence(stories, first, at)
    a, b = tag(stories, first, end, place - 1, at), tag(stories, first, end, place - 2, at)
    x, y = tag(stories, first, end, place + 1, at), tag(stories, first, end, place + 2, at)
    before, behind = tag(stories, first, end, at - 1, at), tag(stories, first, end, at + 1, at)
    for role in range(ROLES):
        row = slate.rows[c, m, role]
        order = 2 * zone + role
        left, right = mix(order, a), mix(mix(order, x), 1)
        where = mix(order, 2)
        row[0] = where
        row[1] = mix(left, x)
        row[2] = left
        row[3] = right
        row[4] = mix(left, b)
        row[5] = mix(right, y)
        row[6] = mix(mix(role, a), gender)
        row[7] = mix(mix(role, stories.tokens[place]), gender)
        row[8] = mix(mix(order, behind), far)
        row[9] = mix(order, before)
        row[10] = mix(mix(where, clues), quoted)
        row[11] = mix(mix(left, x), clues)
        row[12] = mix(left, quoted)
        row[13] = mix(mix(where, before), behind)
        row[14] = mix(mix(where, commas), opens)
        row[15] = mix(mix(left, gender), b)
        row[16] = mix(mix(mix(left, b), x), y)
        row[17] = mix(mix(mix(mix(role, stops), opens), a), x)
        row[18] = mix(mix(mix(role, a), quotes), min(stops, 1))
        row[19] = mix(mix(mix(mix(role, a), x), quotes), m // NEAREST)
        row[20] = mix(mix(mix(mix(role, m), a), quoted), stops)
        for f in range(N_FEATURES):
            row[f] = mix(row[f], f) % size


def describe_pairs(stories: Stories, story: int, place: int, slate: Slate, c: int, size: int) -> None:
    """Fill the rows of all owners and relatives together."""
    first, end = stories.ends[story], stories.ends[story + 1]
    a, x = tag(stories, first, end, place - 1, -1), tag(stories, first, end, place + 1, -1)
    for i in range(PLACES):
        for j in range(PLACES):
            p, q = slate.mentions[c, i], slate.mentions[c, j]
            if p < 0 or q < 0 or stories.tokens[p] == stories.tokens[q]:
                continue
            row = slate.pairs[c, i, j]
            order = mix(slate.zones[c, i], slate.zones[c, j])
            row[0] = mix(order, 100) % size
            row[1] = mix(mix(mix(order, a), x), 101) % size
            row[2] = mix(mix(mix(PLACES * i + j, a), x), 102) % size
            row[3] = mix(mix(order, stories.tokens[place]), 103) % size


def describe_nothing(stories: Stories, story: int, c: int, slate: Slate, size: int) -> None:
    """Fill the rows of "states nothing" of a story's clue; another clue near the same two people may be what is meant."""
    first, end, start = stories.ends[story], stories.ends[story + 1], stories.clue_ends[story]
    place = stories.clues[start + c]
    own = nearest_two(stories, place, slate.mentions[c], slate.zones[c])
    rivals = 0
    for other in range(stories.clue_ends[story + 1] - start):
        at = stories.clues[start + other]
        if other == c or own < 0 or count_kind(stories, at, place, STOP, 2) == 2:
            continue
        if nearest_two(stories, at, slate.mentions[other], slate.zones[other]) == own:
            rivals |= 1 if at < place else 2
    a, b, d = (tag(stories, first, end, place - 1, -1), tag(stories, first, end, place - 2, -1),
               tag(stories, first, end, place - 3, -1))  # fmt: skip
    x, y = tag(stories, first, end, place + 1, -1), tag(stories, first, end, place + 2, -1)
    row, word = slate.nothing[c], stories.tokens[place]
    quoted = is_quoted(stories, first, place)
    row[0] = mix(word, 200)
    row[1] = mix(mix(a, x), 201)
    row[2] = mix(mix(a, b), 202)
    row[3] = mix(mix(x, y), 203)
    row[4] = mix(quoted, 204)
    row[5] = mix(rivals, 205)
    row[6] = mix(mix(rivals, word), 206)
    row[7] = mix(mix(mix(rivals, a), b), 207)
    row[8] = mix(mix(mix(mix(rivals, a), b), d), 208)
    row[9] = mix(mix(mix(rivals, x), quoted), 209)
    row[10] = mix(mix(mix(rivals, a), x), 210)
    row[11] = mix(mix(word, a), 211)
    for f in range(N_NOTHING):
        row[f] %= size


def look(stories: Stories, story: int, size: int, slate: Slate) -> Any:
    """Fill the slate with the candidates of a story's clues; returns how many clues there are."""
    first, end, start = stories.ends[story], stories.ends[story + 1], stories.clue_ends[story]
    count = stories.clue_ends[story + 1] - start
    for c in range(count):
        gather(stories, first, end, stories.clues[start + c], slate.mentions[c])
        locate(stories, stories.clues[start + c], slate.mentions[c], slate.zones[c])
    for c in range(count):
        place = stories.clues[start + c]
        for m in range(PLACES):
            if slate.mentions[c, m] >= 0:
                describe_mention(stories, story, place, m, slate, c, size)
        describe_pairs(stories, story, place, slate, c, size)
        describe_nothing(stories, story, c, slate, size)
    return count


def is_left_out(salt: int, row: int, c: int, share: int) -> Any:
    """Whether this feature of this clue is not seen at this step: so for `share` of a thousand."""
    return share > 0 and mix(mix(mix(salt, row), c), 30) % 1000 < share


def weigh(stories: Stories, reader: Reader, slate: Slate, c: int, salt: int, dropout: int) -> None:
    """Fill the shares of a clue's candidates."""
    roles = np.zeros((PLACES, ROLES))
    for m in range(PLACES):
        for role in range(ROLES):
            if slate.mentions[c, m] >= 0:
                for f in range(N_FEATURES):
                    row = slate.rows[c, m, role, f]
                    if not is_left_out(salt, row, c, dropout):
                        roles[m, role] += reader.weights[row]
    nothing = 0.0
    for f in range(N_NOTHING):
        if not is_left_out(salt, slate.nothing[c, f], c, dropout):
            nothing += reader.weights[slate.nothing[c, f]]
    most = nothing
    for i in range(PLACES):
        for j in range(PLACES):
            if is_candidate(stories, slate, c, i, j):
                score = roles[i, OWNER] + roles[j, RELATIVE]
                for f in range(N_PAIR):
                    if not is_left_out(salt, slate.pairs[c, i, j, f], c, dropout):
                        score += reader.weights[slate.pairs[c, i, j, f]]
                slate.shares[c, i, j] = score
                most = max(most, score)
    whole = np.exp(nothing - most)
    slate.silence[c] = whole
    for i in range(PLACES):
        for j in range(PLACES):
            if is_candidate(stories, slate, c, i, j):
                slate.shares[c, i, j] = np.exp(slate.shares[c, i, j] - most)
                whole += slate.shares[c, i, j]
            else:
                slate.shares[c, i, j] = 0.0
    slate.silence[c] /= whole
    for i in range(PLACES):
        for j in range(PLACES):
            slate.shares[c, i, j] /= whole


def is_candidate(stories: Stories, slate: Slate, c: int, i: int, j: int) -> Any:
    """Whether two places of a clue mention two different people."""
    p, q = slate.mentions[c, i], slate.mentions[c, j]
    return p >= 0 and q >= 0 and stories.tokens[p] != stories.tokens[q]


def read_story(stories: Stories, story: int, reader: Reader, slate: Slate, out: Floats) -> None:
    """out[clue, owner, relative]: the probability that a clue of the story states this."""
    count = look(stories, story, len(reader.weights), slate)
    for c in range(count):
        weigh(stories, reader, slate, c, 0, 0)
        for i in range(PLACES):
            for j in range(PLACES):
                if slate.shares[c, i, j] > 0.0:
                    a, b = -1 - stories.tokens[slate.mentions[c, i]], -1 - stories.tokens[slate.mentions[c, j]]
                    out[c, a, b] += slate.shares[c, i, j]
