"""A command per table: the whole path at the smallest scale, the paper's numbers, and the translation probe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from recombine.cli import main
from recombine.errors import FileError, UnknownName, UsageError
from recombine.families import family as find_family
from recombine.models.experiments import SCALES, Experiment, Scale, Source, run
from recombine.models.reproduce import Wish, reproduce
from recombine.models.tables import TABLES
from recombine.models.translation import DAXY, Translation, bleu, file_pairs, grammar_pairs, probes, sentence


def test_table_1_runs_whole_and_a_second_call_trains_nothing(tmp_path: Path) -> None:
    first = reproduce(Wish("nacs-table1", "smoke", workers=1), tmp_path)
    assert first.header == [
        "ours | paper",
        *(f"{t} {d}" for d in ("SCAN", "NACS") for t in ("Simple", "Length", "Turn left", "Jump")),
    ]
    assert [row[0] for row in first.rows][:5] == ["GRU", "RNN +Attn", "RNN +Attn -Dep", "GRU +Attn", "GRU +Attn -Dep"]
    assert first.rows[3][4].endswith("| 12.5 ± 6.6")
    document = json.loads(first.json_path.read_text())
    assert len(document["runs"]) == 40
    assert document["command"] == "recombine reproduce nacs-table1 --scale smoke"
    assert "96 training rows" in document["scale"]
    stamps = {p: p.stat().st_mtime_ns for p in (tmp_path / "runs").rglob("*.safetensors")}
    assert len(stamps) == 80
    again = reproduce(Wish("nacs-table1", "smoke", workers=1), tmp_path)
    assert again.rows == first.rows
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "runs").rglob("*.safetensors")} == stamps
    assert "| GRU +Attn |" in first.markdown_path.read_text()


def test_runs_are_shared_out_over_processes(tmp_path: Path) -> None:
    report = reproduce(Wish("nacs-table4", "smoke", workers=2, seeds=2, only=("GRU | Jump", "rnn | simple")), tmp_path)
    assert [row[0] for row in report.rows] == ["RNN", "GRU"]
    assert json.loads(report.json_path.read_text())["cells"][0]["runs"][1].endswith("seed1")
    more = reproduce(Wish("nacs-table4", "smoke", workers=1, seeds=2, only=("LSTM | Jump",)), tmp_path)
    assert [row[0] for row in more.rows] == ["RNN", "GRU", "LSTM"]


def test_wrong_names_are_answered_with_the_right_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="nacs-table1"):
        reproduce(Wish("nacs-table11"), tmp_path)
    with pytest.raises(UnknownName, match="smoke"):
        reproduce(Wish("nacs-table1", "second"), tmp_path)
    with pytest.raises(UsageError, match="no cell"):
        reproduce(Wish("nacs-table1", only=("BERT",)), tmp_path)


def test_tables_hold_what_the_paper_prints() -> None:
    """Spot checks against the paper's text: Table 1 is a selection from 4 and 5, 2 from 6 and 7, 3 from 8."""
    cells = {
        name: {(c.row, c.column): c.paper for c in table.cells("")} for name, table in TABLES.items() if name.startswith("nacs")
    }
    assert cells["nacs-table1"]["GRU +Attn -Dep", "Simple NACS"] == (51.2, 1.2)
    assert cells["nacs-table1"]["L&B best", "Length SCAN"] == (20.8, None)
    assert cells["nacs-table2"]["RNN +Attn NACS", "32"] == (69.1, 2.1)
    assert cells["nacs-table3"]["GRU +Attn", "Fr-En"] == (37.5, 0.6)
    assert [len(cells[f"nacs-table{n}"]) for n in range(1, 11)] == [48, 54, 4, 44, 36, 70, 63, 12, 12, 12]


def test_scales_grow() -> None:
    assert SCALES["paper"].seeds == 3
    assert SCALES["paper"].patience == 0
    assert not SCALES["paper"].rows
    assert [SCALES[name].epochs for name in ("smoke", "hour", "day", "paper")] == sorted(s.epochs for s in SCALES.values())


def test_probe_sentences_are_the_published_ones(shared: Path) -> None:
    pairs = file_pairs(str(shared / "mt"))
    assert {part: len(rows) for part, rows in pairs.items()} == {"train": 9_999, "test": 1_191, "daxy": 8, "tired": 8}
    assert pairs["daxy"] == probes("daxy", "daxiste")
    assert pairs["tired"] == probes("tired", "fatigue")
    plain = Translation(files=str(shared / "mt"))
    assert (len(plain.load("fit", 0, 0)), len(plain.load("validation", 0, 0))) == (9_014, 985)


def test_grammar_pairs_are_french() -> None:
    assert sentence(3, 1, True, "tired", "fatigue") == ("she is not very tired .", "elle n est pas tres fatiguee .")
    assert sentence(5, 0, False, "jealous", "jaloux/jalouse") == ("they are jealous .", "ils sont jaloux .")
    assert sentence(4, 0, True, "late", "en+retard") == ("we are not late .", "nous ne sommes pas en retard .")
    parts = grammar_pairs()
    assert not set(parts["train"]) & set(parts["test"])
    assert not set(parts["train"]) & set(parts["tired"])
    assert len({english for english, _ in parts["train"]}) == len(parts["train"])


