"""The items of an exam, made from its secret: the same bytes wherever they are made.

A question shows no id of a row: an id holds the seed, and the seed gives every answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from recombine import keys
from recombine.abilities import Asking
from recombine.core import Example
from recombine.data.datasets import Dataset
from recombine.evaluate.prompts import Prompter, Style
from recombine.exams.document import Exam, Section
from recombine.exams.secret import Secret


@dataclass(frozen=True)
class Question:
    """One item: its number in the exam, its section, the words shown, and the example behind it."""

    number: int
    section: str
    prompt: str
    example: Example

    @property
    def line(self) -> str:
        """What the examinee gets, as one line of JSON."""
        return json.dumps({"item": self.number, "section": self.section, "prompt": self.prompt}, ensure_ascii=True)

    @cached_property
    def hash(self) -> str:
        """32 hex digits of the line."""
        return hashlib.sha256(self.line.encode()).hexdigest()[:32]


def make_paper(exam: Exam, secret: Secret, number: int = 1, beacon: str = "") -> list[Question]:
    """All questions of one exam, in order. Refuses a secret that is not this exam's."""
    exam.check_secret(secret, number)
    exam.check_beacon(beacon)
    found: list[Question] = []
    for place, section in enumerate(exam.sections):
        seed = exam.seed(secret, number, beacon, place)
        examples = _rows(section, seed)
        found += [
            Question(len(found) + i, section.name, words, example)
            for i, (example, words) in enumerate(zip(examples, _prompts(section, examples, exam.style), strict=True), 1)
        ]
    return found


def paper_hash(paper: Sequence[Question]) -> str:
    """64 hex digits that stand for every question and their order."""
    state = hashlib.sha256()
    for question in paper:
        state.update(question.line.encode() + b"\n")
    return state.hexdigest()


def _rows(section: Section, seed: int) -> list[Example]:
    """The rows of a section in an order drawn by the seed: their place says nothing about them."""
    family, plan = section.plan(seed)
    examples = list(Dataset(family, plan))
    keys.Stream("exam order", section.name, seed).shuffle(examples)
    return examples


def _prompts(section: Section, examples: Sequence[Example], style: str) -> list[str]:
    """The words of each question; a family without prompts is asked by its inputs as JSON."""
    family = examples[0].family
    if isinstance(family, Asking):
        prompter = Prompter(family, cast(Style, style))  # which refuses an unknown style
        return [prompter.prompt(example).text for example in examples]
    return [json.dumps({"section": section.name, "inputs": dict(e.inputs)}, sort_keys=True) for e in examples]
