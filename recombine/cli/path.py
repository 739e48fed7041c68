"""Print the path of the files that another tool needs (lm-eval, verl, …).

lm_eval --include_path "$(recombine path lm-eval)" --tasks recombine_scan …
… custom_reward_function.path="$(recombine path verl)"
"""

from __future__ import annotations

import argparse
import sys

from recombine.cli.printing import print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine path`."""
    parser.add_argument(
        "tool",
        metavar="TOOL",
        help="lm-eval (a folder of tasks), verl, openrlhf (a reward function), nemo-gym or openenv (a configuration)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the path."""
    from recombine.integrations import path_of

    found = str(path_of(arguments.tool))
    if arguments.json:
        print_json({"tool": arguments.tool, "path": found})
    else:
        sys.stdout.write(f"{found}\n")
    return 0
