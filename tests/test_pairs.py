"""Matched pairs: exactly one facet differs, the oracle notices when more does, and runs are scored by pair."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import recombine
from recombine.abilities import Pairing
from recombine.cli import main
from recombine.errors import FileError, UnknownName, UsageError
from recombine.evaluate.answers import Answer
from recombine.evaluate.pairs import score_pairs
from recombine.evaluate.statistics import interval
from recombine.families import family
from recombine.jobs import make_job
from recombine.pairs import Pair, facets_of, make_pairs, read_pairs, write_pairs

FAMILIES = ("scan", "nacs", "gscan", "reascan", "clutrr", "lilgym", "abstract", "lexicon")


def some(name: str, facet: str = "all", size: int = 6) -> list[Pair]:
    found = family(name)
    return list(make_pairs(found, make_job(found), facets_of(found, facet), size))


@pytest.fixture(scope="module", params=FAMILIES)
def pairs(request: pytest.FixtureRequest) -> list[Pair]:
    return some(request.param, size=2 if request.param in ("abstract", "lilgym") else 6)


def test_pairs_are_pairs(pairs: list[Pair]) -> None:
    found = pairs[0].first.family
    assert isinstance(found, Pairing)
    assert {pair.facet for pair in pairs} == set(found.PAIRS)
    for pair in pairs:
        assert found.pair_problems(pair.first, pair.second, pair.facet) == []
        assert pair.first.inputs != pair.second.inputs
        assert (pair.first.answer == pair.second.answer) == (pair.kind == "invariance")
        for _, example in pair.members():
            assert example.score(example.answer).status == "right"
            assert example.explain().steps
        if pair.kind == "sensitivity":
            assert pair.second.score(pair.first.answer).status != "right"


def test_the_oracle_notices_a_wrong_answer_and_a_wrong_facet(pairs: list[Pair]) -> None:
    found = pairs[0].first.family
    assert isinstance(found, Pairing)
    by_facet = {pair.facet: pair for pair in pairs}
    for facet, pair in by_facet.items():
        assert found.pair_problems(pair.first, replace(pair.second, answer=pair.second.answer + "x"), facet)
        assert found.pair_problems(pair.first, pair.first, facet)
        for other in by_facet:
            if other != facet:
                assert found.pair_problems(pair.first, pair.second, other)


def test_a_partner_is_a_function_of_the_id() -> None:
    first, second = some("gscan", size=3), some("gscan", size=3)
    assert [list(pair.lines()) for pair in first] == [list(pair.lines()) for pair in second]


def test_a_part_that_ends_is_searched_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recombine.pairs.MOST_TRIES", 1_000_000)
    assert len(some("lilgym", "target", 2)) == 2


def test_a_second_difference_in_the_world_is_noticed() -> None:
    pair = next(pair for pair in some("gscan", "bystander", 1))
    world = pair.second.world
    thing = world.things[-1]
    moved = replace(world, things=(*world.things[:-1], replace(thing, size=5 - thing.size)))
    found = family("gscan")
    assert isinstance(found, Pairing)
    assert found.pair_problems(pair.first, replace(pair.second, world=moved), "bystander")


def test_a_renamed_story_with_one_more_change_is_noticed() -> None:
    pair = some("clutrr", "name", 1)[0]
    found = family("clutrr")
    assert isinstance(found, Pairing)
    story = str(pair.second.inputs["story"]) + " It rained."
    assert found.pair_problems(pair.first, replace(pair.second, inputs={**pair.second.inputs, "story": story}), "name")


def test_scores_by_hand() -> None:
    pairs = some("scan", "conjunction", 40)
    blind = {name: Answer(name, pair.first.answer) for pair in pairs for name, _ in pair.members()}
    perfect = {name: Answer(name, example.answer) for pair in pairs for name, example in pair.members()}
    scores = {score.run: score for score in score_pairs(pairs, {"blind": blind, "perfect": perfect})}
    assert (scores["perfect"].both_right, scores["perfect"].unchanged) == (40, 0)
    assert scores["perfect"].follows.mean == 1.0
    assert (scores["blind"].both_right, scores["blind"].only_first, scores["blind"].unchanged) == (0, 40, 40)
    assert scores["blind"].consistency.mean == scores["blind"].follows.mean == 0.0
    with pytest.raises(UsageError, match="unanswered"):
        score_pairs(pairs, {"half": dict(list(perfect.items())[:10])})
    with pytest.raises(UsageError, match="in no pair"):
        score_pairs(pairs, {"other": {**perfect, "nosuch/1": Answer("nosuch/1", "x")}})
    half = score_pairs(pairs, {"half": dict(list(perfect.items())[:10])}, "wrong")[0]
    assert (half.both_right, half.neither) == (5, 35)


def test_pairs_of_one_command_are_one_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """gSCAN's command stands among the inputs, not in `meta`; pairs of the same command are not independent."""
    pairs = some("gscan", "verb", 3)
    seen: list[list[str]] = []

    def spy(values: list[float], clusters: list[str]) -> object:
        seen.append(list(clusters))
        return interval(values, clusters)

    monkeypatch.setattr("recombine.evaluate.pairs.interval", spy)
    score_pairs(pairs, {"blind": {name: Answer(name, "walk") for pair in pairs for name, _ in pair.members()}})
    assert seen[0] == [str(pair.first.inputs["command"]) for pair in pairs]


