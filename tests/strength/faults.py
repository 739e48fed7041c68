"""Make one file operation fail: the n-th open, read, write, fsync, rename, unlink, mkdir, rmdir or listing below a folder.

`Faults(root, n, code)` counts all of them; `n = 0` only counts. Files that Python opens are real files whose reads and writes can fail.
"""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any
from unittest import mock

PATHS = ("mkdir", "rmdir", "unlink", "remove", "listdir", "scandir", "replace", "rename")


class Faults:
    """A context in which the n-th file operation below `root` raises `OSError(code)`; `names` tells what each of them was."""

    def __init__(self, root: Path, at: int = 0, code: int = 0) -> None:
        self.root, self.at, self.code = str(root), at, code
        self.names: list[str] = []
        self.handles: set[int] = set()
        self.patches: list[Any] = []
        self.real = {name: getattr(os, name) for name in (*PATHS, "open", "write", "read", "fsync", "close")}

    def is_ours(self, path: object) -> bool:
        if isinstance(path, int):
            return path in self.handles
        try:
            return os.fspath(path).__str__().startswith(self.root)  # type: ignore[call-overload]
        except TypeError:
            return False

    def step(self, name: str, path: object) -> None:
        """Count an operation, and fail if it is the chosen one."""
        self.names.append(f"{name} {Path(str(path)).name}")
        if len(self.names) == self.at:
            raise OSError(self.code, os.strerror(self.code), str(path))

    def by_path(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if args and self.is_ours(args[0]):
                self.step(name, args[0])
            return self.real[name](*args, **kwargs)

        return call

    def open_handle(self, path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
        if self.is_ours(path):
            self.step("open", path)
        handle: int = self.real["open"](path, flags, mode, **more)
        if self.is_ours(path):
            self.handles.add(handle)
        return handle

    def by_handle(self, name: str) -> Callable[..., Any]:
        def call(handle: int, *args: Any) -> Any:
            if handle in self.handles:
                if name == "close":
                    self.handles.discard(handle)
                else:
                    self.step(name, f"handle {name}")
            return self.real[name](handle, *args)

        return call

    def open_file(self, file: Any, mode: str = "r", buffering: int = -1, *more: Any, **kwargs: Any) -> Any:
        if isinstance(file, int) or not self.is_ours(file) or kwargs.get("opener"):
            return _OPEN(file, mode, buffering, *more, **kwargs)
        self.step("open", file)
        raw = _Raw(self, file, mode.replace("b", "").replace("t", ""))
        if buffering == 0:
            return raw
        buffered: Any = (
            io.BufferedRandom(raw) if "+" in mode else io.BufferedReader(raw) if "r" in mode else io.BufferedWriter(raw)
        )
        return buffered if "b" in mode else io.TextIOWrapper(buffered, *more, **kwargs)

    def __enter__(self) -> Faults:
        self.patches = [mock.patch.object(os, name, self.by_path(name)) for name in PATHS]
        self.patches += [mock.patch.object(os, name, self.by_handle(name)) for name in ("write", "read", "fsync", "close")]
        self.patches += [mock.patch.object(os, "open", self.open_handle), mock.patch.object(io, "open", self.open_file)]
        self.patches += [mock.patch.object(builtins, "open", self.open_file)]
        import pyarrow.parquet as pq

        real = pq.ParquetFile

        def parquet(path: Any, *args: Any, **kwargs: Any) -> Any:
            if self.is_ours(path):
                self.step("open parquet", path)
            return real(path, *args, **kwargs)

        self.patches.append(mock.patch.object(pq, "ParquetFile", parquet))
        for patch in self.patches:
            patch.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        for patch in reversed(self.patches):
            patch.stop()


_OPEN = io.open


class _Raw(io.FileIO):
    """A real file whose reads, writes and syncs are counted and may fail."""

    def __init__(self, faults: Faults, path: Any, mode: str) -> None:
        super().__init__(path, mode)
        self.faults, self.place = faults, path
        faults.handles.add(self.fileno())

    def readinto(self, buffer: Any, /) -> int | None:
        self.faults.step("read", self.place)
        return super().readinto(buffer)

    def readall(self) -> bytes:
        self.faults.step("read", self.place)
        return super().readall()

    def write(self, data: Any, /) -> int | None:
        self.faults.step("write", self.place)
        return super().write(data)

    def close(self) -> None:
        if not self.closed:
            self.faults.handles.discard(self.fileno())
        super().close()
