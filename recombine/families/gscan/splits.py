"""gSCAN's splits: seven held-out combinations of one data set, and longer action sequences on their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from recombine.columns import Coded
from recombine.core import Axis, Job, Option, Part, Recipe, Split
from recombine.families.gscan.facets import FACETS, SITUATED
from recombine.grid import wording
from recombine.grid.codes import (
    ADVERBS,
    BIG,
    CAUTIOUS,
    CIRCLE,
    COLORS,
    DIRECTIONS,
    PULL,
    PUSH,
    RED,
    SHAPES,
    SIZE_WORDS,
    SMALL,
    SPIN,
    SQUARE,
    VERBS,
    YELLOW,
)
from recombine.predicates import Predicate, mask, weakened
from recombine.predicates.draw import HOLD_OUT, PREDICATE, PredicateOption, predicate_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recombine.columns import Column

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "sound": Recipe(
            "sound",
            "Every word of the command is needed to find the target, object counts do not depend on the command, directions "
            "are balanced, and push and pull really move something in a chosen share of the examples.",
        ),
        "release": Recipe(
            "release",
            "The original generator's rule: situations listed by target, direction and distance, half of a fixed pool as "
            "distractors, test examples equivalent to training examples dropped. Default sizes equal the published ones.",
        ),
    }
)

OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "grid_size": Option(6, "rows and columns of the grid", low=4, high=20),
        "k": Option(1, "how many 'cautiously' examples the training part holds (adverb_1)", low=0, high=10_000),
        "cutoff": Option(15, "longest action sequence of training in target_lengths", low=1, high=200),
        "max_objects": Option(12, "most objects in a world; the fewest are 8 (recipe sound)", low=8, high=28),
        "interaction": Option(
            0.8,
            "share of push and pull examples in which the target moves (recipe sound; all in contextual, adverb_2)",
            low=0.0,
            high=1.0,
        ),
        wording.WORDING: wording.OPTION,
        "resampling": Option(5, "how often a situation is redrawn (recipe release; the published data have 5)", low=1, high=50),
        PREDICATE: PredicateOption(
            "verb = push and target.color = green",
            "what the split `hold_out` holds out: a predicate over facets (`recombine list gscan --facets`; recipe sound)",
            facets=lambda: FACETS,
            family="gscan",
        ),
    }
)


class Situation(NamedTuple):
    """Commands with targets and directions, as arrays of codes (`grid.codes`). A held-out combination is a test on these."""

    verb: NDArray[np.int64]
    adverb: NDArray[np.int64]
    size_word: NDArray[np.int64]
    color_word: NDArray[np.int64]
    """The colour's code + 1; 0 where the command names no colour."""
    shape: NDArray[np.int64]
    size: NDArray[np.int64]
    color: NDArray[np.int64]
    direction: NDArray[np.int64]


Rule = Callable[[Situation], "NDArray[np.bool_]"]


@dataclass(frozen=True)
class GscanSplit(Split):
    """A split with the rule that tells its test examples from training.

    `shows`: the held-out combination. A split that aliases `compositional` tests the models that were trained there, so its
    combination is held out of that training too. A split with a train part of its own holds out only its own combination.
    `by_length`: the test needs more actions than `cutoff`. `moves`: in `sound`, the target always moves.
    """

    shows: Rule | None = None
    by_length: bool = False
    moves: bool = False


MAIN = "compositional"
SHOT_SPLIT = "adverb_1"
"""The split whose combination training shows k times."""
_TRAINED_ON_MAIN = MappingProxyType({"train": (MAIN, "train"), "validation": (MAIN, "validation")})
SOUTH_WEST = DIRECTIONS.index("sw")


def _held_out(name: str, claim: str, rule: str, size: int, axis: Axis, shows: Rule, moves: bool = False) -> GscanSplit:
    """A test set for models trained on `compositional`."""
    parts = {"test": Part("test", f"{rule}; no other held-out combination.", size)}
    return GscanSplit(name, claim, MappingProxyType(parts), _TRAINED_ON_MAIN, axis=axis, shows=shows, moves=moves)


