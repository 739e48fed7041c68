"""Chooses the statements of `sound` from the grammar, once: `python -m recombine.families.lilgym.sound.selection` writes the table.

A statement is chosen if it is neither constant nor out of reach and no other one has the same truth values on some two thousand
scenes. `fit.py` says how often each is asked. The command is deterministic and makes the whole table in one run. A test recomputes
samples of every column.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.families.lilgym import plan as p
from recombine.families.lilgym import splits
from recombine.families.lilgym.facets import phenomena_set
from recombine.families.lilgym.scene import KINDS, Counts, Flags, Items, Kind, Numbers
from recombine.families.lilgym.sound import fit, planner, truth, worlds
from recombine.families.lilgym.sound.flip import Rules
from recombine.families.lilgym.sound.grammar import frames
from recombine.families.lilgym.sound.language import RELATION_PLACES, TABLE, Codes, Manner, Statement, decode, encode_all, said
from recombine.families.lilgym.sound.pool import Frame
from recombine.families.lilgym.wording import MOST_WORDS

MOST_PER_FRAME = 16_000
"""Candidates drawn from a large frame, times the factor that `LARGE` gives for the frame."""
LARGE: dict[Kind, dict[str, float]] = {
    "tower": {
        "boxes_two": 3.0, "boxes": 1.0, "not": 0.03, "both": 0.2, "either": 0.08, "every_box_two": 0.3, "items_nested": 0.06,
        "variety": 0.03, "all_same": 0.006, "both_short": 0.5, "either_short": 0.08,
    },
    "scatter": {
        "boxes_two": 1.2, "items": 0.035, "items_placed": 0.3, "boxes": 0.6, "every_item": 0.03, "not": 0.06, "both": 0.3,
        "either": 0.04, "every_box_two": 0.2, "compare": 0.2, "items_touching": 0.15, "items_company": 0.12, "every_touching": 0.1,
        "both_short": 0.1, "either_short": 0.08,
    },
}  # fmt: skip
"""Frame -> its allowance, as a multiple of MOST_PER_FRAME: many short statements, few long ones."""
SURPLUS = 12
"""Draws from a large frame for each statement that may be kept."""
SCENES = 1_500
"""Drawn scenes. Two statements must differ on one of these or on one of a third as many scenes from scratch."""
FLATNESS = 0.35
"""Exponent of the grammar's weights: common statements must not crowd out the others."""
WORDINGS = 3
"""Wordings of which the mean length is taken."""
CHUNK = 4_096
TRUTH = planner.TRUTH


# --- candidates ------------------------------------------------------------------------------------------------------


def candidates(kind: Kind, chosen: Iterable[Frame]) -> tuple[Codes, NDArray[np.float16]]:
    """The plans of these frames as rows of numbers, a sample of the large ones, and the logarithms of their weights."""
    plans: list[p.Plan] = []
    bases: list[float] = []
    for frame in chosen:
        most = int(MOST_PER_FRAME * LARGE[kind].get(frame.name, 1))
        found = 0
        for rank in range(frame.size) if frame.size <= most else _drawn(kind, frame, SURPLUS * most):
            made = frame.plan(rank)
            if made is not None and found < most:
                found += 1
                plans.append(made)
                bases.append(FLATNESS * float(np.log(frame.share * _weight(frame, rank))))
    codes = encode_all(plans)
    _, first = np.unique(codes, axis=0, return_index=True)
    first = np.sort(first)
    return codes[first], np.array(bases, np.float16)[first]


def _weight(frame: Frame, rank: int) -> float:
    weight = 1.0
    for pool, place in zip(frame.pools, frame.choices(rank), strict=True):
        weight *= pool.weights[place]
    return weight


def _drawn(kind: Kind, frame: Frame, count: int) -> list[int]:
    """Distinct ranks of a large frame, drawn by weight, in the order of the draws."""
    ranks: Numbers = np.zeros(count, np.int64)
    for number, pool in enumerate(frame.pools):
        words = keys.states(keys.state("lilgym", "selection", kind, frame.name, number), 0, count)
        units = (words >> np.uint64(11)).astype(np.float64) / 2.0**53
        places = np.searchsorted(np.cumsum(pool.weights), units)
        ranks = ranks * len(pool.values) + np.minimum(places, len(pool.values) - 1)
    found, first = np.unique(ranks, return_index=True)
    return [int(rank) for rank in found[np.argsort(first)]]


