"""Statements and programs as tokens with slots: the colours, shapes and numbers that a statement names become `@color1`, `@number2`, …

A slot is numbered by the order in which the statement first names its value. The program's tokens for that value get the same slot.
A number of the program that is one more or one less than a named number becomes `@number1+1` or `@number1-1`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

NUMBER = "number"
DIGITS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
}  # fmt: skip
_WORD = re.compile(r"[a-z]+|[0-9]+|[,;]")
_TOKEN = re.compile(r"[A-Za-z_][\w.]*|[0-9]+|==|>=|<=|!=|[^\s\w]")
_SLOT = re.compile(r"(.*?)@([a-z]+)([0-9]+)([+-]1)?$")
VARIABLES = ("x", "y", "z", "w", "v", "u")
_OPENING, _CLOSING, _COMMA = frozenset("([{"), frozenset(")]}"), frozenset(",")
MOST_WORDS = 120
"""Words of a statement beyond these are not read."""
CLOSE = 0.8
"""How alike a misspelt word and a known one must be (difflib's ratio)."""

ValueWords = Mapping[str, Mapping[str, tuple[str, ...]]]
Tokens = tuple[str, ...]


class Slotted(NamedTuple):
    """A statement with slots, and the value of each slot."""

    tokens: Tokens
    values: Mapping[str, str]  # "@color1" -> "blue"


def words_of(statement: str) -> list[str]:
    """Lower-case words without plural endings; number words as digits."""
    return [_plain(word) for word in _WORD.findall(statement.lower())[:MOST_WORDS]]


def _plain(word: str) -> str:
    if word in DIGITS:
        return DIGITS[word]
    if word.endswith(("xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def known_words(words: Sequence[str], known: Collection[str]) -> list[str]:
    """The words, each unknown one replaced by the most similar known word, if there is one."""
    found = []
    for word in words:
        if word in known or word.isdigit() or len(word) < 3:
            found.append(word)
        else:
            close = difflib.get_close_matches(word, sorted(w for w in known if w[0] == word[0]), 1, CLOSE)
            found.append(close[0] if close else word)
    return found


def slotted(words: Sequence[str], value_words: ValueWords) -> Slotted:
    """The words with slots for the values that they name."""
    kinds = {word: kind for kind, names in value_words.items() for word in names}
    slots: dict[tuple[str, str], str] = {}
    tokens = []
    for word in words:
        kind = NUMBER if word.isdigit() else kinds.get(word)
        if kind is None:
            tokens.append(word)
            continue
        if (kind, word) not in slots:
            slots[kind, word] = f"@{kind}{1 + sum(k == kind for k, _ in slots)}"
        tokens.append(slots[kind, word])
    return Slotted(tuple(tokens), {slot: word for (_, word), slot in slots.items()})


def program_tokens(program: str) -> Tokens:
    """The program's tokens; each lambda's variable is named by its depth."""
    return tuple(_renamed(_TOKEN.findall(program)))


def _renamed(tokens: Sequence[str]) -> list[str]:
    """Variables named by the depth of their lambda: x, then y inside it, …"""
    out: list[str] = []
    open_lambdas: list[tuple[int, str]] = []  # bracket depth, old name
    depth, after_lambda = 0, False
    for part in tokens:
        depth += (part in _OPENING) - (part in _CLOSING)
        while open_lambdas and (depth < open_lambdas[-1][0] or (part in _COMMA and depth == open_lambdas[-1][0])):
            open_lambdas.pop()
        if after_lambda and len(open_lambdas) < len(VARIABLES):
            open_lambdas.append((depth, part))
        after_lambda = part == "lambda"
        head, dot, rest = part.partition(".")
        level = next((k for k in reversed(range(len(open_lambdas))) if open_lambdas[k][1] == head), None)
        out.append(part if level is None else VARIABLES[level] + dot + rest)
    return out


def program_slots(tokens: Tokens, values: Mapping[str, str], value_words: ValueWords) -> Tokens:
    """The program's tokens with the statement's slots in place of the values that the statement names."""
    names = {name: (kind, word) for kind, words in value_words.items() for word, forms in words.items() for name in forms}
    slots = {(slot.lstrip("@").rstrip("0123456789"), word): slot for slot, word in values.items()}
    out = []
    for token in tokens:
        if token.isdigit():
            out.append(_number_slot(token, slots))
        elif token in names and names[token] in slots:
            kind, word = names[token]
            out.append(f"{value_words[kind][word].index(token)}{slots[kind, word]}")
        else:
            out.append(token)
    return tuple(out)


def _number_slot(token: str, slots: Mapping[tuple[str, str], str]) -> str:
    for change, end in ((0, ""), (-1, "+1"), (1, "-1")):
        slot = slots.get((NUMBER, str(int(token) + change)))
        if slot is not None:
            return slot + end
    return token


def filled(tokens: Tokens, values: Mapping[str, str], value_words: ValueWords) -> str:
    """The program's text with the slots' values; empty if it has a slot that the statement does not fill."""
    out = []
    for token in tokens:
        found = _SLOT.match(token) if "@" in token else None
        if found is None:
            out.append(token)
            continue
        form, kind, number, change = found.groups()
        word = values.get(f"@{kind}{number}")
        if word is None:
            return ""
        out.append(str(int(word) + int(change or 0)) if kind == NUMBER else value_words[kind][word][int(form)])
    return " ".join(out)
