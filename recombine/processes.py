"""Pools of worker processes that never outlive the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any


def pool(workers: int, prepare: Callable[..., None] | None = None, *given: Any) -> ProcessPoolExecutor:
    """Fresh processes, each of which first calls `prepare(*given)`. They end when this process ends, even if it is killed."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(prepare, given))


def spread(call: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]], workers: int = 0) -> Iterator[tuple[str, Any]]:
    """What `call(*job)` gives for each named job, as they finish; so many at a time (0: one per core)."""
    count = min(workers or os.cpu_count() or 1, len(jobs))
    if count <= 1:
        for name, job in jobs.items():
            yield name, call(*job)
        return
    with pool(count) as doing:
        names = {doing.submit(call, *job): name for name, job in jobs.items()}
        for done in as_completed(names):
            yield names[done], done.result()


def _begin(prepare: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    if prepare is not None:
        prepare(*given)


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
