"""What a run leaves on disk: `run.json` (model, configuration, codec), safetensors with weights, no pickle anywhere.

`last.safetensors` holds weights, optimizer state and, in its JSON header, where the run stands; it is replaced at once or
not at all, so a killed run goes on from it. `best.safetensors` holds the weights that did best on validation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from recombine import __version__
from recombine.errors import FileError, UsageError, shown
from recombine.files import Kind, check_path, holds, inside, own_folder, parse_json, read_json, sweep, told, write_json, writing
from recombine.models import find_model
from recombine.models.base import Model
from recombine.schemas import anything, check, listing, mapping, number, record, text, whole

RUN, LAST, BEST, METRICS, RESULT = "run.json", "last.safetensors", "best.safetensors", "metrics.jsonl", "result.json"
CURVE = "curve.jsonl"
EVENTS = "events.out.tfevents"
FILES = frozenset({RUN, LAST, BEST, METRICS, CURVE, RESULT, "test.json", "report.html"})


def _is_run(folder: Path) -> bool:
    """Whether a run is here, or only what a run that was killed at its very beginning left behind."""
    names = [entry.name for entry in folder.iterdir()]
    begun = all((name.startswith(f".{RUN}.") and name.endswith(".tmp")) or name.startswith(EVENTS) for name in names)
    return begun or holds(folder / RUN, lambda found: isinstance(found["model"], str))


RUN_FOLDER = Kind("a run of `recombine train`", _is_run, is_local=True)


@dataclass
class State:
    """Where a run stands: the next step of the current epoch, running sums of this epoch, and one record per finished epoch.

    `curve` has a point every few steps; `marked_…` are this epoch's sums at the last point.

    Random numbers need no state of their own: every step draws from a stream named by seed, epoch and step.
    """

    epoch: int = 0
    step: int = 0
    steps: int = 0
    loss: float = 0.0
    right: int = 0
    decisions: int = 0
    best: float = -1.0
    best_epoch: int = -1
    stopped: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    history: list[dict[str, Any]] = field(default_factory=list)
    curve: list[dict[str, Any]] = field(default_factory=list)
    marked_step: int = 0
    marked_loss: float = 0.0
    marked_right: int = 0
    marked_decisions: int = 0


STATE_SHAPE = record({}, {
    "epoch": whole(), "step": whole(), "steps": whole(), "loss": anything, "right": whole(), "decisions": whole(), "best": number(),
    "best_epoch": whole(-1), "stopped": text(), "seconds": number(), "cpu_seconds": number(), "history": listing(mapping(anything)),
    "curve": listing(mapping(anything)), "marked_step": whole(), "marked_loss": anything, "marked_right": whole(),
    "marked_decisions": whole(),
})  # fmt: skip
"""What the header of a checkpoint says of where the run stands (a loss may be infinite)."""
RUN_SHAPE = record({"model": text(100)}, {
    "config": mapping(anything), "codec": mapping(anything), "training": mapping(anything), "settings": mapping(anything),
    "task": mapping(anything), "policy": text(100), "recombine": text(100), "torch": text(100),
})  # fmt: skip
"""What run.json must hold; the model's own classes check its configuration."""


def save_tensors(path: Path, tensors: Mapping[str, Tensor], state: State | None = None) -> None:
    """Write tensors, and the state in the header, so that the file appears whole or not at all."""
    header = None if state is None else {"state": json.dumps(asdict(state))}
    with writing(path) as out:
        out.write(to_bytes({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, header))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], State]:
    """The tensors and the state of a file that `save_tensors` wrote."""
    try:
        with safe_open(path, "pt") as stored:
            told_state = parse_json((stored.metadata() or {}).get("state", "{}"), f"the state in {shown(str(path))}")
            check(told_state, STATE_SHAPE, f"the state in {shown(str(path))}")
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
            return tensors, State(**{f.name: told_state[f.name] for f in fields(State) if f.name in told_state})
    except (SafetensorError, OSError, ValueError, TypeError) as problem:
        raise FileError(f"cannot read the checkpoint {shown(str(path))}: {problem}.") from None


