"""lilGym and NLVR: statements about three boxes of coloured items, to be made true or false by edits, or to be judged.

Embedded statements (`sound`) need no download. The published tasks run as splits `tower_scratch`, `tower_flipit`,
`scatter_scratch` and `scatter_flipit` when their folder is given (`files=FOLDER`).
"""

from __future__ import annotations

from typing import Any

from recombine.core import Example, Job, Medium, Recipe
from recombine.errors import UnknownName
from recombine.families.lilgym import prompts
from recombine.families.lilgym.audit import StatementCheck, check_statement, survey
from recombine.families.lilgym.explain import explain
from recombine.families.lilgym.generate import OPTIONS, SCHEMA, example, generate
from recombine.families.lilgym.native import read, write
from recombine.families.lilgym.oracle import validate
from recombine.families.lilgym.score import score
from recombine.families.lilgym.splits import SPLITS
from recombine.families.lilgym.tasks import masks, start, step

NAME = "lilgym"
TITLE = "lilGym: statements about scenes, made true or false by edits"
CITATION = """@inproceedings{wu-etal-2023-lilgym,
  title = {lil{G}ym: Natural Language Visual Reasoning with Reinforcement Learning},
  author = {Wu, Anne and Brantley, Kiant{\\'e} and Kojima, Noriyuki and Artzi, Yoav},
  booktitle = {Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics},
  year = {2023},
  url = {https://aclanthology.org/2023.acl-long.512}
}
@inproceedings{suhr-etal-2017-corpus,
  title = {A Corpus of Natural Language for Visual Reasoning},
  author = {Suhr, Alane and Lewis, Mike and Yeh, James and Artzi, Yoav},
  booktitle = {Proceedings of the 55th Annual Meeting of the Association for Computational Linguistics},
  year = {2017}
}"""
RECIPES = {
    "sound": Recipe(
        "sound", "Our own statements, one reading each, neither constant nor out of reach; every task comes with a plan."
    ),
    "official": Recipe("official", "The published statements, programs and scenes, read from their files."),
}
CLUSTER = "statement"
DIALS = ("words", "depth", "objects", "edits")
MEDIA: tuple[Medium, ...] = ("text", "ascii", "svg", "png")
NATIVE_NAME = "{split}_{part}.json"


def size(job: Job) -> int:
    """How many rows a part holds; a published part as its file counts."""
    from recombine.families.lilgym import native

    rows = SPLITS[job.split].parts[job.part].rows(job.recipe)
    return native.size(job, OPTIONS, rows) if job.recipe == "official" else rows


def canonical(example: Example) -> bytes:
    """The example without box order: its program (or sentence), its target or task, and the boxes in one order."""
    boxes = sorted(tuple(sorted(tuple(item[1:]) for item in box)) for box in example.world.boxes)
    said = example.meta["program"] or " ".join(str(example.inputs["statement"]).lower().split())
    return repr((said, example.meta["task"], example.inputs.get("target"), boxes)).encode()


def render(example: Example, medium: Medium) -> str | bytes:
    """The example as a prompt, or its scene drawn."""
    from recombine.families.lilgym import pictures as drawing
    from recombine.families.lilgym import prompt

    makers: dict[str, Any] = {
        "text": lambda: prompt.prompt(example),
        "ascii": lambda: drawing.ascii_art(example.world),
        "svg": lambda: drawing.svg(example.world),
        "png": lambda: drawing.png(example.world),
    }
    if medium not in makers:
        raise UnknownName("medium of lilgym", medium, makers)
    made: str | bytes = makers[medium]()
    return made


__all__ = [
    "CITATION", "CLUSTER", "DIALS", "MEDIA", "NAME", "NATIVE_NAME", "OPTIONS", "RECIPES", "SCHEMA", "SPLITS", "TITLE",
    "StatementCheck", "canonical", "check_statement", "example", "explain", "generate", "masks", "prompts", "read", "render", "score", "size", "start",
    "step", "survey", "validate", "write",
]  # fmt: skip
