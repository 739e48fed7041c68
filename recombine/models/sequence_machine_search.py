"""How the sequence machine learns its lexicon: an error-driven search for the likeliest lexicon of the training pairs.

All words begin as atoms without meaning. Commands join a pool, short ones first. For a wrong example the search works out which
entries of one word would make it right: it follows the reading from the root to the word, solves for the value that is needed
there, and lists the cheapest templates that write this value. The candidates are screened on a few examples of the pool, then
scored on all that hold the word: nats saved by right answers, minus nats of the prior. If no single word helps with a short
command, two words are revised at once. When the pool is explained, words whose entry can be cheaper get the cheaper one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from recombine import keys
from recombine.models.sequence_machine import (
    FIRST_ACTION,
    LONGEST_TEMPLATE,
    Alphabet,
    Entry,
    Lexicon,
    Node,
    Pair,
    SequenceMachineConfig,
    Words,
    X,
    Y,
    filled,
    interpret,
    meaning,
    reading,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Mapping

TEMPLATES, SCREENED, SCORED = 48, 24, 6
"""Templates listed for one value, pool examples that screen a change, and changes of a word that are scored on the whole pool."""
ROUNDS, REPAIRS, WRONG_ROWS = 200, 5, 60
"""Most changes in one stage, most times that wrong training rows join the pool, and how many of them join."""
LONGEST_DOUBLE = 4
"""Two words are revised at once only for commands of at most this many words."""

Change = tuple[tuple[int, Entry], ...]
"""New entries of one word or of two, sorted by word."""


def slot_costs(config: SequenceMachineConfig, actions: int) -> tuple[float, float]:
    """The prior's price in nats of a copy and of an action: go on or stop, copy or act, then which."""
    if not config.cheap_copies:
        even = math.log(2) + math.log(2 + actions)
        return even, even
    return 3 * math.log(2), 2 * math.log(2) + math.log(max(1, actions))


