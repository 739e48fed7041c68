"""Exported rows: what each stack reads, scored by id; and mixtures."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import recombine
from recombine.cli import main
from recombine.errors import BadOption, FileError, UnknownName, UsageError
from recombine.evaluate.layouts import LAYOUTS, Asked, export
from recombine.families import FAMILIES, family
from recombine.integrations import MissingLibrary, first_rows, need, openrlhf, path_of, verl
from recombine.jobs import make_job
from recombine.scorer import Scorer

datasets = pytest.importorskip("datasets")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rows") / "d"
    recombine.generate("reascan", out, split="a1", part="test", size=6)
    return out


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def loaded(file: Path, tmp_path: Path) -> datasets.Dataset:  # type: ignore[name-defined]
    return datasets.load_dataset("parquet", data_files=str(file), split="train", cache_dir=str(tmp_path / "cache"))


@pytest.mark.parametrize("stack", sorted(LAYOUTS))
def test_every_layout_keeps_ids_and_right_answers(stack: str, rows: Path, tmp_path: Path) -> None:
    (file,) = export(rows, stack, tmp_path / "x", Asked(model="m"))
    made = loaded(file, tmp_path).to_list() if file.suffix == ".parquet" else lines(file)
    source, scorer = recombine.load(rows), Scorer(rows)
    assert len(made) == 6
    for row, example in zip(made, source, strict=True):
        text = json.dumps(row, default=str)
        assert example.id in text and example.inputs["command"] in text
        held = {
            "trl": lambda r: (r["id"], r["answer"]), "sft": lambda r: (r["id"], r["completion"][0]["content"]),
            "verl": lambda r: (r["extra_info"]["id"], r["reward_model"]["ground_truth"]), "nemo-gym": lambda r: (r["id"], r["answer"]),
            "skyrl": lambda r: (r["extras"]["id"], r["extras"]["answer"]), "openai-batch": None, "inspect": lambda r: (r["id"], r["target"]),
            "reasoning-gym": lambda r: (r["metadata"]["id"], r["answer"]),
        }[stack]  # fmt: skip
        if held is not None:
            identifier, answer = held(row)
            assert scorer(identifier, answer).value == 1.0
    if stack == "openai-batch":
        assert made[0]["body"]["model"] == "m" and made[0]["url"] == "/v1/chat/completions"  # type: ignore[index]


def test_prompts_show_no_answer(rows: Path, tmp_path: Path) -> None:
    (file,) = export(rows, "trl", tmp_path / "x")
    for row in loaded(file, tmp_path).to_list():
        assert row["answer"] not in row["prompt"][0]["content"]


@pytest.mark.parametrize("stack", ["trl", "sft", "verl"])
def test_pictures_are_images_for_hugging_face(stack: str, rows: Path, tmp_path: Path) -> None:
    (file,) = export(rows, stack, tmp_path / "x", Asked(sight="picture"), size=2)
    made = loaded(file, tmp_path)
    assert len(made) == 2 and made[0]["images"][0].size[0] > 50
    text = json.dumps(made[0]["prompt"])
    assert "image" in text and "The agent stands in row" not in text


@pytest.mark.parametrize("stack", ["nemo-gym", "openai-batch", "inspect"])
def test_pictures_are_data_urls_in_json(stack: str, rows: Path, tmp_path: Path) -> None:
    (file,) = export(rows, stack, tmp_path / "x", Asked(sight="picture", model="m"), size=1)
    assert "data:image/png;base64," in file.read_text() and len(lines(file)) == 1


def test_sft_targets_are_the_proof_or_the_answer(rows: Path, tmp_path: Path) -> None:
    (steps,) = export(rows, "sft", tmp_path / "s")
    (answer,) = export(rows, "sft", tmp_path / "a", Asked(target="answer"))
    first = recombine.load(rows)[0]
    said = loaded(steps, tmp_path)[0]["completion"][0]["content"]
    bare = loaded(answer, tmp_path)[0]["completion"][0]["content"]
    assert said.endswith(bare) and bare.startswith("Answer: ") and "\n" not in bare
    assert said.splitlines()[:-1] == list(first.explain().steps)


def test_rows_without_a_right_answer_train_nothing(tmp_path: Path) -> None:
    """Published lilGym statements come without plans."""
    record = {"sentence": "There is a black block.", "lf": "exist(filter_color(all_items, Color.BLACK))"}
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "tower_scratch_dev.json").write_text(json.dumps({"20": record}))
    options = {"files": str(tmp_path / "files")}
    recombine.generate("lilgym", tmp_path / "rows", split="tower_scratch", part="validation", options=options)
    with pytest.raises(UsageError, match="without a right answer"):
        export(tmp_path / "rows", "sft", tmp_path / "x")
    assert not (tmp_path / "x").exists()
    assert len(export(tmp_path / "rows", "trl", tmp_path / "x")) == 1


def test_exports_are_the_same_bytes_and_go_where_they_may(rows: Path, tmp_path: Path) -> None:
    (one,) = export(rows, "trl", tmp_path / "x")
    before = one.read_bytes()
    (again,) = export(rows, "trl", tmp_path / "x")
    assert again.read_bytes() == before
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis.txt").write_text("mine")
    with pytest.raises(FileError, match="not empty"):
        export(rows, "trl", tmp_path / "own")


def test_an_interrupted_export_is_finished_by_the_same_command(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("recombine.evaluate.layouts._write", stop)
        with pytest.raises(KeyboardInterrupt):
            export(rows, "sft", tmp_path / "x")
    (file,) = export(rows, "sft", tmp_path / "x")
    (whole,) = export(rows, "sft", tmp_path / "y")
    assert file.read_bytes() == whole.read_bytes()


def test_mistakes_are_clear_errors(rows: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="trl"):
        export(rows, "tlr", tmp_path / "x")
    with pytest.raises(UsageError, match="--model"):
        export(rows, "openai-batch", tmp_path / "x")
    with pytest.raises(UsageError, match="no pictures"):
        export(rows, "reasoning-gym", tmp_path / "x", Asked(sight="picture"))
    with pytest.raises(UnknownName, match="target"):
        export(rows, "sft", tmp_path / "x", Asked(target="proof"))
    assert main(["export", str(tmp_path), "--for", "trl", "--out", str(tmp_path / "y")]) == 2


def test_the_command_line(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(rows), "--for", "verl", "--out", str(tmp_path / "v"), "--size", "2", "--json"]) == 0
    (file,) = json.loads(capsys.readouterr().out)
    assert len(loaded(Path(file), tmp_path)) == 2
    assert main(["path", "verl"]) == 0
    assert capsys.readouterr().out.strip() == str(path_of("verl"))
    assert main(["path", "vrel"]) == 2


def test_the_reward_function_of_verl(rows: Path, tmp_path: Path) -> None:
    (file,) = export(rows, "verl", tmp_path / "v")
    row = loaded(file, tmp_path)[0]
    truth = row["reward_model"]["ground_truth"]
    found = verl.compute_score(row["data_source"], f"So.\n\nAnswer: {truth}", truth, row["extra_info"])
    assert found["score"] == 1.0 and found["answered"] == 1.0
    assert verl.compute_score(row["data_source"], "Answer: stay", truth, row["extra_info"])["score"] == 0.0
    with pytest.raises(ValueError, match="recombine export"):
        verl.compute_score("x", "y", "z")


def test_the_reward_function_of_openrlhf(rows: Path) -> None:
    pytest.importorskip("torch")
    example = recombine.load(rows)[0]
    found = openrlhf.reward_func(["ask" + f"Answer: {example.answer}", "askAnswer: stay"], ["ask", "ask"], [example.id] * 2)
    assert found["rewards"].tolist() == [1.0, 0.0] and found["extra_logs"]["answered"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "tail", ["<|im_end|>", "<|im_end|>\n", "</s>", "<|eot_id|><|eot_id|>", "<end_of_turn>\n<pad><pad>", "<｜end▁of▁sentence｜>"]
)
def test_openrlhf_decodes_with_special_tokens(tail: str, rows: Path) -> None:
    pytest.importorskip("torch")
    example = recombine.load(rows)[0]
    queries = [f"<pad><pad>ask\nAnswer: {said}{tail}" for said in (example.answer, "stay")]
    assert openrlhf.reward_func(queries, ["ask\n"] * 2, [example.id] * 2)["rewards"].tolist() == [1.0, 0.0]


def test_missing_and_wrong_versions_name_the_command() -> None:
    with pytest.raises(MissingLibrary, match=r'pip install "recombine\[mcp\]"'):
        need("no-such-package", "mcp", "1", "2")
    with pytest.raises(MissingLibrary, match=r"at least 9000 .*recombine\[gym\]"):
        need("numpy", "gym", "9000", "9001")
    need("numpy", "gym", "1.0", "9000")


# --- mixtures ----------------------------------------------------------------------------------------------------------


def test_shares_are_exact_and_ids_unchanged() -> None:
    made = recombine.mix({"scan": 2, "nacs": 1}, size=3000, seed=7)
    counts = Counter(made.sources[made.origin(i)[0]].family.NAME for i in range(3000))
    assert counts == {"scan": 2001, "nacs": 999}
    for index in (0, 1, 999, 1000, 2999, -1):
        source, row = made.origin(index)
        assert made[index].id == made.sources[source][row].id


def test_a_small_weight_has_a_row_of_every_thousand() -> None:
    made = recombine.mix({"scan": 1.5, "nacs": 1, "clutrr": 997.5}, size=1000, rows=5)
    counts = Counter(made.sources[made.origin(i)[0]].family.NAME for i in range(1000))
    assert counts == {"scan": 2, "nacs": 1, "clutrr": 997}


def test_a_source_that_is_a_folder_is_cut_too(tmp_path: Path) -> None:
    recombine.generate("scan", tmp_path / "d", split="simple", part="train", size=20)
    made = recombine.mix({str(tmp_path / "d"): 1, "nacs": 1}, rows=5)
    assert [len(source) for source in made.sources] == [5, 5]
    assert len(made) == 10


def test_a_source_without_rows_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recombine.data.datasets.Dataset, "__len__", lambda data: 0 if data.job.family == "nacs" else 3)
    with pytest.raises(UsageError, match="'nacs' has no rows"):
        recombine.mix({"scan": 1, "nacs": 1})


def test_every_row_comes_once_before_any_comes_twice() -> None:
    made = recombine.mix({"scan": 1, "nacs": 1}, size=1500, rows=300)
    places = [made.origin(i) for i in range(1500)]
    for source in (0, 1):
        own = [row for s, row in places if s == source]
        assert sorted(own[:300]) == list(range(300)) and sorted(own[300:600]) == list(range(300)) and own[:300] != own[300:600]


def test_mixtures_are_functions_of_seed_and_index() -> None:
    one, two = recombine.mix({"scan": 1, "clutrr": 3}, rows=50), recombine.mix({"scan": 1, "clutrr": 3}, rows=50)
    assert [two.origin(i) for i in reversed(range(100))] == [one.origin(i) for i in reversed(range(100))]
    assert [one.origin(i) for i in range(100)] == [two.origin(i) for i in range(100)]
    other = recombine.mix({"scan": 1, "clutrr": 3}, rows=50, seed=1)
    assert [one.origin(i) for i in range(100)] != [other.origin(i) for i in range(100)]
    assert len(one) == 100


@pytest.mark.parametrize(
    "weights", [{}, {"scan": 0}, {"scan": -1}, {"scan": True}, {"scan": 1, "nacs": 5000}, {"sacn": 1}, {"scan": float("nan")}]
)
def test_bad_weights_are_clear_errors(weights: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        recombine.mix(weights)
    with pytest.raises(BadOption, match="size"):
        recombine.mix({"scan": 1}, size=0)


# --- what evaluations ask about ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_evaluations_ask_about_no_training_row_unless_told(name: str) -> None:
    for split, chosen in family(name).SPLITS.items():
        if not chosen.needs_files and not split.startswith("hold_out"):
            assert make_job(family(name), split).part.startswith("test")
    assert first_rows(name, None, None, 0, 2).job.part.startswith("test")
    assert first_rows(name, None, "train", 0, 2).job.part == "train"
