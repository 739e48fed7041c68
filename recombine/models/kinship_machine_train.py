"""Training the kinship machine: the reader and the genders from the facts of training stories, the rules from their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.errors import UsageError, shown
from recombine.models.kinship_machine import (
    ROWS,
    KinshipMachine,
    KinshipMachineConfig,
    logits,
    meanings_of,
    new_slate,
    padded,
    shares,
    stories_of,
    word_kinds,
    word_numbers,
)
from recombine.models.kinship_machine_kernel import PRIME, UNTIED, Facts, Reader, Slopes, Stories
from recombine.models.kinship_machine_rules import chain_of, learn_rules
from recombine.models.kinship_machine_text import BUCKETS, Read, narrowed, person_features, read
from recombine.models.kinship_machine_words import clue_words, common_words
from recombine.models.set_machine_finder import KERNEL_NAME
from recombine.models.set_machine_train import Adam, order_of

if TYPE_CHECKING:
    from recombine.models.machines import Task

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SLOPES_NAME = "recombine.models.kinship_machine_slopes"
LEAST_GUESS = 1e-3
NAMED = 4.0
"""The logit with which a word begins that is the name of a relation."""


def train(task: Task) -> tuple[KinshipMachine, dict[str, Any]]:
    """The learnt machine, and the losses along the way. It takes seconds, so a killed run begins anew."""
    examples = list(task.rows)
    if not examples:
        raise UsageError("training needs at least one example.")
    if "graph" not in examples[0].inputs:
        raise UsageError(
            f"the kinship machine learns from stories with their facts; {examples[0].id} has {shown(sorted(examples[0].inputs))}."
        )
    graphs = [example.inputs["graph"] for example in examples]
    relations = sorted({r for graph in graphs for r in graph["relations"]} | {example.answer for example in examples})
    number = {relation: i for i, relation in enumerate(relations)}
    whole = [read(example) for example in examples]
    guesses = clue_words([s.tokens for s in whole], [[number[r] for r in g["relations"]] for g in graphs], len(relations))
    words = word_kinds(common_words([story.tokens for story in whole], guesses), guesses)
    stories = [narrowed(story, words) for story in whole]
    remembered: dict[tuple[str, ...], int] = {}
    people = [person_features(story, person, remembered) for story in stories for person in range(len(story.people))]
    genders = np.array([gender for graph in graphs for gender in graph["genders"]], np.int64)
    gender, gender_bias = _fit(people, genders, 2, task.config, task.seed)
    counted = np.full((len(relations), 2), 0.5)
    for graph in graphs:
        for (_, b), relation in zip(graph["edges"], graph["relations"], strict=True):
            counted[number[relation], graph["genders"][b]] += 1
    relation_gender = counted / counted.sum(1, keepdims=True)
    told = stories_of(stories, word_numbers(words), words, logits(gender, gender_bias, padded(people)).argmax(1))
    start = _first_meanings(guesses, word_numbers(words), number)
    reader, curve = _learn_reader(told, _facts(stories, graphs, number, genders), start, relation_gender, task)
    chains = [(chain_of(example, number), number[example.answer]) for example in examples]
    known = [(chain, target) for chain, target in chains if chain]
    rules = learn_rules([chain for chain, _ in known], [target for _, target in known], len(relations))
    arrays = {
        **reader, "gender": gender, "gender_bias": gender_bias, "relation_gender": relation_gender, "rules": rules,
    }  # fmt: skip
    figures = {
        "clues": len(told.clues),
        "clue_words": len(guesses),
        "stories": len(examples),
        "chains": len(known),
        "reader_loss": curve,
    }
    return KinshipMachine(task.config, relations, words, arrays), figures


def _first_meanings(guesses: dict[str, Floats], numbers: dict[str, int], relations: dict[str, int]) -> Floats:
    """The logits [words, relations] at the start: a clue's guess; for the name of a relation, that relation."""
    start = np.zeros((len(numbers) + 1, len(relations)))
    for word, guess in guesses.items():
        start[numbers[word]] = np.log(guess + LEAST_GUESS)
        if word in relations:
            start[numbers[word]] = 0.0
            start[numbers[word], relations[word]] = NAMED
    return start


def _logit_slopes(words: Floats, inverse: Floats, relation_gender: Floats, slopes: Floats) -> tuple[Floats, Floats]:
    """The slopes of the logits of `words` and `inverse` from those of the meanings that `meanings_of` makes of them."""
    found = meanings_of(words, inverse, relation_gender)
    back = meanings_of(inverse, inverse, relation_gender)[:, 0]
    plain = shares(words)
    direct = _through(found[:, 0], slopes[:, 0]).sum(1)
    mixed = np.einsum("wgs,rgs->wr", slopes[:, 1], back)
    return direct + _through(plain, mixed), _through(back, np.einsum("wr,wgs->rgs", plain, slopes[:, 1])).sum(1)


