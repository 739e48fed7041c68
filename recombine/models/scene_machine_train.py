"""Trains the scene machine from statement-program pairs; scenes and labels are used only if `labels` asks for them.

The judge of candidates learns from every training statement in turn: what the other statements suggest for it, and which of these
programs mean the same as its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.errors import UsageError
from recombine.models.scene_machine import BUCKETS, SceneMachine, SceneMachineConfig, programmed
from recombine.models.scene_machine_edits import Template
from recombine.models.scene_machine_frames import learn_frames
from recombine.models.scene_machine_text import Slotted, filled, program_slots, program_tokens, slotted, words_of
from recombine.models.set_machine_train import order_of

if TYPE_CHECKING:
    from recombine.abilities import Programmed
    from recombine.models.machines import Task

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
BATCH = 64
LEAST = 2
"""A word counts as known if training has it so often."""
LEAST_LABELS = 2
MOST_STATEMENTS = 1_500
"""Statements from which the judge learns; templates, changes and frames come from all."""


class Pair(NamedTuple):
    """What one row teaches: a statement, its program, and the kind of scene."""

    statement: str
    program: str
    kind: str


def train(task: Task) -> tuple[SceneMachine, dict[str, Any]]:
    """Collect templates, learn changes from pairs of them, then learn which candidates to trust."""
    pairs, family = pairs_of(task)
    count = task.config.labels
    if not count:
        return taught(pairs, family, task)
    if count < LEAST_LABELS:
        raise UsageError(f"labels must be 0 or at least {LEAST_LABELS} (true and false scenes in turn), not {count}.")
    from recombine.models.scene_machine_labels import label, learn_from_labels

    machine, figures = learn_from_labels(label(pairs, family, count), sorted({pair.program for pair in pairs}), family, task)
    return machine, {**figures, "chosen": len(figures["chosen"])}


def taught(
    pairs: Sequence[Pair], family: Programmed, task: Task, has_judge: bool = True
) -> tuple[SceneMachine, dict[str, Any]]:
    """The machine that these pairs teach; without a judge it only suggests candidates."""
    counted = Counter(word for pair in pairs for word in words_of(pair.statement))
    known = [word for word, n in sorted(counted.items()) if n >= LEAST] or sorted(counted)
    machine = SceneMachine(task.config, known, (), np.zeros(BUCKETS, np.float32))
    words = [machine.words(pair.statement) for pair in pairs]
    said = [slotted(one, family.VALUE_WORDS) for one in words]
    templates = Counter(
        (one.tokens, program_slots(program_tokens(pair.program), one.values, family.VALUE_WORDS))
        for pair, one in zip(pairs, said, strict=True)
    )
    machine.templates = tuple(Template(*key, n) for key, n in templates.items())
    own = [program_tokens(pair.program) for pair in pairs]
    machine.set_frames(learn_frames(words, own, lambda part: program_tokens(machine.known_program(family, part)) or None))
    sizes = machine.sizes()
    task.say(f"{len(pairs):,} statements: {', '.join(f'{n:,} {what}' for what, n in sizes.items() if what != 'parameters')}")
    if not has_judge:
        return machine, {"statements": len(pairs)}
    rows, labels = _judged(machine, family, pairs, said)
    machine.weights, curve = fit(rows, labels, task.config, task.seed)
    task.say(f"judge: {len(rows):,} candidates, {int(labels.sum()):,} right, loss {curve[-1]:.4f}")
    figures = {"statements": len(pairs), "candidates": len(rows), "right": int(labels.sum()), "loss": curve}
    return machine, figures


def pairs_of(task: Task) -> tuple[list[Pair], Programmed]:
    """The distinct statements with their programs."""
    found: dict[Pair, None] = {}
    family = None
    for example in task.rows:
        family = programmed(example)
        found[Pair(str(example.inputs["statement"]), family.program_of(example), str(example.inputs["scene"]))] = None
    pairs = [pair for pair in found if pair.program]
    if family is None or not pairs:
        raise UsageError("the scene machine learns from statements with programs, but these rows have none.")
    return pairs, family


def _judged(
    machine: SceneMachine, family: Programmed, pairs: Sequence[Pair], said: Sequence[Slotted]
) -> tuple[list[list[int]], Ints]:
    """Features of the candidates of each statement, without what it teaches itself, and whether each means the same as its program."""
    numbers = {words: number for number, words in enumerate(machine.statements)}
    rows: list[list[int]] = []
    wanted: list[tuple[str, str, str]] = []
    chosen = order_of(len(pairs), "scene machine", "judge")[:MOST_STATEMENTS]
    for pair, one in [(pairs[place], said[place]) for place in sorted(chosen.tolist())]:
        best: dict[str, list[int]] = {}
        for candidate in machine.candidates(one.tokens, numbers[one.tokens]):
            text = filled(candidate.program, one.values, family.VALUE_WORDS)
            if text and text not in best:
                best[text] = machine.features(one.tokens, candidate)
        rows += best.values()
        wanted += [(pair.kind, pair.program, text) for text in best]
    labels = np.zeros(len(rows), np.int64)
    for kind in sorted({kind for kind, _, _ in wanted}):
        own = [place for place, found in enumerate(wanted) if found[0] == kind]
        texts = sorted({text for place in own for text in wanted[place][1:]})
        meaning = dict(zip(texts, family.meanings(kind, texts), strict=True))
        for place in own:
            _, right, text = wanted[place]
            labels[place] = bool(meaning[text]) and meaning[text] == meaning[right]
    return rows, labels


def fit(rows: Sequence[Sequence[int]], labels: Ints, config: SceneMachineConfig, seed: int) -> tuple[Floats, list[float]]:
    """A logistic model over features, by Adagrad on batches: weights, and the mean loss of each epoch."""
    weights, squares = np.zeros(BUCKETS), np.full(BUCKETS, 1e-6)
    lengths = np.array([len(row) for row in rows], np.int64)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    flat = np.array([feature for row in rows for feature in row], np.int64)
    curve = [0.0]
    for epoch in range(config.epochs if len(rows) else 0):
        order, total = order_of(len(rows), "scene machine", seed, epoch), 0.0
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            features = np.concatenate([flat[ends[row] : ends[row + 1]] for row in chosen])
            owner = np.repeat(np.arange(len(chosen)), lengths[chosen])
            score = np.bincount(owner, weights[features], len(chosen))
            p = 1.0 / (1.0 + np.exp(-np.clip(score, -30, 30)))
            is_right = labels[chosen]
            total -= float(np.log(np.where(is_right == 1, p, 1 - p) + 1e-12).sum())
            slope = np.bincount(features, ((p - is_right) / len(chosen))[owner], BUCKETS)
            squares += slope * slope
            weights -= config.rate * slope / np.sqrt(squares)
        curve.append(round(total / len(order), 5))
    return weights.astype(np.float32), curve
