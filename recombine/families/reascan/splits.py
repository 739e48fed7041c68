"""The splits: which commands, worlds and manners are held out, as sentences and as settings of the kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from recombine.core import Axis, Option, Part, Recipe, Split
from recombine.families.reascan.kernel import TAG_A1, TAG_A2, TAG_A3, TAG_B1, TAG_B2
from recombine.families.reascan.plan import PATTERNS, Widths
from recombine.grid.codes import DIRECTIONS

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "sound": Recipe(
            "sound",
            "One referent under both readings of size words; every word and clause needed to find it; places, directions and "
            "determiners not predictable; push and pull move something in a chosen share of the examples.",
        ),
        "release": Recipe(
            "release",
            "What the original generator does: pairwise size words, first-free-cell pivots, its four distractor strategies, "
            "180 worlds for each of 675, 2,025 and 3,375 commands.",
        ),
    }
)

OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "grid_size": Option(6, "rows and columns of the grid", low=5, high=20),
        "max_objects": Option(
            0, "most objects in a world; words that then cannot be made necessary are marked as spare (0: 16 to 24 by pattern)",
            low=0, high=31,
        ),
        "interaction": Option(0.8, "share of push and pull examples in which something moves (recipe sound)", low=0.0, high=1.0),
        "commands": Option("sampled", "draw commands, or go through all of a pattern's", choices=("sampled", "all")),
        "pattern": Option("1-1-1", "clause widths of the split `pattern`: 2-1 is two clauses, and one on the second"),
        "longest": Option(20, "longest action sequence of training in the split `length`", low=5, high=200),
        "shots": Option(5, "how many 'cautiously' examples the training part of `adverb` holds", low=0, high=10_000),
    }
)  # fmt: skip
_EVERY = tuple(range(len(DIRECTIONS)))
SOUTH_WEST = DIRECTIONS.index("sw")
_NOT_SOUTH_WEST = tuple(d for d in _EVERY if d != SOUTH_WEST)
MIX: tuple[tuple[Widths, int], ...] = ((PATTERNS["simple"], 1), (PATTERNS["one_clause"], 3), (PATTERNS["two_clauses"], 5))
"""The patterns of mixed splits and their weights: the released numbers of commands, 675 : 2,025 : 3,375."""


@dataclass(frozen=True)
class Rule:
    """What a part asks of its examples, for the kernel and for the oracle.

    patterns with weights; `tags`: exactly these held-out combinations (-1: any); `manner`, see kernel.is_manner_wanted;
    `length`: 1 up to the option `longest`, 2 beyond; `random_only`: no planned distractors.
    """

    patterns: tuple[tuple[Widths, int], ...]
    tags: int = -1
    directions: tuple[int, ...] = _EVERY
    manner: int = 0
    length: int = 0
    random_only: bool = False
    keeps_part: bool = True


def _pattern(name: str) -> tuple[tuple[Widths, int], ...]:
    return ((PATTERNS[name], 1),)


RULES: Mapping[tuple[str, str], Rule] = MappingProxyType(
    {
        **{
            (split, part): Rule(_pattern(split))
            for split in PATTERNS
            for part in ("train", "validation", "test")
        },
        **{
            ("two_clauses_rd", part): Rule(_pattern("two_clauses"), random_only=True)
            for part in ("train", "validation", "test")
        },
        **{("pattern", part): Rule(()) for part in ("train", "validation", "test")},
        **{("all", part): Rule(MIX, tags=0) for part in ("train", "validation", "test")},
        ("a1", "test"): Rule(MIX, tags=TAG_A1, keeps_part=False),
        ("a2", "test"): Rule(MIX, tags=TAG_A2, keeps_part=False),
        ("a3", "test"): Rule(MIX, tags=TAG_A3, keeps_part=False),
        ("b1", "test"): Rule(_pattern("two_clauses"), tags=TAG_B1, keeps_part=False),
        ("b2", "test"): Rule(_pattern("two_clauses"), tags=TAG_B2, keeps_part=False),
        ("c1", "test"): Rule(_pattern("three_clauses"), tags=0, keeps_part=False),
        ("c2", "test"): Rule(_pattern("nested"), tags=0, keeps_part=False),
        ("direction", "train"): Rule(MIX, directions=_NOT_SOUTH_WEST),
        ("direction", "validation"): Rule(MIX, directions=_NOT_SOUTH_WEST),
        ("direction", "test"): Rule(MIX, directions=(SOUTH_WEST,), keeps_part=False),
        ("length", "train"): Rule(MIX, length=1),
        ("length", "validation"): Rule(MIX, length=1),
        ("length", "test"): Rule(MIX, length=2, keeps_part=False),
        ("adverb", "train"): Rule(MIX, manner=2),
        ("adverb", "validation"): Rule(MIX, manner=5),
        ("adverb", "test"): Rule(MIX, manner=1),
        ("verb_adverb", "train"): Rule(MIX, manner=4),
        ("verb_adverb", "validation"): Rule(MIX, manner=4),
        ("verb_adverb", "test"): Rule(MIX, manner=3, keeps_part=False),
    }
)  # fmt: skip

RELEASED: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {
        "simple": (113_967, 6_318, 1_215),
        "one_clause": (340_985, 18_903, 3_635),
        "two_clauses": (549_634, 30_470, 5_859),
        "two_clauses_rd": (569_835, 31_590, 6_075),
        "all": (539_722, 29_920, 5_753),
    }
)
"""The published sizes of train, validation and test."""
_ALL = MappingProxyType({"train": ("all", "train"), "validation": ("all", "validation")})
BOTH, SOUND_ONLY = ("sound", "release"), ("sound",)


def _random(
    name: str, claim: str, sizes: tuple[int, int, int], recipes: tuple[str, ...] = BOTH, axis: Axis = "random"
) -> Split:
    """A split with parts of one kind: what is in which part is decided by a hash of command, target and agent."""
    rule = "Commands, targets and agents that the other parts never combine."
    parts = {
        "train": Part("train", rule, sizes[0]),
        "validation": Part("validation", rule, sizes[1], default=False),
        "test": Part("test", rule, sizes[2]),
    }
    return Split(name, claim, MappingProxyType(parts), recipes=recipes, axis=axis)


def _held_out(name: str, claim: str, rule: str, size: int, axis: Axis) -> Split:
    """A test set for models trained on `all`, which never shows this combination."""
    return Split(name, claim, MappingProxyType({"test": Part("test", rule, size)}), _ALL, recipes=BOTH, axis=axis)


def _novel(name: str, claim: str, train: str, test: str, axis: Axis) -> Split:
    """A split with training parts of its own."""
    parts = {
        "train": Part("train", train, 100_000),
        "validation": Part("validation", train if name != "adverb" else "No 'cautiously'.", 5_000, default=False),
        "test": Part("test", test, 10_000),
    }
    return Split(name, claim, MappingProxyType(parts), recipes=SOUND_ONLY, axis=axis)


SPLITS: Mapping[str, Split] = MappingProxyType(
    {
        "all": _random(
            "all",
            "Simple, one-clause and two-clause commands together, without any of the combinations that a1 to c2 test.",
            RELEASED["all"],
        ),
        "simple": _random("simple", "One noun phrase, no clause.", RELEASED["simple"]),
        "one_clause": _random("one_clause", "One relative clause.", RELEASED["one_clause"]),
        "two_clauses": _random("two_clauses", "Two conjoined relative clauses.", RELEASED["two_clauses"]),
        "two_clauses_rd": _random(
            "two_clauses_rd",
            "Two conjoined relative clauses among random distractors only, so that not every word is needed.",
            RELEASED["two_clauses_rd"],
            axis="distractors",
        ),
        "three_clauses": _random("three_clauses", "Three conjoined relative clauses.", (100_000, 5_000, 10_000), SOUND_ONLY),
        "nested": _random("nested", "A relative clause inside a relative clause.", (100_000, 5_000, 10_000), SOUND_ONLY),
        "pattern": _random(
            "pattern", "Commands of any pattern: the option `pattern` gives its clause widths.", (100_000, 5_000, 10_000), SOUND_ONLY
        ),
        "a1": _held_out(
            "a1", "Training never says 'yellow square'.", "A phrase says 'yellow square', of any size word.", 22_057, "substitution"
        ),
        "a2": _held_out(
            "a2",
            "In training no target and no mentioned object is a red square, and none is called so.",
            "The target or another mentioned object is a red square, or a phrase says 'red square'.",
            81_349,
            "substitution",
        ),
        "a3": _held_out(
            "a3", "Training never says 'small cylinder', of any colour.", "A phrase says 'small cylinder', of any colour.", 35_675,
            "substitution",
        ),
        "b1": _held_out(
            "b1",
            "Each phrase and each pair of relations of a two-clause command is known from training, its three phrases never together.",
            "The set of the three phrases is held out from training.",
            10_002,
            "composition",
        ),
        "b2": _held_out(
            "b2",
            "Training never has 'in the same size as' and 'inside of' in one command.",
            "The command has both 'in the same size as' and 'inside of'.",
            6_660,
            "composition",
        ),
        "c1": _held_out("c1", "Training has at most two clauses.", "Three conjoined clauses.", 8_375, "length"),
        "c2": _held_out(
            "c2", "Training never has a clause inside a clause.", "A relative clause inside a relative clause.", 8_003, "composition"
        ),
        "direction": _novel(
            "direction",
            "In training the target never lies to the south-west of the agent.",
            "The target lies in any direction but south-west.",
            "The target lies to the south-west.",
            "grounding",
        ),
        "length": _novel(
            "length",
            "Test action sequences are longer than any in training.",
            "At most `longest` actions.",
            "More than `longest` actions.",
            "length",
        ),
        "adverb": _novel(
            "adverb",
            "Training shows 'cautiously' in `shots` examples only.",
            "The first `shots` rows have 'cautiously', no others.",
            "The adverb is 'cautiously'.",
            "substitution",
        ),
        "verb_adverb": _novel(
            "verb_adverb",
            "Training has 'pull' and 'while spinning', but never together.",
            "No 'pull … while spinning'.",
            "Every command is 'pull … while spinning'.",
            "composition",
        ),
    }
)  # fmt: skip
"""`all` comes first: it is the training set of a1 to c2."""
