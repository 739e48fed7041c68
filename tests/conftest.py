"""Fixtures that several tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of originally released files; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("RECOMBINE_SHARED", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no released data at {folder}; set RECOMBINE_SHARED")
    return folder
