"""The hot loop: from a target to a proof, a family, noise, names and a story, one row at a time. A kernel module.

The order of draws inside an item: a cell and a proof tree, the people of the path, the noise, unmentioned relatives, numbers
and names, then the wording. A draw that breaks a law is thrown away and counted by reason in `work.rejected`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.draws import below
from recombine.families.clutrr.genealogy import NAMED, SEX, add_person, grow, levels, most_children, place, relation
from recombine.families.clutrr.language.kernel import realize_story

KERNEL = True

SUPPORTING, IRRELEVANT, DISCONNECTED = 1, 2, 4
CLEAN_KIND, SUPPORTING_KIND, IRRELEVANT_KIND, DISCONNECTED_KIND = 0, 1, 2, 3
OTHER_CLAUSE, DEAD_END, FAMILY_LIMITS, NO_NOISE, NO_WORDING, OTHER_PART, UNPROVED = 0, 1, 2, 3, 4, 5, 6
CELL_TRIES = 5
"""Families tried for a cell before another is drawn: dropping hard cells early would unbalance first and last words."""
_STIR = np.uint64(0x9E3779B97F4A7C15)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S40 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(40)
_SALT = np.uint64(0x636C757472C9)  # under which every target has a held-out clause at k = 3


def stir(word: Any, value: int) -> Any:
    """Mix a small non-negative number into a 64-bit word."""
    z = (word ^ (np.uint64(value + 1) * _STIR)) + _STIR
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


def clause_rank(gender: int, clause: Any, k: int) -> Any:
    """A fixed number in [0, 2**24) for a clause and the gender of its first person: below the hold-out mark it is held out."""
    word = stir(_SALT, gender)
    for i in range(k):
        word = stir(word, clause[i])
    return np.int64(word >> _S40)


# --- backward chaining -----------------------------------------------------------------------------------------------


def draw_cell(cells: Any, at: int, rng: Any) -> Any:
    """A cell of this target by weight; its place, or -1 if the target has none."""
    start, stop = cells.start[at], cells.start[at + 1]
    if start == stop:
        return -1
    point = below(rng, cells.upto[stop - 1])
    low, high = start, stop - 1
    while low < high:
        middle = (low + high) // 2
        if cells.upto[middle] > point:
            high = middle
        else:
            low = middle + 1
    return low


def draw_edge(words: Any, m: int, first: int, last: int, rng: Any) -> Any:
    """An edge to expand: the first or the last until they are the words asked for, then any."""
    first_due = first >= 0 and words[0] != first
    last_due = last >= 0 and words[m - 1] != last
    if first_due and last_due:
        return (m - 1) * below(rng, 2)
    if first_due:
        return 0
    return m - 1 if last_due else below(rng, m)


def draw_rule(g: Any, gender: int, words: Any, i: int, m: int, first: int, last: int, left: int, rng: Any) -> Any:
    """A rule whose head is edge i, and that keeps or can still reach the first and last word; -1 if the draw was none."""
    at = gender * 22 + words[i]
    start, stop = g.rule_start[at], g.rule_start[at + 1]
    if start == stop:
        return -1
    rule = start + below(rng, stop - start)
    a, b = g.rule_first[rule], g.rule_second[rule]
    if i == 0 and first >= 0:
        reach = (np.int64(4) << (left if words[0] != first else 0)) - 1
        if g.first[gender, a, first] & reach == 0:
            return -1
    if i == m - 1 and last >= 0:
        reach = (np.int64(4) << (left if words[m - 1] != last else 0)) - 1
        if g.last[1 - a % 2, b, last] & reach == 0:
            return -1
    return rule


def copy_people(source: Any, target: Any, n: int) -> None:
    """Copy the first n people."""
    for p in range(n):
        for j in range(6):
            target[p, j] = source[p, j]


def splice(path: Any, words: Any, m: int, i: int, a: int, b: int) -> None:
    """Make room for a person in edge i of a path of m edges, with the words on both sides."""
    for j in range(m, i, -1):
        path[j + 1] = path[j]
        words[j] = words[j - 1]
    words[i] = a
    words[i + 1] = b


def unsplice(path: Any, words: Any, m: int, i: int, head: int) -> None:
    """Undo `splice`."""
    for j in range(i + 1, m):
        words[j] = words[j + 1]
    for j in range(i + 1, m + 1):
        path[j] = path[j + 1]
    words[i] = head


def expand(
    g: Any, w: Any, path: Any, words: Any, proof: Any, k: int, first: int, last: int, wanted: int, hold_out: int, rng: Any
) -> Any:
    """Backward chaining from one edge to k stated ones, each through a newly named person; the number of steps, or -1.

    `path` and `words` hold the edge and receive the chain. A proof step is (x, z, y, r1, r2, r): x's r1 is z, whose r2 is y, so
    y is x's r. `wanted` says whether the finished clause must be held out (1) or not (0); -1 takes any.
    """
    m = 1
    stale = 0
    while m < k:
        stale += 1
        if stale > (48 if m == k - 1 and wanted == 1 else 16):
            return -1
        i = draw_edge(words, m, first, last, rng)
        a, b, head = path[i], path[i + 1], words[i]
        rule = draw_rule(g, w.people[a, SEX], words, i, m, first, last, k - m - 1, rng)
        if rule < 0:
            continue
        r1, r2 = g.rule_first[rule], g.rule_second[rule]
        splice(path, words, m, i, r1, r2)
        due = int(first >= 0 and words[0] != first) + int(last >= 0 and words[m] != last)
        fits = due <= k - m - 1
        if fits and m + 1 == k and wanted >= 0:
            fits = (clause_rank(w.people[path[0], SEX], words, k) < hold_out) == (wanted == 1)
            w.rejected[OTHER_CLAUSE] += int(not fits)
        z: Any = np.int64(-1)
        if fits:
            size = w.size[0]
            copy_people(w.people, w.saved, size)
            z = np.int64(place(w.people, w.size, a, r1, rng))
            if z < 0 or relation(w.people, z, b) != r2:
                z = np.int64(-1)
                w.size[0] = size
                copy_people(w.saved, w.people, size)
        if z < 0:
            unsplice(path, words, m, i, head)
            continue
        path[i + 1] = z
        proof[m - 1, 0], proof[m - 1, 1], proof[m - 1, 2] = a, z, b
        proof[m - 1, 3], proof[m - 1, 4], proof[m - 1, 5] = r1, r2, head
        m += 1
        stale = 0
    return m - 1


# --- people and facts ------------------------------------------------------------------------------------------------


def add_fact(w: Any, code: int, subject: int, relative: int, chain: int, kind: int, position: int) -> None:
    """Append a stated fact with its chain, its kind, and its place on the path (-1 for noise)."""
    n = w.counts[0]
    w.facts[n, 0], w.facts[n, 1], w.facts[n, 2] = code, subject, relative
    w.chain[n] = chain
    w.kinds[n] = kind
    w.places[n] = position
    w.counts[0] = n + 1


def add_support(g: Any, w: Any, k: int, steps: int, length: int, rng: Any) -> Any:
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
    if expand(g, w, w.detour, w.detour_words, w.spare, length, -1, -1, -1, 0, rng) < 0:
        return False
    w.counts[1] += 1
    for i in range(length):
        add_fact(w, w.detour_words[i], w.detour[i], w.detour[i + 1], w.counts[1], SUPPORTING_KIND, -1)
    return True


def add_walk(w: Any, start: int, length: int, kind: int, rng: Any) -> Any:
    """A chain of facts through new people only, from one person outwards."""
    w.counts[1] += 1
    at = start
    for _ in range(length):
        code = below(rng, 22)
        if code // 2 == 2:
            code = 4 + w.people[at, SEX]
        p = place(w.people, w.size, at, code, rng)
        if p < 0:
            return False
        add_fact(w, code, at, p, w.counts[1], kind, -1)
        at = p
    return True


def add_noise(g: Any, w: Any, k: int, steps: int, c: Any, rng: Any) -> Any:
    """The noise that the part asks for, each kind once; False if it does not fit this family."""
    noise = c.noise
    if noise & SUPPORTING:
        length = c.noise_facts if c.noise_facts > 0 else 2 + below(rng, max(1, k // 2))
        if not add_support(g, w, k, steps, max(2, length), rng):
            return False
    if noise & IRRELEVANT:
        length = c.noise_facts if c.noise_facts > 0 else 1 + below(rng, max(1, k // 2))
        anchor = below(rng, k + 1) if c.anchor_any else k * below(rng, 2)
        if not add_walk(w, w.path[anchor], length, IRRELEVANT_KIND, rng):
            return False
    if noise & DISCONNECTED:
        length = c.noise_facts if c.noise_facts > 0 else 1 + below(rng, max(1, k // 2))
        stranger = add_person(w.people, w.size, below(rng, 2), 0)
        w.people[stranger, NAMED] = 1
        if not add_walk(w, stranger, length, DISCONNECTED_KIND, rng):
            return False
    return True


def draw_path(g: Any, cells: Any, at: int, k: int, c: Any, w: Any, rng: Any) -> Any:
    """A target and its proof in a new family; the number of proof steps, or -1."""
    cell = draw_cell(cells, at, rng)
    if cell < 0:
        return -1
    wanted = -1 if k < 3 else int(c.wants_held_out)
    for _ in range(CELL_TRIES):
        w.size[0] = 0
        w.path[0] = add_person(w.people, w.size, cells.gender[cell], 0)
        w.people[0, NAMED] = 1
        w.path[1] = place(w.people, w.size, 0, at % 22, rng)
        w.clause[0] = at % 22
        steps = expand(g, w, w.path, w.clause, w.proof, k, cells.first[cell], cells.last[cell], wanted, c.hold_out, rng)
        if steps >= 0:
            return steps
    return -1


def draw_story(g: Any, cells: Any, at: int, k: int, c: Any, w: Any, rng: Any) -> Any:
    """One try: proof, people, facts, noise, relatives. The number of proof steps, or -1."""
    steps = draw_path(g, cells, at, k, c, w, rng)
    if steps < 0:
        w.rejected[DEAD_END] += 1
        return -1
    w.counts[0] = 0
    w.counts[1] = 0
    for i in range(k):
        add_fact(w, w.clause[i], w.path[i], w.path[i + 1], 0, CLEAN_KIND, i)
    if c.noise != 0 and not add_noise(g, w, k, steps, c, rng):
        w.rejected[NO_NOISE] += 1
        return -1
    if levels(w.people, w.size) > c.max_levels or most_children(w.people, w.size) > c.max_children:
        w.rejected[FAMILY_LIMITS] += 1
        return -1
    if relation(w.people, w.path[0], w.path[k]) != at % 22:
        w.rejected[UNPROVED] += 1
        return -1
    grow(w.people, w.size, below(rng, c.relatives + 1), c.marriage, c.min_children, c.max_children, rng)
    return steps


def number_people(w: Any, c: Any, rng: Any) -> Any:
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


def told_rank(w: Any, chunks: int, x: int, y: int) -> Any:
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
    return np.int64(word >> _S40)


def word_story(
    w: Any, k: int, x: int, y: int, c: Any, name_bytes: Any, name_offsets: Any, t: Any, rng: Any, out: Any, at: int
) -> Any:
    """Write the story so that it belongs to the part; (new end, chunks), or (-1, reason). Held-out clauses belong by themselves."""
    facts = w.facts[: w.counts[0]]
    is_apart = c.wants_held_out and k >= 3
    for _ in range(48):
        end, chunks = realize_story(
            facts, w.chain[: w.counts[0]], True, w.genders, w.names, name_bytes, name_offsets, c.brackets, t, rng,
            w.plan, w.telling, out, at,
        )  # fmt: skip
        if end < 0:
            return -1, NO_WORDING
        if is_apart or c.rank_low <= told_rank(w, chunks, x, y) < c.rank_high:
            return end, chunks
        w.rejected[OTHER_PART] += 1
    return -1, OTHER_PART
