"""A shallow reader of CLUTRR stories: eight expressions that look for a kinship word beside a name or a possessive.

    python benchmarks/shallow_clutrr.py [--rows 2000] [--released FOLDER]

It prints the share of stories in which the reader finds every fact, and the share that it reads exactly (no fact too many), for the
styles plain and rich with held-out wording, for the dials, and for the released crowd stories where a folder with `1.3_test.csv`
(or .gz) is given. A wording that must be read keeps such a reader far from 100 %.
"""

from __future__ import annotations

import argparse
import gzip
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from recombine.core import Example
from recombine.families.clutrr import CLUTRR
from recombine.families.clutrr.kinship import RELATIONS
from recombine.jobs import make_job

FORMAL = {
    "dad": "father", "papa": "father", "daddy": "father", "mom": "mother", "mum": "mother", "mama": "mother", "hubby": "husband",
    "missus": "wife", "wifey": "wife", "bride": "wife", "groom": "husband", "bro": "brother", "sis": "sister", "grandpa": "grandfather",
    "granddad": "grandfather", "gramps": "grandfather", "grandma": "grandmother", "granny": "grandmother", "nana": "grandmother",
    "auntie": "aunt", "aunty": "aunt",
}  # fmt: skip
KIN = {**{word: word for word in RELATIONS}, **FORMAL}
KIN |= {f"{word}s": meaning for word, meaning in KIN.items()}
_K = (
    "(?:big |kid |old |own |two |twin |newborn |favourite )*("
    + "|".join(sorted(map(re.escape, KIN), key=len, reverse=True))
    + r")\b"
)
_N = r"\[([^\]]+)\]"
EXPRESSIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), parts)
    for pattern, parts in (
        (rf"{_N}'s {_K},? {_N}", "okr"),
        (rf"\b(?:[Hh]is|[Hh]er|whose) {_K},? {_N}", "kr"),
        (rf"{_N}, (?:who (?:is|was) )?{_N}'s {_K}", "rok"),
        (rf"{_N}, (?:who (?:is|was) )?(?:his|her) {_K}(?!,? \[)", "rk"),
        (rf"{_N},? (?:is|was|being)? ?the {_K} of {_N}", "rko"),
        (rf"{_N} (?:is|was|being) {_N}'s {_K}", "rok"),
        (rf"{_N}'s {_K} (?:is|was) {_N}", "okr"),
        (rf"{_N} has (?:a|an|two) {_K}(?:,| called| named)? {_N}", "okr"),
    )
)
"""Expression -> what its groups are: o the owner, k the word, r the relative; the owner of a pronoun is the last name before."""
Edge = tuple[str, str, str]


def read(story: str) -> set[Edge]:
    """The facts that the expressions find, as (word, owner, relative); names are in brackets."""
    found: set[Edge] = set()
    for pattern, parts in EXPRESSIONS:
        at = 0
        while match := pattern.search(story, at):
            at = match.start() + 1
            groups = dict(zip(parts, match.groups(), strict=True))
            if "o" not in groups:
                before = re.findall(_N, story[: match.start()])
                if not before:
                    continue
                groups["o"] = before[-1]
            if groups["o"] != groups["r"]:
                found.add((KIN[groups["k"]], groups["o"], groups["r"]))
    return found


def undirected(edge: Edge) -> Edge:
    """The fact without direction and gender: two wordings of one fact are equal."""
    word, owner, relative = edge
    kind = word.replace("father", "mother").replace("brother", "sister").replace("husband", "wife").replace("uncle", "aunt")
    kind = kind.replace("nephew", "niece").replace("grandson", "granddaughter")
    kind = re.sub(r"^son", "daughter", kind)
    down = {"daughter": "mother", "granddaughter": "grandmother", "niece": "aunt", "daughter-in-law": "mother-in-law"}
    if kind in down:
        return down[kind], relative, owner
    if kind in ("sister", "wife", "sister-in-law"):
        owner, relative = sorted((owner, relative))
    return kind, owner, relative


def rates(examples: Iterable[Example]) -> tuple[float, float, float, int]:
    """(share of stories with every fact found, share read exactly, share of facts found, stories)."""
    whole = exact = facts = hits = count = 0
    for one in examples:
        plan = one.plan
        wanted = {undirected((RELATIONS[f.relation], plan.names[f.subject], plan.names[f.relative])) for f in plan.facts}
        said = {undirected(edge) for edge in read(bracketed(one))}
        whole += wanted <= said
        exact += wanted == said
        hits += len(wanted & said)
        facts += len(wanted)
        count += 1
    return whole / count, exact / count, hits / facts, count


def bracketed(one: Example) -> str:
    """The story with every name in brackets."""
    names = sorted(one.plan.names, key=len, reverse=True)
    return re.sub(r"\[?(?<![\w-])(" + "|".join(map(re.escape, names)) + r")(?![\w-])\]?", r"[\1]", str(one.inputs["story"]))


def ours(k: int, rows: int, **options: str) -> Iterator[Example]:
    """Stories with held-out wording."""
    job = make_job(CLUTRR, "generalization_23", f"test_k{k}", "sound", 0, options)
    batch = CLUTRR.generate(job.rows(0, rows))
    for row in range(rows):
        yield CLUTRR.example(batch, row)


def released(folder: Path, k: int) -> Iterator[Example]:
    """The released crowd stories of k facts."""
    path = folder / f"1.{k}_test.csv"
    packed = path.with_suffix(".csv.gz")
    with tempfile.TemporaryDirectory() as spare:
        if packed.exists():
            path = Path(spare) / path.name
            path.write_bytes(gzip.decompress(packed.read_bytes()))
        for one in CLUTRR.read(path):
            if isinstance(one, Example):
                yield one


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--released", type=Path)
    arguments = parser.parse_args()
    print(f"{'stories':34}{'k':>3}{'every fact':>12}{'exactly':>9}{'of facts':>10}{'rows':>7}")
    cases: list[tuple[str, dict[str, str]]] = [("plain", {"style": "plain"}), ("rich", {})]
    cases += [(f"rich, {name}={value}", {name: value}) for name in ("coreference", "colloquial") for value in ("0", "1")]
    for label, options in cases:
        for k in (2, 3, 10):
            show(label, k, rates(ours(k, arguments.rows, **options)))
    if arguments.released:
        for k in (2, 3, 10):
            show("released (crowd)", k, rates(released(arguments.released, k)))


def show(label: str, k: int, found: tuple[float, float, float, int]) -> None:
    """One line of the table."""
    print(f"{label:34}{k:>3}{found[0]:>12.1%}{found[1]:>9.1%}{found[2]:>10.1%}{found[3]:>7}", flush=True)


if __name__ == "__main__":
    main()
