"""What the models for CLUTRR share: a story (or its graph) and two people in, one relation word out.

Names are replaced by entity tokens, drawn anew for every story from a small pool (cloze style), so that no name carries
meaning. The vectors of those tokens follow one of the paper's three policies: `fixed` random vectors, `random` ones drawn
anew every epoch, `learned` ones.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from recombine import keys
from recombine.errors import UsageError
from recombine.models.base import Loss, Model
from recombine.models.batching import PAD, SPECIALS, Vocabulary, pad
from recombine.models.layers import perceptron

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.core import Example

POOL = 20
"""Entity tokens that stories draw from; a story with more people makes its model fail early, with a clear error."""
FIRST_ENTITY = len(SPECIALS)
POLICIES = ("fixed", "random", "learned")
_WORD = re.compile(r"@\d+|[a-z0-9]+(?:['-][a-z0-9]+)*|[.,;:!?]")
_STOPS = frozenset(".!?")


@dataclass(frozen=True)
class Story:
    """One example: word numbers, the sentence each word is in, both queried entities; the graph; the label (-100: none)."""

    words: NDArray[np.int64]
    sentences: NDArray[np.int64]
    query: tuple[int, int]
    entities: NDArray[np.int64]
    edges: NDArray[np.int64]
    ends: tuple[int, int]
    genders: NDArray[np.int64]
    label: int


@dataclass(frozen=True)
class Stories:
    """A batch. Text: words and sentences (batch, places), lengths, query (batch, 2) as entity tokens.

    Graph: entity token of each node (batch, nodes), relation + 1 of each edge (batch, nodes, nodes), both ends (batch, 2).
    """

    words: Tensor
    sentences: Tensor
    lengths: Tensor
    query: Tensor
    entities: Tensor
    relations: Tensor
    ends: Tensor
    labels: Tensor


class KinshipModel(Model):
    """Reads stories, answers with a relation. A subclass computes `logits`."""

    def __init__(self, config: Any, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        self.vocabulary = Vocabulary.from_json(codec["words"])
        self.labels, self.relations = list(codec["labels"]), list(codec["relations"])

    @classmethod
    def learn_codec(cls, config: Any, examples: Sequence[Example]) -> dict[str, Any]:  # noqa: ARG003
        for name in ("story", "query", "entities", "graph"):
            if name not in examples[0].inputs:
                raise UsageError(
                    f"{cls.__name__} needs a story with its graph; {examples[0].id} has no {name!r} among its inputs."
                )
        pool = [f"@{i}" for i in range(POOL)]
        words = sorted({word for e in examples for word in tokens(e)[0] if word[0] != "@"})
        return {
            "words": [*SPECIALS, *pool, *words],
            "labels": sorted({e.answer for e in examples}),
            "relations": sorted({r for e in examples for r in e.inputs["graph"]["relations"]}),
        }

    def encode(self, example: Example, answered: bool) -> Story:
        words, number_of = tokens(example)
        graph = example.inputs["graph"]
        sentence, sentences = 0, []
        for word in words:
            sentences.append(sentence)
            sentence += word in _STOPS
        people = list(example.inputs["entities"])
        relation = {name: i for i, name in enumerate(self.relations)}
        edges = [(a, b, relation.get(r, -1)) for (a, b), r in zip(graph["edges"], graph["relations"], strict=True)]
        label = self.labels.index(example.answer) if answered and example.answer in self.labels else -100
        asked = [FIRST_ENTITY + number_of[name] for name in example.inputs["query"]]
        return Story(
            self.vocabulary.encode(words), np.array(sentences, dtype=np.int64), (asked[0], asked[1]),
            np.array([FIRST_ENTITY + number_of[name] for name in people], dtype=np.int64),
            np.array(edges, dtype=np.int64).reshape(-1, 3), (int(graph["query"][0]), int(graph["query"][1])),
            np.array(graph["genders"], dtype=np.int64), label,
        )  # fmt: skip

    def length(self, item: Story) -> tuple[int, ...]:
        return (len(item.words), len(item.entities))

    def collate(self, items: Sequence[Story]) -> Stories:
        nodes = max(len(item.entities) for item in items)
        relations = np.zeros((len(items), nodes, nodes), dtype=np.int64)
        for i, item in enumerate(items):
            for a, b, r in item.edges:
                relations[i, a, b] = r + 1
        return Stories(
            pad([item.words for item in items]), pad([item.sentences for item in items]),
            torch.tensor([len(item.words) for item in items]), torch.tensor([item.query for item in items]),
            pad([item.entities for item in items]), torch.from_numpy(relations),
            torch.tensor([item.ends for item in items]), torch.tensor([item.label for item in items]),
        )  # fmt: skip

    @abstractmethod
    def logits(self, batch: Any) -> Tensor:
        """Scores of the labels (batch, labels)."""

    def loss(self, batch: Any) -> Loss:
        """Mean cross-entropy."""
        logits = self.logits(batch)
        right = int((logits.argmax(1) == batch.labels).sum())
        return Loss(nn.functional.cross_entropy(logits, batch.labels), right, len(batch.labels))

    @torch.no_grad()
    def answers(self, batch: Any) -> list[str]:
        """The likeliest relation of each row."""
        return [self.labels[i] for i in self.logits(batch).argmax(1).tolist()]

    def begin_epoch(self) -> None:
        """Draw new entity vectors if the policy says so."""
        for module in self.modules():
            if isinstance(module, EntityEmbedding):
                module.redraw()


def tokens(example: Example) -> tuple[list[str], dict[str, int]]:
    """The story's words with people as `@number`, and each person's number, drawn by the example's id."""
    people = [str(name) for name in example.inputs["entities"]]
    if len(people) > POOL:
        raise UsageError(f"{example.id} has {len(people)} people; the kinship models have {POOL} entity tokens.")
    numbers = keys.Stream("cloze", example.id).sample(range(POOL), len(people))
    number_of = dict(zip(people, numbers, strict=True))
    text = str(example.inputs["story"])
    if people:
        listed = "|".join(re.escape(name) for name in sorted(people, key=len, reverse=True))
        found = re.compile(r"\[?(?<![\w-])(" + listed + r")(?![\w-])\]?")
        text = found.sub(lambda match: f" @{number_of[match[1]]} ", text)
    return _WORD.findall(text.lower()), number_of


