"""Acting turn by turn through `recombine ask --act`: a scripted model at an endpoint of this machine plays real episodes."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recombine
from recombine.cli import main
from recombine.core import Example
from recombine.data.datasets import load
from recombine.episodes import Episode
from recombine.errors import FileError, RecombineError, UnknownName
from recombine.evaluate.acting import Acting, played_so_far, score_episode, turn_key
from recombine.evaluate.answers import Answer, read_answers
from recombine.evaluate.evaluate import evaluate
from recombine.evaluate.findings import findings
from recombine.evaluate.verdict import coverage_lines

_SPEC = importlib.util.spec_from_file_location("chat_server", Path(__file__).with_name("chat_server.py"))
assert _SPEC is not None and _SPEC.loader is not None
chat_server = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(chat_server)

FAMILIES: dict[str, list[str]] = {
    "gscan": [],
    "reascan": [],
    "lilgym": ["--set", "scene=tower", "--set", "start=scratch"],
    "abstract": [],
}
"""Family -> the words that choose rows which can be acted in."""


class Scripted:
    """A model that knows the expert's plan of every episode and carries out one action a turn, found from the conversation alone."""

    def __init__(self, rows: list[Example], wrong: frozenset[str] = frozenset(), **settings: Any) -> None:
        self.wrong, self.settings = wrong, settings
        self.rows = {str(Episode(row, with_rules=False, **settings).messages[0]["content"]): row for row in rows}

    def __call__(self, messages: list[dict[str, Any]]) -> str:
        row = self.rows[messages[0]["content"]]
        if row.id in self.wrong:
            return "STOP"
        episode = Episode(row, with_rules=False, **self.settings)
        for message in messages:
            if message["role"] == "assistant":
                episode.act(message["content"])
        assert messages == episode.messages, "the model is sent the conversation as the episode tells it"
        return f"I think.\nAnswer: {episode.expert()[0]}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("RECOMBINE_API_KEY", chat_server.KEY)
    with chat_server.ChatServer(lambda prompt: "STOP") as running:
        yield running


def _words(name: str, server: Any, out: Path, *more: str, size: int = 3) -> list[str]:
    words = [
        "ask",
        name,
        *FAMILIES[name],
        "--act",
        "--size",
        str(size),
        "--model",
        "m",
        "--endpoint",
        server.url,
        "--out",
        str(out),
    ]
    return [*words, "--retries", "0", *more]


