"""The README's code blocks run as they stand."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


def test_python_blocks_print_what_the_readme_shows(tmp_path: Path) -> None:
    pairs = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", README, re.M | re.S)
    assert len(pairs) == len(blocks("python")) >= 1
    for block, output in pairs:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == output


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of the shell blocks and of the tables runs; commands with a place for your own file are left out.

    The first runs in a shell, the others in this process, if they are nothing but words for `recombine`.
    """
    from recombine.cli import main

    monkeypatch.chdir(tmp_path)
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "recombine").write_text(f'#!/bin/sh\nexec {sys.executable} -m recombine "$@"\n')
    (tools / "recombine").chmod(0o755)
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("recombine ")]
    tables = [line for line in README.splitlines() if line.startswith("| ")]
    lines += [
        command
        for line in tables
        for command in re.findall(r"`(recombine [^`]*)`", line)
        if not re.search(r"[A-Z]{3}", command)
    ]
    assert len(lines) >= 8
    first, *others = dict.fromkeys(" ".join(shlex.split(line, comments=True)) for line in lines)
    plain = [line for line in others if not re.search(r"[^\w .=/:-]", line)]
    for line in plain:
        assert main(line.split()[1:]) == 0, line
    for line in [first, *(line for line in others if line not in plain)]:
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        done = subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stderr)


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) >= 12
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("target", ["demo", "test"])
def test_make_targets_exist(target: str) -> None:
    assert f"make {target}" in README
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)


@pytest.mark.parametrize("name", ["score_a_model.py", "reward.py"])
def test_examples_run(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
