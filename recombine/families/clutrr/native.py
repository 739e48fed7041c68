"""The released files: CSV of the original code, CSV of the Hugging Face card, and the original folder layout.

The original's spellings live here only. Python literals in cells are read by patterns, never evaluated. Repairs: noise facts
without types get them back from `node_mapping`, `neice` is niece, a byte order mark and empty questions are fine.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from recombine import keys
from recombine.core import Batch, Example, Job, Problem
from recombine.errors import FileError, shown
from recombine.families.clutrr.kinship import RELATIONS, word
from recombine.families.clutrr.language.realize import clean_story
from recombine.families.clutrr.options import NOISE_NAMES, Dials, dials
from recombine.families.clutrr.plan import Fact, People, Step, StoryPlan, anonymous, code_of, example, inputs_of, this_family
from recombine.families.clutrr.release.closure import RELEASED, closure
from recombine.families.clutrr.splits import TEST_PER_K, TRAIN_PER_K, contents
from recombine.files import read_text

NATIVE_NAME = "{split}_{part}.csv"
COLUMNS = (
    "", "id", "story", "query", "text_query", "target", "text_target", "clean_story", "proof_state", "f_comb", "task_name",
    "story_edges", "edge_types", "query_edge", "genders", "syn_story", "node_mapping", "task_split",
)  # fmt: skip
HF_COLUMNS = (
    "", "id", "story", "query", "target", "target_text", "clean_story", "proof_state", "f_comb", "task_name", "story_edges",
    "edge_types", "query_edge", "genders", "task_split",
)  # fmt: skip
HF_LABELS = (
    "aunt", "son-in-law", "grandfather", "brother", "sister", "father", "mother", "grandmother", "uncle", "daughter-in-law",
    "grandson", "granddaughter", "father-in-law", "mother-in-law", "nephew", "son", "daughter", "niece", "husband", "wife",
    "sister-in-law",
)  # fmt: skip
"""Label ids of the Hugging Face card; it has no brother-in-law, which is written as 21."""
MAX_CELL = 200_000
TASK_DIGITS = {"clean": 1, "supporting": 2, "irrelevant": 3, "disconnected": 4, "supporting+irrelevant+disconnected": 5}
"""Noise -> first digit of a task; other mixtures are written as 5 too, and 6 and 7 are the memory tasks."""

_PAIR = re.compile(r"\((\d{1,4}), ?(\d{1,4})\)")
_STRING = r"(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")"
_STRINGS = re.compile(_STRING)
_STEP = re.compile(r"\{\(" + ", ".join([_STRING] * 3) + r"\): \[\(" + ", ".join([_STRING] * 3) + r"\), \(" + ", ".join([_STRING] * 3) + r"\)\]\}")  # fmt: skip
_WORDS = re.compile("|".join(sorted((*RELATIONS, "neice"), key=len, reverse=True)))
_MAPPING = re.compile(r"(\d{1,4}): ?(\d{1,4})")
_TASK = re.compile(r"task_(\d)\.(\d{1,2})")


class _Malformed(Exception):
    """A row that is no example; the message says why."""


def read(path: Path) -> Iterator[Example | Problem]:
    """The examples of a released CSV, in either shape; a Problem for each row that is none."""
    text = read_text(path).removeprefix("\ufeff")
    csv.field_size_limit(MAX_CELL)
    reader = csv.reader(io.StringIO(text))
    try:
        header = next(reader, [])
        missing = {"story", "query", "target", "f_comb", "story_edges", "edge_types", "genders"} - set(header)
        if missing:
            raise FileError(f"{shown(str(path))} is no CLUTRR file: its header lacks {', '.join(sorted(missing))}.")
        while True:
            start = reader.line_num + 1
            row = next(reader, None)
            if row is None:
                return
            yield _read_row(header, row, f"line {start}")
    except csv.Error as problem:
        raise FileError(f"cannot read {shown(str(path))} as CSV near line {reader.line_num}: {problem}.") from None


def _read_row(header: list[str], row: list[str], place: str) -> Example | Problem:
    if len(row) != len(header):
        return Problem("malformed", f"{len(row)} cells, expected {len(header)}", place=place)
    cells = dict(zip(header, row, strict=True))
    try:
        return _example(cells, place)
    except _Malformed as problem:
        return Problem("malformed", str(problem), place=place)


def _strings(text: str) -> list[str]:
    return [re.sub(r"\\(.)", r"\1", a or b) for a, b in _STRINGS.findall(text)]


def parse_words(text: str) -> list[int]:
    """Relation codes of words joined by hyphens, some of which hold hyphens themselves: `son-in-law-brother`."""
    codes, at = [], 0
    while at < len(text):
        match = _WORDS.match(text, at)
        code = code_of(match[0]) if match else None
        if match is None or code is None or (match.end() < len(text) and text[match.end()] != "-"):
            raise _Malformed(f"{shown(text)} is not a list of relations joined by hyphens")
        codes.append(code)
        at = match.end() + 1
    return codes


def _people(cell: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    pairs = [piece.rpartition(":") for piece in cell.split(",")]
    if not all(name and gender in ("male", "female") for name, _, gender in pairs):
        raise _Malformed(f"genders are {shown(cell)}, expected Name:male,Name:female")
    return tuple(name for name, _, _ in pairs), tuple(int(gender == "male") for _, _, gender in pairs)


def _target(cells: Mapping[str, str]) -> str:
    text = cells.get("target_text") or cells["target"]
    code = code_of(text)
    if code is None:
        raise _Malformed(f"the target {shown(text)} is none of the 22 relations")
    return RELATIONS[code]


def _facts(cells: Mapping[str, str], path: list[int], genders: tuple[int, ...], task: str) -> tuple[list[Fact], int, int]:
    """(facts, how many noise types were repaired, how many could not be)."""
    edges = [(int(a), int(b)) for a, b in _PAIR.findall(cells["story_edges"])]
    types = [code_of(name) for name in _strings(cells["edge_types"])]
    if len(edges) < len(path) or len(types) < len(path) or None in types or max(max(e) for e in edges) >= len(genders):
        raise _Malformed(f"{len(edges)} edges and {len(types)} types for a clause of {len(path)}, {len(genders)} people")
    back = {int(story): original for original, story in _MAPPING.findall(cells.get("node_mapping", ""))}
    table, facts, repaired, lost = closure(RELEASED), [], 0, 0
    on_path = {p for edge in edges[: len(path)] for p in edge}
    for i, (s, o) in enumerate(edges):
        kind = 0 if i < len(path) else _kind(edges[len(path) :], (s, o), on_path, task)
        code = types[i] if i < len(types) else None
        if code is None:
            neutral = table.get((int(back.get(s, -1)), int(back.get(o, -1))))
            if neutral is None:
                lost += 1
                continue
            code = word(neutral, genders[o])
            repaired += 1
        facts.append(Fact(code, s, o, i if i < len(path) else -1, kind))
    return facts, repaired, lost


def _kind(noise: list[tuple[int, int]], edge: tuple[int, int], on_path: set[int], task: str) -> int:
    """The kind of a noise fact: from the task, or for all kinds at once from how its neighbours meet the path."""
    if task in "234":
        return int(task) - 1
    if not on_path & set(edge):
        return 3
    other = next((p for p in edge if p not in on_path), edge[0])
    return 1 if sum(other in e and bool(on_path & set(e)) for e in noise) > 1 else 2


def _world(cells: Mapping[str, str], genders: tuple[int, ...], facts: list[Fact]) -> People | None:
    """The hidden family with the story's people first, if the row says who they are, and its facts are that family's."""
    story_of = {int(original): int(story) for original, story in _MAPPING.findall(cells.get("node_mapping", ""))}
    if sorted(story_of.values()) != list(range(len(genders))) or not story_of or max(story_of) >= RELEASED.size:
        return None
    back, table = {story: person for person, story in story_of.items()}, closure(RELEASED)
    if any(table.get((back[fact.subject], back[fact.relative])) != fact.relation // 2 for fact in facts):
        return None  # numbers of another family than the released one
    number = dict(story_of)
    for person in range(RELEASED.size):
        number.setdefault(person, len(number))
    sex: dict[int, int] = {person: genders[story] for person, story in story_of.items()}
    for a, b in RELEASED.couples:
        sex.setdefault(a, 1 - sex[b] if b in sex else 1)
        sex.setdefault(b, 1 - sex[a])
    parents, rows = RELEASED.parents, [[0, -1, -1, -1] for _ in number]
    for person, at in number.items():
        rows[at][0] = sex[person]
        if person in parents:
            a, b = parents[person]
            rows[at][1], rows[at][2] = (number[a], number[b]) if sex[a] == 1 else (number[b], number[a])
    for a, b in RELEASED.couples:
        rows[number[a]][3], rows[number[b]][3] = number[b], number[a]
    return People(*(tuple(row[i] for row in rows) for i in range(4)))


def _proof(cell: str, names: tuple[str, ...]) -> tuple[Step, ...]:
    steps = []
    for groups in _STEP.findall(cell):
        words = [re.sub(r"\\(.)", r"\1", groups[i] or groups[i + 1]) for i in range(0, 18, 2)]
        codes = [code_of(words[i]) for i in (4, 7, 1)]
        if None in codes or not {words[0], words[2], words[5]} <= set(names):
            raise _Malformed("the proof names an unknown person or relation")
        x, z, y = (names.index(words[i]) for i in (0, 5, 2))
        steps.append(Step(x, z, y, *(code for code in codes if code is not None)))
    return tuple(steps)


def _example(cells: Mapping[str, str], place: str) -> Example:
    if any(len(cell) > MAX_CELL for cell in cells.values()):
        raise _Malformed(f"a cell is longer than {MAX_CELL} characters")
    names, genders = _people(cells["genders"])
    clause = parse_words(cells["f_comb"])
    if not clause:
        raise _Malformed("the clause f_comb is empty, so there is no path")
    task = _TASK.fullmatch(cells.get("task_name", ""))
    digit = task[1] if task else "1"
    facts, repaired, lost = _facts(cells, clause, genders, digit)
    asked = _strings(cells["query"])
    if len(asked) != 2 or not set(asked) <= set(names) or len(set(names)) != len(names):
        raise _Malformed(f"the query {shown(cells['query'])} does not name two of {shown(list(names))}")
    query = (names.index(asked[0]), names.index(asked[1]))
    answer = _target(cells)
    plan = StoryPlan(names, genders, tuple(facts), query, _proof(cells.get("proof_state", ""), names))
    noise = {str(value): name for name, value in TASK_DIGITS.items()}.get(digit, "clean")
    path = sorted((f for f in facts if f.place >= 0), key=lambda f: f.place)
    meta: dict[str, Any] = {
        "recipe": "release", "k": len(clause), "noise": noise, "fact_count": len(facts), "target": answer,
        "clause": "-".join(RELATIONS[code] for code in clause), "held_out": cells.get("task_split") == "test",
        "memory": digit in "67" and (query[0], query[1]) in {(f.subject, f.relative) for f in path},
        "place": place, "part": cells.get("task_split", ""), "task": cells.get("task_name", ""),
    }  # fmt: skip
    if repaired or lost:
        meta["repaired_noise"] = repaired + lost
    if lost:
        meta["untyped_noise"] = lost
    question = cells.get("text_query") or f"What is [{asked[1]}] to [{asked[0]}]?"
    return Example(
        this_family(),
        cells.get("id") or place,
        inputs_of(cells["story"], question, plan),
        answer,
        plan,
        _world(cells, genders, facts),
        meta,
    )


# --- writing ---------------------------------------------------------------------------------------------------------


def _bracketed(text: str, names: Iterable[str]) -> str:
    return anonymous(text, list(names), {name: f"[{name}]" for name in names})


def cells_of(one: Example, index: int) -> dict[str, str]:
    """A row in the original's cells; people are numbered as path and noise mention them, as the original does."""
    plan: StoryPlan = one.plan
    facts = [*plan.path, *(fact for fact in plan.facts if fact.place < 0)]
    number: dict[int, int] = {}
    for fact in facts:
        for person in (fact.subject, fact.relative):
            number.setdefault(person, len(number))
    x, y = (plan.names[p] for p in plan.query)
    proof = [
        {(plan.names[s.x], RELATIONS[s.result], plan.names[s.y]): [
            (plan.names[s.x], RELATIONS[s.first], plan.names[s.z]), (plan.names[s.z], RELATIONS[s.second], plan.names[s.y])]}
        for s in plan.proof
    ]  # fmt: skip
    members = one.meta.get("members", ())
    digit = 6 if one.meta["memory"] else TASK_DIGITS.get(str(one.meta["noise"]), 5)
    return {
        "": str(index),
        "id": one.id,
        "story": _bracketed(str(one.inputs["story"]), plan.names),
        "query": repr((x, y)),
        "text_query": _bracketed(str(one.inputs["question"]), plan.names),
        "target": one.answer,
        "text_target": repr([f"[{y}] is the {one.answer} of [{x}]."]),
        "clean_story": _bracketed(clean_story(one), plan.names),
        "proof_state": repr(proof),
        "f_comb": str(one.meta["clause"]),
        "task_name": f"task_{digit}.{one.meta['k']}",
        "story_edges": repr([(number[fact.subject], number[fact.relative]) for fact in facts]),
        "edge_types": repr([RELATIONS[fact.relation] for fact in facts]),
        "query_edge": repr(tuple(number[p] for p in plan.query)),
        "genders": ",".join(f"{plan.names[p]}:{('female', 'male')[plan.genders[p]]}" for p in number),
        "syn_story": "",
        "node_mapping": repr({members[p]: number[p] for p in number}) if members else "",
        "task_split": "test" if str(one.meta["part"]).startswith("test") else "train",
        "target_text": one.answer,
    }


