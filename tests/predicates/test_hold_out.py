"""A user's splits: rows, claims, errors, ids, certificates, and that tampering is seen."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

import recombine
from recombine.abilities import Faceted
from recombine.data.generate import generate, remove
from recombine.errors import Infeasible, RecombineError, UsageError
from recombine.families import family
from recombine.families.lilgym.scene import Kind
from recombine.families.lilgym.sound import language
from recombine.families.lilgym.splits import held_out_by
from recombine.jobs import make_job
from recombine.predicates import holds, mask, parse
from recombine.predicates.draw import HOLD_OUT, PREDICATE

CASES = [
    ("scan", "repeat = twice and verb = turn"),
    ("scan", "clause[2].verb = jump and action_length > 20"),
    ("nacs", "any(manner) = around and conjunction = after"),
    ("gscan", "verb = pull and adverb = 'while spinning' and target.shape = circle"),
    ("gscan", "verb = pull and distance >= 5"),
    ("reascan", "verb = pull and target.color = green"),
    ("reascan", "any(np.color) = red and clauses >= 1"),
    ("clutrr", "any(path.relation) = brother and k >= 3"),
    ("lilgym", "color = yellow and place = top"),
    ("abstract", "operation = paint and any(relation) = column"),
    ("abstract", "object_count >= 8 and np.color[2] = blue"),
    ("lexicon", "verb = walk and repeat = thrice"),
    ("lexicon", "demonstrations >= 5 and any(side) = left"),
]
ROWS = 6


@pytest.mark.parametrize(("name", "text"), CASES)
def test_rows_are_held_out_and_moved_rows_are_refused(name: str, text: str) -> None:
    item = family(name)
    assert isinstance(item, Faceted)
    for part in ("train", "validation", "test"):
        job = make_job(item, None, part, options={PREDICATE: text})
        assert job.split == HOLD_OUT
        batch = item.generate(job.rows(0, ROWS))
        predicate = parse(text, item.FACETS)
        told = mask(predicate, item.facet_columns(batch, list(item.FACETS)))
        assert set(told.tolist()) == {part == "test"}
        for row in range(ROWS):
            example = item.example(batch, row)
            assert [p for p in example.validate() if p.severity == "error"] == []
            assert holds(str(example.meta[PREDICATE]), item.facet_values(example)) == (part == "test")
            other = "train" if part == "test" else "test"
            moved = dataclasses.replace(example, meta={**example.meta, "part": other})
            assert "wrong_split" in [p.code for p in moved.validate()]


@pytest.mark.parametrize(("name", "text"), CASES)
def test_a_row_is_the_same_alone_and_by_its_id(name: str, text: str) -> None:
    data = recombine.load(name, part="test", hold_out=text, seed=3)
    (one,) = data.pick([ROWS - 1])
    assert data[ROWS - 1].inputs == one.inputs
    again = recombine.data.datasets.example(one.id)
    assert (again.id, again.inputs, again.answer) == (one.id, one.inputs, one.answer)


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("scan", "repeat[1] = twice and action_length = 1", "test"),
        ("scan", "action_length >= 1", "train"),
        ("gscan", "size_word = small and target.size = 4", "test"),
        ("gscan", "color_word = red and target.color = blue", "test"),
        ("gscan", "target.size >= 1", "train"),
        ("abstract", "clauses = 1", "train"),
        ("abstract", "clauses = 2", "test"),
        ("lexicon", "word_count = 6", "train"),
        ("lexicon", "verb[2] = turn and clauses = 1", "test"),
    ],
)
def test_empty_and_total_predicates_are_refused(name: str, text: str, part: str) -> None:
    with pytest.raises(Infeasible, match="empty"):
        recombine.load(name, part=part, hold_out=text)[0]


def test_a_predicate_goes_with_no_other_split() -> None:
    with pytest.raises(UsageError, match="leave one out"):
        recombine.load("scan", "length", hold_out="verb = turn")
    with pytest.raises(UsageError, match="Did you mean 'verb'"):
        recombine.load("scan", hold_out="vreb = turn")
    with pytest.raises(UsageError, match="no facet of a statement"):
        recombine.load("lilgym", hold_out="objects > 3", part="train")[0]
    with pytest.raises(RecombineError):
        recombine.load("gscan", recipe="release", hold_out="verb = push")


def test_a_number_is_still_the_fraction_that_clutrr_holds_out() -> None:
    assert recombine.load("clutrr", "generalization_23", "train", hold_out=0.2).job.options == (("hold_out", 0.2),)
    assert recombine.load("clutrr", "generalization_23", "train", hold_out="0.2").job.options == (("hold_out", 0.2),)


def test_no_demonstration_of_a_lexicon_shows_the_pair_that_is_held_out() -> None:
    item = family("lexicon")
    for part in ("train", "test"):
        job = make_job(item, None, part, options={PREDICATE: "verb = walk and repeat = thrice"})
        batch = item.generate(job.rows(0, 40))
        for row in range(40):
            example = item.example(batch, row)
            shown = [example.plan.gloss(command) for command, _ in example.plan.demonstrations]
            assert not [gloss for gloss in shown if re.search(r"walk( opposite| around)?( left| right)? thrice", gloss)]
    walk, thrice = (next(w for w, m in example.plan.lexicon if m == meaning) for meaning in ("walk", "thrice"))
    more = {"command": f"{walk} {thrice}", "actions": "WALK WALK WALK"}
    inputs = {**example.inputs, "demonstrations": [*example.inputs["demonstrations"], more]}
    problems = dataclasses.replace(example, inputs=inputs).validate()
    assert "has a held-out pair" in " ".join(p.text for p in problems if p.code == "wrong_split")


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("any(verb) = walk and any(repeat) = thrice", {("walk", "thrice")}),
        ("any(verb) = walk", set()),
        ("clauses = 2", set()),
        ("any(verb) = walk and any(repeat) = thrice and word_count = 6", set()),
        ("any(verb) in (run, look) and any(manner) = around", {("run", "around"), ("look", "around")}),
    ],
)
def test_generator_and_oracle_of_lexicon_hold_the_same_pairs_back(text: str, pairs: set[tuple[str, str]]) -> None:
    from recombine.families.lexicon import facets, held_out, oracle, plan

    table = held_out.forbidden(parse(text, facets.FACETS))
    found = {(plan.MEANINGS[verb], plan.MEANINGS[other]) for verb, other in zip(*table.nonzero(), strict=True)}
    assert found == pairs == oracle._kept_back(text)


# --- certificates ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = generate("scan", tmp_path / "out", size=400, options={"hold_out": "repeat = twice and verb = turn"})
    return Path(made.path)


def test_the_certificate_says_what_the_rows_say(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    told = manifest["certificate"]
    assert told["holds"]
    assert told["satisfying"] == {"train": 0, "test": 400}
    assert told["every_test_atom_is_trained"]
    assert ["repeat = twice and verb = turn", 400] in told["commonest_new_compounds"]
    assert 0 <= told["atom_divergence"] < told["compound_divergence"] <= 1
    assert told["claim"] in (folder / "README.md").read_text()
    assert recombine.verify(folder).ok


def test_a_folder_with_pictures_of_its_training_rows_can_be_removed(folder: Path) -> None:
    assert list(folder.glob("figures/*-in-training.svg"))
    remove(folder)
    assert not folder.exists()


def test_a_narrow_predicate_may_repeat_tasks(tmp_path: Path) -> None:
    """Eight commands satisfy it, so a task comes up again among 200 rows."""
    text = "command_length = 4 and any(verb) = jump and clauses = 1"
    parts, sizes = ("train", "test"), {"train": 30, "test": 200}
    made = generate("lexicon", tmp_path / "out", part=parts, size=sizes, options={"hold_out": text}, engine="serial")
    assert [part.job.part for part in made.plan.parts] == ["train", "test"]
    rows = [made.family.example(batch, row) for batch in made.batches(1) for row in range(len(batch))]
    assert len({made.family.canonical(row) for row in rows}) < len(rows)
    assert recombine.verify(made.path).ok


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("predicate", "any(verb) = turn"),
        ("claim", "Nothing is held out."),
        ("satisfying", {"train": 0, "test": 399}),
        ("atom_divergence", 0.0),
        ("new_compounds", 0),
        ("shortcuts", {}),
        ("extra", 1),
    ],
)
def test_a_tampered_certificate_is_an_error(folder: Path, name: str, value: object) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["certificate"][name] = value
    path.write_text(json.dumps(manifest))
    verdict = recombine.verify(folder)
    assert [p.code for p in verdict.problems] == ["wrong_certificate"]
    assert name in verdict.problems[0].text


@pytest.mark.parametrize("value", [None, "fine", []])
def test_a_missing_certificate_is_an_error(folder: Path, value: object) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["certificate"]
    if value is not None:
        manifest["certificate"] = value
    path.write_text(json.dumps(manifest))
    assert [p.code for p in recombine.verify(folder).problems] == ["wrong_certificate"]


@pytest.mark.parametrize(
    "text", ["words >= 14 and not any(phenomenon) = negation", "depth = 2 or all(color) = blue", "scene = tower"]
)
@pytest.mark.parametrize("kind", ["tower", "scatter"])
def test_lilgyms_table_is_judged_as_its_statements_are_one_by_one(kind: Kind, text: str) -> None:
    found, rule = language.held_out(kind, text), held_out_by(text)
    for place in range(0, len(found), len(found) // 40):
        statement = language.statement(kind, place)
        assert found[place] == rule(statement, statement.words), statement.text
