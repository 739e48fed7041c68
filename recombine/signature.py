"""Puts a mark at the end of every picture that we write, so that a later command replaces our pictures and no other files."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

from recombine.files import Kind

WORDS = b"drawn by recombine"


def _chunk(name: bytes, body: bytes) -> bytes:
    """A chunk of a PNG file."""
    return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")


_PNG_END = _chunk(b"IEND", b"")
MARKS = {
    ".svg": b"\n<!-- " + WORDS + b" -->\n",
    ".pdf": b"% " + WORDS + b"\n",
    ".png": _chunk(b"tEXt", b"Software\0" + WORDS) + _PNG_END,
}
"""Suffix -> the last bytes of a picture: a comment, or in a PNG a text chunk before the end."""


def signed(picture: bytes, suffix: str) -> bytes:
    """The picture with its mark; a kind of file without marks stays as it is."""
    if suffix == ".png":
        picture = picture.removesuffix(_PNG_END)
    return picture.rstrip(b"\n") + MARKS[suffix] if suffix == ".svg" else picture + MARKS.get(suffix, b"")


def picture_kind(suffix: str) -> Kind:
    """Pictures of ours with this suffix; other files may not be replaced."""
    return Kind(f"a picture that recombine wrote as {suffix.removeprefix('.')}", is_signed(suffix))


def is_signed(suffix: str) -> Callable[[Path], bool]:
    """Whether a file ends with the mark of its kind."""
    mark = MARKS.get(suffix)

    def is_ours(path: Path) -> bool:
        if mark is None or path.stat().st_size < len(mark):
            return False
        with path.open("rb") as stream:
            stream.seek(-len(mark), 2)
            return stream.read() == mark

    return is_ours
