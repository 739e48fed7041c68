"""The command lists of the release recipe: which commands a split has, how many worlds each, and which draws it keeps.

The commands of `simple`, `one_clause` and `two_clauses` are also those of `all` under the same seed.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recombine import kernels, keys
from recombine.errors import UsageError
from recombine.families.reascan.kernel import TAG_A1, TAG_A2, TAG_A3, TAG_B2
from recombine.families.reascan.plan import (
    N_DIGITS,
    N_MANNERS,
    PATTERNS,
    Command,
    Widths,
    broken_rules,
    decode_form,
    encode_form,
    roots,
)
from recombine.families.reascan.release import kernel as names
from recombine.families.reascan.rows import grammar_of, saying_of
from recombine.families.reascan.splits import SPLITS
from recombine.grid.codes import ADVERBS, COLORS, SHAPES, VERBS
from recombine.grid.matching import Description, Phrase

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORLDS = 180
COMMANDS = {"simple": 675, "one_clause": 2_025, "two_clauses": 3_375}


@dataclass(frozen=True)
class Pool:
    """The commands of a part and how many worlds each has; `keep` and `mode` are the kernel's."""

    forms: NDArray[np.int64]
    worlds: NDArray[np.int64]
    keep: int = names.KEEP_ALL
    mode: int = names.ALL_STRATEGIES


