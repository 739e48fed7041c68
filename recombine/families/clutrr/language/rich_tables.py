"""The kernel's tables of the rich style: which frames fit which clauses, and everything as arrays."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.errors import UnknownName
from recombine.families.clutrr import kinship
from recombine.families.clutrr.language import kinwords, store
from recombine.families.clutrr.language.kernel import BASE, EVENT, FLAVOURED, LITERAL, NAME, PRONOUN, TIME
from recombine.families.clutrr.language.rich import (
    CLASSES,
    DENIAL,
    FILLS,
    FIRST,
    FLAVOURS,
    PLACES,
    PLURAL,
    RichFrame,
    fillings,
    frames,
    register_lines,
    times,
)  # fmt: skip

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

# --- whom a frame fits ------------------------------------------------------------------------------------------------

_END_OF_SENTENCE = re.compile(r'[.!?]"? ')


def shown(frame: RichFrame) -> frozenset[int]:
    """The people whose gender the frame's own words show."""
    found = {op.b for op in frame.ops if op.kind >= FLAVOURED and op.kind != DENIAL}
    found |= {op.a for op in frame.ops if op.kind == PRONOUN}
    if any(op.kind == PLURAL for op in frame.ops):
        found |= {0, 2}  # the plural shows both
    return frozenset(found)


def fits(frame: RichFrame, genders: Sequence[int]) -> bool:
    """Whether every pronoun of the frame, told of people of these genders, has one possible owner.

    Possible owners are the people mentioned earlier in the sentence whose gender fits or is not yet shown. If there is none, they
    are those of the sentence before. A person who is being described (`Y, his aunt,`) does not count.
    """
    here: set[int] = set()
    before: set[int] = set()
    known: set[int] = set()
    ops = frame.ops
    for i, op in enumerate(ops):
        if op.kind == LITERAL and _END_OF_SENTENCE.search(op.text):
            here, before = set(), here
        elif op.kind == NAME:
            here.add(op.a)
        elif op.kind >= FLAVOURED:
            people = {0, 2} if op.kind == PLURAL else {op.b}
            here |= people
            known |= people
        elif op.kind == PRONOUN and op.b == 1:
            here.add(op.a)
            known.add(op.a)
        elif op.kind == PRONOUN:
            described = _described(ops, i)
            for scope in (here, before):
                possible = {p for p in scope if p != described and (p not in known or genders[p] == genders[op.a])}
                if possible:
                    break
            if possible != {op.a}:
                return False
            known.add(op.a)
    return True


def _described(ops: Sequence[store.Op], i: int) -> int:
    """The person that a phrase such as `Y, his aunt` describes, with the pronoun at place i; -1 if there is no such phrase."""
    if i < 2 or i + 2 >= len(ops) or ops[i - 1].text != ", " or ops[i - 2].kind != NAME or ops[i + 2].kind < FLAVOURED:
        return -1
    return ops[i - 2].a if ops[i + 2].b == ops[i - 2].a else -1


def _signature(frame: RichFrame) -> tuple[Any, ...]:
    """What `fits` depends on."""
    return tuple(
        (op.kind, op.a, op.b, op.text if op.kind == LITERAL and op.text == ", " else bool(_END_OF_SENTENCE.search(op.text)))
        for op in frame.ops
        if op.kind not in (EVENT, TIME)
    )


