"""Batch files in OpenAI's layout: writes the requests of a run, which the user sends, and reads the results.

{"custom_id": …, "method": "POST", "url": "/v1/chat/completions", "body": {…}}      a request
{"custom_id": …, "response": {"status_code": 200, "body": {…}}, "error": null}      a result
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recombine.errors import FileError, shown
from recombine.evaluate.endpoint import Reply, read_completion
from recombine.evaluate.secret import Secret
from recombine.files import parse_json, read_lines, writing_text

URL = "/v1/chat/completions"


def write_batch(
    path: Path, requests: Iterable[tuple[str, list[dict[str, Any]]]], model: str, settings: Mapping[str, Any]
) -> int:
    """Write one request a line; returns how many."""
    count = 0
    with writing_text(path) as out:
        for key, messages in requests:
            body = {"model": model, "messages": messages, **settings}
            out.write(json.dumps({"custom_id": key, "method": "POST", "url": URL, "body": body}, ensure_ascii=False) + "\n")
            count += 1
    return count


def read_batch(path: Path) -> dict[str, Reply]:
    """The replies of a file of results, by the name of their request. A line that is no result is an error."""
    found: dict[str, Reply] = {}
    nobody = Secret("")
    for number, line in read_lines(path):
        if not line.strip():
            continue
        place = f"line {number} of {shown(str(path))}"
        row = parse_json(line, place)
        if not isinstance(row, dict) or not isinstance(row.get("custom_id"), str) or not ("response" in row or "error" in row):
            raise FileError(f'{place} is no result of a batch: it needs "custom_id" and "response".')
        if row["custom_id"] in found:
            raise FileError(f"{place}: the request {shown(row['custom_id'])} was answered before.")
        found[row["custom_id"]] = _reply(row, nobody)
    return found


def _reply(row: Mapping[str, Any], nobody: Secret) -> Reply:
    response, error = row.get("response"), row.get("error")
    if not isinstance(response, dict) or error:
        told = error.get("message") if isinstance(error, dict) else error
        return Reply(error=shown(str(told or "no response"), 200))
    if response.get("status_code") != 200:
        return Reply(error=f"HTTP {shown(response.get('status_code'), 20)}")
    completion = read_completion(response.get("body"), nobody)
    return Reply(error="the reply holds no message") if completion is None else Reply(**completion)


@dataclass
class BatchReplies:
    """The results of a batch as an answerer. The file must hold every request."""

    replies: Mapping[str, Reply] = field(repr=False)

    async def __aenter__(self) -> BatchReplies:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def ask(self, name: str, messages: list[dict[str, Any]], before: Callable[[], None]) -> Reply:  # noqa: ARG002
        """The reply that the file holds."""
        before()
        return self.replies[name]
