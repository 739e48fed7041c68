"""How the oracle reads natural wording: a deliberate second implementation with a grammar of its own, so do not merge it with `wording.py`.

It goes through the words from left to right. Every word must be understood; a text with anything else in it is not read.
"""

from __future__ import annotations

from typing import NamedTuple

_WALKING, _PUSHING, _PULLING = {"walk", "go", "head", "move"}, {"push", "shove"}, {"pull", "drag", "tug"}
_SIZES = {"small": "small", "little": "small", "big": "big", "large": "big"}
_COLORS = {"red", "blue", "green", "yellow"}
_KINDS = {"disc": "circle", "tube": "cylinder", "crate": "box", "thing": "object"}
_KINDS |= {kind: kind for kind in ("circle", "cylinder", "square", "box", "object")}
_MANNERS = {
    "": "",
    "while zigzagging": "while zigzagging", "in zigzags": "while zigzagging", "in a zigzag": "while zigzagging",
    "while spinning": "while spinning", "while spinning around": "while spinning", "while whirling": "while spinning",
    "cautiously": "cautiously", "carefully": "cautiously", "warily": "cautiously", "with caution": "cautiously",
    "hesitantly": "hesitantly", "haltingly": "hesitantly", "with hesitation": "hesitantly",
}  # fmt: skip
_LINES, _LOOKS = {"row": "row", "column": "column"}, {"color": "color", "colour": "color", "shape": "shape", "size": "size"}
_MOST_WORDS, _MOST_NOUNS = 200, 8


class HeardNoun(NamedTuple):
    """A noun phrase: its words in plain form, the number of the noun it hangs on (-1 for the first), and the relation."""

    determiner: str
    size: str
    color: str
    head: str
    parent: int
    relation: str


class Heard(NamedTuple):
    """A whole command."""

    verb: str
    manner: str
    nouns: tuple[HeardNoun, ...]


class _NotHeard(Exception):
    """A word that the grammar does not expect."""


def hear(text: str) -> Heard | None:
    """The command; None if a word of it is not understood."""
    words = text.split(" ")
    if len(words) > _MOST_WORDS:
        return None
    try:
        return _Listener(words).command()
    except _NotHeard:
        return None


class _Listener:
    """One pass over the words of a command."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.at = 0

    def _next(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.words[place] if place < len(self.words) else ""

    def _take(self, *expected: str) -> None:
        for word in expected:
            if self._next() != word:
                raise _NotHeard
            self.at += 1

    def command(self) -> Heard:
        verb = self._verb()
        nouns = [self._noun(-1, "")]
        while len(nouns) <= _MOST_NOUNS:
            if self._next() in ("that", "which") and self._next(1) == "is" and self._is_adjective(self._next(2)):
                nouns[-1] = self._described(nouns[-1])
                break
            if self._next() == "and" and len(nouns) > 1:
                self.at += 1
                parent = nouns[-1].parent
            elif self._next() in ("that", "which"):
                self.at += 1
                parent = len(nouns) - 1
                if self._is_place():
                    raise _NotHeard
            elif self._is_place():
                parent = len(nouns) - 1
            else:
                break
            relation = self._relation()
            nouns.append(self._noun(parent, relation))
        manner = " ".join(self.words[self.at :])
        if manner not in _MANNERS:
            raise _NotHeard
        return Heard(verb, _MANNERS[manner], tuple(nouns))

    def _verb(self) -> str:
        word = self._next()
        self.at += 1
        if word in _WALKING:
            self._take("to")
            return "walk"
        if word not in _PUSHING | _PULLING:
            raise _NotHeard
        return "push" if word in _PUSHING else "pull"

    @staticmethod
    def _is_adjective(word: str) -> bool:
        return word in _SIZES or word in _COLORS

    def _noun(self, parent: int, relation: str) -> HeardNoun:
        article, size, color = self._next(), "", ""
        due = "an" if self._next(1)[:1] in tuple("aeiou") else "a"
        self.at += 1
        if self._next() in _SIZES:
            size = _SIZES[self._next()]
            self.at += 1
        if self._next() in _COLORS:
            color = self._next()
            self.at += 1
        head = self._next()
        self.at += 1
        if head not in _KINDS or article not in ("the", due):
            raise _NotHeard
        return HeardNoun("the" if article == "the" else "a", size, color, _KINDS[head], parent, relation)

    def _described(self, noun: HeardNoun) -> HeardNoun:
        """`a square that is red`: one adjective, if the noun has none yet."""
        word = self._next(2)
        if noun.size or noun.color:
            raise _NotHeard
        self.at += 3
        return noun._replace(color=word) if word in _COLORS else noun._replace(size=_SIZES[word])

    def _is_place(self) -> bool:
        """Whether a clause without a verb begins here. `in zigzags` and `in a zigzag` are manners."""
        return self._next() in ("of", "inside", "within") or (self._next() == "in" and self._next(1) in ("the", "one"))

    def _relation(self) -> str:
        """What a clause says: `is in the same row as`, `has the same size as`, `shares its color with`, `lies inside`."""
        word = self._next()
        if word == "is":
            self.at += 1
            return self._place(can_look=True)
        if word == "has":
            self._take("has", "the", "same")
            return self._kind(_LOOKS, "as")
        if word == "shares":
            self._take("shares", "its")
            return self._kind(_LINES | _LOOKS, "with")
        if word in ("stands", "lies", "sits"):
            self.at += 1
            return self._place(can_look=False)
        return self._place(can_look=True)

    def _place(self, can_look: bool) -> str:
        word = self._next()
        self.at += 1
        if word == "in" and self._next() == "one":
            self._take("one")
            return self._kind(_LINES, "with")
        if word == "in":
            self._take("the", "same")
            return self._kind(_LINES, "as")
        if word == "of" and can_look:
            self._take("the", "same")
            return self._kind(_LOOKS, "as")
        if word == "inside" and self._next() == "of":
            self._take("of")
        if word not in ("inside", "within"):
            raise _NotHeard
        return "inside"

    def _kind(self, table: dict[str, str], last: str) -> str:
        word = self._next()
        self.at += 1
        self._take(last)
        if word not in table:
            raise _NotHeard
        return table[word]
