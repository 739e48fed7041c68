"""Demonstrations and elimination of lexicons in arrays: the hot part of the family.

A command is a row of meanings, the ones that its words truly have; that names its words as well. A hypothesis is `lists[h, 13]`: the
meaning that it gives to the word with each true meaning, or UNSEEN if no demonstration has shown that word yet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.draws import Ints, Words, below

KERNEL = True
LEAN = True

N_MEANINGS, N_VERBS, TURN = 13, 5, 4
LEFT, OPPOSITE, AROUND, TWICE, THRICE, AND, AFTER = 5, 7, 8, 9, 10, 11, 12
LEFT_TURN, MOST_WORDS = 4, 9
UNSEEN = -1
BAD = -1
DEMO_WORDS = 5
"""Words in the longest demonstration."""
POOL = 6
"""Commands among which each demonstration is chosen."""
DRAWS = 40
"""Commands that are drawn for that pool at most."""
MOST_NEW = 3
"""New words in one demonstration at most."""
TRIES = 5
"""Times that a task is begun anew with the same test command."""


class Desk(NamedTuple):
    """Scratch arrays and one task in the making."""

    lists: Ints  # [room, 13]: hypotheses that fit the demonstrations
    trial: Ints  # [room, 13]: those that would still fit with one more
    best: Ints  # [room, 13]
    known: Ints  # [13]: 1 for words that a demonstration has shown
    words: Ints  # [13]: 1 for words of the task
    demos: Ints  # [most demonstrations, 9]
    lengths: Ints  # [most demonstrations]
    candidate: Ints  # [18]
    new: Ints  # [9]: the new words of a demonstration
    shown: Ints  # [48]: actions
    said: Ints  # [48]: actions under a hypothesis
    truth: Ints  # [13]: the true lexicon, meaning m for word m


class Sink(NamedTuple):
    """Finished rows, in true meanings."""

    demos: NDArray[np.int8]  # [rows, most demonstrations, 9]
    lengths: NDArray[np.int8]  # [rows, most demonstrations]
    counts: NDArray[np.int8]  # [rows]: demonstrations, or 0 if the row failed
    hypotheses: Ints  # [rows, most demonstrations]: hypotheses over the words shown so far
    seen: NDArray[np.int8]  # [rows, most demonstrations]: words shown so far
    words: NDArray[np.int8]  # [rows, 13]: 1 for words of the task
    offers: Ints  # [rows]: which of the test commands offered was settled


def clause_actions(lexicon: Ints, command: Ints, start: int, stop: int, out: Ints, at: int) -> Any:
    """Write what the words [start, stop) do to out[at:]; returns the new end, or BAD if they are no clause."""
    if start >= stop:
        return BAD
    turns, side, is_around = 0, -1, False
    last = lexicon[command[stop - 1]]
    times = 2 if last == TWICE else 3 if last == THRICE else 1
    if times > 1:
        stop -= 1
    if stop - start > 1:
        side = lexicon[command[stop - 1]] - LEFT
        if side != 0 and side != 1:
            return BAD
        turns = 1
        stop -= 1
    if stop - start > 1:
        manner = lexicon[command[stop - 1]]
        if manner != OPPOSITE and manner != AROUND:
            return BAD
        turns = 2 if manner == OPPOSITE else 1
        is_around = manner == AROUND
        stop -= 1
    if stop - start != 1:
        return BAD
    verb = lexicon[command[start]]
    if verb < 0 or verb >= N_VERBS or (verb == TURN and turns == 0):
        return BAD
    for _ in range(times * 4 if is_around else times):
        for _ in range(turns):
            out[at] = LEFT_TURN + side
            at += 1
        if verb != TURN:
            out[at] = verb
            at += 1
    return at


def actions(lexicon: Ints, command: Ints, n: int, out: Ints) -> Any:
    """Write what a command of n words does under a lexicon; returns how many actions, or BAD if it is not grammatical."""
    for i in range(n):
        if lexicon[command[i]] == AND:
            at = clause_actions(lexicon, command, 0, i, out, 0)
            return BAD if at == BAD else clause_actions(lexicon, command, i + 1, n, out, at)
        if lexicon[command[i]] == AFTER:
            at = clause_actions(lexicon, command, i + 1, n, out, 0)
            return BAD if at == BAD else clause_actions(lexicon, command, 0, i, out, at)
    return clause_actions(lexicon, command, 0, n, out, 0)


def does(lexicon: Ints, command: Ints, n: int, shown: Ints, length: int, said: Ints) -> Any:
    """Whether the command does the shown actions under the lexicon; `said` is scratch."""
    if actions(lexicon, command, n, said) != length:
        return False
    for i in range(length):  # noqa: SIM110 - Numba compiles no generators
        if said[i] != shown[i]:
            return False
    return True


def new_words(desk: Desk, command: Ints, n: int) -> Any:
    """Write the words of the command that no demonstration has shown to desk.new; returns how many."""
    count = 0
    for i in range(n):
        is_new = desk.known[command[i]] == 0
        for j in range(count):
            is_new = is_new and desk.new[j] != command[i]
        if is_new:
            desk.new[count] = command[i]
            count += 1
    return count


def expand(desk: Desk, size: int, command: Ints, n: int, out: Ints) -> Any:
    """Write to `out` the hypotheses that fit one more demonstration, its new words included; returns how many, or BAD.

    Every hypothesis gives the new words every combination of meanings that it has not used.
    """
    length = actions(desk.truth, command, n, desk.shown)
    fresh = new_words(desk, command, n)
    if fresh > MOST_NEW:
        return BAD
    count, combinations = 0, N_MEANINGS**fresh
    for h in range(size):
        used = 0
        for w in range(N_MEANINGS):
            if desk.lists[h, w] >= 0:
                used |= 1 << desk.lists[h, w]
        for number in range(combinations):
            if count >= out.shape[0]:
                return BAD
            taken, rest, is_one_to_one = used, number, True
            for w in range(N_MEANINGS):
                out[count, w] = desk.lists[h, w]
            for k in range(fresh):
                meaning = rest % N_MEANINGS
                rest //= N_MEANINGS
                is_one_to_one = is_one_to_one and (taken >> meaning) & 1 == 0
                taken |= 1 << meaning
                out[count, desk.new[k]] = meaning
            if is_one_to_one and does(out[count], command, n, desk.shown, length, desk.said):
                count += 1
    return count


def rivals(desk: Desk, lists: Ints, size: int, test: Ints, n: int) -> Any:
    """How many hypotheses do not give the test command its true actions."""
    length = actions(desk.truth, test, n, desk.shown)
    count = 0
    for h in range(size):
        if not does(lists[h], test, n, desk.shown, length, desk.said):
            count += 1
    return count


# --- commands --------------------------------------------------------------------------------------------------------


def pick(words: Ints, first: int, stop: int, rng: Words) -> Any:
    """A random word of the task with a meaning in [first, stop); UNSEEN if it has none."""
    count = 0
    for m in range(first, stop):
        count += words[m]
    if count == 0:
        return UNSEEN
    left = below(rng, count)
    for m in range(first, stop):
        if words[m]:
            if left == 0:
                return m
            left -= 1
    return UNSEEN


def draw_clause(words: Ints, forbidden: Ints, out: Ints, at: int, rng: Words) -> Any:
    """Write a random clause of the task's words to out[at:]; returns the new end, or BAD. forbidden[verb, modifier] is not said."""
    verb = pick(words, 0, N_VERBS, rng)
    side, manner, repeat = UNSEEN, UNSEEN, UNSEEN
    if verb == TURN or below(rng, 2) == 0:
        side = pick(words, LEFT, OPPOSITE, rng)
    if side >= 0 and below(rng, 2) == 0:
        manner = pick(words, OPPOSITE, TWICE, rng)
    if below(rng, 3) == 0:
        repeat = pick(words, TWICE, AND, rng)
    if verb < 0 or (verb == TURN and side < 0):
        return BAD
    if (manner >= 0 and forbidden[verb, manner]) or (repeat >= 0 and forbidden[verb, repeat]):
        return BAD
    out[at] = verb
    at += 1
    for k in range(3):
        word = manner if k == 0 else side if k == 1 else repeat
        if word >= 0:
            out[at] = word
            at += 1
    return at


