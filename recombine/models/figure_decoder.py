"""NACS paper, Figure 2: what the decoder is connected to, drawn from the model that is trained here, with and without `-Dep`."""

from __future__ import annotations

from typing import NamedTuple

from recombine.models.batching import Vocabulary
from recombine.models.seq2seq import Seq2Seq, Seq2SeqConfig

TITLE = "NACS paper, Figure 2: the decoder's connections, and those that -Dep removes"


class Edge(NamedTuple):
    """A connection: its name in the paper, where it begins and ends, and whether this model has it."""

    name: str
    start: str
    end: str
    is_there: bool


def edges(model: Seq2Seq) -> tuple[Edge, ...]:
    """The connections of the decoder, read off the model's parameters."""
    reads_context = model.config.attention
    width = model.read.shape[0] if reads_context else 0
    units = model.config.units
    reads_word = width == 3 * units + model.config.embedding
    return (
        Edge("es", "word", "state", model.input is not None),
        Edge("et", "word", "output", reads_word),
        Edge("cs", "context", "state", reads_context),
        Edge("ct", "context", "output", reads_context),
        Edge("st", "state", "output", True),
        Edge("ss", "before", "state", True),
    )


def decoders() -> dict[str, Seq2Seq]:
    """A GRU with attention as published, and the same with -Dep; the vocabulary does not matter for the connections."""
    words = list(Vocabulary.of(["a", "b"]).words)
    codec = {"source": words, "target": words, "source_is_longer": False}
    return {name: Seq2Seq(Seq2SeqConfig(depends=depends), codec) for name, depends in (("+Attn", True), ("+Attn -Dep", False))}


_PLACES = {"word": (70, 200), "context": (70, 60), "before": (240, 220), "state": (240, 130), "output": (420, 130)}
_LABELS = {
    "word": "previous word", "context": "context (attention)", "before": "previous state", "state": "decoder state",
    "output": "pre-output, then the next word",
}  # fmt: skip


def figure(models: dict[str, Seq2Seq]) -> str:
    """One panel per model as SVG; a connection that the model lacks is dashed and pale."""
    panels = []
    for number, (title, model) in enumerate(models.items()):
        lines = [f'<text x="20" y="24" font-weight="700">{title}</text>']
        for edge in edges(model):
            (x1, y1), (x2, y2) = _PLACES[edge.start], _PLACES[edge.end]
            style = 'stroke="#1f3a5f" stroke-width="2"' if edge.is_there else 'stroke="#b6b6b6" stroke-dasharray="5 5"'
            lines.append(f'<path d="M{x1} {y1} L{x2} {y2}" fill="none" {style}/>')
            fill = "#1f3a5f" if edge.is_there else "#767676"
            lines.append(
                f'<text x="{(x1 + x2) / 2}" y="{(y1 + y2) / 2 - 6}" fill="{fill}" font-style="italic">{edge.name}</text>'
            )
        for name, (x, y) in _PLACES.items():
            lines.append(f'<circle cx="{x}" cy="{y}" r="9" fill="#f2c14e" stroke="#1f3a5f"/>')
            lines.append(f'<text x="{x}" y="{y + 26}" text-anchor="middle">{_LABELS[name]}</text>')
        panels.append(f'<g transform="translate(0 {number * 270})">{"".join(lines)}</g>')
    height = 270 * len(models)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="560" height="{height}" viewBox="0 0 560 {height}" role="img" '
        f'font-family="sans-serif" font-size="13"><title>{TITLE}</title><rect width="100%" height="100%" fill="#ffffff"/>'
        f"{''.join(panels)}</svg>\n"
    )
