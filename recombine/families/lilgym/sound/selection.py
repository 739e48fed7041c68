"""Chooses the statements of `sound` from the grammar, once: `python -m recombine.families.lilgym.sound.selection` writes the table.

A statement is chosen if it is neither constant nor out of reach (`worlds.verdicts`) and no other one has the same truth values on
some two thousand scenes. Weights are fitted so that a part's phenomena occur about as often as in the annotated corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.families.lilgym import plan as p
from recombine.families.lilgym import program
from recombine.families.lilgym.facets import CORPUS, phenomena
from recombine.families.lilgym.program import Bank, Prepared
from recombine.families.lilgym.scene import KINDS, Flags, Floats, Kind, Numbers
from recombine.families.lilgym.sound import worlds
from recombine.families.lilgym.sound.grammar import FRAME_SPAN, Frame, frames
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
STEPS = 400
"""Steps of the fit."""
TYPICAL = 0.22
"""Share of the statements that a typical part asks; the fit is exact there."""
BOUND = 5.0
"""Largest change of a weight by the fit, as a logarithm."""
UNFITTED = {"tower": ("shape", "size", "corner"), "scatter": ("contact", "is_tower", "rank", "above_below")}
"""Phenomena that the scenes do not have, or of which more than the corpus's share is wanted."""


class Candidates(NamedTuple):
    """Statements to judge."""

    codes: Numbers  # (n,)
    weights: Floats  # (n,): share of the frame × weights of the choices
    programs: list[str]


def candidates(kind: Kind) -> Candidates:
    """The statements of all frames; a sample of the large ones. No program comes twice."""
    codes: list[int] = []
    weights: list[float] = []
    programs: dict[str, None] = {}
    for number, frame in enumerate(frames(kind)):
        most = int(MOST_PER_FRAME * LARGE.get(frame.name, 1))
        ranks = range(frame.size) if frame.size <= most else _drawn(kind, frame, 3 * most)
        found: list[tuple[int, str, float]] = []
        for rank in ranks:
            made = frame.plan(rank)
            if made is not None and len(found) < most:
                found.append((rank, p.write(made, kind), _weight(frame, rank)))
        total = sum(weight for *_, weight in found)
        for rank, text, weight in found:
            if text not in programs:
                programs[text] = None
                codes.append(number * FRAME_SPAN + rank)
                weights.append(frame.share * weight / total)
    return Candidates(np.array(codes, np.int64), np.array(weights), list(programs))


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


def fitted(kind: Kind, weights: Floats, texts: Sequence[str]) -> Floats:
    """Logarithms of weights under which the phenomena have the corpus's shares in a typical part."""
    names = [name for name in CORPUS[kind] if name not in UNFITTED[kind] and CORPUS[kind][name] > 0]
    shown = np.array([[name in found for name in names] for found in map(phenomena, texts)], np.float64)
    target = np.array([CORPUS[kind][name] / 100 for name in names])
    base, tilt = np.log(weights), np.zeros(len(names))
    for _ in range(STEPS):
        logs = base + np.clip(shown @ tilt - (shown @ tilt).mean(), -BOUND, BOUND)
        share = _asked(np.exp(logs), TYPICAL) @ shown / (TYPICAL * len(texts))
        tilt += 0.3 * (np.log(target / share) - np.log((1 - target) / (1 - np.minimum(share, 0.999))))
    return np.asarray(logs - logs.mean())


def _asked(weights: Floats, share: float) -> Floats:
    """The chance of each statement to be among the first `share` of all, by bisection of the time that passes."""
    low, high = -40.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 - np.exp(-weights * np.exp(middle))).mean() < share else (low, middle)
    return np.asarray(1 - np.exp(-weights * np.exp(low)))


def select(kind: Kind) -> dict[str, NDArray[np.generic]]:
    """The table of a kind of scene, as it is stored: steps between codes, log-weights, goals."""
    found = candidates(kind)
    good, goals = judged(kind, found.programs)
    kept = np.flatnonzero(good)
    logs = fitted(kind, found.weights[kept], [found.programs[i] for i in kept])
    order = np.argsort(found.codes[kept], kind="stable")
    codes = found.codes[kept][order]
    return {
        f"{kind}_steps": np.diff(codes, prepend=0),
        f"{kind}_weights": logs[order].astype(np.float16),
        f"{kind}_goals": goals[kept][order],
    }


def write() -> None:
    """Write the table of both kinds of scenes."""
    arrays: dict[str, Any] = {name: array for kind in KINDS for name, array in select(kind).items()}
    np.savez_compressed(TABLE, **arrays)


if __name__ == "__main__":
    write()
