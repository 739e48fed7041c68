"""Machines that come with the package: small files, trained by `benchmarks/ship_machines.py`, for demonstrations without torch.

`index.json` says of each one which machine it is, which rows it learnt from, and how it was made. A shipped machine answers the
tests of splits whose training part it learnt from, and no others.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.files import read_json
from recombine.models.machines import Machine, find_machine
from recombine.schemas import check, listing, record, text, whole

if TYPE_CHECKING:
    from recombine.core import Example

HERE = Path(__file__).parent
INDEX = "index.json"
MIRRORS = {"nacs": "scan"}
"""Families that are answered by a machine of another family: the same rows, backwards."""
SHAPE = listing(
    record(
        {
            "folder": text(100, "[a-z0-9_-]+"), "machine": text(100), "family": text(100), "recipe": text(100), "split": text(100),
            "part": text(300), "grid": whole(), "rows": whole(), "command": text(500),
        }
    )
)  # fmt: skip


@dataclass(frozen=True)
class Shipped:
    """One machine of the package: its folder, what it is, the split whose training rows it learnt from, and how it was made.

    `grid` is the only grid size that it reads; 0 where there is no grid.
    """

    folder: str
    machine: str
    family: str
    recipe: str
    split: str
    part: str
    grid: int
    rows: int
    command: str

    def load(self) -> Machine:
        """The machine."""
        return _loaded(self.machine, self.folder)


@functools.cache
def _loaded(machine: str, folder: str) -> Machine:
    return find_machine(machine).load(HERE / folder)


@functools.cache
def shipped() -> tuple[Shipped, ...]:
    """All machines of the package."""
    found = read_json(HERE / INDEX)
    check(found, SHAPE, INDEX)
    return tuple(Shipped(**{name: item[name] for name in Shipped.__dataclass_fields__}) for item in found)


def machine_for(example: Example) -> Shipped | None:
    """The shipped machine that learnt from the training rows of this example's split; None if there is none.

    A row that was made with a dial turned has none, because its training rows are others. The same holds for another seed of a
    split whose rows the seed divides: a test row of one seed may be a training row of another.
    """
    family, split = example.family, str(example.meta.get("split", ""))
    if split not in family.SPLITS or "+" in example.id.split("/")[1]:
        return None
    trained, _ = family.SPLITS[split].aliases.get("train", (split, "train"))
    part = family.SPLITS[trained].parts["train"]
    wanted = MIRRORS.get(family.NAME, family.NAME), example.recipe, trained, int(example.inputs.get("grid_size", 0))
    for one in shipped():
        is_same_seed = one.part.rpartition("/")[2] == str(example.meta.get("seed"))
        if (one.family, one.recipe, one.split, one.grid) == wanted and (is_same_seed or part.fixed or not part.finite):
            return one
    return None


def shipped_answers(examples: Sequence[Example]) -> dict[str, str]:
    """Id -> the answer of the shipped machine; examples for which there is no machine are left out. Reads inputs only."""
    groups: dict[Shipped, list[Example]] = {}
    for example in examples:
        one = machine_for(example)
        if one is not None:
            groups.setdefault(one, []).append(example)
    return {
        example.id: answer
        for one, members in groups.items()
        for example, answer in zip(members, one.load().answers(members), strict=True)
    }
