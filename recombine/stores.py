"""Object stores as output and input folders: `s3://bucket/path`, `gs://bucket/path`, `memory://path`, through fsspec.

A `Remote` has those ways of `pathlib.Path` that this package uses. An object appears in a store whole or not at all, which is the
promise that files keep by renaming; there are no folders to make, no links and no locks. Two runs into one place write the same bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple

from recombine.errors import FileError, UsageError, shown

SCHEMES = ("memory", "s3", "gs", "gcs", "abfs", "az")
"""Stores that keep the promise. Others (http, ftp, a local file in disguise) are refused."""
MARKS = ("ETag", "etag", "md5Hash", "generation", "created", "LastModified", "last_modified", "updated", "mtime")
"""What stores say of an object that changes when it is replaced, each under its own name."""
_URL = re.compile(r"([a-z][a-z0-9+.-]+)://(.*)", re.DOTALL)


class Stat(NamedTuple):
    """Properties of an object, under the names of `os.stat`."""

    st_size: int
    st_mtime_ns: int
    st_mode: int = stat.S_IFREG | 0o644


def is_url(text: str) -> bool:
    """Whether this names a place in a store and not a path of this machine."""
    return _URL.fullmatch(text) is not None


def remote(path: object) -> Remote | None:
    """The place in a store that stands where a path is expected, or None for a path of this machine."""
    return path if isinstance(path, Remote) else None


@lru_cache(maxsize=8)
def _system(scheme: str) -> Any:
    try:
        import fsspec
    except ImportError:
        raise UsageError("object stores need the `cloud` extra: pip install 'recombine[cloud]'.") from None
    try:
        return fsspec.filesystem(scheme, use_listings_cache=False, skip_instance_cache=scheme != "memory")
    except (ImportError, ValueError) as problem:
        raise UsageError(f"{scheme}:// needs another package: {problem}.") from None


class Remote:
    """A place in a store: an object, or a prefix that many share. Immutable and hashable, like a path."""

    def __init__(self, scheme: str, key: str) -> None:
        self.scheme, self.key = scheme, key.strip("/")

    @classmethod
    def of(cls, url: str) -> Remote:
        """The place of this address; a store that is not known, or an address without a path, is a clear error."""
        match = _URL.fullmatch(url)
        pieces = match[2].strip("/").split("/") if match else []
        if match is None or match[1] not in SCHEMES:
            raise FileError(f"{shown(url)} is not in a store that is known; known are {', '.join(SCHEMES)}.")
        if not url.isprintable() or any(piece in ("", ".", "..") for piece in pieces) or "?" in url or "#" in url:
            raise FileError(f"{shown(url)} is not an address like {match[1]}://bucket/folder.")
        _system(match[1])
        return cls(match[1], match[2])

    def __str__(self) -> str:
        return f"{self.scheme}://{self.key}"

    __fspath__ = __str__

    def __repr__(self) -> str:
        return f"Remote({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __lt__(self, other: Remote) -> bool:
        return str(self) < str(other)

    def __truediv__(self, name: str | PurePosixPath) -> Remote:
        return Remote(self.scheme, f"{self.key}/{name}")

    @property
    def parts(self) -> tuple[str, ...]:
        """The names on the way, the bucket first."""
        return tuple(self.key.split("/"))

    @property
    def name(self) -> str:
        """The last name."""
        return self.key.rpartition("/")[2]

    @property
    def parent(self) -> Remote:
        """The prefix above."""
        return Remote(self.scheme, self.key.rpartition("/")[0])

    def with_name(self, name: str) -> Remote:
        """The place beside this one."""
        return self.parent / name

    def relative_to(self, other: Remote) -> PurePosixPath:
        """The way from another place down to this one."""
        return PurePosixPath(self.key).relative_to(other.key)

    def exists(self) -> bool:
        """Whether there is an object, or any below this prefix."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """Whether there is an object here."""
        with self._told("read"):
            return bool(_system(self.scheme).isfile(self.key))

    def is_dir(self) -> bool:
        """Whether there are objects below this prefix."""
        return not self.is_file() and next(iter(self._keys()), None) is not None

    def is_symlink(self) -> bool:
        """No: stores have no links."""
        return False

    def _keys(self) -> list[str]:
        with self._told("read"):
            try:
                return sorted(key.strip("/") for key in _system(self.scheme).find(self.key))
            except FileNotFoundError:
                return []

    def iterdir(self) -> Iterator[Remote]:
        """The entries directly below."""
        start = len(self.key) + 1
        for name in dict.fromkeys(key[start:].partition("/")[0] for key in self._keys() if key != self.key):
            yield self / name

    def rglob(self, pattern: str) -> Iterator[Remote]:
        """All objects below whose last name fits."""
        for key in self._keys():
            if fnmatch(key.rpartition("/")[2], pattern):
                yield Remote(self.scheme, key)

    def glob(self, pattern: str) -> Iterator[Remote]:
        """The entries directly below that fit."""
        return (found for found in self.iterdir() if fnmatch(found.name, pattern))

    def mkdir(self, **_: Any) -> None:
        """Does nothing: a prefix exists as soon as an object is below it."""

    def rmdir(self) -> None:
        """Does nothing; see `mkdir`."""

    def resolve(self) -> Remote:
        """Itself."""
        return self

    def stat(self) -> Stat:
        """Size, and a number that changes with the object."""
        with self._told("read"):
            found = _system(self.scheme).info(self.key)
        size = int(found.get("size") or 0)
        marks = [f"{name}={found[name]}" for name in MARKS if found.get(name) is not None]
        # A store that says nothing of the kind gives no ground to believe that the object is the same: every look is new.
        mark = "\n".join([*marks, str(size)]) if marks else secrets.token_hex(16)
        return Stat(size, int.from_bytes(hashlib.blake2b(mark.encode(), digest_size=7).digest(), "big"))

    @contextmanager
    def open(self, mode: str = "rb") -> Iterator[IO[bytes]]:
        """The object's bytes as a stream that can be read and sought."""
        if mode != "rb":
            raise FileError(f"{shown(str(self))} can only be read or replaced as a whole.")
        with self._told("read"):
            opened = _system(self.scheme).open(self.key, "rb")
        try:
            yield opened
        finally:
            opened.close()

    def put(self, local: str) -> None:
        """Replace the object by a local file; it appears whole or not at all."""
        with self._told("write"):
            system = _system(self.scheme)
            if os.path.getsize(local) <= 64 << 20:  # noqa: PTH202 - one request
                with open(local, "rb") as stream:  # noqa: PTH123
                    system.pipe_file(self.key, stream.read())
            else:
                system.put_file(local, self.key)

    def unlink(self, missing_ok: bool = False) -> None:
        """Delete the object."""
        with self._told("delete"):
            try:
                _system(self.scheme).rm_file(self.key)
            except FileNotFoundError:
                if not missing_ok:
                    raise

    @contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        """Turns errors of a store's own package into a `FileError`. The error for a missing object stays as it is."""
        try:
            yield
        except (FileNotFoundError, FileError, UsageError):
            raise
        except Exception as problem:  # each store has its own tree of errors
            told = (str(problem) or type(problem).__name__).splitlines()[0][:200]
            raise FileError(f"cannot {doing} {shown(str(self))}: {told}.") from problem