def _through(p: Floats, slopes: Floats) -> Floats:
    """Slopes of logits from slopes of their softmax."""
    out: Floats = p * (slopes - (p * slopes).sum(-1, keepdims=True))
    return out


def _facts(stories: Sequence[Read], graphs: Sequence[Any], number: dict[str, int], genders: Ints) -> Facts:
    """The facts of all stories as tables over their people."""
    squares = [len(story.people) ** 2 for story in stories]
    first = np.cumsum([0, *squares])
    relations = np.full(first[-1], UNTIED, np.int64)
    for n, (story, graph) in enumerate(zip(stories, graphs, strict=True)):
        for (a, b), relation in zip(graph["edges"], graph["relations"], strict=True):
            relations[first[n] + a * len(story.people) + b] = number[relation]
    return Facts(first[:-1], relations, genders)


def _learn_reader(
    stories: Stories, facts: Facts, start: Floats, relation_gender: Floats, task: Task
) -> tuple[dict[str, NDArray[Any]], list[float]]:
    """Weights and logits of meanings by Adam, and the mean loss of a story in each epoch."""
    config: KinshipMachineConfig = task.config
    rows = len(facts.first)
    kernel, slate = kernels.for_rows(SLOPES_NAME, 10 * rows), new_slate(int(np.diff(stories.clue_ends).max(initial=1)))
    dropout = round(1000 * config.dropout)
    inverse = np.zeros((start.shape[1], start.shape[1]))
    learnt: dict[str, NDArray[Any]] = {"weights": np.zeros(ROWS), "meanings": start.copy(), "inverse": inverse}
    adam, curve, step = Adam(learnt, (0.9, 0.99)), [], 0
    steps = config.epochs * -(-rows // config.batch)
    for epoch in range(config.epochs):
        order, total = order_of(rows, "kinship machine", "reader", task.seed, epoch), 0.0
        for begin in range(0, rows, config.batch):
            batch = order[begin : begin + config.batch]
            reader = Reader(learnt["weights"], meanings_of(learnt["meanings"], learnt["inverse"], relation_gender))
            slopes = Slopes(np.zeros(ROWS), np.zeros_like(reader.meanings))
            salt = keys.state("kinship machine", "dropout", task.seed, step) % PRIME
            total += kernel.learn_stories(batch, stories, facts, reader, slate, salt, dropout, slopes)
            words, inverse = _logit_slopes(learnt["meanings"], learnt["inverse"], relation_gender, slopes.meanings)
            grads = {"weights": slopes.weights, "meanings": words, "inverse": inverse}
            adam.step({name: grad / len(batch) for name, grad in grads.items()}, config.rate * (1.0 - step / steps))
            step += 1
        curve.append(round(total / rows, 5))
        task.say(f"reader: epoch {epoch + 1}, {rows:,} stories, loss {curve[-1]:.4f}")
    return {**learnt, "weights": learnt["weights"] * (1.0 - config.dropout)}, curve


def _fit(
    features: list[list[int]], labels: Ints, classes: int, config: KinshipMachineConfig, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A linear classifier over hashed features, by Adam on the cross-entropy: table and bias."""
    seen = padded(features)
    weights: dict[str, NDArray[Any]] = {
        "table": np.zeros((BUCKETS, classes), np.float32),
        "bias": np.zeros(classes, np.float32),
    }
    adam = Adam(weights, (0.9, 0.99))
    kernel = kernels.for_rows(KERNEL_NAME, len(seen))
    steps, step = config.epochs * -(-len(seen) // config.batch), 0
    for epoch in range(config.epochs):
        order = order_of(len(seen), "kinship machine", classes, seed, epoch)
        for start in range(0, len(order), config.batch):
            rows = order[start : start + config.batch]
            p = shares(logits(weights["table"], weights["bias"], seen[rows]))
            p[np.arange(len(rows)), labels[rows]] -= 1.0
            slopes = (p / len(rows)).astype(np.float32)
            to_table, to_bias = np.zeros_like(weights["table"]), np.zeros((1, classes), np.float32)
            kernel.spread_features(seen[rows], np.zeros(len(rows), np.int64), slopes, to_table, to_bias)
            adam.step({"table": to_table, "bias": to_bias[0]}, config.rate * (1.0 - step / steps))
            step += 1
    return weights["table"], weights["bias"]
