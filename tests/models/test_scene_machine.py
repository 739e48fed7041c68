"""The scene machine: slots, changes of words, frames, and a small language learnt from statements and programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recombine.core import Example
from recombine.data.datasets import load
from recombine.errors import FileError, UsageError
from recombine.families import family
from recombine.families.lilgym import LILGYM
from recombine.families.lilgym.native import example_of
from recombine.models.machines import load_machine, train_machine
from recombine.models.scene_machine import SceneMachine
from recombine.models.scene_machine_edits import Index, Template, applied, candidates, difference, edit_between, learn_changes
from recombine.models.scene_machine_frames import learn_frames
from recombine.models.scene_machine_text import filled, known_words, program_slots, program_tokens, slotted, words_of

WORDS = LILGYM.VALUE_WORDS


def tokens(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def test_values_become_slots_and_come_back() -> None:
    said = slotted(words_of("More than two Boxes hold a blue block, and one a BLUE or black block."), WORDS)
    assert said.tokens == tokens("more than @number1 box hold a @color1 block , and @number2 a @color1 or @color2 block")
    program = program_tokens("count(filter_obj(all_boxes, lambda q: is_blue(q) and exist(filter_color(q, Color.BLACK)))) >= 3")
    slots = program_slots(program, said.values, WORDS)
    assert "0@color1" in slots
    assert "1@color2" in slots
    assert slots[-1] == "@number1+1"
    assert filled(slots, said.values, WORDS) == " ".join(program)
    other = slotted(words_of("More than four boxes hold a yellow block, and one a yellow or blue block."), WORDS)
    assert other.tokens == said.tokens
    assert filled(slots, other.values, WORDS).endswith(">= 5")
    assert "is_yellow" in filled(slots, other.values, WORDS)
    assert filled(slots, {}, WORDS) == ""


def test_variables_are_named_by_depth() -> None:
    first = program_tokens(
        "exist(filter_obj(all_boxes, lambda b: exist(filter_obj(b.all_items_in_box(), lambda i: is_top(i)))))"
    )
    second = program_tokens(
        "exist(filter_obj(all_boxes, lambda x: exist(filter_obj(x.all_items_in_box(), lambda y: is_top(y)))))"
    )
    assert first == second
    beside = program_tokens("All(all_items, lambda a: is_top(a)) and All(all_items, lambda b: is_top(b))")
    assert beside[: len(beside) // 2] == beside[len(beside) // 2 + 1 :]


def test_misspelt_words_are_mended() -> None:
    assert known_words(["thre", "blok", "zebra", "12"], {"three", "block"}) == ["three", "block", "zebra", "12"]


def test_a_change_of_words_teaches_an_edit() -> None:
    assert difference(tokens("a top b"), tokens("a bottom b")) == (("top",), ("bottom",))
    assert difference(tokens("a a"), tokens("a a a")) == ((), ("a",))
    statements = [tokens("a top block"), tokens("a bottom block"), tokens("every top block is big")]
    programs = [tokens("exist ( is_top )"), tokens("exist ( is_bottom )"), tokens("All ( is_top , is_big )")]
    changes = learn_changes(statements, programs, Index(statements), 3)
    assert changes[("top",), ("bottom",)] == {((("is_top",), ("is_bottom",)),): [(0, 1)]}
    known = Template(statements[2], programs[2], 1)
    made = candidates(tokens("every bottom block is big"), known, 2, 0.5, changes)
    assert [one.program for one in made if not one.unread] == [tokens("All ( is_bottom , is_big )")]
    held = candidates(tokens("every bottom block is big"), known, 2, 0.5, changes, without=1)
    assert all(one.unread for one in held)  # only statement 1 taught the change


def test_an_edit_is_made_at_every_place_where_it_fits() -> None:
    edit = edit_between(tokens("f ( a )"), tokens("f ( b )"))
    assert edit == ((("a",), ("b",)),)
    assert list(applied(tokens("a + a"), edit)) == [tokens("b + a"), tokens("a + b")]
    assert list(applied(tokens("c"), edit)) == []
    assert list(applied(tokens("c"), ())) == [tokens("c")]


def test_frames_join_known_statements() -> None:
    known = {tokens("it is a"): ("A",), tokens("it is b"): ("B",), tokens("it is c"): ("C",)}
    joined = {
        tokens("it is a while it is b"): ("A", "and", "B"),
        tokens("it is b while it is c"): ("C", "and", "B"),
        tokens("either it is a or it is c"): ("A", "or", "C"),
    }
    found = learn_frames([*known, *joined], [*known.values(), *joined.values()], known.get)
    assert [(frame.words.between, frame.joint, frame.right) for frame in found] == [(("while",), "and", 2)]


STATEMENTS = {
    "There is a {0} block at the top": "exist(filter_obj(all_items, lambda x: is_{0}(x) and is_top(x)))",
    "There is a {0} block at the bottom": "exist(filter_obj(all_items, lambda x: is_{0}(x) and is_bottom(x)))",
    "There is a {0} block at the base": "exist(filter_obj(all_items, lambda x: is_{0}(x) and is_bottom(x)))",
    "All {0} blocks are at the top": "All(filter_obj(all_items, is_{0}), lambda x: is_top(x))",
    "There are exactly two {0} blocks": "count(filter_obj(all_items, lambda x: is_{0}(x))) == 2",
    "There are at least two {0} blocks": "count(filter_obj(all_items, lambda x: is_{0}(x))) >= 2",
    "There are exactly two {0} blocks at the top": "count(filter_obj(all_items, lambda x: is_{0}(x) and is_top(x))) == 2",
}


class Few(list[Example]):
    """Some rows that stand for a part."""

    job = SimpleNamespace(key="few")


def rows() -> Any:
    return Few(
        example_of({"sentence": said.format(color), "lf": program.format(color)}, f"{color} {said}", "tower")
        for said, program in STATEMENTS.items()
        for color in ("black", "blue")
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("scene") / "run"
    train_machine("scene-machine", {}, rows(), out, 0, lambda _line: None)
    return out


def test_it_reads_new_statements_and_acts(folder: Path) -> None:
    machine = load_machine(folder)
    new = {
        "There are exactly three yellow blocks at the top": "count(filter_obj(all_items, lambda x: is_yellow(x) and is_top(x))) == 3",
        "All yellow blocks are at the base": "All(filter_obj(all_items, is_yellow), lambda x: is_bottom(x))",
        "there are at leest two black blocks at the top": "count(filter_obj(all_items, lambda x: is_black(x) and is_top(x))) >= 2",
    }
    examples = [example_of({"sentence": said, "lf": program}, said, "tower") for said, program in new.items()]
    for example in examples:
        best = machine.readings(family("lilgym"), "tower", example.inputs["statement"])[0][0]  # type: ignore[attr-defined]
        assert len(set(LILGYM.meanings("tower", [best, example.meta["program"]]))) == 1, best
    hidden = [replace(example, meta={}, plan=None, world=None) for example in examples]
    answers = machine.answers(hidden)
    assert [example.score(answer).value for example, answer in zip(examples, answers, strict=True)] == [1.0, 1.0, 1.0]
    assert machine.lines()
    assert machine.sizes()["changes"] > 0


def test_several_readings_are_suited_at_once() -> None:
    example = example_of({"sentence": "?", "lf": "exist(all_items)"}, "0", "tower")
    two, top = "count(all_items) == 2", "exist(filter_obj(all_items, lambda x: is_blue(x) and is_top(x)))"
    answer = LILGYM.enact(example, [(two, 0.6), (top, 0.3), ("count(all_items) == 5", 0.1), ("no program", 0.1)])
    assert answer.count("ADD") == 2
    for program in (two, top):
        assert example_of({"sentence": "?", "lf": program}, "0", "tower").score(answer).value == 1.0
    assert LILGYM.enact(example, []) == "STOP"
    truth = replace(example, inputs={**example.inputs, "task": "truth"})
    assert LILGYM.enact(truth, [("not exist(all_items)", 0.6), (two, 0.4)]) == "true"
    assert LILGYM.enact(truth, [("not exist(all_items)", 0.3), (two, 0.4)]) == "false"


def test_a_meaning_is_a_value_on_scenes() -> None:
    first, same, other, constant, none = LILGYM.meanings(
        "tower", ["count(all_items) >= 2", "count(all_items) > 1", "count(all_items) > 2", "count(all_items) >= 0", "count("]
    )
    assert first == same != other
    assert first
    assert constant == none == b""
    with pytest.raises(UsageError, match="no kind of scene"):
        LILGYM.meanings("cloud", [])


def test_the_same_rows_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    train_machine("scene-machine", {}, rows(), tmp_path / "again", 0, lambda _line: None)
    assert (tmp_path / "again" / "machine.npz").read_bytes() == (folder / "machine.npz").read_bytes()


def test_damaged_files_and_other_families_are_refused(folder: Path, tmp_path: Path) -> None:
    whole = (folder / "machine.npz").read_bytes()
    (tmp_path / "machine.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="cannot read the machine"):
        SceneMachine.load(tmp_path)
    few: Any = Few(load("scan", "simple", "test").pick([0]))
    with pytest.raises(UsageError, match="statements about scenes"):
        train_machine("scene-machine", {}, few, tmp_path / "run", 0, lambda _line: None)
