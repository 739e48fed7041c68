"""Rules for CLUTRR: the table of composition, one line per pair of relations: `father, sister = aunt`.

The facts are given, so that the score is about the rules and not about reading. They are put together along the chain of people
between the two that are asked about, in every order of brackets; what most brackets make is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recombine import keys
from recombine.errors import UsageError, shown
from recombine.models.kinship_machine_rules import Floats, chain_of, compose
from recombine.models.rulebook import check_length

if TYPE_CHECKING:
    from recombine.core import Example
    from recombine.data.datasets import Dataset

LINE = re.compile(r"\s*(?:[-*]\s+)?`?([a-z-]{1,40})\s*,\s*([a-z-]{1,40})\s*=\s*([a-z-]{1,40})`?\s*")
WITHIN = re.compile(r"([a-z-]{1,40})`?\s*,\s*`?([a-z-]{1,40})`?\s*=\s*`?([a-z-]{1,40})")
"""A rule that is not alone on its line."""
NO_ANSWER = ""
TASK = """People are tied by facts. A chain of facts leads from one person to another: "father, sister" means that my father has a \
sister. The question is what she is to me. Write the rules behind the answers as a table.

A rule says what two relations make: my FIRST's SECOND is my THIRD. Longer chains are worked out with the same rules, two relations \
at a time, in every order.

Write one line for every rule, and nothing else:
FIRST, SECOND = THIRD

Relations: {relations}

Examples:
{examples}

The rules:"""


class KinshipBook:
    """Rules of composition."""

    FORM: ClassVar[str] = "father, sister = aunt"

    def __init__(self, rows: Dataset) -> None:
        examples = list(rows)
        graphs = [example.inputs["graph"] for example in examples]
        self.relations = sorted({r for graph in graphs for r in graph["relations"]} | {example.answer for example in examples})
        self.number = {relation: i for i, relation in enumerate(self.relations)}
        chains = ((chain_of(example, self.number), example.answer) for example in examples)
        self.shown = sorted({(chain, answer) for chain, answer in chains if chain})
        self.key = rows.job.key

    def prompt(self, shots: int) -> str:
        """The form of a rule, all relations, and chains with their answers."""
        drawn = keys.Stream("rules", self.key).sample(self.shown, min(shots, len(self.shown)))
        lines = (f"{', '.join(self.relations[r] for r in chain)} -> {answer}" for chain, answer in drawn)
        return TASK.format(relations=", ".join(self.relations), examples="\n".join(lines))

    def read(self, text: str) -> KinshipRules:
        """The rules of a text. Lines of another form are passed over, but not a rule that no line has for itself."""
        found: dict[tuple[int, int], int] = {}
        odd: dict[tuple[str, ...], str] = {}
        for line in check_length(text).splitlines():
            match = LINE.fullmatch(line.lower())
            if match is None:
                odd |= dict.fromkeys(WITHIN.findall(line.lower()), line)
                continue
            for word in match.groups():
                if word not in self.number:
                    raise UsageError(f"the rules have a line with {shown(word)}, which is no relation of the training rows.")
            first, second, third = (self.number[word] for word in match.groups())
            if found.setdefault((first, second), third) != third:
                raise UsageError(f"the rules say two things of {match[1]}, {match[2]}.")
        if not found:
            raise UsageError(f"the text has no rule; a line reads `{self.FORM}`.")
        for words, line in odd.items():
            if all(word in self.number for word in words) and (self.number[words[0]], self.number[words[1]]) not in found:
                raise UsageError(f"the line {shown(line.strip())} holds more than a rule; a line reads `{self.FORM}`.")
        return KinshipRules(self.relations, found)


class KinshipRules:
    """A table of composition that somebody wrote."""

    HEADS: ClassVar[tuple[str, ...]] = ("first", "second", "makes")

    def __init__(self, relations: Sequence[str], found: dict[tuple[int, int], int]) -> None:
        self.relations, self.found = list(relations), found
        self.number = {relation: i for i, relation in enumerate(self.relations)}
        size = len(self.relations)
        self.table: Floats = np.zeros((size, size, size))
        for (first, second), third in found.items():
            self.table[first, second, third] = 1.0

    def lines(self) -> list[tuple[str, ...]]:
        """Every rule."""
        return [(self.relations[a], self.relations[b], self.relations[c]) for (a, b), c in sorted(self.found.items())]

    def length(self) -> str:
        """How many rules."""
        return f"{len(self.found)} rules over {len(self.relations)} relations"

    def note(self) -> str:
        """Where the facts come from."""
        return "The facts are given; the rules put them together."

    def answers(self, examples: Sequence[Example]) -> list[str]:
        """What the chain of each example makes; no answer where no rule leads to one."""
        return [self._answer(example) for example in examples]

    def _answer(self, example: Example) -> str:
        known = {**self.number, **{r: -1 for r in example.inputs["graph"]["relations"] if r not in self.number}}
        chain = chain_of(example, known)
        if not chain or -1 in chain:
            return NO_ANSWER
        made = compose([np.eye(len(self.relations))[relation] for relation in chain], self.table)
        return self.relations[int(made.argmax())] if made.max() > 0.0 else NO_ANSWER
