"""Studies: who is asked what, what is kept, what comes out, and that nothing is lost when the server is killed."""

from __future__ import annotations

import gc
import importlib.util
import json
import sqlite3
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import recombine
from recombine.cli import main
from recombine.data.ids import example_of
from recombine.errors import FileError, RecombineError, UsageError
from recombine.evaluate.answers import read_answers
from recombine.families.clutrr.kinship import CODES
from recombine.families.clutrr.language.original import read_templates
from recombine.serve.studies import design, export, kin, scenes
from recombine.serve.studies.design import Condition, Design
from recombine.serve.studies.store import Link, Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = Store(tmp_path / "people.sqlite")
    yield found
    found.close()


def test_listing_studies_changes_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").touch()
    assert main(["study", str(tmp_path / "empty")]) == 2
    assert "--create TITLE" in capsys.readouterr().err
    assert [(path.name, path.stat().st_size) for path in tmp_path.iterdir()] == [("empty", 0)]


def test_an_export_without_answers_says_so(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = _answers(store, Design("T", conditions=SCAN, practice=0))
    assert main(["study", str(store.path), "--export", study, "--out", str(tmp_path / "out")]) == 0
    assert "nobody has given anything" in capsys.readouterr().out


def _link(store: Store, study: str, role: str = "answer", group: str = "all") -> Link:
    return next(link for link in store.links(study) if (link.role, link.group) == (role, group))


def _answers(store: Store, made: Design) -> str:
    return design.create(store, made)


SCAN = (Condition("scan/simple/test", 6), Condition("scan/length/test", 6))


def test_items_are_balanced_and_nobody_sees_one_twice(store: Store) -> None:
    study = _answers(store, Design("T", conditions=SCAN, items_per_person=6, practice=2))
    link = _link(store, study)
    seen: Counter[int] = Counter()
    conditions: list[Counter[str]] = []
    for _ in range(4):
        person, mine, parts = store.join(link), [], Counter[str]()
        while (offer := store.offer(person, link, 6, 2)) is not None:
            assert store.offer(person, link, 6, 2) == offer  # asking again gives the same open item
            mine.append(offer.item)
            if not offer.is_practice:
                seen[offer.item] += 1
                parts[str(offer.content["id"]).split("/")[2]] += 1
            else:
                assert len(mine) <= 2
            store.give_answer(person, offer.item, "x", 3, 0)
        assert len(mine) == len(set(mine)) == 8
        conditions.append(parts)
    assert all(parts == {"simple": 3, "length": 3} for parts in conditions)
    assert set(seen.values()) == {2}
    assert len(seen) == 12


def test_the_same_seed_gives_the_same_items_and_another_seed_others(store: Store) -> None:
    def items(seed: int) -> list[str]:
        study = _answers(store, Design("T", conditions=SCAN, seed=seed, practice=0))
        link = _link(store, study)
        person, found = store.join(link), []
        while (offer := store.offer(person, link, 100, 2)) is not None:
            found.append(str(offer.content["id"]).replace(f"/{seed}/", "/"))
            store.give_answer(person, offer.item, "x", 3, 0)
        return found

    assert items(1) == items(1)
    assert items(1) != items(2)


def test_a_second_submission_changes_nothing(store: Store) -> None:
    study = _answers(store, Design("T", conditions=SCAN, practice=0))
    link = _link(store, study)
    person = store.join(link)
    offer = store.offer(person, link, 10, 2)
    assert offer is not None
    store.give_answer(person, offer.item, "first", 3, 0)
    store.give_answer(person, offer.item, "second", 5, 0)
    assert [row["answer"] for row in store.answers(study)] == ["first"]
    with pytest.raises(UsageError, match="not offered"):
        store.give_answer(person, 11, "stolen", 1, 0)


def test_late_answers_are_kept_and_do_not_count(store: Store) -> None:
    made = Design("T", conditions=SCAN, practice=0, limit_seconds=5, groups=("timed", "experts"), untimed=("experts",))
    assert (made.limit_of("timed"), made.limit_of("experts")) == (5, 0)
    study = _answers(store, made)
    for group in made.groups:
        link = _link(store, study, group=group)
        person = store.join(link)
        offer = store.offer(person, link, 10, 2)
        assert offer is not None
        store._db.execute("UPDATE offer SET shown = shown - 9 WHERE person = ?", (person,))
        store.give_answer(person, offer.item, "I_WALK", 3, made.limit_of(group))
    sets = export.answer_sets(store, study)
    late, expert = sets["timed", 1][0], sets["experts", 1][0]
    assert (late["answer"], late["status"], late["late_answer"], late["timed_out"]) == (None, "missing", "I_WALK", True)
    assert (expert["answer"], expert["timed_out"]) == ("I_WALK", False)
    assert 9 <= expert["seconds"] < 60


def test_answers_of_people_stand_in_a_report(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part = "clutrr/generalization_23/test_k2"
    study = _answers(store, Design("T", conditions=(Condition(part, 5),), items_per_person=5, practice=0))
    link = _link(store, study)
    for is_right in (True, False):
        person = store.join(link)
        while (offer := store.offer(person, link, 5, 2)) is not None:
            right = example_of(str(offer.content["id"])).answer
            store.give_answer(person, offer.item, right if is_right else "aunt" if right != "aunt" else "uncle", 2, 0)
    store.close()
    out = tmp_path / "out"
    assert main(["study", str(store.path), "--export", study, "--out", str(out)]) == 0
    assert {path.name for path in out.iterdir()} == {"export.json", "people-all-1.jsonl", "people-all-2.jsonl", "table5.json"}
    first = read_answers(out / "people-all-1.jsonl")
    assert len(first) == 5
    assert next(iter(first.values())).more["difficulty"] == 2
    (line,) = json.loads((out / "table5.json").read_text())
    assert (line["k"], line["answers"], line["accuracy"], line["paper_timed"]) == (2, 10, 0.5, 0.848)
    folder = tmp_path / "data"
    assert main(["generate", "clutrr", "--split", "generalization_23", "--part", "test_k2", "--out", str(folder)]) == 0
    words = ["evaluate", "--data", str(folder), "--missing", "skip"]
    for number in (1, 2):
        words += ["--answers", f"people{number}={out / f'people-all-{number}.jsonl'}"]
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["parts"]["clutrr/generalization_23/test_k2"]["runs"]
    assert (runs["people1"]["accuracy"]["mean"], runs["people2"]["accuracy"]["mean"]) == (1.0, 0.0)


# --- stories -----------------------------------------------------------------------------------------------------------

FACTS = {
    "names": ["Ann", "Bob", "Cora"],
    "genders": [0, 1, 0],
    "relations": [CODES["father"], CODES["sister"]],
    "hidden": CODES["aunt"],
}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Ann went fishing with her father Bob and his sister Cora.", ""),
        ("Ann went fishing with her father Bob.", "Cora is not mentioned."),
        ("Ann, her father Bob, his sister Cora. Cora is the aunt of Ann.", "The story states the hidden fact."),
        ("Ann, her father Bob, his sister Cora. Ann is Cora's niece.", "The story states the hidden fact."),
        ("Ann and her father Bobby met his sister Cora. Bob", "End the story with a full stop."),
        ("Ann, Bob.", "The story has 9 characters; it should have 15 to 800."),
        ("Ann and her father Bob met his sister Cora and Sebastian.", "Sebastian is a name that the facts do not have."),
        ("Ann and ENT_0_male, her father Bob and his sister Cora.", "Use letters and ordinary punctuation only."),
    ],
)
def test_a_machine_checks_stories_before_people_do(text: str, fault: str) -> None:
    found = kin.faults(FACTS, text)
    assert (fault in found) if fault else found == []


