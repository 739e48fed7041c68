"""The splits: which clauses, lengths, paraphrases and noise a part holds. Paper, section 4: generalization and robustness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recombine.core import Part, Split

NOISES = ("clean", "supporting", "irrelevant", "disconnected")
TRAIN_PER_K, VALIDATION_PER_K, TEST_PER_K = 5_000, 500, 100
TEST_KS = tuple(range(2, 11))

_TRAIN_RULE = "Clauses that are not held out (all of them at k = 2), training paraphrases."
_VALIDATION_RULE = "As train; no story of it, names aside, is in train."
_TEST_RULE = "At k = 2 every clause, at k >= 3 only held-out ones; held-out paraphrases."


@dataclass(frozen=True)
class Contents:
    """What a part holds: path lengths and noise; the release names these as tasks (`1.2`, `2.3`, …)."""

    ks: tuple[int, ...]
    noise: str
    role: str  # train, validation or test


def _generalization(name: str, ks: tuple[int, ...]) -> Split:
    lengths = ", ".join(str(k) for k in ks)
    parts = {
        "train": Part("train", f"k = {lengths}. {_TRAIN_RULE}", len(ks) * TRAIN_PER_K),
        "validation": Part("validation", f"k = {lengths}. {_VALIDATION_RULE}", len(ks) * VALIDATION_PER_K, default=False),
    }
    parts |= {f"test_k{k}": Part(f"test_k{k}", f"k = {k}. {_TEST_RULE}", TEST_PER_K) for k in TEST_KS}
    claim = f"Trained on stories of {lengths} facts: does reasoning carry over to new clauses, new wording and up to 10 facts?"
    return Split(name, claim, parts, axis="length")


def _robust(noise: str) -> Split:
    parts = {
        "train": Part("train", f"k = 2, 3, {noise}. {_TRAIN_RULE}", 2 * TRAIN_PER_K),
        "validation": Part("validation", f"k = 2, 3, {noise}. {_VALIDATION_RULE}", 2 * VALIDATION_PER_K, default=False),
    }
    for other in NOISES:
        parts[f"test_{other}"] = Part(f"test_{other}", f"k = 2, 3, {other}. {_TEST_RULE}", 2 * TEST_PER_K)
    claim = f"Trained on {noise} stories: does reasoning withstand other kinds of noise?"
    return Split(f"robust_{noise}", claim, parts, axis="distractors")


SPLITS: Mapping[str, Split] = {
    "generalization_23": _generalization("generalization_23", (2, 3)),
    "generalization_234": _generalization("generalization_234", (2, 3, 4)),
    **{f"robust_{noise}": _robust(noise) for noise in NOISES},
}
"""By name, as the paper's experiments: two of systematic generalization, four rows of the robustness matrix."""


def contents(split: str, part: str) -> Contents:
    """The path lengths, noise and role of a part."""
    own = "clean" if split.startswith("generalization") else split.removeprefix("robust_")
    ks = (2, 3, 4) if split == "generalization_234" else (2, 3)
    if part in ("train", "validation"):
        return Contents(ks, own, part)
    kind = part.removeprefix("test_")
    return Contents((int(kind[1:]),), own, "test") if kind[0] == "k" else Contents(ks, kind, "test")
