"""The set machine's inner loops: soft sets over the objects of one row, and which features an actor sees.

A phrase is read word by word. The state is three soft sets over the objects: `near` (the phrase that is being read), `asked` (what
a clause so far demands of it) and `kept` (clauses that were put aside). A word mixes five operations:
  pass     nothing
  filter   near_i *= fit_i
  compare  near_i *= some other j in near has R(i, j)
  relate   asked_i = some other j in near and asked has R(i, j);  near = everything
  aside    kept *= asked;  asked = everything
"Some" is a noisy or. R(i, j) is a product of two table entries: one for places and sizes, one for colours and shapes. Where objects
are pictures, the first table goes by place and picture of j, the second by the pictures of i and j, and a filter's only by picture.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

KERNEL = True
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
SmallInts = NDArray[np.int8]

OPERATIONS = 5
PASS, FILTER, COMPARE, RELATE, ASIDE = 0, 1, 2, 3, 4
FARTHEST = 5
"""Differences of rows and columns are cut here."""
SPAN = 2 * FARTHEST + 1
PLACES = SPAN * SPAN * 16
LOOKS = 256
NEARLY_ONE = 0.999
"""A noisy or's terms are cut here, so that its gradient stays finite."""
SMALLEST = 1e-9
HISTORY = 8
"""Past actions that the actor sees."""


class Meanings(NamedTuple):
    """What every word does, as probabilities and factors; also the form of their gradients."""

    operations: Floats  # (words, 5)
    fits: Floats  # (words, 3, 4): factor of a filter by attribute (size, colour, shape) and value
    places: Floats  # (words, PLACES): factor of R by row difference, column difference, size of i, size of j
    looks: Floats  # (words, LOOKS): factor of R by colour of i, colour of j, shape of i, shape of j
    # With pictures: fits (words, 3, pictures), all 1 but the first; places by row difference, column difference, picture of j;
    # looks by picture of i, picture of j.


class Sheet(NamedTuple):
    """Commands and worlds, a row each."""

    words: SmallInts  # [rows, longest command]
    lengths: Ints  # [rows]
    objects: SmallInts  # [rows, most objects, fields]
    counts: Ints  # [rows]
    pictures: int  # how many pictures there are; 0 where objects are symbols


class Desk(NamedTuple):
    """Working space for rows of up to T words and N objects."""

    near: Floats  # (T + 1, N)
    asked: Floats  # (T + 1, N)
    kept: Floats  # (T + 1, N)
    fit: Floats  # (T, N)
    some_near: Floats  # (T, N): what compare found
    some_asked: Floats  # (T, N): what relate found
    slopes: Floats  # (6, N): gradients of near, asked and kept, of the present word and of the one before
    codes: Ints  # (2, N, N): places in the tables of R


def pair_codes(things: SmallInts, count: int, pictures: int, codes: Ints) -> None:
    """Where R(i, j) stands in the two tables."""
    if pictures > 0:
        picture_codes(things, count, pictures, codes)
        return
    for i in range(count):
        for j in range(count):
            row = min(max(int(things[i, 3]) - int(things[j, 3]), -FARTHEST), FARTHEST) + FARTHEST
            column = min(max(int(things[i, 4]) - int(things[j, 4]), -FARTHEST), FARTHEST) + FARTHEST
            codes[0, i, j] = ((row * SPAN + column) * 4 + int(things[i, 0])) * 4 + int(things[j, 0])
            colors = max(int(things[i, 1]), 0) * 4 + max(int(things[j, 1]), 0)
            codes[1, i, j] = (colors * 4 + max(int(things[i, 2]), 0)) * 4 + max(int(things[j, 2]), 0)


def picture_codes(things: SmallInts, count: int, pictures: int, codes: Ints) -> None:
    """The same for objects that are pictures."""
    for i in range(count):
        for j in range(count):
            row = min(max(int(things[i, 3]) - int(things[j, 3]), -FARTHEST), FARTHEST) + FARTHEST
            column = min(max(int(things[i, 4]) - int(things[j, 4]), -FARTHEST), FARTHEST) + FARTHEST
            codes[0, i, j] = (row * SPAN + column) * pictures + int(things[j, 0])
            codes[1, i, j] = int(things[i, 0]) * pictures + int(things[j, 0])


