"""Upload a folder to the Hugging Face hub as a data set, with its card.

    recombine generate reascan --split a1 --out rows
    recombine verify rows
    recombine push rows --repo lab/reascan-a1

Log in with `hf auth login`, or set HF_TOKEN. Needs `pip install "recombine[hub]"`. The folder is not changed.
"""

from __future__ import annotations

import argparse

from recombine.cli.printing import print_json, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine push`."""
    parser.add_argument("folder", metavar="DIR", help="a folder that `recombine generate` made")
    parser.add_argument(
        "--repo", required=True, metavar="OWNER/NAME", help="the data set's name; it is made if it does not exist"
    )
    parser.add_argument("--private", action="store_true", help="make a new data set private")
    parser.add_argument("--image", action="store_true", help="add rows with prompts that show each world as a picture")
    parser.add_argument(
        "--style", default="rules", metavar="S", help="the prompts of --image: direct, step_by_step or rules (default)"
    )
    parser.add_argument("--message", default="", metavar="TEXT", help="the commit's message")
    parser.add_argument("--json", action="store_true", help="print the address as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Push; print the address."""
    from recombine.integrations.hub import push

    address = push(
        arguments.folder, arguments.repo, private=arguments.private, picture=arguments.image, style=arguments.style,
        message=arguments.message,
    )  # fmt: skip
    if arguments.json:
        print_json({"address": address})
    else:
        say(address)
    return 0
