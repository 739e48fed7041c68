"""What a user waits for, in one table: objects, files, checks, pictures, episodes and the first job with an empty cache.

    python benchmarks/speed.py                      every line but the first jobs
    python benchmarks/speed.py objects pictures     these groups only
    python benchmarks/speed.py first                first jobs with an empty cache: minutes

All rates are per CPU-second of one core, so that a busy machine changes them less; compare columns of one run. Where
reasoning-gym is installed, its kinship task is measured in the same run. docs/speed.md keeps the figures.
"""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import recombine

OBJECTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("scan", {}),
    ("clutrr", {}),
    ("clutrr", {"style": "plain"}),
    ("gscan", {}),
    ("gscan", {"recipe": "release"}),
    ("reascan", {}),
    ("reascan", {"recipe": "release"}),
    ("lilgym", {}),
    ("lilgym", {"scene": "scatter", "start": "flipit"}),
)
FILES = (("gscan", "compositional"), ("reascan", "all"), ("clutrr", "generalization_23"), ("lilgym", "random"))
GRIDS = ("gscan", "reascan")
Line = tuple[str, float, str]


def rate(count: int, act: Callable[[], Any]) -> float:
    """How many of `count` things are done in a CPU-second."""
    began = time.process_time()
    act()
    return count / max(time.process_time() - began, 1e-9)


def read(examples: Iterable[Any]) -> int:
    """Read what a model sees and what it should answer; returns how many examples there were."""
    count = 0
    for example in examples:
        _ = example.inputs, example.answer
        count += 1
    return count


def pick(dataset: Any, places: Iterable[int]) -> int:
    """Read the examples at these places."""
    return read(dataset[i] for i in places)


def explain(examples: Iterable[Any]) -> None:
    """Work out the proofs."""
    for example in examples:
        example.explain()


def paint(examples: Iterable[Any]) -> None:
    """Make the pictures."""
    for example in examples:
        example.render("png")


def objects(rows: int = 3_000) -> Iterator[Line]:
    """Examples as Python objects, after first use."""
    for family, given in OBJECTS:
        name = " ".join([family, *map(str, given.values())])
        count = min(rows, len(recombine.load(family, **given)))
        read(islice(recombine.load(family, **given), 2_500))
        fresh = recombine.load(family, **given)
        yield f"ds[i] ascending, {name}", rate(count, partial(pick, fresh, range(count))), "examples"
        generator, again = random.Random(0), recombine.load(family, **given)
        places = [generator.randrange(len(again)) for _ in range(500)]
        yield f"ds[i] random, {name}", rate(500, partial(pick, again, places)), "examples"
        whole = recombine.load(family, **given)
        total = min(4 * rows, len(whole))
        yield f"iterating, {name}", rate(total, partial(read, islice(whole, total))), "examples"
    yield from peer(rows)


def peer(rows: int) -> Iterator[Line]:
    """The kinship task of reasoning-gym, beside ours."""
    if importlib.util.find_spec("reasoning_gym") is None:
        return
    gym = importlib.import_module("reasoning_gym")
    kinship = gym.create_dataset("family_relationships", size=rows, seed=0)
    yield "ds[i] ascending, reasoning-gym kinship", rate(rows, lambda: [kinship[i] for i in range(rows)]), "examples"


def files(rows: int = 50_000) -> Iterator[Line]:
    """Whole jobs, sealed folders included, and their verification."""
    for family, split in FILES:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "rows")

            def make(name: str = family, split: str = split, out: Path = out) -> None:
                recombine.generate(name, out, split=split, part="train", size=rows, engine="serial")

            recombine.load(family, split, "train")[:2_500]
            yield f"generate {rows:,} rows, {family}", rate(rows, make), "rows"
            yield f"verify, {family}", rate(rows, partial(recombine.verify, out, workers=1)), "rows"


