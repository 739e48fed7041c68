"""The laws of every example, judged from the sentence: the program must mean the same, the plan must work, columns must fit.

This module uses nothing of the generator's plans, geometry or planner. The two implementations must reach the same answer independently.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recombine.checks import claim_problems
from recombine.core import Batch, Example, Problem
from recombine.errors import ProgramError, RecombineError, shown
from recombine.families.lilgym.oracle.claims import CLAIMS, depth
from recombine.families.lilgym.oracle.contact import Picture, is_clear
from recombine.families.lilgym.oracle.difference import compare, scatter_fillings, tower_fillings
from recombine.families.lilgym.oracle.formula import read, shown_in
from recombine.families.lilgym.oracle.meaning import Meaning, holds, stacked
from recombine.families.lilgym.oracle.nouns import Unreadable
from recombine.families.lilgym.oracle.sentence import speaks_of_contact, understand
from recombine.families.lilgym.oracle.simulator import after, carry_out, overlap

FREE_COLUMNS: Mapping[str, str] = {
    "items": "any scene that keeps the laws of its kind, and of which the statement has the wanted truth, is a right start",
    "answer": "any list of edits that reaches the target, and from which none can be left out, is a right answer",
}
"""Column -> why the oracle does not derive it. The oracle derives all other columns again, or their value is prescribed."""
WORDS = {"scene": ("tower", "scatter"), "start": ("flipit", "scratch"), "task": ("edit", "truth")}


def validate(example: Example) -> list[Problem]:
    """Every broken law of an example: of ours, or (through `audit.judge`) of a released one."""
    if example.recipe != "sound":
        from recombine.families.lilgym import audit

        problems = audit.judge(example)
    else:
        problems = list(_problems(example))
    return [*problems, *claim_problems(CLAIMS, example)]


def validate_batch(batch: Batch) -> Iterator[tuple[int, Problem]]:
    """The same for every row of a batch; a row that is no example gets a problem of its own."""
    from recombine.families.lilgym.generate import example

    for row in range(len(batch)):
        try:
            found = validate(example(batch, row))
        except RecombineError as problem:
            found = [Problem("malformed", str(problem))]
        yield from ((row, problem) for problem in found)


def _problems(example: Example) -> Iterator[Problem]:
    for name, words in WORDS.items():
        if example.meta[name] not in words:
            yield Problem("unknown_word", f"{name} is {shown(example.meta[name])}, but must be one of {', '.join(words)}")
            return
    picture: Picture = tuple(tuple(item) for item in example.world.items)
    yield from _scene_problems(picture, example.meta["scene"] == "tower")
    if example.inputs["boxes"] != [[list(t[1:]) for t in picture if t[0] == box] for box in range(3)]:
        yield Problem("inputs_differ", "the boxes that a model sees are not those of the scene")
    statement = str(example.inputs["statement"])
    try:
        meaning = understand(statement)
    except Unreadable as problem:
        yield Problem("unreadable", str(problem))
        return
    yield from _column_problems(example, meaning, picture)
    yield from map(_problem, proof(statement, str(example.meta["program"]), example.meta["scene"]))
    if _is_blurred(meaning, picture, example.meta["scene"]):
        yield _ambiguous(picture)
    if example.meta["task"] == "truth":
        yield from _label_problems(example, meaning, picture)
    else:
        yield from _task_problems(example, meaning, picture)


def _problem(found: tuple[str, str]) -> Problem:
    return Problem(*found)


# --- columns ---------------------------------------------------------------------------------------------------------


def _column_problems(example: Example, meaning: Meaning, picture: Picture) -> Iterator[Problem]:
    """Columns that follow from the sentence, the program and the scene."""
    statement, meta = str(example.inputs["statement"]), example.meta
    expected: dict[str, Any] = {
        "words": len(statement.split()),
        "depth": depth(meaning),
        "objects": len(picture),
        "key": "",
    }
    if meta["task"] == "truth":
        expected |= {"target": True, "edits": 0}
    with contextlib.suppress(ProgramError):  # `proof` names the fault of a program that cannot be parsed
        expected["phenomena"] = sorted(shown_in(str(meta["program"])))
    for name, value in expected.items():
        given = sorted(meta[name]) if name == "phenomena" else meta[name]
        if given != value:
            yield Problem(f"wrong_{name}", f"{name} is {shown(meta[name])}, but the example has {shown(value)}")
    if example.inputs["scene"] != meta["scene"] or example.inputs["task"] != meta["task"]:
        yield Problem("inputs_differ", "the scene or the task that a model sees is another than the row's")


def _scene_problems(picture: Picture, is_tower: bool) -> Iterator[Problem]:
    for t in picture:
        if min(t[1], t[2]) < 0 or max(t[1], t[2]) + t[3] > 100:
            yield Problem("out_of_box", f"the item {t} leaves its box")
    for box in range(3):
        stack = stacked(tuple(t for t in picture if t[0] == box))
        # The blocks of a tower stand in the middle of their box, one pixel apart, at most four of them.
        levels = [(40, 80 - 21 * level, 20, 1) for level in range(min(4, len(stack)))]
        if is_tower and [t[1:4] + t[5:] for t in stack] != levels:
            yield Problem("no_tower", f"box {box} holds {stack}, which is no tower")
        if not is_tower and any(overlap(a, b) for k, a in enumerate(stack) for b in stack[:k]):
            yield Problem("overlap", f"items overlap in box {box}")


def _is_blurred(meaning: Meaning, picture: Picture, kind: str) -> bool:
    """Whether a statement about contact is asked of a SCATTER scene in which people may differ about what touches."""
    return kind == "scatter" and speaks_of_contact(meaning) and not is_clear(picture)


def _ambiguous(picture: Picture) -> Problem:
    return Problem("ambiguous", f"the statement speaks of contact, but of some items it is a matter of taste: {shown(picture)}")


# --- answers ---------------------------------------------------------------------------------------------------------


def _label_problems(example: Example, meaning: Meaning, picture: Picture) -> Iterator[Problem]:
    truth = holds(meaning, picture)
    if example.answer != ("true" if truth else "false"):
        yield Problem("wrong_label", f"the answer is {shown(example.answer)}, but the statement is {truth}")


def _task_problems(example: Example, meaning: Meaning, picture: Picture) -> Iterator[Problem]:
    target = bool(example.meta["target"])
    is_tower, is_scratch = example.meta["scene"] == "tower", example.meta["start"] == "scratch"
    truth = holds(meaning, picture)
    if example.inputs.get("target") != target or truth == target:
        yield Problem("wrong_target", f"the target is {target}, but the statement is {truth} already")
    if is_scratch and (picture or not target):
        yield Problem("not_empty", f"a start from scratch has {len(picture)} items and the target {target}")
    if not is_scratch and any(all(t[0] != box for t in picture) for box in range(3)):
        yield Problem("empty_box", "a scene that is given has items in every box")
    try:
        end, edits = carry_out(example.answer, picture, is_tower)
    except Unreadable as problem:
        yield Problem("wrong_label", f"the answer fails: {problem}")
        return
    if _is_blurred(meaning, end, example.meta["scene"]):
        yield _ambiguous(end)
    if holds(meaning, end) != target:
        yield Problem("wrong_label", f"after the edits the statement is {not target}, not {target}")
    if edits != example.meta["edits"]:
        yield Problem("wrong_edits", f"the plan has {edits} edits, not {example.meta['edits']}")
    if is_scratch or is_tower:
        yield from _needless(example.answer, meaning, picture, target, is_tower)


def _needless(answer: str, meaning: Meaning, picture: Picture, target: bool, is_tower: bool) -> Iterator[Problem]:
    """No edit of a plan can be left out."""
    steps = [step.strip() for step in answer.split(";")][:-1]
    for place in range(len(steps)):
        try:
            end = after(steps[:place] + steps[place + 1 :], picture, is_tower)
        except Unreadable:
            continue
        if holds(meaning, end) == target:
            yield Problem("needless_edit", f"the plan reaches its target without {shown(steps[place])}")
            return


# --- programs --------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=65_536)
def proof(statement: str, program: str, kind: str) -> tuple[tuple[str, str], ...]:
    """Why the program is not proved to mean what the sentence means: codes and texts; empty if it is.

    Both are read into the same normal form. Where the forms differ, scenes decide: all of TOWER's, several thousand of
    SCATTER's. A SCATTER program of another form that no scene refutes stays `unproved_program`.
    """
    meaning = understand(statement)
    fillings = tower_fillings() if kind == "tower" else scatter_fillings(speaks_of_contact(meaning))
    try:
        found = compare(meaning, read(program), fillings, kind == "tower")
    except ProgramError as problem:
        return (("bad_program", str(problem)),)
    except Unreadable as problem:
        return _by_scenes(meaning, program, kind, fillings, str(problem))
    if found.witness is not None:
        return (("program_mismatch", f"the program and the sentence differ on {shown(found.witness)}"),)
    if not found.proved:
        return (("unproved_program", "the program has another form than the sentence, and no scene tried tells them apart"),)
    return ()


def _by_scenes(meaning: Meaning, program: str, kind: str, fillings: Sequence[Any], why: str) -> tuple[tuple[str, str], ...]:
    """A program of a foreign form: what the interpreter says of scenes, and that nothing is proved."""
    from recombine.families.lilgym.program import compile as compiled
    from recombine.families.lilgym.scene import Scene

    try:
        judge = compiled(program)
        faults = tuple(("type_fault", fault.text) for fault in judge.faults)
        for one, other in itertools.product(fillings, fillings[::7]):
            picture = tuple((box, *t[1:]) for box, part in enumerate((one, other, one)) for t in part)
            if judge.evaluate(Scene.of("tower" if kind == "tower" else "scatter", picture)) != holds(meaning, picture):
                return (*faults, ("program_mismatch", f"the program and the sentence differ on {shown(picture)}"))
    except ProgramError as problem:
        return (("bad_program", str(problem)),)
    return (*faults, ("unproved_program", f"no scene tried tells the program from the sentence, but {why}"))
