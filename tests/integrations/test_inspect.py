"""inspect_ai evaluates every family in text and pictures, and plays ReaSCAN to its end, with a scripted model."""

from __future__ import annotations

import gc
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

import recombine
from recombine.episodes import Episode
from recombine.evaluate.prompts import prompts_of
from recombine.families import FAMILIES
from recombine.integrations import first_rows
from recombine.integrations.inspect import TASKS

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """inspect leaves streams open. They are collected here, where their warnings are ignored, and not when pytest ends."""
    yield
    gc.collect()


def said(text: str, stop: Any = "stop") -> ModelOutput:
    out = ModelOutput.from_content("mockllm/model", text, stop_reason=stop)
    out.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return out


def run(task: Any, reply: Any, tmp_path: Path, **limits: int) -> Any:
    model = get_model("mockllm/model", custom_outputs=reply)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", max_connections=1, **limits)
    assert log.status == "success", log.error
    return read_eval_log(log.location)


def answering(rows: list[recombine.core.Example]) -> Any:
    """A model that finds its row by the question, and answers it right."""
    words = prompts_of(rows[0].family)

    def reply(messages: list[Any], *_: Any) -> ModelOutput:
        row = next(r for r in rows if words.question(r, "text") in messages[0].text)
        return said(f"So.\n\nAnswer: {words.answer(row)}")

    return reply


@pytest.mark.parametrize("name", list(FAMILIES))
def test_right_answers_score_one(name: str, tmp_path: Path) -> None:
    rows = list(first_rows(name, None, None, 0, 3))
    log = run(TASKS[name](size=3), answering(rows), tmp_path)
    metrics = log.results.scores[0].metrics
    assert metrics["accuracy"].value == 1.0 and "stderr" in metrics
    dials = [dial for dial in rows[0].family.DIALS if dial in rows[0].meta]
    for dial in dials:
        assert any(key.startswith(f"{dial}=") for key in metrics)
    sample = log.samples[0]
    assert sample.id == rows[0].id and sample.scores["proved"].explanation == str(rows[0].explain())


def test_wrong_answers_name_the_mistake(tmp_path: Path) -> None:
    rows = recombine.load("scan", size=3)
    named = next((row, s) for row in rows for s in row.explain().shortcuts if s.answer and row.score(s.answer).mistakes)
    log = run(TASKS["scan"](size=3), lambda *_: said(f"Answer: {named[1].answer}"), tmp_path)
    found = next(s for s in log.samples if s.id == named[0].id).scores["proved"]
    assert found.value == "I" and found.metadata["mistake"] == named[0].score(named[1].answer).mistake


def test_pictures_are_sent(tmp_path: Path) -> None:
    seen = []

    def reply(messages: list[Any], *_: Any) -> ModelOutput:
        seen.append([part.type for part in messages[0].content])
        return said("Answer: stay")

    run(TASKS["reascan"](size=1, sight="picture"), reply, tmp_path)
    assert "image" in seen[0] and "text" in seen[0]


@pytest.mark.parametrize("name", ["reascan", "gscan", "lilgym"])
def test_an_episode_is_solved_action_by_action(name: str, tmp_path: Path) -> None:
    row = recombine.load(name, size=1)[0]
    plan = list(Episode(row).expert())

    def reply(messages: list[Any], *_: Any) -> ModelOutput:
        return said(plan[len([m for m in messages if m.role == "assistant"])])

    log = run(TASKS[name](size=1, multi_turn=True, max_turns=100), reply, tmp_path)
    (sample,) = log.samples
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    assert sample.scores["solved"].metadata["turns"] == len(plan)


@pytest.mark.parametrize("limits", [{"message_limit": 4}, {"token_limit": 3}])
def test_an_episode_that_a_limit_ends_is_not_solved(limits: dict[str, int], tmp_path: Path) -> None:
    log = run(TASKS["reascan"](size=1, multi_turn=True), lambda *_: said("turn left"), tmp_path, **limits)
    found = log.samples[0].scores["solved"]
    assert found.value == "I" and found.answer == "not_solved" and found.metadata["turns"] >= 1


@pytest.mark.parametrize(
    ("stop", "status"), [("max_tokens", "truncated"), ("model_length", "truncated"), ("content_filter", "refused")]
)
def test_a_reply_that_was_cut_is_not_read(stop: str, status: str, tmp_path: Path) -> None:
    row = recombine.load("scan", size=1)[0]
    log = run(TASKS["scan"](size=1), lambda *_: said(f"Answer: {row.answer}", stop), tmp_path)
    found = log.samples[0].scores["proved"]
    assert found.value == "I" and found.metadata["reply"] == status


def test_a_reply_that_was_cut_is_not_acted_on(tmp_path: Path) -> None:
    plan = Episode(first_rows("reascan", None, None, 0, 1)[0]).expert_reply()
    log = run(TASKS["reascan"](size=1, multi_turn=True), lambda *_: said(plan, "max_tokens"), tmp_path)
    found = log.samples[0].scores["solved"]
    assert found.value == "I" and found.answer == "truncated" and found.metadata["turns"] == 0


def test_families_without_episodes_are_refused() -> None:
    with pytest.raises(recombine.RecombineError, match="cannot be acted in"):
        TASKS["scan"](size=1, multi_turn=True)


def test_the_entry_point_is_this_module() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["inspect_ai"] == {"recombine": "recombine.integrations.inspect"}
