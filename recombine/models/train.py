"""The one training loop: seeded, resumable at any step, early stopping by the task's own metric.

A killed run that is started again ends in the same weights as an unbroken one (same machine, same thread count), because
the order of batches is a function of seed and epoch, every step's random numbers are a function of seed, epoch and step,
and a checkpoint appears whole or not at all.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from recombine import keys
from recombine.errors import UsageError, shown
from recombine.files import own_folder, write_json, write_text
from recombine.models import checkpoints, find_model
from recombine.models.base import ColumnModel, Model, Training, as_json, find_device, reseed, single_thread
from recombine.models.batching import buckets, by_length, to_device
from recombine.models.checkpoints import BEST, CURVE, METRICS, RESULT, State, save_tensors
from recombine.models.parts import Columns, prediction_lines, scores

if TYPE_CHECKING:
    from recombine.core import Example

__all__ = ["Metric", "Plan", "Report", "Result", "mean_score", "predict", "prediction_lines", "scores", "train"]

CHECKPOINT_SECONDS = 60.0
"""A checkpoint is written at the end of every epoch, and inside an epoch when the last one is older than this."""
CURVE_STEPS = 100
"""A point of the learning curve is noted after every `CURVE_STEPS` steps."""

Metric = Callable[[Sequence["Example"], Sequence[str]], float]
"""Examples and answers -> one number; higher is better and 1.0 is perfect."""
Report = Callable[[State, int], None]
"""Called after every step with the state and the number of steps in this epoch, and after every epoch with step 0."""


@dataclass(frozen=True)
class Result:
    """The end of a run: the best validation score and when, why it stopped, and what it cost."""

    best: float
    best_epoch: int
    epochs: int
    stopped: str
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Plan:
    """A training run: a model by name with a configuration, the settings, and a note about the source of the data."""

    model: str
    config: Any
    training: Training
    data: Any = None


def train(
    plan: Plan,
    fit: Sequence[Example] | Columns,
    validation: Sequence[Example],
    out: Path,
    report: Report | None = None,
    device: str = "cpu",
    metric: Metric | None = None,
) -> Result:
    """Train to the end, or go on where the run in `out` stopped. A finished run returns its result at once.

    With more `epochs` (or another `patience`) than before a finished run goes on as if it had been asked for them at first.
    Validation goes by the mean of `Example.score`, the task's own metric (for NACS: back-mapping), unless a `metric` is given.
    """
    single_thread()
    place = find_device(device)
    own_folder(out, checkpoints.RUN_FOLDER)
    held = list(validation)
    if not len(fit) or not held:
        raise UsageError("training needs at least one example to fit and one for validation.")
    cls, _ = find_model(plan.model)
    reseed(keys.state("weights", plan.training.seed), place)
    try:
        model = _built(cls, plan.config, fit)
    except (ValueError, RuntimeError, AssertionError, ZeroDivisionError, IndexError) as problem:
        raise UsageError(
            f"these settings make no {plan.model}: {str(problem).splitlines()[0][:200] if str(problem) else 'out of range'}."
        ) from problem
    checkpoints.claim(out, _described(plan, model), free={"training": ("epochs", "patience")})
    run = _Run(plan.training, model.to(place), out, place, metric or mean_score)
    run.resume()
    if not run.state.stopped:
        run.fit(_encoded(model, fit), held, report or _silent)
    s = run.state
    result = Result(s.best, s.best_epoch, len(s.history), s.stopped, round(s.seconds, 2), round(s.cpu_seconds, 2))
    write_json(out / RESULT, asdict(result))
    return result


def _built(cls: type[Model], config: Any, fit: Sequence[Example] | Columns) -> Model:
    """A fresh model for these rows."""
    if not isinstance(fit, Columns):
        return cls.build(config, list(fit))
    assert issubclass(cls, ColumnModel), "only a ColumnModel learns from columns"
    return cls(config, cls.learn_codec_from(fit.batches))


def _encoded(model: Model, fit: Sequence[Example] | Columns) -> Sequence[Any]:
    """The rows as items."""
    if not isinstance(fit, Columns):
        return [model.encode(example, True) for example in fit]
    assert isinstance(model, ColumnModel)
    return model.encode_all(fit.batches)


def _silent(_state: State, _steps: int) -> None:
    """No progress report."""


def _described(plan: Plan, model: Model) -> dict[str, Any]:
    """The run as `run.json` tells it."""
    return {
        "model": plan.model,
        "config": as_json(plan.config),
        "codec": model.codec,
        "training": as_json(plan.training),
        "data": plan.data,
    }


class _Run:
    """A run in progress."""

    def __init__(self, training: Training, model: Model, out: Path, device: torch.device, metric: Metric) -> None:
        self.training, self.model, self.out, self.device, self.metric = training, model, out, device, metric
        self.optimizer = _optimizer(training, model)
        self.state = State()

    def resume(self) -> None:
        """Take up the last checkpoint, if there is one."""
        self.state = checkpoints.resume_last(self.out, self.model, self.optimizer)
        self.state.stopped = self._reason_to_stop()

    def save(self) -> None:
        """Replace the last checkpoint."""
        checkpoints.save_last(self.out, self.model, self.optimizer, self.state)

    def fit(self, items: Sequence[Any], held: list[Example], report: Report) -> None:
        """Epochs until one of the reasons to stop holds."""
        lengths = [self.model.length(item) for item in items]
        clock, cpu = time.monotonic(), time.process_time()
        before = self.state.seconds, self.state.cpu_seconds

        def spent() -> None:
            self.state.seconds = before[0] + time.monotonic() - clock
            self.state.cpu_seconds = before[1] + time.process_time() - cpu

        while not self.state.stopped:
            self._epoch(items, lengths, report, spent)
            answers = predict(self.model, held, self.training.answer_batch, self.device)
            self._close_epoch(self.metric(held, answers), spent)
            report(self.state, 0)

    def _epoch(self, items: Sequence[Any], lengths: list[tuple[int, ...]], report: Report, spent: Callable[[], None]) -> None:
        t, state = self.training, self.state
        batches = buckets(lengths, t.batch, t.chunk, "batches", t.seed, state.epoch)
        saved = time.monotonic()
        self.model.train()
        if state.step == 0:
            reseed(keys.state("epoch", t.seed, state.epoch), self.device)
            self.model.begin_epoch()
        while state.step < len(batches) and not (t.max_steps and state.steps >= t.max_steps):
            age = state.steps / t.decay_steps if t.decay_steps else float(state.epoch)
            rate = t.rate * t.decay**age * min(1.0, (state.steps + 1) / max(1, t.warmup_steps))
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            reseed(keys.state("step", t.seed, state.epoch, state.step), self.device)
            batch = to_device(self.model.collate([items[i] for i in batches[state.step]]), self.device)
            loss = self.model.loss(batch)
            self.optimizer.zero_grad(set_to_none=True)
            loss.value.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), t.clip)
            self.optimizer.step()
            state.step, state.steps = state.step + 1, state.steps + 1
            state.loss += float(loss.value.detach())
            state.right, state.decisions = state.right + loss.right, state.decisions + loss.decisions
            if state.steps % CURVE_STEPS == 0:
                spent()
                self._note()
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                spent()
                self.save()
                saved = time.monotonic()
            report(state, len(batches))

    def _note(self) -> None:
        """A point of the learning curve: mean loss and share of right decisions since the point before, or since the epoch began."""
        state = self.state
        point = {
            "steps": state.steps,
            "loss": (state.loss - state.marked_loss) / max(1, state.step - state.marked_step),
            "accuracy": (state.right - state.marked_right) / max(1, state.decisions - state.marked_decisions),
            "cpu_seconds": round(state.cpu_seconds, 2),
        }
        state.curve.append(point)
        self._mark()

    def _mark(self) -> None:
        state = self.state
        state.marked_step, state.marked_loss = state.step, state.loss
        state.marked_right, state.marked_decisions = state.right, state.decisions

    def _close_epoch(self, scored: float, spent: Callable[[], None]) -> None:
        """Keep the weights if they are the best so far, write the record, and decide whether to stop."""
        state = self.state
        spent()
        state.history.append({
            "epoch": state.epoch + 1,
            "steps": state.steps,
            "loss": state.loss / max(1, state.step),
            "accuracy": state.right / max(1, state.decisions),
            "validation": scored,
            "rate": self.optimizer.param_groups[0]["lr"],
            "seconds": round(state.seconds, 2),
            "cpu_seconds": round(state.cpu_seconds, 2),
        })  # fmt: skip
        state.epoch, state.step, state.loss, state.right, state.decisions = state.epoch + 1, 0, 0.0, 0, 0
        self._mark()
        if scored > state.best:
            state.best, state.best_epoch = scored, state.epoch
            save_tensors(self.out / BEST, self.model.state_dict())
        state.stopped = self._reason_to_stop()
        self.save()
        write_text(self.out / METRICS, "".join(json.dumps(record) + "\n" for record in state.history))
        write_text(self.out / CURVE, "".join(json.dumps(point) + "\n" for point in state.curve))

    def _reason_to_stop(self) -> str:
        """Why no further epoch is due; empty if one is."""
        t, state = self.training, self.state
        if state.best >= 1.0:
            return "validation is perfect: no later epoch can be strictly better"
        if t.patience and state.epoch - max(0, state.best_epoch) >= t.patience:
            return f"no better validation in {t.patience} epochs"
        if t.max_steps and state.steps >= t.max_steps:
            return f"all {t.max_steps:,} steps are done"
        return f"all {t.epochs} epochs are done" if state.epoch >= t.epochs else ""


def _optimizer(training: Training, model: Model) -> torch.optim.Optimizer:
    parameters = [p for p in model.parameters() if p.requires_grad]
    if training.optimizer == "adam":
        return torch.optim.Adam(parameters, lr=training.rate, weight_decay=training.weight_decay, fused=True)
    if training.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=training.rate, weight_decay=training.weight_decay, fused=True)
    raise UsageError(f"unknown optimizer {shown(training.optimizer)}; use sgd or adam.")


def predict(model: Model, examples: Sequence[Example], batch: int = 256, device: str | torch.device = "cpu") -> list[str]:
    """The model's answer to each example, in order. The model sees inputs only."""
    model.eval()
    items = [model.encode(example, False) for example in examples]
    answers = [""] * len(items)
    for rows in by_length([model.length(item) for item in items], batch):
        tensors = to_device(model.collate([items[i] for i in rows]), torch.device(device))
        for row, answer in zip(rows, model.answers(tensors), strict=True):
            answers[row] = answer
    return answers


def mean_score(examples: Sequence[Example], answers: Sequence[str]) -> float:
    """The mean of the answers' scores, by the task's own metric."""
    verdicts = scores(examples, answers)
    return sum(verdicts) / max(1, len(verdicts))
