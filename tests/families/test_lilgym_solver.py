"""lilGym's solver: shortest plans for TOWER, found and replayed ones for SCATTER, contact included."""

from __future__ import annotations

from collections import deque

import pytest

from recombine.families.lilgym import program
from recombine.families.lilgym.play import episodes, solver
from recombine.families.lilgym.play.edits import Setting
from recombine.families.lilgym.play.tasks import instances_of
from recombine.families.lilgym.scene import EMPTY_SCATTER, EMPTY_TOWER, Scene

TWO_BLUE = program.compile("count(filter_obj(all_items, lambda x: is_blue(x))) == 2")


def fewest_edits(scene: Scene, holds: program.Program, target: bool, most: int) -> int | None:
    """Breadth-first search, scene by scene."""
    setting, seen, queue = Setting("tower"), {scene}, deque([(scene, 0)])
    while queue:
        scene, depth = queue.popleft()
        if holds.evaluate(scene) == target:
            return depth
        if depth < most:
            for action in range(1, 13):
                after, error = episodes.edit_scene(setting, scene, action)
                if not error and after not in seen:
                    seen.add(after)
                    queue.append((after, depth + 1))
    return None


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (TWO_BLUE.text, True),
        ("exist(filter_obj(all_boxes, lambda x: x.is_tower() and count(x) == 3))", True),
        ("exist(filter_obj(all_items, lambda x: is_yellow(x)))", False),
    ],
)
def test_tower_plans_are_shortest(text: str, target: bool) -> None:
    holds = program.compile(text)
    for towers in ([[], [], []], [[0], [1, 0], []], [[2, 2, 2], [0, 1], [1]]):
        scene = Scene.of_towers(towers)
        found = solver.solve(Setting("tower"), scene, holds, target, compiled=False)
        assert found.edits == fewest_edits(scene, holds, target, 4) and found.shortest


def test_a_tower_task_without_a_plan_is_proved() -> None:
    thirteen = program.compile("count(all_items) >= 13")
    found = solver.solve(Setting("tower", horizon=4), EMPTY_TOWER, thirteen, True, compiled=False)
    assert found.actions is None and found.shortest and found.edits is None


@pytest.mark.parametrize("rules", ["paper", "code"])
def test_scatter_plans_replay(rules: episodes.RuleBook) -> None:
    setting = Setting("scatter", rules)
    scene = Scene.of("scatter", [(0, 0, 0, 30, 2, 0), (1, 44, 43, 20, 1, 1), (2, 70, 70, 30, 2, 2), (2, 3, 3, 10, 2, 1)])
    tasks = {
        "count(filter_obj(all_items, lambda x: is_blue(x))) == 3": 0,
        "count(filter_obj(all_items, lambda x: is_blue(x))) == 2": 1,
        "count(filter_obj(all_boxes, lambda x: count(x) == 3)) == 1": 1,
        "count(filter_obj(all_items, lambda x: is_yellow(x) and is_touching_wall(x))) == 3": 3,
    }
    for text, edits in tasks.items():
        found = solver.solve(setting, scene, program.compile(text), True)
        assert found.edits == edits and found.shortest == (edits <= 2)
    assert solver.solve(setting, scene, program.compile("count(all_items) < 0"), True, rounds=1).actions is None


def test_difficulty_sums_up() -> None:
    instances = instances_of(
        "tower", [("x", "s", TWO_BLUE.text, EMPTY_TOWER, True), ("y", "s", TWO_BLUE.text, EMPTY_TOWER, False)]
    )
    found = solver.demonstrations(Setting("tower"), instances, [0, 1])
    assert [s.actions for s in found] == [(3, 3, 0), (0,)]
    assert solver.difficulty(found)["edits"] == {"0": 1, "2": 1}


def test_contact_is_made_and_broken() -> None:
    touches = program.compile(
        "exist(filter_obj(all_items, lambda x: is_blue(x) and exist(filter_shape(get_touching(x), Shape.SQUARE))))"
    )
    made = solver.solve(Setting("scatter"), EMPTY_SCATTER, touches, True)
    assert made.edits == 2 and made.shortest
    pair = Scene.of("scatter", [(0, 20, 20, 20, 2, 0), (0, 40, 20, 20, 1, 1)])
    broken = solver.solve(Setting("scatter"), pair, touches, False)
    assert broken.edits == 1 and broken.shortest
    four = program.compile("count(filter_obj(all_items, lambda x: exist(get_touching(x)))) == 4")
    assert solver.solve(Setting("scatter"), EMPTY_SCATTER, four, True).edits is not None
