"""Several samples, lenient reading, streams, batch files, and the exam over all families, against a server on this machine."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from recombine.cli import main
from recombine.data.datasets import load
from recombine.data.fresh import open_suite
from recombine.evaluate.ask import Asked, ask
from recombine.evaluate.budget import Caps
from recombine.evaluate.endpoint import Endpoint, Patience, joined_stream
from recombine.evaluate.outcomes import pass_at
from recombine.evaluate.prices import FREE, Price
from recombine.evaluate.prompts import Prompter
from recombine.evaluate.replies import parse_leniently, parse_reply
from recombine.families.scan import SCAN

_SPEC = importlib.util.spec_from_file_location("chat_server", Path(__file__).with_name("chat_server.py"))
assert _SPEC is not None and _SPEC.loader is not None
chat_server = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(chat_server)


def _right() -> dict[str, str]:
    return {str(e.inputs["command"]): e.answer for e in load("scan", "length", "test")}


def _command(prompt: str) -> str:
    return prompt.rpartition("Command: ")[2].partition("\n")[0]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("RECOMBINE_API_KEY", chat_server.KEY)
    answers = _right()
    with chat_server.ChatServer(lambda prompt: f"Answer: {answers[_command(prompt)]}") as running:
        yield running


def _asked(server: Any, size: int, samples: int = 1, **more: Any) -> tuple[Asked, Endpoint]:
    endpoint = Endpoint(server.url, "echo", {"max_tokens": 50}, Patience(2.0, 2, 0.005), **more)
    rows = load("scan", "length", "test", size=3920)
    return Asked(rows, Prompter(SCAN), "echo", endpoint.url, endpoint.settings, 50, size, samples=samples), endpoint


def test_pass_at_k_is_without_bias() -> None:
    assert pass_at(10, 0, 5) == 0.0 and pass_at(10, 10, 1) == 1.0 and pass_at(4, 1, 4) == 1.0
    assert pass_at(10, 3, 1) == pytest.approx(0.3)
    assert pass_at(5, 2, 2) == pytest.approx(1 - 3 / 10)  # 3 of the 10 pairs hold no right sample


def test_samples_are_counted_and_voted(server: Any, tmp_path: Path) -> None:
    answers, turn = _right(), count()
    server.reply = lambda prompt: f"Answer: {answers[_command(prompt)] if next(turn) % 4 else 'I_LOOK'}"
    asked, endpoint = _asked(server, 2, samples=4)
    outcome = ask(asked, endpoint, tmp_path / "r", caps=Caps(), price=Price(1.0, 2.0), concurrency=1)
    assert len(server.asked) == 8
    # eight questions in the order row 1, row 2, row 1, …: question 0 and question 4 are wrong, both of row 1
    assert outcome.passes == {1: pytest.approx(0.75), 2: pytest.approx((1 - 1 / 6 + 1) / 2), 3: 1.0, 4: 1.0}
    assert outcome.mean == 0.5 and outcome.majority in (0.5, 1.0)
    votes = [json.loads(line) for line in (tmp_path / "r" / "vote.jsonl").read_text().splitlines()]
    assert sorted(row["votes"] for row in votes) == [2, 4]
    assert outcome.per_right["tokens_out"] == pytest.approx(80 / 6)
    assert outcome.per_right["cost"] == pytest.approx(outcome.cost / 6)
    more, again = _asked(server, 2, samples=5)  # a run may grow
    assert ask(more, again, tmp_path / "r", caps=Caps(), price=FREE).asked_now == 2


def test_lenient_reading_beside_the_strict_one(server: Any, tmp_path: Path) -> None:
    answers = _right()
    server.reply = lambda prompt: f"First I think.\nThen it is clear.\n```\n{answers[_command(prompt)]}\n```"
    asked, endpoint = _asked(server, 3)
    outcome = ask(asked, endpoint, tmp_path / "r", caps=Caps(), price=FREE)
    assert (outcome.mean, outcome.lenient, outcome.statuses) == (0.0, 1.0, {"unparsable": 3})
    for text, finish in (("I'm sorry, I can't.", "stop"), ("a\nb", "length"), ("", "stop"), ("Answer: x", "stop")):
        assert parse_leniently(text, finish) == parse_reply(text, finish)
    assert parse_leniently("a\n\n**b c**.\n").answer == "b c"


def test_streams_are_joined_and_counted(server: Any, tmp_path: Path) -> None:
    asked, endpoint = _asked(server, 3, chunk_seconds=0.3)
    server.faults.extend(["silent_stream", "broken_stream"])
    outcome = ask(asked, endpoint, tmp_path / "r", caps=Caps(), price=FREE, concurrency=1)
    assert outcome.statuses == {"right": 3} and server.bodies[0]["stream"] is True
    replies = [json.loads(line) for line in (tmp_path / "r" / "replies.jsonl").read_text().splitlines()]
    assert all(reply["tokens_out"] == 10 and reply["model"] == "echo-1" for reply in replies)
    assert len(server.asked) == 5


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n"])
def test_only_a_line_feed_ends_a_line_of_a_stream(odd: str, end: str) -> None:
    """JSON may hold U+2028 and others as they are; Python's `splitlines` takes them for ends of lines."""
    piece = {"choices": [{"delta": {"content": f"I{odd}J"}, "finish_reason": "stop"}]}
    text = json.dumps(piece, ensure_ascii=False)  # escapes \x0b, \x0c and \x1c; they can stand in a comment of the stream
    found = joined_stream(f": hello{odd}data: x{end}data: {text}{end}data: [DONE]{end}".encode())
    assert found["choices"][0] == {"message": {"content": f"I{odd}J"}, "finish_reason": "stop"}


