"""`recombine ask --style lexicon`: ask a model once for the rule, run the reply on a machine, keep everything in the run's folder.

The folder has `prompt.txt`, `reply.txt`, `rules.json` (rules, length, score) and `answers.jsonl`, which `recombine evaluate` reads beside
the same model's direct answers. A reply that is there is not asked for again.
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli.printing import say
from recombine.errors import RecombineError, UsageError, shown

if TYPE_CHECKING:
    from recombine.cli.ask_model import Model
    from recombine.evaluate.budget import Budget
    from recombine.evaluate.prices import Price

PROMPT, REPLY, RESULT, ANSWERED = "prompt.txt", "reply.txt", "rules.json", "answers.jsonl"
SHOTS = 40
"""Training examples in the prompt if none are asked for."""
REFUSED = {
    "image": None, "act": False, "fresh_shots": False, "write_batch": None, "read_batch": None, "samples": 1, "suite": None,
}  # fmt: skip
"""Options that make no sense here, with the values that they have if they are not given."""


def run_rules(arguments: argparse.Namespace, price: Price) -> int:
    """Ask, or show the prompt; then run the rules."""
    from recombine.cli import rules as by_file
    from recombine.cli.ask_model import endpoint_model, local_model
    from recombine.cli.requests import options_of
    from recombine.evaluate.budget import Budget, Caps
    from recombine.files import Kind, own_folder, read_text, write_json, write_text
    from recombine.models.parts import Request, fit_rows
    from recombine.models.rulebook import open_book

    for name, value in REFUSED.items():
        if getattr(arguments, name) != value:
            raise UsageError(f"--style lexicon asks once for the rule; leave out --{name.replace('_', '-')}.")
    request = Request(arguments.family, arguments.split, arguments.seed, arguments.recipe, options_of(arguments))
    book = open_book(fit_rows(request, None, made_anew=True))
    prompt = book.prompt(arguments.shots or SHOTS)
    model = local_model(arguments) if arguments.model.startswith("hf:") else endpoint_model(arguments)
    if arguments.dry_run:
        most = price.cost(most_tokens(prompt, arguments.system), model.longest_reply)
        say(f"{prompt}\n{'-' * 80}\none request, at most {most:,.4f} (repeated attempts apart); nothing was asked.")
        return 0
    if not arguments.out:
        raise UsageError("--out is missing: the folder of the run (or --dry-run to ask nothing).")
    kind = Kind("a run of `recombine ask --style lexicon`", lambda folder: (folder / PROMPT).is_file(), is_local=True)
    out = own_folder(arguments.out, kind)
    if (out / PROMPT).is_file() and read_text(out / PROMPT) != prompt:
        raise UsageError(f"{shown(arguments.out)} holds a run with another prompt; choose another folder.")
    write_text(out / PROMPT, prompt)
    if not (out / REPLY).is_file():
        caps = Caps(arguments.max_requests, arguments.max_total_tokens, arguments.max_cost)
        write_text(out / REPLY, _asked(model, prompt, arguments.system, Budget(caps, price)))
    try:
        rules = book.read(read_text(out / REPLY))
    except RecombineError as problem:
        raise UsageError(f"the reply in {shown(str(out / REPLY))} holds no rules: {problem}") from None
    ran = by_file.run_rules(rules, request, arguments.part or "test", arguments.size, out / ANSWERED)
    write_json(out / RESULT, {"model": arguments.model, "shots": arguments.shots or SHOTS, **vars(ran), "rules": rules.lines()})
    by_file.tell(rules, ran, arguments.json)
    if not arguments.json:
        _say_next(arguments, ran.part, out)
    return 0


def most_tokens(prompt: str, system: str) -> int:
    """More tokens than any common tokenizer makes of both messages."""
    from recombine.evaluate.prompts import Prompt

    return Prompt("rules", (prompt,), prompt).most_tokens + len(system.encode())


def _asked(model: Model, prompt: str, system: str, budget: Budget) -> str:
    """The reply to the one question; an error is told, and nothing is kept of it. Every attempt must fit under the caps."""
    messages = [*([{"role": "system", "content": system}] if system else []), {"role": "user", "content": prompt}]

    async def ask() -> str:
        async with model.answerer as answerer:
            reply = await answerer.ask(
                "rules", messages, lambda: budget.reserve(most_tokens(prompt, system), model.longest_reply)
            )
        if reply.error:
            raise UsageError(f"no reply: {reply.error}.")
        return str(reply.text)

    return asyncio.run(ask())


def _say_next(arguments: argparse.Namespace, part: str, out: Path) -> None:
    """Print the command that evaluates the answers, with a folder of the rows beside them."""
    from recombine.cli.requests import options_of
    from recombine.data.generate import generate
    from recombine.families import FAMILIES

    data = Path(arguments.family)
    if arguments.family in FAMILIES:
        data = out / "data"
        words = {"recipe": arguments.recipe, "options": options_of(arguments), "size": arguments.size}
        generate(arguments.family, data, split=arguments.split, part=part, seed=arguments.seed, **words)
    answers, report = shlex.quote(str(out / ANSWERED)), shlex.quote(f"{arguments.out}-report")
    only = f" --rows {answers}" if arguments.size and arguments.family not in FAMILIES else ""
    say(f"next: recombine evaluate --data {shlex.quote(str(data))} --answers {answers}{only} --out {report}")
