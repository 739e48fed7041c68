"""The scene machine: reads a statement into programs, weighs them, and acts by search so that the likeliest readings hold.

Built in. Colours, shapes and numbers are interchangeable values (slots); statements that are said alike have programs that are built
alike; what programs mean, and the search for edits, are the family's own.
Learnt, supervised by statement-program pairs: which programs there are, what a change of words does to a program, which words are
misspelt, and how far to trust each candidate (a linear model over what was changed and over pairs of a word and a program token).
Answers read the statement and the scene, never the program.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.abilities import Programmed
from recombine.errors import FileError, UsageError, shown
from recombine.files import inside
from recombine.models.arrays import read_arrays, write_arrays
from recombine.models.scene_machine_edits import Candidate, Changes, Index, Template, candidates, learn_changes
from recombine.models.scene_machine_text import Slotted, Tokens, filled, known_words, slotted, words_of
from recombine.schemas import anything, check, listing, mapping, record, text

if TYPE_CHECKING:
    from recombine.core import Example

Floats = NDArray[np.float32]
FILE = "machine.npz"
BUCKETS = 1 << 16
CERTAIN = 0.98
"""The probability of the program of a statement that training has word for word."""
LEAST_WEIGHT = 0.01
"""Readings below this share of the whole weight are left out."""


@dataclass(frozen=True)
class SceneMachineConfig:
    """`neighbours`: known statements that are compared; `epochs` over the candidates of every training statement, with Adagrad at `rate`."""

    neighbours: int = 24
    epochs: int = 6
    rate: float = 0.1


class SceneMachine:
    """Known statements with their programs, changes learnt from pairs of them, and a judge of candidates."""

    NAME: ClassVar[str] = "scene-machine"
    Config: ClassVar[type[SceneMachineConfig]] = SceneMachineConfig
    BUILT_IN: ClassVar[tuple[str, ...]] = (
        "colours, shapes and numbers are interchangeable values; number words",
        "like statements have like programs; what programs mean; the search for edits",
        "supervised by statement-program pairs, not by scenes and labels or rewards",
    )
    LEARNT: ClassVar[tuple[str, ...]] = (
        "the programs of statements, and what each change of words does to a program",
        "how far to trust each candidate",
    )

    def __init__(self, config: SceneMachineConfig, known: Sequence[str], templates: Sequence[Template], weights: Floats) -> None:
        self.config, self.known, self.templates, self.weights = config, frozenset(known), tuple(templates), weights
        self.remembered: dict[str, int] = {}

    @cached_property
    def statements(self) -> tuple[Tokens, ...]:
        """The distinct known statements, in the order of the templates."""
        return tuple(dict.fromkeys(template.words for template in self.templates))

    @cached_property
    def by_statement(self) -> Mapping[Tokens, list[Template]]:
        """The templates of each statement, the commonest program first."""
        found: dict[Tokens, list[Template]] = {}
        for template in self.templates:
            found.setdefault(template.words, []).append(template)
        return {words: sorted(own, key=lambda one: -one.count) for words, own in found.items()}

    @cached_property
    def index(self) -> Index:
        """The nearest statements."""
        return Index(self.statements)

    @cached_property
    def changes(self) -> Changes:
        """What pairs of known statements teach."""
        programs = [self.by_statement[words][0].program for words in self.statements]
        return learn_changes(self.statements, programs, self.index, self.config.neighbours)

    def slotted(self, family: Programmed, statement: str) -> Slotted:
        """A statement's words with slots, misspelt words mended."""
        return slotted(known_words(words_of(statement), self.known), family.VALUE_WORDS)

    def candidates(self, words: Tokens, without: int | None = None) -> list[Candidate]:
        """What the nearest statements suggest; `without` leaves one statement, and all that only it teaches, out."""
        found = []
        for number, cosine in self.index.nearest(words, self.config.neighbours + 1):
            if number != without:
                for template in self.by_statement[self.statements[number]]:
                    found += candidates(words, template, number, cosine, self.changes, without)
        return found

    def features(self, words: Tokens, candidate: Candidate) -> list[int]:
        """The numbers of a candidate's features."""
        names = [f"cosine {int(candidate.cosine * 20)}", f"unread {len(candidate.unread)}", f"applied {len(candidate.support)}"]
        names += [f"support {min(n, 6)} of {round(10 * n / all_)}" for n, all_ in candidate.support]
        tokens = sorted({token for token in candidate.program if token[0].isalpha() or token[0] in "<>=" or "@" in token})
        for old, new in candidate.unread:
            names += [f"- {word}" for word in old] + [f"+ {word}" for word in new]
            names += [f"+ {word} {token}" for word in new for token in tokens]
            names += [f"- {word} {token}" for word in old for token in tokens]
        slots = {word for word in words if word[0] == "@"}
        used = {token[token.index("@") :].removesuffix("+1").removesuffix("-1") for token in candidate.program if "@" in token}
        names += [f"not said {len(used - slots)}", f"not used {len(slots - used)}"]
        names += [f"{word} {token}" for word in sorted(set(words)) for token in tokens]
        return [self._bucket(name) for name in names]

    def _bucket(self, name: str) -> int:
        if name not in self.remembered:
            self.remembered[name] = keys.state("scene machine", name) % BUCKETS
        return self.remembered[name]

    def readings(self, family: Programmed, kind: str, statement: str) -> list[tuple[str, float]]:
        """Programs with their weights, one for each meaning, the heaviest first."""
        said = self.slotted(family, statement)
        weighed: dict[str, float] = defaultdict(float)
        for candidate in self.candidates(said.tokens):
            program = filled(candidate.program, said.values, family.VALUE_WORDS)
            if program:
                score = float(self.weights[self.features(said.tokens, candidate)].sum())
                weighed[program] = max(weighed[program], 1.0 / (1.0 + np.exp(-np.clip(score, -30, 30))))
        own = self.by_statement.get(said.tokens, [])
        for template in own:
            program = filled(template.program, said.values, family.VALUE_WORDS)
            weighed[program] += len(weighed) * CERTAIN * template.count / sum(one.count for one in own)
        return self._by_meaning(family, kind, weighed)

    @staticmethod
    def _by_meaning(family: Programmed, kind: str, weighed: Mapping[str, float]) -> list[tuple[str, float]]:
        texts = sorted(weighed, key=lambda one: (-weighed[one], one))
        groups: dict[bytes, tuple[str, float]] = {}
        for program, meaning in zip(texts, family.meanings(kind, texts), strict=True):
            if meaning:
                first, weight = groups.get(meaning, (program, 0.0))
                groups[meaning] = first, weight + weighed[program]
        ranked = sorted(groups.values(), key=lambda item: -item[1])
        whole = sum(weight for _, weight in ranked)
        return [(program, weight / whole) for program, weight in ranked if weight >= LEAST_WEIGHT * whole]

    def answer(self, example: Example) -> str:
        """Edits (or true, false) that suit the readings of most weight."""
        family = programmed(example)
        found = self.readings(family, str(example.inputs["scene"]), str(example.inputs["statement"]))
        return family.enact(example, found)

    def answers(self, examples: Sequence[Example]) -> list[str]:
        """The answer to each example, in order; reads inputs only."""
        return [self.answer(example) for example in examples]

    def sizes(self) -> dict[str, int]:
        """Known statements with programs, changes of words, and parameters of the judge that are not zero."""
        return {
            "templates": len(self.templates),
            "changes": len(self.changes),
            "parameters": int(np.count_nonzero(self.weights)),
        }

    def lines(self) -> list[tuple[str, ...]]:
        """The changes of words that most pairs show: the old words, the new words, what becomes of the program, how many pairs show it."""
        rows = [
            (" ".join(old) or "–", " ".join(new) or "–", _told(edit), str(len(pairs)))
            for (old, new), edits in self.changes.items()
            for edit, pairs in edits.items()
            if old <= new
        ]
        return sorted(rows, key=lambda row: (-int(row[3]), row))[:60]

    def save(self, folder: Path) -> None:
        """Write the machine's file into its run's folder."""
        header = {
            "machine": self.NAME, "config": asdict(self.config), "known": sorted(self.known),
            "templates": [[" ".join(one.words), " ".join(one.program), one.count] for one in self.templates],
        }  # fmt: skip
        write_arrays(folder / FILE, header, {"weights": self.weights})

    @classmethod
    def load(cls, folder: Path) -> SceneMachine:
        """The machine of a run's folder; a damaged file is an error that names it."""
        path = inside(folder, FILE)
        header, arrays = read_arrays(path)
        check(header, SHAPE, shown(str(path)))
        if "weights" not in arrays or arrays["weights"].shape != (BUCKETS,):
            raise FileError(f"{shown(str(path))} is no scene machine: weights must have the shape ({BUCKETS},).")
        try:
            config = SceneMachineConfig(**header["config"])
            templates = [Template(tuple(a.split()), tuple(b.split()), int(n)) for a, b, n in header["templates"]]
        except (TypeError, ValueError, AttributeError) as problem:
            raise FileError(f"{shown(str(path))} is no scene machine: {str(problem)[:200]}.") from None
        return cls(config, header["known"], templates, arrays["weights"].astype(np.float32))


SHAPE = record(
    {"machine": text(100, "scene-machine"), "config": mapping(anything), "known": listing(text(200)), "templates": listing(anything, 1)}
)
"""What the header of a scene machine's file holds."""


def _told(edit: Any) -> str:
    return "; ".join(f"{' '.join(old) or '–'} → {' '.join(new) or '–'}" for old, new in edit) or "nothing"


def programmed(example: Example) -> Programmed:
    """The example's family, if its statements have programs."""
    family = example.family
    if not isinstance(family, Programmed) or "statement" not in example.inputs:
        raise UsageError(f"the scene machine reads statements about scenes (lilgym); {shown(example.id)} has none.")
    return family


__all__ = ["BUCKETS", "SceneMachine", "SceneMachineConfig", "json", "programmed"]
