"""Kill -9 a generate run at random moments, resume it each time, and compare the bytes with an unbroken run.

python benchmarks/kill_and_resume.py --kills 100 reascan --split simple --size 4000000
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def tree(folder: Path) -> dict[str, str]:
    """Every file with the hash of its bytes."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def main() -> int:
    """Exit 1 if a single byte differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("words", nargs=argparse.REMAINDER, help="family and options of recombine generate")
    arguments = parser.parse_args()
    words = arguments.words or ["scan", "--split", "simple", "--format", "jsonl"]
    dice = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "recombine", "generate", *words, "--out"]
        started = time.perf_counter()
        subprocess.run([*command, f"{scratch}/whole"], check=True, stdout=subprocess.DEVNULL)
        length = time.perf_counter() - started
        print(f"an unbroken run takes {length:.1f} s", flush=True)
        kills = done = 0
        while kills < arguments.kills:
            process = subprocess.Popen([*command, f"{scratch}/cut"], stdout=subprocess.DEVNULL, start_new_session=True)
            try:
                process.wait(timeout=dice.uniform(0.05, max(1.0, length / 10)))
                done += 1
                if tree(Path(scratch, "cut")) != tree(Path(scratch, "whole")):
                    print(f"DIFFERENT after {kills} kills")
                    return 1
                subprocess.run(["rm", "-rf", f"{scratch}/cut"], check=True)
            except subprocess.TimeoutExpired:
                kills += 1
                os.killpg(process.pid, signal.SIGKILL)
                assert process.wait() == -signal.SIGKILL
        subprocess.run([*command, f"{scratch}/cut"], check=True, stdout=subprocess.DEVNULL)
        same = tree(Path(scratch, "cut")) == tree(Path(scratch, "whole"))
        print(f"{kills} kills, {done + 1} finished runs: {'all bytes equal' if same else 'DIFFERENT'}")
        return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
