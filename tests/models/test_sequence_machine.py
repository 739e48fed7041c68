"""The sequence machine: what it reads, what it learns from little, backwards, on disk, and what data leave open."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recombine import keys
from recombine.cli import main
from recombine.core import Example
from recombine.data.datasets import load
from recombine.errors import FileError, UsageError
from recombine.models.identification import identify
from recombine.models.machines import load_machine, train_machine
from recombine.models.sequence_machine import (
    Alphabet,
    Entry,
    SequenceMachine,
    SequenceMachineConfig,
    X,
    Y,
    alphabet_of,
    filled,
    interpret,
    pairs_of,
    reading,
    sides,
)  # fmt: skip
from recombine.models.sequence_machine_inverse import Syntax, matches
from recombine.models.sequence_machine_search import Search, entries_for, levels_of, solved, writers
from recombine.models.sequence_rules import parse_lexicon, written

FEW: dict[str, object] = {"searches": 1, "per_length": 30}
SMALL = SequenceMachineConfig(searches=1, per_length=30)


def taught(*lines: str) -> tuple[Alphabet, list[tuple[tuple[int, ...], bytes]]]:
    """Pairs written as `words > ACTIONS`."""
    pairs = [line.split(" > ") for line in lines]
    alphabet = Alphabet(
        tuple(sorted({w for c, _ in pairs for w in c.split()})), tuple(sorted({a for _, t in pairs for a in t.split()}))
    )
    return alphabet, [(alphabet.command(c) or (), alphabet.meaning(t) or b"") for c, t in pairs]


def test_the_loosest_and_rightmost_word_is_the_root() -> None:
    node = reading((0.0, -1.0, 0.0, -1.0, 0.0))
    assert node is not None and node.left is not None and node.right is not None
    assert (node.root, node.left.root, node.right.root) == (3, 1, 4)


def test_templates_are_filled_and_solved() -> None:
    template = X + b"\x05" + Y + X
    made = filled(template, b"\x02\x03", b"\x04")
    assert made == b"\x02\x03\x05\x04\x02\x03"
    assert solved(template, X, b"\x04", made) == b"\x02\x03"
    assert solved(template, Y, b"\x02\x03", made) == b"\x04"
    assert solved(template, X, b"\x04", made[:-1]) is None
    assert (b"\x02\x03", b"\x04") in list(matches(template, made))
    assert all(filled(template, x or b"", y or b"") == made for x, y in matches(template, made))


def test_writers_write_what_is_wanted_and_prefer_copies() -> None:
    found = writers(b"\x02\x03\x02\x03", b"\x02\x03", b"", 1.0, 2.0)
    assert found[0] == X + X
    assert all(filled(template, b"\x02\x03", b"") == b"\x02\x03\x02\x03" for template in found)


def test_entries_make_the_example_right() -> None:
    lexicon = [Entry(0.0, b"\x02"), Entry(0.0, b""), Entry(0.0, b"\x03")]
    example = ((0, 1, 2), b"\x03\x02")
    found = entries_for(example, 1, lexicon, (1.0, 2.0))
    assert found
    assert all(interpret(example[0], [lexicon[0], entry, lexicon[2]]) == example[1] for entry in found)
    assert {entry.level for entry in found} <= set(levels_of(lexicon))


def test_it_learns_a_small_language_and_generalises() -> None:
    alphabet, pairs = taught(
        "walk > W", "run > R", "look > L", "walk twice > W W", "run twice > R R", "walk and run > W R", "run and walk > R W",
        "walk and look > W L", "walk after run > R W", "run after walk > W R", "run twice and walk > R R W",
        "walk and run twice > W R R", "look after walk twice > W W L",
    )  # fmt: skip
    search = Search(pairs, alphabet, SMALL, keys.Stream("test", 0))
    search.learn()
    assert search.wrong == 0
    unseen = alphabet.command("look twice after run twice")
    assert unseen is not None
    machine = SequenceMachine(SMALL, alphabet, search.lexicon, Syntax.learn(pairs, search.lexicon, SMALL))
    assert {line[0]: line[2] for line in machine.lines()}["twice"] == "X X"
    assert alphabet.told(interpret(unseen, search.lexicon)) == "R R L L"
    back = machine.syntax.command(alphabet.meaning("L L W W") or b"")
    assert interpret(back, search.lexicon) == alphabet.meaning("L L W W")


class Few(list[Example]):
    """Some rows that stand for a part."""

    job = SimpleNamespace(key="few")

    @classmethod
    def of(cls, split: str, most_words: int) -> Any:
        """The rows of a split's `fit` with so few words."""
        return cls(e for e in load("scan", split, "fit") if len(e.inputs["command"].split()) <= most_words)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine trained on the short commands of SCAN's jump split."""
    folder = tmp_path_factory.mktemp("machine") / "run"
    train_machine("sequence-machine", FEW, Few.of("addprim_jump", 4), folder, 0, lambda _line: None)
    return folder


