"""Rules for gSCAN and ReaSCAN: what every word does to the set of objects, one line per word: `row: relate: same row`.

The set machine that comes with the package runs the lexicon: the written words find the target, and its learnt actor acts. So the
score is about finding; verbs and adverbs need no line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.errors import UnknownName, UsageError, shown
from recombine.models.rulebook import check_length, fields_of
from recombine.models.set_machine import SetMachine
from recombine.models.set_machine_finder import NAMES, Parameters
from recombine.models.set_machine_kernel import COMPARE, FARTHEST, FILTER, PASS, RELATE, SPAN
from recombine.models.set_machine_rows import SIZES, VALUES, Vocabulary
from recombine.models.shipped import machine_for

if TYPE_CHECKING:
    from recombine.core import Example
    from recombine.data.datasets import Dataset

FORMS = re.compile(r"[a-z]{1,40}"), re.compile(r"[a-z]{1,20}"), re.compile(r"[a-z0-9 ,]{1,300}")
"""A word, its operation, and what the operation means."""
SURE = 12.0
"""A logit that decides."""
TIES = ("same row", "same column", "same color", "same shape", "same size", "smaller", "bigger", "inside")
TASK = """You see commands in a grid world, the world, and the actions that carry the command out. Write down what every word of a command \
does to find the object that it speaks of.

A command is read from its last word to its first. At first every object is in the set. A word does one of these:
pass: nothing (also verbs and adverbs, which do not help to find the object)
filter: keep the objects with this look: `filter: color red`, `filter: shape circle`, `filter: size 1 2` (any of the named)
compare: keep the objects that have such a tie to another object of the set: `compare: smaller`
relate: everything with such a tie to an object of the set is what the next phrase must be among; the set begins anew
aside: what relate demanded so far is put aside and counts at the end; a new clause begins
Ties: {ties}. Several, with commas, must all hold. `inside` means: within the square that begins at the other object's cell and is as \
wide as its size. `smaller` and `bigger` speak of the object beside the other.

Write one line for every word that does something, and nothing else:
word: OPERATION: LOOK OR TIE
`pass` and `aside` have no third part. A word without a line passes.

Words: {words}
Colors: {colors}
Shapes: {shapes}

Examples:
{examples}