def write(batches: Iterable[Batch], out: TextIO) -> None:
    """The rows as the original's CSV. Facts of noise carry their types.

    `node_mapping` tells who of the released family each person is; `sound` families are all different, so theirs is empty.
    """
    _write(batches, out, COLUMNS)


def write_hf(batches: Iterable[Batch], out: TextIO) -> None:
    """The rows in the shape of the Hugging Face card: byte order mark, integer targets."""
    out.write("\ufeff")
    _write(batches, out, HF_COLUMNS)


def _write(batches: Iterable[Batch], out: TextIO, columns: tuple[str, ...]) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for batch in batches:
        for row in range(len(batch)):
            one = example(batch, row)
            cells = cells_of(one, batch.start + row)
            if columns is HF_COLUMNS:
                cells["target"] = str(HF_LABELS.index(one.answer) if one.answer in HF_LABELS else len(HF_LABELS))
            writer.writerow([cells[name] for name in columns])


# --- the released folders: `data_<8 hex digits>/`, a CSV per part named by its tasks, and `config.json` ------------------


def tasks(job: Job) -> tuple[str, ...]:
    """The tasks of a part, such as `1.2` and `1.3`: noise (or memory), then k."""
    d = dials(job)
    memory = float(d.values["memory"])
    digit = TASK_DIGITS.get(NOISE_NAMES[d.noise], 5) if memory == 0 else (6 if memory == 1 else 7)
    ks = d.ks
    if job.recipe == "release" and d.role == "test" and not _is_own(job, d):
        ks = tuple(k for k in ks if k != 2)  # noise that was not trained with is tested from k = 3 on
    return tuple(f"{digit}.{k}" for k in ks)


