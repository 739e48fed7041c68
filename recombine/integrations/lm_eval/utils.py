"""lm-evaluation-harness: rows of any family as documents, scored by Recombine. The task files beside this one name the functions.

lm-eval loads this file by its path. `--metadata '{"split": "a1", "seed": 7, "size": 500}'` changes what is asked.
"""

from __future__ import annotations

from typing import Any

from recombine.data.datasets import load as load_rows
from recombine.evaluate.prompts import Prompter
from recombine.integrations import first_rows
from recombine.scorer import Scorer

_SCORER = Scorer()


def load(
    family: str = "scan", split: str | None = None, part: str | None = None, seed: int = 0, size: int = 200,
    style: str = "rules", sight: str = "text", shots: int = 0, **_: Any,
) -> dict[str, Any]:  # fmt: skip
    """The documents of a task, by the `metadata` of its file and of the command line. `family` may be a folder."""
    import datasets

    rows = first_rows(family, split, part, int(seed), int(size))
    train = load_rows(family, split, "train", seed=int(seed)) if shots else ()
    prompter = Prompter(rows.family, style, sight, int(shots), train=train)  # type: ignore[arg-type]
    made = []
    for example in rows:
        prompt = prompter.prompt(example)
        text = "".join(piece if isinstance(piece, str) else "<image>" for piece in prompt.pieces)
        row: dict[str, Any] = {"id": example.id, "prompt": text, "answer": prompter.words.answer(example)}
        if sight != "text":
            row["image"] = [{"bytes": piece, "path": None} for piece in prompt.pieces if isinstance(piece, bytes)]
        made.append(row)
    found = datasets.Dataset.from_list(made)
    if sight != "text":
        found = found.cast_column("image", datasets.List(datasets.Image()))
    return {"test": found}


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Whether the reply is right, whether it could be read, and whether a wrong one is a named mistake."""
    score = _SCORER(doc["id"], results[0])
    return {
        "exact": score.value,
        "answered": float(score.status != "unparsable"),
        "shortcut_error": float(bool(score.mistakes)),
    }
