"""The splits: which clauses, lengths, paraphrases and noise a part holds. Paper, section 4: generalization and robustness.

A split is one entry of `SPLITS`: its parts say what they hold, its `hold_out` says which clauses training never sees. The oracle
judges the same sentence in its own words: one entry of `claims.CLAIMS` with the same name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from recombine.core import Part, Split
from recombine.errors import UnknownName
from recombine.families.clutrr.kinship import CODES
from recombine.predicates.draw import HOLD_OUT

NOISES = ("clean", "supporting", "irrelevant", "disconnected")
TRAIN_PER_K, VALIDATION_PER_K, TEST_PER_K = 5_000, 500, 100
TEST_KS = tuple(range(2, 11))
SHORT_TEST_STORIES = 24_000
"""Test stories of two facts recur as if so many were drawn evenly, names aside: of 1,000 rows, another seed repeats some 50."""
RANDOM = "random"
"""The split that holds out nothing but stories: what a search by divergence chooses from."""
RANKS = 1 << 24
"""Every clause and every worded story has a rank below this number; the rank decides its part."""

_TRAIN_RULE = "Clauses that are not held out (all of them at k = 2), training paraphrases."
_VALIDATION_RULE = "As train; no story of it, names aside, is in train."
_TEST_RULE = "At k = 2 every clause, at k >= 3 only held-out ones; held-out paraphrases."


class HeldOut(NamedTuple):
    """Which clauses are held out, as the generator's tables take it; hashable."""

    mark: int = 0  # clauses whose rank is below this number
    pairs: frozenset[tuple[int, int]] = frozenset()  # clauses in which such a pair of words stands side by side
    from_k: int = 3  # shorter clauses are never held out


@dataclass(frozen=True)
class HoldOut:
    """The hold-out rule of a split: a fraction of the clauses, or every clause with one of some pairs of neighbouring words.

    Without `pairs` the option `hold_out` gives the fraction, and clauses of two words are never held out.
    """

    pairs: tuple[tuple[str, str], ...] = ()
    is_open: bool = False
    """No clause is held out; a predicate or the story's rank decides instead."""

    def held_out(self, fraction: float) -> HeldOut:
        """The rule as numbers."""
        if self.is_open:
            return HeldOut()
        if not self.pairs:
            return HeldOut(mark=round(fraction * RANKS))
        for word in sorted({word for pair in self.pairs for word in pair} - set(CODES)):
            raise UnknownName("relation", word, CODES)
        return HeldOut(pairs=frozenset((CODES[a], CODES[b]) for a, b in self.pairs), from_k=2)


@dataclass(frozen=True)
class StoryPart(Part):
    """A part and what it holds: path lengths, noise and role. The release names these as tasks (`1.2`, `2.3`, …).

    Stories are drawn with replacement: short ones may come twice, the more often the larger the part.
    """

    repeats: int = 0
    ks: tuple[int, ...] = (2, 3)
    noise: str = "clean"
    role: Literal["train", "validation", "test"] = "train"


@dataclass(frozen=True)
class StorySplit(Split):
    """A split and its hold-out rule."""

    hold_out: HoldOut = HoldOut()


def _generalization(name: str, ks: tuple[int, ...]) -> StorySplit:
    lengths = ", ".join(str(k) for k in ks)
    parts = {
        "train": StoryPart("train", f"k = {lengths}. {_TRAIN_RULE}", len(ks) * TRAIN_PER_K, ks=ks),
        "validation": StoryPart(
            "validation",
            f"k = {lengths}. {_VALIDATION_RULE}",
            len(ks) * VALIDATION_PER_K,
            default=False,
            ks=ks,
            role="validation",
        ),
    }
    for k in TEST_KS:
        exists = SHORT_TEST_STORIES if k == 2 else None
        parts[f"test_k{k}"] = StoryPart(f"test_k{k}", f"k = {k}. {_TEST_RULE}", TEST_PER_K, exists=exists, ks=(k,), role="test")
    claim = f"Trained on stories of {lengths} facts: does reasoning carry over to new clauses, new wording and up to 10 facts?"
    return StorySplit(name, claim, parts, axis="length")


def _robust(noise: str) -> StorySplit:
    parts = {
        "train": StoryPart("train", f"k = 2, 3, {noise}. {_TRAIN_RULE}", 2 * TRAIN_PER_K, noise=noise),
        "validation": StoryPart(
            "validation", f"k = 2, 3, {noise}. {_VALIDATION_RULE}", 2 * VALIDATION_PER_K, default=False, noise=noise,
            role="validation",
        ),
    }  # fmt: skip
    for other in NOISES:
        rule = f"k = 2, 3, {other}. {_TEST_RULE}"
        parts[f"test_{other}"] = StoryPart(f"test_{other}", rule, 2 * TEST_PER_K, noise=other, role="test")
    claim = f"Trained on {noise} stories: does reasoning withstand other kinds of noise?"
    return StorySplit(f"robust_{noise}", claim, parts, axis="distractors")


def _own() -> StorySplit:
    ks = (2, 3, 4)
    rest, held = "k = 2, 3, 4. Stories that do not satisfy the predicate.", "k = 2, 3, 4. Stories that satisfy the predicate."
    parts = {
        "train": StoryPart("train", rest, len(ks) * TRAIN_PER_K, ks=ks),
        "validation": StoryPart("validation", rest, len(ks) * VALIDATION_PER_K, default=False, ks=ks, role="validation"),
        "test": StoryPart("test", held, len(ks) * TEST_PER_K, ks=ks, role="test"),
    }
    claim = "Training has no story that satisfies the user's predicate (--hold-out); the test has only such stories."
    return StorySplit(
        HOLD_OUT, claim, parts, recipes=("sound",), axis="composition", hold_out=HoldOut(is_open=True), is_published=False
    )


def _random() -> StorySplit:
    ks = (2, 3, 4)
    parts = {
        "train": StoryPart("train", "k = 2, 3, 4. Any clause and any paraphrase.", len(ks) * TRAIN_PER_K, ks=ks),
        "validation": StoryPart("validation", f"k = 2, 3, 4. {_VALIDATION_RULE}", len(ks) * VALIDATION_PER_K, default=False, ks=ks, role="validation"),
        "test": StoryPart("test", f"k = 2, 3, 4. {_VALIDATION_RULE}", len(ks) * TEST_PER_K, ks=ks, role="test"),
    }  # fmt: skip
    claim = "New stories of the same clauses and paraphrases: every story, names aside, belongs to one part by its rank."
    return StorySplit(
        RANDOM, claim, parts, recipes=("sound",), axis="random", hold_out=HoldOut(is_open=True), is_published=False
    )


SPLITS: dict[str, Split] = {
    "generalization_23": _generalization("generalization_23", (2, 3)),
    "generalization_234": _generalization("generalization_234", (2, 3, 4)),
    **{f"robust_{noise}": _robust(noise) for noise in NOISES},
    HOLD_OUT: _own(),
    RANDOM: _random(),
}
"""By name. The paper's experiments are two of systematic generalization and four rows of the robustness matrix."""


def contents(split: str, part: str) -> StoryPart:
    """The path lengths, noise and role of a part."""
    found = SPLITS[split].parts[part]
    assert isinstance(found, StoryPart), f"{split}/{part} does not say what it holds"
    return found


def hold_out(split: str) -> HoldOut:
    """The hold-out rule of a split."""
    found = SPLITS[split]
    return found.hold_out if isinstance(found, StorySplit) else HoldOut()
