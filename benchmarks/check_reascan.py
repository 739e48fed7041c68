"""Put N sound ReaSCAN examples, spread over all splits and parts, through the oracle; count what is broken and what leaks.

    python benchmarks/check_reascan.py 1000000 --state check.json
    python benchmarks/check_reascan.py 5000 --solve

--solve puts that many rows of every split through a solver of its own instead, which shares no code with generator and oracle: it
must find the target and nothing else, with size words read pairwise or as superlatives, and whether or not two phrases may mean the
same object.
With --state the run can be stopped and taken up again. Exit code 1 if anything is found.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path

import numpy as np

from recombine import kernels
from recombine.core import Batch
from recombine.families import family
from recombine.families.reascan import oracle_batch, oracle_kernel
from recombine.jobs import make_job

CHUNK = 20_000
BITS = {
    "non-unique referent": oracle_kernel.REFERENT,
    "wrong determiner": oracle_kernel.DETERMINER,
    "wrong binding": oracle_kernel.BINDING,
    "wrong plan": oracle_kernel.ACTIONS,
    "readings disagree": oracle_kernel.READING,
    "size classes": oracle_kernel.SIZES,
    "unnecessary unmarked word": oracle_kernel.NEED,
    "false mark": oracle_kernel.MARK,
    "replay mismatch": oracle_kernel.REPLAY,
    "two phrases, one object": oracle_kernel.SHARED,
    "isomorphic decoys": oracle_kernel.SWAPS,
    "grammar": oracle_batch.ODD,
}


def pieces(total: int) -> list[tuple[str, str, int, int]]:
    """(split, part, start, stop): every part gets an equal share, in chunks."""
    item = family("reascan")
    parts = [(split, part) for split in item.SPLITS for part in item.SPLITS[split].parts]
    share = -(-total // len(parts))
    return [(s, p, at, min(at + CHUNK, share)) for s, p in parts for at in range(0, share, CHUNK)]


def check(split: str, part: str, start: int, stop: int, seed: int) -> tuple[dict[str, int], np.ndarray, int]:
    """(findings, canonical words, spare words marked) of some rows."""
    item = family("reascan")
    batch = item.generate(make_job(item, split, part, "sound", seed).rows(start, stop))
    read = oracle_batch.read_batch(batch)
    laws = oracle_batch.broken_laws(read, compiled=True)
    found = {name: int((laws & bit != 0).sum()) for name, bit in BITS.items()}
    found["unreadable row"] = len(batch) - len(read.rows)
    found["wrong field or role"] = int(oracle_batch.broken_fields(batch, read).sum())
    found["plain oracle"] = sum(bool(item.validate(item.example(batch, row))) for row in range(0, len(batch), 400))
    found["simulator mismatch"] = mismatches(batch, read)
    found["outside its split"] = int(oracle_batch.broken_claims(item, batch, read).sum())
    return found, item.canonical_batch(batch), len(batch.columns["spare_words"].values)


def mismatches(batch: Batch, read: oracle_batch.Reading) -> int:
    """Rows whose actions cannot all be done in the grid's simulator, or do not end with the agent at the target."""
    replay = kernels.load("recombine.grid.kernel", compiled=True).replay
    grid = int(np.asarray(batch.columns["grid_size"])[0])
    sheet = read.sheet
    board, found, start, first = np.zeros(grid, dtype=np.int64), 0, 0, 0
    for row in range(len(read.rows)):
        things = sheet.things[start : sheet.ends[row]].copy()
        actions = sheet.steps[first : sheet.step_ends[row]]
        agent = np.array([*sheet.agents[row], 0, 0], dtype=np.int64)
        failed = replay(things, len(things), board, grid, agent, actions, len(actions))
        found += bool(failed or things[0, 3] != agent[0] or things[0, 4] != agent[1])
        start, first = sheet.ends[row], sheet.step_ends[row]
    return found


PHRASE = re.compile(
    r"(?:(that is|and) (?:in the same (row|column|color|shape|size) as|(inside) of) )?"
    r"(?:the|a) (?:(small|big) )?(?:(red|blue|green|yellow) )?(circle|cylinder|square|box|object)"
)


