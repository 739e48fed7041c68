"""Machines: learners with a built-in way of reading, whose lexicon can be printed. They need no torch.

`MACHINES` names them. A run is a folder, as for other models: `run.json` (machine, settings, data), the machine's own file, what
an unfinished run has done so far, and `result.json` (time and sizes). The same command goes on after a kill and ends in the
same machine.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, cast

from recombine import __version__
from recombine.errors import FileError, UnknownName, UsageError, shown
from recombine.files import Kind, check_path, holds, inside, own_folder, read_json, remove_own, sweep, write_json
from recombine.models.configs import changed
from recombine.schemas import anything, check, mapping, number, record, text, whole

if TYPE_CHECKING:
    from recombine.core import Example
    from recombine.data.datasets import Dataset

RUN, RESULT = "run.json", "result.json"
LEARNT = ("machine.json", "machine.npz")
"""The files of finished machines."""


class Machine(Protocol):
    """A learnt machine."""

    NAME: ClassVar[str]
    Config: ClassVar[type[Any]]
    BUILT_IN: ClassVar[tuple[str, ...]]
    LEARNT: ClassVar[tuple[str, ...]]

    def answers(self, examples: Sequence[Example]) -> list[str]:
        """The answer to each example, in order; reads inputs only."""

    def sizes(self) -> Mapping[str, int]:
        """What was learnt, counted: parameters, slots, words."""

    def lines(self) -> list[tuple[str, ...]]:
        """The lexicon as rows of a table; the first column is the word."""

    def save(self, folder: Path) -> None:
        """Write the machine's file into its run's folder."""

    @classmethod
    def load(cls, folder: Path) -> Machine:
        """The machine that a run's folder holds."""


@dataclass(frozen=True)
class Task:
    """What a machine learns from and how: the rows, its settings, its seed, its folder, and where to report progress."""

    rows: Dataset
    config: Any
    seed: int
    out: Path
    say: Callable[[str], None]


class Entry(NamedTuple):
    """Where a machine's class and its trainer are, what it reads, what it is, and the heads of its lexicon's columns."""

    machine: str
    trainer: str
    reads: str
    about: str
    heads: tuple[str, ...]


MACHINES: dict[str, Entry] = {
    "sequence-machine": Entry(
        "recombine.models.sequence_machine:SequenceMachine",
        "recombine.models.sequence_machine_train:train",
        "words",
        "learnt binding levels and templates (scan, nacs)",
        ("word", "level", "template"),
    ),
    "set-machine": Entry(
        "recombine.models.set_machine:SetMachine",
        "recombine.models.set_machine_train:train",
        "command, grid",
        "learnt operations on sets of objects, and a learnt actor (gscan, reascan)",
        ("word", "does", "p", "means"),
    ),
    "kinship-machine": Entry(
        "recombine.models.kinship_machine:KinshipMachine",
        "recombine.models.kinship_machine_train:train",
        "story",
        "learnt reader of facts and learnt rules of composition (clutrr, from text)",
        ("first", "second", "makes", "p"),
    ),
    "scene-machine": Entry(
        "recombine.models.scene_machine:SceneMachine",
        "recombine.models.scene_machine_train:train",
        "statement, scene",
        "learnt reader of statements into programs, and a search for edits (lilgym)",
        ("words", "other words", "in the program", "pairs"),
    ),
}
"""Every machine of `recombine train`, by name."""


@dataclass(frozen=True)
class Trained:
    """The end of a run: what it cost in all, over all times that it was taken up, and what the machine's trainer tells."""

    seconds: float
    cpu_seconds: float
    sizes: Mapping[str, int]
    figures: Mapping[str, Any]


RUN_SHAPE = record(
    {"model": text(100), "config": mapping(anything), "seed": whole()}, {"data": anything, "recombine": text(100)}
)
RESULT_SHAPE = record({"seconds": number(0), "cpu_seconds": number(0), "sizes": mapping(whole()), "figures": mapping(anything)})


def _is_run(folder: Path) -> bool:
    """Whether a machine's run is here, or only what a run that was killed at its very beginning left behind."""
    begun = all(entry.name.startswith(f".{RUN}.") and entry.name.endswith(".tmp") for entry in folder.iterdir())
    return begun or holds(folder / RUN, lambda found: found["model"] in MACHINES)


MACHINE_FOLDER = Kind("a machine's run of `recombine train`", _is_run, is_local=True)


