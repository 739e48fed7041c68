"""What each split claims, judged anew: a deliberate second formulation of the sentences in `splits`, so do not merge the two.

A claim reads the command's words, the objects and the answer. It works on many rows at once; one example is a table of one row.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from recombine.core import Claim, Example
from recombine.families.reascan.oracle_reader import COLOR_WORDS, HEADS, SIZE_WORDS, Misread, Said, understand
from recombine.predicates.judge import Seen, holds

if TYPE_CHECKING:
    from recombine.grid.world import World

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_NOUNS = 9
RELATIONS = ("row", "column", "color", "shape", "size", "inside")
VERBS = ("walk", "push", "pull")
ADVERBS = ("", "while zigzagging", "while spinning", "cautiously", "hesitantly")
NOUN_FIELDS = ("size", "color", "head", "parent", "relation", "is_the")
"""Columns of `Facts.nouns`. Size 0 none, 1 small, 2 big; colour and head -1 if open; relation -1 for the first noun."""


@dataclass(frozen=True)
class Facts:
    """What claims are judged by, for n rows; nouns and objects beyond a row's number are -2."""

    nouns: Ints  # [n, 9, 6]: see NOUN_FIELDS
    counts: Ints  # [n]: how many nouns
    manners: Ints  # [n, 2]: verb, adverb
    mentioned: Ints  # [n, 9, 3]: size, colour and shape of the objects that the nouns mean
    places: Ints  # [n, 5]: grid size, target row and column, agent row and column
    actions: Ints  # [n]: how many
    index: Ints  # [n]: of the row in its part
    recipe: str
    seed: int | None
    options: Mapping[str, Any]

    def column(self, name: str) -> Ints:
        """One field of all nouns."""
        return self.nouns[:, :, NOUN_FIELDS.index(name)]


def noun_numbers(said: Said) -> list[tuple[int, ...]]:
    """The nouns of a command as rows of `Facts.nouns`."""
    return [
        (
            ("", *SIZE_WORDS).index(noun.size),
            COLOR_WORDS.index(noun.color) if noun.color else -1,
            HEADS.index(noun.head) if noun.head != "object" else -1,
            noun.parent,
            RELATIONS.index(noun.relation) if noun.relation else -1,
            int(noun.determiner == "the"),
        )
        for noun in said.nouns
    ]


def facts_of(example: Example) -> Facts:
    """The facts of one example; `Misread` if its command cannot be read."""
    said, world = understand(str(example.inputs["command"])), cast("World", example.world)
    nouns = np.full((1, MOST_NOUNS, len(NOUN_FIELDS)), -2, dtype=np.int64)
    nouns[0, : len(said.nouns)] = noun_numbers(said)
    mentioned = np.full((1, MOST_NOUNS, 3), -2, dtype=np.int64)
    for k, thing in enumerate(world.things[: len(said.nouns)]):
        mentioned[0, k] = thing.size, COLOR_WORDS.index(thing.color), HEADS.index(thing.shape)
    target = world.things[0]
    meta = example.meta
    return Facts(
        nouns,
        np.array([len(said.nouns)]),
        np.array([[VERBS.index(said.verb), ADVERBS.index(said.adverb)]]),
        mentioned,
        np.array([[world.size, target.row, target.column, world.row, world.column]]),
        np.array([example.answer.count(",") + 1 if example.answer else 0]),
        np.array([int(meta.get("index", 1 << 40))]),
        example.recipe,
        meta.get("seed"),
        meta,
    )


# --- patterns and hashes -----------------------------------------------------------------------------------------------


def has_pattern(facts: Facts, *parents: int) -> Bools:
    """Whether the nouns after the first hang on these."""
    if len(parents) == 0:
        found_rows: Bools = facts.counts == 1
        return found_rows
    hang = facts.column("parent")[:, 1 : 1 + len(parents)]
    found: Bools = (facts.counts == 1 + len(parents)) & (hang == np.array(parents)).all(axis=1)
    return found


PARENTS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"simple": (), "one_clause": (0,), "two_clauses": (0, 0), "three_clauses": (0, 0, 0), "nested": (0, 1)}
)


