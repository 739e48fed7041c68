"""The folder of an `ask` run: what is asked (run.json), each request and each reply as soon as it is there, and the answers.

run.json         what decides the prompts and the replies; a folder takes up the same run again and refuses any other
requests.jsonl   one line before each request: what it may cost at most, so that caps hold even over a killed process
replies.jsonl    one line per reply, written to disk before the reply is read; a half-written last line is dropped
answers.jsonl    what `recombine evaluate` reads, made anew from all replies whenever the run ends
lenient.jsonl    the same replies as a generous reader takes them
vote.jsonl       the commonest answer to each row, where there are several samples
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recombine.errors import FileError, shown
from recombine.files import (
    Kind,
    Lines,
    held,
    holds,
    inside,
    own_folder,
    parse_json,
    read_json,
    read_lines,
    sweep,
    told,
    write_json,
)
from recombine.schemas import Shape, anything, check, mapping, number, optional, record, text, whole

RUN, REQUESTS, REPLIES = "run.json", "requests.jsonl", "replies.jsonl"
ANSWERS, LENIENT, VOTE = "answers.jsonl", "lenient.jsonl", "vote.jsonl"
"""The files of answers: the first sample read strictly, the same read leniently, and the commonest answer of several samples."""
MOST_TOKENS = 1 << 50
_ID = text(2_000)
REQUEST_SHAPE = record({"id": _ID, "tokens_in": whole(0, MOST_TOKENS), "tokens_out": whole(0, MOST_TOKENS)})
"""A line of requests.jsonl."""
REPLY_SHAPE = record({
    "id": _ID, "reply": text(1 << 24), "finish": text(), "refusal": text(1 << 24), "error": text(), "model": text(), "prompt": text(200),
    "tokens_in": optional(whole(0, MOST_TOKENS)), "tokens_out": optional(whole(0, MOST_TOKENS)), "seconds": number(0),
    "charged": record({"requests": whole(0, 10**9), "tokens_in": whole(0, MOST_TOKENS), "tokens_out": whole(0, MOST_TOKENS)}),
})  # fmt: skip
"""A line of replies.jsonl. What was charged is never below zero: a smaller sum would lift the caps."""
RUN_SHAPE = record({"asked": mapping(anything)})
"""What run.json of an `ask` run must hold."""


class Journal:
    """An open run folder: `replies` by id (the last of each), and what was `used` so far: requests, tokens in, tokens out.

    Requests that no reply accounts for were under way when a process ended; they count with the most that they can have used.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.replies, self.used = _read(folder)
        self._requests, self._replies = Lines(folder / REQUESTS), Lines(folder / REPLIES)

    def close(self) -> None:
        """Close the files."""
        self._requests.close()
        self._replies.close()

    def note_request(self, identifier: str, tokens_in: int, tokens_out: int) -> None:
        """Say that a request is about to go out. Survives a kill of the process; a loss of power may lose the last ones."""
        self._requests.add(_spelled({"id": identifier, "tokens_in": tokens_in, "tokens_out": tokens_out}), is_durable=False)

    def keep(self, reply: dict[str, Any]) -> None:
        """Put a reply on the disk; when this returns it is there."""
        self._replies.add(_spelled(reply))
        self.replies[reply["id"]] = reply


def _spelled(line: Mapping[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False)


def _read(folder: Path) -> tuple[dict[str, dict[str, Any]], list[tuple[int, int, int]]]:
    """The replies of a run by id, and what was used so far. Nothing is written, so another process may be at work on the run."""
    replies: dict[str, dict[str, Any]] = {}
    used: list[tuple[int, int, int]] = []
    settled: Counter[str] = Counter()
    for line in _records(inside(folder, REPLIES), REPLY_SHAPE):
        replies[line["id"]] = line
        charged = line["charged"]
        settled[line["id"]] += charged["requests"]
        used.append((charged["requests"], charged["tokens_in"], charged["tokens_out"]))
    for line in _records(inside(folder, REQUESTS), REQUEST_SHAPE):
        settled[line["id"]] -= 1
        if settled[line["id"]] < 0:
            used.append((1, line["tokens_in"], line["tokens_out"]))
    return replies, used


def _records(path: Path, shape: Shape) -> Iterator[dict[str, Any]]:
    """The lines of a journal. A last line without its end is what a kill left of a write, and does not count."""
    with told("read", path):
        if not path.exists():
            return
        if not path.is_file():
            raise FileError(f"{shown(str(path))} is not a file.")
    for place_number, line in read_lines(path, only_whole=True):
        place = f"line {place_number} of {shown(str(path))}"
        try:
            value: dict[str, Any] = parse_json(line, place)
            check(value, shape, place)
        except FileError as problem:
            raise FileError(f"{problem} Delete this line to go on; its row is then asked again.") from None
        yield value


@contextmanager
def open_journal(out: str | Path, asked: Mapping[str, Any], notes: Mapping[str, Any]) -> Iterator[Journal]:
    """The journal of a run folder, new or taken up again; another run's folder, or one in use, is a clear error.

    `asked` decides the replies and must be equal when a run is taken up; `notes` are kept from the first start.
    """
    folder = own_folder(out, RUN_FOLDER)
    with held(inside(folder, "lock"), f"{shown(str(out))} is in use by another process; wait for it to end."):
        sweep(folder, (RUN, ANSWERS, LENIENT, VOTE).__contains__)
        if not inside(folder, RUN).is_file():
            write_json(folder / RUN, {"asked": dict(asked), **notes})
        _check_same(folder, asked)
        journal = Journal(folder)
        try:
            yield journal
        finally:
            journal.close()


def _is_run(folder: Path) -> bool:
    """Whether a run is here, or only what a run that was killed at its very beginning left behind."""
    names = [entry.name for entry in folder.iterdir()]
    begun = all(name == "lock" or (name.startswith(f".{RUN}.") and name.endswith(".tmp")) for name in names)
    return begun or holds(folder / RUN, lambda found: isinstance(found["asked"], dict))


RUN_FOLDER = Kind("a run of `recombine ask`", _is_run, is_local=True)


def _check_same(folder: Path, asked: Mapping[str, Any]) -> None:
    there = read_json(folder / RUN, 64 << 20)
    check(there, RUN_SHAPE, shown(str(folder / RUN)))
    before = there["asked"]
    now = json.loads(json.dumps(dict(asked)))
    other = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    if other:
        listed = "; ".join(f"{name} is {shown(before.get(name))} there and {shown(now.get(name))} here" for name in other[:4])
        raise FileError(f"{shown(str(folder))} holds another run: {listed}. Choose another folder.")


def used_in(folder: Path) -> tuple[int, int, int]:
    """Requests and tokens, read and written, that a run folder has used so far; zeros if there is no run. Nothing is written."""
    if not (folder / RUN).is_file():
        return 0, 0, 0
    _, used = _read(folder)
    return sum(u[0] for u in used), sum(u[1] for u in used), sum(u[2] for u in used)
