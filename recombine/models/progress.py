"""Progress of a run for people: a live line on a terminal, one line per epoch elsewhere, TensorBoard if asked for."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from recombine.errors import UsageError
from recombine.models.checkpoints import State


class Progress:
    """A `Report` for `train`: call it after every step; close it at the end."""

    def __init__(self, epochs: int, events: Path | None = None, live: bool = False, title: str = "") -> None:
        self.epochs, self.title = epochs, title
        self.bar: Any = None
        self.task: Any = None
        self.writer: Any = None
        if live:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task("starting", total=None)
            self.bar.start()
        if events is not None:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                raise UsageError(
                    "TensorBoard events need the package tensorboard; install it, or leave --tensorboard out."
                ) from None
            self.writer = SummaryWriter(str(events))

    def __call__(self, state: State, steps: int) -> None:
        """After a step (steps: how many this epoch has), or after an epoch (steps = 0)."""
        if steps == 0:
            self._epoch(state)
        elif self.bar is not None:
            loss, accuracy = state.loss / state.step, state.right / max(1, state.decisions)
            best = f", best validation {100 * state.best:.2f} %" if state.best >= 0 else ""
            text = f"{self.title}epoch {state.epoch + 1}/{self.epochs}: loss {loss:.3f}, accuracy {100 * accuracy:.1f} %{best}"
            self.bar.update(self.task, description=text, completed=state.step, total=steps)

    def _epoch(self, state: State) -> None:
        record = state.history[-1]
        text = (
            f"{self.title}epoch {record['epoch']}/{self.epochs}: loss {record['loss']:.4f}, "
            f"accuracy {100 * record['accuracy']:.2f} %, validation {100 * record['validation']:.2f} %, {record['seconds']:,.0f} s"
        )
        if self.bar is not None:
            self.bar.console.print(text)
        else:
            logging.getLogger("recombine").info("%s", text)
        if self.writer is not None:
            for name in ("loss", "accuracy", "validation", "rate"):
                self.writer.add_scalar(name, record[name], record["steps"])

    def close(self) -> None:
        """Put the terminal in order and flush the events."""
        if self.bar is not None:
            self.bar.stop()
        if self.writer is not None:
            self.writer.close()
