"""OpenRLHF's reward function: `--remote_rm_url $(recombine path openrlhf)` with `--label_key id`.

The rows are those of `recombine export DIR --for trl`; their label is the id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recombine.scorer import Scorer

_SCORER = Scorer()


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[str], **_: Any) -> dict[str, Any]:
    """The rewards of replies. A query is the prompt followed by the reply; a label is the row's id."""
    import torch

    replies = [
        query[len(prompt) :] if query.startswith(prompt) else query for query, prompt in zip(queries, prompts, strict=True)
    ]
    scores = [_SCORER(label, reply) for label, reply in zip(labels, replies, strict=True)]
    values = torch.tensor([score.value for score in scores])
    answered = torch.tensor([float(score.status != "unparsable") for score in scores])
    return {"rewards": values, "scores": values, "extra_logs": {"answered": answered}}
