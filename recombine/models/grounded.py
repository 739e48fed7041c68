"""What the models for gSCAN and ReaSCAN share: a command and a grid in, a sequence of actions out.

The grid is the n × n × d array of the published models: per object one bit for its size, its colour and its shape (bits of a
box's anchor and of an object in the same cell add up), one for the agent and four for its heading. It is built from `inputs`
alone; which colours and shapes exist is learnt from the training examples, in sorted order.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn

from recombine.errors import UsageError
from recombine.models.base import ColumnModel, Loss
from recombine.models.batching import END, PAD, Vocabulary, dropout, pad
from recombine.models.grounded_rows import HEADINGS, SIZES, Item, Items, codec_of, items_of
from recombine.models.layers import AdditiveAttention, TwoWay, padding_mask
from recombine.models.sparse import convolve
from recombine.models.writer import Keys, Weights, write

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.core import Batch, Example

KEPT_ROWS = 0.8
"""When fewer of the rows of a batch are still being answered, those that have ended are taken out."""


@dataclass(frozen=True)
class Scenes:
    """A batch: commands (batch, places), their lengths, grids (batch, rows, columns, bits), actions and target cells."""

    words: Tensor
    lengths: Tensor
    grids: Tensor
    actions: Tensor | None
    cells: Tensor


class Present(NamedTuple):
    """The cells that hold something, row by row of a batch, those of short rows padded behind: (batch, most) each, bits one more."""

    places: Tensor  # the cell's number in its grid
    is_there: Tensor
    bits: Tensor


class Read(NamedTuple):
    """What a writer starts from: a state for each word, the last one, the numbers of words, a state for each cell."""

    text: Tensor
    last: Tensor
    lengths: Tensor
    world: Tensor


class GroundedModel(ColumnModel):
    """Reads a command and a grid; answers with actions separated by commas."""

    def __init__(self, config: Any, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        self.words_in = Vocabulary.from_json(codec["words"])
        self.words_out = Vocabulary.from_json(codec["actions"])
        self.colors, self.shapes = list(codec["colors"]), list(codec["shapes"])
        self.object_bits = SIZES + len(self.colors) + len(self.shapes)
        self.bits = self.object_bits + 1 + len(HEADINGS)

    @classmethod
    def learn_codec(cls, config: Any, examples: Sequence[Example]) -> dict[str, Any]:  # noqa: ARG003
        for name in ("command", "objects", "agent", "grid_size"):
            if name not in examples[0].inputs:
                raise UsageError(
                    f"{cls.__name__} needs a command and a grid; {examples[0].id} has no {name!r} among its inputs."
                )
        return {
            "words": list(Vocabulary.of(str(e.inputs["command"]).split() for e in examples).words),
            "actions": list(Vocabulary.of(e.answer.split(",") for e in examples).words),
            "colors": sorted({thing["color"] for e in examples for thing in e.inputs["objects"]}),
            "shapes": sorted({thing["shape"] for e in examples for thing in e.inputs["objects"]}),
        }

    @classmethod
    def learn_codec_from(cls, batches: Sequence[Batch]) -> dict[str, Any]:
        """The same codec from columns."""
        return codec_of(batches)

    def encode_all(self, batches: Sequence[Batch]) -> Items:
        """Answered items from columns, equal to those of `encode`."""
        return items_of(batches, self.codec)

    @classmethod
    def fingerprint(cls, batches: Sequence[Batch]) -> str:
        """A hash of the items, by the codec of these rows."""
        return items_of(batches, codec_of(batches)).fingerprint()

    def encode(self, example: Example, answered: bool) -> Item:
        actions = self.words_out.encode(example.answer.split(","), end=True) if answered else None
        cell = _target_cell(example) if answered else -1
        return Item(self.words_in.encode(str(example.inputs["command"]).split()), self.grid(example.inputs), actions, cell)

    def grid(self, inputs: Mapping[str, Any]) -> NDArray[np.uint8]:
        """The n × n × d array; a colour or shape that training never had leaves no bit."""
        n = int(inputs["grid_size"])
        out = np.zeros((n, n, self.bits), dtype=np.uint8)
        for thing in inputs["objects"]:
            cell = out[thing["row"], thing["column"]]
            cell[thing["size"] - 1] += 1
            if thing["color"] in self.colors:
                cell[SIZES + self.colors.index(thing["color"])] += 1
            if thing["shape"] in self.shapes:
                cell[SIZES + len(self.colors) + self.shapes.index(thing["shape"])] += 1
        agent = inputs["agent"]
        out[agent["row"], agent["column"], self.object_bits] = 1
        out[agent["row"], agent["column"], self.object_bits + 1 + HEADINGS.index(agent["heading"])] = 1
        return out

    def length(self, item: Item) -> tuple[int, ...]:
        return (0 if item.actions is None else len(item.actions), len(item.words))

    def collate(self, items: Sequence[Item]) -> Scenes:
        actions = [item.actions for item in items if item.actions is not None]
        return Scenes(
            pad([item.words for item in items]),
            torch.tensor([len(item.words) for item in items]),
            torch.from_numpy(np.stack([item.grid for item in items])).float(),
            pad(actions) if len(actions) == len(items) else None,
            torch.tensor([item.cell for item in items]),
        )

    def spoken(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Rows of action numbers as answers."""
        return [",".join(self.words_out.decode(row)) for row in rows]


