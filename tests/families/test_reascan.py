"""The facts and laws of ReaSCAN: commands, sound worlds, splits, release lists, reading and scoring."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import recombine
from recombine import kernels
from recombine.core import Batch, Example
from recombine.errors import BadOption, RecombineError, UsageError
from recombine.families.reascan import REASCAN as reascan
from recombine.families.reascan import native, plan
from recombine.families.reascan.explain import reader_name
from recombine.families.reascan.release import generate as release
from recombine.families.reascan.release import pools as release_pools
from recombine.families.reascan.rows import grammar_of, saying_of
from recombine.families.reascan.sound.generate import aims_of, offsets_of
from recombine.families.reascan.splits import MIX, RELEASED
from recombine.families.reascan.survey import pictures
from recombine.grid.world import direction_codes
from recombine.jobs import make_job


def rows(split: str, part: str = "test", n: int = 20, recipe: str = "sound", seed: int = 1, **options: object) -> Batch:
    return reascan.generate(make_job(reascan, split, part, recipe, seed, options).rows(0, n))


def examples(split: str, part: str = "test", n: int = 20, **options: object) -> list[Example]:
    batch = rows(split, part, n, **options)
    return [reascan.example(batch, i) for i in range(n)]


DEAD_NESTED = 3_360
"""Nested commands that no world can make need every word and mean one object."""


# --- commands --------------------------------------------------------------------------------------------------------


def test_structure_counts() -> None:
    counted = {name: plan.count_structures(widths) for name, widths in plan.PATTERNS.items()}
    assert counted == {
        "simple": 45,
        "one_clause": 5_050,
        "two_clauses": 302_548,
        "three_clauses": 11_784_024,
        "nested": 383_470,
    }


@pytest.mark.parametrize("name", ["simple", "one_clause", "two_clauses"])
def test_listing_equals_counting(name: str) -> None:
    widths = plan.PATTERNS[name]
    assert sum(1 for _ in plan.each_structure(widths)) == plan.count_structures(widths)


def test_one_clause_structures_by_relation() -> None:
    found = Counter(relations[1] for _, relations in plan.each_structure((1,)))
    assert [found[r] for r in range(6)] == [1890, 1890, 54, 196, 180, 840]


def test_every_listed_command_can_be_said_and_read_back() -> None:
    structures = [*plan.each_structure((1,))][::7] + [s for k, s in enumerate(plan.each_structure((1, 1))) if k % 4001 == 0]
    for codes, relations in structures:
        widths = (1,) if len(codes) == 2 else (1, 1)
        said = plan.Description(
            tuple(plan.phrase_of(c) for c in codes), plan.parents_of(widths), ("", *(plan.RELATIONS[r] for r in relations[1:]))
        )
        command = plan.Command("push", "hesitantly", said)
        assert plan.broken_rules(command) == []
        text = plan.format_command(command, ["the", "a", "a"])
        assert plan.parse_command(text)[0] == command
        assert plan.decode_form(plan.encode_form(command)) == command
        assert command.widths == widths


@pytest.mark.parametrize(
    "text",
    [
        "",
        "walk",
        "push the",
        "push the red",
        "push the circle and inside of a red box",
        "push the circle\n",
        "x" * 5_000,
        "push a " * 99,
    ],
)
def test_other_texts_are_no_commands(text: str) -> None:
    with pytest.raises(UsageError):
        plan.parse_command(text)


def test_drawn_structures_are_uniform() -> None:
    """Chi-square over the relations and roots of one-clause commands; and nothing that breaks a rule."""
    kernel = kernels.load("recombine.families.reascan.commands", compiled=False)
    grammar, said = grammar_of((((1,), 1),), 0), saying_of()
    rng = np.array([7], dtype=np.uint64)
    forms = [
        int(kernel.draw_form(grammar.patterns[0], grammar.roots[0], grammar.steps, grammar.counts, said.codes, said.links, rng))
        for _ in range(12_000)
    ]
    commands = [plan.decode_form(form) for form in forms]
    assert all(plan.broken_rules(command) == [] for command in commands[::20])
    expected = Counter(relations[1] for _, relations in plan.each_structure((1,)))
    found = Counter(plan.RELATIONS.index(command.description.relations[1]) for command in commands)
    chi = sum((found[r] - len(forms) * expected[r] / 5_050) ** 2 / (len(forms) * expected[r] / 5_050) for r in range(6))
    assert chi < 25
    roots = Counter(command.phrases[0] for command in commands)
    due = Counter(plan.phrase_of(codes[0]) for codes, _ in plan.each_structure((1,)))
    chi = sum((roots[p] - len(forms) * due[p] / 5_050) ** 2 / (len(forms) * due[p] / 5_050) for p in due)
    assert chi < 110, chi


def test_all_commands_of_a_pattern() -> None:
    batch = rows("simple", n=675, commands="all")
    forms = set(np.asarray(batch.columns["form"]).tolist())
    assert len(forms) == 675
    with pytest.raises(BadOption):
        rows("all", commands="all")


def test_dead_structures_are_few_and_named() -> None:
    dead = list(plan.dead_structures((1, 1)))
    assert len(dead) == DEAD_NESTED
    assert len(dead) / plan.count_structures((1, 1)) < 0.05
    assert all(plan.is_dead(command) for command in dead)
    assert not list(plan.dead_structures((2,)))


def test_patterns_go_deeper_and_wider() -> None:
    for text, widths in (("2-1", (2, 1)), ("4", (4,)), ("1-1-1", (1, 1, 1))):
        for example in examples("pattern", n=2, pattern=text):
            assert example.plan.widths == widths
            assert example.validate() == []
    for wrong in ("0", "9", "1-1-1-1-1-1", "a", "7"):
        with pytest.raises(RecombineError):
            rows("pattern", n=1, pattern=wrong)


# --- sound worlds ----------------------------------------------------------------------------------------------------


def test_targets_agents_and_directions_are_balanced() -> None:
    """By the tables from which they are drawn: all three margins at once."""
    targets, agents = aims_of(6, tuple(range(8)))
    weights = np.diff(agents[0], axis=1, prepend=0) / agents[0][:, -1:].sum()
    assert np.allclose(weights.sum(axis=1), 1 / 36, rtol=0.001)
    assert np.allclose(weights.sum(axis=0), 1 / 36, rtol=0.001)
    directions = np.bincount(np.maximum(direction_codes(*offsets_of(6)), 0).ravel(), weights=weights.ravel())
    assert np.allclose(directions, 1 / 8, rtol=0.001)
    assert targets[:, -1].tolist() == [36, 32, 32, 36]


@pytest.mark.parametrize(
    "words", [{"split": "direction"}, {"split": "hold_out", "hold_out": "direction = s or direction = n or direction = e"}]
)
def test_targets_on_one_side_lie_at_all_distances(words: dict[str, str]) -> None:
    rows = recombine.load("reascan", **words, part="test", recipe="sound", size=600)  # type: ignore[arg-type]
    distances = Counter(row.meta["distance"] for row in rows)
    assert max(distances.values()) < 0.4 * len(rows)
    assert len(distances) >= 5
    if words["split"] == "hold_out":
        assert min(Counter(row.meta["direction"] for row in rows)[name] for name in "sne") > 0.2 * len(rows)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_interaction_dial(share: float) -> None:
    batch = rows("simple", n=300, interaction=share)
    verbs = batch.columns["verb"]
    moved = [bool(m) for i, m in enumerate(np.asarray(batch.columns["interaction"])) if verbs[i] != "walk"]
    assert abs(np.mean(moved) - share) < 0.12
    if share in (0.0, 1.0):
        assert np.mean(moved) == share


def test_determiners_are_not_given_by_the_pattern() -> None:
    for split, low in (("one_clause", 0.3), ("two_clauses", 0.08)):
        said = [" ".join(str(e.inputs["command"]).split(" the ", 1)[1:]) for e in examples(split, "train", 120)]
        share = np.mean([" the " in text.replace("in the same", "") for text in said])
        assert low < share < 0.9, (split, share)


def test_every_relation_is_generated() -> None:
    relations = {r for e in examples("one_clause", "train", 200) for r in e.plan.description.relations[1:]}
    assert relations == {"row", "column", "color", "shape", "size", "inside"}


def test_random_only_marks_what_is_not_needed() -> None:
    found = examples("two_clauses_rd", n=30)
    assert all(e.validate() == [] for e in found)
    assert not any(e.meta["relation_distractor"] or e.meta["attribute_distractor"] for e in found)
    assert any(e.meta["spare_words"] for e in found)


def test_few_objects_are_flagged_instead() -> None:
    found = examples("three_clauses", n=12, max_objects=14)
    assert all(e.validate() == [] for e in found)
    assert all(len(e.world.things) <= 14 for e in found)
    assert any(e.meta["spare_words"] for e in found)
    assert not any(e.meta["spare_words"] for e in examples("two_clauses", n=30))


@pytest.mark.parametrize("grid", [5, 9, 14])
def test_other_grid_sizes(grid: int) -> None:
    for example in examples("one_clause", n=8, grid_size=grid):
        assert example.world.size == grid
        assert example.validate() == []
    if grid == 5:
        with pytest.raises(BadOption):
            rows("three_clauses", grid_size=grid)


def test_roles_say_whom_they_catch() -> None:
    seen: Counter[str] = Counter()
    for example in examples("two_clauses", n=10):
        names = {s.name for s in example.explain().shortcuts}
        for thing, code in zip(example.world.things, example.meta["object_catches"], strict=True):
            seen[thing.role] += 1
            if thing.role in ("relation", "attribute"):
                assert reader_name(code) in names
            elif thing.role == "isomorphism":
                assert reader_name(code).startswith("swaps_")
            elif thing.role == "contrast":
                assert code != -1
            else:
                assert thing.role in ("target", "pivot", "random")
                assert code == -1
    assert min(seen[role] for role in ("target", "pivot", "relation", "attribute", "isomorphism", "random")) >= 5


def test_shots_of_the_adverb_split() -> None:
    found = examples("adverb", "train", 20, shots=3)
    assert [e.plan.adverb == "cautiously" for e in found] == [True] * 3 + [False] * 17
    assert all(e.plan.adverb == "cautiously" for e in examples("adverb", "test", 6))


def test_inputs_do_not_give_the_target_away() -> None:
    places = [
        e.inputs["objects"].index(min(e.inputs["objects"], key=lambda o, e=e: _distance(o, e))) for e in examples("simple")
    ]
    assert len(set(places)) > 3
    for example in examples("one_clause", n=3):
        assert set(example.inputs) == {"command", "grid_size", "agent", "objects"}
        assert "role" not in json.dumps(example.inputs)


def _distance(thing: dict, example: Example) -> int:
    target = example.world.things[0]
    return abs(thing["row"] - target.row) + abs(thing["column"] - target.column) + 9 * (thing["shape"] != target.shape)


# --- release ---------------------------------------------------------------------------------------------------------


def test_release_sizes_and_lists() -> None:
    assert sum(RELEASED["simple"]) == 675 * 180
    assert len(release_pools.command_list(5, "simple")) == 675 == len(set(release_pools.command_list(5, "simple")))
    assert [weight * 675 for _, weight in MIX] == [675, 2_025, 3_375]
    one = release_pools.command_list(5, "one_clause")
    assert len(one) == 2_025 == len({form // 15 for form in one})
    for split in ("a1", "a3", "b2"):
        listed = release_pools.pool(split, "test", 5)
        published = reascan.SPLITS[split].parts["test"].rows("release")
        assert 0.8 < listed.worlds.sum() / published < 1.25, split
    assert len(release_pools.pool("b2", "test", 5).forms) == 37


def test_release_parts_are_disjoint_slices() -> None:
    jobs = [make_job(reascan, "simple", part, "release", 5) for part in ("train", "validation", "test")]
    found = [release.slots("simple", job.part, 5) for job in jobs]
    assert [len(commands) for commands, _ in found] == [113_967, 6_318, 1_215]
    pairs = {pair for commands, worlds in found for pair in zip(commands.tolist(), worlds.tolist(), strict=True)}
    assert len(pairs) == 121_500
    with pytest.raises(UsageError):
        reascan.generate(jobs[2].rows(1_210, 1_216))
    with pytest.raises(BadOption):
        rows("simple", recipe="release", interaction=0.5)


def test_release_keeps_the_quirks() -> None:
    """First-free pivots, "a" after two clauses, 13 objects or more, and a dead "same size"."""
    batch = rows("two_clauses", n=60, recipe="release")
    found = [reascan.example(batch, i) for i in range(60)]
    assert all(not [p for p in e.validate() if p.severity == "error"] for e in found)
    pivots = [e.world.things[k].column for e in found for k, r in enumerate(e.plan.description.relations) if r == "row"]
    assert np.mean([column <= 1 for column in pivots]) > 0.9
    assert min(len(e.world.things) for e in found) == 13
    assert any(p.severity == "artifact" for e in found for p in e.validate())
    size_only = [form for form in release_pools.command_list(5, "one_clause") if _relations(form) == {"size"}][:2]
    job = make_job(reascan, "one_clause", "train", "release", 5)
    pool = release_pools.Pool(np.array(size_only, dtype=np.int64), np.array([180] * len(size_only)))
    states = np.array([1, 2], dtype=np.uint64)
    assert release._run(job, states, pool.forms, pool, (60, 1), compiled=False)[1].tolist() == [0, 0]


def _relations(form: int) -> set[str]:
    return set(plan.decode_form(form).description.relations[1:])


def test_release_filters_of_the_held_out_sets() -> None:
    for split, phrase in (("a1", "yellow square"), ("a3", "cylinder")):
        batch = rows(split, n=6, recipe="release")
        assert all(phrase in str(batch.columns["command"][i]) for i in range(6))
        for i in range(6):
            node, kind = batch.columns["strategy"][i][:2]
            words = reascan.example(batch, i).plan.phrases[node]
            assert (words.color, words.shape) == ("yellow", "square") if split == "a1" else words.size == "small"
            assert kind == (1 if split == "a1" else 0)
    for i, example in enumerate(reascan.example(b, i) for b in [rows("c2", n=4, recipe="release")] for i in range(4)):
        assert example.plan.widths == (1, 1), i
        assert set(example.plan.description.relations[1:]) <= {"row", "column"}


# --- reading, explaining, scoring ------------------------------------------------------------------------------------


def test_score_names_the_mistake_and_the_cell() -> None:
    named: Counter[str] = Counter()
    for example in examples("two_clauses", n=12):
        assert example.score(example.answer).detail["target_cell"] is True
        for shortcut in example.explain().shortcuts:
            if shortcut.answer is None or shortcut.answer == example.answer:
                continue
            score = example.score(shortcut.answer)
            assert shortcut.name in score.mistakes
            named.update([shortcut.name.rstrip("_0123456789")])
            if shortcut.name in ("ignores_adverb", "walks_only"):
                assert score.detail["target_cell"] is True
    assert {"ignores_color", "ignores_clause", "nearest_match", "ignores_adverb"} <= set(named)


def test_every_dropped_word_has_a_reader_with_a_wrong_answer() -> None:
    readers = ("ignores_size", "ignores_color", "ignores_shape", "ignores_clause")
    tried: Counter[str] = Counter()
    for example in examples("one_clause", n=12):
        for shortcut in example.explain().shortcuts:
            if shortcut.name.startswith(readers):
                assert shortcut.answer not in (None, example.answer), (example.id, shortcut)
                tried[shortcut.name.rstrip("_0123456789")] += 1
    assert min(tried[name] for name in readers) >= 5


def test_the_proof_names_each_rival() -> None:
    ways: Counter[str] = Counter()
    for example in examples("nested", n=6):
        told = example.explain().steps
        steps = " ".join(told)
        assert "phrase 1" in steps
        assert "phrase 3" in steps
        for t in example.world.things[1:]:
            name = f"the {t.color} {t.shape} of size {t.size} in row {t.row + 1}, column {t.column + 1}"
            by_clause = [step for step in told if step.startswith(f"{name} also fits") and ", but " in step]
            by_word = [step for step in told if name in step.partition(" out ")[2] and re.search(r" rules? out ", step)]
            assert len(by_clause) + len(by_word) == 1, name
            ways.update(["clause"] * len(by_clause) + ["word"] * len(by_word))
    assert min(ways["clause"], ways["word"]) >= 5


def test_vocabularies_hold_the_whole_language() -> None:
    source, target = native.vocabularies(rows("one_clause", n=20))
    assert source["idx_to_word"][:3] == ["<PAD>", "<SOS>", "<EOS>"]
    assert (len(source["idx_to_word"]), len(target["idx_to_word"])) == (38, 9)
    assert source["word_frequencies"]["the"] >= 20
    words = {word for e in examples("two_clauses", "train", 100) for word in str(e.inputs["command"]).split()}
    assert words <= set(source["word_to_idx"])


def test_prediction_files_are_read(tmp_path: Path) -> None:
    found = examples("one_clause", n=4)
    made = [
        {
            "input": str(e.inputs["command"]).split(),
            "target": e.answer.split(","),
            "prediction": ["walk"],
            "situation": [native.derived(str(e.inputs["command"]), e.plan, e.world, e.answer.split(","))["situation"]],
        }
        for e in found
    ]
    path = tmp_path / "predict.json"
    path.write_text(json.dumps(made))
    back = list(native.read_predictions(reascan, path))
    assert [answer for _, answer in back] == ["walk"] * 4
    assert [e.inputs for e, _ in back] == [e.inputs for e in found]


@pytest.mark.parametrize("damage", ["position", "object", "command", "target", "list"])
def test_malformed_rows_become_problems(damage: str, tmp_path: Path) -> None:
    out = io.StringIO()
    reascan.write([rows("simple", n=2)], out)
    document = json.loads(out.getvalue())
    row = document["examples"]["test"][0]
    if damage == "position":
        row["situation"]["placed_objects"]["1"]["position"]["row"] = "77"
    elif damage == "object":
        row["situation"]["placed_objects"]["1"]["object"]["color"] = "pink"
    elif damage == "command":
        row["command"] = "fly,to,the,moon"
    elif damage == "target":
        row["situation"]["target_object"]["position"]["row"] = (
            "5" if row["situation"]["target_object"]["position"]["row"] != "5" else "4"
        )
    else:
        document["examples"]["test"][0] = [1, 2]
    path = tmp_path / "x.txt"
    path.write_text(json.dumps(document))
    found = list(reascan.read(path))
    assert [type(f).__name__ for f in found] == ["Problem", "Example"]
    assert found[0].code == "malformed"
    assert found[0].place == "test[0]"


def test_survey_is_json_and_pictures() -> None:
    figures = reascan.survey(examples("all", "train", 60))
    assert json.loads(json.dumps(figures))["examples"] == 60
    assert all(share == 1.0 for share in figures["necessity"].values())
    assert figures["exposure"].get("says yellow square", 0) == 0
    assert figures["exposure"]["a red square mentioned"] == 0
    drawn = pictures(figures)
    assert {"action_lengths", "directions", "in_commands.relations", "in_worlds.shapes", "distractors"} <= set(drawn)
    assert all(canvas.svg().startswith("<svg") for canvas in drawn.values())
