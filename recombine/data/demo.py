"""What `recombine demo` shows of each family: a small folder, its proof, and a few examples as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from recombine.core import Example, Family
from recombine.data.datasets import Dataset
from recombine.data.generate import generate
from recombine.data.verify import Verdict, verify
from recombine.families import family as find_family
from recombine.files import write_text
from recombine.pages import page, table

EXAMPLES = 3


@dataclass(frozen=True)
class Shown:
    """One family's part of the demonstration."""

    family: Family
    split: str
    rows: int
    errors: int
    verdict: Verdict
    examples: tuple[Example, ...]


def show_family(name: str, out: Path, size: int, seed: int) -> Shown:
    """Generate the family's first split at a small size, verify it, and pick a few examples."""
    family = find_family(name)
    split = next(iter(family.SPLITS))
    folder = generate(name, out / name, split=split, size=size, seed=seed)
    verdict = verify(folder.path, workers=1)
    number = len(folder.plan.parts) - 1
    data = Dataset(family, folder.plan.parts[number], folder, number)
    errors = sum(p.severity == "error" for p in verdict.problems)
    picked = tuple(data[i * len(data) // EXAMPLES] for i in range(EXAMPLES))
    return Shown(family, split, sum(part.rows for part in verdict.parts), errors, verdict, picked)


def write_page(shown: Sequence[Shown], out: Path) -> Path:
    """The page: one section a family, everything inline, no network."""
    body = [
        "<h1>Recombine</h1><p>Every row below was generated here and derived again by an oracle that shares no code with the generator.</p>"
    ]
    for item in shown:
        state = "every answer proved" if item.verdict.ok else f"{item.errors} errors"
        body.append(f"<h2>{escape(item.family.NAME)}: {escape(item.family.TITLE)}</h2>")
        body.append(
            f"<p>{escape(item.family.SPLITS[item.split].claim)} <span class='ok'>{item.rows:,} rows, {state}.</span></p>"
        )
        body += [_example(example) for example in item.examples]
    path = out / "index.html"
    write_text(path, page("Recombine", "".join(body)))
    return path


def _example(example: Example) -> str:
    media = example.family.MEDIA
    picture = str(example.render("svg")) if "svg" in media else f"<pre>{escape(str(example.render('text')))}</pre>"
    explanation = example.explain()
    steps = "".join(f"<li>{escape(step)}</li>" for step in explanation.steps)
    careless = [
        (s.reader, s.answer) for s in explanation.shortcuts if s.answer is not None and example.score(s.answer).value < 1
    ]
    return (
        f"<div class='card'><code>{escape(example.id)}</code>{picture}<pre>{escape(str(example.render('text')))}</pre>"
        f"<p>Answer: <b>{escape(example.answer)}</b></p><details><summary>Proof</summary><ol>{steps}</ol></details>"
        f"<details><summary>What a reader would answer who …</summary>{table(('reader', 'answer'), careless)}</details></div>"
    )
