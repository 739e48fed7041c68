"""Word learning: the proof that one meaning is left, the oracle that goes from actions to commands, readers, files and the lock."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

import recombine
from recombine.core import Example, Problem
from recombine.data.generate import run
from recombine.data.plan import make_plan
from recombine.data.verify import verify
from recombine.errors import BadOption
from recombine.families.lexicon import LEXICON, oracle, plan, splits
from recombine.families.lexicon.generate import generate
from recombine.families.lexicon.solver import solve
from recombine.jobs import make_job


def examples(split: str = "random", part: str = "test", rows: int = 12, **options: Any) -> list[Example]:
    batch = LEXICON.generate(make_job(LEXICON, split, part, "sound", 5, options).rows(0, rows))
    return [LEXICON.example(batch, row) for row in range(rows)]


def codes(example: Example) -> set[str]:
    return {problem.code for problem in LEXICON.validate(example)}


def test_both_implementations_have_scans_commands_and_meanings() -> None:
    assert len(plan.commands()) == len(set(plan.glosses())) == 20_910
    for gloss in plan.glosses()[::97]:
        assert " ".join(plan.actions_of(gloss.split()) or ()) == oracle.actions_of(gloss)
    assert plan.actions_of(["walk", "and"]) is None
    assert plan.actions_of(["turn"]) is None
    assert oracle.actions_of("left walk") is None


@pytest.mark.parametrize("split", list(splits.SPLITS))
def test_tasks_are_right(split: str) -> None:
    for example in examples(split, rows=40):
        assert LEXICON.validate(example) == []
        assert solve(example.inputs) == {example.answer: next(iter(solve(example.inputs).values()))}


def test_a_folder_with_a_task_drawn_twice_is_in_order(tmp_path: Path) -> None:
    """Tasks of four words are few: of 300 rows some come twice."""
    run(make_plan("lexicon", ("random",), ("test",), size=300, options={"words": 4}), tmp_path / "few")
    assert len({LEXICON.canonical(example) for example in recombine.load(tmp_path / "few", "random", "test")}) < 300
    assert verify(tmp_path / "few").problems == ()


def test_interpreted_and_compiled_rows_are_the_same() -> None:
    job = make_job(LEXICON, "random", "test", "sound", 5).rows(0, 2)
    first, second = generate(job, compiled=False), generate(job, compiled=True)
    assert [first.row(i) for i in range(2)] == [second.row(i) for i in range(2)]


def test_the_count_of_lexicons_is_that_of_brute_force() -> None:
    example = min(examples(rows=30, words=4), key=lambda e: len(e.inputs["demonstrations"]))
    words = sorted(example.meta["lexicon"])
    counts = [0] * len(example.inputs["demonstrations"])
    for meanings in itertools.permutations(plan.MEANINGS, len(words)):
        lexicon = dict(zip(words, meanings, strict=True))
        for i, pair in enumerate(example.inputs["demonstrations"]):
            said = plan.actions_of([lexicon[word] for word in pair["command"].split()])
            if said is None or " ".join(said) != pair["actions"]:
                break
            counts[i] += 1
    assert counts == list(example.meta["survivors"])


def test_corrupted_tasks_are_refused() -> None:
    example = examples(rows=1)[0]
    shown = list(example.inputs["demonstrations"])
    assert "wrong_label" in codes(dataclasses.replace(example, answer="WALK WALK WALK WALK WALK"))
    twice = {**example.inputs, "demonstrations": [*shown, shown[0]]}
    assert "repeated_demonstration" in codes(dataclasses.replace(example, inputs=twice))
    told = {**example.inputs, "demonstrations": [*shown, {"command": example.inputs["command"], "actions": example.answer}]}
    assert "shown_test" in codes(dataclasses.replace(example, inputs=told))
    silly = {**example.inputs, "demonstrations": [*shown, {"command": shown[0]["command"] + " zzz", "actions": "JUMP " * 7}]}
    assert "unexplained" in codes(dataclasses.replace(example, inputs=silly))
    for name in ("survivors", "space", "gloss", "clauses", "word_count", "proved_unique"):
        assert "wrong_column" in codes(dataclasses.replace(example, meta={**example.meta, name: None})), name
    swapped = dict(zip(example.meta["lexicon"], reversed(list(example.meta["lexicon"].values())), strict=True))
    assert "wrong_lexicon" in codes(dataclasses.replace(example, meta={**example.meta, "lexicon": swapped}))


def test_with_one_demonstration_only_a_task_is_undetermined() -> None:
    found = 0
    for example in examples(rows=20):
        cut = {**example.inputs, "demonstrations": example.inputs["demonstrations"][:1]}
        found += bool(codes(dataclasses.replace(example, inputs=cut)) & {"undetermined", "wrong_label"})
    assert found >= 18


def test_no_demonstration_shows_a_held_out_pair() -> None:
    for example in examples("modifier_verb", rows=30):
        for pair in example.inputs["demonstrations"]:
            gloss = " ".join(example.meta["lexicon"][word] for word in pair["command"].split())
            for clause in gloss.replace(" after ", " and ").split(" and "):
                verb, *modifiers = clause.split()
                assert not any(verb == held and modifier in modifiers for held, modifier in splits.HELD_PAIRS), gloss


def test_careless_readers_have_names() -> None:
    named = {s.name for e in examples(rows=60) for s in e.explain().shortcuts if s.answer and e.score(s.answer).value < 1}
    assert {"copies_demonstration", "verbs_only", "ignores_order", "ignores_repeats", "mixes_sides", "stops_early"} <= named


def test_more_words_than_meanings_cannot_be_asked_for() -> None:
    with pytest.raises(BadOption, match="words"):
        examples(words=11)
    assert len(examples("more_words", rows=1, words=10)[0].meta["lexicon"]) == 13


def test_files_are_read_back_and_bad_lines_are_named(tmp_path: Path) -> None:
    batch = LEXICON.generate(make_job(LEXICON, "random", "test", "sound", 5).rows(0, 3))
    out = io.StringIO()
    LEXICON.write([batch], out)
    path = tmp_path / "own.jsonl"
    path.write_text(
        out.getvalue() + "{}\nnot json\n" + json.dumps({"demonstrations": [], "command": 3, "actions": "WALK"}) + "\n"
    )
    read = list(LEXICON.read(path))
    assert [type(one) for one in read] == [Example] * 3 + [Problem] * 3
    for row, one in enumerate(read[:3]):
        assert isinstance(one, Example)
        assert one.inputs == LEXICON.example(batch, row).inputs
        assert one.validate() == []


@pytest.mark.parametrize("facet", ["words", "order"])
def test_pairs_mean_the_same(facet: str) -> None:
    for example in examples(rows=5):
        other = LEXICON.partner(example, facet)
        assert other is not None
        assert LEXICON.pair_problems(example, other, facet) == []
        assert solve(other.inputs) == solve(example.inputs)
        assert LEXICON.pair_problems(example, example, facet)
