"""ReaSCAN: commands with relative clauses in a grid world, answered by action sequences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.core import Batch, Example, Job, Problem
from recombine.families.reascan import generate as _generate
from recombine.families.reascan import native, prompts
from recombine.families.reascan.examples import canonical, canonical_batch, example, this_family
from recombine.families.reascan.explain import explain
from recombine.families.reascan.generate import SCHEMA
from recombine.families.reascan.native import NATIVE_NAME, write
from recombine.families.reascan.oracle import validate
from recombine.families.reascan.oracle_batch import validate_batch
from recombine.families.reascan.render import MEDIA, render
from recombine.families.reascan.score import score
from recombine.families.reascan.splits import OPTIONS, RECIPES, SPLITS
from recombine.families.reascan.survey import survey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "CITATION", "CLUSTER", "DIALS", "MEDIA", "NAME", "NATIVE_NAME", "OPTIONS", "RECIPES", "SCHEMA", "SPLITS", "TITLE",
    "canonical", "canonical_batch", "example", "explain", "generate", "pick", "prompts", "read", "render", "score", "survey", "validate", "validate_batch",
    "write",
]  # fmt: skip

NAME = "reascan"
TITLE = "ReaSCAN: commands with relative clauses in a grid world to actions"
CITATION = """@inproceedings{wu2021reascan,
  title = {{ReaSCAN}: Compositional Reasoning in Language Grounding},
  author = {Wu, Zhengxuan and Kreiss, Elisa and Ong, Desmond C. and Potts, Christopher},
  booktitle = {Proceedings of the Neural Information Processing Systems Track on Datasets and Benchmarks},
  year = {2021}
}
"""
CLUSTER = "form"
DIALS = ("clauses", "object_count", "action_count", "distance")


def generate(job: Job) -> Batch:
    """Rows [job.start, job.stop) of the part, by the job's recipe."""
    if job.recipe == "release":
        from recombine.families.reascan.release import release

        return release(job)
    return _generate.sound(job)


def pick(job: Job, rows: NDArray[np.int64]) -> Batch | None:
    """Single rows of a release part in one call."""
    if job.recipe != "release":
        return None
    from recombine.families.reascan import release

    return release.pick(job, rows)


def read(path: Path) -> Iterator[Example | Problem]:
    """The examples of a released document, as a stream."""
    return native.read(this_family(), Path(path))
