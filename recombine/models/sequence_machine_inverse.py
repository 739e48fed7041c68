"""The sequence machine backwards: the likeliest command with given actions.

A word's kind is the shape of its template (all actions made one) and whether something stands on its left and on its right. The
training commands, under the learnt reading, say which kinds stand below which (links) and which shapes stand side by side. A
memoised search matches templates against the actions and returns the likeliest derivation. Only if there is none, a second
search also allows links that were never seen, where the binding levels permit them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from recombine.models.sequence_machine import (
    FIRST_ACTION,
    Lexicon,
    Node,
    Pair,
    SequenceMachineConfig,
    Words,
    X,
    Y,
    reading,
)  # fmt: skip
from recombine.models.sequence_machine_search import shape

UNSEEN_WORD = 0.5
"""The count of a word in a frame in which only words of its shape were seen."""
MOST_REMEMBERED = 200_000
"""Derivations that are remembered; then the memory is emptied."""
SETTLED = 20
"""Rounds in which the likeliest words of every kind settle."""


class Kind(NamedTuple):
    """The shape of a word's template, and whether something stands left and right of the word."""

    shape: bytes
    has_left: bool
    has_right: bool


class Socket(NamedTuple):
    """Where a phrase can stand: left (side 0) or right (1) of a kind; `TOP` for a whole command."""

    kind: Kind | None
    side: int


TOP = Socket(None, 0)
Found = list[tuple[float, Words]]
"""Phrases with their cost in nats."""


