"""Chooses the statements of `sound` from the grammar, once: `python -m recombine.families.lilgym.sound.selection` writes the table
(with `refit` after it: fits the weights of the stored statements again, without judging them).

A statement is chosen if it is neither constant nor out of reach (`worlds.verdicts`) and no other one has the same truth values on
some two thousand scenes. Weights are fitted so that a part's phenomena occur about as often as in the annotated corpus.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.families.lilgym import plan as p
from recombine.families.lilgym import program
from recombine.families.lilgym.facets import CORPUS, phenomena
from recombine.families.lilgym.program import Bank, Prepared
from recombine.families.lilgym.scene import KINDS, Flags, Floats, Kind, Numbers
from recombine.families.lilgym.sound import worlds
from recombine.families.lilgym.sound.grammar import FRAME_SPAN, Frame, frames, plan_of
from recombine.families.lilgym.sound.kernel import CLASSES
from recombine.families.lilgym.sound.language import TABLE

MOST_PER_FRAME = 16_000
"""Candidates drawn from a large frame; a frame with several shares of two conditions gets more."""
LARGE = {
    "boxes_two": 3,
    "both": 0.5,
    "either": 0.4,
    "every_box_two": 0.35,
    "compare": 0.25,
    "items_touching": 0.25,
    "items_company": 0.25,
}
"""Frame -> its allowance, as a multiple of MOST_PER_FRAME."""
SCENES = 1_500
"""Scenes, besides the looks, on which two statements must differ somewhere."""
STEPS = 250
"""Steps of the fit."""
TYPICAL = 0.4
"""Share of its statements that a typical part from scratch asks."""
MEAN_VISITS = 12.0
"""How often a statement comes on average where it may come again."""
FLATNESS = 0.35
"""Exponent of the grammar's weights."""
BOUND = 5.0
"""Largest change of a weight by one phenomenon, as a logarithm: a share that cannot be reached must not decide everything."""
UNFITTED = {"tower": ("shape", "size", "corner"), "scatter": ("is_tower", "rank", "above_below")}
"""Phenomena that the scenes do not have."""
CONTACT_PERCENT = 3.5
"""Share of SCATTER's statements about contact: the corpus has 0.2 %, too few to learn from."""


def candidates(kind: Kind) -> tuple[Numbers, list[str]]:
    """Codes and programs of the statements of all frames; a sample of the large ones. No program comes twice."""
    codes: list[int] = []
    programs: dict[str, None] = {}
    for number, frame in enumerate(frames(kind)):
        most = int(MOST_PER_FRAME * LARGE.get(frame.name, 1))
        ranks = range(frame.size) if frame.size <= most else _drawn(kind, frame, 3 * most)
        found = 0
        for rank in ranks:
            made = frame.plan(rank)
            if made is None or found == most:
                continue
            found += 1
            text = p.write(made, kind)
            if text not in programs:
                programs[text] = None
                codes.append(number * FRAME_SPAN + rank)
    return np.array(codes, np.int64), list(programs)


def _weight(frame: Frame, rank: int) -> float:
    return float(np.prod([pool.weights[place] for pool, place in zip(frame.pools, frame.choices(rank), strict=True)]))


def _drawn(kind: Kind, frame: Frame, count: int) -> list[int]:
    """Distinct ranks of a large frame, drawn by weight, in the order of the draws."""
    stream = keys.Stream("lilgym", "selection", kind, frame.name)
    bounds = [np.cumsum(pool.weights) for pool in frame.pools]
    found: dict[int, None] = {}
    for _ in range(20 * count):
        rank = 0
        for pool, bound in zip(frame.pools, bounds, strict=True):
            rank = rank * len(pool.values) + min(int(np.searchsorted(bound, stream.unit())), len(pool.values) - 1)
        found[rank] = None
        if len(found) == count:
            break
    return list(found)


def judged(kind: Kind, texts: Sequence[str]) -> tuple[Flags, NDArray[np.int16]]:
    """Which statements are worth asking and the first of their meaning, and the first look from scratch in which each holds."""
    good, goals = np.zeros(len(texts), np.bool_), np.full(len(texts), -1, np.int16)
    seen: set[tuple[bool, bytes]] = set()
    scenes = {tidy: _scenes(kind, tidy) for tidy in (False, True)}
    for low in range(0, len(texts), 512):
        part = list(texts[low : low + 512])
        verdicts = worlds.verdicts(kind, part, compiled=True)
        for tidy in (False, True):
            rows = [i for i, text in enumerate(part) if worlds.is_tidy(kind, text) == tidy and not verdicts[i][0]]
            if not rows:
                continue
            bank = Bank([program.compile(part[i]) for i in rows])
            values = np.packbits(bank.evaluate_grid(scenes[tidy], compiled=True), axis=1)
            for i, value in zip(rows, values, strict=True):
                key = (tidy, value.tobytes())
                if key not in seen:
                    seen.add(key)
                    good[low + i], goals[low + i] = True, verdicts[i][1]
    return good, goals


