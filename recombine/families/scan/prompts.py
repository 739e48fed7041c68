"""Prompt texts about SCAN and NACS: the task, the rules in words, and one question."""

from __future__ import annotations

from typing import Literal

from recombine.core import Example
from recombine.families.scan.plan import STYLES
from recombine.textual import answer, legend, picture, steps

__all__ = ["answer", "legend", "picture", "question", "rules", "steps", "task"]


def task(family: str) -> str:
    """What to do, and how answers are written; the action tokens are named, their meaning is not."""
    tokens = {style: " ".join(table.values()) for style, table in STYLES.items()}
    if family == "scan":
        return (
            "Translate a command in simple English into the sequence of actions that carries it out.\n"
            f"The actions are {tokens['file']}.\n"
            "The answer is the actions in order, separated by single blanks, each written exactly as above."
        )
    return (
        "Given a sequence of actions, find a command in simple English that means exactly these actions.\n"
        f"The actions are {tokens['file']} (or {tokens['paper']}).\n"
        "The words of commands are walk, look, run, jump, turn, left, right, opposite, around, twice, thrice, and, after.\n"
        "The answer is one command: lower-case words separated by single blanks. If several commands mean the actions, any will do."
    )


def rules(family: str) -> str:
    """The whole grammar and its meaning."""
    ending = (
        "There is exactly one right sequence of actions."
        if family == "scan"
        else "To find a command, look for repeated stretches: they come from twice, thrice and around. "
        "A command is right if these rules turn it into exactly the given actions."
    )
    return f"""A command is one clause, or two clauses joined by `and` or by `after`; never more than two.
A clause is a phrase, or a phrase followed by `twice` or `thrice`.
A phrase is one of:
- `walk`, `look`, `run` or `jump`: the one action I_WALK, I_LOOK, I_RUN or I_JUMP;
- one of these verbs, or `turn`, followed by `left` or `right`: turn once to that side (I_TURN_LEFT or I_TURN_RIGHT), then do the
  verb's action; `turn` has no action of its own, so `turn left` is I_TURN_LEFT alone;
- a verb or `turn`, then `opposite left` or `opposite right`: turn twice to that side, then do the verb's action once
  (`turn opposite left` is the two turns alone);
- a verb or `turn`, then `around left` or `around right`: four times over, turn once to that side and do the verb's action
  (`turn around left` is four turns alone).
The turns come before the action, always.
`twice` does all actions of its phrase two times over, `thrice` three times over; they bind to their own clause only.
`A and B` is the actions of A, then those of B. `A after B` is the actions of B first, then those of A.
Where actions are spelt WALK LOOK RUN JUMP LTURN RTURN, these stand for I_WALK I_LOOK I_RUN I_JUMP I_TURN_LEFT I_TURN_RIGHT.
Examples: `jump left` is I_TURN_LEFT I_JUMP. `walk opposite right twice` is I_TURN_RIGHT I_TURN_RIGHT I_WALK I_TURN_RIGHT \
I_TURN_RIGHT I_WALK. `look after run thrice` is I_RUN I_RUN I_RUN I_LOOK.
{ending}"""


def question(example: Example, sight: Literal["text", "picture", "both"]) -> str:  # noqa: ARG001 - nothing to see here
    """The command or the actions."""
    if "command" in example.inputs:
        return f"Command: {example.inputs['command']}"
    return f"Actions: {example.inputs['actions']}"