def solved(template: bytes, slot: bytes, other: bytes, wanted: bytes) -> bytes | None:
    """The only value of a slot with which the template writes the wanted actions; None if there is none."""
    count = template.count(slot)
    if not count:
        return None
    others = template.count(Y if slot == X else X)
    rest = len(wanted) - (len(template) - count - others) - others * len(other)
    if rest < 0 or rest % count:
        return None
    before = template[: template.index(slot)]
    start = len(before) + before.count(Y if slot == X else X) * (len(other) - 1)
    value = wanted[start : start + rest // count]
    made = filled(template, value, other) if slot == X else filled(template, other, value)
    return value if made == wanted else None


def writers(value: bytes, x: bytes, y: bytes, copy: float, act: float) -> list[bytes]:
    """The cheapest templates that write a value with actions and copies of x and y, cheapest first."""
    best: dict[int, list[tuple[float, bytes]]] = {len(value): [(0.0, b"")]}
    for at in range(len(value) - 1, -1, -1):
        steps = [(act, value[at : at + 1], 1)]
        steps += [(copy, slot, len(v)) for slot, v in ((X, x), (Y, y)) if v and value.startswith(v, at)]
        found = [
            (cost + price, slot + rest)
            for price, slot, length in steps
            for cost, rest in best.get(at + length, ())
            if len(rest) < LONGEST_TEMPLATE
        ]
        found.sort()
        best[at] = found[:TEMPLATES]
    return [template for _, template in best[0]]


def levels_of(lexicon: Lexicon) -> list[float]:
    """Levels that a word may take: those in use, the gaps between them, and one that is looser than all."""
    used = sorted({entry[0] for entry in lexicon})
    return [*used, *[(a + b) / 2 for a, b in pairwise(used)], used[0] - 1]


def replaced(lexicon: Lexicon, change: Change) -> list[Entry]:
    """The lexicon with some entries changed."""
    new = list(lexicon)
    for word, entry in change:
        new[word] = entry
    return new


def entries_for(example: Pair, word: int, lexicon: Lexicon, costs: tuple[float, float]) -> list[Entry]:
    """Entries of one word that make the example right while all other words stay; none if the word occurs twice."""
    words, wanted = example
    if words.count(word) != 1:
        return []
    place, found = words.index(word), []
    for level in levels_of(lexicon):
        node = reading(tuple([level if w == word else lexicon[w][0] for w in words]))
        need: bytes | None = wanted
        while node is not None and node.root != place and need is not None:
            need, node = _needed(node, place, words, lexicon, need)
        if node is not None and need is not None:
            x, y = meaning(node.left, words, lexicon), meaning(node.right, words, lexicon)
            found += [Entry(level, template) for template in writers(need, x, y, *costs)]
    return found


def _needed(node: Node, place: int, words: Words, lexicon: Lexicon, need: bytes) -> tuple[bytes | None, Node | None]:
    """What the side of a node that holds the place must mean so that the node means `need`, and that side."""
    template = lexicon[words[node.root]][1]
    if place < node.root:
        return solved(template, X, meaning(node.right, words, lexicon), need), node.left
    return solved(template, Y, meaning(node.left, words, lexicon), need), node.right


def shape(template: bytes) -> bytes:
    """The template with all actions made one."""
    return bytes(min(slot, FIRST_ACTION) for slot in template)


def shared_contexts(pairs: Sequence[Pair], words: int) -> dict[tuple[int, int], float]:
    """(a, b) -> the share of a's contexts (both neighbours) in which b was seen too."""
    places: list[Counter[tuple[int, int]]] = [Counter() for _ in range(words)]
    for command, _ in pairs:
        for before, word, after in zip((-1, *command), command, (*command[1:], -1), strict=False):
            places[word][before, after] += 1
    return {
        (a, b): sum(n for place, n in places[a].items() if place in places[b]) / max(1, places[a].total())
        for a in range(words)
        for b in range(words)
        if a != b
    }


@dataclass
class Search:
    """One search. `learn` runs it to the end; afterwards `lexicon`, `wrong` and `price()` say what was found."""

    pairs: list[Pair]
    alphabet: Alphabet
    config: SequenceMachineConfig
    stream: keys.Stream
    lexicon: list[Entry] = field(default_factory=list)
    pool: list[Pair] = field(default_factory=list)
    wrong: int = 0
    changes: int = 0
    evaluations: int = 0
    analogy: float = 0.0

    def __post_init__(self) -> None:
        self.pairs = sorted(set(self.pairs))
        self.lexicon = [Entry(0.0, b"")] * len(self.alphabet.words)
        self.costs = slot_costs(self.config, len(self.alphabet.actions))
        self.shared = shared_contexts(self.pairs, len(self.lexicon))
        self.known: dict[Pair, bool] = {}

    def learn(self) -> None:
        """Search until the training pairs are explained or nothing helps."""
        by_length: dict[int, list[Pair]] = {}
        for pair in self.pairs:
            by_length.setdefault(len(pair[0]), []).append(pair)
        lengths = sorted(by_length)
        for stage in [[n] for n in lengths] if self.config.curriculum else [lengths]:
            for n in stage:
                self.pool += self._sample(by_length[n], self.config.per_length)
            self._improve()
            self._simplify()
        for _ in range(REPAIRS):
            wrong = [pair for pair in self.pairs if interpret(pair[0], self.lexicon) != pair[1]]
            if not wrong:
                break
            self.pool += self._sample(wrong, WRONG_ROWS)
            self._improve()
            self._simplify()
        self.analogy = self.config.analogy  # not earlier: analogy is for entries that no training row decides
        self._simplify()
        self.wrong = self._errors(self.pairs, self.lexicon)

    def price(self, lexicon: Lexicon | None = None) -> float:
        """The prior of a lexicon in nats: its slots, its words that are no atoms, and dissimilar entries of words with similar contexts."""
        found = self.lexicon if lexicon is None else lexicon
        copy, act = self.costs
        total = 0.0
        for level, template in found:
            copies = template.count(X) + template.count(Y)
            total += (level < 0) * self.config.loose + copies * copy + (len(template) - copies) * act
        if self.analogy:
            described = [(shape(t), X in t, Y in t, level) for level, t in found]
            unlike = 0.0
            for (a, b), share in self.shared.items():
                one, other = described[a], described[b]
                if share and one != other:
                    unlike += share * ((one[0] != other[0]) + (one[1:3] != other[1:3]) + (one[3] != other[3]))
            total += self.analogy / 2 * unlike
        return total

    # --- evaluating changes ---

    def _errors(self, examples: Sequence[Pair], lexicon: Lexicon) -> int:
        self.evaluations += len(examples)
        return sum(interpret(words, lexicon) != actions for words, actions in examples)

    def _is_right(self, example: Pair) -> bool:
        """Whether the present lexicon explains the example."""
        if example not in self.known:
            self.known[example] = interpret(example[0], self.lexicon) == example[1]
        return self.known[example]

    def _best(self, changes: Iterable[Change]) -> Change | None:
        """The change that gains most on the pool; None if none gains."""
        groups: dict[tuple[int, ...], list[Change]] = {}
        for change in dict.fromkeys(changes):
            groups.setdefault(tuple(word for word, _ in change), []).append(change)
        now = self.price()
        best, chosen = 1e-9, None
        for words, group in groups.items():
            touched = [pair for pair in self.pool if any(word in pair[0] for word in words)]
            few = self._sample(touched, SCREENED)
            ranked = []
            for change in group:
                new = replaced(self.lexicon, change)
                ranked.append((self._errors(few, new) * self.config.error + self.price(new), self.stream.bits(), change, new))
            ranked.sort(key=lambda item: item[:2])
            wrong = sum(not self._is_right(pair) for pair in touched)
            for _, _, change, new in ranked[:SCORED]:
                gain = (wrong - self._errors(touched, new)) * self.config.error + now - self.price(new)
                if gain > best:
                    best, chosen = gain, change
        return chosen

    def _accept(self, change: Change) -> None:
        """Take a change over, and number the levels anew: 0 for the tightest, -1, -2, … below."""
        new = replaced(self.lexicon, change)
        order = sorted({entry[0] for entry in new} | {0.0}, reverse=True)
        rank = {level: -float(n) for n, level in enumerate(order)}
        self.lexicon = [Entry(rank[level] + 0.0, template) for level, template in new]
        self.known.clear()
        self.changes += 1

    def _sample(self, items: Sequence[Pair], count: int) -> list[Pair]:
        return self.stream.sample(items, min(count, len(items)))

    # --- proposing changes ---

    def _singles(self, examples: Iterable[Pair]) -> list[Change]:
        return [
            ((word, entry),)
            for example in examples
            for word in sorted(set(example[0]))
            for entry in entries_for(example, word, self.lexicon, self.costs)
        ]

    def _doubles(self, example: Pair) -> list[Change]:
        """One word gets each short template in turn, another one is solved for."""
        words, wanted = example
        once = [word for word in sorted(set(words)) if words.count(word) == 1]
        slots = [X, Y, *(bytes([a]) for a in sorted(set(wanted)))]
        short = [b"", *slots, *(a + b for a in slots for b in slots)]
        found: list[Change] = []
        for first in once:
            for template in short:
                for level in sorted({self.lexicon[first][0], 0.0}):
                    given = (first, Entry(level, template))
                    trial = replaced(self.lexicon, (given,))
                    for second in once:
                        if second != first:
                            solutions = entries_for(example, second, trial, self.costs)
                            found += [tuple(sorted((given, (second, entry)))) for entry in solutions]
        return found

    def _improve(self) -> bool:
        """Change the lexicon until the pool is explained (True) or nothing helps (False)."""
        for _ in range(ROUNDS):
            wrong = [pair for pair in self.pool if not self._is_right(pair)]
            if not wrong:
                return True
            self.stream.shuffle(wrong)
            wrong.sort(key=lambda pair: len(pair[0]))
            change = self._best(self._singles(wrong[:4])) or self._best(self._singles(self._sample(wrong, 8)))
            for example in wrong[:3]:
                if change is None and len(example[0]) <= LONGEST_DOUBLE:
                    change = self._best(self._doubles(example))
            if change is None:
                return False
            self._accept(change)
        return False

    def _simplify(self) -> None:
        """Give every word the likeliest entry that does as well, until none changes."""
        is_changed = True
        while is_changed:
            is_changed = False
            for word in range(len(self.lexicon)):
                having = [pair for pair in self.pool if pair[0].count(word) == 1]
                found = [e for pair in self._sample(having, 6) for e in entries_for(pair, word, self.lexicon, self.costs)]
                found += self._like_others(word) if self.analogy else []
                change = self._best(((word, entry),) for entry in found)
                if change:
                    self._accept(change)
                    is_changed = True

    def _like_others(self, word: int) -> list[Entry]:
        """Entries that bind like another word, or have its shape with this word's own actions."""
        template = self.lexicon[word][1]
        own = [bytes([slot]) for slot in template if slot >= FIRST_ACTION]
        found = []
        for level, other in self.lexicon:
            found.append(Entry(level, template))
            if sum(slot >= FIRST_ACTION for slot in other) == len(own):
                mine = iter(own)
                found.append(Entry(level, b"".join(next(mine) if slot >= FIRST_ACTION else bytes([slot]) for slot in other)))
        return found


def figures(search: Search) -> Mapping[str, float | int]:
    """What a search found and what it tried, for the record of the run."""
    return {
        "wrong": search.wrong,
        "price": round(search.price(), 6),
        "changes": search.changes,
        "evaluations": search.evaluations,
        "rows": len(search.pairs),
    }
