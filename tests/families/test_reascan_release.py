"""The release recipe of ReaSCAN against the figures measured of the original generator: acceptance, strategies, quirks of a draw."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

import recombine
from recombine import keys
from recombine.data.datasets import example as remade
from recombine.families.reascan import REASCAN as reascan
from recombine.families.reascan import plan
from recombine.families.reascan.release import generate as release
from recombine.families.reascan.release import pools as release_pools
from recombine.grid.codes import RELATIONS
from recombine.grid.matching import Description, Phrase
from recombine.jobs import make_job

ACCEPTED = {"row": 0.638, "column": 0.631, "inside": 0.418, "color": 0.160, "shape": 0.139, "size": 0.0}
"""Of the original: 40 commands of each relation with 25 draws each."""


def form_of(*phrases: str, relations: tuple[str, ...], parents: tuple[int, ...]) -> int:
    said = Description(tuple(phrase_of(text) for text in phrases), parents, ("", *relations))
    command = plan.Command("walk", "", said)
    assert plan.broken_rules(command) == []
    return plan.encode_form(command)


def phrase_of(text: str) -> Phrase:
    words = text.split()
    size = next((w for w in words if w in ("small", "big")), "")
    color = next((w for w in words if w in ("red", "blue", "green", "yellow")), "")
    return Phrase(size, color, "" if words[-1] == "object" else words[-1])


def error_of(rates: np.ndarray, commands: int, draws: int) -> float:
    """The standard error of a mean over so many commands with so many draws each."""
    return float(np.sqrt((rates.var() + (rates * (1 - rates)).mean() / draws) / commands))


@pytest.mark.parametrize("relation", RELATIONS)
def test_acceptance_by_relation(relation: str) -> None:
    number = RELATIONS.index(relation)
    forms = [
        plan.encode_form(
            plan.Command("walk", "", Description(tuple(plan.phrase_of(c) for c in codes), (-1, 0), ("", relation)))
        )
        for codes, relations in plan.each_structure((1,))
        if relations[1] == number
    ]
    rates = release.acceptance(forms, 60)
    if relation == "size":
        assert rates.max() == 0
        return
    assert abs(rates.mean() - ACCEPTED[relation]) < 3 * error_of(rates, 40, 25), rates.mean()


def test_acceptance_of_two_clauses() -> None:
    rates = release.acceptance(release_pools.sample_forms(keys.Stream("two"), (2,), 1_500), 40)
    assert abs(rates.mean() - 0.279) < 3 * error_of(rates, 150, 20)


@pytest.mark.parametrize(("relation", "failing"), [("inside", 213 / 225), ("shape", 168 / 215)])
def test_sized_objects_without_contrast_are_almost_dead(relation: str, failing: float) -> None:
    """No phrase has a shape to change, so no contrast is placed; the target rarely fits its own description."""
    number = RELATIONS.index(relation)
    forms = []
    for codes, relations in plan.each_structure((1,)):
        phrases = tuple(plan.phrase_of(c) for c in codes)
        if relations[1] == number and not phrases[0].shape and any(p.size for p in phrases):
            forms.append(plan.encode_form(plan.Command("walk", "", Description(phrases, (-1, 0), ("", relation)))))
    rates = release.acceptance(forms, 100)
    assert rates.mean() < 1 - failing + 0.03


def test_bounds_hold_for_the_shape_that_a_sized_object_happens_to_have() -> None:
    """ "small object": all objects of the target's shape have two sizes, and one of another size of any shape is there."""
    form = form_of("small object", "red circle", relations=("row",), parents=(-1, 0))
    batch = release.worlds([form] * 60, compiled=True)
    for i in range(60):
        things = reascan.example(batch, i).world.things
        target = things[0]
        assert len({t.size for t in things if t.shape == target.shape}) <= 2
        contrast = [t for t in things if t.role == "contrast"]
        assert len(contrast) == 1


def test_a_changed_size_keeps_the_other_sizes() -> None:
    """The group of an attribute distractor that changes a size word copies the sizes of the other mentioned objects."""
    form = form_of("small circle", "red square", relations=("row",), parents=(-1, 0))
    batch = release.worlds([form] * 200, compiled=True)
    seen = set()
    for i in range(200):
        node, kind = list(batch.columns["strategy"][i])[:2]
        group = [t for t in reascan.example(batch, i).world.things if t.role == "attribute"]
        pivot = reascan.example(batch, i).world.things[1]
        if (node, kind) == (0, 0):
            assert group[1].size == pivot.size
        elif (node, kind) == (1, 1):
            seen.add(group[1].size == pivot.size)
    assert seen == {True, False}


