"""Prompt texts about CLUTRR: the task, the rules of kinship in words, the story and the question."""

from __future__ import annotations

from typing import Literal

from recombine.core import Example
from recombine.families.clutrr.kinship import CONVENTION, RELATIONS, TELLING
from recombine.textual import answer, legend, picture, steps

__all__ = ["answer", "legend", "picture", "question", "rules", "steps", "task"]


def task(family: str) -> str:  # noqa: ARG001
    """What to do, and how answers are written."""
    return (
        "A story tells how people of a family are related. Find out what one of them is to another.\n"
        f"{CONVENTION} Two different names are two different people.\n"
        f"The answer is exactly one of these words: {', '.join(RELATIONS)}."
    )


def rules(family: str) -> str:  # noqa: ARG001
    """Every word's meaning, and what holds of these families."""
    return (
        """`B is A's R` (B is the R of A) names what B is to A; the word tells B's gender, not A's.
- father, mother: A's parents. son, daughter: A's children. husband, wife: whom A is married to.
- brother, sister: a child of A's parents. grandfather, grandmother: a parent's parent. grandson, granddaughter: a child's child.
- uncle, aunt: a parent's brother or sister, or the husband or wife of a parent's sister or brother.
- nephew, niece: a child of A's brother or sister, or of a brother or sister of A's husband or wife.
- father-in-law, mother-in-law: a parent of A's husband or wife. son-in-law, daughter-in-law: the husband or wife of A's child.
- brother-in-law, sister-in-law: a brother or sister of A's husband or wife, or the husband or wife of A's brother or sister.
Nobody is related to somebody in two ways. Because of the conventions above, the wife of one's father is one's mother, the son of
one's father is one's brother, a husband's son is also his wife's son, and the parents of a child are husband and wife.
Further examples: the mother of one's father is one's grandmother, the sister of one's son is one's daughter, and the father of one's
brother is one's father.
To answer, start from the first person, follow the facts that lead to the second, and put the relations together one by one. The facts
stand in any order and may be told from either end; some of them may not be needed.
How stories are told: """
        + TELLING
    )


def question(example: Example, sight: Literal["text", "picture", "both"]) -> str:  # noqa: ARG001 - nothing to see here
    """The story, and the question in a form that leaves no doubt about its direction."""
    first, second = example.inputs["query"]
    return f"Story: {example.inputs['story']}\nQuestion: What is {second} to {first}? ({second} is {first}'s …)"
