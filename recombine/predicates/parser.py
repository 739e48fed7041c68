"""Text -> predicate, by a whitelist grammar. Nothing is executed, and every fault is a `UsageError` that says where it is.

    predicate   = conjunction {"or" conjunction}
    conjunction = negation {"and" negation}
    negation    = "not" negation | "(" predicate ")" | comparison
    comparison  = facet [operator value | "in" "(" value {"," value} ")"]
    facet       = name | "any" "(" name ")" | "all" "(" name ")" | name "[" number "]" ["." name]

A flag may stand alone. A facet that an example has several times is read as `any(…)` when it stands alone before `=` or `in`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn, cast

from recombine.errors import UnknownName, UsageError, shown
from recombine.facets import Facet, Value
from recombine.predicates.syntax import KEYWORDS, And, Atom, Mode, Not, Operator, Or, Predicate, format_predicate

MOST_CHARACTERS = 200
MOST_ATOMS = 16
MOST_DEPTH = 12
MOST_PLACE = 64
_TOKEN = re.compile(
    r"""\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)*)|(?P<number>-?[0-9]{1,9}(?![A-Za-z0-9_.]))"""
    r"""|(?P<string>'[A-Za-z0-9_ .&-]*'|"[A-Za-z0-9_ .&-]*")|(?P<sign><=|>=|!=|==|[=<>()\[\],.]))""",
    re.ASCII,
)
_ORDERED = frozenset({"<", "<=", ">", ">="})


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def parse(text: str, facets: Mapping[str, Facet], family: str = "this family") -> Predicate:
    """The checked predicate; a `UsageError` names what is wrong, where, and what is near to it."""
    if not isinstance(text, str):
        raise UsageError(f'the predicate is {shown(text)}, but must be a text such as "verb = push and k > 2".')
    if len(text) > MOST_CHARACTERS:
        raise UsageError(f"the predicate has {len(text):,} characters, but may have at most {MOST_CHARACTERS}.")
    reader = _Reader(text, _tokens(text), facets, family)
    found = reader.disjunction(0)
    if reader.here.kind != "end":
        reader.fail("expected 'and', 'or' or the end")
    if len(canonical := format_predicate(found)) > MOST_CHARACTERS:
        raise UsageError(
            f"the predicate is {len(canonical)} characters long when written out, but may have at most {MOST_CHARACTERS}."
        )
    return found


def _tokens(text: str) -> list[_Token]:
    found, at = [], 0
    stripped = text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if match is None:
            rest = stripped[at:].lstrip()
            raise UsageError(f"the predicate {shown(text)} has something unknown at character {at + 1}: {shown(rest[:20])}.")
        kind = str(match.lastgroup)
        found.append(_Token(kind, match[kind], match.start(kind)))
        at = match.end()
    return [*found, _Token("end", "", len(stripped))]


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, text: str, tokens: list[_Token], facets: Mapping[str, Facet], family: str) -> None:
        self.text, self.tokens, self.facets, self.family = text, tokens, facets, family
        self.at = 0
        self.atoms = 0

    @property
    def here(self) -> _Token:
        return self.tokens[self.at]

    def fail(self, wanted: str) -> NoReturn:
        seen = shown(self.here.text) if self.here.kind != "end" else "the end"
        raise UsageError(f"the predicate {shown(self.text)} is wrong at character {self.here.at + 1}: {wanted}, not {seen}.")

    def takes(self, *words: str) -> str:
        """Step over the token if it is one of these words or signs; it, or ""."""
        if self.here.kind in ("name", "sign") and self.here.text in words:
            self.at += 1
            return self.tokens[self.at - 1].text
        return ""

    def needs(self, sign: str) -> None:
        if not self.takes(sign):
            self.fail(f"expected {sign!r}")

    def disjunction(self, depth: int) -> Predicate:
        if depth > MOST_DEPTH:
            raise UsageError(f"the predicate {shown(self.text)} is nested more than {MOST_DEPTH} deep.")
        items = [self.conjunction(depth)]
        while self.takes("or"):
            items.append(self.conjunction(depth))
        return _joined(Or, items)

    def conjunction(self, depth: int) -> Predicate:
        items = [self.negation(depth)]
        while self.takes("and"):
            items.append(self.negation(depth))
        return _joined(And, items)

    def negation(self, depth: int) -> Predicate:
        if depth > MOST_DEPTH:
            raise UsageError(f"the predicate {shown(self.text)} is nested more than {MOST_DEPTH} deep.")
        if self.takes("not"):
            return Not(self.negation(depth + 1))
        if self.takes("("):
            inner = self.disjunction(depth + 1)
            self.needs(")")
            return inner
        return self.comparison()

    def comparison(self) -> Atom:
        self.atoms += 1
        if self.atoms > MOST_ATOMS:
            raise UsageError(f"the predicate {shown(self.text)} has more than {MOST_ATOMS} comparisons.")
        facet, mode, place = self.subject()
        values: list[Value]
        operator = self.takes("=", "==", "!=", "<", "<=", ">", ">=", "in")
        if not operator:
            if facet.kind != "flag":
                self.fail(f"expected a comparison of {facet.name}")
            operator, values = "=", [True]
        elif operator == "in":
            self.needs("(")
            values = [self.value(facet)]
            while self.takes(","):
                values.append(self.value(facet))
            self.needs(")")
        else:
            values = [self.value(facet)]
        if facet.many and mode == "one" and not place:
            if operator not in ("=", "==", "in"):
                raise UsageError(
                    f"an example may have {facet.name} several times, so {operator!r} is unclear: "
                    f"say any({facet.name}), all({facet.name}) or {facet.name}[1]."
                )
            mode = "any"
        if operator in _ORDERED and facet.kind != "number":
            raise UsageError(f"{facet.name} is no number, so {operator!r} does not apply; use =, != or in.")
        if operator == "in":
            values = sorted(set(values), key=lambda value: (str(type(value)), value))
        return Atom(facet.name, cast(Operator, "=" if operator == "==" else operator), tuple(values), mode, place)

    def subject(self) -> tuple[Facet, Mode, int]:
        token = self.here
        if token.kind != "name" or token.text in KEYWORDS - {"any", "all"}:
            self.fail("expected a facet")
        self.at += 1
        if token.text in ("any", "all"):
            self.needs("(")
            name = self.here
            if name.kind != "name" or name.text in KEYWORDS:
                self.fail("expected a facet")
            self.at += 1
            self.needs(")")
            facet = self.find(name.text)
            if not facet.many:
                raise UsageError(f"an example has {facet.name} only once; leave out {token.text}(…).")
            return facet, cast(Mode, token.text), 0
        if not self.takes("["):
            return self.find(token.text), "one", 0
        number = self.here
        if number.kind != "number" or not 1 <= int(number.text) <= MOST_PLACE:
            self.fail(f"expected a number from 1 to {MOST_PLACE}")
        self.at += 1
        self.needs("]")
        full = token.text
        if self.takes("."):
            rest = self.here
            if rest.kind != "name":
                self.fail("expected the rest of a facet's name")
            self.at += 1
            full = f"{token.text}.{rest.text}"
            if full not in self.facets and token.text == "clause" and rest.text in self.facets:
                full = rest.text  # `clause[2].relation`, where every value of `relation` belongs to one clause
        facet = self.find(full)
        if not facet.many:
            raise UsageError(f"an example has {facet.name} only once; leave out [{number.text}].")
        return facet, "one", int(number.text)

    def find(self, name: str) -> Facet:
        if name not in self.facets:
            same_end = [known for known in self.facets if known.rpartition(".")[2] == name.rpartition(".")[2]]
            if same_end and not difflib.get_close_matches(name, list(self.facets), n=1, cutoff=0.8):
                raise UsageError(f"unknown facet of {self.family} {shown(name)}. Did you mean {' or '.join(same_end)}?")
            raise UnknownName(f"facet of {self.family}", name, self.facets)
        return self.facets[name]

    def value(self, facet: Facet) -> Value:
        token = self.here
        if token.kind not in ("name", "number", "string") or (
            token.kind == "name" and token.text in KEYWORDS - {"true", "false"}
        ):
            self.fail(f"expected a value of {facet.name}")
        self.at += 1
        text = token.text[1:-1] if token.kind == "string" else token.text
        if facet.kind == "number":
            if token.kind != "number":
                raise UsageError(f"{facet.name} is a number, but the predicate compares it with {shown(text)}.")
            return int(text)
        if facet.kind == "flag":
            if text not in ("true", "false") or token.kind != "name":
                raise UsageError(f"{facet.name} is true or false, but the predicate compares it with {shown(text)}.")
            return text == "true"
        known = [spelling(str(value)) for value in facet.values]
        if known and text not in known:
            raise UnknownName(f"value of {facet.name}", text, known)
        return text


def spelling(value: str) -> str:
    """A value as predicates write it: ids reserve the plus sign, so `a+b` is written `a&b`; apostrophes are left out."""
    return value.replace("+", "&").replace("'", "")


def _joined(kind: type[And] | type[Or], items: list[Predicate]) -> Predicate:
    """One item as it is; several as one flat node."""
    flat: list[Predicate] = []
    for item in items:
        flat += item.items if isinstance(item, kind) else [item]
    return flat[0] if len(flat) == 1 else kind(tuple(flat))