def test_jump_is_composed_forwards_and_backwards(run_folder: Path) -> None:
    machine = load_machine(run_folder)
    for family in ("scan", "nacs"):
        examples = load(family, "addprim_jump", "test").pick(range(0, 7_000, 350))
        answers = machine.answers(examples)
        assert [example.score(answer).value for example, answer in zip(examples, answers, strict=True)] == [1.0] * len(examples)


def test_a_finished_run_is_loaded_and_another_one_refused(run_folder: Path) -> None:
    rows = Few.of("addprim_jump", 4)
    before = (run_folder / "machine.json").read_bytes()
    train_machine("sequence-machine", FEW, rows, run_folder, 0, lambda _line: None)
    assert (run_folder / "machine.json").read_bytes() == before
    with pytest.raises(UsageError, match="another run"):
        train_machine("sequence-machine", {**FEW, "searches": 2}, rows, run_folder, 0, lambda _line: None)


def test_a_killed_run_goes_on_and_ends_in_the_same_machine(tmp_path: Path) -> None:
    rows = Few.of("addprim_jump", 2)
    settings = {"searches": 2, "per_length": 9}

    def stop(_line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_machine("sequence-machine", settings, rows, tmp_path / "a", 3, _after_first(stop))
    assert (tmp_path / "a" / "progress.json").is_file()
    foreign = ("progress.txt", "progress.csv", "progress.json.bak", ".progress.txt.7.tmp", ".machine.pdf.7.tmp")
    for name in foreign:
        (tmp_path / "a" / name).write_text("years of work")
    told: list[str] = []
    train_machine("sequence-machine", settings, rows, tmp_path / "a", 3, told.append)
    assert len(told) == 1
    train_machine("sequence-machine", settings, rows, tmp_path / "b", 3, told.append)
    assert (tmp_path / "a" / "machine.json").read_bytes() == (tmp_path / "b" / "machine.json").read_bytes()
    assert not (tmp_path / "a" / "progress.json").exists()
    assert all((tmp_path / "a" / name).read_text() == "years of work" for name in foreign)


def test_a_run_that_learnt_nothing_gives_its_folder_up(tmp_path: Path) -> None:
    rows = Few.of("simple", 2)
    with pytest.raises(UsageError, match="reads a command or actions"):
        train_machine("sequence-machine", FEW, load("clutrr", "random", "train", size=3), tmp_path / "a", 0, lambda _line: None)
    train_machine("sequence-machine", FEW, rows, tmp_path / "a", 0, lambda _line: None)
    with pytest.raises(UsageError, match="per_length is 30 there, not 31"):
        train_machine("sequence-machine", {**FEW, "per_length": 31}, rows, tmp_path / "a", 0, lambda _line: None)
    worlds = list(load("reascan", "all", "test", size=2))
    with pytest.raises(UsageError, match="and nothing else"):
        load_machine(tmp_path / "a").answers(worlds)


def test_further_searches_follow_while_most_commands_stay_unexplained(tmp_path: Path) -> None:
    rows = Few(Few.of("simple", 2)[:4])
    assert len({example.answer for example in rows}) == 4
    turned = Few(replace(one, answer=other.answer) for one in rows for other in rows)
    told: list[str] = []
    settings = {"searches": 1, "most_searches": 3, "per_length": 9}
    _, trained = train_machine("sequence-machine", settings, turned, tmp_path / "a", 0, told.append)
    assert len(told) == 3, "every command has four answers, so no lexicon explains half of the rows"
    assert trained.figures["training_commands_wrong"] >= 12
    told.clear()
    train_machine("sequence-machine", settings, rows, tmp_path / "b", 0, told.append)
    assert len(told) == 1, "the first search explains the rows"


def _after_first(stop):  # type: ignore[no-untyped-def]
    """Lets the first search be written down, and stops in the second report."""
    seen: list[str] = []

    def say(line: str) -> None:
        seen.append(line)
        if len(seen) == 2:
            stop(line)

    return say


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        (lambda d: d.pop("lexicon"), "lexicon"),
        (lambda d: d["lexicon"].pop(), "entries"),
        (lambda d: d["lexicon"][0].__setitem__(1, [99]), "slots"),
        (lambda d: d["lexicon"][0].__setitem__(1, [2] * 11), "slots"),
        (lambda d: d["syntax"]["kinds"][0][3].append([99, 1]), "word number 99"),
        (lambda d: d["config"].__setitem__("power", 3), "power"),
    ],
)
def test_damaged_machines_are_refused(run_folder: Path, tmp_path: Path, change, hint: str) -> None:  # type: ignore[no-untyped-def]
    value = json.loads((run_folder / "machine.json").read_text())
    change(value)
    with pytest.raises(FileError, match=hint):
        SequenceMachine.from_json(value, "machine.json")