def test_colourless_phrases_swap_size_and_shape() -> None:
    form = form_of("red circle", "small square", "big cylinder", relations=("row", "column"), parents=(-1, 0, 0))
    batch = release.worlds([form] * 30, compiled=True)
    assert {int(batch.columns["strategy"][i][2]) for i in range(30)} == {2}


def test_random_objects_of_simple_commands_have_other_shapes() -> None:
    form = form_of("red circle", relations=(), parents=(-1,))
    batch = release.worlds([form] * 40, compiled=True)
    for i in range(40):
        assert all(t.shape != "circle" for t in reascan.example(batch, i).world.things if t.role == "random")


def test_two_clause_rows_of_all_have_the_rates_of_the_demo_file() -> None:
    """Version 1.0 had hardly a "same size" clause; without those, its rates come back within the sampling error of commands."""
    batch = release.release(make_job(reascan, "all", "train", "release", 3).rows(0, 20_000), compiled=True)
    relations = [plan.decode_form(int(form)).description.relations for form in np.asarray(batch.columns["form"])]
    kept = np.array([len(found) == 3 and "size" not in found for found in relations])
    demo = {"relation": 1.0, "attribute": 0.524, "isomorphism": 0.515, "random": 0.479}
    for name, due in demo.items():
        share = float(np.asarray(batch.columns[f"{name}_distractor"])[kept].mean())
        assert abs(share - due) < 3 * np.sqrt(2 * 0.25 / 1_350) + 1e-9, (name, share)
    inside = np.array(["inside" in found for found in relations])[kept].mean()
    assert abs(inside - 0.476) < 3 * np.sqrt(2 * 0.25 / 1_350)


def test_three_worlds_for_each_command_or_training_example() -> None:
    for split in ("b1", "c1"):
        assert set(release_pools.pool(split, "test", 5).worlds.tolist()) == {3}
    nested = release_pools.pool("c2", "test", 5)
    assert nested.worlds.sum() == 8_004
    assert set((nested.worlds % 3).tolist()) == {0}
    assert nested.worlds.max() > 3


def test_written_relation_flags_say_what_was_placed() -> None:
    batch = reascan.generate(make_job(reascan, "two_clauses", "test", "release", 2).rows(0, 12))
    out = io.StringIO()
    reascan.write([batch], out)
    written = json.loads(out.getvalue())["examples"]["test"]
    for i, record in enumerate(written):
        placed = sum(t.role == "relation" for t in reascan.example(batch, i).world.things)
        assert record["full_relation_distractor"] == (placed == 4)
        assert record["has_relation_distractor"] is True


@pytest.mark.parametrize(
    ("name", "split", "part"), [("reascan", "all", "train"), ("reascan", "a1", "test"), ("gscan", "visual", "test")]
)
def test_picked_rows_are_those_of_the_whole_part(name: str, split: str, part: str) -> None:
    loaded = recombine.load(name, split, part, recipe="release", seed=2)
    picked = loaded.pick([1_203, 7, 8, 411])
    assert [example.id[-6:] for example in picked] == ["000007", "000008", "000411", "001203"]
    for example in picked:
        again = remade(example.id)
        assert (again.inputs, again.answer, again.meta) == (example.inputs, example.answer, example.meta)
    assert [e.id for e in recombine.load("reascan", "simple", "test", seed=2).pick([5, 3])] == [
        f"reascan@2/sound/simple/test/2/00000{row}" for row in (3, 5)
    ]
    with pytest.raises(IndexError):
        loaded.pick([len(loaded)])


def test_b1_begins_where_the_grammar_begins() -> None:
    """The original takes its commands in the order of the grammar's list: bare shapes first."""
    commands = [plan.decode_form(int(form)) for form in release_pools.pool("b1", "test", 5).forms]
    assert len(commands) == 3_334 == len({command.description for command in commands})
    assert all(not c.phrases[0].size and not c.phrases[0].color and c.phrases[0].shape for c in commands)
    assert {c.phrases[1].color != "" for c in commands[:2_000]} == {True}
    assert len({(c.verb, c.adverb) for c in commands}) == 15


def test_held_out_worlds_have_their_attribute_distractor_in_full() -> None:
    for split in ("a1", "a3"):
        batch = reascan.generate(make_job(reascan, split, "test", "release", 4).rows(0, 400))
        assert np.asarray(batch.columns["attribute_distractor"]).all()