def read_row(
    words: SmallInts, length: int, things: SmallInts, count: int, pictures: int, meanings: Meanings, least: float, desk: Desk
) -> None:
    """Read a command from its last word to its first; every state is kept. R is used where its operations are likelier than least."""
    pair_codes(things, count, pictures, desk.codes)
    for i in range(count):
        desk.near[0, i] = 1.0
        desk.asked[0, i] = 1.0
        desk.kept[0, i] = 1.0
    for t in range(length):
        w = int(words[length - 1 - t])
        p_pass, p_filter, p_compare = (
            meanings.operations[w, PASS],
            meanings.operations[w, FILTER],
            meanings.operations[w, COMPARE],
        )
        p_relate, p_aside = meanings.operations[w, RELATE], meanings.operations[w, ASIDE]
        is_relational = p_compare + p_relate > least
        for i in range(count):
            near, asked, kept = desk.near[t, i], desk.asked[t, i], desk.kept[t, i]
            fit = 1.0
            for attribute in range(3):
                fit *= meanings.fits[w, attribute, max(int(things[i, attribute]), 0)]
            none_near, none_asked = 1.0, 1.0
            if is_relational:
                for j in range(count):
                    if j != i:
                        r = meanings.places[w, desk.codes[0, i, j]] * meanings.looks[w, desk.codes[1, i, j]] * desk.near[t, j]
                        none_near *= 1.0 - min(r, NEARLY_ONE)
                        none_asked *= 1.0 - min(r * desk.asked[t, j], NEARLY_ONE)
            desk.fit[t, i] = fit
            desk.some_near[t, i] = 1.0 - none_near
            desk.some_asked[t, i] = 1.0 - none_asked
            desk.near[t + 1, i] = near * (p_pass + p_aside + p_filter * fit + p_compare * (1.0 - none_near)) + p_relate
            desk.asked[t + 1, i] = (1.0 - p_relate - p_aside) * asked + p_relate * (1.0 - none_asked) + p_aside
            desk.kept[t + 1, i] = kept * (1.0 - p_aside + p_aside * asked)


def unread_row(
    words: SmallInts, length: int, things: SmallInts, count: int, meanings: Meanings, least: float, desk: Desk, grads: Meanings
) -> None:
    """The way back: from the slopes of the last state to the gradients of the meanings."""
    new_near, new_asked, new_kept = desk.slopes[0], desk.slopes[1], desk.slopes[2]
    old_near, old_asked, old_kept = desk.slopes[3], desk.slopes[4], desk.slopes[5]
    for back in range(length):
        t = length - 1 - back
        w = int(words[back])
        p_pass, p_filter, p_compare = (
            meanings.operations[w, PASS],
            meanings.operations[w, FILTER],
            meanings.operations[w, COMPARE],
        )
        p_relate, p_aside = meanings.operations[w, RELATE], meanings.operations[w, ASIDE]
        is_relational = p_compare + p_relate > least
        to_operations = grads.operations[w]
        for i in range(count):
            near, asked, kept = desk.near[t, i], desk.asked[t, i], desk.kept[t, i]
            dn, da, dk = new_near[i], new_asked[i], new_kept[i]
            fit, some_near, some_asked = desk.fit[t, i], desk.some_near[t, i], desk.some_asked[t, i]
            to_operations[PASS] += dn * near
            to_operations[FILTER] += dn * near * fit
            to_operations[COMPARE] += dn * near * some_near
            to_operations[RELATE] += dn + da * (some_asked - asked)
            to_operations[ASIDE] += dn * near + da * (1.0 - asked) + dk * kept * (asked - 1.0)
            old_near[i] = dn * (p_pass + p_aside + p_filter * fit + p_compare * some_near)
            old_asked[i] = da * (1.0 - p_relate - p_aside) + dk * kept * p_aside
            old_kept[i] = dk * (1.0 - p_aside + p_aside * asked)
            to_fit = dn * near * p_filter
            for attribute in range(3):
                value = max(int(things[i, attribute]), 0)
                grads.fits[w, attribute, value] += to_fit * fit / max(meanings.fits[w, attribute, value], SMALLEST)
        if is_relational:
            relate_slopes(w, t, count, p_compare, p_relate, meanings, desk, grads)
        for i in range(count):
            new_near[i] = old_near[i]
            new_asked[i] = old_asked[i]
            new_kept[i] = old_kept[i]