class Syntax:
    """What the training commands look like to the learnt machine."""

    def __init__(self, lexicon: Lexicon, config: SequenceMachineConfig) -> None:
        self.lexicon, self.config = lexicon, config
        self.words: dict[Kind, Counter[int]] = {}
        self.below: dict[Socket, Counter[Kind | None]] = {}
        self.beside: set[tuple[bytes, bytes]] = set()
        self.memory: dict[tuple[Kind, bytes, bool], Found] = {}
        self.known: dict[tuple[Socket, bool], list[tuple[Kind | None, float]]] = {}
        self.least: dict[Kind | None, Found] = {None: [(0.0, ())]}

    @classmethod
    def learn(cls, pairs: Sequence[Pair], lexicon: Lexicon, config: SequenceMachineConfig) -> Syntax:
        """Count kinds, links and neighbours in the training commands."""
        self = cls(lexicon, config)
        for command, _ in pairs:
            top = self._read(reading(tuple([lexicon[w][0] for w in command])), command)
            self.below.setdefault(TOP, Counter())[top] += 1
            shapes = [b"", *map(self._shape, command), b""]
            self.beside.update(pairwise(shapes))
        self._settle()
        return self

    def _shape(self, word: int) -> bytes:
        """A word's class; the word itself if classes are switched off. Never empty, so that it differs from an edge."""
        return b"s" + shape(self.lexicon[word][1]) if self.config.classes else b"w" + bytes([word % 256, word // 256])

    def _read(self, node: Node | None, command: Words) -> Kind | None:
        if node is None:
            return None
        x, y = self._read(node.left, command), self._read(node.right, command)
        is_framed = self.config.frames
        kind = Kind(self._shape(command[node.root]), is_framed and x is not None, is_framed and y is not None)
        self.words.setdefault(kind, Counter())[command[node.root]] += 1
        self.below.setdefault(Socket(kind, 0), Counter())[x] += 1
        self.below.setdefault(Socket(kind, 1), Counter())[y] += 1
        return kind

    def _settle(self) -> None:
        """Work out what follows from the counts: counts with unseen words, totals, and the likeliest words of every kind."""
        self.counts: dict[Kind, dict[int, float]] = {}
        for kind, seen in self.words.items():
            unseen = (w for w in range(len(self.lexicon)) if self._shape(w) == kind.shape)
            self.counts[kind] = {w: float(n) for w, n in seen.items()}
            for w in unseen:
                self.counts[kind][w] = self.counts[kind].get(w, 0.0) + UNSEEN_WORD
        self.totals = {kind: sum(seen.values()) for kind, seen in self.counts.items()}
        for _ in range(SETTLED):
            for kind, counted in self.counts.items():
                word = max(counted, key=lambda w: (counted[w], -w))
                x, y = (min(self._phrases(Socket(kind, side), None, False), default=None) for side in (0, 1))
                if x is not None and y is not None:
                    cost = x[0] + y[0] - math.log(counted[word] / self.totals[kind])
                    self.least[kind] = [(cost, (*x[1], word, *y[1]))]

    # --- inverting ---

    def command(self, actions: bytes) -> Words:
        """The likeliest command with this meaning; empty if there is none."""
        if len(self.memory) > MOST_REMEMBERED:
            self.memory.clear()
        for is_free in (False, True):
            whole = self._phrases(TOP, actions, is_free)
            found = [(cost, words) for cost, words in whole if words and self._join((), words) and self._join(words, ())]
            if found:
                return min(found)[1]
        return ()

    def _join(self, left: Words, right: Words) -> bool:
        """Whether the classes of the two words that meet here were ever seen side by side."""
        if not self.config.neighbours:
            return True
        return (self._shape(left[-1]) if left else b"", self._shape(right[0]) if right else b"") in self.beside

    def _links(self, socket: Socket, is_free: bool) -> list[tuple[Kind | None, float]]:
        """The kinds that may stand in a socket, with their cost; `is_free`: also unseen ones that the levels permit."""
        key = socket, is_free
        if key not in self.known:
            seen = self.below.get(socket, Counter())
            total = seen.total()
            if not is_free or None in seen:
                self.known[key] = [(kind, -math.log(n / total)) for kind, n in seen.items()]
            else:
                whole = sum(self.totals.values())
                self.known[key] = [
                    (kind, -math.log((seen[kind] + n / whole) / (total + 1)))
                    for kind, n in self.totals.items()
                    if self._permits(socket, kind)
                ]
        return self.known[key]

    def _permits(self, socket: Socket, kind: Kind) -> bool:
        """Whether levels let a kind that was seen below something stand in the socket."""
        if socket.kind is None:
            return True
        if not any(kind in kinds for place, kinds in self.below.items() if place != TOP):
            return False
        tightest = max(self.lexicon[w][0] for w in self.counts[kind])
        loosest = min(self.lexicon[w][0] for w in self.counts[socket.kind])
        return tightest > loosest or (tightest == loosest and socket.side == 0)

    def _phrases(self, socket: Socket, value: bytes | None, is_free: bool) -> Found:
        """What may stand in a socket and mean the value; None: its meaning does not matter."""
        found: Found = []
        for kind, more in self._links(socket, is_free):
            inner = self.least.get(kind, []) if value is None else self._inverses(kind, value, is_free)
            found += [(cost + more, words) for cost, words in inner]
        return found

    def _inverses(self, kind: Kind | None, actions: bytes, is_free: bool) -> Found:
        """The likeliest phrases of a kind with this meaning, one for each pair of outer classes."""
        if kind is None:
            return [] if actions else [(0.0, ())]
        key = kind, actions, is_free
        if key not in self.memory:
            self.memory[key] = []  # a phrase that contains itself is no phrase
            best: dict[tuple[bytes, bytes], tuple[float, Words]] = {}
            for word, n in self.counts[kind].items():
                price = -math.log(n / self.totals[kind])
                for cost, words in self._around(word, kind, actions, is_free):
                    ends = self._shape(words[0]), self._shape(words[-1])
                    if ends not in best or (cost + price, words) < best[ends]:
                        best[ends] = cost + price, words
            self.memory[key] = list(best.values())
        return self.memory[key]

    def _around(self, word: int, kind: Kind, actions: bytes, is_free: bool) -> Iterator[tuple[float, Words]]:
        """Phrases with this root: what may stand left and right of it so that its template writes the actions."""
        level, template = self.lexicon[word]
        for x, y in matches(template, actions):
            lefts = [
                (cost, words)
                for cost, words in self._phrases(Socket(kind, 0), x, is_free)
                if not words or (self._join(words, (word,)) and all(self.lexicon[w][0] >= level for w in words))
            ]
            if not lefts:
                continue
            for cost_y, right in self._phrases(Socket(kind, 1), y, is_free):
                if not right or (self._join((word,), right) and all(self.lexicon[w][0] > level for w in right)):
                    for cost_x, left in lefts:
                        yield cost_x + cost_y, (*left, word, *right)

    # --- files ---

    def as_json(self) -> dict[str, Any]:
        """The counts as a JSON value; kinds are named by their place in a list."""
        kinds = list(self.words)
        place: dict[Kind | None, int] = {None: -1, **{kind: i for i, kind in enumerate(kinds)}}
        return {
            "kinds": [[list(k.shape), k.has_left, k.has_right, sorted(self.words[k].items())] for k in kinds],
            "below": [
                [place[s.kind], s.side, [[place[kind], n] for kind, n in seen.items()]] for s, seen in self.below.items()
            ],
            "beside": [[list(a), list(b)] for a, b in sorted(self.beside)],
        }

    @classmethod
    def from_json(cls, value: Any, lexicon: Lexicon, config: SequenceMachineConfig) -> Syntax:
        """The syntax that `as_json` wrote."""
        self = cls(lexicon, config)
        kinds: list[Kind] = []
        for listed, left, right, words in value["kinds"]:
            kinds.append(Kind(bytes(listed), bool(left), bool(right)))
            self.words[kinds[-1]] = Counter({_within(w, lexicon): int(n) for w, n in words if int(n) > 0})
        named: list[Kind | None] = [*kinds, None]
        for kind, side, seen in value["below"]:
            self.below[Socket(named[kind], int(side))] = Counter({named[k]: int(n) for k, n in seen if int(n) > 0})
        self.beside = {(bytes(a), bytes(b)) for a, b in value["beside"]}
        self._settle()
        return self


def _within(word: int, lexicon: Lexicon) -> int:
    """A word's number, if there is such a word."""
    if not 0 <= word < len(lexicon):
        raise ValueError(f"word number {word} of {len(lexicon)}")
    return int(word)


def matches(template: bytes, actions: bytes) -> Iterator[tuple[bytes | None, bytes | None]]:
    """All (x, y) with which the template writes the actions; None for a slot that the template does not have."""
    copies_x, copies_y = template.count(X), template.count(Y)
    spare = len(actions) - (len(template) - copies_x - copies_y)
    if spare < 0 or (spare and not copies_x and not copies_y):
        return
    for length_x in range(spare // copies_x + 1) if copies_x else (0,):
        rest = spare - length_x * copies_x
        if rest and (not copies_y or rest % copies_y):
            continue
        found = _matched(template, actions, length_x, rest // copies_y if copies_y else 0)
        if found is not None:
            yield found


def _matched(template: bytes, actions: bytes, length_x: int, length_y: int) -> tuple[bytes | None, bytes | None] | None:
    """The values of X and Y with these lengths; None if the template does not write the actions with them."""
    at, x, y = 0, None, None
    for slot in template:
        if slot >= FIRST_ACTION:
            if actions[at] != slot:
                return None
            at += 1
        elif slot == X[0]:
            part, at = actions[at : at + length_x], at + length_x
            if x is not None and x != part:
                return None
            x = part
        else:
            part, at = actions[at : at + length_y], at + length_y
            if y is not None and y != part:
                return None
            y = part
    return x, y
