"""The set machine: finds the object that a command speaks of by reading it as operations on sets, then acts (gSCAN, ReaSCAN).

Built in. The command is read from its last word to its first. The state is three soft sets over the objects, and there are five
operations on them (pass, filter, compare, relate, put aside), with "and" as a product and "some" as a noisy or. Objects are
symbols (size, colour, shape, place). The agent's pose is integrated from its own actions. In training, the target's cell is
where the agent stands after its walks: it is derived from the right actions.
Learnt by gradient: what every word does, what it means, what each relation is (tables over differences of places, pairs of sizes,
colours and shapes), and how to act (a perceptron that sees the way to the target and its own last actions).
With `sight = pictures` objects are pictures instead of symbols: which object stands where is given, what it looks like is pixels, and
an eye learns from them slots that take the place of size, colour and shape (`set_machine_eye.py`).
With `actor = rules` a tree of rules and a template for each manner act instead, learnt by search (`set_machine_rules.py` says what is
built into it). With `signal = actions` the target's cell is not given: the finder learns from how likely the right actions are for an
agent that goes to each object.

Training and answers need NumPy and compiled kernels, no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from recombine.errors import FileError, UsageError, shown
from recombine.files import inside
from recombine.models.arrays import read_arrays, write_arrays
from recombine.models.set_machine_actor import act, as_weights
from recombine.models.set_machine_camera import Camera
from recombine.models.set_machine_eye import as_eye, eye_lines
from recombine.models.set_machine_finder import Parameters, as_arrays, find, lexicon_lines
from recombine.models.set_machine_rows import ACTIONS, Rows, Vocabulary, rows_of_examples
from recombine.models.set_machine_rules import act_by_rules, as_rules, manner_lines, rules_size
from recombine.models.set_machine_sight import PICTURES, SYMBOLS, actor_kinds, check_sight, dressed, sighted_meanings
from recombine.schemas import anything, check, listing, mapping, record, text, whole

if TYPE_CHECKING:
    from pathlib import Path

    from recombine.core import Example

Ints = NDArray[np.int64]
FILE = "machine.npz"
RULES = "rules"
ACTORS, SIGNALS = ("perceptron", RULES), ("cell", "actions")
"""Values of the settings `actor` and `signal`."""
ANSWER_ROWS = 4_096
"""Rows that are answered at a time."""


@dataclass(frozen=True)
class SetMachineConfig:
    """`rows`: training rows visited in all. `short_rows` of them have commands of at most `short_words` words, and up to
    `middle_rows` at most `middle_words`: the curriculum, by the length of the command alone (0: none).

    `penalty`: price of doing something. `least`: operations on pairs are left out where they are less likely than this.
    `moments`: moments of each row that the actor learns from. `backwards`: commands are read from the last word to the first.
    `compass`: the actor sees its heading and the way in rows and columns; without, only the way as it faces.
    `actor`: `perceptron`, or `rules`, which learn from about `rule_rows` rows. `signal`: what teaches the finder, `cell` or `actions`;
    with `actions` only the actor learns during the first `warm_rows` visits. `sight`: objects as `symbols`, or as `pictures`;
    `even` is then the price of slots that do not use their values evenly and independently of each other.
    `starts`: a finder whose training loss does not come near 0 may have settled on a wrong lexicon; another one begins, at most this many
    in all, and the one with the least training loss is kept.
    """

    rows: int = 400_000
    batch: int = 256
    finder_rate: float = 0.03
    actor_rate: float = 2e-3
    penalty: float = 0.03
    least: float = 0.02
    moments: int = 8
    first: int = 256
    second: int = 128
    short_words: int = 8
    short_rows: int = 15_000
    middle_words: int = 16
    middle_rows: int = 60_000
    backwards: bool = True
    compass: bool = True
    actor: str = "perceptron"
    rule_rows: int = 6_000
    signal: str = "cell"
    warm_rows: int = 15_000
    sight: str = SYMBOLS
    even: float = 0.3
    starts: int = 3


class SetMachine:
    """A learnt finder and a learnt actor."""

    NAME: ClassVar[str] = "set-machine"
    Config: ClassVar[type[SetMachineConfig]] = SetMachineConfig
    BUILT_IN: ClassVar[tuple[str, ...]] = (
        "reading order, three soft sets and five operations on them, and, some",
        "objects as symbols (size, colour, shape, place); with sight = pictures: which object stands where, and that looks have slots with values",
        "the target's cell as a training signal, derived from the right actions",
        "the agent's pose, integrated from its own actions",
        "with actor = rules: a step is a turn and a move; a word may add fixed actions around them; the agent's own view; room to the next object or wall",
    )
    LEARNT: ClassVar[tuple[str, ...]] = (
        "what every word does and means, what each relation is",
        "how to act: turns, steps, manners, pushing and pulling",
        "with sight = pictures: an eye from pixels to slots",
        "with actor = rules: which words are manners and what they add; a decision tree for the next step",
    )

    def __init__(self, config: SetMachineConfig, known: Vocabulary, grid: int, finder: Parameters, actor: Parameters) -> None:
        self.config, self.known, self.grid, self.finder, self.actor = config, known, grid, finder, actor

    def run(self, rows: Rows, order: Ints) -> tuple[list[list[int]], Ints]:
        """The actions of these rows as numbers, and the cells that the machine takes for the target's. Reads no actions."""
        if rows.grid != self.grid:
            raise UsageError(
                f"this set machine was trained on grids of size {self.grid}, not {rows.grid}; train one for that size."
            )
        check_sight(self.config.sight, rows)
        seen = rows if self.config.backwards else turned(rows)
        scores = find(sighted_meanings(self.finder, rows, self.config.least), seen, order, self.config.least)
        found = rows.objects[order, scores.argmax(1)].astype(np.int64)
        cells, sizes = found[:, 3:5], found[:, 0]
        if self.config.actor == RULES:
            return act_by_rules(self.actor, rows, order, cells, sizes), cells
        return act(dressed(self.actor, self.finder, rows), rows, order, cells, sizes, self.config.compass), cells

    def answers(self, examples: Sequence[Example]) -> list[str]:
        """The answer to each example, in order; reads inputs only."""
        told: list[str] = []
        for start in range(0, len(examples), ANSWER_ROWS):
            here = examples[start : start + ANSWER_ROWS]
            rows = rows_of_examples(here, self.known, Camera(here[0].family) if self.config.sight == PICTURES else None)
            taken, _ = self.run(rows, np.arange(len(rows.lengths)))
            told += [",".join(ACTIONS[a] for a in actions) for actions in taken]
        return told

    def sizes(self) -> dict[str, int]:
        """Parameters of the two halves, and words."""
        finder, actor = (sum(array.size for array in part.values()) for part in (self.finder, self.actor))
        if self.config.actor == RULES:
            actor = rules_size(self.actor)
        return {"parameters": finder + actor, "of the finder": finder, "of the actor": actor, "words": len(self.known.words)}

    def lines(self) -> list[tuple[str, ...]]:
        """Every word's likeliest operation, its probability, and what it means; then the manners, if the actor has rules."""
        if self.config.sight == PICTURES:
            return eye_lines(self.finder, self.known.words)
        lines = lexicon_lines(self.finder, self.known)
        return lines + (manner_lines(self.actor, self.known.words) if self.config.actor == RULES else [])

    def save(self, folder: Path, single: type[np.floating[Any]] = np.float32) -> None:
        """Write `machine.npz`; `single` is the type in which numbers are kept."""
        header = {
            "machine": self.NAME, "config": asdict(self.config), "grid": self.grid, "words": list(self.known.words),
            "colors": list(self.known.colors), "shapes": list(self.known.shapes),
        }  # fmt: skip
        arrays = {f"finder.{name}": array.astype(single) for name, array in self.finder.items()}
        arrays |= {
            f"actor.{name}": array if array.dtype.kind == "i" else array.astype(single) for name, array in self.actor.items()
        }
        write_arrays(folder / FILE, header, arrays)

    @classmethod
    def load(cls, folder: Path) -> SetMachine:
        """The machine of a run's folder; a damaged file is an error that names it."""
        path = inside(folder, FILE)
        header, arrays = read_arrays(path)
        check(header, SHAPE, shown(str(path)))
        known = Vocabulary(tuple(header["words"]), tuple(header["colors"]), tuple(header["shapes"]))
        try:
            config = SetMachineConfig(**header["config"])
            count, grid = len(known.words) + 1, int(header["grid"])
            learnt = {n.removeprefix("finder."): a for n, a in arrays.items()}
            finder = as_eye(learnt, count) if config.sight == PICTURES else as_arrays(learnt, count)
            own = {n.removeprefix("actor."): a for n, a in arrays.items()}
            hidden = config.first, config.second
            actor = (
                as_rules(own, count)
                if config.actor == RULES
                else as_weights(own, count, grid, hidden, actor_kinds(config.sight))
            )
        except (TypeError, ValueError) as problem:
            raise FileError(f"{shown(str(path))} is no set machine: {str(problem)[:200]}.") from None
        return cls(config, known, grid, finder, actor)


def turned(rows: Rows) -> Rows:
    """The same rows with the words of every command in the opposite order."""
    words = np.zeros_like(rows.words)
    for length in np.unique(rows.lengths):
        here = rows.lengths == length
        words[here, :length] = rows.words[here, :length][:, ::-1]
    return rows._replace(words=words)


SHAPE = record(
    {
        "machine": text(100, "set-machine"), "config": mapping(anything), "grid": whole(1, 64), "words": listing(text(200)),
        "colors": listing(text(200)), "shapes": listing(text(200)),
    }
)  # fmt: skip
"""What the header of a set machine's file holds."""
