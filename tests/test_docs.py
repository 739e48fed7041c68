"""The documentation: the site builds without a warning and loads nothing from elsewhere; written pages are current."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from html import unescape
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

from recombine.families import FAMILIES, family

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pages", DOCS / "pages.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it, but without running the tutorials: another test runs them."""
    for name in ("sphinx", "furo", "myst_nb"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"needs {name}: pip install 'recombine[docs]'")
    out = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "RECOMBINE_DOCS_EXECUTE": "off", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(DOCS), str(out)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    loaded = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"'](https?:)?//", re.I)
    found = [path.name for path in site.rglob("*.html") if loaded.search(path.read_text(encoding="utf-8"))]
    assert found == []
    styles = [
        path.name
        for path in site.rglob("*.css")
        if re.search(r"(@import|url\()\s*[\"']?https?:", path.read_text(encoding="utf-8"))
    ]
    assert styles == []


@pytest.mark.slow
def test_internal_links_lead_somewhere(site: Path) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    anchors = {path: set(re.findall(r"\b(?:id|name)=[\"']([^\"']+)[\"']", text)) for path, text in texts.items()}
    assert len(texts) > 30
    dead = []
    for path, text in texts.items():
        for link in re.findall(r"<a\b[^>]*\bhref=[\"']([^\"']+)[\"']", text):
            if re.match(r"[a-z]+:", link):
                continue
            place, _, anchor = unescape(link).partition("#")
            target = (path.parent / unquote(place)).resolve() if place else path
            if not target.exists() or (anchor and target in anchors and unquote(anchor) not in anchors[target]):
                dead.append(f"{path.name}: {link}")
    assert dead == []


def test_the_gallery_is_current(pages: ModuleType) -> None:
    """For one family: `make gallery` writes the page anew."""
    page, pictures = pages.family_page("scan")
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert page in gallery
    for name, drawn in pictures.items():
        assert (DOCS / "pictures" / "gallery" / name).read_text(encoding="utf-8") == drawn


def test_the_gallery_has_every_split(pages: ModuleType) -> None:
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    for name in FAMILIES:
        for split in pages.shown_splits(family(name)):
            assert f"### {name} `{split.name}`" in gallery
    for picture in re.findall(r"\]\((pictures/[^)]+)\)", gallery):
        assert (DOCS / picture).is_file()


def test_the_front_picture_is_current(pages: ModuleType) -> None:
    assert (DOCS / "pictures" / "reascan.svg").read_text(encoding="utf-8") == pages.front_picture()


def test_drawn_figures_are_current() -> None:
    for name, draw in runpy.run_path(str(DOCS / "figures.py"))["FIGURES"].items():
        assert (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8") == draw()


def test_every_column_has_a_meaning(pages: ModuleType) -> None:
    page = pages.columns_page()
    for name in FAMILIES:
        for column in family(name).SCHEMA:
            assert f"| `{column}` |" in page
    for name, words in pages.column_words().items():
        known = {c for n in FAMILIES for c in family(n).SCHEMA} if name == "*" else set(family(name).SCHEMA)
        assert set(words) <= known


def test_every_verb_is_described(pages: ModuleType) -> None:
    from recombine.cli import VERBS

    page = pages.commands_page()
    assert all(f"## {verb}\n" in page for verb in VERBS)


def test_the_tables_of_results_are_current(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    runpy.run_path(str(ROOT / "benchmarks" / "machine_tables.py"), run_name="__main__")
    assert capsys.readouterr().out == (DOCS / "results" / "machines.md").read_text()
    tables = runpy.run_path(str(ROOT / "benchmarks" / "family_tables.py"))
    assert f"{tables['BEGIN']}\n\n{tables['made']()}\n\n{tables['END']}" in (DOCS / "results" / "README.md").read_text()
