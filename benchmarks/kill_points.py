"""Kill a generate run at each single write, fsync, rename, unlink and mkdir, resume it, and compare the bytes.

python benchmarks/kill_points.py [--every 9] [write fsync rename unlink mkdir]
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import os, signal, sys
from recombine import files
from recombine.data import plan, shards
from recombine.data.generate import generate
plan.SHARD_ROWS, plan.CHUNK_ROWS = 300, 150
point, count = sys.argv[2], int(sys.argv[3])
def counting(real):
    def call(*args, **kwargs):
        global count
        count -= 1
        if count == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)
    return call
if point == "write":
    shards._Hashing.write = counting(shards._Hashing.write)
elif point == "fsync":
    os.fsync = counting(os.fsync)
elif point == "rename":
    files.Path.replace = counting(files.Path.replace)
elif point == "unlink":
    files.Path.unlink = counting(files.Path.unlink)
elif point == "mkdir":
    files.Path.mkdir = counting(files.Path.mkdir)
generate("scan", sys.argv[1], split="length", size=600, engine="serial")
"""


def tree(folder: Path) -> dict[str, str]:
    """Every file with the hash of its bytes."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def attempt(out: Path, point: str, count: int) -> int:
    """One run that kills itself at the given point; its exit code."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(out), point, str(count)], check=False, capture_output=True
    ).returncode


def main() -> int:
    """Exit 1 if a single byte differs after a resume, or if no kill happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points", nargs="*", default=["fsync", "rename", "unlink", "mkdir", "write"])
    parser.add_argument("--every", type=int, default=1, help="kill at every so-manyth point of a kind only")
    given = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        whole, out = Path(scratch, "whole"), Path(scratch, "cut")
        attempt(whole, "none", 0)
        expected = tree(whole)
        for point in given.points:
            count = kills = 0
            while attempt(out, point, count + 1) == -signal.SIGKILL:
                kills += 1
                attempt(out, "none", 0)
                if tree(out) != expected:
                    wrong += 1
                    print(f"DIFFERENT after a kill at {point} {count + 1}")
                shutil.rmtree(out)
                count += given.every
            shutil.rmtree(out)
            wrong += not kills
            print(f"{point}: killed at {kills} points", flush=True)
    print("all bytes equal" if not wrong else f"{wrong} DIFFERENT")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
