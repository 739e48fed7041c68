"""Rules that somebody wrote: read strictly, run by machines, asked for at an endpoint."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recombine
from recombine.cli import main
from recombine.errors import RecombineError
from recombine.models.kinship_machine_rules import chain_of
from recombine.models.rulebook import fields_of, open_book

_FOUND = importlib.util.spec_from_file_location("chat_server", Path(__file__).parents[1] / "evaluate" / "chat_server.py")
assert _FOUND is not None and _FOUND.loader is not None
chat_server = importlib.util.module_from_spec(_FOUND)
_FOUND.loader.exec_module(chat_server)

READER = """
red: filter: color red
blue: filter: color blue
green: filter: color green
yellow: filter: color yellow
circle: filter: shape circle
square: filter: shape square
cylinder: filter: shape cylinder
box: filter: shape box
small: compare: smaller
big: compare: bigger
row: relate: same row
column: relate: same column
color: relate: same color
shape: relate: same shape
size: relate: same size
inside: relate: inside
and: aside
"""


@pytest.fixture(scope="module")
def worlds() -> Any:
    return open_book(recombine.load("reascan", "all", "train", size=40))


@pytest.fixture(scope="module")
def families() -> Any:
    return open_book(recombine.load("clutrr", "generalization_23", "train", size=300))


def table_of(book: Any) -> str:
    """The rules that chains of two relations show."""
    return "\n".join(f"{book.relations[c[0]]}, {book.relations[c[1]]} = {answer}" for c, answer in book.shown if len(c) == 2)


@pytest.mark.parametrize("split", ["all", "c1", "c2"])
def test_a_reader_in_seventeen_lines_finds_the_targets(worlds: Any, split: str) -> None:
    examples = list(recombine.load("reascan", split, "test", size=30))
    rules = worlds.read("Here it is:\n```" + READER + "```")
    answers = rules.answers(examples)
    assert sum(e.score(a).value for e, a in zip(examples, answers, strict=True)) >= 28
    without = worlds.read(READER.replace("and: aside\n", "")).answers(examples)
    if split == "c1":
        assert sum(e.score(a).value for e, a in zip(examples, without, strict=True)) < 28
    assert rules.length() == "17 words that do something, 29 words of meaning"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("no lexicon here", "no lexicon"),
        ("red: filter: color red\nred: pass", "two lines for 'red'"),
        ("zebra: pass", "'zebra'"),
        ("red: paint: color red", "paint"),
        ("red: filter: colour red", "colour"),
        ("red: filter: color crimson", "crimson"),
        ("red: filter: color", "names no color"),
        ("row: relate: same line", "same line"),
        ("row: relate", "say more"),
        ("and: aside: now", "end after"),
        ("red: pass\nand: aside:", "'and: aside:' is no rule of 'and'"),
        ("red: pass\nrow: relate: `same row`, `smaller`", "is no rule of 'row'"),
        ("red: pass\n2. blue: filter: color blue", "is no rule of 'blue'"),
        ("red: pass\n**blue**: filter color blue", "is no rule of 'blue'"),
        ("x" * 100_001, "100,001 characters"),
    ],
)
def test_lexicons_of_sets_are_read_strictly(worlds: Any, text: str, hint: str) -> None:
    with pytest.raises(RecombineError, match=hint):
        worlds.read(text)


@pytest.mark.parametrize("blanks", [1_900, 90_000])
def test_blanks_without_end_are_no_rule(worlds: Any, blanks: int) -> None:
    assert worlds.read(READER + "pull: pass" + " " * blanks + "!").lines() == worlds.read(READER).lines()
    assert fields_of("word: 0: X" + " " * blanks + "!") == ([] if blanks > 2_000 else ["word", "0", "X" + " " * blanks + "!"])
    assert fields_of("- `walk`: 0 : `I_WALK` ") == ["walk", "0", "I_WALK"]


def test_a_table_of_composition_answers_longer_chains(families: Any) -> None:
    whole = open_book(recombine.load("clutrr", "generalization_23", "train", size=3_000))
    rules = whole.read(table_of(whole))
    for part, least in (("test_k2", 30), ("test_k6", 27)):
        examples = list(recombine.load("clutrr", "generalization_23", part, size=30))
        answers = rules.answers(examples)
        assert sum(e.score(a).value for e, a in zip(examples, answers, strict=True)) >= least
    example = recombine.load("clutrr", "generalization_23", "test_k2", size=1)[0]
    first, second = (families.relations[r] for r in chain_of(example, families.number))
    assert families.read(f"- `{first}, {second} = {example.answer}`").answers([example]) == [example.answer]
    other = next(r for r in families.relations if r not in (first, second))
    assert families.read(f"{other}, {other} = {other}").answers([example]) == [""]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("nothing", "no rule"),
        ("father, robot = aunt", "'robot'"),
        ("father, sister = aunt\nfather, sister = mother", "two things of father, sister"),
        ("__import__('os')", "no rule"),
        ("father, sister = aunt\n- father, mother = grandmother.", "more than a rule"),
        ("father, sister = aunt\n2. `father`, `mother` = `grandmother`", "more than a rule"),
    ],
)
def test_tables_are_read_strictly(families: Any, text: str, hint: str) -> None:
    with pytest.raises(RecombineError, match=hint):
        families.read(text)


def test_prose_around_rules_is_passed_over(worlds: Any, families: Any) -> None:
    said = "So red: filter is what I take.\nFor example, father, sister = aunt means this: my father's sister.\nThe lexicon:\n"
    assert worlds.read(said + READER).lines() == worlds.read(READER).lines()
    assert families.read(said + "father, sister = aunt").lines() == [("father", "sister", "aunt")]


def test_prompts_show_examples_and_no_test_row(worlds: Any, families: Any) -> None:
    assert worlds.prompt(3).count(" -> ") == 3
    assert families.prompt(7).count(" -> ") == 7
    assert worlds.prompt(3) == worlds.prompt(3)
    with pytest.raises(RecombineError, match="not for rows with"):
        open_book(recombine.load("lilgym", size=1))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("RECOMBINE_API_KEY", "sk-test-key-0123456789")
    with chat_server.ChatServer(lambda _prompt: "") as running:
        yield running


def test_an_endpoint_is_asked_once_and_its_rule_is_run(server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = open_book(recombine.load("clutrr", "generalization_23", "train"))
    server.reply = lambda _prompt: table_of(book)
    out = tmp_path / "run"
    words = ["ask", "clutrr", "--split", "generalization_23", "--part", "test_k3", "--size", "20", "--style", "lexicon"]
    words += ["--model", "m", "--endpoint", server.url, "--out", str(out)]
    assert main([*words, "--dry-run"]) == 0
    assert not server.asked and not out.exists()
    assert main(words) == 0
    assert main(words) == 0  # the reply is there; nobody is asked again
    assert len(server.asked) == 1
    told = capsys.readouterr().out
    found = json.loads((out / "rules.json").read_text())
    assert found["rows"] == 20 and found["right"] >= 18
    assert f"{found['right']} of 20 right" in told
    step = next(line for line in told.splitlines() if line.startswith("next: recombine ")).removeprefix("next: recombine ")
    direct = tmp_path / "direct.jsonl"
    rows = [{**json.loads(line), "answer": "aunt"} for line in (out / "answers.jsonl").read_text().splitlines()]
    direct.write_text("".join(json.dumps({"id": row["id"], "answer": row["answer"]}) + "\n" for row in rows))
    assert main([*step.split(), "--answers", f"direct={direct}"]) == 0
    report = Path(step.split()[-1])
    told = json.loads((report / "report.json").read_text())["parts"]["clutrr/generalization_23/test_k3"]["runs"]
    assert told["answers"]["rule"] == found["length"] and told["direct"]["rule"] == ""
    page = (report / "index.html").read_text()
    assert "Rule or cases" in page and found["length"] in page and "no rule: each row by itself" in page
    assert f"| {found['length']} |" in (report / "report.md").read_text()
    assert "sk-test-key" not in "".join(path.read_text() for path in out.glob("*.*"))


def test_caps_are_those_of_the_whole_run(server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ask", "scan", "--style", "lexicon", "--model", "m", "--endpoint", server.url, "--out", str(tmp_path / "r")]
    server.faults.append("400")
    assert main([*words, "--max-requests", "1"]) == 2
    assert "no reply" in capsys.readouterr().err
    assert main([*words, "--max-requests", "1"]) == 2
    assert "the cap is 1" in capsys.readouterr().err and len(server.asked) == 1
    server.reply = lambda _prompt: "I do not know."
    for _ in range(2):
        assert main([*words, "--max-requests", "2"]) == 2
        assert "holds no rules" in capsys.readouterr().err and len(server.asked) == 2
    assert (tmp_path / "r" / "reply.txt").read_text() == "I do not know."
    assert main([*words[:-1], str(tmp_path / "r"), "--shots", "3"]) == 2
    assert "another run" in capsys.readouterr().err


def test_a_prompt_alone_makes_no_run(server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`recombine rules … > mine/prompt.txt` is a step of the documentation; what lies beside it is the user's."""
    words = ["ask", "scan", "--style", "lexicon", "--model", "m", "--endpoint", server.url, "--out", str(tmp_path)]
    assert main(["rules", "scan"]) == 0
    (tmp_path / "prompt.txt").write_text(capsys.readouterr().out.removesuffix("\n"))
    for name in ("answers.jsonl", "rules.json", "reply.txt"):
        (tmp_path / name).write_text("years of work")
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert main(words) == 2
    assert "choose another folder" in capsys.readouterr().err and not server.asked
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_a_family_alone_is_enough_and_a_larger_size_goes_on(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Thinking before the rules is no part of them; `clutrr` has no part `test`, so the first one is run."""
    book = open_book(recombine.load("clutrr", None, "train"))
    server.reply = lambda _prompt: f"<think>father, father = aunt\n</think>\n{table_of(book)}"
    out = tmp_path / "run"
    words = ["ask", "clutrr", "--style", "lexicon", "--model", "m", "--endpoint", server.url, "--out", str(out)]
    assert main([*words, "--part", "nosuch"]) == 2
    assert "nosuch" in capsys.readouterr().err and not server.asked
    for size in ("10", "15"):
        assert main([*words, "--size", size]) == 0
        assert len((out / "answers.jsonl").read_text().splitlines()) == int(size)
        step = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("next: recombine "))
        assert main(step.removeprefix("next: recombine ").split()) == 0
        assert "test_k2" in capsys.readouterr().out
    assert len(server.asked) == 1


@pytest.mark.parametrize(("fault", "hint"), [("cut_off", "--max-tokens"), ("refusal", "refused")])
def test_a_cut_reply_and_a_refusal_hold_no_rules(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str, hint: str
) -> None:
    server.faults.append(fault)
    words = ["ask", "scan", "--style", "lexicon", "--model", "m", "--endpoint", server.url, "--out", str(tmp_path / "r")]
    assert main(words) == 2
    assert hint in capsys.readouterr().err


def test_what_makes_no_sense_is_refused(server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ask", "scan", "--style", "lexicon", "--model", "m", "--endpoint", server.url, "--out", str(tmp_path / "r")]
    for cap in (["--max-requests", "0"], ["--max-total-tokens", "100"], ["--price", "3,15", "--max-cost", "0.00001"]):
        assert main([*words[:-1], str(tmp_path / f"capped{len(cap)}{cap[0]}"), *cap]) != 0
        assert "cap" in capsys.readouterr().err and not server.asked
    assert main([*words, "--samples", "3", "--temperature", "1"]) == 2
    assert "--samples" in capsys.readouterr().err
    for option in (["--turns", "5"], ["--setting", "horizon=40"]):
        assert main([*words, *option]) == 2
        assert f"leave out {option[0]}." in capsys.readouterr().err
    server.reply = lambda _prompt: "I do not know."
    assert main(words) == 2
    assert "holds no rules" in capsys.readouterr().err
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "mine.txt").write_text("x")
    assert main([*words[:-1], str(tmp_path / "foreign")]) == 2
    assert (tmp_path / "foreign" / "mine.txt").read_text() == "x"
