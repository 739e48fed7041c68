"""From facts to the bytes of a story: choose how facts are grouped and worded, then write. Draws come from `recombine.draws`.

Facts are rows (relation code, subject, object). A *chunk* is 1, 2 or 3 consecutive facts of one chain (each fact's subject is
the object of the one before) and becomes one paraphrase. Everything that is worded lives in `store.Tables`, as bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.draws import below, unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.families.clutrr.language.store import Questions, Tables

    Ints = NDArray[np.integer[Any]]
    Rng = NDArray[np.uint64]
    Bytes = NDArray[np.uint8]
    Floats = NDArray[np.float64]

KERNEL = True
LEAN = True
_INT: Any = np.int64  # named so that functions that make no arrays do not name `np`

LITERAL, NAME, PRONOUN, KIN, EVENT, TIME = 0, 1, 2, 3, 4, 5
FLAVOURED = 6
"""Steps from this kind on write a kinship word in one of the flavours of `Tables.kin`."""
FRAME_COLUMN, TIME_COLUMN, VARIANT_COLUMN, EVENTS_COLUMN = 0, 1, 2, 3
"""Columns of `Tables.templates`."""
COREFERENCE, OWN, SCENE = 0, 1, 2
"""Classes of rich frames, in the order of their candidates."""
BASE = 23
"""Digits of a clause key: no word, or one of the 22."""
MAX_FACTS = 64
FRESH_TRIES = 8
"""Draws of a paraphrase whose frame the story has not used yet."""
SPACE, HYPHEN, OPEN_BRACKET, CLOSE_BRACKET = 32, 45, 91, 93
"""Bytes that the kernels write themselves."""


def clause_key(facts: Ints, first: int, length: int, genders: Ints) -> int:
    """The place of this chunk's clause in `Tables.first` and `Tables.counts`: its relations and its first person's gender."""
    key = _INT(0)
    for j in range(3):
        key = key * BASE + (facts[first + j, 0] + 1 if j < length else 0)
    found: int = key * 2 + genders[facts[first, 1]]
    return found


def is_chain(facts: Ints, chain: Ints, first: int, length: int) -> bool:
    """Whether these facts are one path through distinct people, inside one chain."""
    for j in range(first + 1, first + length):
        if chain[j] != chain[first] or facts[j, 1] != facts[j - 1, 2]:
            return False
        for i in range(first, j):
            if facts[i, 1] == facts[j, 2]:
                return False
    return True


def is_worded(facts: Ints, chain: Ints, first: int, length: int, genders: Ints, t: Tables) -> bool:
    """Whether these facts may be one chunk and the tables have a paraphrase for it."""
    return is_chain(facts, chain, first, length) and t.counts[clause_key(facts, first, length, genders)] > 0


def plan_story(facts: Ints, chain: Ints, genders: Ints, t: Tables, rng: Rng, ways: Floats, plan: Ints) -> int:
    """Fill `plan` with (first fact, length, paraphrase) per chunk; the number of chunks, or -1 if nothing words the facts.

    Every grouping into chunks that can be worded is equally likely; no paraphrase comes twice while others are left.
    """
    n = len(facts)
    ways[n] = 1.0  # ways[i]: groupings of the facts from i on
    for i in range(n - 1, -1, -1):
        ways[i] = 0.0
        for length in range(1, min(t.longest, n - i) + 1):
            if is_worded(facts, chain, i, length, genders, t):
                ways[i] += ways[i + length]
    if ways[0] == 0.0:
        return -1
    chunks = 0
    i = 0
    while i < n:
        point = unit(rng) * ways[i]
        chosen = 0
        for length in range(1, min(t.longest, n - i) + 1):
            if ways[i + length] > 0.0 and is_worded(facts, chain, i, length, genders, t):
                chosen = length
                point -= ways[i + length]
                if point < 0.0:
                    break
        plan[chunks, 0] = i
        plan[chunks, 1] = chosen
        plan[chunks, 2] = draw_paraphrase(clause_key(facts, i, chosen, genders), t, rng, plan, chunks)
        if t.fills > 0:
            plan[chunks, 2] = first_of_its_text(facts, i, chosen, plan[chunks, 2], genders, t)
        chunks += 1
        i += chosen
    return chunks


def draw_paraphrase(key: int, t: Tables, rng: Rng, plan: Ints, chunks: int) -> int:
    """A paraphrase of this clause; one with a part that the story has already used is drawn again, up to eight times."""
    code = _INT(0)
    for _ in range(FRESH_TRIES):
        code = _INT(draw_code(key, t, rng))
        frame = t.templates[(code >> 1) - t.first_number, FRAME_COLUMN]
        fresh = True
        for c in range(chunks):
            if shares_part(frame, t.templates[(plan[c, 2] >> 1) - t.first_number, FRAME_COLUMN], t.parts):
                fresh = False
        if fresh:
            break
    found: int = code
    return found


def draw_code(key: int, t: Tables, rng: Rng) -> int:
    """Any paraphrase of a clause. A rich one: its class by the dial, a frame of that class, and a filling with formal or colloquial words."""
    found: int
    if t.fills == 0:
        found = _INT(t.candidates[t.first[key] + below(rng, t.counts[key])])
        return found
    own, scenes = t.by_class[key, OWN], t.by_class[key, SCENE]
    start, count = _INT(0), _INT(t.by_class[key, COREFERENCE])
    if unit(rng) >= t.coreference or count == 0:
        start, count = count, _INT(own)
        if own == 0 or (scenes > 0 and below(rng, 2) == 1):
            start, count = start + own, _INT(scenes)
    entry = _INT(t.candidates[t.first[key] + start + below(rng, count)])
    fill = 2 * below(rng, t.fills // 2) + (1 if unit(rng) < t.colloquial else 0)
    found = 2 * (t.first_number + (entry >> 1) * t.fills + fill) + (entry & 1)
    return found


def first_of_its_text(facts: Ints, first: int, length: int, code: int, genders: Ints, t: Tables) -> int:
    """The first code that writes what this code writes: formal fillings come before colloquial ones.

    Only frames without events can be filled twice with the same words; for many relatives there is no colloquial word.
    """
    found: int = code
    template = (code >> 1) - t.first_number
    frame = t.templates[template, FRAME_COLUMN]
    fills = t.kin.shape[2]  # the fillings from this number on repeat the words of earlier ones
    for o in range(t.frame_start[frame], t.frame_start[frame + 1]):
        if t.ops[o, 0] == EVENT:
            return found
        if t.ops[o, 0] == TIME:
            fills = t.fills
    for turn in range(fills):
        fill = 2 * turn if 2 * turn < fills else 2 * turn - fills + 1
        other = frame * t.fills + fill
        same = fills < t.fills or t.templates[other, TIME_COLUMN] == t.templates[template, TIME_COLUMN]
        for o in range(t.frame_start[frame], t.frame_start[frame + 1]):
            if t.ops[o, 0] >= FLAVOURED:
                a, b = t.ops[o, 1], t.ops[o, 2]
                pa, pb = (length - a, length - b) if code & 1 else (a, b)
                word = kin_word(facts, first, pa, pb, genders, t)
                one = t.kin[t.ops[o, 0] - FLAVOURED, word, t.templates[template, VARIANT_COLUMN], 0]
                two = t.kin[t.ops[o, 0] - FLAVOURED, word, t.templates[other, VARIANT_COLUMN], 0]
                if one != two:
                    same = False
        if same:
            found = 2 * (t.first_number + other) + (code & 1)
            break
    return found


def shares_part(one: int, other: int, parts: Ints) -> bool:
    """Whether two frames have a part in common."""
    for i in range(parts.shape[1]):
        for j in range(parts.shape[1]):
            if parts[one, i] >= 0 and parts[one, i] == parts[other, j]:
                return True
    return False


def shuffle(order: Ints, n: int, rng: Rng) -> None:
    """Put 0 … n - 1 into `order`, uniformly shuffled."""
    for i in range(n):
        order[i] = i
    for i in range(n - 1, 0, -1):
        j = below(rng, i + 1)
        held = order[i]
        order[i] = order[j]
        order[j] = held


def copy(out: Bytes, at: int, source: Bytes, start: int, length: int) -> int:
    """Append `length` bytes of `source`; the new end."""
    for i in range(length):
        out[at + i] = source[start + i]
    return at + length


def write_name(person: int, names: Ints, name_bytes: Bytes, name_offsets: Ints, brackets: bool, out: Bytes, at: int) -> int:
    """Append a person's name, in square brackets if asked; the new end."""
    if brackets:
        out[at] = OPEN_BRACKET
        at += 1
    start = name_offsets[names[person]]
    at = copy(out, at, name_bytes, start, name_offsets[names[person] + 1] - start)
    if brackets:
        out[at] = CLOSE_BRACKET
        at += 1
    return at