def find_machine(name: str) -> type[Machine]:
    """The class of a machine; an unknown name is an error that lists the known ones."""
    if name not in MACHINES:
        raise UnknownName("machine", name, MACHINES)
    return cast("type[Machine]", _member(MACHINES[name].machine))


def _member(path: str) -> Any:
    module, _, member = path.partition(":")
    return getattr(importlib.import_module(module), member)


def train_machine(
    name: str, settings: Mapping[str, object], rows: Dataset, out: Path, seed: int, say: Callable[[str], None]
) -> tuple[Machine, Trained]:
    """Train to the end, or go on where the run in `out` stopped. A finished run is loaded."""
    cls = find_machine(name)
    config = changed(cls.Config(), settings)
    own_folder(out, MACHINE_FOLDER)
    progress = progress_files(config)
    sweep(out, (RUN, RESULT, *LEARNT, *progress).__contains__)
    described = {"model": name, "config": asdict(config), "seed": seed, "data": {"part": rows.job.key, "rows": len(rows)}}
    _claim(out, described)
    if (out / RESULT).is_file():
        machine = load_machine(out)
        return machine, replace(_read_result(out), sizes=dict(machine.sizes()))
    wall, cpu = time.monotonic(), time.process_time()
    machine, figures = _member(MACHINES[name].trainer)(Task(rows, config, seed, out, say))
    machine.save(out)
    spent = figures.pop("spent", {"seconds": 0.0, "cpu_seconds": 0.0})
    result = Trained(
        round(spent["seconds"] + time.monotonic() - wall, 2),
        round(spent["cpu_seconds"] + time.process_time() - cpu, 2),
        dict(machine.sizes()),
        figures,
    )
    write_json(out / RESULT, asdict(result))
    remove_own(out, progress.__contains__)
    return machine, result


def progress_files(config: Any) -> tuple[str, ...]:
    """The names of the files in which a run keeps what it has done so far. They are deleted at its end, and no others are."""
    later = range(1, getattr(config, "starts", 1))  # the set machine may begin several times, and keeps each start apart
    return ("progress.json", "progress.npz", *(f"progress-{start}.npz" for start in later))


def _claim(out: Path, described: Mapping[str, Any]) -> None:
    """Write `run.json`, or make sure that the one in the folder describes the same run.

    A run that has nothing but its description learnt nothing, so another one may take its folder.
    """
    if not (out / RUN).is_file() or all(entry.name == RUN for entry in out.iterdir()):
        write_json(out / RUN, {**described, "recombine": __version__})
        return
    found, wanted = read_machine_run(out), json.loads(json.dumps(described))
    if found["model"] == wanted["model"]:  # a setting that is newer than the run has its default there
        found["config"] = {**asdict(find_machine(found["model"]).Config()), **found["config"]}
    for name, value in wanted.items():
        if found.get(name) != value:
            raise UsageError(
                f"{shown(str(out))} holds another run ({_difference(name, found.get(name), value)}); name another folder, or delete that one."
            )


def _difference(name: str, there: Any, wanted: Any) -> str:
    """What differs between the run in a folder and the wanted one."""
    if isinstance(there, dict) and isinstance(wanted, dict):
        name = next(key for key in {**there, **wanted} if there.get(key) != wanted.get(key))
        there, wanted = there.get(name), wanted.get(name)
    return f"{name} is {shown(there)} there, not {shown(wanted)}"


def is_machine_run(folder: str | Path) -> bool:
    """Whether the folder holds a run of a machine."""
    return holds(check_path(folder) / RUN, lambda found: found["model"] in MACHINES)


def read_machine_run(folder: Path) -> dict[str, Any]:
    """The description of a machine's run."""
    if not (folder / RUN).is_file():
        raise FileError(f"{shown(str(folder))} is not a run: it has no {RUN}. Train one with `recombine train`.")
    found: dict[str, Any] = read_json(inside(folder, RUN))
    check(found, RUN_SHAPE, shown(str(folder / RUN)))
    return found


def _read_result(folder: Path) -> Trained:
    found = read_json(inside(folder, RESULT))
    check(found, RESULT_SHAPE, shown(str(folder / RESULT)))
    return Trained(found["seconds"], found["cpu_seconds"], found["sizes"], found["figures"])


def load_machine(folder: str | Path) -> Machine:
    """A trained machine, ready to answer."""
    place = check_path(folder)
    found = read_machine_run(place)
    if not (place / RESULT).is_file():
        raise FileError(f"the run {shown(str(folder))} is not finished; run the same `recombine train` again to go on.")
    return find_machine(found["model"]).load(place)
