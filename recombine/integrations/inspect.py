"""inspect_ai: `inspect eval recombine/reascan -T split=a1 --model …`, in text or pictures, single-turn or as an episode.

Every family is a task of its own name. The scorer's explanation is the proof; its metadata names the mistake. Standard errors are
clustered by the family's cluster, and accuracy is grouped by every dial.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recombine.abilities import Playing, Sight
from recombine.core import Example
from recombine.episodes import Episode
from recombine.errors import UsageError
from recombine.evaluate.layouts import LAYOUTS, Asked
from recombine.evaluate.prompts import Prompter, Style
from recombine.families import FAMILIES, family
from recombine.integrations import first_rows, need
from recombine.scorer import Scorer

need("inspect-ai", "inspect", "0.3.100", "0.4")

from inspect_ai import Task, task  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, get_model  # noqa: E402
from inspect_ai.scorer import Score, Target, accuracy, grouped, scorer, stderr  # noqa: E402
from inspect_ai.solver import Generate, TaskState, generate, solver  # noqa: E402

MISTAKE_NONE = "none"
FINISH = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}
"""inspect's reason for the end of a reply -> the scorer's."""
ENDED = {"length": "truncated", "content_filter": "refused"}
"""The scorer's reason -> how an episode ends in which such a reply comes."""
_SCORER = Scorer()


def _message(raw: dict[str, Any]) -> ChatMessageUser:
    """One of our chat messages as inspect's."""
    content = raw["content"]
    if isinstance(content, str):
        return ChatMessageUser(content=content)
    parts: list[Any] = []
    for part in content:
        if part["type"] == "text":
            parts.append(ContentText(text=part["text"]))
        else:
            parts.append(ContentImage(image=part["image"] if part["type"] == "image" else part["image_url"]["url"]))
    return ChatMessageUser(content=parts)


def _sample(example: Example, index: int, prompter: Prompter, asked: Asked, play: bool) -> Sample:
    row = LAYOUTS["inspect"][1](example, index, prompter, asked)
    first = Episode(example, asked.sight).messages[0] if play else row["input"][0]
    meta = {**row["metadata"], "sight": asked.sight}
    return Sample(id=example.id, input=[_message(first)], target=row["target"], metadata=meta)


@scorer(metrics=[accuracy(), stderr(cluster="cluster")])  # type: ignore[untyped-decorator]
def proved() -> Callable[..., Any]:
    """Right or wrong by Recombine; the explanation is the proof, the metadata name the mistake."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        found = _SCORER(str(state.sample_id), state.output.completion, FINISH.get(state.output.stop_reason, "stop"))
        meta = {
            "status": found.status,
            "mistake": found.mistake or MISTAKE_NONE,
            "mistakes": list(found.mistakes),
            **found.detail,
        }
        proof = str(_SCORER.example(str(state.sample_id)).explain())
        return Score(
            value="C" if found.value == 1 else "I", answer=state.output.completion[-2000:], explanation=proof, metadata=meta
        )

    return score


@solver  # type: ignore[untyped-decorator]
def play(max_turns: int = 30) -> Callable[..., Any]:
    """Act in the sample's episode: each reply is carried out, and the world is shown again, until the episode is over."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        episode = Episode(str(state.sample_id), state.metadata["sight"])
        # Kept after each turn, because a limit of inspect may end the sample anywhere.
        state.store.set("recombine", _standing(episode))
        while not episode.done and len(episode.turns) < max_turns:
            state.output = await get_model().generate(state.messages)
            state.messages.append(state.output.message)
            finish = FINISH.get(state.output.stop_reason, "stop")
            if finish != "stop":  # as in `recombine ask --act`: what was cut or refused is not acted on
                state.store.set("recombine", {**_standing(episode), "error": ENDED[finish]})
                break
            turn = episode.act(state.output.completion)
            state.store.set("recombine", _standing(episode))
            state.messages.append(_message(turn.message))
        return state

    return solve


def _standing(episode: Episode) -> dict[str, Any]:
    """What is told of an episode, as far as it went."""
    last = episode.turns[-1].info if episode.turns else {"error": "never_acted"}
    return {"solved": episode.solved, "reward": episode.reward, "turns": len(episode.turns), "error": last["error"]}


@scorer(metrics=[accuracy(), stderr(cluster="cluster")])  # type: ignore[untyped-decorator]
def solved() -> Callable[..., Any]:
    """Whether the episode was solved."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        told = state.store.get("recombine")
        proof = str(_SCORER.example(str(state.sample_id)).explain())
        answer = told["error"] or ("solved" if told["solved"] else "not_solved")
        return Score(value="C" if told["solved"] else "I", answer=answer, explanation=proof, metadata=told)

    return score


def make_task(
    name: str, split: str | None = None, part: str | None = None, seed: int = 0, size: int = 100, style: Style = "rules",
    sight: Sight = "text", multi_turn: bool = False, max_turns: int = 30,
) -> Task:  # fmt: skip
    """The task over one part of a family's split, or of a folder."""
    rows = first_rows(name, split, part, seed, size)
    if multi_turn and not isinstance(rows.family, Playing):
        raise UsageError(f"{rows.family.NAME} cannot be acted in; leave out multi_turn.")
    prompter, asked = Prompter(rows.family, style, sight), Asked(style, sight)
    samples = [_sample(example, index, prompter, asked, multi_turn) for index, example in enumerate(rows)]
    dials = [dial for dial in rows.family.DIALS if samples and dial in (samples[0].metadata or {})]
    by_dial = [grouped(accuracy(), dial, all=False, name_template=dial + "={group_name}") for dial in dials]
    return Task(
        dataset=MemoryDataset(samples, name=rows.job.key),
        solver=play(max_turns) if multi_turn else generate(),
        scorer=solved() if multi_turn else proved(),
        metrics=[accuracy(), stderr(cluster="cluster"), *by_dial],
        version=rows.job.version,
        metadata={"job": rows.job.key, "style": style, "sight": sight, "prompts": prompter.hash},
    )


def _register(name: str) -> Callable[..., Task]:
    def made(
        split: str | None = None, part: str | None = None, seed: int = 0, size: int = 100, style: str = "rules",
        sight: str = "text", multi_turn: bool = False, max_turns: int = 30,
    ) -> Task:  # fmt: skip
        return make_task(name, split, part, seed, size, style, sight, multi_turn, max_turns)  # type: ignore[arg-type]

    made.__name__ = made.__qualname__ = name
    made.__doc__ = family(name).TITLE
    registered: Callable[..., Task] = task(name=name)(made)
    return registered


TASKS = {name: _register(name) for name in FAMILIES}
"""Family -> its task; `inspect eval recombine/NAME` finds them through the entry point."""
__all__ = ["TASKS", "make_task", "play", "proved", "solved"]