# --- judgement -------------------------------------------------------------------------------------------------------


def grid(kind: Kind, codes: Codes, items: Items, counts: Counts) -> Flags:
    """The truth values of statements on scenes: (statements, scenes)."""
    out = np.zeros((len(codes), len(counts)), np.bool_)
    kernels.load(TRUTH, compiled=True).evaluate_grid(codes.astype(np.int64), kind == "tower", items, counts, out)
    return out


def is_tidy(kind: Kind, codes: Codes) -> Flags:
    """Which statements ask about contact of scattered items."""
    relations = codes[:, RELATION_PLACES]
    return np.asarray((kind == "scatter") & np.isin(relations, (truth.TOUCHING, truth.CONTACT, truth.NO_CONTACT)).any(1))


def judged(kind: Kind, codes: Codes) -> NDArray[np.int16]:
    """The first look from scratch in which each statement holds; -1 if it is not worth asking, or not the first of its meaning."""
    goals = np.full(len(codes), -1, np.int16)
    tidy, seen = is_tidy(kind, codes), set[tuple[bool, bytes]]()
    for flag in (False, True):
        given, built = worlds.looks(kind, False, flag), worlds.looks(kind, True, flag)
        scenes = _scenes(kind, flag)
        mine = np.flatnonzero(tidy == flag)
        for low in range(0, len(mine), CHUNK):
            part = mine[low : low + CHUNK]
            true = grid(kind, codes[part], given.items, given.counts).sum(1)
            part = part[(true >= worlds.LEAST) & (true <= worlds.LOOKS - worlds.LEAST)]
            holds = grid(kind, codes[part], built.items, built.counts)
            part, holds = part[holds.any(1)], holds[holds.any(1)]
            values = np.packbits(grid(kind, codes[part], *scenes), axis=1)
            for place, value, goal in zip(part.tolist(), values, holds.argmax(1).tolist(), strict=True):
                if (key := (flag, value.tobytes())) not in seen:
                    seen.add(key)
                    goals[place] = goal
    return goals


