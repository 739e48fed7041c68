"""Prompt texts about word learning: the task, the rules in words, and one question."""

from __future__ import annotations

from typing import Literal

from recombine.core import Example
from recombine.families.lexicon.plan import TOKENS
from recombine.families.lexicon.render import describe
from recombine.textual import answer, legend, picture, steps

__all__ = ["answer", "legend", "picture", "question", "rules", "steps", "task"]


def task(family: str) -> str:  # noqa: ARG001
    """What to do, and how answers are written."""
    return (
        "You learn the words of an unknown language from demonstrations: commands, and the actions that carry them out.\n"
        "Then you say which actions carry out a new command in the same words.\n"
        f"The actions are {' '.join(TOKENS)}.\n"
        "The answer is the actions in order, separated by single blanks, each written exactly as above."
    )


def rules(family: str) -> str:  # noqa: ARG001
    """The grammar and all meanings that a word can have."""
    return """Every word has one meaning, and no two words have the same. There are thirteen meanings:
- five verbs: walk (WALK), look (LOOK), run (RUN), jump (JUMP), and turn, which has no action of its own;
- two sides: left (LTURN) and right (RTURN);
- two manners: opposite and around;
- two repeats: twice and thrice;
- two conjunctions: and, after.
The order of words is that of simple English: a clause is a verb, then perhaps a side, perhaps a repeat. A manner stands between verb \
and side. `turn` always has a side, and a manner always has a side after it. A command is one clause, or two with a conjunction between them.
A side turns before the verb acts: `jump left` is LTURN JUMP, and `turn left` is LTURN.
`opposite` turns twice: `jump opposite left` is LTURN LTURN JUMP. `around` turns and acts four times: `jump around left` is LTURN JUMP LTURN JUMP \
LTURN JUMP LTURN JUMP.
`twice` and `thrice` repeat their own clause. `A and B` does A, then B. `A after B` does B, then A.
The demonstrations leave exactly one answer: every assignment of meanings to words that explains them gives the new command the same actions."""


def question(example: Example, sight: Literal["text", "picture", "both"]) -> str:  # noqa: ARG001 - nothing to see here
    """The demonstrations and the new command."""
    return describe(example)
