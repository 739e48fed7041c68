"""Judging released tasks: labels against programs, type faults, statements out of reach; and a user's own statement."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recombine.core import Example, Problem
from recombine.errors import ProgramError, shown
from recombine.families.lilgym import native, program
from recombine.families.lilgym.play import solver
from recombine.families.lilgym.play.edits import HORIZON, Setting
from recombine.families.lilgym.program import Bank, Program
from recombine.families.lilgym.scene import Kind, Scene, unpack
from recombine.families.lilgym.sound import worlds

FAULTS_THAT_LIE = ("uncalled_method",)
"""Faults that make a program say something else than it seems to; the others are only bad style."""


def judge(example: Example) -> list[Problem]:
    """What is wrong with a released example: its program, its label, or that its target cannot be reached."""
    text, scene = example.meta["program"], example.world
    if not text:
        return []
    try:
        compiled = program.compile(text)
    except ProgramError as problem:
        return [Problem("bad_program", str(problem))]
    problems = [*_faults(compiled), *_reading(example)]
    try:
        value = compiled.evaluate(scene)
    except ProgramError as problem:
        return [*problems, Problem("program_fails", str(problem))]
    label = example.meta.get("label")
    if label is not None and value != label:
        problems.append(Problem("wrong_label", f"the label is {label}, but the program says {value}: {shown(text, 160)}"))
    if example.meta["task"] == "edit":
        problems += _reach(example, compiled, value)
    return problems


def _reading(example: Example) -> Iterable[Problem]:
    """A sentence that the oracle can read must mean what its program means; most published sentences it cannot."""
    from recombine.families.lilgym import oracle

    statement = str(example.inputs["statement"])
    try:
        oracle.understand(statement)
    except oracle.Unreadable:
        return
    for code, text in oracle.proof(statement, str(example.meta["program"]), str(example.meta["scene"])):
        yield Problem(code, text, "error" if code == "program_mismatch" else "artifact")


def _faults(compiled: Program) -> Iterable[Problem]:
    for fault in compiled.faults:
        severity: Any = "error" if fault.code in FAULTS_THAT_LIE else "artifact"
        yield Problem("type_fault", f"{fault.code}: {fault.text}", severity)


def _reach(example: Example, compiled: Program, value: bool) -> Iterable[Problem]:
    target, start = example.meta["target"], example.meta["start"]
    if start == "scratch" and value == target:
        yield Problem("true_of_nothing", "the empty scene is a solution already", "artifact")
    if example.answer:
        yield from _answer(example)
    elif value != target and not is_reachable(example.meta["scene"], compiled.text, target, start == "scratch"):
        yield Problem("out_of_reach", f"no scene within {HORIZON - 1} edits was found in which it is {target}", "artifact")


def _answer(example: Example) -> Iterable[Problem]:
    from recombine.families.lilgym.score import score

    verdict = score(example, example.answer)
    if verdict.value < 1.0:
        yield Problem("wrong_label", f"the plan does not reach the target: {verdict.detail.get('error', '')}")


@functools.lru_cache(maxsize=10_000)
def is_reachable(kind: Kind, text: str, target: bool, scratch: bool) -> bool:
    """Whether some scene has this value: among those that are always tried, or found by the solver from the empty scene.

    For TOWER a no is proved (all scenes within the horizon are visited); for SCATTER it means that a long search failed.
    """
    bank = Bank([program.compile(text)])
    for is_scratch in (True, False) if not scratch else (True,):
        looks = worlds.looks(kind, is_scratch, worlds.is_tidy(kind, text))
        try:
            if bool((bank.evaluate_grid(looks, compiled=True) == target).any()):
                return True
        except ProgramError:
            if any(_value(bank.programs[0], scene) == target for scene in unpack(kind, looks.items, looks.counts)):
                return True
    found = solver.solve(Setting(kind), Scene(kind), bank.programs[0], target)
    return found.actions is not None


def _value(compiled: Program, scene: Scene) -> bool | None:
    try:
        return compiled.evaluate(scene)
    except ProgramError:
        return None


def survey(examples: Sequence[Example]) -> Mapping[str, Any]:
    """Figures about a file: tasks, contexts, initial states with all box orders, labels, and whether values ignore box order."""
    flips = [e for e in examples if e.meta["start"] == "flipit" and e.meta["task"] == "edit"]
    figures: dict[str, Any] = {
        "records": len(examples),
        "statements": len({e.inputs["statement"] for e in examples}),
        "programs": len({e.meta["program"] for e in examples if e.meta["program"]}),
        "tasks": dict(sorted(Counter(f"{e.meta['scene']} {e.meta['start']} {e.meta['task']}" for e in examples).items())),
        "contexts": len(native.contexts(e for e in examples if e.meta["task"] == "edit")),
        "initial states with every box order": len(native.ORDERS) * len(flips),
    }
    if flips:
        changed = [e.id for e in flips if not is_invariant(e)]
        figures["values that change with the box order"] = len(changed)
        figures["labels"] = dict(sorted(Counter(str(e.meta.get("label")).lower() for e in flips).items()))
    return figures


def is_invariant(example: Example) -> bool:
    """Whether the program's value is the same for every order of the three boxes, so that rewards are."""
    try:
        compiled = program.compile(example.meta["program"])
        return len({compiled.evaluate(example.world.permuted(order)) for order in native.ORDERS}) == 1
    except ProgramError:
        return False


