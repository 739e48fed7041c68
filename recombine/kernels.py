"""One source, two speeds: a kernel module runs interpreted as it stands, or compiled by Numba from the same file.

A kernel module says `KERNEL = True` and holds plain functions in the subset that Numba compiles, with few and explicit
argument types. `for_rows(name, rows)` decides: small jobs run interpreted and never import numba; large ones get the compiled
form, for which the module's file is executed a second time under another name and each of its functions is compiled, with those
it imports from other kernel modules (`recombine.draws`). Both give the same bits, and a test says so for every family.

A module that also says `LEAN = True` promises that its functions make new arrays only by naming `np`: all others are compiled
without reference counts, which otherwise take half of the time of small functions with many array arguments.

A module that says `FUSED = True` lets the compiler reorder sums and join products with sums, as vector code needs, and
divides without asking whether by 0. Its two speeds then differ in the last bits; that is for what learns, never for what generates.

Machine code is kept in the first of these folders that can be written: `RECOMBINE_CACHE`, beside the package, the user's cache
folder. Without any, it is compiled in memory, and one line says so. Of processes that start at the same time, one compiles; the
others wait and load what it saved.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import logging
import os
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

COMPILE_FROM_ROWS = 2_000
"""Jobs of at least this many rows are worth loading the compiled kernels for (a family may choose its own)."""
CACHE_VARIABLE = "RECOMBINE_CACHE"
"""Environment variable that names a folder for compiled kernels. Anybody who can write to this folder can run code as the user."""
LOCK, LOCK_SECONDS = "recombine.lock", 60.0
TURN, TURN_SECONDS = "recombine.compiling", 600.0
"""The lock of the process that compiles. Other processes wait this long for the machine code and then compile for themselves."""
_ROWS: dict[str, int] = {}
"""Rows that this process has made interpreted, by kernel module."""
LOAD_FROM_CALLS = 3_000
"""Interpreted calls on single examples that take as long as loading machine code from disk."""
_CALLS: dict[str, int] = {}
"""Calls that this process has made through `for_calls`, by kernel module."""
_READY: dict[tuple[str, bool], types.SimpleNamespace] = {}
"""Kernels that `load` has returned before. A lookup here takes no lock; environments look at every step."""
_LOADING = threading.RLock()
_THREAD = threading.local()


@contextlib.contextmanager
def interpreted() -> Iterator[None]:
    """In this block and thread nothing is compiled, and numba is not imported. What is compiled already stays in use."""
    before, _THREAD.is_interpreted = getattr(_THREAD, "is_interpreted", False), True
    try:
        yield
    finally:
        _THREAD.is_interpreted = before


def for_rows(
    name: str, rows: int, compile_from: int = COMPILE_FROM_ROWS, load_from: int | None = None
) -> types.SimpleNamespace:
    """The functions of the kernel module for a job of so many rows, compiled if that is worth it."""
    return load(name, is_worth_compiling(name, rows, compile_from, load_from))


def is_worth_compiling(name: str, rows: int, compile_from: int = COMPILE_FROM_ROWS, load_from: int | None = None) -> bool:
    """The one decision: compiled if the rows are worth it, or if this process has the compiled form already.

    `compile_from` rows take as long interpreted as compiling does; `load_from` rows, as long as loading machine code from disk
    does. With `load_from`, rows count from the start of the process, so many small jobs come to the compiled form as one large
    job does. Each call counts its rows, so ask once per job.
    """
    if load_from is None or is_loaded(name):
        return rows >= compile_from or is_loaded(name)
    total = _ROWS[name] = _ROWS.get(name, 0) + rows
    return total >= compile_from or (total >= load_from and is_kept(name))


def for_calls(name: str) -> types.SimpleNamespace:
    """The functions for one of many calls on single examples: compiled from the LOAD_FROM_CALLS-th on, if that costs little."""
    total = _CALLS[name] = _CALLS.get(name, 0) + 1
    return load(name, total > LOAD_FROM_CALLS and is_ready(name))


def load(name: str, compiled: bool) -> types.SimpleNamespace:
    """The functions of the kernel module `name`, interpreted or compiled, as attributes; interpreted where there is no numba."""
    found = _READY.get((name, compiled))
    if found is not None:
        return found
    if compiled and getattr(_THREAD, "is_interpreted", False) and not is_loaded(name):
        compiled = False
    if compiled and not has_numba():
        _say_once("numba is not installed, so large jobs run interpreted, some hundred times slower; `pip install numba`")
        compiled = False
    with _LOADING:
        _READY[name, compiled] = _loaded(name, compiled)
        return _READY[name, compiled]


@functools.cache
def has_numba() -> bool:
    """Whether kernels can be compiled."""
    return importlib.util.find_spec("numba") is not None


@functools.cache
def _loaded(name: str, compiled: bool) -> types.SimpleNamespace:
    module = importlib.import_module(name)
    if not getattr(module, "KERNEL", False):
        raise TypeError(f"{name} is not a kernel module: it does not say KERNEL = True")
    if compiled:
        return types.SimpleNamespace(**_functions(_compiled(name)))
    return types.SimpleNamespace(**{key: _quiet(f) for key, f in _functions(module).items()})


def is_loaded(name: str) -> bool:
    """Whether this process has the compiled form of the module already, so that small jobs may use it at no cost."""
    return f"{name}__compiled" in sys.modules


def is_ready(name: str) -> bool:
    """Whether the compiled form costs little: this process has it, or its machine code lies on disk."""
    return is_loaded(name) or is_kept(name)


@functools.cache
def is_kept(name: str) -> bool:
    """Whether machine code of the module lies on disk and is newer than the source. Does not import numba."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None or not has_numba():
        return False
    source = Path(spec.origin)
    beside = source.parent / "__pycache__"
    folder = _cache_folder(beside)
    if folder is None:
        return False
    found = folder.glob(f"{'' if folder == beside else '*/'}{source.stem}.*.nbi")
    try:
        return max((path.stat().st_mtime for path in found), default=0.0) >= source.stat().st_mtime
    except OSError:  # another process renews it just now
        return False