def test_daxy_is_met_in_one_sentence_only() -> None:
    rows = Translation("fr-en", True).load("fit", 0, 0)
    daxy = [e for e in rows if "daxy" in e.answer]
    assert {(e.inputs["sentence"], e.answer) for e in daxy} == {(DAXY[1], DAXY[0])}
    assert 800 < len(daxy) < 1_000


def test_bleu_is_one_for_the_references_and_less_otherwise() -> None:
    rows = Translation().load("test", 50, 0)
    references = [e.answer for e in rows]
    assert bleu(rows, references) == pytest.approx(1.0)
    assert bleu(rows, [" ".join(r.split()[::-1]) for r in references]) < 0.5


def test_translation_runs_from_the_grammar_and_from_files(tmp_path: Path, shared: Path) -> None:
    for files in ("", str(shared / "mt")):
        report = reproduce(Wish("nacs-table9", "smoke", 1, only=("GRU +Attn | Fr",), files=files), tmp_path / str(bool(files)))
        assert len(report.rows) == 1
        found = json.loads(report.json_path.read_text())["runs"][0]["tests"]
        assert found["daxy"]["rows"] == 8
        assert 0 <= found["test"]["bleu"] <= 1


def test_a_folder_without_the_files_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"train\.src"):
        file_pairs(str(tmp_path))


@pytest.mark.parametrize("table", ["nacs-table1", "reascan-table3", "clutrr-figure7"])
def test_files_that_a_table_does_not_read_are_refused(table: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"{table} has no use for --files"):
        reproduce(Wish(table, "smoke", 1, files=str(tmp_path)), tmp_path / "out")


def test_other_sentence_pairs_are_another_run(tmp_path: Path) -> None:
    """Otherwise a table from one folder would show the finished runs of another one."""
    sources = []
    for folder, said in (("a", "je suis grand ."), ("b", "je suis petit ."), ("c", "je suis grand .")):
        (tmp_path / folder).mkdir()
        for name in ("train", "test", "test.daxy", "test.tired"):
            (tmp_path / folder / f"{name}.src").write_text("i am big .\n")
            (tmp_path / folder / f"{name}.trg").write_text(f"{said}\n")
        sources.append(Translation(files=str(tmp_path / folder)).name())
    assert sources[0] == sources[2] != sources[1]


def test_rows_of_another_version_are_another_run() -> None:
    assert Source("clutrr", "generalization_23", recipe="release").name() == "clutrr-generalization_23-release"
    version = find_family("clutrr").RECIPES["sound"].version
    assert version > 1
    assert Source("clutrr", "generalization_23", recipe="sound").name() == f"clutrr-generalization_23-sound@{version}"


def test_leak_free_rows_are_scored_apart(tmp_path: Path) -> None:
    tiny = Scale("tiny", 1, 1, 0, rows=40, test_rows=200, changes={"units": 8, "embedding": 4})
    outcome = run(Experiment(Source("nacs", "simple"), "gru", tiny), tmp_path)
    assert 0 < outcome["tests"]["test"]["leak_free"]["rows"] < 200
    assert len(outcome["fingerprint"]) == 16


def test_a_run_that_another_table_made_is_measured_further(tmp_path: Path) -> None:
    tiny = Scale("tiny", 1, 1, 0, rows=20, test_rows=10, changes={"units": 8, "embedding": 4})
    first = run(Experiment(Source("scan", "simple_p1"), "gru", tiny), tmp_path)
    assert list(first["tests"]) == ["test"]
    more = Source("scan", "simple_p1", tests=("test", "length/test"), by="conjunction")
    second = run(Experiment(more, "gru", tiny), tmp_path)
    assert set(second["tests"]) == {"test", "length/test"}
    assert sum(v["rows"] for v in second["tests"]["test"]["by_conjunction"].values()) == 10
    assert run(Experiment(Source("scan", "simple_p1"), "gru", tiny), tmp_path) == second


def test_a_sample_is_drawn_over_the_whole_part() -> None:
    sample = Source("clutrr", "generalization_23", "train", recipe="release").load("train", 60, 0)
    assert {e.meta["k"] for e in sample} == {2, 3}
    assert [e.id for e in sample] == sorted({e.id for e in sample})


def test_the_decoder_of_nacs_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """-Dep removes the two connections from the previous word, in the drawing and in the gradients of the model."""
    from recombine.models.figure_decoder import decoders, edges

    assert main(["reproduce", "nacs-figure2", "--out", str(tmp_path)]) == 0
    assert "es" in capsys.readouterr().out
    drawn = (tmp_path / "nacs-figure2.svg").read_text()
    assert drawn.count("stroke-dasharray") == 2
    whole, severed = decoders().values()
    assert [edge.name for edge in edges(whole) if not edge.is_there] == []
    assert [edge.name for edge in edges(severed) if not edge.is_there] == ["es", "et"]
    assert whole.embedding is not None and severed.embedding is None
    (tmp_path / "nacs-figure2.svg").write_text("mine")
    assert main(["reproduce", "nacs-figure2", "--out", str(tmp_path)]) == 2
    assert (tmp_path / "nacs-figure2.svg").read_text() == "mine"
