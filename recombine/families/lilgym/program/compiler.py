"""A typed program as instructions of `program_kernel`: sets of items as words, predicates as set algebra, lambdas as loops.

A predicate that asks only for an item's own properties becomes intersections of prepared sets; every other lambda becomes a
loop over the set's bits. A list is a word only where its order and repetitions cannot matter; where they can, or where a
construct is too rare to be worth an instruction, `compile_program` gives None and the plain interpreter does the work.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from recombine.families.lilgym.program import kernel as k
from recombine.families.lilgym.program.emitter import FLAGS, Emitter, NotCompiled, Variables, is_coded_list, is_stream, is_total
from recombine.families.lilgym.program.types import ITEM, Expr

MAX_CHOSEN = 4
"""Combinations of more elements than this are left to the plain interpreter."""


def compile_program(typed: Expr) -> NDArray[np.int32] | None:
    """The instructions (n, 4) of a typed program, or None if it is left to the plain interpreter."""
    emitter = Compiler()
    try:
        emitter.emit(k.HALT, emitter.value(typed, {}))
    except NotCompiled:
        return None
    return np.array(emitter.code, np.int32).reshape(-1, 4)


class Compiler(Emitter):
    """Quantifiers, logic, comparisons and sets, on the ground of `Emitter`."""

    def _filter(self, e: Expr, v: Variables) -> int:
        values, function = e.args
        if is_coded_list(values):
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
            return FLAGS[body.name] if body.op == "flag" else self.sided_set(body)
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
        if not is_stream(values):
            return self.new(k.POP, self.mask(values, v))
        total, one = self.new(k.IMM, 0), self.new(k.IMM, 1)

        def body(_chosen: int) -> None:
            self.emit(k.ADD, total, total, one)

        self.stream(values, v, body)
        return total

    def _exist(self, e: Expr, v: Variables) -> int:
        (values,) = e.args
        if is_stream(values):
            return self.new(k.NZ, self._count(e, v))
        function = values.args[1] if values.op == "filter" else None
        if function is None or not is_total(function) or is_coded_list(values.args[0]):
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
        if is_stream(values):
            return self._count(e, v)
        if values.type.kind == "set":
            return self.new(k.POP, self.mask(values, v))
        return self.new(k.POP, self.ordered(values, v))

    def _truth(self, e: Expr, v: Variables) -> int:
        (of,) = e.args
        if of.type == ITEM:
            self.value(of, v)
            return self.new(k.IMM, 1)
        if is_stream(of) or of.type.kind in ("list", "set", "tuple"):
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
        if is_coded_list(e):
            raise NotCompiled
        return self.chain(e, v, k.JZ)

    def _pick_or(self, e: Expr, v: Variables) -> int:
        if is_coded_list(e):
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
        if is_coded_list(values):
            raise NotCompiled
        if is_stream(values):
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
        if is_coded_list(values) or is_stream(values):
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
        if a.type.kind in ("list", "tuple") and not is_coded_list(a):
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
        if is_coded_list(e):
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
        if is_coded_list(e):
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


def _is_own(body: Expr, name: str) -> bool:
    """Whether a predicate asks only for the item's own properties, so that it is a set (`Compiler.predicate_set`)."""
    if body.op in ("flag", "sided"):
        return body.args[0].op == "var" and body.args[0].name == name
    if body.op == "box_is_tower":
        return body.args[0].op == "box_of" and body.args[0].args[0].op == "var" and body.args[0].args[0].name == name
    return body.op in ("and", "or", "both", "either", "not") and all(_is_own(arg, name) for arg in body.args)
