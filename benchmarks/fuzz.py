"""Fuzz every reader and parser: guided by coverage where atheris is installed, by random changes of the corpora elsewhere.

python benchmarks/fuzz.py --times 1000000 manifest journal endpoint        # prints inputs per second, exit 1 at a crash
An input that breaks a target is written into tests/strength/corpora/TARGET/, where `make test` finds it from then on.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent / "tests" / "strength"


def beside(name: str) -> Any:
    """A module of the test tree."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def guided(name: str, times: int, scratch: str) -> int:
    """One target under atheris, in this process; it never returns, so the caller owns the folder for its own finds."""
    import atheris

    with atheris.instrument_imports(include=["recombine"]):
        targets = beside("targets")

    def once(raw: bytes) -> None:
        targets.survives(name, raw)

    folder = HERE / "corpora" / name
    words = [sys.argv[0], f"-runs={times}", "-max_len=4096", "-timeout=60", f"-artifact_prefix={folder}/crash-", "-verbosity=0"]
    atheris.Setup([*words, scratch, str(folder)], once)
    atheris.Fuzz()
    return 0


def random_changes(name: str, times: int) -> int:
    """One target with random changes of its corpus; the number of inputs that broke it."""
    targets, mutations = beside("targets"), beside("mutations")
    seeds, broken = targets.seeds(name), 0
    for number, raw in enumerate(seeds):
        for changed in mutations.garbled(raw, -(-times // len(seeds)), 1_000 + number):
            try:
                targets.survives(name, changed)
            except Exception as problem:
                broken += 1
                place = HERE / "corpora" / name / f"crash-{hashlib.sha1(changed).hexdigest()[:12]}"
                place.write_bytes(changed)
                print(f"BROKEN {name}: {type(problem).__name__}: {str(problem)[:200]} ({place.name})", flush=True)
                if broken >= 5:
                    return broken
    return broken


def main() -> int:
    """Exit 1 if a single input breaks a target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--times", type=int, default=100_000)
    parser.add_argument("--guided", metavar="SCRATCH", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.guided:
        return guided(given.targets[0], given.times, given.guided)
    names = given.targets or sorted(beside("targets").TARGETS)
    has_atheris = importlib.util.find_spec("atheris") is not None
    wrong = 0
    for name in names:
        began = time.monotonic()
        if has_atheris:
            with tempfile.TemporaryDirectory(prefix="recombine-fuzz-") as scratch:
                words = [sys.executable, __file__, name, "--times", str(given.times), "--guided", scratch]
                done = subprocess.run(words, check=False, capture_output=True, text=True)
            bad = int(done.returncode != 0)
            if bad:
                print(done.stdout[-1_000:], done.stderr[-3_000:])
        else:
            bad = random_changes(name, given.times)
        seconds = time.monotonic() - began
        wrong += bad
        kind = "guided" if has_atheris else "random"
        print(f"{name}: {given.times:,} {kind} inputs in {seconds:.0f} s, {bad} broke it", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
