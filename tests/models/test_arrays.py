"""Files of machines: damaged, foreign and locked ones are errors that name the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recombine.errors import FileError
from recombine.models.arrays import read_arrays, write_arrays


def test_a_locked_zip_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "machine.npz"
    write_arrays(path, {"kind": "x"}, {"weights": np.zeros(3)})
    assert read_arrays(path)[0] == {"kind": "x"}
    raw = bytearray(path.read_bytes())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = raw.find(mark)
        while place >= 0:
            raw[place + flags] |= 1  # "encrypted"
            place = raw.find(mark, place + 1)
    path.write_bytes(raw)
    with pytest.raises(FileError, match=r"machine\.npz"):
        read_arrays(path)
