"""The type checker: a program's tree with a type at every node, and the faults that the plain interpreter would walk past.

What cannot be typed is refused. What can be typed but is almost certainly not meant (a method that is named but not called, so
that it is always true; a list where a truth value is expected) is kept, evaluated as Python would, and reported as a `Fault`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from recombine.errors import ProgramError, UnknownName, shown
from recombine.families.lilgym.program.functions import FUNCTIONS
from recombine.families.lilgym.program.syntax import Node
from recombine.families.lilgym.program.values import ENUMS, MEMBERS


@dataclass(frozen=True, slots=True)
class Type:
    """A type: a scalar, or a collection `of` another. `plain`: surely in scene order and without repetition."""

    kind: str
    of: Type | None = None
    plain: bool = True

    def __str__(self) -> str:
        return f"{self.kind} of {self.of}" if self.of else self.kind


BOOL, INT, ITEM, BOX, METHOD = Type("bool"), Type("int"), Type("item"), Type("box"), Type("uncalled method")
ENUM_TYPES: Mapping[str, Type] = {name: Type(name.lower()) for name in ENUMS}
COLOR, SHAPE, SIZE, SIDE = (ENUM_TYPES[name] for name in ("Color", "Shape", "Size", "Side"))
ATTRIBUTES: Mapping[str, tuple[int, Type]] = {"color": (0, COLOR), "shape": (1, SHAPE), "size": (2, SIZE)}
SINGLE = (INT, ITEM, BOX, COLOR, SHAPE, SIZE, SIDE)
_COLLECTIONS = ("list", "set", "tuple")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something well-formed that is almost certainly not meant; `code` is `uncalled_method`, `not_a_bool` or `bool_as_int`."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Expr:
    """A typed node: what it does (`op`), on what (`args`), with a number or a variable where the operation has one."""

    op: str
    type: Type
    args: tuple[Expr, ...] = ()
    value: int = 0
    name: str = ""


Variables = Mapping[str, Type]


def list_of(kind: Type, plain: bool = True) -> Type:
    """The type of a list."""
    return Type("list", kind, plain)


def set_of(kind: Type) -> Type:
    """The type of a set."""
    return Type("set", kind)


def check(tree: Node, text: str) -> tuple[Expr, tuple[Fault, ...]]:
    """The typed tree of a program whose value is a bool, and its faults; a `ProgramError` if it cannot be typed."""
    checker = Checker(text)
    typed = checker.of(tree, {})
    if typed.type != BOOL:
        raise ProgramError(f"the program's value is of type {typed.type}, but must be a bool.")
    return typed, tuple(dict.fromkeys(checker.faults))


class Checker:
    """Types one program; collects faults on the way."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.faults: list[Fault] = []

    def source(self, node: Node) -> str:
        """The node's text, for messages."""
        return shown(self.text[node.start : node.stop], 60)

    def of(self, node: Node, variables: Variables) -> Expr:
        """The typed form of a node in value position."""
        return getattr(self, f"_{node.kind.replace('lambda', 'abstraction')}")(node, variables)  # type: ignore[no-any-return]

    def need(self, node: Node, variables: Variables, wanted: Type, what: str = "") -> Expr:
        """The typed form of a node that must have this type."""
        typed = self.of(node, variables)
        if typed.type.kind != wanted.kind or typed.type.of != wanted.of:
            raise ProgramError(f"{self.source(node)} is of type {typed.type}, but {what or 'here'} needs {wanted}.")
        return typed

    def truth(self, node: Node, variables: Variables) -> Expr:
        """The typed form of a node of which only the truth matters (Python's truth, with a fault if it is no bool)."""
        if node.kind in ("and", "or"):
            return Expr(node.kind, BOOL, tuple(self.truth(child, variables) for child in node.children))
        typed = self.of(node, variables)
        if typed.type == BOOL:
            return typed
        if typed.type == METHOD:
            self.faults.append(Fault("uncalled_method", f"{self.source(node)} is named but not called, so it is always true."))
            return Expr("const", BOOL, value=1)
        if typed.type.kind in _COLLECTIONS or typed.type in (INT, ITEM):
            text = f"{self.source(node)} is of type {typed.type}, but is used as a truth value."
            self.faults.append(Fault("not_a_bool", text))
            return Expr("truth", BOOL, (typed,))
        raise ProgramError(f"{self.source(node)} is of type {typed.type}, which is neither true nor false.")

    def collection(self, node: Node, variables: Variables) -> tuple[Expr, Type]:
        """The typed form of a list, tuple, set or box, and the type of its elements."""
        typed = self.of(node, variables)
        if typed.type == BOX:
            return Expr("box_items", list_of(ITEM), (typed,)), ITEM
        if typed.type.of is None:
            raise ProgramError(f"{self.source(node)} is of type {typed.type}, not a collection.")
        return typed, typed.type.of

    def items(self, node: Node, variables: Variables, single: bool = False) -> Expr:
        """The typed form of a collection of items; with `single`, a bare item will do."""
        if single:
            typed = self.of(node, variables)
            if typed.type == ITEM:
                return typed
        typed, kind = self.collection(node, variables)
        if kind != ITEM:
            raise ProgramError(f"{self.source(node)} is of type {typed.type}, but items are needed.")
        return typed

    def function(self, node: Node, variables: Variables, kind: Type, truth: bool) -> Expr:
        """A lambda, or a function passed by name, over elements of `kind`: `name` is its variable, `args[0]` its body."""
        if node.kind == "name" and node.name in FUNCTIONS and node.name not in variables:
            argument = Node("name", node.start, node.stop, name="·")
            body: Node = Node("call", node.start, node.stop, children=(node, argument))
            name = "·"
        elif node.kind == "lambda":
            name, body = node.name, node.children[0]
        else:
            raise ProgramError(f"{self.source(node)} is not a function; a lambda or a function's name is needed.")
        inner = {**variables, name: kind}
        typed = self.truth(body, inner) if truth else self.of(body, inner)
        return Expr("lambda", typed.type, (typed,), name=name)

    # --- node kinds ---

    def _name(self, node: Node, variables: Variables) -> Expr:
        if node.name in variables:
            return Expr("var", variables[node.name], name=node.name)
        if node.name == "all_items":
            return Expr("items", list_of(ITEM))
        if node.name == "all_boxes":
            return Expr("boxes", list_of(BOX))
        if node.name in FUNCTIONS:
            raise ProgramError(f"{node.name} is a function; call it, or pass it where a function is needed.")
        raise ProgramError(str(UnknownName("name in a program", node.name, [*FUNCTIONS, *ENUMS, "all_items", "all_boxes"])))

    def _int(self, node: Node, _variables: Variables) -> Expr:
        return Expr("const", INT, value=node.value)

    def _bool(self, node: Node, _variables: Variables) -> Expr:
        return Expr("const", BOOL, value=node.value)

    def _abstraction(self, node: Node, _variables: Variables) -> Expr:
        raise ProgramError(f"{self.source(node)} stands where a value is needed; lambdas go to functions such as filter_obj.")

    def _attr(self, node: Node, variables: Variables) -> Expr:
        owner = node.children[0]
        if owner.kind == "name" and owner.name in ENUMS and owner.name not in variables:
            if node.name not in MEMBERS[owner.name]:
                raise ProgramError(str(UnknownName(f"{owner.name} in a program", node.name, MEMBERS[owner.name])))
            return Expr("const", ENUM_TYPES[owner.name], value=int(MEMBERS[owner.name][node.name].value))
        typed = self.of(owner, variables)
        if typed.type == ITEM and node.name == "box":
            return Expr("box_of", BOX, (typed,))
        if typed.type == BOX and node.name in ("is_tower", "all_items_in_box"):
            return Expr(node.name, METHOD, (typed,))
        raise ProgramError(f"{self.source(node)}: a value of type {typed.type} has no {shown(node.name)}.")

    def _call(self, node: Node, variables: Variables) -> Expr:
        function, *arguments = node.children
        if function.kind == "attr":
            method = self.of(function, variables)
            if method.type != METHOD or arguments:
                raise ProgramError(f"{self.source(node)} is not a call of is_tower() or all_items_in_box().")
            if method.op == "is_tower":
                return Expr("box_is_tower", BOOL, method.args)
            return Expr("box_items", list_of(ITEM), method.args)
        if function.kind != "name" or function.name in variables:
            raise ProgramError(f"{self.source(function)} cannot be called; only the language's functions can.")
        if function.name not in FUNCTIONS:
            raise ProgramError(str(UnknownName("function in a program", function.name, FUNCTIONS)))
        known = FUNCTIONS[function.name]
        wrong_names = any(name not in known.keywords for name in node.names)
        if not known.least <= len(arguments) <= known.most or wrong_names or len(set(node.names)) < len(node.names):
            by_name = f" ({', '.join(known.keywords)} by name)" if known.keywords else ""
            raise ProgramError(f"{self.source(node)}: {known.name} takes {known.arity} arguments{by_name}.")
        if known.name == "min" and node.names != ("key",):
            raise ProgramError(f"{self.source(node)}: min takes a collection and key=...")
        if node.names and known.name != "min" and len(arguments) < 2:
            raise ProgramError(f"{self.source(node)}: {known.name} needs its item first.")
        from recombine.families.lilgym.program.signatures import SIGNATURES

        return SIGNATURES[known.name](self, node, tuple(arguments), variables)

    def _index(self, node: Node, variables: Variables) -> Expr:
        values = self.of(node.children[0], variables)
        if values.type.kind not in ("list", "tuple") or values.type.of is None:
            raise ProgramError(f"{self.source(node)}: only lists have elements by number, not {values.type}.")
        return Expr("select", values.type.of, (values, self.need(node.children[1], variables, INT)))

    def _slice(self, node: Node, variables: Variables) -> Expr:
        values = self.of(node.children[0], variables)
        if values.type.kind not in ("list", "tuple") or values.type.of is None:
            raise ProgramError(f"{self.source(node)}: only lists can be sliced, not {values.type}.")
        absent = Expr("absent", INT)
        bounds = (absent if b.kind == "bool" else self.need(b, variables, INT) for b in node.children[1:])
        return Expr("slice", list_of(values.type.of, values.type.plain), (values, *bounds))

    def _and(self, node: Node, variables: Variables) -> Expr:
        """In value position `and` and `or` give one of their parts, as in Python; the parts must then have one type."""
        parts = tuple(self.of(child, variables) for child in node.children)
        kind = parts[0].type
        for child, part in zip(node.children, parts, strict=True):
            if part.type == METHOD or part.type.kind != kind.kind or part.type.of != kind.of:
                raise ProgramError(f"{self.source(child)} is of type {part.type}, but {node.kind} needs {kind} here.")
        if kind == BOOL:
            return Expr(node.kind, BOOL, parts)
        if kind.of is None:
            raise ProgramError(f"{self.source(node)} joins values of type {kind}, which are neither true nor false.")
        text = f"{self.source(node)} joins collections with {node.kind!r}, which gives one of them."
        self.faults.append(Fault("not_a_bool", text))
        plain = all(part.type.plain for part in parts)
        return Expr(f"pick_{node.kind}", replace(kind, plain=plain), parts)

    _or = _and

    def _not(self, node: Node, variables: Variables) -> Expr:
        return Expr("not", BOOL, (self.truth(node.children[0], variables),))

    def _compare(self, node: Node, variables: Variables) -> Expr:
        parts = [self.of(child, variables) for child in node.children]
        tests = [self.comparison(sign, a, b, node) for sign, a, b in zip(node.names, parts, parts[1:], strict=False)]
        return tests[0] if len(tests) == 1 else Expr("and", BOOL, tuple(tests))

    def comparison(self, sign: str, a: Expr, b: Expr, node: Node) -> Expr:
        """One comparison; the two sides must be able to be equal."""
        if sign in ("in", "not in"):
            if b.type == BOX:
                b = Expr("box_items", list_of(ITEM), (b,))
            if b.type.of != a.type or a.type not in (*SINGLE, BOOL):
                raise ProgramError(f"{self.source(node)}: {a.type} cannot be in {b.type}.")
            test = Expr("member", BOOL, (a, b))
            return test if sign == "in" else Expr("not", BOOL, (test,))
        if sign in ("==", "!=") and {a.type, b.type} == {BOOL, INT}:
            self.faults.append(Fault("bool_as_int", f"{self.source(node)} compares a bool with an integer."))
            a, b = replace(a, type=INT), replace(b, type=INT)
        if a.type.kind != b.type.kind or a.type.of != b.type.of or a.type == METHOD:
            raise ProgramError(f"{self.source(node)} compares {a.type} with {b.type}, which are never equal.")
        if sign in ("==", "!="):
            return Expr("equal", BOOL, (a, b)) if sign == "==" else Expr("not", BOOL, (Expr("equal", BOOL, (a, b)),))
        if a.type != INT:
            raise ProgramError(f"{self.source(node)}: {a.type} has no order; {sign} compares integers.")
        return Expr(_ORDER[sign], BOOL, (a, b))

    def _add(self, node: Node, variables: Variables) -> Expr:
        a, b = (self.of(child, variables) for child in node.children)
        if a.type == b.type == INT:
            return Expr("add", INT, (a, b))
        if a.type.kind == b.type.kind == "list" and a.type.of == b.type.of and a.type.of is not None:
            return Expr("concat", list_of(a.type.of, plain=False), (a, b))
        raise ProgramError(f"{self.source(node)}: {a.type} and {b.type} cannot be added.")

    def _mod(self, node: Node, variables: Variables) -> Expr:
        return Expr("mod", INT, tuple(self.need(child, variables, INT) for child in node.children))

    def _list(self, node: Node, variables: Variables) -> Expr:
        parts = tuple(self.of(child, variables) for child in node.children)
        kinds = {part.type for part in parts}
        if len(kinds) != 1 or not kinds <= {*SINGLE, BOOL}:
            raise ProgramError(f"{self.source(node)}: a list or set has one or more elements, all of one simple type.")
        return Expr("display", list_of(parts[0].type, plain=False), parts)

    def _set(self, node: Node, variables: Variables) -> Expr:
        listed = self._list(node, variables)
        if listed.type.of == BOOL or listed.type.of is None:
            raise ProgramError(f"{self.source(node)}: a set does not hold bools.")
        return Expr("set", set_of(listed.type.of), (listed,))


_ORDER = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
