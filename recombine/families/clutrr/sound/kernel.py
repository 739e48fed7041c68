"""The hot loop: from a target to a proof, a family, noise, names and a story, one row at a time. A kernel module.

The order of draws inside an item: a cell, then a proof tree, the people of the path, the noise, unmentioned relatives, numbers
and names, then the wording. A draw that breaks a law is thrown away and counted by reason in `work.rejected`; the cell stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.draws import below, unit
from recombine.families.clutrr.kinship import SPOUSE as MARRIED
from recombine.families.clutrr.language.kernel import realize_story
from recombine.families.clutrr.sound.family import (
    NAMED,
    SEX,
    acting_levels,
    add_person,
    grow,
    levels,
    most_children,
    place,
    relation,
)
from recombine.families.clutrr.sound.proof import _SALT, WORDS, expand, stir

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.families.clutrr.sound.arrays import Config, Speech, Work
    from recombine.families.clutrr.sound.grammar import Grammar

    Ints = NDArray[np.integer[Any]]
    Rng = NDArray[np.uint64]
    Bytes = NDArray[np.uint8]

KERNEL = True
LEAN = True

SUPPORTING, IRRELEVANT, DISCONNECTED = 1, 2, 4
CLEAN_KIND, SUPPORTING_KIND, IRRELEVANT_KIND, DISCONNECTED_KIND = 0, 1, 2, 3
FAMILY_LIMITS, NO_NOISE, NO_WORDING, OTHER_PART, UNPROVED, TOO_OLD = 2, 3, 4, 5, 6, 7
WORDING_TRIES = 48
"""Wordings drawn for a story until one falls into the part."""
_INT: Any = np.int64
_S40 = np.uint64(40)


# --- people and facts ------------------------------------------------------------------------------------------------


def add_fact(w: Work, code: int, subject: int, relative: int, chain: int, kind: int, position: int) -> None:
    """Append a stated fact with its chain, its kind, and its place on the path (-1 for noise)."""
    n = w.counts[0]
    w.facts[n, 0], w.facts[n, 1], w.facts[n, 2] = code, subject, relative
    w.chain[n] = chain
    w.kinds[n] = kind
    w.places[n] = position
    w.counts[0] = n + 1


def add_support(g: Grammar, w: Work, k: int, steps: int, length: int, rng: Rng) -> bool:
    """A detour: `length` facts through new people between two people of the path, longer than the way along the path."""
    for i in range(k + 1):
        w.number[w.path[i]] = i
    count = 0
    lo = 0
    hi = 0
    code = 0
    for i in range(k):
        count += 1
        if below(rng, count) == 0:
            lo, hi, code = i, i + 1, w.clause[i]
    for i in range(1, steps):
        start, end = w.number[w.proof[i, 0]], w.number[w.proof[i, 2]]
        if end - start < length:
            count += 1
            if below(rng, count) == 0:
                lo, hi, code = start, end, w.proof[i, 5]
    w.detour[0], w.detour[1], w.detour_words[0] = w.path[lo], w.path[hi], code
    if not expand(g, w, w.detour, w.detour_words, length, rng):
        return False
    w.counts[1] += 1
    for i in range(length):
        add_fact(w, w.detour_words[i], w.detour[i], w.detour[i + 1], w.counts[1], SUPPORTING_KIND, -1)
    return True


def add_walk(w: Work, start: int, length: int, kind: int, rng: Rng) -> bool:
    """A chain of facts through new people only, from one person outwards."""
    w.counts[1] += 1
    at = start
    for _ in range(length):
        code = below(rng, WORDS)
        if code // 2 == MARRIED:  # a man has a wife, a woman a husband
            code = 2 * MARRIED + w.people[at, SEX]
        p = place(w.people, w.size, at, code, rng)
        if p < 0:
            return False
        add_fact(w, code, at, p, w.counts[1], kind, -1)
        at = p
    return True


def add_noise(g: Grammar, w: Work, k: int, steps: int, c: Config, rng: Rng) -> int:
    """Add the noise that the part asks for, each kind once; the number of people before the strangers, or -1 if it does not fit."""
    noise = c.noise
    if noise & SUPPORTING:
        length = c.noise_facts if c.noise_facts > 0 else 2 + below(rng, max(1, k // 2))
        if not add_support(g, w, k, steps, max(2, length), rng):
            return -1
    if noise & IRRELEVANT:
        length = c.noise_facts if c.noise_facts > 0 else 1 + below(rng, max(1, k // 2))
        anchor = below(rng, k + 1) if c.anchor_any else k * below(rng, 2)
        if not add_walk(w, w.path[anchor], length, IRRELEVANT_KIND, rng):
            return -1
    strangers: int = w.size[0]
    if noise & DISCONNECTED:
        length = c.noise_facts if c.noise_facts > 0 else 1 + below(rng, max(1, k // 2))
        stranger = add_person(w.people, w.size, below(rng, 2), 0)
        w.people[stranger, NAMED] = 1
        if not add_walk(w, stranger, length, DISCONNECTED_KIND, rng):
            return -1
    return strangers


def draw_story(g: Grammar, target: int, k: int, steps: int, c: Config, w: Work, rng: Rng) -> bool:
    """Facts, noise and relatives around a proved path; False if they break a law."""
    w.counts[0] = 0
    w.counts[1] = 0
    for i in range(k):
        add_fact(w, w.clause[i], w.path[i], w.path[i + 1], 0, CLEAN_KIND, i)
    strangers = w.size[0]
    if c.noise != 0:
        strangers = add_noise(g, w, k, steps, c, rng)
        if strangers < 0:
            w.rejected[NO_NOISE] += 1
            return False
    if (
        acting_levels(w.people, 0, strangers) > c.acting_levels
        or acting_levels(w.people, strangers, w.size[0]) > c.acting_levels
    ):
        w.rejected[TOO_OLD] += 1
        return False
    if levels(w.people, w.size) > c.max_levels or most_children(w.people, w.size) > c.max_children:
        w.rejected[FAMILY_LIMITS] += 1
        return False
    if relation(w.people, w.path[0], w.path[k]) != target:
        w.rejected[UNPROVED] += 1
        return False
    grow(w.people, w.size, below(rng, c.relatives + 1), c.marriage, c.min_children, c.max_children, rng)
    return True


def number_people(w: Work, c: Config, rng: Rng) -> int:
    """Give everyone a number (the named ones first, shuffled) and the named ones distinct names; how many are named."""
    n = 0
    for p in range(w.size[0]):
        if w.people[p, NAMED] == 1:
            w.order[n] = p
            n += 1
    for i in range(n - 1, 0, -1):
        j = below(rng, i + 1)
        w.order[i], w.order[j] = w.order[j], w.order[i]
    unnamed = n
    for p in range(w.size[0]):
        if w.people[p, NAMED] == 0:
            w.order[unnamed] = p
            unnamed += 1
    for i in range(w.size[0]):
        w.number[w.order[i]] = i
    for i in range(n):
        gender = w.people[w.order[i], SEX]
        w.genders[i] = gender
        fresh = False
        while not fresh:
            if c.female_names < 0:
                w.names[i] = below(rng, c.all_names)
            elif gender == 0:
                w.names[i] = below(rng, c.female_names)
            else:
                w.names[i] = c.female_names + below(rng, c.all_names - c.female_names)
            fresh = True
            for j in range(i):
                if w.names[j] == w.names[i]:
                    fresh = False
    for i in range(w.counts[0]):
        w.facts[i, 1] = w.number[w.facts[i, 1]]
        w.facts[i, 2] = w.number[w.facts[i, 2]]
    return n


# --- wording and parts -----------------------------------------------------------------------------------------------


def told_rank(w: Work, chunks: int, x: int, y: int) -> int:
    """A fixed number in [0, 2**24) for the story without its names: the paraphrases, the facts as told, and the query."""
    for i in range(len(w.seen)):
        w.seen[i] = -1
    seen = 0
    word = _SALT
    for c in range(chunks):
        chunk = w.telling[c]
        word = stir(word, w.plan[chunk, 2])
        for i in range(w.plan[chunk, 0], w.plan[chunk, 0] + w.plan[chunk, 1]):
            word = stir(word, w.facts[i, 0])
            for side in range(1, 3):
                p = w.facts[i, side]
                if w.seen[p] < 0:
                    w.seen[p] = seen
                    seen += 1
                word = stir(word, w.seen[p])
    word = stir(stir(word, w.seen[x]), w.seen[y])
    found: int = _INT(word >> _S40)
    return found


def word_story(w: Work, k: int, x: int, y: int, c: Config, s: Speech, rng: Rng, out: Bytes, at: int) -> tuple[int, int]:
    """Write the story so that it belongs to the part; (new end, chunks), or (-1, reason). Held-out clauses belong by themselves."""
    facts = w.facts[: w.counts[0]]
    is_apart = c.wants_held_out and k >= c.held_from
    tables = s.tables
    if s.other_share > 0.0 and unit(rng) < s.other_share:
        tables = s.other
    for _ in range(WORDING_TRIES):
        end, chunks = realize_story(
            facts, w.chain[: w.counts[0]], True, w.genders, w.names, s.name_bytes, s.name_offsets, c.brackets, tables, rng,
            w.ways, w.plan, w.telling, out, at,
        )  # fmt: skip
        if end < 0:
            return -1, NO_WORDING
        if is_apart or c.rank_low <= told_rank(w, chunks, x, y) < c.rank_high:
            return end, chunks
        w.rejected[OTHER_PART] += 1
    return -1, OTHER_PART
