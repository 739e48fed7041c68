"""Trains the scene machine from statements, scenes and labels, without programs.

Every training statement comes with a few scenes in which it is true or false. A pool of programs proposes readings; nothing says which
program belongs to which statement. `Universe` puts the statement's colours, shapes and numbers into the pool's programs. A reading is
consistent if it gives every labelled scene its label. `Aligner` is a log-linear model over pairs of a word and a program token; it learns
by raising the probability of all consistent readings against all others. Its choice for each statement then teaches the
usual machine; the machine's own suggestions join the pool if they are consistent (self-training).

Built in: what programs mean, the pool, that a reading uses all colours and shapes that are named. Learnt: everything about words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.errors import UsageError
from recombine.models.scene_machine import SceneMachine
from recombine.models.scene_machine_edits import grams
from recombine.models.scene_machine_text import (
    NUMBER,
    Slotted,
    Tokens,
    ValueWords,
    filled,
    program_slots,
    program_tokens,
    slotted,
    words_of,
)  # fmt: skip
from recombine.models.scene_machine_train import Pair, taught
from recombine.models.set_machine_train import order_of

if TYPE_CHECKING:
    from recombine.abilities import Programmed
    from recombine.models.machines import Task

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bits = NDArray[np.bool_]
MOST_SLOTS = 3
"""Most slots of a kind that a proposed reading may have."""
EPOCHS, RATE, SHRINK = 15, 0.2, 1e-4
"""Passes over the statements, Adagrad's rate, and the pull of the weights towards zero."""
SURE = 0.2
"""A reading teaches the machine if the aligner gives it at least this share among the consistent ones."""
LOOKS = 720
"""Scenes on which programs are compared; used only where a group has no reading."""
LEAST_GRAM = 2
"""Words and pairs of words that fewer statements have are not features."""


class Seen(NamedTuple):
    """A statement with its labelled scenes: places among the scenes on which programs are compared, and its value there."""

    statement: str
    kind: str
    scenes: Ints
    labels: Bits


