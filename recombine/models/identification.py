"""Finds what training data leave open: other lexicon entries that also explain every training row.

`identify` varies the sequence machine's hypotheses (a level and a template per word) one word at a time. All other words keep
their learnt entries. If an entry fits every training row and changes a test answer, the training data do not determine that answer.
A score on it then tells something about the learner's prior. The list of entries is not complete: it holds
the cheapest templates for each level and for a number of training commands. "Open" is proved by an example. "Determined" only means
that no counterexample was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recombine import keys
from recombine.models.sequence_machine import Alphabet, Entry, Lexicon, Pair, SequenceMachineConfig, Words, interpret
from recombine.models.sequence_machine_search import entries_for, replaced, slot_costs

SOURCES = 12
"""Shortest commands, and as many drawn ones, from which other entries of a word are solved."""


@dataclass(frozen=True)
class Alternative:
    """Another entry of a word that explains all training rows: its prior price beyond the learnt one, and the tests it changes."""

    entry: Entry
    nats: float
    changed: int


@dataclass(frozen=True)
class Openness:
    """One word: its learnt entry, and what else would fit; alternatives that answer every test alike are one."""

    word: str
    entry: Entry
    rows: int
    alternatives: tuple[Alternative, ...]

    @property
    def changing(self) -> tuple[Alternative, ...]:
        """The alternatives that change a test answer."""
        return tuple(a for a in self.alternatives if a.changed)


@dataclass(frozen=True)
class Identification:
    """All words, and how many of the tests are left open by at least one of them."""

    words: tuple[Openness, ...]
    tests: int
    open: int


def identify(
    lexicon: Lexicon, pairs: Sequence[Pair], tests: Sequence[Words], alphabet: Alphabet, config: SequenceMachineConfig
) -> Identification:
    """For every word the entries that fit all training pairs, and which test answers they change."""
    rows = sorted(set(pairs), key=lambda pair: (len(pair[0]), pair))
    costs = slot_costs(config, len(alphabet.actions))
    usual = [interpret(words, lexicon) for words in tests]
    is_open = [False] * len(tests)
    found = []
    for word, name in enumerate(alphabet.words):
        having = [pair for pair in rows if word in pair[0]]
        tested = [i for i, words in enumerate(tests) if word in words]
        by_answers: dict[tuple[bytes, ...], Alternative] = {}
        for entry in fitting(word, lexicon, having, costs):
            new = replaced(lexicon, ((word, entry),))
            answers = tuple(interpret(tests[i], new) for i in tested)
            changed = [i for i, answer in zip(tested, answers, strict=True) if answer != usual[i]]
            for i in changed:
                is_open[i] = True
            nats = _price(entry, costs, config) - _price(lexicon[word], costs, config)
            if answers not in by_answers or nats < by_answers[answers].nats:
                by_answers[answers] = Alternative(entry, nats, len(changed))
        ordered = sorted(by_answers.values(), key=lambda a: (a.nats, -a.changed, a.entry))
        found.append(Openness(name, lexicon[word], len(having), tuple(ordered)))
    return Identification(tuple(found), len(tests), sum(is_open))


def fitting(word: int, lexicon: Lexicon, having: Sequence[Pair], costs: tuple[float, float]) -> list[Entry]:
    """Entries of a word, other than the learnt one, that explain all rows that hold the word."""
    once = [pair for pair in having if pair[0].count(word) == 1]
    stream = keys.Stream("identify", word)
    sources = once[:SOURCES] + stream.sample(once, min(SOURCES, len(once)))
    candidates = dict.fromkeys(entry for source in sources for entry in entries_for(source, word, lexicon, costs))
    return [entry for entry in candidates if entry != lexicon[word] and _explains(replaced(lexicon, ((word, entry),)), having)]


def _explains(lexicon: Lexicon, rows: Sequence[Pair]) -> bool:
    return all(interpret(words, lexicon) == actions for words, actions in rows)


def _price(entry: Entry, costs: tuple[float, float], config: SequenceMachineConfig) -> float:
    copies = sum(slot < 2 for slot in entry.template)
    return copies * costs[0] + (len(entry.template) - copies) * costs[1] + (entry.level < 0) * config.loose
