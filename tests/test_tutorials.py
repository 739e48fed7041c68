"""Every tutorial's code runs from top to bottom, as a reader would type it."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
NEEDS = {"train": "torch", "agent": "gymnasium", "ask": "httpx2"}
HERE = ("audit", "split", "train")
"""Tutorials that run in this process: they start no server and register nothing."""


def test_there_are_six() -> None:
    assert {path.stem for path in TUTORIALS} == {"agent", "ask", "audit", "family", "split", "train"}


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem])
    cells = re.findall(r"^```\{code-cell\} python\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
    assert len(cells) >= 2
    (tmp_path / "tutorial.py").write_text("\n".join(cells), encoding="utf-8")
    if path.stem in HERE:
        monkeypatch.chdir(tmp_path)
        runpy.run_path("tutorial.py", run_name="__main__")
        out, err = capsys.readouterr()
    else:
        out, err = _typed(tmp_path)
    assert out
    assert "Traceback" not in err
    failed = re.findall(r"^recombine \w+: .*", err, re.M)
    assert failed == [], "a command of the tutorial failed"


def _typed(folder: Path) -> tuple[str, str]:
    """What the tutorial prints as a program of its own."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    words = [sys.executable, "-W", "error", "tutorial.py"]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr
