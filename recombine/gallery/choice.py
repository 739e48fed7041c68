"""Which examples the gallery shows: a few hundred, spread over families and splits, each proved by the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from recombine.core import Batch, Example, Family, Job
from recombine.families import family
from recombine.families.abstract.generate import sound as abstract_tasks
from recombine.gallery import boxes, grids, words
from recombine.gallery.puzzle import HARDER, Puzzle, is_tempting
from recombine.jobs import make_job

MOST_DRAWS = 6
"""Rows that are tried for each wanted puzzle."""


@dataclass(frozen=True)
class Wanted:
    """A set to choose puzzles from: `rows` puzzles of one part of a split."""

    split: str
    rows: int
    part: str = "test"
    options: Mapping[str, object] = field(default_factory=dict)


PUZZLES: Mapping[str, Callable[[Example], Puzzle | None]] = {
    "reascan": grids.reascan,
    "clutrr": words.clutrr,
    "lilgym": boxes.lilgym,
    "scan": words.scan,
    "abstract": grids.abstract,
    "lexicon": words.lexicon,
    "gscan": grids.gscan,
    "nacs": words.nacs,
}
"""Family -> how its examples become puzzles; in the order of the page."""
_KINSHIP = "test_k{}"
SETS: Mapping[str, Sequence[Wanted]] = {
    "reascan": [
        Wanted("simple", 8),
        *(Wanted(name, 8) for name in ("one_clause", "two_clauses", "three_clauses", "a1", "a2", "b1", "b2", "c1", "c2")),
    ],
    "clutrr": [
        *(Wanted("generalization_23", 5, _KINSHIP.format(k)) for k in (2, 3, 4, 6, 8)),
        Wanted("robust_supporting", 6, "test_supporting"),
        Wanted("robust_irrelevant", 6, "test_irrelevant"),
        Wanted("robust_disconnected", 6, "test_disconnected"),
    ],
    "lilgym": [
        Wanted("random", 3),
        Wanted("color_rank", 1),
        Wanted("quantifier_relation", 1),
        Wanted("depth", 1),
        Wanted("length", 2),
        Wanted("random", 4, options={"scene": "scatter", "task": "truth"}),
    ],
    "scan": [
        Wanted(name, 10)
        for name in ("simple", "addprim_jump", "addprim_turn_left", "template_around_right", "template_right", "length")
    ],
    "abstract": [
        Wanted("random", 4),
        Wanted("color_shape", 1),
        Wanted("operation_relation", 1),
        Wanted("more_objects", 1),
        Wanted("fewer_demonstrations", 1),
    ],
    "lexicon": [Wanted("random", 4), Wanted("longer", 2), Wanted("modifier_verb", 2), Wanted("more_words", 1)],
    "gscan": [
        Wanted(name, 8)
        for name in (
            "compositional",
            "visual",
            "situational_1",
            "situational_2",
            "contextual",
            "adverb_1",
            "adverb_2",
            "target_lengths",
        )
    ],
    "nacs": [Wanted(name, 6) for name in ("simple", "addprim_jump", "template_around_right", "length")],
}
"""What the page holds, by family."""


def rows_of(item: Family, job: Job) -> Batch:
    """These rows, without compiling anything: a gallery needs few, and compiling would take longer."""
    return abstract_tasks(job, compiled=False) if item.NAME == "abstract" else item.generate(job)


def puzzles(name: str, wanted: Wanted, seed: int = 0) -> list[Puzzle]:
    """The puzzles of one set. Those that tempt at least two readers to different answers come before others."""
    item = family(name)
    job = make_job(item, wanted.split, wanted.part, seed=seed, options=wanted.options)
    found: list[Puzzle] = []
    spare: list[Puzzle] = []
    for example in _examples(item, job, wanted.rows):
        puzzle = PUZZLES[name](example) if name in PUZZLES else words.typed(example)
        if puzzle is not None:
            (found if is_tempting(puzzle) else spare).append(puzzle)
        if len(found) == wanted.rows:
            break
    return (found + spare)[: wanted.rows]


def _examples(item: Family, job: Job, rows: int) -> Iterator[Example]:
    """Rows from the start of the part, in small batches; at most `MOST_DRAWS` times as many as wanted."""
    end = min(job.stop, MOST_DRAWS * rows)
    for start in range(0, end, rows):
        batch = rows_of(item, job.rows(start, min(start + rows, end)))
        yield from (item.example(batch, row) for row in range(len(batch)))


def opening_first(found: Sequence[Puzzle]) -> list[Puzzle]:
    """The same puzzles, with one of middling difficulty and a short answer at the front: the first that a visitor sees."""
    first = min(
        found, key=lambda puzzle: (puzzle.kind == "truth", abs(puzzle.level - HARDER), len(puzzle.shown), puzzle.example.id)
    )
    return [first, *(puzzle for puzzle in found if puzzle is not first)]


def prove(found: Sequence[Puzzle]) -> list[str]:
    """Problems that the oracle finds, as `id: problem`; empty if it derived every right answer again."""
    return [
        f"{puzzle.example.id}: {problem.text}"
        for puzzle in found
        for problem in puzzle.example.validate()
        if problem.severity == "error"
    ]
