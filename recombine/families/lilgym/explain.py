"""Why an answer is right: the program's value node by node, what the edits change, and what each shortcut reader would answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recombine import kernels
from recombine.core import Example, Explanation, Shortcut
from recombine.errors import ProgramError, RecombineError
from recombine.families.lilgym import program
from recombine.families.lilgym.play.edits import Setting, parse_edits
from recombine.families.lilgym.play.episodes import play
from recombine.families.lilgym.program import Program, reference, values
from recombine.families.lilgym.program.syntax import Node
from recombine.families.lilgym.readings import READERS, readings
from recombine.families.lilgym.scene import BOX_NAMES, Scene, pack
from recombine.families.lilgym.sound import planner
from recombine.keys import state

MAX_STEPS = 60
MAX_TEXT = 110
SEARCH_COMPILED_FROM, SEARCH_LOADED_FROM = 800, 20
"""Examples for which the interpreted search takes as long as compiling it, and as loading it."""


def explain(example: Example) -> Explanation:
    """The proof and the shortcut readers' answers; a program that fails is explained by its error."""
    text, scene = example.meta["program"], example.world
    if not text:
        return Explanation(
            (f"The record has no program; its label is {example.answer}.",),
            (Shortcut("opposite", "answers the opposite", None),),
        )
    try:
        compiled = program.compile(text)
        steps, value = traced(compiled, scene)
    except ProgramError as problem:
        return Explanation((str(problem),), (Shortcut("stops_at_once", "answers STOP at once", None),))
    if example.meta["task"] == "edit":
        steps += _episode(example, compiled, value)
    return Explanation(tuple(steps), tuple(_shortcuts(example, compiled)))


# --- the proof -------------------------------------------------------------------------------------------------------


def traced(compiled: Program, scene: Scene) -> tuple[list[str], bool]:
    """The value of every part of a program on a scene, as lines, and the program's value.

    Innermost parts come first. A lambda is shown for each element.
    """
    lines: list[str] = []
    run = _Run(reference.laid_out(scene), _FUEL)
    _Tracer(compiled.text, run, lines).value(compiled.tree, _NOTHING, 0)
    value = run.value(compiled.tree, _NOTHING)
    if run.fuel < _FUEL - reference.FUEL or not isinstance(value, bool):
        value = compiled.evaluate(scene)  # it may fail there: one evaluation has fewer steps than a trace
    return lines[:MAX_STEPS] + ([f"… {len(lines) - MAX_STEPS} more"] if len(lines) > MAX_STEPS else []), value


