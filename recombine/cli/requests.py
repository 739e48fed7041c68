"""The words that several verbs share: which family, split, part, seed, recipe and options."""

from __future__ import annotations

import argparse
import shlex

from recombine.errors import UsageError, shown

RESERVED = ("split", "part", "seed", "recipe", "size", "source")
"""Words of a request that are options of their own, so `--set` does not take them."""


def add_request(parser: argparse.ArgumentParser, *, several: bool) -> None:
    """--split, --part, --seed, --recipe, --set; several splits and parts where a folder can hold them."""
    action = "append" if several else "store"
    parser.add_argument(
        "--split", action=action, metavar="S", help="a split's name (recombine list)" + ("; may be repeated" if several else "")
    )
    parser.add_argument(
        "--part",
        action=action,
        metavar="P",
        help="train, test, …" + ("; may be repeated; default: train and test" if several else ""),
    )
    parser.add_argument(
        "--seed", type=whole_number, default=0, metavar="K", help="a whole number (default 0); another seed gives other rows"
    )
    parser.add_argument("--recipe", metavar="R", help="release or sound (default: the family's own)")
    parser.add_argument(
        "--hold-out",
        metavar="PREDICATE",
        help='a split of your own: "verb = pull and target.color = green" (facets: recombine list FAMILY --facets)',
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="options",
        help="turn one of the family's dials; may be repeated",
    )


def options_of(arguments: argparse.Namespace) -> dict[str, object]:
    """The `--set` words as a mapping, and `--hold-out` as the option that it is."""
    options: dict[str, object] = {}
    if arguments.hold_out is not None:
        options["predicate"] = arguments.hold_out
    for word in arguments.options:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {shown(word)} is not NAME=VALUE.")
        if name in RESERVED:
            raise UsageError(f"--set {shown(word)}: {name} is not a dial; say --{name} {shown(value)}.")
        options[name] = value
    return options


def request_words(arguments: argparse.Namespace, *, with_part: bool = True) -> str:
    """The words that say which rows, as they were given, ready to be pasted: ` --split length --seed 3`."""
    given = [("--split", arguments.split), ("--part", arguments.part if with_part else None), ("--recipe", arguments.recipe)]
    given += [
        ("--seed", arguments.seed or None),
        ("--hold-out", arguments.hold_out),
        *(("--set", word) for word in arguments.options),
    ]
    return "".join(f" {name} {shlex.quote(str(value))}" for name, value in given if value is not None)


def whole_number(text: str) -> int:
    """A whole number that is not negative; underscores and commas may group digits."""
    plain = text.replace(",", "").replace("_", "")
    if not plain.isdecimal() or len(plain) > 19:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a whole number from 0 to 10**19")
    return int(plain)


def sizes(text: str) -> int | dict[str, int]:
    """`5000`, or `train=5000,test=200`: rows of every part, or of the named ones."""
    if "=" not in text:
        return whole_number(text)
    found: dict[str, int] = {}
    for word in text.split(","):
        name, equals, number = word.partition("=")
        if not equals or not name or name in found:
            raise argparse.ArgumentTypeError(f"{shown(text)} is neither a number nor PART=N,PART=N")
        found[name] = whole_number(number)
    return found


def fraction(text: str) -> tuple[int, int]:
    """`3/256` as (3, 256)."""
    left, slash, right = text.partition("/")
    if not (slash and left.isdecimal() and right.isdecimal() and len(right) < 8 and 1 <= int(left) <= int(right)):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not I/N with 1 ≤ I ≤ N")
    return int(left), int(right)
