"""What was renamed works for one release, and says so."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from recombine import moved


@pytest.mark.parametrize("old", moved.MODULES)
def test_a_moved_module_is_found_with_a_warning(old: str) -> None:
    sys.modules.pop(old, None)
    with pytest.warns(FutureWarning, match=moved.MODULES[old]):
        found = importlib.import_module(old)
    new = importlib.import_module(moved.MODULES[old])
    assert found is new
    assert new.__spec__ is not None
    assert new.__spec__.name == moved.MODULES[old]
    assert importlib.reload(new) is new


def test_the_imports_of_the_first_release_work() -> None:
    code = (
        "from recombine.families.lilgym import acting, pictures, program, solver\n"
        "assert acting.Setting and acting.play and acting.captions and acting.format_edits\n"
        "assert pictures.filmstrip and pictures.gif and solver.solve and program.compile\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.count("goes with the next release") == 2 + 2
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("recombine.families.lilgym.nothing")


def test_the_old_scale_of_reproduce_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    from recombine.cli import main

    assert main(["reproduce", "nacs-table1", "--scale", "minutes"]) == 2
    assert "unknown scale" in capsys.readouterr().err
    assert moved.SCALES["minute"] == "smoke"
