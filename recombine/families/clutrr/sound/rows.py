"""Rows of a `sound` part, written end to end into flat buffers: the outermost loop. A kernel module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.draws import below, unit
from recombine.families.clutrr.language.kernel import HYPHEN, copy, realize_question, realize_story
from recombine.families.clutrr.sound.family import FATHER, MOTHER, SEX, SPOUSE
from recombine.families.clutrr.sound.kernel import NO_WORDING, draw_story, number_people, word_story
from recombine.families.clutrr.sound.proof import WORDS, draw_cell, draw_path, is_held_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.families.clutrr.language.store import Tables
    from recombine.families.clutrr.sound.arrays import Buffers, Config, Given, Speech, Told, Turns, Work
    from recombine.families.clutrr.sound.balance import Cells
    from recombine.families.clutrr.sound.grammar import Grammar

    Ints = NDArray[np.integer[Any]]
    Rng = NDArray[np.uint64]
    Bytes = NDArray[np.uint8]

KERNEL = True
LEAN = True

TRIES = 400
"""Redraws of an item before the part is declared infeasible; after a quarter of them another cell will do, after half any target."""


def draw_stratum(row: int, block: int, turns: Ints, block_states: Ints, w: Work, rng: Rng) -> int:
    """The (k, target) of a row: every block of rows holds the same ones, each as often as its share, in an order of its own."""
    strata = len(turns)
    if w.block[0] != block:
        w.block[0] = block
        rng[0] = block_states[block]
        for i in range(strata):
            w.strata[i] = turns[i]
        for i in range(strata - 1, 0, -1):
            j = below(rng, i + 1)
            w.strata[i], w.strata[j] = w.strata[j], w.strata[i]
    found: int = w.strata[row % strata]
    return found


def write_columns(w: Work, o: Buffers, row: int, n: int, steps: int, chunks: int) -> None:
    """Append facts as told, people, family, proof and paraphrases of a row."""
    at = o.fact_offsets[row]
    told = o.chunk_offsets[row]
    for c in range(chunks):
        chunk = w.telling[c]
        o.paraphrases[told + c] = w.plan[chunk, 2]
        for i in range(w.plan[chunk, 0], w.plan[chunk, 0] + w.plan[chunk, 1]):
            o.facts[3 * at], o.facts[3 * at + 1], o.facts[3 * at + 2] = w.facts[i, 0], w.facts[i, 1], w.facts[i, 2]
            o.places[at] = w.places[i]
            o.kinds[at] = w.kinds[i]
            at += 1
    o.fact_offsets[row + 1] = at
    o.chunk_offsets[row + 1] = told + chunks
    at = o.name_offsets[row]
    for i in range(n):
        o.names[at + i] = w.names[i]
        o.genders[at + i] = w.genders[i]
    o.name_offsets[row + 1] = at + n
    at = o.people_offsets[row]
    for i in range(w.size[0]):
        p = w.order[i]
        o.people[4 * at] = w.people[p, SEX]
        for j, column in enumerate((FATHER, MOTHER, SPOUSE)):
            q = w.people[p, column]
            o.people[4 * at + 1 + j] = w.number[q] if q >= 0 else -1
        at += 1
    o.people_offsets[row + 1] = at
    at = o.proof_offsets[row]
    for i in range(steps):
        for j in range(3):
            o.proof[6 * at + j] = w.number[w.proof[i, j]]
            o.proof[6 * at + 3 + j] = w.proof[i, 3 + j]
        at += 1
    o.proof_offsets[row + 1] = at


def write_clause(w: Work, k: int, t: Tables, out: Bytes, at: int) -> int:
    """Append the clause in words joined by hyphens; the new end."""
    for i in range(k):
        if i > 0:
            out[at] = HYPHEN
            at += 1
        at = copy(out, at, t.pool, t.words[w.clause[i], 0], t.words[w.clause[i], 1])
    return at


def write_rows(
    first_row: int, states: Rng, turns: Turns, g: Grammar, cells: Cells, c: Config, s: Speech, w: Work, o: Buffers, rng: Rng
) -> int:  # fmt: skip
    """Fill the buffers with one row per state; the number of rows written (fewer if an item found no story)."""
    strata = len(cells.turns)
    first_block = first_row // strata
    for row in range(len(states)):
        index = first_row + row
        stratum = draw_stratum(index, index // strata - first_block, cells.turns, turns.block_states, w, rng)
        k = turns.ks[stratum // WORDS]
        rng[0] = states[row]
        done = False
        cell = -1
        for attempt in range(TRIES):
            if attempt >= TRIES // 2:
                stratum = stratum // WORDS * WORDS + below(rng, WORDS)
            if attempt >= TRIES // 4 or cell < 0:
                cell = draw_cell(cells, stratum, rng)
                if cell < 0:
                    continue
            steps = draw_path(g, cells, cell, stratum % WORDS, k, c, w, rng)
            if steps < 0:
                cell = -1  # no clause of this part has such ends, or next to none
                continue
            if not draw_story(g, stratum % WORDS, k, steps, c, w, rng):
                continue
            n = number_people(w, c, rng)
            lo, hi, target = 0, k, stratum % WORDS
            if c.memory > 0.0 and unit(rng) < c.memory:
                lo = below(rng, k)
                hi, target, steps = lo + 1, w.clause[lo], 0
            x, y = w.number[w.path[lo]], w.number[w.path[hi]]
            end, chunks = word_story(w, k, x, y, c, s, rng, o.text, o.text_offsets[row])
            if end < 0:
                if chunks == NO_WORDING:
                    w.rejected[NO_WORDING] += 1
                continue
            o.text_offsets[row + 1] = end
            o.query[2 * row], o.query[2 * row + 1] = x, y
            o.question_offsets[row + 1] = realize_question(
                o.query[2 * row : 2 * row + 2], w.names, s.name_bytes, s.name_offsets, c.brackets, s.questions, rng,
                o.question, o.question_offsets[row],
            )  # fmt: skip
            o.clause_offsets[row + 1] = write_clause(w, k, s.tables, o.clause, o.clause_offsets[row])
            o.k[row] = k
            o.target[row] = target
            o.held_out[row] = is_held_out(w.genders[w.number[w.path[0]]], w.clause, k, c)
            o.memory[row] = steps == 0
            write_columns(w, o, row, n, steps, chunks)
            done = True
            break
        if not done:
            return row
    return len(states)


def tell_rows(states: Rng, given: Given, brackets: bool, s: Speech, w: Work, o: Told, rng: Rng) -> int:
    """Word rows whose facts are given; the number of rows that could be worded."""
    for row in range(len(states)):
        rng[0] = states[row]
        start, stop = given.offsets[row], given.offsets[row + 1]
        names, genders = given.names[given.people_offsets[row] :], given.genders[given.people_offsets[row] :]
        end, chunks = realize_story(
            given.facts[start:stop], given.chains[start:stop], True, genders, names, s.name_bytes, s.name_offsets, brackets,
            s.tables, rng, w.ways, w.plan, w.telling, o.text, o.text_offsets[row],
        )  # fmt: skip
        if end < 0:
            return row
        o.text_offsets[row + 1] = end
        o.question_offsets[row + 1] = realize_question(
            given.query[2 * row : 2 * row + 2], names, s.name_bytes, s.name_offsets, brackets, s.questions, rng,
            o.question, o.question_offsets[row],
        )  # fmt: skip
        at = start
        for c in range(chunks):
            chunk = w.telling[c]
            o.chunks[o.chunk_offsets[row] + c] = w.plan[chunk, 2]
            for i in range(w.plan[chunk, 0], w.plan[chunk, 0] + w.plan[chunk, 1]):
                o.order[at] = start + i
                for j in range(3):
                    o.facts[at, j] = given.facts[start + i, j]
                at += 1
        o.chunk_offsets[row + 1] = o.chunk_offsets[row] + chunks
    return len(states)
