"""reasoning-gym: every family as a registered data set `recombine_<family>`, so that everything built on reasoning-gym runs it.

import recombine.integrations.reasoning_gym as rg
rg.register()
reasoning_gym.create_dataset("recombine_reascan", split="a1", part="test", size=100, seed=7)
"""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass
from typing import Any

from recombine.data.datasets import load
from recombine.errors import BadOption, shown
from recombine.evaluate.layouts import reasoning_row
from recombine.evaluate.prompts import STYLES, Prompter
from recombine.families import FAMILIES
from recombine.integrations import need
from recombine.scorer import Scorer

need("reasoning-gym", "reasoning-gym", "0.1.19", "0.2")

from reasoning_gym.dataset import ProceduralDataset  # noqa: E402
from reasoning_gym.factory import DATASETS, register_dataset  # noqa: E402

__all__ = ["RecombineDataset", "register"]


@dataclass
class Config:
    """What `create_dataset` takes. `partial` gives wrong answers the credit that `recombine.scorer.PARTIAL` defines."""

    split: str | None = None
    part: str | None = "train"
    recipe: str | None = None
    style: str = "rules"
    partial: bool = False
    seed: int | None = 0
    size: int = 500

    def validate(self) -> None:
        """Refuse what cannot be made; reasoning-gym calls this first."""
        if self.style not in STYLES:
            raise BadOption(f"style is {shown(self.style)}, but must be one of {', '.join(STYLES)}.")
        if self.seed is not None and self.seed < 0:
            raise BadOption(f"seed is {self.seed}, but must not be negative.")


class RecombineDataset(ProceduralDataset):  # type: ignore[misc]
    """One part of a family's split. `FAMILY` is set by the registered subclasses."""

    FAMILY = ""

    def __init__(self, config: Any) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self.rows = load(self.FAMILY, config.split, config.part, seed=self.seed or 0, recipe=config.recipe, size=config.size)
        self.prompter = Prompter(self.rows.family, config.style)
        self.scorer = Scorer(self.FAMILY, partial=config.partial)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Question, answer and metadata of a row."""
        if not 0 <= idx < len(self.rows):
            raise IndexError(idx)
        return reasoning_row(self.rows[idx], idx, self.prompter)

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """1 if the reply is right, else 0 (or its partial credit). The reply may hold reasoning before its `Answer:` line."""
        return self.scorer(entry["metadata"]["id"], answer).value if answer else 0.0


def register() -> list[str]:
    """Register every family with reasoning-gym; gives the names. Those already registered are left alone."""
    names = []
    for family in FAMILIES:
        name = f"recombine_{family}"
        if name not in DATASETS:
            config = make_dataclass(f"Config_{family}", [], bases=(Config,))
            register_dataset(name, type(f"Recombine_{family}", (RecombineDataset,), {"FAMILY": family}), config)
        names.append(name)
    return names
