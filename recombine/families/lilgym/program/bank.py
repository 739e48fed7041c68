"""Programs over scenes: compiled once from text, evaluated on one scene or on many. Never executed by Python.

>>> two = compile("count(filter_obj(all_items, lambda x: is_blue(x) and is_top(x))) == 2")
>>> two.evaluate(Scene.of_towers([[2], [1, 2], []]))
True

`Program.evaluate` is the plain interpreter. `Bank.evaluate` runs many programs over many scenes in a kernel; both give the
same values, and `ProgramError` is the only error of either.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recombine import kernels
from recombine.errors import ProgramError
from recombine.families.lilgym.program import kernel, reference
from recombine.families.lilgym.program.compiler import compile_program
from recombine.families.lilgym.program.syntax import Node, parse
from recombine.families.lilgym.program.types import Expr, Fault, check
from recombine.families.lilgym.program.values import World
from recombine.families.lilgym.scene import Counts, Item, Items, Scene, pack

KERNEL_NAME = "recombine.families.lilgym.program.kernel"
COMPILE_FROM_PAIRS = 20_000
"""This many program/scene pairs take the plain interpreter about as long as compiling the kernel does."""
LOAD_FROM_PAIRS = 1_000
"""This many take it as long as loading machine code from disk does."""
UNDECIDED = 2
"""The kernel's result if only the plain interpreter can find the value or the error."""


@dataclass(frozen=True, eq=False)
class Program:
    """A checked program. `faults` lists what is well-formed but almost certainly not meant (an uncalled method, …).

    Compared by identity: `compile` gives the same program for the same text.
    """

    text: str
    tree: Node
    typed: Expr
    faults: tuple[Fault, ...]

    def evaluate(self, scene: Scene) -> bool:
        """The program's value on a scene; `ProgramError` if it fails there (`unique` of two items, too many steps, …)."""
        return reference.evaluate(self.tree, scene)

    @cached_property
    def code(self) -> NDArray[np.int32] | None:
        """Its instructions for the kernel, or None if it is left to the plain interpreter."""
        return compile_program(self.typed)

    def evaluate_many(self, scenes: Sequence[Scene]) -> NDArray[np.bool_]:
        """The program's values on many scenes."""
        items, counts = pack(scenes)
        return Bank((self,)).evaluate(np.zeros(len(scenes), np.int64), items, counts)


def make(text: str) -> Program:
    """The program of a text: parsed, typed, bounded. Anything outside the language is a `ProgramError`."""
    try:
        tree = parse(text)
        typed, faults = check(tree, text)
    except RecursionError:
        raise ProgramError("the program is nested too deeply for the room that is left on the stack.") from None
    return Program(text, tree, typed, faults)


_made = functools.lru_cache(maxsize=65_536)(make)


def compile(text: str) -> Program:  # noqa: A001 - the word that users look for; Python's own has no place here
    """The same, remembered: compiling a program twice costs nothing."""
    return _made(text) if isinstance(text, str) else make(text)


