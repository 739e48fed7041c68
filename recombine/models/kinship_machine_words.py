"""Which words of a story the kinship machine knows: clues, which can state a fact, and common words, which stand around them.

Clues are found by expectation maximisation: each fact of a training story was stated by one of its words. A word's *salience* is how
often it is taken for that word when it could be; its guess is a distribution over the relations of those facts. A word whose salience
stays high is a clue. Common words are those with the most different neighbours: a word that belongs to one turn of phrase has few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
ROUNDS = 25
LEAST_STORIES = 5
"""A clue occurs in at least this many training stories."""
SALIENT = 0.03
DOUBT = 20.0
"""Occurrences at which a word is supposed to have stated nothing: a rare word needs more than chance to be a clue."""
SMOOTH = 5.0
"""Facts that a word's guess begins with, divided as in all stories."""
COMMON = 150
"""This many words are common."""


def clue_words(tokens: Sequence[Sequence[str]], facts: Sequence[Sequence[int]], relations: int) -> dict[str, Floats]:
    """The clues of stories, given as tokens and as the relations of their facts; for each its guess."""
    counts = Counter(word for story in tokens for word in set(story) if word[0].isalpha())
    words = sorted(word for word, count in counts.items() if count >= LEAST_STORIES)
    number = {word: i for i, word in enumerate(words)}
    at: list[int] = []  # the words that may have stated each fact, one fact behind the other
    labels: list[int] = []
    starts: list[int] = []
    for story, told in zip(tokens, facts, strict=True):
        present = sorted({number[word] for word in story if word in number})
        for relation in told if present else ():
            starts.append(len(at))
            at += present
            labels += [relation] * len(present)
    word, label = np.array(at, np.int64), np.array(labels, np.int64)
    salience, guess = _align(word, label, np.array(starts, np.int64), len(words), relations)
    return {name: guess[i] for i, name in enumerate(words) if salience[i] > SALIENT}


def _align(word: Ints, label: Ints, starts: Ints, words: int, relations: int) -> tuple[Floats, Floats]:
    """Salience and guesses of all words, from the (word, label) pairs of all facts."""
    occurs = np.bincount(word, minlength=words) + DOUBT
    cell, lengths = word * relations + label, np.diff(np.append(starts, len(word)))
    usual = SMOOTH * np.bincount(label, minlength=relations) / max(len(label), 1)
    counts = np.bincount(cell, minlength=words * relations).reshape(words, relations) + usual
    guess, salience = counts / counts.sum(1, keepdims=True), np.ones(words)
    for _ in range(ROUNDS if len(starts) else 0):
        share = salience[word] * guess.reshape(-1)[cell]
        share /= np.repeat(np.add.reduceat(share, starts), lengths)
        stated: Floats = np.bincount(cell, share, words * relations).reshape(words, relations).astype(np.float64)
        salience = stated.sum(1) / occurs
        guess = (stated + usual) / (stated + usual).sum(1, keepdims=True)
    return salience, guess


def common_words(tokens: Sequence[Sequence[str]], clues: Mapping[str, Floats]) -> tuple[str, ...]:
    """The words that are no clues and have the most different pairs of neighbours."""
    around: dict[str, set[tuple[str, str]]] = {}
    for story in tokens:
        for before, word, behind in zip(story, story[1:], story[2:], strict=False):
            if word not in clues and word[0].isalnum() and before != word:
                around.setdefault(word, set()).add((before, behind))
    ranked = sorted(around, key=lambda word: (-len(around[word]), word))
    return tuple(sorted(ranked[:COMMON]))
