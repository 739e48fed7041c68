"""Training the set machine: Adam on the finder and on the actor, in one pass over batches; resumable at any step.

The order of batches and every random number are functions of seed and step. A killed run goes on from its last checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.errors import FileError, UnknownName, UsageError, shown
from recombine.files import inside
from recombine.models.arrays import read_arrays, write_arrays
from recombine.models.set_machine import ACTORS, RULES, SIGNALS, SetMachine, SetMachineConfig, turned
from recombine.models.set_machine_actor import Moments, gradients
from recombine.models.set_machine_camera import Camera
from recombine.models.set_machine_finder import KERNEL_NAME, PRICE, Parameters, find, new_desk, sheet_of
from recombine.models.set_machine_kernel import HISTORY, Meanings
from recombine.models.set_machine_rows import END, Rows, Vocabulary, Walk, rows_of, vocabulary_of, walked
from recombine.models.set_machine_rules import Lessons, learn_rules, rows_for_rules
from recombine.models.set_machine_sight import (
    PICTURES,
    SIGHTS,
    SYMBOLS,
    check_sight,
    dressed,
    new_finder,
    new_sighted_actor,
    sighted_gradients,
    sighted_meanings,
    sighted_spread,
    undressed,
)  # fmt: skip
from recombine.models.set_machine_signal import aimed, drawn, likelihoods

if TYPE_CHECKING:
    from pathlib import Path

    from recombine.models.machines import Task

Ints = NDArray[np.int64]
STATE = "progress.npz"
CHECKPOINT_SECONDS, SAY_ROWS, CHUNK = 60.0, 50_000, 16
"""Inside a chunk of this many batches, commands of similar length are put into one batch."""
LAST_RATE, HEAD = 0.02, 1.25
"""The rate is full for the first fifth of the training. Then it falls linearly to this share of the full rate."""
CLIP = 1.0
FLOOR = 1e-8
"""Added to the root of Adam's mean square."""
STUCK = 0.005
"""A finder with a higher loss may have misread a word. Finders that read every word right had losses of 0.0006 to 0.002. A misread word that
training hardly distinguishes cost 0.01 to 0.06, other misread words 0.3 and more."""
WINDOW = 100
"""Steps whose mean loss decides whether the finder is the best so far."""


class Adam:
    """Adam for a dictionary of arrays."""

    def __init__(self, parameters: Parameters, betas: tuple[float, float]) -> None:
        self.parameters, self.betas, self.steps = parameters, betas, 0
        self.mean = {name: np.zeros_like(array) for name, array in parameters.items()}
        self.square = {name: np.zeros_like(array) for name, array in parameters.items()}

    def step(self, grads: Parameters, rate: float) -> None:
        """One step against these gradients."""
        self.steps += 1
        b1, b2 = self.betas
        size = rate * (1 - b2**self.steps) ** 0.5 / (1 - b1**self.steps)
        for name, grad in grads.items():
            mean, square = self.mean[name], self.square[name]
            mean += (1 - b1) * (grad - mean)
            square += (1 - b2) * (grad * grad - square)
            self.parameters[name] -= (size * mean / (np.sqrt(square) + FLOOR)).astype(self.parameters[name].dtype)


def clipped(grads: Parameters) -> Parameters:
    """Gradients whose norm is at most `CLIP`."""
    norm = float(np.sqrt(sum(float((grad * grad).sum()) for grad in grads.values())))
    return grads if norm <= CLIP else {name: grad * (CLIP / norm) for name, grad in grads.items()}


class Lesson(NamedTuple):
    """What is learnt from: rows as they are and as the finder reads them, what follows from their actions, and the settings."""

    rows: Rows
    read: Rows
    walk: Walk
    config: SetMachineConfig
    seed: int


def _copied(parameters: Parameters) -> Parameters:
    return {name: array.copy() for name, array in parameters.items()}


def order_of(n: int, *parts: keys.Key) -> Ints:
    """A permutation that depends on the named parts alone."""
    return np.argsort(keys.states(keys.state(*parts), 0, n), kind="stable").astype(np.int64)


