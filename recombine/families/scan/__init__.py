"""SCAN and its inverse NACS: commands to actions, and actions back to commands; one family in two directions."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.abilities import Tree
from recombine.core import Batch, Claim, ColumnType, Example, Job, Medium, Option, Problem, Recipe, Score, Split
from recombine.families.scan import facets, generate, native, oracle, pairs, score
from recombine.families.scan.corpus import ambiguity, inverses
from recombine.families.scan.plan import parse_actions
from recombine.families.scan.splits import POOL, SPLITS
from recombine.rooms import FacetRoom, PairRoom, PromptRoom, Rooms

__all__ = ["NACS", "SCAN", "ScanFamily", "ambiguity", "inverses"]

_SCAN_PAPER = """@inproceedings{lake2018generalization,
  title = {Generalization without Systematicity: On the Compositional Skills of Sequence-to-Sequence Recurrent Networks},
  author = {Lake, Brenden M. and Baroni, Marco},
  booktitle = {Proceedings of the 35th International Conference on Machine Learning},
  year = {2018}
}
"""
_NACS_PAPER = """@inproceedings{bastings2018jump,
  title = {Jump to better conclusions: {SCAN} both left and right},
  author = {Bastings, Joost and Baroni, Marco and Weston, Jason and Cho, Kyunghyun and Kiela, Douwe},
  booktitle = {Proceedings of the EMNLP Workshop BlackboxNLP: Analyzing and Interpreting Neural Networks for NLP},
  year = {2018}
}
"""


@dataclass(frozen=True)
class ScanFamily(Rooms, PromptRoom, FacetRoom, PairRoom):
    """Commands to actions (`scan`), or actions to commands (`nacs`): the same rows, read one way or the other.

    For `nacs` any command that means the given actions is right; the answer of an example is only one of them.
    """

    direction: Literal["scan", "nacs"]

    HOME: ClassVar[str] = __name__
    RECIPES: ClassVar[Mapping[str, Recipe]] = {
        "release": Recipe(
            "release", "What was released: rule-based splits as in the official files, sampled ones in their sizes."
        )
    }
    CLAIMS: ClassVar[Mapping[str, Claim]] = oracle.CLAIMS
    OPTIONS: ClassVar[Mapping[str, Option]] = generate.OPTIONS
    CLUSTER: ClassVar[str] = "template"
    DIALS: ClassVar[tuple[str, ...]] = ("action_length", "command_length")
    MEDIA: ClassVar[tuple[Medium, ...]] = ("text", "ascii", "svg")
    NATIVE_NAME: ClassVar[str] = native.NATIVE_NAME

    @property
    def NAME(self) -> str:
        """`scan` or `nacs`."""
        return self.direction

    @property
    def TITLE(self) -> str:
        """One line for people."""
        return "SCAN: commands to actions" if self.direction == "scan" else "NACS: actions back to commands"

    @property
    def CITATION(self) -> str:
        """The paper that introduced this direction."""
        return _SCAN_PAPER if self.direction == "scan" else _NACS_PAPER

    @property
    def SPLITS(self) -> Mapping[str, Split]:
        """The same splits in both directions; what NACS tests with them is inversion."""
        return SPLITS if self.direction == "scan" else _Inverted()

    @property
    def SCHEMA(self) -> Mapping[str, ColumnType]:
        """The input first, then the answer, then what users filter on."""
        pair: tuple[str, str] = ("command", "actions") if self.direction == "scan" else ("actions", "command")
        return {pair[0]: "string", pair[1]: "string", **generate.FEATURES}

    def generate(self, job: Job) -> Batch:
        """Rows [job.start, job.stop) of the part."""
        return generate.generate(job)

    def size(self, job: Job) -> int:
        """How many rows the job's part holds."""
        return generate.size(job)

    @property
    def PAIRS(self) -> Mapping[str, str]:
        """Facet -> kind of matched pair."""
        return pairs.pairs_of(self.NAME)

    def derivation(self, example: Example) -> Tree:
        """How the grammar builds the command."""
        return facets.derivation(example)

    def example(self, batch: Batch, row: int) -> Example:
        """The readable view of one row."""
        return generate.example(self, batch, row)

    def canonical(self, example: Example) -> bytes:
        """The command: a command has one meaning, and no two commands are the same up to symmetry."""
        return generate.texts(example)[0].encode()

    def canonical_batch(self, batch: Batch) -> NDArray[np.uint64]:
        """64 bits of every row's command."""
        commands = batch.columns["command"]
        return np.array([_word(str(commands[row])) for row in range(len(batch))], np.uint64)

    def validate_batch(self, batch: Batch) -> Iterator[tuple[int, Problem]]:
        """The same for a whole batch."""
        return oracle.validate_batch(batch)

    def score(self, example: Example, answer: str) -> Score:
        """Right iff the actions are the command's (`scan`), or the command means the actions (`nacs`)."""
        return score.score_actions(example, answer) if self.direction == "scan" else score.score_command(example, answer)

    def read(self, path: Path) -> Iterator[Example | Problem]:
        """The rows of a released file (`IN: … OUT: …`, or one of a pair of .src and .trg), plain or gzip."""
        for row in native.read_pairs(Path(path)):
            if isinstance(row, Problem):
                yield row
            else:
                place, command, actions = row
                yield generate.pair(self, f"{Path(path).name}:{place}", command, actions, {"recipe": "release", "place": place})

    def survey(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """Figures about a file: rows, distinct commands and meanings, ambiguity, and the official parts that it equals."""
        pairs = [generate.texts(example) for example in examples]
        commands = Counter(command for command, _ in pairs)
        meanings = Counter(parse_actions(actions) or "" for _, actions in set(pairs))
        figures: dict[str, Any] = {
            "rows": len(pairs),
            "distinct_commands": len(commands),
            "distinct_action_sequences": len(meanings),
            "longest_actions": max(map(len, meanings), default=0),
            "equals": oracle.parts_equal_to(commands),
        }
        if self.direction == "nacs":  # exact match with one reference can score no more than this
            figures["sequences_by_number_of_commands"] = dict(sorted(Counter(meanings.values()).items()))
            figures["exact_match_ceiling"] = round(len(meanings) / max(len(commands), 1), 4)
        return figures


@functools.lru_cache(maxsize=1 << 16)
def _word(command: str) -> int:
    return keys.state(command)


class _Inverted(Mapping[str, Split]):
    """The splits of SCAN, asked backwards."""

    def __getitem__(self, name: str) -> Split:
        split = SPLITS[name]
        return split if name == POOL else replace(split, axis="inversion")  # a pool tests nothing

    def __iter__(self) -> Iterator[str]:
        return iter(SPLITS)

    def __len__(self) -> int:
        return len(SPLITS)


SCAN: ScanFamily = ScanFamily("scan")
"""Commands to actions."""
NACS: ScanFamily = ScanFamily("nacs")
"""Actions to commands."""
