"""Builds prompts for language models from the family's texts, in one of a few fixed styles.

A prompt is one user message: the task, perhaps the rules, k examples from the training part, the question, and how to answer.
Everything that depends on the family is asked for through the ability `Asking`.

Examples (`shots`) come from the split's `train` part in an order drawn by name. The same ones stand in every prompt, or each
item draws its own (`fresh`). An example with the asked item's canonical form or question is passed over for the next one drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Literal

from recombine import keys
from recombine.abilities import Asking, Prompts, Sight
from recombine.core import Example, Family
from recombine.errors import UnknownName, UsageError, shown
from recombine.jobs import make_job

Style = Literal["direct", "step_by_step", "rules"]
STYLES: dict[str, str] = {
    "direct": "Reply with one line and nothing else: `Answer: ` and then the answer.",
    "step_by_step": "Think step by step. Then end your reply with one line: `Answer: ` and then the answer alone.",
    "rules": "Follow the rules, step by step if you like. Then end your reply with one line: `Answer: ` and then the answer alone.",
}
"""Style -> the last words of a prompt. `rules` also explains the rules; examples carry worked steps unless the style is `direct`."""
SIGHTS: tuple[Sight, ...] = ("text", "picture", "both")
MAX_SHOTS = 64
SPARE_SHOTS = 8
"""Examples drawn beyond k, to take the place of any that repeats the asked item."""
PICTURE_TOKENS = 1_000
"""Assumed tokens of a picture, until a reply states the real number."""


def guess_tokens(text: str) -> int:
    """About how many tokens a text has: a third of its bytes (English has fewer, action names more)."""
    return -(-len(text.encode()) // 3)


def prompts_of(family: Family) -> Prompts:
    """The words of a family; one without words is an error."""
    if not isinstance(family, Asking):
        raise UsageError(f"{family.NAME} cannot be asked about: it has no prompts.")
    return family.prompts


@dataclass(frozen=True)
class Prompt:
    """One message: texts and PNG pictures in order. `shots` are the ids of the examples in it."""

    id: str
    pieces: tuple[str | bytes, ...]
    question: str
    shots: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The words of the message, with `[picture]` where pictures stand."""
        return "".join(piece if isinstance(piece, str) else "[picture]" for piece in self.pieces)

    @property
    def pictures(self) -> int:
        """How many pictures the message holds."""
        return sum(isinstance(piece, bytes) for piece in self.pieces)

    @property
    def tokens(self) -> int:
        """A guess of the tokens: a third of the bytes of the text, and a fixed number per picture."""
        return guess_tokens(self.text) + PICTURE_TOKENS * self.pictures

    @property
    def most_tokens(self) -> int:
        """More tokens than any common tokenizer makes of it: half the bytes, and twice the guess per picture."""
        return -(-len(self.text.encode()) // 2) + 2 * PICTURE_TOKENS * self.pictures + 16

    @cached_property
    def hash(self) -> str:
        """16 hex digits that stand for the whole message."""
        return keys.digest(*(piece if isinstance(piece, str) else piece.hex() for piece in self.pieces)).hex()[:16]


@dataclass(frozen=True)
class Prompter:
    """Makes the prompt of each example of one part: a pure function of family, style, sight, shots and the training part."""

    family: Family
    style: Style = "direct"
    sight: Sight = "text"
    shots: int = 0
    fresh: bool = False
    train: Sequence[Example] = field(default=(), repr=False)
    seed: int = 0

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise UnknownName("style", self.style, STYLES)
        if self.sight not in SIGHTS:
            raise UnknownName("sight", self.sight, SIGHTS)
        if isinstance(self.shots, bool) or not 0 <= self.shots <= MAX_SHOTS:
            raise UsageError(f"the number of examples is {shown(self.shots)}, but must be 0 to {MAX_SHOTS}.")
        if self.shots > len(self.train):
            raise UsageError(f"{self.shots} examples were asked for, but the training part has {len(self.train)} rows.")

    @cached_property
    def words(self) -> Prompts:
        """The family's words."""
        return prompts_of(self.family)

    @cached_property
    def preamble(self) -> str:
        """The beginning of every prompt: the task, and the rules in the style `rules`."""
        parts = [self.words.task(self.family.NAME)]
        if self.sight != "text":
            parts.append(self.words.legend(self.family.NAME))
        if self.style == "rules":
            parts.append("Rules:\n" + self.words.rules(self.family.NAME))
        return "\n\n".join(parts)

    @cached_property
    def hash(self) -> str:
        """16 hex digits for all that is common to the prompts: words, style, sight, and the examples if they are common.

        The hash covers the wording of questions through one sample: the question about the first row of the family's default part.
        """
        first = self.family.example(self.family.generate(make_job(self.family).rows(0, 1)), 0)
        shots = [] if self.fresh else list(islice(self._common(), self.shots))
        common = [self.words.question(first, self.sight)]
        common += [text for shot in shots for text in (shot.id, self._worked(shot))]
        settings = [self.family.NAME, self.style, self.sight, str(self.shots), str(self.fresh), str(self.seed)]
        return keys.digest(self.preamble, STYLES[self.style], *settings, *common).hex()[:16]

    def prompt(self, example: Example) -> Prompt:
        """The message that asks about this example."""
        shots = self._shots_for(example)
        pieces: list[str | bytes] = [self.preamble + "\n\n"]
        for number, shot in enumerate(shots, 1):
            pieces.append(f"Example {number}:\n")
            pieces += self._seen(shot)
            pieces.append(self._worked(shot) + "\n\n")
        if shots:
            pieces.append("Now the one to answer:\n")
        pieces += [*self._seen(example), STYLES[self.style]]
        question = self.words.question(example, self.sight)
        return Prompt(example.id, _joined(pieces), question, tuple(shot.id for shot in shots))

    def _seen(self, example: Example) -> list[str | bytes]:
        """The question, after the picture where there is one."""
        question = self.words.question(example, self.sight) + "\n\n"
        if self.sight == "text":
            return [question]
        return [self._picture(example), "\n" + question]

    def _picture(self, example: Example) -> bytes:
        """The picture of an example; those of common examples are drawn once."""
        if example.id in self._drawings:
            return self._drawings[example.id]
        picture = self.words.picture(example)
        if picture is None:
            raise UsageError(f"{self.family.NAME} has no pictures; leave out --image.")
        if any(shot is example for shot in self._pool[0]):
            self._drawings[example.id] = picture
        return picture

    @cached_property
    def _drawings(self) -> dict[str, bytes]:
        return {}

    def _worked(self, shot: Example) -> str:
        """The answer of an example, after its steps unless the style is `direct`."""
        answer = f"Answer: {self.words.answer(shot)}"
        if self.style == "direct":
            return answer
        return "\n".join([*(f"{i}. {step}" for i, step in enumerate(self.words.steps(shot), 1)), answer])

    def _shots_for(self, example: Example) -> list[Example]:
        if not self.shots:
            return []
        form, question = self.family.canonical(example), self.words.question(example, "text")
        chosen: list[Example] = []
        for shot in self._drawn(example.id) if self.fresh else self._common():
            is_same = shot.id == example.id or self.words.question(shot, "text") == question
            if not is_same and self.family.canonical(shot) != form:
                chosen.append(shot)
            if len(chosen) == self.shots:
                return chosen
        raise UsageError(f"the training part has too few rows that differ from {example.id} for {self.shots} examples.")

    def _common(self) -> Iterator[Example]:
        """The examples that all prompts share, and their spares; each is fetched once, when it is first needed."""
        fetched, coming = self._pool
        for place in range(self.shots + SPARE_SHOTS):
            if place == len(fetched):
                shot = next(coming, None)
                if shot is None:
                    return
                fetched.append(shot)
            yield fetched[place]

    @cached_property
    def _pool(self) -> tuple[list[Example], Iterator[Example]]:
        return [], self._drawn("")

    def _drawn(self, item: str) -> Iterator[Example]:
        """Training rows in an order drawn by name, each once; common ones are the same for every part and size."""
        stream = keys.Stream("shots", self.family.NAME, self.seed, item)
        wanted, taken = min(len(self.train), self.shots + SPARE_SHOTS), set[int]()
        while len(taken) < wanted:
            row = stream.below(len(self.train))
            if row not in taken:
                taken.add(row)
                yield self.train[row]


def _joined(pieces: Sequence[str | bytes]) -> tuple[str | bytes, ...]:
    """Neighbouring texts as one."""
    joined: list[str | bytes] = []
    for piece in pieces:
        if joined and isinstance(piece, str) and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return tuple(joined)


def chat_messages(prompt: Prompt) -> list[dict[str, Any]]:
    """The prompt as the messages of an OpenAI-compatible chat request; pictures are data URLs."""
    if not prompt.pictures:
        return [{"role": "user", "content": prompt.text}]
    import base64

    content: list[dict[str, Any]] = []
    for piece in prompt.pieces:
        if isinstance(piece, str):
            content.append({"type": "text", "text": piece})
        else:
            url = "data:image/png;base64," + base64.b64encode(piece).decode()
            content.append({"type": "image_url", "image_url": {"url": url}})
    return [{"role": "user", "content": content}]
