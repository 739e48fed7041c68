"""Commands: their words, their rules, how many there are, and any one of them by number.

A command is a verb, noun phrases that hang together by relations, and an adverb. "that is" hangs a phrase on the one just said,
"and" on the same one as the phrase just said, so a pattern is the list of its clause widths: () simple, (1,) one clause,
(2,) two clauses, (3,) three, (1, 1) nested, and so on in depth and width.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from recombine.errors import BadOption, UsageError, shown
from recombine.grid import wording
from recombine.grid.codes import ADVERBS, COLORS, RELATIONS, SHAPES, SIZE_WORDS, VERBS
from recombine.grid.matching import Description, Phrase, admits, phrase_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Widths = tuple[int, ...]
PATTERNS: Mapping[str, Widths] = MappingProxyType(
    {"simple": (), "one_clause": (1,), "two_clauses": (2,), "three_clauses": (3,), "nested": (1, 1)}
)
MAX_PHRASES = 6
VERB_WORDS = ("walk to", "push", "pull")
RELATION_WORDS = (
    "in the same row as",
    "in the same column as",
    "in the same color as",
    "in the same shape as",
    "in the same size as",
    "inside of",
)
N_PHRASES, N_ADVERBS, N_MANNERS = 75, 5, 15
"""How many phrases, adverbs, and pairs of verb and adverb there are. A phrase's code is (size word * 5 + colour + 1) * 5 + shape + 1."""
N_DIGITS = 2 * 6 * N_PHRASES
"""A digit of a form: relation, whether the phrase hangs on the one before it, and the phrase."""
MAX_COMMAND = 2_000
"""Longest command text that is parsed, in characters."""


@dataclass(frozen=True)
class Command:
    """What is said: verb, adverb, phrases and how they hang together (`description`)."""

    verb: str
    adverb: str
    description: Description

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """The noun phrases in the order in which they are said."""
        return self.description.phrases

    @property
    def widths(self) -> Widths:
        """The pattern: how many clauses hang on the root, on its last child, and so on."""
        widths: list[int] = []
        for k, parent in enumerate(self.description.parents):
            if k == 0:
                continue
            if k > 1 and parent == self.description.parents[k - 1]:
                widths[-1] += 1
            else:
                widths.append(1)
        return tuple(widths)


# --- patterns --------------------------------------------------------------------------------------------------------


def parents_of(widths: Sequence[int]) -> tuple[int, ...]:
    """Which phrase each phrase hangs on; -1 for the first."""
    parents, last = [-1], 0
    for width in widths:
        parents += [last] * width
        last = len(parents) - 1
    return tuple(parents)


def parse_pattern(text: str) -> Widths:
    """`2`, `1-1`, `2-1`: the widths of a pattern written as an option; a name of PATTERNS works too."""
    if text in PATTERNS:
        return PATTERNS[text]
    if not re.fullmatch(r"[1-6](-[1-6])*", text) or sum(int(w) for w in text.split("-")) >= MAX_PHRASES:
        names = ", ".join(PATTERNS)
        raise BadOption(
            f"option pattern is {shown(text)}, but takes widths such as 2 or 1-1-1 ({MAX_PHRASES} phrases at most) or {names}."
        )
    widths = tuple(int(w) for w in text.split("-"))
    if max(widths) > len(RELATIONS):
        raise BadOption(f"option pattern is {shown(text)}, but only {len(RELATIONS)} relations can stand side by side.")
    return widths


# --- the rules -------------------------------------------------------------------------------------------------------


def phrase_code(phrase: Phrase) -> int:
    """The phrase as a number below 75."""
    color = COLORS.index(phrase.color) + 1 if phrase.color else 0
    shape = SHAPES.index(phrase.shape) + 1 if phrase.shape else 0
    return (SIZE_WORDS.index(phrase.size) * 5 + color) * 5 + shape


def may_be_root(phrase: Phrase, widths: Sequence[int]) -> bool:
    """Whether a command of this pattern may begin with the phrase: never a box; a simple one needs a shape."""
    return phrase.shape != "box" and (bool(phrase.shape) or bool(widths))


