"""lilGym's own statements: one reading each, close to the corpus, worth asking; tasks, answers, mistakes, files."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import recombine
from recombine import kernels, keys
from recombine.core import Example, Job, Problem
from recombine.data.datasets import example as example_of
from recombine.data.plan import plan_part
from recombine.errors import FileError, RecombineError, UsageError
from recombine.families.lilgym import (
    LILGYM,
    audit,
    check_statement,
    explain,
    facets,
    native,
    nouns,
    oracle,
    plan,
    program,
    readings,
    splits,
    wording,
)
from recombine.families.lilgym.oracle import claims
from recombine.families.lilgym.phrases import Mode, Voice
from recombine.families.lilgym.scene import KINDS, Kind, Scene
from recombine.families.lilgym.sound import fit, flip, grammar, kernel, language, planner, selection, worlds
from recombine.jobs import make_job

ROOT = Path(__file__).resolve().parents[2]
PIECE = re.compile(r"\w+")
"""A name or a number of a program."""


def drawn(kind: Kind, count: int, seed: int = 3) -> list[language.Statement]:
    """Statements as often as editing given scenes asks them, whatever their part."""
    table = language.table(kind)
    places = np.repeat(np.arange(len(table.codes)), table.visits)
    return [language.statement(kind, int(place)) for place in np.random.default_rng(seed).permutation(places)[:count]]


def worded(statements: list[language.Statement], mode: Mode = "any") -> list[str]:
    """One wording of each."""
    manner = language.Manner(mode)
    return [language.said(statement, manner, keys.state("worded", i)) for i, statement in enumerate(statements)]


def examples(count: int, split: str = "random", part: str = "test", seed: int = 1, **options: object) -> list[Example]:
    job = make_job(LILGYM, split, part, None, seed, options).rows(0, count)
    batch = LILGYM.generate(job)
    return [LILGYM.example(batch, row) for row in range(count)]


# --- the language ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_phenomena_occur_about_as_often_as_in_the_corpus(kind: Kind) -> None:
    """Within five points each, in sentences as long as the corpus's (11.2 words on average), give or take one."""
    found = drawn(kind, 6_000)
    ours = facets.shares([s.program for s in found])
    off = {name: ours[name] - percent for name, percent in facets.CORPUS[kind].items()}
    assert {name: points for name, points in off.items() if abs(points) > 5} == {}
    assert all(ours[name] > 0 for name, percent in facets.CORPUS[kind].items() if percent > 2), "what the corpus has, we have"
    words = [len(text.split()) for text in worded(found[:2_500])]
    assert 10.2 <= sum(words) / len(words) <= 12.2
    assert max(words) <= wording.MOST_WORDS


