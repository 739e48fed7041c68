"""CLUTRR: kinship stories with proofs. What is Ann to Bob, if Bob's sister is Cleo and Cleo's mother is Ann?"""

from __future__ import annotations

from collections.abc import Mapping

from recombine.core import Job, Recipe
from recombine.families.clutrr import prompts, release
from recombine.families.clutrr.explain import explain
from recombine.families.clutrr.generate import SCHEMA, generate
from recombine.families.clutrr.layout import native_extras, native_path
from recombine.families.clutrr.native import NATIVE_NAME, read, write, write_hf
from recombine.families.clutrr.options import OPTIONS
from recombine.families.clutrr.oracle import validate, validate_batch
from recombine.families.clutrr.plan import canonical, canonical_batch, cloze, example
from recombine.families.clutrr.readers import probe_parts
from recombine.families.clutrr.render import MEDIA, render
from recombine.families.clutrr.score import score
from recombine.families.clutrr.splits import SPLITS
from recombine.families.clutrr.survey import probe, survey

__all__ = [
    "CITATION", "CLUSTER", "DIALS", "MEDIA", "NAME", "NATIVE_NAME", "OPTIONS", "RECIPES", "SCHEMA", "SPLITS", "TITLE",
    "canonical", "canonical_batch", "cloze", "example", "explain", "generate", "native_extras", "native_path", "probe", "probe_parts", "prompts", "read", "render", "score", "size",
    "survey", "validate", "validate_batch", "write", "write_hf",
]  # fmt: skip

NAME = "clutrr"
TITLE = "CLUTRR: kinship stories with proofs"
CITATION = """@inproceedings{sinha2019clutrr,
  title = {{CLUTRR}: A Diagnostic Benchmark for Inductive Reasoning from Text},
  author = {Sinha, Koustuv and Sodhani, Shagun and Dong, Jin and Pineau, Joelle and Hamilton, William L.},
  booktitle = {Proceedings of the 2019 Conference on Empirical Methods in Natural Language Processing},
  year = {2019}
}
"""
RECIPES: Mapping[str, Recipe] = {
    "sound": Recipe(
        "sound", "True families, complete rules: one answer follows from every story, needs all k facts, and is true."
    ),
    "release": Recipe("release", "The released generator: 42 people, 16 rules, the first derived relation wins, true or not."),
}
CLUSTER = "clause"
DIALS: tuple[str, ...] = ("k", "fact_count")


def size(job: Job) -> int:
    """How many rows a part holds: the stated number for `sound`, what the run makes for `release`."""
    if job.recipe == "release":
        return release.size(job)
    return SPLITS[job.split].parts[job.part].rows(job.recipe)
