"""Write the rows of a folder with their prompts, in the layout of a training or evaluation stack.

    recombine generate reascan --split a1 --out rows
    recombine export rows --for trl --out rows-trl

Stacks: trl, sft, verl, skyrl (parquet); nemo-gym, openai-batch, inspect, reasoning-gym (JSON lines). Every row keeps its id, and
`recombine.Scorer` scores replies by it. `--for sft` writes the proof or the solver's plan before the answer, unless `--target answer`.
"""

from __future__ import annotations

import argparse

from recombine.cli.printing import print_json, say
from recombine.cli.requests import whole_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine export`."""
    parser.add_argument("folder", metavar="DIR", help="a folder that `recombine generate` made")
    parser.add_argument(
        "--for",
        dest="stack",
        required=True,
        metavar="STACK",
        help="trl, sft, verl, skyrl, nemo-gym, openai-batch, inspect or reasoning-gym",
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder to write")
    parser.add_argument("--style", default="rules", metavar="S", help="direct, step_by_step or rules (default)")
    parser.add_argument("--image", action="store_true", help="show the world as a picture instead of words")
    parser.add_argument("--target", default="steps", metavar="T", help="what sft trains: steps (default) or answer")
    parser.add_argument("--model", default="", metavar="NAME", help="the model that an OpenAI batch file names")
    parser.add_argument("--size", type=whole_number, metavar="N", help="the first N rows of each part (default: all)")
    parser.add_argument("--json", action="store_true", help="print the names of the files as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Export; print the files."""
    from recombine.evaluate.layouts import Asked, export

    asked = Asked(arguments.style, "picture" if arguments.image else "text", arguments.target, arguments.model)
    files = export(arguments.folder, arguments.stack, arguments.out, asked, arguments.size)
    if arguments.json:
        print_json([str(file) for file in files])
    else:
        for file in files:
            say(str(file))
    return 0