class Bank:
    """Many programs laid end to end, for evaluation in bulk; program i is programs[i]."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self.programs = tuple(programs)
        parts = [program.code for program in self.programs]
        none = np.array([[kernel.FAIL, 0, 0, 0]], np.int32)
        laid = [none if part is None else part for part in parts]
        self.code: NDArray[np.int32] = np.concatenate(laid) if laid else none[:0]
        self.offsets: NDArray[np.int64] = np.concatenate([[0], np.cumsum([len(part) for part in laid])]).astype(np.int64)

    def evaluate(
        self, program_index: NDArray[np.int64], items: Items, counts: Counts, compiled: bool | None = None
    ) -> NDArray[np.bool_]:
        """Value i = program program_index[i] on scene i (padded items (n, width, 6), counts (n)).

        What the kernel does not decide goes to the plain interpreter, whose `ProgramError` comes through.
        """
        if not _is_bulk(len(program_index), compiled):
            return self._plainly(program_index.tolist(), range(len(counts)), items, counts)
        out = np.zeros(len(program_index), np.int8)
        run = kernels.load(KERNEL_NAME, True).evaluate_batch
        words = np.zeros(kernel.HEADER + kernel.ROWS * items.shape[1], np.int64)
        run(self.code, self.offsets, program_index, items, counts, words, _registers(), out)
        return self._decided(out, program_index, np.arange(len(counts)), items, counts)

    def evaluate_grid(
        self, prepared: Prepared, programs: Sequence[int] | None = None, compiled: bool | None = None
    ) -> NDArray[np.bool_]:
        """The values (programs, scenes) of the chosen programs (all, if none are named) on every prepared scene."""
        chosen = np.arange(len(self.programs), dtype=np.int64) if programs is None else np.asarray(programs, np.int64)
        n = len(prepared.counts)
        program_index, scene_index = np.repeat(chosen, n), np.tile(np.arange(n, dtype=np.int64), len(chosen))
        return self.evaluate_prepared(program_index, scene_index, prepared, compiled).reshape(len(chosen), n)

    def evaluate_prepared(
        self, program_index: NDArray[np.int64], scene_index: NDArray[np.int64], prepared: Prepared, compiled: bool | None = None
    ) -> NDArray[np.bool_]:
        """Value i = program program_index[i] on prepared scene scene_index[i]."""
        if not _is_bulk(len(program_index), compiled):
            return self._plainly(program_index.tolist(), scene_index.tolist(), prepared.items, prepared.counts)
        out = np.zeros(len(program_index), np.int8)
        run = kernels.load(KERNEL_NAME, True).evaluate_prepared
        width = prepared.items.shape[1]
        run(self.code, self.offsets, program_index, scene_index, prepared.words, width, _registers(), out)
        return self._decided(out, program_index, scene_index, prepared.items, prepared.counts)

    def _decided(
        self,
        out: NDArray[np.int8],
        program_index: NDArray[np.int64],
        scene_index: NDArray[np.int64],
        items: Items,
        counts: Counts,
    ) -> NDArray[np.bool_]:
        """The kernel's values, with those that it left open filled in by the plain interpreter."""
        open_pairs = np.flatnonzero(out == UNDECIDED)
        if len(open_pairs):
            out[open_pairs] = self._plainly(program_index[open_pairs].tolist(), scene_index[open_pairs].tolist(), items, counts)
        values: NDArray[np.bool_] = out == 1
        return values

    def _plainly(
        self, program_index: Sequence[int], scene_index: Sequence[int], items: Items, counts: Counts
    ) -> NDArray[np.bool_]:
        """The same values by the plain interpreter; each scene is laid out once."""
        laid: dict[int, World] = {}
        values = []
        for which, place in zip(program_index, scene_index, strict=True):
            if place not in laid:
                laid[place] = World.of(_scene(items[place], int(counts[place])))
            values.append(reference.evaluate_world(self.programs[which].tree, laid[place]))
        return np.array(values, np.bool_)


def _registers() -> NDArray[np.int64]:
    """Scratch for one kernel call; threads must not share it."""
    return np.zeros(kernel.REGISTERS, np.int64)


def _is_bulk(pairs: int, compiled: bool | None) -> bool:
    """Whether the kernel does the work: if asked, if there is much to do, or if it is loaded already."""
    if compiled is not None:
        return compiled
    return kernels.is_worth_compiling(KERNEL_NAME, pairs, COMPILE_FROM_PAIRS, LOAD_FROM_PAIRS)


@dataclass(frozen=True)
class Prepared:
    """Scenes on which many programs are run; what they share is worked out once."""

    items: Items
    counts: Counts

    @classmethod
    def of(cls, items: Items, counts: Counts) -> Prepared:
        """Prepare padded scenes (n, width, 6)."""
        return cls(items, counts)

    @cached_property
    def words(self) -> NDArray[np.int64]:
        """The kernel's sets of items, worked out when they are first needed."""
        words = np.zeros((len(self.counts), kernel.HEADER + kernel.ROWS * self.items.shape[1]), np.int64)
        kernels.load(KERNEL_NAME, True).prepare(self.items, self.counts, words)
        return words


def _scene(items: Items, count: int) -> Scene:
    """A scene of the plain interpreter from one padded row; programs do not look at its kind."""
    return Scene("scatter", tuple(Item(*row) for row in items[:count].tolist()))