def broken_rules(command: Command) -> list[str]:
    """The grammar's rules that the command breaks, as sentences; empty if it can be said."""
    said, phrases = command.description, command.phrases
    found = []
    if not may_be_root(phrases[0], command.widths):
        found.append(f"a command cannot ask for {str(phrases[0])!r}")
    for k in range(1, len(phrases)):
        if not admits(phrases[said.parents[k]], said.relations[k], phrases[k]):
            found.append(f"{str(phrases[said.parents[k]])!r} cannot be related to {str(phrases[k])!r} by {said.relations[k]!r}")
    for a, b in itertools.combinations(range(1, len(phrases)), 2):
        if said.parents[a] == said.parents[b] and said.relations[a] == said.relations[b]:
            found.append(f"two clauses of one phrase say {said.relations[a]!r}")
    if len(set(phrases)) < len(phrases):
        found.append("two phrases are the same")
    return found


@functools.cache
def steps() -> tuple[tuple[int, ...], ...]:
    """For each phrase code, every clause that can hang on it, as relation * 75 + child code, in order."""
    phrases = [phrase_of(code) for code in range(N_PHRASES)]
    return tuple(
        tuple(
            r * N_PHRASES + c for r, name in enumerate(RELATIONS) for c in range(N_PHRASES) if admits(parent, name, phrases[c])
        )
        for parent in phrases
    )


@functools.cache
def step_table() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(table[75, most], counts[75]) of `steps`, as the kernels take it."""
    import numpy as np

    listed = steps()
    counts = np.array([len(row) for row in listed], dtype=np.int64)
    table = np.zeros((N_PHRASES, int(counts.max())), dtype=np.int64)
    for code, row in enumerate(listed):
        table[code, : len(row)] = row
    return table, counts


# --- counting --------------------------------------------------------------------------------------------------------


def roots(widths: Sequence[int]) -> tuple[int, ...]:
    """The codes of the phrases with which a command of this pattern can begin."""
    return tuple(code for code in range(N_PHRASES) if may_be_root(phrase_of(code), widths))


def count_structures(widths: Widths) -> int:
    """How many commands the pattern has, verbs and adverbs aside: by inclusion and exclusion, without listing them.

    45, 5,050, 302,548 and 11,784,024 for none to three clauses, 383,470 for the nested pattern.
    """
    if not widths:
        return len(roots(widths))
    if len(widths) == 1 and widths[0] <= len(RELATIONS):
        return sum(_stars(code, widths[0]) for code in roots(widths))
    if widths == (1, 1):
        return sum(
            sum(1 for next_step in steps()[step % N_PHRASES] if next_step % N_PHRASES != root)
            for root in roots(widths)
            for step in steps()[root]
        )
    return sum(1 for _ in each_structure(widths))


def _stars(root: int, width: int) -> int:
    """Ordered ways to hang `width` clauses with different relations and different phrases on one root."""
    sets = [frozenset(s % N_PHRASES for s in steps()[root] if s // N_PHRASES == r) for r in range(len(RELATIONS))]
    total = 0
    for chosen in itertools.permutations(sets, width):
        total += sum(sign * weight for sign, weight in _merged(chosen))
    return total


def _merged(chosen: Sequence[frozenset[int]]) -> Iterator[tuple[int, int]]:
    """The Möbius terms of "all different": over set partitions, the sizes of the blocks' intersections."""
    for blocks in _partitions(list(range(len(chosen)))):
        sign, weight = 1, 1
        for block in blocks:
            for factor in range(1, len(block)):
                sign *= -factor
            weight *= len(frozenset.intersection(*(chosen[i] for i in block)))
        yield sign, weight