def _scenes(kind: Kind, tidy: bool) -> Prepared:
    """Given scenes and scenes from scratch, on which meanings are compared."""
    parts = [
        worlds.draw_scenes(kind, scratch, keys.states(keys.state("lilgym", "meanings", kind, int(scratch)), 0, n), True, tidy)
        for scratch, n in ((False, SCENES), (True, SCENES // 3))
    ]
    return Prepared(np.concatenate([items for items, _ in parts]), np.concatenate([counts for _, counts in parts]))


def fitted(kind: Kind, base: Floats, texts: Sequence[str], asked: Callable[[Floats], Floats]) -> Floats:
    """Logarithms of weights under which the phenomena have the corpus's shares; `asked` says how often each statement is asked."""
    names = [name for name in CORPUS[kind] if name not in UNFITTED[kind] and CORPUS[kind][name] > 0]
    shown = np.array([[name in found for name in names] for found in map(phenomena, texts)], np.float64)
    wanted = {**CORPUS[kind], "contact": max(CORPUS[kind]["contact"], CONTACT_PERCENT)}
    target = np.array([wanted[name] / 100 for name in names])
    logs, tilt = base, np.zeros(len(names))
    for _ in range(STEPS):
        logs = base + shown @ tilt
        times = asked(np.exp(logs - logs.max()))
        share = np.clip(times @ shown / times.sum(), 0.001, 0.999)
        step = np.log(target / share) - np.log((1 - target) / (1 - share))
        tilt = np.clip(tilt + 0.1 * step, -BOUND, BOUND)
    return np.asarray(logs - logs.mean())


def once(weights: Floats) -> Floats:
    """The chance of each statement to be among the first `TYPICAL` of all, by bisection of the time that passes."""
    low, high = -40.0, 40.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 - np.exp(-weights * np.exp(middle))).mean() < TYPICAL else (low, middle)
    return np.asarray(1 - np.exp(-weights * np.exp(low)))


def often(weights: Floats) -> Floats:
    """How often each statement is asked where it may come again: by weight, from once to `CLASSES` times, `MEAN_VISITS` times on average."""
    low, high = -40.0, 40.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(weights * np.exp(middle), 1, CLASSES).mean() < MEAN_VISITS else (low, middle)
    return np.asarray(np.clip(weights * np.exp(low), 1, CLASSES))


def base_weights(kind: Kind, codes: Numbers) -> Floats:
    """Logarithms of the grammar's weights, flattened, so that common statements do not crowd out the others."""
    found = []
    for code in codes.tolist():
        number, rank = divmod(code, FRAME_SPAN)
        found.append(np.log(frames(kind)[number].share * _weight(frames(kind)[number], rank)))
    return FLATNESS * np.array(found)


def arrays_of(kind: Kind, codes: Numbers, goals: NDArray[np.int16]) -> dict[str, Any]:
    """A table as it is stored: steps between codes, log-weights, visits, goals."""
    texts = [p.write(plan_of(kind, code), kind) for code in codes.tolist()]
    base = base_weights(kind, codes)
    return {
        f"{kind}_steps": np.diff(codes, prepend=0),
        f"{kind}_weights": fitted(kind, base, texts, once).astype(np.float16),
        f"{kind}_visits": np.rint(often(np.exp(fitted(kind, base, texts, often)))).astype(np.uint8),
        f"{kind}_goals": goals,
    }


def select(kind: Kind) -> dict[str, Any]:
    """The table of a kind of scene, from the grammar."""
    codes, texts = candidates(kind)
    good, goals = judged(kind, texts)
    kept = np.flatnonzero(good)
    order = kept[np.argsort(codes[kept], kind="stable")]
    return arrays_of(kind, codes[order], goals[order])


def refit(kind: Kind) -> dict[str, Any]:
    """The stored table with weights and visits fitted anew."""
    with np.load(TABLE, allow_pickle=False) as stored:
        return arrays_of(kind, np.cumsum(stored[f"{kind}_steps"].astype(np.int64)), stored[f"{kind}_goals"])


def main() -> None:
    """Write the table of both kinds of scenes; `refit` keeps the statements and fits their weights again."""
    make = refit if sys.argv[1:] == ["refit"] else select
    arrays: dict[str, Any] = {name: array for kind in KINDS for name, array in make(kind).items()}
    np.savez_compressed(TABLE, **arrays)


if __name__ == "__main__":
    main()