def test_other_families_are_refused() -> None:
    with pytest.raises(UsageError, match="scan, nacs"):
        sides(load("clutrr", "generalization_23", "train", size=1)[0])


def test_unknown_words_get_an_empty_answer(run_folder: Path) -> None:
    machine = load_machine(run_folder)
    example = load("scan", "simple", "test")[0]
    assert machine.answers([_with(example, {"command": "fly left"})]) == [""]
    assert machine.answers([_with(example, {"actions": "I_FLY"})]) == [""]


def _with(example, inputs):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    return replace(example, inputs=inputs)


def test_what_is_never_shown_apart_is_open() -> None:
    """`around` only occurs with `left`: copying the side or saying `left` explains all rows, and the test tells them apart."""
    alphabet, pairs = taught("walk > W", "left walk > L W", "right walk > R W", "around left walk > L W L W")
    walk, left, right, around = (alphabet.words.index(w) for w in ("walk", "left", "right", "around"))
    actions = {name: alphabet.meaning(name) or b"" for name in "WLR"}
    lexicon = [Entry(0.0, b"")] * 4
    lexicon[walk] = Entry(0.0, actions["W"])
    lexicon[left], lexicon[right] = Entry(-1.0, actions["L"] + Y), Entry(-1.0, actions["R"] + Y)
    lexicon[around] = Entry(-2.0, Y + Y)
    assert all(interpret(words, lexicon) == told for words, told in pairs)
    tests = [(around, right, walk), (left, walk)]
    found = identify(lexicon, pairs, tests, alphabet, SMALL)
    assert (found.tests, found.open) == (2, 1)
    opened = {item.word: len(item.changing) for item in found.words}
    assert opened["around"] > 0
    assert opened["walk"] == 0


