"""Fixtures that several tests share."""

from __future__ import annotations

import os
import zlib
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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--contract-sample", type=int, default=1, help="run one in so many cases of the contract test")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep one in K contract tests, by the hash of the name: another name, another sample, the same on every machine."""
    share = config.getoption("--contract-sample")
    if share <= 1:
        return
    dropped = [item for item in items if item.path.name == "test_contract.py" and zlib.crc32(item.nodeid.encode()) % share]
    config.hook.pytest_deselected(items=dropped)
    gone = set(map(id, dropped))
    items[:] = [item for item in items if id(item) not in gone]
