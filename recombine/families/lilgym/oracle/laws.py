"""A deliberate second implementation: it reads the English back, without the generator's plans, programs, geometry or planner.

The statement is parsed word by word into a test on items (`oracle_reading.py`); the edits are carried out by a simulator of its
own (`oracle_edits.py`); and what the generator's program says is compared with what the sentence says, on the example's scenes and
on others made from them. Do not merge it with `plan.py` or the interpreter: two roads to the same answer are the point.
"""

from __future__ import annotations

from collections.abc import Sequence

from recombine.core import Example, Problem
from recombine.errors import ProgramError, shown
from recombine.families.lilgym.oracle.reading import (
    Picture,
    Test,
    Unreadable,
    is_clear,
    speaks_of_contact,
    stack_of,
    understand,
)
from recombine.families.lilgym.oracle.simulator import Ending, carry_out, overlap


def validate(example: Example) -> list[Problem]:
    """Every broken law of an example of ours; released examples are judged by `audit.judge`."""
    if example.recipe != "sound":
        from recombine.families.lilgym import audit

        return audit.judge(example)
    picture: Picture = tuple(tuple(item) for item in example.world.items)
    is_tower = example.meta["scene"] == "tower"
    problems = list(_scene_problems(picture, is_tower))
    if example.inputs["boxes"] != [[list(t[1:]) for t in picture if t[0] == box] for box in range(3)]:
        problems.append(Problem("inputs_differ", "the boxes that a model sees are not those of the scene"))
    try:
        test = understand(example.inputs["statement"])
    except Unreadable as problem:
        return [*problems, Problem("unreadable", str(problem))]
    problems += _contact_problems(example, picture)
    truth = test(picture)
    if example.meta["task"] == "truth":
        if example.answer != ("true" if truth else "false"):
            problems.append(Problem("wrong_label", f"the answer is {shown(example.answer)}, but the statement is {truth}"))
        return problems + _program_problems(example, test, [picture])
    if example.inputs.get("target") != example.meta["target"] or truth == example.meta["target"]:
        problems.append(
            Problem("wrong_target", f"the target is {example.meta['target']}, but the statement is {truth} already")
        )
    if example.meta["start"] == "scratch" and picture:
        problems.append(Problem("not_empty", f"a start from scratch has {len(picture)} items"))
    return problems + _answer_problems(example, test, picture, is_tower)


def _contact_problems(example: Example, picture: Picture) -> list[Problem]:
    if not speaks_of_contact(example.inputs["statement"]) or is_clear(picture):
        return []
    return [
        Problem("ambiguous", f"the statement speaks of contact, but of some items it is a matter of taste: {shown(picture)}")
    ]


def _answer_problems(example: Example, test: Test, picture: Picture, is_tower: bool) -> list[Problem]:
    try:
        end, edits = carry_out(example.answer, picture, is_tower)
    except Unreadable as problem:
        return [Problem("wrong_label", f"the answer fails: {problem}"), *_program_problems(example, test, [picture])]
    problems = _contact_problems(example, end)
    if test(end) != example.meta["target"]:
        problems.append(Problem("wrong_label", f"after the edits the statement is {test(end)}, not {example.meta['target']}"))
    if edits != example.meta["edits"]:
        problems.append(Problem("wrong_edits", f"the plan has {edits} edits, not {example.meta['edits']}"))
    return problems + _program_problems(example, test, [picture, end])


def _program_problems(example: Example, test: Test, pictures: Sequence[Picture]) -> list[Problem]:
    """The program must say what the sentence says: on the given pictures, and on each with one box or one item taken away."""
    from recombine.families.lilgym import program
    from recombine.families.lilgym.scene import Scene

    try:
        compiled = program.compile(example.meta["program"])
        problems = [Problem("type_fault", fault.text) for fault in compiled.faults]
        for picture in _looked_at(example, pictures):
            says, means = compiled.evaluate(Scene.of(example.meta["scene"], picture)), test(picture)
            if says != means:
                text = f"the program says {says}, the sentence means {means}, on {shown(picture)}"
                return [*problems, Problem("program_mismatch", text)]
    except ProgramError as problem:
        return [Problem("bad_program", str(problem))]
    return problems


def _looked_at(example: Example, pictures: Sequence[Picture]) -> list[Picture]:
    """Pictures and their variants; where contact is spoken of, only those in which it is clear."""
    found = dict.fromkeys(other for p in pictures for other in _variants(p, example.meta["scene"] == "tower"))
    blurred = speaks_of_contact(example.inputs["statement"])
    return [picture for picture in found if not blurred or is_clear(picture)]


def _variants(picture: Picture, is_tower: bool) -> list[Picture]:
    """The picture, itself without each box, without its last item (the top block of the last tower), and recoloured."""
    less = [tuple(t for t in picture if t[0] != box) for box in range(3)]
    recolored = tuple((*t[:4], (t[4] + 1) % 3, t[5]) for t in picture)
    swapped = tuple((*t[:5], t[5] if is_tower else (t[5] + 1) % 3) for t in recolored)
    return [picture, *less, picture[:-1], recolored, swapped]


def _scene_problems(picture: Picture, is_tower: bool) -> list[Problem]:
    problems = []
    for t in picture:
        if min(t[1], t[2]) < 0 or max(t[1], t[2]) + t[3] > 100:
            problems.append(Problem("out_of_box", f"the item {t} leaves its box"))
    for box in range(3):
        stack = stack_of(picture, box)
        if is_tower and [t[1:4] + t[5:] for t in stack] != [
            (40, 80 - 21 * level, 20, 1) for level in range(min(4, len(stack)))
        ]:
            problems.append(Problem("no_tower", f"box {box} holds {stack}, which is no tower"))
        if not is_tower and any(overlap(a, b) for k, a in enumerate(stack) for b in stack[:k]):
            problems.append(Problem("overlap", f"items overlap in box {box}"))
    return problems


__all__ = ["Ending", "Unreadable", "carry_out", "understand", "validate"]
