"""Asking a language model about every row of a part: bounded in number, tokens and money, and safe against being killed.

Every attempt is entered in the journal before it goes out and every reply before it is read. A run that stopped (a cap, a kill,
an endpoint that is down) is finished by the same command: rows with a reply are not asked again.

Caps are hard. A request is sent only if the most that it can cost (all its tokens, and the longest allowed reply) still fits;
attempts that ended without a count, and requests that a killed process lost, are charged at that most.
"""

from __future__ import annotations

import asyncio
import platform
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any

from recombine import __version__
from recombine.core import Example
from recombine.data.datasets import Dataset
from recombine.errors import EndpointError, UsageError, shown
from recombine.evaluate.acting import Acting, Played, played_so_far, turn_key
from recombine.evaluate.budget import CapReached, Caps
from recombine.evaluate.journal import open_journal
from recombine.evaluate.outcomes import Outcome, judge, judge_episodes, per_right, sample_key
from recombine.evaluate.prices import Price
from recombine.evaluate.prompts import STYLES, Prompt, Prompter, chat_messages
from recombine.evaluate.purse import Answerer, Purse
from recombine.evaluate.replies import PARSER_VERSION
from recombine.pairs import PairRows

GIVE_UP = 10
"""So many errors in a row, and the run stops: the endpoint is down or the request is wrong."""
ESTIMATE_ROWS = 20


# --- the run ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """What is asked of whom: all that decides prompts and replies."""

    rows: Dataset
    prompter: Prompter
    model: str
    endpoint: str
    settings: Mapping[str, Any]
    max_tokens: int
    size: int | None = None
    system: str = ""
    samples: int = 1
    acting: Acting | None = None

    @property
    def count(self) -> int:
        """How many rows are asked about: all, or the first `size` of a folder's part."""
        return len(self.rows) if self.size is None else min(self.size, len(self.rows))

    def examples(self) -> Iterator[Example]:
        """The rows that are asked about."""
        return islice(self.rows, self.count)

    def questions(self) -> Iterator[tuple[Example, int]]:
        """Every row with the number of each of its samples: all first samples, then all second ones."""
        for sample in range(1, self.samples + 1):
            for example in self.examples():
                yield example, sample

    def identity(self) -> dict[str, Any]:
        """What must be equal for a run folder to be taken up again. The numbers of rows and samples may grow."""
        prompter = self.prompter
        train = prompter.train.job.key if isinstance(prompter.train, Dataset) and prompter.shots else None
        return {
            "part": self.rows.job.key,
            "fingerprint": _fingerprint(self.rows),
            "style": prompter.style,
            "sight": prompter.sight,
            "shots": prompter.shots,
            "shots_fresh": prompter.fresh,
            "shots_from": train,
            "prompt_hash": prompter.hash,
            "model": self.model,
            "endpoint": self.endpoint,
            "settings": dict(self.settings),
            "max_tokens": self.max_tokens,
            **({"system": self.system} if self.system else {}),
            **({"acting": self.acting.identity(self.rows[0])} if self.acting is not None else {}),
        }

    def messages(self, prompt: Prompt | Played) -> list[dict[str, Any]]:
        """The messages of a request: the system message, if there is one, and the prompt or the conversation so far."""
        first = [{"role": "system", "content": self.system}] if self.system else []
        return [*first, *(chat_messages(prompt) if isinstance(prompt, Prompt) else prompt.episode.messages)]

    def prompt(self, example: Example) -> Prompt:
        """The first request about a row."""
        if self.acting is None:
            return self.prompter.prompt(example)
        return Played(self.acting, self.acting.episode(example)).prompt()

    def notes(self) -> dict[str, Any]:
        """What is told for the record: the words common to all prompts, versions, date."""
        packages = ("numpy", "httpx2", "torch", "transformers")
        versions = {name: version for name in packages if (version := _version(name))}
        return {
            "preamble": self.prompter.preamble if self.acting is None else self.acting.episode(self.rows[0]).task,
            "closing": STYLES[self.prompter.style] if self.acting is None else "",
            "parser": PARSER_VERSION,
            "versions": {"recombine": __version__, "python": platform.python_version(), **versions},
            "rows": self.count,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }


def _fingerprint(rows: Dataset) -> str | None:
    """What tells the rows of a folder from others; None for rows that are generated as they are read."""
    if isinstance(rows, PairRows):
        return rows.fingerprint
    return None if rows.folder is None else str(rows.folder.manifest["parts"][rows.number]["fingerprint"])


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@dataclass
class _Running:
    """One process's share of a run."""

    asked: Asked
    purse: Purse
    pending: Iterator[tuple[Example, int]]
    on_reply: Callable[[int], None]
    retry_errors: bool = False
    asked_now: int = 0
    errors_in_a_row: int = 0
    problem: EndpointError | None = None

    async def work(self) -> None:
        """Take rows until there are none, a cap is reached or the endpoint is of no use. What is under way is always finished."""
        while self.problem is None:
            question = next(self.pending, None)
            if question is None:
                return
            example, sample = question
            key = sample_key(example.id, sample)
            try:
                if self.asked.acting is None:
                    prompt = self.asked.prompter.prompt(example)
                    await self._ask(prompt, key, self.asked.messages(prompt))
                else:
                    await self._play(self.asked.acting, example, key)
                self.on_reply(1)
            except EndpointError as problem:
                self.problem = self.problem or problem

    async def _play(self, acting: Acting, example: Example, key: str) -> None:
        """Act turn by turn, from where the journal's replies end."""
        played = played_so_far(acting, example, key, self.purse.journal.replies, self.retry_errors)
        while played.is_open:
            turn = turn_key(key, len(played.replies) + 1)
            played.take(await self._ask(played.prompt(), turn, self.asked.messages(played)))

    async def _ask(self, prompt: Prompt, key: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """One request and its reply; too many errors in a row stop the run."""
        most_in = prompt.most_tokens + len(self.asked.system.encode())
        record = await self.purse.ask(key, prompt, messages, most_in, self.asked.max_tokens)
        self.asked_now += 1
        self.errors_in_a_row = self.errors_in_a_row + 1 if record["error"] else 0
        if self.errors_in_a_row >= GIVE_UP:
            raise EndpointError(
                f"{GIVE_UP} questions in a row ended in an error, the last one: {record['error']}. They are recorded; when the "
                "endpoint works again, run the same command with --retry-errors."
            )
        return record


def ask(
    asked: Asked,
    answerer: Answerer,
    out: str | Path,
    *,
    caps: Caps,
    price: Price,
    concurrency: int = 8,
    retry_errors: bool = False,
    only: Collection[str] | None = None,
    on_reply: Callable[[int], None] = lambda _: None,
) -> Outcome:
    """Ask about every row that has no reply yet; `answers.jsonl` then holds the answers of all rows that have one.

    `only` names the questions that may be asked, as `sample_key` names them.

    Raises `EndpointError` if the endpoint is of no use; what was answered before is kept. At a cap it stops and says so.
    """
    if not 1 <= concurrency <= 1_000:
        raise UsageError(f"concurrency is {shown(concurrency)}, but must be 1 to 1,000.")
    with open_journal(out, asked.identity(), asked.notes()) as journal:
        purse = Purse.of(answerer, journal, caps, price)
        budget = purse.budget
        wanted = ((e, n, sample_key(e.id, n)) for e, n in asked.questions())

        def is_wanted(example: Example, key: str) -> bool:
            if asked.acting is not None:
                return played_so_far(asked.acting, example, key, journal.replies, retry_errors).is_open
            return (only is None or key in only) and is_open(journal.replies.get(key), retry_errors)

        pending = ((e, n) for e, n, key in wanted if is_wanted(e, key))
        running = _Running(asked, purse, pending, on_reply, retry_errors)
        on_reply(len(journal.replies) if asked.acting is None else 0)
        asyncio.run(_run(running, concurrency))
        if asked.acting is None:
            judged = judge(asked.examples(), journal.replies, asked.samples, journal.folder)
        else:
            judged = judge_episodes(asked.acting, asked.examples(), journal.replies, asked.samples, journal.folder)
        if running.problem is not None and not isinstance(running.problem, CapReached):
            raise running.problem
        errors = Counter(record["error"] for record in journal.replies.values() if record["error"])
        used = (budget.requests, budget.tokens_in, budget.tokens_out, budget.cost)
        return Outcome(
            asked.count, running.asked_now, judged.statuses, judged.mean, *used, str(running.problem or ""), dict(errors.most_common()),
            judged.lenient, asked.samples, judged.passes, judged.majority, per_right(journal.replies.values(), judged.right, budget.cost),
        )  # fmt: skip


async def _run(running: _Running, concurrency: int) -> None:
    async with running.purse.answerer:
        await asyncio.gather(*(running.work() for _ in range(concurrency)))


def is_open(record: Mapping[str, Any] | None, retry_errors: bool) -> bool:
    """Whether a question is still to be asked, given its last reply."""
    return record is None or (retry_errors and bool(record["error"]))


# --- before asking ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """What asking about all rows will take: tokens by a rule of thumb, the longest allowed replies, and what both cost at most.

    Where rows are acted in, `tokens_in` and `cost_in` are of the first turn alone.
    """

    rows: int
    tokens_in: int
    most_tokens_out: int
    cost_in: float
    most_cost: float
    prompt: str


def estimate(asked: Asked, price: Price) -> Estimate:
    """The estimate from evenly spread rows; asks nothing."""
    rows = asked.count
    step = max(1, rows // ESTIMATE_ROWS)
    prompts = [asked.prompt(asked.rows[i]) for i in range(0, rows, step)[:ESTIMATE_ROWS]]
    tokens_in = round(rows * asked.samples * sum(p.tokens for p in prompts) / max(1, len(prompts)))
    turns = 1 if asked.acting is None else asked.acting.turns
    tokens_out = rows * asked.samples * asked.max_tokens * turns
    # Turn t reads the first message and, for each turn before, one reply and one view that is no longer than the first message.
    most_in = turns * tokens_in + turns * (turns - 1) // 2 * (tokens_in + rows * asked.samples * asked.max_tokens)
    most_cost = price.cost(most_in, tokens_out)
    return Estimate(rows, tokens_in, tokens_out, price.cost(tokens_in, 0), most_cost, prompts[0].text if prompts else "")