_SPLITS = (
    GscanSplit(
        MAIN,
        "Training shows none of seven held-out combinations, but for k examples with 'cautiously'; this test neither.",
        MappingProxyType(
            {
                "train": Part("train", "No held-out combination, but the first k rows have 'cautiously'.", 367_933),
                "validation": Part("validation", "No held-out combination.", 3_716, default=False),
                "test": Part("test", "No held-out combination.", 19_282),
            }
        ),
        axis="random",
    ),
    _held_out(
        "visual",
        "In training no target is a red square.",
        "The target is a red square",
        37_436,
        "substitution",
        lambda s: (s.shape == SQUARE) & (s.color == RED),
    ),
    _held_out(
        "visual_easier",
        "In training no yellow square is called yellow.",
        "The target is a yellow square and the command says 'yellow'",
        18_718,
        "composition",
        lambda s: (s.shape == SQUARE) & (s.color == YELLOW) & (s.color_word == YELLOW + 1),
    ),
    _held_out(
        "situational_1",
        "In training no target lies south-west of the agent.",
        "The target lies south-west of the agent",
        88_642,
        "grounding",
        lambda s: s.direction == SOUTH_WEST,
    ),
    _held_out(
        "situational_2",
        "In training no circle of size 2 is called small.",
        "The target is a circle of size 2 and the command says 'small'",
        16_808,
        "grounding",
        lambda s: (s.shape == CIRCLE) & (s.size == 2) & (s.size_word == SMALL),
    ),
    _held_out(
        "contextual",
        "In training no square of size 3 is pushed, so that it is heavy must be inferred from pulls and other shapes.",
        "A square of size 3 is pushed",
        11_460,
        "grounding",
        lambda s: (s.verb == PUSH) & (s.shape == SQUARE) & (s.size == 3),
        moves=True,
    ),
    _held_out(
        SHOT_SPLIT,
        "Training shows 'cautiously' k times.",
        "The adverb is 'cautiously'",
        112_880,
        "substitution",
        lambda s: s.adverb == CAUTIOUS,
    ),
    _held_out(
        "adverb_2",
        "In training nothing is pulled while spinning.",
        "The command is to pull while spinning",
        38_582,
        "composition",
        lambda s: (s.verb == PULL) & (s.adverb == SPIN),
        moves=True,
    ),
    GscanSplit(
        "target_lengths",
        "Training has at most `cutoff` actions; the test needs more.",
        MappingProxyType(
            {
                "train": Part("train", "At most `cutoff` actions.", {"sound": 367_933, "release": 435_581}),
                "validation": Part(
                    "validation", "At most `cutoff` actions.", {"sound": 3_716, "release": 4_399}, default=False
                ),
                "test": Part("test", "More than `cutoff` actions.", {"sound": 19_282, "release": 395_220}),
            }
        ),
        axis="length",
        by_length=True,
    ),
    GscanSplit(
        HOLD_OUT,
        "Training has no example that satisfies the user's predicate (--hold-out); the test has only such examples.",
        MappingProxyType(
            {
                "train": Part("train", "Examples that do not satisfy the predicate.", 100_000),
                "validation": Part("validation", "Examples that do not satisfy the predicate.", 5_000, default=False),
                "test": Part("test", "Examples that satisfy the predicate.", 10_000),
            }
        ),
        recipes=("sound",),
        axis="composition",
        is_published=False,
    ),
)
SPLITS: Mapping[str, GscanSplit] = {split.name: split for split in _SPLITS}
"""By name. A split is one entry here, and one claim of the same name in `oracle_claims.CLAIMS`."""


# --- held-out combinations as bits ---------------------------------------------------------------------------------------


def bit_of(name: str) -> int:
    """The bit of a split's held-out combination; 0 for a split without one."""
    return 0 if SPLITS[name].shows is None else 1 << _shown().index(name)


def bits_kept_from(name: str) -> int:
    """The combinations that a training set keeps out: those of all test sets of `compositional`, or the split's own."""
    split = SPLITS[name]
    if split.by_length:
        return 0
    if name != MAIN and "train" in split.parts:
        return bit_of(name)
    return sum(bit_of(other) for other in _shown() if (MAIN, "train") in SPLITS[other].aliases.values())


def _shown() -> list[str]:
    return [name for name, split in SPLITS.items() if split.shows is not None]


def rules() -> tuple[Rule, ...]:
    """The rules of all held-out combinations, by bit."""
    return tuple(split.shows for split in SPLITS.values() if split.shows is not None)


# --- a predicate as a combination ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settled:
    """A predicate over situations as a rule. Equal predicates are equal keys of caches."""

    predicate: Predicate

    def __call__(self, s: Situation) -> NDArray[np.bool_]:
        """Which situations satisfy the predicate."""
        columns: dict[str, Column] = {
            "verb": Coded(s.verb, VERBS),
            "adverb": Coded(s.adverb, ("none", *ADVERBS[1:])),
            "size_word": Coded(s.size_word, ("none", *SIZE_WORDS[1:])),
            "color_word": Coded(s.color_word, ("none", *COLORS)),
            "target.size": s.size,
            "target.color": Coded(s.color, COLORS),
            "target.shape": Coded(s.shape, SHAPES),
            "direction": Coded(s.direction, DIRECTIONS),
        }
        return mask(self.predicate, columns)


def is_possible(s: Situation) -> NDArray[np.bool_]:
    """Which situations exist: the colour word is the target's colour, and something can be bigger or smaller than it."""
    says_color = (s.color_word == 0) | (s.color_word == s.color + 1)
    has_rival = ~((s.size_word == SMALL) & (s.size == 4)) & ~((s.size_word == BIG) & (s.size == 1))
    found: NDArray[np.bool_] = says_color & has_rival
    return found


def settled_by(job: Job) -> tuple[Predicate, Settled | None, bool]:
    """The job's predicate, the part of it that situations settle (None if there is none), and whether that part is all of it."""
    predicate = predicate_of(job, OPTIONS)
    known = weakened(predicate, lambda atom: atom.facet in SITUATED)
    return predicate, None if known is None else Settled(known), known == predicate


@lru_cache(maxsize=8)
def tags(rules: tuple[Rule, ...]) -> NDArray[np.int64]:
    """(commands, 4 sizes, 4 colours, 8 directions): the bits of the combinations that a target shows."""
    import numpy as np

    situation = situations()
    found = np.zeros(situation.verb.shape, np.int64)
    for bit, rule in enumerate(rules):
        found |= rule(situation).astype(np.int64) << bit
    return found


def situations() -> Situation:
    """Every command with every target size, colour and direction; arrays of (commands, 4 sizes, 4 colours, 8 directions)."""
    import numpy as np

    from recombine.families.gscan import rows

    shape = (rows.COMMANDS, 4, len(COLORS), len(DIRECTIONS))
    command, size, color, direction = np.indices(shape, dtype=np.int64)
    return Situation(
        rows.verb_of(command),
        rows.adverb_of(command),
        rows.size_word_of(command),
        rows.color_word_of(command),
        rows.shape_of(command),
        size + 1,
        color,
        direction,
    )
