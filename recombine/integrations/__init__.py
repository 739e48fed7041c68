"""Plugs into other stacks, one file each. An integration imports its library at the top of its own file only."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.errors import RecombineError, UnknownName

if TYPE_CHECKING:
    from recombine.data.datasets import Dataset

__all__ = ["PATHS", "MissingLibrary", "first_rows", "need", "path_of"]

PATHS = {
    "lm-eval": "lm_eval",
    "verl": "verl.py",
    "openrlhf": "openrlhf.py",
    "nemo-gym": "nemo_gym.yaml",
    "openenv": "openenv.yaml",
}
"""Tool -> the file or folder whose path it needs."""


class MissingLibrary(RecombineError, ImportError):
    """The library of an integration is absent, or of a version that this package does not know."""


def path_of(tool: str) -> Path:
    """Where the files for a tool lie."""
    if tool not in PATHS:
        raise UnknownName("tool", tool, PATHS)
    return Path(__file__).parent / PATHS[tool]


def need(package: str, extra: str, low: str, below: str) -> None:
    """A clear error with the right pip command unless the package is installed in a version from `low` to under `below`."""
    command = f'pip install "recombine[{extra}]"'
    try:
        found = version(package)
    except PackageNotFoundError:
        raise MissingLibrary(f"{package} is not installed: {command}") from None
    if not _numbers(low) <= _numbers(found) < _numbers(below):
        raise MissingLibrary(f"{package} is {found}, but this needs at least {low} and below {below}: {command}")


def first_rows(source: str, split: str | None, part: str | None, seed: int, size: int) -> Dataset:
    """`size` rows of a family's part, or at most so many of a folder's.

    For integrations with a default size: a folder may hold fewer rows than that.
    """
    from recombine.data.datasets import load
    from recombine.families import FAMILIES

    if source in FAMILIES:
        return load(source, split, part, seed=seed, size=size)
    whole = load(source, split, part, seed=seed)
    return load(source, split, part, seed=seed, size=size) if size < len(whole) else whole


def _numbers(text: str) -> tuple[int, ...]:
    found = []
    for piece in text.split(".")[:3]:
        digits = "".join(c for c in piece[: len(piece) if piece.isdigit() else 1] if c.isdigit())
        found.append(int(digits or 0))
    return tuple(found)
