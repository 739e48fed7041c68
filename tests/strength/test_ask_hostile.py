"""Endpoints and journals that mean harm: mad headers, keys sent back in pieces, sums that would lift a cap."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import random
import string
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from recombine.data.datasets import load
from recombine.errors import FileError, RecombineError
from recombine.evaluate.ask import Asked, Outcome, ask
from recombine.evaluate.budget import Caps
from recombine.evaluate.endpoint import LONGEST_WAIT_SECONDS, Endpoint, Patience, Reply, Secret, _retry_after
from recombine.evaluate.journal import RUN_FOLDER, Journal
from recombine.evaluate.prices import Price
from recombine.evaluate.prompts import Prompter
from recombine.families.scan import SCAN
from recombine.keys import Stream

_spec = importlib.util.spec_from_file_location("mutations", Path(__file__).with_name("mutations.py"))
assert _spec is not None and _spec.loader is not None
mutations = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mutations)

HEADERS = [
    "", "0", "5", "99999999999999999999", "-1", "1e999", "inf", "nan", "٣", "²", "Fri, 31 Dec 9999 23:59:59 GMT",
    "Fri, 31 Dec 9999 23:59:59 -2400", "Mon, 01 Jan 0001 00:00:00 +2359", "Mon, 01 Jan 0000 00:00:00 GMT", "0 0 0 0 0",
    "Thu, 01 Jan 1970 00:00:00 +999999999999", "Wed, 21 Oct 99999999999999 07:28:00 GMT", "x" * 100_000, "\x1b[2J", "1 2 3 4:5:6 +9999",
]  # fmt: skip


@pytest.mark.parametrize("text", HEADERS, ids=range(len(HEADERS)))
def test_any_retry_after_gives_a_bounded_wait(text: str) -> None:
    wait = Patience(backoff_seconds=0.0).wait_seconds(0, _retry_after(text), Stream("t"))
    assert 0 <= wait <= LONGEST_WAIT_SECONDS


def test_random_retry_after_headers() -> None:
    dice = random.Random(5)
    pieces = [
        "Fri,",
        "31",
        "Dec",
        "Feb",
        "9999",
        "0001",
        "23:59:59",
        "99:99:99",
        "GMT",
        "+2359",
        "-9999",
        "-0000",
        "EST",
        ",",
        "(",
        ")",
        "1e9",
    ]
    for _ in range(20_000):
        text = " ".join(dice.choices(pieces, k=dice.randint(1, 7)))
        asked = _retry_after(text)
        assert asked is None or (math.isfinite(asked) and asked >= 0), text


def test_a_key_is_hidden_before_anything_is_cut() -> None:
    dice = random.Random(3)
    for length in (20, 51, 164, 1_500, 3_900):
        value = "sk-" + "".join(dice.choices(string.ascii_letters + string.digits, k=length - 3))
        key = Secret(value)
        for _ in range(60):
            start = dice.randrange(length - 14)
            piece = value[start : start + dice.randint(15, length)]
            text = key.hidden(f"Incorrect key {piece}: try {piece[:15]} again, {value}")
            held = max((n for n in range(length) for i in [0] if value[:n] in text), default=0)
            assert held < 15
            assert value[-15:] not in text
            assert piece not in text
    assert Secret("").hidden("a") == "a"
    assert Secret("abcd").hidden("xabcdx") == "x[key]x"


def test_a_long_key_sent_back_by_the_endpoint_is_not_kept() -> None:
    value = "k" + "0123456789abcdef" * 200
    endpoint = Endpoint("http://127.0.0.1:9/v1", "m", key=Secret(value))
    for raw in (
        value.encode(), b"x" * 1_990 + value.encode(), json.dumps({"error": {"message": "bad " + value}}).encode(),
        json.dumps({"error": value}).encode(),
    ):  # fmt: skip
        assert "0123456789abcdef"[:15] not in endpoint._excerpt(raw)
    completion = {"model": value, "choices": [{"message": {"content": value, "refusal": value}, "finish_reason": value}]}
    assert "0123456789abcde" not in json.dumps(endpoint._completion(completion))


class Echo:
    """An answerer on this machine that answers at once and uses 100 + 10 tokens."""

    def __init__(self) -> None:
        self.count = 0

    async def __aenter__(self) -> Echo:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def ask(self, name: str, messages: list[dict[str, Any]], before: Any) -> Reply:
        before()
        self.count += 1
        return Reply("Answer: I_WALK", "stop", tokens_in=100, tokens_out=10)


@cache
def questions() -> tuple[Any, Prompter]:
    """The rows and their prompts, made once: thousands of runs ask about the same."""
    return load("scan", "length", "test", size=20), Prompter(SCAN)


def run(out: Path, size: int = 4, cost: float = 1e9) -> tuple[Outcome, int]:
    rows, prompter = questions()
    asked, echo = Asked(rows, prompter, "m", "http://127.0.0.1:9/v1", {"max_tokens": 50}, 50, size), Echo()
    return ask(asked, echo, out, caps=Caps(cost=cost), price=Price(1e6, 1e6), concurrency=1), echo.count


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("name", ["replies.jsonl", "requests.jsonl", "run.json"])
def test_damaged_journals(tmp_path: Path, name: str) -> None:
    out = tmp_path / "run"
    run(out, 1)
    whole = (out / name).read_bytes()
    tried = 0
    for what, value in mutations.damaged(json.loads(whole)):
        (out / name).write_text(json.dumps(value) + "\n", encoding="utf-8")
        tried += 1
        try:
            run(out, 1)
        except RecombineError:
            pass
        except Exception as problem:
            pytest.fail(f"{what}: {problem!r}")
    for raw in mutations.garbled(whole, 80):
        (out / name).write_bytes(raw)
        with contextlib.suppress(RecombineError):
            run(out, 1)
    assert tried > 60


def test_a_negative_sum_in_the_journal_does_not_lift_the_cap(tmp_path: Path) -> None:
    out = tmp_path / "run"
    outcome, _ = run(out, 2)
    assert outcome.cost == 220
    lines = lines_of(out / "replies.jsonl")
    lines[0]["charged"]["tokens_in"] = -5_000_000_000
    (out / "replies.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(FileError, match=r"charged\.tokens_in is -5000000000.*Delete this line"):
        run(out, 20, cost=300)


def test_a_journal_is_closed_to_links(tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(out, 1)
    (tmp_path / "precious").write_text("years of work without a line end")
    (out / "replies.jsonl").unlink()
    (out / "replies.jsonl").symlink_to(tmp_path / "precious")
    with pytest.raises(FileError, match="symbolic link"):
        run(out, 1)
    assert (tmp_path / "precious").read_text() == "years of work without a line end"


def test_a_run_is_continued_and_a_foreign_folder_is_none(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert run(out, 3)[1] == 3
    assert run(out, 5)[1] == 2
    assert RUN_FOLDER.is_ours(out)
    assert len(Journal(out).replies) == 5