def _rows(name: str, size: int = 3) -> list[Example]:
    options = dict(word.split("=") for word in FAMILIES[name] if "=" in word)
    return load(name, size=size, **options)[:size]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_scripted_model_solves_turn_by_turn_and_evaluate_agrees(
    name: str, server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = _rows(name)
    server.converse = Scripted(rows, wrong=frozenset({rows[0].id}))
    out = tmp_path / "run"
    assert main([*_words(name, server, out), "--turns", "60", "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["statuses"] == {"right": 2, "wrong": 1} and outcome["mean"] == pytest.approx(2 / 3)
    answers = read_answers(out / "answers.jsonl")
    assert [answers[row.id].more["episode"]["solved"] for row in rows] == [False, True, True]
    turns = [len(answers[row.id].more["episode"]["replies"]) for row in rows]
    assert turns[0] == 1 and max(turns) > 1 and outcome["requests"] == sum(turns) == len(server.asked)
    journal = [json.loads(line) for line in (out / "replies.jsonl").read_text().splitlines()]
    assert {line["id"] for line in journal} == {
        turn_key(row.id, t) for row, n in zip(rows, turns, strict=True) for t in range(1, n + 1)
    }
    assert main(_words(name, server, out, "--turns", "60")) == 0  # nothing is asked again, and the next step is printed
    told = capsys.readouterr().out
    assert len(server.asked) == sum(turns) and "plays every episode again" in told
    assert f"evaluate --data {out}/data --answers {out}/answers.jsonl" in told
    [run] = recombine.evaluate(out / "data", {"m": answers}, baselines=()).runs
    assert [record.value for record in run.records] == [0.0, 1.0, 1.0]
    assert [record.detail["turns"] for record in run.records] == turns


def test_a_run_goes_on_in_the_middle_of_an_episode(server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = _rows("gscan")
    server.converse = Scripted(rows)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert main(_words("gscan", server, whole, "--turns", "60")) == 0
    needed = len(server.asked)
    assert needed > 6
    assert main(_words("gscan", server, cut, "--turns", "60", "--max-requests", "5", "--concurrency", "1")) == 1
    assert len(server.asked) == needed + 5
    assert "not finished" in capsys.readouterr().out
    assert len(read_answers(cut / "answers.jsonl")) < 3
    assert main(_words("gscan", server, cut, "--turns", "60")) == 0
    assert len(server.asked) == 2 * needed, "no turn is asked twice"
    kept = [
        {k: v["episode"] for k, v in ((a.id, a.more) for a in read_answers(p / "answers.jsonl").values())} for p in (whole, cut)
    ]
    assert kept[0] == kept[1]


def test_money_caps_hold_within_an_episode(server: Any, tmp_path: Path) -> None:
    server.converse = Scripted(_rows("gscan", 1))
    out = tmp_path / "run"
    words = _words(
        "gscan", server, out, "--turns", "60", "--price", "1000,1000", "--max-tokens", "20", "--max-cost", "1.5", size=1
    )
    assert main(words) == 1
    lines = [json.loads(line) for line in (out / "requests.jsonl").read_text().splitlines()]
    assert lines and all(line["tokens_in"] > 100 for line in lines)
    sizes = [line["tokens_in"] for line in lines]
    assert sizes == sorted(set(sizes)), "each turn reads more than the one before"
    assert sum(100 + 10 for _ in lines) * 1000 / 1e6 <= 1.5


def test_errors_and_cut_replies_end_an_episode_and_can_be_asked_again(server: Any, tmp_path: Path) -> None:
    server.converse = Scripted(_rows("gscan", 1))
    server.faults.extend(["ok", "500"])
    out = tmp_path / "run"
    assert main(_words("gscan", server, out, "--turns", "60", size=1)) == 1
    [answer] = read_answers(out / "answers.jsonl").values()
    assert (answer.status, len(answer.more["episode"]["replies"])) == ("error", 2)
    assert main(_words("gscan", server, out, "--turns", "60", "--retry-errors", size=1)) == 0
    [answer] = read_answers(out / "answers.jsonl").values()
    assert answer.status is None and answer.more["episode"]["solved"]
    server.faults.extend(["ok", "cut_off"])
    assert main(_words("gscan", server, tmp_path / "other", size=1)) == 0
    [answer] = read_answers(tmp_path / "other" / "answers.jsonl").values()
    assert answer.status == "truncated" and not answer.more["episode"]["solved"]


def test_turns_end_an_episode(server: Any, tmp_path: Path) -> None:
    server.converse = lambda messages: "walk of life"
    out = tmp_path / "run"
    assert main(_words("reascan", server, out, "--turns", "3", size=1)) == 0
    [answer] = read_answers(out / "answers.jsonl").values()
    assert answer.more["episode"]["turns"] == 3 and answer.answer == ""
    [row] = _rows("reascan", 1)
    assert score_episode(row, answer).status == "unparsable"


def test_settings_pictures_and_samples(server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = _rows("gscan", 1)[0]
    server.converse = lambda messages: Episode(row).expert_reply()
    out = tmp_path / "run"
    more = (
        "--setting",
        "goal=sequence",
        "--setting",
        "horizon=50",
        "--image",
        "--style",
        "rules",
        "--samples",
        "2",
        "--temperature",
        "1",
    )
    assert main([*_words("gscan", server, out, *more, size=1), "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["passes"] == {"1": 1.0, "2": 1.0} and outcome["requests"] == 2
    content = server.bodies[0]["messages"][0]["content"]
    assert content[0]["type"] == "image_url" and "Rules:" in content[1]["text"] and "exactly those" in content[1]["text"]
    asked = json.loads((out / "run.json").read_text())["asked"]["acting"]
    assert asked["settings"] == {"goal": "sequence", "horizon": 50} and asked["sight"] == "picture"
    assert main(_words("gscan", server, out, "--image", size=1)) == 2
    assert "another run" in capsys.readouterr().err


def test_what_cannot_be_acted_is_said_before_anything_is_asked(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    base = ["--model", "m", "--endpoint", server.url, "--out", str(out), "--size", "2"]
    cases = {
        ("ask", "scan", "--act"): "cannot be acted in",
        ("ask", "gscan", "--act", "--setting", "goal=elsewhere"): "end_state",
        ("ask", "gscan", "--act", "--setting", "seed=3"): "seed",
        ("ask", "gscan", "--act", "--setting", "horizon"): "NAME=VALUE",
        ("ask", "gscan", "--act", "--turns", "0"): "--turns",
        ("ask", "gscan", "--act", "--shots", "2"): "--shots",
        ("ask", "gscan", "--turns", "3"): "--act",
        ("ask", "gscan", "--act", "--write-batch", str(tmp_path / "b.jsonl")): "batch",
    }
    for words, told in cases.items():
        assert main([*words, *base]) == 2, words
        assert told in capsys.readouterr().err, words
    assert not server.asked and not out.exists()
    assert main(["ask", "gscan", "--act", *base, "--dry-run"]) == 0
    assert "first turns" in capsys.readouterr().out


def test_evaluate_believes_the_replies_and_not_the_verdict_beside_them() -> None:
    row = _rows("gscan", 1)[0]
    told = {"sight": "text", "with_rules": False, "settings": {}, "replies": ["STOP"], "solved": True, "reward": 1.0}
    assert score_episode(row, Answer(row.id, row.answer, None, {"episode": told})).value == 0.0
    right = {**told, "replies": [Episode(row).expert_reply()], "solved": False}
    assert score_episode(row, Answer(row.id, "", None, {"episode": right})).value == 1.0
    for wrong in (
        {**told, "replies": "STOP"},
        {**told, "sight": "smell"},
        {**told, "settings": {"goal": "x"}},
        {**told, "settings": {"seed": 1}},
        [],
    ):
        with pytest.raises(FileError):
            score_episode(row, Answer(row.id, "", None, {"episode": wrong}))
    scan = load("scan", size=1)[0]
    with pytest.raises(FileError, match="cannot be acted in"):
        score_episode(scan, Answer(scan.id, "", None, {"episode": told}))


def test_a_report_says_who_acted(tmp_path: Path) -> None:
    """An episode is right by its end, an answer only word by word: the two are not compared in silence."""
    folder = recombine.generate("gscan", tmp_path / "data", split="target_lengths", part="test", size=3)
    data = load(str(folder.path))
    told = {"sight": "text", "with_rules": False, "settings": {}, "replies": ["STOP"]}
    acted = {row.id: Answer(row.id, "", None, {"episode": told}) for row in data}
    at_once = {row.id: Answer(row.id, row.answer) for row in data}
    found = findings(evaluate(folder, {"actor": acted, "speaker": at_once}))
    (line,) = [line for line in coverage_lines(found) if "acted" in line]
    assert line.startswith("actor acted turn by turn")
    assert "speaker" not in line
    assert not any("acted" in line for line in coverage_lines(findings(evaluate(folder, {"speaker": at_once}))))


def test_mistakes_of_an_episode_have_names() -> None:
    for row in _rows("gscan", 40):
        for shortcut in row.explain().shortcuts:
            if not shortcut.answer or row.score(shortcut.answer).status != "wrong":
                continue
            told = {"sight": "text", "with_rules": False, "settings": {}, "replies": [f"{shortcut.answer}, STOP"]}
            score = score_episode(row, Answer(row.id, "", None, {"episode": told}))
            if score.value == 0.0:
                assert shortcut.name in score.mistakes
                return
    pytest.fail("no shortcut leads elsewhere")


def test_the_journal_decides_the_episode() -> None:
    row = _rows("gscan", 1)[0]
    acting = Acting()
    plan = Episode(row).expert()
    reply = {"finish": "stop", "refusal": "", "error": "", "model": "m", "tokens_in": 1, "tokens_out": 1, "seconds": 0.5}
    replies = {turn_key(row.id, n): {**reply, "reply": word} for n, word in enumerate(plan, 1)}
    assert played_so_far(acting, row, row.id, replies).episode.solved
    some = dict(list(replies.items())[:-1])
    assert played_so_far(acting, row, row.id, some).is_open
    with pytest.raises(UnknownName):
        Acting(settings={"index": 1}).episode(row)
    with pytest.raises(RecombineError):
        Acting(turns=0)


def test_what_a_model_did_can_be_watched(server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = _rows("gscan", 2)
    server.converse = Scripted(rows, wrong=frozenset({rows[0].id}))
    out, film = tmp_path / "run", tmp_path / "film.gif"
    assert main(_words("gscan", server, out, "--turns", "60", size=2)) == 0
    capsys.readouterr()
    assert main(["watch", str(out), "--index", "1", "--out", str(film), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["id"], told["solved"], told["frames"]) == (rows[1].id, True, 1 + len(Episode(rows[1]).expert()))
    assert main(["watch", str(out), "--out", str(film), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["solved"] is False
    for words in (["--index", "2"], ["--act", "walk"]):
        assert main(["watch", str(out), *words, "--out", str(film)]) == 2
    assert main(["watch", str(tmp_path), "--out", str(film)]) == 2
    assert "no episodes" in capsys.readouterr().err
