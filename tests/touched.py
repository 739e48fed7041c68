"""Print the tests to run for the uncommitted change: `make quick` hands them to pytest.

A change to `recombine/families/clutrr/…` calls for every test file with `clutrr` in its name; other rooms likewise. A sample of the
contract always runs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parent.parent
ALWAYS = ("tests/test_imports.py", "tests/test_testing.py", "tests/test_contract.py")
ROOMS = {
    "grid": ("test_grid", "gscan", "reascan"),
    "data": ("test_data", "test_verify", "test_audit"),
    "envs": ("test_envs",),
    "evaluate": ("evaluate/",),
    "models": ("models/",),
    "rl": ("rl/",),
    "cli": ("test_cli", "test_readme"),
}
"""Room -> words in the paths of its tests. A family's room is its name."""


def changed() -> list[str]:
    """The files of the uncommitted change, untracked ones included."""
    done = subprocess.run(["git", "status", "--porcelain"], cwd=TOP, capture_output=True, text=True, check=True)
    return [line[3:].split(" -> ")[-1] for line in done.stdout.splitlines()]


def tests_of(paths: list[str]) -> list[str]:
    """The test files for these paths."""
    files = [str(path.relative_to(TOP)) for path in sorted(TOP.glob("tests/**/test_*.py"))]
    chosen = [path for path in paths if path in files]
    for path in paths:
        parts = Path(path).parts
        if parts[0] != "recombine" or len(parts) < 2:
            continue
        room = parts[2] if parts[1] == "families" and len(parts) > 3 else parts[1].removesuffix(".py")
        words = ROOMS.get(room, (f"test_{room}",) if len(parts) == 2 else (room,))
        chosen += [file for file in files if any(word in file for word in words)]
    return list(dict.fromkeys([*ALWAYS, *chosen]))


if __name__ == "__main__":
    sys.stdout.write(" ".join(["--contract-sample=40", *tests_of(changed())]))
