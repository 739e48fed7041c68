"""Asking language models: a real endpoint on this machine that misbehaves on purpose, caps, kills, keys."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recombine.cli import main
from recombine.data.datasets import load
from recombine.errors import EndpointError, FileError, UsageError
from recombine.evaluate.answers import read_answers
from recombine.evaluate.ask import Asked, Outcome, ask, estimate
from recombine.evaluate.budget import Budget, CapReached, Caps
from recombine.evaluate.endpoint import Endpoint, Patience, Reply, Secret, check_endpoint, key_from_environment
from recombine.evaluate.journal import Journal, used_in
from recombine.evaluate.prices import FREE, Price, parse_price
from recombine.evaluate.prompts import Prompter
from recombine.families.scan import SCAN

_SPEC = importlib.util.spec_from_file_location("chat_server", Path(__file__).with_name("chat_server.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
chat_server = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(chat_server)
KEY = chat_server.KEY
PATIENCE = Patience(timeout_seconds=0.5, retries=2, backoff_seconds=0.005)


def command_in(prompt: str) -> str:
    """The command that a SCAN prompt asks about."""
    return prompt.rpartition("Command: ")[2].partition("\n")[0]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("RECOMBINE_API_KEY", KEY)
    with chat_server.ChatServer(oracle_of_length()) as running:
        yield running


def oracle_of_length() -> Callable[[str], str]:
    answers = {e.inputs["command"]: e.answer for e in load("scan", "length", "test")}
    return lambda prompt: f"Let me see.\n**Answer:** {answers[command_in(prompt)]}"


def asking(server: Any, size: int, **more: Any) -> tuple[Asked, Endpoint]:
    endpoint = Endpoint(server.url, "echo", {"max_tokens": 50}, PATIENCE, **more)
    rows = load("scan", "length", "test", size=3920)
    return Asked(rows, Prompter(SCAN), "echo", endpoint.url, endpoint.settings, 50, size), endpoint


def run(server: Any, out: Path, size: int = 6, *, caps: Caps | None = None, **more: Any) -> Outcome:
    asked, endpoint = asking(server, size)
    return ask(asked, endpoint, out, caps=caps or Caps(), price=FREE, concurrency=more.pop("concurrency", 2), **more)


def files_of(folder: Path) -> str:
    return "".join(path.read_text() for path in sorted(folder.iterdir()) if path.is_file())


# --- the protocol ----------------------------------------------------------------------------------------------------


def test_right_replies_score_one_and_are_written_as_answers(server: Any, tmp_path: Path) -> None:
    outcome = run(server, tmp_path / "r", 12)
    assert (outcome.statuses, outcome.mean, outcome.stopped) == ({"right": 12}, 1.0, "")
    assert (outcome.requests, outcome.tokens_in, outcome.tokens_out) == (12, 1200, 120)
    answers = read_answers(tmp_path / "r" / "answers.jsonl")
    rows = load("scan", "length", "test")[:12]
    assert [answers[e.id].answer for e in rows] == [e.answer for e in rows]
    described = json.loads((tmp_path / "r" / "run.json").read_text())
    assert described["asked"]["model"] == "echo"
    assert described["asked"]["settings"] == {"max_tokens": 50}
    assert described["parser"] == 1
    assert {"recombine", "python", "httpx2"} <= set(described["versions"])
    assert server.bodies[0]["model"] == "echo"
    assert server.bodies[0]["max_tokens"] == 50
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_pictures_and_examples_go_out_as_the_command_line_says(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.reply = lambda prompt: "Answer: walk, walk"
    words = [
        "ask",
        "gscan",
        "--size",
        "2",
        "--model",
        "echo",
        "--endpoint",
        server.url,
        "--out",
        str(tmp_path / "r"),
        "--shots",
        "1",
    ]
    words += [
        "--image",
        "--body",
        "max_tokens=null",
        "--body",
        "max_completion_tokens=99",
        "--body",
        "seed=5",
        "--concurrency",
        "1",
    ]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "mean score" in printed
    body = server.bodies[0]
    kinds = [piece["type"] for piece in body["messages"][0]["content"]]
    assert kinds == ["text", "image_url", "text", "image_url", "text"]
    assert (body["max_completion_tokens"], body["seed"], body["temperature"]) == (99, 5, 0.0)
    assert "max_tokens" not in body
    assert "The grid holds" not in json.dumps(body)
    for bad in (
        ["--body", "messages=[]"],
        ["--body", "x"],
        ["--style", "slowly"],
        ["--max-tokens", "0"],
        ["--body", "max_completion_tokens=null"],
        ["--body", "x=NaN"],
        ["--temperature", "nan"],
        ["--timeout", "0"],
    ):
        assert main([*words, *bad]) == 2


FAULTS = (
    "429", "500", "hang", "drip", "cut", "bad_json", "deep_json", "empty_choices", "wrong_shape", "wrong_type", "gzip", "huge"
)  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_retried_and_then_answered(fault: str, server: Any, tmp_path: Path) -> None:
    server.faults.append(fault)
    outcome = run(server, tmp_path / "r", 1)
    assert outcome.statuses == {"right": 1}
    assert len(server.asked) == 2
    if fault == "huge":
        assert server.sent_bytes < 64 << 20


@pytest.mark.parametrize("fault", ["500", "hang", "cut", "bad_json", "empty_choices", "wrong_type"])
def test_a_lasting_fault_is_recorded_after_bounded_retries(fault: str, server: Any, tmp_path: Path) -> None:
    server.faults.extend([fault] * 3)
    outcome = run(server, tmp_path / "r", 2, concurrency=1)
    assert outcome.statuses == {"error": 1, "right": 1}
    assert sum(outcome.errors.values()) == 1 and not outcome.is_complete
    assert len(server.asked) == 4
    answers = read_answers(tmp_path / "r" / "answers.jsonl")
    first = next(iter(answers.values()))
    assert (first.answer, first.status) == (None, "error")
    assert run(server, tmp_path / "r", 2).asked_now == 0
    assert run(server, tmp_path / "r", 2, retry_errors=True).statuses == {"right": 2}


@pytest.mark.parametrize(("fault", "words"), [("redirect", "redirects are not followed"), ("400", "context too long")])
def test_what_cannot_get_better_is_recorded_at_once(fault: str, words: str, server: Any, tmp_path: Path) -> None:
    server.faults.append(fault)
    assert run(server, tmp_path / "r", 1).statuses == {"error": 1}
    assert len(server.asked) == 1
    assert words in files_of(tmp_path / "r")


def test_replies_that_hold_no_answer_keep_their_reason(server: Any, tmp_path: Path) -> None:
    server.faults.extend(["cut_off", "refusal", "surrogate"])
    outcome = run(server, tmp_path / "r", 3, concurrency=1)
    assert outcome.statuses == {"truncated": 1, "refused": 1, "unparsable": 1}
    assert [a.status for a in read_answers(tmp_path / "r" / "answers.jsonl").values()] == ["truncated", "refused", None]


def test_a_refused_key_stops_the_run_and_is_not_shown(server: Any, tmp_path: Path) -> None:
    server.faults.extend(["ok", "401"])
    with pytest.raises(EndpointError, match="401") as stop:
        run(server, tmp_path / "r", 6, concurrency=1)
    assert KEY not in str(stop.value)
    assert len(read_answers(tmp_path / "r" / "answers.jsonl")) == 1
    assert run(server, tmp_path / "r", 6).statuses == {"right": 6}


def test_an_endpoint_that_is_down_stops_the_run(tmp_path: Path) -> None:
    with chat_server.ChatServer(str) as gone:
        asked, endpoint = asking(gone, 40)
    endpoint.patience = replace(PATIENCE, retries=0)
    with pytest.raises(EndpointError, match="in a row"):
        ask(asked, endpoint, tmp_path / "r", caps=Caps(), price=FREE, concurrency=1)


def test_a_run_without_any_reply_says_why_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server.ChatServer(str) as gone:
        url = gone.url
    words = ["ask", "scan", "--size", "2", "--model", "m", "--endpoint", url, "--retries", "0", "--out", str(tmp_path / "r")]
    assert main(words) == 1
    assert "2 rows without a reply: no connection" in capsys.readouterr().out


def test_retry_after_is_honoured_within_a_bound(server: Any, tmp_path: Path) -> None:
    server.faults.append("429")
    run(server, tmp_path / "r", 1)
    assert server.times[1] - server.times[0] >= 1.0
    from recombine import keys

    assert PATIENCE.wait_seconds(0, 1e12, keys.Stream("x")) == 120.0
    waits = [PATIENCE.wait_seconds(k, None, keys.Stream("x")) for k in range(4)]
    assert waits == sorted(waits)
    assert waits == [PATIENCE.wait_seconds(k, None, keys.Stream("x")) for k in range(4)]


def test_the_key_is_in_no_file_message_or_repr(server: Any, tmp_path: Path) -> None:
    server.faults.extend(["echo_key", "400", "500"])
    asked, endpoint = asking(server, 5)
    ask(asked, endpoint, tmp_path / "r", caps=Caps(), price=FREE, concurrency=1)
    assert KEY not in files_of(tmp_path / "r")
    assert "[key]" in files_of(tmp_path / "r")
    assert KEY not in repr(endpoint) + str(endpoint.key) + repr(vars(endpoint))
    assert KEY not in repr(endpoint._client.headers if endpoint._client else "")


def test_keys_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECOMBINE_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert not key_from_environment()
    assert key_from_environment().header() == {}
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    assert key_from_environment().header() == {"Authorization": "Bearer other"}
    monkeypatch.setenv("RECOMBINE_API_KEY", "own")
    assert key_from_environment().header() == {"Authorization": "Bearer own"}
    with pytest.raises(UsageError, match="take it out") as told:
        Endpoint("https://example.com/v1", "m", {"user": f"me {KEY}"}, key=Secret(KEY))
    assert KEY not in str(told.value)
    with pytest.raises(UsageError) as refused:
        Secret("sk-a\nX-Evil: 1")
    assert "sk-a" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    ["http://example.com/v1", "ftp://localhost/v1", "https://", "localhost:8000", "https://u:p@example.com/v1", "https://x/v1?key=1",
     "https://x/v1#f", "http://127.0.0.1.example.com/v1", "http://[::1", "https://x/a b", "", "https://x:99999/v1"],
)  # fmt: skip
def test_endpoints_must_be_plain_and_encrypted(url: str) -> None:
    with pytest.raises(UsageError):
        check_endpoint(url)


def test_local_and_encrypted_endpoints_are_taken() -> None:
    assert check_endpoint("http://localhost:8000/v1/") == "http://localhost:8000/v1"
    assert check_endpoint("http://[::1]:8000/v1") == "http://[::1]:8000/v1"
    assert check_endpoint("https://example.com/v1/chat/completions") == "https://example.com/v1"


def test_http_to_another_machine_must_be_allowed() -> None:
    with pytest.raises(UsageError, match="--allow-http"):
        check_endpoint("http://10.0.0.7:8000/v1")
    assert check_endpoint("http://10.0.0.7:8000/v1", allow_http=True) == "http://10.0.0.7:8000/v1"


def test_the_version_of_an_interface_may_stand_in_the_address(server: Any, tmp_path: Path) -> None:
    assert check_endpoint("https://x/v1/chat/completions?api-version=2026-02-01") == "https://x/v1?api-version=2026-02-01"
    for query in ("api-version=", "api-version=1&key=2", "key=1", f"api-version={'1' * 50}"):
        with pytest.raises(UsageError, match="api-version"):
            check_endpoint(f"https://x/v1?{query}")
    asked, endpoint = asking(server, 1)
    endpoint.url += "?api-version=2026-02-01"
    assert ask(asked, endpoint, tmp_path / "r", caps=Caps(), price=FREE).mean == 1.0
    assert server.paths == ["/v1/chat/completions?api-version=2026-02-01"]


# --- reasoning models, system messages, pace, exit codes -----------------------------------------------------------------


def test_reasoning_is_kept_and_never_read(server: Any, tmp_path: Path) -> None:
    server.faults.extend(["reasoning", "only_reasoning"])
    outcome = run(server, tmp_path / "r", 2, concurrency=1)
    assert outcome.statuses == {"wrong": 1, "truncated": 1}
    first, second = [json.loads(line) for line in (tmp_path / "r" / "replies.jsonl").read_text().splitlines()]
    assert first["reply"] == "Answer: I_WALK" and first["reasoning"] == "Answer: I_RUN, and the key is [key]"
    assert first["tokens_reasoning"] == 7 and KEY not in files_of(tmp_path / "r")
    assert second["reply"] == "" and second["reasoning"] == "Answer: I_WALK" and "tokens_reasoning" not in second
    assert run(server, tmp_path / "r", 2).asked_now == 0


def test_an_endpoint_that_wants_the_other_limit_stops_the_run_at_once(server: Any, tmp_path: Path) -> None:
    server.faults.extend(["wants_completion"] * 20)
    with pytest.raises(EndpointError, match="--body max_tokens=null --body max_completion_tokens=50"):
        run(server, tmp_path / "r", 12, concurrency=1)
    assert len(server.asked) == 1


def test_a_system_message_goes_first_and_belongs_to_the_run(server: Any, tmp_path: Path) -> None:
    asked, endpoint = asking(server, 2)
    told = replace(asked, system="Be brief.")
    ask(told, endpoint, tmp_path / "r", caps=Caps(), price=FREE)
    assert [m["role"] for m in server.bodies[0]["messages"]] == ["system", "user"]
    assert server.bodies[0]["messages"][0]["content"] == "Be brief."
    with pytest.raises(FileError, match="system"):
        ask(asked, asking(server, 2)[1], tmp_path / "r", caps=Caps(), price=FREE)
    plain = ask(asked, asking(server, 2)[1], tmp_path / "plain", caps=Caps(), price=FREE)
    assert "system" not in json.loads((tmp_path / "plain" / "run.json").read_text())["asked"] and plain.mean == 1.0


def test_requests_keep_their_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("recombine.evaluate.endpoint.time.monotonic", lambda: 100.0)
    monkeypatch.setattr("recombine.evaluate.endpoint.asyncio.sleep", sleep)
    endpoint = Endpoint("http://localhost/v1", "m", per_minute=30)

    async def paced() -> None:
        for _ in range(3):
            await endpoint._pace()

    asyncio.run(paced())
    assert waits == [0.0, 2.0, 4.0]
    with pytest.raises(UsageError, match="per minute"):
        Endpoint("http://localhost/v1", "m", per_minute=0)


def test_rows_in_error_give_exit_code_one(server: Any, tmp_path: Path) -> None:
    words = ["ask", "scan", "--split", "length", "--size", "2", "--model", "echo", "--endpoint", server.url, "--out", str(tmp_path / "r"),
             "--retries", "0", "--concurrency", "1", "--system", "Be brief.", "--per-minute", "100000"]  # fmt: skip
    server.faults.extend(["400"])
    assert main(words) == 1
    assert main([*words, "--retry-errors"]) == 0
    assert server.bodies[0]["messages"][0]["role"] == "system"


# --- caps ------------------------------------------------------------------------------------------------------------


def test_no_more_requests_are_under_way_than_allowed(server: Any, tmp_path: Path) -> None:
    server.delay_seconds = 0.05
    assert run(server, tmp_path / "r", 12, concurrency=3).statuses == {"right": 12}
    assert server.most_active == 3


def test_caps_stop_before_they_are_exceeded_and_the_run_goes_on_when_raised(server: Any, tmp_path: Path) -> None:
    stopped = run(server, tmp_path / "r", 10, caps=Caps(requests=4))
    assert "cap is 4" in stopped.stopped
    assert len(server.asked) == 4
    assert stopped.statuses == {"not asked": 6, "right": 4}
    again = run(server, tmp_path / "r", 10, caps=Caps(requests=4))
    assert (again.asked_now, len(server.asked)) == (0, 4)
    done = run(server, tmp_path / "r", 10, caps=Caps(requests=10))
    assert (done.statuses, done.stopped, len(server.asked)) == ({"right": 10}, "", 10)


def test_money_and_tokens_are_never_exceeded_whatever_is_under_way() -> None:
    price = Price(1_000_000.0, 2_000_000.0)
    budget = Budget(Caps(cost=100.0), price)
    for _ in range(4):
        budget.reserve(5, 10)
    with pytest.raises(CapReached):
        budget.reserve(5, 10)
    budget.release(1, 5, 10)
    budget.charge(5, 1)
    budget.reserve(5, 5)
    assert budget.cost == 7.0
    budget = Budget(Caps(tokens=30), FREE)
    budget.reserve(10, 10)
    with pytest.raises(CapReached):
        budget.reserve(10, 10)


def test_lost_requests_count_at_their_most(server: Any, tmp_path: Path) -> None:
    run(server, tmp_path / "r", 2)
    requests = tmp_path / "r" / "requests.jsonl"
    requests.write_text(requests.read_text() + '{"id": "x", "tokens_in": 7, "tokens_out": 50}\n{"id": "x", "tok')
    journal = Journal(tmp_path / "r")
    journal.close()
    assert sum(used[0] for used in journal.used) == 3
    assert (1, 7, 50) in journal.used


def test_a_reply_without_a_count_is_charged_at_its_most(server: Any, tmp_path: Path) -> None:
    """The model may have thought, and cost, more than its text shows."""
    server.faults.append("no_usage")
    outcome = run(server, tmp_path / "r", 1)
    (request,) = [json.loads(line) for line in (tmp_path / "r" / "requests.jsonl").read_text().splitlines()]
    assert (outcome.tokens_in, outcome.tokens_out) == (request["tokens_in"], 50)


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -1.0])
def test_a_cap_is_a_number(cost: float, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is above nan or infinity, so they would be no caps."""
    with pytest.raises(UsageError, match="--max-cost"):
        Caps(cost=cost)
    words = ["ask", "scan", "--model", "m", "--endpoint", "http://localhost:1/v1", "--max-cost", str(cost)]
    for style in ("direct", "lexicon"):
        assert main([*words, "--style", style, "--dry-run"]) == 2
        assert "--max-cost" in capsys.readouterr().err