def test_templates_name_people_along_the_path() -> None:
    text = "Ann went fishing with her father Bob and his sister Cora. Anna watched."
    assert kin.cell_of(FACTS) == ("father-sister", "female-male-female")
    assert kin.template_of(FACTS, text) == (
        "ENT_0_female went fishing with her father ENT_1_male and his sister ENT_2_female. Anna watched."
    )


def test_stories_need_two_content_reviewers_who_are_not_the_author(store: Store, tmp_path: Path) -> None:
    made = Design("W", kind="write", texts=1, items_per_person=3)
    study = _answers(store, made)
    write, review = _link(store, study, "write"), _link(store, study, "review")
    writers = [store.join(write) for _ in range(2)]
    for number, writer in enumerate(writers):
        while (offer := store.offer(writer, write, 3, 2)) is not None:
            names, told = offer.content["names"], kin.shown(offer.content)
            body = f"{('Once', 'Twice')[number]} {', '.join(names)} met. " + " ".join(told["facts"])
            assert kin.faults(offer.content, body) == []
            store.give_text(writer, offer.item, body)
    reviewers = [*writers, store.join(review)]
    for number, reviewer in enumerate(reviewers):
        while (offer := store.offer(reviewer, review, 3, 2)) is not None:
            author = store._rows("SELECT person FROM text WHERE number = ?", offer.text)[0][0]
            assert author != reviewer
            is_good = not (number == 2 and offer.text == 1)
            store.give_review(reviewer, offer.item, offer.text, is_good, [] if is_good else [kin.CHECKS[0]])
    texts = {text["number"]: text for text in store.texts(study)}
    assert all(len(text["reviews"]) == 2 for text in texts.values())
    accepted = {number: export.is_accepted(text, 2) for number, text in texts.items()}
    assert accepted == {number: number != 1 for number in texts}
    assert export.is_accepted({"reviews": [(True, [])]}, 2) is None
    found = export.templates(store, study, 2, 0)
    assert sum(len(listed) for cells in found.values() for listed in cells.values()) == len(texts) - 1
    path = tmp_path / "templates.json"
    path.write_text(json.dumps(found))
    assert len(read_templates(path)) == len(texts) - 1


