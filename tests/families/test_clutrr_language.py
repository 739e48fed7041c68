"""The laws of the language: every paraphrase says exactly its facts, parts share no wording, both speeds write the same bytes."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import json
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from recombine import kernels
from recombine.errors import BadOption, FileError, Infeasible, UnknownName, UsageError
from recombine.families.clutrr import kinship
from recombine.families.clutrr.language import inflect, names, original, parser, store
from recombine.families.clutrr.language.kernel import MAX_FACTS
from recombine.families.clutrr.language.realize import KERNEL_MODULE, Triple, ask, realize
from recombine.keys import Stream, states

ROOT = Path(__file__).resolve().parents[2]
PEOPLE = ("Mavis", "Otto", "Greta", "Hugo")
GENDERS = {kinship.FEMALE: "female", kinship.MALE: "male"}


def draw_path(k: int, stream: Stream, first: int = 0) -> tuple[list[Triple], list[int]]:
    """Any path of k facts with the genders along it: every relation may follow every other; spouses differ in gender."""
    genders = [stream.below(2) for _ in range(k + 1)]
    facts = []
    for j in range(k):
        neutral = stream.below(11)
        if neutral == kinship.SPOUSE and genders[j] == genders[j + 1]:
            neutral = kinship.SIBLING
        facts.append((kinship.word(neutral, genders[j + 1]), first + j, first + j + 1))
    return facts, genders


def stated(text: str, facts: list[Triple], people: list[str] | tuple[str, ...], genders: list[int]) -> list[str]:
    """What the reader finds different."""
    said = parser.read_story(text, people)
    wanted = [(kinship.RELATIONS[r], people[s], people[o]) for r, s, o in facts]
    return parser.differences(said, wanted, {p: GENDERS[g] for p, g in zip(people, genders, strict=False)})


def write(code: int, facts: list[Triple], genders: list[int], t: store.Tables) -> str:
    """One paraphrase by its code."""
    out = np.zeros(3000, np.uint8)
    kernel = kernels.load(KERNEL_MODULE, compiled=False)
    end = kernel.write_chunk(
        np.array(facts, np.int32), 0, len(facts), code, np.array(genders, np.int8), np.arange(4, dtype=np.int32),
        *names.name_arrays(PEOPLE), False, t, out, 0,
    )  # fmt: skip
    return bytes(out[:end]).decode()


def test_every_frame_says_its_facts_for_all_genders_and_from_both_ends() -> None:
    t = store.tables()
    stream = Stream("frames")
    examples = {p.frame: p for p in store.paraphrases()}
    assert len(examples) == len(store.frames())
    for number, p in examples.items():
        frame = store.frames()[number]
        for genders in itertools.product((0, 1), repeat=frame.facts + 1):
            neutral = [stream.choice((0, 3, 4, 6, 8)) for _ in range(frame.facts)]
            facts = [(kinship.word(n, genders[j + 1]), j, j + 1) for j, n in enumerate(neutral)]
            for mirrored in (0,) if frame.is_one_way else (0, 1):
                text = write(2 * p.number + mirrored, facts, list(genders), t)
                assert stated(text, facts, PEOPLE, list(genders)) == [], text


@pytest.mark.parametrize("portion", ["train", "heldout"])
def test_every_paraphrase_of_the_store_says_its_facts_and_no_two_are_equal(portion: store.Portion) -> None:
    t = store.tables("paraphrase", portion)
    stream = Stream("paraphrases", portion)
    texts = set()
    for code in t.candidates.tolist():
        k = store.frames()[int(t.templates[code >> 1, 0])].facts
        facts, genders = draw_path(k, stream)
        text = write(code, facts, genders, t)
        assert stated(text, facts, PEOPLE, genders) == [], text
        assert text[-1] in '.!"' and "  " not in text and "{" not in text and not re.search(r"\b[XYZW]\b|\bk[XYZW]", text)
        texts.add(write(code, [(0, j, j + 1) for j in range(k)], [1] * (k + 1), t))
    assert len(texts) == len(t.candidates)


def test_all_22_words_can_be_stated_in_either_direction() -> None:
    stream = Stream("words")
    for style in store.STYLES:
        for relation, gender in itertools.product(range(22), (0, 1)):
            other = kinship.GENDER[relation]
            if relation // 2 == kinship.SPOUSE and gender == other:
                continue
            text = realize([(relation, 0, 1)], PEOPLE[:2], [gender, other], stream, store.tables(style)).text
            assert stated(text, [(relation, 0, 1)], PEOPLE, [gender, other]) == [], text


def test_train_and_heldout_share_no_frame_event_or_time() -> None:
    sides: dict[str, list[set[object]]] = {"train": [set(), set(), set(), set()], "heldout": [set(), set(), set(), set()]}
    for p in store.paraphrases():
        held = sides[p.portion]
        held[0].add(p.number)
        held[1].add(p.frame)
        held[2].update(p.events)
        if store.frames()[p.frame].has_time:
            held[3].add(p.time)
    for train, heldout in zip(sides["train"], sides["heldout"], strict=True):
        assert train and heldout and not train & heldout
        assert len(heldout) / (len(train) + len(heldout)) == pytest.approx(0.2, abs=0.03)
    train_codes, held_codes, all_codes = (set(store.tables(portion=p).candidates.tolist()) for p in store.PORTIONS)
    assert not train_codes & held_codes and train_codes | held_codes == all_codes


def test_a_fraction_of_the_store_is_a_part_of_it() -> None:
    whole = set(store.tables().candidates.tolist())
    fifth = set(store.tables(fraction=0.2).candidates.tolist())
    assert fifth < whole and len(fifth) / len(whole) == pytest.approx(0.2, abs=0.04)
    assert fifth < set(store.tables(fraction=0.5).candidates.tolist())
    assert store.tables(fraction=0.001).counts.reshape(23, 23, 23, 2)[1, 1, 1, 0] > 0
    for bad in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(BadOption):
            store.tables(fraction=bad)
    with pytest.raises(UnknownName):
        store.tables("prose")  # type: ignore[arg-type]
    with pytest.raises(UnknownName):
        store.tables("paraphrase", "test")  # type: ignore[arg-type]


def table1() -> ModuleType:
    spec = importlib.util.spec_from_file_location("language_table1", ROOT / "benchmarks" / "language_table1.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_store_is_as_rich_as_promised() -> None:
    module = table1()
    rows = module.table(pairs=3_000, clause_count=30)
    assert rows["all"]["distinct"] >= 6_000
    assert rows["all"]["words"] >= 3_000
    for k in (1, 2, 3):
        assert rows[f"k = {k}"]["unigrams"] <= 0.25 and rows[f"k = {k}"]["bigrams"] <= 0.08
        for portion in ("train", "heldout"):
            own = [p for p in store.paraphrases() if p.portion == portion and store.frames()[p.frame].facts == k]
            forward = [p for p in own if not store.frames()[p.frame].is_one_way]
            assert len({module.skeleton(p) for p in own}) >= 15 and len({p.frame for p in forward}) >= 15


def test_frames_have_no_kin_of_their_own_no_names_and_no_stray_articles() -> None:
    kin = re.compile(
        r"\b(child|children|kids?|parents?|famil\w+|cousins?|twins?|bride\w*|weddings?|marri\w+|bab(y|ies)|dad|mum|mom|relatives?|"
        r"boys?|girls?|woman|women|widow\w*|orphan\w*|kings?|queens?|she|he|his|him|her|hers|in-law|younge\w+|olde\w+|elde(r|st)|"
        + "|".join(f"{word}s?" for word in kinship.RELATIONS)
        + r")\b",
        re.IGNORECASE,
    )
    texts = [op.text for frame in store.frames() for op in frame.ops] + [t[0] for t in store.times()]
    texts += [form for event in store.events() for form in event]
    assert [text for text in texts if kin.search(text) and "flute from elder" not in text] == []
    assert not store.reserved_words() & set(names.name_pool()[0])
    assert {"Lisbon", "During"} <= store.reserved_words()
    assert not [frame.line for frame in store.frames() if re.search(r"\ban? k[XYZW]", frame.line)]


def test_no_pronoun_could_mean_the_one_who_introduced_its_owner() -> None:
    """After `his aunt Ann`, a further `her niece` needs Ann as a named subject or a relative clause about her."""
    doubtful = []
    for frame in store.frames():
        for owned in re.finditer(r"\b[hH]is([XYZW]) k\1[XYZW]\b", frame.line):
            before = frame.line[: owned.start()]
            last = list(re.finditer(r"\b[XYZW]\b", before))[-1]
            introduced = re.search(rf"\b[hH]is([XYZW]) k\1{owned[1]},? $", before[: last.start()])
            if last[0] == owned[1] and introduced and not re.search(r"\bwho(se)?\b", before[last.end() :]):
                doubtful.append(frame.line)
    assert doubtful == []


def test_lines_of_the_store_are_not_repeated() -> None:
    for lines in ([f.line for f in store.frames()], [e[0] for e in store.events()], [t[0] for t in store.times()]):
        assert [line for line, count in Counter(lines).items() if count > 1] == []


def many(compiled: bool, count: int) -> tuple[bytes, list[list[int]]]:
    """Stories with noise chains, shuffled, at one of the two speeds."""
    kernel = kernels.load(KERNEL_MODULE, compiled=compiled)
    t = store.tables("paraphrase", "train")
    people = [f"P{chr(97 + i)}" for i in range(9)]
    name_bytes, name_offsets = names.name_arrays(people)
    out, plan, order = np.zeros(6000, np.uint8), np.zeros((MAX_FACTS, 3), np.int32), np.zeros(MAX_FACTS, np.int32)
    rng, told, plans = np.zeros(1, np.uint64), bytearray(), []
    for word in states(99, 0, count):
        stream = Stream.at(int(word))
        path, genders = draw_path(5, stream)
        noise, more = draw_path(2, stream, first=6)
        facts = np.array(path + noise, np.int32)
        rng[0] = word
        end, chunks = kernel.realize_story(
            facts, np.array([0] * 5 + [1] * 2, np.int32), True, np.array(genders + more, np.int8), np.arange(9, dtype=np.int32),
            name_bytes, name_offsets, False, t, rng, np.zeros(MAX_FACTS + 1), plan, order, out, 0,
        )  # fmt: skip
        told += bytes(out[:end])
        plans.append([*plan[:chunks].ravel().tolist(), *order[:chunks].tolist(), int(rng[0])])
        assert stated(bytes(out[:end]).decode(), path + noise, people, genders + more) == []
    return bytes(told), plans


def test_both_speeds_write_the_same_bytes_and_the_texts_read_back() -> None:
    assert many(False, 60) == many(True, 60)
    many(True, 1_500)


def test_every_grouping_of_the_facts_is_equally_likely() -> None:
    stream = Stream("groupings")
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(1_200):
        story = realize([(0, 0, 1), (7, 1, 2), (2, 2, 3)], PEOPLE, [0, 1, 0, 1], stream)
        counts[tuple(len(chunk.facts) for chunk in story.chunks)] += 1
    assert set(counts) == {(1, 1, 1), (1, 2), (2, 1), (3,)}
    assert all(240 <= n <= 360 for n in counts.values())


def test_chunks_keep_to_their_chain_and_join_to_the_text() -> None:
    stream = Stream("chains")
    facts = [(0, 0, 1), (7, 1, 2), (2, 2, 3)]
    for _ in range(60):
        story = realize(facts, PEOPLE, [0, 1, 0, 1], stream, chains=[0, 1, 1], mixed=True, brackets=True)
        assert all(chunk.facts in ((0,), (1,), (2,), (1, 2)) for chunk in story.chunks)
        assert story.text == " ".join(chunk.text for chunk in story.chunks)
        assert len({chunk.paraphrase for chunk in story.chunks}) == len(story.chunks)
        assert parser.read_story(story.text).edges == {
            ("parent", "Mavis", "Otto"), ("sibling", "Greta", "Otto"), ("parent", "Hugo", "Greta")
        }  # fmt: skip
    loop = realize([(6, 0, 1), (6, 1, 0)], PEOPLE[1:3], [1, 1], stream)
    assert [len(chunk.facts) for chunk in loop.chunks] == [1, 1], "a path that comes back is never one chunk"


def test_simple_style_states_one_fact_per_sentence() -> None:
    stream = Stream("simple")
    facts, genders = draw_path(3, stream)
    texts = {realize(facts, PEOPLE, genders, stream, store.tables("simple")).text for _ in range(50)}
    assert len(texts) > 20 and all(text.count(".") == 3 for text in texts)


def test_the_room_for_a_story_is_never_exceeded() -> None:
    people = ["N" * 40 + chr(97 + i) for i in range(4)]
    stream = Stream("room")
    for _ in range(200):
        facts, genders = draw_path(3, stream)
        text = realize(facts, people, genders, stream, brackets=True).text
        assert len(text.encode()) <= store.room(store.tables(), 3, 41)


def test_realize_refuses_what_no_story_can_say() -> None:
    stream = Stream("bad")
    for facts, genders in (
        ([], [0, 1]), ([(0, 0, 1)] * (MAX_FACTS + 1), [0, 1]), ([(22, 0, 1)], [0, 1]), ([(0, 0, 0)], [1, 1]), ([(0, 0, 2)], [0, 1]),
        ([(0, 0, 1)], [0, 0]), ([(0, 0, 1)], [0]),
    ):  # fmt: skip
        with pytest.raises(UsageError):
            realize(facts, PEOPLE[:2], genders, stream)
    with pytest.raises(UsageError):
        realize([(0, 0, 1)], ["Otto", "Otto"], [1, 1], stream)


# --- questions -------------------------------------------------------------------------------------------------------


def test_every_question_is_read_back() -> None:
    stream = Stream("questions")
    seen = set()
    for _ in range(400):
        plain = ask("Otto", "Greta", stream)
        seen.add(plain)
        assert parser.read_question(plain, PEOPLE) == ("Otto", "Greta")
        assert parser.read_question(ask("Otto", "Greta", stream, brackets=True)) == ("Otto", "Greta")
    assert len(seen) == len(store.questions().frame_start) - 1 >= 10
    for bad in ("", "Who is Otto?", "Is Greta the aunt of Otto?", "x" * 5000, "How is Otto related to Otto?"):
        with pytest.raises(parser.Unreadable):
            parser.read_question(bad, PEOPLE)


# --- the reader ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "owner", "word", "relative"),
    [
        ("Otto saw his aunt Greta.", "Otto", "aunt", "Greta"),
        ("Otto saw his aunt, Greta, at sea.", "Otto", "aunt", "Greta"),
        ("Otto saw Greta, his aunt.", "Otto", "aunt", "Greta"),
        ("Hugo's mother-in-law Greta sang.", "Hugo", "mother-in-law", "Greta"),
        ("Greta, Hugo's niece, sang.", "Hugo", "niece", "Greta"),
        ("Greta, the sister of Hugo, sang.", "Hugo", "sister", "Greta"),
        ("Greta, who is Hugo's sister, sang.", "Hugo", "sister", "Greta"),
        ("Hugo, whose wife Greta sang, left.", "Hugo", "wife", "Greta"),
        ("Greta is Hugo's wife.", "Hugo", "wife", "Greta"),
        ("Hugo's wife is Greta.", "Hugo", "wife", "Greta"),
    ],
)
def test_phrases_that_the_reader_knows(text: str, owner: str, word: str, relative: str) -> None:
    assert parser.read_story(text, PEOPLE).statements == (parser.Statement(word, owner, relative),)


@pytest.mark.parametrize(
    "text",
    [
        "Otto has an aunt.", "An aunt saw Otto.", "His aunt Greta sang.", "Otto, his uncle, Hugo, sang.", "Otto saw his aunt.",
        "Otto saw his aunt Greta. Hugo saw his uncle Greta.", "Otto saw her brother Otto.", "They met their father Otto.",
        "x" * (parser.MAX_CHARACTERS + 1),
    ],
)  # fmt: skip
def test_the_reader_refuses_rather_than_guesses(text: str) -> None:
    with pytest.raises(parser.Unreadable):
        parser.read_story(text, PEOPLE)


def test_a_changed_story_is_noticed() -> None:
    stream = Stream("changed")
    swaps = {"his": "her", "her": "his", "brother": "sister", "father": "son", "aunt": "uncle", "Otto": "Hugo"}
    noticed: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    for _ in range(150):
        facts, genders = draw_path(3, stream)
        text = realize(facts, PEOPLE, genders, stream).text
        for old, new in swaps.items():
            match = re.search(
                rf"\b{old}\b(?= (?:{'|'.join(kinship.RELATIONS)}))" if old in ("his", "her") else rf"\b{old}\b", text
            )
            if match is None:
                continue
            changed = text[: match.start()] + new + text[match.end() :]
            try:
                told = stated(changed, facts, PEOPLE, genders)
            except parser.Unreadable:
                unread[old] += 1
                continue
            assert told != [], changed
            noticed[old] += 1
    assert min(noticed[old] for old in swaps) >= 5
    assert noticed.total() > unread.total()
    facts, genders = draw_path(3, stream)
    assert stated("Nothing happened.", facts, PEOPLE, genders) != []


def test_the_reader_shares_no_code_with_the_writer() -> None:
    tree = ast.parse(Path(parser.__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {m for m in imported if m and m.startswith("recombine")} == {"recombine.errors"}


def test_names_may_be_placeholders() -> None:
    people = [f"@entity-{i}" for i in range(4)]
    stream = Stream("cloze")
    for _ in range(50):
        facts, genders = draw_path(3, stream)
        assert stated(realize(facts, people, genders, stream).text, facts, people, genders) == []


# --- inflection, and the original templates --------------------------------------------------------------------------


def test_inflection() -> None:
    for verb, past, gerund in (
        ("plant", "planted", "planting"), ("dig", "dug", "digging"), ("carry", "carried", "carrying"), ("tie", "tied", "tying"),
        ("picnic", "picnicked", "picnicking"), ("chop", "chopped", "chopping"), ("open", "opened", "opening"), ("dye", "dyed", "dyeing"),
        ("queue", "queued", "queuing"), ("label", "labelled", "labelling"), ("weave", "wove", "weaving"), ("fix", "fixed", "fixing"),
        ("sew", "sewed", "sewing"), ("row", "rowed", "rowing"), ("cook", "cooked", "cooking"), ("set", "set", "setting"),
    ):  # fmt: skip
        assert (inflect.past(verb), inflect.gerund(verb)) == (past, gerund)


def test_original_templates_give_tables_of_the_same_form(shared: Path) -> None:
    path = shared / "clutrr" / "original_templates_sample.json.gz"
    templates = original.read_templates(path)
    assert len(templates) == 734
    assert Counter(len(clause) for clause in {t.relations for t in templates}) == {1: 20, 2: 58, 3: 235}
    train, heldout = (set(original.tables(path, portion).candidates.tolist()) for portion in ("train", "heldout"))
    assert train and heldout and not train & heldout
    t = original.tables(path)
    story = realize([(7, 0, 1), (2, 1, 2)], PEOPLE[1:4], [1, 0, 1], Stream("original"), t, brackets=True)
    assert "ENT_" not in story.text and all(f"[{name}]" in story.text for name in PEOPLE[1:4])
    assert all(templates[chunk.paraphrase >> 1].relations == tuple((7, 2)[i] for i in chunk.facts) for chunk in story.chunks)
    with pytest.raises(Infeasible):
        realize([(kinship.CODES["brother-in-law"], 0, 1)], PEOPLE[:2], [0, 1], Stream("original"), t)


def test_malformed_template_files_are_refused(tmp_path: Path) -> None:
    assert original.parse_clause("neice-son-in-law-brother") == (15, 18, 6)
    good = {"sister": {"male-female": ["ENT_0_male rang his sister ENT_1_female.", "ENT_0_male was alone."]}}
    path = tmp_path / "templates.json"
    path.write_text(json.dumps(good))
    assert [t.text for t in original.read_templates(path)] == ["ENT_0_male rang his sister ENT_1_female."]
    for bad in ([], {}, {"sisster": {}}, {"sister": []}, {"sister": {"male": ["x"]}}, {"sister": {"male-female": [3]}}, {"": {}},
                {"sister-sister-sister-sister": {}}, {"sister": {"male-female": ["no people"]}}):  # fmt: skip
        path.write_text(json.dumps(bad))
        with pytest.raises(FileError):
            original.read_templates(path)
    with pytest.raises(FileError):
        original.read_templates(tmp_path / "absent.json")
