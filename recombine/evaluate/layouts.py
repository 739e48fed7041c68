"""Rows with prompts, in the layouts that training and evaluation stacks read: `recombine export DIR --for trl`.

Every layout holds the id of its row, so that `recombine.Scorer` can score the replies.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recombine.abilities import Sight
from recombine.core import Example
from recombine.errors import BadOption, UnknownName, UsageError, shown
from recombine.evaluate.prompts import Prompt, Prompter, Style, chat_messages
from recombine.evaluate.rows import cluster_of
from recombine.files import Kind, holds, own_folder, write_json, writing

RECORD = "export.json"
TARGETS = ("steps", "answer")
ROWS_AT_ONCE = 500


@dataclass(frozen=True)
class Asked:
    """How rows are put: the prompt's style and sight, the target of `sft`, and the model that a batch request names."""

    style: Style = "rules"
    sight: Sight = "text"
    target: str = "steps"
    model: str = ""


def dials_of(example: Example) -> dict[str, Any]:
    """The values of the family's dials: what makes a row hard."""
    return {name: example.meta[name] for name in example.family.DIALS if name in example.meta}


def target_of(example: Example, prompter: Prompter, target: str) -> str:
    """The reply on which a model is trained: the answer on its line, after the proof or the plan if `target` is `steps`."""
    answer = f"Answer: {prompter.words.answer(example)}"
    return "\n".join([*prompter.words.steps(example), answer]) if target == "steps" else answer


def _placed(prompt: Prompt) -> list[dict[str, Any]]:
    """The prompt with marks where its pictures stand; the pictures themselves are in a column of their own."""
    if not prompt.pictures:
        return [{"role": "user", "content": prompt.text}]
    parts = [{"type": "text", "text": p} if isinstance(p, str) else {"type": "image", "text": None} for p in prompt.pieces]
    return [{"role": "user", "content": parts}]


def _images(prompt: Prompt) -> dict[str, Any]:
    held = [{"bytes": piece, "path": None} for piece in prompt.pieces if isinstance(piece, bytes)]
    return {"images": held} if held else {}


def _trl(example: Example, index: int, prompter: Prompter, asked: Asked) -> dict[str, Any]:  # noqa: ARG001
    prompt = prompter.prompt(example)
    row = {"id": example.id, "prompt": _placed(prompt), "answer": prompter.words.answer(example)}
    return {**row, **_images(prompt)}


def _sft(example: Example, index: int, prompter: Prompter, asked: Asked) -> dict[str, Any]:  # noqa: ARG001
    if not prompter.words.answer(example):
        raise UsageError(
            f"{shown(example.id)} comes without a right answer, so there is nothing to train on; export other rows."
        )
    prompt, said = prompter.prompt(example), target_of(example, prompter, asked.target)
    content: Any = [{"type": "text", "text": said}] if prompt.pictures else said
    completion = [{"role": "assistant", "content": content}]
    return {"id": example.id, "prompt": _placed(prompt), "completion": completion, **_images(prompt)}


def _verl(example: Example, index: int, prompter: Prompter, asked: Asked) -> dict[str, Any]:  # noqa: ARG001
    family, prompt = example.family, prompter.prompt(example)
    marked = "".join(piece if isinstance(piece, str) else "<image>" for piece in prompt.pieces)
    split, part = str(example.meta.get("split", "")), str(example.meta.get("part", ""))
    return {
        "data_source": f"recombine/{family.NAME}",
        "prompt": [{"role": "user", "content": marked}],
        "ability": family.SPLITS[split].axis if split in family.SPLITS else "composition",
        "reward_model": {"style": "rule", "ground_truth": prompter.words.answer(example)},
        "extra_info": {"id": example.id, "index": index, "split": part},
        **_images(prompt),
    }


def _skyrl(example: Example, index: int, prompter: Prompter, asked: Asked) -> dict[str, Any]:
    if asked.sight != "text":
        raise UsageError("SkyRL's text environments have no pictures; leave out --image.")
    row = _verl(example, index, prompter, asked)
    extras = {"id": example.id, "answer": row["reward_model"]["ground_truth"]}
    return {"data_source": row["data_source"], "prompt": row["prompt"], "env_class": "recombine", "extras": extras}


def _nemo_gym(example: Example, index: int, prompter: Prompter, asked: Asked) -> dict[str, Any]:  # noqa: ARG001
    content: list[dict[str, Any]] = []
    for piece in prompter.prompt(example).pieces:
        if isinstance(piece, str):
            content.append({"type": "input_text", "text": piece})
        else:
            url = "data:image/png;base64," + base64.b64encode(piece).decode()
            content.append({"type": "input_image", "image_url": url, "detail": "auto"})
    said: Any = content if len(content) > 1 else content[0]["text"]
    return {
        "responses_create_params": {"input": [{"role": "user", "content": said}]},
        "id": example.id,
        "answer": prompter.words.answer(example),
    }


