"""The gallery as one HTML page: tiles to play, what was wrong with the originals, and the way to the baselines' report."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from recombine.families import family
from recombine.gallery.puzzle import LEVELS, Puzzle
from recombine.pages import page

TITLES: Mapping[str, tuple[str, str]] = {
    "reascan": ("ReaSCAN", "Find the one object that every clause fits, and do what is said."),
    "clutrr": ("CLUTRR", "Read a story about a family. What is one person to another?"),
    "lilgym": ("lilGym", "Change the picture until the sentence is true, or false."),
    "scan": ("SCAN", "Carry out a command, action by action."),
    "abstract": ("Abstract tasks", "Find the rule that changes the pictures, and apply it."),
    "lexicon": ("Word learning", "Learn nonsense words from a few examples, then carry out a new command."),
    "gscan": ("gSCAN", "Find the object, go there, and mind how you do it."),
    "nacs": ("NACS", "SCAN backwards: put the actions into words."),
}
"""Family -> its name for people, and what it asks."""
FLAWS: Mapping[str, Mapping[str, str]] = {
    "gscan": {
        "needless_word": "a word of the command is not needed",
        "only_candidate": "the target can be guessed without the command",
        "two_readings": "“small” or “big” has two readings",
    },
    "reascan": {
        "spare_word": "a word of the command is not needed",
        "size_reading": "“small” or “big” has two readings",
    },
    "clutrr": {
        "false_target": "the right answer is false in the family behind the story",
        "false_fact": "the story says something false about that family",
        "shorter_path": "fewer facts than promised lead to the answer",
        "ambiguous": "the story allows two answers",
    },
}
"""Family -> code of an artifact -> what it means, for the chart. Codes that are not here are left to `recombine audit`."""


def to_html(puzzles: Sequence[Puzzle], *, report: str = "", made: str = "") -> str:
    """The whole page. `report` is the address of the baselines' report, `made` a sentence on how the page was made."""
    by_family: dict[str, list[Puzzle]] = {}
    for puzzle in puzzles:
        by_family.setdefault(puzzle.packed()["family"], []).append(puzzle)
    tiles = "".join(_tile(name, found) for name, found in by_family.items())
    blocks = "".join(_block(name, [p.packed() for p in found]) for name, found in by_family.items())
    body = (
        "<main><h1>Recombine</h1>"
        "<p class='lead'>Can you put known pieces together in a way that you have never seen? Try one of each. "
        "If you are wrong, the page says which careless reader you were.</p>"
        f"<p class='soft small'><span id='tally' aria-live='polite'>{len(puzzles):,} puzzles.</span> "
        "Every right answer was derived twice, by two programs that share no code.</p>"
        f"<div class='tiles'>{tiles}</div>{_still(by_family)}{_originals()}{_baselines(report)}"
        f"<footer>{escape(made)} This page works offline and sends nothing.</footer></main>{blocks}"
    )
    return page("Recombine: a gallery to play with", body, style=_asset("play.css"), script=_asset("play.js"))


def _asset(name: str) -> str:
    return (files("recombine.gallery") / name).read_text(encoding="utf-8")


def _block(name: str, value: Any) -> str:
    raw = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    packed = base64.b64encode(zlib.compress(raw, 9)).decode()
    return f"<script type='application/zlib' class='puzzles' data-family='{escape(name, quote=True)}'>{packed}</script>"


