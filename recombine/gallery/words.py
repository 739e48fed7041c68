"""Puzzles in words: SCAN's commands, NACS's actions, nonsense words to learn, CLUTRR's stories; and a plain text box for any other family."""

from __future__ import annotations

import re

from recombine.core import Example
from recombine.families.clutrr.kinship import RELATIONS
from recombine.families.clutrr.plan import StoryPlan
from recombine.families.clutrr.score import parse_hops
from recombine.families.scan.corpus import inverses
from recombine.families.scan.explain import READERS, commands_read_as
from recombine.families.scan.plan import parse_actions
from recombine.gallery.puzzle import EASY, HARDER, HARDEST, Puzzle, Reader, Step, wrong_readers

_ACTIONS = re.compile(r"I_[A-Z_]+(?: I_[A-Z_]+)*")
_DEEDS = re.compile(r"\b(?:WALK|LOOK|RUN|JUMP|LTURN|RTURN)(?: (?:WALK|LOOK|RUN|JUMP|LTURN|RTURN))*\b")


def scan(example: Example) -> Puzzle:
    """A command to carry out, action by action."""
    command, letters = str(example.inputs["command"]), parse_actions(example.answer) or ""
    steps = [Step(_in_letters(text), _bracketed(text)) for text in example.explain().steps]
    readers = [Reader(r.name, r.does, [parse_actions(r.answers[0]) or ""]) for r in wrong_readers(example, [example.answer])]
    level = EASY if len(letters) <= 5 else HARDER if len(letters) <= 12 else HARDEST
    return Puzzle(example, "acts", level, command, [letters], steps, readers, example.answer)


def nacs(example: Example) -> Puzzle:
    """Actions to put into words. Every command that means them is right."""
    actions = str(example.inputs["actions"])
    letters, right = parse_actions(actions) or "", sorted(inverses(actions))
    readers = []
    for number, reader in enumerate(READERS):
        wrong = [command for command in commands_read_as(number, letters) if command not in right]
        if wrong:
            readers.append(Reader(reader.name, reader.reader, wrong))
    steps = [Step(_in_letters(text), _bracketed(text)) for text in example.explain().steps]
    level = EASY if len(letters) <= 4 else HARDER if len(letters) <= 10 else HARDEST
    return Puzzle(example, "words", level, letters, right, steps, readers, example.answer)


def lexicon(example: Example) -> Puzzle:
    """Nonsense words whose meaning the demonstrations settle, and a command in them to carry out."""
    letters = parse_actions(example.answer) or ""
    shown = [[pair["command"], parse_actions(pair["actions"]) or ""] for pair in example.inputs["demonstrations"]]
    steps = [Step(_in_letters(text, _DEEDS)) for text in example.explain().steps]
    readers = [Reader(r.name, r.does, [parse_actions(r.answers[0]) or ""]) for r in wrong_readers(example, [example.answer])]
    level = EASY if len(letters) <= 3 else HARDER if len(letters) <= 8 else HARDEST
    scene = {"lesson": shown}
    return Puzzle(example, "acts", level, str(example.inputs["command"]), [letters], steps, readers, example.answer, scene)


def _in_letters(text: str, actions: re.Pattern[str] = _ACTIONS) -> str:
    """The step with its actions as the one-letter signs that the page draws, between braces."""
    return actions.sub(lambda found: "{" + (parse_actions(found[0]) or "") + "}", text)


def _bracketed(text: str) -> list[str]:
    """The part of the command that the step is about: what stands in its brackets."""
    return re.findall(r"^\[([^\]]+)\]", text)


def clutrr(example: Example) -> Puzzle:
    """A story and a question about two of its people; one of 22 words is right."""
    plan: StoryPlan = example.plan
    number = {name: i for i, name in enumerate(plan.names)}
    facts = [[fact.subject, RELATIONS[fact.relation], fact.relative] for fact in plan.facts]
    steps = []
    for text in example.explain().steps:
        people = [i for name, i in number.items() if re.search(rf"\b{re.escape(name)}\b", text)]
        hops = [[number[s], RELATIONS[code], number[o]] for code, s, o in parse_hops(text) if s in number and o in number]
        steps.append(Step(text, [people, hops[-1:]]))
    scene = {
        "people": list(plan.names),
        "women": [gender == 0 for gender in plan.genders],
        "facts": facts,
        "query": list(plan.query),
    }
    scene["words"] = sorted(RELATIONS)
    hops_needed = sum(fact.place >= 0 for fact in plan.facts)
    level = EASY if hops_needed <= 2 else HARDER if hops_needed <= 4 else HARDEST
    question = f"{example.inputs['story']}\n{example.inputs['question']}"
    readers = wrong_readers(example, [example.answer])
    return Puzzle(example, "kin", level, question, [example.answer], steps, readers, example.answer, scene)


def typed(example: Example) -> Puzzle:
    """Any example: its text and a box to type into. The answer must be the right one, letter by letter."""
    text = example.render("text")
    question = text if isinstance(text, str) else text.decode()
    steps = [Step(step) for step in example.explain().steps]
    return Puzzle(
        example, "typed", HARDER, question, [example.answer], steps, wrong_readers(example, [example.answer]), example.answer
    )
