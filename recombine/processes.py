"""Pools of worker processes that never outlive the process that started them, and end in order when it is interrupted."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from recombine.errors import WorkerLost


class Pool(ProcessPoolExecutor):
    """A pool whose workers never see Ctrl-C, and which as a context turns a lost worker into `WorkerLost`."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call. A process that starts for it inherits blocked interrupts, so only the parent reacts to them."""
        with _interrupts_held():
            return super().submit(fn, *args, **kwargs)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if kind is not None and not issubclass(kind, Exception):  # interrupted: what the workers were at is thrown away
            for process in list((self._processes or {}).values()):
                process.terminate()
        self.shutdown(wait=True, cancel_futures=kind is not None)
        if kind is not None and issubclass(kind, BrokenProcessPool):
            raise WorkerLost(
                "a worker process was killed, perhaps for want of memory. What was finished is kept: run the same command again, "
                "with fewer --workers if it happens again."
            ) from None
        return None


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back for a moment: a process that is half started would die with a traceback of its own.

    SIGINT is also blocked, where the system can, because what starts now inherits that. Blocking alone does not hold a signal back:
    another thread of this process may take it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    can_block = hasattr(signal, "pthread_sigmask")
    handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        handler = signal.getsignal(number)
        if callable(handler):
            handlers[number] = handler
            signal.signal(number, lambda *what: came.append(what))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if can_block else set()
    try:
        yield
    finally:
        if can_block:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for known, react in handlers.items():
            signal.signal(known, react)
        for known, frame in came[:1]:
            handlers[known](known, frame)


def pool(workers: int, prepare: Callable[..., None] | None = None, *given: Any) -> Pool:
    """Fresh processes, each of which first calls `prepare(*given)`. They end when this process ends, even if it is killed."""
    context = multiprocessing.get_context("spawn")
    return Pool(workers, mp_context=context, initializer=_begin, initargs=(prepare, given))


def spread(call: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]], workers: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield (name, result of `call(*job)`) for each job as it finishes. `workers` jobs run at a time (0: one per core)."""
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
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    if prepare is not None:
        prepare(*given)


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
