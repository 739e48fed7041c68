"""Chooses the statements of `sound` from the grammar, once: `python -m recombine.families.lilgym.sound.selection` writes the table.

A statement is chosen if it is neither constant nor out of reach (`worlds.verdicts`) and no other one has the same truth values on
some two thousand scenes. Weights are fitted so that a part's phenomena occur about as
often as in the annotated corpus, in sentences about as long.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.families.lilgym import plan as p
from recombine.families.lilgym import program, splits
from recombine.families.lilgym.facets import CORPUS, phenomena, phenomena_set
from recombine.families.lilgym.phrases import Voice
from recombine.families.lilgym.program import Bank, Prepared
from recombine.families.lilgym.scene import KINDS, Flags, Floats, Kind, Numbers
from recombine.families.lilgym.sound import planner, worlds
from recombine.families.lilgym.sound.codec import encode_all
from recombine.families.lilgym.sound.grammar import FRAME_SPAN, Frame, frames, plan_of
from recombine.families.lilgym.sound.kernel import CLASSES
from recombine.families.lilgym.sound.language import TABLE, Statement
from recombine.families.lilgym.wording import MOST_WORDS, say

MOST_PER_FRAME = 16_000
"""Candidates drawn from a large frame; a frame with several shares of two conditions gets more."""
LARGE: dict[Kind, dict[str, float]] = {
    "tower": {"boxes_two": 4.5, "boxes": 0.25, "not": 0.03, "both": 0.25, "either": 0.1, "every_box_two": 0.3, "items_nested": 0.06, "variety": 0.03, "all_same": 0.006},
    "scatter": {
        "boxes_two": 1.3, "items": 0.035, "items_placed": 0.3, "boxes": 0.4, "every_item": 0.03, "not": 0.06, "both": 0.3, "either": 0.1, "every_box_two": 0.2, "compare": 0.2, "items_touching": 0.15,
        "items_company": 0.12, "every_touching": 0.1,
    },
}  # fmt: skip
"""Frame -> its allowance, as a multiple of MOST_PER_FRAME: many short statements, few long ones."""
SCENES = 1_500
"""Scenes, besides the looks, on which two statements must differ somewhere."""
STEPS = 300
"""Steps of the fit."""
MEAN_WORDS, STEEPEST = 11.0, 1.5
"""Mean length of the corpus's sentences, and how much a word may change the logarithm of a weight."""
EASY = 0.5
"""A statement that a search flips in a smaller share of random scenes is asked from scratch only."""
TRIALS = 8
"""Scenes in which a statement's flip is tried."""
WORDINGS = 3
"""Wordings of which the mean length is taken."""
TYPICAL = 0.4
"""Share of its statements that a typical part from scratch asks."""
MEAN_VISITS = 8.0
"""How often a statement comes on average where it may come again."""
FLATNESS = 0.35
"""Exponent of the grammar's weights."""
BOUND = 8.0
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
        most = int(MOST_PER_FRAME * LARGE[kind].get(frame.name, 1))
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


def fitted(kind: Kind, base: Floats, texts: Sequence[str], length: Floats, asked: Callable[[Floats], Floats]) -> Floats:
    """Logarithms of weights under which the phenomena have the corpus's shares and sentences its mean length.

    `asked` says how often each statement is asked.
    """
    names = [name for name in CORPUS[kind] if name not in UNFITTED[kind] and CORPUS[kind][name] > 0]
    shown = np.array([[name in found for name in names] for found in map(phenomena, texts)], np.float64)
    wanted = {**CORPUS[kind], "contact": max(CORPUS[kind]["contact"], CONTACT_PERCENT)}
    target = np.array([wanted[name] / 100 for name in names])
    logs, tilt, slope = base, np.zeros(len(names)), 0.0
    for _ in range(STEPS):
        logs = base + shown @ tilt + slope * length
        times = asked(np.exp(logs - logs.max()))
        share = np.clip(times @ shown / times.sum(), 0.001, 0.999)
        step = np.log(target / share) - np.log((1 - target) / (1 - share))
        tilt = np.clip(tilt + 0.1 * step, -BOUND, BOUND)
        slope = float(np.clip(slope - 0.01 * (times @ length / times.sum() - MEAN_WORDS), -STEEPEST, STEEPEST))
    return np.asarray(logs - logs.mean())


def once(weights: Floats) -> Floats:
    """The chance of each statement to be among the first `TYPICAL` of all, by bisection of the time that passes."""
    low, high = -40.0, 40.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 - np.exp(-weights * np.exp(middle))).mean() < TYPICAL else (low, middle)
    return np.asarray(1 - np.exp(-weights * np.exp(low)))


def often(weights: Floats, most: Floats) -> Floats:
    """How often each statement is asked where it may come again: by weight, from once to `most` times, `MEAN_VISITS` times on average."""
    low, high = -40.0, 40.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(weights * np.exp(middle), 1, most).mean() < MEAN_VISITS else (low, middle)
    return np.asarray(np.clip(weights * np.exp(low), 1, most))


