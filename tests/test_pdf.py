"""Pictures as PDF: every shape that we draw, the right place on the page, and clear errors for what is not known."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest

import recombine
from recombine import charts
from recombine.cli import main
from recombine.errors import UsageError
from recombine.evaluate.evaluate import evaluate
from recombine.evaluate.figures import Figure, figures
from recombine.families import FAMILIES, family
from recombine.pdf import to_pdf


def _content(pdf: bytes) -> str:
    """The drawing commands; the cross-reference table must lead to every object."""
    start = int(re.findall(rb"startxref\n(\d+)", pdf)[-1])
    assert pdf[start:].startswith(b"xref")
    for number, place in enumerate(re.findall(rb"(\d{10}) 00000 n", pdf), 1):
        assert pdf[int(place) :].startswith(b"%d 0 obj" % number)
    found = re.search(rb"/Length (\d+) /Filter /FlateDecode >>\nstream\n", pdf)
    assert found is not None
    return zlib.decompress(pdf[found.end() : found.end() + int(found[1])]).decode("ascii")


def _svg(body: str) -> str:
    return f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 80'>{body}</svg>"


def test_shapes_become_commands() -> None:
    text = _content(
        to_pdf(_svg("<rect x='1' y='2' width='3' height='4' fill='#ff0000'/><line x1='0' y1='0' x2='9' y2='8' stroke='#00f'/>"))
    )
    assert "1 0 0 rg\n1 2 3 4 re\nf" in text
    assert "0 0 1 RG 1 w" in text and "0 0 m 9 8 l\nS" in text
    assert text.startswith("q\n0.75 0 0 -0.75 0 60 cm")
    assert b"/MediaBox [0 0 75 60]" in to_pdf(_svg(""))
    assert b"/MediaBox [0 0 150 120]" in to_pdf(_svg(""), scale=2)


def test_quadratic_curves_become_cubic_ones() -> None:
    assert "2 0 4 2 4 4 c" not in _content(to_pdf(_svg("<path d='M 0 0 Q 3 0 6 6' stroke='black' fill='none'/>")))
    assert "0 0 m\n2 0 4 2 6 6 c\nS" in _content(to_pdf(_svg("<path d='M 0 0 Q 3 0 6 6' stroke='black' fill='none'/>")))


def test_text_is_placed_by_its_anchor_and_keeps_its_letters() -> None:
    text = _content(to_pdf(_svg("<text x='50' y='10' font-size='10' text-anchor='end'>ab · é → x</text>")))
    codes = bytes.fromhex("".join(re.findall(r"<([0-9a-f]+)> Tj", text)))
    assert codes == "ab · é ".encode("cp1252") + b"\xae x"
    place = float(re.findall(r"1 0 0 -1 ([0-9.]+) 10 Tm", text)[0])
    assert 0 < place < 50


def test_what_is_not_known_is_an_error() -> None:
    for body in ("<image/>", "<path d='M 0 0 A 1 1 0 0 0 1 1'/>", "<rect fill='url(#a)'/>"):
        with pytest.raises(UsageError):
            to_pdf(_svg(body))


@pytest.mark.parametrize("name", [name for name in FAMILIES if "svg" in family(name).MEDIA])
def test_every_family_s_picture_can_be_written(name: str) -> None:
    for example in recombine.load(name, size=2):
        drawn = example.render("svg")
        assert isinstance(drawn, str)
        assert len(_content(to_pdf(drawn))) > 100
        assert to_pdf(drawn) == to_pdf(drawn)


def test_charts_are_objects_that_can_be_saved(tmp_path: Path) -> None:
    folder = recombine.generate("scan", tmp_path / "data", split="simple", part="test", size=30)
    drawn = figures(evaluate(folder, {}, baselines=["majority", "oracle"]))
    assert drawn and all(isinstance(figure, Figure) for figure in drawn)
    assert drawn[0]._repr_svg_().startswith("<svg")
    assert drawn[0].save(tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert drawn[0].save(str(tmp_path / "a.svg")).read_text().startswith(drawn[0].svg)
    with pytest.raises(UsageError, match="suffix"):
        drawn[0].save(tmp_path / "a.doc")
    assert "width='100'" in charts.scaled("<svg width='50' height='5'><rect width='7'/></svg>", 2)


def test_show_saves_pictures_with_and_without_the_solution(tmp_path: Path) -> None:
    for name in ("gscan", "reascan", "abstract"):
        with_it, without = tmp_path / f"{name}-a.svg", tmp_path / f"{name}-b.svg"
        assert main(["show", name, "--save", str(with_it)]) == 0
        assert main(["show", name, "--save", str(without), "--no-solution"]) == 0
        assert len(without.read_text()) < len(with_it.read_text())
    assert main(["show", "gscan", "--save", str(tmp_path / "x.pdf"), "--scale", "2", "--no-solution"]) == 0
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")
    assert main(["show", "scan", "--save", str(tmp_path / "s.pdf"), "--no-solution"]) == 2
    assert main(["show", "gscan", "--scale", "2"]) == 2
    (tmp_path / "mine.pdf").write_text("my thesis")
    assert main(["show", "gscan", "--save", str(tmp_path / "mine.pdf")]) == 2
    assert (tmp_path / "mine.pdf").read_text() == "my thesis"


def test_show_random_and_released_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "scan", "--random"]) == 0
    assert main(["show", "scan", "--random", "--index", "3"]) == 2
    released = tmp_path / "tasks.txt"
    released.write_text("IN: jump twice OUT: I_JUMP I_JUMP\nIN: walk left OUT: I_TURN_LEFT I_WALK\n")
    capsys.readouterr()
    assert main(["show", str(released), "--as", "scan", "--index", "1"]) == 0
    assert "walk left" in capsys.readouterr().out
    assert main(["show", str(released)]) == 2
    assert "--as" in capsys.readouterr().err
    assert main(["show", str(released), "--as", "scan", "--index", "2"]) == 2