def test_counting_what_a_run_has_used_changes_nothing(server: Any, tmp_path: Path) -> None:
    """Another process may be at work on it, in the middle of a line."""
    run(server, tmp_path / "r", 2)
    half = b'{"id": "scan", "reply": "\xe2\x80'
    for name in ("requests.jsonl", "replies.jsonl"):
        with (tmp_path / "r" / name).open("ab") as stream:
            stream.write(half)
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "run.json").write_bytes((tmp_path / "r" / "run.json").read_bytes())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert used_in(tmp_path / "r") == (2, 200, 20)
    assert used_in(tmp_path / "begun") == used_in(tmp_path / "nothing") == (0, 0, 0)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_unknown_prices_are_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ask", "scan", "--model", "m", "--endpoint", "https://example.com/v1", "--out", str(tmp_path / "r")]
    assert main(words) == 2
    assert "--price" in capsys.readouterr().err
    assert main([*words, "--price", "3"]) == 2
    assert main([*words, "--price", "1e6,1", "--max-cost", "1"]) == 2
    assert "over --max-cost" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()
    for text in ("", "a,b", "1,2,3", "-1,2", "nan,1", "inf,1"):
        with pytest.raises(UsageError):
            parse_price(text)


def test_a_dry_run_asks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ask", "scan", "--split", "length", "--size", "40", "--model", "m", "--endpoint", "https://example.com/v1"]
    assert main([*words, "--price", "3,15", "--shots", "2", "--style", "step_by_step", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "Example 2:" in shown
    assert "40 rows" in shown
    assert "nothing was asked" in shown
    asked, _ = asking_nobody(40)
    expected = estimate(asked, Price(3, 15))
    assert expected.rows == 40
    assert expected.cost_in < expected.most_cost


def asking_nobody(size: int) -> tuple[Asked, None]:
    rows = load("scan", "length", "test")
    return Asked(rows, Prompter(SCAN), "m", "https://example.com/v1", {}, 100, size), None


# --- taking up -------------------------------------------------------------------------------------------------------


def test_another_configuration_in_the_same_folder_is_refused(server: Any, tmp_path: Path) -> None:
    run(server, tmp_path / "r", 2)
    asked, endpoint = asking(server, 2)
    other = replace(asked, prompter=Prompter(SCAN, "rules"))
    with pytest.raises(FileError, match="style is 'direct' there and 'rules' here"):
        ask(other, endpoint, tmp_path / "r", caps=Caps(), price=FREE)
    with pytest.raises(FileError, match="model"):
        ask(replace(asked, model="other"), endpoint, tmp_path / "r", caps=Caps(), price=FREE)
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "notes.txt").write_text("mine")
    with pytest.raises(FileError, match="not empty"):
        run(server, tmp_path / "foreign", 2)


def test_a_larger_size_takes_up_the_same_run(server: Any, tmp_path: Path) -> None:
    run(server, tmp_path / "r", 3)
    grown = run(server, tmp_path / "r", 8)
    assert (grown.asked_now, grown.statuses) == (5, {"right": 8})
    assert max(server.counts().values()) == 1


def test_a_torn_line_is_dropped_and_damage_is_not_hidden(server: Any, tmp_path: Path) -> None:
    run(server, tmp_path / "r", 4, concurrency=1)
    replies = tmp_path / "r" / "replies.jsonl"
    whole = replies.read_bytes()
    replies.write_bytes(whole[:-30])
    again = run(server, tmp_path / "r", 4, concurrency=1)
    assert (again.asked_now, again.statuses) == (1, {"right": 4})
    assert replies.read_bytes().count(b"\n") == 4
    replies.write_bytes(whole.replace(b'"reply"', b"'reply'", 1))
    with pytest.raises(FileError, match="line 1"):
        run(server, tmp_path / "r", 4)


def test_a_kill_while_the_run_is_being_described_leaves_a_folder_that_works(server: Any, tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "lock").write_text("")
    (tmp_path / "r" / ".run.json.123.tmp").write_text('{"ask')
    assert run(server, tmp_path / "r", 2).statuses == {"right": 2}
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == [
        "answers.jsonl", "lenient.jsonl", "lock", "replies.jsonl", "requests.jsonl", "run.json"
    ]  # fmt: skip


def test_two_processes_do_not_share_a_folder(server: Any, tmp_path: Path) -> None:
    class Meddler:
        """Starts the same run while it is running."""

        async def __aenter__(self) -> None:
            return None

        async def __aexit__(self, *_: object) -> None:
            return None

        async def ask(self, name: str, messages: Any, before: Callable[[], None]) -> Reply:
            before()
            with pytest.raises(FileError, match="in use"):
                await asyncio.to_thread(run, server, tmp_path / "r", 1)
            return Reply("Answer: I_WALK", "stop")

    asked, _ = asking(server, 1)
    assert ask(asked, Meddler(), tmp_path / "r", caps=Caps(), price=FREE, concurrency=1).asked_now == 1


def test_killed_twenty_times_nothing_is_lost_or_asked_twice(tmp_path: Path) -> None:
    kills, concurrency = 20, 3
    out, chance = tmp_path / "r", random.Random(7)
    environment = {**os.environ, "RECOMBINE_API_KEY": KEY}
    with chat_server.ChatServer(oracle_of_length(), delay_seconds=0.02) as server:
        words = [
            sys.executable, "-m", "recombine", "ask", "scan", "--split", "length", "--model", "echo", "--endpoint", server.url,
            "--out", str(out), "--concurrency", str(concurrency), "--max-tokens", "50", "--size", "240", "--json",
        ]  # fmt: skip
        for _ in range(kills):
            acknowledged = acknowledged_in(out)
            before = len(server.asked)
            process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            assert server.wait_for(before + 1 + chance.randrange(6), 60), process.communicate(timeout=5)
            time.sleep(chance.random() * 0.03)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            asked_now = {command_in(text) for text in server.asked[before:]}
            assert not asked_now & set(acknowledged), "a row with a reply was asked again"
            assert set(acknowledged) <= set(acknowledged_in(out)), "a reply was lost"
        kept = acknowledged_in(out)
        last = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert last.returncode == 0, last.stderr
        outcome = json.loads(last.stdout)
        assert outcome["statuses"] == {"right": 240}
        assert outcome["asked_now"] == 240 - len(kept)
        assert len(server.asked) <= 240 + kills * concurrency
        assert outcome["requests"] == len((out / "requests.jsonl").read_text().splitlines())
        elsewhere = [str(tmp_path / "whole") if word == str(out) else word for word in words]
        unbroken = subprocess.run(elsewhere, env=environment, capture_output=True, check=False)
        assert unbroken.returncode == 0
    assert answers_only(out) == answers_only(tmp_path / "whole")
    assert KEY not in files_of(out)


def acknowledged_in(out: Path) -> dict[str, str]:
    """Question -> reply, of the whole lines of a run's journal."""
    path = out / "replies.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return {command_in(record["question"] + "\n"): record["reply"] for record in map(json.loads, lines)}


def answers_only(out: Path) -> dict[str, tuple[str | None, str | None]]:
    return {name: (a.answer, a.status) for name, a in read_answers(out / "answers.jsonl").items()}


# --- power before money ----------------------------------------------------------------------------------------------


def test_plan_eval_of_a_part_without_rows_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("recombine.data.datasets.Dataset.__len__", lambda _: 0)
    assert main(["plan-eval", "--detect", "3", "--family", "scan", "--split", "simple"]) == 2
    assert "simple/test of scan has no rows to measure" in capsys.readouterr().err


def test_plan_eval_says_rows_clusters_and_cost(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan-eval", "--detect", "3", "--power", "0.8", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert 1_700 <= plan["rows"] <= 1_780  # a simulation of the paired test needs 1,736
    assert plan["clusters"] == plan["rows"]
    words = [
        "plan-eval",
        "--detect",
        "3",
        "--per-cluster",
        "4",
        "--price",
        "3,15",
        "--tokens-in",
        "1000",
        "--tokens-out",
        "100",
    ]
    assert main([*words, "--json"]) == 0
    clustered = json.loads(capsys.readouterr().out)
    assert clustered["design_effect"] == pytest.approx(1.9)
    assert clustered["rows"] == 4 * clustered["clusters"]
    assert clustered["cost_per_model"] == pytest.approx(clustered["rows"] * (1000 * 3 + 100 * 15) / 1e6)
    assert main(["plan-eval", "--detect", "3", "--family", "scan", "--split", "simple", "--price", "3,15"]) == 0
    assert "cost" in capsys.readouterr().out
    assert main(["plan-eval", "--detect", "1", "--family", "scan", "--split", "length"]) == 1
    assert "3,920 rows in 103 clusters" in capsys.readouterr().out
    for bad in (
        ["--detect", "0"],
        ["--detect", "3", "--power", "1"],
        ["--detect", "3", "--price", "1,2"],
        ["--detect", "30", "--discordant", "0.1"],
    ):
        assert main(["plan-eval", *bad]) == 2
