"""Plans and replays for one readable world: the interpreted kernels behind plain names and limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recombine import kernels
from recombine.grid.codes import ACTIONS, ADVERBS, OUTCOMES, VERBS
from recombine.grid.world import World

KERNEL_NAME = "recombine.grid.kernel"
MAX_ANSWER = 20_000
"""Longest action text that is parsed, in characters; a longer one is no answer."""
_SEPARATORS = re.compile(r"[,;\s]+")
_CODES = {name: code for code, name in enumerate(ACTIONS)}
_WORDS = {"left": 4, "right": 5, **{name: code for code, name in enumerate(ACTIONS[:4])}}


@dataclass(frozen=True)
class Outcome:
    """The effect of a sequence of actions: the end, the cells passed, the place of the first push or pull, and failures."""

    world: World
    cells: tuple[tuple[int, int], ...]
    worked_at: tuple[int, int] | None
    failures: tuple[str, ...]

    @property
    def reached(self) -> tuple[int, int]:
        """The cell the sequence treats as its target's: where it first pushed or pulled, or else where it ended."""
        return self.worked_at or (self.world.row, self.world.column)


def _kernel() -> Any:
    """The grid's kernels, compiled where many calls have been made."""
    return kernels.for_calls(KERNEL_NAME)


def plan(world: World, target: int, verb: str, adverb: str) -> tuple[str, ...]:
    """The gold actions for this target."""
    import numpy as np

    kernel = _kernel()
    things, n, agent = world.arrays()
    board = np.zeros(world.size, dtype=np.int64)
    out = np.zeros(20 * world.size + 8, dtype=np.int64)
    kernel.fill_board(board, world.size, things, n)
    m = kernel.plan(board, world.size, agent, things[target], VERBS.index(verb), ADVERBS.index(adverb), out)
    return tuple([ACTIONS[a] for a in out[:m].tolist()])


def replay(world: World, actions: Sequence[str]) -> Outcome:
    """Do the actions one by one; what cannot be done changes nothing and is listed under `failures`."""
    import numpy as np

    things, n, agent = world.arrays()
    things, agent = things.copy(), agent.copy()
    wanted = np.array([_CODES[name] for name in actions], dtype=np.int64)
    trace = np.zeros((len(actions), 3), dtype=np.int64)
    _kernel().trace(things, n, np.zeros(world.size, dtype=np.int64), world.size, agent, wanted, len(actions), trace)
    worked_at: tuple[int, int] | None = None
    failures, cells = [], [(world.row, world.column)]
    for k, (row, column, result) in enumerate(trace.tolist()):
        if worked_at is None and actions[k] in ("push", "pull"):
            worked_at = cells[-1]
        if (row, column) != cells[-1]:
            cells.append((row, column))
        if result:
            failures.append(f"action {k + 1} ({actions[k]}): {OUTCOMES[result]}")
    return Outcome(world.moved(things, agent), tuple(cells), worked_at, tuple(failures))


def trail(world: World, actions: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """The cells through which the actions take the agent, its first one included."""
    return replay(world, actions).cells


def parse_actions(text: str) -> tuple[str, ...] | None:
    """The actions that a text names, separated by commas or blanks ("turn left" is one); None if it is anything else."""
    if len(text) > MAX_ANSWER:
        return None
    words = [word for word in _SEPARATORS.split(text.strip().lower().replace("_", " ")) if word]
    found: list[str] = []
    i = 0
    while i < len(words):
        is_turn = words[i] == "turn" and i + 1 < len(words) and words[i + 1] in ("left", "right")
        code = _WORDS.get(words[i + 1] if is_turn else words[i])
        if code is None or (code >= 4 and not is_turn):
            return None
        found.append(ACTIONS[code])
        i += 2 if is_turn else 1
    return tuple(found)
