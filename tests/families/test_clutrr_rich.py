"""The laws of the rich style: every frame says its facts and no others, and a text with two readings is refused."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from recombine import kernels
from recombine.core import Batch
from recombine.errors import BadOption, UnknownName
from recombine.families.clutrr import CLUTRR, kinship, oracle
from recombine.families.clutrr.language import kinwords, names, parser, rich, rich_tables, store
from recombine.families.clutrr.language.realize import KERNEL_MODULE
from recombine.families.clutrr.oracle_discourse import sentence_ends, tokens_of
from recombine.families.clutrr.oracle_reader import Ambiguous, read_rich_story
from recombine.jobs import make_job
from recombine.keys import Stream

ROOT = Path(__file__).resolve().parents[2]
PEOPLE = ("Mavis", "Otto", "Greta", "Hugo")
SEXES = ("female", "male")


@cache
def rows(count: int, part: str = "train", seed: int = 0, **options: str) -> Batch:
    return CLUTRR.generate(make_job(CLUTRR, "generalization_23", part, "sound", seed, options).rows(0, count))


def differences(text: str, facts: list[tuple[int, int, int]], genders: list[int]) -> list[str]:
    """What the independent reader finds different from the facts."""
    wanted = [(kinship.RELATIONS[r], PEOPLE[s], PEOPLE[o]) for r, s, o in facts]
    return parser.differences(
        read_rich_story(text, PEOPLE), wanted, {p: SEXES[g] for p, g in zip(PEOPLE, genders, strict=False)}
    )


def test_every_frame_says_exactly_its_facts_from_both_ends() -> None:
    t, stream = rich_tables.tables(), Stream("rich frames")
    kernel = kernels.load(KERNEL_MODULE, compiled=False)
    name_bytes, name_offsets = names.name_arrays(PEOPLE)
    out, people = np.zeros(4_000, np.uint8), np.arange(4, dtype=np.int32)
    for k, mirrored in itertools.product((1, 2, 3), (0, 1)):
        path, told = rich_tables._Clauses(k, False), rich_tables._Clauses(k, bool(mirrored))
        every = np.arange(len(path.keys))
        for number, frame in enumerate(rich.frames()):
            if frame.facts != k or (frame.kind == 0 and number % 3):
                continue  # coreferent frames are made of the same parts: a third of them has them all
            fitting = np.flatnonzero(rich_tables._mask(frame, told, mirrored, every))
            for fill in range(2 * kinwords.FORMAL) if frame.kind == 1 else (stream.below(rich.FILLS),):
                if not len(fitting):
                    continue
                row = int(fitting[stream.below(len(fitting))])
                facts = [(int(code), j, j + 1) for j, code in enumerate(path.there[row])]
                genders = path.gender[row].tolist()
                code = 2 * (rich.FIRST + number * rich.FILLS + fill) + mirrored
                end = kernel.write_chunk(
                    np.array(facts, np.int32), 0, k, code, np.array(genders, np.int8), people, name_bytes, name_offsets, False, t,
                    out, 0,
                )  # fmt: skip
                text = bytes(out[:end]).decode()
                assert differences(text, facts, genders) == [], text
                assert not re.search(r"\b[XYZW]\b|[{}<>|~]|  |,[,.]|\ba (?:aunt|uncle)", text), text


def test_there_are_enough_frames_for_every_family_of_clauses() -> None:
    frames = rich.frames()
    assert len(frames) >= 1_500 and len({frame.line for frame in frames}) == len(frames)
    held = sum(frame.side == "heldout" for frame in frames)
    assert held / len(frames) == pytest.approx(0.2, abs=0.02)
    t = rich_tables.tables()
    families = 0
    for k in (1, 2, 3):
        clauses = rich_tables._Clauses(k, False)
        neutral = clauses.there // 2
        families += len(np.unique(neutral, axis=0))
        assert t.counts[clauses.keys].min() >= 40
        for portion in ("train", "heldout"):
            own = rich_tables.tables(portion)  # type: ignore[arg-type]
            assert own.counts[clauses.keys].min() >= 20
    assert families == 11 + 11**2 + 11**3


def test_heldout_frames_have_no_part_event_or_time_of_training() -> None:
    parts: dict[str, set[str]] = {"train": set(), "heldout": set()}
    fills: dict[str, list[set[int]]] = {"train": [set(), set()], "heldout": [set(), set()]}
    for number, frame in enumerate(rich.frames()):
        parts[frame.side].update(frame.parts)
        own = rich.fillings()[number * rich.FILLS : (number + 1) * rich.FILLS]
        fills[frame.side][0].update(own[:, 1].tolist())
        fills[frame.side][1].update(own[:, 3:].ravel().tolist())
    assert not parts["train"] & parts["heldout"]
    for train, heldout in zip(fills["train"], fills["heldout"], strict=True):
        assert train and heldout and not train & heldout
    sides = [set(rich_tables.tables(side).candidates.tolist()) for side in store.PORTIONS]
    assert not sides[0] & sides[1] and sides[0] | sides[1] == sides[2]


AMBIGUOUS = (
    "Otto phoned his father Hugo about his sister Greta.",
    "Otto and Hugo met his aunt Greta.",
    "Greta met Mavis and her brother Otto.",
    "Otto invited his sister, Greta, and Mavis.",
    "Otto invited Greta, his sister, and Mavis.",
    "Otto saw Greta, his sister, Mavis.",
    "Otto took his sister along. Greta and Mavis loved it.",
    "Otto has a sister. Mavis knows Greta.",
    "Otto's sister told Hugo's sister a joke. Greta and Mavis laughed.",
    "Otto met Hugo, who admired his sister Greta.",
    "Greta's mother Mavis lost her ring.",
    "Otto has two sisters. Hugo, Greta and Mavis laughed.",
    "When Otto met Hugo, he hugged his sister Greta.",
    "Greta told Mavis that her uncle Otto had won.",
    "Whose aunt is Greta? Otto's or Hugo's.",
    "The sisters Greta, Mavis and Otto sang.",
    "Mavis, Greta and Otto are sisters.",
    "Otto told Hugo. He is Greta's brother.",
    "Otto and Hugo got married in a chapel. The bride was Greta.",
    "Mavis and Greta gave birth to a boy called Otto.",
    "Hugo waited for his son. Mavis had told Otto.",
    "Otto could see Hugo. His wife Greta waved.",
)
"""Texts with two readings, of the kinds that frames could have by mistake."""
REFUSED = (
    "Otto has an aunt.", "His aunt Greta sang.", "Otto saw his aunt.", "An aunt saw Otto.", '"Dad, wait," somebody said.',
    '"Dad, wait," Otto told Hugo while Greta and Mavis slept.', "Otto's brother Otto sang.", "Greta, his aunt, is a groom.",
    "Otto saw his aunt Greta. Mavis saw her uncle Greta.", "Greta is Otto's cousin.", "Otto took his son along. It rained. Hugo sang.",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", 0), ("Otto sang", 1), ("Otto sang. Greta sang!", 2), ('"Dad, wait. Please!" Otto said. Greta sang.', 2),
        ('Otto said: "Wait!" Greta sang.', 2), ('"Wait." Greta sang.', 2), ('Otto asked: "Why? Because." Greta sang.', 2),
        ('"Is he?" Otto asked.', 1), ('Otto said: "Wait', 1),
    ],
)  # fmt: skip
def test_a_sentence_ends_outside_quotation_marks(text: str, sentences: int) -> None:
    tokens = tokens_of(text)
    ends = sentence_ends(tokens)
    assert len(ends) == sentences
    assert ends == sorted(set(ends)) and ends[-1:] == [len(tokens)][:sentences]


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_a_text_with_two_readings_is_found(text: str) -> None:
    with pytest.raises(Ambiguous):
        read_rich_story(text, PEOPLE)


@pytest.mark.parametrize("text", REFUSED)
def test_the_reader_refuses_rather_than_guesses(text: str) -> None:
    with pytest.raises(parser.Unreadable):
        read_rich_story(text, PEOPLE)


@pytest.mark.parametrize(
    ("text", "word", "owner", "relative"),
    [
        ("Mavis took her son to the park. Otto loved it.", "son", "Mavis", "Otto"),
        ("Mavis phoned her kid brother, Otto.", "brother", "Mavis", "Otto"),
        ('"Granny, can we go?" Otto asked Mavis.', "grandmother", "Otto", "Mavis"),
        ('"Otto is my hubby," Mavis said.', "husband", "Mavis", "Otto"),
        ("Mavis gave birth to a boy in the snow. Otto likes skiing.", "son", "Mavis", "Otto"),
        ("Otto got married. The bride was Mavis.", "wife", "Otto", "Mavis"),
        ("Most people take Mavis for Otto's mother. In fact Mavis is Otto's aunt.", "aunt", "Otto", "Mavis"),
        ("Whose uncle is Otto? Mavis's, of course.", "uncle", "Mavis", "Otto"),
        ("Greta and Mavis are sisters.", "sister", "Greta", "Mavis"),
        ("Otto is the proud grandfather of a girl called Greta.", "grandfather", "Greta", "Otto"),
        ("Otto became an uncle when a girl called Greta was born.", "uncle", "Greta", "Otto"),
    ],
)
def test_phrases_that_the_reader_knows(text: str, word: str, owner: str, relative: str) -> None:
    assert read_rich_story(text, PEOPLE).statements == (parser.Statement(word, owner, relative),)


def test_the_reader_of_chains_and_pairs() -> None:
    chain = read_rich_story("Otto dined with his wife's mother Mavis. Greta was late.", PEOPLE)
    assert set(chain.statements) == {parser.Statement("wife", "Otto", "Greta"), parser.Statement("mother", "Greta", "Mavis")}
    pair = read_rich_story("Mavis waited for her two sons. Otto and Hugo had missed the bus.", PEOPLE)
    assert set(pair.statements) == {parser.Statement("son", "Mavis", "Otto"), parser.Statement("son", "Mavis", "Hugo")}


def test_a_pronoun_with_two_possible_owners_rules_a_frame_out() -> None:
    frame = rich._parsed("X told hisX cXY Y about hisX cXY.", 1, 2, "train", ())
    assert not rich_tables.fits(frame, [1, 1]), "two men, and `his` stands after both"
    assert rich_tables.fits(frame, [0, 1]) and rich_tables.fits(frame, [1, 0])


@pytest.mark.parametrize(
    "options",
    [
        {}, {"style": "mixed"}, {"style": "plain"}, {"register": "gossip", "noise": "all"}, {"coreference": "1", "mentions": "anonymous"},
        {"coreference": "0", "colloquial": "1", "mentions": "bracketed"}, {"colloquial": "0", "k": "6"},
    ],
)  # fmt: skip
def test_rows_of_every_dial_are_right(options: dict[str, str]) -> None:
    for part in ("train", f"test_k{options.get('k', 2)}"):
        batch = rows(60, part, **options)
        assert [str(problem) for _, problem in CLUTRR.validate_batch(batch)] == []


def test_dials_do_what_they_say() -> None:
    def codes(**options: str) -> list[list[int]]:
        return list(rows(200, **options).columns["paraphrases"])

    def share(found: list[list[int]], test: object) -> float:
        flat = [test(code) for row in found for code in row]  # type: ignore[operator]
        return sum(flat) / len(flat)

    def is_coreferent(code: int) -> bool:
        frame = rich.frame_of(code)
        return frame is not None and frame.kind == 0

    assert share(codes(coreference="0"), is_coreferent) == 0 and share(codes(coreference="1"), is_coreferent) == 1
    assert 0.2 < share(codes(), is_coreferent) < 0.5
    assert share(codes(colloquial="0"), lambda code: code >> 1 & 1) == 0
    assert share(codes(colloquial="1"), lambda code: code >> 1 & 1) > 0.6, "some relatives have no colloquial word"
    kinds = [{rich.frame_of(code) is None for code in row} for row in codes(style="mixed")]
    assert all(len(kind) == 1 for kind in kinds), "a story has one style"
    assert 60 < sum(kind == {True} for kind in kinds) < 140
    for register in kinship.REGISTERS[1:]:
        opening, between, closing = rich.register_lines(register)
        story = str(rows(2, register=register).columns["story"][0])
        assert story.startswith(opening) and story.endswith(closing) and between
    with pytest.raises(UnknownName):
        rich.register_lines("sonnet")


def test_release_has_no_rich_style() -> None:
    with pytest.raises(BadOption, match="sound"):
        CLUTRR.generate(make_job(CLUTRR, "generalization_23", "train", "release", 0, {"style": "rich"}).rows(0, 1))


def test_the_oracle_notices_changed_texts_codes_and_styles() -> None:
    batch = rows(60, "train")
    swaps = {"his": "her", "her": "his", "father": "son", "sister": "mother", "dad": "uncle", "wife": "sister"}
    tried = 0
    for row in range(60):
        one = CLUTRR.example(batch, row)
        for old, new in swaps.items():
            story, count = re.subn(rf"\b{old}\b", new, str(one.inputs["story"]), count=1)
            if count:
                tried += 1
                assert CLUTRR.validate(dataclasses.replace(one, inputs={**one.inputs, "story": story}))
        first, *others = one.plan.paraphrases
        for wrong in (first ^ 2, 0):
            plan = dataclasses.replace(one.plan, paraphrases=(wrong, *others))
            assert CLUTRR.validate(dataclasses.replace(one, plan=plan))
        meta = {**one.meta, "options": {"style": "plain"}}
        assert "wrong_style" in {problem.code for problem in oracle.validate(dataclasses.replace(one, meta=meta))}
    assert tried > 60


def test_both_speeds_write_the_same_rich_stories() -> None:
    t = rich_tables.tables("train")
    name_bytes, name_offsets = names.name_arrays(PEOPLE)
    told = []
    for compiled in (False, True):
        kernel, stream = kernels.load(KERNEL_MODULE, compiled=compiled), Stream("two speeds")
        out, plan, order = np.zeros(9_000, np.uint8), np.zeros((64, 3), np.int32), np.zeros(64, np.int32)
        found = []
        for _ in range(60):
            genders = np.array([stream.below(2) for _ in range(4)], np.int8)
            facts = np.array(
                [(kinship.word(stream.choice((0, 1, 3, 6, 8)), int(genders[j + 1])), j, j + 1) for j in range(3)], np.int32
            )
            rng = np.array([stream.word], np.uint64)
            end, chunks = kernel.realize_story(
                facts, np.zeros(3, np.int32), True, genders, np.arange(4, dtype=np.int32), name_bytes, name_offsets, False, t, rng,
                np.zeros(65), plan, order, out, 0,
            )  # fmt: skip
            found.append((bytes(out[:end]), plan[:chunks].tolist()))
            assert end <= store.room(t, 3, 5)
        told.append(found)
    assert told[0] == told[1]


def test_questions_people_would_ask_are_read_back() -> None:
    asked = {str(text) for text in rows(200, "train").columns["question"]}
    batch = rows(200, "train")
    for row in range(200):
        one = CLUTRR.example(batch, row)
        assert parser.read_question(str(one.inputs["question"]), one.plan.names) == tuple(one.inputs["query"])
    assert len({re.sub(r"\b[A-Z][a-z]+\b", "#", text) for text in asked}) >= 12


def test_parts_have_no_kin_of_their_own() -> None:
    """Only slots may name kin; events, times and register lines have no pronoun that could be somebody's."""
    spoken = {word for words in kinwords.COLLOQUIAL.values() for word in words} | set(kinship.RELATIONS)
    kin = re.compile(r"\b(" + "|".join(sorted(map(re.escape, spoken))) + r")s?\b|\b(he|she|his|her|him|hers)\b", re.IGNORECASE)
    texts = [time[0] for time in rich.times()] + [
        line for r in kinship.REGISTERS for lines in rich.register_lines(r) for line in lines
    ]
    texts += [op.text for frame in rich.frames() if frame.kind != 1 for op in frame.ops if op.kind == 0]
    assert [text for text in texts if kin.search(text)] == []