def test_votes_of_more_samples_do_not_stay(server: Any, tmp_path: Path) -> None:
    asked, endpoint = _asked(server, 2, samples=3)
    ask(asked, endpoint, tmp_path / "r", caps=Caps(), price=FREE)
    (tmp_path / "r" / "data").mkdir()
    for place in (tmp_path / "r", tmp_path / "r" / "data"):
        (place / "vote.jsonl").write_text("{}")
    one, again = _asked(server, 2)
    assert ask(one, again, tmp_path / "r", caps=Caps(), price=FREE).majority is None
    assert not (tmp_path / "r" / "vote.jsonl").exists()
    assert (tmp_path / "r" / "data" / "vote.jsonl").exists(), "it is not ours"


def test_seed_zero_is_an_exam_too(server: Any, tmp_path: Path) -> None:
    """Today's date is the seed of an exam only where none is given."""
    server.reply = lambda _prompt: "Answer: walk"
    words = ["ask", "--suite", "fresh", "--size", "1", "--model", "m", "--endpoint", server.url, "--max-requests", "0"]
    assert main([*words, "--seed", "0", "--out", str(tmp_path / "zero")]) == 1
    assert open_suite(tmp_path / "zero" / "data").seed == 0
    assert main([*words, "--seed", "7", "--out", str(tmp_path / "seven")]) == 1
    assert main([*words, "--seed", "0", "--out", str(tmp_path / "seven")]) == 2
    assert main([*words, "--out", str(tmp_path / "seven")]) == 1


def test_a_batch_file_is_written_and_read_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers, run, requests = _right(), str(tmp_path / "run"), tmp_path / "requests.jsonl"
    words = ["ask", "scan", "--split", "length", "--size", "3", "--model", "m", "--price", "1,2", "--out", run]
    assert main([*words, "--write-batch", str(requests)]) == 0
    rows = [json.loads(line) for line in requests.read_text().splitlines()]
    assert len(rows) == 3 and rows[0]["url"] == "/v1/chat/completions" and rows[0]["body"]["model"] == "m"
    results = []
    for row in rows[:2]:
        text = f"Answer: {answers[_command(row['body']['messages'][-1]['content'])]}"
        results.append({"custom_id": row["custom_id"], "response": {"status_code": 200, "body": chat_server.completion(text)}})
    results.append({"custom_id": rows[2]["custom_id"], "response": {"status_code": 500, "body": {}}, "error": None})
    done = tmp_path / "results.jsonl"
    done.write_text("".join(json.dumps(row) + "\n" for row in results))
    capsys.readouterr()
    assert main([*words, "--read-batch", str(done), "--json"]) == 1
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["statuses"] == {"right": 2, "error": 1} and outcome["tokens_out"] == 20
    assert main([*words, "--write-batch", str(tmp_path / "again.jsonl"), "--retry-errors"]) == 0
    assert len((tmp_path / "again.jsonl").read_text().splitlines()) == 1
    done.write_text('{"custom_id": 3}\n')
    assert main([*words, "--read-batch", str(done)]) == 2
    assert main([*words, "--write-batch", str(requests), "--endpoint", "http://localhost:1/v1"]) == 2


def test_several_samples_need_a_temperature(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ask", "scan", "--model", "m", "--endpoint", "http://localhost:1/v1", "--dry-run", "--samples", "3"]
    assert main(words) == 2
    assert "--temperature" in capsys.readouterr().err


def test_the_exam_over_all_families_is_asked_and_evaluated(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.reply = lambda _prompt: "Answer: walk"
    out = tmp_path / "run"
    words = [
        "ask",
        "--suite",
        "fresh",
        "--size",
        "2",
        "--seed",
        "5",
        "--model",
        "m",
        "--endpoint",
        server.url,
        "--out",
        str(out),
    ]
    assert main([*words, "--max-requests", "3"]) == 1  # the cap is for the whole exam
    assert len(server.asked) == 3
    assert main(words) == 0
    asked = len(server.asked)
    assert main(words) == 0 and len(server.asked) == asked
    assert "next: recombine evaluate" in capsys.readouterr().out
    suite = out / "data"
    assert open_suite(suite).seed == 5
    assert main(["evaluate", "--data", str(suite), "--answers", f"m={out}/answers.jsonl", "--out", str(tmp_path / "rep")]) == 0
    found = json.loads((tmp_path / "rep" / "report.json").read_text())
    assert found["suite"] == {"suite": "fresh", "seed": 5, "size": 2}
    assert main(["ask", "scan", "--suite", "fresh", "--model", "m", "--endpoint", server.url, "--out", str(out)]) == 2
