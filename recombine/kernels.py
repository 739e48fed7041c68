"""One source, two speeds: a kernel module runs interpreted as it stands, or compiled by Numba from the same file.

A kernel module says `KERNEL = True` and holds plain functions in the subset that Numba compiles, with few and explicit
argument types. Small jobs call `load(name, compiled=False)` and never import numba; large ones `load(name, compiled=True)`,
which executes the module's file a second time under another name and compiles each of its functions, and those it imports
from other kernel modules (`recombine.draws`). Both give the same bits, and a test says so for every family.

A module that also says `LEAN = True` promises that its functions make new arrays only by naming `np`: all others are compiled
without reference counts, which otherwise take half of the time of small functions with many array arguments.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

COMPILE_FROM_ROWS = 2_000
"""Jobs of at least this many rows are worth loading the compiled kernels for (a family may choose its own)."""


@functools.cache
def load(name: str, compiled: bool) -> types.SimpleNamespace:
    """The functions of the kernel module `name`, interpreted or compiled, as attributes."""
    module = importlib.import_module(name)
    if not getattr(module, "KERNEL", False):
        raise TypeError(f"{name} is not a kernel module: it does not say KERNEL = True")
    if compiled:
        return types.SimpleNamespace(**_functions(_compiled(name)))
    return types.SimpleNamespace(**{key: _quiet(f) for key, f in _functions(module).items()})


def is_loaded(name: str) -> bool:
    """Whether this process has the compiled form of the module already, so that small jobs may use it at no cost."""
    return f"{name}__compiled" in sys.modules


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
    spec.loader.exec_module(module)
    _drop_stale(module)
    for key, value in list(vars(module).items()):
        if not isinstance(value, types.FunctionType) or not _is_kernel_function(value):
            continue
        if value.__module__ == alias:
            settings: dict[str, Any] = {"cache": True, "nogil": True}
            if getattr(module, "LEAN", False) and "np" not in value.__code__.co_names:
                settings["_nrt"] = False  # makes no arrays, so its calls need not count references
            setattr(module, key, jit(**settings)(value))
        else:
            setattr(module, key, getattr(_compiled(value.__module__), value.__name__))
    return module


def _drop_stale(module: types.ModuleType) -> None:
    """Forget cached machine code that is older than a kernel module it calls: Numba looks at the function's own file only."""
    newest = max(path.stat().st_mtime for path in _sources(vars(module), {Path(str(module.__file__))}))
    source = Path(str(module.__file__))
    for index in (source.parent / "__pycache__").glob(f"{source.stem}.*.nbi"):
        with contextlib.suppress(FileNotFoundError):  # another process may be doing the same
            if index.stat().st_mtime < newest:
                index.unlink()


def _sources(names: dict[str, Any], seen: set[Path]) -> set[Path]:
    """The files of all kernel modules that these names reach, through any number of imports."""
    for function in names.values():
        if isinstance(function, types.FunctionType) and _is_kernel_function(function):
            path = Path(function.__code__.co_filename)
            if path not in seen:
                seen |= _sources(function.__globals__, seen | {path})
    return seen
