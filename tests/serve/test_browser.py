"""The playground in a real Chromium: browse, answer, drive, drag, change, and a whole study with a killed server."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recombine.data.ids import example_of
from recombine.families import OURS, family
from recombine.jobs import make_job

pytestmark = pytest.mark.slow
AXE = "RECOMBINE_AXE"
"""The variable that names the file `axe.min.js` of axe-core; the accessibility check is skipped without it."""
SCATTER = "lilgym@2/sound+scene=scatter+start=scratch/random/test/0/000000"
TOWER = "lilgym@2/sound+start=scratch/random/test/0/000000"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, serving: Any) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("site")
    found = serving(folder, "--studies", str(folder / "people.sqlite"))
    yield found
    found.stop()


@pytest.fixture
def visit(browser: Any, site: Any) -> Iterator[Any]:
    """Opens pages; whatever the console or the network complains about fails the test."""
    complaints: list[str] = []
    contexts = []

    def opened(address: str, **settings: Any) -> Any:
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda r: complaints.append(r.url) if not r.url.startswith((site.address, "data:")) else None)
        page.goto(site.address + address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def _settled(page: Any) -> None:
    page.wait_for_load_state("networkidle")


def _drag(page: Any, x1: float, y1: float, x2: float, y2: float) -> None:
    """Drag on the board, in the units of its drawing."""
    page.locator(".stage > svg").scroll_into_view_if_needed()
    places = page.evaluate(
        """(points) => { const m = document.querySelector(".stage > svg").getScreenCTM();
        return points.map(([x, y]) => { const p = new DOMPoint(x, y).matrixTransform(m); return [p.x, p.y]; }); }""",
        [[x1, y1], [x2, y2]],
    )
    with page.expect_response(lambda r: r.request.method == "POST"):
        page.mouse.move(*places[0])
        page.mouse.down()
        page.mouse.move(*[(a + b) / 2 for a, b in zip(*places, strict=True)])
        page.mouse.move(*places[1])
        page.mouse.up()
    _settled(page)


@pytest.mark.parametrize("name", OURS)
def test_every_family_is_answered_right_and_wrong(visit: Any, name: str) -> None:
    identifier = make_job(family(name)).id(3)
    example = example_of(identifier)
    named = next(s for s in example.explain().shortcuts if s.answer and s.name in example.score(s.answer).mistakes)
    page = visit("/")
    page.click(f"a[href='/families/{name}']")
    page.select_option("#split_part", "/".join(identifier.split("/")[2:4]))
    page.fill("#index", "3")
    page.click("text=Show the row")
    assert page.url.endswith(identifier)
    for answer, expected in ((example.answer, "Right."), (named.answer or "", named.name)):
        if name == "clutrr":
            page.click(f".choices button:text-is('{answer}')")
        else:
            page.fill("#answer", answer)
            page.click("button:text-is('Answer')")
        page.locator(".verdict").filter(has_text=expected).wait_for()
    page.click("[data-show]")
    assert example.answer in page.inner_text("#solution")
    page.locator(".steps a").first.click()
    assert page.locator(".steps [aria-current]").count() == 1


def test_an_agent_is_driven_with_the_keys_and_clicked_to_its_target(visit: Any) -> None:
    identifier = make_job(family("reascan")).id(3)
    example = example_of(identifier)
    keys = {"turn left": "ArrowLeft", "walk": "ArrowUp", "turn right": "ArrowRight", "push": "p", "pull": "l", "stay": "s"}
    page = visit(f"/{identifier}")
    page.focus(".stage")
    for action in example.answer.split(","):
        page.keyboard.press(keys[action])
    page.wait_for_function("(wanted) => document.querySelector('[name=state]').value === wanted", arg=example.answer)
    page.click("button:text-is('Answer')")
    page.locator(".verdict").filter(has_text="Right.").wait_for()
    target, other = example.world.things[0], next(t for t in example.world.things[1:] if not t.is_box)
    for thing, verdict in ((other, "Wrong."), (target, "Right.")):
        _drag(page, *(22 + 64 * thing.column + 32, 22 + 64 * thing.row + 32) * 2)
        page.click("button:text-is('Answer')")
        page.locator(".verdict").filter(has_text=verdict).wait_for()
    page.goto(page.url + "?show=1")
    page.click("[data-film]")
    page.locator("#film svg").wait_for()


@pytest.mark.parametrize("identifier", [TOWER, SCATTER])
def test_a_scene_is_solved_by_dragging(visit: Any, identifier: str) -> None:
    example = example_of(identifier)
    page = visit(f"/{identifier}")
    page.click("button:text-is('Answer')")
    page.locator(".verdict").filter(has_text="stops_at_once").wait_for()
    for edit in example.answer.split("; ")[:-1]:
        words = edit.split()
        color = ("yellow", "black", "blue").index(words[1 if example.meta["scene"] == "tower" else 2])
        if example.meta["scene"] == "tower":
            _drag(page, 30 + 40 * color, 122, 50 + 140 * ("left", "middle", "right").index(words[2]), 50)
        else:
            size, shape = ("small", "medium", "big").index(words[1]), ("circle", "square", "triangle").index(words[3])
            half = (5, 10, 15)[size]
            start = (8 + 36 * (3 * shape + color) + half, 112 + (0, 14, 40)[size] + half)
            _drag(page, *start, int(words[4]) + half, int(words[5]) + half)
    page.click("button:text-is('Answer')")
    page.locator(".verdict").filter(has_text="Right.").wait_for()


def test_a_world_made_ambiguous_is_told_so(visit: Any) -> None:
    identifier = make_job(family("gscan")).id(3)
    world = example_of(identifier).world
    target = world.things[0]
    taken = {(t.row, t.column) for t in world.things} | {(world.row, world.column)}
    row, column = next((r, c) for r in range(6) for c in range(6) if (r, c) not in taken)
    page = visit(f"/change/{identifier}")
    assert page.inner_text("#finding") == "Unique"
    middle = (22 + 64 * column + 32, 22 + 64 * row + 32)
    swatches = ["red", "blue", "green", "yellow", "circle", "cylinder", "square", "1", "2", "3", "4"]
    for value in (target.shape, target.color, str(target.size)):
        place = swatches.index(value)
        _drag(page, 22 + 44 * (place % 6) + 22, 44 + 6 * 64 + 44 * (place // 6) + 22, *middle)
    page.locator("#finding").filter(has_text="Ambiguous").wait_for()
    told = page.inner_text("[aria-label='The oracle']")
    assert f"row {row + 1}, column {column + 1}" in told
    assert f"row {target.row + 1}, column {target.column + 1}" in told


PAGES = ["/", "/families/reascan", "/studies", "/compare", "/change/gscan@1/sound/compositional/test/0/000003"]
PAGES += ["/reascan@2/sound/all/test/0/000003?show=1", "/clutrr@2/sound/generalization_23/test_k4/0/000003?show=1"]
PAGES += [f"/{SCATTER}?step=1", "/abstract@1/sound/random/test/0/000003?step=2", "/lexicon@1/sound/random/test/0/000003?show=1"]
PAGES += ["/scan@1/release/length/test/0/000003?step=1"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone_and_axe_finds_nothing_serious(visit: Any, scheme: str) -> None:
    axe = Path(os.environ[AXE]).read_text() if os.environ.get(AXE) else None
    page = visit("/", viewport={"width": 360, "height": 740}, color_scheme=scheme)
    address = page.url.rstrip("/")
    for path in PAGES:
        page.goto(address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        if axe is not None:
            page.evaluate(axe)
            found = page.evaluate("axe.run()")["violations"]
            serious = [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]
            assert serious == [], path
    if axe is None:
        pytest.skip(f"the pages fit; the accessibility check needs {AXE}=FILE, the axe.min.js of the package axe-core")


def test_the_keyboard_alone_is_enough(visit: Any) -> None:
    page = visit("/clutrr@2/sound/generalization_23/test_k2/0/000003")
    answer = example_of("clutrr@2/sound/generalization_23/test_k2/0/000003").answer
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == answer:
            break
    page.keyboard.press("Enter")
    page.locator(".verdict").filter(has_text="Right.").wait_for()


def _handed_in(page: Any) -> None:
    """Hand the form in and wait for the page that answers it."""
    with page.expect_navigation():
        page.click("text=Hand in")


def test_a_study_from_writers_to_answers_with_a_killed_server(browser: Any, tmp_path: Path, serving: Any) -> None:
    """Two writers, two reviewers, three answerers; the server is killed once in between; both exports are read."""
    server = serving(tmp_path, "--studies", str(tmp_path / "people.sqlite"))
    contexts = []

    def person(link: str) -> Any:
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        page.set_default_timeout(60_000)
        page.goto(server.address + link)
        with page.expect_navigation():
            page.click("text=I agree and take part")
        return page

    def made(**fields: str) -> tuple[str, dict[str, str]]:
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{server.address}/studies")
        for name, value in fields.items():
            page.select_option(f"#{name}", value) if name == "kind" else page.fill(f"#{name}", value)
        page.click("text=Make the study")
        page.locator(".invitation").first.wait_for()
        links = {a.get_attribute("data-role"): a.get_attribute("href") for a in page.locator(".invitation").all()}
        return page.url, links

    try:
        overview, links = made(title="Stories", kind="write", texts="1", items_per_person="2")
        for number in range(2):
            page = person(links["write"])
            while page.locator("#body").count():
                facts = page.locator("section.card ul").first.locator("li").all_inner_texts()
                page.fill("#body", "No names here")
                _handed_in(page)
                assert page.locator("[role=alert]").count() >= 2
                names = sorted({name for fact in facts for name in re.findall(r"^\w+|\w+(?=\.$)", fact)})
                page.fill("#body", f"{('Today', 'Yesterday')[number]} {' and '.join(names)} had lunch. {' '.join(facts)}")
                _handed_in(page)
            page.locator("text=Thank you").wait_for()
            if number == 0:
                server.kill()
                server.start()
        for _ in range(2):
            page = person(links["review"])
            while page.locator(".story").count():
                for check in range(4):
                    page.check(f"[name=check_{check}][value=yes]")
                _handed_in(page)
            page.locator("text=Thank you").wait_for()
        page.goto(overview)
        assert page.locator("text=accepted").count() == 4
        templates = json.loads(page.request.get(f"{overview}/files/templates.json").text())
        assert sum(len(texts) for cells in templates.values() for texts in cells.values()) == 4

        overview, links = made(title="Answers", conditions="clutrr/generalization_23/test_k2=3", items_per_person="2")
        watched = contexts[-1].pages[0]
        for _ in range(3):
            page = person(links["answer"])
            for word in ("aunt", "uncle", "aunt"):
                page.check(f"[name=answer][value={word}]")
                page.check("[name=difficulty][value='4']")
                item = page.input_value("#board-form [name=item]")
                page.click("text=Hand in")
                page.wait_for_function(
                    "(item) => document.querySelector('#board-form [name=item]')?.value !== item && document.readyState === 'complete'",
                    arg=item,
                )
                if page.locator("text=Go on").count():
                    with page.expect_navigation():
                        page.click("text=Go on")
            page.locator("text=Thank you").wait_for()
        watched.locator("[data-count=answer]").filter(has_text=re.compile("^9$")).wait_for()  # without a reload
        page.goto(overview)
        assert page.inner_text("[data-count=answer]") == "9"
        lines = page.request.get(f"{overview}/files/people-all-1.jsonl").text().splitlines()
        assert {json.loads(line)["difficulty"] for line in lines} == {4}
        page = person(links["answer"])
        page.click("text=Withdraw")
        page.click("text=Delete my data")
        page.locator("text=Your data are gone.").wait_for()
    finally:
        for context in contexts:
            context.close()
        server.stop()
    assert "Traceback" not in server.log.read_text()
