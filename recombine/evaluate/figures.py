"""Charts as objects: shown by a notebook, saved as SVG or PDF."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recombine import charts
from recombine.errors import UsageError, shown
from recombine.files import own_file, writing
from recombine.pdf import to_pdf
from recombine.signature import picture_kind, signed

if TYPE_CHECKING:
    from recombine.evaluate.evaluate import Evaluation


@dataclass(frozen=True)
class Figure:
    """One chart. `svg` has fixed colours, so the picture stands alone."""

    name: str
    title: str
    svg: str

    def _repr_svg_(self) -> str:
        """The chart, for notebooks."""
        return self.svg

    def pdf(self, scale: float = 1.0) -> bytes:
        """The chart as a PDF page of its size times `scale`."""
        return to_pdf(self.svg, scale)

    def save(self, path: str | Path, scale: float = 1.0) -> Path:
        """Write the chart; the suffix decides: .svg or .pdf. `scale` is for PDF: an SVG has no size of its own."""
        return save_picture(self.svg, path, scale)


def save_picture(svg: str, path: str | Path, scale: float = 1.0) -> Path:
    """Write a picture as SVG or PDF by the file's suffix; a file that we did not write is not replaced."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".svg", ".pdf"):
        raise UsageError(f"{shown(str(path))} has no suffix that says what to write; use .svg or .pdf.")
    drawn = to_pdf(svg, scale) if suffix == ".pdf" else (svg if scale == 1 else charts.scaled(svg, scale)).encode()
    with writing(own_file(str(path), picture_kind(suffix))) as out:
        out.write(signed(drawn, suffix))
    return Path(path)


def figures(evaluation: Evaluation) -> list[Figure]:
    """Every chart of the report on an evaluation."""
    from recombine.evaluate.export import figures as drawn
    from recombine.evaluate.findings import findings

    return drawn(findings(evaluation))