def test_invariance_by_hand() -> None:
    pairs = some("scan", "order", 10)
    shaky = {
        name: Answer(name, example.answer if name.endswith("1") else "I_WALK")
        for pair in pairs
        for name, example in pair.members()
    }
    score = score_pairs(pairs, {"shaky": shaky})[0]
    assert score.kind == "invariance"
    assert score.follows.mean == 0.0
    assert score.only_first + score.both_right == 10


def test_the_command_line_writes_and_evaluates_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "pairs"
    assert main(["generate", "scan", "--pairs", "all", "--size", "5", "--out", str(out)]) == 0
    rows = [json.loads(line) for line in (out / "pairs.jsonl").read_text().splitlines()]
    assert len(rows) == 2 * 5 * 6
    assert set(rows[0]) == {"id", "pair", "facet", "kind", "inputs", "answer", "proof"}
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps({"id": row["id"], "answer": row["answer"]}) + "\n" for row in rows))
    report = tmp_path / "report"
    assert main(["evaluate", "--data", str(out), "--answers", f"perfect={answers}", "--out", str(report)]) == 0
    assert "<svg" in (report / "index.html").read_text()
    found = json.loads((report / "pairs_report.json").read_text())["pairs"]
    assert {row["facet"] for row in found} == set(recombine.families.family("scan").PAIRS)  # type: ignore[attr-defined]
    assert all(row["both_right"] == 5 for row in found)
    (out / "pairs.jsonl").write_text((out / "pairs.jsonl").read_text().replace("I_WALK", "I_JUMP", 1))
    with pytest.raises(FileError, match="does not hold the pairs"):
        read_pairs(out)
    capsys.readouterr()


def test_pairs_of_another_job_are_kept(tmp_path: Path) -> None:
    write_pairs(tmp_path / "x", "scan", "verb", size=8, split="addprim_jump")
    before = (tmp_path / "x" / "pairs.jsonl").read_bytes()
    for facet, words in (("verb", {"size": 5}), ("verb", {"size": 8, "seed": 1}), ("manner", {"size": 8})):
        with pytest.raises(FileError, match="another job"):
            write_pairs(tmp_path / "x", "scan", facet, split="addprim_jump", **words)
    write_pairs(tmp_path / "x", "scan", "verb", size=8, split="addprim_jump")
    assert (tmp_path / "x" / "pairs.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ["--with", "oracle"],
        ["--part", "test"],
        ["--where", "verb = walk"],
        ["--rows", "x"],
        ["--latex", "x"],
        ["--figures", "x"],
    ],
)
def test_what_pairs_do_not_take_is_refused(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pairs(tmp_path / "x", "scan", "verb", size=2)
    (tmp_path / "a.jsonl").write_text("")
    assert main(["evaluate", "--data", str(tmp_path / "x"), "--answers", str(tmp_path / "a.jsonl"), *words]) == 2
    assert words[0] in capsys.readouterr().err


def test_pairs_without_answers_say_how_to_get_some(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pairs(tmp_path / "x", "scan", "verb", size=2)
    assert main(["evaluate", "--data", str(tmp_path / "x")]) == 2
    assert "needs --answers FILE" in capsys.readouterr().err


def test_unanswered_pairs_are_left_out_if_that_is_wanted() -> None:
    found = some("scan", "verb", 3)
    answered = {name: Answer(name, example.answer) for pair in found[:2] for name, example in pair.members()}
    (score,) = score_pairs(found, {"m": answered}, "skip")
    assert (score.pairs, score.both_right) == (2, 2)
    with pytest.raises(UsageError, match="both rows of no pair"):
        score_pairs(found, {"m": dict(list(answered.items())[:1])}, "skip")


def test_a_folder_of_pairs_can_be_shown_and_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pairs(tmp_path / "x", "scan", "verb", size=2)
    first = json.loads((tmp_path / "x" / "pairs.jsonl").read_text().splitlines()[1])
    assert main(["show", str(tmp_path / "x"), "--index", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["id"], shown["answer"]) == (first["id"], first["answer"])
    assert main(["show", str(tmp_path / "x"), "--index", "4"]) == 2
    assert "past the end" in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "x")]) == 0
    assert "2 pairs" in capsys.readouterr().out
    file = tmp_path / "x" / "pairs.jsonl"
    file.write_text(file.read_text().replace("I_", "X_", 1))
    assert main(["verify", str(tmp_path / "x")]) == 1


def test_wrong_requests_for_pairs(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="verb"):
        write_pairs(tmp_path / "x", "scan", "verbs")
    with pytest.raises(UsageError, match="1 to 1,000,000"):
        write_pairs(tmp_path / "x", "scan", "verb", size=0)
    assert main(["generate", "scan", "--pairs", "verb", "--train", "5", "--out", str(tmp_path / "x")]) == 2
    assert not (tmp_path / "x").exists()


def test_a_recoloured_bystander_changes_no_determiner() -> None:
    """Row 24 has an object whose new colour would turn "the" into "a": such a partner is passed over."""
    pairs = some("reascan", "bystander", 30)
    assert len(pairs) == 30
    assert all(pair.first.inputs["command"] == pair.second.inputs["command"] for pair in pairs)