def relate_slopes(
    w: int, t: int, count: int, p_compare: float, p_relate: float, meanings: Meanings, desk: Desk, grads: Meanings
) -> None:
    """The gradients that flow through R of word w at step t."""
    new_near, new_asked = desk.slopes[0], desk.slopes[1]
    old_near, old_asked = desk.slopes[3], desk.slopes[4]
    for i in range(count):
        to_near = new_near[i] * desk.near[t, i] * p_compare * (1.0 - desk.some_near[t, i])
        to_asked = new_asked[i] * p_relate * (1.0 - desk.some_asked[t, i])
        for j in range(count):
            if j != i:
                place, look = meanings.places[w, desk.codes[0, i, j]], meanings.looks[w, desk.codes[1, i, j]]
                near, asked = desk.near[t, j], desk.asked[t, j]
                r = place * look
                a, b = r * near, r * near * asked
                to_r = 0.0
                if a < NEARLY_ONE:
                    slope = to_near / (1.0 - a)
                    old_near[j] += slope * r
                    to_r += slope * near
                if b < NEARLY_ONE:
                    slope = to_asked / (1.0 - b)
                    old_near[j] += slope * r * asked
                    old_asked[j] += slope * r * near
                    to_r += slope * near * asked
                grads.places[w, desk.codes[0, i, j]] += to_r * look
                grads.looks[w, desk.codes[1, i, j]] += to_r * place


def find_batch(
    order: Ints, sheet: Sheet, meanings: Meanings, least: float, desk: Desk, scores: Floats
) -> None:  # fmt: skip
    """The score of every object of the rows in `order`: near * asked * kept after the whole command."""
    words, lengths, objects, counts = sheet.words, sheet.lengths, sheet.objects, sheet.counts
    for n in range(len(order)):
        row = order[n]
        read_row(words[row], lengths[row], objects[row], counts[row], sheet.pictures, meanings, least, desk)
        end = lengths[row]
        for i in range(counts[row]):
            scores[n, i] = desk.near[end, i] * desk.asked[end, i] * desk.kept[end, i] + SMALLEST


def learn_batch(
    order: Ints, sheet: Sheet, meanings: Meanings, least: float, desk: Desk, shares: Floats, scores: Floats, grads: Meanings
) -> float:  # fmt: skip
    """The summed loss of the rows in `order`, -log of the share that falls on the wanted objects; adds to the gradients.

    `shares[n, i]` says how much object i is wanted: 1 for the objects in the target's cell, else 0; or any likelihood.
    """
    words, lengths, objects, counts = sheet.words, sheet.lengths, sheet.objects, sheet.counts
    total = 0.0
    for n in range(len(order)):
        row = order[n]
        count, end = counts[row], lengths[row]
        read_row(words[row], lengths[row], objects[row], count, sheet.pictures, meanings, least, desk)
        whole, wanted = 0.0, 0.0
        for i in range(count):
            score = desk.near[end, i] * desk.asked[end, i] * desk.kept[end, i] + SMALLEST
            scores[n, i] = score
            whole += score
            wanted += score * shares[n, i]
        if wanted <= 0.0:
            continue  # no object is where the agent went: the row teaches nothing
        total -= np.log(wanted / whole)
        for i in range(count):
            slope = 1.0 / whole - shares[n, i] / wanted
            near, asked, kept = desk.near[end, i], desk.asked[end, i], desk.kept[end, i]
            desk.slopes[0, i] = slope * asked * kept
            desk.slopes[1, i] = slope * near * kept
            desk.slopes[2, i] = slope * near * asked
        unread_row(words[row], lengths[row], objects[row], count, meanings, least, desk, grads)
    return total


# --- the actor -------------------------------------------------------------------------------------------------------