def _target_cell(example: Example) -> int:
    """The number of the cell where the target stands, for the auxiliary loss of training; -1 if the world does not say."""
    for thing in getattr(example.world, "things", ()):
        if thing.role == "target":
            return int(thing.row * example.inputs["grid_size"] + thing.column)
    return -1


class WorldReader(nn.Module):
    """Three convolutions of different reach side by side, over (batch, rows, columns, bits): (batch, cells, 3 * channels)."""

    def __init__(self, bits: int, channels: int, kernels: Sequence[int], rate: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(bits, channels, k, padding=k // 2) for k in kernels)
        self.rate = rate

    def forward(self, grids: Tensor) -> Tensor:
        """The cells row by row."""
        seen = torch.cat([layer(grids.permute(0, 3, 1, 2)) for layer in self.layers], 1)
        return dropout(torch.relu(seen).flatten(2).transpose(1, 2), self.rate, self.training)

    def present(self, features: Tensor, cells: Tensor, shape: tuple[int, int], grids: int) -> Tensor:
        """The same from the cells that hold something: their features and places, counted through all grids of this shape."""
        seen = convolve([cast(nn.Conv2d, layer) for layer in self.layers], features, cells, shape, grids)
        return dropout(torch.relu(seen).view(grids, -1, seen.shape[1]), self.rate, self.training)


class CommandReader(nn.Module):
    """Embedded words through a two-way LSTM whose directions are added up (`joined` False) or laid side by side."""

    def __init__(self, words: int, embedding: int, units: int, rate: float, joined: bool = False) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, embedding, padding_idx=PAD)
        self.layer = TwoWay("lstm", embedding, units)
        self.rate, self.joined, self.units = rate, joined, units

    def forward(self, words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """States per word, and the last state."""
        states, last, _ = self.layer.run(dropout(self.embedding(words), self.rate, self.training), lengths)
        if self.joined:
            return states, last
        return states[..., : self.units] + states[..., self.units :], last[:, : self.units] + last[:, self.units :]


class ActionWriter(nn.Module):
    """The decoder of the published models: attends to the words, then, asking by what it read, to the cells; an LSTM step.

    Keys are projected once and are also the values. Output: two linear layers without a nonlinearity between them.
    """

    def __init__(self, words: int, units: int, text: int, world: int, rate: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, units, padding_idx=PAD)
        self.text_key = nn.Linear(text, units, bias=False)
        self.world_key = nn.Linear(world, units, bias=False)
        self.start = nn.Linear(text, units)
        self.text_attention = AdditiveAttention(units, units)
        self.world_query = nn.Linear(2 * units, units)
        self.world_attention = AdditiveAttention(units, units)
        self.cell = nn.LSTMCell(3 * units, units)
        self.read = nn.Linear(4 * units, units, bias=False)
        self.output = nn.Linear(units, words)
        self.rate = rate

    def begin(self, text: Tensor, last: Tensor, world: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Keys of both sides, and the start state, which is also the start memory."""
        start = torch.tanh(self.start(last))
        return self.text_key(text), self.world_key(world), (start, start)

    def step(
        self, word: Tensor, keys: tuple[Tensor, Tensor], mask: Tensor, state: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """What the logits are read from, the weights over cells, and the next state."""
        read, _ = self.text_attention(state[0], keys[0], mask)
        seen, weights = self.world_attention(torch.tanh(self.world_query(torch.cat([state[0], read], 1))), keys[1], None)
        state = self.cell(torch.cat([word, read, seen], 1), state)
        return torch.cat([word, state[0], read, seen], 1), weights, state

    def forward(self, source: Read, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Teacher-forced logits (decisions, words), what is right there, and each row's weights over cells, averaged over its steps.

        Rows must come sorted by their number of actions, the longest first. Decisions are the rows of step 1, of step 2, and so
        on, without padding.
        """
        taken, previous, counts = packed(actions)
        word = dropout(self.embedding(previous), self.rate, self.training)
        text_keys, world_keys, (start, _) = self.begin(source.text, source.last, source.world)
        units = start.shape[1]
        to_gates = self.cell.weight_ih.t()
        pre = torch.addmm(self.cell.bias_ih + self.cell.bias_hh, word, to_gates[:units])
        asking = self.world_query.weight.t()
        weights = Weights(
            self.text_attention.query.weight.t(), asking[:units], asking[units:], self.world_query.bias,
            self.world_attention.query.weight.t(), self.cell.weight_hh.t(), to_gates[units : 2 * units], to_gates[2 * units :],
            self.text_attention.scorer, self.world_attention.scorer,
        )  # fmt: skip
        cells = torch.full_like(source.lengths, world_keys.shape[1])
        done = write(counts, pre, start, Keys(text_keys, source.lengths), Keys(world_keys, cells), weights)
        joined = torch.cat([word, done.hidden, done.read, done.seen], 1)
        # Two linear layers with nothing between them are one, and the second is narrow.
        return nn.functional.linear(joined, self.output.weight @ self.read.weight, self.output.bias), taken, done.looks

    def greedy(self, source: Read, limit: int) -> list[list[int]]:
        """Action numbers per row, until every row has ended or the limit is reached."""
        text_keys, world_keys, state = self.begin(source.text, source.last, source.world)
        mask = padding_mask(source.lengths, source.text.shape[1])
        rows = torch.arange(len(mask), device=mask.device)
        word = torch.zeros_like(rows)
        chosen = torch.full((len(mask), limit + 1), END, device=mask.device)
        is_running = torch.ones_like(rows, dtype=torch.bool)
        for step in range(limit + 1):
            out, _, state = self.step(self.embedding(word), (text_keys, world_keys), mask, state)
            logits = self.output(self.read(out))
            logits[:, PAD] = -math.inf
            word = logits.argmax(-1)
            chosen[rows, step] = word
            is_running &= word != END
            left = int(is_running.sum())
            if not left:
                break
            if left < KEPT_ROWS * len(rows):  # rows that have ended cost nothing from here on
                text_keys, world_keys, mask = text_keys[is_running], world_keys[is_running], mask[is_running]
                state = state[0][is_running], state[1][is_running]
                rows, word, is_running = rows[is_running], word[is_running], is_running[is_running]
        found: list[list[int]] = chosen.tolist()
        return found


def packed(actions: Tensor) -> tuple[Tensor, Tensor, list[int]]:
    """Actions (batch, steps), their rows sorted, as decisions without padding: what is right, what went before, rows per step."""
    given = actions.t() != PAD
    previous = torch.cat([torch.zeros_like(actions[:, :1]), actions[:, :-1]], 1).t()
    return actions.t()[given], previous[given], given.sum(1).tolist()


class WritingModel(GroundedModel):
    """A grounded model that ends in an `ActionWriter`; a subclass says how the command and the grid are read."""

    writer: ActionWriter

    @abstractmethod
    def read(self, batch: Scenes) -> Read:
        """The command and the grid, read."""

    def loss(self, batch: Scenes) -> Loss:
        """Cross-entropy of the actions per row; with `target_weight`, also of the cell attended to, where the target's is known."""
        assert batch.actions is not None, "loss needs answered items"
        batch = longest_first(batch)
        logits, taken, looks = self.writer(self.read(batch), batch.actions)
        value = nn.functional.cross_entropy(logits, taken, reduction="sum") / len(batch.words)
        if self.config.target_weight:
            value = value + self.config.target_weight * target_loss(looks, batch.cells)
        return Loss(value, int((logits.detach().argmax(1) == taken).sum()), len(taken))

    @torch.no_grad()
    def answers(self, batch: Scenes) -> list[str]:
        """Greedy decoding."""
        return self.spoken(self.writer.greedy(self.read(batch), self.config.max_answer_tokens))


def longest_first(batch: Scenes) -> Scenes:
    """The same batch with its rows sorted by their number of actions."""
    assert batch.actions is not None
    order = torch.argsort((batch.actions != PAD).sum(1), descending=True, stable=True)
    return Scenes(batch.words[order], batch.lengths[order], batch.grids[order], batch.actions[order], batch.cells[order])


def target_loss(looks: Tensor, cells: Tensor) -> Tensor:
    """The mean of -log(weight of the target's cell) over rows whose target is known; 0 where none is. looks: (batch, cells)."""
    known = cells >= 0
    if not bool(known.any()):
        return looks.sum() * 0
    return nn.functional.nll_loss(torch.log(looks[known] + 1e-9), cells[known])


def present_cells(grids: Tensor) -> Present:
    """The cells of grids (batch, rows, columns, bits) that hold something, in reading order."""
    cells = grids.flatten(1, 2)
    filled = cells.any(2)
    most = int(filled.sum(1).max())
    places = torch.argsort(filled.to(torch.uint8), dim=1, descending=True, stable=True)[:, :most]
    bits = cells.gather(1, places.unsqueeze(2).expand(-1, -1, cells.shape[2]))
    return Present(places, filled.gather(1, places), bits)


def word_mask(batch: Scenes) -> Tensor:
    """Additive mask over the command's places."""
    return padding_mask(batch.lengths, batch.words.shape[1])