def _scenes(kind: Kind, tidy: bool) -> tuple[Items, Counts]:
    """Given scenes and scenes from scratch, on which meanings are compared."""
    parts = [
        worlds.draw_scenes(kind, scratch, keys.states(keys.state("lilgym", "meanings", kind, int(scratch)), 0, n), True, tidy)
        for scratch, n in ((False, SCENES), (True, SCENES // 3))
    ]
    return np.concatenate([items for items, _ in parts]), np.concatenate([counts for _, counts in parts])


# --- columns ---------------------------------------------------------------------------------------------------------


def spoken(statements: Sequence[Statement]) -> NDArray[np.float16]:
    """Mean number of words of a few wordings of each statement."""
    manner = Manner("any")
    return np.array(
        [
            np.mean([said(s, manner, keys.state("lilgym", "spoken", s.text, k)).count(" ") + 1 for k in range(WORDINGS)])
            for s in statements
        ],
        np.float16,
    )


def answers(kind: Kind, codes: Codes, goals: NDArray[np.int16]) -> NDArray[np.int16]:
    """The edits that make each statement true from scratch."""
    found = np.zeros((len(codes), planner.MAX_EDITS), np.int16)
    tidy = is_tidy(kind, codes)
    for row in range(len(codes)):
        looks = worlds.looks(kind, True, bool(tidy[row]))
        judge = planner.by_codes(kind, codes[row : row + 1].astype(np.int64), True)
        edits = planner.build(kind, looks.items[goals[row]], int(looks.counts[goals[row]]), judge)
        found[row, : len(edits)] = edits
    return found


def eases(kind: Kind, codes: Codes, tastes: NDArray[np.uint16]) -> NDArray[np.uint8]:
    """In how many of `fit.TRIALS` scenes a search finds a plan that flips each statement."""
    which = np.repeat(np.arange(len(codes)), fit.TRIALS)
    states = keys.states(keys.state("lilgym", "ease", kind), 0, len(which))
    none = np.zeros(len(which), np.int64)
    made = _in_chunks(
        kind, planner.Asked(codes[which], tastes[which], none, none + 1), states, Rules(kind == "tower", False, True, 1, 0)
    )
    return np.asarray(made.reshape(-1, fit.TRIALS).sum(1), np.uint8)


def fails(kind: Kind, codes: Codes, tastes: NDArray[np.uint16], visits: Numbers) -> Flags:
    """Which statements have a visit that its spare state does not make."""
    which = np.repeat(np.arange(len(codes)), visits)
    numbers = np.arange(len(which)) - np.repeat(np.cumsum(visits) - visits, visits)
    asked = planner.Asked(codes[which], tastes[which], numbers, visits[which])
    made = _in_chunks(
        kind, asked, np.zeros(len(which), np.uint64), Rules(kind == "tower", False, True, 0, planner.SPARE_ROUNDS)
    )
    return np.asarray(np.bincount(which, weights=~made, minlength=len(codes)) > 0)


def _in_chunks(kind: Kind, asked: planner.Asked, states: NDArray[np.uint64], rules: Rules) -> Flags:
    """Whether each row can be made."""
    made = np.zeros(len(states), np.bool_)
    for low in range(0, len(states), CHUNK):
        part = np.arange(low, min(low + CHUNK, len(states)))
        made[part] = planner.run(kind, asked.at(part), states[part], rules, True).truths != 0
    return made


def columns(kind: Kind, codes: Codes, goals: NDArray[np.int16], bases: NDArray[np.float16]) -> dict[str, Any]:
    """The table of these statements; see `language.Table`."""
    statements = [Statement(decode(row), kind) for row in codes]
    short = np.flatnonzero([statement.words <= MOST_WORDS for statement in statements])
    statements, codes, goals, bases = [statements[i] for i in short], codes[short], goals[short], bases[short]
    texts = [statement.program for statement in statements]
    tastes = planner.pack_tastes([planner.taste(text) for text in texts])
    easy = eases(kind, codes, tastes)
    phenomena = np.array([phenomena_set(text) for text in texts], np.uint32)
    facts = fit.Facts(phenomena, bases, spoken(statements), goals, fit.first_limits(easy))
    visits, limits = fit.made_visits(kind, facts, lambda which, times: fails(kind, codes[which], tastes[which], times))
    return {
        "codes": codes,
        "weights": fit.weights(kind, facts),
        "visits": visits,
        "goals": goals,
        "answers": answers(kind, codes, goals),
        "tastes": tastes,
        "phenomena": phenomena,
        "tenths": np.array([int(10 * splits.share(text)) for text in texts], np.uint8),
        "rules": np.array([sum(rule(s) << k for k, rule in enumerate(splits.RULES.values())) for s in statements], np.uint8),
        "words": np.array([s.words for s in statements], np.uint8),
        "depths": np.array([s.depth for s in statements], np.uint8),
        "eases": easy,
        "bases": bases,
        "spoken": facts.spoken,
        "limits": limits,
    }


def select(kind: Kind) -> dict[str, Any]:
    """The table of a kind of scene, from the grammar."""
    codes, bases = candidates(kind, frames(kind))
    _say(f"{kind}: {len(codes):,} candidates")
    goals = judged(kind, codes)
    kept = np.flatnonzero(goals >= 0)
    _say(f"{kind}: {len(kept):,} meanings")
    found = columns(kind, codes[kept], goals[kept], bases[kept])
    _say(f"{kind}: {len(found['codes']):,} statements, {int(found['visits'].sum()):,} visits")
    return found


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main() -> None:
    """Write the table of both kinds of scenes; matrices lie by column, which compresses better."""
    arrays = {f"{kind}_{name}": array for kind in KINDS for name, array in select(kind).items()}
    stored: dict[str, Any] = {
        name: np.ascontiguousarray(array.T) if array.ndim > 1 else array for name, array in arrays.items()
    }
    np.savez_compressed(TABLE, **stored)


if __name__ == "__main__":
    main()
