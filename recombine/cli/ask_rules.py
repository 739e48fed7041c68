"""`recombine ask --style lexicon`: ask a model once for the rule, run the reply on a machine, keep everything in the run's folder.

The folder is a run like that of other styles: `run.json`, `requests.jsonl`, `replies.jsonl`. Beside them are `prompt.txt`, `reply.txt`,
`rules.json` (rules, length, score) and `answers.jsonl`, which `recombine evaluate` reads beside the same model's direct answers. A reply
that is there is not asked for again, and caps are those of the whole run.
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.cli.printing import say
from recombine.errors import RecombineError, UsageError, shown

if TYPE_CHECKING:
    from recombine.evaluate.prices import Price
    from recombine.evaluate.prompts import Prompt
    from recombine.evaluate.purse import Purse

PROMPT, REPLY, RESULT, ANSWERED = "prompt.txt", "reply.txt", "rules.json", "answers.jsonl"
NAME = "rules"
"""What the one question is called in the journal."""
SHOTS = 40
"""Training examples in the prompt if none are asked for."""
REFUSED: dict[str, object] = {
    "image": None, "act": False, "turns": None, "settings": [], "fresh_shots": False, "write_batch": None, "read_batch": None, "samples": 1, "suite": None,
}  # fmt: skip
"""Options that make no sense here, with the values that they have if they are not given."""


def run_rules(arguments: argparse.Namespace, price: Price) -> int:
    """Ask, or show the prompt; then run the rules."""
    from recombine.cli import rules as by_file
    from recombine.cli.ask_model import endpoint_model, local_model
    from recombine.cli.requests import options_of
    from recombine.evaluate.budget import Caps
    from recombine.evaluate.journal import open_journal
    from recombine.evaluate.prompts import Prompt
    from recombine.evaluate.purse import Purse
    from recombine.files import write_json, write_text
    from recombine.models.parts import Request, fit_rows
    from recombine.models.rulebook import open_book

    for name, value in REFUSED.items():
        if getattr(arguments, name) != value:
            option = "setting" if name == "settings" else name.replace("_", "-")
            raise UsageError(f"--style lexicon asks once for the rule; leave out --{option}.")
    request = Request(arguments.family, arguments.split, arguments.seed, arguments.recipe, options_of(arguments))
    book = open_book(fit_rows(request, None, made_anew=True))
    text = book.prompt(arguments.shots or SHOTS)
    prompt = Prompt(NAME, (text,), NAME)
    model = local_model(arguments) if arguments.model.startswith("hf:") else endpoint_model(arguments)
    caps = Caps(arguments.max_requests, arguments.max_total_tokens, arguments.max_cost)
    if arguments.dry_run:
        most = price.cost(most_tokens(prompt, arguments.system), model.longest_reply)
        say(f"{text}\n{'-' * 80}\none request, at most {most:,.4f} (repeated attempts apart); nothing was asked.")
        return 0
    if not arguments.out:
        raise UsageError("--out is missing: the folder of the run (or --dry-run to ask nothing).")
    asked = {
        "style": "lexicon", "prompt_hash": prompt.hash, "system": arguments.system, "model": arguments.model, "endpoint": model.place,
        "settings": dict(model.settings),
    }  # fmt: skip
    part = arguments.part or request.test_part()
    request.load(part, 1)  # a part that is not there is told before anything is paid for
    with open_journal(arguments.out, asked, {}) as journal:
        out = journal.folder
        write_text(out / PROMPT, text)
        purse = Purse.of(model.answerer, journal, caps, price)
        record = _reply(purse, prompt, arguments.system, model.longest_reply)
        write_text(out / REPLY, record["reply"])
        try:
            rules = book.read(_said(record))
        except RecombineError as problem:
            raise UsageError(
                f"the reply in {shown(str(out / REPLY))} holds no rules: {problem} It is kept; another --out asks again."
            ) from None
        ran = by_file.run_rules(rules, request, part, arguments.size, out / ANSWERED)
        told = {"model": arguments.model, "shots": arguments.shots or SHOTS, **vars(ran), "rules": rules.lines()}
        write_json(out / RESULT, told)
    by_file.tell(rules, ran, arguments.json)
    if not arguments.json:
        _say_next(arguments, ran.part, out)
    return 0


def most_tokens(prompt: Prompt, system: str) -> int:
    """More tokens than any common tokenizer makes of both messages."""
    return prompt.most_tokens + len(system.encode())


def _said(record: Mapping[str, Any]) -> str:
    """What a kept reply says, by the first three rules of `evaluate/replies.py`: a cut reply and a refusal say nothing."""
    from recombine.evaluate.replies import spoken

    if record["finish"] == "length":
        raise UsageError("it was cut at the token limit; --max-tokens sets a higher one.")
    if record["refusal"] or record["finish"] == "content_filter":
        raise UsageError(f"the endpoint refused: {shown(record['refusal'] or 'content filter')}.")
    return spoken(record["reply"])


def _reply(purse: Purse, prompt: Prompt, system: str, longest: int) -> dict[str, Any]:
    """The record of the reply to the one question: that of the journal, or a new one. An error is told, and the next start asks again."""
    messages = [*([{"role": "system", "content": system}] if system else []), {"role": "user", "content": prompt.text}]

    async def ask() -> dict[str, Any]:
        async with purse.answerer:
            return await purse.ask(NAME, prompt, messages, most_tokens(prompt, system), longest)

    record = purse.journal.replies.get(NAME)
    if record is None or record["error"]:
        record = asyncio.run(ask())
    if record["error"]:
        raise UsageError(f"no reply: {record['error']}.")
    return record


def _say_next(arguments: argparse.Namespace, part: str, out: Path) -> None:
    """Print the command that evaluates the answers, with a folder of the rows beside them."""
    from recombine.cli.requests import options_of
    from recombine.data.generate import generate, remove
    from recombine.families import FAMILIES

    data = Path(arguments.family)
    if arguments.family in FAMILIES:
        data = out / "data"
        if data.exists():  # of an earlier start, perhaps of another size
            remove(data)
        words = {"recipe": arguments.recipe, "options": options_of(arguments), "size": arguments.size}
        generate(arguments.family, data, split=arguments.split or (), part=part, seed=arguments.seed, **words)
    answers, report = shlex.quote(str(out / ANSWERED)), shlex.quote(f"{arguments.out}-report")
    only = f" --rows {answers}" if arguments.size and arguments.family not in FAMILIES else ""
    say(f"next: recombine evaluate --data {shlex.quote(str(data))} --answers {answers}{only} --out {report}")