@pytest.mark.parametrize("kind", KINDS)
def test_the_language_has_twenty_thousand_meanings(kind: Kind) -> None:
    """A sample of the table is judged again: worth asking, and no two alike on the scenes tried; what is stored follows from it."""
    table = language.table(kind)
    assert len(table.codes) >= 20_000
    assert len(np.unique(table.codes, axis=0)) == len(table.codes)
    places = list(range(0, len(table.codes), len(table.codes) // 400))
    sample = [language.statement(kind, place) for place in places]
    assert selection.judged(kind, table.codes[places]).tolist() == table.goals[places].tolist()
    verdicts = worlds.verdicts(kind, [s.program for s in sample[::4]])
    assert verdicts == [("", goal) for goal in table.goals[places[::4]].tolist()], "programs say the same as plans"
    for place, statement in zip(places, sample, strict=True):
        assert (language.encode(statement.plan) == table.codes[place]).all()
        assert table.phenomena[place] == facets.phenomena_set(statement.program)
        assert (table.words[place], table.depths[place]) == (statement.words, statement.depth)
        assert table.words[place] <= wording.MOST_WORDS
        for split in ("random", "color_rank", "quantifier_relation", "depth", "length"):
            assert language.belongs(kind, split, splits.part_of(split, statement))[place], (split, statement.text)
    assert (table.visits > 0).mean() > 0.5 and (table.visits <= kernel.CLASSES).all()


# One plan of each construction, and what its wordings are.
BLUE, TOP = plan.Noun("blue"), plan.Noun("blue", place="top")
CONSTRUCTIONS: dict[str, tuple[Kind, plan.Plan]] = {
    "items": ("tower", plan.Items("exactly", 2, BLUE)),
    "placed items": ("scatter", plan.Items("some", 0, plan.Noun("blue", place="wall"))),
    "related items": ("tower", plan.Items("at_least", 2, plan.Noun("blue", relation="directly_above", other=BLUE))),
    "towers": ("tower", plan.Boxes("exactly", 1, (plan.Has("some", 0, TOP),))),
    "boxes": ("scatter", plan.Boxes("exactly", 2, (plan.Has("exactly", 3, plan.Noun(shape="circle")),))),
    "no box": ("scatter", plan.Boxes("none", 0, (plan.Has("at_most", 2, plan.Noun()),))),
    "two conditions": ("tower", plan.Boxes("some", 0, (plan.Has("some", 0, TOP), plan.Has("exactly", 3, plan.Noun())))),
    "only": ("scatter", plan.Boxes("some", 0, (plan.HasOnly(plan.Noun("blue")),))),
    "variety of a box": ("tower", plan.Boxes("some", 0, (plan.HasVariety("exactly", 2, "color"),))),
    "every box": ("tower", plan.EveryBox((plan.Has("some", 0, BLUE),))),
    "every item": ("scatter", plan.EveryItem(plan.Noun("blue"), plan.Noun(place="wall"))),
    "all the same": ("scatter", plan.AllSame(plan.Noun(shape="circle"), "color")),
    "variety": ("scatter", plan.Variety("exactly", 2, "color", plan.Noun(shape="circle"))),
    "more": ("tower", plan.Compare(True, BLUE, plan.Noun("black"))),
    "as many": ("tower", plan.Compare(False, BLUE, plan.Noun("black"))),
    "equal towers": ("tower", plan.SameCount(True)),
    "no equal boxes": ("scatter", plan.SameCount(False)),
    "and": ("tower", plan.Both(plan.Items("some", 0, BLUE), plan.Items("some", 0, plan.Noun("black")))),
    "or": ("tower", plan.Either(plan.Items("some", 0, BLUE), plan.Items("some", 0, plan.Noun("black")))),
    "not": ("tower", plan.Not(plan.Items("exactly", 2, BLUE))),
}  # fmt: skip


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_every_construction_has_six_wordings_that_mean_one_program(name: str) -> None:
    kind, made = CONSTRUCTIONS[name]
    known = {wording.say(made, kind, Voice("known", seed)) for seed in range(150)}
    every = known | {wording.say(made, kind, Voice("any", seed)) for seed in range(150)}
    assert len(every) >= 6
    code = plan.write(made, kind)
    for text in every:
        assert oracle.proof(text, code, kind) == ()
    assert claims.NEW_WORDS.search(wording.say(made, kind, Voice("fresh")).lower()), "the construction has a new wording"
    assert not any(claims.NEW_WORDS.search(text.lower()) for text in known)


def test_all_listed_forms_are_said() -> None:
    """There is, active, quantifier first, relative clause, comparison, only, nothing but, all but one, the rest."""
    texts = [text for kind in KINDS for text in worded(drawn(kind, 4_000))]
    for form in (
        r"^There (is|are) ", r"^(A|An) (tower|box) ", r"^Exactly two ", r"\bthat (has|contains|is) ", r" than | outnumber ", r"^Only ",
        r"nothing but", r"^Every box but one", r", the rest do not", r"^Each ", r"^The number of ", r" or more ",
    ):  # fmt: skip
        assert any(re.search(form, text) for text in texts), form


def test_words_drawn_at_once_are_those_picked_one_by_one() -> None:
    """`Voice.draw` works out what can be said; picking word by word says the same things, about as often."""
    noun = plan.Noun("blue", place="bottom", relation="directly_below", other=plan.Noun("black"))
    drawn_counts = Counter(
        nouns.noun_phrase(noun, "tower", Voice("any", keys.state("d", i)), True, False) for i in range(1_500)
    )
    picked = Counter(nouns._noun_phrase(Voice("any", keys.state("p", i)), noun, "tower", True, False) for i in range(1_500))
    assert {text for text, n in picked.items() if n > 20} <= set(drawn_counts) and len(drawn_counts) >= 12
    assert max(abs(drawn_counts[text] - n) for text, n in picked.items()) < 120


def test_two_readings_are_refused() -> None:
    """Planted: sentences of which the reader must find no reading, or more than one."""
    for text in (
        "A box contains only two circles.", "There are exactly two blocks at the top of a tower.", "Exactly two towers have a blue top.",
        "A tower has a block directly above a blue block at the top.", "There are two blue blocks.", "Every box but one contain a circle.",
        "A box contains no circle and exactly two squares.", "One tower has a blue top.", "There is a blue blocks.",
    ):  # fmt: skip
        with pytest.raises(oracle.Unreadable):
            oracle.understand(text)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_has_one_program_and_means_it(kind: Kind) -> None:
    said: dict[str, str] = {}
    found = drawn(kind, 900)
    for mode in ("any", "new"):
        for statement, text in zip(found, worded(found, mode), strict=True):
            assert oracle.proof(text, statement.program, kind) == ()
            assert said.setdefault(text, statement.program) == statement.program
            assert mode == "any" or claims.NEW_WORDS.search(text.lower())


PLURAL_WITHOUT_EACH = re.compile(
    r"\b(?:blocks|tops|bases|objects|items|circles|squares|triangles) (?:that )?(?:at|in (?!exactly|at|two|three|no)|touch |touching|against|directly|right|somewhere|not|on the|second|third)"
    r"|\b(?:towers|boxes) (?:that )?(?:have|contain|hold|with) (?!the same|equally|different)"
)


@pytest.mark.parametrize("kind", KINDS)
def test_plurals_say_each_and_counts_are_possible(kind: Kind) -> None:
    """What is said of several items is said of each; no more tops, bottoms, seconds or thirds are counted than there are boxes."""
    found, ranked = drawn(kind, 4_000), 0
    for statement, text in zip(found, worded(found), strict=True):
        assert PLURAL_WITHOUT_EACH.search(text) is None, text
        for part in plan.parts(statement.plan):
            if isinstance(part, plan.Items) and part.noun.place in grammar.RANKS.values:
                assert part.number <= 3, statement.text
                ranked += 1
    assert ranked >= 100 if kind == "tower" else ranked == 0, "only blocks of towers have ranks"


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_distinct(kind: Kind) -> None:
    """SCRATCH: distinct programs. FLIPIT: distinct pairs of program and scene, also where statements come again."""
    scratch = make_job(LILGYM, "random", "validation", None, 3, {"scene": kind, "start": "scratch"})
    programs = [str(text) for text in LILGYM.generate(scratch.rows(0, 400)).columns["program"]]
    assert len(set(programs)) == len(programs)
    job = make_job(LILGYM, "random", "validation", None, 3, {"scene": kind, "task": "truth"})
    batch = LILGYM.generate(job.rows(0, 1_500))
    forms = [LILGYM.canonical(LILGYM.example(batch, row)) for row in range(len(batch))]
    assert len(set(forms)) == len(forms)
    programs = [str(text) for text in batch.columns["program"]]
    assert len(set(programs)) < len(batch), "some statement came again"
    assert len({str(text) for text in batch.columns["statement"]}) > len(set(programs)), "… in other words"


@pytest.mark.parametrize("kind", KINDS)
def test_visits_have_classes_of_their_own(kind: Kind) -> None:
    codes = np.stack([language.encode(plan.Items("some", 0, plan.Noun("blue")))] * 18)
    visits, tastes = np.arange(18) % 9, planner.pack_tastes([(4, 7, 7, 0)] * 18)
    asked = planner.Asked(codes, tastes, visits, np.full(18, 9))
    rules = flip.Rules(kind == "tower", False, True, planner.ROUNDS, planner.SPARE_ROUNDS)
    plain, fast = (planner.run(kind, asked, keys.states(5, 0, 18), rules, compiled) for compiled in (False, True))
    assert all((a == b).all() for a, b in zip(plain, fast, strict=True))
    for row in range(18):
        scene = plain.items[row, : int(plain.counts[row])]
        assert plain.truths[row] == (1 if (scene[:, 4] == 2).any() else -1)
        assert kernel.scene_class(scene, len(scene), 9) == visits[row]
        shuffled = scene[::-1].copy()
        shuffled[:, 0] = 2 - shuffled[:, 0]
        assert kernel.scene_class(shuffled, len(shuffled), 9) == visits[row], "the order of boxes and items does not matter"


@pytest.mark.parametrize("kind", KINDS)
def test_every_visit_can_be_made(kind: Kind) -> None:
    """The spare state of a visit makes its row, whatever the seed. The rarest are in the sample: visits that were limited."""
    table = language.table(kind)
    often = np.flatnonzero(table.visits > 0)
    limited = often[table.limits[often] < fit.first_limits(table.eases)[often]]
    chosen = np.concatenate([often[:: len(often) // 150], limited[:30]])
    codes, tastes, visits = table.codes[chosen], table.tastes[chosen], table.visits[chosen].astype(np.int64)
    assert not selection.fails(kind, codes, tastes, visits).any()
    assert (table.visits <= table.limits).all() and (table.visits[table.eases < fit.EASY] == 0).all()


def test_a_class_without_a_scene_is_found_out() -> None:
    """A statement gets fewer visits where a class has no scene from which a plan is found, and the fit still ends."""
    facts = fit.Facts(
        np.zeros(60, np.uint32),
        np.zeros(60, np.float16),
        np.full(60, 11, np.float16),
        np.ones(60, np.int16),
        np.full(60, 16, np.uint8),
    )
    visits, limits = fit.made_visits("tower", facts, lambda which, times: (which < 7) & (times > 3))
    assert visits[:7].max() <= 3 and limits[:7].max() <= 3 and visits.min() >= 1
    assert visits[7:].min() > 3 and (limits[7:] == 16).all() and (visits <= limits).all()
    never, _ = fit.made_visits("tower", facts, lambda which, times: which == 0)
    assert never[0] == 0 and never[1:].min() >= 1


def _has_the_form_of_a_fit(kind: Kind) -> None:
    """Weights and visits are the grammar's, tilted by phenomena and length; nothing else went into them."""
    table = language.table(kind)
    aims = [facets.NAMES.index(name) for name in fit.targets(kind)]
    length = (table.spoken.astype(np.float64) - fit.MEAN_WORDS)[:, None]
    causes = np.hstack([fit.shown(table.phenomena)[:, aims], length, np.ones((len(length), 1))])
    logs = np.log(table.weights.astype(np.float64)) - table.bases
    assert np.abs(causes @ np.linalg.lstsq(causes, logs, rcond=None)[0] - logs).max() < 0.02, "but for rounding"
    assert ((table.visits == 0) == (table.limits == 0)).mean() > 0.998 and (table.visits <= table.limits).all()
    inner = (table.visits >= 3) & (table.visits < table.limits)  # every phenomenon but pairs occurs here, so tilts are known
    logs = np.log(table.visits[inner].astype(np.float64)) - table.bases[inner]
    tilts = np.linalg.lstsq(causes[inner], logs, rcond=None)[0]
    least = np.minimum(1, table.limits)
    expected = np.clip(np.exp(causes @ tilts + table.bases), least, np.maximum(least, table.limits))
    is_close = np.abs(expected - table.visits) <= 0.6 + 0.03 * expected
    assert inner.sum() > 1_000 and is_close.mean() > 0.998


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_is_what_its_command_makes(kind: Kind) -> None:
    """Samples of every column are made again: candidates of small frames, the form of the fit, the rest for some statements."""
    table = language.table(kind)
    frames = [frame for frame in grammar.frames(kind) if frame.size < 1_000 and frame.name != "items"]
    codes, bases = selection.candidates(kind, frames)
    places = {row.tobytes(): place for place, row in enumerate(table.codes)}
    found = [(places[row.tobytes()], base) for row, base in zip(codes, bases, strict=True) if row.tobytes() in places]
    assert len(found) > 300
    assert [table.bases[place] for place, _ in found] == [base for _, base in found]
    _has_the_form_of_a_fit(kind)
    sample = np.arange(0, len(table.codes), len(table.codes) // 60)
    statements = [language.statement(kind, int(place)) for place in sample]
    assert (selection.spoken(statements) == table.spoken[sample]).all()
    assert (selection.answers(kind, table.codes[sample], table.goals[sample]) == table.answers[sample]).all()
    assert planner.pack_tastes([planner.taste(s.program) for s in statements]).tolist() == table.tastes[sample].tolist()
    assert selection.is_tidy(kind, table.codes[sample]).tolist() == [worlds.is_tidy(kind, s.program) for s in statements]


@pytest.mark.parametrize("kind", KINDS)
def test_plans_and_programs_agree(kind: Kind) -> None:
    """Statements are judged by their plans, at both speeds; their programs say the same."""
    scenes = [worlds.draw_scenes(kind, scratch, keys.states(8 + scratch, 0, 8)) for scratch in (False, True)]
    items, counts = (np.concatenate(parts) for parts in zip(*scenes, strict=True))
    found = drawn(kind, 500)
    codes = np.stack([language.encode(s.plan) for s in found]).astype(np.int64)
    assert all(language.decode(code.astype(np.int8)) == s.plan for code, s in zip(codes, found, strict=True))
    rows, shown = np.repeat(np.arange(len(found)), len(counts)), np.tile(np.arange(len(counts)), len(found))
    expected = program.Bank([program.compile(s.program) for s in found]).evaluate(rows, items[shown], counts[shown], True)
    for compiled in (False, True):
        assert (planner.by_codes(kind, codes, compiled)(rows, items[shown], counts[shown]) == expected).all()


@pytest.mark.parametrize("start", ["scratch", "flipit"])
def test_more_rows_than_exist_are_refused(start: str) -> None:
    job = make_job(LILGYM, "random", "validation", None, 3, {"start": start})
    most = LILGYM.bound(job)
    assert len(LILGYM.generate(job.rows(most - 1, most))) == 1
    with pytest.raises(UsageError, match=f"{most:,}"):
        LILGYM.generate(job.rows(most, most + 1))
    with pytest.raises(UsageError, match=f"{most:,}"):
        plan_part(LILGYM, job, most + 1)


def test_wordings() -> None:
    noun = plan.Noun("blue", place="top")
    two = plan.Boxes("exactly", 2, (plan.Has("some", 0, noun), plan.Has("exactly", 3, plan.Noun())))
    assert wording.say(two, "tower") == "There are exactly two towers each with a blue top and exactly three blocks."
    assert plan.write(two, "tower") == (
        "count(filter_obj(all_boxes, lambda x: x.is_tower() and exist(filter_obj(x.all_items_in_box(), lambda y: "
        "is_blue(y) and is_top(y))) and count(x.all_items_in_box()) == 3)) == 2"
    )
    other = plan.Items("some", 0, plan.Noun("black", "circle", relation="same_box", other=plan.Noun("blue")))
    assert (
        wording.say(plan.Not(other), "scatter")
        == "It is not true that there is a black circle in the same box as a blue object."
    )


@pytest.mark.parametrize("row", [5791])
def test_what_stands_at_the_base_is_not_followed_by_a_second_thing(row: int) -> None:
    """ "A blue block at the base and a yellow top block": the second could stand at the base as well."""
    example = example_of(f"lilgym@2/sound/random/test/0/{row:06d}")
    assert not example.validate()
    assert wording._names_rank("blue base")
    assert wording._names_rank("yellow top block")
    assert not wording._names_rank("blue block at the base")
    assert not wording._names_rank("blue blocks at the bottom")


def test_sentences_outside_the_language_are_unreadable() -> None:
    for text in ("", ".", "There is a red block.", "There are two blue blocks.", "There is a blue block", "there is a blue block. There is.", "x" * 5_000 + ".", "There is a blue block; rm -rf."):  # fmt: skip
        with pytest.raises(oracle.Unreadable):
            oracle.understand(text)


def test_constant_and_unreachable_statements_are_rejected() -> None:
    for text, reason in (
        ("exist(filter_obj(all_items, lambda x: is_blue(x) and is_black(x)))", "constant"),
        ("count(all_boxes) == 3", "constant"),
        ("count(all_items) == 11", "out_of_reach"),
        ("exist(filter_obj(all_items, is_top))", "constant"),
        ("exist(filter_color(all_items, Color.BLUE))", ""),
    ):
        assert worlds.verdicts("tower", [text])[0][0] == reason, text


# --- splits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("split", ["random", "color_rank", "quantifier_relation", "depth", "length"])
def test_every_statement_has_one_part_and_parts_keep_their_rule(kind: Kind, split: str) -> None:
    shares: Counter[str] = Counter()
    chosen = splits.SPLITS[split]
    assert isinstance(chosen, splits.RuleSplit)
    for statement in drawn(kind, 1_500):
        part = splits.part_of(split, statement)
        shares[part] += 1
        if chosen.rule is not None:
            assert chosen.rule(statement) == (part == "test")
    assert set(shares) == {"train", "validation", "test"}
    assert min(shares["train"], shares["test"]) > 10


def test_held_out_pieces_are_known_apart() -> None:
    train = [s for s in drawn("tower", 4_000) if splits.part_of("color_rank", s) == "train"]
    nouns = [noun for s in train for noun in plan.mentioned(s.plan)]
    for color, place in sorted(splits.HELD_COLOR_PLACES):
        assert not any((n.color, n.place) == (color, place) for n in nouns)
        if place in grammar.RANKS.values:
            assert any(n.color == color for n in nouns)
            assert any(n.place == place for n in nouns)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("split", splits.RULES)
def test_no_piece_of_a_held_out_program_is_missing_in_training(split: str, kind: Kind) -> None:
    def pieces(part: str) -> set[str]:
        places = np.flatnonzero(language.belongs(kind, split, part))
        return {piece for place in places for piece in PIECE.findall(language.statement(kind, int(place)).program)}

    assert pieces("test") <= pieces("train")


# --- tasks -----------------------------------------------------------------------------------------------------------

CONFIGURATIONS = [(kind, start) for kind in KINDS for start in ("flipit", "scratch")]


@pytest.mark.parametrize(("kind", "start"), CONFIGURATIONS)
def test_editing_tasks_are_valid_and_solved_by_their_answer(kind: Kind, start: str) -> None:
    for example in examples(30, scene=kind, start=start):
        assert [p for p in example.validate() if p.severity == "error"] == []
        verdict = example.score(example.answer)
        assert verdict.value == 1.0
        assert verdict.detail["steps"] == example.meta["edits"] + 1
        assert verdict.detail["reward"] == pytest.approx(1.0 - 0.1 * example.meta["edits"])
        assert example.score("STOP").mistakes[0] == "stops_at_once"
        assert example.inputs["target"] is (True if start == "scratch" else example.meta["target"])
        assert (start == "scratch") == (not example.world.items)


@pytest.mark.parametrize("kind", KINDS)
def test_truth_task(kind: Kind) -> None:
    found = examples(60, scene=kind, task="truth")
    answers = Counter(example.answer for example in found)
    assert min(answers["true"], answers["false"]) >= 15
    for example in found:
        assert example.validate() == []
        other = "false" if example.answer == "true" else "true"
        assert [
            example.score(text).value for text in (example.answer, f" {example.answer.upper()}. ", other, "true false", "maybe")
        ] == [1, 1, 0, 0, 0]
        assert "target" not in example.inputs
        assert example.score("nonsense").status == "unparsable"
        corrupted = dataclasses.replace(example, answer=other)
        assert [p.code for p in corrupted.validate()] == ["wrong_label"]


def test_single_rows_are_the_same_with_and_without_kept_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that needs several scenes is finished by the compiled form where that lies on disk, else interpreted."""
    table, job = language.table("tower"), make_job(LILGYM, "random", "test", None, 0).rows(0, 200)
    known = language.sequel("tower", "random", "test", job.base("statements"), False)
    places, states = known.places[:200], keys.derived(keys.derived(np.arange(200, dtype=np.uint64), job.base()), 1)
    asked = planner.Asked(table.codes[places], table.tastes[places], known.numbers[:200], table.visits[places].astype(np.int64))
    all_made = planner.make("tower", asked, states, from_scratch=False, flips=True, compiled=True)
    hard = np.argsort(-all_made.rounds, kind="stable")[:3]
    assert all_made.rounds[hard[0]] > 1
    for is_kept in (True, False):
        monkeypatch.setattr(kernels, "is_ready", lambda _name, is_kept=is_kept: is_kept)
        made = planner.make("tower", asked.at(hard), states[hard], from_scratch=False, flips=True, compiled=False)
        assert all((one == some[hard]).all() for one, some in zip(made[:5], all_made[:5], strict=True))


def test_compiled_and_plain_rows_are_the_same() -> None:
    for options in ({"scene": "tower"}, {"scene": "scatter"}, {"scene": "scatter", "start": "scratch"}):
        job = make_job(LILGYM, "random", "train", None, 4, options)
        many, few = LILGYM.generate(job.rows(0, 20)), LILGYM.generate(job.rows(15, 18))
        assert [many.row(15 + row) for row in range(3)] == [few.row(row) for row in range(3)]


def test_both_targets_occur_and_most_plans_are_short() -> None:
    found = examples(120, part="train", scene="tower")
    assert 30 < sum(e.meta["target"] for e in found) < 90
    assert sum(e.meta["edits"] <= 2 for e in found) > 70
    assert all(1 <= e.meta["edits"] <= planner.MAX_EDITS for e in found)


def test_mistakes_are_named_by_the_reading_under_which_the_answer_is_right() -> None:
    batch_job = Job("lilgym", 2, "sound", "random", "test", 0, (), 0, 1)
    example = LILGYM.example(LILGYM.generate(batch_job), 0)
    text = "count(filter_obj(all_boxes, lambda x: x.is_tower() and exist(filter_color(x.all_items_in_box(), Color.BLUE)))) == 2"
    meta = {**example.meta, "program": text, "scene": "tower", "start": "scratch", "target": True, "task": "edit"}
    task = dataclasses.replace(example, meta=meta, world=Scene("tower"))
    assert task.score("ADD blue left; ADD blue right; STOP").value == 1.0
    assert "reads_exactly_as_at_least" in task.score("ADD blue left; ADD blue right; ADD blue middle; STOP").mistakes
    assert "ignores_color" in task.score("ADD blue left; ADD black right; STOP").mistakes
    assert task.score("ADD blue left; ADD blue right").detail["error"] == "never_stopped"
    assert task.score("REMOVE left; STOP").detail["error"] == "nothing_to_remove"
    assert task.score("ADD blue left; " * 4 + "ADD blue left; STOP").detail["error"] == "does_not_fit"
    assert task.score("STOP; ADD blue left; STOP").status == "unparsable"
    for text in (
        "",
        "ADD red left; STOP",
        "ADD blue left ADD blue right STOP",
        "add",
        "STOP STOP",
        "ADD blue; STOP",
        "x" * 10_000,
    ):
        assert task.score(text).value == 0.0
    assert set(readings.READERS) >= {name for name, _ in readings.readings(program.compile(meta["program"]))}


def test_no_reader_is_passed_over() -> None:
    """Readers are tried only where a program has one of their words: every program that a reader changes has one."""
    assert set(readings.TRIGGERS) == set(readings.READERS)
    seen = set()
    for kind in KINDS:
        for statement in drawn(kind, 60):
            tree = program.compile(statement.program).tree
            marks = readings._marks(tree, set())
            for name, (_, change) in readings.READERS.items():
                changed = readings._shortened(tree) if name == "drops_last_condition" else readings._changed(tree, change)
                if changed is tree:
                    continue
                seen.add(name)
                assert changed != tree and marks & readings.TRIGGERS[name], (name, statement.program)
    assert seen >= {"ignores_negation", "ignores_color", "drops_last_condition", "reads_at_least_as_exactly"}


def test_a_trace_keeps_values_but_changes_none() -> None:
    """The last line of a proof, the value beside it and a fresh evaluation agree; so does every line of a trace by plain runs."""
    for example in [*examples(6), *examples(6, scene="scatter")]:
        compiled = program.compile(example.meta["program"])
        lines, value = explain.traced(compiled, example.world)
        assert value == compiled.evaluate(example.world)
        plain: list[str] = []
        run = explain._Run(explain.values.World.of(example.world), explain._FUEL)
        run.scopes.clear()
        run.hold = lambda variables: variables  # type: ignore[method-assign]
        explain._Tracer(compiled.text, run, plain).value(compiled.tree, {}, 0)
        assert len(plain) <= explain.MAX_STEPS, "else the trace is cut, and not one of these"
        assert lines == plain


def test_hostile_answers_score_nothing_and_run_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    attacks = ["__import__('os').system('touch x')", "open('x','w').write('x')", "exec(\"open('x','w')\")", "9**9**9", "STOP" * 900, "ADD " * 900, "(" * 3_000, "\0", "\ud800", "STOP; STOP", "ADD blue left; STOP\nSTOP", "true or false", "ADD blue left or ADD blue right; STOP"]  # fmt: skip
    for example in (examples(1)[0], examples(1, scene="scatter")[0], examples(1, task="truth")[0]):
        for text in attacks:
            assert example.score(text).value == 0.0, text
    assert list(tmp_path.iterdir()) == []


def test_corrupted_examples_are_caught() -> None:
    example = examples(3, seed=5)[0]
    for change in (
        {"answer": "STOP"},
        {"answer": "ADD blue nowhere; STOP"},
        {"answer": example.answer.removesuffix("; STOP")},
        {"inputs": {**example.inputs, "statement": "There is a blue cow."}},
        {"inputs": {**example.inputs, "boxes": [[], [], []]}},
        {"meta": {**example.meta, "program": "not (" + example.meta["program"] + ")"}},
        {"meta": {**example.meta, "target": not example.meta["target"]}},
        {"meta": {**example.meta, "program": "exist(all_items"}},
    ):
        assert any(p.severity == "error" for p in dataclasses.replace(example, **change).validate()), change


def test_explanations_end_in_the_value() -> None:
    answered = 0
    for example in examples(8, scene="scatter", seed=2) + examples(8, task="truth", seed=2):
        told = example.explain()
        value = program.compile(example.meta["program"]).evaluate(example.world)
        assert any(line.endswith(f"is {value}") or f"is {value} of" in line for line in told.steps)
        assert len(told.steps) < 90
        for shortcut in told.shortcuts:
            if shortcut.answer is not None:
                assert example.score(shortcut.answer).status in ("right", "wrong")
                answered += 1
    assert answered >= 40


def test_prompts_name_the_task() -> None:
    text = str(examples(1, scene="scatter")[0].render("text"))
    assert "Statement:" in text and "STOP" in text and "REMOVE <x> <y>" in text
    assert "Answer true or false" in str(examples(1, task="truth")[0].render("text"))


# --- one's own statement ---------------------------------------------------------------------------------------------


def test_check_statement() -> None:
    blue = Scene.of_towers([[2], [], []])
    good = check_statement("There is a blue block.", "exist(filter_color(all_items, Color.BLUE))", "tower", [(blue, True)])
    assert good.ok
    assert good.fewest_edits == 1
    assert good.share_true is not None and 0.3 < good.share_true < 1
    codes = {
        "exist(filter_obj(all_boxes, lambda x: x.is_tower))": "type_fault",
        "exist(all_boxes)": "constant",
        "exist(filter_obj(all_items, lambda x: count(get_above(x)) >= 2))": "out_of_reach",
        "import os": "bad_program",
        "is_black(unique(all_items))": "program_fails",
    }
    for text, code in codes.items():
        found = check_statement("…", text, "tower")
        assert not found.ok
        assert code in {p.code for p in found.problems}, text
    wrong = check_statement("There is a blue block.", "exist(filter_color(all_items, Color.BLUE))", "tower", [(blue, False)])
    assert [p.code for p in wrong.problems] == ["wrong_label"]


# --- files -----------------------------------------------------------------------------------------------------------


def test_native_round_trip(tmp_path: Path) -> None:
    for options in ({"scene": "tower"}, {"scene": "scatter", "start": "scratch"}, {"scene": "scatter", "task": "truth"}):
        batch = LILGYM.generate(make_job(LILGYM, "random", "test", None, 2, options).rows(0, 8))
        out = io.StringIO()
        LILGYM.write([batch], out)
        name = "tower" if options["scene"] == "tower" else "scatter"
        path = tmp_path / f"{name}_{len(options)}{options.get('task', '')}.json"
        path.write_text(out.getvalue())
        for row, back in enumerate(LILGYM.read(path)):
            assert isinstance(back, Example)
            assert back.inputs["statement"] == batch.row(row)["statement"]
            assert back.world.flat == batch.row(row)["items"]
            assert [p for p in back.validate() if p.severity == "error"] == []


def test_bad_records_are_problems_with_a_place(tmp_path: Path) -> None:
    box = [{"x_loc": 40, "y_loc": 80, "size": 20, "type": "square", "color": "Black"}]
    good = {"sentence": "x", "lf": "exist(all_items)", "label": "true", "structured_rep": [box, [], []]}
    bad = {
        "no sentence": {"lf": "True"}, "no boxes": {**good, "structured_rep": [[]]}, "no colour": {**good, "structured_rep": [[{**box[0], "color": "Red"}], [], []]},
        "no number": {**good, "structured_rep": [[{**box[0], "x_loc": "4"}], [], []]}, "no label": {**good, "label": "maybe"}, "no record": 7,
        "no size": {**good, "structured_rep": [[{**box[0], "size": 25}], [], []]}, "no text": {**good, "lf": 3}, "nothing": {"sentence": "x"},
    }  # fmt: skip
    path = tmp_path / "tower_flipit_x.json"
    path.write_text(
        json.dumps({"good": good, **bad, "wrong": {**good, "label": "false"}, "hostile": {**good, "lf": "__import__('os')"}})
    )
    found = recombine.audit(path, "lilgym")
    assert [p.place for p in found.problems if p.code == "malformed"] == list(bad)
    assert [p.place for p in found.problems if p.code == "wrong_label"] == ["wrong"]
    assert [p.place for p in found.problems if p.code == "bad_program"] == ["hostile"]
    assert found.checked == 3
    for text in ("", "7", "[" * 9_000, "{", '"x"'):
        path.write_text(text)
        with pytest.raises(FileError):
            list(LILGYM.read(path))


def test_one_bad_line_of_a_file_is_one_problem(tmp_path: Path) -> None:
    """Only a line feed ends a record: JSON texts may hold other line ends. What is no JSON does not hide what follows."""
    boxes = [[{"x_loc": 40, "y_loc": 80, "size": 20, "type": "square", "color": "Black"}], [], []]
    good = {"sentence": "one\u2028two\x85three", "label": "true", "structured_rep": boxes}
    line = json.dumps(good, ensure_ascii=False)
    path = tmp_path / "tower_x.json"
    path.write_text("\n".join([line, line[:-9], "", line + "\r", "[" * 9_000, line]) + "\n", encoding="utf-8", newline="")
    read = list(LILGYM.read(path))
    assert [item.place if isinstance(item, Problem) else item.id for item in read] == [f"line {n}" for n in (1, 2, 4, 5, 6)]
    assert [isinstance(item, Problem) for item in read] == [False, True, False, True, False]
    assert recombine.audit(path, "lilgym").checked == 3


def test_a_bad_line_of_an_official_file_is_an_error(tmp_path: Path) -> None:
    line = json.dumps({"sentence": "x", "lf": "True", "label": "true"})
    (tmp_path / "tower_scratch_dev.json").write_text(f"{line}\n{line[:-3]}\n")
    with pytest.raises(FileError, match=r"line 2 of tower_scratch_dev\.json is not JSON"):
        recombine.load("lilgym", split="tower_scratch", part="validation", files=str(tmp_path))


def test_official_splits_need_their_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="files"):
        recombine.load("lilgym", split="tower_flipit", part="validation")[0]
    with pytest.raises(RecombineError):
        recombine.load("lilgym", split="tower_flipit", part="validation", files=str(tmp_path))
    assert splits.SPLITS["tower_flipit"].parts["train"].rows("official") == 5_704
    sizes = [
        part.rows("official") for name in ("tower_flipit", "scatter_flipit") for part in splits.SPLITS[name].parts.values()
    ]
    assert len(native.ORDERS) * sum(sizes) + 1 == 92_179, "with the one empty scene of SCRATCH"


def test_invariance_check_sees_programs_that_look_at_box_order() -> None:
    scene = Scene.of_towers([[2], [], []])
    for text, expected in (("exist(all_boxes[0])", False), ("exist(all_items)", True)):
        example = Example(LILGYM, "x", {"statement": "x"}, "", world=scene, meta={"program": text})
        assert audit.is_invariant(example) is expected


def test_the_page_about_statements_runs() -> None:
    page = (ROOT / "docs" / "lilgym.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    done = [subprocess.run([sys.executable, "-W", "error", "-c", block], capture_output=True, text=True) for block in blocks]
    assert blocks and all(run.returncode == 0 and run.stdout for run in done), done
