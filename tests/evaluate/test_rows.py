"""The rows that an evaluation reads: clusters and dials from columns, rows chosen by ids and by predicates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import recombine
from recombine.abilities import Faceted
from recombine.cli import main
from recombine.columns import value_at
from recombine.data.generate import generate
from recombine.errors import RecombineError
from recombine.evaluate.evaluate import evaluate, evaluate_all
from recombine.evaluate.rows import cluster_of, part_rows
from recombine.families import FAMILIES, family
from recombine.predicates import format_predicate, holds, parse


@pytest.mark.parametrize("name", list(FAMILIES))
def test_rows_have_the_clusters_and_dials_of_their_columns(name: str) -> None:
    data = recombine.load(name, size=30)
    rows = part_rows(data)
    assert rows.ids == [example.id for example in data]
    column = [str(value_at(batch.columns[family(name).CLUSTER], row)) for batch in data.batches() for row in range(len(batch))]
    assert rows.clusters == column
    assert [cluster_of(example) for example in data] == column  # the readable view knows it as well
    for example, dials in zip(data, rows.dials, strict=True):
        assert dials == {name: float(example.meta[name]) for name in family(example.family.NAME).DIALS}
    assert rows[3].id == rows.ids[3] and rows[-1].id == rows.ids[-1] and rows[3] is rows[3]


def test_rows_of_one_command_are_one_cluster(tmp_path: Path) -> None:
    folder = generate("gscan", tmp_path / "g", part="test", size=600)
    commands = {str(example.inputs["command"]) for example in part_rows(recombine.load(folder.path, part="test"))}
    found = evaluate(folder, {}, baselines=["oracle"]).runs[0].accuracy()
    assert found.clusters == len(commands) < 600


@pytest.mark.parametrize("name", list(FAMILIES))
def test_where_chooses_the_rows_that_the_other_judge_chooses(name: str) -> None:
    item = family(name)
    assert isinstance(item, Faceted)
    data = recombine.load(name, size=60)
    examples = list(data)
    facet, values = next(
        (facet, sorted({item.facet_values(e)[facet] for e in examples}, key=str))  # type: ignore[type-var]
        for facet, told in item.FACETS.items()
        if not told.many and told.kind != "flag" and len({item.facet_values(e)[facet] for e in examples}) > 1
    )
    text = f"{facet} = {values[0]!r}" if isinstance(values[0], str) else f"{facet} = {values[0]}"
    canonical = format_predicate(parse(text, item.FACETS, name))
    expected = [e.id for e in examples if holds(canonical, item.facet_values(e))]
    chosen = part_rows(data, where=text)
    assert list(chosen.ids) == expected and 0 < len(expected) < len(examples)
    assert list(part_rows(data, ids={expected[0], "none"}, where=text).ids) == expected[:1]


def test_evaluate_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = generate("gscan", tmp_path / "g", part="test", size=80)
    examples = list(recombine.load(folder.path))
    pushes = [e for e in examples if e.meta["verb"] == "push"]
    answers = tmp_path / "model.jsonl"
    rows = [{"id": e.id, "answer": e.answer if e in pushes else "stay"} for e in examples]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["evaluate", "--data", str(folder.path), "--answers", str(answers), "--where", "verb = push"]
    assert main([*words, "--out", str(tmp_path / "r")]) == 0
    assert "Only rows that fit: verb = push." in capsys.readouterr().out
    found = json.loads((tmp_path / "r" / "report.json").read_text())
    part = next(iter(found["parts"].values()))
    assert found["where"] == "verb = push"
    assert part["runs"]["model"]["accuracy"]["mean"] == 1.0
    assert {run["accuracy"]["rows"] for run in part["runs"].values()} == {len(pushes)}
    assert "verb = push" in (tmp_path / "r" / "index.html").read_text()


def test_where_that_nothing_fits_or_nobody_understands_is_an_error(tmp_path: Path) -> None:
    folder = generate("gscan", tmp_path / "g", part="test", size=20)
    for text, word in (("verb = push and verb = pull", "no row"), ("vreb = push", "verb"), ("verb = shove", "push")):
        with pytest.raises(RecombineError, match=word):
            evaluate_all([folder], {}, where=text)
