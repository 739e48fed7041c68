"""A family outside the package: say a list of colours backwards. One file, found by its entry point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, TextIO

from recombine import keys
from recombine.checks import claim_problems
from recombine.core import (
    Batch,
    Claim,
    ColumnType,
    Example,
    Explanation,
    Family,
    Job,
    Medium,
    Option,
    Part,
    Problem,
    Recipe,
    Score,
    Shortcut,
    Split,
)
from recombine.files import read_lines

WORDS = ("red", "green", "blue", "pink", "grey", "black", "white", "brown")
LENGTHS = {"train": (8, 10), "validation": (8, 10), "test": (11, 13)}


def _parts() -> dict[str, Part]:
    return {name: Part(name, f"{low} to {high} words.", 200) for name, (low, high) in LENGTHS.items()}


SPLITS: dict[str, Split] = {"length": Split("length", "Trained on up to ten words, tested on more.", _parts(), axis="length")}


def _share(words: str) -> str:
    """Short lists are divided between train and validation by their words alone."""
    return "validation" if keys.state("reversal", words) % 10 == 0 else "train"


def _length_claim(example: Example, part: str) -> str:
    count = len(example.answer.split())
    if (count > 10) != (part == "test"):
        return f"it has {count} words"
    return "" if part == "test" or _share(str(example.inputs["words"])) == part else "its words belong to the other part"


CLAIMS: dict[str, Claim] = {"length": _length_claim}


def _task(_family: str) -> str:
    return "Say the words in reverse order, separated by blanks."


PROMPTS: Any = SimpleNamespace(
    task=_task,
    rules=_task,
    question=lambda example, _sight: f"Words: {example.inputs['words']}",
    answer=lambda example: example.answer,
    steps=lambda example: (f"The last word is {example.answer.split()[0]}.",),
    picture=lambda _example: None,
    legend=lambda _family: "",
)


@dataclass(frozen=True)
class Reversal:
    """The family."""

    NAME: ClassVar[str] = "reversal"
    TITLE: ClassVar[str] = "Reversal: a list of colours, backwards"
    CITATION: ClassVar[str] = "@misc{reversal}"
    RECIPES: ClassVar[Mapping[str, Recipe]] = {"sound": Recipe("sound", "Ours.")}
    SPLITS: ClassVar[Mapping[str, Split]] = SPLITS
    CLAIMS: ClassVar[Mapping[str, Claim]] = CLAIMS
    OPTIONS: ClassVar[Mapping[str, Option]] = {}
    SCHEMA: ClassVar[Mapping[str, ColumnType]] = {"words": "string", "answer": "string", "count": "int32"}
    CLUSTER: ClassVar[str] = "count"
    DIALS: ClassVar[tuple[str, ...]] = ("count",)
    MEDIA: ClassVar[tuple[Medium, ...]] = ("text",)
    NATIVE_NAME: ClassVar[str] = "{part}.txt"
    prompts: ClassVar[Any] = PROMPTS

    def stream(self, job: Job, index: int) -> keys.Stream:
        """The random draws of one item."""
        return keys.Stream.at(keys.item_state(job.base(), index))

    def generate(self, job: Job) -> Batch:
        """Lists of words, drawn until one belongs to the part."""
        low, high = LENGTHS[job.part]
        lists = []
        for index in range(job.start, job.stop):
            stream = self.stream(job, index)
            while True:
                words = " ".join(stream.choice(WORDS) for _ in range(low + stream.below(high - low + 1)))
                if job.part == "test" or _share(words) == job.part:
                    break
            lists.append(words)
        import numpy as np

        answers = [" ".join(reversed(words.split())) for words in lists]
        counts = np.array([len(words.split()) for words in lists], np.int32)
        return Batch(job, job.start, {"words": lists, "answer": answers, "count": counts})

    def example(self, batch: Batch, row: int) -> Example:
        """One row."""
        values, job = batch.row(row), batch.job
        meta = {"recipe": job.recipe, "split": job.split, "part": job.part, "seed": job.seed, "count": values["count"]}
        return Example(self, batch.id(row), {"words": values["words"]}, values["answer"], meta=meta)

    def canonical(self, example: Example) -> bytes:
        """The words."""
        return str(example.inputs["words"]).encode()

    def validate(self, example: Example) -> list[Problem]:
        """The oracle: pop words from a stack."""
        stack, said = str(example.inputs["words"]).split(), []
        while stack:
            said.append(stack.pop())
        found = [] if " ".join(said) == example.answer else [Problem("wrong_label", "it is not the reverse")]
        return [*found, *claim_problems(CLAIMS, example)]

    def explain(self, example: Example) -> Explanation:
        """The steps, and the reader who does not reverse."""
        words = str(example.inputs["words"])
        return Explanation(("Read from the end.",), (Shortcut("forwards", "reads forwards", words),))

    def render(self, example: Example, _medium: Medium) -> str:
        """The words."""
        return str(example.inputs["words"])

    def score(self, example: Example, answer: str) -> Score:
        """Exact match."""
        if answer.split() == example.answer.split():
            return Score(1.0, "right")
        forwards = answer.split() == str(example.inputs["words"]).split()
        return Score(0.0, "wrong", ("forwards",) if forwards else ())

    def read(self, path: Path) -> Iterator[Example | Problem]:
        """One list a line."""
        for number, line in read_lines(path):
            words, _, answer = line.partition("\t")
            meta = {"recipe": "sound", "split": "length", "part": "test", "place": str(number)}
            yield Example(self, f"{path.name}:{number}", {"words": words}, answer, meta=meta)

    def write(self, batches: Iterable[Batch], out: TextIO) -> None:
        """One list a line."""
        for batch in batches:
            for row in range(len(batch)):
                out.write(f"{batch.columns['words'][row]}\t{batch.columns['answer'][row]}\n")


REVERSAL: Family = Reversal()