def test_training_and_answers_need_no_torch(run_folder: Path, tmp_path: Path) -> None:
    program = (
        "import sys\nfrom recombine.cli import main\n"
        f"code = main(['predict', {str(run_folder)!r}, '--data', 'nacs', '--split', 'addprim_jump', '--size', '5', '--out', {str(tmp_path / 'a.jsonl')!r}])\n"
        "print(code, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 False"
    assert "mean score 100.00 %" in done.stdout


def test_the_command_line_trains_and_prints_the_lexicon(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--data", "scan", "--split", "hold_out", "--hold-out", "command_length >= 4", "--out", str(tmp_path / "run")]
    assert main(["train", "sequence-machine", *words, "--with", "searches=1"]) == 0
    said = capsys.readouterr()
    assert "built in: " in said.out and "learnt: " in said.out and "CPU-seconds" in said.out
    assert "search 1: 0 of " in said.err
    assert main(["train", "sequence-machine", *words, "--device", "cuda"]) == 2
    assert "--device" in capsys.readouterr().err


def test_identify_says_what_is_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands of at most three words never show which of `around` and `twice` binds tighter."""
    out, folder = tmp_path / "open.json", str(tmp_path / "data")
    words = ["--split", "hold_out", "--hold-out", "command_length >= 4", "--size", "80"]
    assert main(["generate", "scan", *words, "--out", folder]) == 0
    assert main(["identify", folder, "--out", str(out)]) == 0
    assert "test answers are open" in capsys.readouterr().out
    found = json.loads(out.read_text())
    assert main(["identify", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found
    assert 0 < found["open"] <= found["tests"]
    assert any(a["tests_changed"] for word in found["words"] for a in word["alternatives"])


def test_identify_leaves_no_training_row_out(capsys: pytest.CaptureFixture[str]) -> None:
    """The one command that shows `around right` is held out from `fit`, but it is a training row."""
    assert not any("around right" in example.inputs["command"] for example in load("scan", "fewshot_num1_rep2", "fit"))
    assert main(["identify", "scan", "--split", "fewshot_num1_rep2"]) == 0
    assert "0 of 1,173 test answers are open." in capsys.readouterr().out


def test_alphabet_and_pairs_agree_between_the_two_directions() -> None:
    forward, backward = (list(load(family, "simple_p1", "fit")) for family in ("scan", "nacs"))
    alphabet = alphabet_of(forward)
    assert alphabet_of(backward).actions == alphabet.actions
    assert set(pairs_of(forward, alphabet)) == set(pairs_of(backward, alphabet))


def test_a_written_lexicon_is_read_strictly_and_run(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["scan", "--split", "addprim_jump"]
    assert main(["rules", *words, "--shots", "5"]) == 0
    shown = capsys.readouterr().out
    assert shown.count(" -> ") == 5
    assert "walk" in shown and "I_TURN_LEFT" in shown
    machine = load_machine(run_folder)
    assert isinstance(machine, SequenceMachine)
    text = written(machine.lexicon, machine.alphabet)
    assert parse_lexicon("Here it is:\n```\n" + text + "```\n", machine.alphabet) == list(machine.lexicon)
    short = "".join(f"{word}: {level}: {template}\n" for word, level, template in machine.lines())
    assert "I_" not in short and parse_lexicon(short, machine.alphabet) == list(machine.lexicon)
    reply = tmp_path / "reply.txt"
    reply.write_text(text)
    assert main(["rules", *words, "--lexicon", str(reply), "--out", str(tmp_path / "a.jsonl")]) == 0
    assert "(100.00 %)" in capsys.readouterr().out
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 7_706
    assert main(["rules", *words, "--shots", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"shots": 5, "prompt": shown.removesuffix("\n")}
    assert main(["rules", *words, "--lexicon", str(reply), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["right"] == found["rows"] == 7_706 and found["note"] == "Training rows explained: 13,236 of 13,236."
    assert [line["word"] for line in found["rules"]] == [line[0] for line in machine.lines()]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("walk: 0: W", "no line for left"),
        ("walk: 0: W\nleft: 0: L X\nwalk: 0: W", "two lines for 'walk'"),
        ("walk: 0: W\nleft: 0: L Z", "slot 'Z'"),
        ("walk: 0: W\nleft: 1: L X", "level of 'left'"),
        ("walk: 0: W\nleft: 0: " + "X " * 11, "11 slots"),
        ("fly: 0: W", "'fly'"),
        ("walk: 0: __import__('os')\nleft: 0: X", "no line for walk"),
    ],
)
def test_a_malformed_lexicon_is_refused(text: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        parse_lexicon(text, Alphabet(("left", "walk"), ("L", "W")))