class _Clauses:
    """All clauses of k facts as arrays: keys, relation codes between neighbours in both directions, and genders."""

    def __init__(self, k: int, mirrored: bool) -> None:
        codes = np.array(list(itertools.product(range(len(kinship.RELATIONS)), repeat=k)), np.int64)
        first = np.repeat(np.array([0, 1]), len(codes))
        codes = np.concatenate([codes, codes])
        gender = np.column_stack([first, np.array(kinship.GENDER)[codes]])
        fine = np.ones(len(codes), np.bool_)
        for i in range(k):
            fine &= (codes[:, i] // 2 != kinship.SPOUSE) | (gender[:, i] != gender[:, i + 1])
        codes, gender = codes[fine], gender[fine]
        key = np.zeros(len(codes), np.int64)
        for i in range(3):
            key = key * BASE + (codes[:, i] + 1 if i < k else 0)
        self.keys = key * 2 + gender[:, 0]
        back = 2 * np.array(kinship.INVERSE)[codes // 2] + 1 - gender[:, :-1]
        self.there: Array = back[:, ::-1] if mirrored else codes
        self.back: Array = codes[:, ::-1] if mirrored else back
        self.gender: Array = gender[:, ::-1] if mirrored else gender
        self.combination = (self.gender << np.arange(k + 1)).sum(1)

    def admits(self, condition: str) -> Array:
        """The clauses of which a condition holds."""
        if condition == "same":
            found: Array = (self.back[:, 0] == self.there[:, 1]) & (self.there[:, 1] // 2 != kinship.SPOUSE)
            return found
        a = PLACES.index(condition[0])
        if condition[1] == ":":
            found = self.gender[:, a] == "fm".index(condition[2])
        elif condition[1] in "=!":
            found = (self.gender[:, a] == self.gender[:, PLACES.index(condition[2])]) == (condition[1] == "=")
        else:
            b = PLACES.index(condition[1])
            codes = self.there[:, a] if b == a + 1 else self.back[:, b]
            names = condition[3:].split(",")
            found = np.isin(codes // 2, [kinwords.NEUTRAL_NAMES[name] for name in names]) == (condition[2] == ":")
        return found


def _index(chosen: Sequence[int]) -> tuple[Array, Array, Array]:
    """(candidates, first, counts by class) of every clause key: which frames, told which way, may word it."""
    every = frames()
    first, counts = np.zeros(BASE**3 * 2, np.int32), np.zeros((BASE**3 * 2, len(CLASSES)), np.int32)
    pieces, at = [], 0
    for k in (1, 2, 3):
        own = sorted((n for n in chosen if every[n].facts == k), key=lambda n: (every[n].kind, n))
        told = [(n, mirrored) for n in own for mirrored in (0, 1)]
        sides = [_Clauses(k, False), _Clauses(k, True)]
        some, group = _alike(sides, {condition for n in own for condition in every[n].conditions})
        masks = np.zeros((len(told), len(some)), np.bool_)
        for row, (n, mirrored) in enumerate(told):
            masks[row] = _mask(every[n], sides[mirrored], mirrored, some)
        kinds = np.array([every[n].kind for n, _ in told])
        sizes = np.stack([masks[kinds == kind].sum(0) for kind in range(len(CLASSES))], axis=1)
        pieces.append(np.array([2 * n + m for n, m in told], np.int32)[np.nonzero(masks.T)[1]])
        starts = at + np.concatenate([[0], np.cumsum(sizes.sum(1))[:-1]])
        first[sides[0].keys], counts[sides[0].keys] = starts[group], sizes[group]
        at += int(sizes.sum())
    return np.concatenate(pieces), first, counts


def _alike(sides: Sequence[_Clauses], conditions: set[str]) -> tuple[Array, Array]:
    """(one clause of every group, the group of every clause); frames cannot tell the clauses of a group apart."""
    told = [side.combination for side in sides]
    told += [side.admits(condition) for side in sides for condition in sorted(conditions)]
    _, some, group = np.unique(np.stack(told, axis=1).astype(np.int64), axis=0, return_index=True, return_inverse=True)
    return some, group.reshape(-1)


def _mask(frame: RichFrame, clauses: _Clauses, mirrored: int, some: Array) -> Array:
    """Which of some clauses a frame can word when it is told in this direction."""
    needed = set(range(frame.facts)) if mirrored else set(range(1, frame.facts + 1))
    if not needed <= shown(frame):
        return np.zeros(len(some), np.bool_)
    found: Array = _fitting(_signature(frame), frame)[clauses.combination[some]]
    for condition in frame.conditions:
        found = found & clauses.admits(condition)[some]
    return found


_FITTING: dict[tuple[Any, ...], Array] = {}


def _fitting(signature: tuple[Any, ...], frame: RichFrame) -> Array:
    """For each combination of genders, whether a frame of this signature fits; frames of one signature are judged once."""
    if signature not in _FITTING:
        people = range(frame.facts + 1)
        _FITTING[signature] = np.array([fits(frame, [(c >> p) & 1 for p in people]) for c in range(2 << frame.facts)])
    return _FITTING[signature]


# --- tables -----------------------------------------------------------------------------------------------------------


@functools.cache
def tables(portion: store.Portion = "all", fraction: float = 1.0, coreference: float = 0.35, colloquial: float = 0.5,
           register: str = "plain") -> store.Tables:  # fmt: skip
    """The kernel's tables for a portion of the frames. `coreference` and `colloquial` are the shares of such frames and words."""
    if portion not in store.PORTIONS:
        raise UnknownName("portion of the paraphrase store", portion, store.PORTIONS)
    if register not in kinship.REGISTERS:
        raise UnknownName("register", register, kinship.REGISTERS)
    found, lines = _written()
    candidates, first, counts = _candidates(portion, fraction)
    return found._replace(
        candidates=candidates, first=first, counts=counts.sum(1).astype(np.int32), by_class=counts,
        coreference=float(coreference), colloquial=float(colloquial), register_lines=lines[register],
    )  # fmt: skip


@functools.cache
def _candidates(portion: store.Portion, fraction: float) -> tuple[Array, Array, Array]:
    """The index of a portion, cut down to a fraction of each class of frames (at least one)."""
    groups: dict[tuple[str, int, int], list[int]] = {}
    for number, frame in enumerate(frames()):
        if portion in (frame.side, "all"):
            groups.setdefault((frame.side, frame.facts, frame.kind), []).append(number)
    return _index(sorted(n for own in groups.values() for n in own[: max(1, round(len(own) * fraction))]))


@functools.cache
def _written() -> tuple[store.Tables, dict[str, Array]]:
    """The tables without candidates, and the lines of every register."""
    every, pool = frames(), store.Pool()
    numbers = {part: i for i, part in enumerate(sorted({part for frame in every for part in frame.parts}))}
    nouns = sorted({op.text for frame in every for op in frame.ops if op.kind == PRONOUN and op.b == 1})
    pairs = [*store.PRONOUNS.values(), *(tuple(text.split("|")) for text in nouns)]
    place = {word: i for i, word in enumerate([*store.PRONOUNS, *nouns])}
    ops = [_packed(op, pool, place) for frame in every for op in frame.ops]
    parts = np.full((len(every), max(len(frame.parts) for frame in every)), -1, np.int32)
    for row, frame in enumerate(every):
        parts[row, : len(frame.parts)] = [numbers[part] for part in frame.parts]
    fields = store.no_fillings() | store.kin_arrays(pool)
    fields |= {
        "pronouns": np.array([[pool.add(form) for form in pair] for pair in pairs], np.int32),
        "kin": np.array([[[pool.add(word) for word in row] for row in kinwords.variants(f)] for f in FLAVOURS], np.int32),
        "first_number": FIRST, "fills": FILLS, "parts": parts, "longest": 3, "templates": fillings(), "ops": np.array(ops, np.int32),
        "frame_start": np.cumsum([0] + [len(frame.ops) for frame in every]).astype(np.int32),
        "events": np.array([[pool.add(form) for form in event] for event in store.events()], np.int32),
        "times": np.array([[pool.add(form) for form in time] for time in times()], np.int32),
    }  # fmt: skip
    nothing = np.zeros(0, np.int32)
    lines = {register: _register_lines(register, pool) for register in kinship.REGISTERS}
    return store.Tables(**fields, candidates=nothing, first=nothing, counts=nothing, pool=pool.bytes()), lines


def _packed(op: store.Op, pool: store.Pool, place: dict[str, int]) -> tuple[int, int, int]:
    if op.kind == LITERAL:
        return (LITERAL, *pool.add(op.text))
    if op.kind == PRONOUN:
        return PRONOUN, op.a, place[op.text]
    return op.kind, op.a, op.b


def _register_lines(register: str, pool: store.Pool) -> Array:
    """[3, lines, 2]: the lines of the register in the pool, as often as needed to be equally many; none for `plain`."""
    lines = register_lines(register)
    most = max(len(one) for one in lines)
    return np.array([[pool.add(one[i % len(one)]) for i in range(most)] for one in lines], np.int32).reshape(3, most, 2)
