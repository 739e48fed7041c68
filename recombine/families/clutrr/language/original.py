"""Generating with the original crowd paraphrases: a reader for their template files, into the same tables as our own store.

The files are not shipped (their licence is non-commercial). A file is JSON, plain or gzip: relation words joined by hyphens ->
genders joined by hyphens -> texts with placeholders such as `ENT_0_male`, person i being the i-th on the path. Their texts are
as released: some swap roles, so facts read back from them may differ from those that were worded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recombine.errors import FileError, UnknownName, shown
from recombine.families.clutrr import kinship
from recombine.families.clutrr.language.kernel import BASE, LITERAL, NAME
from recombine.families.clutrr.language.store import HELD_OUT, PORTIONS, Pool, Portion, Tables, kin_arrays, no_fillings
from recombine.files import read_json

MAX_TEMPLATES = 1_000_000
MAX_TEXT = 4_000
_PLACEHOLDER = re.compile(r"ENT_(\d)_(male|female)")
_SPELLINGS = {"neice": "niece"}


@dataclass(frozen=True)
class Template:
    """One text for a clause: relation codes, genders along the path, and the text with its placeholders."""

    relations: tuple[int, ...]
    genders: tuple[int, ...]
    text: str


def parse_clause(text: str) -> tuple[int, ...]:
    """Relation codes of `sister-son` or `son-in-law-brother`; both spellings of niece are known."""
    words = text.replace("-in-law", "~").split("-")
    codes = []
    for word in words:
        spelled = word.replace("~", "-in-law")
        spelled = _SPELLINGS.get(spelled, spelled)
        if spelled not in kinship.CODES:
            raise FileError(f"clause {shown(text)} has the unknown relation {shown(spelled)}.")
        codes.append(kinship.CODES[spelled])
    if not 1 <= len(codes) <= 3:
        raise FileError(f"clause {shown(text)} has {len(codes)} relations; paraphrases exist for 1 to 3.")
    return tuple(codes)


def read_templates(path: Path) -> list[Template]:
    """Every usable template of a file, in its order; texts that do not name each person on the path are left out."""
    document = read_json(path, limit=256 << 20)
    if not isinstance(document, dict):
        raise FileError(f"{shown(str(path))} is not a template file: it should be an object of clauses.")
    found = [template for clause, cells in document.items() for template in _cells(clause, cells, path)]
    if not found:
        raise FileError(f"{shown(str(path))} holds no usable template.")
    if len(found) > MAX_TEMPLATES:
        raise FileError(f"{shown(str(path))} holds {len(found)} templates; at most {MAX_TEMPLATES} are read.")
    return found


def _cells(clause: str, cells: object, path: Path) -> Iterator[Template]:
    relations = parse_clause(clause)
    if not isinstance(cells, dict):
        raise FileError(f"{shown(str(path))}: clause {shown(clause)} should map genders to texts.")
    for key, texts in cells.items():
        words = key.split("-")
        if len(words) != len(relations) + 1 or any(w not in ("male", "female") for w in words) or not isinstance(texts, list):
            raise FileError(
                f"{shown(str(path))}: clause {shown(clause)} has {shown(key)}, not one gender per person and a list of texts."
            )
        genders = tuple(kinship.MALE if word == "male" else kinship.FEMALE for word in words)
        for text in texts:
            if not isinstance(text, str) or len(text) > MAX_TEXT:
                raise FileError(
                    f"{shown(str(path))}: clause {shown(clause)} has a text that is no string of at most {MAX_TEXT} characters."
                )
            if {int(m[1]) for m in _PLACEHOLDER.finditer(text)} == set(range(len(words))):
                yield Template(relations, genders, text)


def tables(path: str | Path, portion: Portion = "all") -> Tables:
    """The kernel's tables for a template file: as in the original, the first 80 % of each clause and gender are for training.

    Templates are used where relations and the first person's gender match; a paraphrase's code is twice its place in the file.
    """
    if portion not in PORTIONS:
        raise UnknownName("portion of the templates", portion, PORTIONS)
    templates = read_templates(Path(path))
    cells: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for number, template in enumerate(templates):
        if all(kinship.GENDER[r] == g for r, g in zip(template.relations, template.genders[1:], strict=True)):
            cells.setdefault((template.relations, template.genders), []).append(number)
    pool, ops, starts = Pool(), list[tuple[int, int, int]](), [0]
    for template in templates:
        ops += _ops(template.text, pool)
        starts.append(len(ops))
    first, count = np.zeros(BASE**3 * 2, np.int32), np.zeros(BASE**3 * 2, np.int32)
    candidates: list[int] = []
    for (relations, genders), numbers in cells.items():
        cut = max(1, int(len(numbers) * (1 - HELD_OUT)))
        kept = {"train": numbers[:cut], "heldout": numbers[cut:], "all": numbers}[portion]
        padded = [r + 1 for r in relations] + [0] * (3 - len(relations))
        key = ((padded[0] * BASE + padded[1]) * BASE + padded[2]) * 2 + genders[0]
        first[key], count[key] = len(candidates), len(kept)
        candidates += [2 * n for n in kept]
    return Tables(
        frame_start=np.array(starts, np.int32),
        ops=np.array(ops, np.int32),
        templates=np.array([(i, 0, 0, 0, 0, 0) for i in range(len(templates))], np.int32),
        events=np.zeros((1, 3, 2), np.int32),
        times=np.zeros((1, 2, 2), np.int32),
        candidates=np.array(candidates, np.int32),
        first=first,
        counts=count,
        longest=3,
        parts=np.arange(len(templates), dtype=np.int32).reshape(-1, 1),
        **no_fillings(),
        **kin_arrays(pool),
        pool=pool.bytes(),
    )


def _ops(text: str, pool: Pool) -> Iterator[tuple[int, int, int]]:
    at = 0
    for match in _PLACEHOLDER.finditer(text):
        if match.start() > at:
            yield (LITERAL, *pool.add(text[at : match.start()]))
        yield NAME, int(match[1]), 0
        at = match.end()
    if at < len(text):
        yield (LITERAL, *pool.add(text[at:]))