def scrambled(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64: the next word of a stream in this state."""
    z = words + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def noun_codes(facts: Facts) -> Ints:
    """Each noun as a number below 75."""
    return (facts.column("size") * 5 + facts.column("color") + 1) * 5 + facts.column("head") + 1


def form_numbers(facts: Facts) -> Ints:
    """Each command as a number, digit by digit: link and words of each noun, then verb and adverb."""
    value, codes = np.ones(len(facts.counts), dtype=np.int64), noun_codes(facts)
    for j in range(min(int(facts.counts.max(initial=0)), MOST_NOUNS)):
        link = facts.column("relation")[:, j] * 2 + (facts.column("parent")[:, j] == j - 1) if j else 0
        value = np.where(j < facts.counts, value * 900 + link * 75 + codes[:, j], value)
    return value * 15 + facts.manners[:, 0] * 5 + facts.manners[:, 1]


def drawn_part(facts: Facts) -> NDArray[np.str_]:
    """The part that command, target and agent decide in the sound recipe: a quarter test, a quarter validation, the rest train."""
    kind = (facts.mentioned[:, 0, 0] * 4 + facts.mentioned[:, 0, 1]) * 4 + facts.mentioned[:, 0, 2]
    grid, row, column, agent_row, agent_column = facts.places.T
    place = (kind * grid**2 + row * grid + column) * grid**2 + agent_row * grid + agent_column
    word = scrambled(scrambled(form_numbers(facts).astype(np.uint64)) ^ place.astype(np.uint64))
    quarter = (word >> np.uint64(62)).astype(np.int64)
    return np.array(["test", "validation", "train", "train"])[quarter]


def is_new_trio(facts: Facts) -> Bools:
    """Two clauses, and a set of three phrases of which one in ten is held out."""
    codes = np.sort(noun_codes(facts)[:, :3], axis=1).astype(np.uint64)
    word = scrambled((codes[:, 0] * np.uint64(75) + codes[:, 1]) * np.uint64(75) + codes[:, 2])
    found: Bools = ((word >> np.uint64(32)) * np.uint64(10) >> np.uint64(32) == 0) & has_pattern(facts, 0, 0)
    return found


def is_for_shots(facts: Facts) -> Bools:
    """Whether the release recipe keeps this command for the few examples in training: half of the commands, by their hash."""
    found_rows: Bools = scrambled(form_numbers(facts).astype(np.uint64)) >> np.uint64(63) == 1
    return found_rows


# --- what is held out ------------------------------------------------------------------------------------------------

Shows = Callable[[Facts], Bools]
"""Which rows show a combination."""


def words_together(facts: Facts, size: str = "", color: str = "", head: str = "") -> Bools:
    """Some noun has all these words."""
    found = np.arange(MOST_NOUNS) < facts.counts[:, None]
    for name, word, words in (("size", size, ("", *SIZE_WORDS)), ("color", color, COLOR_WORDS), ("head", head, HEADS)):
        if word:
            found = found & (facts.column(name) == words.index(word))
    return np.asarray(found.any(axis=1))


def relations_together(facts: Facts, *names: str) -> Bools:
    """The command has clauses with all these relations."""
    found = np.ones(len(facts.counts), dtype=np.bool_)
    for name in names:
        found &= (facts.column("relation") == RELATIONS.index(name)).any(axis=1)
    return found


def _red_square(facts: Facts) -> Bools:
    is_one = (facts.mentioned[:, :, 1] == COLOR_WORDS.index("red")) & (facts.mentioned[:, :, 2] == HEADS.index("square"))
    found_rows: Bools = words_together(facts, color="red", head="square") | is_one.any(axis=1)
    return found_rows


HELD_OUT: Mapping[str, Shows] = MappingProxyType(
    {
        "a1": lambda f: words_together(f, color="yellow", head="square"),
        "a2": _red_square,
        "a3": lambda f: words_together(f, size="small", head="cylinder"),
        "b1": is_new_trio,
        "b2": lambda f: relations_together(f, "size", "inside"),
        "c1": lambda f: has_pattern(f, 0, 0, 0),
        "c2": lambda f: has_pattern(f, 0, 1),
    }
)
"""What training on `all` never shows."""

Finding = tuple[Bools, str]
"""Rows that may not stand in the part, and why."""


def _all_judge(facts: Facts, part: str) -> Iterator[Finding]:
    """Simple, one-clause and two-clause commands that show nothing that a1 to c2 hold out."""
    mixed = has_pattern(facts) | has_pattern(facts, 0) | has_pattern(facts, 0, 0)
    for name, shows in HELD_OUT.items():
        if name != "b1" or facts.recipe == "sound":
            yield shows(facts), f"it shows what {name} holds out"
    yield ~mixed, "its pattern is not among those of training"
    if facts.recipe == "release" and facts.seed is not None:
        yield has_pattern(facts, 0, 0) & _trio_is_unseen(facts), "its three phrases never stand together in training"
    yield from _part_judge(facts, part)


def _held_out_judge(name: str, facts: Facts, part: str) -> Iterator[Finding]:
    """The test shows this combination; under `sound` no other. Training is that of `all`."""
    if part != "test":
        yield from _all_judge(facts, part)
        return
    if facts.recipe == "release" and name == "b1":
        yield ~has_pattern(facts, 0, 0), "it has not two clauses"
        if facts.seed is not None:
            yield ~_trio_is_unseen(facts), "its three phrases stand together in training"
    else:
        yield ~HELD_OUT[name](facts), f"it does not show what {name} holds out"
    if name == "c2" and (facts.recipe == "release" or facts.options.get("c2_relations") == "paper"):
        yield ~relations_together(facts, "row", "column"), "its relations are not row and column"
    if facts.recipe == "sound":
        for other, shows in HELD_OUT.items():
            if other != name:
                yield shows(facts), f"it also shows what {other} holds out"


def _trio_is_unseen(facts: Facts) -> Bools:
    """Whether the three phrases are together in no training command of this seed (release recipe)."""
    seen = _seen_trios(int(cast(int, facts.seed)))
    codes = np.sort(noun_codes(facts)[:, :3], axis=1)
    return np.array([tuple(row) not in seen for row in codes.tolist()], dtype=np.bool_)


@functools.lru_cache(maxsize=4)
def _seen_trios(seed: int) -> frozenset[tuple[int, ...]]:
    """The sets of phrases of the sampled two-clause commands that training may use. The list of commands is data, not a rule."""
    from recombine.families.reascan.release.pools import command_list

    found = set()
    for form in command_list(seed, "two_clauses"):
        digits = [form // 15 // 900**k % 900 for k in (2, 1, 0)]
        relations, codes = {digit // 150 for digit in digits[1:]}, [digit % 75 for digit in digits]
        words = [(code // 25, code // 5 % 5 - 1, code % 5 - 1) for code in codes]
        is_held_out = relations == {4, 5} or any((c, s) in ((3, 2), (0, 2)) or (z, s) == (1, 1) for z, c, s in words)
        if not is_held_out:
            found.add(tuple(sorted(codes)))
    return frozenset(found)


def _part_judge(facts: Facts, part: str) -> Iterator[Finding]:
    """Under `sound` command, target and agent decide the part. (Under `release` a shuffle does; `verify` looks for leaks.)"""
    if facts.recipe == "sound":
        yield drawn_part(facts) != part, "its command, target and agent belong to another part"


def _pattern_judge(name: str, facts: Facts, part: str) -> Iterator[Finding]:
    """Commands of one pattern."""
    yield ~has_pattern(facts, *PARENTS[name]), f"its pattern is not {name}"
    yield from _part_judge(facts, part)


def _own_judge(shows: Shows, facts: Facts, part: str) -> Iterator[Finding]:
    """The test shows the combination and training never does."""
    if part == "test":
        yield ~shows(facts), "it does not show what the test holds out"
    else:
        yield shows(facts), "it shows what the test holds out"
        yield from _part_judge(facts, part)


def _length_judge(facts: Facts, part: str) -> Iterator[Finding]:
    """Training has at most `longest` actions, the test more."""
    longest = int(facts.options.get("longest", 20))
    if part == "test":
        yield facts.actions <= longest, f"it has no more than {longest} actions"
    else:
        yield facts.actions > longest, f"it has more than {longest} actions"
        yield from _part_judge(facts, part)


def _adverb_judge(facts: Facts, part: str) -> Iterator[Finding]:
    """Training has 'cautiously' in its first `shots` rows and nowhere else."""
    is_cautious = facts.manners[:, 1] == ADVERBS.index("cautiously")
    is_shot = (facts.index < int(facts.options.get("shots", 0))) & (part == "train")
    yield is_cautious & ~is_shot & (part != "test"), "it says 'cautiously'"
    yield ~is_cautious & (is_shot | (part == "test")), "it does not say 'cautiously'"
    if facts.recipe == "release":
        yield is_cautious & (is_for_shots(facts) != is_shot), "its command is kept for another part"
    yield from _part_judge(facts, part)


def _is_south_west(facts: Facts) -> Bools:
    _, row, column, agent_row, agent_column = facts.places.T
    found: Bools = (row > agent_row) & (column < agent_column)
    return found


def _pulls_spinning(facts: Facts) -> Bools:
    found: Bools = (facts.manners == (VERBS.index("pull"), ADVERBS.index("while spinning"))).all(axis=1)
    return found


@dataclass(frozen=True)
class TableClaim:
    """A claim that is judged on many rows at once, and callable with one example like any `Claim`."""

    judge: Callable[[Facts, str], Iterator[Finding]]

    def __call__(self, example: Example, part: str) -> str:
        """Why the example may not stand in this part, or "" if it may."""
        try:
            facts = facts_of(example)
        except Misread as problem:
            return f"its command cannot be read: {problem}"
        return next((text for rows, text in self.judge(facts, part) if rows[0]), "")

    def broken(self, facts: Facts, part: str) -> Bools:
        """The rows that may not stand in this part."""
        found = np.zeros(len(facts.counts), dtype=np.bool_)
        for rows, _ in self.judge(facts, part):
            found |= rows
        return found


def read_facets(example: Example, said: Said) -> Seen:
    """What a predicate can say of an example, read from its command, its world and its answer."""
    world = cast("World", example.world)
    target, nouns = world.things[0], said.nouns
    depths = [0]
    for noun in nouns[1:]:
        depths.append(depths[noun.parent] + 1)
    parents = tuple(noun.parent for noun in nouns[1:])
    widths = [depths.count(level) for level in range(1, max(depths) + 1)]
    down, right = target.row - world.row, target.column - world.column
    actions = example.answer.split(",") if example.answer else []
    roles = {thing.role for thing in world.things}
    return {
        "verb": said.verb,
        "adverb": said.adverb or "none",
        "pattern": next((name for name, hang in PARENTS.items() if hang == parents), "-".join(map(str, widths))),
        "clauses": len(nouns) - 1,
        "depth": max(depths),
        "relation": tuple(noun.relation for noun in nouns[1:]),
        "np.size": tuple(noun.size or "none" for noun in nouns),
        "np.color": tuple(noun.color or "none" for noun in nouns),
        "np.shape": tuple(noun.head for noun in nouns),
        "target.size": target.size,
        "target.color": target.color,
        "target.shape": target.shape,
        "direction": ("s" if down > 0 else "n" if down < 0 else "") + ("e" if right > 0 else "w" if right < 0 else ""),
        "distance": abs(down) + abs(right),
        "action_count": len(actions),
        "object_count": len(world.things),
        "grid_size": world.size,
        "interaction": "push" in actions or "pull" in actions,
        **{f"{name}_distractor": name in roles for name in ("relation", "attribute", "isomorphism", "random")},
    }


def _predicate_claim(example: Example, part: str) -> str:
    """The test satisfies the predicate of the split, and nothing else does."""
    text = str(example.meta.get("predicate", ""))
    try:
        said = understand(str(example.inputs["command"]))
    except Misread as problem:
        return f"its command cannot be read: {problem}"
    is_shown = holds(text, read_facets(example, said))
    if is_shown != (part == "test"):
        return f"it {'satisfies' if is_shown else 'does not satisfy'} {text!r}"
    facts = facts_of(example)
    return "" if part == "test" else next((why for rows, why in _part_judge(facts, part) if rows[0]), "")


CLAIMS: Mapping[str, Claim] = {
    "all": TableClaim(_all_judge),
    **{name: TableClaim(functools.partial(_pattern_judge, name)) for name in PARENTS},
    "two_clauses_rd": TableClaim(functools.partial(_pattern_judge, "two_clauses")),
    "pattern": TableClaim(_part_judge),
    **{name: TableClaim(functools.partial(_held_out_judge, name)) for name in HELD_OUT},
    "direction": TableClaim(functools.partial(_own_judge, _is_south_west)),
    "length": TableClaim(_length_judge),
    "adverb": TableClaim(_adverb_judge),
    "verb_adverb": TableClaim(functools.partial(_own_judge, _pulls_spinning)),
    "hold_out": _predicate_claim,
}
"""Split -> its claim. A new split needs its entry here. A plain function works too; it is called row by row."""