def flat_optimizer(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """An optimizer's state as named tensors (`0.exp_avg`, …)."""
    state = optimizer.state_dict()["state"]
    return {
        f"{number}.{name}": torch.as_tensor(value)
        for number, values in state.items()
        for name, value in values.items()
        if value is not None
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put `flat_optimizer`'s tensors back."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def save_last(folder: Path, module: nn.Module, optimizer: torch.optim.Optimizer, state: State) -> None:
    """Replace the last checkpoint of a run: weights, the optimizer's memory and the loop's state."""
    tensors = {f"model.{name}": tensor for name, tensor in module.state_dict().items()}
    tensors |= {f"optimizer.{name}": tensor for name, tensor in flat_optimizer(optimizer).items()}
    save_tensors(folder / LAST, tensors, state)


def resume_last(folder: Path, module: nn.Module, optimizer: torch.optim.Optimizer) -> State:
    """Take up the last checkpoint of a run; a fresh state if there is none."""
    path = inside(folder, LAST)
    with told("read", path):
        if not path.is_file():
            return State()
    tensors, state = load_tensors(path)
    try:
        module.load_state_dict({n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
        kept = {n.removeprefix("optimizer."): t for n, t in tensors.items() if n.startswith("optimizer.")}
        restore_optimizer(optimizer, kept)
    except (RuntimeError, ValueError, KeyError) as problem:
        raise FileError(f"{shown(str(path))} does not fit its {RUN}: {str(problem)[:200]}") from None
    return state


def claim(folder: Path, description: Mapping[str, Any], free: Mapping[str, Sequence[str]] | None = None) -> None:
    """Write `run.json`, or make sure that the one in the folder describes the same run (whatever versions made it).

    `free` names what may differ within a section, such as the number of epochs of a run that is to go on; the new value is kept.
    """
    own_folder(folder, RUN_FOLDER)
    sweep(folder, FILES.__contains__)
    if not (folder / RUN).is_file():
        versions = {"recombine": __version__, "torch": torch.__version__.split("+")[0]}
        write_json(folder / RUN, {**description, **versions})
        return
    found = read_run(folder)
    wanted = found | json.loads(json.dumps(description))
    for name in description:
        if _without(found.get(name), (free or {}).get(name, ())) != _without(wanted[name], (free or {}).get(name, ())):
            raise UsageError(
                f"{shown(str(folder))} holds another run ({name} differs); name another folder, or delete that one."
            )
    if wanted != found:
        write_json(folder / RUN, wanted)


def _without(section: Any, names: Sequence[str]) -> Any:
    return {k: v for k, v in section.items() if k not in names} if isinstance(section, dict) else section


def make_model(description: Mapping[str, Any]) -> Model:
    """The untrained model that a `run.json` describes."""
    try:
        cls, default = find_model(str(description["model"]))
        config = type(default)(**description["config"])
        return cls(config, description["codec"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RuntimeError, AssertionError) as problem:
        raise FileError(f"{RUN} does not describe a model: {type(problem).__name__}: {str(problem)[:200]}.") from None


def read_run(folder: Path) -> dict[str, Any]:
    """The description of a run."""
    if not (folder / RUN).is_file():
        raise FileError(f"{shown(str(folder))} is not a run: it has no {RUN}. Train one with `recombine train`.")
    description: dict[str, Any] = read_json(inside(folder, RUN), 64 << 20)
    check(description, RUN_SHAPE, shown(str(folder / RUN)))
    return description


def load_model(folder: str | Path) -> Model:
    """A trained model, ready to answer: the best weights of a run, or its last ones if no epoch has ended yet."""
    folder = check_path(folder)
    model = make_model(read_run(folder))
    path = inside(folder, BEST if (folder / BEST).is_file() else LAST)
    tensors, _ = load_tensors(path)
    weights = {name.removeprefix("model."): tensor for name, tensor in tensors.items() if not name.startswith("optimizer.")}
    try:
        model.load_state_dict(weights)
    except RuntimeError as problem:
        raise FileError(f"{shown(str(path))} does not fit its {RUN}: {str(problem)[:200]}") from None
    return model.eval()