def sample_forms(stream: keys.Stream, widths: Widths, count: int) -> list[int]:
    """Distinct structures, uniform, each with a uniform verb and adverb."""
    kernel = kernels.load("recombine.families.reascan.kernel", compiled=False)
    grammar, said = grammar_of(((widths, 1),), 0), saying_of()
    rng = np.array([stream.bits()], dtype=np.uint64)
    found: dict[int, int] = {}
    while len(found) < count:
        form = int(
            kernel.draw_form(grammar.patterns[0], grammar.roots[0], grammar.steps, grammar.counts, said.codes, said.links, rng)
        )
        found.setdefault(form // N_MANNERS, form)
    return list(found.values())


@functools.cache
def command_list(seed: int, name: str) -> tuple[int, ...]:
    """The released number of commands of a pattern: all simple ones, samples of the others."""
    if name == "simple":
        found = []
        for code in roots(()):
            for manner in range(N_MANNERS):
                found.append((N_DIGITS + code) * N_MANNERS + manner)
        return tuple(found)
    return tuple(sample_forms(keys.Stream("reascan", "release", "commands", name, seed), PATTERNS[name], COMMANDS[name]))


@functools.cache
def _tags(form: int) -> int:
    """The held-out combinations that a command's words show (A1, A2 by its words, A3, B2)."""
    command = decode_form(form)
    tags = 0
    for phrase in command.phrases:
        tags |= TAG_A1 if (phrase.color, phrase.shape) == ("yellow", "square") else 0
        tags |= TAG_A2 if (phrase.color, phrase.shape) == ("red", "square") else 0
        tags |= TAG_A3 if (phrase.size, phrase.shape) == ("small", "cylinder") else 0
    relations = command.description.relations
    return tags | (TAG_B2 if "size" in relations and "inside" in relations else 0)


def _combined(seed: int) -> list[int]:
    """All commands of the combined data set."""
    return [form for name in ("two_clauses", "simple", "one_clause") for form in command_list(seed, name)]


def _aimed(form: int, tag: int) -> float:
    """The share of a command's worlds whose attribute distractor changes the held-out word."""
    command = decode_form(form)
    if len(command.phrases) == 3 and "inside" in command.description.relations:
        return 0.0
    able = [p for p in command.phrases if p.shape not in ("", "box")]
    hits = 0.0
    for phrase in able:
        is_hit = {
            TAG_A1: (phrase.color, phrase.shape) == ("yellow", "square"),
            TAG_A2: (phrase.color, phrase.shape) == ("red", "square"),
            TAG_A3: (phrase.size, phrase.shape) == ("small", "cylinder"),
        }[tag]
        hits += is_hit / (1 + bool(phrase.size) + bool(phrase.color))
    return hits / len(able) if able else 0.0


def _red_square_share(form: int) -> float:
    """The share of a command's worlds in which a mentioned object happens to be a red square."""
    miss = 1.0
    for phrase in decode_form(form).phrases:
        color = 1.0 if phrase.color == "red" else 0.25 if not phrase.color else 0.0
        shape = 1.0 if phrase.shape == "square" else 1 / 3 if not phrase.shape else 0.0
        miss *= 1 - color * shape
    return 1 - miss


@functools.cache
def pool(split: str, seed: int) -> Pool:
    """The commands of a split under a seed."""
    if split in COMMANDS:
        forms = list(command_list(seed, split))
        return _pool(forms, [WORLDS] * len(forms))
    if split == "two_clauses_rd":
        forms = list(command_list(seed, "two_clauses"))
        return _pool(forms, [WORLDS] * len(forms), mode=names.RANDOM_ONLY)
    if split == "all":
        forms = [form for form in _combined(seed) if _tags(form) == 0]
        worlds = [round(WORLDS * (1 - _red_square_share(form))) for form in forms]
        return _pool(forms, worlds, names.KEEP_NO_RED_SQUARE)
    if split in ("a1", "a3"):
        tag, keep = (TAG_A1, names.KEEP_A1) if split == "a1" else (TAG_A3, names.KEEP_A3)
        forms = [form for form in _combined(seed) if _tags(form) & tag]
        return _pool(forms, [round(WORLDS * _aimed(form, tag)) for form in forms], keep)
    if split == "a2":
        forms = _combined(seed)
        shares = [_aimed(f, TAG_A2) if _tags(f) & TAG_A2 else _red_square_share(f) for f in forms]
        return _pool(forms, [round(WORLDS * share) for share in shares], names.KEEP_A2)
    stream = keys.Stream("reascan", "release", "commands", split, seed)
    size = SPLITS[split].parts["test"].rows("release")
    if split == "b2":
        forms = _b2_forms(stream, -(-size // WORLDS))
        return _pool(forms, [WORLDS] * len(forms))
    if split == "c1":
        return _pool(
            sample_forms(stream, PATTERNS["three_clauses"], -(-size // 3)), [3] * -(-size // 3), mode=names.RELATION_AND_RANDOM
        )
    if split == "b1":
        return _pool(_b1_forms(stream, seed, -(-size // 3)), [3] * -(-size // 3))
    if split == "c2":
        return _c2_pool(stream, seed, -(-size // 3))
    raise UsageError(f"split {split!r} has no recipe 'release'.")


def _pool(forms: list[int], worlds: list[int], keep: int = names.KEEP_ALL, mode: int = names.ALL_STRATEGIES) -> Pool:
    """The commands that have worlds."""
    kept = [k for k, count in enumerate(worlds) if count > 0]
    return Pool(
        np.array([forms[k] for k in kept], dtype=np.int64), np.array([worlds[k] for k in kept], dtype=np.int64), keep, mode
    )


def _is_in_line(form: int) -> bool:
    return set(decode_form(form).description.relations[1:]) <= {"row", "column"}


def _nested(command: Command) -> int:
    """The same two clauses with the second one inside the first."""
    said = command.description
    return encode_form(Command(command.verb, command.adverb, Description(said.phrases, (-1, 0, 1), said.relations)))


def _c2_pool(stream: keys.Stream, seed: int, count: int) -> Pool:
    """Nested commands, three worlds for each of `count` two-clause training examples in row and column.

    The original goes through training examples, not through commands, so that a command comes as often as it is drawn.
    """
    known = [form for form in command_list(seed, "two_clauses") if _tags(form) == 0 and _is_in_line(form)]
    running = np.cumsum([round(WORLDS * (1 - _red_square_share(form))) for form in known])
    drawn = np.searchsorted(running, [stream.below(int(running[-1])) for _ in range(count)], side="right")
    return _pool([_nested(decode_form(form)) for form in known], [3 * int(n) for n in np.bincount(drawn, minlength=len(known))])


def _b2_forms(stream: keys.Stream, count: int) -> list[int]:
    """Two-clause commands that say both "same size" and "inside of"."""
    found: list[int] = []
    while len(found) < count:
        found += [f for f in sample_forms(stream, PATTERNS["two_clauses"], 500) if _tags(f) & TAG_B2 and f not in found]
    return found[:count]


def _b1_forms(stream: keys.Stream, seed: int, count: int) -> list[int]:
    """Two-clause commands whose phrases and pair of relations are seen in training, the three phrases never together.

    They are the first ones in the order of the original's grammar, which begins with targets that have a shape and no other word.
    """
    seen = [decode_form(f) for f in _combined(seed) if _tags(f) == 0]
    phrases = {phrase for command in seen for phrase in command.phrases}
    trios = {frozenset(command.phrases) for command in seen}
    pairs = {frozenset(command.description.relations[1:]) for command in seen if len(command.phrases) == 3}
    found: list[int] = []
    for said in _in_listed_order():
        is_new = frozenset(said.phrases) not in trios and set(said.phrases) <= phrases
        if is_new and frozenset(said.relations[1:]) in pairs:
            found.append(encode_form(Command(stream.choice(VERBS), stream.choice(ADVERBS), said)))
        if len(found) == count:
            break
    return found


def _in_listed_order() -> Iterator[Description]:
    """Two-clause descriptions as the original's grammar lists them: which words there are, then the relations, then the words."""
    kinds = list(itertools.product((False, True), (False, True), (True, False)))
    for patterns in itertools.product(kinds, repeat=3):
        for pair in itertools.permutations(("row", "column", "inside", "size", "color", "shape"), 2):
            options = [_phrases(*pattern, relation) for pattern, relation in zip(patterns, ("", *pair), strict=True)]
            for phrases in itertools.product(*options):
                said = Description(phrases, (-1, 0, 0), ("", *pair))
                if not broken_rules(Command("walk", "", said)):
                    yield said


def _phrases(has_size: bool, has_color: bool, has_shape: bool, relation: str) -> list[Phrase]:
    """The phrases with these kinds of words that can hang by a relation: only a box can be what something is inside of."""
    heads: tuple[str, ...] = SHAPES[:3] if has_shape else ("",)
    if relation == "inside":
        heads = ("box",) if has_shape else ()
    sizes, colors = ("big", "small") if has_size else ("",), COLORS if has_color else ("",)
    return [Phrase(*words) for words in itertools.product(sizes, colors, heads)]
