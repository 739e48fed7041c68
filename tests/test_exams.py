"""Sealed exams: every attack on one has its own fault, and the items are the same wherever they are made."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from recombine.cli import main
from recombine.errors import FileError, UsageError
from recombine.exams import document, faults, make_paper, reveal, seal, sit
from recombine.exams.document import Exam, make_section, read_exam
from recombine.exams.journal import GENESIS, JOURNAL, link_of
from recombine.exams.paper import Question, paper_hash
from recombine.exams.result import check
from recombine.exams.secret import Secret, read_secret
from recombine.exams.sections import Power, parse_section
from recombine.exams.sitting import Said

_SPEC = importlib.util.spec_from_file_location("chat_server", Path(__file__).parent / "evaluate" / "chat_server.py")
assert _SPEC is not None and _SPEC.loader is not None
chat_server = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(chat_server)
ROOT = Secret(bytes(range(32)))
NOW = 1_800_000_000


def half_right(questions: Any) -> list[Said]:
    return [Said(f"Answer: {q.example.answer}" if q.number % 2 else "Answer: nothing") for q in questions]


def sealed(folder: Path, **words: Any) -> Exam:
    sections = [make_section("scan", "length", "test", rows=6), make_section("gscan", "adverb_2", "test", rows=6)]
    return seal(folder, sections, secret=ROOT, **words)


class Held:
    """An exam that was sat, revealed and can be attacked."""

    def __init__(self, place: Path, **words: Any) -> None:
        self.folder, self.sitting = place / "exam", place / "sitting"
        self.exam = sealed(self.folder, **words)
        self.head = sit(self.exam, ROOT, self.sitting, "model", half_right, clock=lambda: NOW).head
        self.revealed, self.results = reveal(self.folder, self.exam, ROOT, [self.sitting])

    def check(self, **words: Any) -> Any:
        return check(self.folder / "exam.json", self.revealed, [self.sitting], **{"heads": [self.head], **words})

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.sitting / JOURNAL).read_text().splitlines()]

    def write(self, lines: list[dict[str, Any]], *, relinked: bool = False) -> None:
        before = GENESIS
        for line in lines if relinked else ():
            before = link_of(before, line)
            line["link"] = before.hex()
        (self.sitting / JOURNAL).write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Held:
    return Held(tmp_path_factory.mktemp("honest"))


@pytest.fixture
def held(honest: Held, tmp_path: Path) -> Held:
    copy = Held.__new__(Held)
    copy.__dict__.update(honest.__dict__)
    shutil.copytree(honest.folder, tmp_path / "exam")
    shutil.copytree(honest.sitting, tmp_path / "sitting")
    copy.folder, copy.sitting = tmp_path / "exam", tmp_path / "sitting"
    copy.revealed = copy.folder / "revealed-1.json"
    return copy


def test_an_honest_exam_passes(held: Held) -> None:
    (found,) = held.check(commitment=held.exam.commitment)
    assert found.result == held.results[0]
    assert found.result["items"] == 12
    assert found.result["right"] == 6
    assert {name: part["items"] for name, part in found.result["sections"].items()} == {
        "scan/length/test": 6,
        "gscan/adverb_2/test": 6,
    }
    assert found.has_published_head
    assert found.has_stated_result


def test_questions_show_neither_seed_nor_answer(honest: Held) -> None:
    for question in make_paper(honest.exam, ROOT):
        shown = json.loads(question.line)
        assert set(shown) == {"item", "section", "prompt"}
        assert question.example.id not in question.line
        assert str(question.example.id.split("/")[-2]) not in question.line


# --- attacks ---------------------------------------------------------------------------------------------------------


def other_secret(held: Held) -> None:
    value = json.loads(held.revealed.read_text())
    held.revealed.write_text(json.dumps({**value, "secret": "ab" * 32}))


def edited_exam(held: Held) -> None:
    value = json.loads((held.folder / "exam.json").read_text())
    value["sections"][0]["rows"] = 5
    (held.folder / "exam.json").write_text(json.dumps(value))


def dropped_reply(held: Held) -> None:
    lines = held.lines()
    held.write([*lines[:4], *lines[5:]])


def dropped_with_new_links(held: Held) -> None:
    """The last item's reply is left out, and count and links are made to fit."""
    lines = held.lines()
    held.write([*lines[:-2], {**lines[-1], "replies": len(lines) - 3}], relinked=True)


