"""A finished row into the outputs: objects, actions, text and scalars, for both recipes."""

from __future__ import annotations

from typing import Any

from recombine.families.reascan.commands import spell
from recombine.families.reascan.growing import GRID, NODES, N
from recombine.grid.codes import DO_PULL, DO_PUSH

KERNEL = True
LEAN = True

FORM, AGENT_CELL, MOVED, LENGTH, FLAGS, SPARE, PATTERN, ATTEMPTS = 0, 1, 2, 3, 4, 5, 6, 7
"""Columns of `rows`, the scalars of each row."""
FLAG_RELATION, FLAG_ATTRIBUTE, FLAG_ISOMORPHISM, FLAG_RANDOM = 1, 2, 4, 8


def write_row(
    i: Any,
    form: Any,
    flags: Any,
    attempts: Any,
    p: Any,
    things: Any,
    st: Any,
    codes: Any,
    links: Any,
    the: Any,
    marks: Any,
    agent: Any,
    out: Any,
    length: Any,
    letters: Any,
    starts: Any,
    rows: Any,
    flat: Any,
    flat_ends: Any,
    steps: Any,
    step_ends: Any,
    text: Any,
    text_ends: Any,
    spare: Any,
    ends: Any,
) -> None:
    """Write a finished row to the outputs; `ends` holds how far each of them is filled."""
    nodes, n = st[NODES], st[N]
    m = ends[0]
    for k in range(n):
        for a in range(5):
            flat[a, m] = things[k, a]
        flat[5, m] = marks[0, k]
        flat[6, m] = marks[1, k]
        m += 1
    ends[0] = m
    flat_ends[i] = m
    m = ends[1]
    for k in range(length):
        steps[m] = out[k]
        m += 1
    ends[1] = m
    step_ends[i] = m
    ends[2] = spell(form, the, nodes, codes, links, letters, starts, text, ends[2])
    text_ends[i] = ends[2]
    for k in range(marks[2, 0]):
        spare[ends[3]] = marks[2, 1 + k]
        ends[3] += 1
    has_moved = 0
    for k in range(length):
        if out[k] == DO_PUSH or out[k] == DO_PULL:
            has_moved = 1
    rows[i, FORM] = form
    rows[i, AGENT_CELL] = agent[0] * st[GRID] + agent[1]
    rows[i, MOVED] = has_moved
    rows[i, LENGTH] = length
    rows[i, FLAGS] = flags
    rows[i, SPARE] = marks[2, 0]
    rows[i, PATTERN] = p
    rows[i, ATTEMPTS] = attempts
