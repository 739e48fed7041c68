"""The scene machine: reads a statement into programs, weighs them, and acts by search so that the likeliest readings hold.

Built in. Colours, shapes and numbers are interchangeable values (slots); statements that are said alike have programs that are built
alike; what programs mean, and the search for edits, are the family's own.
Learnt, supervised by statement-program pairs: which programs there are, what a change of words does to a program, which words join
two statements and how their programs are joined, and how far to trust each candidate (a linear model over what was changed and over pairs of a word and a program token).
`scene_machine_labels.py` learns the same machine from statements and labelled scenes, without programs.
Answers read the statement and the scene, never the program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
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
from recombine.models.scene_machine_frames import Frame, Words, joined
from recombine.models.scene_machine_text import Tokens, filled, known_words, slotted, words_of
from recombine.schemas import anything, check, listing, mapping, record, text

if TYPE_CHECKING:
    from recombine.core import Example

Floats = NDArray[np.float32]
FILE = "machine.npz"
BUCKETS = 1 << 16
CERTAIN = 0.98
"""The probability of the program of a statement that training has word for word."""
MOST_PARTS = 3
"""Statements that one statement may join."""
MOST_JOINED, MOST_WHOLE = 2, 4
"""Readings of each part that are joined, and joined readings that are kept."""
MOST_LINES = 40
"""Changes, and frames, that `lines` shows."""
LEAST_WEIGHT = 0.01
"""Readings below this share of the whole weight are left out."""


@dataclass(frozen=True)
class SceneMachineConfig:
    """`neighbours`: known statements that are compared; `epochs` over the candidates of every training statement, with Adagrad at `rate`.

    `labels`: learn from this many labelled scenes a statement instead of its program; the programs of training, unpaired, propose readings (0: programs).
    """

    neighbours: int = 24
    epochs: int = 6
    rate: float = 0.1
    labels: int = 0


class SceneMachine:
    """Known statements with their programs, changes learnt from pairs of them, and a judge of candidates."""

    NAME: ClassVar[str] = "scene-machine"
    Config: ClassVar[type[SceneMachineConfig]] = SceneMachineConfig
    BUILT_IN: ClassVar[tuple[str, ...]] = (
        "colours, shapes and numbers are interchangeable values; number words",
        "like statements have like programs; what programs mean; the search for edits",
        "supervised by statement-program pairs, not by rewards; with labels = N by N labelled scenes a statement and a pool of unpaired programs",
    )
    LEARNT: ClassVar[tuple[str, ...]] = (
        "the programs of statements, and what each change of words does to a program",
        "which words join two statements, and by which program token",
        "how far to trust each candidate",
    )

    def __init__(
        self, config: SceneMachineConfig, known: Sequence[str], templates: Sequence[Template], weights: Floats
    ) -> None:
        self.config, self.known, self.templates, self.weights = config, frozenset(known), tuple(templates), weights
        self.frames: Mapping[Words, Sequence[Frame]] = {}
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
        return {words: sorted(own, key=lambda one: -one.seen) for words, own in found.items()}

    @cached_property
    def index(self) -> Index:
        """The nearest statements."""
        return Index(self.statements)

    @cached_property
    def changes(self) -> Changes:
        """What pairs of known statements teach."""
        programs = [self.by_statement[words][0].program for words in self.statements]
        return learn_changes(self.statements, programs, self.index, self.config.neighbours)

    def set_frames(self, frames: Sequence[Frame]) -> None:
        """Use these frames."""
        found: dict[Words, list[Frame]] = {}
        for frame in frames:
            found.setdefault(frame.words, []).append(frame)
        self.frames = found

    def words(self, statement: str) -> Tokens:
        """A statement's words, misspelt ones mended."""
        return tuple(known_words(words_of(statement), self.known))

    def known_program(self, family: Programmed, words: Tokens) -> str:
        """The program of a statement that training has, up to its values; empty for other words."""
        said = slotted(words, family.VALUE_WORDS)
        own = self.by_statement.get(said.tokens)
        return filled(own[0].program, said.values, family.VALUE_WORDS) if own else ""

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
        return self._by_meaning(family, kind, self._weighed(family, self.words(statement), MOST_PARTS))

    def _weighed(self, family: Programmed, words: Tokens, parts: int) -> dict[str, float]:
        """The probability of each candidate program; a statement may be read as up to `parts` joined statements."""
        said = slotted(words, family.VALUE_WORDS)
        own = self.by_statement.get(said.tokens, [])
        if own:
            whole = sum(template.seen for template in own)
            shares = [(filled(one.program, said.values, family.VALUE_WORDS), one.seen / whole) for one in own]
            return {program: CERTAIN * share for program, share in shares if program}
        joint = self._joined(family, words, parts) if parts > 1 else {}
        rest = 1.0 - max(joint.values(), default=0.0)
        weighed: dict[str, float] = defaultdict(float, joint)
        for candidate in self.candidates(said.tokens):
            program = filled(candidate.program, said.values, family.VALUE_WORDS)
            if program:
                score = float(self.weights[self.features(said.tokens, candidate)].sum())
                weighed[program] = max(weighed[program], rest / (1.0 + float(np.exp(-np.clip(score, -30, 30)))))
        return weighed

    def _joined(self, family: Programmed, words: Tokens, parts: int) -> dict[str, float]:
        """The likeliest programs of the statement read as two joined statements."""
        found: dict[str, float] = {}
        for frame, first, second in joined(words, self.frames):
            sides = [self._weighed(family, side, parts - 1) for side in (first, second)]
            best = [sorted(side.items(), key=lambda item: (-item[1], item[0]))[:MOST_JOINED] for side in sides]
            for (a, p), (b, q) in product(*best):
                made = f"( {a} ) {frame.joint} ( {b} )"
                found[made] = max(found.get(made, 0.0), p * q * frame.right / (frame.tried + 1))
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:MOST_WHOLE])

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
            "frames": sum(map(len, self.frames.values())),
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
        joints = [
            (
                " ".join([*frame.words.before, "A", *frame.words.between, "B", *frame.words.after]),
                "–",
                f"A {frame.joint} B",
                str(frame.right),
            )
            for frames in self.frames.values()
            for frame in frames
        ]
        return [line for kind in (rows, joints) for line in sorted(kind, key=lambda row: (-int(row[3]), row))[:MOST_LINES]]

    def save(self, folder: Path) -> None:
        """Write the machine's file into its run's folder."""
        header = {
            "machine": self.NAME, "config": asdict(self.config), "known": sorted(self.known),
            "templates": [[" ".join(one.words), " ".join(one.program), one.seen] for one in self.templates],
            "frames": [[*(" ".join(words) for words in one.words), *one[1:]] for own in self.frames.values() for one in own],
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
            frames = [
                Frame(Words(*(tuple(words.split()) for words in row[:3])), str(row[3]), int(row[4]), int(row[5]))
                for row in header["frames"]
            ]
        except (TypeError, ValueError, AttributeError, LookupError) as problem:
            raise FileError(f"{shown(str(path))} is no scene machine: {str(problem)[:200]}.") from None
        machine = cls(config, header["known"], templates, arrays["weights"].astype(np.float32))
        machine.set_frames(frames)
        return machine


SHAPE = record(
    {
        "machine": text(100, "scene-machine"),
        "config": mapping(anything),
        "known": listing(text(200)),
        "templates": listing(anything, 1),
        "frames": listing(anything),
    }
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


__all__ = ["BUCKETS", "SceneMachine", "SceneMachineConfig", "programmed"]