def _partitions(items: list[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in _partitions(rest):
        yield [[first], *partition]
        for i, block in enumerate(partition):
            yield [*partition[:i], [first, *block], *partition[i + 1 :]]


def each_structure(widths: Widths) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every structure of the pattern as (phrase codes, relation codes), in the order of their numbers."""
    parents = parents_of(widths)

    def extend(codes: tuple[int, ...], relations: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        k = len(codes)
        if k == len(parents):
            yield codes, relations
            return
        siblings = {relations[i] for i in range(1, k) if parents[i] == parents[k]}
        for step in steps()[codes[parents[k]]]:
            relation, code = divmod(step, N_PHRASES)
            if relation not in siblings and code not in codes:
                yield from extend((*codes, code), (*relations, relation))

    for root in roots(widths):
        yield from extend((root,), (-1,))


def is_dead(command: Command) -> bool:
    """Whether no world can make every word of the command necessary and mean one object; such commands are never drawn.

    There are two kinds, both with a clause inside a clause. "the red circle that is in the same row as a square that is in the same
    row as a circle": the last circle may be the first. "the small red circle … a square that is in the same size as a red circle":
    whatever size the square has, the size word of the first phrase sees to a red circle of that size.
    """
    said = command.description
    for k in range(2, len(said.phrases)):
        parent = said.parents[k]
        if parent > 0 and k not in said.parents and said.relations[k] == said.relations[parent]:
            first, last = said.phrases[said.parents[parent]], said.phrases[k]
            if last.size in ("", first.size) and last.color in ("", first.color) and last.shape in ("", first.shape):
                return True
    if len(said.phrases) != 3 or said.parents[2] != 1 or said.relations[2] != "size":
        return False
    first, last = said.phrases[0], said.phrases[2]
    return bool(first.size and first.color and first.shape) and (first.color, first.shape) == (last.color, last.shape)


def dead_structures(widths: Widths) -> Iterator[Command]:
    """The pattern's commands that cannot be generated soundly, as walking commands without adverb."""
    if widths != PATTERNS["nested"]:
        return
    for codes, relations in each_structure(widths):
        said = Description(tuple(phrase_of(c) for c in codes), parents_of(widths), ("", *(RELATIONS[r] for r in relations[1:])))
        if is_dead(Command("walk", "", said)):
            yield Command("walk", "", said)


# --- forms -----------------------------------------------------------------------------------------------------------


def encode_form(command: Command) -> int:
    """The command (determiners aside) as one number; `decode_form` gives it back."""
    said = command.description
    value = 1
    for k, phrase in enumerate(command.phrases):
        relation = RELATIONS.index(said.relations[k]) if k else 0
        is_deeper = 1 if k and said.parents[k] == k - 1 else 0
        value = value * N_DIGITS + (relation * 2 + is_deeper) * N_PHRASES + phrase_code(phrase)
    return value * N_MANNERS + VERBS.index(command.verb) * N_ADVERBS + ADVERBS.index(command.adverb)


def decode_form(form: int) -> Command:
    """The command with this number."""
    value, manner = divmod(form, N_MANNERS)
    digits: list[int] = []
    while value > 1:
        value, digit = divmod(value, N_DIGITS)
        digits.append(digit)
    if value != 1 or not 1 <= len(digits) <= MAX_PHRASES:
        raise UsageError(f"{shown(form)} is not the number of a command.")
    digits.reverse()
    phrases, parents, relations = [], [-1], [""]
    for k, digit in enumerate(digits):
        link, code = divmod(digit, N_PHRASES)
        phrases.append(phrase_of(code))
        if k:
            parents.append(k - 1 if link % 2 else parents[k - 1])
            relations.append(RELATIONS[link // 2])
    return Command(
        VERBS[manner // N_ADVERBS], ADVERBS[manner % N_ADVERBS], Description(tuple(phrases), tuple(parents), tuple(relations))
    )


# --- text ------------------------------------------------------------------------------------------------------------


def format_command(command: Command, determiners: Sequence[str]) -> str:
    """The command in words: "push the red circle that is in the same row as a big square hesitantly"."""
    said = command.description
    words = [VERB_WORDS[VERBS.index(command.verb)]]
    for k, phrase in enumerate(command.phrases):
        if k:
            words.append("that is" if said.parents[k] == k - 1 else "and")
            words.append(RELATION_WORDS[RELATIONS.index(said.relations[k])])
        words += [determiners[k], str(phrase)]
    if command.adverb:
        words.append(command.adverb)
    return " ".join(words)


_PHRASE = r"(the|a) (?:(small|big) )?(?:(red|blue|green|yellow) )?(circle|cylinder|square|box|object)"
_COMMAND = re.compile(
    rf"(walk to|push|pull) ({_PHRASE}(?: (?:that is|and) (?:{'|'.join(RELATION_WORDS)}) {_PHRASE}){{0,{MAX_PHRASES - 1}}})"
    rf"(?: (?P<adverb>{'|'.join(ADVERBS[1:])}))?"
)
_CLAUSE = re.compile(rf"(?:(that is|and) ({'|'.join(RELATION_WORDS)}) )?{_PHRASE}")


def parse_command(text: str) -> tuple[Command, tuple[str, ...]]:
    """(command, determiners) of a text in plain words; anything else is an error that shows it."""
    match = _COMMAND.fullmatch(text) if len(text) <= MAX_COMMAND else None
    if match is None:
        raise UsageError(f"{shown(text)} is not a command of this grammar.")
    phrases, parents, relations, determiners = [], [-1], [""], []
    for k, clause in enumerate(_CLAUSE.finditer(match[2])):
        link, relation, determiner, size, color, head = clause.groups()
        phrases.append(Phrase(size or "", color or "", "" if head == "object" else head))
        determiners.append(determiner)
        if k == 0:
            continue
        if link == "and" and k == 1:
            raise UsageError(f"{shown(text)} is not a command of this grammar: its first clause begins with 'and'.")
        parents.append(k - 1 if link == "that is" else parents[k - 1])
        relations.append(RELATIONS[RELATION_WORDS.index(relation)])
    description = Description(tuple(phrases), tuple(parents), tuple(relations))
    return Command(VERBS[VERB_WORDS.index(match[1])], match["adverb"] or "", description), tuple(determiners)


def parse_any(text: str) -> tuple[Command, tuple[str, ...]]:
    """(command, determiners) of a text in plain or natural wording; anything else is an error that shows it."""
    said = None if len(text) > MAX_COMMAND or _COMMAND.fullmatch(text) else wording.read(text)
    return _of_spoken(said) if said is not None and len(said.nouns) <= MAX_PHRASES else parse_command(text)


def spoken(text: str) -> wording.Spoken:
    """A command, given as text, as natural wording takes it."""
    command, determiners = parse_any(text)
    said = command.description
    nouns = tuple((d, p.size, p.color, p.shape or "object") for d, p in zip(determiners, said.phrases, strict=True))
    links = tuple((said.parents[k] == k - 1, said.relations[k]) for k in range(1, len(nouns)))
    return wording.Spoken(command.verb, command.adverb, nouns, links)


def _of_spoken(said: wording.Spoken) -> tuple[Command, tuple[str, ...]]:
    parents = [-1]
    for k, (is_deeper, _) in enumerate(said.links):
        parents.append(k if is_deeper else parents[k])
    phrases = tuple(Phrase(size, color, "" if head == "object" else head) for _, size, color, head in said.nouns)
    relations = ("", *(relation for _, relation in said.links))
    return Command(said.verb, said.adverb, Description(phrases, tuple(parents), relations)), tuple(n[0] for n in said.nouns)


def spellings() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Every piece of text that a kernel needs to spell a command, end to end, and where each begins.

    Pieces 0–2 verbs, 3–6 adverbs with their space, 7–12 " that is …", 13–18 " and …", 19 " a", 20 " the", 21–95 phrases.
    """
    import numpy as np

    pieces = [*VERB_WORDS, *(f" {adverb}" for adverb in ADVERBS[1:])]
    pieces += [f" that is {words}" for words in RELATION_WORDS] + [f" and {words}" for words in RELATION_WORDS]
    pieces += [" a", " the", *(f" {phrase_of(code)}" for code in range(N_PHRASES))]
    raw: Any = [piece.encode() for piece in pieces]
    offsets = np.concatenate([[0], np.cumsum([len(piece) for piece in raw])]).astype(np.int64)
    return np.frombuffer(b"".join(raw), dtype=np.uint8), offsets
