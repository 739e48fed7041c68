"""SCAN: the facts of the grammar and of the splits, the laws, the readers, the scorer and the file layout, one by one."""

from __future__ import annotations

import dataclasses
import io
import random
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from recombine.core import Example, Problem
from recombine.errors import BadOption, FileError, UnknownName, UsageError
from recombine.families.scan import SCAN, oracle, plan, splits
from recombine.families.scan.corpus import action_texts, corpus, places
from recombine.families.scan.explain import READERS, readings_of
from recombine.families.scan.plan import Clause, Command, Phrase, parse_actions, plan_at
from recombine.jobs import make_job

ONE_OF_EACH = [name for name in splits.SPLITS if not re.search(r"rep[2-5]$|^mcd|^hold_out$|^pool$", name)]


def example_of(command: str, actions: str | None = None) -> Example:
    """An example as a file would give it."""
    from recombine.families.scan.generate import pair

    meant = action_texts("file")[places()[command]] if actions is None else actions
    return pair(SCAN, "x", command, meant, {"recipe": "release"})


# --- the grammar -----------------------------------------------------------------------------------------------------


def test_the_grammar_has_20910_commands_of_the_known_lengths() -> None:
    everything = corpus()
    assert len(plan.PHRASES) == 34
    assert len(plan.CLAUSES) == 102
    assert len(set(everything.commands)) == plan.SIZE == 20_910
    assert np.bincount(everything.command_length).tolist() == [0, 4, 18, 72, 328, 1_288, 3_520, 6_080, 6_400, 3_200]
    assert (everything.action_length.min(), everything.action_length.max()) == (1, 48)
    assert round(float(everything.action_length.mean()), 2) == 14.32


def test_the_papers_examples() -> None:
    for command, actions in (
        ("jump", "JUMP"),
        ("turn around left", "LTURN LTURN LTURN LTURN"),
        ("jump thrice and turn left twice", "JUMP JUMP JUMP LTURN LTURN"),
        ("jump opposite left after walk twice", "WALK WALK LTURN LTURN JUMP"),
        ("walk around right", "RTURN WALK RTURN WALK RTURN WALK RTURN WALK"),
    ):
        assert action_texts("paper")[places()[command]] == actions


def test_columns_agree_with_the_trees_and_the_oracle() -> None:
    everything, texts = corpus(), action_texts("file")
    assert oracle.everything() == everything.commands
    for i, command in enumerate(everything.commands):
        tree = plan_at(i)
        assert str(tree) == command
        assert tree.actions() == everything.letters[i]
        assert oracle.meaning(command) == tuple(texts[i].split(" "))
        assert plan.template(tree) == everything.template[i]


def test_plan_at_refuses_other_places() -> None:
    for place in (-1, plan.SIZE):
        with pytest.raises(IndexError):
            plan_at(place)


WORDS = ("walk", "turn", "left", "right", "opposite", "around", "twice", "thrice", "and", "after", "jump")


def test_the_oracle_accepts_exactly_the_enumerated_commands() -> None:
    """Random letters, random words, and true commands with a word removed, doubled or put elsewhere."""
    dice, commands = random.Random(81), corpus().commands
    for _ in range(500):
        letters = "".join(dice.choices("walk turnleftjumpouande ", k=dice.randint(0, 60)))
        words = dice.choices(WORDS, k=dice.randint(0, 9))
        near = dice.choice(commands).split(" ")
        at, other = dice.randrange(len(near)), dice.randrange(len(near))
        near[at : at + 1] = dice.choice(([], [near[at]] * 2, [near[other]], [dice.choice(WORDS)]))
        for text in (letters, " ".join(words), " ".join(near)):
            assert (oracle.meaning(text) is not None) == (text in places()), text


# --- the splits ------------------------------------------------------------------------------------------------------