# --- a user's statement ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StatementCheck:
    """What was found about a statement and its program. `ok`: nothing speaks against using it as a task."""

    statement: str
    program: str
    problems: tuple[Problem, ...]
    share_true: float | None
    fewest_edits: int | None

    @property
    def ok(self) -> bool:
        """Whether no error was found."""
        return not any(problem.severity == "error" for problem in self.problems)


def check_statement(
    statement: str, text: str, kind: Kind, labelled: Iterable[tuple[Scene, bool]] = (), horizon: int = HORIZON
) -> StatementCheck:
    """Check a user's statement with its program.

    Types and faults; constant or not over hundreds of varied scenes; whether it can be made true from scratch within the
    horizon (proved for TOWER, searched for SCATTER); agreement with labelled scenes. Says nothing about the English, nor
    whether contact (`get_touching`, on bounding squares) is what people see in a labelled scene.
    """
    try:
        compiled = program.compile(text)
    except ProgramError as problem:
        return StatementCheck(statement, text, (Problem("bad_program", str(problem)),), None, None)
    problems = [Problem(p.code, p.text, p.severity) for p in _faults(compiled)]
    share: float | None = None
    try:
        tidy = worlds.is_tidy(kind, text)
        values = Bank([compiled]).evaluate_grid(worlds.looks(kind, False, tidy))
        built = Bank([compiled]).evaluate_grid(worlds.looks(kind, True, tidy))
        share = float(values.mean())
        if len({*values.reshape(-1).tolist(), *built.reshape(-1).tolist()}) == 1:
            problems.append(Problem("constant", f"it is {bool(values[0, 0])} of every scene tried"))
    except ProgramError as problem:
        problems.append(Problem("program_fails", str(problem)))
        return StatementCheck(statement, text, tuple(problems), share, None)
    found = solver.solve(Setting(kind, horizon=horizon), Scene(kind), compiled, True)
    if found.actions is None:
        proof = "there is none" if found.shortest else "none was found"
        problems.append(Problem("out_of_reach", f"no scene within {horizon - 1} edits of the empty one makes it true: {proof}"))
    elif found.edits == 0:
        problems.append(Problem("true_of_nothing", "the empty scene makes it true already", "artifact"))
    for number, (scene, label) in enumerate(labelled):
        value = compiled.evaluate(scene)
        if value != label:
            problems.append(Problem("wrong_label", f"it is {value}, but the label is {label}", place=f"scene {number}"))
    return StatementCheck(statement, text, tuple(problems), share, found.edits)
