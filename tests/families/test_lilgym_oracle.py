"""lilGym's oracle: wrong programs, wrong columns and rows in the wrong part are caught; a new split needs one rule and one claim."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from recombine.core import Example
from recombine.errors import UsageError
from recombine.families.lilgym import LILGYM, oracle, plan, program, splits
from recombine.families.lilgym.oracle import claims, difference, formula, meaning
from recombine.families.lilgym.play.tasks import instances_of_batch
from recombine.families.lilgym.scene import KINDS, Kind, Scene, unpack
from recombine.families.lilgym.sound import language, worlds
from recombine.jobs import make_job
from recombine.keys import states

ROOT = Path(__file__).resolve().parents[2]
HELD_OUT = [name for name, split in splits.SPLITS.items() if "sound" in split.recipes]


def rows(count: int, split: str = "random", part: str = "test", seed: int = 6, **options: object) -> list[Example]:
    batch = LILGYM.generate(make_job(LILGYM, split, part, None, seed, options).rows(0, count))
    return [LILGYM.example(batch, row) for row in range(count)]


def errors(example: Example) -> set[str]:
    return {problem.code for problem in example.validate() if problem.severity == "error"}


@pytest.fixture(scope="module")
def mutants() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants_lilgym", ROOT / "benchmarks" / "mutants_lilgym.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants_lilgym"] = module
    spec.loader.exec_module(module)
    return module


# --- programs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mutation", ["comparison", "and_or", "color", "number", "quantifier", "relation", "negation"])
def test_no_true_mutant_of_a_program_passes(mutants: ModuleType, kind: Kind, mutation: str) -> None:
    true, passed = mutants.survivors(kind, mutation, 25)
    assert passed == []
    assert true > 3 or (kind, mutation) == ("scatter", "relation")


def test_exactly_is_not_at_least() -> None:
    sentence = "There are exactly four yellow blocks."
    right, wrong = (f"count(filter_color(all_items, Color.YELLOW)) {sign} 4" for sign in ("==", ">="))
    assert oracle.proof(sentence, right, "tower") == ()
    assert [code for code, _ in oracle.proof(sentence, wrong, "tower")] == ["program_mismatch"]


def test_other_forms_of_the_same_meaning_pass_where_all_scenes_are_covered() -> None:
    sentence = "There is a tower that has a blue block."
    inside = "exist(filter_color(x.all_items_in_box(), Color.BLUE))"
    assert oracle.proof(sentence, f"exist(filter_obj(all_boxes, lambda x: {inside}))", "tower") == ()
    assert oracle.proof(sentence, f"count(filter_obj(all_boxes, lambda x: {inside} and x.is_tower())) >= 1", "tower") == ()
    foreign = "exist(filter_obj(all_boxes, lambda x: Color.BLUE in get_set_colors(x)))"
    assert [code for code, _ in oracle.proof(sentence, foreign, "tower")] == ["unproved_program"]
    assert [code for code, _ in oracle.proof(sentence, "True", "tower")] == ["program_mismatch"]
    assert [code for code, _ in oracle.proof(sentence, "exist(", "tower")] == ["bad_program"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_oracle_reads_programs_as_the_interpreter_runs_them(kind: Kind) -> None:
    table = language.table(kind)
    drawn = {tidy: worlds.draw_scenes(kind, False, states(99, 0, 12), tidy=tidy) for tidy in (False, True)}
    scenes = {tidy: unpack(kind, *found) for tidy, found in drawn.items()}
    for place in range(0, len(table.codes), len(table.codes) // 300):
        statement = language.statement(kind, place)
        read, compiled = formula.read(statement.program), program.compile(statement.program)
        for scene in scenes[worlds.is_tidy(kind, statement.program)]:
            assert meaning.holds(read, tuple(map(tuple, scene.items))) == compiled.evaluate(scene), statement.program


def test_all_towers_are_covered() -> None:
    fillings = difference.tower_fillings()
    assert len(set(fillings)) == 121
    some, many = (meaning.Items(frozenset(), meaning.Span(low, 99)) for low in (11, 12))
    assert difference.compare(some, many, fillings, True).witness is not None
    assert difference.compare(many, meaning.Items(frozenset(), meaning.Span(12, 12)), fillings, True).proved


# --- columns ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "start"), [(kind, start) for kind in KINDS for start in ("flipit", "scratch")])
def test_no_changed_column_passes(mutants: ModuleType, kind: Kind, start: str) -> None:
    assert mutants.passed_columns(kind, start, 6) == {}
    derived = {*mutants.COLUMNS, "statement", "program", "recipe"} - {"part", "split"}
    assert set(LILGYM.SCHEMA) <= derived | set(oracle.FREE_COLUMNS)


def test_a_plan_has_no_needless_edit() -> None:
    for example in rows(20, start="scratch") + rows(20):
        longer = "ADD blue left; REMOVE left; " + example.answer
        changed = dataclasses.replace(example, answer=longer, meta={**example.meta, "edits": example.meta["edits"] + 2})
        if "wrong_label" not in errors(changed):
            assert example.validate() == []
            assert errors(changed) <= {"needless_edit"}
    needless = dataclasses.replace(rows(1)[0])
    assert needless.validate() == []


def test_foreign_numbers_never_reach_a_kernel() -> None:
    batch = LILGYM.generate(make_job(LILGYM, "random", "test", None, 6).rows(0, 4))
    for place, value in ((0, 9), (3, 25), (4, -1), (5, 7), (1, 3_000)):
        values = batch.columns["items"].values.copy()  # type: ignore[union-attr]
        values[place] = value
        damaged = dataclasses.replace(
            batch, columns={**batch.columns, "items": dataclasses.replace(batch.columns["items"], values=values)}
        )
        with pytest.raises(UsageError):
            instances_of_batch(damaged)
        found = list(LILGYM.validate_batch(damaged))
        assert [(row, problem.code) for row, problem in found] == [(0, "malformed")], "the other rows are still judged"


# --- claims ----------------------------------------------------------------------------------------------------------


def test_every_split_has_a_claim() -> None:
    assert set(LILGYM.CLAIMS) == set(LILGYM.SPLITS)
    example = rows(1)[0]
    assert errors(dataclasses.replace(example, meta={**example.meta, "split": "no_such"})) == {"unjudged_split"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("split", HELD_OUT)
def test_a_row_in_another_part_is_refused(kind: Kind, split: str) -> None:
    for part in ("train", "validation", "test"):
        for example in rows(5, split, part, scene=kind, task="truth"):
            assert example.validate() == []
            for other in {"train", "validation", "test", "nowhere"} - {part}:
                moved = dataclasses.replace(example, meta={**example.meta, "part": other})
                assert errors(moved) == {"wrong_split"}


def test_a_new_split_is_a_rule_and_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Black blocks below something are held out; a claim that says something else is broken by the rows."""

    def rule(statement: language.Statement) -> bool:
        return any(noun.color == "black" and noun.relation == "directly_below" for noun in plan.mentioned(statement.plan))

    def held(found: meaning.Meaning, _example: Example) -> bool:
        black = meaning.Is("color", 1)
        below = [
            items
            for items in claims.everything_described(found)
            if any(getattr(t, "relation", "") == "directly below" for t in items)
        ]
        return any(black in items for items in below)

    split = splits.embedded("black_below", "…", "composition", rule, "Without.", "With.")
    monkeypatch.setitem(splits.SPLITS, "black_below", split)
    example = rows(1)[0]
    assert errors(dataclasses.replace(example, meta={**example.meta, "split": "black_below"})) == {"unjudged_split"}
    monkeypatch.setitem(claims.CLAIMS, "black_below", claims.HeldOut(held))
    for part in ("train", "test"):
        for example in rows(15, "black_below", part):
            assert example.validate() == []
            other = {"train": "test", "test": "train"}[part]
            assert errors(dataclasses.replace(example, meta={**example.meta, "part": other})) == {"wrong_split"}
    monkeypatch.setitem(claims.CLAIMS, "black_below", claims.HeldOut(lambda found, e: not held(found, e)))
    assert all(errors(example) == {"wrong_split"} for example in rows(5, "black_below", "test"))


def test_pictures_of_the_oracle_are_scenes() -> None:
    boxes = list(difference.scatter_fillings(False))
    assert len(boxes) == difference.FILLINGS
    for box in boxes:
        assert len(Scene.of("scatter", box).items) == len(box)