def draw_command(desk: Desk, forbidden: Ints, rng: Words) -> Any:
    """Fill desk.candidate with a random command of at most DEMO_WORDS words; returns its length, or BAD."""
    n = draw_clause(desk.words, forbidden, desk.candidate, 0, rng)
    if n == BAD or n > DEMO_WORDS:
        return BAD
    if n < DEMO_WORDS - 1 and below(rng, 3) == 0:
        joint = pick(desk.words, AND, N_MEANINGS, rng)
        if joint >= 0:
            desk.candidate[n] = joint
            n = draw_clause(desk.words, forbidden, desk.candidate, n + 1, rng)
    return BAD if n == BAD or n > DEMO_WORDS else n


def is_same(a: Ints, n: int, b: Ints, m: int) -> Any:
    """Whether two commands are the same."""
    if n != m:
        return False
    for i in range(n):  # noqa: SIM110 - Numba compiles no generators
        if a[i] != b[i]:
            return False
    return True


def is_fresh(desk: Desk, n: int, count: int, test: Ints, test_length: int) -> Any:
    """Whether the candidate is neither the test command nor one of the demonstrations."""
    if is_same(desk.candidate, n, test, test_length):
        return False
    for d in range(count):  # noqa: SIM110 - Numba compiles no generators
        if is_same(desk.candidate, n, desk.demos[d], desk.lengths[d]):
            return False
    return True