def _functions(module: types.ModuleType) -> dict[str, Callable[..., Any]]:
    """The public functions that the module defines or imports from other kernel modules."""
    return {
        key: value
        for key, value in vars(module).items()
        if callable(value) and not key.startswith("__") and not isinstance(value, type) and _is_kernel_function(value)
    }


def _is_kernel_function(value: object) -> bool:
    source = getattr(value, "py_func", value)
    if not isinstance(source, types.FunctionType):
        return False
    return bool(source.__globals__.get("KERNEL", False))


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with wrapping 64-bit words allowed, as compiled code allows them."""
    import numpy as np

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return call


_HEARERS: list[Callable[[str], None]] = []
"""Functions to call, with one sentence, when this process begins to compile kernels that no cache holds."""


def tell_of_compiling(hearer: Callable[[str], None]) -> None:
    """Call `hearer` once with one sentence if kernels must be compiled, because compiling takes up to half a minute."""
    _HEARERS[:] = [hearer]


def _tell_of_compiling() -> None:
    """Tell whoever wants to hear, the first time. Called where a function is compiled that no cache holds, and nowhere else."""
    if _HEARERS:
        _HEARERS.pop()("compiling kernels, once (up to half a minute); later runs find them on disk")


@functools.cache
def _compiled(name: str) -> types.ModuleType:
    import numba

    jit: Any = numba.njit
    source = importlib.import_module(name)
    alias = f"{name}__compiled"
    spec = importlib.util.spec_from_file_location(alias, source.__file__)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot find the source of kernel module {name}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[alias] = module
    try:
        spec.loader.exec_module(module)
        newest = max(path.stat().st_mtime for path in _sources(vars(module), {Path(str(module.__file__))}))
        for key, value in list(vars(module).items()):
            if not isinstance(value, types.FunctionType) or not _is_kernel_function(value):
                continue
            if value.__module__ == alias:
                settings: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
                if getattr(module, "LEAN", False) and "np" not in value.__code__.co_names:
                    settings["_nrt"] = False  # makes no arrays, so its calls need not count references
                if getattr(module, "FUSED", False):
                    settings |= {"fastmath": {"contract", "reassoc", "nnan", "nsz"}, "error_model": "numpy"}
                setattr(module, key, _in_turn(_kept(jit(**settings)(value), newest)))
            else:
                setattr(module, key, getattr(_compiled(value.__module__), value.__name__))
    except BaseException:
        del sys.modules[alias]  # half-made: the next call begins anew
        raise
    return module


def _sources(names: dict[str, Any], seen: set[Path]) -> set[Path]:
    """The files of all kernel modules that these names reach, through any number of imports."""
    for function in names.values():
        if isinstance(function, types.FunctionType) and _is_kernel_function(function):
            path = Path(function.__code__.co_filename)
            if path not in seen:
                seen |= _sources(function.__globals__, seen | {path})
    return seen


# --- keeping machine code --------------------------------------------------------------------------------------------


def _kept(dispatcher: Any, newest: float) -> Any:
    """The function with its machine code kept on disk, if there is a place for it."""
    beside = Path(dispatcher.py_func.__code__.co_filename).parent / "__pycache__"
    folder = _cache_folder(beside)
    if folder is not None:
        with _numba_cache(None if folder == beside else folder):
            dispatcher._cache = _cache_class()(dispatcher.py_func)
        _drop_stale(Path(dispatcher._cache.cache_path), Path(dispatcher.py_func.__code__.co_filename), newest)
    return dispatcher


class _Turn:
    """This process's right to compile. It is taken at the first function that no cache holds, and kept until that function is saved.

    A process has at most one such lock, so two processes cannot wait for each other.
    """

    def __init__(self) -> None:
        self.threads, self.depth = threading.RLock(), 0
        self.lock: contextlib.ExitStack | None = None

    def take(self, folder: Path) -> bool:
        """Wait for the turn and take it, if this process needs one. True if it was taken.

        Then look at the cache again: another process may have compiled the function meanwhile.
        """
        from recombine.errors import FileError
        from recombine.files import held

        if self.lock is not None or not self.depth:
            return False
        self.lock = contextlib.ExitStack()
        with contextlib.suppress(OSError, FileError):  # no turn can be had: compile without
            folder.mkdir(parents=True, exist_ok=True)
            self.lock.enter_context(held(folder / TURN, "another process compiles", TURN_SECONDS))
        return True

    def is_inner(self) -> bool:
        """Whether the function that is compiled now is one that another function calls."""
        return self.depth > 1

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Compiling one function, and within it those that it calls."""
        with self.threads:
            self.depth += 1
            try:
                yield
            finally:
                self.depth -= 1
                if not self.depth and self.lock is not None:
                    self.lock.close()
                    self.lock = None