def swapped_lines(held: Held) -> None:
    lines = held.lines()
    lines[3], lines[4] = lines[4], lines[3]
    held.write(lines)


def swapped_words(held: Held) -> None:
    """The replies to two items change places, and their numbers stay."""
    lines = held.lines()
    lines[1]["reply"], lines[2]["reply"] = lines[2]["reply"], lines[1]["reply"]
    held.write(lines)


def forged_journal(held: Held) -> None:
    """A wrong reply becomes right, and all links are computed anew."""
    lines = held.lines()
    lines[2]["reply"] = "Answer: " + make_paper(held.exam, ROOT)[1].example.answer
    held.write(lines, relinked=True)


def late_reply(held: Held) -> None:
    lines = held.lines()
    held.write([*lines, lines[-2]])


def unfinished(held: Held) -> None:
    held.write(held.lines()[:-1])


def edited_score(held: Held) -> None:
    file = held.sitting / "result.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "accuracy": 0.9}))


def edited_section_score(held: Held) -> None:
    file = held.sitting / "result.json"
    value = json.loads(file.read_text())
    value["sections"]["scan/length/test"]["right"] = 6
    file.write_text(json.dumps(value))


@pytest.mark.parametrize(
    ("attack", "fault"),
    [
        (other_secret, faults.OtherSecret),
        (edited_exam, faults.EditedExam),
        (dropped_reply, faults.DroppedReply),
        (swapped_lines, faults.SwappedReply),
        (swapped_words, faults.EditedReply),
        (forged_journal, faults.ForgedJournal),
        (late_reply, faults.LateReply),
        (unfinished, faults.UnfinishedSitting),
        (edited_score, faults.EditedScore),
        (edited_section_score, faults.EditedScore),
    ],
)
def test_an_attack_has_its_fault(held: Held, attack: Callable[[Held], None], fault: type[faults.ExamFault]) -> None:
    attack(held)
    with pytest.raises(fault):
        held.check()


def test_a_forged_journal_without_a_published_head_is_caught_by_its_score_or_count(held: Held) -> None:
    dropped_with_new_links(held)
    with pytest.raises(faults.DroppedReply):
        held.check(heads=[])
    with pytest.raises(faults.ForgedJournal):
        held.check()


def test_a_changed_item_is_named(held: Held) -> None:
    lines = held.lines()
    lines[5]["question"] = "0" * 32
    held.write(lines, relinked=True)
    with pytest.raises(faults.OtherItem, match="item 5"):
        held.check(heads=[])


def test_another_version_says_which_release_makes_it(tmp_path: Path) -> None:
    section = make_section("scan", "length", "test", rows=3)
    older = document.Section(**{**section.__dict__, "version": section.version + 7})
    exam = seal(tmp_path / "exam", [older], secret=ROOT)
    with pytest.raises(
        faults.OtherVersion, match=f"version {section.version + 7}.*this package makes version {section.version}"
    ):
        sit(exam, ROOT, tmp_path / "sitting", "model", half_right)


def test_two_exams_of_one_commitment(tmp_path: Path) -> None:
    exam = sealed(tmp_path / "exam", beacon="drand round 5")
    for name, value in (("a", "aa11"), ("b", "bb22")):
        sit(exam, ROOT, tmp_path / name, name, half_right, beacon=value)
    with pytest.raises(faults.TwoExams):
        reveal(tmp_path / "exam", exam, ROOT, [tmp_path / "a", tmp_path / "b"])
    file, _ = reveal(tmp_path / "exam", exam, ROOT, [tmp_path / "a"])
    assert check(tmp_path / "exam", file, [tmp_path / "a"])[0].result["right"] == 6
    with pytest.raises(faults.TwoExams):
        check(tmp_path / "exam", file, [tmp_path / "b"])
    with pytest.raises(FileError, match="holds an exam already"):
        sealed(tmp_path / "exam")


def test_a_published_commitment_binds_the_exam(held: Held) -> None:
    with pytest.raises(faults.EditedExam, match="was published"):
        held.check(commitment="00" * 32)


