"""The upper reference: a policy that reads the scene as a set of items instead of a picture, and the statement's words and pairs.

It gets the scene as symbols and needs no vision, so its errors are errors of language and of acting. It is small enough for one core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import one_hot

from recombine.envs.words import ID_COUNT, word_ids
from recombine.families.lilgym.play.edits import Sight
from recombine.families.lilgym.scene import BOX, BOX_COUNT, COLOR, SHAPE, SIZE, X, Y
from recombine.rl.policies import Reader, Seen
from recombine.rl.statements import encoder_width, features

PAIRS = 2048
"""Ids of word pairs; pairs that fall together share a vector."""
FEATURES = BOX_COUNT + 5 + 5 + 3 + 3 + 3 + 2


@dataclass(frozen=True)
class SetConfig:
    """`units`: the width of items, statements and boxes; the joint layers are twice as wide.

    `encoder`: a frozen encoder, named as for C+BERT, that reads the statements in place of the bag of words and pairs.
    """

    units: int = 128
    encoder: str = ""


class SetReader(Reader):
    """Items are read in the light of the statement and summed box by box."""

    Config = SetConfig
    SIGHT: ClassVar[Sight] = "scene"
    SETTINGS: ClassVar[Mapping[str, Any]] = {"rate": 1e-3, "epochs": 4, "minibatches": 8, "entropy": 0.03, "cooling": 1.0}
    config: SetConfig

    def __init__(self, config: SetConfig) -> None:
        super().__init__(config)
        units = config.units
        self.words = (
            nn.Linear(encoder_width(config.encoder), units)
            if config.encoder
            else nn.EmbeddingBag(ID_COUNT + PAIRS, units, mode="mean", padding_idx=0)
        )
        self.target = nn.Embedding(2, units)
        self.statement = nn.Sequential(nn.Linear(units, units), nn.ReLU())
        self.item = nn.Linear(FEATURES, units)
        self.light = nn.Linear(units, units)
        self.again = nn.Linear(units, units)
        self.width = 2 * units
        self.joint = nn.Sequential(
            nn.Linear((1 + BOX_COUNT) * units, self.width), nn.ReLU(), nn.Linear(self.width, self.width), nn.ReLU()
        )

    @classmethod
    def table(cls, config: SetConfig, sentences: Sequence[str], targets: NDArray[np.bool_]) -> Tensor:  # noqa: ARG003
        """The encoder's features; without one, word ids, then the ids of neighbouring pairs, 0 being padding."""
        if config.encoder:
            return features(config.encoder, sentences)
        words = word_ids(sentences).astype(np.int64)
        words = words[:, : max(1, int((words > 0).sum(1).max()))]
        pairs = np.where(words[:, 1:] > 0, ID_COUNT + (words[:, :-1] * 7919 + words[:, 1:]) % PAIRS, 0)
        return torch.from_numpy(np.concatenate([words, pairs], 1))

    def forward(self, seen: Seen) -> Tensor:
        """The states' vectors."""
        said = self.statement(self.words(seen.statement) * 4 + self.target(seen.target))
        present = seen.sight[:, :, BOX] >= 0
        most = max(1, int(present.sum(1).max()))
        items, present = seen.sight[:, :most].long().clamp(min=0), present[:, :most]
        parts = [
            one_hot(items[..., BOX], BOX_COUNT),
            one_hot((items[..., X] // 20).clamp(0, 4), 5),
            one_hot((items[..., Y] // 20).clamp(0, 4), 5),
            one_hot((items[..., SIZE] // 10 - 1).clamp(0, 2), 3),
            one_hot(items[..., COLOR], 3),
            one_hot(items[..., SHAPE], 3),
        ]
        features = torch.cat([*(part.float() for part in parts), items[..., [X, Y]].float() / 100], 2)
        read = torch.relu(self.again(torch.relu(self.item(features) + self.light(said).unsqueeze(1))))
        share = one_hot(items[..., BOX], BOX_COUNT).float() * present.unsqueeze(2) / 2
        boxes = torch.einsum("nib,niu->nbu", share, read).flatten(1)
        found: Tensor = self.joint(torch.cat([said, boxes], 1))
        return found