class EntityEmbedding(nn.Module):
    """Word vectors learnt from scratch, entity vectors by policy."""

    def __init__(self, words: int, size: int, policy: str) -> None:
        super().__init__()
        if policy not in POLICIES:
            raise UsageError(f"unknown entity policy {policy!r}; use {', '.join(POLICIES)}.")
        self.policy = policy
        bound = (6 / (words + size)) ** 0.5
        self.words = nn.Parameter(torch.empty(words - POOL, size).uniform_(-bound, bound))
        drawn = self._drawn(size)
        if policy == "learned":
            self.entities: Tensor | nn.Parameter = nn.Parameter(drawn)
        else:
            self.register_buffer("entities", drawn)

    @staticmethod
    def _drawn(size: int) -> Tensor:
        return torch.randn(POOL, size) / math.sqrt(size)

    def redraw(self) -> None:
        """New random entity vectors, under the `random` policy only."""
        if self.policy == "random":
            with torch.no_grad():
                self.entities.copy_(self._drawn(self.entities.shape[1]))

    def forward(self, numbers: Tensor) -> Tensor:
        """Vectors of word numbers; padding is zero."""
        padding = self.words.new_zeros(1, self.words.shape[1])
        table = torch.cat([padding, self.words[1:FIRST_ENTITY], self.entities, self.words[FIRST_ENTITY:]])
        return nn.functional.embedding(numbers, table, padding_idx=PAD)


def mention_sums(states: Tensor, batch: Stories) -> Tensor:
    """For each queried person the sum of the states at its mentions, side by side: (batch, 2 * size)."""
    said = (batch.words.unsqueeze(1) == batch.query.unsqueeze(2)).to(states.dtype)
    return torch.bmm(said, states).flatten(1)


def masked_mean(states: Tensor, lengths: Tensor) -> Tensor:
    """The mean over each row's own places."""
    inside = (torch.arange(states.shape[1], device=states.device) < lengths.unsqueeze(1)).to(states.dtype)
    return torch.bmm(inside.unsqueeze(1), states).squeeze(1) / lengths.unsqueeze(1)


def head(size: int, labels: int, hidden: int) -> nn.Sequential:
    """The two-layer classifier. The paper's hidden layer has 200 units; 0: as many as the input, as in the released code."""
    return perceptron(size, hidden or size, labels)
