"""Boards: what a key, a click or a drag does to the answer, and that the server's verdict names the mistake."""

from __future__ import annotations

import re

import pytest

from recombine.core import Example
from recombine.data.ids import example_of
from recombine.errors import UsageError
from recombine.families import OURS, family
from recombine.jobs import make_job
from recombine.serve.boards import board_of
from recombine.serve.boards.base import MARK
from recombine.serve.pages import judged

SCATTER = "lilgym@2/sound+scene=scatter+start=scratch/random/test/0/000000"
TOWER = "lilgym@2/sound+start=scratch/random/test/0/000000"


def _example(name: str, row: int = 3) -> Example:
    return example_of(make_job(family(name)).id(row))


@pytest.mark.parametrize("name", OURS)
def test_the_right_answer_is_right_and_a_careless_readers_is_named(name: str) -> None:
    example = _example(name)
    assert judged(example, example.answer)["status"] == "right"
    wrong = [s for s in example.explain().shortcuts if s.answer is not None and example.score(s.answer).value < 1]
    named = [s for s in wrong if s.name in example.score(s.answer or "").mistakes]
    assert named
    verdict = judged(example, named[0].answer or "")
    assert verdict["status"] == "wrong"
    assert (named[0].name, named[0].reader) in verdict["mistakes"]
    assert judged(example, "<script>")["status"] != "right"


@pytest.mark.parametrize("name", OURS)
def test_a_board_does_not_give_the_answer_away(name: str) -> None:
    example = _example(name)
    board = board_of(example)
    view = board.view(example, "")
    assert view.answer != example.answer
    assert example.answer not in board.question(example)
    assert "target" not in view.svg


@pytest.mark.parametrize("name", ["gscan", "reascan"])
def test_keys_drive_the_agent_along_the_right_way(name: str) -> None:
    example = _example(name)
    board, state = board_of(example), ""
    for action in example.answer.split(","):
        state, said = board.act(example, state, f"do:{action}", {})
        assert said == ""
    assert state == example.answer
    assert board.act(example, state, "undo", {})[0] == ",".join(example.answer.split(",")[:-1])
    assert list(board.film(example))[-1] == example.answer


@pytest.mark.parametrize("name", ["gscan", "reascan"])
def test_a_click_on_the_target_is_the_right_answer_and_elsewhere_is_not(name: str) -> None:
    example = _example(name)
    board = board_of(example)
    target, other = example.world.things[0], next(t for t in example.world.things[1:] if not t.is_box)
    for thing, is_right in ((target, True), (other, False)):
        event = f"click:{22 + 64 * thing.column + 30},{22 + 64 * thing.row + 30}"
        state, said = board.act(example, "", event, {})
        assert (state == example.answer) is is_right
        assert f"row {thing.row + 1}, column {thing.column + 1}" in said
    assert board.act(example, "walk", "click:1,1", {}) == ("walk", "There is no object in that cell.")


def _rings(example: Example, number: int) -> set[tuple[float, ...]]:
    """(x, y, side) of the rings that a step of the proof adds to the picture."""
    svg = board_of(example).picture(example, None, example.explain().steps[:number])
    found = re.findall(rf'<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)"[^>]*stroke="{MARK}"', svg)
    return {tuple(float(value) for value in ring) for ring in found}


def test_a_step_of_a_scenes_proof_rings_what_it_names() -> None:
    example = example_of("lilgym@2/sound+scene=scatter/random/test/0/000002")
    steps, item = example.explain().steps, example.world.items[6]
    number = next(n for n, step in enumerate(steps, 1) if "x = small blue square 6 (middle)" in step)
    assert _rings(example, number) == {(140 * item.box + item.x - 2, item.y - 2, item.size + 4)}
    added = next(n for n, step in enumerate(steps, 1) if step.startswith("ADD"))
    assert _rings(example, added) == {(360 - 2, 0 - 2, 24)}
    assert _rings(example, 0) == _rings(example, len(steps)) == set()


def test_two_equal_edits_of_a_proof_ring_different_blocks() -> None:
    job = make_job(family("lilgym"), "random", "test", "sound", 0, {"scene": "tower"})
    twice = re.compile(r"REMOVE (\w+); REMOVE \1;")
    example = next(e for e in map(example_of, map(job.id, range(400))) if twice.search(e.answer))
    steps = example.explain().steps
    first = next(n for n, step in enumerate(steps, 1) if step.startswith("REMOVE"))
    place = example.answer[: twice.search(example.answer).start()].count(";")
    one, two = (_rings(example, first + place + k) for k in range(2))
    assert len(one) == len(two) == 1
    assert one != two
    assert "the left box" not in steps[0] or (1.0, 1.0, 98.0) in _rings(example, 1)