def see_batch(
    owners: Ints, poses: Ints, past: Ints, moved: Ints, targets: Ints, sizes: Ints, objects: SmallInts, counts: Ints, grid: int,
    kinds: int, seen: Ints,
) -> None:  # fmt: skip
    """The numbers of the features that hold at each moment; -1 behind them. `kinds`: sizes and shapes, or pictures instead of both.

    Heading; way to the target, by rows and columns and as the agent faces; the target's size; the last actions; pushes and pulls
    so far; what stands before and behind the target in the agent's line, and where the wall is there.
    """
    reach = grid - 1
    span = 2 * reach + 1
    step_row, step_column = (0, 1, 0, -1), (1, 0, -1, 0)
    at_way = 4
    at_size = at_way + 4 * span
    at_past = at_size + kinds
    at_moved = at_past + HISTORY * 8
    at_line = at_moved + 2 * span + 1
    at_wall = at_line + 2 * reach * kinds
    for m in range(len(owners)):
        row = owners[m]
        heading = poses[m, 2]
        down, right = targets[m, 0] - poses[m, 0], targets[m, 1] - poses[m, 1]
        dr, dc = step_row[heading], step_column[heading]
        seen[m, 0] = heading
        seen[m, 1] = at_way + reach + down
        seen[m, 2] = at_way + span + reach + right
        seen[m, 3] = at_way + 2 * span + reach + down * dr + right * dc
        seen[m, 4] = at_way + 3 * span + reach + down * dc - right * dr
        seen[m, 5] = at_size + sizes[m]
        k = 6
        for back in range(HISTORY):
            seen[m, k] = at_past + back * 8 + past[m, back]
            k += 1
        seen[m, k] = at_moved + min(moved[m], 2 * span)
        before = (grid - 1 - targets[m, 1], grid - 1 - targets[m, 0], targets[m, 1], targets[m, 0])
        seen[m, k + 1] = at_wall + before[heading]
        seen[m, k + 2] = at_wall + grid + before[(heading + 2) % 4]
        k += 3
        for i in range(counts[row]):
            if k >= seen.shape[1]:
                break
            away_row, away_column = int(objects[row, i, 3]) - targets[m, 0], int(objects[row, i, 4]) - targets[m, 1]
            ahead = away_row * dr + away_column * dc
            if ahead != 0 and away_row * dc == 0 and away_column * dr == 0:
                cell = ahead - 1 if ahead > 0 else reach - ahead - 1
                seen[m, k] = at_line + cell * kinds + max(int(objects[row, i, 2]), 0)
                k += 1
        for rest in range(k, seen.shape[1]):
            seen[m, rest] = -1


def add_features(seen: Ints, owners: Ints, spoken: Singles, table: Singles, out: Singles) -> None:
    """The actor's first layer: the command's vector plus one row of the table for each feature."""
    for m in range(len(seen)):
        out[m, :] = spoken[owners[m], :]
        for k in range(seen.shape[1]):
            if seen[m, k] < 0:
                break
            out[m, :] += table[seen[m, k], :]


def spread_features(seen: Ints, owners: Ints, slopes: Singles, to_table: Singles, to_spoken: Singles) -> None:
    """The way back through `add_features`."""
    for m in range(len(seen)):
        to_spoken[owners[m], :] += slopes[m, :]
        for k in range(seen.shape[1]):
            if seen[m, k] < 0:
                break
            to_table[seen[m, k], :] += slopes[m, :]


def add_words(order: Ints, words: SmallInts, lengths: Ints, table: Singles, out: Singles) -> None:
    """The vector of each command: the sum of its words' rows."""
    for n in range(len(order)):
        out[n, :] = 0.0
        for t in range(lengths[order[n]]):
            if words[order[n], t] > 0:
                out[n, :] += table[words[order[n], t], :]


def spread_words(order: Ints, words: SmallInts, lengths: Ints, slopes: Singles, to_table: Singles) -> None:
    """The way back through `add_words`."""
    for n in range(len(order)):
        for t in range(lengths[order[n]]):
            if words[order[n], t] > 0:
                to_table[words[order[n], t], :] += slopes[n, :]
