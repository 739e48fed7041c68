"""How many rows it takes to tell two models apart, and what they cost: before any money is spent.

recombine plan-eval --detect 3 --power 0.8
recombine plan-eval --detect 3 --family reascan --split a1 --style rules --shots 2 --price 3,15

Both models answer the same rows (a paired comparison, two-sided). Rows of one cluster, such as the worlds of one command, are not
independent. With --per-cluster N and --correlation R you need 1 + (N - 1) R times as many rows. With --family the verb generates rows
of that part and measures the contexts and the size of the prompts.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from recombine.cli.printing import print_json, say
from recombine.cli.requests import add_request, options_of, whole_number
from recombine.errors import UsageError

if TYPE_CHECKING:
    from recombine.evaluate.planning import Contexts
    from recombine.evaluate.statistics import SizePlan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine plan-eval`."""
    parser.add_argument("--detect", type=float, required=True, metavar="P", help="the difference to find, in points (3 = 3 %%)")
    parser.add_argument(
        "--power", type=float, default=0.8, metavar="W", help="the chance to find this difference (default 0.8)"
    )
    parser.add_argument("--alpha", type=float, default=0.05, metavar="A", help="the chance of a false alarm (default 0.05)")
    parser.add_argument(
        "--discordant", type=float, metavar="D", help="share of rows that one model alone gets right (default 0.2)"
    )
    parser.add_argument(
        "--per-cluster", type=whole_number, metavar="N", help="rows that share a context (default 1, or measured)"
    )
    parser.add_argument("--correlation", type=float, default=0.3, metavar="R", help="correlation of such rows (default 0.3)")
    cost = parser.add_argument_group("what it costs")
    cost.add_argument("--price", metavar="IN,OUT", help="price per million tokens")
    cost.add_argument("--tokens-in", type=whole_number, metavar="N", help="tokens of a prompt (or measured with --family)")
    cost.add_argument(
        "--tokens-out", type=whole_number, metavar="N", help="tokens of a reply (default: guessed from the answers)"
    )
    cost.add_argument("--family", metavar="F", help="measure prompts and clusters of this family, or of a folder")
    add_request(parser, several=False)
    cost.add_argument("--style", default="direct", help="as in `recombine ask`")
    cost.add_argument("--shots", type=whole_number, default=0, metavar="K", help="as in `recombine ask`")
    parser.add_argument("--json", action="store_true", help="print JSON")


@dataclass(frozen=True)
class Measured:
    """Measures of a part's rows: tokens of a prompt and of a reply, and the contexts that the rows share."""

    part: str
    tokens_in: int
    tokens_out: int
    contexts: Contexts


def run(arguments: argparse.Namespace) -> int:
    """Plan and print; exit code 1 if the part that was named has too few rows."""
    from recombine.evaluate.planning import plan_rows, smallest_difference
    from recombine.evaluate.statistics import plan_size

    detect = _share("--detect", arguments.detect / 100, 1.0)
    discordant = arguments.discordant if arguments.discordant is not None else max(0.2, min(0.99, 2 * detect))
    power, alpha = _share("--power", arguments.power, 1.0), _share("--alpha", arguments.alpha, 0.5)
    if not 0 <= arguments.correlation <= 1:
        raise UsageError(f"--correlation is {arguments.correlation}, but must be 0 to 1.")
    if detect > _share("--discordant", discordant, 1.0):
        raise UsageError(f"a difference of {arguments.detect:g} points needs --discordant of at least {detect:g}.")

    def plain(difference: float, per_cluster: int = 1) -> SizePlan:
        words: dict[str, Any] = {"per_cluster": per_cluster, "correlation": arguments.correlation}
        return plan_size(difference, power, alpha=alpha, discordant=discordant, **words)

    measured = _measured(arguments) if arguments.family else None
    plan: SizePlan | None = plain(detect, arguments.per_cluster or 1)
    if measured is not None and arguments.per_cluster is None:
        plan = plan_rows(plain(detect), measured.contexts, arguments.correlation)
    if plan is None:
        assert measured is not None
        found = smallest_difference(lambda d: plain(d).rows, measured.contexts, arguments.correlation, discordant)
        reach = "too few for any" if found is None else f"enough to find {100 * found:.1f} points, not less"
        say(f"{measured.part} has {measured.contexts}: {reach}.")
        return 1
    tokens_in = arguments.tokens_in or (measured.tokens_in if measured else None)
    tokens_out = arguments.tokens_out or (measured.tokens_out if measured else None)
    cost = _cost(arguments.price, plan.rows, tokens_in, tokens_out)
    if arguments.json:
        print_json(
            {**asdict(plan), "tokens_in": tokens_in, "tokens_out": tokens_out, "cost_per_model": cost, "discordant": discordant}
        )
        return 0
    _tell(arguments, plan, discordant)
    if tokens_in is not None and tokens_out is not None:
        say(f"{plan.rows * tokens_in:,} + {plan.rows * tokens_out:,} tokens per model ({tokens_in:,} + {tokens_out:,} a row)")
    if cost is not None:
        say(f"cost: {cost:,.2f} per model, {2 * cost:,.2f} for both, repeated attempts apart")
    return 0


