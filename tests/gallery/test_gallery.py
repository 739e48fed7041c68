"""The gallery: what its page holds, how it judges, and that a person can play it in a real browser."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recombine.families.lilgym import program
from recombine.gallery import boxes, grids
from recombine.gallery.choice import PUZZLES, SETS, Wanted, opening_first, prove, puzzles
from recombine.gallery.page import FLAWS, TITLES, originals, to_html
from recombine.gallery.puzzle import Puzzle
from recombine.grid.codes import ACTIONS

FEW: dict[str, list[Wanted]] = {
    "reascan": [Wanted("one_clause", 2), Wanted("c1", 2)],
    "clutrr": [Wanted("generalization_23", 2, "test_k3")],
    "lilgym": [Wanted("color_rank", 1), Wanted("random", 1, options={"scene": "scatter", "task": "truth"})],
    "scan": [Wanted("simple", 2), Wanted("length", 1)],
    "abstract": [Wanted("random", 1)],
    "gscan": [Wanted("compositional", 3)],
    "nacs": [Wanted("simple", 2)],
    "lexicon": [Wanted("random", 1)],
}


@pytest.fixture(scope="module")
def chosen() -> list[Puzzle]:
    return [p for name, sets in FEW.items() for p in opening_first([q for wanted in sets for q in puzzles(name, wanted)])]


@pytest.fixture(scope="module")
def gallery(chosen: list[Puzzle], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gallery") / "index.html"
    path.write_text(to_html(chosen, report="report/index.html", made="Made by a test."), encoding="utf-8")
    return path


def _answers(puzzle: Puzzle) -> list[tuple[str, str]]:
    """(reader's name, its answer as the family's scorer reads it), and ("", the right answer) first."""
    return [("", puzzle.example.answer), *((r[0], r[3]) for r in puzzle.packed()["readers"] if r[3])]


def test_every_family_of_the_page_is_known() -> None:
    assert set(PUZZLES) == set(SETS) == set(TITLES) == set(FEW)
    assert sum(wanted.rows for sets in SETS.values() for wanted in sets) >= 200


def test_every_puzzle_is_proved_and_its_readers_are_wrong(chosen: list[Puzzle]) -> None:
    assert prove(chosen) == []
    assert {p.packed()["family"] for p in chosen} == set(FEW)
    for puzzle in chosen:
        for name, answer in _answers(puzzle):
            score = puzzle.example.score(answer)
            assert score.status == ("wrong" if name else "right") or (puzzle.kind == "tower" and name), (
                puzzle.example.id,
                name,
            )


def test_scenes_of_towers_are_the_ones_that_edits_reach() -> None:
    start = ("01", "", "2222")
    found = boxes.within(start, 1)
    assert found[0] == start
    assert set(found[1:]) == {("010", "", "2222"), ("011", "", "2222"), ("012", "", "2222"), ("0", "", "2222"),
                              ("01", "0", "2222"), ("01", "1", "2222"), ("01", "2", "2222"), ("01", "", "222")}  # fmt: skip
    assert len(set(boxes.within(start, 3))) == len(boxes.within(start, 3))


def test_the_truth_of_a_tower_statement_is_the_programs(chosen: list[Puzzle]) -> None:
    (puzzle,) = [p for p in chosen if p.kind == "tower"]
    compiled = program.compile(puzzle.example.meta["program"])
    towers = boxes.within(tuple(puzzle.scene["towers"]))
    for place in range(0, len(towers), 7):
        assert puzzle.right[0][place] == str(int(compiled.evaluate(boxes._scene(towers[place]))))


def test_a_page_without_script_still_asks_one_of_each(gallery: Path) -> None:
    text = gallery.read_text(encoding="utf-8")
    still = text[text.index("<div id='still'>") : text.index("<h2 id='originals'>")]
    assert still.count("<article") == len(FEW)
    assert "src=" not in text.replace("src 'nonce", "")
    assert not re.search(r"https?://(?!www\.w3\.org/)", text)
    assert text.index("Can you put known pieces") < text.index("tile-")


def test_the_chart_shows_measured_flaws(gallery: Path) -> None:
    text = gallery.read_text(encoding="utf-8")
    found = originals()
    for item in found["sets"]:
        assert item["recipes"]["sound"]["flawed"] == 0
        known = FLAWS[item["family"]]
        assert any(code in known for code in item["recipes"]["release"]["codes"])
    first = found["sets"][0]["recipes"]["release"]
    assert f"{first['codes']['needless_word'] / first['rows']:.0%}" in text


# --- in a real browser -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    name = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if name is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with sync.sync_playwright() as tool:
        found = tool.chromium.launch(executable_path=name, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def opened(browser: Any, gallery: Path) -> Iterator[Any]:
    """The page, which must not complain and must not ask the network for anything."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    page.goto(gallery.as_uri())
    page.wait_for_selector("#still", state="hidden")
    yield page
    assert complaints == []
    context.close()


