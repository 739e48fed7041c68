"""Runs under injected faults: generate, verify, evaluate, ask and train. Each must end in one line, lose nothing, and go on.

`trial(case, scratch, at, code)` runs a case with its at-th file operation failing and returns what was wrong, or "".
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _beside(name: str, folder: Path = Path(__file__).parent) -> Any:
    """A module of the test tree, by its file."""
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


Faults = _beside("faults").Faults
CODES = (errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EINTR, errno.EIO)
ROWS = 50


def tree(folder: Path) -> dict[str, bytes]:
    """Every file's bytes, locks apart."""
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file() and p.name != "lock"
    }


def command(*words: str) -> tuple[int, str]:
    """The exit code of a command line, and what it said on standard error."""
    from recombine.cli import main

    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()):
        code = main([*words])
    return code, told.getvalue()


class Case:
    """What is run: a start, a run that may fail, and what must be there after the same run without a fault."""

    good = (0,)

    def __init__(self, name: str, home: Path) -> None:
        self.name, self.home = name, home
        self.data = home / "data"
        if not self.data.exists():
            assert command(*self.words("generate", self.data)) == (0, "")
        self.expected = {}
        scratch = home / f"expected-{name}"
        self.start(scratch)
        code, told = self.run(scratch)
        assert code in self.good, told
        self.expected = self.outcome(scratch)

    def words(self, verb: str, out: Path) -> list[str]:
        return {
            "generate": ["generate", "scan", "--split", "length", "--size", str(ROWS), "--out", str(out)],
            "verify": ["verify", str(out), "--workers", "1"],
            "evaluate": ["evaluate", "--data", str(self.data), "--with", "majority", "--out", str(out)],
        }[verb]

    def start(self, scratch: Path) -> None:
        scratch.mkdir(parents=True)
        if self.name in ("verify", "again"):
            shutil.copytree(self.data, scratch / "out")

    def run(self, scratch: Path) -> tuple[int, str]:
        return command(*self.words({"again": "generate"}.get(self.name, self.name), scratch / "out"))

    def outcome(self, scratch: Path) -> Any:
        return tree(scratch / "out")

    def kept(self, scratch: Path) -> str:
        """What a failed run has lost, or ""."""
        if self.name == "verify" and tree(scratch / "out") != self.expected:
            return "verify changed the folder"
        return ""


class Ask(Case):
    """A run of `ask` against an endpoint on this machine; replies have times in them, so ids and answers are compared."""

    def __init__(self, home: Path) -> None:
        chat = _beside("chat_server", Path(__file__).parents[1] / "evaluate")
        self.server = chat.ChatServer(lambda _prompt: "Answer: I_WALK").__enter__()
        super().__init__("ask", home)

    def run(self, scratch: Path) -> tuple[int, str]:
        self.kept_before = self.replies(scratch)
        self.asked_before = len(self.server.asked)
        words = ["ask", str(self.data), "--part", "test", "--size", "8", "--model", "m", "--endpoint", self.server.url]
        return command(*words, "--out", str(scratch / "out"), "--concurrency", "1")

    def replies(self, scratch: Path) -> list[str]:
        path = scratch / "out" / "replies.jsonl"
        whole = path.read_text().split("\n")[:-1] if path.exists() else []
        return [json.loads(line)["id"] for line in whole]

    def outcome(self, scratch: Path) -> Any:
        lines = (scratch / "out" / "answers.jsonl").read_text().splitlines()
        return [(row["id"], row["answer"]) for row in map(json.loads, lines)]

    def kept(self, scratch: Path) -> str:
        if set(self.kept_before) - set(self.replies(scratch)):
            return "a reply was lost"
        return ""


class Train(Case):
    """A small training run: every checkpoint write; the weights at the end are those of an unbroken run."""

    def __init__(self, home: Path) -> None:
        from recombine.data.datasets import load

        self.rows = list(load("scan", "simple", "train", size=24))
        super().__init__("train", home)

    def run(self, scratch: Path) -> tuple[int, str]:
        from recombine.errors import RecombineError
        from recombine.models.settings import plan_for
        from recombine.models.train import train

        plan = plan_for("gru-attn", {"units": 8, "embedding": 4, "epochs": 2, "batch": 8})
        try:
            train(plan, self.rows[:16], self.rows[16:], scratch / "out", metric=lambda *_: 0.5)
        except RecombineError as problem:
            return 2, f"{problem}\n"
        return 0, ""

    def outcome(self, scratch: Path) -> Any:
        from recombine.models.checkpoints import load_tensors

        found = {}
        for name in ("best.safetensors", "last.safetensors"):
            tensors, state = load_tensors(scratch / "out" / name)
            found[name] = ({key: value.tolist() for key, value in tensors.items()}, state.epoch, state.steps)
        return found, sorted(tree(scratch / "out"))


CASES: dict[str, Callable[[Path], Case]] = {
    "generate": lambda home: Case("generate", home),
    "again": lambda home: Case("again", home),
    "verify": lambda home: Case("verify", home),
    "evaluate": lambda home: Case("evaluate", home),
    "ask": Ask,
    "train": Train,
}


def count(case: Case, scratch: Path) -> list[str]:
    """The names of all file operations of a case."""
    case.start(scratch)
    with Faults(scratch) as faults:
        case.run(scratch)
    shutil.rmtree(scratch)
    return list(faults.names)


def trial(case: Case, scratch: Path, at: int, code: int) -> str:
    """Run the case with its at-th operation failing, then again without; what was wrong, or ""."""
    case.start(scratch)
    try:
        with Faults(scratch, at, code) as faults:
            ended, told = case.run(scratch)
        what = f"{case.name}: {faults.names[at - 1] if len(faults.names) >= at else 'nothing'} with {errno.errorcode[code]}"
        if ended not in (0, 1, 2) or "Traceback" in told:
            return f"{what}: exit {ended}: {told}"
        if ended == 2 and told.count("\n") != 1:
            return f"{what}: {told.count(chr(10))} lines: {told}"
        if ended == 0 and case.name not in ("ask", "train") and case.outcome(scratch) != case.expected:
            return f"{what}: said nothing, and the outcome is another"
        if lost := case.kept(scratch):
            return f"{what}: {lost}"
        again, told = case.run(scratch)
        if again not in case.good:
            return f"{what}: the same command does not go on: exit {again}: {told}"
        if case.outcome(scratch) != case.expected:
            return f"{what}: the outcome after going on is another"
        return ""
    finally:
        shutil.rmtree(scratch)