def _share(name: str, value: float, top: float) -> float:
    if not 0 < value < top:
        raise UsageError(f"{name} is {value:g}, but must be above 0 and below {top:g} (as a share).")
    return value


def _cost(price: str | None, rows: int, tokens_in: int | None, tokens_out: int | None) -> float | None:
    from recombine.evaluate.prices import parse_price

    if price is None:
        return None
    if tokens_in is None or tokens_out is None:
        raise UsageError("a cost needs the tokens of a row: give --tokens-in and --tokens-out, or measure them with --family.")
    return parse_price(price).cost(rows * tokens_in, rows * tokens_out)


def _measured(arguments: argparse.Namespace) -> Measured:
    from recombine.data.datasets import load
    from recombine.data.training import training_rows
    from recombine.evaluate.planning import contexts_of
    from recombine.evaluate.prompts import Prompter, guess_tokens

    options: dict[str, Any] = options_of(arguments)
    words = {"seed": arguments.seed, "recipe": arguments.recipe, **options}
    rows = load(arguments.family, arguments.split, arguments.part, **words)
    if not len(rows):
        raise UsageError(f"{rows.job.split}/{rows.job.part} of {arguments.family} has no rows to measure; name another --part.")
    train = training_rows(rows, arguments.split) if arguments.shots else ()
    prompter = Prompter(rows.family, arguments.style, "text", arguments.shots, False, train, rows.job.seed)
    step = max(1, len(rows) // 20)
    shown_rows = [rows[i] for i in range(0, len(rows), step)[:20]]
    prompts = [prompter.prompt(example).tokens for example in shown_rows]
    replies = [guess_tokens(example.answer) + 4 for example in shown_rows]
    if arguments.style != "direct":  # what is written then is about the proof, and the answer
        replies = [n + guess_tokens("\n".join(prompter.words.steps(e))) for n, e in zip(replies, shown_rows, strict=True)]
    return Measured(rows.job.key, -(-sum(prompts) // len(prompts)), -(-sum(replies) // len(replies)), contexts_of(rows))


def _tell(arguments: argparse.Namespace, plan: SizePlan, discordant: float) -> None:
    say(
        f"to find a difference of {arguments.detect:g} points with a chance of {arguments.power:.0%} "
        f"(two-sided, false alarms {arguments.alpha:.0%}, {discordant:.0%} of the rows right for one model only):"
    )
    say(f"{plan.rows:,} rows in {plan.clusters:,} clusters of about {plan.rows_per_cluster}")
    if plan.rows_per_cluster > 1:
        say(f"design effect {plan.design_effect:.2f}: fewer rows in each cluster, and more clusters, make it cheaper")
