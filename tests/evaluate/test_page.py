"""The report's page: what it says, what it holds, and how it behaves in a real browser."""

from __future__ import annotations

import base64
import csv
import json
import os
import re
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import recombine
from recombine import charts
from recombine.cli import main
from recombine.data.generate import generate
from recombine.evaluate.answerers import make_answerer
from recombine.evaluate.answers import Answer
from recombine.evaluate.evaluate import Evaluation, evaluate, evaluate_all
from recombine.evaluate.export import latex, write_figures
from recombine.evaluate.findings import findings
from recombine.evaluate.gallery import choose, first_difference
from recombine.evaluate.report import write_report
from recombine.evaluate.verdict import verdict

AXE = [
    Path(os.environ.get("RECOMBINE_AXE", "")),
    Path(__file__).parent / "axe.min.js",
    Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js",
]
"""Where the accessibility checker may lie; it is not part of the project."""
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """Two runs over two families: one careless, one that mostly writes HTML."""
    place = tmp_path_factory.mktemp("sets")
    folders = [
        generate("scan", place / "scan", split=["simple", "length"], part="test", size=40),
        generate("gscan", place / "gscan", split="visual", part="test", size=40),
        generate("clutrr", place / "clutrr", split="generalization_23", part=["test_k2", "test_k3", "test_k4"], size=30),
    ]
    careless = make_answerer("careless", [])
    answers: dict[str, dict[str, Answer]] = {"alpha": {}, "beta <i>": {}}
    for folder in folders:
        for part in folder.plan.parts:
            for number, example in enumerate(recombine.load(folder.path, part.job.split, part.job.part)):
                answers["alpha"][example.id] = Answer(example.id, careless(example))
                answers["beta <i>"][example.id] = Answer(example.id, HOSTILE if number % 4 else example.answer)
    return evaluate_all(folders, answers)