def solve(text: str, things: list[dict[str, object]], is_superlative: bool, can_share: bool) -> set[int]:
    """The objects that the command can mean, by one truth table over all combinations of objects.

    Every phrase is an axis of the table. Relations and "different objects" are masks over pairs of axes.
    """
    n = len(things)
    values = {name: np.array([thing[name] for thing in things]) for name in ("row", "column", "color", "shape", "size")}
    said = PHRASE.findall(text)
    axes = len(said)
    fits, links, parents = [], [], [-1]
    for k, (link, same, inside, size, color, shape) in enumerate(said):
        if k:
            parents.append(k - 1 if link == "that is" else parents[k - 1])
        links.append(same or inside)
        in_class = np.ones(n, dtype=bool)
        in_class &= (values["color"] == color) if color else True
        in_class &= (values["shape"] == shape) if shape != "object" else True
        sizes = values["size"]
        if size:
            larger = (in_class[None, :] & (sizes[None, :] > sizes[:, None])).any(axis=1)
            smaller = (in_class[None, :] & (sizes[None, :] < sizes[:, None])).any(axis=1)
            if is_superlative:
                in_class = in_class & (~smaller if size == "small" else ~larger)
            else:
                in_class = in_class & (larger if size == "small" else smaller)
        fits.append(np.flatnonzero(in_class))
    table = np.ones([len(f) for f in fits], dtype=bool)

    def mask(a: int, b: int, allowed: np.ndarray) -> np.ndarray:
        """A mask over objects of phrases a < b, spread over the whole table."""
        shape = [1] * axes
        shape[a], shape[b] = len(fits[a]), len(fits[b])
        return allowed[np.ix_(fits[a], fits[b])].reshape(shape)

    for k in range(1, axes):
        if links[k] == "inside":
            row, column, size = values["row"], values["column"], values["size"]
            below, right = row[:, None] - row[None, :], column[:, None] - column[None, :]
            holds = (
                (values["shape"] == "box")[None, :]
                & (below >= 0)
                & (right >= 0)
                & (below < size[None, :])
                & (right < size[None, :])
            )
        else:
            holds = values[links[k]][:, None] == values[links[k]][None, :]
        table = table & mask(parents[k], k, holds & ~np.eye(n, dtype=bool))
    if not can_share:
        for a in range(axes):
            for b in range(a + 1, axes):
                table = table & mask(a, b, ~np.eye(n, dtype=bool))
    rest = tuple(range(1, axes))
    return set(fits[0][table.any(axis=rest) if rest else table].tolist())


def solve_all(count: int, seed: int) -> int:
    """Solve `count` rows of every split under all four readings; returns how many have another referent than the target."""
    item, wrong = family("reascan"), 0
    for split, about in item.SPLITS.items():
        part = "train" if "train" in about.parts else "test"
        batch = item.generate(make_job(item, split, part, "sound", seed).rows(0, count))
        found: dict[str, int] = {}
        for row in range(count):
            values = batch.row(row)
            names = {"row": "object_rows", "column": "object_columns", "color": "object_colors", "shape": "object_shapes"}
            names["size"] = "object_sizes"
            things = [{k: values[v][i] for k, v in names.items()} for i in range(values["object_count"])]
            for superlative in (False, True):
                for can_share in (False, True):
                    if solve(values["command"], things, superlative, can_share) != {0}:
                        name = f"{'superlative' if superlative else 'pairwise'}, {'shared' if can_share else 'different'}"
                        found[name] = found.get(name, 0) + 1
        wrong += sum(found.values())
        print(f"{split:15} {count} rows, 4 readings: {found or 'one referent in each'}", flush=True)
    return wrong


def leaks(words: dict[str, list[np.ndarray]]) -> int:
    """Canonical forms that are in two parts of one split, or in `all` and a set held out from it."""
    item = family("reascan")
    joined = {key: np.unique(np.concatenate(arrays)) for key, arrays in words.items()}
    found = 0
    for split, about in item.SPLITS.items():
        keys = [f"{split}/{part}" for part in about.parts] + ["/".join(alias) for alias in about.aliases.values()]
        for i, a in enumerate(keys):
            for b in keys[i + 1 :]:
                if a in joined and b in joined:
                    found += len(np.intersect1d(joined[a], joined[b], assume_unique=True))
    return found


def main() -> int:
    """Run the check and print its findings as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--solve", action="store_true", help="solve that many rows of every split instead")
    parser.add_argument("--state", type=Path, default=None, help="remember finished chunks here (with a .npz beside it)")
    arguments = parser.parse_args()
    if arguments.solve:
        return 1 if solve_all(arguments.count, arguments.seed) else 0
    state = arguments.state
    done: dict[str, dict[str, int]] = json.loads(state.read_text()) if state and state.exists() else {}
    words: dict[str, list[np.ndarray]] = {}
    if state and done:
        with np.load(state.with_suffix(".npz")) as kept:
            words = {key: [kept[key]] for key in kept.files}
    began = time.process_time()
    for split, part, start, stop in pieces(arguments.count):
        name = f"{split}/{part}/{start}-{stop}"
        if name in done:
            continue
        found, forms, spare = check(split, part, start, stop, arguments.seed)
        done[name] = {"rows": stop - start, "marked spare": spare, **found}
        words.setdefault(f"{split}/{part}", []).append(forms)
        print(f"{name} {({k: v for k, v in found.items() if v}) or 'ok'}", file=sys.stderr, flush=True)
        if state:
            np.savez(state.with_suffix(".npz"), **{key: np.concatenate(arrays) for key, arrays in words.items()})
            state.write_text(json.dumps(done))
    totals: dict[str, int] = {}
    for counted in done.values():
        for key, value in counted.items():
            totals[key] = totals.get(key, 0) + value
    totals["leaks"] = leaks(words)
    broken = sum(value for key, value in totals.items() if key not in ("rows", "marked spare"))
    print(json.dumps({**totals, "broken": broken, "cpu_seconds": round(time.process_time() - began, 1)}, indent=2))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