def kin_word(facts: Ints, first: int, a: int, b: int, genders: Ints, t: Tables) -> int:
    """The code of what path person b is to path person a (neighbours on the chunk's path, in either direction)."""
    found: int
    if b > a:
        found = _INT(facts[first + a, 0])
        return found
    fact = first + b
    found = _INT(t.inverse[facts[fact, 0], genders[facts[fact, 1]]])
    return found


def person_at(facts: Ints, first: int, place: int) -> int:
    """Who stands at this place of the chunk's path."""
    found: int = facts[first, 1] if place == 0 else facts[first + place - 1, 2]
    return found


def write_chunk(
    facts: Ints, first: int, length: int, code: int, genders: Ints, names: Ints, name_bytes: Bytes, name_offsets: Ints,
    brackets: bool, t: Tables, out: Bytes, at: int,
) -> int:  # fmt: skip
    """Append one paraphrase of the chunk; the new end. An odd code tells the path from its other end."""
    template = (code >> 1) - t.first_number
    frame = t.templates[template, FRAME_COLUMN]
    for o in range(t.frame_start[frame], t.frame_start[frame + 1]):
        kind, a, b = t.ops[o, 0], t.ops[o, 1], t.ops[o, 2]
        if kind == LITERAL:
            at = copy(out, at, t.pool, a, b)
        elif kind == EVENT:
            event = t.templates[template, EVENTS_COLUMN + a]
            at = copy(out, at, t.pool, t.events[event, b, 0], t.events[event, b, 1])
        elif kind == TIME:
            time = t.templates[template, TIME_COLUMN]
            at = copy(out, at, t.pool, t.times[time, b, 0], t.times[time, b, 1])
        elif kind == KIN or kind >= FLAVOURED:
            pa, pb = (length - a, length - b) if code & 1 else (a, b)
            word = kin_word(facts, first, pa, pb, genders, t)
            if kind == KIN:
                at = copy(out, at, t.pool, t.words[word, 0], t.words[word, 1])
            else:
                variant = t.templates[template, VARIANT_COLUMN]
                flavour = kind - FLAVOURED
                at = copy(out, at, t.pool, t.kin[flavour, word, variant, 0], t.kin[flavour, word, variant, 1])
        else:
            person = person_at(facts, first, length - a if code & 1 else a)
            if kind == NAME:
                at = write_name(person, names, name_bytes, name_offsets, brackets, out, at)
            else:
                gender = genders[person]
                at = copy(out, at, t.pool, t.pronouns[b, gender, 0], t.pronouns[b, gender, 1])
    return at


