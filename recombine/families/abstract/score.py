"""One answer -> right or wrong, whether the object and the operation were right, and the names of the careless readers."""

from __future__ import annotations

from recombine.core import Example, Score
from recombine.families.abstract.answers import Scene, read_answer
from recombine.families.abstract.explain import readers_outputs
from recombine.families.abstract.rows import Task
from recombine.grid.world import Thing


def score(example: Example, answer: str) -> Score:
    """Exact output world, in any of the four answer forms.

    `detail`: `target_found` (the right object changed and no other did), `operation_right` (some object changed as the rule says).
    """
    task: Task = example.world
    nothing = {"target_found": False, "operation_right": False}
    given = read_answer(task.test, answer) if isinstance(answer, str) else None
    if given is None:
        return Score(0.0, "unparsable", detail=nothing)
    detail = {"target_found": _gone(task, given) == _gone(task, task.output), "operation_right": _is_same_change(task, given)}
    if given == task.output:
        return Score(1.0, "right", detail=detail)
    mistakes = tuple(name for name, outputs in readers_outputs(example).items() if given in outputs)
    return Score(0.0, "wrong", mistakes, detail)


def _gone(task: Task, output: Scene) -> set[Thing]:
    return set(task.test.ordered) - set(output.ordered)


def _is_same_change(task: Task, output: Scene) -> bool:
    """Whether the change has the parts of the right one: the same properties of one object, with the same new values."""
    return bool(_change(task.test, output) == _change(task.test, task.output))


def _change(before: Scene, after: Scene) -> object:
    gone, new = (
        sorted(set(before.ordered) - set(after.ordered), key=str),
        sorted(set(after.ordered) - set(before.ordered), key=str),
    )
    if len(gone) != 1 or len(new) != 1:
        return len(gone), len(new), [(t.size, t.color, t.shape) for t in new]
    a, b = gone[0], new[0]
    return (
        b.size - a.size,
        b.color if b.color != a.color else "",
        b.shape if b.shape != a.shape else "",
        b.row - a.row,
        b.column - a.column,
    )