def test_every_official_split_is_there() -> None:
    names = set(SCAN.SPLITS)
    assert {
        "simple",
        "length",
        "addprim_jump",
        "addprim_turn_left",
        "template_jump_around_right",
        "template_around_right",
    } <= names
    assert {"template_opposite_right", "template_right", "mcd1", "mcd2", "mcd3"} <= names
    assert {f"filler_num{n}" for n in range(4)} <= names
    assert {f"simple_p{n}" for n in (1, 2, 4, 8, 16, 32, 64)} <= names
    assert {f"addprim_complex_jump_num{n}_rep{r}" for n in (1, 2, 4, 8, 16, 32) for r in range(1, 6)} <= names
    assert {f"fewshot_num{2**n}_rep{r}" for n in range(11) for r in range(1, 6)} <= names
    assert {f"nacs_jump_num{n}" for n in (0, 1, 2, 4, 8, 16, 32)} <= names
    assert len(names - {"hold_out", "pool"}) == 114


@pytest.mark.parametrize(
    ("split", "train", "test"),
    [
        ("simple", 16_728, 4_182),
        ("simple_p1", 209, 20_701),
        ("simple_p2", 418, 20_492),
        ("simple_p4", 836, 20_074),
        ("simple_p8", 1_672, 19_238),
        ("simple_p16", 3_345, 17_565),
        ("simple_p32", 6_691, 14_219),
        ("simple_p64", 13_382, 7_528),
        ("length", 16_990, 3_920),
        ("addprim_jump", 14_670, 7_706),
        ("addprim_turn_left", 21_890, 1_208),
        ("addprim_complex_jump_num1_rep1", 14_671, 7_705),
        ("addprim_complex_jump_num2_rep1", 14_670, 7_704),
        ("addprim_complex_jump_num4_rep1", 14_668, 7_702),
        ("addprim_complex_jump_num8_rep1", 14_670, 7_698),
        ("addprim_complex_jump_num16_rep1", 14_665, 7_690),
        ("addprim_complex_jump_num32_rep1", 14_655, 7_674),
        ("template_jump_around_right", 18_528, 1_173),
        ("template_around_right", 15_225, 4_476),
        ("template_opposite_right", 15_225, 4_476),
        ("template_right", 15_225, 4_476),
        ("filler_num0", 15_225, 1_173),
        ("filler_num1", 16_290, 1_173),
        ("filler_num2", 17_391, 1_173),
        ("filler_num3", 18_528, 1_173),
        ("fewshot_num1_rep1", 15_226, 1_173),
        ("fewshot_num64_rep3", 15_288, 1_173),
        ("fewshot_num1024_rep5", 16_249, 1_173),
        ("nacs_jump_num0", 14_670, 7_674),
        ("nacs_jump_num32", 14_655, 7_674),
        ("mcd1", 8_365, 1_045),
    ],
)
def test_official_sizes(split: str, train: int, test: int) -> None:
    parts = SCAN.SPLITS[split].parts
    assert (parts["train"].rows("release"), parts["test"].rows("release")) == (train, test)


def test_all_released_files_together() -> None:
    """All 209 files of the release hold 1,988,475 rows: the sizes of every official split, and tasks.txt."""
    official = [
        split.parts for name, split in splits.SPLITS.items() if split.is_published and not name.startswith(("nacs_", "mcd"))
    ]
    sizes = [parts[part].rows("release") for parts in official for part in ("train", "test")]
    assert 20_910 + sum(sizes) == 1_988_475


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_rows_are_those_of_the_oracle_and_of_the_declared_sizes(name: str) -> None:
    commands = corpus().commands
    for part, held in oracle.CLAIMS[name].expected(3).items():
        found = splits.SPLITS[name].rows(part, 3)
        assert len(found) == SCAN.SPLITS[name].parts[part].rows("release")
        assert Counter(commands[i] for i in found.tolist()) == held, part


@pytest.mark.parametrize(
    ("split", "fit", "validation"),
    [
        ("simple", 15_083, 1_645),
        ("length", 15_311, 1_679),
        ("addprim_turn_left", 19_719, 2_171),
        ("addprim_jump", 13_236, 1_278),
    ],
)
def test_the_papers_validation_sizes(split: str, fit: int, validation: int) -> None:
    assert (len(splits.SPLITS[split].rows("fit", 0)), len(splits.SPLITS[split].rows("validation", 0))) == (fit, validation)


