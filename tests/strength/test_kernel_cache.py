"""Compiled kernels where no cache can be written, in a cache of one's own, in a damaged one, and in two processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recombine import kernels
from recombine.errors import FileError
from recombine.files import held

PROGRAM = """
import os, sys
if len(sys.argv) > 1 and sys.argv[1] == "nobody":
    import numba, numpy, filelock  # while they can be read
    numba.njit(lambda x: x[0] + 1)(numpy.zeros(3, dtype=numpy.uint64))
    os.setgid(65534), os.setuid(65534)
from recombine import kernels
import numpy as np
found = kernels.for_rows("recombine.draws", 10**6)
slow = kernels.load("recombine.draws", False)
values = {}
for kind in (found, slow):
    word = np.array([12345], dtype=np.uint64)
    values[kind is found] = [int(kind.below(word, 1000)) for _ in range(50)]
    # Compiled for `below`, and called by Python only then.
    values[kind is found] += [int(kind.bits(word)) for _ in range(50)]
assert values[True] == values[False]
print("same", sum(values[True]))
"""


def run(*words: str, **env: str | None) -> subprocess.CompletedProcess[str]:
    given = {k: v for k, v in {**os.environ, **env}.items() if v is not None}
    return subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=False, env=given)


def test_a_cache_folder_of_ones_own(tmp_path: Path) -> None:
    done = run(RECOMBINE_CACHE=str(tmp_path / "cache"))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    kept = list((tmp_path / "cache").rglob("*.nbi"))
    assert kept
    for index in kept:
        index.write_bytes(b"damaged")
    for data in (tmp_path / "cache").rglob("*.nbc"):
        data.write_bytes(b"damaged")
    again = run(RECOMBINE_CACHE=str(tmp_path / "cache"))
    assert (again.returncode, again.stdout, again.stderr) == (0, done.stdout, ""), again.stderr


def test_no_place_for_a_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    done = run(RECOMBINE_CACHE=str(tmp_path / "file" / "x"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1
    assert "RECOMBINE_CACHE" in done.stderr
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    done = run(RECOMBINE_CACHE=str(open_to_all))
    assert done.returncode == 0
    assert "cannot be kept" in done.stderr
    assert list(open_to_all.iterdir()) == [], "others could put machine code there"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="becomes a user who may write nowhere")
def test_a_read_only_install_without_a_home(tmp_path: Path) -> None:
    done = run("nobody", HOME=None, XDG_CACHE_HOME=None, RECOMBINE_CACHE=None, NUMBA_CACHE_DIR=None)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1
    assert "compiled anew in every process" in done.stderr


def test_only_one_of_the_processes_that_start_at_once_compiles(tmp_path: Path) -> None:
    program = PROGRAM.replace("print(", "print(sum(found.below.stats.cache_misses.values()), ")
    env = {**os.environ, "RECOMBINE_CACHE": str(tmp_path / "cache")}
    words = [sys.executable, "-c", program]
    several = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) for _ in range(3)]
    told = [process.communicate() for process in several]
    assert [process.returncode for process in several] == [0, 0, 0], told
    assert {errors for _, errors in told} == {""}
    misses, words, sums = zip(*(out.split() for out, _ in told), strict=True)
    assert sorted(misses) == ["0", "0", "1"]
    assert set(words) == {"same"} and len(set(sums)) == 1


def test_a_function_that_fails_to_compile_gives_the_turn_back(tmp_path: Path) -> None:
    first, second = kernels._Turn(), kernels._Turn()

    def fail() -> None:
        with first.scope(), first.scope():
            assert first.take(tmp_path)
            assert not first.take(tmp_path / "other"), "one lock at a time"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with second.scope():
        assert second.take(tmp_path)
        with held(tmp_path / "free", "", 0.0), pytest.raises(FileError), held(tmp_path / kernels.TURN, "taken", 0.0):
            pass


def test_a_full_disk_does_not_end_a_job(tmp_path: Path) -> None:
    program = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n" + PROGRAM
    env = {**os.environ, "RECOMBINE_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert "are not kept" in done.stderr


def test_a_few_rows_compile_nothing(tmp_path: Path) -> None:
    """With an empty cache, three rows of the costlier families are made interpreted, and scored so; many rows would compile."""
    program = (
        "import sys, recombine\n"
        "for name in ('abstract', 'lexicon', 'lilgym'):\n"
        "    assert len([row.validate() for row in recombine.load(name, size=3)]) == 3\n"
        "print('numba' in sys.modules)"
    )
    env = {**os.environ, "RECOMBINE_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == "False"


def test_nothing_is_compiled_inside_the_interpreted_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_READY", {})
    monkeypatch.setattr(kernels, "is_loaded", lambda _name: False)
    monkeypatch.setattr(kernels, "_loaded", lambda _name, compiled: compiled)
    with kernels.interpreted():
        with kernels.interpreted():
            assert not kernels.load("recombine.draws", True)
        assert not kernels.load("recombine.draws", True)
    assert kernels.load("recombine.draws", True)


def test_for_rows() -> None:
    few, many = kernels.for_rows("recombine.draws", 1), kernels.for_rows("recombine.draws", 10**6)
    assert few is not many or kernels.is_loaded("recombine.draws")
    assert kernels.for_rows("recombine.draws", 1) is many, "what is loaded already costs nothing"


def test_a_module_that_fails_to_compile_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_READY", {})
    monkeypatch.setattr(kernels, "_sources", lambda *_: 1 / 0)
    monkeypatch.delitem(sys.modules, "recombine.draws__compiled", raising=False)
    kernels._compiled.cache_clear()
    kernels._loaded.cache_clear()
    with pytest.raises(ZeroDivisionError):
        kernels.load("recombine.draws", True)
    assert not kernels.is_loaded("recombine.draws")
    monkeypatch.undo()
    kernels.load("recombine.draws", True)
