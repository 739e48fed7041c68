"""gSCAN's splits: seven held-out combinations of one data set, and longer action sequences on their own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from recombine.core import Axis, Option, Part, Recipe, Split
from recombine.families.gscan import kernel

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "sound": Recipe(
            "sound",
            "Every word of the command is needed to find the target, object counts do not depend on the command, directions "
            "are balanced, and push and pull really move something in a chosen share of the examples.",
        ),
        "release": Recipe(
            "release",
            "The original generator's rule: situations listed by target, direction and distance, half of a fixed pool as "
            "distractors, test examples equivalent to training examples dropped. Default sizes equal the published ones.",
        ),
    }
)

OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "grid_size": Option(6, "rows and columns of the grid", low=4, high=20),
        "k": Option(1, "how many 'cautiously' examples the training part holds (adverb_1)", low=0, high=10_000),
        "cutoff": Option(15, "longest action sequence of training in target_lengths", low=1, high=200),
        "max_objects": Option(12, "most objects in a world; the fewest are 8 (recipe sound)", low=8, high=28),
        "interaction": Option(
            0.8,
            "share of push and pull examples in which the target moves (recipe sound; all in contextual, adverb_2)",
            low=0.0,
            high=1.0,
        ),
        "resampling": Option(5, "how often a situation is redrawn (recipe release; the published data have 5)", low=1, high=50),
    }
)

TAGS: Mapping[str, int] = MappingProxyType(
    {
        "compositional": 0,
        "visual": kernel.VISUAL,
        "visual_easier": kernel.VISUAL_EASIER,
        "situational_1": kernel.SITUATIONAL_1,
        "situational_2": kernel.SITUATIONAL_2,
        "contextual": kernel.CONTEXTUAL,
        "adverb_1": kernel.ADVERB_1,
        "adverb_2": kernel.ADVERB_2,
    }
)
"""Split -> the one held-out combination its examples show; `compositional` shows none."""

_MAIN = {"train": ("compositional", "train"), "validation": ("compositional", "validation")}


def _held_out(name: str, claim: str, rule: str, size: int, axis: Axis) -> Split:
    """A test set for models trained on `compositional`."""
    parts = {"test": Part("test", f"{rule}; no other held-out combination.", size)}
    return Split(name, claim, MappingProxyType(parts), MappingProxyType(_MAIN), axis=axis)


SPLITS: Mapping[str, Split] = MappingProxyType(
    {
        "compositional": Split(
            "compositional",
            "Training shows none of seven held-out combinations, but for k examples with 'cautiously'; this test neither.",
            MappingProxyType(
                {
                    "train": Part("train", "No held-out combination, but the first k rows have 'cautiously'.", 367_933),
                    "validation": Part("validation", "No held-out combination.", 3_716, default=False),
                    "test": Part("test", "No held-out combination.", 19_282),
                }
            ),
            axis="random",
        ),
        "visual": _held_out(
            "visual", "In training no target is a red square.", "The target is a red square", 37_436, "substitution"
        ),
        "visual_easier": _held_out(
            "visual_easier",
            "In training no yellow square is called yellow.",
            "The target is a yellow square and the command says 'yellow'",
            18_718,
            "composition",
        ),
        "situational_1": _held_out(
            "situational_1",
            "In training no target lies south-west of the agent.",
            "The target lies south-west of the agent",
            88_642,
            "grounding",
        ),
        "situational_2": _held_out(
            "situational_2",
            "In training no circle of size 2 is called small.",
            "The target is a circle of size 2 and the command says 'small'",
            16_808,
            "grounding",
        ),
        "contextual": _held_out(
            "contextual",
            "In training no square of size 3 is pushed, so that it is heavy must be inferred from pulls and other shapes.",
            "A square of size 3 is pushed",
            11_460,
            "grounding",
        ),
        "adverb_1": _held_out(
            "adverb_1", "Training shows 'cautiously' k times.", "The adverb is 'cautiously'", 112_880, "substitution"
        ),
        "adverb_2": _held_out(
            "adverb_2",
            "In training nothing is pulled while spinning.",
            "The command is to pull while spinning",
            38_582,
            "composition",
        ),
        "target_lengths": Split(
            "target_lengths",
            "Training has at most `cutoff` actions; the test needs more.",
            MappingProxyType(
                {
                    "train": Part("train", "At most `cutoff` actions.", {"sound": 367_933, "release": 435_581}),
                    "validation": Part(
                        "validation", "At most `cutoff` actions.", {"sound": 3_716, "release": 4_399}, default=False
                    ),
                    "test": Part("test", "More than `cutoff` actions.", {"sound": 19_282, "release": 395_220}),
                }
            ),
            axis="length",
        ),
    }
)