def write_story(
    facts: Ints, plan: Ints, order: Ints, chunks: int, genders: Ints, names: Ints, name_bytes: Bytes, name_offsets: Ints,
    brackets: bool, t: Tables, out: Bytes, at: int,
) -> int:  # fmt: skip
    """Append the planned chunks in the given order, one space between them; the new end.

    A register adds a line before, between and after them; the paraphrase that it stands beside decides which.
    """
    lines = t.register_lines.shape[1]
    for c in range(chunks):
        if c > 0:
            out[at] = SPACE
            at += 1
        p = order[c]
        if lines > 0:
            line = t.register_lines[0 if c == 0 else 1, (plan[p, 2] >> 1) % lines]
            at = copy(out, at, t.pool, line[0], line[1])
            out[at] = SPACE
            at += 1
        at = write_chunk(
            facts, plan[p, 0], plan[p, 1], plan[p, 2], genders, names, name_bytes, name_offsets, brackets, t, out, at
        )  # fmt: skip
    if lines > 0 and chunks > 0:
        out[at] = SPACE
        line = t.register_lines[2, (plan[order[chunks - 1], 2] >> 1) % lines]
        at = copy(out, at + 1, t.pool, line[0], line[1])
    return at


def realize_story(
    facts: Ints, chain: Ints, mixed: bool, genders: Ints, names: Ints, name_bytes: Bytes, name_offsets: Ints, brackets: bool,
    t: Tables, rng: Rng, ways: Floats, plan: Ints, order: Ints, out: Bytes, at: int,
) -> tuple[int, int]:  # fmt: skip
    """Append a whole story to `out` from place `at`; (the new end, the number of chunks), or (-1, 0) if it cannot be worded.

    `facts` int[n, 3] in story order; `chain` int[n] numbers the chains (path 0, each noise path its own), which never share
    a chunk; `mixed` shuffles the chunks; `ways` is scratch, float64[`MAX_FACTS` + 1]. `names` gives each person a place in `name_offsets`. On return `plan[:chunks]` holds
    (first fact, length, paraphrase) and `order[:chunks]` the order of telling. `out` needs `store.room(n)` free bytes.
    """
    chunks = plan_story(facts, chain, genders, t, rng, ways, plan)
    if chunks < 0:
        return -1, 0
    if mixed:
        shuffle(order, chunks, rng)
    else:
        for i in range(chunks):
            order[i] = i
    at = write_story(facts, plan, order, chunks, genders, names, name_bytes, name_offsets, brackets, t, out, at)
    return at, chunks


def realize_question(
    asked: Ints, names: Ints, name_bytes: Bytes, name_offsets: Ints, brackets: bool, q: Questions, rng: Rng, out: Bytes, at: int
) -> int:  # fmt: skip
    """Append a question what asked[1] is to asked[0], in one of the phrasings of `q` (`store.questions()`); the new end."""
    phrasing = below(rng, len(q.frame_start) - 1)
    for o in range(q.frame_start[phrasing], q.frame_start[phrasing + 1]):
        if q.ops[o, 0] == LITERAL:
            at = copy(out, at, q.pool, q.ops[o, 1], q.ops[o, 2])
        else:
            at = write_name(asked[q.ops[o, 1]], names, name_bytes, name_offsets, brackets, out, at)
    return at
