"""The files of a study: answers that `evaluate` reads, templates that `generate` reads, and the paper's Table 5 beside ours."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from statistics import mean, stdev
from typing import Any

from recombine.data.ids import example_of
from recombine.keys import Stream
from recombine.serve.studies.kin import cell_of, template_of
from recombine.serve.studies.store import Store

TABLE_5: Mapping[int, tuple[float, float, float, float]] = {
    2: (0.848, 1.0, 1.488, 1.25),
    3: (0.773, 1.0, 2.41, 1.33),
    4: (0.477, 1.0, 3.81, 1.46),
    5: (0.424, 1.0, 3.78, 0.96),
    6: (0.406, 1.0, 4.46, 0.87),
}
"""CLUTRR's Table 5. Facts on the path -> accuracy with a time limit, accuracy without, mean and deviation of the difficulty."""


def answer_sets(store: Store, study: str) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """(group, n) -> the n-th answer to each item within the group, so that no file holds an id twice.

    An answer after the time limit does not count: it is kept as `late_answer`.
    """
    found: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for row in store.answers(study):
        group, identifier = str(row["group"]), str(row["content"]["id"])
        seen[group, identifier] += 1
        said: dict[str, Any] = {"answer": row["answer"]}
        if row["late"]:
            said = {"answer": None, "status": "missing", "late_answer": row["answer"]}
        more = {"seconds": round(row["seconds"], 3), "difficulty": row["difficulty"], "group": group, "person": row["person"]}
        found[group, seen[group, identifier]].append({"id": identifier, **said, **more, "timed_out": bool(row["late"])})
    return dict(found)


def answers_text(store: Store, study: str, group: str, number: int) -> str:
    """One such set as JSON lines."""
    rows = answer_sets(store, study).get((group, number), [])
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def is_accepted(text: Mapping[str, Any], reviewers: int) -> bool | None:
    """Whether a story is kept: enough reviewers, all of them content. None while reviews are missing and none is bad."""
    verdicts = [good for good, _ in text["reviews"]]
    if not all(verdicts):
        return False
    return True if len(verdicts) >= reviewers else None


def templates(store: Store, study: str, reviewers: int, seed: int) -> dict[str, dict[str, list[str]]]:
    """Accepted stories as a template file: clause -> genders -> texts, the texts of each cell in a shuffled order."""
    cells: dict[tuple[str, str], list[str]] = defaultdict(list)
    for text in store.texts(study):
        if is_accepted(text, reviewers):
            cells[cell_of(text["content"])].append(template_of(text["content"], text["body"]))
    found: dict[str, dict[str, list[str]]] = {}
    for (clause, genders), listed in sorted(cells.items()):
        unique = list(dict.fromkeys(listed))
        Stream("study templates", study, seed, clause, genders).shuffle(unique)
        found.setdefault(clause, {})[genders] = unique
    return found


def table_5(store: Store, study: str) -> list[dict[str, Any]]:
    """Accuracy and difficulty by facts on the path and group, beside the paper's; only CLUTRR's answers count."""
    scores: dict[tuple[int, str], list[tuple[float, int | None, float]]] = defaultdict(list)
    for row in store.answers(study):
        identifier = str(row["content"]["id"])
        if not identifier.startswith("clutrr@"):
            continue
        example = example_of(identifier)
        value = 0.0 if row["late"] else example.score(row["answer"]).value
        scores[int(example.meta["k"]), str(row["group"])].append((value, row["difficulty"], row["seconds"]))
    return [_line(k, group, values) for (k, group), values in sorted(scores.items())]


def _line(k: int, group: str, values: list[tuple[float, int | None, float]]) -> dict[str, Any]:
    rated = [difficulty for _, difficulty, _ in values if difficulty is not None]
    timed, untimed, hard, spread = TABLE_5.get(k, (None, None, None, None))
    return {
        "k": k,
        "group": group,
        "answers": len(values),
        "accuracy": mean(value for value, _, _ in values),
        "difficulty": mean(rated) if rated else None,
        "difficulty_sd": stdev(rated) if len(rated) > 1 else None,
        "seconds": mean(seconds for _, _, seconds in values),
        "paper_timed": timed,
        "paper_untimed": untimed,
        "paper_difficulty": hard,
        "paper_difficulty_sd": spread,
    }


def statements_text(store: Store, study: str) -> str:
    """Statements whose programs agree with every hidden scene, as records of the published layout by key."""
    found = {}
    for number, row in enumerate(store.statements(study)):
        if row["hidden_right"] == row["hidden"]:
            found[f"{study}-{number}"] = {"identifier": f"{study}-{number}", "sentence": row["statement"], "lf": row["program"]}
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def files(store: Store, study: str, reviewers: int, seed: int) -> Iterator[tuple[str, str]]:
    """(name, text) of every file of a study."""
    for group, number in sorted(answer_sets(store, study)):
        yield f"people-{group}-{number}.jsonl", answers_text(store, study, group, number)
    found = templates(store, study, reviewers, seed)
    if found:
        yield "templates.json", json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    if store.statements(study):
        yield "statements.json", statements_text(store, study)
    table = table_5(store, study)
    if table:
        yield "table5.json", json.dumps(table, indent=1) + "\n"
