"""Save an episode as an animated GIF: the solver's plan, actions of your own, or what a model did in a run.

recombine watch ReaSCAN --out film.gif
recombine watch runs/acting --index 3 --out film.gif      (a run of `ask --act`: its fourth episode)
recombine watch runs/tower --out film.gif                 (a run of `train ppo`: what the policy does)
recombine watch TowerFlipIt --index 3 --out film.gif
recombine watch gscan@1/sound/compositional/test/0/000017 --act "walk, turn left, walk" --out film.gif
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.cli.printing import print_json, say
from recombine.cli.requests import whole_number
from recombine.errors import FileError, UnknownName, UsageError, shown
from recombine.files import Kind

if TYPE_CHECKING:
    from recombine.episodes import Episode


def _is_film(path: Path) -> bool:
    from recombine.films import MARK

    with path.open("rb") as stream:
        return MARK in stream.read(1 << 16)


GIF = Kind("a film of `recombine watch`", _is_film)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine watch`."""
    parser.add_argument("episode", help="an environment (TowerScratch, GSCAN, ReaSCAN, …), an example's id, or a run's folder")
    parser.add_argument("--split", metavar="S", help="a split's name (recombine list)")
    parser.add_argument("--part", default="test", metavar="P", help="default test")
    parser.add_argument("--seed", type=whole_number, default=0, metavar="K", help="a whole number")
    parser.add_argument(
        "--index", type=whole_number, default=0, metavar="I", help="which row, or which episode of a run (default 0)"
    )
    parser.add_argument(
        "--act", metavar="ACTIONS", help="your own actions, separated by commas or semicolons (default: the solver's)"
    )
    parser.add_argument("--seconds", type=float, default=0.6, metavar="S", help="how long a frame stays (default 0.6)")
    parser.add_argument("--out", required=True, metavar="FILE.gif", help="the film")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Play and write the film."""
    from recombine.files import own_file, writing
    from recombine.films import film

    if Path(arguments.out).suffix.lower() != ".gif":
        raise UsageError(f"--out {shown(arguments.out)} must end in .gif.")
    if not 0.02 <= arguments.seconds <= 60:
        raise UsageError(f"--seconds is {arguments.seconds:g}, but must be 0.02 to 60.")
    if Path(arguments.episode).is_dir():
        frames, title, told = _of_run(Path(arguments.episode), arguments)
    else:
        frames, title, told = _of_row(arguments)
    target = own_file(arguments.out, GIF)
    with writing(target) as out:
        out.write(film(frames, title, seconds=arguments.seconds))
    if arguments.json:
        print_json({**told, "frames": len(frames), "file": arguments.out})
    else:
        say(f"{arguments.out}: {len(frames)} frames of {told['id']}; {'solved' if told['solved'] else 'not solved'}")
    return 0


Film = tuple[list[tuple[bytes, str]], str, dict[str, Any]]
"""Frames (picture, caption), the title, and a sentence about the episode."""


def _of_row(arguments: argparse.Namespace) -> Film:
    """The solver's plan or the given actions, in a row of an environment or of an id."""
    from recombine.episodes import ENVIRONMENTS, Episode
    from recombine.films import play

    names = {name.removeprefix("recombine/").removesuffix("-v0"): name for name in ENVIRONMENTS}
    source = names.get(arguments.episode, arguments.episode)
    if source not in ENVIRONMENTS and "@" not in source:
        raise UnknownName("environment", arguments.episode, names)
    episode = Episode(source, "picture", index=arguments.index, split=arguments.split, part=arguments.part, seed=arguments.seed)
    own = None
    if arguments.act is not None:
        own = [word.strip() for word in arguments.act.replace(";", ",").split(",") if word.strip()]
    return play(episode, own, strict=True), _task(episode.example.inputs), _told(episode)


def _told(episode: Episode) -> dict[str, Any]:
    return {"id": episode.id, "solved": episode.solved, "reward": episode.reward}


def _of_run(folder: Path, arguments: argparse.Namespace) -> Film:
    """The actions of a model in a run of `ask --act` or of `train ppo`."""
    from recombine.files import inside, read_json

    if arguments.act is not None or arguments.split is not None:
        raise UsageError("a run's folder says itself what was done: leave out --act and --split.")
    path = inside(folder, "run.json")
    run = read_json(path, 64 << 20) if path.is_file() else {}
    asked = run.get("asked") if isinstance(run, dict) else None
    if isinstance(asked, dict) and "acting" in asked:
        return _of_asked(folder, arguments.index)
    if isinstance(run, dict) and run.get("model") == "ppo":
        from recombine.rl.films import policy_film

        return policy_film(folder, arguments.index)
    raise FileError(f"{shown(str(folder))} holds no episodes: watch takes runs of `ask --act` and of `train ppo`.")


def _of_asked(folder: Path, index: int) -> Film:
    """The model's replies, action by action; a reply that names no action is a frame of its own."""
    from recombine.data.ids import example_of
    from recombine.evaluate.acting import episode_of
    from recombine.evaluate.answers import read_answers
    from recombine.films import play

    answers = list(read_answers(folder / "answers.jsonl").values())
    if index >= len(answers):
        raise UsageError(f"--index is {index}, but the run has {len(answers)} finished episodes.")
    given = answers[index]
    example = example_of(given.id)
    shadow, shown_one = episode_of(example, given), episode_of(example, given)
    steps: list[str] = []
    for reply in given.more["episode"]["replies"]:
        if shadow.done:
            break
        turn = shadow.act(reply)
        steps += turn.info["actions"] or [reply.strip()[:200] or "(nothing)"]
    return play(shown_one, steps), _task(example.inputs), _told(shown_one)


def _task(inputs: object) -> str:
    """The task, in the words of the row: a command, or a statement and the truth value wanted."""
    found = inputs if isinstance(inputs, dict) else dict(inputs)  # type: ignore[call-overload]
    if "command" in found:
        return str(found["command"])
    wanted = found.get("target", found.get("goal"))
    return f"make {str(wanted).lower()}: {found['statement']}" if wanted is not None else str(found["statement"])