def test_exported_templates_word_generated_stories(tmp_path: Path) -> None:
    """`--set templates=` reads what people wrote; the last fifth of each cell words test stories."""
    from recombine.families.clutrr.kinship import GENDER, RELATIONS

    cells: dict[str, dict[str, list[str]]] = {}
    for code, word in enumerate(RELATIONS):
        for gender in (0, 1):
            content = {"names": ["Ann", "Bob"], "genders": [gender, GENDER[code]], "relations": [code], "hidden": -1}
            clause, genders = kin.cell_of(content)
            cells.setdefault(clause, {})[genders] = [
                kin.template_of(content, f"Ann likes the {word} Bob {n} times.") for n in range(5)
            ]
    path = tmp_path / "templates.json"
    path.write_text(json.dumps(cells))
    story = recombine.load("clutrr", "generalization_23", "test_k2", templates=str(path))[0].inputs["story"]
    assert story.count(" likes the ") == 2


# --- statements --------------------------------------------------------------------------------------------------------


def test_statements_are_tried_on_shown_scenes_and_judged_by_hidden_ones(store: Store) -> None:
    study = _answers(store, Design("S", kind="state", texts=1, items_per_person=1))
    link = _link(store, study, "state")
    person = store.join(link)
    offer = store.offer(person, link, 1, 2)
    assert offer is not None
    right = str(example_of(offer.content["source"]).meta["program"])
    values, problem = scenes.tried(offer.content, right, "labelled")
    assert (values, problem) == ([label for label, _ in offer.content["labelled"]], "")
    assert scenes.agreement(offer.content, right, "hidden") == 2 * scenes.HIDDEN
    assert scenes.tried(offer.content, "import os", "labelled")[1]
    for shown in scenes.EXAMPLES.values():
        values, problem = scenes.tried(offer.content, shown, "labelled")
        assert problem == "" and len(values) == 2 * scenes.LABELLED and None not in values
    store.give_statement(person, offer.item, "mine", right, scenes.agreement(offer.content, right, "hidden"), 6)
    assert json.loads(export.statements_text(store, study))[f"{study}-0"]["lf"] == right


# --- the file ----------------------------------------------------------------------------------------------------------


def test_whoever_withdraws_leaves_nothing_behind(store: Store) -> None:
    study = _answers(store, Design("T", conditions=SCAN, practice=0))
    link = _link(store, study)
    people = [store.join(link) for _ in range(2)]
    for number, person in enumerate(people):
        offer = store.offer(person, link, 10, 2)
        assert offer is not None
        store.give_answer(person, offer.item, f"unmistakable words {number}", 3, 0)
    assert store.withdraw(people[0])
    assert not store.withdraw(people[0])
    assert store.counts(study) == {"people": 1, "offer": 1, "answer": 1, "text": 0, "review": 0, "statement": 0}
    raw = b"".join(path.read_bytes() for path in store.path.parent.iterdir() if path.is_file())
    assert b"unmistakable words 1" in raw
    assert b"unmistakable words 0" not in raw
    assert people[0].encode() not in raw