def test_validation_copies_of_the_repeated_primitives() -> None:
    copies = splits.SPLITS["addprim_jump"].copies(0)
    jump = places()["jump"]
    assert [int(copies[part][jump]) for part in ("train", "fit", "validation", "test")] == [1_467, 1_310, 1, 0]
    left = places()["turn left"]
    copies = splits.SPLITS["addprim_turn_left"].copies(0)
    assert [int(copies[part][left]) for part in ("train", "fit", "validation", "test")] == [2_189, 1_967, 222, 0]
    extras = splits.SPLITS["nacs_jump_num32"].copies(0)
    assert int((extras["train"] == 44).sum()) == 33
    assert (extras["validation"][extras["train"] == 44] == 1).all()


def test_fit_and_validation_divide_train() -> None:
    for name in ONE_OF_EACH:
        copies = splits.SPLITS[name].copies(0)
        once = copies["train"] == 1
        assert (copies["fit"][once] + copies["validation"][once] == 1).all(), name
        assert not (copies["validation"][copies["train"] == 0]).any(), name
        assert (copies["fit"] <= copies["train"]).all(), name
        assert not (copies["train"] * copies["test"]).any(), name


def test_size_variations_are_nested_and_partition_the_corpus() -> None:
    smaller = np.zeros(plan.SIZE, np.int32)
    for percent in splits.PERCENTS:
        copies = splits.SPLITS[f"simple_p{percent}"].copies(5)
        assert (copies["train"] >= smaller).all()
        assert (copies["train"] + copies["test"] == 1).all()
        smaller = copies["train"]


def test_the_nacs_jump_series_is_nested_with_one_test_set() -> None:
    tests = [splits.SPLITS[f"nacs_jump_num{n}"].copies(5)["test"] for n in (0, *splits.JUMP_EXTRAS)]
    assert all((test == tests[0]).all() for test in tests)
    extras = [splits.SPLITS[f"nacs_jump_num{n}"].copies(5)["train"] > 1 for n in (0, *splits.JUMP_EXTRAS)]
    assert [int(mask.sum()) for mask in extras] == [1, 2, 3, 5, 9, 17, 33]
    assert all((small <= large).all() for small, large in pairwise(extras))


def test_1209_commands_are_in_neither_set_of_the_template_splits() -> None:
    for name, words in (
        ("template_jump_around_right", "turn around right"),
        ("template_around_right", "turn around right"),
        ("template_opposite_right", "turn opposite right"),
        ("template_right", "turn right"),
        ("filler_num3", "turn around right"),
    ):
        copies = splits.SPLITS[name].copies(0)
        absent = [corpus().commands[i] for i in np.flatnonzero(copies["train"] + copies["test"] == 0).tolist()]
        assert len(absent) == 1_209
        assert all(words in command for command in absent)


def test_length_test_has_only_the_known_lengths() -> None:
    test = splits.SPLITS["length"].rows("test", 0)
    assert sorted(set(corpus().action_length[test].tolist())) == [24, 25, 26, 27, 28, 30, 32, 33, 36, 40, 48]


def test_seeds_share_no_more_than_chance() -> None:
    seven, eight = (set(splits.SPLITS["simple"].rows("test", seed).tolist()) for seed in (7, 8))
    expected = 4_182 * 4_182 / 20_910
    assert abs(len(seven & eight) - expected) < 150  # four standard deviations are about 104
    seven, eight = (set(splits.SPLITS["simple_p1"].rows("train", seed).tolist()) for seed in (7, 8))
    assert len(seven & eight) < 15
    draws = {
        tuple(np.flatnonzero(splits.SPLITS[f"addprim_complex_jump_num8_rep{r}"].copies(0)["train"] > 1)) for r in range(1, 6)
    }
    assert len(draws) == 5


def test_rule_based_parts_hold_the_same_rows_under_every_seed() -> None:
    for part in ("train", "test"):
        one, two = splits.SPLITS["length"].rows(part, 1), splits.SPLITS["length"].rows(part, 2)
        assert (one != two).any()
        assert (np.sort(one) == np.sort(two)).all()


