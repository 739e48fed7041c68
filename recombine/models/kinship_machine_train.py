"""Training the kinship machine: the reader and the genders from the facts of training stories, the rules from their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.errors import UsageError, shown
from recombine.models.kinship_machine import KinshipMachine, KinshipMachineConfig, logits, padded, shares
from recombine.models.kinship_machine_rules import chain_of, learn_rules
from recombine.models.kinship_machine_text import BUCKETS, Read, common_words, pair_features, person_features, read
from recombine.models.set_machine_finder import KERNEL_NAME
from recombine.models.set_machine_train import Adam, order_of

if TYPE_CHECKING:
    from recombine.models.machines import Task

Ints = NDArray[np.int64]


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
    stories = [read(example, frozenset(common)) for example in examples]
    pairs, labels = _pairs(stories, graphs, number, remembered)
    people = [person_features(story, person, remembered) for story in stories for person in range(len(story.people))]
    genders = np.array([gender for graph in graphs for gender in graph["genders"]], np.int64)
    reader, reader_bias, curve = _fit(pairs, labels, len(relations) + 1, task.config, task.seed)
    gender, gender_bias, _ = _fit(people, genders, 2, replace(task.config, dropout=0.0), task.seed)
    task.say(f"reader: {len(pairs):,} pairs of people, loss {curve[-1]:.4f}")
    counted = np.full((len(relations), 2), 0.5)
    for graph in graphs:
        for (_, b), relation in zip(graph["edges"], graph["relations"], strict=True):
            counted[number[relation], graph["genders"][b]] += 1
    chains = [(chain_of(example, number), number[example.answer]) for example in examples]
    known = [(chain, target) for chain, target in chains if chain]
    rules = learn_rules([chain for chain, _ in known], [target for _, target in known], len(relations))
    arrays = {
        "reader": reader, "reader_bias": reader_bias, "gender": gender, "gender_bias": gender_bias,
        "relation_gender": counted / counted.sum(1, keepdims=True), "rules": rules,
    }  # fmt: skip
    figures = {"pairs": len(pairs), "stories": len(examples), "chains": len(known), "reader_loss": curve}
    return KinshipMachine(task.config, relations, common, arrays), figures


def _pairs(
    stories: Sequence[Read], graphs: Sequence[Any], number: dict[str, int], remembered: dict[tuple[str, ...], int]
) -> tuple[list[list[int]], Ints]:
    """Features and labels of ordered pairs: the stated relation, or none for people that no fact ties.

    The other direction of a stated fact is left out: the graph does not say it.
    """
    found: list[list[int]] = []
    labels: list[int] = []
    for story, graph in zip(stories, graphs, strict=True):
        stated = {(a, b): number[r] for (a, b), r in zip(graph["edges"], graph["relations"], strict=True)}
        for a in range(len(story.people)):
            for b in range(len(story.people)):
                if a != b and ((a, b) in stated or (b, a) not in stated):
                    features = pair_features(story, a, b, remembered)
                    if features:
                        found.append(features)
                        labels.append(stated.get((a, b), len(number)))
    return found, np.array(labels, np.int64)


def _fit(
    features: list[list[int]], labels: Ints, classes: int, config: KinshipMachineConfig, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], list[float]]:
    """A linear classifier over hashed features, by Adam on the cross-entropy: table, bias, mean loss of each epoch."""
    seen = padded(features)
    weights: dict[str, NDArray[Any]] = {
        "table": np.zeros((BUCKETS, classes), np.float32),
        "bias": np.zeros(classes, np.float32),
    }
    adam = Adam(weights, (0.9, 0.99))
    kernel = kernels.for_rows(KERNEL_NAME, len(seen))
    curve, width = [], seen.shape[1]
    steps, step = config.epochs * -(-len(seen) // config.batch), 0
    for epoch in range(config.epochs):
        order, total = order_of(len(seen), "kinship machine", classes, seed, epoch), 0.0
        for start in range(0, len(order), config.batch):
            rows = order[start : start + config.batch]
            drawn = keys.states(keys.state("kinship machine", classes, seed, "dropout", step), 0, len(rows) * width)
            is_left_out = (drawn.reshape(len(rows), width) >> np.uint64(40)) < config.dropout * (1 << 24)
            shown_now = np.where(is_left_out & (seen[rows] >= BUCKETS // 2), 0, seen[rows])
            p = shares(logits(weights["table"], weights["bias"], shown_now))
            total -= float(np.log(p[np.arange(len(rows)), labels[rows]] + 1e-12).sum())
            p[np.arange(len(rows)), labels[rows]] -= 1.0
            slopes = (p / len(rows)).astype(np.float32)
            to_table, to_bias = np.zeros_like(weights["table"]), np.zeros((1, classes), np.float32)
            kernel.spread_features(shown_now, np.zeros(len(rows), np.int64), slopes, to_table, to_bias)
            to_table[0] = 0.0
            adam.step({"table": to_table, "bias": to_bias[0]}, config.rate * (1.0 - step / steps))
            step += 1
        curve.append(round(total / len(order), 5))
    weights["table"][BUCKETS // 2 :] *= np.float32(1.0 - config.dropout)  # all features are seen from now on
    return weights["table"], weights["bias"], curve
