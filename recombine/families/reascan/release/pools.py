"""The command lists of the release recipe: which commands a split has, how many worlds each, and which draws it keeps.

The commands of `simple`, `one_clause` and `two_clauses` are also those of `all` under the same seed.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recombine import kernels, keys
from recombine.errors import UsageError
from recombine.families.reascan.kernel import FLAG_RANDOM, FLAG_RELATION
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
from recombine.families.reascan.rows import grammar_of, saying_of
from recombine.families.reascan.splits import (
    ALL,
    DOES,
    HAS_PATTERN,
    IS_NEW_TRIO,
    RELATES,
    SAYS,
    SPLITS,
    Atom,
    Combination,
    pattern_code,
    says,
)
from recombine.grid.codes import ADVERBS, COLORS, RELATIONS, SHAPES, SIZE_WORDS, VERBS
from recombine.grid.matching import Description, Phrase

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORLDS = 180
COMMANDS = {"simple": 675, "one_clause": 2_025, "two_clauses": 3_375}


ALL_STRATEGIES = 15
ORDINARY, RANDOM_ONLY, RELATION_AND_RANDOM = 0, 1, 2
"""Names of the streams of worlds that splits share."""
SIZE_WORD, COLOR_WORD = 0, 1
"""Kinds of words that an attribute distractor changes."""
AIMS = {
    "a1": (COLOR_WORD, says(color="yellow", shape="square")),
    "a2": (COLOR_WORD, says(color="red", shape="square")),
    "a3": (SIZE_WORD, says(size="small", shape="cylinder")),
}
"""What the attribute distractor must change in a held-out set: the kind of word, and the phrase."""


@dataclass(frozen=True)
class Pool:
    """The commands of a part and how many worlds each has; which draws are kept, and the name of the stream of worlds."""

    forms: NDArray[np.int64]
    worlds: NDArray[np.int64]
    stream: str | int = ORDINARY
    strategies: int = ALL_STRATEGIES
    wanted: tuple[Combination, ...] = ()
    unwanted: tuple[Combination, ...] = ()
    aim: tuple[int, Atom] | None = None
    length: int = 0


def sample_forms(stream: keys.Stream, widths: Widths, count: int) -> list[int]:
    """Distinct structures, uniform, each with a uniform verb and adverb."""
    kernel = kernels.load("recombine.families.reascan.commands", compiled=False)
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
def shows(form: int, combination: Combination) -> bool | None:
    """Whether the command shows the combination; None if that depends on the world."""
    found = [_truth(decode_form(form), atoms) for atoms in combination]
    return True if True in found else None if None in found else False


def _truth(command: Command, atoms: tuple[Atom, ...]) -> bool | None:
    values = [_holds(command, atom) for atom in atoms]
    return False if False in values else None if None in values else True


def _holds(command: Command, atom: Atom) -> bool | None:
    """Whether one condition holds of the command; None if that depends on the world."""
    if atom.kind == SAYS:
        said = command.phrases[:1] if atom.first_only else command.phrases
        return any(_has_words(phrase, atom) for phrase in said)
    if atom.kind == RELATES:
        return RELATIONS[atom.a] in command.description.relations
    if atom.kind == DOES:
        is_verb = atom.a < 0 or command.verb == VERBS[atom.a]
        return is_verb and (atom.b < 0 or command.adverb == ADVERBS[atom.b])
    if atom.kind == HAS_PATTERN:
        return pattern_code(command.widths) == (atom.a, atom.b)
    return None


def _has_words(phrase: Phrase, atom: Atom) -> bool:
    is_size = atom.a < 0 or phrase.size == SIZE_WORDS[atom.a]
    is_color = atom.b < 0 or phrase.color == COLORS[atom.b]
    return is_size and is_color and (atom.c < 0 or phrase.shape == SHAPES[atom.c])


def held_out() -> tuple[Combination, ...]:
    """What training never shows. (The trios of b1 are those that the sampled commands do not have.)"""
    listed = (split.shows for split in SPLITS.values() if split.is_test_of_all and split.shows)
    return tuple(c for c in listed if not any(atom.kind == IS_NEW_TRIO for atoms in c for atom in atoms))


def _is_training(form: int) -> bool:
    return not any(shows(form, combination) for combination in held_out())


def _combined(seed: int) -> list[int]:
    """All commands of the combined data set."""
    return [form for name in ("two_clauses", "simple", "one_clause") for form in command_list(seed, name)]


def _aimed(form: int, split: str) -> float:
    """The share of a command's worlds whose attribute distractor changes the held-out word."""
    command, (_, words) = decode_form(form), AIMS[split]
    if len(command.phrases) == 3 and "inside" in command.description.relations:
        return 0.0
    able = [p for p in command.phrases if p.shape not in ("", "box")]
    hits = sum(_has_words(phrase, words) / (1 + bool(phrase.size) + bool(phrase.color)) for phrase in able)
    return hits / len(able) if able else 0.0