def label(pairs: Iterable[Pair], family: Programmed, count: int) -> list[Seen]:
    """For each statement this many scenes with their labels, true and false ones in turn. Programs are used here and nowhere after."""
    found: list[Seen] = []
    listed = list(pairs)
    for kind in sorted({pair.kind for pair in listed}):
        own = [pair for pair in listed if pair.kind == kind]
        for pair, meaning in zip(own, family.meanings(kind, [pair.program for pair in own]), strict=True):
            if meaning:
                bits = bits_of([meaning])[0]
                order = order_of(len(bits), "scene machine", "labels", pair.statement)
                turn = [order[bits[order] == value][: (count + value) // 2] for value in (True, False)]
                scenes = np.concatenate(turn)
                found.append(Seen(pair.statement, kind, scenes, bits[scenes]))
    return found


def bits_of(meanings: Sequence[bytes]) -> Bits:
    """Meanings as rows of truth values."""
    found: Bits = np.unpackbits(np.frombuffer(b"".join(meanings), np.uint8).reshape(len(meanings), -1), axis=1).astype(bool)
    return found


class Shape(NamedTuple):
    """A program with slots, and the slots that it has."""

    tokens: Tokens
    slots: frozenset[str]


def shapes_of(programs: Iterable[str], value_words: ValueWords) -> list[Shape]:
    """The programs with slots for their values, in every order; a number also stays as it is."""
    found: dict[Tokens, None] = {}
    kinds = {form: (kind, word) for kind, words in value_words.items() for word, forms in words.items() for form in forms}
    for program in programs:
        tokens = program_tokens(program)
        values = list(dict.fromkeys(kinds.get(t, (NUMBER, t)) for t in tokens if t in kinds or t.isdigit()))
        for named in _namings(values):
            found[program_slots(tokens, named, value_words)] = None
    return [Shape(tokens, frozenset(_slots(tokens))) for tokens in found]


def _namings(values: Sequence[tuple[str, str]]) -> Iterable[dict[str, str]]:
    """Every way to give the values of a program slots: all colours and shapes, any of the numbers."""
    ways = []
    for kind in sorted({kind for kind, _ in values}):
        own = [word for k, word in values if k == kind]
        sizes = range(len(own) + 1) if kind == NUMBER else range(len(own), len(own) + 1)
        orders = (order for size in sizes if size <= MOST_SLOTS for order in permutations(own, size))
        ways.append([{f"@{kind}{n}": word for n, word in enumerate(order, 1)} for order in orders])
    for chosen in product(*ways):
        yield {slot: word for part in chosen for slot, word in part.items()}


def _slots(tokens: Tokens) -> list[str]:
    return [token[token.index("@") :].removesuffix("+1").removesuffix("-1") for token in tokens if "@" in token]


class Group(NamedTuple):
    """The readings that the same values allow, one for each meaning."""

    number: int
    shapes: Ints  # places in the universe
    programs: list[str]
    bits: Bits  # (readings, scenes)


class Readings(NamedTuple):
    """The readings of one statement, and which of them give its labels."""

    group: Group
    is_consistent: Bits


class Universe:
    """All shapes that are proposed, and the meanings of the programs that they make."""

    def __init__(self, family: Programmed, shapes: Sequence[Shape]) -> None:
        self.family, self.shapes = family, list(shapes)
        self.known: dict[tuple[str, str], bytes] = {}
        self.groups: dict[tuple[str, ...], Group] = {}

    def add(self, shapes: Iterable[Shape]) -> None:
        """Propose these shapes too."""
        known = {shape.tokens for shape in self.shapes}
        self.shapes += [shape for shape in shapes if shape.tokens not in known]
        self.groups = {}

    def readings(self, seen: Seen, said: Slotted) -> Readings:
        """The readings of a statement."""
        key = seen.kind, *(f"{slot} {value}" for slot, value in sorted(said.values.items()))
        if key not in self.groups:
            self.groups[key] = self._group(seen.kind, said.values, len(self.groups))
        group = self.groups[key]
        return Readings(group, (group.bits[:, seen.scenes] == seen.labels).all(1))

    def _group(self, kind: str, values: Mapping[str, str], number: int) -> Group:
        """The shapes that fit the values, the shortest for each meaning: they use all colours and shapes that are named."""
        wanted = frozenset(slot for slot in values if not slot.startswith(f"@{NUMBER}"))
        most = frozenset(values)
        made = [
            (place, filled(shape.tokens, values, self.family.VALUE_WORDS))
            for place, shape in enumerate(self.shapes)
            if wanted <= shape.slots <= most
        ]
        new = sorted({text for _, text in made if text and (kind, text) not in self.known})
        self.known.update({(kind, text): m for text, m in zip(new, self.family.meanings(kind, new), strict=True)})
        best: dict[bytes, tuple[int, int, str]] = {}
        for place, text in made:
            meaning = self.known[kind, text] if text else b""
            item = (len(self.shapes[place].tokens), place, text)
            if meaning and (meaning not in best or item < best[meaning]):
                best[meaning] = item
        kept = list(best.values())
        bits = bits_of(list(best)) if best else np.zeros((0, LOOKS), bool)
        return Group(number, np.array([place for _, place, _ in kept], np.int64), [text for *_, text in kept], bits)


class Aligner:
    """Scores a reading by pairs of a word (or two) of the statement and a token (or two) of the program."""

    def __init__(self, statements: Sequence[Tokens], shapes: Sequence[Shape]) -> None:
        counted = Counter(gram for words in statements for gram in set(grams(words)))
        self.words = {gram: n for n, gram in enumerate(sorted(g for g, n in counted.items() if n >= LEAST_GRAM), 1)}
        tokens = sorted({gram for shape in shapes for gram in grams(shape.tokens)})
        number = {gram: n for n, gram in enumerate(tokens)}
        self.sheets = [np.array(sorted({number[g] for g in grams(shape.tokens)}), np.int64) for shape in shapes]
        self.weights = np.zeros((len(self.words) + 1, len(tokens)))
        self.squares = np.full_like(self.weights, 1e-3)
        self.laid: dict[int, tuple[Ints, Ints]] = {}

    def features(self, words: Tokens) -> Ints:
        """The numbers of a statement's words and pairs of words; 0 always holds."""
        return np.array([0, *sorted({self.words[g] for g in grams(words) if g in self.words})], np.int64)

    def _laid(self, group: Group) -> tuple[Ints, Ints]:
        """The tokens of a group's readings end to end, and where each reading begins."""
        if group.number not in self.laid:
            own = [self.sheets[shape] for shape in group.shapes]
            self.laid[group.number] = np.concatenate(own), np.cumsum([0, *map(len, own)])[:-1]
        return self.laid[group.number]

    def shares(self, words: Tokens, group: Group) -> Floats:
        """The probability of each reading of a group that has some."""
        tokens, starts = self._laid(group)
        scores = np.add.reduceat(self.weights[self.features(words)].sum(0)[tokens], starts)
        e = np.exp(scores - scores.max())
        out: Floats = e / e.sum()
        return out

    def learn(self, words: Tokens, readings: Readings) -> float:
        """One step that raises the consistent readings: the loss before it."""
        p = self.shares(words, readings.group)
        right = p * readings.is_consistent
        whole = float(right.sum()) + 1e-300
        tokens, starts = self._laid(readings.group)
        lengths = np.diff([*starts, len(tokens)])
        slope = np.bincount(tokens, np.repeat(p - right / whole, lengths), self.weights.shape[1])
        rows = self.features(words)
        grad = slope + SHRINK * self.weights[rows]
        self.squares[rows] += grad * grad
        self.weights[rows] -= RATE * grad / np.sqrt(self.squares[rows])
        return -float(np.log(whole))


def align(universe: Universe, seen: Sequence[Seen], said: Sequence[Slotted], seed: int) -> tuple[Aligner, list[Readings]]:
    """Learn which words go with which tokens from the statements that have a consistent reading."""
    aligner = Aligner([one.tokens for one in said], universe.shapes)
    found = [universe.readings(one, how) for one, how in zip(seen, said, strict=True)]
    taught_by = [n for n, readings in enumerate(found) if readings.is_consistent.any()]
    for epoch in range(EPOCHS):
        for place in order_of(len(taught_by), "scene machine", seed, "align", epoch):
            number = taught_by[place]
            aligner.learn(said[number].tokens, found[number])
    return aligner, found


def chosen(aligner: Aligner, seen: Sequence[Seen], said: Sequence[Slotted], found: Sequence[Readings]) -> list[Pair]:
    """The likeliest consistent reading of each statement, where one is likely enough."""
    pairs = []
    for one, how, readings in zip(seen, said, found, strict=True):
        if readings.is_consistent.any():
            p = aligner.shares(how.tokens, readings.group) * readings.is_consistent
            best = int(p.argmax())
            if p[best] >= SURE * p.sum():
                pairs.append(Pair(one.statement, readings.group.programs[best], one.kind))
    return pairs


def suggested(machine: SceneMachine, family: Programmed, seen: Sequence[Seen], said: Sequence[Slotted]) -> list[Shape]:
    """Shapes that the machine suggests for the statements, if they give the right labels."""
    texts: dict[str, dict[str, list[tuple[int, Tokens]]]] = {}
    for number, (one, how) in enumerate(zip(seen, said, strict=True)):
        for candidate in machine.candidates(how.tokens):
            text = filled(candidate.program, how.values, family.VALUE_WORDS)
            if text:
                texts.setdefault(one.kind, {}).setdefault(text, []).append((number, candidate.program))
    found: dict[Tokens, None] = {}
    for kind, own in texts.items():
        for meaning, users in zip(family.meanings(kind, list(own)), own.values(), strict=True):
            bits = bits_of([meaning])[0] if meaning else None
            for number, tokens in users:
                if bits is not None and (bits[seen[number].scenes] == seen[number].labels).all():
                    found[tokens] = None
    return [Shape(tokens, frozenset(_slots(tokens))) for tokens in found]


ROUNDS = 2
"""Rounds of learning from labels. Rounds after the first add the machine's own suggestions to the pool."""


def learn_from_labels(
    seen: Sequence[Seen], pool: Sequence[str], family: Programmed, task: Task
) -> tuple[SceneMachine, dict[str, Any]]:
    """The machine that learns from labelled scenes and a pool of programs, and figures about each round."""
    if not seen or not pool:
        raise UsageError("learning from labels needs statements with labelled scenes and a pool of programs.")
    said = [slotted(words_of(one.statement), family.VALUE_WORDS) for one in seen]
    universe = Universe(family, shapes_of(pool, family.VALUE_WORDS))
    figures: dict[str, Any] = {"statements": len(seen), "pool": len(set(pool)), "rounds": []}
    for number in range(ROUNDS):
        aligner, found = align(universe, seen, said, task.seed)
        pairs = chosen(aligner, seen, said, found)
        machine, _ = taught(pairs, family, task, has_judge=number + 1 == ROUNDS)
        covered = sum(bool(readings.is_consistent.any()) for readings in found)
        figures["rounds"].append({"shapes": len(universe.shapes), "consistent": covered, "taught": len(pairs)})
        task.say(f"round {number + 1}: {len(universe.shapes):,} shapes, {covered:,} statements have a consistent reading")
        if number + 1 < ROUNDS:
            universe.add(suggested(machine, family, seen, said))
    figures["chosen"] = [[pair.statement, pair.program] for pair in pairs]
    return machine, figures


__all__ = ["Aligner", "Seen", "Universe", "label", "learn_from_labels", "shapes_of"]
