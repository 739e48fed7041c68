"""Why an answer is right: the program's value node by node, what the edits change, and what each shortcut reader would answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recombine.core import Example, Explanation, Shortcut
from recombine.errors import ProgramError, RecombineError
from recombine.families.lilgym import planner, program
from recombine.families.lilgym import program_reference as reference
from recombine.families.lilgym import program_values as values
from recombine.families.lilgym.acting import play
from recombine.families.lilgym.edits import Setting, parse_edits
from recombine.families.lilgym.program import Program
from recombine.families.lilgym.program_syntax import Node
from recombine.families.lilgym.readers import READERS, readings
from recombine.families.lilgym.scene import BOX_NAMES, Scene
from recombine.keys import Stream

MAX_STEPS = 60
MAX_TEXT = 110


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
        steps = trace(compiled, scene)
        value = compiled.evaluate(scene)
    except ProgramError as problem:
        return Explanation((str(problem),), (Shortcut("stops_at_once", "answers STOP at once", None),))
    if example.meta["task"] == "edit":
        steps += _episode(example, compiled, value)
    return Explanation(tuple(steps), tuple(_shortcuts(example, compiled)))


# --- the proof -------------------------------------------------------------------------------------------------------


def trace(compiled: Program, scene: Scene) -> list[str]:
    """The value of every part of a program on a scene, innermost first; lambdas are shown for each element."""
    lines: list[str] = []
    tracer = _Tracer(compiled.text, reference.Run(values.World.of(scene), 5 * reference.FUEL), lines)
    tracer.value(compiled.tree, {}, 0)
    return lines[:MAX_STEPS] + ([f"… {len(lines) - MAX_STEPS} more"] if len(lines) > MAX_STEPS else [])


class _Tracer:
    """Walks a program as the plain interpreter does, and writes down what it sees."""

    def __init__(self, text: str, run: reference.Run, lines: list[str]) -> None:
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
        for element in values.elements(self.run.value(collection, variables)):
            inner = {**variables, function.name: element}
            if depth == 0 and any(part.kind == "lambda" for part in _parts(body)):
                for part in body.children if body.kind in ("and", "or") else (body,):
                    self.part(part, inner, depth + 1)
                    if values.truth(self.run.value(part, inner)) == (body.kind == "or"):
                        break
            shown = f"{function.name} = {_shown(element)}: {self.source(body)}"
            self.lines.append(f"{'  ' * (depth + 1)}{shown} is {_shown(self.run.value(body, inner))}")

    def say(self, node: Node, value: Any, depth: int) -> None:
        self.lines.append(f"{'  ' * depth}{self.source(node)} is {_shown(value)}")

    def source(self, node: Node) -> str:
        """The node's text, cut if long."""
        text = self.text[node.start : node.stop]
        return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


_TOLD = ("call", "and", "or", "not", "compare")


def _is_plain(node: Node) -> bool:
    """Whether a call only names a box's items or asks whether it is a tower."""
    return node.kind == "call" and node.children[0].kind == "attr"


def _parts(node: Node) -> list[Node]:
    return [node, *(part for child in node.children for part in _parts(child))]


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
    try:
        played = play(setting, example.world, target, compiled.evaluate, parse_edits(setting, example.answer))
    except RecombineError as problem:
        return [*lines, f"The answer fails: {problem}"]
    for edit, scene in zip(example.answer.split(";"), played.scenes[1:], strict=False):
        lines.append(f"{edit.strip()}: the statement is {compiled.evaluate(scene)}.")
    return lines


# --- the readers -----------------------------------------------------------------------------------------------------


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
    """For each reader a plan that it would be content with; None if none is found quickly."""
    try:
        return _plans(found, example)
    except ProgramError:  # a reading that fails on some scene spoils the common run, not the others
        if len(found) == 1:
            return {}
        return {name: plan for one in found.items() for name, plan in _edit_answers(dict([one]), example).items()}


def _plans(found: Mapping[str, Program], example: Example) -> dict[str, str | None]:
    from recombine.families.lilgym.generate import answer_text

    kind, world = example.meta["scene"], tuple(tuple(item) for item in example.world.items)
    taste, target = planner.Taste.of(example.meta["program"]), bool(example.meta["target"])
    streams = (Stream("lilgym", "reader", name, example.inputs["statement"]) for name in found)
    searches = [planner.search(kind, world, target, taste, stream) for stream in streams]
    plans = planner.run(searches, list(found.values()))
    return {name: None if plan is None else answer_text(kind, plan) for name, plan in zip(found, plans, strict=True)}