def stream(lesson: Lesson, stage: str, pool: Ints) -> Iterator[Ints]:
    """Batches of a stage without end: shuffled, then sorted by number of objects and words inside chunks."""
    size, rows = lesson.config.batch, lesson.rows
    epoch = 0
    while True:
        order = pool[order_of(len(pool), "set machine", lesson.seed, stage, epoch)]
        for start in range(0, len(order), size * CHUNK):
            piece = order[start : start + size * CHUNK]
            piece = piece[np.lexsort((rows.lengths[piece], rows.counts[piece]))]
            batches = [piece[i : i + size] for i in range(0, len(piece), size)]
            for place in order_of(len(batches), "set machine", lesson.seed, stage, epoch, start):
                yield batches[place]
        epoch += 1


def stages(lesson: Lesson) -> list[tuple[int, Iterator[Ints]]]:
    """(rows visited at which the stage ends, its batches): short commands, middle ones, all."""
    c, lengths = lesson.config, lesson.rows.lengths
    found = []
    for name, end, most in (("short", c.short_rows, c.short_words), ("middle", c.middle_rows, c.middle_words)):
        pool = np.nonzero(lengths <= most)[0]
        if end and len(pool) >= c.batch and len(pool) < len(lengths):
            found.append((min(end, c.rows), stream(lesson, name, pool)))
    return [*found, (c.rows, stream(lesson, "all", np.arange(len(lengths))))]


def shares_of(lesson: Lesson, order: Ints) -> NDArray[np.float64]:
    """1 for the objects of each row that stand where the agent went, else 0."""
    objects = lesson.rows.objects[order]
    here: NDArray[np.bool_] = (objects[:, :, 3:5] == lesson.walk.targets[order][:, None]).all(2) & (objects[:, :, 0] >= 0)
    return here.astype(np.float64)


def moments_of(lesson: Lesson, order: Ints, sizes: Ints, step: int) -> tuple[Moments, Ints]:
    """Random moments of each row, with the right action at each; the last moment of a row is its end."""
    rows, walk, m = lesson.rows, lesson.walk, lesson.config.moments
    start, lengths = rows.ends[order][:, None], np.diff(rows.ends)[order][:, None]
    draws = keys.states(keys.state("set machine", lesson.seed, "moments", step), 0, len(order) * m).reshape(len(order), m)
    t = ((draws >> np.uint64(33)).astype(np.int64) * (lengths + 1)) >> 31
    if lesson.config.signal == "actions":
        t[:, :1] = lengths  # where an agent ends tells most about its target
    is_first, before = t == 0, np.maximum(start + t - 1, 0)
    poses = np.where(is_first[..., None], rows.agents[order][:, None], walk.poses[before])
    back = t[..., None] - np.arange(1, HISTORY + 1)
    past = np.where(back >= 0, rows.actions[np.maximum(start[..., None] + back, 0)], 0)
    right = np.where(t < lengths, rows.actions[np.minimum(start + t, len(rows.actions) - 1)], END)
    owners = np.repeat(np.arange(len(order)), m)
    moments = Moments(
        owners, poses.reshape(-1, 3).astype(np.int64), past.reshape(-1, HISTORY).astype(np.int64),
        np.where(is_first, 0, walk.moved[before]).reshape(-1).astype(np.int64), walk.targets[order][owners], sizes[owners],
        lesson.config.compass,
    )  # fmt: skip
    return moments, right.reshape(-1).astype(np.int64)


