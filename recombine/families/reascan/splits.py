"""The splits: which commands and worlds are held out, as sentences and as conditions that the kernels take as data.

A split is one entry of `SPLITS` and one claim in `oracle_claims`. Nothing else has to know its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from recombine.core import Axis, Job, Option, Part, Recipe, Split, option
from recombine.facets import Facet
from recombine.families.reascan.plan import PATTERNS, Widths
from recombine.grid import wording
from recombine.grid.codes import ADVERBS, COLORS, DIRECTIONS, RELATIONS, SHAPES, SIZE_WORDS, VERBS
from recombine.predicates.draw import HOLD_OUT, PREDICATE, PredicateOption

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "sound": Recipe(
            "sound",
            "One referent under both readings of size words, and whether or not two phrases may mean the same object; every word "
            "and clause needed to find it; places, directions and determiners not predictable; push and pull move something in a "
            "chosen share of the examples.",
            version=2,
        ),
        "release": Recipe(
            "release",
            "What the original generator does: pairwise size words, first-free-cell pivots, its four distractor strategies, "
            "180 worlds for each of 675, 2,025 and 3,375 commands.",
        ),
    }
)


def _facets() -> Mapping[str, Facet]:
    from recombine.families.reascan.facets import FACETS

    return FACETS


OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "grid_size": Option(6, "rows and columns of the grid", low=5, high=20),
        "max_objects": Option(
            0, "most objects in a world; words that then cannot be made necessary are marked as spare (0: 16 to 24 by pattern)",
            low=0, high=31,
        ),
        "crowding": Option(
            "matched", "object counts of `all` and a1 to c2: matched, so that the test sets have as many as training; or few, as many as the "
            "distractors need and at least 10 to 16 (recipe sound)", choices=("matched", "few"),
        ),
        "interaction": Option(0.8, "share of push and pull examples in which something moves (recipe sound)", low=0.0, high=1.0),
        "commands": Option(
            "sampled", "draw commands, or go through all of a pattern's (recipe sound)", choices=("sampled", "all")
        ),
        "pattern": Option("1-1-1", "clause widths of the split `pattern`: 2-1 is two clauses, and one on the second"),
        "longest": Option(20, "longest action sequence of training in the split `length`", low=5, high=200),
        "shots": Option(5, "how many 'cautiously' examples the training part of `adverb` holds", low=0, high=10_000),
        "c2_relations": Option(
            "paper", "relations of c2: paper (one clause says row, the other column) or all (recipe sound)", choices=("paper", "all")
        ),
        wording.WORDING: wording.OPTION,
        "relation_distractors": Option(True, "distractors that satisfy all clauses but one"),
        "attribute_distractors": Option(True, "distractors that differ in one word"),
        "isomorphism_distractors": Option(True, "distractors with words swapped between phrases"),
        "random_distractors": Option(True, "random objects as filling"),
        PREDICATE: PredicateOption(
            "verb = pull and target.color = green",
            "what the split `hold_out` holds out: a predicate over facets (`recombine list reascan --facets`; recipe sound)",
            facets=_facets, family="reascan",
        ),
    }
)  # fmt: skip
STRATEGIES = ("relation", "attribute", "isomorphism", "random")
"""The distractor strategies, in the order of their flags; the option `<name>_distractors` switches each on or off."""
MIX: tuple[tuple[Widths, int], ...] = ((PATTERNS["simple"], 1), (PATTERNS["one_clause"], 3), (PATTERNS["two_clauses"], 5))
"""The patterns of mixed splits and their weights: the released numbers of commands, 675 : 2,025 : 3,375."""
CROWD = (12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)
CROWD_SHARES = (2, 7, 17, 33, 63, 72, 89, 107, 115, 126, 131, 126, 112)
"""Share of the worlds of `all` and its test sets with each number of objects, in thousandths. Worlds of three clauses have these by themselves."""


# --- conditions ------------------------------------------------------------------------------------------------------

SAYS, IS, RELATES, DOES, LIES, HAS_PATTERN, IS_NEW_TRIO = range(7)
"""Kinds of conditions, for the kernel (`kernel.truth_of`)."""
OPEN = -1


class Atom(NamedTuple):
    """One condition, as the kernel takes it: its kind, three values (OPEN: any), and whether only the first phrase counts."""

    kind: int
    a: int = OPEN
    b: int = OPEN
    c: int = OPEN
    first_only: int = 0


Combination = tuple[tuple[Atom, ...], ...]
"""Alternatives, each a list of conditions that hold together."""


def _place(names: tuple[str, ...], name: str) -> int:
    return names.index(name) if name else OPEN


def says(size: str = "", color: str = "", shape: str = "", first_only: bool = False) -> Atom:
    """Some phrase has all these words (or the first phrase has)."""
    return Atom(SAYS, _place(SIZE_WORDS, size), _place(COLORS, color), _place(SHAPES, shape), int(first_only))


def is_kind(size: int = OPEN, color: str = "", shape: str = "", target_only: bool = False) -> Atom:
    """The target, or another mentioned object, is of this size, colour and shape."""
    return Atom(IS, size, _place(COLORS, color), _place(SHAPES, shape), int(target_only))


def relates(relation: str) -> Atom:
    """The command has a clause with this relation."""
    return Atom(RELATES, RELATIONS.index(relation))


def does(verb: str = "", adverb: str = "") -> Atom:
    """The command has this verb and this adverb."""
    return Atom(DOES, _place(VERBS, verb), _place(ADVERBS, adverb))


def lies(direction: str) -> Atom:
    """The target lies in this direction from the agent."""
    return Atom(LIES, DIRECTIONS.index(direction))


def has_pattern(name: str) -> Atom:
    """The command has this pattern."""
    return Atom(HAS_PATTERN, *pattern_code(PATTERNS[name]))


def pattern_code(widths: Widths) -> tuple[int, int]:
    """(number of phrases, their parents as octal digits) of a pattern."""
    code, last, count = 0, 0, 1
    for width in widths:
        for _ in range(width):
            code = code * 8 + last
            count += 1
        last = count - 1
    return count, code


NEW_TRIO = Atom(IS_NEW_TRIO)
"""A two-clause command whose set of three phrases is held out: one in ten such sets, by their hash."""


# --- splits ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReascanSplit(Split):
    """A split with the rule that makes its rows.

    `patterns`: the patterns and their weights; empty where the option `pattern` gives them.
    `shows`: the held-out combination. A split that aliases `all` tests models that were trained there, so its combination is kept
    out of `all` and of the other test sets. A split with a train part of its own keeps out only its own combination.
    `by_length`: the test needs more actions than the option `longest`. `has_shots`: training shows the combination `shots` times.
    `random_only`: there are only random distractors.
    """

    patterns: tuple[tuple[Widths, int], ...] = MIX
    shows: Combination = ()
    by_length: bool = False
    has_shots: bool = False
    random_only: bool = False

    @property
    def is_test_of_all(self) -> bool:
        """Whether the split tests models that were trained on `all`."""
        return self.aliases.get("train", ("", ""))[0] == ALL


ALL = "all"


class Rule(NamedTuple):
    """What a part asks of its rows; one rule for the kernels of both recipes.

    `wanted` and `unwanted` are combinations. Each row shows all wanted ones and none of the unwanted ones; the first `shots` rows
    show the unwanted ones instead. `length`: 1 up to the option `longest`, 2 beyond, 0 any. `is_hashed`: a hash of command,
    target and agent decides the part. `is_matched`: the object count is drawn from CROWD.
    """

    patterns: tuple[tuple[Widths, int], ...]
    wanted: tuple[Combination, ...] = ()
    unwanted: tuple[Combination, ...] = ()
    length: int = 0
    is_hashed: bool = True
    is_matched: bool = False
    random_only: bool = False
    has_shots: bool = False


def rule_of(split: str, part: str, c2_relations: str = "paper") -> Rule:
    """The rule of a part."""
    about = SPLITS[split]
    shows = about.shows
    if split == "c2" and c2_relations == "all":
        shows = ((has_pattern("nested"),),)
    if split == ALL or about.is_test_of_all:
        others = tuple(s.shows for s in SPLITS.values() if s.is_test_of_all and s.name != split and s.shows)
        own = (shows,) if shows else ()
        # Worlds of three clauses take the objects that they need. CROWD is the distribution of these counts.
        has_room = about.patterns != _pattern("three_clauses")
        return Rule(about.patterns, own, others, is_hashed=split == ALL, is_matched=has_room)
    is_test = part == "test"
    if split == HOLD_OUT:  # `sound.held_out` adds what the predicate says
        return Rule(about.patterns, is_hashed=not is_test, is_matched=True)
    length = 0 if not about.by_length else 2 if is_test else 1
    own = (shows,) if shows else ()
    return Rule(
        about.patterns,
        own if is_test else (),
        () if is_test else own,
        length=length,
        is_hashed=not is_test or about.has_shots or not (shows or about.by_length),
        random_only=about.random_only,
        has_shots=about.has_shots and part == "train",
    )


def strategies_of(job: Job, used: int) -> int:
    """Those of the strategies `used` (a sum of flags) that the options leave on."""
    for k, name in enumerate(STRATEGIES):
        if not option(job, OPTIONS, f"{name}_distractors"):
            used &= ~(1 << k)
    return used


def _pattern(name: str) -> tuple[tuple[Widths, int], ...]:
    return ((PATTERNS[name], 1),)


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
OURS = (100_000, 5_000, 10_000)
"""Default sizes of the splits that the paper does not have."""
_ALL = MappingProxyType({"train": (ALL, "train"), "validation": (ALL, "validation")})
BOTH, SOUND_ONLY = ("sound", "release"), ("sound",)
_RANDOM = "Rows that no other part holds; under `sound` no other part combines this command, target and agent either."


def _random(
    name: str,
    claim: str,
    sizes: tuple[int, int, int],
    patterns: tuple[tuple[Widths, int], ...],
    recipes: tuple[str, ...] = BOTH,
    random_only: bool = False,
) -> ReascanSplit:
    """A split with parts of one kind: under `sound` a hash of command, target and agent decides what is in which part."""
    parts = {
        "train": Part("train", _RANDOM, sizes[0]),
        "validation": Part("validation", _RANDOM, sizes[1], default=False),
        "test": Part("test", _RANDOM, sizes[2]),
    }
    return ReascanSplit(
        name, claim, MappingProxyType(parts), recipes=recipes, axis="random", patterns=patterns, random_only=random_only,
        is_published=recipes == BOTH,
    )  # fmt: skip


def _held_out(
    name: str,
    claim: str,
    rule: str,
    size: int,
    axis: Axis,
    shows: Combination,
    patterns: tuple[tuple[Widths, int], ...] = MIX,
) -> ReascanSplit:
    """A test set for models trained on `all`, which never shows this combination."""
    parts = MappingProxyType({"test": Part("test", rule, size)})
    return ReascanSplit(name, claim, parts, _ALL, recipes=BOTH, axis=axis, shows=shows, patterns=patterns)


def _novel(
    name: str,
    claim: str,
    rules: tuple[str, str],
    axis: Axis,
    shows: Combination = (),
    by_length: bool = False,
    has_shots: bool = False,
) -> ReascanSplit:
    """A split with training parts of its own; `rules` are the sentences of train and test."""
    parts = {
        "train": Part("train", rules[0], OURS[0]),
        "validation": Part("validation", rules[0] if not has_shots else "No 'cautiously'.", OURS[1], default=False),
        "test": Part("test", rules[1], OURS[2]),
    }
    return ReascanSplit(
        name, claim, MappingProxyType(parts), recipes=BOTH, axis=axis, shows=shows, by_length=by_length, has_shots=has_shots,
        is_published=False,
    )  # fmt: skip


_SPLITS = (
    _random(
        ALL,
        "Simple, one-clause and two-clause commands together, without any of the combinations that a1 to c2 test.",
        RELEASED["all"],
        MIX,
    ),
    _random("simple", "One noun phrase, no clause.", RELEASED["simple"], _pattern("simple")),
    _random("one_clause", "One relative clause.", RELEASED["one_clause"], _pattern("one_clause")),
    _random("two_clauses", "Two conjoined relative clauses.", RELEASED["two_clauses"], _pattern("two_clauses")),
    _random(
        "two_clauses_rd",
        "Two conjoined relative clauses among random distractors only, so that not every word is needed.",
        RELEASED["two_clauses_rd"],
        _pattern("two_clauses"),
        random_only=True,
    ),
    _random("three_clauses", "Three conjoined relative clauses.", OURS, _pattern("three_clauses"), SOUND_ONLY),
    _random("nested", "A relative clause inside a relative clause.", OURS, _pattern("nested"), SOUND_ONLY),
    _random("pattern", "Commands of any pattern: the option `pattern` gives its clause widths.", OURS, (), SOUND_ONLY),
    _held_out(
        "a1",
        "Training never says 'yellow square'.",
        "A phrase says 'yellow square', of any size word.",
        22_057,
        "substitution",
        ((says(color="yellow", shape="square"),),),
    ),
    _held_out(
        "a2",
        "In training no target and no mentioned object is a red square, and none is called so.",
        "The target or another mentioned object is a red square, or a phrase says 'red square'.",
        81_349,
        "substitution",
        ((says(color="red", shape="square"),), (is_kind(color="red", shape="square"),)),
    ),
    _held_out(
        "a3",
        "Training never says 'small cylinder', of any colour.",
        "A phrase says 'small cylinder', of any colour.",
        35_675,
        "substitution",
        ((says(size="small", shape="cylinder"),),),
    ),
    _held_out(
        "b1",
        "Each phrase and each pair of relations of a two-clause command is known from training, its three phrases never together.",
        "The set of the three phrases is held out from training.",
        10_002,
        "composition",
        ((NEW_TRIO,),),
        _pattern("two_clauses"),
    ),
    _held_out(
        "b2",
        "Training never has 'in the same size as' and 'inside of' in one command.",
        "The command has both 'in the same size as' and 'inside of'.",
        6_660,
        "composition",
        ((relates("size"), relates("inside")),),
        _pattern("two_clauses"),
    ),
    _held_out(
        "c1",
        "Training has at most two clauses.",
        "Three conjoined clauses.",
        8_375,
        "length",
        ((has_pattern("three_clauses"),),),
        _pattern("three_clauses"),
    ),
    _held_out(
        "c2",
        "Training never has a clause inside a clause.",
        "A relative clause inside a relative clause; one says row, the other column (option `c2_relations`).",
        8_003,
        "composition",
        ((has_pattern("nested"), relates("row"), relates("column")),),
        _pattern("nested"),
    ),
    _novel(
        "direction",
        "In training the target never lies to the south-west of the agent.",
        ("The target lies in any direction but south-west.", "The target lies to the south-west."),
        "grounding",
        ((lies("sw"),),),
    ),
    _novel(
        "length",
        "Test action sequences are longer than any in training.",
        ("At most `longest` actions.", "More than `longest` actions."),
        "length",
        by_length=True,
    ),
    _novel(
        "adverb",
        "Training shows 'cautiously' in `shots` examples only.",
        ("The first `shots` rows have 'cautiously', no others.", "The adverb is 'cautiously'."),
        "substitution",
        ((does(adverb="cautiously"),),),
        has_shots=True,
    ),
    _novel(
        "verb_adverb",
        "Training has 'pull' and 'while spinning', but never together.",
        ("No 'pull … while spinning'.", "Every command is 'pull … while spinning'."),
        "composition",
        ((does("pull", "while spinning"),),),
    ),
    replace(
        _novel(
            HOLD_OUT,
            "Training has no example that satisfies the user's predicate (--hold-out); the test has only such examples.",
            ("Examples that do not satisfy the predicate.", "Examples that satisfy the predicate."),
            "composition",
        ),
        recipes=SOUND_ONLY,
    ),
)
SPLITS: Mapping[str, ReascanSplit] = {split.name: split for split in _SPLITS}
"""By name. `all` comes first: it is the training set of a1 to c2."""