def small() -> Iterator[Line]:
    """CPU-seconds of a whole process that generates 100 rows a part; compiled kernels lie on disk if they were ever made."""
    for family in ("clutrr", "lilgym"):
        with tempfile.TemporaryDirectory() as folder:
            command = [
                sys.executable,
                "-m",
                "recombine",
                "generate",
                family,
                "--size",
                "100",
                "--out",
                str(Path(folder, "rows")),
            ]
            before = sum(os.times()[2:4])
            subprocess.run(command, capture_output=True, check=True)
            yield f"generate --size 100, {family}", sum(os.times()[2:4]) - before, "CPU-seconds"


def proofs(rows: int = 300) -> Iterator[Line]:
    """Explanations of single examples, after first use: what is loaded from disk is loaded."""
    for family in (*GRIDS, "clutrr", "lilgym"):
        dataset = recombine.load(family, part="train")
        explain(dataset[:400])
        fresh = dataset[400 : 400 + rows]
        yield f"explain, {family}", rate(len(fresh), partial(explain, fresh)), "examples"


def pictures(rows: int = 100) -> Iterator[Line]:
    """PNG pictures, the caches of masks and fonts filled."""
    for family in (*GRIDS, "clutrr", "lilgym"):
        some = recombine.load(family)[: 20 + rows]
        for example in some[:20]:
            example.render("png")
        yield f"PNG, {family}", rate(rows, partial(paint, some[20:])), "pictures"


def episodes(steps: int = 3_000) -> Iterator[Line]:
    """Single environments as `gymnasium.make` gives them, and those of lilGym without pictures; random actions, resets included."""
    import gymnasium as gym

    import recombine.envs

    names = list(recombine.envs.ENVIRONMENTS)
    plain = [name for name in names if "Tower" in name or "Scatter" in name]
    for name, given in [*((name, {}) for name in names), *((name, {"sight": "scene"}) for name in plain)]:
        env = gym.make(name, **given)
        env.reset(seed=0)
        env.action_space.seed(0)

        def act(count: int, env: Any = env) -> None:
            for _ in range(count):
                _, _, terminated, truncated, _ = env.step(env.action_space.sample())
                if terminated or truncated:
                    env.reset()

        act(200)
        yield f"steps, {name}{' without pictures' if given else ''}", rate(steps, partial(act, steps)), "steps"


FIRST = """
import sys, time
import recombine
recombine.generate(sys.argv[1], sys.argv[2], part="train", size=int(sys.argv[3]), engine="serial")
print(time.process_time())
"""


def first() -> Iterator[Line]:
    """CPU-seconds of a whole process that generates its first folder with an empty cache of compiled kernels."""
    for family in ("gscan", "reascan", "clutrr", "lilgym"):
        for size in (100, 4_000):
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "RECOMBINE_CACHE": str(Path(folder, "cache"))}
                command = [sys.executable, "-c", FIRST, family, str(Path(folder, "rows")), str(size)]
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                yield f"first job of {size:,} rows, {family}", float(done.stdout), "CPU-seconds"


GROUPS: dict[str, Callable[[], Iterator[Line]]] = {
    "objects": objects, "files": files, "small": small, "proofs": proofs, "pictures": pictures, "episodes": episodes, "first": first,
}  # fmt: skip


def main(wanted: list[str]) -> None:
    """Print one line of a Markdown table per figure."""
    unknown = [name for name in wanted if name not in GROUPS]
    if unknown:
        sys.exit(f"no group is called {unknown[0]!r}; there are {', '.join(GROUPS)}.")
    print("| | measured | |\n|---|---:|---|")
    for name in wanted or [name for name in GROUPS if name != "first"]:
        for what, figure, unit in GROUPS[name]():
            shown = f"{figure:,.1f}" if unit == "CPU-seconds" else f"{figure:,.0f}"
            print(f"| {what} | {shown} | {unit if unit == 'CPU-seconds' else f'{unit} per CPU-second'} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
