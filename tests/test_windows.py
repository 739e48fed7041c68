"""Reading by index: whatever the order, the rows are those of iteration; examples are read lazily and keep no secrets."""

from __future__ import annotations

import copy
import dataclasses
import io
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recombine
from recombine import kernels
from recombine.batches import join, unpacked
from recombine.columns import Coded, Ragged, Text, values_of
from recombine.core import Batch, Example, Job
from recombine.data import windows
from recombine.data.windows import BLOCK_ROWS, Window
from recombine.row_examples import RowExample

JOB = Job("scan", 1, "release", "length", "test")


def numbered(asked: list[tuple[int, int]]) -> Callable[[int, int], Batch]:
    def rows(start: int, stop: int) -> Batch:
        asked.append((start, stop))
        return Batch(JOB, start, {"n": np.arange(start, stop)})

    return rows


def test_ascending_reads_make_ever_longer_runs_and_each_row_is_its_own() -> None:
    asked: list[tuple[int, int]] = []
    window = Window(numbered(asked), 1_000)
    for row in range(1_000):
        batch, place = window.at(row)
        assert batch.value("n", place) == row
    assert len(asked) < 16
    assert asked[-1] == (768, 1_000), "the last block ends with the part"


def test_jumps_make_single_rows_until_a_block_is_visited_often() -> None:
    asked: list[tuple[int, int]] = []
    window = Window(numbered(asked), 10_000)
    for row in range(0, 10_000, 1_000):
        window.at(row)
    assert all(stop - start == 1 for start, stop in asked)
    for row in range(0, 2 * windows.VISITS, 2):
        batch, place = window.at(row)
        assert batch.value("n", place) == row
    assert (0, BLOCK_ROWS) in asked