def _is_own(job: Job, d: Dials) -> bool:
    return bool(d.values["k"] or d.values["noise"]) or NOISE_NAMES[d.noise] == contents(job.split, "train").noise


def native_path(job: Job) -> str:
    """`data_1a2b3c4d/1.2,1.3_train.csv`; the digits stand for recipe, split, seed and options."""
    d = dials(job)
    key = keys.digest("clutrr folder", job.version, job.recipe, job.split, job.seed, json.dumps(job.options))
    end = job.part if d.role == "test" and (d.values["k"] or d.values["noise"]) else d.role
    return f"data_{key.hex()[:8]}/{','.join(tasks(job))}_{end}.csv"


def native_extras(jobs: Sequence[Job]) -> Mapping[str, str]:
    """`config.json` of every folder: the training file by its tasks, and the settings of each file, as released."""
    folders: dict[str, list[Job]] = {}
    for job in jobs:
        folders.setdefault(native_path(job).rpartition("/")[0], []).append(job)
    return {f"{folder}/config.json": json.dumps(_folder_config(own), indent=1) + "\n" for folder, own in folders.items()}


def _folder_config(jobs: Sequence[Job]) -> dict[str, Any]:
    named = [(native_path(job).rpartition("/")[2], job) for job in jobs]
    trained = {",".join(tasks(job)): name for name, job in named if dials(job).role == "train"}
    tested = ",".join(task for _, job in named if dials(job).role == "test" for task in tasks(job))
    return {
        "train_task": trained,
        "test_tasks": {},  # empty in the released files too: the settings of a file name its tests
        "args": {name: _settings(job, ",".join(trained), tested) for name, job in named},
    }


