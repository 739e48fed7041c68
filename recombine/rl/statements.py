"""Statements as a frozen encoder reads them: features for every policy that does not read words itself."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from recombine.models.frozen_encoder import load_encoder

FEATURES: dict[tuple[str, str], Tensor] = {}
"""(encoder, statement) -> its features; computed once per process."""
BATCH = 64


def features(encoder: str, sentences: Sequence[str]) -> Tensor:
    """The mean over all layers (the embeddings too) and all tokens of each sentence; every sentence is read once."""
    missing = [text for text in dict.fromkeys(sentences) if (encoder, text) not in FEATURES]
    if missing:
        tokenizer, model = load_encoder(encoder)
        for start in range(0, len(missing), BATCH):
            chunk = missing[start : start + BATCH]
            read = tokenizer(chunk, padding=True, truncation=True, max_length=128, return_tensors="pt")
            with torch.no_grad():
                layers = torch.stack(model(**read, output_hidden_states=True).hidden_states).mean(0)
            inside = read["attention_mask"].unsqueeze(2).to(layers.dtype)
            pooled = (layers * inside).sum(1) / inside.sum(1)
            FEATURES.update({(encoder, text): row.clone() for text, row in zip(chunk, pooled, strict=True)})
    return torch.stack([FEATURES[encoder, text] for text in sentences])


def encoder_width(encoder: str) -> int:
    """How many features it has."""
    return int(load_encoder(encoder)[1].config.hidden_size)