@pytest.fixture(scope="module")
def report(evaluation: Evaluation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    return write_report(evaluation, str(out), examples=60, command="recombine evaluate --data 'a b'")


def _unpacked(page: str, name: str) -> list[Any]:
    blocks = re.findall(rf"<script type='application/zlib' class='{name}'>([^<]*)</script>", page)
    return [json.loads(zlib.decompress(base64.b64decode(block))) for block in blocks]


def test_the_page_opens_with_the_verdict_and_ends_with_the_command(evaluation: Evaluation, report: Path) -> None:
    text = report.read_text()
    first = verdict(findings(evaluation))[0]
    assert first.startswith("alpha is ahead of beta <i> by ")
    assert text.index("alpha is ahead of beta &lt;i&gt; by ") < text.index("<h2>Accuracy</h2>")
    assert "recombine evaluate --data &#x27;a b&#x27;" in text[text.index("<footer>") :]


def test_dials_are_joined_over_parts(evaluation: Evaluation) -> None:
    found = findings(evaluation)
    (item,) = [item for item in found["dials"] if (item["family"], item["dial"]) == ("clutrr", "k")]
    assert [point["at"] for point in item["runs"]["alpha"]["points"]] == [2, 3, 4]
    assert [point["rows"] for point in item["runs"]["alpha"]["points"]] == [30, 30, 30]
    assert len(item["sets"]) == 3
    for point, part in zip(item["runs"]["alpha"]["points"], ("test_k2", "test_k3", "test_k4"), strict=True):
        alone = found["parts"][f"clutrr/generalization_23/{part}"]["runs"]["alpha"]["accuracy"]
        assert (point["mean"], point["low"]) == (alone["mean"], alone["low"])


@pytest.mark.parametrize("examples", [12, 200])
def test_every_link_of_the_heat_map_leads_to_examples(evaluation: Evaluation, tmp_path: Path, examples: int) -> None:
    text = write_report(evaluation, tmp_path, examples=examples).read_text()
    cells = re.findall(r"data-set='([^']*)' data-run='([^']*)' data-reader='([^']*)'", text)
    assert cells
    (index,) = _unpacked(text, "index")
    held = {
        (index["sets"][place], index["runs"][run], index["readers"][reader])
        for place, verdicts in index["rows"]
        for run, verdict in enumerate(verdicts)
        for reader in verdict[1]
    }
    assert {cell for cell in cells if "&" not in cell[1]} <= held


def test_packed_examples_hold_what_was_scored(evaluation: Evaluation, report: Path) -> None:
    bodies = [body for chunk in _unpacked(report.read_text(), "chunk") for body in chunk]
    assert len(bodies) == 60
    records = {(run.name, record.id): record for run in evaluation.runs for record in run.records}
    for body in bodies:
        said, right, _ = body["said"][0]
        record = records["alpha", body["id"]]
        assert (said, right) == (record.answer, record.value == 1)
        assert body["steps"]


def test_no_more_examples_than_asked_for(evaluation: Evaluation) -> None:
    assert len(choose(evaluation, 7)) == 7
    assert len({item.key for item in choose(evaluation, 7)}) == 6
    assert choose(evaluation, 0) == []
    assert len(choose(evaluation, 10**6)) == sum(len(evaluation.of(key)[0].records) for key in evaluation.parts())


@pytest.mark.parametrize(
    ("right", "said", "marked"),
    [
        ("a b c", "a x c", "x"),
        ("a b c", "a b", ""),
        ("a b", "a b c", "c"),
        ("a, b", "a b", None),
        ("a b", "  a\n b ", None),
        ("a", "", ""),
        ("walk, walk", "walk, turn, walk", "turn"),
    ],
)
def test_the_first_differing_token_is_found(right: str, said: str, marked: str | None) -> None:
    span = first_difference(right, said)
    assert (None if span is None else said[slice(*span)]) == marked
    if marked == "":
        assert span == (len(said), len(said))


def test_one_run_alone_is_told_with_its_baselines(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "data", split="length", part="test", size=60)
    answers = {e.id: Answer(e.id, e.answer) for e in recombine.load(folder.path)}
    (sentence,) = verdict(findings(evaluate(folder, {"m": answers})))
    assert sentence.startswith("m answers 100.0% [")
    assert sentence.endswith("above every simple baseline (careless readers apart) in 1 of 1 set.")
    assert verdict(findings(evaluate(folder, {}))) == ["These are baselines; no model was evaluated."]


def _told(runs: dict[str, tuple[float, float | None]]) -> str:
    """The headline about run `m`, given means and low ends by run."""
    shown = {
        n: {"accuracy": {"mean": mean, "low": low, "text": f"{mean:.1%}"}, "mistakes": []} for n, (mean, low) in runs.items()
    }
    found = {"parts": {"scan/length/test": {"runs": shown}}, "baselines": ["majority"]}
    (sentence,) = verdict(found)
    return sentence


def test_the_headline_claims_no_more_than_the_figures() -> None:
    assert _told({"m": (0.0, 1e-17), "majority": (0.0, 0.0)}).endswith(
        "above every simple baseline (careless readers apart) in 0 of 1 set."
    )
    assert _told({"m": (0.4, 0.3), "majority": (0.0, 0.0)}).endswith(
        "above every simple baseline (careless readers apart) in 1 of 1 set."
    )
    few = _told({"m": (0.9, None), "majority": (0.0, None)})
    assert "Too few clusters for an interval" in few and "0 of 1" not in few


def test_a_run_that_is_always_wrong_beats_nothing(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "data", split="length", part="test", size=40)
    answers = {e.id: Answer(e.id, "no") for e in recombine.load(folder.path)}
    sentence = verdict(findings(evaluate(folder, {"m": answers})))[0]
    assert sentence.endswith("above every simple baseline (careless readers apart) in 0 of 1 set.")


def test_a_band_covers_only_points_with_intervals() -> None:
    held = [(1.0, 0.5, 0.4, 0.6), (2.0, 0.6, 0.5, 0.7)]
    drawn = charts.curves("t", {"m": [*held, (3.0, 0.7, None, None)]})
    assert drawn.count("<polygon") == 1 and drawn.count(",", *_band_of(drawn)) == 4, "two points, two ends each"
    assert drawn.count(f"fill='{charts.PAPER}'") == 1, "the third point is hollow"
    none = charts.curves("t", {"m": [(1.0, 0.5, None, None), (2.0, 0.6, None, None)]})
    assert "<polygon" not in none and none.count(f"fill='{charts.PAPER}'") == 2
    alone = charts.curves("t", {"m": [(1.0, 0.5, None, None), held[1], (3.0, 0.7, None, None)]})
    assert "<polygon" not in alone and "stroke-width='5'" in alone, "a lone interval is a bar"


def _band_of(drawn: str) -> tuple[int, int]:
    start = drawn.index("<polygon points='")
    return start, drawn.index("' fill", start)


def test_points_keep_missing_intervals(evaluation: Evaluation) -> None:
    from recombine.evaluate.contents import points_of

    assert points_of([{"at": 2, "mean": 0.5, "low": None, "high": None}]) == [(2, 0.5, None, None)]


def test_ticks_are_round_numbers() -> None:
    assert charts.nice_ticks(2, 10) == [2, 4, 6, 8, 10]
    assert charts.nice_ticks(5.1, 9.64) == [6, 7, 8, 9]
    assert charts.nice_ticks(0, 3) == [0, 1, 2, 3]
    assert charts.nice_ticks(4, 4) == [4]
    assert len(charts.nice_ticks(1, 48)) <= 7


def test_a_picture_that_stands_alone_has_no_variables() -> None:
    row = charts.DotRow("a <set>", [charts.Dot(1, "m", 0.5, 0.4, 0.6)], [("majority", 0.1)])
    drawn = charts.dots("title", [row])
    assert "var(--c1,#" in drawn
    assert "var(" not in charts.standalone(drawn)
    assert "a &lt;set&gt;" in drawn


# --- in a real browser -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with sync.sync_playwright() as tool:
        found = tool.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield found
        found.close()


def _opened(browser: Any, report: Path, **settings: Any) -> tuple[Any, list[str]]:
    """The page in a browser, with what its console complains about."""
    opened = browser.new_context(**settings).new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    opened.goto(report.as_uri())
    if settings.get("java_script_enabled", True):
        opened.wait_for_selector("#gallery article")
    return opened, complaints


def test_a_chart_of_many_sets_is_cut_into_blocks_that_fit_on_paper() -> None:
    rows = [charts.DotRow(f"set {number}", [charts.Dot(0, "alpha", 0.5)] * 3) for number in range(29)]
    blocks = charts.dot_blocks(rows)
    assert [row for block in blocks for row in block] == rows
    assert [len(block) for block in blocks] == [10, 10, 9]
    assert charts.dot_blocks(rows[:4]) == [rows[:4]]
    assert charts.dot_blocks([]) == [[]]


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off(browser: Any, report: Path, width: int, scheme: str) -> None:
    opened, complaints = _opened(browser, report, viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    hidden = opened.evaluate("[...document.querySelectorAll('.heat')].map(map => map.scrollWidth - map.clientWidth)")
    assert hidden and max(hidden) <= 0, "a heat map is wider than its place"
    assert complaints == []
    assert opened.title() == "Evaluation"
    axe = next((path for path in AXE if path.is_file()), None)
    if axe is None:
        pytest.skip("the page fits; the accessibility check needs axe-core: npm install axe-core, or RECOMBINE_AXE=axe.min.js")
    opened.evaluate(axe.read_text())
    found = opened.evaluate("axe.run()")["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")] == []


@pytest.mark.slow
def test_filters_and_cells_lead_to_examples(browser: Any, report: Path) -> None:
    opened, complaints = _opened(browser, report)
    assert opened.inner_text("#count") == "60 of 60 examples in this page"
    assert opened.is_hidden("#static")
    link = opened.locator("a[data-reader][data-run=alpha]").first
    reader = link.get_attribute("data-reader")
    link.click()
    opened.locator("#count").filter(has_not_text="60 of 60").wait_for()
    opened.wait_for_selector("#gallery article")
    tags = opened.locator("#gallery article").first.locator(".tag").all_inner_texts()
    assert reader in tags
    for name in ("set", "run", "reader"):
        opened.select_option(f"#filter-{name}", "")
    opened.select_option("#filter-verdict", "right")
    opened.wait_for_selector("#gallery .tag.ok")
    assert complaints == []


@pytest.mark.slow
def test_the_page_works_without_script_and_on_paper(browser: Any, report: Path) -> None:
    opened, _ = _opened(browser, report, java_script_enabled=False)
    assert opened.is_visible("#static")
    assert opened.is_hidden("#live")
    assert opened.locator("#static article").count() >= 6
    printed, _ = _opened(browser, report)
    printed.emulate_media(media="print")
    assert printed.is_hidden("#examples")
    assert printed.is_hidden("nav")
    assert printed.is_visible("#verdict")
    printed.set_viewport_size({"width": 718, "height": 1000})  # A4 between margins of 1 cm: paper has no scroll bars
    cut = "[...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText.slice(0, 60))"
    assert printed.evaluate(cut) == []


# --- paper export ----------------------------------------------------------------------------------------------------


def test_figures_and_tables_for_a_paper(evaluation: Evaluation, tmp_path: Path) -> None:
    found = findings(evaluation)
    paths = write_figures(found, str(tmp_path))
    written = {path.name: path.read_text() for path in paths if path.suffix != ".pdf"}
    pictures = {path.stem for path in paths if path.suffix == ".svg"}
    assert {path.stem for path in paths if path.suffix == ".pdf"} == pictures
    assert all(path.read_bytes().startswith(b"%PDF-1.4") for path in paths if path.suffix == ".pdf")
    assert {"mistakes-scan", "mistakes-clutrr"} <= pictures
    assert {"mistakes.csv", "dials.csv", "gaps.csv", "profile.csv", "statuses.csv"} <= set(written)
    assert {"accuracy.svg", "known-and-new.svg", "dial-clutrr-k.svg", "accuracy.csv", "comparison.csv"} <= set(written)
    for name, text in written.items():
        if name.endswith(".svg"):
            ElementTree.fromstring(text)
            assert "var(" not in text
    rows = list(csv.DictReader(written["accuracy.csv"].splitlines()))
    assert [row["set"] for row in rows] == evaluation.parts()
    assert rows[0]["alpha"] == found["parts"]["scan/simple/test"]["runs"]["alpha"]["accuracy"]["text"]


def test_the_latex_table_marks_only_decided_winners(evaluation: Evaluation) -> None:
    found = findings(evaluation)
    text = latex(found)
    assert text.count(r"\\") == 1 + len(evaluation.parts())
    assert "scan/length" in text
    decided = {c["part"] for c in found["comparisons"] if c["holm"] < 0.05}
    assert decided
    assert text.count(r"$^\dagger$") == len(decided)
    mild = {**found, "comparisons": [{**c, "holm": 0.5} for c in found["comparisons"]]}
    assert "dagger$" not in latex(mild)


def test_a_spreadsheet_runs_nothing(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "data", split="length", part="test", size=20)
    answers = {e.id: Answer(e.id, e.answer) for e in recombine.load(folder.path)}
    files = write_figures(findings(evaluate(folder, {"=HYPERLINK(1)": answers, "b": answers})), tmp_path / "out")
    tables = {path.name: path for path in files if path.suffix == ".csv"}
    assert {"accuracy.csv", "comparison.csv", "dials.csv", "profile.csv", "statuses.csv"} <= set(tables)
    for name, path in tables.items():
        cells = [cell for row in csv.reader(path.read_text().splitlines()) for cell in row]
        assert not any(cell.startswith("=") for cell in cells)
        assert ("'=HYPERLINK(1)" in cells) is (name != "published.csv"), "the name is there, as a text"


def test_exports_never_replace_foreign_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = generate("scan", tmp_path / "data", split="length", part="test", size=20)
    words = ["evaluate", "--data", str(folder.path), "--figures", str(tmp_path / "figures"), "--latex", str(tmp_path / "t.tex")]
    assert main(words) == 0
    assert main(words) == 0  # its own files may be replaced
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("mine")
    assert main([*words[:3], "--figures", str(foreign)]) == 2
    assert main([*words[:3], "--latex", str(foreign / "thesis.tex")]) == 2
    assert [path.read_text() for path in foreign.iterdir()] == ["mine"]
