"""Two figures: the set machine's lexicon, as one command read word by word with what is left of the objects; and learning curves.

python docs/figures.py      # docs/pictures/lexicon.svg, from the machine that comes with the package; docs/pictures/curves.svg, from docs/results
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from recombine.data.datasets import load
from recombine.models.set_machine_finder import find, lexicon_lines, meanings_of
from recombine.models.set_machine_rows import Rows, rows_of_examples
from recombine.models.shipped import shipped

DOCS = Path(__file__).resolve().parent
ROW = 10
"""The row of `two_clauses` (sound, seed 3) whose command is read."""
CELL, ACROSS, GAP = 26, 5, 34
TEXT, FAINT, LINE, PAPER = "#2b2d33", "#6b6f78", "#c9c6bd", "#fbfaf7"
COLORS = {"red": "#c8453c", "green": "#3f8f5a", "blue": "#3d6fb6", "yellow": "#d8a927"}
UNSEEN = 0.12
"""How much is left to see of an object that is out."""


def thing(item: dict[str, Any], share: float) -> str:
    """One object, as faint as the machine thinks little of it."""
    seen, color = UNSEEN + (1 - UNSEEN) * share, COLORS[item["color"]]
    x, y = item["column"] * CELL, item["row"] * CELL
    if item["shape"] == "box":
        side = item["size"] * CELL - 4
        return f'<rect x="{x + 2}" y="{y + 2}" width="{side}" height="{side}" fill="none" stroke="{color}" stroke-width="2" opacity="{seen:.2f}"/>'
    half = 3 + 2 * item["size"]
    middle_x, middle_y = x + CELL / 2, y + CELL / 2
    if item["shape"] == "circle":
        return f'<circle cx="{middle_x:g}" cy="{middle_y:g}" r="{half}" fill="{color}" opacity="{seen:.2f}"/>'
    wide, round_ = (half, 1) if item["shape"] == "square" else (half * 0.6, 4)
    return f'<rect x="{middle_x - wide:.1f}" y="{middle_y - half:g}" width="{2 * wide:.1f}" height="{2 * half}" rx="{round_}" fill="{color}" opacity="{seen:.2f}"/>'


def panel(inputs: Any, shares: dict[tuple[int, int], float], head: str, said: str) -> str:
    """The world after a word, with the word above it and what it does below."""
    side = inputs["grid_size"] * CELL
    lines = "".join(
        f'<path d="M0 {k * CELL}H{side}M{k * CELL} 0V{side}" stroke="{LINE}" stroke-width="0.7"/>'
        for k in range(inputs["grid_size"] + 1)
    )
    order = sorted(inputs["objects"], key=lambda item: item["shape"] != "box")  # boxes stand behind
    things = "".join(thing(item, shares[item["row"], item["column"]]) for item in order)
    words = f'<text y="-8" font-size="14" font-weight="600" fill="{TEXT}">{escape(head)}</text><text y="{side + 18}" font-size="12" fill="{FAINT}">{escape(said)}</text>'
    return words + lines + things


def shares_after(machine: Any, rows: Rows, words: range) -> dict[tuple[int, int], float]:
    """What the machine thinks of the object in each cell when it has read these words only; the best has 1."""
    part = rows._replace(words=rows.words[:, words.start : words.stop], lengths=np.array([len(words)]))
    scores = find(meanings_of(machine.finder), part, np.zeros(1, np.int64), machine.config.least)[0]
    cells = rows.objects[0, : int(rows.counts[0]), 3:5].tolist()
    return {(row, column): float(score / scores.max()) for (row, column), score in zip(cells, scores, strict=False)}


def lexicon() -> str:
    """What each word of one command does."""
    machine = next(item for item in shipped() if (item.family, item.machine) == ("reascan", "set-machine")).load()
    example = load("reascan", "two_clauses", "test", seed=3, recipe="sound", size=ROW + 1)[ROW]
    command = str(example.inputs["command"]).split()
    known = {word: (does, means) for word, does, _, means in lexicon_lines(machine.finder, machine.known)}
    rows = rows_of_examples([example], machine.known)
    panels, put_aside = [], 0
    for read in range(1, len(command) + 1):
        word = command[-read]
        does, means = known[word]
        if does == "pass":
            continue
        put_aside = read if does == "aside" else put_aside
        begun = put_aside if put_aside < read else 0  # what was put aside comes back at the end
        shares = shares_after(machine, rows, range(len(command) - read, len(command) - begun))
        short = means.split(";")[0].split(" (")[0]
        panels.append((f"{len(panels) + 1}. {word}", f"{does}{': ' if short else ''}{short}", shares))
    panels.append(("The target", "with what was put aside", shares_after(machine, rows, range(len(command)))))
    side = example.inputs["grid_size"] * CELL
    step_x, step_y = side + GAP, side + 62
    drawn = "".join(
        f'<g transform="translate({GAP + k % ACROSS * step_x} {78 + k // ACROSS * step_y})">{panel(example.inputs, shares, head, said)}</g>'
        for k, (head, said, shares) in enumerate(panels)
    )
    width, height = GAP + ACROSS * step_x, 60 + -(-len(panels) // ACROSS) * step_y
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="Inter, Helvetica, Arial, sans-serif" role="img"><rect width="100%" height="100%" fill="{PAPER}"/>'
        f'<text x="{GAP}" y="34" font-size="14" font-weight="600" fill="{TEXT}">{escape(" ".join(command))}</text>{drawn}</svg>\n'
    )


RUNS = {
    "small Transformer, day, target loss": (
        "reascan-all-release-grounded-transformer-target_weight-0.3-day-seed0.json",
        "#4aa3a8",
    ),
    "GCN-LSTM, day": ("reascan-all-release-gcn-lstm-day-seed0.json", "#3d6fb6"),
    "GCN-LSTM, day, target loss": ("reascan-all-release-gcn-lstm-target_weight-0.3-day-seed0.json", "#c8453c"),
    "small Transformer, day": ("reascan-all-release-grounded-transformer-day-seed0.json", "#8a5fb0"),
    "GCN-LSTM, hour": ("reascan-all-release-gcn-lstm-hour-seed0.json", "#3f8f5a"),
    "M-LSTM, hour": ("reascan-all-release-mlstm-hour-seed0.json", "#d8a927"),
}
"""Line -> file and colour, the highest line first; a file that is not there has no line."""
MILLION, LEFT, TOP, WIDE, HIGH = 1_000_000, 60, 30, 560, 260
MOST_VISITS = 3.5
APART = 15
"""The least distance of two labels at the same place."""


def curves() -> str:
    """Exact match on validation rows after each epoch, over millions of row visits."""
    parts: list[str] = []
    labels: list[tuple[float, float]] = []
    for percent in range(0, 101, 20):
        y = TOP + HIGH - HIGH * percent / 100
        parts.append(f'<path d="M{LEFT} {y:g}h{WIDE}" stroke="{LINE}" stroke-width="0.7"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:g}" font-size="12" text-anchor="end" fill="{FAINT}">{percent}</text>')
    for tenths in range(0, int(10 * MOST_VISITS) + 1, 5):
        x = LEFT + WIDE * tenths / 10 / MOST_VISITS
        parts.append(
            f'<text x="{x:.1f}" y="{TOP + HIGH + 18}" font-size="12" text-anchor="middle" fill="{FAINT}">{tenths / 10:g}</text>'
        )
    for name, (file, color) in RUNS.items():
        path = DOCS / "results" / file
        if not path.is_file():
            continue
        run = json.loads(path.read_text(encoding="utf-8"))
        points = [(one["epoch"] * run["fit_rows"] / MILLION, 100 * one["validation"]) for one in run["history"]]
        placed = [(LEFT + WIDE * visits / MOST_VISITS, TOP + HIGH - HIGH * percent / 100) for visits, percent in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>' for x, y in placed]
        x, y = placed[-1] if placed[-1][0] > LEFT + WIDE / 2 else (LEFT, TOP + HIGH / 2)  # short lines: their names stand above
        while any(abs(y - other) < APART for at, other in labels if at == x):
            y += 1
        labels.append((x, y))
        parts.append(
            f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" font-size="12" fill="{TEXT}"><tspan fill="{color}">●</tspan> {escape(name)} {points[-1][1]:.0f} %</text>'
        )
    width, height = LEFT + WIDE + 240, TOP + HIGH + 50
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="Inter, Helvetica, Arial, sans-serif" role="img"><rect width="100%" height="100%" fill="{PAPER}"/>{"".join(parts)}'
        f'<text x="{LEFT}" y="18" font-size="12" fill="{FAINT}">exact match on validation rows, %</text>'
        f'<text x="{LEFT + WIDE}" y="{TOP + HIGH + 38}" font-size="12" text-anchor="end" fill="{FAINT}">rows visited, millions</text></svg>\n'
    )


FIGURES = {"lexicon": lexicon, "curves": curves}

if __name__ == "__main__":
    for name, draw in FIGURES.items():
        (DOCS / "pictures" / f"{name}.svg").write_text(draw(), encoding="utf-8")
