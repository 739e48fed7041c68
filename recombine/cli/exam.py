"""Run a sealed exam: nobody knows the items before the sitting, everybody can make them anew afterwards.

recombine exam seal --out march --section reascan/a1:400 --section clutrr/generalization_23/test_k6:400
recombine exam sit march --name my-model --model NAME --endpoint URL --out sittings/my-model
recombine exam reveal march --sitting sittings/my-model
recombine exam check march/exam.json march/revealed-1.json --sitting sittings/my-model --head HEAD

Publish exam.json after `seal`, the head after `sit`, and revealed-N.json with the journals after `reveal`. Keep secret.json to yourself.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.cli.printing import print_json, print_table, progress, say
from recombine.cli.requests import whole_number
from recombine.errors import UsageError

if TYPE_CHECKING:
    from recombine.exams.document import Exam
    from recombine.exams.paper import Question
    from recombine.exams.sitting import Examinee


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine exam`."""
    acts = parser.add_subparsers(dest="act", required=True, metavar="{seal,sit,reveal,check}")
    seal = acts.add_parser("seal", help="draw a secret and publish a commitment to it")
    seal.add_argument("--out", required=True, metavar="DIR", help="where exam.json (public) and secret.json (mode 0600) go")
    seal.add_argument(
        "--section", action="append", metavar="FAMILY/SPLIT[+NAME=VALUE][/PART][:ROWS]",
        help="a part to ask about; may be repeated (default: one held-out part of five families)",
    )  # fmt: skip
    seal.add_argument("--detect", type=float, default=5.0, metavar="P", help="points that each section can tell (default 5)")
    seal.add_argument("--power", type=float, default=0.8, metavar="W", help="the chance to tell them (default 0.8)")
    seal.add_argument("--title", default="", metavar="TEXT", help="a name for people")
    seal.add_argument(
        "--style", default="rules", metavar="S", help="how questions are put: direct, step_by_step, rules (default)"
    )
    seal.add_argument(
        "--beacon", default="", metavar="TEXT", help="the public randomness to come, such as 'drand round 5000000'"
    )
    seal.add_argument(
        "--series", type=whole_number, default=1, metavar="N", help="so many exams from one commitment (default 1)"
    )
    seal.add_argument("--closes", default="", metavar="TIME", help="no reply counts after this: 2026-12-01T18:00:00+00:00")
    sit = acts.add_parser("sit", help="put the questions to a model and journal its replies")
    sit.add_argument("exam", help="the folder that `seal` wrote")
    sit.add_argument("--out", required=True, metavar="DIR", help="the folder of the sitting; taken up again if it exists")
    sit.add_argument("--name", default="", metavar="NAME", help="who sits the exam")
    sit.add_argument("--number", type=whole_number, default=1, metavar="N", help="which exam of a series (default 1)")
    sit.add_argument("--beacon-value", default="", metavar="V", help="the value of the beacon that the exam names")
    sit.add_argument("--hand-out", action="store_true", help="only write paper.jsonl, for a model that answers elsewhere")
    sit.add_argument("--replies", metavar="FILE", help="its replies: JSON lines with `item` and `reply`")
    sit.add_argument("--model", metavar="NAME", help="the endpoint's name of the model")
    sit.add_argument("--endpoint", metavar="URL", help="an OpenAI-compatible address up to /v1")
    sit.add_argument("--allow-http", action="store_true", help="allow http to another machine, of a network that you trust")
    sit.add_argument("--max-tokens", type=whole_number, default=2048, metavar="N", help="longest reply (default 2048)")
    sit.add_argument("--price", metavar="IN,OUT", help="price per million tokens, needed unless the model is on this machine")
    sit.add_argument(
        "--max-cost", type=float, default=10.0, metavar="X", help="the most that the sitting may cost in all (default 10)"
    )
    sit.add_argument(
        "--concurrency", type=whole_number, default=8, metavar="N", help="questions under way at a time (default 8)"
    )
    reveal = acts.add_parser("reveal", help="publish the secret and the scores")
    reveal.add_argument("exam", help="the folder that `seal` wrote")
    reveal.add_argument("--sitting", action="append", default=[], metavar="DIR", help="a closed sitting; may be repeated")
    reveal.add_argument("--number", type=whole_number, default=1, metavar="N", help="which exam of a series (default 1)")
    check = acts.add_parser("check", help="make everything anew and compare")
    check.add_argument("exam", help="exam.json, as it was published")
    check.add_argument("revealed", help="revealed-N.json")
    check.add_argument("--sitting", action="append", default=[], metavar="DIR", help="a sitting; may be repeated")
    check.add_argument("--head", action="append", default=[], metavar="HEX", help="its published head; one for each sitting")
    check.add_argument("--commitment", default="", metavar="HEX", help="the commitment that was published")
    for act in (sit, reveal, check):
        act.add_argument("--json", action="store_true", help="print JSON")
    seal.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Carry out one act; exit code 1 if `check` finds a fault."""
    acts = {"seal": _seal, "sit": _sit, "reveal": _reveal, "check": _check}
    return acts[arguments.act](arguments)


def _seal(arguments: argparse.Namespace) -> int:
    from recombine.data.freshness import freshness
    from recombine.exams.document import seal
    from recombine.exams.sections import DEFAULT_SECTIONS, Power, parse_section

    power = Power(arguments.detect / 100, arguments.power)
    sections = [parse_section(word, power) for word in arguments.section or DEFAULT_SECTIONS]
    exam = seal(
        arguments.out, sections, title=arguments.title, style=arguments.style, beacon=arguments.beacon,
        series=arguments.series, closes=arguments.closes,
    )  # fmt: skip
    if arguments.json:
        print_json(exam.to_json())
        return 0
    print_table("", ("section", "version", "rows"), [(s.name, s.version, f"{s.rows:,}") for s in exam.sections])
    for section in exam.sections:
        if sentence := freshness(*section.plan(0)):
            say(sentence)
    say(f"commitment {exam.commitment}")
    say(f"publish {arguments.out}/exam.json; keep {arguments.out}/secret.json to yourself")
    return 0


def _sit(arguments: argparse.Namespace) -> int:
    from recombine.exams.document import SECRET, read_exam
    from recombine.exams.secret import read_secret
    from recombine.exams.sitting import hand_out, replies_from, sit

    exam = read_exam(arguments.exam)
    secret = exam.secret_of(read_secret(Path(arguments.exam) / SECRET, exam.commitment), arguments.number)
    if arguments.hand_out:
        say(f"questions: {hand_out(exam, secret, arguments.out, arguments.number, arguments.beacon_value)}")
        return 0
    items = sum(section.rows for section in exam.sections)
    name = arguments.name or arguments.model or ""
    if bool(arguments.replies) == bool(arguments.model):
        raise UsageError(
            "say who answers: --replies FILE, or --model NAME with --endpoint URL, or --hand-out for the questions."
        )
    words: dict[str, Any] = {"number": arguments.number, "beacon": arguments.beacon_value}
    with progress(f"exam of {name}", items) as tick:
        if arguments.replies:
            done = sit(exam, secret, arguments.out, name, replies_from(Path(arguments.replies), items), on_reply=tick, **words)
        else:
            with _Asker(arguments, exam) as asker:
                group = max(1, arguments.concurrency)
                done = sit(exam, secret, arguments.out, name, asker.examinee, group=group, on_reply=tick, **words)
    if arguments.json:
        print_json(vars(done))
        return 0
    say(f"{done.answered:,} of {done.items:,} items have a reply")
    say(f"head {done.head}: publish it before the secret is revealed")
    return 0


class _Asker:
    """A model behind an endpoint as an examinee, with a hard limit on what the whole sitting may cost.

    The folder `asked` of the sitting keeps each reply as soon as it is there and counts what was used. A sitting that is taken up again
    goes on from both: no reply is paid for twice, and the limit is that of the whole sitting.
    """

    def __init__(self, arguments: argparse.Namespace, exam: Exam) -> None:
        from recombine.evaluate.budget import Caps
        from recombine.evaluate.endpoint import Endpoint, check_endpoint, is_local
        from recombine.evaluate.prices import FREE, parse_price

        if not arguments.endpoint:
            raise UsageError("--endpoint is missing: the address of an OpenAI-compatible server.")
        local = is_local(check_endpoint(arguments.endpoint, arguments.allow_http))
        if arguments.price is None and not local:
            raise UsageError("the price of the model is not known; give --price IN,OUT per million tokens, such as 3,15.")
        if arguments.max_tokens < 1:
            raise UsageError("--max-tokens is 0, but must be at least 1.")
        self.price = parse_price(arguments.price) if arguments.price else FREE
        self.caps, self.longest, self.out = Caps(cost=arguments.max_cost), arguments.max_tokens, arguments.out
        self.endpoint = Endpoint(
            arguments.endpoint, arguments.model, {"temperature": 0.0, "max_tokens": arguments.max_tokens},
            connections=max(1, arguments.concurrency), allow_http=arguments.allow_http,
        )  # fmt: skip
        words = {"number": arguments.number, "beacon": arguments.beacon_value, "model": arguments.model}
        self.asked = {"exam": exam.commitment, **words}

    def __enter__(self) -> _Asker:
        import asyncio

        from recombine.evaluate.journal import open_journal
        from recombine.evaluate.purse import Purse
        from recombine.exams.journal import ASKED, SITTING
        from recombine.files import inside, own_folder

        with ExitStack() as opened:
            folder = inside(own_folder(self.out, SITTING), ASKED)
            journal = opened.enter_context(open_journal(folder, self.asked, {}))
            self.purse = Purse.of(self.endpoint, journal, self.caps, self.price)
            self.runner = opened.enter_context(asyncio.Runner())
            self.runner.run(self.endpoint.__aenter__())
            opened.callback(lambda: self.runner.run(self.endpoint.__aexit__()))
            self.opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.opened.close()

    @property
    def examinee(self) -> Examinee:
        """What `sit` calls."""

        async def ask(questions: Any) -> Any:
            import asyncio

            found = await asyncio.gather(*(self._ask(question) for question in questions), return_exceptions=True)
            for said in found:  # only now: the others of the group are under way, and their replies are kept
                if isinstance(said, BaseException):
                    raise said
            return found

        return lambda questions: self.runner.run(ask(questions))

    async def _ask(self, question: Question) -> Any:
        from recombine.errors import EndpointError
        from recombine.evaluate.budget import CapReached
        from recombine.evaluate.prompts import Prompt
        from recombine.exams.sitting import Said

        name = f"item {question.number}"
        record = self.purse.journal.replies.get(name)
        if record is None or record["error"]:
            prompt = Prompt(name, (question.prompt,), name)
            messages = [{"role": "user", "content": question.prompt}]
            try:
                record = await self.purse.ask(name, prompt, messages, prompt.most_tokens, self.longest)
            except CapReached as problem:
                raise EndpointError(f"{problem}: raise --max-cost to go on.") from None
        if record["error"]:
            raise EndpointError(f"{name} got no reply: {record['error']}. Run the same command to go on.")
        return Said(record["reply"], "content_filter" if record["refusal"] else record["finish"])


def _reveal(arguments: argparse.Namespace) -> int:
    from recombine.exams.document import SECRET, read_exam
    from recombine.exams.result import reveal
    from recombine.exams.secret import read_secret

    exam = read_exam(arguments.exam)
    root = read_secret(Path(arguments.exam) / SECRET, exam.commitment)
    file, results = reveal(arguments.exam, exam, root, arguments.sitting, arguments.number)
    if arguments.json:
        print_json(results)
        return 0
    _print_results(results)
    say(f"the secret of exam {arguments.number} is in {file}: publish it with the sittings")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from recombine.exams.faults import ExamFault
    from recombine.exams.result import check

    try:
        found = check(
            arguments.exam, arguments.revealed, arguments.sitting, commitment=arguments.commitment, heads=arguments.head
        )
    except ExamFault as fault:
        if arguments.json:
            print_json({"fault": fault.code, "text": str(fault)})
        else:
            say(f"{fault.code}: {fault}")
        return 1
    if arguments.json:
        print_json([vars(item) for item in found])
        return 0
    _print_results([dict(item.result) for item in found])
    say("commitment, secret, items, journals and scores agree")
    if found and not arguments.head:
        say("no published head was given (--head), so a journal that was written anew as a whole would not be noticed")
    if not arguments.commitment:
        say("no published commitment was given (--commitment), so another exam in its place would not be noticed")
    return 0


def _print_results(results: list[dict[str, Any]]) -> None:
    rows = []
    for result in results:
        for name, figures in {**result["sections"], "all": result}.items():
            span = "" if figures["low"] is None else f" ({figures['low']:.1%} to {figures['high']:.1%})"
            share = f"{figures['accuracy']:.1%}{span}"
            rows.append((result["name"], name, f"{figures['items']:,}", share))
    if rows:
        print_table("", ("examinee", "section", "items", "accuracy"), rows)