def test_both_directions_and_styles_have_the_same_rows() -> None:
    from recombine.families.scan import NACS

    job, paper, back = (
        make_job(SCAN, "simple"),
        make_job(SCAN, "simple", options={"style": "paper"}),
        make_job(NACS, "simple", options={"style": "paper"}),
    )
    batches = [family.generate(j) for family, j in ((SCAN, job), (SCAN, paper), (NACS, back))]
    assert all((batch.columns["command"].codes == batches[0].columns["command"].codes).all() for batch in batches)  # type: ignore[union-attr]
    assert set(" ".join(batches[1].row(i)["actions"] for i in range(200)).split()) <= {
        "WALK",
        "LOOK",
        "RUN",
        "JUMP",
        "LTURN",
        "RTURN",
    }
    with pytest.raises(UnknownName):
        make_job(SCAN, "simple", options={"style": "fancy"})
    assert list(SCAN.validate_batch(batches[1])) == []


# --- the laws --------------------------------------------------------------------------------------------------------


def codes(example: Example) -> list[str]:
    return [problem.code for problem in SCAN.validate(example)]


def test_each_law_has_an_example_that_breaks_it() -> None:
    assert codes(example_of("walk left")) == []
    assert codes(example_of("walk left", "I_WALK")) == ["wrong_label"]
    assert codes(example_of("walk left", "LTURN WALK")) == []
    assert codes(example_of("walk left", "LTURN I_WALK")) == ["mixed_style"]
    assert codes(example_of("walk left", "I_TURN_LEFT I_FLY")) == ["unknown_action"]
    assert codes(example_of("walk left", "")) == ["unknown_action"]
    assert codes(example_of("walk leftwards", "I_WALK")) == ["not_in_grammar"]
    assert codes(example_of("turn", "I_TURN_LEFT")) == ["not_in_grammar"]
    assert codes(example_of("walk  left", "I_TURN_LEFT I_WALK")) == ["not_in_grammar"]
    assert codes(example_of("walk " * 100_000, "I_WALK")) == ["not_in_grammar"]


def test_generated_examples_are_also_judged_by_their_split() -> None:
    job = make_job(SCAN, "length", "test")
    example = SCAN.example(SCAN.generate(job), 0)
    assert codes(example) == []
    moved = dataclasses.replace(example, meta={**example.meta, "part": "train"})
    assert codes(moved) == ["wrong_split"]
    leaky = dataclasses.replace(example, meta={**example.meta, "leak_free": not example.meta["leak_free"]})
    assert codes(leaky) == ["wrong_leak_free"]
    for column, wrong in (("template", "VERB"), ("repeats", 9), ("readings", 0), ("action_length", 1), ("conjunction", "or")):
        assert codes(dataclasses.replace(example, meta={**example.meta, column: wrong})) == ["wrong_column"]


def test_the_batch_oracle_finds_what_the_row_oracle_finds() -> None:
    job = make_job(SCAN, "simple", "validation", seed=9)
    batch = SCAN.generate(job.rows(0, 40))
    columns = {**batch.columns, "leak_free": ~np.asarray(batch.columns["leak_free"])}
    broken = dataclasses.replace(batch, columns=columns)
    found = [(row, problem.code) for row, problem in SCAN.validate_batch(broken)]
    assert found == [(row, "wrong_leak_free") for row in range(40)]
    assert found == [(row, code) for row in range(40) for code in codes(SCAN.example(broken, row))]


# --- readers and scores ----------------------------------------------------------------------------------------------


def reading(name: str, command: str) -> str:
    return plan.format_actions(dict(readings_of(places()[command]))[name], "paper")