def test_the_page_judges_as_the_package_does(opened: Any, chosen: list[Puzzle]) -> None:
    """Every right answer is right; every reader's answer is wrong and names that reader."""
    for puzzle in chosen:
        packed = puzzle.packed()
        given = [("", packed["right"][0]), *((r[0], answer) for r in packed["readers"] for answer in r[2])]
        if puzzle.kind == "tower":
            given = []
        for name, answer in given:
            found = opened.evaluate(
                "([family, id, answer]) => recombine.judge(recombine.puzzles[family].find((p) => p.id === id), answer)",
                [packed["family"], packed["id"], answer],
            )
            assert found["right"] == (name == ""), (packed["id"], name, answer)
            assert not name or name in [packed["readers"][i][0] for i in found["readers"]], (packed["id"], name, answer)


@pytest.mark.parametrize("name", list(FEW))
def test_one_puzzle_of_each_family_can_be_played(opened: Any, chosen: list[Puzzle], name: str) -> None:
    """Answer rightly by clicking; then step through the proof to its end."""
    tile = opened.locator(f"#tile-{name}")
    identifier = tile.get_attribute("data-id")
    puzzle = next(p for p in chosen if p.example.id == identifier)
    _play(tile, puzzle)
    if puzzle.kind != "truth":
        tile.locator(".check").click()
    assert tile.locator(".verdict").inner_text() == "Right."
    assert opened.inner_text("#tally") == "1 of 1 right so far."
    for _ in puzzle.steps[1:]:
        tile.locator(".proof .next").click()
    last = max(re.split(r"\{[^}]*\}", puzzle.steps[-1].text), key=len)[:15].strip()
    assert last in tile.locator(".step").inner_text()


def _play(tile: Any, puzzle: Puzzle) -> None:
    """Click the right answer together."""
    right = puzzle.right[0]
    if puzzle.kind == "grid":
        names = dict(zip(grids.SIGNS, ACTIONS, strict=True))
        state = puzzle.scene["agent"][2]
        place = 0
        while place < len(right):
            turns = re.match(r"(?:<<|<|>)?w", right[place:])
            if turns:  # one arrow turns and walks
                state = (state + {"<<": 2, "<": 3, ">": 1, "": 0}[turns[0][:-1]]) % 4
                tile.get_by_role("button", name=f"walk {('east', 'south', 'west', 'north')[state]}").click()
                place += len(turns[0])
                continue
            sign = right[place]
            state = (state + {"<": 3, ">": 1}.get(sign, 0)) % 4
            tile.get_by_role("button", name=names[sign], exact=True).click()
            place += 1
    elif puzzle.kind == "acts":
        for letter in right:
            tile.locator(f"button[data-act='{letter}']").click()
    elif puzzle.kind == "words":
        for word in right.split():
            tile.locator(".controls").get_by_role("button", name=word, exact=True).click()
    elif puzzle.kind == "kin":
        tile.locator(".controls select").select_option(right)
    elif puzzle.kind == "tower":
        for edit in puzzle.example.answer.split("; ")[:-1]:
            verb, *words = edit.split()
            if verb == "ADD":
                tile.get_by_role("button", name=words[0], exact=True).click()
                tile.get_by_role("button", name=f"add a block to the {words[1]} box").click()
            else:
                tile.get_by_role("button", name=f"take the top block of the {words[0]} box").click()
    elif puzzle.kind == "truth":
        tile.get_by_role("button", name=right, exact=True).click()
    else:
        thing, operation = right.split(",")
        tile.get_by_label("Which object").select_option(thing)
        tile.get_by_label("What happens to it").select_option(operation)


def test_a_careless_answer_names_its_reader(opened: Any, chosen: list[Puzzle]) -> None:
    tile = opened.locator("#tile-clutrr")
    puzzle = next(p for p in chosen if p.example.id == tile.get_attribute("data-id"))
    reader = puzzle.readers[0]
    tile.locator(".controls select").select_option(reader.answers[0])
    tile.locator(".check").click()
    assert reader.does in tile.locator(".verdict").inner_text()


def test_worlds_are_walked_with_the_keyboard(opened: Any) -> None:
    tile = opened.locator("#tile-reascan")
    field = tile.locator(".field-holder")
    field.focus()
    for key in ("ArrowUp", "ArrowLeft"):
        field.press(key)
    assert "walk" in tile.locator(".said").inner_text()
    for _ in range(8):
        field.press("Backspace")
    assert tile.locator(".said").inner_text() == "Walk with the arrow keys or the buttons."


def test_splits_and_levels_choose_puzzles(opened: Any) -> None:
    tile = opened.locator("#tile-scan")
    tile.locator(".splits").select_option("length")
    assert "/length/" in tile.get_attribute("data-id")
    assert tile.locator(".claim").inner_text().startswith("Trained on commands of up to 22 actions")


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off(browser: Any, gallery: Path, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(gallery.as_uri())
    page.wait_for_selector("#still", state="hidden")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_packed_puzzles_are_plain_json(gallery: Path) -> None:
    blocks = re.findall(r"data-family='(\w+)'>([^<]*)</script>", gallery.read_text(encoding="utf-8"))
    assert [name for name, _ in blocks] == list(FEW)
    for name, block in blocks:
        found = json.loads(zlib.decompress(base64.b64decode(block)))
        assert all(item["family"] == name for item in found)
