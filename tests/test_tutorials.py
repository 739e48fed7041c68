"""Every tutorial's code runs from top to bottom, as a reader would type it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
NEEDS = {"train": "torch", "agent": "gymnasium", "ask": "httpx2"}


def test_there_are_six() -> None:
    assert {path.stem for path in TUTORIALS} == {"agent", "ask", "audit", "family", "split", "train"}


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(path: Path, tmp_path: Path) -> None:
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem])
    cells = re.findall(r"^```\{code-cell\} python\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
    assert len(cells) >= 2
    (tmp_path / "tutorial.py").write_text("\n".join(cells), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "tutorial.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "Traceback" not in done.stderr
    failed = re.findall(r"^recombine \w+: .*", done.stderr, re.M)
    assert failed == [], "a command of the tutorial failed"
