"""Commands inside kernels: drawn uniformly, unpacked, tagged with what the splits hold out, and spelled."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.draws import below, bits
from recombine.grid.codes import CYLINDER, INSIDE, NO_SIZE, RED, SAME_SIZE, SMALL, SQUARE, YELLOW

KERNEL = True
LEAN = True

TAG_A1, TAG_A2, TAG_A3, TAG_B1, TAG_B2 = 1, 2, 4, 8, 16
"""Novel colour word, novel colour, novel size word, novel set of phrases, novel pair of relations."""
N_CODES = 75
B1_SHARE = 10
"""One in so many sets of three phrases is held out from two-clause commands."""


def draw_form(pattern: Any, roots: Any, table: Any, counts: Any, codes: Any, links: Any, rng: Any) -> Any:
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
    return pack(nodes, codes, links) * 15 + below(rng, 15)


def hang(pattern: Any, table: Any, counts: Any, codes: Any, links: Any, k: Any, pick: Any) -> Any:
    """Let phrase k hang by clause number `pick` of its parent; False if there is no such clause or the command breaks a rule."""
    parent = pattern[1 + k]
    if pick >= counts[codes[parent]]:
        return False
    step = table[codes[parent], pick]
    relation, code = step // N_CODES, step % N_CODES
    for e in range(k):
        if codes[e] == code:
            return False
        if e > 0 and links[0, e] == parent and links[1, e] == relation:
            return False
    codes[k], links[0, k], links[1, k] = code, parent, relation
    return True


def form_at(pattern: Any, roots: Any, table: Any, counts: Any, codes: Any, links: Any, rank: Any) -> Any:
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
    pattern: Any, roots: Any, table: Any, counts: Any, codes: Any, links: Any, start: Any, stop: Any, out: Any
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


def pack(nodes: Any, codes: Any, links: Any) -> Any:
    """Phrases and links as one number, without verb and adverb."""
    value = codes[0] * 0 + 1
    for k in range(nodes):
        deeper = 1 if k > 0 and links[0, k] == k - 1 else 0
        value = value * 900 + (links[1, k] * 2 + deeper) * N_CODES + codes[k]
    return value


def unpack(form: Any, words: Any, codes: Any, links: Any) -> Any:
    """Fill words[k] = (size word, colour, shape), codes and links of a form; returns how many phrases it has."""
    value = form // 15
    nodes = 0
    while value > 1:
        value //= 900
        nodes += 1
    value = form // 15
    for k in range(nodes - 1, -1, -1):
        digit = value % 900
        value //= 900
        link, code = digit // N_CODES, digit % N_CODES
        codes[k] = code
        links[0, k] = link % 2
        links[1, k] = link // 2
        words[k, 0], words[k, 1], words[k, 2] = code // 25, code // 5 % 5 - 1, code % 5 - 1
    links[0, 0] = -1
    for k in range(1, nodes):
        links[0, k] = k - 1 if links[0, k] == 1 else links[0, k - 1]
    return nodes


def is_dead(nodes: Any, words: Any, links: Any) -> Any:
    """Whether no world can need every word: "the small red circle … a square that is in the same size as a red circle".

    Whatever the square is as big as, a red circle of that size is there by the size word of the first phrase.
    """
    if nodes != 3 or links[0, 2] != 1 or links[1, 2] != SAME_SIZE:
        return False
    if words[0, 0] == NO_SIZE or words[0, 1] < 0 or words[0, 2] < 0:
        return False
    return words[0, 1] == words[2, 1] and words[0, 2] == words[2, 2]


def tags_of(nodes: Any, words: Any, codes: Any, links: Any, mixer: Any) -> Any:
    """Which held-out sets the command itself belongs to, as a sum of tags; `mixer` is a uint64 scratch array of one word."""
    tags = 0
    has_size, has_inside = False, False
    for k in range(nodes):
        size, color, shape = words[k, 0], words[k, 1], words[k, 2]
        if color == YELLOW and shape == SQUARE:
            tags |= TAG_A1
        if color == RED and shape == SQUARE:
            tags |= TAG_A2
        if size == SMALL and shape == CYLINDER:
            tags |= TAG_A3
        if k > 0:
            has_size = has_size or links[1, k] == SAME_SIZE
            has_inside = has_inside or links[1, k] == INSIDE
    if has_size and has_inside:
        tags |= TAG_B2
    if nodes == 3 and links[0, 2] == 0 and is_novel_set(codes, mixer):
        tags |= TAG_B1
    return tags


def is_novel_set(codes: Any, mixer: Any) -> Any:
    """Whether the set of the first three phrases is held out, by its hash."""
    a, b, c = codes[0], codes[1], codes[2]
    low, high = min(a, min(b, c)), max(a, max(b, c))
    mixer[0] = np.uint64((low * N_CODES + (a + b + c - low - high)) * N_CODES + high)
    return below(mixer, B1_SHARE) == 0


def bucket_of(form: Any, place: Any, mixer: Any) -> Any:
    """Which part a command with this target and agent belongs to: 0 test, 1 validation, 2 and 3 train."""
    mixer[0] = np.uint64(form)
    word = bits(mixer)
    mixer[0] = word ^ np.uint64(place)
    return below(mixer, 4)


def say(piece: Any, letters: Any, starts: Any, out: Any, m: Any) -> Any:
    """Append one piece of text; returns the new length."""
    for i in range(starts[piece], starts[piece + 1]):
        out[m] = letters[i]
        m += 1
    return m


def spell(form: Any, the: Any, nodes: Any, codes: Any, links: Any, letters: Any, starts: Any, out: Any, m: Any) -> Any:
    """Append the command's text, "the" before each phrase k with the[k] != 0; returns the new length. See `plan.spellings`."""
    manner = form % 15
    m = say(manner // 5, letters, starts, out, m)
    for k in range(nodes):
        if k > 0:
            m = say((7 if links[0, k] == k - 1 else 13) + links[1, k], letters, starts, out, m)
        m = say(20 if the[k] != 0 else 19, letters, starts, out, m)
        m = say(21 + codes[k], letters, starts, out, m)
    if manner % 5 > 0:
        m = say(2 + manner % 5, letters, starts, out, m)
    return m