def test_forms_survive_a_restart(store: Store) -> None:
    first = store.secret()
    store.close()
    again = Store(store.path)
    assert again.secret() == first
    assert len(first) == 32
    again.close()


def test_a_foreign_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    path.write_bytes(b"not a database at all, but somebody's notes" * 100)
    before = path.read_bytes()
    with pytest.raises(FileError):
        Store(path)
    assert path.read_bytes() == before
    assert main(["study", str(tmp_path / "missing.sqlite")]) == 2


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_of_another_program_is_not_touched(version: int, mode: str, tmp_path: Path) -> None:
    """It is refused before anything is set in it, and no connection stays open."""
    path = tmp_path / "contacts % ? #.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"PRAGMA journal_mode={mode}; CREATE TABLE person (name TEXT); PRAGMA user_version={version}")
    before = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FileError, match="holds no studies"):
            Store(path)
        gc.collect()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_studies_that_a_killed_server_left_are_taken_up(tmp_path: Path) -> None:
    path = tmp_path / "people.sqlite"
    program = "import os, sys; from pathlib import Path; from recombine.serve.studies.store import Store\n"
    program += "Store(Path(sys.argv[1])).secret(); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", program, str(path)], check=False).returncode == 9
    assert path.with_name("people.sqlite-wal").exists()
    first, second = Store(path), Store(path)
    assert len(first.secret()) == 32 and first.secret() == second.secret()
    first.close()
    second.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": ""}, {"kind": "sing"}, {"conditions": ()}, {"reviewers": 1}, {"groups": ("a", "a")}, {"groups": ("<b>",)},
        {"untimed": ("b",)}, {"lengths": (4,)}, {"items_per_person": 0}, {"conditions": (Condition("scan/nothing/test", 1),)},
        {"conditions": (Condition("nothing/x/y", 1),)}, {"conditions": (Condition("scan/simple/test", 10**5),)},
    ],
)  # fmt: skip
def test_a_design_that_cannot_be_is_refused(store: Store, wrong: dict[str, Any]) -> None:
    with pytest.raises(RecombineError):
        design.create(store, Design(**{"title": "T", "conditions": SCAN, **wrong}))
    assert store.studies() == []


@pytest.mark.parametrize("items", ["²", "0", "000001" + "9" * 5_000, "0000019", "99999", "٣", "-1", ""])
def test_the_items_of_a_condition_are_a_small_number(items: str) -> None:
    with pytest.raises(UsageError, match="PART=ITEMS"):
        Condition.parse(f"scan/simple/test={items}")


def test_studies_are_made_and_listed_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "p.sqlite")
    made = [
        "study",
        path,
        "--create",
        "By command",
        "--condition",
        "scan/length/test=3",
        "--groups",
        "timed",
        "calm",
        "--limit",
        "60",
    ]
    assert main(made) == 0
    assert capsys.readouterr().out.count("/take/") == 2
    assert main(["study", path]) == 0
    assert "By command" in capsys.readouterr().out
    assert main(["study", path, "--create", "Bad", "--condition", "scan"]) == 2
    assert main(["study", path, "--create", "", "--condition", "scan/length/test=3"]) == 2
    capsys.readouterr()
    assert main(["study", path, "--create", "Bad", "--kind", "write", "--condition", "scan/length/test=3"]) == 2
    assert "--condition goes with --kind answer" in capsys.readouterr().err


@pytest.mark.slow
def test_a_killed_server_loses_and_doubles_nothing(tmp_path: Path) -> None:
    path = Path(__file__).parents[2] / "benchmarks" / "people_serve.py"
    spec = importlib.util.spec_from_file_location("people_serve", path)
    assert spec is not None
    assert spec.loader is not None
    people = importlib.util.module_from_spec(spec)
    sys.modules["people_serve"] = people
    spec.loader.exec_module(people)
    found = people.run(tmp_path / "people.sqlite", 8, submissions=200, kills=2)
    assert found["kills"] == 2
    assert found["acknowledged"] >= 200
    assert (found["lost"], found["doubled"], found["unexpected"]) == (0, 0, 0)


