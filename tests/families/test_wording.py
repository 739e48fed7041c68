"""Natural wording of gSCAN and ReaSCAN: other words, the same meaning, read back by a grammar of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine import keys
from recombine.columns import values_of
from recombine.core import Batch, Family
from recombine.data.generate import generate
from recombine.data.verify import verify
from recombine.errors import RecombineError, UsageError
from recombine.evaluate.rows import cluster_of, clusters_of
from recombine.families.gscan import GSCAN
from recombine.families.gscan import plan as gscan
from recombine.families.reascan import REASCAN
from recombine.families.reascan import plan as reascan
from recombine.grid import wording
from recombine.grid.codes import ADVERBS, RELATIONS, VERBS
from recombine.grid.matching import Description
from recombine.grid.oracle_wording import hear
from recombine.jobs import make_job

FAMILIES: dict[str, Any] = {"gscan": GSCAN, "reascan": REASCAN}
NATURAL: Mapping[str, object] = {"wording": "natural"}


def rows_of(
    family: Family, split: str, part: str, options: Mapping[str, object], recipe: str = "sound", count: int = 24
) -> Batch:
    job = make_job(family, split, part, recipe, 5, options)
    return family.generate(job.rows(0, count))


def spoken_commands() -> list[wording.Spoken]:
    """Every gSCAN command, and ReaSCAN commands of every pattern."""
    found = [gscan.spoken(command) for command in gscan.commands()]
    for pattern in ("simple", "one_clause", "two_clauses", "three_clauses", "nested", "2-1", "1-1-1", "1-2"):
        widths = reascan.parse_pattern(pattern)
        stream = keys.Stream("wording", pattern)
        for _ in range(60):
            command = _drawn(widths, stream)
            articles = [stream.choice(("a", "the")) for _ in command.phrases]
            found.append(reascan.spoken(reascan.format_command(command, articles)))
    return found


def _drawn(widths: reascan.Widths, stream: keys.Stream) -> reascan.Command:
    parents = reascan.parents_of(widths)
    while True:
        codes, relations = [stream.choice(reascan.roots(widths))], [""]
        for k in range(1, len(parents)):
            steps = reascan.steps()[codes[parents[k]]]
            relation, code = divmod(stream.choice(steps), reascan.N_PHRASES) if steps else (0, 0)
            codes.append(code)
            relations.append(RELATIONS[relation])
        said = Description(tuple(map(reascan.phrase_of, codes)), parents, tuple(relations))
        command = reascan.Command(stream.choice(VERBS), stream.choice(ADVERBS), said)
        if not reascan.broken_rules(command):
            return command


def heard_as_spoken(text: str) -> wording.Spoken | None:
    """The oracle's reading in the writer's terms."""
    heard = hear(text)
    if heard is None:
        return None
    links = tuple((noun.parent == k, noun.relation) for k, noun in enumerate(heard.nouns[1:]))
    return wording.Spoken(heard.verb, heard.manner, tuple(noun[:4] for noun in heard.nouns), links)


def test_both_readers_find_what_was_said() -> None:
    stream = keys.Stream("wording", "numbers")
    for spoken in spoken_commands():
        for number in (0, *(stream.below(1 << 62) for _ in range(6))):
            text = wording.say(spoken, number)
            assert wording.read(text) == spoken, text
            assert heard_as_spoken(text) == spoken, text


def test_every_table_entry_is_read_by_the_oracle() -> None:
    """Each verb, adverb, adjective, noun and opening of a clause at least once, with its meaning."""
    for table, place in ((wording.VERBS, 0), (wording.ADVERBS, 1)):
        for plain, choices in table.items():
            for said in choices:
                heard = hear(f"{said} a red circle" if place == 0 else f"push a red circle {said}")
                assert heard is not None and heard[place] == plain, said
    for opening, is_deeper in ((wording.FIRST, True), (wording.FURTHER, False), (wording.FURTHER_BARE, False)):
        for relation, choices in opening.items():
            for said in choices:
                before = "" if is_deeper else "in the same row as a big box "
                heard = hear(f"push the circle {before}{said} a red thing")
                assert heard is not None and heard.nouns[-1][-2:] == (0, relation), said
    for plain, choices in {**wording.HEADS, **wording.SIZES}.items():
        for said in choices:
            heard = hear(f"pull a {said} square" if plain in wording.SIZES else f"pull a red {said}")
            assert heard is not None and plain in heard.nouns[0], said


@pytest.mark.parametrize(
    "text",
    [
        "push a circle to the left of a red square", "push a circle next to a red square", "push a circle and in the same row as a box",
        "push a circle that in the same row as a red box", "push a circle which is", "push a crimson circle", "go a red circle",
        "push an circle", "push a object", "push a red red circle", "push a red circle that is red", "push a red circle quickly",
        "push a circle has the same size as a red box", "push a circle that stands of the same size as a red box",
        "push a circle that has the same row as a red box", "push a circle that shares its size as a red box", "push", "",
        "push a circle that is big and red", "push  a circle", "push a circle in zigzags in zigzags",
    ],
)  # fmt: skip
def test_other_texts_are_not_read(text: str) -> None:
    assert hear(text) is None
    assert wording.read(text) is None


CASES = [
    ("gscan", "compositional", "train", "sound"), ("gscan", "hold_out", "test", "sound"),
    ("gscan", "compositional", "test", "release"), ("reascan", "all", "train", "sound"), ("reascan", "hold_out", "train", "sound"),
    ("reascan", "two_clauses", "test", "release"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "split", "part", "recipe"), CASES)
def test_only_the_words_differ(name: str, split: str, part: str, recipe: str) -> None:
    family = FAMILIES[name]
    plain, natural = (rows_of(family, split, part, options, recipe, 24) for options in ({}, NATURAL))
    for column in family.SCHEMA:
        same = values_of(plain.columns[column]) == values_of(natural.columns[column])
        assert same == (column != "command"), column
    assert np.array_equal(family.canonical_batch(plain), family.canonical_batch(natural))
    errors = [problem for _, problem in family.validate_batch(natural) if problem.severity == "error"]
    assert errors == []
    for row in range(0, 24, 5):
        one, other = family.example(plain, row), family.example(natural, row)
        assert (one.plan, one.answer, family.canonical(one)) == (other.plan, other.answer, family.canonical(other))
        assert [p for p in family.validate(other) if p.severity == "error"] == []
        assert other.score(one.answer).value == 1
        assert family.facet_values(one) == family.facet_values(other)
    assert natural.id(3).replace("+wording=natural", "") == plain.id(3)
    job = natural.job
    pieces = [values_of(family.generate(job.rows(a, b)).columns["command"]) for a, b in ((0, 7), (7, 24))]
    assert pieces[0] + pieces[1] == values_of(natural.columns["command"])
    if recipe == "release":
        picked = family.pick(job, np.array([11, 4]))
        whole = values_of(natural.columns["command"])
        assert values_of(picked.columns["command"]) == [whole[11], whole[4]]


@pytest.mark.parametrize("name", FAMILIES)
def test_the_oracle_judges_natural_words(name: str) -> None:
    """A text that says something else is found, and natural words in a plain part are refused."""
    family = FAMILIES[name]
    batch = rows_of(family, next(iter(family.SPLITS)), "train", NATURAL)
    for row in range(len(batch)):
        example = family.example(batch, row)
        text = str(example.inputs["command"])
        spoken = wording.read(text)
        assert spoken is not None
        other = spoken._replace(verb={"walk": "push", "push": "pull", "pull": "walk"}[spoken.verb])
        for changed in (wording.say(other, row), f"{text} to the left of a red square"):
            mutant = dataclasses.replace(example, inputs={**example.inputs, "command": changed})
            assert family.validate(mutant), changed
        meta = {key: value for key, value in example.meta.items() if key != "wording"}
        if wording.is_reworded(text):
            codes = {problem.code for problem in family.validate(dataclasses.replace(example, meta=meta))}
            assert codes == {"bad_command"}, text
    moved = dataclasses.replace(batch, job=wording.plain_job(batch.job))
    found = {row for row, problem in family.validate_batch(moved) if problem.code == "bad_command"}
    texts = values_of(batch.columns["command"])
    assert found == {row for row, text in enumerate(texts) if wording.is_reworded(text)}
    assert len(found) > len(texts) // 2


@pytest.mark.parametrize("name", FAMILIES)
def test_pairs_prompts_and_clusters(name: str) -> None:
    family = FAMILIES[name]
    batch = rows_of(family, next(iter(family.SPLITS)), "train", NATURAL)
    plain = rows_of(family, next(iter(family.SPLITS)), "train", {})
    assert [str(v) for v in values_of(clusters_of(family, batch))] == [str(v) for v in values_of(clusters_of(family, plain))]
    for row in range(12):
        example, old = family.example(batch, row), family.example(plain, row)
        assert cluster_of(example) == cluster_of(old)
        asked = family.prompts.question(example, "text")
        assert (wording.NOTE in asked) == wording.is_reworded(str(example.inputs["command"]))
        assert wording.NOTE not in family.prompts.question(old, "text")
        for facet in family.PAIRS:
            partner = family.partner(example, facet)
            if partner is None:
                continue
            assert family.pair_problems(example, partner, facet) == []
            one, other = (set(str(e.inputs["command"]).split()) for e in (example, partner))
            assert (
                len(one ^ other) <= 6 if facet == "verb" or facet == "adverb" else one == other
            )  # only that word is said anew


@pytest.mark.parametrize("name", FAMILIES)
def test_folders(name: str, tmp_path: Path) -> None:
    options = {"wording": "natural"}
    generate(name, tmp_path / "out", size=16, seed=2, options=options, engine="serial")
    assert verify(tmp_path / "out").ok
    with pytest.raises(UsageError, match="natural wording"):
        generate(name, tmp_path / "native", size=20, seed=2, options=options, engine="serial", format="native")
    assert not list((tmp_path / "native").glob("**/*.txt"))


def test_an_unknown_wording_is_refused() -> None:
    with pytest.raises(RecombineError, match="natural"):
        make_job(GSCAN, "compositional", "train", "sound", 0, {"wording": "fancy"})
