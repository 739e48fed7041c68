"""Rules for SCAN and NACS: a lexicon for the sequence machine, one line per word: `around: -1: Y X Y X Y X Y X`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from recombine import keys
from recombine.errors import UsageError, shown
from recombine.models.rulebook import check_length, fields_of
from recombine.models.sequence_machine import (
    FIRST_ACTION,
    LONGEST_TEMPLATE,
    Alphabet,
    Entry,
    Pair,
    SequenceMachine,
    SequenceMachineConfig,
    alphabet_of,
    interpret,
    pairs_of,
    printed,
)
from recombine.models.sequence_machine_inverse import Syntax

if TYPE_CHECKING:
    from recombine.core import Example
    from recombine.data.datasets import Dataset

WORD, LEVEL, SLOTS = re.compile(r"[A-Za-z0-9_'-]{1,60}"), re.compile(r"-?[0-9]{1,3}"), re.compile(r"[A-Za-z0-9_ ]{1,1000}")
NOTHING = "nothing"

TASK = """You see commands and the actions that they stand for. Write the rule behind them as a lexicon.

Every word has a level and a template. To read a command, take the word with the lowest level as its root (the rightmost one of \
several). The words left of the root are read in the same way and give X; the words right of it give Y; no words give nothing. The \
root's template says what the command stands for: a row of slots, each an action, X or Y.

Write one line for every word, and nothing else:
word: LEVEL: SLOT SLOT …
LEVEL is a whole number from -99 to 0. A template has at most {slots} slots; write `{nothing}` for an empty one.

Words: {words}
Actions: {actions}

Examples:
{examples}

The lexicon:"""


def prompt(shown_pairs: Sequence[Pair], alphabet: Alphabet) -> str:
    """The prompt for a writer of rules: the form of a lexicon, all words and actions, and some examples."""
    examples = "\n".join(f"{alphabet.said(words)} -> {alphabet.told(actions)}" for words, actions in shown_pairs)
    return TASK.format(
        slots=LONGEST_TEMPLATE,
        nothing=NOTHING,
        words=", ".join(alphabet.words),
        actions=", ".join(alphabet.actions),
        examples=examples,
    )


def parse_lexicon(text: str, alphabet: Alphabet) -> list[Entry]:
    """The lexicon that a text holds; a missing, doubled or malformed line is an error that names it.

    Lines of another form (a heading, a sentence, a fence) are passed over, so that a reply may say more than it must.
    """
    known = {word: i for i, word in enumerate(alphabet.words)}
    found: dict[int, Entry] = {}
    for line in check_length(text).splitlines():
        fields = fields_of(line)
        if len(fields) != 3 or not all(map(re.fullmatch, (WORD, LEVEL, SLOTS), fields)):
            continue
        word, level, slots = fields[0], int(fields[1]), fields[2]
        if word not in known:
            raise UsageError(f"the lexicon has a line for {shown(word)}, which is no word of the training rows.")
        if known[word] in found:
            raise UsageError(f"the lexicon has two lines for {shown(word)}.")
        if not -99 <= level <= 0:
            raise UsageError(f"the level of {shown(word)} is {level}, but must be from -99 to 0.")
        found[known[word]] = Entry(float(level), _template(word, slots, alphabet))
    if missing := [word for word, i in known.items() if i not in found]:
        raise UsageError(f"the lexicon has no line for {', '.join(missing[:8])}; a line reads `{missing[0]}: 0: {NOTHING}`.")
    return [found[i] for i in range(len(known))]


def _template(word: str, slots: str, alphabet: Alphabet) -> bytes:
    names = {"X": 0, "Y": 1} | {
        name: FIRST_ACTION + i for i, action in enumerate(alphabet.actions) for name in (action, printed(action))
    }
    listed = [] if slots == NOTHING else slots.split()
    for slot in listed:
        if slot not in names:
            raise UsageError(f"the template of {shown(word)} has the slot {shown(slot)}; slots are X, Y or an action.")
    if len(listed) > LONGEST_TEMPLATE:
        raise UsageError(f"the template of {shown(word)} has {len(listed)} slots; at most {LONGEST_TEMPLATE} are allowed.")
    return bytes(names[slot] for slot in listed)


def written(lexicon: Sequence[Entry], alphabet: Alphabet) -> str:
    """A lexicon as text; `parse_lexicon` reads it back."""
    lines = []
    for word, entry in zip(alphabet.words, lexicon, strict=True):
        slots = " ".join(("X", "Y", *alphabet.actions)[slot] for slot in entry.template) or NOTHING
        lines.append(f"{word}: {int(entry.level)}: {slots}\n")
    return "".join(lines)


class SequenceBook:
    """Lexicons of binding levels and templates."""

    FORM: ClassVar[str] = "word: LEVEL: SLOT SLOT …"

    def __init__(self, rows: Dataset) -> None:
        examples = list(rows)
        self.alphabet = alphabet_of(examples)
        self.pairs = pairs_of(examples, self.alphabet)
        self.key = rows.job.key

    def prompt(self, shots: int) -> str:
        """The form of a lexicon, all words and actions, and some examples."""
        distinct = sorted(set(self.pairs))
        return prompt(keys.Stream("rules", self.key).sample(distinct, min(shots, len(distinct))), self.alphabet)

    def read(self, text: str) -> SequenceRules:
        """The lexicon of a text."""
        return SequenceRules(self, parse_lexicon(text, self.alphabet))


class SequenceRules:
    """A lexicon that somebody wrote, run by the sequence machine."""

    HEADS: ClassVar[tuple[str, ...]] = ("word", "level", "template")

    def __init__(self, book: SequenceBook, lexicon: list[Entry]) -> None:
        config = SequenceMachineConfig()
        self.explained = sum(interpret(words, lexicon) == actions for words, actions in book.pairs)
        self.rows = len(book.pairs)
        self.machine = SequenceMachine(config, book.alphabet, lexicon, Syntax.learn(book.pairs, lexicon, config))

    def lines(self) -> list[tuple[str, ...]]:
        """Every word's level and template."""
        return self.machine.lines()

    def length(self) -> str:
        """Slots and levels."""
        sizes = self.machine.sizes()
        return f"{sizes['slots']} slots, {sizes['levels']} levels"

    def note(self) -> str:
        """How much of training the lexicon explains."""
        return f"Training rows explained: {self.explained:,} of {self.rows:,}."

    def answers(self, examples: Sequence[Example]) -> list[str]:
        """The answer to each example, in order."""
        return self.machine.answers(examples)