def test_kept_blocks_are_bounded_and_the_oldest_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "MOST_BLOCKS", 2)
    monkeypatch.setattr(windows, "VISITS", 1)
    asked: list[tuple[int, int]] = []
    window = Window(numbered(asked), 10_000)
    for block in (0, 1, 0, 2, 0, 1):
        window.at(block * BLOCK_ROWS + 7)
    assert [start // BLOCK_ROWS for start, _ in asked] == [0, 1, 2, 1], "block 1 was not used for longest when 2 came"


@pytest.mark.parametrize("family", ["scan", "gscan"])
def test_every_way_of_reading_gives_the_same_examples(family: str) -> None:
    listed = [(e.id, e.inputs, e.answer, e.meta) for _, e in zip(range(40), recombine.load(family), strict=False)]
    by_index, jumping = recombine.load(family), recombine.load(family)
    for row in [*range(40)]:
        e = by_index[row]
        assert (e.id, e.inputs, e.answer, e.meta) == listed[row]
    for row in (31, 3, 17, 3, 30, 39, 0):
        e = jumping[row]
        assert (e.id, e.inputs, e.answer, e.meta) == listed[row]
    assert [e.id for e in by_index[5:25]] == [entry[0] for entry in listed[5:25]]
    assert [e.id for e in by_index[25:5:-7]] == [listed[row][0] for row in range(25, 5, -7)]


def test_a_lazy_example_is_copied_pickled_and_changed_like_any_other() -> None:
    dataset = recombine.load("gscan")
    example = dataset[3]
    assert isinstance(example, RowExample)
    assert "world" not in vars(example), "nothing is read before it is asked for"
    copies: list[Any] = [pickle.loads(pickle.dumps(example)), copy.deepcopy(example), example.read()]
    copies.append(dataclasses.replace(example))
    for other in copies:
        assert isinstance(other, Example)
        assert (other.id, other.inputs, other.answer, other.plan, other.world) == (
            example.id, example.inputs, example.answer, example.plan, example.world
        )  # fmt: skip
    assert dataclasses.replace(example, answer="walk").answer == "walk"
    assert repr(example).startswith("Example(id='gscan@")
    assert pickle.loads(pickle.dumps(dataset))[3].id == example.id


def test_changing_an_example_changes_no_row() -> None:
    dataset = recombine.load("gscan")
    for row in range(8):
        dataset[row]
    first = dataset[6]
    first.inputs["objects"].clear()
    assert dataset[6].inputs["objects"]


def test_values_of_columns() -> None:
    text = "añb".encode()
    columns: dict[str, Any] = {
        "plain": np.array([1, 2, 3], np.int8),
        "coded": Coded(np.array([1, 0, 1]), ("x", "y")),
        "ascii": Text(np.frombuffer(b"abcd", np.uint8), np.array([0, 1, 1, 4])),
        "text": Text(np.frombuffer(text, np.uint8), np.array([0, 1, 3, 4])),
        "lists": Ragged(np.array([5, 6, 7]), np.array([0, 2, 2, 3])),
    }
    assert values_of(columns["ascii"]) == ["a", "", "bcd"]
    assert values_of(columns["text"]) == ["a", "ñ", "b"]
    batch = Batch(JOB, 0, columns)
    again = unpacked(batch)
    assert [again.row(row) for row in range(3)] == [batch.row(row) for row in range(3)]
    assert join([again]).row(2)["lists"] == [7]


def test_lists_of_strings_with_different_values_are_joined() -> None:
    def piece(start: int, codes: list[int], values: list[str]) -> Batch:
        return Batch(JOB, start, {"words": Ragged(Coded(np.array(codes, np.int8), values), np.array([0, 2]))})

    whole = join([piece(0, [0, 1], ["dax", "wug"]), piece(1, [1, 0], ["wug", "fep"]), piece(2, [0, 0], ["zup"])])
    assert [whole.value("words", row) for row in range(3)] == [["dax", "wug"], ["fep", "wug"], ["zup", "zup"]]
    assert values_of(whole.columns["words"]) == [["dax", "wug"], ["fep", "wug"], ["zup", "zup"]]


def test_rows_count_from_the_start_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_ROWS", {})
    monkeypatch.setattr(kernels, "is_loaded", lambda _name: False)
    monkeypatch.setattr(kernels, "is_kept", lambda _name: False)
    assert [kernels.is_worth_compiling("k", 40, 100, 10) for _ in range(3)] == [False, False, True]
    monkeypatch.setattr(kernels, "_ROWS", {})
    monkeypatch.setattr(kernels, "is_kept", lambda _name: True)
    assert kernels.is_worth_compiling("k", 40, 100, 10), "machine code on disk pays earlier"
    assert not kernels.is_worth_compiling("other", 60, 100)
    assert not kernels.is_worth_compiling("other", 60, 100), "a family that does not say from when counts each job alone"


def test_pictures_are_valid_png_with_the_right_colours() -> None:
    image = pytest.importorskip("PIL.Image")
    example = recombine.load("gscan")[0]
    painted = example.render("png")
    assert isinstance(painted, bytes)
    seen = np.asarray(image.open(io.BytesIO(painted)).convert("RGB"))
    from recombine.grid.draw import CELL, MARGIN, PAINT, PAPER, draw

    canvas = draw(example.world)
    bare = np.asarray(image.open(io.BytesIO(canvas.png())).convert("RGB"))
    assert bare.shape == (round(canvas.height), round(canvas.width), 3)
    assert seen.shape[1] == bare.shape[1]
    assert tuple(bare[2, 2]) == tuple(bytes.fromhex(PAPER[1:]))
    for thing in example.world.things:
        x, y = int(MARGIN + thing.column * CELL + CELL / 2), int(MARGIN + thing.row * CELL + CELL / 2)
        around = {tuple(int(v) for v in pixel) for pixel in bare[y - 10 : y + 10, x - 10 : x + 10].reshape(-1, 3)}
        assert tuple(bytes.fromhex(PAINT[thing.color][1:])) in around
    assert canvas.png() == draw(example.world).png(), "kept masks change nothing"


def test_without_numba_kernels_run_interpreted_and_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(kernels, "has_numba", lambda: False)
    monkeypatch.setattr(kernels, "_READY", {})
    kernels._say_once.cache_clear()
    for _ in range(2):
        assert kernels.load("recombine.draws", True) is kernels.load("recombine.draws", False)
    assert [("pip install numba" in record.getMessage(), record.levelname) for record in caplog.records] == [(True, "WARNING")]


def test_making_examples_imports_no_pyarrow_and_files_import_no_pandas(tmp_path: Path) -> None:
    script = """
import sys, recombine
for family in ("scan", "gscan", "reascan", "clutrr"):
    recombine.load(family)[0].inputs
print("pyarrow" in sys.modules, "numba" in sys.modules)
recombine.generate("gscan", sys.argv[1], part="test", size=20, engine="serial")
recombine.verify(sys.argv[1])
print("pandas" in sys.modules)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "rows")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "False"]
