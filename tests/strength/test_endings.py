"""How commands end: one line and a code for whatever happens, a traceback only with --debug; interrupts say what was finished."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recombine.cli import main
from recombine.data.generate import generate
from recombine.errors import WorkerLost
from recombine.processes import pool, spread

ENOSPC = OSError(28, "No space left on device", "/somewhere")


@pytest.mark.parametrize(
    ("problem", "code", "words"),
    [
        (PermissionError(13, "Permission denied", "/etc/x"), 2, "Permission denied (/etc/x)"),
        (OSError(30, "Read-only file system"), 2, "Read-only file system"),
        (ENOSPC, 2, "No space left"),
        (MemoryError(), 2, "out of memory"),
        (ImportError("no module named numba"), 2, "package is missing"),
        (ZeroDivisionError("division by zero"), 3, "report"),
        (KeyError("\x1b[31mred"), 3, "\\x1b[31mred"),
        (RecursionError("deep\nand deeper"), 3, "RecursionError"),
        (KeyboardInterrupt(), 130, "run the same command again"),
    ],
)
def test_one_line_and_a_code(
    problem: BaseException, code: int, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> int:
        raise problem

    monkeypatch.setattr("recombine.cli.list.run", fail)
    assert main(["list"]) == code
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert words in told
    assert "\x1b" not in told
    assert main(["--debug", "list"]) == code
    assert "Traceback" in capsys.readouterr().err


def _die(how: int) -> None:
    os.kill(os.getpid(), how)


def _sleep(path: str) -> None:
    Path(path).touch()
    time.sleep(60)


@pytest.mark.skipif(os.name != "posix", reason="closes a stream by a shell's words")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_is_no_fault(closed: str) -> None:
    done = subprocess.run(f"'{sys.executable}' -m recombine list {closed}", shell=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_killed_worker_is_told_in_one_line() -> None:
    with pytest.raises(WorkerLost, match="run the same command again"):
        list(spread(_die, {"a": (signal.SIGKILL,), "b": (signal.SIGKILL,)}, workers=2))


def test_a_pool_ends_at_once_when_it_is_interrupted(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), pool(1) as workers:
        workers.submit(_sleep, str(tmp_path / "begun"))
        while not (tmp_path / "begun").exists():
            time.sleep(0.05)
        raise KeyboardInterrupt
    assert not workers._processes


SHARD_ROWS = 250
GENERATE = ["generate", "scan", "--split", "simple", "--size", "4000", "--format", "jsonl", "--workers", "2", "--out"]
PROGRAM = f"""
import sys, time
from recombine.data import plan, engines
plan.SHARD_ROWS, engines.SMALL_JOB_ROWS = {SHARD_ROWS}, 0
from recombine.cli import main
sys.exit(main(sys.argv[1:]))
"""


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, bytes]:
    """What the command leaves behind when nothing interrupts it."""
    folder = tmp_path_factory.mktemp("unbroken") / "out"
    assert subprocess.run([sys.executable, "-c", PROGRAM, *GENERATE, str(folder)], capture_output=True).returncode == 0
    return files_of(folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", [0, 1])
def test_interrupted_by_a_signal(
    tmp_path: Path, number: signal.Signals, moment: int, unbroken: dict[Path, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the workers start (0) and when some shards are there (1): short, in order, and the same command goes on."""
    out = tmp_path / "out"
    words = [sys.executable, "-c", PROGRAM, *GENERATE, str(out)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
    awaited = ".recombine/plan.json" if moment == 0 else "simple/train-00002-of-*.jsonl"
    while not list(out.glob(awaited)) and process.poll() is None:
        time.sleep(0.02)
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    told = process.communicate(timeout=60)[1]
    if process.returncode != 0:  # else it had just finished
        assert process.returncode == 128 + number
        assert told.count("\n") == 1, told
        assert "run the same command again to go on" in told
    monkeypatch.setattr("recombine.data.plan.SHARD_ROWS", SHARD_ROWS)
    assert main([*GENERATE, str(out)]) == 0
    assert files_of(out) == unbroken


def test_a_worker_killed_during_generate(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *GENERATE, str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while not list(out.glob("simple/*.jsonl")) and process.poll() is None:
        time.sleep(0.02)
    children = subprocess.run(
        ["pgrep", "-P", str(process.pid), "-f", "spawn_main"], capture_output=True, text=True, check=False
    )
    for child in children.stdout.split():
        os.kill(int(child), signal.SIGKILL)
    told = process.communicate(timeout=60)[1]
    if process.returncode != 0:
        assert process.returncode == 2
        assert told.count("\n") == 1, told
        assert "worker process was killed" in told


def test_unreadable_input_is_told_as_reading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = generate("scan", tmp_path / "data", split="length", part="test", size=5).path
    words = ["evaluate", "--data", str(folder), "--answers", str(tmp_path / "none.jsonl"), "--out", str(tmp_path / "r")]
    assert main(words) == 2
    assert "cannot read" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="becomes another user to be refused")
def test_verbs_of_a_user_who_may_not(tmp_path: Path) -> None:
    """Reading what one may not read, writing where one may not write: every verb says so in one line."""
    folder = generate("scan", tmp_path / "data", split="length", part="test", size=5).path
    shut = tmp_path / "shut"
    shut.mkdir()
    (shut / "answers.jsonl").write_text("")
    hidden = generate("scan", tmp_path / "hidden", split="length", part="test", size=5).path
    (hidden / "manifest.json").chmod(0)
    for place in (tmp_path, *tmp_path.parents):
        if place.stat().st_uid == 0 and place != Path("/tmp"):
            place.chmod(place.stat().st_mode | 0o055)
    shut.chmod(0o700)
    program = """
import os, sys
from recombine.cli import main
import recombine.data.generate, recombine.data.verify, recombine.evaluate.report, recombine.evaluate.ask, recombine.evaluate.endpoint
import recombine.models.train, recombine.families, httpx2
[recombine.families.family(name) for name in recombine.families.FAMILIES]
os.setgid(65534), os.setuid(65534)
for line in sys.stdin.read().splitlines():
    code = main(line.split())
    print("CODE", code, line, file=sys.stderr)
"""
    ask = "--model m --endpoint http://127.0.0.1:9/v1"
    words = [
        f"generate scan --split length --size 5 --out {shut}/out",
        f"generate scan --split length --size 5 --out {shut}",
        f"generate scan --split length --part test --size 5 --out {hidden}",
        f"verify {hidden}", f"verify {shut}/x", f"stats {hidden}", f"show {hidden}", f"evaluate --data {hidden}",
        f"evaluate --data {folder} --out {shut}/r", f"evaluate --data {folder} --answers {shut}/answers.jsonl",
        f"verify {folder} --certificate {shut}/c", f"stats {folder} --html {shut}/h", f"audit {shut}/answers.jsonl --as scan",
        f"audit {folder}/README.md --as scan --html {shut}/h", f"show scan --save {shut}/x.svg", f"merge {shut}", f"merge {hidden}",
        f"ask scan --split length --size 1 {ask} --out {shut}/run", f"train gru-attn --data scan --split length --out {shut}/run",
        f"predict {shut} --data scan --out {tmp_path}/a", f"demo --size 1 --out {shut}/demo",
        f"reproduce nacs-table1 --out {shut}/runs",
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", program], input="\n".join(words), capture_output=True, text=True, check=False,
        env={**os.environ, "HOME": "/nonexistent"},
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert [line for line in lines if line.startswith("CODE")] == [f"CODE 2 {line}" for line in words], done.stderr
    assert len(lines) == 2 * len(words), done.stderr
    assert not [line for line in lines if line.startswith("recombine") and "cannot write" in line and "hidden" in line]
