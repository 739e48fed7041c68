"""Where shards are made: in this process, in a pool of processes, or as tasks of a Ray cluster.

An engine is a function `(plan, numbers, folder, tick) -> iterator of ShardRecord`; it decides only where `make_shard` runs.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

from recombine.data.plan import Plan
from recombine.data.shards import ShardRecord, make_shard
from recombine.errors import RecombineError, UsageError, WorkerLost
from recombine.files import check_path
from recombine.processes import pool

Tick = Callable[[int], None]
SMALL_JOB_ROWS = 40_000
"""Jobs up to this size are made in this process: starting others would take longer."""
STALL_SECONDS = 20.0
"""After this time without a finished shard, we check whether the cluster has lost a node."""


def run_serial(plan: Plan, numbers: Sequence[int], folder: Path, tick: Tick, workers: int = 1) -> Iterator[ShardRecord]:  # noqa: ARG001
    """All shards here, one after the other."""
    for number in numbers:
        yield make_shard(plan, number, folder, tick)


def run_processes(plan: Plan, numbers: Sequence[int], folder: Path, tick: Tick, workers: int = 0) -> Iterator[ShardRecord]:
    """Shards in a pool of fresh processes, one per core unless told otherwise; small jobs stay in this process."""
    workers = min(workers or os.cpu_count() or 1, len(numbers))
    rows = sum(plan.shards[n].stop - plan.shards[n].start for n in numbers)
    if workers <= 1 or rows <= SMALL_JOB_ROWS:
        yield from run_serial(plan, numbers, folder, tick)
        return
    ticks = multiprocessing.get_context("spawn").Queue()
    try:
        yield from _made_in_pool(plan, numbers, folder, tick, workers, ticks)
    finally:
        ticks.close()
        ticks.join_thread()


def _made_in_pool(
    plan: Plan, numbers: Sequence[int], folder: Path, tick: Tick, workers: int, ticks: Any
) -> Iterator[ShardRecord]:
    told = made = 0

    def count(rows: int) -> None:
        nonlocal told
        told += rows
        tick(rows)

    with pool(workers, _set_ticks, ticks) as makers:
        pending: set[Future[ShardRecord]] = {makers.submit(_make, plan.to_json(), n, str(folder)) for n in numbers}
        while pending:
            done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            _drain(ticks, count)
            for future in done:
                record = future.result()
                made += record.rows
                yield record
    if made > told:  # what the workers told last may still be on its way
        tick(made - told)


_TICKS: Any = None


def _set_ticks(ticks: Any) -> None:
    global _TICKS
    _TICKS = ticks


def _make(plan: dict[str, Any], number: int, folder: str) -> ShardRecord:
    on_rows = _TICKS.put if _TICKS is not None else None
    return make_shard(Plan.from_json(plan, "the plan"), number, check_path(folder), on_rows)


def _drain(ticks: Any, tick: Tick) -> None:
    while True:
        try:
            tick(ticks.get_nowait())
        except queue.Empty:
            return


def run_ray(
    plan: Plan, numbers: Sequence[int], folder: Path, tick: Tick, workers: int = 0, address: str | None = None
) -> Iterator[ShardRecord]:
    """Shards as plain Ray tasks with retries, a bounded number in flight; starts a local cluster if no address is given."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise UsageError("the ray engine needs the package ray: pip install 'recombine[ray]'.") from None
    started = not ray.is_initialized()
    if started:
        ray.init(address=address, num_cpus=None if address else (workers or None), include_dashboard=False, log_to_driver=False)
    try:
        task = ray.remote(max_retries=3, num_cpus=1)(_make_remote)
        submit: Callable[[int], Any] = lambda number: task.remote(plan.to_json(), number, str(folder.resolve()))
        window = 2 * int(sum(node["Resources"].get("CPU", 1) for node in ray.nodes()) or 1)
        waiting, alive = list(numbers), _alive(ray)
        flying: dict[Any, int] = {}
        while waiting or flying:
            while waiting and len(flying) < window:
                number = waiting.pop(0)
                flying[submit(number)] = number
            done, _ = ray.wait(list(flying), num_returns=1, timeout=STALL_SECONDS)
            if not done and not alive <= (left := _alive(ray)):
                # A node that lost its network never reports its tasks as lost, so we submit them again. Every worker makes
                # the same bytes.
                alive = left
                flying |= {submit(number): number for number in sorted(set(flying.values()))}
            for reference in done:
                if reference not in flying:
                    continue
                number = flying[reference]
                flying = {other: n for other, n in flying.items() if n != number}
                record = _record_of(ray, reference)
                tick(record.rows)
                yield record
    finally:
        if started:
            ray.shutdown()


def _alive(ray: Any) -> set[str]:
    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}


def _record_of(ray: Any, reference: Any) -> ShardRecord:
    """The result of a finished task. A failed task raises its own error; a lost task raises an error that says what to do."""
    try:
        record: ShardRecord = ray.get(reference)
    except ray.exceptions.RayTaskError as problem:
        cause = problem.cause
        raise cause if isinstance(cause, RecombineError) else problem from None
    except ray.exceptions.RayError as problem:
        raise WorkerLost(
            f"the cluster lost a task for good ({type(problem).__name__}). What was finished is kept: run the same command again."
        ) from problem
    return record


def _make_remote(plan: dict[str, Any], number: int, folder: str) -> ShardRecord:
    return _make(plan, number, folder)


ENGINES: dict[str, Callable[..., Iterator[ShardRecord]]] = {"processes": run_processes, "serial": run_serial, "ray": run_ray}
"""Engines by the name that `--engine` takes; the first is the default."""
