"""ViLT: one Transformer over the statement's pieces, a word for the target, and the picture's patches.

The patches are the cells of the 19 × 5 grid: a cell has 10 × 10 of the picture's pixels and is enlarged to the model's
patch (32 × 32), and the pretrained position embeddings are interpolated to 5 × 19, which the model does itself.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import interpolate

from recombine.envs.words import ID_COUNT, word_ids
from recombine.errors import FileError, shown
from recombine.families.lilgym.play.edits import Sight
from recombine.rl.policies import Reader, Seen

COLUMNS, ROWS = 19, 5
RANDOM = "random"
TARGETS = ("false", "true")


@dataclass(frozen=True)
class ViltConfig:
    """`encoder`: a pretrained ViLT with safetensors weights (a hub name or a folder), or `random`: a small untrained one.

    The other numbers are the random one's.
    """

    encoder: str = "dandelin/vilt-b32-mlm"
    units: int = 32
    layers: int = 1
    attention: int = 2
    patch: int = 8


def load_vilt(config: ViltConfig) -> Any:
    """A fresh copy of the Transformer, trainable."""
    from transformers import ViltConfig as HFConfig
    from transformers import ViltModel

    if config.encoder == RANDOM:
        small = HFConfig(
            vocab_size=ID_COUNT, hidden_size=config.units, num_hidden_layers=config.layers, num_attention_heads=config.attention,
            intermediate_size=4 * config.units, max_position_embeddings=128, image_size=12 * config.patch, patch_size=config.patch,
            hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        )  # fmt: skip
        return ViltModel(small)  # type: ignore[no-untyped-call]
    try:
        return ViltModel.from_pretrained(config.encoder, use_safetensors=True, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError) as problem:
        first = str(problem).splitlines()[0][:160]
        raise FileError(
            f"cannot load ViLT {shown(config.encoder)}: {first} Nothing is downloaded: give a folder, --with encoder=FOLDER."
        ) from None


@functools.cache
def load_tokenizer(name: str) -> Any:
    """The tokenizer of a pretrained ViLT."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(name, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError) as problem:
        first = str(problem).splitlines()[0][:160]
        raise FileError(
            f"cannot load the tokenizer of {shown(name)}: {first} Nothing is downloaded: give a folder, --with encoder=FOLDER."
        ) from None


class ViltReader(Reader):
    """The paper's ViLT; the whole model is trained, actor and critic each their own copy."""

    Config = ViltConfig
    SIGHT: ClassVar[Sight] = "image"
    SETTINGS: ClassVar[Mapping[str, Any]] = {
        "rate": 3e-5, "schedule": "cosine", "warmup": 0.01, "momentum": 0.98, "epsilon": 1e-8, "weight_decay": 0.01,
    }  # fmt: skip
    config: ViltConfig

    def __init__(self, config: ViltConfig) -> None:
        super().__init__(config)
        self.model = load_vilt(config)
        self.width = int(self.model.config.hidden_size)
        self.patch = int(self.model.config.patch_size)

    @classmethod
    def table(cls, config: ViltConfig, sentences: Sequence[str], targets: NDArray[np.bool_]) -> Tensor:
        """Piece ids of each statement and its target's word, padded with 0."""
        words = [TARGETS[int(target)] for target in targets]
        if config.encoder == RANDOM:
            ids = word_ids([f"{text} {word}" for text, word in zip(sentences, words, strict=True)]).astype(np.int64)
            return torch.from_numpy(ids[:, : int((ids > 0).sum(1).max())])
        tokenizer = load_tokenizer(config.encoder)
        longest = min(40, int(tokenizer.model_max_length))
        read = tokenizer(list(sentences), words, padding=True, truncation="only_first", max_length=longest)
        if tokenizer.pad_token_id != 0:
            raise FileError(f"the tokenizer of {shown(config.encoder)} pads with {tokenizer.pad_token_id}, not 0.")
        return torch.tensor(read["input_ids"])

    def pixels(self, sight: Tensor) -> Tensor:
        """The picture with each 10 × 10 cell enlarged to one patch, in -1 to 1."""
        scaled = sight.permute(0, 3, 1, 2).float() / 127.5 - 1
        return interpolate(scaled, (ROWS * self.patch, COLUMNS * self.patch), mode="nearest-exact")

    def forward(self, seen: Seen) -> Tensor:
        """The states' vectors: the pooled first token."""
        length = max(1, int((seen.statement > 0).sum(1).max()))
        pieces = seen.statement[:, :length]
        pixels = self.pixels(seen.sight)
        mask = torch.ones(len(pixels), *pixels.shape[2:], dtype=torch.long, device=pixels.device)
        read = self.model(
            input_ids=pieces, attention_mask=(pieces > 0).long(), token_type_ids=torch.zeros_like(pieces),
            pixel_values=pixels, pixel_mask=mask,
        )  # fmt: skip
        found: Tensor = read.pooler_output
        return found
