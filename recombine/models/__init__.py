"""Models that learn: one file each, one training loop, one command per published table. PyTorch is imported only below here.

`MODELS` names them all: to add one, write its file and a line there.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from recombine.errors import UnknownName

if TYPE_CHECKING:
    from recombine.models.base import Model


class Entry(NamedTuple):
    """A trainable model: `module:class`, the settings that make this variant, what it reads, and what it is."""

    path: str
    settings: Mapping[str, Any]
    reads: str
    about: str


_RECURRENT: dict[str, tuple[Mapping[str, Any], str]] = {
    "": ({"attention": False}, "encoder-decoder"),
    "-attn": ({}, "encoder-decoder with Bahdanau attention"),
    "-attn-nodep": ({"depends": False}, "attention, cut from its own previous word"),
}
"""The variants of the NACS paper, for each of its three cells."""


def _grounded(path: str, about: str) -> Entry:
    return Entry(f"recombine.models.{path}", {}, "command, grid", about)


def _kinship(path: str, about: str, **settings: Any) -> Entry:
    return Entry(f"recombine.models.{path}", settings, "story", about)


MODELS: dict[str, Entry] = {
    **{
        f"{cell}{variant}": Entry("recombine.models.seq2seq:Seq2Seq", {"cell": cell, **settings}, "words", about)
        for variant, (settings, about) in _RECURRENT.items()
        for cell in ("rnn", "gru", "lstm")
    },
    "transformer": Entry("recombine.models.transformer:Transformer", {}, "words", "encoder-decoder with relative positions"),
    "random-actions": _grounded("random_actions:RandomActions", "the paper's random baseline"),
    "mlstm": _grounded("mlstm:MLstm", "BiLSTM, CNN, attention over both"),
    "gcn-lstm": _grounded("gcn_lstm:GcnLstm", "language-conditioned message passing over the cells"),
    "grounded-transformer": _grounded("grounded_transformer:GroundedTransformer", "words and cells attend to each other"),
    "bilstm-mean": _kinship("bilstm:BiLstm", "BiLSTM, mean over words", pooling="mean"),
    "bilstm-attention": _kinship("bilstm:BiLstm", "BiLSTM, attention over words", pooling="attention"),
    "relation-network": _kinship("relation_network:RelationNetwork", "every pair of sentences"),
    "mac": _kinship("mac:Mac", "memory, attention, composition"),
    "rmc": _kinship("rmc:Rmc", "relational memory core"),
    "gat": _kinship("gat:Gat", "graph attention over the facts, not the text"),
    "frozen-encoder": _kinship("frozen_encoder:FrozenEncoder", "BERT or another encoder, frozen", reader="mean"),
    "encoder-lstm": _kinship("frozen_encoder:FrozenEncoder", "the same with an LSTM on top", reader="lstm"),
    "edge-composition": _kinship("edge_composition:EdgeComposition", "composes facts pair by pair; holds up to k = 10"),
}
"""Every model of `recombine train`, by name."""


def find_model(name: str) -> tuple[type[Model], Any]:
    """The class of a model and the variant's default configuration; an unknown name is an error that lists the known."""
    if name not in MODELS:
        raise UnknownName("model", name, MODELS)
    entry = MODELS[name]
    module, _, member = entry.path.partition(":")
    found: type[Model] = getattr(importlib.import_module(module), member)
    return found, found.Config(**entry.settings)
