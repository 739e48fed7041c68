"""The facets of a SCAN command. All 20,910 commands are known, so a facet is a column over the corpus."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recombine.abilities import Tree
from recombine.columns import Coded, Ragged
from recombine.core import Batch, Example
from recombine.errors import FileError, shown
from recombine.facets import Facet, Value
from recombine.families.scan.corpus import Ints, corpus, places
from recombine.families.scan.plan import CLAUSES, PHRASES, SIZE, VERBS, Clause, Command

if TYPE_CHECKING:
    from recombine.columns import Column

TIMES = ("once", "twice", "thrice")
_FACETS = (
    Facet("verb", "word", "The verb of each clause.", (*VERBS, "turn"), many=True),
    Facet("direction", "word", "The direction of each clause.", ("none", "left", "right"), many=True),
    Facet("manner", "word", "The manner of each clause.", ("none", "opposite", "around"), many=True),
    Facet("repeat", "word", "How often each clause is done.", TIMES, many=True),
    Facet("phrase", "word", "Each clause without its repetition.", tuple(map(str, PHRASES)), many=True),
    Facet("clause", "word", "Each clause in full.", tuple(map(str, CLAUSES)), many=True),
    Facet("conjunction", "word", "What joins the clauses.", ("none", "and", "after")),
    Facet("clauses", "number", "How many clauses the command has.", (1, 2)),
    Facet("command_length", "number", "How many words the command has.", (1, 9), column="command_length"),
    Facet("action_length", "number", "How many actions the command means.", (1, 48), column="action_length"),
)
FACETS: Mapping[str, Facet] = {facet.name: facet for facet in _FACETS}
"""By name."""


def _of_clause(name: str, clause: Clause) -> str:
    phrase = clause.phrase
    return {
        "verb": phrase.verb,
        "direction": phrase.side or "none",
        "manner": phrase.manner or "none",
        "repeat": TIMES[clause.times - 1],
        "phrase": str(phrase),
        "clause": str(clause),
    }[name]


def facet_values(example: Example) -> Mapping[str, Value | tuple[Value, ...]]:
    """The value of every facet of one example."""
    command: Command = example.plan
    found: dict[str, Value | tuple[Value, ...]] = {
        name: tuple(_of_clause(name, clause) for clause in command.clauses) for name, facet in FACETS.items() if facet.many
    }
    return found | {
        "conjunction": command.conjunction or "none",
        "clauses": len(command.clauses),
        "command_length": len(str(command).split()),
        "action_length": len(command.actions()),
    }


def derivation(example: Example) -> Tree:
    """How the grammar builds the command: conjunction, repetition, manner, verb and direction."""
    command: Command = example.plan
    clauses = tuple(_clause_tree(clause) for clause in command.clauses)
    return (command.conjunction, clauses) if command.conjunction else clauses[0]


@functools.cache
def _clause_tree(clause: Clause) -> Tree:
    phrase = clause.phrase
    words: tuple[Tree, ...] = tuple((word, ()) for word in (phrase.verb, phrase.side) if word)
    tree: Tree = (phrase.manner or "toward", words) if phrase.side else words[0]
    return (TIMES[clause.times - 1], (tree,)) if clause.times > 1 else tree


@functools.cache
def corpus_column(name: str) -> Column:
    """A facet of all commands, in canonical order."""
    everything = corpus()
    if FACETS[name].many:
        values = [str(value) for value in FACETS[name].values]
        codes = np.array([values.index(_of_clause(name, clause)) for clause in CLAUSES], np.int16)
        both = np.stack([everything.first, everything.second], axis=1)
        is_there = both >= 0
        offsets = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))]).astype(np.int64)
        return Ragged(Coded(codes[both[is_there]], values), offsets)
    if name == "conjunction":
        return Coded(everything.conjunction.codes, ("none", "and", "after"))
    if name == "clauses":
        return 1 + (everything.second >= 0).astype(np.int32)
    return everything.command_length if name == "command_length" else everything.action_length


def facet_columns(batch: Batch, names: Sequence[str]) -> Mapping[str, Column]:
    """The same for a whole batch, for these facets."""
    rows = _places(batch)
    found: dict[str, Column] = {}
    for name in names:
        column = corpus_column(name)
        if isinstance(column, Ragged):
            starts, lengths = column.offsets[:-1][rows], np.diff(column.offsets)[rows]
            offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
            inside = np.repeat(starts - offsets[:-1], lengths) + np.arange(int(offsets[-1]))
            assert isinstance(column.values, Coded)
            found[name] = Ragged(Coded(column.values.codes[inside], column.values.values), offsets)
        elif isinstance(column, Coded):
            found[name] = Coded(column.codes[rows], column.values)
        else:
            found[name] = np.asarray(column)[rows]
    return found


def _places(batch: Batch) -> Ints:
    """The place of each row's command in the corpus."""
    column = batch.columns["command"]
    if isinstance(column, Coded) and len(column.values) == SIZE and column.values is corpus().commands:
        return np.asarray(column.codes)
    known = places()
    texts = [str(column[row]) for row in range(len(column))]
    for text in texts:
        if text not in known:
            raise FileError(f"{shown(text)} is not a command of SCAN.")
    return np.array([known[text] for text in texts], np.int32)
