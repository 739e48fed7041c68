"""Ask a language model about every row of a part; `recombine evaluate` reads the answers.

recombine ask reascan --split a1 --size 400 --model NAME --endpoint https://HOST/v1 --price 3,15 --out runs/a1
recombine ask scan --split length --model hf:PATH --out runs/local
recombine ask reascan --act --size 100 --model NAME --endpoint http://localhost:8000/v1 --out runs/acting

The endpoint speaks the OpenAI chat protocol; its key is read from RECOMBINE_API_KEY (or OPENAI_API_KEY) and written nowhere.
A run is a folder: killed or stopped, it is finished by the same command, and no row with a reply is asked again. --dry-run shows
one whole prompt and what the run will cost, and asks nothing.
"""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.cli.printing import print_json, print_table, progress, say
from recombine.cli.requests import add_request, options_of, whole_number
from recombine.errors import UsageError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recombine.abilities import Sight
    from recombine.data.datasets import Dataset
    from recombine.evaluate.acting import Acting
    from recombine.evaluate.ask import Asked
    from recombine.evaluate.budget import Caps
    from recombine.evaluate.outcomes import Outcome
    from recombine.evaluate.prices import Price
    from recombine.evaluate.purse import Answerer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine ask`."""
    parser.add_argument("family", nargs="?", help="a family's name, or a folder; not with --suite")
    parser.add_argument("--suite", choices=("fresh",), help="ask the exam of today over all families (--size rows a set)")
    parser.add_argument(
        "--data", metavar="DIR", help="with --suite: an exam that was drawn before (default: OUT/data, drawn now)"
    )
    add_request(parser, several=False)
    parser.set_defaults(seed=None)  # a suite without a seed is that of today; 0 is a seed
    parser.add_argument("--size", type=whole_number, metavar="N", help="so many rows of the part (default: all)")
    parser.add_argument(
        "--model", required=True, metavar="NAME", help="the endpoint's name of the model, or hf:PATH, a local folder"
    )
    parser.add_argument("--endpoint", metavar="URL", help="address up to /v1; https, or http to this machine")
    parser.add_argument("--allow-http", action="store_true", help="allow http to another machine, of a network that you trust")
    parser.add_argument(
        "--style",
        default="direct",
        metavar="S",
        help="direct (default), step_by_step, rules; or lexicon: ask once for the rule",
    )
    parser.add_argument(
        "--image", nargs="?", const="instead", choices=("instead", "beside"),
        help="show the world as a picture, instead of its description (default) or beside it",
    )  # fmt: skip
    parser.add_argument(
        "--shots", type=whole_number, default=0, metavar="K", help="examples from the training part (default 0)"
    )
    parser.add_argument("--fresh-shots", action="store_true", help="draw other examples for every row (default: the same ones)")
    parser.add_argument("--out", metavar="DIR", help="the folder of the run; taken up again if it exists")
    acting = parser.add_argument_group("acting, turn by turn, in worlds of gscan, reascan, lilgym and abstract")
    acting.add_argument(
        "--act", action="store_true", help="play each row's episode: the model acts, sees the world and acts again"
    )
    acting.add_argument("--turns", type=whole_number, metavar="N", help="the most replies in one episode (default 20)")
    acting.add_argument(
        "--setting", dest="settings", action="append", default=[], metavar="NAME=VALUE",
        help="a setting of the episodes, such as goal=sequence or horizon=40",
    )  # fmt: skip
    _add_limits(parser)
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def _add_limits(parser: argparse.ArgumentParser) -> None:
    """What the run may use, and how requests are made."""
    money = parser.add_argument_group("what it may use")
    money.add_argument("--price", metavar="IN,OUT", help="price per million tokens, needed unless the model is on this machine")
    money.add_argument(
        "--max-cost", type=float, default=10.0, metavar="X", help="the most that the run may cost in all (default 10)"
    )
    money.add_argument("--max-requests", type=whole_number, metavar="N", help="the most requests, repeated ones included")
    money.add_argument("--max-total-tokens", type=whole_number, metavar="N", help="the most tokens, read and written together")
    money.add_argument("--dry-run", action="store_true", help="show one prompt and the estimate; ask nothing")
    how = parser.add_argument_group("how to ask")
    how.add_argument("--max-tokens", type=whole_number, default=2048, metavar="N", help="longest reply (default 2048)")
    how.add_argument("--temperature", type=float, default=0.0, metavar="T", help="default 0")
    how.add_argument("--system", default="", metavar="TEXT", help="a system message before every prompt")
    how.add_argument(
        "--samples", type=whole_number, default=1, metavar="N", help="replies to each row: pass@k and the majority (default 1)"
    )
    how.add_argument("--stream", action="store_true", help="stream replies, so that long ones need no long time limit")
    how.add_argument(
        "--chunk-timeout", type=float, default=60.0, metavar="S", help="with --stream: seconds for one piece (default 60)"
    )
    how.add_argument(
        "--per-minute",
        "--requests-per-minute",
        type=float,
        metavar="N",
        help="the most requests per minute (default: no limit)",
    )
    how.add_argument(
        "--body", action="append", default=[], metavar="NAME=JSON",
        help="set another field of the request, null removes one: --body max_tokens=null --body max_completion_tokens=2048",
    )  # fmt: skip
    how.add_argument(
        "--concurrency", type=whole_number, default=8, metavar="N", help="requests under way at a time (default 8)"
    )
    how.add_argument("--timeout", type=float, default=120.0, metavar="S", help="seconds for one attempt (default 120)")
    how.add_argument(
        "--retries", type=whole_number, default=5, metavar="N", help="further attempts after a failure (default 5)"
    )
    how.add_argument("--backoff", type=float, default=1.0, metavar="S", help="seconds before the first repetition (default 1)")
    how.add_argument("--retry-errors", action="store_true", help="ask again the rows whose last attempt ended in an error")
    batch = parser.add_argument_group("by a batch file, in OpenAI's layout")
    batch.add_argument("--write-batch", metavar="FILE", help="write the requests that are open; ask nothing")
    batch.add_argument("--read-batch", metavar="FILE", help="read results into the run")
    how.add_argument("--device", default="cpu", help="for hf: models, cpu (default) or cuda")


def run(arguments: argparse.Namespace) -> int:
    """Ask, or estimate; exit code 1 if a cap stopped the run before its end, or if rows ended in an error."""
    if arguments.suite:
        from recombine.cli.ask_suite import run_suite

        return run_suite(arguments)
    arguments.seed = arguments.seed or 0
    if not arguments.family or arguments.data:
        raise UsageError("say which family or folder to ask about, or --suite fresh (--data goes with --suite only).")
    if arguments.style == "lexicon":
        from recombine.cli.ask_rules import run_rules

        return run_rules(arguments, price_of(arguments))
    return run_part(arguments)[0]


def run_part(arguments: argparse.Namespace) -> tuple[int, Outcome | None]:
    """Ask about one part: the exit code, and the outcome if something was asked."""
    from recombine.evaluate.ask import ask, estimate
    from recombine.evaluate.budget import Caps

    price = price_of(arguments)
    asked, answerer = _asked(arguments)
    cost = arguments.max_cost
    caps = Caps(arguments.max_requests, arguments.max_total_tokens, cost)
    expected = estimate(asked, price)
    if arguments.dry_run:
        _show(asked, expected, arguments.json)
        return 0, None
    if expected.cost_in > cost:
        raise UsageError(
            f"the {expected.rows:,} prompts alone cost about {expected.cost_in:,.2f}, over --max-cost {cost:,.2f}; "
            "raise it, or ask about fewer rows with --size."
        )
    if not arguments.out:
        raise UsageError("--out is missing: the folder of the run (or --dry-run to ask nothing).")
    if arguments.write_batch:
        return _write_batch(asked, arguments), None
    only = None
    if arguments.read_batch:
        answerer, caps, only = _read_batch(arguments)
    with progress(f"asking {arguments.model}", asked.count * asked.samples) as tick:
        outcome = ask(
            asked, answerer, arguments.out, caps=caps, price=price, on_reply=tick, only=only,
            concurrency=1 if arguments.model.startswith("hf:") else arguments.concurrency, retry_errors=arguments.retry_errors,
        )  # fmt: skip
    if not arguments.suite:
        _report(asked, outcome, arguments)
    return 0 if outcome.is_complete else 1, outcome


def _write_batch(asked: Asked, arguments: argparse.Namespace) -> int:
    """Write the open requests of the run, which is begun if it is new."""
    from pathlib import Path

    from recombine.evaluate.ask import is_open
    from recombine.evaluate.batches import write_batch
    from recombine.evaluate.journal import open_journal
    from recombine.evaluate.outcomes import sample_key
    from recombine.files import Kind, begins_with, own_file

    target = own_file(arguments.write_batch, Kind("requests of `recombine ask`", begins_with(b'{"custom_id": ')))
    with open_journal(arguments.out, asked.identity(), asked.notes()) as journal:
        questions = ((e, sample_key(e.id, n)) for e, n in asked.questions())
        requests = (
            (k, asked.messages(asked.prompter.prompt(e)))
            for e, k in questions
            if is_open(journal.replies.get(k), arguments.retry_errors)
        )
        count = write_batch(Path(target), requests, asked.model, asked.settings)
    say(f"{arguments.write_batch}: {count:,} requests; nothing was asked.")
    say("next: send the file, then give the same command with --read-batch RESULTS instead of --write-batch.")
    return 0


def _read_batch(arguments: argparse.Namespace) -> tuple[Answerer, Caps, set[str]]:
    """The results as an answerer, no caps (they are paid for), and which questions they answer."""
    from pathlib import Path

    from recombine.evaluate.batches import BatchReplies, read_batch
    from recombine.evaluate.budget import Caps

    replies = read_batch(Path(arguments.read_batch))
    return BatchReplies(replies), Caps(), set(replies)


def price_of(arguments: argparse.Namespace) -> Price:
    """What tokens cost, as the user said; models on this machine are free."""
    from recombine.evaluate.endpoint import check_endpoint, is_local
    from recombine.evaluate.prices import FREE, parse_price

    if arguments.price is not None:
        return parse_price(arguments.price)
    if arguments.model.startswith("hf:") or (
        arguments.endpoint and is_local(check_endpoint(arguments.endpoint, arguments.allow_http))
    ):
        return FREE
    raise UsageError(
        f"the price of {shown(arguments.model)} is not known; give --price IN,OUT per million tokens, such as 3,15."
    )


def _asked(arguments: argparse.Namespace) -> tuple[Asked, Answerer]:
    """What is asked, and who answers."""
    from recombine.cli.ask_model import batch_model, endpoint_model, local_model
    from recombine.data.training import training_rows
    from recombine.evaluate.ask import Asked
    from recombine.evaluate.prompts import Prompter

    options: dict[str, Any] = options_of(arguments)
    rows = _rows(arguments, options)
    sights: dict[str | None, Sight] = {None: "text", "instead": "picture", "beside": "both"}
    acting = _acting(arguments, sights[arguments.image])
    if acting is not None:
        acting.episode(rows[0])  # a family without episodes, or an unknown setting, is an error before anything is asked
    train = training_rows(rows, arguments.split) if arguments.shots else ()
    prompter = Prompter(
        rows.family, arguments.style, sights[arguments.image], arguments.shots, arguments.fresh_shots, train, rows.job.seed
    )
    if not 1 <= arguments.max_tokens <= 10_000_000:
        raise UsageError(f"--max-tokens is {arguments.max_tokens}, but must be at least 1.")
    if arguments.model.startswith("hf:"):
        model = local_model(arguments)
    elif arguments.write_batch or arguments.read_batch:
        model = batch_model(arguments)
    else:
        model = endpoint_model(arguments)
    asked = Asked(
        rows, prompter, arguments.model, model.place, model.settings, model.longest_reply, arguments.size, arguments.system,
        arguments.samples, acting,
    )  # fmt: skip
    return asked, model.answerer


def _rows(arguments: argparse.Namespace, options: Mapping[str, Any]) -> Dataset:
    """The rows: of a family's part, of a folder, or of a folder of matched pairs."""
    from recombine.data.datasets import load
    from recombine.families import FAMILIES
    from recombine.pairs import is_pairs, pair_rows

    if arguments.family not in FAMILIES and is_pairs(arguments.family):
        refused = [f"--{name}" for name in ("split", "part", "size", "act") if getattr(arguments, name)]
        if refused:
            raise UsageError(f"a folder of matched pairs is asked as a whole, and at once; leave out {', '.join(refused)}.")
        return pair_rows(arguments.family)
    words = {"seed": arguments.seed, "recipe": arguments.recipe, "size": arguments.size}
    return load(arguments.family, arguments.split, arguments.part, **words, **options)


def _acting(arguments: argparse.Namespace, sight: Sight) -> Acting | None:
    """How rows are acted in; None if they are answered at once."""
    from recombine.evaluate.acting import Acting

    if not arguments.act:
        if arguments.turns is not None or arguments.settings:
            raise UsageError("--turns and --setting belong to --act.")
        return None
    if arguments.shots or arguments.fresh_shots or arguments.style == "step_by_step":
        raise UsageError("--act takes --style direct or rules, and no --shots.")
    if arguments.write_batch or arguments.read_batch:
        raise UsageError("--act needs each reply before the next request; a batch file cannot give it.")
    settings: dict[str, Any] = {}
    for word in arguments.settings:
        name, equals, text = word.partition("=")
        if not equals or not name or name in settings:
            raise UsageError(f"--setting {shown(word)} is not NAME=VALUE with a name that was not given before.")
        try:
            settings[name] = json.loads(text)
        except (ValueError, RecursionError):
            settings[name] = text
    turns = {} if arguments.turns is None else {"turns": arguments.turns}
    return Acting(sight, arguments.style == "rules", settings=settings, **turns)


# --- printing --------------------------------------------------------------------------------------------------------


def _show(asked: Asked, expected: Any, as_json: bool) -> None:
    if as_json:
        print_json({"asked": asked.identity(), **asdict(expected)})
        return
    say(expected.prompt)
    say("-" * 80)
    say(f"{expected.rows:,} rows of {asked.rows.job.key}; nothing was asked.")
    _say_freshness(asked)
    read = "about" if asked.acting is None else "in the first turns about"
    say(f"{read} {expected.tokens_in:,} tokens to read, at most {expected.most_tokens_out:,} to write")
    say(f"{read} {expected.cost_in:,.2f} for reading, at most {expected.most_cost:,.2f} in all (repeated attempts apart)")


def _report(asked: Asked, outcome: Outcome, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print_json(asdict(outcome))
        return
    print_table("", ("status", "rows"), [(name, f"{count:,}") for name, count in outcome.statuses.items()])
    for error, count in outcome.errors.items():
        say(f"{count:,} rows without a reply: {error}. Mend it and run the same command with --retry-errors.")
    _say_freshness(asked)
    scored = f"mean score {outcome.mean:.1%} over the rows with a reply, non-answers as wrong"
    say(f"{scored if outcome.replied else 'no row has a reply yet'}; {outcome.asked_now:,} asked now")
    say(
        f"{outcome.requests:,} requests, {outcome.tokens_in:,} + {outcome.tokens_out:,} tokens, {outcome.cost:,.2f} in all so far"
    )
    if asked.acting is not None:
        say("right means solved: `recombine evaluate` plays every episode again and judges its end.")
    _say_more(outcome, asked.acting is not None)
    if outcome.stopped:
        say(f"stopped: {outcome.stopped}. Raise the cap and run the same command to go on.")
    _say_next(asked, outcome, arguments)


def _say_more(outcome: Outcome, is_acting: bool) -> None:
    """The lenient reading, several samples, and what a right answer costs."""
    if not is_acting and outcome.replied:
        say(f"read strictly {outcome.mean:.1%}, read leniently {outcome.lenient:.1%} (answers in lenient.jsonl)")
    if outcome.passes:
        shown_ones = [k for k in outcome.passes if k in (1, 2, 5, 10, 20, 50, 100) or k == outcome.samples]
        say("pass@k: " + ", ".join(f"{k}: {outcome.passes[k]:.1%}" for k in shown_ones))
    if outcome.majority is not None:
        say(f"the commonest of {outcome.samples} answers: {outcome.majority:.1%} right (answers in vote.jsonl)")
    if outcome.per_right:
        units = {"tokens_in": "tokens read", "tokens_out": "tokens written", "tokens_reasoning": "tokens of reasoning"}
        told = [f"{value:,.0f} {units[name]}" for name, value in outcome.per_right.items() if name in units]
        told += [f"{outcome.per_right['seconds']:,.1f} s", f"{outcome.per_right['cost']:,.4f} in money"]
        say("for each right answer: " + ", ".join(told))


def _say_next(asked: Asked, outcome: Outcome, arguments: argparse.Namespace) -> None:
    """Print the command that evaluates the answers. Rows of a family get a folder beside them, `data/`, for it to read."""
    from recombine.families import FAMILIES

    answers, report = (shlex.quote(f"{arguments.out}{end}") for end in ("/answers.jsonl", "-report"))
    data, only = arguments.family, f" --rows {answers}" if arguments.size else ""
    if arguments.family in FAMILIES:
        from recombine.data.generate import generate, remove

        job, data, only = asked.rows.job, f"{arguments.out}/data", ""
        words: dict[str, Any] = {"recipe": job.recipe, "options": options_of(arguments), "size": arguments.size}
        if Path(data).exists():  # of an earlier start, perhaps of another size
            remove(data)
        generate(arguments.family, data, split=job.split, part=job.part, seed=job.seed, **words)
    say(f"answers: {answers}")
    if outcome.unanswered == outcome.rows:
        return  # there is nothing to evaluate
    skip = " --missing skip" if outcome.unanswered else ""
    say(f"next: recombine evaluate --data {shlex.quote(data)} --answers {answers}{only}{skip} --out {report}")


def _say_freshness(asked: Asked) -> None:
    """Tell where a new seed would not have given new items."""
    from recombine.data.freshness import freshness

    if sentence := freshness(asked.rows.family, asked.rows.plan):
        say(sentence)
