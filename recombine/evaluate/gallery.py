"""Chooses the report's examples (some for every named mistake) and packs them. The page draws an example when the user opens it.

A page holds a few examples per set as plain HTML, for readers without script. All chosen examples stand in it a second time, as
compressed JSON in chunks. The page's script unpacks a chunk when it draws one of its examples. Everything that a model wrote
reaches the page as escaped text or as base64, and the script writes it with `textContent`.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from recombine.core import Example
from recombine.evaluate.evaluate import Evaluation
from recombine.evaluate.scoring import Record

CHUNK = 50
"""Examples in one compressed chunk."""
STATIC = 24
"""About this many examples stand in the page as plain HTML, at least one and at most three for each set."""
PER_MISTAKE = 3
"""Examples that each named mistake of a run gets first."""
LONGEST_TEXT = 6_000
LONGEST_ANSWER = 2_000
Span = tuple[int, int]


@dataclass(frozen=True)
class Shown:
    """One example with the record of every run that has it."""

    key: str
    example: Example
    records: Mapping[str, Record]


def first_difference(right: str, said: str) -> Span | None:
    """Where the first token of `said` stands that differs from `right`; an empty span at the end if `said` stops too early.

    None if both have the same tokens.
    """
    token = re.compile(r"[^\s,]+")
    wanted = [match.group() for match in token.finditer(right)]
    given = list(token.finditer(said))
    for number, match in enumerate(given):
        if number >= len(wanted) or match.group() != wanted[number]:
            return match.span()
    return (len(said), len(said)) if len(given) < len(wanted) else None


def choose(evaluation: Evaluation, most: int) -> list[Shown]:
    """At most `most` examples, spread over the sets.

    Each named mistake of a run gets one first, then a second and a third. Wrong answers follow, then right ones.
    """
    keys = evaluation.parts()
    found: list[Shown] = []
    for number, key in enumerate(keys):
        room = (most - len(found)) // (len(keys) - number)
        runs = [run for run in evaluation.of(key) if run.name not in evaluation.baselines] or evaluation.of(key)[:1]
        places = {record.id: (run, i) for run in runs for i, record in enumerate(run.records)}
        by_run = {run.name: {record.id: record for record in run.records} for run in runs}
        order = list(places)
        levels: list[dict[str, None]] = [{} for _ in range(PER_MISTAKE)]
        counts: dict[tuple[str, str], int] = {}
        for name, records in by_run.items():
            for identifier, record in records.items():
                for mistake in record.mistakes:
                    level = counts.get((name, mistake), 0)
                    counts[name, mistake] = level + 1
                    if level < PER_MISTAKE:
                        levels[level][identifier] = None
        first = [identifier for level in levels for identifier in level]
        wrong = [i for i in order if any(i in records and records[i].value < 1 for records in by_run.values())]
        chosen = list(dict.fromkeys([*first, *wrong, *order]))[:room]
        for identifier in chosen:
            run, place = places[identifier]
            own = {name: records[identifier] for name, records in by_run.items() if identifier in records}
            found.append(Shown(key, run.examples[place], own))
    return found


# --- plain HTML ------------------------------------------------------------------------------------------------------


def slug(text: str) -> str:
    """The text as an anchor of the page."""
    return re.sub(r"[^a-zA-Z0-9]+", "-", text).strip("-")


def static_cards(shown: Sequence[Shown]) -> str:
    """The first examples of each set as folded HTML."""
    by_key: dict[str, list[Shown]] = {}
    for item in shown:
        by_key.setdefault(item.key, []).append(item)
    parts = []
    each = max(1, min(3, STATIC // max(1, len(by_key))))
    for key, items in by_key.items():
        cards = "".join(_card(item) for item in items[:each])
        parts.append(f"<details id='examples-{slug(key)}'><summary>Examples of {escape(key)}</summary>{cards}</details>")
    return "".join(parts)


def _card(item: Shown) -> str:
    example = item.example
    picture = _picture(example)
    drawn = ""
    if picture is not None:
        kind, body = picture
        coded = base64.b64encode(body.encode()).decode() if kind == "svg" else body
        mime = "image/svg+xml" if kind == "svg" else "image/png"
        drawn = f"<div class='world'><img alt='The world of this example' src='data:{mime};base64,{coded}'></div>"
    said = "".join(_said(name, record, example.answer) for name, record in item.records.items())
    steps = "".join(f"<li>{escape(step)}</li>" for step in example.explain().steps)
    return (
        f"<article class='card ex'>{drawn}<div><code>{escape(example.id)}</code><pre>{escape(_text(example))}</pre>"
        f"<p class='soft small'>right answer</p><p class='answer'>{escape(_cut(example.answer))}</p>{said}"
        f"<details><summary>Proof, step by step</summary><ol>{steps}</ol></details></div></article>"
    )


def _said(name: str, record: Record, right: str) -> str:
    tags = "".join(f"<span class='tag'>{escape(mistake)}</span>" for mistake in record.mistakes)
    look = "ok" if record.value == 1 else "bad"
    head = f"<p class='soft small'>{escape(name)} <span class='tag {look}'>{escape(record.status)}</span>{tags}</p>"
    if record.answer is None:
        return f"{head}<p class='answer'>no answer</p>"
    said, span = _cut(record.answer), None if record.value == 1 else first_difference(_cut(right), _cut(record.answer))
    if span is None:
        return f"{head}<p class='answer'>{escape(said)}</p>"
    start, stop = span
    marked = escape(said[start:stop]) or "ends here"
    return f"{head}<p class='answer'>{escape(said[:start])}<mark>{marked}</mark>{escape(said[stop:])}</p>"


def _cut(text: str, longest: int = LONGEST_ANSWER) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _text(example: Example) -> str:
    text = example.render("text")
    return _cut(text if isinstance(text, str) else text.decode(), LONGEST_TEXT)


def _picture(example: Example) -> tuple[str, str] | None:
    """The world as ("svg", text) or ("png", base64), if the family draws one."""
    media = example.family.MEDIA
    if "svg" in media:
        drawn = example.render("svg")
        return "svg", drawn if isinstance(drawn, str) else drawn.decode()
    if "png" in media:
        raw = example.render("png")
        return "png", base64.b64encode(raw if isinstance(raw, bytes) else raw.encode()).decode()
    return None


# --- packed ----------------------------------------------------------------------------------------------------------


def packed(shown: Sequence[Shown], runs: Sequence[str]) -> str:
    """The examples as data blocks of the page: an index to filter by, and the chunks."""
    sets = list(dict.fromkeys(item.key for item in shown))
    readers = sorted({m for item in shown for record in item.records.values() for m in record.mistakes})
    places = {name: number for number, name in enumerate(readers)}
    rows = []
    for item in shown:
        verdicts = []
        for name in runs:
            record = item.records.get(name)
            verdicts.append(None if record is None else [record.status, [places[m] for m in record.mistakes]])
        rows.append([sets.index(item.key), verdicts])
    index = {"chunk": CHUNK, "sets": sets, "runs": list(runs), "readers": readers, "rows": rows}
    blocks = [_block("index", index)]
    for start in range(0, len(shown), CHUNK):
        blocks.append(_block("chunk", [_body(item, runs) for item in shown[start : start + CHUNK]]))
    return "".join(blocks)


def _body(item: Shown, runs: Sequence[str]) -> dict[str, Any]:
    example = item.example
    right = _cut(example.answer)
    said: list[Any] = []
    for name in runs:
        record = item.records.get(name)
        if record is None:
            said.append(None)
            continue
        answer = None if record.answer is None else _cut(record.answer)
        span = first_difference(right, answer) if answer is not None and record.value < 1 else None
        said.append([answer, record.value == 1, span])
    return {
        "id": example.id,
        "text": _text(example),
        "answer": right,
        "picture": _picture(example),
        "steps": list(example.explain().steps),
        "said": said,
    }


def _block(name: str, value: Any) -> str:
    raw = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return f"<script type='application/zlib' class='{name}'>{base64.b64encode(zlib.compress(raw, 9)).decode()}</script>"