def test_a_step_of_an_abstract_proof_rings_its_objects_in_the_right_grid() -> None:
    example = _example("abstract")
    steps, task = example.explain().steps, example.world
    side, row = task.test.size * 64, len(task.demonstrations)
    thing = task.test.things[0]
    number = next(n for n, step in enumerate(steps, 1) if step.startswith("In the test input"))
    reach = (thing.size if thing.is_box else 1) * 64 - 2
    assert _rings(example, number) == {(20 + 64 * thing.column + 1, 20 + row * (side + 24) + 24 + 64 * thing.row + 1, reach)}
    shown = _rings(example, next(n for n, step in enumerate(steps, 1) if step.startswith("Demonstration 2:")))
    assert {x > 20 + side for x, _, _ in shown} == {False, True}  # what goes is ringed in the input, what comes in the output
    assert all(20 + (side + 24) < y < 20 + 2 * (side + 24) for _, y, _ in shown)


def test_an_impossible_action_is_explained() -> None:
    example = _example("reascan")
    board, state, said = board_of(example), "", ""
    for _ in range(8):
        state, said = board.act(example, state, "do:walk", {})
    assert "edge of the grid" in said


def drags(example: Example) -> list[tuple[float, float, float, float]]:
    """The example's plan as drags on the board, for plans that only add."""
    found = []
    for edit in example.answer.split("; ")[:-1]:
        words = edit.split()
        assert words[0] == "ADD"
        if example.meta["scene"] == "tower":
            color, box = ("yellow", "black", "blue").index(words[1]), ("left", "middle", "right").index(words[2])
            found.append((30 + 40 * color, 122, 50 + 140 * box, 50))
        else:
            size, color = ("small", "medium", "big").index(words[1]), ("yellow", "black", "blue").index(words[2])
            shape, half = ("circle", "square", "triangle").index(words[3]), (5, 10, 15)[size]
            start = (8 + 36 * (3 * shape + color) + half, 112 + (0, 14, 40)[size] + half)
            found.append((*start, int(words[4]) + half, int(words[5]) + half))
    return found


@pytest.mark.parametrize("identifier", [TOWER, SCATTER])
def test_dragging_solves_a_scene(identifier: str) -> None:
    example = example_of(identifier)
    board, state = board_of(example), ""
    for drag in drags(example):
        state, said = board.act(example, state, "drag:" + ",".join(map(str, drag)), {})
        assert said == ""
    assert board.view(example, state).answer == example.answer
    assert judged(example, board.view(example, state).answer)["status"] == "right"


def test_items_move_between_boxes_and_out_of_them() -> None:
    example = example_of(TOWER)
    board = board_of(example)
    state, _ = board.act(example, "", "drag:30,122,50,50", {})
    assert state == "ADD yellow left"
    state, _ = board.act(example, state, "drag:50,90,190,50", {})
    assert state == "ADD yellow left; REMOVE left; ADD yellow middle"
    state, _ = board.act(example, state, "drag:190,90,190,130", {})
    assert state.endswith("REMOVE middle")
    again, said = board.act(example, state, "remove", {"box": "left"})
    assert again == state
    assert "nothing to remove" in said


def test_a_scattered_item_is_taken_where_it_is_grabbed() -> None:
    example = example_of(SCATTER)
    board = board_of(example)
    state, _ = board.act(example, "", "add", {"size": "big", "color": "blue", "shape": "square", "x": "20", "y": "20"})
    state, _ = board.act(example, state, "add", {"size": "small", "color": "black", "shape": "circle", "x": "60", "y": "20"})
    state, said = board.act(example, state, "drag:63,23,63,150", {})
    assert said == ""
    assert "blue square" in board.view(example, state).svg
    assert "black circle" not in board.view(example, state).svg


def test_an_output_world_is_edited_to_the_right_one() -> None:
    example = _example("abstract")
    board = board_of(example)
    task = example.world
    gone = [t for t in task.test.ordered if t not in task.output.ordered]
    new = [t for t in task.output.ordered if t not in task.test.ordered]
    state = ""
    for thing in gone:
        x, y = 12 + 64 * thing.column + 32, 12 + 64 * thing.row + 32
        state, _ = board.act(example, state, f"drag:{x},{y},5,{y}", {})
    for thing in new:
        fields = {
            "color": thing.color,
            "shape": thing.shape,
            "size": str(thing.size),
            "cell": f"{thing.row + 1},{thing.column + 1}",
        }
        state, _ = board.act(example, state, "add", fields)
    assert judged(example, state)["status"] == "right"
    assert judged(example, board.view(example, "").answer)["mistakes"][0][0] == "no_change"


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("event", ["", "nonsense", "drag:1,2", "click:1,2,3,4", "do:fly", "click:nan,1", "drag:9e9,1,1,1"])
def test_an_unknown_event_is_refused(name: str, event: str) -> None:
    example = _example(name)
    with pytest.raises(UsageError):
        board_of(example).act(example, "", event, {})