def _settings(job: Job, trained: str, tested: str) -> dict[str, Any]:
    """The settings that the released generator has and ours has too, under its names; `job` is what made the file here."""
    d = dials(job)
    return {
        "max_levels": d.levels, "min_child": d.min_children, "max_child": d.max_children, "p_marry": d.marriage,
        "train_tasks": trained, "test_tasks": tested, "train_rows": TRAIN_PER_K, "test_rows": TEST_PER_K,
        "memory": d.values["memory"], "data_type": d.role, "question": 0, "equal": d.values["equal"],
        "holdout": d.values["hold_out"] if job.recipe == "sound" else round(TEST_PER_K / (TRAIN_PER_K + TEST_PER_K), 4),
        "data_name": f"{job.split} {job.recipe}", "use_mturk_template": bool(d.values["templates"]),
        "template_file": d.values["templates"], "combination_length": 1 if d.values["language"] == "simple" else 3,
        "unique_test_pattern": job.split.startswith("robust"),
        "noise_support": bool(d.noise & 1), "noise_irrelevant": bool(d.noise & 2), "noise_disconnected": bool(d.noise & 4),
        "noise_attributes": False, "num_rows": TRAIN_PER_K if d.role == "train" else TEST_PER_K, "relation_length": max(d.ks),
        "job": job.key,
    }  # fmt: skip
