"""A reward function for training language models: proved answers, never executed, with partial facts to log.

python examples/reward.py
"""

from __future__ import annotations

import recombine


def reward(ids: list[str], completions: list[str]) -> list[float]:
    """1 for a right answer, 0 for anything else; ids name the examples, so nothing but text crosses process borders."""
    return [recombine.score(identifier, text).value for identifier, text in zip(ids, completions, strict=True)]


train = recombine.load("nacs", split="length", part="train", seed=1)
batch = train[:4]
print(reward([example.id for example in batch], [example.answer for example in batch[:3]] + ["walk twice and"]))
