"""OpenRLHF's reward function: `--remote_rm_url $(recombine path openrlhf)` with `--label_key id`.

The rows are those of `recombine export DIR --for trl`; their label is the id.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from recombine.scorer import Scorer

_SCORER = Scorer()
_SPECIAL = re.compile(r"(?:<\|[^<>|\s]{1,60}\|>|<｜[^<>｜\s]{1,60}｜>|</s>|<eos>|<pad>|<end_of_turn>)\Z")
"""OpenRLHF decodes with special tokens: these end a reply, and pad what lies before and behind."""


def reply_of(query: str, prompt: str) -> str:
    """The reply in a query, without the prompt, what precedes it, and the special tokens at the end."""
    start = query.find(prompt)
    reply = (query if start < 0 else query[start + len(prompt) :]).rstrip()
    while (end := _SPECIAL.search(reply[-80:])) is not None:
        reply = reply[: -len(end[0])].rstrip()
    return reply


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[str], **_: Any) -> dict[str, Any]:
    """The rewards of replies. A query is the prompt followed by the reply; a label is the row's id."""
    import torch

    replies = [reply_of(query, prompt) for query, prompt in zip(queries, prompts, strict=True)]
    scores = [_SCORER(label, reply) for label, reply in zip(labels, replies, strict=True)]
    values = torch.tensor([score.value for score in scores])
    answered = torch.tensor([float(score.status != "unparsable") for score in scores])
    return {"rewards": values, "scores": values, "extra_logs": {"answered": answered}}