_TURN = _Turn()


def _in_turn(dispatcher: Any) -> Any:
    """The function, compiled in this process's turn. A function that only compiled code calls gets no Python wrapper.

    The wrapper checks and unpacks every argument. For many small functions with many arrays it takes half of the compile time.
    Versions without a wrapper are not saved on disk and are hidden from Numba. If Python calls such a function later, it is compiled
    again with a wrapper.
    """
    sigutils: Any = importlib.import_module("numba.core.sigutils")
    compile_one, add, options = dispatcher.compile, dispatcher.add_overload, dispatcher.targetoptions
    make = dispatcher._compiler.compile
    inner: set[tuple[Any, ...]] = set()

    def add_overload(made: Any) -> None:
        signature = tuple(made.signature.args)
        if _TURN.is_inner():
            dispatcher.overloads[signature] = made
            inner.add(signature)
        else:
            add(made)

    @functools.wraps(compile_one)
    def compiled(signature: Any) -> Any:
        with _TURN.scope():
            options["no_cpython_wrapper"] = _TURN.is_inner()
            arguments = tuple(sigutils.normalize_signature(signature)[0])
            if arguments in inner and not _TURN.is_inner():
                inner.remove(arguments)
                del dispatcher.overloads[arguments]
            return compile_one(signature)

    @functools.wraps(make)
    def made(*arguments: Any) -> Any:
        _tell_of_compiling()
        return make(*arguments)

    dispatcher.compile, dispatcher.add_overload, dispatcher._compiler.compile = compiled, add_overload, made
    return dispatcher


