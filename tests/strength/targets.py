"""What is fuzzed: each target takes bytes from outside and may raise nothing but the package's own errors.

`corpora/NAME/` holds the seeds of a target, and inputs that once broke it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recombine.data.audit import audit
from recombine.data.datasets import example
from recombine.data.folders import plan_of
from recombine.data.plan import Plan
from recombine.data.rows import audit_rows, read_rows
from recombine.data.shards import RECORD_SHAPE
from recombine.errors import EndpointError, RecombineError
from recombine.evaluate.answers import read_answers
from recombine.evaluate.endpoint import Endpoint, Secret, _Again, _retry_after
from recombine.evaluate.journal import REPLIES, REQUESTS, Journal
from recombine.evaluate.prices import parse_price
from recombine.evaluate.replies import parse_reply
from recombine.files import parse_json
from recombine.schemas import check

_SCRATCH = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
CORPORA = Path(__file__).with_name("corpora")
KEY = "sk-0123456789abcdefghijklmnopqrstuvwxyz"


def _file(raw: bytes, name: str = "input") -> Path:
    path = Path(_SCRATCH.name, name)
    path.write_bytes(raw)
    return path


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def manifest(raw: bytes) -> None:
    """manifest.json, with its plan."""
    _ = plan_of(parse_json(_text(raw), "x"), "x").hash


def plan(raw: bytes) -> None:
    """.recombine/plan.json."""
    found = Plan.from_json(parse_json(_text(raw), "x"), "x")
    assert found.shards is not None
    assert all(".." not in shard.path and not shard.path.startswith("/") for shard in found.shards)


def record(raw: bytes) -> None:
    """A shard's record."""
    check(parse_json(_text(raw), "x"), RECORD_SHAPE, "x")


def journal(raw: bytes) -> None:
    """replies.jsonl and requests.jsonl of an `ask` run."""
    for name, other in ((REPLIES, REQUESTS), (REQUESTS, REPLIES)):
        _file(raw, name)
        _file(b"", other)
        opened = Journal(Path(_SCRATCH.name))
        opened.close()
        assert all(min(used) >= 0 for used in opened.used), "a sum below zero lifts the caps"


def endpoint(raw: bytes) -> None:
    """A body of a chat completion, an error's body, a Retry-After header, a price."""
    asked = Endpoint("http://127.0.0.1:9/v1", "m", key=Secret(KEY))
    assert KEY[:15] not in asked._excerpt(raw)
    wait = _retry_after(_text(raw))
    assert wait is None or 0 <= wait < 1e12
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return
    try:
        found = asked._completion(value)
    except (_Again, EndpointError):
        return
    told = json.dumps(found, ensure_ascii=False)
    told.encode()
    assert KEY[:15] not in told
    assert all(found[name] is None or found[name] >= 0 for name in ("tokens_in", "tokens_out"))
    parse_reply(found["text"], found["finish"], found["refusal"])


def reply(raw: bytes) -> None:
    """A model's reply."""
    parsed = parse_reply(_text(raw))
    assert (parsed.answer is not None) == (parsed.status == "ok")


def price(raw: bytes) -> None:
    """A price."""
    found = parse_price(_text(raw))
    assert found.cost(10, 10) >= 0


def answers(raw: bytes) -> None:
    """A file of answers."""
    for answer in read_answers(_file(raw)).values():
        json.dumps([answer.id, answer.answer], ensure_ascii=False).encode()


def rows(raw: bytes) -> None:
    """Question-and-answer rows."""
    audit_rows(read_rows(_file(raw)))


def identifier(raw: bytes) -> None:
    """An example's id."""
    text = _text(raw)
    if len(text.rpartition("/")[2]) < 9:  # rows far out are made like any other, but take their time
        example(text)


def _released(family: str) -> Callable[[bytes], None]:
    def read(raw: bytes) -> None:
        found: Any = audit(_file(raw), family)
        json.dumps(found.to_json())
        found.to_html()

    return read


TARGETS: dict[str, Callable[[bytes], None]] = {
    "manifest": manifest, "plan": plan, "record": record, "journal": journal, "endpoint": endpoint, "reply": reply, "price": price,
    "answers": answers, "rows": rows, "identifier": identifier,
    **{f"released-{name}": _released(name) for name in ("scan", "nacs", "gscan", "reascan", "clutrr", "lilgym")},
}  # fmt: skip
"""Name -> a function of bytes."""


def survives(name: str, raw: bytes) -> None:
    """Run a target; the package's own errors are what it is for, anything else is raised."""
    try:
        TARGETS[name](raw)
    except RecombineError as problem:
        str(problem).encode("utf-8", "surrogateescape")


def seeds(name: str) -> list[bytes]:
    """The inputs of a target's corpus."""
    return [path.read_bytes() for path in sorted((CORPORA / name).iterdir())]