@pytest.mark.parametrize(
    ("name", "command", "answer"),
    [
        ("ignores_repetition", "walk left twice and run thrice", "LTURN WALK RUN"),
        ("twice_for_thrice", "walk left thrice and run twice", "LTURN WALK LTURN WALK RUN RUN"),
        ("thrice_for_twice", "walk left twice and run", "LTURN WALK LTURN WALK LTURN WALK RUN"),
        ("repeats_last_action", "walk left thrice", "LTURN WALK WALK WALK"),
        ("repeats_everything", "walk and run twice", "WALK RUN WALK RUN"),
        ("repeats_everything", "walk after run left twice", "LTURN RUN WALK LTURN RUN WALK"),
        ("ignores_direction", "walk around left and turn right", "WALK WALK WALK WALK"),
        ("swaps_sides", "walk opposite left and turn right", "RTURN RTURN WALK LTURN"),
        ("ignores_manner", "walk opposite left and run around right", "LTURN WALK RTURN RUN"),
        ("around_as_opposite", "walk around left", "LTURN LTURN WALK"),
        ("opposite_as_around", "turn opposite left", "LTURN LTURN LTURN LTURN"),
        ("acts_at_each_turn", "walk opposite left", "LTURN WALK LTURN WALK"),
        ("turns_before_acting", "walk around left", "LTURN LTURN LTURN LTURN WALK"),
        ("acts_before_turning", "walk opposite left and run left", "WALK LTURN LTURN RUN LTURN"),
        ("after_as_and", "walk after run twice", "WALK RUN RUN"),
        ("and_as_after", "walk and run twice", "RUN RUN WALK"),
        ("drops_second", "walk after run twice", "WALK"),
        ("drops_first", "walk after run twice", "RUN RUN"),
    ],
)
def test_each_reader_misreads_in_its_own_way(name: str, command: str, answer: str) -> None:
    assert reading(name, command) == answer
    example = example_of(command)
    scored = example.score(answer)
    assert (scored.value, scored.status) == (0.0, "wrong")
    assert name in scored.mistakes
    assert {s.name: s.answer for s in example.explain().shortcuts}[name] == plan.format_actions(
        parse_actions(answer) or "", "file"
    )


def test_every_reader_is_tried_and_has_its_own_name() -> None:
    names = [reader.name for reader in READERS]
    assert len(set(names)) == len(names) == 17
    assert {s.name for s in example_of("walk").explain().shortcuts} == set(names)
    assert all(s.answer in (None, "I_WALK") for s in example_of("walk").explain().shortcuts)


def test_scores() -> None:
    example = example_of("walk left twice")
    right = "I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK"
    for answer in (right, f"  {right}\n", right.replace(" ", ", "), "LTURN WALK LTURN WALK", "LTURN I_WALK LTURN\tI_WALK"):
        assert example.score(answer).value == 1.0, answer
    scored = example.score("I_TURN_LEFT I_WALK I_WALK")
    assert scored.detail == {"first_wrong_token": 2, "prefix": 2, "tokens": 3}
    assert example.score(f"{right} I_WALK").detail["first_wrong_token"] == 4
    for answer in (
        "",
        " ",
        "walk",
        "I_WALK or I_RUN",
        f"{right}\n{right}",
        "I_TURN_LEFT I_WALK\nI_TURN_LEFT I_WALK",
        "\0",
        "i_walk",
    ):
        assert example.score(answer).status == "unparsable", answer


def test_hostile_answers_are_unparsable() -> None:
    example = example_of("walk left twice")
    for answer in ("I_WALK " * 1_000_000, "x" * 10_000_000, "\n" * 9_999 + "I_WALK I", "(" * 9_000, "," * 10_000):
        assert example.score(answer).status == "unparsable"


def test_the_derivation_ends_in_the_answer() -> None:
    for command in (
        "jump",
        "turn opposite left",
        "walk around right thrice",
        "jump opposite left after walk twice",
        "run and run",
    ):
        example = example_of(command)
        assert f"[{command}] = {example.answer} " in example.explain().steps[-1]
    assert "not a command" in example_of("fly", "I_WALK").explain().steps[0]


# --- pictures --------------------------------------------------------------------------------------------------------