def test_an_export_never_writes_into_a_foreign_folder(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    study = _answers(store, Design("T", conditions=SCAN, practice=0))
    store.close()
    out = tmp_path / "mine"
    out.mkdir()
    (out / "people-all-1.jsonl").write_text("years of work")
    assert main(["study", str(tmp_path / "s.sqlite"), "--export", study, "--out", str(out)]) == 2
    assert [(p.name, p.read_text()) for p in out.iterdir()] == [("people-all-1.jsonl", "years of work")]
    assert main(["study", str(tmp_path / "s.sqlite"), "--export", study, "--out", str(tmp_path / "new")]) == 0
    assert main(["study", str(tmp_path / "s.sqlite"), "--export", study, "--out", str(tmp_path / "new")]) == 0


def test_a_person_keeps_the_time_limit_of_the_own_group(client: Any, code: Any) -> None:
    """Whoever joined the timed group and then follows the link of the untimed one is still timed, as the export says."""
    visitor = client()
    fields = {
        "csrf": code(visitor.get("/studies").text),
        "title": "T",
        "conditions": "scan/length/test=3",
        "limit_seconds": "30",
    }
    made = visitor.post("/studies", data={**fields, "groups": "timed experts", "untimed": "experts", "practice": "0"})
    timed, experts = (f"/take/{text.split(chr(34))[0]}" for text in made.text.split("href=" + chr(34) + "/take/")[1:3])
    task = visitor.post(timed, data={"csrf": code(visitor.get(timed).text)})
    assert "data-left" in task.text
    assert "data-left" in visitor.get(f"{experts}/next").text
    other = client()
    assert "data-left" not in other.post(experts, data={"csrf": code(other.get(experts).text)}).text


def test_a_studys_page_is_told_new_counts(client: Any, code: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from recombine.serve.studies import pages

    monkeypatch.setattr(pages, "LIVE_SECONDS", 0.3)
    monkeypatch.setattr(pages, "LIVE_PAUSE", 0.01)
    visitor = client()
    fields = {"csrf": code(visitor.get("/studies").text), "title": "T", "conditions": "scan/length/test=2"}
    made = visitor.post("/studies", data=fields)
    assert f'data-live="{made.url.path}/live"' in made.text
    link = f"/take/{made.text.split('href=' + chr(34) + '/take/')[1].split(chr(34))[0]}"
    looks = iter(range(100))
    counts = Store.counts

    def joined_at_the_third_look(store: Store, study: str) -> dict[str, int]:
        if next(looks) == 2:
            store.join(store.link(link.removeprefix("/take/")))
        return counts(store, study)

    monkeypatch.setattr(Store, "counts", joined_at_the_third_look)
    told = visitor.get(f"{made.url.path}/live")
    assert told.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(line[6:]) for line in told.text.splitlines() if line.startswith("data: ")]
    assert [event["people"] for event in events] == [0, 1]  # once now, once when it changed
    assert visitor.get("/studies/nothing/live").status_code == 404
    monkeypatch.setattr(pages, "MOST_WATCHERS", 0)
    assert visitor.get(f"{made.url.path}/live").status_code == 503


def test_the_next_item_is_found_by_counting_offers_once(store: Store) -> None:
    """Work is counted in SQLite's own steps, so the figure is the same on every machine."""
    items = [("answer", f"part {n % 3}", False, {"id": str(n)}) for n in range(400)]
    link = store.links(store.create("T", {"groups": ["all"]}, items))[0]
    people = [store.join(link) for _ in range(20)]
    for _ in range(5):
        for person in people:
            offer = store.offer(person, link, 100, 2)
            assert offer is not None
            store.give_answer(person, offer.item, "x", 3, 0)
    thousands = [0]
    store._db.set_progress_handler(lambda: thousands.__setitem__(0, thousands[0] + 1), 1000)
    store.offer(people[0], link, 100, 2)
    store._db.set_progress_handler(None, 0)
    assert thousands[0] < 100