class _Run(reference.Run):
    """An evaluation that keeps what it finds: a trace asks for a part's value again and again."""

    def __init__(self, world: values.World, fuel: int) -> None:
        super().__init__(world, fuel)
        self.scopes: dict[int, Mapping[str, Any]] = {id(_NOTHING): _NOTHING}
        self.found: dict[tuple[int, int], Any] = {}

    def hold(self, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep the values that are found under these variables; the mapping lives as long as the run, so its id is its own."""
        self.scopes[id(variables)] = variables
        return variables

    def value(self, node: Node, variables: Mapping[str, Any]) -> Any:
        """The value of a node, found once under variables that are held."""
        if node.kind not in _TOLD or id(variables) not in self.scopes:
            return super().value(node, variables)
        key = id(node), id(variables)
        if key not in self.found:
            self.found[key] = super().value(node, variables)
        return self.found[key]


class _Tracer:
    """Walks a program as the plain interpreter does, and writes down what it sees."""

    def __init__(self, text: str, run: _Run, lines: list[str]) -> None:
        self.text, self.run, self.lines = text, run, lines

    def value(self, node: Node, variables: Mapping[str, Any], depth: int) -> None:
        """Explain a node: first those of its parts that are evaluated, then its value."""
        if node.kind == "call" and any(child.kind == "lambda" for child in node.children[1:]):
            self.elements(node, variables, depth)
        else:
            for child in node.children:
                self.part(child, variables, depth)
                if node.kind in ("and", "or") and values.truth(self.run.value(child, variables)) == (node.kind == "or"):
                    break
        if node.kind in _TOLD and not _is_plain(node):
            self.say(node, self.run.value(node, variables), depth)

    def part(self, node: Node, variables: Mapping[str, Any], depth: int) -> None:
        """Explain a part that has something to explain."""
        if node.kind in _TOLD:
            self.value(node, variables, depth)

    def elements(self, node: Node, variables: Mapping[str, Any], depth: int) -> None:
        """The lambda of a quantifier for each element of its collection."""
        collection, function = node.children[1], next(child for child in node.children[1:] if child.kind == "lambda")
        if depth > 1:
            return
        if collection.kind == "call":
            self.value(collection, variables, depth)
        body = function.children[0]
        is_nested = depth == 0 and _has_lambda(body)
        source = self.source(body)
        for element in values.elements(self.run.value(collection, variables)):
            inner = self.run.hold({**variables, function.name: element})
            if is_nested:
                for part in body.children if body.kind in ("and", "or") else (body,):
                    self.part(part, inner, depth + 1)
                    if values.truth(self.run.value(part, inner)) == (body.kind == "or"):
                        break
            shown = f"{function.name} = {_shown(element)}: {source}"
            self.lines.append(f"{'  ' * (depth + 1)}{shown} is {_shown(self.run.value(body, inner))}")

    def say(self, node: Node, value: Any, depth: int) -> None:
        self.lines.append(f"{'  ' * depth}{self.source(node)} is {_shown(value)}")

    def source(self, node: Node) -> str:
        """The node's text, cut if long."""
        text = self.text[node.start : node.stop]
        return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


_TOLD = frozenset({"call", "and", "or", "not", "compare"})
_FUEL = 5 * reference.FUEL
"""Most steps of a trace. A trace also shows the elements one by one."""
_NOTHING: Mapping[str, Any] = {}


def _is_plain(node: Node) -> bool:
    """Whether a call only names a box's items or asks whether it is a tower."""
    return node.kind == "call" and node.children[0].kind == "attr"


def _has_lambda(node: Node) -> bool:
    return node.kind == "lambda" or any(_has_lambda(child) for child in node.children)


def _shown(value: Any) -> str:
    if isinstance(value, values.Box):
        return f"the {BOX_NAMES[value.index]} box"
    if isinstance(value, list | tuple | frozenset):
        parts = values.elements(value)
        return f"[{', '.join(_shown(part) for part in parts[:8])}{', …' if len(parts) > 8 else ''}]"
    if isinstance(value, values.Thing):
        return f"{value!r} ({BOX_NAMES[value.box.index]})"
    return str(getattr(value, "name", value))


def _episode(example: Example, compiled: Program, value: bool) -> list[str]:
    target = bool(example.meta["target"])
    lines = [f"So the statement is {value} of the initial scene; the target is {target}."]
    if not example.answer:
        return lines
    setting = Setting(example.meta["scene"])
    known = {id(example.world): value}  # by scene: an episode holds its scenes, so their ids are their own

    def holds(scene: Scene) -> bool:
        if id(scene) not in known:
            known[id(scene)] = compiled.evaluate(scene)
        return known[id(scene)]

    try:
        played = play(setting, example.world, target, holds, parse_edits(setting, example.answer))
    except RecombineError as problem:
        return [*lines, f"The answer fails: {problem}"]
    for edit, scene in zip(example.answer.split(";"), played.scenes[1:], strict=False):
        lines.append(f"{edit.strip()}: the statement is {holds(scene)}.")
    return lines


# --- the readers' answers -----------------------------------------------------------------------------------------------


def _shortcuts(example: Example, compiled: Program) -> list[Shortcut]:
    found = dict(readings(compiled))
    if example.meta["task"] == "truth":
        answers = {name: _truth_answer(reading, example.world) for name, reading in found.items()}
        return [Shortcut(name, does, answers.get(name)) for name, (does, _) in READERS.items()]
    answers = _edit_answers(found, example)
    first = Shortcut("stops_at_once", "answers STOP at once", "STOP")
    return [first, *(Shortcut(name, does, answers.get(name)) for name, (does, _) in READERS.items())]


def _truth_answer(reading: Program, scene: Scene) -> str | None:
    try:
        return "true" if reading.evaluate(scene) else "false"
    except ProgramError:
        return None


def _edit_answers(found: Mapping[str, Program], example: Example) -> dict[str, str | None]:
    """For each reader a plan that solves the task as this reader understands it. Readers without a plan found quickly have None."""
    try:
        return _plans(found, example)
    except ProgramError:  # a reading that fails on some scene spoils the common run, not the others
        if len(found) == 1:
            return {}
        return {name: plan for one in found.items() for name, plan in _edit_answers(dict([one]), example).items()}


def _plans(found: Mapping[str, Program], example: Example) -> dict[str, str | None]:
    from recombine.families.lilgym.generate import answer_text

    kind, target, n = example.meta["scene"], bool(example.meta["target"]), len(found)
    alone, size = pack([example.world])
    items, counts = np.repeat(alone, n, 0), np.repeat(size, n)
    judge = planner.by_programs(list(found.values()))
    content = judge(np.arange(n), items, counts) == target
    answers: dict[str, str | None] = {name: answer_text(kind, []) for row, name in enumerate(found) if content[row]}
    rows = np.flatnonzero(~content)
    names = [name for name in found if name not in answers]
    if not names:
        return answers
    states = np.array([state("lilgym", "reader", name, example.inputs["statement"]) for name in names], np.uint64)
    tastes = np.array([planner.taste(example.meta["program"])] * len(names), np.int64).reshape(-1, 4)
    tasks = planner.Tasks(items[rows], counts[rows], np.full(len(rows), target), tastes, states)
    compiled = kernels.is_worth_compiling(planner.MOVES, 1, SEARCH_COMPILED_FROM, SEARCH_LOADED_FROM)
    plans = planner.search(kind, tasks, lambda which, *scenes: judge(rows[which], *scenes), compiled)
    for row, name in enumerate(names):
        length = int(plans.lengths[row])
        answers[name] = None if length < 0 else answer_text(kind, plans.actions[row, :length].tolist())
    return answers