def _tile(name: str, found: Sequence[Puzzle]) -> str:
    title, asks = TITLES.get(name, (name, ""))
    packed = [puzzle.packed() for puzzle in found]
    claims = {p["split"]: family(name).SPLITS[p["split"]].claim for p in packed}
    splits = "".join(
        f"<option value='{escape(split, quote=True)}' title='{escape(claim, quote=True)}'>{escape(split.replace('_', ' '))}</option>"
        for split, claim in claims.items()
    )
    levels = "".join(f"<option value='{k}'>{LEVELS[k]}</option>" for k in sorted({p["level"] for p in packed}))
    return (
        f"<section class='card tile' id='tile-{escape(name, quote=True)}' aria-label='{escape(title, quote=True)}' hidden>"
        f"<h2>{escape(title)}</h2><p class='sub soft small'>{escape(asks)}</p><div class='pick'>"
        f"<select class='splits' aria-label='Split of {escape(title, quote=True)}'><option value=''>all splits</option>{splits}</select>"
        f"<select class='levels' aria-label='Difficulty of {escape(title, quote=True)}'><option value=''>any level</option>{levels}</select>"
        "<button type='button' class='another'>another</button></div><p class='claim'></p><div class='picture'></div>"
        "<div class='question'></div><div class='controls'></div><div class='row'><button type='button' class='check'>Check</button></div>"
        "<div class='reveal' aria-live='polite'></div></section>"
    )


def _still(by_family: Mapping[str, Sequence[Puzzle]]) -> str:
    """One puzzle of each family as plain text, for browsers without script."""
    parts = []
    for name, found in by_family.items():
        example = found[0].example
        inputs = "; ".join(f"{key}: {value}" for key, value in example.inputs.items() if isinstance(value, str))
        steps = "".join(f"<li>{escape(step)}</li>" for step in example.explain().steps)
        parts.append(
            f"<article class='card'><h2>{escape(TITLES.get(name, (name, ''))[0])}</h2><p>{escape(inputs)}</p>"
            f"<details><summary>The answer and its proof</summary><p>{escape(example.answer)}</p><ol>{steps}</ol></details></article>"
        )
    return f"<div id='still'><p class='soft'>The puzzles need JavaScript. One of each as text:</p>{''.join(parts)}</div>"


def originals() -> dict[str, Any]:
    """The figures of `benchmarks/originals.py`."""
    found: dict[str, Any] = json.loads(_asset("originals.json"))
    return found


def _originals() -> str:
    """Bars: the share of rows with a flaw, under the original recipe and under ours."""
    found = originals()
    rows = []
    for item in found["sets"]:
        name, release, sound = item["family"], item["recipes"]["release"], item["recipes"]["sound"]
        part = f"{item['split']}, {item['part']}".replace("_", " ")
        rows.append(
            f"<h3>{escape(TITLES[name][0])} <span class='soft small'>{escape(part)}, {release['rows']:,} rows</span></h3>"
        )
        for code, words in FLAWS[name].items():
            if code in release["codes"]:
                rows.append(_bar(words, release["codes"][code] / release["rows"]))
        rows.append(_bar("any flaw, in our mended version", sound["flawed"] / sound["rows"]))
    return (
        "<h2 id='originals'>What was wrong with the originals</h2><p class='soft small'>We remade the published benchmarks with their authors' "
        "rules (recipe <code>release</code>) and had our oracle judge each row. The mended version is the recipe <code>sound</code>.</p>"
        f"<div class='card'><div class='bars'>{''.join(rows)}</div></div>"
        f"<p class='soft small'>Measured on {escape(found['date'])} with <code>{escape(found['command'])}</code>. "
        "“Not needed” means that the command without that word still finds one object.</p>"
    )


def _bar(words: str, share: float) -> str:
    look = "bar none" if share == 0 else "bar"
    return f"<span>{escape(words)}</span><span class='{look}'><i style='width:{85 * share:.1f}%'></i>{share:.0%}</span>"


def _baselines(report: str) -> str:
    if not report:
        return ""
    return (
        "<h2>How far simple baselines get</h2><p>These answerers read nothing, or little: the commonest answer, the most similar training "
        "example, and each careless reader. A model must beat them before its score is news.</p>"
        "<p>Beside them stand the <b>learnt machines</b> that come with the package. They learnt what each word means from the training rows. How to "
        "read a command is built into them, so they show that a split can be solved, not what a network learns.</p>"
        f"<p><a href='{escape(report, quote=True)}'>Open the report of baselines and machines</a></p>"
    )
