"""Training the kinship machine: the reader and the genders from the facts of training stories, the rules from their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.errors import UsageError, shown
from recombine.models.kinship_machine import (
    READER_NAME,
    ROWS,
    KinshipMachine,
    KinshipMachineConfig,
    logits,
    new_slate,
    padded,
    pairs_of,
    shares,
    stories_of,
    word_numbers,
)
from recombine.models.kinship_machine_kernel import PRIME, SIDES, Pairs, Reader, Stories
from recombine.models.kinship_machine_rules import chain_of, learn_rules
from recombine.models.kinship_machine_text import BUCKETS, Read, common_words, person_features, read, together
from recombine.models.set_machine_finder import KERNEL_NAME
from recombine.models.set_machine_train import Adam, order_of

if TYPE_CHECKING:
    from recombine.models.machines import Task

Ints = NDArray[np.int64]
INVERSE_STORIES = 2_500
"""Stories from which the machine learns what each relation is from the other side."""
LEAST_INVERSE = 1e-3
NEAR = 6
"""Words before and behind two mentions whose labels count at the start."""


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
    remembered: dict[tuple[str, ...], int] = {}
    common = common_words(examples, relations)
    words = word_numbers(common)
    stories = [read(example, words) for example in examples]
    pairs = _pairs(stories, graphs, number)
    people = [person_features(story, person, remembered) for story in stories for person in range(len(story.people))]
    genders = np.array([gender for graph in graphs for gender in graph["genders"]], np.int64)
    reader, curve = _learn_reader(stories_of(stories, words), pairs, len(relations), task)
    gender, gender_bias = _fit(people, genders, 2, task.config, task.seed)
    counted = np.full((len(relations), 2), 0.5)
    for graph in graphs:
        for (_, b), relation in zip(graph["edges"], graph["relations"], strict=True):
            counted[number[relation], graph["genders"][b]] += 1
    chains = [(chain_of(example, number), number[example.answer]) for example in examples]
    known = [(chain, target) for chain, target in chains if chain]
    rules = learn_rules([chain for chain, _ in known], [target for _, target in known], len(relations))
    arrays = {
        "weights": reader.weights, "meanings": reader.meanings, "gender": gender, "gender_bias": gender_bias,
        "relation_gender": counted / counted.sum(1, keepdims=True), "rules": rules,
    }  # fmt: skip
    figures = {"pairs": len(pairs.story), "stories": len(examples), "chains": len(known), "reader_loss": curve}
    machine = KinshipMachine(task.config, relations, common, arrays)
    inverse = np.full((len(relations), len(relations)), LEAST_INVERSE)
    for story, graph in zip(stories[:INVERSE_STORIES], graphs, strict=False):
        for relation, back in zip(graph["relations"], machine.reversed(story, graph["edges"]), strict=True):
            inverse[number[relation]] += back
    arrays["inverse"] = inverse / inverse.sum(1, keepdims=True)
    return machine, figures


def _pairs(stories: Sequence[Read], graphs: Sequence[Any], number: dict[str, int]) -> Pairs:
    """Ordered pairs of people and their labels: the stated relation, or none for people that no fact ties.

    The other direction of a stated fact is left out: the graph does not say it.
    """
    seen: list[tuple[int, list[tuple[int, int]], int]] = []
    for n, (story, graph) in enumerate(zip(stories, graphs, strict=True)):
        stated = {(a, b): number[r] for (a, b), r in zip(graph["edges"], graph["relations"], strict=True)}
        for a, b, places in together(story):
            if (a, b) in stated or (b, a) not in stated:
                seen.append((n, places, stated.get((a, b), len(number))))
    return pairs_of(seen, stories)


def _learn_reader(stories: Stories, pairs: Pairs, relations: int, task: Task) -> tuple[Reader, list[float]]:
    """The reader by Adam on the cross-entropy, and the mean loss of each epoch.

    Meanings begin at the labels of the pairs near which a word stands, a little different for its two sides.
    """
    config: KinshipMachineConfig = task.config
    kernel, slate = kernels.for_rows(READER_NAME, len(pairs.story)), new_slate()
    words, dropout = len(stories.kinds), round(1000 * config.dropout)
    rng = np.random.default_rng(keys.state("kinship machine", "meanings", task.seed))
    parameters: dict[str, NDArray[Any]] = {
        "weights": np.zeros((ROWS, SIDES)),
        "logits": np.log(_labels_of_words(stories, pairs, relations))[:, None] + rng.normal(0, 0.3, (words, SIDES, relations)),
    }
    adam, curve, step = Adam(parameters, (0.9, 0.99)), [], 0
    steps = config.epochs * -(-len(pairs.story) // config.batch)
    for epoch in range(config.epochs):
        order, total = order_of(len(pairs.story), "kinship machine", relations, task.seed, epoch), 0.0
        for start in range(0, len(order), config.batch):
            rows = order[start : start + config.batch]
            reader = Reader(parameters["weights"], _meanings(parameters["logits"]))
            slopes = Reader(np.zeros_like(reader.weights), np.zeros_like(reader.meanings))
            salt = keys.state("kinship machine", "dropout", task.seed, step) % PRIME
            total += kernel.learn_pairs(rows, stories, pairs, reader, slate, salt, dropout, slopes)
            grads = {"weights": slopes.weights / len(rows), "logits": slopes.meanings / len(rows)}
            adam.step(grads, config.rate * (1.0 - step / steps))
            step += 1
        curve.append(round(total / max(1, len(order)), 5))
        task.say(f"reader: epoch {epoch + 1}, {len(order):,} pairs of people, loss {curve[-1]:.4f}")
    return Reader(parameters["weights"] * (1.0 - config.dropout), _meanings(parameters["logits"])), curve


def _meanings(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each word means from each side."""
    return shares(scores.reshape(-1, scores.shape[2])).reshape(scores.shape)


def _labels_of_words(stories: Stories, pairs: Pairs, relations: int) -> NDArray[np.float64]:
    """For each word the shares of the relations of pairs whose closest mentions stand around it."""
    counts = np.full((len(stories.kinds), relations), 0.5)
    for (p, q), label in zip(pairs.places[:, 0].tolist(), pairs.labels.tolist(), strict=True):
        if label < relations:
            near = stories.tokens[max(0, min(p, q) - NEAR) : max(p, q) + NEAR]
            counts[np.unique(near[near >= 0]), label] += 1.0
    out: NDArray[np.float64] = counts / counts.sum(1, keepdims=True)
    return out


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
