"""Pages: every family can be browsed, filtered, answered without script; folders and files open inside their roots only."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recombine
from recombine.data.generate import generate
from recombine.data.ids import example_of
from recombine.errors import UsageError
from recombine.evaluate.answers import Answer, write_answers
from recombine.families import OURS, family
from recombine.jobs import make_job
from recombine.serve import sources
from recombine.serve.sources import Filter

Code = Callable[[str], str]


def _plain(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


@pytest.mark.parametrize("name", OURS)
def test_a_family_is_browsed_and_answered_without_script(client: Any, code: Code, name: str) -> None:
    visitor = client()
    assert family(name).TITLE[:20] in visitor.get(f"/families/{name}").text
    page = visitor.get(f"/go?family={name}&index=3")
    address = page.url.path
    assert page.status_code == 200
    assert address == "/" + make_job(family(name)).id(3)
    assert "Show the answer" in page.text
    example = example_of(address[1:])
    for answer, verdict in ((example.answer, "Right."), ("nonsense", "cannot be read")):
        told = visitor.post(address, data={"csrf": code(page.text), "event": "answer", "answer": answer})
        assert verdict in _plain(told.text)
    solved = visitor.get(f"{address}?show=1").text
    assert "No law is broken." in solved
    assert visitor.get(f"{address}?step=1").text.count('aria-current="step"') == 1
    assert next(s.name for s in example.explain().shortcuts if s.answer is not None) in solved
    after = visitor.get(f"/go?id={address[1:]}&move=next", follow_redirects=False)
    assert after.headers["location"] == "/" + make_job(family(name)).id(4)


def test_boards_work_without_script_and_as_fragments(client: Any, code: Code) -> None:
    visitor = client()
    address = "/" + make_job(family("reascan")).id(3)
    page = visitor.get(address).text
    fields = {"csrf": code(page), "state": "", "event": "do:turn left"}
    whole = visitor.post(address, data=fields)
    assert "<!doctype html>" in whole.text
    assert 'name="state" value="turn left"' in whole.text
    part = visitor.post(address, data=fields, headers={"Accept": "application/json"}).json()["html"]
    assert part.startswith('<div id="board"')
    assert 'name="state" value="turn left"' in part


def test_filters_find_rows_forward_and_back() -> None:
    job = make_job(family("reascan"))
    wanted = Filter(predicate="verb = push")
    forward = sources.neighbour(job.id(3), "next", wanted)
    assert example_of(forward).plan.verb == "push"
    back = sources.neighbour(forward, "previous", wanted)
    assert example_of(back).plan.verb == "push"
    between = [example_of(job.id(row)).plan.verb for row in range(int(back[-6:]) + 1, int(forward[-6:]))]
    assert "push" not in between
    by_dial = sources.neighbour(job.id(0), "next", Filter(dial="distance", low="6"))
    assert example_of(by_dial).meta["distance"] >= 6
    misled = example_of(sources.neighbour(job.id(0), "next", Filter(reader="nearest_match")))
    assert any(s.name == "nearest_match" and s.answer not in (None, misled.answer) for s in misled.explain().shortcuts)


@pytest.mark.parametrize(
    "wanted",
    [
        Filter(predicate="colour = red"),
        Filter(dial="weight", low="1"),
        Filter(dial="distance", low="x"),
        Filter(reader="nobody"),
    ],
)
def test_a_filter_that_fits_nothing_is_an_error(wanted: Filter) -> None:
    with pytest.raises(UsageError):
        sources.neighbour(make_job(family("gscan")).id(0), "next", wanted)


def test_the_ends_of_a_part_are_told() -> None:
    job = make_job(family("scan"))
    for identifier, move in ((job.id(0), "previous"), (job.id(job.stop - 1), "next"), (job.id(0), "sideways")):
        with pytest.raises(UsageError):
            sources.neighbour(identifier, move, Filter())


@pytest.mark.parametrize("is_loaded", [True, False])
def test_a_single_scene_uses_compiled_kernels_once_they_are_loaded(monkeypatch: pytest.MonkeyPatch, is_loaded: bool) -> None:
    """A rare row takes minutes without them."""
    from recombine import kernels
    from recombine.families.lilgym.sound import planner

    asked: list[bool] = []
    make = planner.make

    def noted(*given: Any, compiled: bool, **more: Any) -> Any:
        asked.append(compiled)
        return make(*given, compiled=False, **more)

    monkeypatch.setattr(kernels, "is_loaded", lambda _name: is_loaded)
    monkeypatch.setattr(kernels, "_ROWS", {})
    monkeypatch.setattr(planner, "make", noted)
    item = family("lilgym")
    item.generate(make_job(item).rows(17, 18))
    assert asked == [is_loaded]


def test_errors_are_pages_without_traces(client: Any) -> None:
    visitor = client()
    for address in (
        "/nothing",
        "/families/nothing",
        "/scan@9/release/simple/test/0/000003",
        "/go?family=scan&index=-1",
        "/change/x",
    ):
        page = visitor.get(address)
        assert page.status_code == 404
        assert "Traceback" not in page.text


def test_a_fault_of_ours_shows_no_trace(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(sources, "neighbour", broken)
    page = client().get("/go?id=scan@1/release/simple/test/0/000003&move=next")
    assert page.status_code == 500
    assert "secret" not in page.text
    assert "Traceback" not in page.text


# --- folders and files -------------------------------------------------------------------------------------------------


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder with a data set, answers, a released file and a link that leads outside."""
    root = tmp_path / "shelf"
    folder = generate("scan", root / "data", split="length", part="test", size=30)
    rows = list(recombine.load(folder.path))
    write_answers(root / "good.jsonl", [Answer(e.id, e.answer) for e in rows])
    write_answers(root / "bad.jsonl", [Answer(e.id, e.explain().shortcuts[0].answer or "I_WALK") for e in rows])
    lines = [f"IN: {e.inputs['command']} OUT: {e.answer}" for e in rows[:5]] + ["IN: jump OUT: I_WALK"]
    (root / "tasks.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "outside.txt").write_text("IN: jump OUT: I_JUMP\n")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    return root


def test_data_sets_and_released_files_are_walked(client: Any, shelf: Path, code: Code) -> None:
    visitor = client(folders=(shelf,))
    assert "data set" in visitor.get("/files/0").text
    assert "length/test" in visitor.get("/files/0/data").text
    row = visitor.get("/files/0/data?part=length/test&row=4")
    assert recombine.load(shelf / "data")[4].id in row.text
    address = "/files/0/data?part=length/test&row=4"
    told = visitor.post(
        address, data={"csrf": code(row.text), "event": "answer", "answer": recombine.load(shelf / "data")[4].answer}
    )
    assert "Right." in told.text
    listed = _plain(visitor.get("/files/0/tasks.txt?as=scan").text)
    assert "6 rows read" in listed
    assert listed.count("no problem") == 5
    assert "wrong_label" in listed
    assert "wrong_label" in visitor.get("/files/0/tasks.txt?as=scan&row=5&show=1").text


@pytest.mark.parametrize(
    "path",
    [
        "link.txt",
        "../outside.txt",
        "%2e%2e/outside.txt",
        "..%2foutside.txt",
        "data/../../outside.txt",
        "%00",
        "/etc/passwd",
        "x" * 3000,
    ],
)
def test_no_path_leads_out_of_a_folder(client: Any, shelf: Path, path: str) -> None:
    visitor = client(folders=(shelf,))
    page = visitor.get(f"/files/0/{path}?as=scan")
    assert page.status_code == 404
    assert "I_JUMP" not in page.text
    assert "root:" not in page.text
    assert visitor.get("/files/7/tasks.txt").status_code == 404


def test_runs_stand_beside_the_worlds(client: Any, shelf: Path) -> None:
    visitor = client(folders=(shelf,))
    assert "0/data" in visitor.get("/compare").text
    page = visitor.get("/compare?data=0/data&answers=0/good.jsonl&answers=0/bad.jsonl").text
    assert "good: 30 of 30 right" in _plain(page)
    assert "30 rows fit" in page
    reader = recombine.load(shelf / "data")[0].explain().shortcuts[0].name
    fewer = visitor.get(
        f"/compare?data=0/data&answers=0/good.jsonl&answers=0/bad.jsonl&run=bad&verdict=wrong&reader={reader}"
    ).text
    found = int(re.search(r"(\d+) rows fit", fewer)[1])  # type: ignore[index]
    examples = list(recombine.load(shelf / "data"))
    expected = sum(reader in e.score(e.explain().shortcuts[0].answer or "I_WALK").mistakes for e in examples)
    assert found == expected > 0
    assert visitor.get("/compare?data=0/../..&answers=0/good.jsonl").status_code == 404


def test_runs_are_scored_as_in_a_report(client: Any, tmp_path: Path) -> None:
    """A refusal is never right, whatever text stands beside it; an episode is played again and not read as a text."""
    folder = generate("gscan", tmp_path / "data", split="compositional", part="test", size=6)
    rows = list(recombine.load(folder.path))
    episode = lambda row: {
        "episode": {"sight": "text", "with_rules": False, "settings": {}, "replies": [row.answer.replace(",", ", "), "STOP"]}
    }
    write_answers(tmp_path / "acted.jsonl", [Answer(row.id, "-", None, episode(row)) for row in rows])
    write_answers(tmp_path / "refused.jsonl", [Answer(row.id, row.answer, "refused") for row in rows])
    write_answers(tmp_path / "few.jsonl", [Answer(rows[2].id, None), Answer(rows[3].id, rows[3].answer)])
    visitor = client(folders=(tmp_path,))
    files = "&".join(f"answers=0/{name}.jsonl" for name in ("acted", "refused", "few"))
    page = _plain(visitor.get(f"/compare?data=0/data&{files}").text)
    for line in ("acted: 6 of 6 right", "refused: 0 of 6 right", "few: 1 of 2 right"):
        assert line in page
    assert page.count("refused: refused") == 6
    assert page.count("few: missing") == 1


def test_folders_that_cannot_be_read_are_a_sentence(client: Any, shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor, real = client(folders=(shelf,)), Path.iterdir
    (shelf / "locked").mkdir()

    def guarded(path: Path) -> Any:
        if path.name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "iterdir", guarded)
    page = visitor.get("/files/0/locked")
    assert (page.status_code, "this place cannot be read: Permission denied." in page.text) == (404, True)
    assert str(shelf) not in page.text
    assert "0/data" in visitor.get("/compare").text


def test_a_long_folder_shows_its_first_entries_by_name(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_ENTRIES", 4)
    for name in ("z", "b", "y", "a", "x"):
        (shelf / f"{name}.txt").write_text("")
    names = [name for name, _, _ in sources.listing(sources.place_of((shelf,), 0, ""))]
    assert names == ["data", "a.txt", "b.txt", "bad.jsonl"]


def test_a_hostile_file_is_no_fault_of_the_server(client: Any, shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a family's reader or oracle does not foresee is a finding about the file."""

    def fails(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("division by zero")

    scan, visitor = family("scan"), client(folders=(shelf,))
    for name in ("validate", "explain"):
        monkeypatch.setattr(type(scan), name, fails)
    listed = visitor.get("/files/0/tasks.txt?as=scan")
    assert (listed.status_code, "ZeroDivisionError" in listed.text) == (200, True)
    row = visitor.get("/files/0/tasks.txt?as=scan&row=0&show=1")
    assert (row.status_code, "cannot be shown as scan: ZeroDivisionError" in row.text) == (404, True)
    monkeypatch.setattr(type(scan), "read", fails)
    (shelf / "other.txt").write_text("IN: jump OUT: I_JUMP\n")
    unread = visitor.get("/files/0/other.txt?as=scan")
    assert (unread.status_code, "the rest of the file cannot be read" in unread.text) == (200, True)


def test_a_changed_example_is_saved_over_the_network(client: Any, code: Code) -> None:
    visitor = client()
    address = "/change/" + make_job(family("reascan")).id(3)
    page = visitor.get(address).text
    state = re.search(r'name="state" value="([^"]+)"', page)[1].replace("&#34;", '"')  # type: ignore[index]
    saved = visitor.post(address, data={"csrf": code(page), "state": state, "event": "save"})
    assert "attachment" in saved.headers["content-disposition"]
    assert json.loads(saved.text)["examples"]["test"]