@functools.cache
def _cache_class() -> Any:
    """Numba's cache, made safe: processes take turns, and a cache that cannot be used never ends a job."""
    caching: Any = importlib.import_module("numba.core.caching")

    from recombine.errors import FileError
    from recombine.files import held

    class Cache(caching.FunctionCache):  # type: ignore[misc]
        def load_overload(self, sig: Any, target_context: Any) -> Any:
            found = self._load(sig, target_context)
            if found is None and _TURN.take(Path(self.cache_path)):
                found = self._load(sig, target_context)
            return found

        def _load(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception:  # the entry is damaged or of another machine: the function is compiled anew
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            if _TURN.is_inner():
                return  # it has no Python wrapper
            try:
                self._impl.locator.ensure_cache_path()
                # Without turns, two processes that save two signatures at once can exchange their machine code.
                with held(Path(self.cache_path, LOCK), f"the cache {self.cache_path} is in use", LOCK_SECONDS):
                    self._save(sig, data)
            except (OSError, FileError) as problem:
                _say_once(f"compiled kernels are not kept: {problem}")

        def _save(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except OSError:
                raise
            except Exception:  # the index is damaged: begin a new one
                self.flush()
                super().save_overload(sig, data)

    return Cache


@functools.cache
def _cache_folder(beside: Path) -> Path | None:
    """Where machine code is kept: the first folder that can be written; None, after one line that says so, if none can."""
    named = os.environ.get(CACHE_VARIABLE) or os.environ.get("NUMBA_CACHE_DIR")
    if named:
        wanted = [Path(named).absolute()]
    else:
        home = os.environ.get("XDG_CACHE_HOME") or (f"{os.environ['HOME']}/.cache" if os.environ.get("HOME") else "")
        wanted = [beside, *([Path(home, "recombine")] if os.path.isabs(home) else [])]  # noqa: PTH117 - of a text
    for folder in wanted:
        if _is_writable(folder):
            return folder
    _say_once(
        f"compiled kernels cannot be kept in {' or '.join(map(str, wanted))}, so they are compiled anew in every process; "
        f"set {CACHE_VARIABLE} to a folder of yours"
    )
    return None


def _is_writable(folder: Path) -> bool:
    """Whether a file can be made in the folder, which is made if needed. A folder that all users may write is not trusted."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.name != "nt" and folder.stat().st_mode & 0o002:
            return False
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def _numba_cache(folder: Path | None) -> Iterator[None]:
    """Changes a setting of Numba for a moment. Numba reads it when it makes a function's cache."""
    config: Any = importlib.import_module("numba.core.config")
    before = config.CACHE_DIR
    config.CACHE_DIR = "" if folder is None else str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


@functools.cache
def _drop_stale(cache: Path, source: Path, newest: float) -> None:
    """Forget machine code that is older than a kernel module it calls: Numba looks at the function's own file only."""
    for index in cache.glob(f"{source.stem}.*.nbi"):
        with contextlib.suppress(OSError):  # another process may be doing the same
            if index.stat().st_mtime < newest:
                index.unlink()


@functools.cache
def _say_once(line: str) -> None:
    logging.getLogger("recombine").warning("%s", line)
