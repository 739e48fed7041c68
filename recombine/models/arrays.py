"""Files of arrays with a header: how machines are kept on disk. No pickle, and no more bytes than a machine can have."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.errors import FileError, shown
from recombine.files import writing

MOST_BYTES = 256 << 20
"""Larger files, packed or unpacked, are not read."""
HEADER = "header"


def write_arrays(path: Path, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a header (a JSON value) and named arrays; the file appears whole or not at all."""
    out = io.BytesIO()
    told = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez_compressed(out, **{HEADER: told, **arrays})  # type: ignore[arg-type]
    with writing(path) as stream:
        stream.write(out.getvalue())


def read_arrays(path: Path) -> tuple[Any, dict[str, NDArray[Any]]]:
    """The header and the arrays of a file that `write_arrays` wrote; a damaged or oversized file is an error that names it."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES:,} bytes")
        raw = path.read_bytes()
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            if sum(item.file_size for item in packed.infolist()) > MOST_BYTES:
                raise ValueError(f"it unpacks to more than {MOST_BYTES:,} bytes")
        with np.load(io.BytesIO(raw), allow_pickle=False) as stored:
            header = json.loads(stored[HEADER].tobytes().decode())
            return header, {name: stored[name] for name in stored.files if name != HEADER}
    except (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile) as problem:  # RuntimeError: a locked zip
        raise FileError(f"cannot read the machine {shown(str(path))}: {str(problem)[:200]}.") from None
