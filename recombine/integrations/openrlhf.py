"""OpenRLHF's reward function: `--remote_rm_url $(recombine path openrlhf)` with `--label_key id`.

The rows are those of `recombine export DIR --for trl`; their label is the id.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from recombine.scorer import Scorer

_SCORER = Scorer()
LONGEST = 80
"""Characters of a special token with the blanks behind it, at most."""
_SPECIAL = re.compile(r"(?:<\|[^<>|\s]{1,60}\|>|<｜[^<>｜\s]{1,60}｜>|</s>|<eos>|<pad>|<end_of_turn>)\s{0,9}\Z")
"""OpenRLHF decodes with special tokens: these end a reply, and pad what lies before and behind."""


def reply_of(query: str, prompt: str) -> str:
    """The reply in a query, without the prompt, what precedes it, and the special tokens at the end."""
    start = query.find(prompt)
    first = 0 if start < 0 else start + len(prompt)
    end = len(query.rstrip())
    while (
        token := _SPECIAL.search(query, max(first, end - LONGEST), end)
    ) is not None:  # padding may be long: nothing is copied
        end = token.start()
    return query[first:end]


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[str], **_: Any) -> dict[str, Any]:
    """The rewards of replies. A query is the prompt followed by the reply; a label is the row's id."""
    import torch

    replies = [reply_of(query, prompt) for query, prompt in zip(queries, prompts, strict=True)]
    scores = [_SCORER(label, reply) for label, reply in zip(labels, replies, strict=True)]
    values = torch.tensor([score.value for score in scores])
    answered = torch.tensor([float(score.status != "unparsable") for score in scores])
    return {"rewards": values, "scores": values, "extra_logs": {"answered": answered}}