def _openai_batch(example: Example, index: int, prompter: Prompter, asked: Asked) -> dict[str, Any]:  # noqa: ARG001
    body = {"model": asked.model, "messages": chat_messages(prompter.prompt(example))}
    return {"custom_id": example.id, "method": "POST", "url": "/v1/chat/completions", "body": body}


def _inspect(example: Example, index: int, prompter: Prompter, asked: Asked) -> dict[str, Any]:  # noqa: ARG001
    content: list[dict[str, Any]] = []
    for piece in prompter.prompt(example).pieces:
        if isinstance(piece, str):
            content.append({"type": "text", "text": piece})
        else:
            content.append({"type": "image", "image": "data:image/png;base64," + base64.b64encode(piece).decode()})
    said: Any = content if len(content) > 1 else content[0]["text"]
    meta = {"cluster": cluster_of(example), **dials_of(example)}
    message = [{"role": "user", "content": said}]
    return {"id": example.id, "input": message, "target": prompter.words.answer(example), "metadata": meta}


def reasoning_row(example: Example, index: int, prompter: Prompter) -> dict[str, Any]:
    """A row as reasoning-gym has it: question, answer, metadata."""
    meta = {
        "source_dataset": f"recombine_{example.family.NAME}",
        "source_index": index,
        "id": example.id,
        "difficulty": dials_of(example),
    }
    return {"question": prompter.prompt(example).text, "answer": prompter.words.answer(example), "metadata": meta}


def _reasoning_gym(example: Example, index: int, prompter: Prompter, asked: Asked) -> dict[str, Any]:
    if asked.sight != "text":
        raise UsageError("reasoning-gym has no pictures; leave out --image.")
    return reasoning_row(example, index, prompter)


Maker = Callable[[Example, int, Prompter, Asked], dict[str, Any]]
LAYOUTS: Mapping[str, tuple[str, Maker]] = {
    "trl": ("parquet", _trl),
    "sft": ("parquet", _sft),
    "verl": ("parquet", _verl),
    "skyrl": ("parquet", _skyrl),
    "nemo-gym": ("jsonl", _nemo_gym),
    "openai-batch": ("jsonl", _openai_batch),
    "inspect": ("jsonl", _inspect),
    "reasoning-gym": ("jsonl", _reasoning_gym),
}
"""Stack -> the format of its files, and what makes a row."""


def export(source: str | Path, stack: str, out: str | Path, asked: Asked | None = None, size: int | None = None) -> list[Path]:
    """Write the rows of a folder in a stack's layout, one file per part; gives the files. `size` takes the first rows only."""
    from recombine.data.datasets import load
    from recombine.data.folders import open_folder

    asked = asked or Asked()
    if stack not in LAYOUTS:
        raise UnknownName("stack", stack, LAYOUTS)
    if asked.target not in TARGETS:
        raise UnknownName("target", asked.target, TARGETS)
    if stack == "openai-batch" and not asked.model:
        raise UsageError("an OpenAI batch file names its model: add --model NAME.")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
        raise BadOption(f"size is {shown(size)}, but must be a positive integer.")
    folder = open_folder(source)
    prompter = Prompter(folder.family, asked.style, asked.sight)
    kind, maker = LAYOUTS[stack]
    first = load(source, folder.plan.parts[0].job.split, folder.plan.parts[0].job.part)[0]
    maker(first, 0, prompter, asked)  # what cannot be exported is an error before anything is written
    target = own_folder(out, Kind("an export of `recombine export`", _is_export))
    record = {
        "for": stack, "family": folder.family.NAME, "style": asked.style, "sight": asked.sight, "target": asked.target,
        "prompts": prompter.hash,
    }  # fmt: skip
    write_json(target / RECORD, {**record, "files": []})  # an interrupted export knows its folder again
    written = []
    for part in folder.plan.parts:
        rows = load(source, part.job.split, part.job.part)
        most = len(rows) if size is None else min(size, len(rows))
        file = target / part.job.split / f"{part.job.part}.{kind}"
        file.parent.mkdir(parents=True, exist_ok=True)
        _write(file, kind, _made(iter(rows), most, stack, prompter, asked))
        written.append(file)
    write_json(target / RECORD, {**record, "files": [str(file.relative_to(target)) for file in written]})
    return written


def _made(rows: Iterator[Example], most: int, stack: str, prompter: Prompter, asked: Asked) -> Iterator[dict[str, Any]]:
    _, maker = LAYOUTS[stack]
    for index, example in zip(range(most), rows, strict=False):
        yield maker(example, index, prompter, asked)


def _write(file: Path, kind: str, rows: Iterator[dict[str, Any]]) -> None:
    with writing(file) as out:
        if kind == "parquet":
            from recombine.data.formats import write_records

            write_records(rows, out, ROWS_AT_ONCE)
            return
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def _is_export(folder: Path) -> bool:
    return holds(folder / RECORD, lambda value: isinstance(value, dict) and value.get("for") in LAYOUTS)
