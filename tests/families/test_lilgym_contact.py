"""Statements about contact in SCATTER: one wording, one program, and scenes of which every geometry says the same."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import Counter

import numpy as np
import pytest

from recombine import kernels, keys
from recombine.core import Example
from recombine.families.lilgym import LILGYM, oracle, plan, program, readings, render, splits, wording
from recombine.families.lilgym.oracle import contact as oracle_contact
from recombine.families.lilgym.play import episodes
from recombine.families.lilgym.play.edits import Setting, parse_edits
from recombine.families.lilgym.scene import SIZES, Scene, pack, unpack
from recombine.families.lilgym.sound import language, planner, worlds
from recombine.families.lilgym.sound.kernel import APART, contact
from recombine.jobs import make_job
from recombine.keys import Stream

TOUCHES = program.compile("exist(filter_obj(all_items, lambda x: exist(get_touching(x))))")


def noun(color: str, shape: str, relation: str, other: plan.Noun) -> plan.Noun:
    return plan.Noun(color, shape, relation=relation, other=other)


def sample(count: int, seed: int = 3, **options: object) -> list[Example]:
    """Examples whose statement speaks of contact, among the first `count` rows."""
    job = make_job(LILGYM, "random", "train", None, seed, {"scene": "scatter", **options}).rows(0, count)
    batch = LILGYM.generate(job)
    rows = [row for row in range(count) if "get_touching(" in str(batch.columns["program"][row])]
    return [LILGYM.example(batch, row) for row in rows]


@pytest.mark.parametrize(
    ("made", "text", "code"),
    [
        (
            plan.Items("some", 0, noun("black", "", "contact", plan.Noun("yellow"))),
            "There is a black object touching a yellow object.",
            "exist(filter_obj(all_items, lambda x: is_black(x) and exist(filter_color(get_touching(x), Color.YELLOW))))",
        ),
        (
            plan.Items("exactly", 2, noun("", "", "contact", plan.Noun())),
            "There are exactly two objects each touching another object.",
            "count(filter_obj(all_items, lambda x: exist(get_touching(x)))) == 2",
        ),
        (
            plan.Items("at_least", 2, noun("black", "circle", "contact", plan.Noun("", "circle"))),
            "There are at least two black circles each touching another circle.",
            (
                "count(filter_obj(all_items, lambda x: is_black(x) and is_circle(x) and "
                "exist(filter_shape(get_touching(x), Shape.CIRCLE)))) >= 2"
            ),
        ),
        (
            plan.Boxes("some", 0, (plan.Has("exactly", 1, noun("blue", "", "no_contact", plan.Noun())),)),
            "There is a box with exactly one blue object touching no other object.",
            (
                "exist(filter_obj(all_boxes, lambda x: count(filter_obj(x.all_items_in_box(), lambda y: is_blue(y) and "
                "not exist(get_touching(y)))) == 1))"
            ),
        ),
        (
            plan.EveryItem(plan.Noun("", "square"), noun("", "", "contact", plan.Noun("blue"))),
            "Every square touches a blue object.",
            "All(filter_shape(all_items, Shape.SQUARE), lambda x: exist(filter_color(get_touching(x), Color.BLUE)))",
        ),
    ],
)
def test_wordings(made: plan.Plan, text: str, code: str) -> None:
    assert wording.say(made, "scatter") == text
    assert plan.write(made, "scatter") == code
    assert program.compile(code).faults == ()
    left, near = (0, 0, 0, 20, 2, 1), (0, 20, 0, 20, 1, 1)
    for picture in ((), (left,), (left, near), (left, near, (0, 20, 20, 20, 0, 1)), ((0, 40, 40, 20, 0, 1), near)):
        if oracle_contact.is_clear(picture):
            assert oracle.holds(oracle.understand(text), picture) == program.compile(code).evaluate(
                Scene.of("scatter", picture)
            ), picture


def pixels(shape: int, size: int) -> set[tuple[int, int]]:
    spans = render.spans()[3 * shape + size // 10 - 1]
    return {(x, y) for y in range(size) for x in range(int(spans[y, 0]), int(spans[y, 1]))}


def test_what_clearly_touches_does_so_however_one_looks() -> None:
    """For all 81 pairs of shapes at every flush offset: squares, exact shapes, pixels and the sticky snap agree."""
    snap = kernels.load("recombine.families.lilgym.play.kernel", True).snap
    tables, drawn = episodes.tables(), functools.cache(pixels)
    found: Counter[int] = Counter()
    for (shape, size), (other_shape, other_size) in itertools.product(itertools.product(range(3), SIZES), repeat=2):
        flush = [(size, d) for d in range(-other_size, size + 1)] + [(d, size) for d in range(-other_size, size + 1)]
        for dx, dy in flush:
            how = contact(30, 30, size, shape, 30 + dx, 30 + dy, other_size, other_shape)
            found[how] += 1
            assert how == contact(30 + dx, 30 + dy, other_size, other_shape, 30, 30, size, shape)
            if how != 1:
                continue
            a, b = (0, 30, 30, size, 0, shape), (0, 30 + dx, 30 + dy, other_size, 0, other_shape)
            assert oracle_contact.distance(a, b) == pytest.approx(0, abs=1e-9)
            assert TOUCHES.evaluate(Scene.of("scatter", [a, b]))
            moved = {(x + dx, y + dy) for x, y in drawn(other_shape, other_size)}
            beside = {(x + 1, y) for x, y in drawn(shape, size)} | {(x, y + 1) for x, y in drawn(shape, size)}
            assert beside & moved and not drawn(shape, size) & moved
            item = np.array(b, np.int64)
            snap(tables.contacts, tables.directions, np.array([a], np.int16), 1, item)
            assert tuple(item) == b, "the released code leaves it where it is"
    assert found[1] > 2_000 and found[2] > 2_000


def test_what_is_clearly_apart_is_so_however_one_looks() -> None:
    stream = Stream("apart")
    for _ in range(2_000):
        size, other_size = stream.choice(SIZES), stream.choice(SIZES)
        a = (0, stream.below(101 - size), stream.below(101 - size), size, 0, stream.below(3))
        b = (0, stream.below(101 - other_size), stream.below(101 - other_size), other_size, 1, stream.below(3))
        how = contact(a[1], a[2], a[3], a[5], b[1], b[2], b[3], b[5])
        touching = TOUCHES.evaluate(Scene.of("scatter", [a, b]))
        if how == 0:
            assert not touching and oracle_contact.distance(a, b) >= APART
        elif how == 1:
            assert touching
        assert oracle_contact.is_clear((a, b)) or how == 2, "the generator is at least as strict as the oracle"


@pytest.mark.parametrize("scratch", [False, True])
def test_tidy_scenes_are_clear_and_both_sorts_of_contact_occur(scratch: bool) -> None:
    items, counts = worlds.draw_scenes("scatter", scratch, keys.states(8, 0, 150), tidy=True)
    shown = unpack("scatter", items, counts)
    assert all(oracle_contact.is_clear(scene.items) for scene in shown)
    assert 30 < sum(TOUCHES.evaluate(scene) for scene in shown) < 145
    again = worlds.draw_scenes("scatter", scratch, keys.states(8, 0, 150), compiled=True, tidy=True)
    assert np.array_equal(items, again[0]) and np.array_equal(counts, again[1])


@pytest.mark.parametrize("options", [{}, {"start": "scratch"}, {"task": "truth"}], ids=str)
def test_examples_about_contact_are_clear_and_valid(options: dict[str, str]) -> None:
    found = sample(1_500 if options.get("start") == "scratch" else 220, **options)  # rare among the first from scratch
    assert len(found) >= 3
    for example in found:
        assert example.validate() == []
        assert example.score(example.answer).value == 1.0


def test_a_scene_in_which_contact_is_a_matter_of_taste_is_caught() -> None:
    caught = 0
    for example in sample(220, task="truth"):
        for index, item in enumerate(example.world.items):
            items = [*example.world.items]
            items[index] = item._replace(x=item.x + 2 if item.x < 60 else item.x - 2)
            world = Scene.of("scatter", items)
            inputs = {**example.inputs, "boxes": [[list(i[1:]) for i in box] for box in world.boxes]}
            codes = {p.code for p in dataclasses.replace(example, world=world, inputs=inputs).validate()}
            if not oracle_contact.is_clear(world.items):
                assert "ambiguous" in codes
                caught += 1
    assert caught > 0


def test_plans_hold_under_both_rule_books() -> None:
    for start in ("flipit", "scratch"):
        batch = LILGYM.generate(make_job(LILGYM, "random", "train", None, 5, {"scene": "scatter", "start": start}).rows(0, 150))
        for row in range(len(batch)):
            example = LILGYM.example(batch, row)
            judge, target = program.compile(example.meta["program"]), bool(example.meta["target"])
            ends = []
            for rules in ("paper", "code"):
                setting = Setting("scatter", rules=rules)
                played = episodes.play(setting, example.world, target, judge.evaluate, parse_edits(setting, example.answer))
                assert played.solved, (rules, example.id)
                ends.append(played.scenes[-1])
            assert ends[0] == ends[1]


def test_the_planner_makes_and_breaks_contact() -> None:
    lone = ((0, 20, 40, 20, 2, 1), (1, 40, 40, 20, 0, 0))
    scenes = [Scene.of("scatter", lone), Scene.of("scatter", (*lone[:1], (0, 40, 40, 20, 1, 1)))]
    tastes = np.array([planner.taste(TOUCHES.text)] * 2)
    tasks = planner.Tasks(*pack(scenes), np.array([True, False]), tastes, keys.states(3, 0, 2))
    plans = planner.search("scatter", tasks, planner.by_programs([TOUCHES, TOUCHES]), False)
    assert plans.lengths.tolist() == [1, 1]
    for scene, (action, *_), target in zip(scenes, plans.actions.tolist(), (True, False), strict=True):
        end, error = episodes.edit_scene(planner.SETTINGS["scatter"], scene, action)
        assert not error and oracle_contact.is_clear(end.items)
        assert TOUCHES.evaluate(end) is target


def test_the_planner_has_room_for_what_it_builds() -> None:
    """A narrow array of scenes is widened first. The interpreted kernels check their bounds; the compiled ones would write beyond."""
    full = program.compile("count(all_items) == 8")
    block = Scene.of_towers([[2], [], []])
    tasks = planner.Tasks(
        *pack([block] * 4), np.ones(4, np.bool_), np.array([planner.taste(full.text)] * 4), keys.states(3, 0, 4)
    )
    assert tasks.items.shape[1] == 1
    plans = planner.search("tower", tasks, planner.by_programs([full] * 4), False)
    assert (plans.lengths <= planner.WALK_STEPS).all()
    lone = Scene.of("scatter", ((0, 20, 40, 20, 2, 1),))
    crowd = program.compile("count(all_items) >= 6")
    tasks = tasks._replace(items=pack([lone] * 4)[0], tastes=np.array([planner.taste(crowd.text)] * 4))
    plans = planner.search("scatter", tasks, planner.by_programs([crowd] * 4), False)
    assert plans.lengths.max() >= 5


def test_exactly_so_many_that_touch_are_held_out() -> None:
    parts: Counter[tuple[str, bool]] = Counter()
    for place in range(0, len(language.table("scatter").codes), 7):
        statement = language.statement("scatter", place)
        pairs = [quantifier for quantifier, one in plan.nouns(statement.plan) if one.relation == "contact"]
        if pairs:
            parts[splits.part_of("quantifier_relation", statement), "exactly" in pairs] += 1
    assert parts["test", True] > 20 and parts["train", False] > 20
    assert parts["train", True] == parts["validation", True] == 0


def test_a_reader_takes_touching_for_being_near() -> None:
    found = dict(readings.readings(TOUCHES))
    near = Scene.of("scatter", [(0, 0, 0, 10, 0, 0), (0, 50, 50, 10, 0, 0)])
    assert found["reads_touching_as_same_box"].evaluate(near) and not TOUCHES.evaluate(near)