def test_the_beacon_changes_the_items_and_is_needed(tmp_path: Path) -> None:
    exam = sealed(tmp_path / "exam", beacon="drand round 5")
    assert paper_hash(make_paper(exam, ROOT, 1, "aa")) != paper_hash(make_paper(exam, ROOT, 1, "ab"))
    with pytest.raises(UsageError, match="needs the value"):
        make_paper(exam, ROOT)
    with pytest.raises(UsageError, match="names no beacon"):
        make_paper(sealed(tmp_path / "other"), ROOT, 1, "aa")


# --- series ----------------------------------------------------------------------------------------------------------


def test_a_series_has_fresh_items_and_its_chain_cannot_be_replayed(tmp_path: Path) -> None:
    exam = sealed(tmp_path / "exam", series=3)
    first, second = exam.secret_of(ROOT, 1), exam.secret_of(ROOT, 2)
    assert second.before().hex() == first.hex()
    papers = [paper_hash(make_paper(exam, exam.secret_of(ROOT, n), n)) for n in (1, 2, 3)]
    assert len(set(papers)) == 3
    with pytest.raises(faults.ReplayedChain, match="exam 1 of the series, not that of exam 2"):
        make_paper(exam, first, 2)
    sit(exam, first, tmp_path / "one", "model", half_right, number=1)
    with pytest.raises(faults.ReplayedChain, match="sitting of exam 1"):
        reveal(tmp_path / "exam", exam, ROOT, [tmp_path / "one"], 2)
    file, _ = reveal(tmp_path / "exam", exam, ROOT, [tmp_path / "one"], 1)
    assert ROOT.hex() not in file.read_text(), "the first exam's secret must not give away the last one's"
    assert len(check(tmp_path / "exam", file, [tmp_path / "one"])) == 1
    with pytest.raises(UsageError, match="there is no exam 4"):
        exam.secret_of(ROOT, 4)


@pytest.mark.parametrize("series", [0, 1_001, 10**18])
def test_the_length_of_a_series_is_checked_before_it_is_hashed(tmp_path: Path, series: int) -> None:
    with pytest.raises(UsageError, match=f"1 to 1,000 exams, not {series}"):
        sealed(tmp_path / "exam", series=series)
    assert not (tmp_path / "exam").exists()


def test_a_journal_of_another_exam_is_no_journal_of_this_one(held: Held, tmp_path: Path) -> None:
    other = sealed(tmp_path / "other", title="another one")
    sit(other, ROOT, tmp_path / "elsewhere", "model", half_right)
    with pytest.raises(faults.ReplayedChain):
        check(held.folder, held.revealed, [tmp_path / "elsewhere"])


# --- time, secrecy, interruption -------------------------------------------------------------------------------------


def test_nothing_counts_after_the_closing_time(tmp_path: Path) -> None:
    exam = sealed(tmp_path / "exam", closes="2027-01-15T08:00:05+00:00")  # five seconds after NOW
    assert exam.closing_second == NOW + 5
    ticking = iter(range(NOW, NOW + 1000))
    with pytest.raises(faults.LateReply):
        sit(exam, ROOT, tmp_path / "slow", "slow", half_right, clock=lambda: next(ticking))
    sit(exam, ROOT, tmp_path / "quick", "quick", half_right, clock=lambda: NOW)
    with pytest.raises(UsageError, match="open until"):
        reveal(tmp_path / "exam", exam, ROOT, [tmp_path / "quick"], clock=lambda: NOW)
    file, _ = reveal(tmp_path / "exam", exam, ROOT, [tmp_path / "quick"], clock=lambda: NOW + 6)
    lines = [json.loads(line) for line in (tmp_path / "quick" / JOURNAL).read_text().splitlines()]
    lines[3]["at"] = NOW + 60
    held = Held.__new__(Held)
    held.sitting = tmp_path / "quick"
    held.write(lines, relinked=True)
    with pytest.raises(faults.LateReply):
        check(tmp_path / "exam", file, [tmp_path / "quick"])