class Learner:
    """Parameters, their optimizers, and how far the run is."""

    def __init__(self, lesson: Lesson, words: int) -> None:
        c = lesson.config
        rng = np.random.default_rng(keys.state("set machine", "weights", lesson.seed))
        self.lesson, self.words = lesson, words
        self.finder = new_finder(words, lesson.rows, rng)
        self.actor = new_sighted_actor(words, c.sight, lesson.rows.grid, (c.first, c.second), rng)
        self.of_finder, self.of_actor = Adam(self.finder, (0.9, 0.99)), Adam(self.actor, (0.9, 0.999))
        self.kept = _copied(self.finder)
        self.kept_actor = _copied(self.actor)
        self.least_loss, self.window = np.inf, 0.0
        self.step, self.visited = 0, 0
        self.spent = {"seconds": 0.0, "cpu_seconds": 0.0}
        self.desk = new_desk(lesson.rows)
        self.curve: list[dict[str, float]] = []
        self.losses: list[tuple[float, float, float]] = []  # since the curve's last point

    def learn(self, order: Ints) -> tuple[float, float, float]:
        """One step on a batch: losses of finder and actor, and the share of actions that were right."""
        lesson, c = self.lesson, self.lesson.config
        done = self.visited / c.rows
        rate = min(1.0, HEAD * (1.0 - done) + LAST_RATE)
        if c.signal == "actions":
            loss, moments, right = self._find_by_actions(order, rate)
        else:
            shares = shares_of(lesson, order)
            loss, scores = self._find(order, shares, rate * c.finder_rate)
            chosen = np.where(shares > 0, scores, -1.0).argmax(1)
            sizes = lesson.rows.objects[order, chosen, 0].astype(np.int64)
            moments, right = moments_of(lesson, order, sizes, self.step)
        self._keep(loss)
        actor_loss, accuracy = 0.0, 0.0
        if c.actor != RULES:
            worn = dressed(self.actor, self.finder, lesson.rows)
            actor_loss, accuracy, grads = gradients(worn, lesson.rows, order, moments, right)
            self.of_actor.step(undressed(grads, self.finder, lesson.rows), rate * c.actor_rate)
        self.step, self.visited = self.step + 1, self.visited + len(order)
        return loss, actor_loss, accuracy

    def _find_by_actions(self, order: Ints, rate: float) -> tuple[float, Moments, Ints]:
        """One step of the finder without the target's cell: its loss, and the moments for the actor."""
        rows, c = self.lesson.rows, self.lesson.config
        moments, right = moments_of(self.lesson, order, np.zeros(len(order), np.int64), self.step)
        shares = likelihoods(dressed(self.actor, self.finder, rows), rows, order, moments, right)
        loss, scores = 0.0, np.ones_like(shares)
        if self.visited >= c.warm_rows:
            loss, scores = self._find(order, shares, rate * c.finder_rate)
        things = drawn(scores * shares, "set machine", self.lesson.seed, "things", self.step)
        return loss, aimed(rows, order, moments, things), right

    def _find(self, order: Ints, shares: NDArray[np.float64], rate: float) -> tuple[float, NDArray[np.float64]]:
        """One step of the finder: the mean loss without the penalty, and the scores of the objects."""
        read, c = self.lesson.read, self.lesson.config
        grads, scores = sighted_gradients(self.words, read), np.zeros(shares.shape)
        kernel = kernels.for_rows(KERNEL_NAME, c.rows)
        meanings = sighted_meanings(self.finder, read, c.least)
        total = kernel.learn_batch(order, sheet_of(read), meanings, c.least, self.desk, shares, scores, grads)
        uses = np.bincount(read.words[order].ravel(), minlength=self.words).astype(np.float64)
        grads = Meanings(*(grad / len(order) for grad in grads))
        grads.operations[:] += c.penalty * uses[:, None] * PRICE / len(order)
        self.of_finder.step(clipped(sighted_spread(self.finder, read, c.least, c.even, grads)), rate)
        return float(total) / len(order), scores

    def _keep(self, loss: float) -> None:
        """Keep the finder with the least loss over a window of steps on all commands.

        Once nearly all targets are found its gradients are tiny, Adam scales them up, and a word may lose its meaning again.
        """
        self.window += loss
        if self.step % WINDOW == WINDOW - 1:
            c = self.lesson.config
            is_last_stage = self.visited >= max(c.short_rows, c.middle_rows, c.warm_rows if c.signal == "actions" else 0)
            if is_last_stage and self.window / WINDOW < self.least_loss:
                self.least_loss = self.window / WINDOW
                self.kept, self.kept_actor = _copied(self.finder), _copied(self.actor)
            self.window = 0.0

    def best_finder(self) -> Parameters:
        """The kept finder; the present one if the run was too short for a window."""
        return self.kept if np.isfinite(self.least_loss) else self.finder

    def best_actor(self) -> Parameters:
        """The present actor; with pictures, the one that learnt with the kept finder's eye."""
        is_kept = self.lesson.config.sight == PICTURES and np.isfinite(self.least_loss)
        return self.kept_actor if is_kept else self.actor

    # --- checkpoints ---

    def _groups(self) -> dict[str, Parameters]:
        a, b = self.of_finder, self.of_actor
        groups = {
            "finder": self.finder, "kept": self.kept, "actor": self.actor, "finder.mean": a.mean, "finder.square": a.square, "actor.mean": b.mean,
            "actor.square": b.square,
        }  # fmt: skip
        return groups | ({"kept.actor": self.kept_actor} if self.lesson.config.sight == PICTURES else {})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that a later process needs to go on."""
        found: dict[str, NDArray[Any]] = {
            f"{group}/{name}": array for group, parts in self._groups().items() for name, array in parts.items()
        }
        spent = self.spent["seconds"], self.spent["cpu_seconds"]
        standing = self.step, self.visited, *spent, self.least_loss, self.window, self.of_finder.steps
        found["standing"] = np.array(standing, np.float64)
        return found

    def restore(self, found: Any) -> None:
        """Put `arrays` back."""
        for group, parts in self._groups().items():
            for name in parts:
                parts[name][...] = found[f"{group}/{name}"]
        self.step, self.visited = int(found["standing"][0]), int(found["standing"][1])
        self.spent = {"seconds": float(found["standing"][2]), "cpu_seconds": float(found["standing"][3])}
        self.least_loss, self.window = (float(value) for value in found["standing"][4:6])
        self.of_finder.steps, self.of_actor.steps = int(found["standing"][6]), self.step  # a finder may begin later


def train(task: Task) -> tuple[SetMachine, dict[str, Any]]:
    """The learnt machine, and the losses along the way."""
    if not len(task.rows):
        raise UsageError("training needs at least one example.")
    config: SetMachineConfig = task.config
    batches = list(task.rows.batches())
    check_settings(config)
    known = vocabulary_of(batches)
    rows = rows_of(batches, known, Camera(task.rows.family) if config.sight == PICTURES else None)
    return learn(rows, known, config, task)


def learn(rows: Rows, known: Vocabulary, config: SetMachineConfig, task: Task) -> tuple[SetMachine, dict[str, Any]]:
    """Train on rows that are read already."""
    check_settings(config)
    check_sight(config.sight, rows)
    if config.sight == PICTURES:
        known = known._replace(colors=(), shapes=())  # a machine that sees has no names for what it sees
    read, walk = rows if config.backwards else turned(rows), walked(rows)
    spent, curves, best = {"seconds": 0.0, "cpu_seconds": 0.0}, [], None
    for start in range(config.starts):
        seed = keys.state("set machine", "start", task.seed, start) if start else task.seed
        learner = Learner(Lesson(rows, read, walk, config, seed), len(known.words) + 1)
        path = inside(task.out, f"progress-{start}.npz" if start else STATE)
        before, curve = run(learner, path, task.say)
        spent = {name: seconds + before[name] for name, seconds in spent.items()}
        curves.append(curve)
        best = learner if best is None or learner.least_loss < best.least_loss else best
        if (
            config.signal != "cell"
            or best.least_loss <= STUCK
            or not np.isfinite(best.least_loss)
            or start + 1 == config.starts
        ):
            break
        task.say(
            f"the finder's loss stays at {learner.least_loss:.3f}, so a word may be misread: it begins again ({start + 2} of {config.starts})"
        )
        save(learner, path)
    assert best is not None, "there is at least one start"
    actor = rules_of(best) if config.actor == RULES else best.best_actor()
    machine = SetMachine(config, known, rows.grid, best.best_finder(), actor)
    loss = best.least_loss if np.isfinite(best.least_loss) else None
    figures = {"spent": spent, "curve": [point for curve in curves for point in curve], "starts": len(curves)}
    return machine, {**figures, "loss_of_the_kept_finder": loss}


def run(learner: Learner, path: Path, say: Callable[[str], None]) -> tuple[dict[str, float], list[dict[str, float]]]:
    """One start to its end, or from where its checkpoint stands: what was spent on it before, and the losses along the way."""
    if path.is_file():
        restore(learner, path)
    before = dict(learner.spent)
    wall, cpu, saved = time.monotonic(), time.process_time(), time.monotonic()
    for order in due(learner.lesson, learner):
        told = learner.visited // SAY_ROWS
        learner.losses.append(learner.learn(order))
        if learner.visited // SAY_ROWS > told:
            finder, actor, right = np.mean(learner.losses, 0).tolist()
            learner.curve.append({"rows": learner.visited, "finder": finder, "actor": actor, "actions": right})
            say(f"{learner.visited:,} rows: finder {finder:.4f}, actor {actor:.4f}, actions right {100 * right:.2f} %")
            learner.losses = []
        learner.spent = {
            "seconds": before["seconds"] + time.monotonic() - wall,
            "cpu_seconds": before["cpu_seconds"] + time.process_time() - cpu,
        }
        if time.monotonic() - saved > CHECKPOINT_SECONDS:
            save(learner, path)
            saved = time.monotonic()
    return before, learner.curve


def check_settings(config: SetMachineConfig) -> None:
    """Refuse names that no actor, signal or sight has."""
    named = ("actor", config.actor, ACTORS), ("signal", config.signal, SIGNALS), ("sight", config.sight, SIGHTS)
    for name, value, known in named:
        if value not in known:
            raise UnknownName(name, value, known)
    if config.starts < 1:
        raise UsageError(f"starts must be at least 1, not {config.starts}.")
    if config.actor == RULES and config.signal != "cell":
        raise UsageError("rules are learnt from where the agent walked, so they need signal = cell.")
    if config.actor == RULES and config.sight != SYMBOLS:
        raise UsageError("rules ask for the target's size and for boxes by name, so they need sight = symbols.")


def rules_of(learner: Learner) -> Parameters:
    """The rules that the rows teach; the finder chooses where two objects stand in the target's cell."""
    rows, config = learner.lesson.rows, learner.lesson.config
    order = order_of(len(rows.lengths), "set machine", learner.lesson.seed, "rules")
    chosen = rows_for_rules(rows, order, config.rule_rows)
    meanings = sighted_meanings(learner.best_finder(), rows, config.least)
    scores = find(meanings, learner.lesson.read, chosen, config.least)
    things = np.where(shares_of(learner.lesson, chosen) > 0, scores, -1.0).argmax(1)
    sizes = np.zeros(len(rows.lengths), np.int64)
    sizes[chosen] = rows.objects[chosen, things, 0]
    return learn_rules(Lessons(rows, learner.lesson.walk, sizes), chosen, learner.words)


def due(lesson: Lesson, learner: Learner) -> Iterator[Ints]:
    """The batches that the learner has not seen yet, in order; those it has seen are passed over."""
    visited, step = 0, 0
    for end, batches in stages(lesson):
        while visited < end:
            order = next(batches)
            visited, step = visited + len(order), step + 1
            if step > learner.step:
                yield order


def save(learner: Learner, path: Path) -> None:
    """Replace the checkpoint, whole or not at all."""
    write_arrays(path, {"curve": learner.curve, "losses": learner.losses}, learner.arrays())


def restore(learner: Learner, path: Path) -> None:
    """Take up a checkpoint; one of another machine is an error that names it."""
    header, found = read_arrays(path)
    try:
        learner.restore(found)
        learner.curve, learner.losses = list(header["curve"]), list(map(tuple, header["losses"]))
    except (TypeError, ValueError, KeyError, IndexError) as problem:
        raise FileError(f"{shown(str(path))} is no checkpoint of this machine: {str(problem)[:200]}.") from None