# --- tasks -----------------------------------------------------------------------------------------------------------


def choose_words(desk: Desk, test: Ints, n: int, count: int, rng: Words) -> None:
    """Mark the words of the task: those of the test command, and others up to `count`."""
    for m in range(N_MEANINGS):
        desk.words[m] = 0
        desk.known[m] = 0
        desk.lists[0, m] = UNSEEN
        desk.truth[m] = m
    have = 0
    for i in range(n):
        have += 1 - desk.words[test[i]]
        desk.words[test[i]] = 1
    while have < count:
        m = below(rng, N_MEANINGS)
        have += 1 - desk.words[m]
        desk.words[m] = 1


def unseen(desk: Desk) -> Any:
    """How many words of the task no demonstration has shown."""
    count = 0
    for m in range(N_MEANINGS):
        count += desk.words[m] * (1 - desk.known[m])
    return count


def next_demonstration(desk: Desk, size: int, count: int, test: Ints, n: int, forbidden: Ints, rng: Words) -> Any:
    """Choose the demonstration that leaves fewest hypotheses (fewest rivals once all words were shown); returns how many, or BAD.

    A demonstration must show a new word as long as there is one, and must otherwise refute something.
    """
    left, fewest, size_then, pool = unseen(desk), -1, BAD, 0
    now = rivals(desk, desk.lists, size, test, n) if left == 0 else 0
    for _ in range(DRAWS):
        m = draw_command(desk, forbidden, rng)
        if m == BAD or not is_fresh(desk, m, count, test, n) or (left > 0 and new_words(desk, desk.candidate, m) == 0):
            continue
        found = expand(desk, size, desk.candidate, m, desk.trial)
        if found == BAD:
            continue
        pool += 1
        cost = found if left > 0 else rivals(desk, desk.trial, found, test, n)
        if (fewest < 0 or cost < fewest) and (left > 0 or cost < now):
            fewest, size_then, desk.lengths[count] = cost, found, m
            for i in range(m):
                desk.demos[count, i] = desk.candidate[i]
            for h in range(found):
                for w in range(N_MEANINGS):
                    desk.best[h, w] = desk.trial[h, w]
        if pool >= POOL:
            break
    if size_then == BAD:
        return BAD
    for i in range(desk.lengths[count]):
        desk.known[desk.demos[count, i]] = 1
    for h in range(size_then):
        for w in range(N_MEANINGS):
            desk.lists[h, w] = desk.best[h, w]
    return size_then


def draw_lesson(desk: Desk, test: Ints, n: int, words: int, forbidden: Ints, sink: Sink, row: int, rng: Words) -> Any:
    """Choose demonstrations until every hypothesis gives the test command the same actions; returns whether that was reached."""
    choose_words(desk, test, n, words, rng)
    size = 1
    for count in range(desk.demos.shape[0]):
        size = next_demonstration(desk, size, count, test, n, forbidden, rng)
        if size == BAD:
            return False
        sink.hypotheses[row, count] = size
        sink.seen[row, count] = words - unseen(desk)
        sink.lengths[row, count] = desk.lengths[count]
        for i in range(desk.lengths[count]):
            sink.demos[row, count, i] = desk.demos[count, i]
        if unseen(desk) == 0 and rivals(desk, desk.lists, size, test, n) == 0:
            sink.counts[row] = count + 1
            for m in range(N_MEANINGS):
                sink.words[row, m] = desk.words[m]
            return True
    return False


def draw_lessons(
    states: Words, tests: Ints, lengths: Ints, words: int, forbidden: Ints, desk: Desk, sink: Sink, rng: Words
) -> int:
    """Fill every row of the sink with the first of its test commands that can be settled; returns how often a task was given up.

    A row whose commands all fail keeps count 0.
    """
    again = 0
    for row in range(len(states)):
        rng[0] = states[row]
        for attempt in range(TRIES * tests.shape[1]):
            offer = attempt // TRIES
            sink.offers[row] = offer
            if draw_lesson(desk, tests[row, offer], lengths[row, offer], words, forbidden, sink, row, rng):
                break
            again += 1
    return again
