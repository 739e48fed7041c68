"""Program evaluations and generated rows per CPU-second of one core.

    python benchmarks/speed_lilgym_programs.py [--files FOLDER]

The original evaluates 7,900 (TOWER) and 9,900 (SCATTER) programs per CPU-second: it parses the text and builds the objects anew.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from recombine import kernels, keys
from recombine.families.lilgym import LILGYM, program
from recombine.families.lilgym.program import KERNEL_NAME, Bank, Prepared
from recombine.families.lilgym.scene import KINDS, Kind, unpack
from recombine.families.lilgym.sound import worlds
from recombine.jobs import make_job

_SPEC = importlib.util.spec_from_file_location("check_lilgym_programs", Path(__file__).with_name("check_lilgym_programs.py"))
assert _SPEC is not None and _SPEC.loader is not None
check = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(check)

ORIGINAL = {"tower": 7_900, "scatter": 9_900}


def rate(work: Callable[[], int], seconds: float = 2.0) -> float:
    """Units of work per CPU-second, after one warm-up."""
    work()
    done, began = 0, time.process_time()
    while time.process_time() - began < seconds:
        done += work()
    return done / (time.process_time() - began)


def measure(kind: Kind, texts: list[str]) -> None:
    """Print the rates for one kind of scene."""
    bank = Bank([program.compile(text) for text in texts])
    items, counts = worlds.draw_scenes(kind, False, keys.states(keys.state("speed", kind), 0, 4096), True)
    n = 200_000
    index, scene = np.arange(n) % len(texts), np.arange(n) * 7919 % len(counts)
    out, words = np.zeros(n, np.int8), Prepared(items, counts).words
    registers = np.zeros(program.kernel.REGISTERS, np.int64)
    functions = kernels.load(KERNEL_NAME, True)
    scratch = np.zeros(words.shape[1], np.int64)
    chosen_items, chosen_counts = items[scene], counts[scene]
    shown = unpack(kind, items[:50], counts[:50])

    def on_prepared() -> int:
        functions.evaluate_prepared(bank.code, bank.offsets, index, scene, words, items.shape[1], registers, out)
        return n

    def from_scratch() -> int:
        functions.evaluate_batch(bank.code, bank.offsets, index, chosen_items, chosen_counts, scratch, registers, out)
        return n

    def plainly() -> int:
        for k, made in enumerate(bank.programs[:200]):
            made.evaluate(shown[k % 50])
        return min(200, len(bank.programs))

    for name, work in (("prepared scenes", on_prepared), ("scenes as they come", from_scratch), ("plain interpreter", plainly)):
        speed = rate(work)
        print(f"{kind:8} {name:22} {speed:12,.0f} evaluations / CPU-s   {speed / ORIGINAL[kind]:8.1f} × the original")
    for start in ("flipit", "scratch"):
        job = make_job(LILGYM, "random", "train", options={"scene": kind, "start": start})
        LILGYM.generate(job.rows(0, 200))
        began = time.process_time()
        rows = len(LILGYM.generate(job.rows(1000, 3000)))
        print(f"{kind:8} {start + ' rows':22} {rows / (time.process_time() - began):12,.0f} rows / CPU-s")


def main() -> None:
    """Print the rates of both kinds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=Path, default=None, help="a folder of published lilGym files")
    asked = parser.parse_args()
    for kind in KINDS:
        texts = [t for t in check.published(asked.files) if kind == "scatter" or "is_tower" in t]
        measure(kind, texts or check.own(kind, 1000))


if __name__ == "__main__":
    main()