def test_the_secret_stays_in_its_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["exam", "seal", "--out", str(tmp_path / "e"), "--section", "scan/length:5"]
    assert main(words) == 0
    file = tmp_path / "e" / "secret.json"
    secret = json.loads(file.read_text())["root"]
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert main(["exam", "sit", str(tmp_path / "e"), "--out", str(tmp_path / "s"), "--hand-out"]) == 0
    assert main(["exam", "sit", str(tmp_path / "e"), "--out", str(tmp_path / "s"), "--name", "m", "--replies", os.devnull]) == 2
    (tmp_path / "replies").write_text('{"item": 1, "reply": "Answer: I_WALK"}\n')
    sitting = ["exam", "sit", str(tmp_path / "e"), "--out", str(tmp_path / "s"), "--name", "m"]
    assert main([*sitting, "--replies", str(tmp_path / "replies")]) == 0
    assert main(["exam", "reveal", str(tmp_path / "e"), "--sitting", str(tmp_path / "s")]) == 0
    revealed = str(tmp_path / "e" / "revealed-1.json")
    assert main(["exam", "check", str(tmp_path / "e" / "exam.json"), revealed, "--sitting", str(tmp_path / "s")]) == 0
    said = capfd.readouterr()
    assert secret not in said.out + said.err
    assert secret not in (tmp_path / "e" / "exam.json").read_text()
    assert "Secret(…)" in repr(read_secret(file, read_exam(tmp_path / "e").commitment))
    file.write_text(json.dumps({"commitment": "0" * 64, "root": secret + "00"}))
    assert main([*sitting, "--replies", str(tmp_path / "replies")]) == 2
    file.write_text(json.dumps({"commitment": read_exam(tmp_path / "e").commitment, "root": secret + "00"}))
    assert main([*sitting, "--replies", str(tmp_path / "replies")]) == 2
    said = capfd.readouterr()
    assert secret not in said.out + said.err


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX")
def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    exam = sealed(tmp_path / "exam")
    (tmp_path / "exam" / "secret.json").chmod(0o644)
    with pytest.raises(FileError, match="can be read by others"):
        read_secret(tmp_path / "exam" / "secret.json", exam.commitment)


def test_an_interrupted_sitting_goes_on(honest: Held, tmp_path: Path) -> None:
    def failing(questions: Sequence[Question]) -> list[Said]:
        if questions[0].number > 5:
            raise KeyboardInterrupt
        return half_right(questions)

    with pytest.raises(KeyboardInterrupt):
        sit(honest.exam, ROOT, tmp_path / "s", "model", failing, clock=lambda: NOW)
    with (tmp_path / "s" / JOURNAL).open("ab") as journal:
        journal.write(b'{"kind": "rep')
    done = sit(honest.exam, ROOT, tmp_path / "s", "model", half_right, clock=lambda: NOW)
    assert done.head == honest.head
    with pytest.raises(faults.LateReply, match="is closed"):
        sit(honest.exam, ROOT, tmp_path / "s", "model", half_right, clock=lambda: NOW)
    with pytest.raises(FileError, match="another sitting"):
        cut = (tmp_path / "s" / JOURNAL).read_text().splitlines()[:3]
        (tmp_path / "s" / JOURNAL).write_text("\n".join(cut) + "\n")
        sit(honest.exam, ROOT, tmp_path / "s", "somebody else", half_right)


@pytest.mark.parametrize(
    "line", ["", "[]", "{}", '{"kind": "open"}', '{"kind": "reply", "item": "x"}', "\x00", '{"kind": ["open"]}']
)
def test_a_damaged_journal_is_a_typed_error(held: Held, line: str) -> None:
    (held.sitting / JOURNAL).write_text(line + "\n")
    with pytest.raises((FileError, faults.ExamFault)):
        held.check()


# --- a model behind an endpoint --------------------------------------------------------------------------------------


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("RECOMBINE_API_KEY", chat_server.KEY)
    with chat_server.ChatServer(lambda _prompt: "Answer: I_WALK") as running:
        yield running


def sitting(server: Any, place: Path, *words: str) -> list[str]:
    """The words of `exam sit`: four questions at a time, 1 for a token read and 2 for one written; a reply costs 120."""
    if not (place / "exam").exists():
        sealed(place / "exam")
    said = ["exam", "sit", str(place / "exam"), "--out", str(place / "s"), "--model", "m", "--endpoint", server.url]
    return [*said, "--concurrency", "4", "--max-tokens", "10", "--price", "1e6,2e6", "--max-cost", "1e8", *words]


