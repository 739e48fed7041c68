"""Models that learn: one file each, one training loop, one command per published table. PyTorch is imported only below here.

`MODELS` names every trainable model: its class, and the settings that make this variant of it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recombine.errors import UnknownName

if TYPE_CHECKING:
    from recombine.models.base import Model

_S2S = "recombine.models.seq2seq:Seq2Seq"

MODELS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "rnn": (_S2S, {"cell": "rnn", "attention": False}),
    "gru": (_S2S, {"cell": "gru", "attention": False}),
    "lstm": (_S2S, {"cell": "lstm", "attention": False}),
    "rnn-attn": (_S2S, {"cell": "rnn"}),
    "gru-attn": (_S2S, {"cell": "gru"}),
    "lstm-attn": (_S2S, {"cell": "lstm"}),
    "rnn-attn-nodep": (_S2S, {"cell": "rnn", "depends": False}),
    "gru-attn-nodep": (_S2S, {"cell": "gru", "depends": False}),
    "lstm-attn-nodep": (_S2S, {"cell": "lstm", "depends": False}),
    "transformer": ("recombine.models.transformer:Transformer", {}),
    "random-actions": ("recombine.models.random_actions:RandomActions", {}),
    "mlstm": ("recombine.models.mlstm:MLstm", {}),
    "gcn-lstm": ("recombine.models.gcn_lstm:GcnLstm", {}),
    "grounded-transformer": ("recombine.models.grounded_transformer:GroundedTransformer", {}),
    "bilstm-mean": ("recombine.models.bilstm:BiLstm", {"pooling": "mean"}),
    "bilstm-attention": ("recombine.models.bilstm:BiLstm", {"pooling": "attention"}),
    "relation-network": ("recombine.models.relation_network:RelationNetwork", {}),
    "mac": ("recombine.models.mac:Mac", {}),
    "rmc": ("recombine.models.rmc:Rmc", {}),
    "gat": ("recombine.models.gat:Gat", {}),
    "frozen-encoder": ("recombine.models.frozen_encoder:FrozenEncoder", {"reader": "mean"}),
    "encoder-lstm": ("recombine.models.frozen_encoder:FrozenEncoder", {"reader": "lstm"}),
    "edge-composition": ("recombine.models.edge_composition:EdgeComposition", {}),
}
"""Name -> (`module:class`, settings of this variant)."""


def find_model(name: str) -> tuple[type[Model], Any]:
    """The class of a model and the variant's default configuration; an unknown name is an error that lists the known."""
    if name not in MODELS:
        raise UnknownName("model", name, MODELS)
    path, settings = MODELS[name]
    module, _, member = path.partition(":")
    found: type[Model] = getattr(importlib.import_module(module), member)
    return found, found.Config(**settings)