def shallow() -> ModuleType:
    spec = importlib.util.spec_from_file_location("shallow_clutrr", ROOT / "benchmarks" / "shallow_clutrr.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["shallow_clutrr"] = module
    spec.loader.exec_module(module)
    return module


def test_a_shallow_reader_reads_plain_stories_and_not_rich_ones() -> None:
    module = shallow()
    assert module.rates(module.ours(3, 100, style="plain"))[1] >= 0.99
    assert module.rates(module.ours(3, 100))[0] <= 0.55
    assert module.rates(module.ours(10, 60))[0] <= 0.2


def test_one_text_has_one_code() -> None:
    """Two codes for one text would let the same story into two parts."""
    t = rich_tables.tables()
    kernel = kernels.load(KERNEL_MODULE, compiled=False)
    name_bytes, name_offsets = names.name_arrays(PEOPLE)
    out, people = np.zeros(4_000, np.uint8), np.arange(4, dtype=np.int32)
    facts, genders = np.array([(kinship.CODES["aunt"], 0, 1)], np.int32), np.array([1, 0], np.int8)
    chosen = [n for n, frame in enumerate(rich.frames()) if frame.facts == 1 and not frame.events and not frame.conditions]
    for number in chosen[:: len(chosen) // 12]:
        codes: dict[bytes, set[int]] = {}
        for fill in range(rich.FILLS):
            code = 2 * (rich.FIRST + number * rich.FILLS + fill)
            end = kernel.write_chunk(facts, 0, 1, code, genders, people, name_bytes, name_offsets, False, t, out, 0)
            codes.setdefault(bytes(out[:end]), set()).add(int(kernel.first_of_its_text(facts, 0, 1, code, genders, t)))
        assert all(len(found) == 1 for found in codes.values())