def test_paid_replies_are_kept_when_another_question_fails(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.faults.extend(["ok", "ok", "400"])
    assert main(sitting(server, tmp_path)) == 2
    assert "got no reply" in capsys.readouterr().err
    assert len(server.asked) == 4
    assert main(sitting(server, tmp_path)) == 0
    assert len(server.asked) == 13
    assert sorted(server.counts().values()) == [1] * 11 + [2], "only the question that failed is asked again"
    replies = [json.loads(line) for line in (tmp_path / "s" / JOURNAL).read_text().splitlines()][1:-1]
    assert [line["item"] for line in replies] == list(range(1, 13)) and all(line["reply"] for line in replies)
    assert main(["exam", "reveal", str(tmp_path / "exam"), "--sitting", str(tmp_path / "s")]) == 0
    revealed = str(tmp_path / "exam" / "revealed-1.json")
    assert main(["exam", "check", str(tmp_path / "exam" / "exam.json"), revealed, "--sitting", str(tmp_path / "s")]) == 0


def test_the_cap_is_that_of_the_whole_sitting(server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exam = sealed(tmp_path / "exam")
    most = max(len(question.prompt.encode()) // 2 + 17 for question in make_paper(exam, ROOT)) + 20
    cap = ["--max-cost", str(most + 130)]  # for a question at its most, and one that was answered
    asked = []
    for _ in range(3):
        assert main(sitting(server, tmp_path, *cap, "--concurrency", "1")) == 2
        assert "raise --max-cost to go on" in capsys.readouterr().err
        asked.append(len(server.asked))
    assert 0 < asked[0] < 12 and asked == [asked[0]] * 3
    assert main(sitting(server, tmp_path)) == 0
    assert len(server.asked) == 12


def test_a_sitting_has_a_cap_and_one_model(server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for cap in ("nan", "inf", "-1"):
        assert main(sitting(server, tmp_path, "--max-cost", cap)) == 2
        assert "--max-cost" in capsys.readouterr().err
    assert main(sitting(server, tmp_path, "--max-tokens", "0")) == 2
    assert not (tmp_path / "s").exists() and not server.asked
    server.faults.extend(["400"] * 4)
    assert main(sitting(server, tmp_path)) == 2
    assert main(sitting(server, tmp_path, "--model", "other", "--name", "m")) == 2
    assert "model is 'm' there and 'other' here" in capsys.readouterr().err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "replies.jsonl").write_text("years of work")
    assert main(sitting(server, tmp_path, "--out", str(tmp_path / "mine"))) == 2
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["replies.jsonl"]


# --- the same bytes everywhere ---------------------------------------------------------------------------------------


def test_another_process_makes_the_same_paper(honest: Held) -> None:
    program = (
        "import sys; from recombine.exams.document import read_exam; from recombine.exams.paper import make_paper, paper_hash\n"
        "from recombine.exams.secret import Secret\n"
        "print(paper_hash(make_paper(read_exam(sys.argv[1]), Secret(bytes(range(32))))))"
    )
    words = [sys.executable, "-c", program, str(honest.folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    assert done.stdout.strip() == paper_hash(make_paper(honest.exam, ROOT))


def test_the_items_are_the_rows_that_workers_generate(honest: Held, tmp_path: Path) -> None:
    """Anybody can make a section's rows with `recombine generate` on any number of workers, once the seed is known."""
    from recombine.data.datasets import load
    from recombine.data.generate import generate

    for place, section in enumerate(honest.exam.sections):
        seed = honest.exam.seed(ROOT, 1, "", place)
        words: dict[str, Any] = {"split": section.split, "part": section.part, "seed": seed, "size": section.rows}
        generate(section.family, tmp_path / section.family, recipe=section.recipe, workers=2, **words)
        asked = {q.example.id: q.example for q in make_paper(honest.exam, ROOT) if q.section == section.name}
        rows = list(load(tmp_path / section.family))
        assert {row.id for row in rows} == set(asked)
        assert all(row.inputs == asked[row.id].inputs and row.answer == asked[row.id].answer for row in rows)


def test_sections_get_their_rows_from_power() -> None:
    small, large = (parse_section("nacs/simple", Power(detect)).rows for detect in (0.2, 0.1))
    assert 0 < small < large
    assert parse_section("scan/length/test:7", Power()).rows == 7
    for wrong in ("", "gscan", "nosuch/x:4", "gscan/adverb_2:0", "scan/mcd1/test:3", "scan/length/test:999999"):
        with pytest.raises(UsageError):
            parse_section(wrong, Power())
