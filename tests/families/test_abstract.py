"""Abstract tasks: the proof that one output is left, the oracle that shares no code, answer forms, ARC files, and the lock."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine import keys
from recombine.core import Batch, Example, Problem
from recombine.errors import BadOption
from recombine.families.abstract import ABSTRACT, blocks, generate, operations, oracle_claims, plan, splits
from recombine.families.abstract.answers import Scene, read_answer, write_answer
from recombine.families.abstract.generate import sound
from recombine.families.abstract.native import arc_task
from recombine.families.abstract.oracle import parse_rule, weaker
from recombine.families.abstract.oracle_outcomes import deeds
from recombine.families.abstract.oracle_space import DEPTHS, descriptions
from recombine.families.abstract.plan import ONE, Form, Forms, Rule, describe
from recombine.families.abstract.render import picture
from recombine.families.abstract.rows import Task
from recombine.families.abstract.settlement import Settlement, settle
from recombine.families.abstract.solver import imitator, solve, solver
from recombine.grid.world import Thing
from recombine.jobs import make_job


def batch(split: str = "random", part: str = "test", rows: int = 20, **options: Any) -> Batch:
    return ABSTRACT.generate(make_job(ABSTRACT, split, part, "sound", 5, options).rows(0, rows))


def examples(*args: Any, **words: Any) -> list[Example]:
    made = batch(*args, **words)
    return [ABSTRACT.example(made, row) for row in range(len(made))]


def codes(example: Example) -> set[str]:
    return {problem.code for problem in ABSTRACT.validate(example)}


# --- the space -------------------------------------------------------------------------------------------------------


def test_both_implementations_have_the_same_space() -> None:
    assert [len(plan.forms(p).root) for p in range(4)] == [60, 5050, 151_274, 383_470]
    assert [len(descriptions(depth)) for depth in DEPTHS] == [60, 5050, 151_274, 383_470]
    assert len(deeds()) == len(operations.texts()) == 334
    assert {" and ".join(" ".join(act) for act in deed) for deed in deeds()} == set(operations.texts())


@pytest.mark.parametrize("pattern", range(4))
def test_the_oracle_reads_every_kind_of_description(pattern: int) -> None:
    listed = plan.forms(pattern)
    for number in np.linspace(0, len(listed.root) - 1, 40).astype(int):
        form = Form(*(int(column[number]) for column in listed))
        assert Form.decode(form.encode()) == form
        rule = parse_rule(describe(form), "grow")
        assert rule is not None
        assert rule.depth == plan.PATTERNS[pattern]
        assert rule.words[0] == form.root


@pytest.mark.parametrize(
    "text", ["the green box", "the red circle that is inside of the circle", "a circle", "the circle that is in"]
)
def test_what_cannot_be_said_is_no_rule(text: str) -> None:
    assert parse_rule(text, "grow") is None


# --- tasks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", list(splits.SPLITS))
def test_tasks_are_right(split: str) -> None:
    for example in examples(split, rows=3 if split == "nested" else 12):
        assert ABSTRACT.validate(example) == []


def test_interpreted_and_compiled_rows_are_the_same() -> None:
    job = make_job(ABSTRACT, "random", "test", "sound", 5).rows(0, 1)
    assert sound(job, compiled=False).row(0) == sound(job, compiled=True).row(0)


@pytest.mark.parametrize("k", [1, 2, 6])
def test_demonstrations_are_as_many_as_asked(k: int) -> None:
    for example in examples(rows=3, demonstrations=k):
        assert len(example.inputs["demonstrations"]) == k
        assert ABSTRACT.validate(example) == []


def test_no_demonstration_is_an_error() -> None:
    with pytest.raises(BadOption, match="demonstrations is 1"):
        batch("fewer_demonstrations", demonstrations=1)


def test_a_single_demonstration_differs_from_the_test_in_three_objects() -> None:
    for example in examples("fewer_demonstrations", rows=4, demonstrations=2):
        ((shown, _),) = example.world.demonstrations
        assert len(set(shown.things) - set(example.world.test.things)) >= 3
        assert ABSTRACT.validate(example) == []


# --- the notebook's way ----------------------------------------------------------------------------------------------


def released(rows: int, **options: Any) -> list[Example]:
    made = ABSTRACT.generate(make_job(ABSTRACT, "random", "test", "release", 5, options).rows(0, rows))
    return [ABSTRACT.example(made, row) for row in range(rows)]


def test_the_notebooks_tasks_keep_its_laws_and_show_its_faults() -> None:
    made = released(30)
    found = [problem for example in made for problem in ABSTRACT.validate(example)]
    assert {problem.severity for problem in found} == {"artifact"}
    assert {"undetermined", "unchanged_pair", "missing_decoy"} == {problem.code for problem in found}
    assert {example.meta["determined"] for example in made} == {True, False}
    assert {example.meta["operation"] for example in made} == {"paint red"}
    for example in made:
        assert ("undetermined" in codes(example)) != example.meta["determined"]


def test_the_notebooks_random_objects_keep_clear_of_what_is_mentioned() -> None:
    """They follow the objects that the phrases mean, the copy of the first and the contrasts of size words. None looks like what is mentioned."""
    coloured = 0
    for example in released(60):
        rule = example.plan
        for scene in (example.world.test, *(before for before, _ in example.world.demonstrations)):
            mentioned = scene.things[: len(rule.phrases)]
            sized = sum(bool(phrase.size) for phrase in rule.phrases)
            for thing in scene.things[len(rule.phrases) + 1 + sized :]:
                for phrase, meant in zip(rule.phrases, mentioned, strict=True):
                    assert (thing.color, thing.shape) != (meant.color, meant.shape)
                    if phrase.color and not phrase.shape:
                        coloured += 1
                        assert thing.color != phrase.color
    assert coloured > 0


def test_every_size_word_has_a_contrast_in_the_notebooks_worlds() -> None:
    seen = 0
    for example in released(60):
        for scene in (example.world.test, *(before for before, _ in example.world.demonstrations)):
            for phrase in example.plan.phrases:
                if phrase.size and phrase.shape:
                    seen += 1
                    alike = [t for t in scene.things if t.shape == phrase.shape and phrase.color in (None, "", t.color)]
                    assert len({thing.size for thing in alike}) == 2
    assert seen > 50


def test_a_shape_with_a_size_word_has_two_sizes_in_the_notebooks_worlds() -> None:
    """This holds of the shape that an "object" has, too. A phrase with a colour binds the objects of this colour alone."""
    objects = 0
    for example in released(60):
        for before, _ in example.world.demonstrations:
            for phrase, meant in zip(example.plan.phrases, before.things, strict=False):
                if phrase.size:
                    objects += not phrase.shape
                    alike = [t for t in before.things if t.shape == meant.shape and phrase.color in ("", t.color)]
                    assert len({thing.size for thing in alike}) <= 2
    assert objects > 0


def test_a_wrong_output_of_the_notebooks_way_is_an_error() -> None:
    example = next(e for e in released(30) if e.world.output != e.world.test)
    other = write_answer("objects", example.world.test, example.world.test)
    assert "wrong_label" in codes(dataclasses.replace(example, answer=other, world=None))
    shown = [dict(pair) for pair in example.inputs["demonstrations"]]
    shown[0]["output"] = shown[0]["output"][1:]
    assert "wrong_output" in codes(dataclasses.replace(example, inputs={**example.inputs, "demonstrations": shown}))


def test_the_notebook_has_at_most_one_clause() -> None:
    with pytest.raises(BadOption, match="at most one clause"):
        released(1, pattern="nested")


@pytest.mark.parametrize("split", ["two_clauses", "nested", "more_objects", "fewer_demonstrations", "operation_relation"])
def test_descriptions_of_other_patterns_are_refused_where_the_split_fixes_them(split: str) -> None:
    """With `pattern` two_clauses, the training part of `two_clauses` would show what only the test may have."""
    with pytest.raises(BadOption, match="may be set for the splits random, hold_out"):
        make_job(ABSTRACT, split, "test", options={"pattern": "two_clauses"})
    make_job(ABSTRACT, "random", "test", options={"pattern": "two_clauses"})


# --- how many more would settle it -----------------------------------------------------------------------------------


def test_a_sound_task_needs_no_more_demonstrations_and_a_cut_one_does() -> None:
    example = examples(rows=1)[0]
    assert settle(example.inputs, example.answer) == Settlement((0,))
    for example in examples(rows=6):
        cut = {**example.inputs, "demonstrations": example.inputs["demonstrations"][:1]}
        found = settle(cut, example.answer)
        if found.rivals[0] > 0:
            break
    assert found.more is not None
    assert found.more == len(found.added) > 0
    more = [{"input": a.listed(), "output": b.listed()} for a, b in found.added]
    solved = solve({**cut, "demonstrations": [*cut["demonstrations"], *more]})
    assert solved.is_determined
    assert write_answer("objects", example.world.test, solved.answers[0][0]) == example.answer


def test_nothing_settles_a_task_that_no_rule_explains() -> None:
    example = examples(rows=1)[0]
    unchanged = write_answer("objects", example.world.test, example.world.test)
    assert settle(example.inputs, unchanged).more is None
    assert settle(example.inputs, "nonsense").more is None


def test_the_survey_of_a_file_says_how_many_more_are_needed(tmp_path: Path) -> None:
    task = arc_task(examples(rows=1)[0].world)
    path = tmp_path / "own.json"
    path.write_text(json.dumps(task))
    read = [one for one in ABSTRACT.read(path) if isinstance(one, Example)]
    figures = ABSTRACT.survey(read)
    assert figures["tasks"] == 1
    assert figures["more_demonstrations_needed"] == {"0": 1}
    task["train"] = task["train"][:1]
    path.write_text(json.dumps(task))
    figures = ABSTRACT.survey([one for one in ABSTRACT.read(path) if isinstance(one, Example)])
    assert figures["demonstrations"] == {1: 1}
    assert list(figures["needed_by_task"].values()) != [0]


def test_without_a_demonstration_a_task_is_undetermined_or_its_columns_are_wrong() -> None:
    found = 0
    for example in examples(rows=20):
        shown = list(example.inputs["demonstrations"])[:1]
        cut = dataclasses.replace(example, inputs={**example.inputs, "demonstrations": shown})
        assert "wrong_column" in codes(cut)
        found += "undetermined" in codes(cut)
    assert found > 10


def test_corrupted_tasks_are_refused() -> None:
    example = examples(rows=1)[0]
    first, second, third = example.inputs["demonstrations"]
    unchanged = {**example.inputs, "demonstrations": [{"input": first["input"], "output": first["input"]}, second, third]}
    assert "wrong_output" in codes(dataclasses.replace(example, inputs=unchanged))
    assert "wrong_label" in codes(
        dataclasses.replace(example, answer=write_answer("objects", example.world.test, example.world.test))
    )
    twice = {**example.inputs, "test": [*example.inputs["test"], example.inputs["test"][0]]}
    assert "impossible_world" in codes(dataclasses.replace(example, inputs=twice))
    for name, wrong in {
        "survivors": [9, 9, 9],
        "space": 1,
        "proved_unique": None,
        "kind": "x",
        "relations": [],
        "clauses": 2,
    }.items():
        assert "wrong_column" in codes(dataclasses.replace(example, meta={**example.meta, name: wrong})), name
    other = {**example.meta, "operation": "remove" if example.meta["operation"] != "remove" else "grow"}
    assert codes(dataclasses.replace(example, meta=other)) & {"wrong_output", "wrong_rule"}


def test_a_test_world_without_decoys_is_refused() -> None:
    for example in examples(rows=8):
        rule = parse_rule(example.meta["description"], example.meta["operation"])
        assert rule is not None
        assert list(weaker(rule))
        names = {shortcut.name for shortcut in example.explain().shortcuts if shortcut.answer is not None}
        assert names


def test_a_small_box_shows_around_the_largest_object() -> None:
    """The frame of the box must change more pixels than a hairline would (about 100)."""
    square, box = Thing(4, "yellow", "square", 1, 1), Thing(1, "yellow", "box", 1, 1)
    pictures = [picture(Task((), Scene(6, things), Scene(6, ())), None) for things in ((square,), (square, box))]
    bare, framed = (pixels(drawn.png()) for drawn in pictures)
    assert int((bare != framed).any(axis=2).sum()) > 300


def pixels(data: bytes) -> Any:
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(io.BytesIO(data)).convert("RGB"))


# --- answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", splits.ANSWER_FORMS)
def test_answer_forms_are_read_back(form: str) -> None:
    for example in examples(rows=6, answer_form=form):
        assert ABSTRACT.validate(example) == []
        assert example.score(example.answer).value == 1.0
        for other in splits.ANSWER_FORMS:
            assert example.score(write_answer(other, example.world.test, example.world.output)).value == 1.0


def test_arc_answers_need_a_small_grid() -> None:
    with pytest.raises(BadOption, match="grid_size is 7"):
        batch(grid_size=7, answer_form="arc")


@pytest.mark.parametrize(
    "text", ["red circle 2 at 9,9", "red circle 5 at 1,1", "remove red circle 2 at 1,1 now", "[[1]]", "[", ". / ."]
)
def test_what_is_no_world_is_no_answer(text: str) -> None:
    assert read_answer(Scene(6, ()), text) is None


def test_mistakes_have_names() -> None:
    for example in examples(rows=10):
        unchanged = write_answer("objects", example.world.test, example.world.test)
        assert "no_change" in example.score(unchanged).mistakes
        shown = write_answer("objects", example.world.test, example.world.demonstrations[-1][1])
        assert "copies_demonstration" in example.score(shown).mistakes
        assert example.score(example.answer).detail == {"target_found": True, "operation_right": True}


# --- ARC files -------------------------------------------------------------------------------------------------------


def test_arc_grids_keep_the_rules_of_arc_and_are_read_back(tmp_path: Path) -> None:
    made = examples(rows=10)
    for example in made:
        task = arc_task(example.world)
        assert set(task) == {"train", "test"}
        for pair in (*task["train"], *task["test"]):
            assert set(pair) == {"input", "output"}
            for grid in pair.values():
                assert len(grid) == 30
                assert all(len(row) == 30 and all(type(code) is int and 0 <= code <= 9 for code in row) for row in grid)
        (tmp_path / "one.json").write_text(json.dumps(task))
        (back,) = ABSTRACT.read(tmp_path / "one.json")
        assert isinstance(back, Example)
        assert back.world.output == example.world.output
        assert back.world.demonstrations == example.world.demonstrations
        assert back.validate() == []


def test_every_object_is_read_back_from_its_block() -> None:
    for color in blocks.CODES:
        for size in (1, 2, 3, 4):
            for shape in ("circle", "cylinder", "square", "box"):
                things = [Thing(size, color, shape, 1, 2), Thing(3, "red", "box" if shape != "box" else "circle", 1, 2)]
                assert sorted(blocks.read(blocks.paint(6, things)), key=str) == sorted(things, key=str)


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", '{"train": [], "test": []}', '{"a": {"train": [{"input": [[1]], "output": [[1]]}], "test": []}}', '{"a": 1}'],
)
def test_files_that_hold_no_task(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    (found,) = ABSTRACT.read(tmp_path / "x.json")
    assert isinstance(found, Problem)


# --- the solver ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["random", "color_shape", "two_clauses"])
def test_the_solver_is_always_right(split: str) -> None:
    for example in examples(split, rows=10):
        found = solve(example.inputs)
        assert found.is_determined
        assert example.score(str(solver(example))).value == 1.0


def test_the_heuristic_baseline_is_often_wrong() -> None:
    scores = [example.score(str(imitator(example))).value for example in examples(rows=60)]
    assert 0 <= sum(scores) / len(scores) < 0.6


# --- the lock --------------------------------------------------------------------------------------------------------


def test_a_split_is_one_entry_and_one_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    def moves_north(_forms: Forms, ops: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        found: np.ndarray[Any, np.dtype[np.bool_]] = ops == operations.numbers()["move north"]
        return found

    making = splits.Making((ONE,), wanted=moves_north)
    added = splits.ruled_split(
        "north", "composition", "Only moves to the north.", {"test": ("Moves north.", 50, making)}, alias=True
    )
    monkeypatch.setitem(splits.SPLITS, "north", added)
    made = examples("north", rows=4)
    assert {example.meta["operation"] for example in made} == {"move north"}
    assert codes(made[0]) == {"unjudged_split"}
    monkeypatch.setitem(
        oracle_claims.CLAIMS, "north", lambda e, _part: "" if e.meta["operation"] == "move north" else "another way"
    )
    assert [codes(example) for example in made] == [set()] * 4
    monkeypatch.setitem(
        oracle_claims.CLAIMS, "north", lambda e, _part: "" if e.meta["operation"] == "move south" else "another way"
    )
    assert codes(made[0]) == {"wrong_split"}


def test_rules_of_one_part_are_refused_in_another() -> None:
    for example in examples("random", "test", rows=10):
        for part in ("train", "validation"):
            assert "wrong_split" in codes(dataclasses.replace(example, meta={**example.meta, "part": part}))


def test_an_unknown_split_is_a_problem() -> None:
    example = examples(rows=1)[0]
    assert "unjudged_split" in codes(dataclasses.replace(example, meta={**example.meta, "split": "no-such"}))


def test_rules_are_said_in_one_sentence() -> None:
    rule = Rule(Form(ONE, 6, 75 * 0 + 13), "copy color")
    assert (
        str(rule)
        == "In each picture the red circle that is in the same row as the blue square takes the color of the blue square."
    )


def test_the_solver_is_an_answerer_and_the_ceiling(tmp_path: Path) -> None:
    from recombine.data.generate import generate
    from recombine.errors import UnknownName
    from recombine.evaluate.evaluate import evaluate

    folder = generate("abstract", tmp_path / "a", split="random", part="test", size=8)
    found = evaluate(folder, {}, baselines=["solver", "imitator"])
    shares = {run.name: sum(r.value for r in run.records) / len(run.records) for run in found.runs}
    assert shares["solver"] == 1.0 > shares["imitator"]
    with pytest.raises(UnknownName):
        evaluate(generate("scan", tmp_path / "s", split="length", part="test", size=2), {}, baselines=["solver"])


@pytest.mark.parametrize(("split", "part", "count"), [("random", "test", 5_000), ("nested", "test", 60)])
def test_rules_do_not_depend_on_how_many_rows_draw_together(split: str, part: str, count: int) -> None:
    """Few rows look at many rules in one step, many rows at one; both find the same rules and have looked at as many."""
    job = make_job(ABSTRACT, split, part, "sound", 7)
    making = generate.making_of(split, part, {})
    words, counters = keys.states(job.base("rules"), 0, count), np.zeros(count, dtype=np.uint64)
    together = generate.draw_rules(words, counters, np.arange(count), making)
    for row in (0, count // 2, count - 1):
        own = np.zeros(count, dtype=np.uint64)
        alone = generate.draw_rules(words, own, np.array([row]), making)
        assert np.array_equal(alone, [side[[row]] for side in together])
        assert own[row] == counters[row] >= generate.RULES
