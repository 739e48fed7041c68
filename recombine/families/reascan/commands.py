"""Commands inside kernels: drawn uniformly, packed into one number, spelled, and compared with what a split holds out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.draws import below, bits
from recombine.families.reascan.plan import N_ADVERBS, N_DIGITS, N_MANNERS, N_PHRASES
from recombine.families.reascan.splits import DOES, HAS_PATTERN, IS, IS_NEW_TRIO, LIES, RELATES, SAYS
from recombine.grid.codes import BOX, COLOR, COLUMN, NO_SIZE, ROW, SAME_SIZE, SHAPE, SIZE

if TYPE_CHECKING:
    from recombine.families.reascan.rows import Bytes, Ints, Words

KERNEL = True
LEAN = True

NO, MAYBE, YES = 0, 1, 2
"""Whether a condition holds, as far as is known."""
B1_SHARE = 10
"""One in this many sets of three phrases is held out from two-clause commands."""
SPELL_ADVERB, SPELL_THAT, SPELL_AND, SPELL_A, SPELL_THE, SPELL_PHRASE = 2, 7, 13, 19, 20, 21
"""Where the kinds of text pieces begin (`plan.spellings`)."""


# --- codes -----------------------------------------------------------------------------------------------------------


def verb_of(form: int) -> int:
    """The verb of a form or manner."""
    return form % N_MANNERS // N_ADVERBS


def adverb_of(form: int) -> int:
    """The adverb of a form or manner."""
    return form % N_ADVERBS


# --- commands --------------------------------------------------------------------------------------------------------


def draw_form(pattern: Ints, roots: Ints, table: Ints, counts: Ints, codes: Ints, links: Ints, rng: Words) -> Any:
    """A uniform structure of the pattern with a uniform verb and adverb, as its form.

    pattern[0] is the number of phrases, pattern[1 + k] the parent of phrase k; roots[0] how many phrases may come first, then they.
    Every phrase draws one of `most` clauses and the whole is drawn again if there are fewer, or if it breaks a rule: so all
    structures are equally likely.
    """
    most = table.shape[1]
    nodes = pattern[0]
    is_whole = False
    while not is_whole:
        codes[0] = roots[1 + below(rng, roots[0])]
        links[0, 0], links[1, 0] = -1, 0
        is_whole = True
        k = 1
        while k < nodes and is_whole:
            pick = below(rng, most)
            is_whole = hang(pattern, table, counts, codes, links, k, pick)
            k += 1
    return pack(nodes, codes, links) * N_MANNERS + below(rng, N_MANNERS)


def hang(pattern: Ints, table: Ints, counts: Ints, codes: Ints, links: Ints, k: int, pick: int) -> Any:
    """Let phrase k hang by clause number `pick` of its parent; False if there is no such clause or the command breaks a rule."""
    parent = pattern[1 + k]
    if pick >= counts[codes[parent]]:
        return False
    step = table[codes[parent], pick]
    relation, code = step // N_PHRASES, step % N_PHRASES
    for e in range(k):
        if codes[e] == code:
            return False
        if e > 0 and links[0, e] == parent and links[1, e] == relation:
            return False
    codes[k], links[0, k], links[1, k] = code, parent, relation
    return True


def form_at(pattern: Ints, roots: Ints, table: Ints, counts: Ints, codes: Ints, links: Ints, rank: int) -> Any:
    """The structure with this number among all that `draw_form` proposes, without verb and adverb; 0 if it breaks a rule."""
    most = table.shape[1]
    nodes = pattern[0]
    scale = 1
    for _ in range(nodes - 1):
        scale *= most
    codes[0] = roots[1 + rank // scale]
    links[0, 0], links[1, 0] = -1, 0
    for k in range(1, nodes):
        scale //= most
        if not hang(pattern, table, counts, codes, links, k, rank // scale % most):
            return 0
    return pack(nodes, codes, links)


def list_forms(
    pattern: Ints, roots: Ints, table: Ints, counts: Ints, codes: Ints, links: Ints, start: int, stop: int, out: Ints
) -> Any:
    """Write every structure whose number is in [start, stop) to `out`, as far as it reaches; returns how many there are."""
    found = 0
    for rank in range(start, stop):
        form = form_at(pattern, roots, table, counts, codes, links, rank)
        if form != 0:
            if found < out.shape[0]:
                out[found] = form
            found += 1
    return found


def pack(nodes: int, codes: Ints, links: Ints) -> Any:
    """Phrases and links as one number, without verb and adverb."""
    value = codes[0] * 0 + 1
    for k in range(nodes):
        deeper = 1 if k > 0 and links[0, k] == k - 1 else 0
        value = value * N_DIGITS + (links[1, k] * 2 + deeper) * N_PHRASES + codes[k]
    return value


def unpack(form: int, words: Ints, codes: Ints, links: Ints) -> Any:
    """Fill words[k] = (size word, colour, shape), codes and links of a form; returns how many phrases it has."""
    value = form // N_MANNERS
    nodes = 0
    while value > 1:
        value //= N_DIGITS
        nodes += 1
    value = form // N_MANNERS
    for k in range(nodes - 1, -1, -1):
        digit = value % N_DIGITS
        value //= N_DIGITS
        link, code = digit // N_PHRASES, digit % N_PHRASES
        codes[k] = code
        links[0, k] = link % 2
        links[1, k] = link // 2
        words[k, 0], words[k, 1], words[k, 2] = code // 25, code // 5 % 5 - 1, code % 5 - 1
    links[0, 0] = -1
    for k in range(1, nodes):
        links[0, k] = k - 1 if links[0, k] == 1 else links[0, k - 1]
    return nodes


def is_dead(nodes: int, words: Ints, links: Ints) -> Any:
    """Whether no world can need every word of the command and have one referent; such commands are never drawn."""
    for k in range(2, nodes):
        parent = links[0, k]
        if parent > 0 and is_leaf(links, nodes, k) and links[1, k] == links[1, parent] and entails(words, links[0, parent], k):
            # "the red circle in the same row as a square that is in the same row as a circle": the last circle is the first.
            return True
    if nodes != 3 or links[0, 2] != 1 or links[1, 2] != SAME_SIZE:
        return False
    # "the small red circle … a square that is in the same size as a red circle": whatever the square is as big as, the size
    # word of the first phrase sees to a red circle of that size.
    if words[0, 0] == NO_SIZE or words[0, 1] < 0 or words[0, 2] < 0:
        return False
    return words[0, 1] == words[2, 1] and words[0, 2] == words[2, 2]


def entails(words: Ints, a: int, b: int) -> Any:
    """Whether phrase a has every word of phrase b."""
    is_size = words[b, 0] == NO_SIZE or words[b, 0] == words[a, 0]
    is_color = words[b, 1] < 0 or words[b, 1] == words[a, 1]
    return is_size and is_color and (words[b, 2] < 0 or words[b, 2] == words[a, 2])


def is_leaf(links: Ints, nodes: int, i: int) -> Any:
    """Whether no phrase hangs on phrase i."""
    for e in range(i + 1, nodes):  # noqa: SIM110 - Numba compiles no generators
        if links[0, e] == i:
            return False
    return True


# --- held-out combinations -------------------------------------------------------------------------------------------


def verdict(
    form: int,
    known: int,
    direction: int,
    things: Ints,
    nodes: int,
    words: Ints,
    codes: Ints,
    links: Ints,
    atoms: Ints,
    combinations: Ints,
    is_shot: bool,
    mixer: Words,
) -> Any:
    """Whether the row keeps the rule: NO, MAYBE while too little is known, or YES.

    `known`: of how many mentioned objects the attributes are known. `direction`: where the target lies, or -1.
    combinations[i] = [first atom, end, whether it is wanted]; atoms[k] = [alternative, kind, a, b, c, first only].
    """
    found = YES
    for i in range(combinations.shape[0]):
        shown, alternative = NO, -1
        value = NO
        for k in range(combinations[i, 0], combinations[i, 1]):
            if atoms[k, 0] != alternative:
                shown = max(shown, value)
                alternative, value = atoms[k, 0], YES
            if value > NO:
                value = min(value, truth_of(atoms[k], form, known, direction, things, nodes, words, codes, links, mixer))
        shown = max(shown, value)
        is_wanted = combinations[i, 2] != 0
        if is_shot:
            is_wanted = not is_wanted
        found = min(found, shown if is_wanted else YES - shown)
        if found == NO:
            return NO
    return found


def truth_of(
    atom: Ints,
    form: int,
    known: int,
    direction: int,
    things: Ints,
    nodes: int,
    words: Ints,
    codes: Ints,
    links: Ints,
    mixer: Words,
) -> Any:
    """Whether one condition holds: NO, MAYBE or YES. See `splits.Atom`."""
    kind, a, b, c = atom[1], atom[2], atom[3], atom[4]
    last = 1 if atom[5] != 0 else nodes
    found = NO
    if kind == SAYS:
        for j in range(last):
            if (a < 0 or words[j, 0] == a) and (b < 0 or words[j, 1] == b) and (c < 0 or words[j, 2] == c):
                return YES
    elif kind == IS:
        for j in range(last):
            if j < known:
                if (a < 0 or things[j, SIZE] == a) and (b < 0 or things[j, COLOR] == b) and (c < 0 or things[j, SHAPE] == c):
                    return YES
            elif (b < 0 or words[j, 1] < 0 or words[j, 1] == b) and (
                c < 0 or words[j, 2] == c or (words[j, 2] < 0 and c != BOX)
            ):
                found = MAYBE
    elif kind == RELATES:
        for j in range(1, nodes):
            if links[1, j] == a:
                return YES
    elif kind == DOES:
        found = YES if (a < 0 or verb_of(form) == a) and (b < 0 or adverb_of(form) == b) else NO
    elif kind == LIES:
        found = MAYBE if direction < 0 else YES if direction == a else NO
    elif kind == HAS_PATTERN:
        code = 0
        for j in range(1, nodes):
            code = code * 8 + links[0, j]
        found = YES if nodes == a and code == b else NO
    elif kind == IS_NEW_TRIO:
        found = YES if nodes == 3 and links[0, 2] == 0 and is_novel_set(codes, mixer) else NO
    return found


def direction_of(agent: Ints, things: Ints) -> Any:
    """Where object 0 lies from the agent, as a code of DIRECTIONS."""
    down, right = things[0, ROW] - agent[0], things[0, COLUMN] - agent[1]
    if down == 0:
        return 0 if right > 0 else 4
    if right == 0:
        return 2 if down > 0 else 6
    if down > 0:
        return 1 if right > 0 else 3
    return 7 if right > 0 else 5


def is_novel_set(codes: Ints, mixer: Words) -> Any:
    """Whether the set of the first three phrases is held out, by its hash."""
    a, b, c = codes[0], codes[1], codes[2]
    low, high = min(a, min(b, c)), max(a, max(b, c))
    mixer[0] = np.uint64((low * N_PHRASES + (a + b + c - low - high)) * N_PHRASES + high)
    return below(mixer, B1_SHARE) == 0


def bucket_of(form: int, place: int, mixer: Words) -> Any:
    """Which part a command with this target and agent belongs to: 0 test, 1 validation, 2 and 3 train."""
    mixer[0] = np.uint64(form)
    word = bits(mixer)
    mixer[0] = word ^ np.uint64(place)
    return below(mixer, 4)


def say(piece: int, letters: Bytes, starts: Ints, out: Bytes, m: int) -> Any:
    """Append one piece of text; returns the new length."""
    for i in range(starts[piece], starts[piece + 1]):
        out[m] = letters[i]
        m += 1
    return m


def spell(form: int, the: Ints, nodes: int, codes: Ints, links: Ints, letters: Bytes, starts: Ints, out: Bytes, m: int) -> Any:
    """Append the command's text, "the" before each phrase k with the[k] != 0; returns the new length. See `plan.spellings`."""
    m = say(verb_of(form), letters, starts, out, m)
    for k in range(nodes):
        if k > 0:
            m = say((SPELL_THAT if links[0, k] == k - 1 else SPELL_AND) + links[1, k], letters, starts, out, m)
        m = say(SPELL_THE if the[k] != 0 else SPELL_A, letters, starts, out, m)
        m = say(SPELL_PHRASE + codes[k], letters, starts, out, m)
    if adverb_of(form) > 0:
        m = say(SPELL_ADVERB + adverb_of(form), letters, starts, out, m)
    return m