def test_pictures() -> None:
    example = example_of("jump opposite left after walk twice")
    assert example.render("text") == "command: jump opposite left after walk twice"
    tree = str(example.render("ascii"))
    assert tree.isascii()
    assert [line.split()[-1] for line in tree.splitlines()[2:] if line.split()[-1].islower()] == str(example.plan).split()
    ElementTree.fromstring(str(example.render("svg")))
    hostile = example_of("<script>&\x00", "I_WALK")
    for medium in ("text", "ascii", "svg"):
        assert SCAN.render(hostile, medium)  # type: ignore[arg-type]
    assert "<script" not in str(hostile.render("svg"))
    with pytest.raises(UnknownName):
        example.render("png")


# --- files -----------------------------------------------------------------------------------------------------------


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    job = make_job(SCAN, "addprim_jump", "test")
    out = io.StringIO()
    SCAN.write([SCAN.generate(job.rows(0, 100)), SCAN.generate(job.rows(100, 150))], out)
    file = tmp_path / "tasks_test_addprim_jump.txt"
    file.write_text(out.getvalue())
    rows = list(SCAN.read(file))
    whole = SCAN.generate(job.rows(0, 150))
    assert [(r.inputs["command"], r.answer) for r in rows if isinstance(r, Example)] == [
        (whole.row(i)["command"], whole.row(i)["actions"]) for i in range(150)
    ]
    assert [r.meta["place"] for r in rows[:2] if isinstance(r, Example)] == ["line 1", "line 2"]


def test_malformed_lines_are_named(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("IN: walk OUT: I_WALK\nwalk I_WALK\n\nIN: run OUT: I_RUN OUT: I_RUN\nIN: jump OUT: I_RUN\n\n")
    rows = list(SCAN.read(file))
    assert [row.place for row in rows if isinstance(row, Problem)] == ["line 2", "line 3", "line 4"]
    problems = [p for row in rows if isinstance(row, Example) for p in SCAN.validate(row)]
    assert [(p.code, p.place) for p in problems] == [("wrong_label", "line 5")]


def test_parallel_files(tmp_path: Path) -> None:
    (tmp_path / "train.src").write_text("walk left\nrun\njump\n")
    (tmp_path / "train.trg").write_text("I_TURN_LEFT I_WALK\nI_RUN\n")
    for ending in ("src", "trg"):
        rows = list(SCAN.read(tmp_path / f"train.{ending}"))
        assert [row.inputs["command"] for row in rows if isinstance(row, Example)] == ["walk left", "run"]
        assert isinstance(rows[-1], Problem)
        assert rows[-1].place == "line 3"
    (tmp_path / "alone.src").write_text("walk\n")
    with pytest.raises(FileError):
        list(SCAN.read(tmp_path / "alone.trg"))


def test_mcd_needs_its_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="files=FOLDER"):
        SCAN.generate(make_job(SCAN, "mcd1"))
    job = make_job(SCAN, "mcd1", options={"files": str(tmp_path)})
    assert job.key == "scan@1/release/mcd1/test/0"
    with pytest.raises(UsageError, match="tasks_test_mcd1"):
        SCAN.generate(job)
    file = tmp_path / "tasks_test_mcd1.txt"
    for text, reason in (("IN: walk OUT: I_WALK\n", "holds 1 rows"), ("IN: walk OUT: I_RUN\n", "line 1"), ("walk\n", "line 1")):
        file.write_text(text)
        with pytest.raises(FileError, match=reason):
            SCAN.generate(job)
    with pytest.raises(BadOption):
        make_job(SCAN, "mcd1", options={"files": "x\0"})


def test_a_survey_names_the_part_that_a_file_equals() -> None:
    job = make_job(SCAN, "length", "test", seed=4)
    batch = SCAN.generate(job)
    examples = [SCAN.example(batch, row) for row in range(len(batch))]
    assert SCAN.survey(examples)["equals"] == ["length/test"]
    assert SCAN.survey(examples[1:])["equals"] == []
    assert SCAN.survey([])["rows"] == 0


def test_trees_are_values() -> None:
    assert plan_at(places()["walk left twice"]) == Command(Clause(Phrase("walk", "", "left"), 2))
