"""Kill a generate run at each single write, fsync, rename, unlink and mkdir, resume it, and compare the bytes.

python benchmarks/kill_points.py [--every 9] [write fsync rename unlink/20 mkdir]

`unlink/20` kills at every 20th point of the kind. Every run is a process of its own, forked from this one, which has imported
everything and has no thread.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recombine import files
from recombine.data import plan, shards
from recombine.data.generate import generate

PLACES: dict[str, tuple[Any, str]] = {
    "write": (shards._Hashing, "write"),
    "fsync": (os, "fsync"),
    "rename": (files.Path, "replace"),
    "unlink": (files.Path, "unlink"),
    "mkdir": (files.Path, "mkdir"),
}
"""Point -> where the function stands that is counted."""


def deadly(real: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The function, whose call of this number kills the process."""
    left = count

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)

    return call


def tree(folder: Path) -> dict[str, str]:
    """Every file with the hash of its bytes."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def attempt(out: Path, point: str, count: int) -> int:
    """One run that kills itself at the given point; its exit code, or minus the number of the signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        plan.SHARD_ROWS, plan.CHUNK_ROWS = 300, 150
        if point in PLACES:
            place, name = PLACES[point]
            setattr(place, name, deadly(getattr(place, name), count))
        generate("scan", out, split="length", size=600, engine="serial")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def main() -> int:
    """Exit 1 if a single byte differs after a resume, or if no kill happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points", nargs="*", default=list(PLACES))
    parser.add_argument("--every", type=int, default=1, help="kill at every so-manyth point of a kind only")
    given = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        whole, out = Path(scratch, "whole"), Path(scratch, "cut")
        wrong += attempt(whole, "none", 0) != 0
        expected = tree(whole)
        for wish in given.points:
            point, _, every = wish.partition("/")
            if point not in PLACES:
                parser.error(f"unknown point {point}; choose from {', '.join(PLACES)}")
            count = kills = 0
            while attempt(out, point, count + 1) == -signal.SIGKILL:
                kills += 1
                attempt(out, "none", 0)
                if tree(out) != expected:
                    wrong += 1
                    print(f"DIFFERENT after a kill at {point} {count + 1}")
                shutil.rmtree(out)
                count += int(every or given.every)
            shutil.rmtree(out)
            wrong += not kills
            print(f"{point}: killed at {kills} points", flush=True)
    print("all bytes equal" if not wrong else f"{wrong} DIFFERENT")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
