"""No verb deletes or overwrites a file that it did not write: every `--out`, `--save`, `--html` and `--certificate`."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

import pytest
from PIL import Image

from recombine.cli import VERBS, main
from recombine.data.generate import generate
from recombine.errors import FileError
from recombine.files import discard, own_folder, sweep
from recombine.signature import MARKS

NOBODY = ["--model", "m", "--endpoint", "http://127.0.0.1:9/v1", "--retries", "0"]
FOLDERS: dict[str, list[str]] = {
    "generate": ["generate", "scan", "--split", "length", "--size", "5"],
    "evaluate": ["evaluate", "--data", "DATA"],
    "ask": ["ask", "scan", "--split", "length", "--size", "2", *NOBODY],
    "train": ["train", "gru-attn", "--data", "scan", "--split", "length"],
    "reproduce": ["reproduce", "nacs-table1", "--scale", "smoke"],
    "demo": ["demo", "--size", "2"],
    "export": ["export", "DATA", "--for", "sft"],
}
"""Verb with an output folder -> words that would write there."""
MODES: dict[str, list[str]] = {
    "generate --suite fresh": ["generate", "--suite", "fresh", "--size", "1", "--seed", "3", "--out"],
    "generate --suite paper": ["generate", "scan", "--suite", "paper", "--size", "1", "--out"],
    "generate --pairs": ["generate", "gscan", "--pairs", "all", "--size", "1", "--out"],
    "generate --format native": ["generate", "scan", "--split", "length", "--size", "5", "--format", "native", "--out"],
    "ask --suite": ["ask", "--suite", "fresh", "--size", "1", *NOBODY, "--out"],
    "ask --suite --data": ["ask", "--suite", "fresh", "--data", "DATA", *NOBODY, "--out"],
    "ask --style lexicon": ["ask", "scan", "--style", "lexicon", *NOBODY, "--out"],
    "ask --act": ["ask", "gscan", "--act", "--size", "1", *NOBODY, "--out"],
    "evaluate --figures": ["evaluate", "--data", "DATA", "--figures"],
    "exam seal": ["exam", "seal", "--section", "scan/length:5", "--out"],
}
"""Another way of a verb to fill a folder -> words that would write there, but for the folder."""
FILES: dict[tuple[str, str], list[str]] = {
    ("predict", "--out"): ["predict", "RUN", "--data", "scan"],
    ("stats", "--html"): ["stats", "DATA"],
    ("audit", "--html"): ["audit", "DATA/README.md", "--as", "scan"],
    ("verify", "--certificate"): ["verify", "DATA"],
    ("show", "--save"): ["show", "scan"],
    ("identify", "--out"): ["identify", "scan", "--split", "length"],
    ("rules", "--out"): ["rules", "scan", "--split", "length", "--lexicon", "lexicon.txt"],
    ("evaluate", "--latex"): ["evaluate", "--data", "DATA"],
}
"""(verb, option) with an output file -> words that would write there."""
ELSEWHERE = {("study", "--out"), ("watch", "--out")}  # tests/serve: it needs a study; below: it takes .gif only
OUTPUTS = {"--out", "--html", "--certificate", "--save", "--figures", "--latex"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate("scan", tmp_path_factory.mktemp("made") / "data", split="length", part="test", size=5).path


def tree(folder: Path) -> dict[str, bytes | None]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


def precious(folder: Path, *names: str) -> dict[str, bytes | None]:
    """A folder of the user's, with files that have the names of ours."""
    for name in ("thesis.tex", "deep/er/notes.txt", *names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("years of work")
    return tree(folder)


def words_of(words: list[str], data: Path) -> list[str]:
    return [word.replace("DATA", str(data)) for word in words]


def test_every_output_option_is_tried_here() -> None:
    found = set()
    for verb in VERBS:
        parser = argparse.ArgumentParser()
        importlib.import_module(f"recombine.cli.{verb.replace('-', '_')}").add_arguments(parser)
        found |= {(verb, word) for action in parser._actions for word in action.option_strings if word in OUTPUTS}
    assert found == {(verb, "--out") for verb in FOLDERS} | set(FILES) | ELSEWHERE | {("evaluate", "--figures")}


@pytest.mark.parametrize("verb", sorted(FOLDERS))
@pytest.mark.parametrize(
    "names",
    [
        ("index.html", "report.json", "report.md"),
        ("run.json", "replies.jsonl", "last.safetensors"),
        ("manifest.json", ".recombine/plan.json", "README.md"),
        ("demo.json", "scan/manifest.json", "nacs-table1-smoke.json", "nacs-table1-smoke.md"),
    ],
    ids=["report", "run", "folder", "demo"],
)
def test_foreign_folders_are_refused(
    verb: str, names: tuple[str, ...], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine"
    before = precious(out, *names)
    if verb == "reproduce" and "nacs-table1-smoke.json" not in names:
        return  # it only adds files of its own names beside others
    assert main([*words_of(FOLDERS[verb], data), "--out", str(out)]) == 2
    assert tree(out) == before
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "Traceback" not in told


@pytest.mark.parametrize("mode", sorted(MODES))
def test_other_ways_of_a_verb_refuse_foreign_folders_too(
    mode: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine"
    names = (
        "index.html",
        "run.json",
        "answers.jsonl",
        "lenient.jsonl",
        "prompt.txt",
        "reply.txt",
        "rules.json",
        "accuracy.svg",
    )
    before = precious(out, *names, "suite.json", "data/suite.json", "exam.json", "accuracy.csv", "pairs.json")
    words = words_of(MODES[mode], data)
    assert main([*words, str(out)]) == 2
    assert tree(out) == before
    told = capsys.readouterr().err
    assert "choose another folder" in told and "Traceback" not in told
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert main([*words, str(tmp_path / "link")]) == 2
    assert "is a symbolic link" in capsys.readouterr().err
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.parametrize("verb", sorted(set(FOLDERS) - {"reproduce"}))
def test_the_current_folder_is_refused_too(
    verb: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = precious(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main([*words_of(FOLDERS[verb], data), "--out", "."]) == 2
    assert "choose another folder" in capsys.readouterr().err
    assert tree(tmp_path) == before


@pytest.mark.parametrize("verb", sorted(FOLDERS))
def test_links_are_refused(verb: str, data: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert main([*words_of(FOLDERS[verb], data), "--out", str(tmp_path / "link")]) == 2
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.parametrize(("verb", "option"), sorted(FILES))
def test_foreign_files_are_not_overwritten(
    verb: str, option: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("a.html", "years of work"), ("b.json", '{"precious": 1}'), ("c.svg", "not a picture")):
        (tmp_path / name).write_text(text)
        assert main([*words_of(FILES[verb, option], data), option, str(tmp_path / name)]) == 2
        refused = "no suffix that says" if verb == "show" and not name.endswith(".svg") else "choose another name"
        assert refused in capsys.readouterr().err
        assert (tmp_path / name).read_text() == text


@pytest.mark.parametrize("described", ['{"asked": {"model": "m"}}', '{"suite": "fresh"}'])
@pytest.mark.parametrize("verb", ["predict", "rules"])
def test_answers_that_were_paid_for_are_kept(
    verb: str, described: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They begin like answers of a machine."""
    answers = '{"id": "scan@1/release/length/test/0/000000", "answer": "I_WALK"}\n'
    (tmp_path / "answers.jsonl").write_text(answers)
    words = [*FILES[verb, "--out"], "--out", str(tmp_path / "answers.jsonl")]
    assert main(words) == 2
    assert "choose another name" not in capsys.readouterr().err, "without a run around it, it may be replaced"
    (tmp_path / "run.json").write_text(described)
    assert main(words) == 2
    assert "choose another name" in capsys.readouterr().err
    assert (tmp_path / "answers.jsonl").read_text() == answers


def test_a_film_replaces_films_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["watch", "GSCAN", "--act", "walk", "--out", str(tmp_path / "x.gif")]
    for content in (b"years of work", b"GIF89a somebody else's film"):
        (tmp_path / "x.gif").write_bytes(content)
        assert main(words) == 2
        assert "choose another name" in capsys.readouterr().err
        assert (tmp_path / "x.gif").read_bytes() == content
    (tmp_path / "x.gif").unlink()
    assert main(words) == 0
    assert main(words) == 0


@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png"])
def test_a_picture_replaces_pictures_of_ours_only(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody else's picture is a picture too, and is kept."""
    path = tmp_path / f"x{suffix}"
    words = ["show", "gscan", "--save", str(path)]
    assert main(words) == 0
    ours = path.read_bytes()
    if suffix == ".png":
        Image.open(path).verify()
    for foreign in (ours[: -len(MARKS[suffix])], ours + b" ", b"", b"<svg/>", b"%PDF-1.4", b"\x89PNG"):
        path.write_bytes(foreign)
        assert main(words) == (0 if not foreign else 2)
        if foreign:
            assert "choose another name" in capsys.readouterr().err
            assert path.read_bytes() == foreign
    path.write_bytes(ours)
    assert main(words) == 0
    assert path.read_bytes() == ours


def test_own_files_and_folders_are_replaced(data: Path, tmp_path: Path) -> None:
    for words in (
        ["evaluate", "--data", str(data), "--out", str(tmp_path / "report")],
        ["stats", str(data), "--html", str(tmp_path / "stats.html")],
        ["verify", str(data), "--certificate", str(tmp_path / "certificate.json")],
        ["show", "scan", "--save", str(tmp_path / "x.svg")],
    ):
        assert main(words) == 0
        assert main(words) == 0


def test_demo_replaces_its_own_folder_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("recombine.families.FAMILIES", {"scan": "recombine.families.scan:SCAN"})
    out = tmp_path / "demo"
    assert main(["demo", "--size", "3", "--out", str(out)]) == 0
    assert main(["demo", "--size", "4", "--out", str(out)]) == 0
    assert len(list((out / "data" / "scan").rglob("*.parquet"))) > 1
    (out / "data" / "scan" / "mine.txt").write_text("years of work")
    capsys.readouterr()
    assert main(["demo", "--size", "5", "--out", str(out)]) == 2
    assert "was not written by Recombine" in capsys.readouterr().err
    assert (out / "data" / "scan" / "mine.txt").read_text() == "years of work"
    assert (out / "data" / "scan" / "manifest.json").is_file(), "with a foreign file in it nothing is deleted"


def test_a_report_is_no_demo(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both have an index.html, so a demo in the folder of a report would replace its page."""
    report = tmp_path / "report"
    assert main(["evaluate", "--data", str(data), "--out", str(report)]) == 0
    for mark in (None, '{"package": "mine"}', '{"package": 1, "size": 1, "seed": 0}', '{"package": "recombine 1", "mine": 1}'):
        if mark is not None:
            (report / "demo.json").write_text(mark)
        before = tree(report)
        assert main(["demo", "--size", "2", "--out", str(report)]) == 2
        assert "choose another folder" in capsys.readouterr().err
        assert tree(report) == before


def test_demo_checks_its_words_before_it_touches_anything(tmp_path: Path) -> None:
    before = precious(tmp_path)
    assert main(["demo", "--size", "0", "--out", str(tmp_path)]) == 2
    assert tree(tmp_path) == before


def test_a_generate_run_leaves_foreign_files_alone(tmp_path: Path) -> None:
    out = generate("scan", tmp_path / "out", split="length", part="test", size=5).path
    for name in (".mine.123.tmp", "length/.notes.txt.7.tmp", "figures/mine.svg"):
        (out / name).write_text("years of work")
    (out / ".recombine").mkdir()
    (out / ".recombine" / "mine").write_text("years of work")
    generate("scan", out, split="length", part="test", size=5)
    for name in (".mine.123.tmp", "length/.notes.txt.7.tmp", "figures/mine.svg", ".recombine/mine"):
        assert (out / name).read_text() == "years of work"


def test_sweeping_and_discarding_follow_no_link(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / ".x.1.tmp").write_text("years of work")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "link").symlink_to(tmp_path / "away")
    sweep(tmp_path / "out", lambda _: True)
    with pytest.raises(FileError, match="not written by Recombine"):
        discard(tmp_path / "out", lambda _: True)
    assert (tmp_path / "away" / ".x.1.tmp").is_file()


def test_no_unguarded_deletion_in_the_package() -> None:
    import recombine

    package = Path(recombine.__file__).parent
    guilty = [p.name for p in package.rglob("*.py") if "rmtree" in p.read_text(encoding="utf-8")]
    assert guilty == []
    deleting = {p.relative_to(package).as_posix() for p in package.rglob("*.py") if ".unlink(" in p.read_text(encoding="utf-8")}
    assert deleting <= {"files.py", "data/generate.py", "kernels.py"}


def test_own_folder_says_what_is_in_the_way(tmp_path: Path) -> None:
    from recombine.data.generate import FOLDER

    precious(tmp_path)
    with pytest.raises(FileError, match=r"'deep', 'thesis\.tex'"):
        own_folder(tmp_path, FOLDER)
