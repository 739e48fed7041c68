"""The text of a program as a tree: a small parser that knows nothing but the annotation language.

One expression, no statements, no strings, no floats, no comprehensions, one-argument lambdas. Limits are checked while
reading, so a hostile text costs no more than its first few thousand characters. Everything else is a `ProgramError`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from recombine.errors import ProgramError, shown

MAX_CHARS = 4096
MAX_DEPTH = 64
MAX_NODES = 2000
MAX_INT = 1000

Kind = Literal[
    "name",
    "int",
    "bool",
    "call",
    "attr",
    "index",
    "slice",
    "lambda",
    "and",
    "or",
    "not",
    "compare",
    "add",
    "mod",
    "list",
    "set",
]
COMPARISONS = ("==", "!=", "<=", ">=", "<", ">", "in", "not in")
_LEVELS = {"or": 0, "and": 1, **dict.fromkeys(COMPARISONS, 3), "+": 4, "%": 5}
_KINDS: dict[int, Kind] = {0: "or", 1: "and", 3: "compare", 4: "add", 5: "mod"}
_NOT = 2
_TOKEN = re.compile(r"\s*(?:([A-Za-z_][A-Za-z0-9_]*)|([0-9]+)|(==|!=|<=|>=|[()\[\]{},.:<>+%=]))")
_WORDS = frozenset({"and", "or", "not", "in", "lambda", "True", "False"})
_FOREIGN = frozenset(
    [
        "if",
        "else",
        "for",
        "while",
        "is",
        "def",
        "class",
        "return",
        "import",
        "from",
        "as",
        "with",
        "yield",
        "await",
        "async",
        "assert",
        "del",
        "pass",
        "raise",
        "try",
        "except",
        "finally",
        "global",
        "nonlocal",
        "break",
        "continue",
        "None",
    ]
)


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a program. `children` are its parts in order; `names` are keywords, comparison signs or a lambda's variable."""

    kind: Kind
    start: int
    stop: int
    name: str = ""
    value: int = 0
    children: tuple[Node, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: Literal["name", "int", "sign", "end"]
    text: str
    start: int
    stop: int


def parse(text: str) -> Node:
    """The tree of a program; a `ProgramError` that shows the place if the text is anything else."""
    if not isinstance(text, str):
        raise ProgramError(f"a program is a text, not {shown(text)}.")
    if len(text) > MAX_CHARS:
        raise ProgramError(f"the program has {len(text):,} characters, but at most {MAX_CHARS:,} are allowed.")
    return _Parser(text).whole()


def _tokens(text: str) -> list[_Token]:
    tokens = []
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            if not text[place:].strip():
                break
            rest = text[place:].lstrip()
            raise ProgramError(f"{shown(rest[0])} at character {len(text) - len(rest)} is not part of the program language.")
        kind: Literal["name", "int", "sign"] = "name" if found[1] else "int" if found[2] else "sign"
        word = found[1] or found[2] or found[3]
        tokens.append(_Token(kind, word, found.end() - len(word), found.end()))
        place = found.end()
    tokens.append(_Token("end", "the end", len(text), len(text)))
    return tokens


class _Parser:
    """Precedence climbing over the tokens."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.place = 0
        self.depth = 0
        self.nodes = 0

    def whole(self) -> Node:
        if self.tokens[0].kind == "end":
            raise ProgramError("the program is empty.")
        tree = self.expression()
        if self.next.kind != "end":
            raise self.unexpected("the end")
        return tree

    @property
    def next(self) -> _Token:
        return self.tokens[self.place]

    def take(self) -> _Token:
        token = self.tokens[self.place]
        self.place += 1
        return token

    def accept(self, *texts: str) -> bool:
        if self.next.kind != "end" and self.next.text in texts:
            self.place += 1
            return True
        return False

    def expect(self, text: str) -> _Token:
        if self.next.kind == "end" or self.next.text != text:
            raise self.unexpected(repr(text))
        return self.take()

    def unexpected(self, wanted: str) -> ProgramError:
        token = self.next
        found = token.text if token.kind == "end" else shown(token.text)
        return ProgramError(f"expected {wanted} at character {token.start} of the program, but found {found}.")

    def node(self, kind: Kind, start: int, **fields: object) -> Node:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise ProgramError(f"the program has more than {MAX_NODES:,} nodes.")
        return Node(kind, start, self.tokens[self.place - 1].stop, **fields)  # type: ignore[arg-type]

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ProgramError(f"the program is nested more than {MAX_DEPTH} deep.")
        tree = self.abstraction() if self.next.text == "lambda" and self.next.kind == "name" else self.climb(0)
        self.depth -= 1
        return tree

    def abstraction(self) -> Node:
        start = self.take().start
        if self.next.kind != "name" or not _is_plain(self.next.text):
            raise self.unexpected("one variable after 'lambda'")
        variable = self.take().text
        self.expect(":")
        body = self.expression()
        return self.node("lambda", start, name=variable, children=(body,))

    def climb(self, level: int) -> Node:
        """Everything that binds at least as tightly as `level`: 0 or, 1 and, 2 not, 3 comparison, 4 +, 5 %."""
        start = self.next.start
        tree = self.negation(start) if level <= _NOT and self.next.text == "not" else self.postfix()
        while True:
            sign = self.sign()
            binds = _LEVELS.get(sign, -1)
            if binds < level:
                return tree
            kind = _KINDS[binds]
            parts, signs = [tree], []
            while _LEVELS.get(self.sign(), -1) == binds and (len(parts) == 1 or kind not in ("add", "mod")):
                signs.append(self.take_sign())
                parts.append(self.climb(binds + 1))
            tree = self.node(kind, start, children=tuple(parts), names=tuple(signs) if kind == "compare" else ())

    def sign(self) -> str:
        """The operator that comes next, if one does."""
        token = self.next
        if token.kind == "name" and token.text == "not" and self.tokens[self.place + 1].text == "in":
            return "not in"
        return token.text if token.kind != "end" else ""

    def take_sign(self) -> str:
        sign = self.sign()
        self.place += 2 if sign == "not in" else 1
        return sign

    def negation(self, start: int) -> Node:
        count = 0
        while self.accept("not"):
            count += 1
            if count + self.depth > MAX_DEPTH:
                raise ProgramError(f"the program is nested more than {MAX_DEPTH} deep.")
        tree = self.climb(_NOT + 1)
        for _ in range(count):
            tree = self.node("not", start, children=(tree,))
        return tree

    def postfix(self) -> Node:
        start = self.next.start
        tree = self.atom()
        for _ in range(MAX_DEPTH):
            if self.accept("."):
                if self.next.kind != "name" or not _is_plain(self.next.text):
                    raise self.unexpected("a name after '.'")
                tree = self.node("attr", start, name=self.take().text, children=(tree,))
            elif self.accept("("):
                names, children = self.arguments()
                tree = self.node("call", start, children=(tree, *children), names=names)
            elif self.accept("["):
                tree = self.subscript(start, tree)
            else:
                return tree
        raise ProgramError(f"the program chains more than {MAX_DEPTH} calls, names and subscripts.")

    def arguments(self) -> tuple[tuple[str, ...], tuple[Node, ...]]:
        """The arguments up to the closing bracket; the last len(names) of them are by keyword."""
        names: list[str] = []
        children: list[Node] = []
        while not self.accept(")"):
            if children:
                self.expect(",")
                if self.accept(")"):
                    break
            following = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
            if self.next.kind == "name" and following.text == "=" and following.kind == "sign":
                names.append(self.take().text)
                self.expect("=")
            elif names:
                raise self.unexpected("a keyword argument")
            children.append(self.expression())
        return tuple(names), tuple(children)

    def subscript(self, start: int, tree: Node) -> Node:
        """`[i]` has two children; `[a:b]` has three, with a bool node where a bound is left out."""
        absent = Node("bool", self.next.start, self.next.start)
        low = absent if self.next.text == ":" else self.expression()
        if not self.accept(":"):
            self.expect("]")
            return self.node("index", start, children=(tree, low))
        high = absent if self.next.text == "]" else self.expression()
        self.expect("]")
        return self.node("slice", start, children=(tree, low, high))

    def atom(self) -> Node:
        token = self.next
        if token.kind == "int":
            return self.integer()
        if token.kind == "name":
            if token.text in ("True", "False"):
                self.take()
                return self.node("bool", token.start, value=int(token.text == "True"))
            if _is_plain(token.text):
                self.take()
                return self.node("name", token.start, name=token.text)
            raise self.unexpected("a value")
        if self.accept("("):
            tree = self.expression()
            self.expect(")")
            return tree
        if self.accept("["):
            return self.node("list", token.start, children=self.elements("]"))
        if self.accept("{"):
            children = self.elements("}")
            if not children:
                raise ProgramError("{} is empty; the language has sets, but no dictionaries.")
            return self.node("set", token.start, children=children)
        raise self.unexpected("a value")

    def integer(self) -> Node:
        token = self.take()
        if len(token.text) > 4 or int(token.text) > MAX_INT:
            raise ProgramError(f"the number {shown(token.text, 24)} is over {MAX_INT:,}.")
        return self.node("int", token.start, value=int(token.text))

    def elements(self, closing: str) -> tuple[Node, ...]:
        children: list[Node] = []
        while not self.accept(closing):
            if children:
                self.expect(",")
                if self.accept(closing):
                    break
            children.append(self.expression())
        return tuple(children)


def _is_plain(word: str) -> bool:
    """Whether the word may stand for a function, a variable or an attribute: no keyword, no leading underscore."""
    return word not in _WORDS and word not in _FOREIGN and not word.startswith("_")
