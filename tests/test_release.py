"""A release: the archives build, their descriptions are valid, and the wheel works in an empty environment outside the checkout."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import numpy
import pytest

import recombine

ROOT = Path(__file__).resolve().parent.parent


def _needs(name: str) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"needs {name}: pip install {name}")


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    _needs("hatchling")
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(out)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return out


def test_the_archives_hold_what_they_should(archives: Path) -> None:
    (wheel,) = archives.glob("*.whl")
    (source,) = archives.glob("*.tar.gz")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "recombine/__init__.py",
        "recombine/py.typed",
        "recombine/gallery/play.js",
        "recombine/gallery/originals.json",
    } <= names
    assert not [name for name in names if name.startswith(("tests/", "docs/")) or name.endswith((".pyc", ".nbi", ".nbc"))]
    with tarfile.open(source) as opened:
        inside = {name.partition("/")[2] for name in opened.getnames()}
    assert {"README.md", "LICENSE", "CITATION.cff", "docs/pictures/reascan.svg", "tests/test_contract.py"} <= inside


def test_their_descriptions_are_valid(archives: Path) -> None:
    _needs("twine")
    files = [str(path) for path in archives.iterdir() if path.name.endswith((".whl", ".tar.gz"))]
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheel_works_in_an_empty_environment(archives: Path, tmp_path: Path) -> None:
    """Only the dependencies are lent by this environment; the package comes from the wheel."""
    (wheel,) = archives.glob("*.whl")
    home = tmp_path / "environment"
    venv.create(home, with_pip=False)
    tools = home / ("Scripts" if os.name == "nt" else "bin")
    python = str(tools / "python")
    installed = subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", str(wheel)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert installed.returncode == 0, installed.stderr
    packages = next(home.rglob("site-packages"))
    (packages / "lent.pth").write_text(f"{Path(numpy.__file__).parent.parent}\n")
    work = tmp_path / "elsewhere"
    work.mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*words: str) -> str:
        done = subprocess.run(words, cwd=work, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    assert str(packages) in run(python, "-c", "import recombine; print(recombine.__file__)")
    program = str(tools / "recombine")
    assert "addprim_jump" in run(program, "list", "scan")
    run(program, "generate", "scan", "--split", "length", "--size", "20", "--out", "rows")
    run(program, "verify", "rows")
    page = run(python, "-c", "from recombine.gallery.page import to_html; print(to_html([]))")
    assert "What was wrong with the originals" in page


def test_the_citation_names_this_version() -> None:
    assert f"version: {recombine.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
