"""The options of the family, and the settings that follow from them and from a part's contents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recombine.core import Job, Option, option
from recombine.errors import BadOption, shown
from recombine.facets import Facet
from recombine.families.clutrr.kinship import REGISTERS
from recombine.families.clutrr.sound.grammar import MAX_K
from recombine.families.clutrr.sound.rules import ALL, NONE
from recombine.families.clutrr.splits import RANDOM, SPLITS, HeldOut, contents, hold_out
from recombine.predicates.draw import HOLD_OUT, PREDICATE, PredicateOption


def _facets() -> Mapping[str, Facet]:
    from recombine.families.clutrr.facets import FACETS

    return FACETS


NOISE_BITS = {"supporting": 1, "irrelevant": 2, "disconnected": 4}
NOISE_NAMES: tuple[str, ...] = tuple("+".join(n for n, bit in NOISE_BITS.items() if mask & bit) or "clean" for mask in range(8))
"""Noise mask -> name: `clean`, `supporting`, … `supporting+irrelevant+disconnected`."""

OPTIONS: Mapping[str, Option] = {
    "k": Option("", f"facts on the path instead of the split's: one number or several (`4`, `2,3,4`), 2 to {MAX_K}"),
    "noise": Option("", "noise instead of the split's", choices=("", *NOISE_NAMES, "all")),
    "noise_facts": Option(0, "facts of each kind of noise; 0 draws 1 (supporting: 2) up to about k / 2", low=0, high=12),
    "anchor": Option(
        "end", "where irrelevant noise is attached: to a person of the query, or anywhere", choices=("end", "any")
    ),
    "memory": Option(0.0, "fraction of questions that ask a stated fact (1: the memory task)", low=0, high=1),
    "hold_out": Option(0.1, "fraction of clauses held out from training at each k >= 3", low=0, high=0.9),
    "conventions": Option(
        "stated",
        "`none`: only what follows without the conventions that couples share their children, …",
        choices=("stated", "none"),
    ),
    "language": Option("paraphrase", "how facts are worded", choices=("paraphrase", "simple")),
    "style": Option(
        "auto",
        "`plain`: a formal kinship word beside a name; `rich`: as people write; `mixed`: half of each. auto: rich in sound",
        choices=("auto", "plain", "rich", "mixed"),
    ),
    "coreference": Option(0.35, "share of rich wordings that name a relative only in the next sentence", low=0, high=1),
    "colloquial": Option(0.5, "share of rich wordings with colloquial words (dad, granny, …)", low=0, high=1),
    "register": Option("plain", "what kind of text a rich story is", choices=REGISTERS),
    "paraphrases": Option("split", "whether train and test use different paraphrases", choices=("split", "shared")),
    "store": Option(1.0, "fraction of the paraphrase store in use", low=0.01, high=1),
    "templates": Option("", "a template file of the original authors to word stories with"),
    "mentions": Option("auto", "names in the text", choices=("auto", "plain", "bracketed", "anonymous")),
    "names": Option("", "a CSV of names and genders to use instead of the built-in ones"),
    "levels": Option(0, "most generations of a family; 0: 3 in release, 6 in sound", low=0, high=12),
    "min_children": Option(-1, "fewest children of a couple; -1: 4 in release, 0 in sound", low=-1, high=8),
    "max_children": Option(0, "most children of a couple; 0: 4 in release, 6 or k in sound", low=0, high=20),
    "marriage": Option(-1.0, "probability that a person marries; -1: 1 in release, 0.6 in sound", low=-1, high=1),
    "relatives": Option(20, "most relatives whom the story does not mention (sound)", low=0, high=60),
    "equal": Option(True, "keep only clauses at the running minimum (release)"),
    PREDICATE: PredicateOption(
        "target = aunt and k >= 3",
        "what the split `hold_out` holds out: a predicate over facets (`recombine list clutrr --facets`; recipe sound)",
        facets=_facets,
        family="clutrr",
    ),
}


@dataclass(frozen=True)
class Dials:
    """The options of a job, resolved against its recipe and part."""

    ks: tuple[int, ...]
    noise: int
    role: str
    levels: int
    min_children: int
    max_children: int
    marriage: float
    mentions: str
    held: HeldOut
    dropped: frozenset[str]
    values: Mapping[str, Any]
    style: str


def dials(job: Job) -> Dials:
    """What the job asks for; a value that does not fit is a `BadOption`."""
    values = {name: option(job, OPTIONS, name) for name in OPTIONS}
    if job.split in (HOLD_OUT, RANDOM):
        values["paraphrases"] = "shared"  # train and test differ in the predicate, or by chance, and in nothing else
    held = contents(job.split, job.part)
    noise = values["noise"] or held.noise
    mask = 7 if noise == "all" else NOISE_NAMES.index(noise)
    is_release = job.recipe == "release"
    low = values["min_children"] if values["min_children"] >= 0 else (4 if is_release else 0)
    ks = _lengths(values["k"]) or held.ks
    high = values["max_children"] or (max(low, 4) if is_release else max(low, 6, max(ks)))
    if low > high:
        raise BadOption(f"min_children is {low}, but must be at most max_children, {high}.")
    marriage = values["marriage"] if values["marriage"] >= 0 else (1.0 if is_release else 0.6)
    mentions = values["mentions"] if values["mentions"] != "auto" else ("bracketed" if is_release else "plain")
    levels = values["levels"] or (3 if is_release else 6)
    rule = hold_out(job.split).held_out(values["hold_out"])
    dropped = NONE if values["conventions"] == "none" else ALL
    return Dials(
        ks, mask, held.role, levels, low, high, marriage, mentions, rule, dropped, values, style_of(job.recipe, values)
    )


def vet(job: Job) -> None:
    """Refuse options that do not fit the job. A test part that is named for its length or its noise holds nothing else."""
    d = dials(job)
    held = contents(job.split, job.part)
    if job.part.startswith("test_k") and d.ks != held.ks:
        raise BadOption(
            f"option k is {shown(d.values['k'])}, but {job.split}/{job.part} holds stories of {held.ks[0]} facts. k may be set for "
            f"train and validation (--part) and for the splits {_without('test_k')}."
        )
    if job.part == f"test_{held.noise}" and NOISE_NAMES[d.noise] != held.noise:
        raise BadOption(
            f"option noise is {shown(d.values['noise'])}, but {job.split}/{job.part} holds {held.noise} stories. noise may be set for "
            f"train and validation (--part) and for the splits {_without('test_clean')}."
        )


def _without(beginning: str) -> str:
    """The splits that have no part whose name begins so."""
    return ", ".join(name for name, split in SPLITS.items() if not any(part.startswith(beginning) for part in split.parts))


def style_of(recipe: str, values: Mapping[str, Any]) -> str:
    """The style of a job's stories. Only `sound` has rich ones; template files and plain sentences have no style."""
    asked = str(values["style"])
    if recipe == "release":
        if asked not in ("auto", "plain"):
            raise BadOption(f"style is {asked}, but the recipe release has only plain; use --recipe sound.")
        return "plain"
    if values["templates"] or values["language"] == "simple":
        return "plain"
    return "rich" if asked == "auto" else asked


def _lengths(text: str) -> tuple[int, ...]:
    if not text:
        return ()
    pieces = text.split(",")
    if not all(re.fullmatch("[1-9][0-9]?", piece) and 2 <= int(piece) <= MAX_K for piece in pieces):
        raise BadOption(f"option k is {shown(text)}, but takes numbers from 2 to {MAX_K}, such as 4 or 2,3,4.")
    ks = tuple(int(piece) for piece in pieces)
    if list(ks) != sorted(set(ks)):
        raise BadOption(f"option k is {shown(text)}, but must rise and name each length once.")
    return ks
