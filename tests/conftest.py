"""Fixtures that several tests share."""

from __future__ import annotations

import gc
import os
import sys
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# The workers of one run share the machine's cores, so no library starts threads of its own. Processes inherit this.
for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
# Bytecode is kept: hundreds of processes that a run starts need not compile the package's source again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Collecting tests and compiling kernels make millions of objects that live on. Looking through them for garbage is in vain.
gc.set_threshold(50_000, 20, 20)


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


def pytest_collection_finish() -> None:
    """Tests and imported modules live until the end: the garbage collector need not look at them again."""
    gc.collect()
    gc.freeze()
