"""Scores over matched pairs: whether a run reads a facet, and whether it ignores changes that must not matter.

`consistency`: the share of pairs with both answers right. `sensitivity`: of the sensitivity pairs, the share whose two answers differ. `invariance`:
of the invariance pairs, the share whose two answers are the same. Intervals are over pairs: a pair is one unit, and pairs of one context are a
cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recombine.charts import bars
from recombine.core import Example
from recombine.errors import UsageError
from recombine.evaluate.answers import Answer
from recombine.evaluate.rows import cluster_of
from recombine.evaluate.scoring import LONGEST_ANSWER
from recombine.evaluate.statistics import Interval, interval
from recombine.pages import page, table
from recombine.pairs import Pair


@dataclass(frozen=True)
class FacetScore:
    """One run's figures for one facet."""

    run: str
    facet: str
    kind: str
    pairs: int
    both_right: int
    only_first: int
    only_second: int
    neither: int
    unchanged: int
    consistency: Interval
    follows: Interval
    """Sensitivity or invariance, by the kind of the pairs."""

    @property
    def row(self) -> tuple[str, ...]:
        """The figures as a row of a table."""
        counts = (self.pairs, self.both_right, self.only_first, self.only_second, self.neither, self.unchanged)
        return (self.run, self.facet, self.kind, *(f"{n:,}" for n in counts), self.consistency.text, self.follows.text)


HEADER = (
    "run", "facet", "kind", "pairs", "both right", "only first", "only second", "neither", "answer unchanged", "consistency",
    "sensitivity or invariance",
)  # fmt: skip


def score_pairs(pairs: Sequence[Pair], answers: Mapping[str, Mapping[str, Answer]], missing: str = "error") -> list[FacetScore]:
    """The figures of every run and facet.

    Rows without an answer are an error, count as `wrong`, or their pairs are left out (`skip`).
    """
    found = []
    known = {name for pair in pairs for name, _ in pair.members()}
    for run, given in answers.items():
        strange = sorted(set(given) - known)
        if strange:
            raise UsageError(f"{run} answers {len(strange):,} ids that are in no pair, the first is {strange[0]!r}.")
        absent = len(known) - len(given)
        if absent and missing not in ("wrong", "skip"):
            raise UsageError(
                f"{run} leaves {absent:,} of {len(known):,} rows unanswered. Say --missing wrong to count them as wrong, or "
                "--missing skip to leave out their pairs."
            )
        own = pairs if missing != "skip" else [pair for pair in pairs if all(name in given for name, _ in pair.members())]
        if not own:
            raise UsageError(f"{run} answers both rows of no pair.")
        for facet in dict.fromkeys(pair.facet for pair in own):
            found.append(_score(run, [pair for pair in own if pair.facet == facet], given))
    return found


def _score(run: str, pairs: Sequence[Pair], given: Mapping[str, Answer]) -> FacetScore:
    kind = pairs[0].kind
    rights, same, follows, clusters = [], [], [], []
    for pair in pairs:
        said = [_said(given.get(name)) for name, _ in pair.members()]
        rights.append([_is_right(example, answer) for (_, example), answer in zip(pair.members(), said, strict=True)])
        is_same = said[0] is not None and said[0] == said[1]
        same.append(is_same)
        follows.append(float(is_same if kind == "invariance" else None not in said and not is_same))
        clusters.append(cluster_of(pair.first))
    return FacetScore(
        run, pairs[0].facet, kind, len(pairs),
        sum(a and b for a, b in rights), sum(a and not b for a, b in rights), sum(b and not a for a, b in rights),
        sum(not a and not b for a, b in rights), sum(same),
        interval([float(a and b) for a, b in rights], clusters), interval(follows, clusters),
    )  # fmt: skip


def _said(given: Answer | None) -> str | None:
    """The answer in one spelling of blanks; None for a row without an answer."""
    if given is None or given.answer is None or given.status is not None or len(given.answer) > LONGEST_ANSWER:
        return None
    return " ".join(given.answer.split())


def _is_right(example: Example, answer: str | None) -> bool:
    return answer is not None and example.score(answer).value >= 1.0


def pairs_page(scores: Sequence[FacetScore]) -> str:
    """A self-contained page: the table, and a chart of consistency by facet and run."""
    charts = []
    for run in dict.fromkeys(score.run for score in scores):
        own = [score for score in scores if score.run == run]
        charts.append(
            bars(f"{run}: both right, %", {f"{score.facet} ({score.kind})": 100 * score.consistency.mean for score in own})
        )
    return page("Matched pairs", "<h1>Matched pairs</h1>" + table(HEADER, [score.row for score in scores]) + "".join(charts))


def findings(scores: Sequence[FacetScore]) -> list[dict[str, object]]:
    """The figures, ready for JSON."""
    return [{**vars(score), "consistency": vars(score.consistency), "follows": vars(score.follows)} for score in scores]
