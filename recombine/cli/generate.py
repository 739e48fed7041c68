"""Write parts of a family's splits into a folder.

The folder is a Hugging Face data set (`datasets.load_dataset("DIR")`) and describes itself in manifest.json. It is made of
shards fixed by the job: a run that was interrupted is finished by giving the same command again, and the bytes never depend
on the number of workers or the engine.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import TYPE_CHECKING

from recombine import moved
from recombine.cli.printing import print_json, print_table, progress, say
from recombine.cli.requests import add_request, fraction, options_of, sizes, whole_number

if TYPE_CHECKING:
    from recombine.data.plan import Plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine generate`."""
    parser.add_argument("family", nargs="?", help="a family's name (recombine list); not with --suite fresh")
    add_request(parser, several=True)
    parser.set_defaults(seed=None)
    parser.add_argument(
        "--suite",
        metavar="NAME",
        help="a whole published suite in one folder: paper; or an exam of today over all families: fresh",
    )
    parser.add_argument(
        "--size", type=sizes, metavar="N", help="rows of each part (default: the split's own size), or train=5000,test=200"
    )
    parser.add_argument(
        "--hold-out-mcd", nargs="?", const="max", metavar="D",
        help="choose rows with compound divergence D between train and test (the largest, if D is left out)",
    )  # fmt: skip
    parser.add_argument(
        "--pairs",
        metavar="FACET",
        help="matched pairs that differ in this facet, or `all`; --size says how many of each (default 1000)",
    )
    for name in moved.SIZES:
        parser.add_argument(name, type=whole_number, metavar="N", help=argparse.SUPPRESS)
    parser.add_argument(
        "--format", default="parquet", metavar="F", help="parquet (default), jsonl, or native: the originally released layout"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder to write")
    parser.add_argument("--engine", default="processes", metavar="E", help="processes (default), serial, or ray")
    parser.add_argument("--workers", type=whole_number, default=0, metavar="N", help="processes to use (default: one per core)")
    parser.add_argument("--address", metavar="A", help="address of a Ray cluster (default: start a local one)")
    parser.add_argument(
        "--shard",
        type=fraction,
        metavar="I/N",
        help="make only every N-th shard from the I-th; `recombine merge` finishes the folder",
    )
    prompts = parser.add_argument_group("rows with prompts beside them, in OUT-prompts: prompt, answer, id and images")
    prompts.add_argument("--with-prompts", action="store_true", help="also write every row as a prompt for a language model")
    prompts.add_argument("--style", metavar="S", help="with --with-prompts: direct, step_by_step or rules (default)")
    prompts.add_argument(
        "--sight",
        choices=("text", "picture", "both"),
        help="with --with-prompts: show the world as text, picture or both (default text)",
    )
    parser.add_argument("--json", action="store_true", help="print the manifest as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Generate, with a bar on a terminal; print counts and fingerprint."""
    from recombine.data.freshness import freshness
    from recombine.data.generate import run as carry_out

    _check_prompts(arguments)
    _read_old_sizes(arguments)
    if arguments.pairs is not None:
        return _run_pairs(arguments)
    if arguments.suite == "fresh":
        return _fresh(arguments)
    plan = _plan(arguments)
    with progress(f"{arguments.family} → {os.path.basename(arguments.out)}", sum(part.rows for part in plan.parts)) as tick:  # noqa: PTH119
        folder = carry_out(
            plan,
            arguments.out,
            engine=arguments.engine,
            workers=arguments.workers,
            address=arguments.address,
            only=arguments.shard,
            on_rows=tick,
        )
    if arguments.shard is not None:
        say("shard {} of {} is done; when all are: recombine merge {}".format(*arguments.shard, arguments.out))
        return 0
    manifest = folder.manifest
    prompts = _write_prompts(arguments) if arguments.with_prompts else []
    if arguments.json:
        told = {key: value for key, value in manifest.items() if key != "plan"}
        print_json({**told, **({"prompts": prompts} if prompts else {})})
        return 0
    rows = [(p["split"], p["part"], f"{p['rows']:,}", p["fingerprint"]) for p in manifest["parts"]]
    print_table("", ("split", "part", "rows", "fingerprint"), rows)
    rejected = sum(manifest["rejections"].values())
    if rejected:
        say(f"{rejected:,} draws were thrown away: " + ", ".join(f"{k} {v:,}" for k, v in manifest["rejections"].items()))
    for part in plan.parts:
        if sentence := freshness(folder.family, part):
            say(sentence)
    for file in prompts:
        say(f"prompts: {file}")
    say(f"{arguments.out}: fingerprint {manifest['fingerprint']}")
    sys.stdout.flush()
    return 0


def _read_old_sizes(arguments: argparse.Namespace) -> None:
    """`--train N --test N` of the first release as `--size train=N,test=N`, with a line that says so."""
    from recombine.errors import UsageError

    given = {new: getattr(arguments, new) for new in moved.SIZES.values() if getattr(arguments, new) is not None}
    if not given:
        return
    text = ",".join(f"{name}={rows}" for name, rows in given.items())
    if arguments.size is not None:
        raise UsageError(f"--train and --test go with no --size; say --size {text} alone.")
    words = " ".join(f"--{name} {rows}" for name, rows in given.items())
    sys.stderr.write(f"{words} is called --size {text} now; the old words go with the next release.\n")
    arguments.size = given


def _check_prompts(arguments: argparse.Namespace) -> None:
    """Bad words about prompts are errors before a row is made."""
    from recombine.errors import UnknownName, UsageError
    from recombine.evaluate.prompts import STYLES

    if not arguments.with_prompts:
        if arguments.style is not None or arguments.sight is not None:
            raise UsageError("--style and --sight belong to --with-prompts.")
        return
    if arguments.pairs is not None or arguments.shard is not None or arguments.suite == "fresh" or arguments.format == "native":
        raise UsageError(
            "--with-prompts needs a whole folder of parquet or jsonl; leave out --pairs, --shard, --suite fresh and native."
        )
    if arguments.style is not None and arguments.style not in STYLES:
        raise UnknownName("style", arguments.style, STYLES)


def _write_prompts(arguments: argparse.Namespace) -> list[str]:
    """The rows as prompts, in a folder beside theirs; the names of the files."""
    from recombine.evaluate.layouts import Asked, export

    asked = Asked(arguments.style or "rules", arguments.sight or "text")
    return [str(file) for file in export(arguments.out, "trl", f"{arguments.out.rstrip('/')}-prompts", asked)]


def _fresh(arguments: argparse.Namespace) -> int:
    """Draw the exam, and say its seed."""
    from recombine.data.fresh import DEFAULT_SIZE, fresh_plan, make_fresh, seed_of
    from recombine.data.freshness import freshness
    from recombine.errors import UsageError
    from recombine.families import FAMILIES, family

    given = {name: getattr(arguments, name) for name in ("family", "split", "part", "recipe", "hold_out", "options", "shard")}
    strange = [name.replace("_", "-") for name, value in given.items() if value]
    if strange or arguments.format != "parquet" or isinstance(arguments.size, dict):
        raise UsageError(
            "--suite fresh is over all families and chooses the sets itself: it takes --size N, --seed and --out, "
            f"but not {', '.join(strange) or '--format or sizes by part'}."
        )
    size, seed = arguments.size or DEFAULT_SIZE, seed_of() if arguments.seed is None else arguments.seed
    plans = [fresh_plan(name, size, seed) for name in FAMILIES]
    with progress("fresh exam", sum(part.rows for plan in plans for part in plan.parts)) as tick:
        suite = make_fresh(arguments.out, size=size, seed=seed, on_rows=tick)
    listed = [(plan.family, p.job.split, p.job.part, f"{p.rows:,}") for plan in plans for p in plan.parts]
    if arguments.json:
        print_json(
            {**suite.title, "sets": [dict(zip(("family", "split", "part", "rows"), row, strict=True)) for row in listed]}
        )
        return 0
    print_table("", ("family", "split", "part", "rows"), listed)
    for plan in plans:
        for part in plan.parts:
            if sentence := freshness(family(plan.family), part):
                say(f"{plan.family}: {sentence}")
    say(f"seed {seed}; the same seed and size give the same exam: --suite fresh --seed {seed} --size {size}")
    say(f"next: recombine ask --suite fresh --data {arguments.out} --model NAME --endpoint URL --out RUN")
    return 0


def _plan(arguments: argparse.Namespace) -> Plan:
    from recombine.data.plan import make_plan
    from recombine.data.suites import make_suite
    from recombine.errors import UsageError

    if not arguments.family:
        raise UsageError("say which family (recombine list), or --suite fresh for an exam over all of them.")
    if arguments.hold_out_mcd is not None:
        return _mcd_plan(arguments)
    words = {
        "size": arguments.size,
        "seed": arguments.seed or 0,
        "recipe": arguments.recipe,
        "options": options_of(arguments),
        "format": arguments.format,
    }
    if arguments.suite is None:
        return make_plan(arguments.family, tuple(arguments.split or ()), tuple(arguments.part or ()), **words)
    if arguments.split or arguments.part:
        raise UsageError("--suite names all splits and parts itself; leave out --split and --part.")
    if isinstance(arguments.size, dict):
        raise UsageError("--suite takes one --size for all parts.")
    return make_suite(arguments.family, arguments.suite, **words)


def _mcd_plan(arguments: argparse.Namespace) -> Plan:
    """The plan of a split by divergence."""
    from recombine.data.mcd import make_mcd_plan
    from recombine.errors import UsageError, shown

    if arguments.suite or arguments.part or arguments.hold_out is not None:
        raise UsageError("--hold-out-mcd chooses train and test itself: leave out --suite, --part and --hold-out.")
    size = arguments.size or {}
    if not isinstance(size, dict) or set(size) - {"train", "test"} or not all(size.values()):
        raise UsageError("--hold-out-mcd takes sizes such as --size train=5000,test=500.")
    try:
        target = None if arguments.hold_out_mcd == "max" else float(arguments.hold_out_mcd)
    except ValueError:
        raise UsageError(f"--hold-out-mcd is {shown(arguments.hold_out_mcd)}, but takes a number such as 0.5.") from None
    splits = arguments.split or [None]
    if len(splits) > 1:
        raise UsageError("--hold-out-mcd takes its rows from one split; name one --split.")
    plan, choice = make_mcd_plan(
        arguments.family, target, split=splits[0], seed=arguments.seed or 0, recipe=arguments.recipe, options=options_of(arguments),
        format=arguments.format, sizes=(size.get("train"), size.get("test")),
    )  # fmt: skip
    say(f"found atom divergence {choice.atoms:.4f} and compound divergence {choice.compounds:.4f}")
    return plan


def _run_pairs(arguments: argparse.Namespace) -> int:
    """Write a folder of matched pairs."""
    from recombine.errors import UsageError
    from recombine.pairs import write_pairs

    splits, parts = arguments.split or [None], arguments.part or [None]
    if (
        len(splits) > 1
        or len(parts) > 1
        or arguments.suite
        or arguments.hold_out_mcd is not None
        or arguments.format != "parquet"
    ):
        raise UsageError("--pairs takes its rows from one split and one part; leave out --suite, --hold-out-mcd and --format.")
    if isinstance(arguments.size, dict) or arguments.shard is not None:
        raise UsageError("--pairs takes one --size for every facet; leave out sizes by part and --shard.")
    made = write_pairs(
        arguments.out, arguments.family, arguments.pairs, size=1000 if arguments.size is None else arguments.size, split=splits[0],
        part=parts[0], recipe=arguments.recipe, seed=arguments.seed or 0, options=options_of(arguments),
    )  # fmt: skip
    if arguments.json:
        print_json(made)
        return 0
    print_table("", ("facet", "pairs"), [(facet, f"{count:,}") for facet, count in made.items()])
    out = shlex.quote(arguments.out)
    say(f"{arguments.out}/pairs.jsonl: answer both rows of every pair, by hand or with a model:")
    say(f"next: recombine ask {out} --model NAME --endpoint URL --out RUN")
    say(f"then: recombine evaluate --data {out} --answers RUN/answers.jsonl")
    return 0
