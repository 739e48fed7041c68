"""Play an episode and save it as an animated GIF: the solver's plan, or actions of your own.

recombine watch ReaSCAN --out film.gif
recombine watch TowerFlipIt --index 3 --out film.gif
recombine watch gscan@2/sound/compositional/test/0/000017 --act "walk, turn left, walk" --out film.gif
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recombine.cli.printing import print_json, say
from recombine.cli.requests import whole_number
from recombine.errors import UnknownName, UsageError, shown
from recombine.files import Kind


def _is_film(path: Path) -> bool:
    from recombine.films import MARK

    with path.open("rb") as stream:
        return MARK in stream.read(1 << 16)


GIF = Kind("a film of `recombine watch`", _is_film)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine watch`."""
    parser.add_argument("episode", help="an environment (TowerScratch, GSCAN, ReaSCAN, …) or an example's id")
    parser.add_argument("--split", metavar="S", help="a split's name (recombine list)")
    parser.add_argument("--part", default="test", metavar="P", help="default test")
    parser.add_argument("--seed", type=whole_number, default=0, metavar="K", help="a whole number")
    parser.add_argument("--index", type=whole_number, default=0, metavar="I", help="which row (default 0)")
    parser.add_argument(
        "--act", metavar="ACTIONS", help="your own actions, separated by commas or semicolons (default: the solver's)"
    )
    parser.add_argument("--seconds", type=float, default=0.6, metavar="S", help="how long a frame stays (default 0.6)")
    parser.add_argument("--out", required=True, metavar="FILE.gif", help="the film")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Play and write the film."""
    from recombine.episodes import ENVIRONMENTS, Episode
    from recombine.files import own_file, writing
    from recombine.films import film, play

    if Path(arguments.out).suffix.lower() != ".gif":
        raise UsageError(f"--out {shown(arguments.out)} must end in .gif.")
    if not 0.02 <= arguments.seconds <= 60:
        raise UsageError(f"--seconds is {arguments.seconds:g}, but must be 0.02 to 60.")
    names = {name.removeprefix("recombine/").removesuffix("-v0"): name for name in ENVIRONMENTS}
    source = names.get(arguments.episode, arguments.episode)
    if source not in ENVIRONMENTS and "@" not in source:
        raise UnknownName("environment", arguments.episode, names)
    target = own_file(arguments.out, GIF)
    episode = Episode(source, "picture", index=arguments.index, split=arguments.split, part=arguments.part, seed=arguments.seed)
    own = None
    if arguments.act is not None:
        own = [word.strip() for word in arguments.act.replace(";", ",").split(",") if word.strip()]
    frames = play(episode, own)
    with writing(target) as out:
        out.write(film(frames, _task(episode.example.inputs), seconds=arguments.seconds))
    told = {"id": episode.id, "frames": len(frames), "solved": episode.solved, "reward": episode.reward, "file": arguments.out}
    if arguments.json:
        print_json(told)
    else:
        say(f"{arguments.out}: {len(frames)} frames of {episode.id}; {'solved' if episode.solved else 'not solved'}")
    return 0


def _task(inputs: object) -> str:
    """What is to be done, in the words of the row: a command, or a statement and the truth value wanted."""
    found = inputs if isinstance(inputs, dict) else dict(inputs)  # type: ignore[call-overload]
    if "command" in found:
        return str(found["command"])
    wanted = found.get("target", found.get("goal"))
    return f"make {str(wanted).lower()}: {found['statement']}" if wanted is not None else str(found["statement"])
