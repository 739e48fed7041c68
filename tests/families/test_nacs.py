"""NACS: actions back to commands. Ambiguity, inversion, the leak-free column, and scoring by meaning."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.core import Example
from recombine.families.scan import NACS, SCAN, ambiguity, inverses, splits
from recombine.families.scan.corpus import action_texts, corpus, places
from recombine.families.scan.explain import READERS
from recombine.families.scan.generate import pair
from recombine.jobs import make_job


def example_of(command: str) -> Example:
    """The example with this command as its answer, as a file would give it."""
    return pair(NACS, "x", command, action_texts("file")[places()[command]], {"recipe": "release"})


def test_ambiguity() -> None:
    found = ambiguity()
    assert found == {
        1: 6, 2: 8244, 3: 36, 4: 784, 5: 28, 6: 60, 7: 16, 8: 26, 9: 2, 10: 10, 11: 2, 12: 4, 14: 2, 16: 4, 17: 2, 19: 2,
    }  # fmt: skip
    assert sum(found.values()) == 9_228
    assert sum(k * n for k, n in found.items()) == 20_910


def test_a_survey_counts_the_ambiguity_of_a_file() -> None:
    commands = ("walk twice", "walk and walk", "walk after walk", "run")
    figures = NACS.survey([example_of(command) for command in (*commands, "run")])
    assert figures["sequences_by_number_of_commands"] == {1: 1, 3: 1}
    assert figures["exact_match_ceiling"] == 0.5
    whole = NACS.survey([example_of(command) for command in corpus().commands])
    assert whole["sequences_by_number_of_commands"] == ambiguity()
    assert (whole["equals"], whole["exact_match_ceiling"]) == (["tasks"], 0.4413)


def test_inverses_are_exactly_the_commands_that_mean_the_actions() -> None:
    assert inverses("I_WALK") == ("walk",)
    assert inverses("LTURN LTURN") == inverses("I_TURN_LEFT I_TURN_LEFT")
    assert set(inverses("LTURN LTURN")) == {
        "turn opposite left", "turn left twice", "turn left and turn left", "turn left after turn left",
    }  # fmt: skip
    assert len(inverses("RTURN " * 6)) == 19
    for nothing in ("", "I_FLY", "I_WALK " * 49, "I_WALK I_RUN I_JUMP"):
        assert inverses(nothing) == ()
    texts, everything = action_texts("file"), corpus()
    for i in range(0, len(texts), 97):
        found = inverses(texts[i])
        assert everything.commands[i] in found
        assert len(found) == everything.readings[i]
        assert {texts[places()[command]] for command in found} == {texts[i]}


def test_every_right_command_scores_one() -> None:
    example = example_of("turn opposite left thrice")
    assert len(inverses(example.inputs["actions"])) == 19
    for command in inverses(example.inputs["actions"]):
        assert example.score(command).value == 1.0
        assert example.score(f" {command.replace(' ', '  ')}\n").value == 1.0


def test_wrong_commands_name_the_reader_for_whom_they_would_be_right() -> None:
    example = example_of("jump opposite left after walk twice")
    for command, mistake in (
        ("jump opposite left and walk twice", "and_as_after"),
        ("walk twice after jump opposite left", "after_as_and"),
        ("jump opposite right after walk twice", "swaps_sides"),
        ("jump around left after walk twice", "around_as_opposite"),
        ("jump opposite left after walk thrice", "twice_for_thrice"),
    ):
        scored = example.score(command)
        assert scored.status == "wrong"
        assert mistake in scored.mistakes
        assert scored.detail["back_mapping"] == action_texts("file")[places()[command]]
    assert example.score("walk").mistakes == ()


def test_what_does_not_parse_is_unparsable() -> None:
    example = example_of("walk twice")
    for answer in (
        "",
        "walk walk",
        "turn",
        "I_WALK I_WALK",
        "walk twice\nwalk twice",
        "Walk twice",
        "walk twice.",
        "walk " * 4_000,
    ):
        scored = example.score(answer)
        assert (scored.value, scored.status) == (0.0, "unparsable"), answer


def test_each_shortcut_reader_would_read_its_command_as_the_input() -> None:
    example = example_of("jump around left twice after walk opposite right")
    explanation = example.explain()
    assert len(explanation.shortcuts) == len(READERS)
    assert "1 other command means the same" in explanation.steps[-1]
    named = [s for s in explanation.shortcuts if s.answer is not None]
    assert len(named) >= 5
    for shortcut in named:
        scored = example.score(shortcut.answer or "")
        assert scored.value == 1.0 or shortcut.name in scored.mistakes
    assert "No other command means" in example_of("walk").explain().steps[-1]


@pytest.mark.parametrize(("split", "leaked"), [("length", 0), ("addprim_jump", 0), ("addprim_turn_left", 495)])
def test_leaks_of_the_rule_based_splits(split: str, leaked: int) -> None:
    batch = NACS.generate(make_job(NACS, split, "test"))
    assert int((~np.asarray(batch.columns["leak_free"])).sum()) == leaked


@pytest.mark.parametrize(
    ("split", "distinct"), [("length", 1_836), ("addprim_jump", 3_595), ("addprim_turn_left", 543)]
)  # fmt: skip
def test_distinct_test_inputs(split: str, distinct: int) -> None:
    assert len(np.unique(corpus().meaning[splits.SPLITS[split].rows("test", 0)])) == distinct


def test_the_simple_split_leaks_most_of_its_test_rows() -> None:
    for seed in (0, 1, 2):
        batch = NACS.generate(make_job(NACS, "simple", "test", seed=seed))
        assert 3_400 < int((~np.asarray(batch.columns["leak_free"])).sum()) < 3_700  # 3,567 in the released files
    learnt = NACS.generate(make_job(NACS, "simple", "train"))
    assert np.asarray(learnt.columns["leak_free"]).all()


def test_nacs_is_scan_read_backwards() -> None:
    one, other = SCAN.generate(make_job(SCAN, "simple")), NACS.generate(make_job(NACS, "simple"))
    for row in (0, 17, 4_181):
        forth, back = SCAN.example(one, row), NACS.example(other, row)
        assert (forth.inputs["command"], forth.answer) == (back.answer, back.inputs["actions"])
        assert SCAN.canonical(forth) == NACS.canonical(back)
    assert list(NACS.SCHEMA)[:2] == ["actions", "command"]
    assert list(other.columns) == list(NACS.SCHEMA)
    assert {name for name, split in NACS.SPLITS.items() if split.axis != "inversion"} == {"pool"}, "a pool tests nothing"
