"""A typed program as instructions of `program_kernel`: sets of items as words, predicates as set algebra, lambdas as loops.

A predicate that asks only for an item's own properties becomes intersections of prepared sets; every other lambda becomes a
loop over the set's bits. A list is a word only where its order and repetitions cannot matter; where they can, or where a
construct is too rare to be worth an instruction, `compile_program` gives None and the plain interpreter does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from recombine.families.lilgym import program_kernel as k
from recombine.families.lilgym.program_types import BOOL, BOX, COLOR, ITEM, SHAPE, SIDE, SIZE, Expr

MAX_CHOSEN = 4
"""Combinations of more elements than this are left to the plain interpreter."""

_FLAGS: Mapping[str, int] = {
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


def compile_program(typed: Expr) -> NDArray[np.int32] | None:
    """The instructions (n, 4) of a typed program, or None if it is left to the plain interpreter."""
    emitter = Emitter()
    try:
        emitter.emit(k.HALT, emitter.value(typed, {}))
    except NotCompiled:
        return None
    return np.array(emitter.code, np.int32).reshape(-1, 4)


def is_total(typed: Expr) -> bool:
    """Whether no evaluation of it can fail, so that skipping one changes nothing."""
    return typed.op not in _CAN_FAIL and all(is_total(arg) for arg in typed.args)


def _is_coded_list(typed: Expr) -> bool:
    """Lists of colours, shapes, sizes, sides and bools are packed in order, two bits each; other collections are sets of bits."""
    return typed.type.kind == "list" and typed.type.of in _CODED


def _is_stream(typed: Expr) -> bool:
    return typed.type.of is not None and typed.type.of.kind == "tuple"


class Emitter:
    """Writes instructions; a method returns the register that holds the value. The prepared sets are the first registers."""

    def __init__(self) -> None:
        self.code: list[list[int]] = []
        self.registers = k.HEADER

    def emit(self, op: int, a: int = 0, b: int = 0, c: int = 0) -> int:
        """One instruction; its target register."""
        self.code.append([op, a, b, c])
        return a

    def fresh(self) -> int:
        """A register of one's own."""
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
        if method is None or _is_stream(e):
            raise NotCompiled
        return method(e, v)

    def mask(self, e: Expr, v: Variables) -> int:
        """The register of a collection as a set of bits."""
        register = self.value(e, v)
        return self.new(k.SEQSET, register) if _is_coded_list(e) else register

    def ordered(self, e: Expr, v: Variables) -> int:
        """The set of bits of a collection whose order and repetitions matter: it must be in scene order without any."""
        if not e.type.plain or _is_coded_list(e) or e.type.of not in (ITEM, BOX):
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
        return self.new(k.TEST, _FLAGS[e.name], self.value(e.args[0], v))

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

    def _filter(self, e: Expr, v: Variables) -> int:
        values, function = e.args
        if _is_coded_list(values):
            raise NotCompiled
        mask = self.mask(values, v)
        if values.type.of == ITEM and _is_own(function.args[0], function.name):
            return self.new(k.AND, mask, self.predicate_set(function.args[0]))
        found = self.new(k.IMM, 0)

        def body(element: int, _exits: list[Callable[[], None]]) -> None:
            skip = self.jump(k.JZ, self.value(function.args[0], {**v, function.name: element}))
            self.emit(k.OR, found, found, self.new(k.BIT, element))
            skip()

        self.loop(mask, body)
        return found

    def predicate_set(self, body: Expr) -> int:
        """The set of all items for which a predicate holds that asks only for an item's own properties."""
        if body.op in ("flag", "sided"):
            return _FLAGS[body.name] if body.op == "flag" else self.sided_set(body)
        if body.op == "box_is_tower":
            return k.IN_TOWER
        parts = [self.predicate_set(arg) for arg in body.args]
        if body.op == "not":
            return self.new(k.ANDNOT, k.ALL, parts[0])
        found = parts[0]
        for part in parts[1:]:
            found = self.new(k.AND if body.op in ("and", "both") else k.OR, found, part)
        return found

    def stream(self, e: Expr, v: Variables, body: Callable[[int], None]) -> None:
        """body(set of bits) for every tuple of a list of tuples, in order."""
        if e.op == "filter":
            function = e.args[1]

            def keep(chosen: int) -> None:
                skip = self.jump(k.JZ, self.value(function.args[0], {**v, function.name: chosen}))
                body(chosen)
                skip()

            self.stream(e.args[0], v, keep)
            return
        if e.op != "combinations" or e.args[1].op != "const" or not 1 <= e.args[1].value <= MAX_CHOSEN:
            raise NotCompiled
        self.choose(self.ordered(e.args[0], v), e.args[1].value, None, body)

    def choose(self, mask: int, size: int, chosen: int | None, body: Callable[[int], None]) -> None:
        """Nested loops over the subsets of `size` elements."""

        def inner(element: int, _exits: list[Callable[[], None]]) -> None:
            bit = self.new(k.BIT, element)
            now = bit if chosen is None else self.new(k.OR, chosen, bit)
            if size == 1:
                body(now)
            else:
                self.choose(self.new(k.BEYOND, mask, element), size - 1, now, body)

        self.loop(mask, inner)

    def _count(self, e: Expr, v: Variables) -> int:
        (values,) = e.args
        if not _is_stream(values):
            return self.new(k.POP, self.mask(values, v))
        total, one = self.new(k.IMM, 0), self.new(k.IMM, 1)

        def body(_chosen: int) -> None:
            self.emit(k.ADD, total, total, one)

        self.stream(values, v, body)
        return total

    def _exist(self, e: Expr, v: Variables) -> int:
        (values,) = e.args
        if _is_stream(values):
            return self.new(k.NZ, self._count(e, v))
        function = values.args[1] if values.op == "filter" else None
        if function is None or not is_total(function) or _is_coded_list(values.args[0]):
            return self.new(k.NZ, self.mask(values, v))
        if values.args[0].type.of == ITEM and _is_own(function.args[0], function.name):
            return self.new(k.NZ, self.mask(values, v))
        return self.some(values.args[0], function, v)

    def some(self, values: Expr, function: Expr, v: Variables) -> int:
        """Whether the predicate holds for some element; stops at the first, so only for predicates that cannot fail."""
        found = self.new(k.IMM, 0)

        def body(element: int, exits: list[Callable[[], None]]) -> None:
            self.emit(k.MOV, found, self.value(function.args[0], {**v, function.name: element}))
            exits.append(self.jump(k.JNZ, found))

        self.loop(self.mask(values, v), body)
        return found

    def _len(self, e: Expr, v: Variables) -> int:
        (values,) = e.args
        if _is_stream(values):
            return self._count(e, v)
        if values.type.kind == "set":
            return self.new(k.POP, self.mask(values, v))
        return self.new(k.POP, self.ordered(values, v))

    def _truth(self, e: Expr, v: Variables) -> int:
        (of,) = e.args
        if of.type == ITEM:
            self.value(of, v)
            return self.new(k.IMM, 1)
        if _is_stream(of) or of.type.kind in ("list", "set", "tuple"):
            return self._exist(e, v)
        return self.new(k.NZ, self.value(of, v))

    def _unique(self, e: Expr, v: Variables) -> int:
        return self.new(k.UNIQUE, self.mask(e.args[0], v))

    def _and(self, e: Expr, v: Variables) -> int:
        return self.chain(e, v, k.JZ)

    def _or(self, e: Expr, v: Variables) -> int:
        return self.chain(e, v, k.JNZ)

    def chain(self, e: Expr, v: Variables, leave: int) -> int:
        """`and` and `or`: the first part that decides, or the last one."""
        found = self.fresh()
        exits = []
        for arg in e.args:
            self.emit(k.MOV, found, self.value(arg, v))
            exits.append(self.jump(leave, found))
        for here in exits:
            here()
        return found

    def _pick_and(self, e: Expr, v: Variables) -> int:
        if _is_coded_list(e):
            raise NotCompiled
        return self.chain(e, v, k.JZ)

    def _pick_or(self, e: Expr, v: Variables) -> int:
        if _is_coded_list(e):
            raise NotCompiled
        return self.chain(e, v, k.JNZ)

    def _both(self, e: Expr, v: Variables) -> int:
        if is_total(e.args[1]):
            return self.chain(e, v, k.JZ)
        return self.new(k.AND, self.value(e.args[0], v), self.value(e.args[1], v))

    def _either(self, e: Expr, v: Variables) -> int:
        if is_total(e.args[1]):
            return self.chain(e, v, k.JNZ)
        return self.new(k.OR, self.value(e.args[0], v), self.value(e.args[1], v))

    def _not(self, e: Expr, v: Variables) -> int:
        return self.new(k.NOT, self.value(e.args[0], v))

    def _for_all(self, e: Expr, v: Variables) -> int:
        return self.quantified(e, v, every=True)

    def _for_any(self, e: Expr, v: Variables) -> int:
        return self.quantified(e, v, every=False)

    def quantified(self, e: Expr, v: Variables, every: bool) -> int:
        """All (false on nothing) and Any."""
        values, function = e.args
        total = is_total(function)
        if _is_coded_list(values):
            raise NotCompiled
        if _is_stream(values):
            seen, good = self.new(k.IMM, 0), self.new(k.IMM, 1 if every else 0)

            def judge(chosen: int) -> None:
                self.emit(k.IMM, seen, 1)
                self.step(good, function, {**v, function.name: chosen}, every)

            self.stream(values, v, judge)
            return self.new(k.AND, seen, good)
        mask = self.mask(values, v)
        good = self.new(k.NZ, mask) if every else self.new(k.IMM, 0)

        def body(element: int, exits: list[Callable[[], None]]) -> None:
            self.step(good, function, {**v, function.name: element}, every)
            if total:
                exits.append(self.jump(k.JZ if every else k.JNZ, good))

        self.loop(mask, body)
        return good

    def step(self, good: int, function: Expr, v: Variables, every: bool) -> None:
        """One element's verdict joined to the verdict so far."""
        self.emit(k.AND if every else k.OR, good, good, self.value(function.args[0], v))

    def _same_attribute(self, e: Expr, v: Variables) -> int:
        values, function = e.args
        if _is_coded_list(values) or _is_stream(values):
            raise NotCompiled
        mask = self.mask(values, v)
        good, first, seen = self.new(k.NZ, mask), self.new(k.IMM, 0), self.new(k.IMM, 0)

        def body(element: int, _exits: list[Callable[[], None]]) -> None:
            value = self.value(function.args[0], {**v, function.name: element})
            known = self.jump(k.JNZ, seen)
            self.emit(k.MOV, first, value)
            self.emit(k.IMM, seen, 1)
            known()
            self.emit(k.AND, good, good, self.new(k.EQ, value, first))

        self.loop(mask, body)
        return good

    def _member(self, e: Expr, v: Variables) -> int:
        value, mask = self.value(e.args[0], v), self.mask(e.args[1], v)
        return self.new(k.NZ, self.new(k.AND, mask, self.new(k.INTBIT, value)))

    def _contained(self, e: Expr, v: Variables) -> int:
        a, b = (self.mask(arg, v) for arg in e.args)
        return self.new(k.NOT, self.new(k.NZ, self.new(k.ANDNOT, a, b)))

    def _equal_set(self, e: Expr, v: Variables) -> int:
        a, b = (self.mask(arg, v) for arg in e.args)
        return self.new(k.EQ, a, b)

    def _equal(self, e: Expr, v: Variables) -> int:
        a, b = e.args
        if a.type.kind in ("list", "tuple") and not _is_coded_list(a):
            return self.new(k.EQ, self.ordered(a, v), self.ordered(b, v))
        return self.new(k.EQ, self.value(a, v), self.value(b, v))

    def _le(self, e: Expr, v: Variables) -> int:
        return self.new(k.LE, self.value(e.args[0], v), self.value(e.args[1], v))

    def _lt(self, e: Expr, v: Variables) -> int:
        return self.new(k.LT, self.value(e.args[0], v), self.value(e.args[1], v))

    def _ge(self, e: Expr, v: Variables) -> int:
        a, b = (self.value(arg, v) for arg in e.args)
        return self.new(k.LE, b, a)

    def _gt(self, e: Expr, v: Variables) -> int:
        a, b = (self.value(arg, v) for arg in e.args)
        return self.new(k.LT, b, a)

    def _add(self, e: Expr, v: Variables) -> int:
        return self.new(k.ADD, self.value(e.args[0], v), self.value(e.args[1], v))

    def _mod(self, e: Expr, v: Variables) -> int:
        return self.new(k.MOD, self.value(e.args[0], v), self.value(e.args[1], v))

    def _concat(self, e: Expr, v: Variables) -> int:
        if _is_coded_list(e):
            raise NotCompiled
        return self.new(k.OR, self.mask(e.args[0], v), self.mask(e.args[1], v))

    def _union(self, e: Expr, v: Variables) -> int:
        return self.combined(e, v, k.OR)

    def _intersect(self, e: Expr, v: Variables) -> int:
        return self.combined(e, v, k.AND)

    def combined(self, e: Expr, v: Variables, op: int) -> int:
        """Sets joined by an operation on their bits."""
        masks = [self.mask(arg, v) for arg in e.args]
        found = masks[0]
        for mask in masks[1:]:
            found = self.new(op, found, mask)
        return found

    def _select(self, e: Expr, v: Variables) -> int:
        values, place = e.args
        mask = self.mask(values, v) if values.type.kind == "set" else self.ordered(values, v)
        return self.new(k.NTH, mask, self.value(place, v))

    def _slice(self, e: Expr, v: Variables) -> int:
        values, low, high = e.args
        found = mask = self.ordered(values, v)
        if high.op != "absent":
            found = self.new(k.FIRST, mask, self.value(high, v))
        if low.op != "absent":
            found = self.new(k.ANDNOT, found, self.new(k.FIRST, mask, self.value(low, v)))
        return found

    def _all_same(self, e: Expr, v: Variables) -> int:
        return self.is_one(self.mask(e.args[0], v))

    def _set(self, e: Expr, v: Variables) -> int:
        return self.mask(e.args[0], v)

    def _display(self, e: Expr, v: Variables) -> int:
        if _is_coded_list(e):
            packed = self.new(k.IMM, 1)
            for arg in e.args:
                packed = self.new(k.PUSH, packed, self.value(arg, v))
            return packed
        bits = [self.new(k.INTBIT, self.value(arg, v)) for arg in e.args]
        found = bits[0]
        for bit in bits[1:]:
            found = self.new(k.OR, found, bit)
        return found

    def _all_true(self, e: Expr, v: Variables) -> int:
        (values,) = e.args
        mask = self.mask(values, v)
        if values.type.of == ITEM:
            return self.new(k.IMM, 1)
        return self.new(k.NOT, self.new(k.TEST, mask, self.new(k.IMM, 0)))

    def _min(self, e: Expr, v: Variables) -> int:
        values, function = e.args
        mask = self.ordered(values, v) if values.type.kind != "set" else self.mask(values, v)
        exists = self.jump(k.JNZ, mask)
        self.emit(k.FAIL)
        exists()
        best, least, seen = self.fresh(), self.fresh(), self.new(k.IMM, 0)

        def body(element: int, _exits: list[Callable[[], None]]) -> None:
            value = self.value(function.args[0], {**v, function.name: element})
            first = self.jump(k.JZ, seen)
            worse = self.jump(k.JZ, self.new(k.LT, value, least))
            first()
            self.emit(k.MOV, best, element)
            self.emit(k.MOV, least, value)
            self.emit(k.IMM, seen, 1)
            worse()

        self.loop(mask, body)
        return best

    def _facing(self, e: Expr, v: Variables) -> int:
        a, b = (self.value(arg, v) for arg in e.args)
        return self.new(k.TEST, self.new(k.ROW, a, k.FACING), b)

    def _box_of(self, e: Expr, v: Variables) -> int:
        return self.new(k.ROW, self.value(e.args[0], v), k.BOX_ROW)

    def _box_items(self, e: Expr, v: Variables) -> int:
        return self.new(k.SELECT, k.BOX_SETS, self.value(e.args[0], v))

    def _box_is_tower(self, e: Expr, v: Variables) -> int:
        return self.new(k.TEST, k.TOWERS, self.value(e.args[0], v))


def _is_own(body: Expr, name: str) -> bool:
    """Whether a predicate asks only for the item's own properties, so that it is a set (`Emitter.predicate_set`)."""
    if body.op in ("flag", "sided"):
        return body.args[0].op == "var" and body.args[0].name == name
    if body.op == "box_is_tower":
        return body.args[0].op == "box_of" and body.args[0].args[0].op == "var" and body.args[0].args[0].name == name
    return body.op in ("and", "or", "both", "either", "not") and all(_is_own(arg, name) for arg in body.args)