def _red_square_share(form: int) -> float:
    """The share of a command's worlds in which a mentioned object happens to be a red square."""
    miss = 1.0
    for phrase in decode_form(form).phrases:
        color = 1.0 if phrase.color == "red" else 0.25 if not phrase.color else 0.0
        shape = 1.0 if phrase.shape == "square" else 1 / 3 if not phrase.shape else 0.0
        miss *= 1 - color * shape
    return 1 - miss


def pool(split: str, part: str, seed: int) -> Pool:
    """The commands of a part under a seed."""
    about = SPLITS[split]
    if about.is_test_of_all or split == ALL or split in COMMANDS or about.random_only:
        return _published(split, seed)
    return _own(split, part == "test", seed)


@functools.cache
def _own(split: str, is_test: bool, seed: int) -> Pool:
    """A part of a split with training of its own: all commands of the combined set that its rule allows."""
    about = SPLITS[split]
    known = {widths for widths, _ in about.patterns}
    forms = [form for form in _combined(seed) if decode_form(form).widths in known]
    combinations = (about.shows,) if about.shows else ()
    if about.shows and not about.has_shots:
        forms = [form for form in forms if shows(form, about.shows) is not (not is_test)]
    if not forms:
        raise UsageError(f"split {split!r} has no commands under recipe 'release'.")
    wanted, unwanted = (combinations, ()) if is_test else ((), combinations)
    if about.has_shots:
        wanted, unwanted = (), ()
    length = 0 if not about.by_length else 2 if is_test else 1
    name = f"{split}/{'test' if is_test else 'train'}"
    return replace(_pool(forms, [WORLDS] * len(forms), name), wanted=wanted, unwanted=unwanted, length=length)


@functools.cache
def _published(split: str, seed: int) -> Pool:
    """The commands of a published split, or of another test set for models trained on `all`."""
    about = SPLITS[split]
    if split in COMMANDS:
        forms = list(command_list(seed, split))
        return _pool(forms, [WORLDS] * len(forms))
    if about.random_only:
        forms = list(command_list(seed, "two_clauses"))
        return _pool(forms, [WORLDS] * len(forms), RANDOM_ONLY, FLAG_RANDOM)
    if split == ALL:
        forms = [form for form in _combined(seed) if _is_training(form)]
        worlds = [round(WORLDS * (1 - _red_square_share(form))) for form in forms]
        return replace(_pool(forms, worlds, split), unwanted=held_out())
    stream = keys.Stream("reascan", "release", "commands", split, seed)
    size = about.parts["test"].rows("release")
    if split == "b2":
        forms = _b2_forms(stream, -(-size // WORLDS))
        return _pool(forms, [WORLDS] * len(forms))
    if split == "c1":
        count = -(-size // 3)
        forms = sample_forms(stream, PATTERNS["three_clauses"], count)
        return _pool(forms, [3] * count, RELATION_AND_RANDOM, FLAG_RELATION | FLAG_RANDOM)
    if split == "b1":
        return _pool(_b1_forms(stream, seed, -(-size // 3)), [3] * -(-size // 3))
    if split == "c2":
        return _c2_pool(stream, seed, -(-size // 3))
    forms = [form for form in _combined(seed) if shows(form, about.shows) is not False]
    if split in AIMS:
        shares = [_aimed(f, split) if shows(f, ((AIMS[split][1],),)) else _red_square_share(f) for f in forms]
        return replace(_pool(forms, [round(WORLDS * share) for share in shares], split), wanted=(about.shows,), aim=AIMS[split])
    if not forms:
        raise UsageError(f"split {split!r} has no commands under recipe 'release'.")
    return replace(_pool(forms, [WORLDS] * len(forms), split), wanted=(about.shows,))


def _pool(forms: list[int], worlds: list[int], stream: str | int = ORDINARY, strategies: int = ALL_STRATEGIES) -> Pool:
    """The commands that have worlds."""
    kept = [k for k, count in enumerate(worlds) if count > 0]
    return Pool(
        np.array([forms[k] for k in kept], dtype=np.int64),
        np.array([worlds[k] for k in kept], dtype=np.int64),
        stream,
        strategies,
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
    known = [form for form in command_list(seed, "two_clauses") if _is_training(form) and _is_in_line(form)]
    running = np.cumsum([round(WORLDS * (1 - _red_square_share(form))) for form in known])
    drawn = np.searchsorted(running, [stream.below(int(running[-1])) for _ in range(count)], side="right")
    return _pool([_nested(decode_form(form)) for form in known], [3 * int(n) for n in np.bincount(drawn, minlength=len(known))])


def _b2_forms(stream: keys.Stream, count: int) -> list[int]:
    """Two-clause commands that say both "same size" and "inside of"."""
    found: list[int] = []
    while len(found) < count:
        found += [
            f for f in sample_forms(stream, PATTERNS["two_clauses"], 500) if shows(f, SPLITS["b2"].shows) and f not in found
        ]
    return found[:count]


def _b1_forms(stream: keys.Stream, seed: int, count: int) -> list[int]:
    """Two-clause commands whose phrases and pair of relations are seen in training, the three phrases never together.

    They are the first ones in the order of the original's grammar, which begins with targets that have a shape and no other word.
    """
    seen = [decode_form(f) for f in _combined(seed) if _is_training(f)]
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
