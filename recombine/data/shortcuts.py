"""The accuracy of each shortcut reader, and of always giving the most common answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from recombine.core import Example


@dataclass(frozen=True)
class ShortcutScore:
    """A reader's record: in how many examples it has an answer, and in how many that answer is right."""

    name: str
    reader: str
    answered: int
    right: int
    examples: int

    @property
    def accuracy(self) -> float:
        """Right answers among all examples."""
        return self.right / self.examples if self.examples else 0.0


def shortcut_scores(examples: Iterable[Example]) -> list[ShortcutScore]:
    """Every shortcut reader on these examples, the most successful first; `commonest_answer` always gives that."""
    tally: dict[str, list[int]] = {}
    readers: dict[str, str] = {}
    seen = list(examples)
    answers = Counter(example.answer for example in seen if example.answer)
    commonest = answers.most_common(1)[0][0] if answers else None
    commonly_right = 0
    for example in seen:
        is_right = {example.answer: True}  # many readers give the same answer: each is judged once
        for shortcut in example.explain().shortcuts:
            readers[shortcut.name] = shortcut.reader
            counts = tally.setdefault(shortcut.name, [0, 0])
            if shortcut.answer is not None:
                counts[0] += 1
                counts[1] += _is_right(example, shortcut.answer, is_right)
        if commonest is not None:
            commonly_right += _is_right(example, commonest, is_right)
    scores = [ShortcutScore(name, readers[name], answered, right, len(seen)) for name, (answered, right) in tally.items()]
    if commonest is not None:
        words = "always gives the commonest answer"
        scores.append(ShortcutScore("commonest_answer", words, len(seen), commonly_right, len(seen)))
    return sorted(scores, key=lambda score: (-score.right, score.name))


def _is_right(example: Example, answer: str, known: dict[str, bool]) -> bool:
    """Whether the answer is right; each answer to an example is judged once."""
    if answer not in known:
        known[answer] = example.score(answer).value == 1.0
    return known[answer]
