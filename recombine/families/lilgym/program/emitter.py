"""Instructions, registers, jumps and loops, and what a program takes from a scene as it is: the ground of the compiler.

A value is a register: a scalar (bool, integer, code, item or box index), a set of items or boxes as bits, or a packed list of
codes. The prepared sets of `program_kernel` are the first registers, so asking for "all blue items" costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from recombine.families.lilgym.program import kernel as k
from recombine.families.lilgym.program.types import BOOL, BOX, COLOR, ITEM, SHAPE, SIDE, SIZE, Expr

FLAGS: Mapping[str, int] = {
    **{f"is_{name}": k.COLOR_SETS + code for code, name in enumerate(("yellow", "black", "blue"))},
    **{f"is_{name}": k.SHAPE_SETS + code for code, name in enumerate(("circle", "square", "triangle"))},
    **{f"is_{name}": k.SIZE_SETS + code for code, name in enumerate(("small", "medium", "big"))},
    "is_top": k.TOP,
    "is_bottom": k.BOTTOM,
    "is_second": k.SECOND,
    "is_third": k.THIRD,
}
_RELATIONS: Mapping[str, int] = {
    "get_touching": k.TOUCHING,
    "get_closely_touching": k.CLOSE,
    "get_above": k.ABOVE,
    "get_below": k.BELOW,
    "get_box_all_above": k.ALL_ABOVE,
    "get_box_all_below": k.ALL_BELOW,
    "get_img_all_above": k.IMAGE_ABOVE,
    "get_img_all_below": k.IMAGE_BELOW,
}
_ATTRIBUTE_SETS = (k.COLOR_SETS, k.SHAPE_SETS, k.SIZE_SETS)
_ATTRIBUTE_ROWS = (k.COLOR_ROW, k.SHAPE_ROW, k.SIZE_ROW)
_CAN_FAIL = frozenset({"unique", "select", "mod", "min"})
_CODED = (COLOR, SHAPE, SIZE, SIDE, BOOL)

Variables = Mapping[str, int]


class NotCompiled(Exception):
    """This program is left to the plain interpreter."""


def is_total(typed: Expr) -> bool:
    """Whether no evaluation of it can fail, so that skipping one changes nothing."""
    return typed.op not in _CAN_FAIL and all(is_total(arg) for arg in typed.args)


def is_coded_list(typed: Expr) -> bool:
    """Lists of colours, shapes, sizes, sides and bools are packed in order, two bits each; other collections are sets of bits."""
    return typed.type.kind == "list" and typed.type.of in _CODED


def is_stream(typed: Expr) -> bool:
    return typed.type.of is not None and typed.type.of.kind == "tuple"


class Emitter:
    """Writes instructions; a method returns the register that holds the value. Method `_op` is for expressions of that `op`."""

    def __init__(self) -> None:
        self.code: list[list[int]] = []
        self.registers = k.HEADER

    def emit(self, op: int, a: int = 0, b: int = 0, c: int = 0) -> int:
        """One instruction; its target register."""
        self.code.append([op, a, b, c])
        return a

    def fresh(self) -> int:
        """A register that no other value uses."""
        if self.registers >= k.REGISTERS:
            raise NotCompiled
        self.registers += 1
        return self.registers - 1

    def new(self, op: int, b: int = 0, c: int = 0) -> int:
        """One instruction into a fresh register."""
        return self.emit(op, self.fresh(), b, c)

    def jump(self, op: int, register: int = 0) -> Callable[[], None]:
        """A jump whose target is set, by calling the result, to the instruction that comes next then."""
        place = len(self.code)
        self.emit(op, register)

        def here() -> None:
            self.code[place][{k.JMP: 1, k.ITER: 3}.get(op, 2)] = len(self.code)

        return here

    def loop(self, mask: int, body: Callable[[int, list[Callable[[], None]]], None]) -> None:
        """For every element of a set, from the first on: body(register of the element, jumps that leave the loop)."""
        left = self.new(k.MOV, mask)
        element = self.fresh()
        top = len(self.code)
        exits = [self.jump(k.ITER)]
        self.code[top][1:3] = [element, left]
        body(element, exits)
        self.emit(k.JMP, top)
        for leave in exits:
            leave()

    # --- values ---

    def value(self, e: Expr, v: Variables) -> int:
        """The register of a scalar (bool, int, code, item or box index), a set of bits, or a packed list."""
        method: Callable[[Expr, Variables], int] | None = getattr(self, f"_{e.op}", None)
        if method is None or is_stream(e):
            raise NotCompiled
        return method(e, v)

    def mask(self, e: Expr, v: Variables) -> int:
        """The register of a collection as a set of bits."""
        register = self.value(e, v)
        return self.new(k.SEQSET, register) if is_coded_list(e) else register

    def ordered(self, e: Expr, v: Variables) -> int:
        """The set of bits of a collection whose order and repetitions matter: it must be in scene order without any."""
        if not e.type.plain or is_coded_list(e) or e.type.of not in (ITEM, BOX):
            raise NotCompiled
        return self.value(e, v)

    def _const(self, e: Expr, _v: Variables) -> int:
        return self.new(k.IMM, e.value)

    def _var(self, e: Expr, v: Variables) -> int:
        return v[e.name]

    def _items(self, _e: Expr, _v: Variables) -> int:
        return k.ALL

    def _boxes(self, _e: Expr, _v: Variables) -> int:
        return self.new(k.IMM, 7)

    def _flag(self, e: Expr, v: Variables) -> int:
        return self.new(k.TEST, FLAGS[e.name], self.value(e.args[0], v))

    def _sided(self, e: Expr, v: Variables) -> int:
        return self.new(k.TEST, self.sided_set(e), self.value(e.args[0], v))

    def sided_set(self, e: Expr) -> int:
        """The set of items that touch the given walls, or the corner at them."""
        if any(side.op != "const" for side in e.args[1:]):
            raise NotCompiled
        level = 2 if e.name.startswith("is_close_to") else 1 if e.name.startswith("is_closely") else 0
        walls = [k.WALLS + 5 * level + side.value for side in e.args[1:]] or [k.WALLS + 5 * level]
        found = k.CORNERS + level if e.name.endswith("corner") else walls.pop()
        for wall in walls:
            found = self.new(k.AND, found, wall)
        return found

    def _relation(self, e: Expr, v: Variables) -> int:
        (of,) = e.args
        if of.type == ITEM:
            return self.new(k.ROW, self.value(of, v), _RELATIONS[e.name])
        return self.new(k.SPREAD, self.mask(of, v), _RELATIONS[e.name])

    def _mates(self, e: Expr, v: Variables) -> int:
        item = self.value(e.args[0], v)
        mates = k.ALL
        if e.name != "get_img_exclusive":
            mates = self.new(k.SELECT, k.BOX_SETS, self.new(k.ROW, item, k.BOX_ROW))
        return mates if e.name == "get_box_inclusive" else self.new(k.ANDNOT, mates, self.new(k.BIT, item))

    def _query(self, e: Expr, v: Variables) -> int:
        (of,) = e.args
        mask = self.new(k.BIT, self.value(of, v)) if of.type == ITEM else self.ordered(of, v)
        return self.new(k.SEQ, mask, _ATTRIBUTE_ROWS[e.value])

    def _attribute_set(self, e: Expr, v: Variables) -> int:
        return self.new(k.VALUES, self.mask(e.args[0], v), _ATTRIBUTE_SETS[e.value])

    def _same(self, e: Expr, v: Variables) -> int:
        return self.is_one(self._attribute_set(e, v))

    def is_one(self, mask: int) -> int:
        """Whether a set has exactly one element."""
        return self.new(k.EQ, self.new(k.POP, mask), self.new(k.IMM, 1))

    def _filter_attribute(self, e: Expr, v: Variables) -> int:
        mask = self.mask(e.args[0], v)
        sets, wanted = _ATTRIBUTE_SETS[e.value], e.args[1]
        chosen = sets + wanted.value if wanted.op == "const" else self.new(k.SELECT, sets, self.value(wanted, v))
        return self.new(k.AND, mask, chosen)

    def _facing(self, e: Expr, v: Variables) -> int:
        a, b = (self.value(arg, v) for arg in e.args)
        return self.new(k.TEST, self.new(k.ROW, a, k.FACING), b)

    def _box_of(self, e: Expr, v: Variables) -> int:
        return self.new(k.ROW, self.value(e.args[0], v), k.BOX_ROW)

    def _box_items(self, e: Expr, v: Variables) -> int:
        return self.new(k.SELECT, k.BOX_SETS, self.value(e.args[0], v))

    def _box_is_tower(self, e: Expr, v: Variables) -> int:
        return self.new(k.TEST, k.TOWERS, self.value(e.args[0], v))