def ease(kind: Kind, codes: Numbers, texts: Sequence[str]) -> Floats:
    """The share of random scenes in which a search finds a plan that flips the statement. Hard statements are not asked often."""
    found = np.zeros(len(codes))
    for low in range(0, len(codes), 512):
        part, n = codes[low : low + 512], len(codes[low : low + 512])
        rows = np.repeat(np.arange(n), TRIALS)
        states = keys.states(keys.state("lilgym", "ease", kind, low), 0, len(rows))
        tastes = np.array([planner.taste(text) for text in texts[low : low + 512]], np.int64)[rows]
        tidy = np.array([worlds.is_tidy(kind, text) for text in texts[low : low + 512]], np.bool_)[rows]
        items, counts = worlds.draw_scenes(kind, False, states, True, tidy)
        by_row = planner.by_codes(kind, part[rows], True)
        targets = ~by_row(np.arange(len(rows)), items, counts)
        plans = planner.search(kind, planner.Tasks(items, counts, targets, tastes, worlds.derived(states, 1)), by_row, True)
        found[low : low + n] = (plans.lengths > 0).reshape(n, TRIALS).mean(1)
    return found


def base_weights(kind: Kind, codes: Numbers) -> Floats:
    """Logarithms of the grammar's weights, flattened, so that common statements do not crowd out the others."""
    found = []
    for code in codes.tolist():
        number, rank = divmod(code, FRAME_SPAN)
        found.append(np.log(frames(kind)[number].share * _weight(frames(kind)[number], rank)))
    return FLATNESS * np.array(found)


def spoken(kind: Kind, plans: Sequence[p.Plan]) -> Floats:
    """Mean number of words of a few wordings of each statement."""
    return np.array([
        np.mean([say(made, kind, Voice("any", keys.state("lilgym", "spoken", i, k))).count(" ") + 1 for k in range(WORDINGS)])
        for i, made in enumerate(plans)
    ])  # fmt: skip


def answers(kind: Kind, statements: Sequence[Statement], codes: Numbers, goals: NDArray[np.int16]) -> NDArray[np.int16]:
    """The edits that make each statement true from scratch."""
    found = np.zeros((len(statements), planner.MAX_EDITS), np.int16)
    for row, statement in enumerate(statements):
        looks = worlds.looks(kind, True, worlds.is_tidy(kind, statement.program))
        judge = planner.by_codes(kind, codes[row : row + 1], True)
        edits = planner.build(kind, looks.items[goals[row]], int(looks.counts[goals[row]]), judge)
        found[row, : len(edits)] = edits
    return found


def arrays_of(kind: Kind, codes: Numbers, goals: NDArray[np.int16]) -> dict[str, Any]:
    """A table as it is stored; matrices lie by column, which compresses better."""
    statements = [Statement(plan_of(kind, code), kind) for code in codes.tolist()]
    short = np.flatnonzero([statement.words <= MOST_WORDS for statement in statements])
    statements, codes, goals = [statements[i] for i in short], codes[short], goals[short]
    plans, texts = [s.plan for s in statements], [s.program for s in statements]
    base, length = base_weights(kind, codes), spoken(kind, plans)
    rows = encode_all(plans)
    easy = ease(kind, rows.astype(np.int64), texts)
    most = np.maximum(1.0, np.floor(CLASSES * easy))
    asked = functools.partial(often, most=most)
    rules = [sum(rule(s) << place for place, rule in enumerate(splits.RULES.values())) for s in statements]
    arrays = {
        "codes": np.ascontiguousarray(rows.T),
        "weights": fitted(kind, base, texts, length, once).astype(np.float16),
        "visits": np.where(easy < EASY, 0, np.rint(asked(np.exp(fitted(kind, base, texts, length, asked))))).astype(np.uint8),
        "goals": goals,
        "answers": np.ascontiguousarray(answers(kind, statements, rows.astype(np.int64), goals).T),
        "phenomena": np.array([phenomena_set(text) for text in texts], np.uint32),
        "tenths": np.array([int(10 * splits.share(text)) for text in texts], np.uint8),
        "rules": np.array(rules, np.uint8),
        "words": np.array([s.words for s in statements], np.uint8),
        "depths": np.array([s.depth for s in statements], np.uint8),
    }
    return {f"{kind}_{name}": array for name, array in arrays.items()}


def select(kind: Kind) -> dict[str, Any]:
    """The table of a kind of scene, from the grammar."""
    codes, texts = candidates(kind)
    good, goals = judged(kind, texts)
    kept = np.flatnonzero(good)
    order = kept[np.argsort(codes[kept], kind="stable")]
    return arrays_of(kind, codes[order], goals[order])


def main() -> None:
    """Write the table of both kinds of scenes."""
    arrays: dict[str, Any] = {name: array for kind in KINDS for name, array in select(kind).items()}
    np.savez_compressed(TABLE, **arrays)


if __name__ == "__main__":
    main()
