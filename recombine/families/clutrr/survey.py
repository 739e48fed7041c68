"""Figures about a whole file: how much of it is false, ambiguous or shorter than it says, and what shallow readers score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recombine.core import Example
from recombine.families.clutrr.kinship import RELATIONS
from recombine.families.clutrr.oracle import validate
from recombine.families.clutrr.plan import Plan

_ARTIFACTS = ("ambiguous", "shorter_path", "returning_path", "missing_noise_types")


def survey(examples: Sequence[Example]) -> Mapping[str, Any]:
    """Soundness of the rows, their lengths and labels, and the share that shallow readers of this very file get right."""
    codes = [{problem.code for problem in validate(example)} for example in examples]
    rows = len(examples)
    judged = sum(example.world is not None for example in examples)
    soundness: dict[str, Any] = {
        "rows": rows,
        "wrong label": sum("wrong_label" in found for found in codes),
        "rows with a known family": judged,
        "false (states or asks what is not true)": sum(bool(found & {"false_fact", "false_target"}) for found in codes),
        "false fact": sum("false_fact" in found for found in codes),
        "false target": sum("false_target" in found for found in codes),
    }
    soundness |= {code.replace("_", " "): sum(code in found for found in codes) for code in _ARTIFACTS}
    return {
        "soundness": soundness,
        "k": dict(sorted(Counter(int(example.meta["k"]) for example in examples).items())),
        "noise": dict(sorted(Counter(str(example.meta["noise"]) for example in examples).items())),
        "clauses": len({str(example.meta["clause"]) for example in examples}),
        "labels": len({example.answer for example in examples}),
        "shallow readers": probe(examples, examples),
    }


def _last(plan: Plan) -> tuple[int, ...]:
    return (plan.path[-1].relation,)


def _ends(plan: Plan) -> tuple[int, ...]:
    return plan.path[0].relation, plan.path[-1].relation


def _nothing(_: Plan) -> tuple[int, ...]:
    return ()


PROBES: Mapping[str, Callable[[Plan], tuple[int, ...]]] = {
    "majority": _nothing,
    "last fact": _last,
    "first and last fact": _ends,
}
"""Shallow reader -> what of the path it sees."""


def probe(train: Sequence[Example], test: Sequence[Example]) -> dict[str, float]:
    """The accuracy of shallow readers that learn by heart on `train`, on `test`; `chance` is one over the labels in `train`,
    `chance given gender` one over the labels that the second person's gender leaves.
    """
    found: dict[str, float] = {}
    for name, view in PROBES.items():
        seen: dict[tuple[int, ...], Counter[str]] = {}
        for example in train:
            seen.setdefault(view(example.plan), Counter())[example.answer] += 1
        best = {key: min(counts, key=lambda label: (-counts[label], RELATIONS.index(label))) for key, counts in seen.items()}
        found[name] = sum(best.get(view(example.plan)) == example.answer for example in test) / max(1, len(test))
    labels = {example.answer for example in train}
    women = sum(RELATIONS.index(label) % 2 for label in labels)
    found["chance"] = 1 / max(1, len(labels))
    found["chance given gender"] = 2 / max(1, len(labels)) if 0 < women < len(labels) else found["chance"]
    return found