The lexicon:"""


class SetBook:
    """Lexicons of operations on sets."""

    FORM: ClassVar[str] = "word: OPERATION: LOOK OR TIE"

    def __init__(self, rows: Dataset) -> None:
        self.rows, found = rows, machine_for(rows[0])
        if found is None:
            raise UsageError(
                "no machine that comes with the package acts in these worlds; rules can be run for reascan --recipe sound "
                "and gscan --recipe sound with grids of size 6."
            )
        machine = found.load()
        if not isinstance(machine, SetMachine):
            raise UsageError(f"{found.machine} does not act in grid worlds.")
        self.machine = machine

    def prompt(self, shots: int) -> str:
        """The form of a lexicon, all words, and some worlds with their commands and actions."""
        known = self.machine.known
        drawn = keys.Stream("rules", self.rows.job.key).sample(range(len(self.rows)), min(shots, len(self.rows)))
        return TASK.format(
            ties=", ".join(f"`{tie}`" for tie in TIES),
            words=", ".join(known.words),
            colors=", ".join(known.colors),
            shapes=", ".join(known.shapes),
            examples="\n\n".join(_told(self.rows[row]) for row in drawn),
        )

    def read(self, text: str) -> SetRules:
        """The lexicon of a text."""
        return SetRules(self.machine, parse_lexicon(text, self.machine.known))


def _told(example: Example) -> str:
    """A world, its command and its actions."""
    inputs, agent = example.inputs, example.inputs["agent"]
    things = "; ".join(f"{o['color']} {o['shape']} of size {o['size']} at {o['row']},{o['column']}" for o in inputs["objects"])
    return (
        f"Agent at {agent['row']},{agent['column']}, facing {agent['heading']}. Objects (row,column): {things}.\n"
        f"{inputs['command']} -> {example.answer}"
    )


def parse_lexicon(text: str, known: Vocabulary) -> dict[str, tuple[str, str]]:
    """Word -> (operation, look or ties). A word twice or an unknown name is an error.

    Lines of another form are passed over, but not one that gives a word an operation and is that word's only line.
    """
    found: dict[str, tuple[str, str]] = {}
    odd: dict[str, str] = {}
    for line in check_length(text).splitlines():
        fields = fields_of(line.lower())
        if not 2 <= len(fields) <= 3 or not all(map(re.fullmatch, FORMS, fields)):
            odd |= dict.fromkeys(_meant(fields), line)
            continue
        word, operation, meaning = fields[0], fields[1], " ".join("".join(fields[2:]).split())
        if word not in known.words:
            raise UsageError(f"the lexicon has a line for {shown(word)}, which is no word of the commands.")
        if word in found:
            raise UsageError(f"the lexicon has two lines for {shown(word)}.")
        if operation not in NAMES:
            raise UnknownName(f"operation of the word {word!r}", operation, NAMES)
        if (operation in ("pass", "aside")) == bool(meaning):
            raise UsageError(f"the line of {shown(word)} must {'end after' if meaning else 'say more than'} `{operation}`.")
        found[word] = operation, meaning
    if not found:
        raise UsageError(f"the text has no lexicon; a line reads `{SetBook.FORM}`.")
    for word, line in odd.items():
        if word in known.words and word not in found:
            raise UsageError(f"the line {shown(line.strip())} is no rule of {shown(word)}; a line reads `{SetBook.FORM}`.")
    parameters_of(found, known)  # an unknown look or tie is an error here
    return found


def _meant(fields: Sequence[str]) -> list[str]:
    """The word that a malformed line seems to give an operation other than `pass`; empty for any other line."""
    said = re.match(r"\W*([a-z]+)", fields[1]) if len(fields) > 1 else None
    return re.findall(r"[a-z]+", fields[0])[-1:] if said is not None and said[1] in NAMES[1:] else []


def parameters_of(lexicon: dict[str, tuple[str, str]], known: Vocabulary) -> Parameters:
    """The lexicon as sure logits of the finder."""
    words = len(known.words) + 1
    made: Parameters = {
        "operation": np.zeros((words, len(NAMES))), "attribute": np.zeros((words, 3)), "value": np.full((words, 3, VALUES), SURE),
        "row": np.full((words, SPAN, SIZES), SURE), "column": np.full((words, SPAN, SIZES), SURE),
        "size": np.full((words, SIZES, SIZES), SURE), "color": np.full((words, VALUES, VALUES), SURE),
        "shape": np.full((words, VALUES, VALUES), SURE),
    }  # fmt: skip
    made["operation"][:, PASS] = SURE
    for number, word in enumerate(known.words, 1):
        if word not in lexicon:
            continue
        operation, meaning = lexicon[word]
        place = NAMES.index(operation)
        made["operation"][number] = 0.0
        made["operation"][number, place] = SURE
        if place == FILTER:
            _look(made, number, word, meaning, known)
        elif place in (COMPARE, RELATE):
            for tie in meaning.split(","):
                _tie(made, number, word, tie.strip())
    return made


def _look(made: Parameters, number: int, word: str, meaning: str, known: Vocabulary) -> None:
    """What a filter keeps."""
    names = {"size": tuple(str(size) for size in range(1, SIZES + 1)), "color": known.colors, "shape": known.shapes}
    attribute, *values = meaning.split()
    if attribute not in names:
        raise UnknownName(f"attribute of the word {word!r}", attribute, names)
    if not values:
        raise UsageError(f"the filter of {shown(word)} names no {attribute}.")
    place = tuple(names).index(attribute)
    made["attribute"][number] = -SURE
    made["attribute"][number, place] = SURE
    made["value"][number, place] = -SURE
    for value in values:
        if value not in names[attribute]:
            raise UnknownName(f"{attribute} of the word {word!r}", value, names[attribute])
        made["value"][number, place, names[attribute].index(value)] = SURE


def _tie(made: Parameters, number: int, word: str, tie: str) -> None:
    """What a tie between an object and another asks: tables over differences of places, and over pairs of looks."""
    difference, other = np.arange(SPAN)[:, None] - FARTHEST, np.arange(SIZES)[None, :]
    small, large = np.indices((SIZES, SIZES))
    asked: dict[str, dict[str, NDArray[Any]]] = {
        "same row": {"row": (difference == 0) & (other >= 0)},
        "same column": {"column": (difference == 0) & (other >= 0)},
        "same color": {"color": np.eye(VALUES, dtype=bool)},
        "same shape": {"shape": np.eye(VALUES, dtype=bool)},
        "same size": {"size": np.eye(SIZES, dtype=bool)},
        "smaller": {"size": small < large},
        "bigger": {"size": small > large},
        "inside": dict.fromkeys(("row", "column"), (difference >= 0) & (difference <= other)),
    }
    if tie not in asked:
        raise UnknownName(f"tie of the word {word!r}", tie, TIES)
    for name, allowed in asked[tie].items():
        made[name][number] = np.where(allowed, made[name][number], -SURE)


class SetRules:
    """A lexicon that somebody wrote, run by the set machine with its learnt actor."""

    HEADS: ClassVar[tuple[str, ...]] = ("word", "does", "means")

    def __init__(self, learnt: SetMachine, lexicon: dict[str, tuple[str, str]]) -> None:
        self.lexicon = lexicon
        self.machine = SetMachine(learnt.config, learnt.known, learnt.grid, parameters_of(lexicon, learnt.known), learnt.actor)

    def lines(self) -> list[tuple[str, ...]]:
        """Every word that has a line."""
        return [(word, *self.lexicon[word]) for word in sorted(self.lexicon)]

    def length(self) -> str:
        """Words that do something, and what they name."""
        doing = [meaning for operation, meaning in self.lexicon.values() if operation != "pass"]
        return f"{len(doing)} words that do something, {sum(len(meaning.split()) for meaning in doing)} words of meaning"

    def note(self) -> str:
        """Who acts."""
        return "The lexicon finds the target; the learnt machine that comes with the package acts."

    def answers(self, examples: Sequence[Example]) -> list[str]:
        """The answer to each example, in order."""
        return self.machine.answers(examples)
