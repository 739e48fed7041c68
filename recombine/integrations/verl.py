"""verl's reward function: `custom_reward_function.path=$(recombine path verl) custom_reward_function.name=compute_score`.

The rows are those of `recombine export DIR --for verl`. verl loads this file by its path, so it imports nothing from beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recombine.scorer import Scorer

_SCORER = Scorer()


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,  # noqa: ARG001 - part of the interface of verl
    extra_info: Mapping[str, Any] | None = None,
    **_: Any,
) -> dict[str, Any]:
    """The reward of one reply, and further values that verl logs. The id is in `extra_info`."""
    if not extra_info or "id" not in extra_info:
        raise ValueError(f"a row of {data_source} has no extra_info['id']: make it with `recombine export DIR --for verl`.")
    score = _SCORER(str(extra_info["id"]), solution_str)
    return {
        "score": score.value,
        "answered": float(score.status != "unparsable"),
        "mistake": score.mistake or "",
        "acc": score.value,
    }
