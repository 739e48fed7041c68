"""One request that may cost money: allowed by the caps, noted before it goes out, kept and charged when its reply is there.

Rows, rules and exams are all asked about in this way. Each run has a journal, so caps hold over kills and restarts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from recombine.errors import EndpointError
from recombine.evaluate.budget import Budget, Caps
from recombine.evaluate.endpoint import Reply
from recombine.evaluate.journal import Journal
from recombine.evaluate.prices import Price
from recombine.evaluate.prompts import Prompt


class Answerer(Protocol):
    """What answers: an `Endpoint`, or a model on this machine."""

    async def __aenter__(self) -> Any:
        """Make ready."""

    async def __aexit__(self, *_: object) -> None:
        """Close."""

    async def ask(self, name: str, messages: list[dict[str, Any]], before: Callable[[], None]) -> Reply:
        """One question's reply; `before` is called ahead of every attempt and may forbid it by raising."""


@dataclass
class Purse:
    """Who answers, the journal of the run, and what the run may use."""

    answerer: Answerer
    journal: Journal
    budget: Budget

    @classmethod
    def of(cls, answerer: Answerer, journal: Journal, caps: Caps, price: Price) -> Purse:
        """A purse from which all that earlier starts of the run have used is gone."""
        budget = Budget(caps, price)
        for requests, tokens_in, tokens_out in journal.used:
            budget.charge(tokens_in, tokens_out, requests)
        return cls(answerer, journal, budget)

    async def ask(
        self, key: str, prompt: Prompt, messages: list[dict[str, Any]], most_in: int, most_out: int
    ) -> dict[str, Any]:
        """One question and its reply, which is on the disk and charged when this returns it.

        No attempt can use more than `most_in` tokens to read and `most_out` to write.
        """
        attempts = 0

        def before() -> None:
            nonlocal attempts
            self.budget.reserve(most_in, most_out)
            attempts += 1
            self.journal.note_request(key, most_in, most_out)

        try:
            reply = await self.answerer.ask(key, messages, before)
        except EndpointError:
            self.budget.release(attempts, most_in, most_out)
            self.budget.charge(attempts * most_in, attempts * most_out)
            raise
        charged = _charged(reply, most_in, most_out)
        record = _record(prompt, key, reply, attempts, charged)
        self.journal.keep(record)
        self.budget.release(attempts, most_in, most_out)
        self.budget.charge(*charged)
        return record


def _charged(reply: Reply, most_in: int, most_out: int) -> tuple[int, int]:
    """The tokens to count: the endpoint's own numbers, the most possible where it gave none.

    The length of the text is no bound: a model may have thought, and paid for, more than it says.
    """
    used_in, used_out = 0, 0
    if not reply.error:
        used_in = most_in if reply.tokens_in is None else reply.tokens_in
        used_out = most_out if reply.tokens_out is None else reply.tokens_out
    return used_in + reply.unknown * most_in, used_out + reply.unknown * most_out


def _record(prompt: Prompt, key: str, reply: Reply, attempts: int, charged: tuple[int, int]) -> dict[str, Any]:
    return {
        "id": key,
        "prompt": prompt.hash,
        "question": prompt.question,
        "shots": list(prompt.shots),
        "reply": reply.text,
        **({"reasoning": reply.reasoning} if reply.reasoning else {}),
        **({"tokens_reasoning": reply.tokens_reasoning} if reply.tokens_reasoning is not None else {}),
        "finish": reply.finish,
        "refusal": reply.refusal,
        "error": reply.error,
        "model": reply.model,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "charged": {"requests": attempts, "tokens_in": charged[0], "tokens_out": charged[1]},
        "seconds": reply.seconds,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
