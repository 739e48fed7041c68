"""The oracle's reader of amounts and nouns, part of the second implementation of the language (see `sentence.py`).

Every method returns all that can be read from a place of the sentence on, each with the place after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from recombine.errors import RecombineError
from recombine.families.lilgym.oracle.meaning import MANY, NONE, SOME, At, Filter, Is, Related, Span

COLOR_NAMES = {"yellow": 0, "black": 1, "blue": 2}
SHAPE_NAMES = {"circle": 0, "square": 1, "triangle": 2}
SIZE_NAMES = {"small": 10, "medium": 20, "big": 30, "large": 30}
COUNTS = {w: n for n, w in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1)}
AMOUNT_WORDS = frozenset({*COUNTS, "a", "an", "some", "at", "no", "not", "none", "exactly", "only", "just"})
"""The words with which an amount begins."""
ALMOST = 4
"""Pixels up to which an item almost touches."""
WALLS = {"a wall": "wall", **{f"the {side} wall": f"{side} wall" for side in ("left", "right", "top", "bottom")}}
PLACES: Mapping[str, At] = {
    "at the top": At("top"),
    "at the bottom": At("bottom"),
    "at the base": At("bottom"),
    **{f"{level} from the bottom": At(level) for level in ("second", "third")},
    **{f"on the {level} level": At(level) for level in ("second", "third")},
    "in a corner": At("corner"),
    "placed in a corner": At("corner"),
    "in or almost in a corner": At("corner", ALMOST),
    "in or nearly in a corner": At("corner", ALMOST),
    **dict.fromkeys(("touching no wall", "not touching any wall", "against no wall"), At("no wall")),
    **{f"{word} {said}": At(wall) for word in ("touching", "against", "in contact with") for said, wall in WALLS.items()},
    **{
        f"touching or {word} touching {said}": At(wall, ALMOST) for word in ("almost", "nearly") for said, wall in WALLS.items()
    },
}
"""Phrase -> the place that it names."""
RELATIONS: Mapping[str, str] = {
    **dict.fromkeys(("directly above", "right above", "directly on top of", "resting on"), "directly above"),
    **dict.fromkeys(("directly below", "directly under", "right under"), "directly below"),
    **dict.fromkeys(("somewhere above", "anywhere above"), "above"),
    **dict.fromkeys(("somewhere below", "anywhere below"), "below"),
    **dict.fromkeys(("touching", "in contact with"), "touching"),
    **dict.fromkeys(("in the same box as", "sharing a box with", "in one box with"), "in the same box"),
}
"""Phrase -> the relation that it names."""


Named = TypeVar("Named", At, str)


class Unreadable(RecombineError):
    """The sentence is not of the language, or the answer is no list of edits."""


class Noun(NamedTuple):
    """A noun as it was read: which items, whether it is a plural, whether nothing follows its head, and where it ends."""

    items: Filter
    plural: bool
    is_short: bool
    end: int


def _ends(tail: str, phrase: str) -> bool:
    """Whether the phrase that the tail begins with ends at the end of a word."""
    return not phrase or tail[len(phrase)] == " "


def _by_first_word(table: Mapping[str, Named]) -> dict[str, list[tuple[str, Named]]]:
    """The phrases of a table, found by their first word."""
    found: dict[str, list[tuple[str, Named]]] = {}
    for phrase, value in table.items():
        found.setdefault(phrase.split()[0], []).append((phrase, value))
    return found


PLACES_BY_WORD, RELATIONS_BY_WORD = _by_first_word(PLACES), _by_first_word(RELATIONS)


class Nouns:
    """Reads amounts and nouns of one sentence."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self._tails = [" ".join(words[start:]) + " " for start in range(len(words) + 1)]
        self._known: dict[tuple[int, bool], list[Noun]] = {}

    def at(self, start: int, *phrases: str) -> list[int]:
        """The places after those of the phrases that come next."""
        tail = self._tails[start]
        return [
            start + phrase.count(" ") + 1 if phrase else start
            for phrase in phrases
            if tail.startswith(phrase) and _ends(tail, phrase)
        ]

    def word(self, at: int) -> str:
        """The word at a place; empty after the end."""
        return self.words[at] if at < len(self.words) else ""

    def verbs(self, start: int, phrases: Mapping[str, bool]) -> list[tuple[int, bool]]:
        """The same with what each phrase stands for."""
        return [(end, value) for phrase, value in phrases.items() for end in self.at(start, phrase)]

    # "Only two" is read at the beginning of a clause only: "contains only two circles" has two readings.
    def amount(self, at: int, subject: bool) -> list[tuple[Span, bool, int]]:
        """How many, whether a plural follows, and the place after it."""
        if self.word(at) not in AMOUNT_WORDS:
            return []
        found = [(SOME, False, end) for end in self.at(at, "a", "an", "some", "at least one")]
        found += [(NONE, False, end) for end in self.at(at, "no", "not a single")]
        if subject:
            found += [(NONE, False, end) for end in self.at(at, "none")]
        before = {
            "exactly": (0, 0),
            "at least": (0, MANY),
            "no fewer than": (0, MANY),
            "at most": (-MANY, 0),
            "no more than": (-MANY, 0),
        }
        for phrase, (down, up) in {**before, **({"only": (0, 0), "just": (0, 0)} if subject else {})}.items():
            for start in self.at(at, phrase):
                number = COUNTS.get(self.word(start))
                if number is not None and (phrase, number) not in (("at least", 1), ("no fewer than", 1)):
                    found.append((Span(max(0, number + down), min(MANY, number + up)), number > 1, start + 1))
        number = COUNTS.get(self.word(at))
        if number is not None and number > 1:
            found += [(Span(number, MANY), True, end) for end in self.at(at + 1, "or more")]
            found += [(Span(0, number), True, end) for end in self.at(at + 1, "or fewer")]
        return found

    def counted(self, at: int, subject: bool) -> list[tuple[Span, Noun, int]]:
        """This many of a noun."""
        return [
            (span, noun, noun.end) for span, plural, start in self.amount(at, subject) for noun in self.nouns(start, plural)
        ]

    def two_nouns(self, at: int, before: str, between: str) -> list[tuple[Filter, Filter, int]]:
        """Two plurals that are compared."""
        return [
            (one.items, two.items, two.end)
            for start in self.at(at, before)
            for one in self.nouns(start, True)
            for middle in self.at(one.end, between)
            for two in self.nouns(middle, True)
            if between != "and" or one.is_short
        ]

    def box_words(self, at: int, plural: bool) -> list[tuple[int, bool]]:
        """The place after "tower" or "box", and whether it is a tower."""
        return self.verbs(at, {"towers": True, "boxes": False} if plural else {"tower": True, "box": False})

    # --- nouns

    def heads(self, at: int, plural: bool) -> list[Noun]:
        """Size, colour, rank and shape: "blue top block"."""
        tests: set[Is | At | Related] = set()
        found: list[Noun] = []
        place = at
        for names, attribute in ((SIZE_NAMES, "size"), (COLOR_NAMES, "color")):
            if place < len(self.words) and self.words[place] in names:
                tests.add(Is(attribute, names[self.words[place]]))
                place += 1
        word = self.word(place).removesuffix("s")
        if word in ("top", "base") and tests and plural == self.word(place).endswith("s"):  # "a blue top"
            found.append(Noun(frozenset({*tests, At("top" if word == "top" else "bottom")}), plural, True, place + 1))
        for rank in self.at(place, "top", "bottom"):
            tests.add(At(self.words[place]))
            place = rank
        word = self.word(place).removesuffix("s")
        if plural != self.word(place).endswith("s") or word not in (*SHAPE_NAMES, "block", "object", "item"):
            return found
        if word in SHAPE_NAMES:
            tests.add(Is("shape", SHAPE_NAMES[word]))
        return [*found, Noun(frozenset(tests), plural, True, place + 1)]

    def nouns(self, at: int, plural: bool) -> list[Noun]:
        """A noun with what follows it; of a plural it is said of each."""
        key = (at, plural)
        if key not in self._known:
            found = self.heads(at, plural)
            for head in list(found):
                short, long, verb = ("each", "that are each", "that each") if plural else ("", "that is", "that")
                for start in [*self.at(head.end, short), *self.at(head.end, long)]:
                    found += [head._replace(items=head.items | f, is_short=False, end=end) for f, end in self.phrase(start)]
                for start in self.at(head.end, verb):
                    found += [
                        head._replace(items=head.items | f, is_short=False, end=end) for f, end in self.verb(start, plural)
                    ]
            self._known[key] = found
        return self._known[key]

    def predicate(self, at: int, plural: bool) -> list[tuple[Filter, int]]:
        """What a clause says of its subject: "is at the top", "are each at the top", "touches a wall", "each touch a wall"."""
        found = [one for start in self.at(at, "are each" if plural else "is") for one in self.phrase(start)]
        starts = self.at(at, "each") if plural else [at]
        return found + [one for start in starts for one in self.verb(start, plural)]

    def phrase(self, at: int) -> list[tuple[Filter, int]]:
        """A place, a relation, or a place and a relation."""
        found = self.relation(at)
        for phrase, place in PLACES_BY_WORD.get(self.word(at), ()):
            for end in self.at(at, phrase):
                for stop in [end, *self.at(end, "of a tower")]:
                    found.append((frozenset({place}), stop))
                    found += [
                        (related | {place}, last) for start in self.at(stop, "and") for related, last in self.relation(start)
                    ]
        return found

    def relation(self, at: int) -> list[tuple[Filter, int]]:
        return [
            (frozenset({Related(name, items, span)}), end)
            for phrase, name in RELATIONS_BY_WORD.get(self.word(at), ())
            for start in self.at(at, phrase)
            for span, items, end in self.object(start)
        ]

    def verb(self, at: int, plural: bool) -> list[tuple[Filter, int]]:
        """What follows as a verb: "touches a wall", "touches another circle"."""
        touch = "touch" if plural else "touches"
        if self.word(at) != touch:
            return []
        found: list[tuple[Filter, int]] = [(frozenset({At("no wall")}), end) for end in self.at(at, f"{touch} no wall")]
        for said, wall in WALLS.items():
            found += [(frozenset({At(wall)}), end) for end in self.at(at, f"{touch} {said}")]
            near = (f"{touch} or almost {touch} {said}", f"{touch} or nearly {touch} {said}")
            found += [(frozenset({At(wall, ALMOST)}), end) for end in self.at(at, *near)]
        for start in self.at(at, touch):
            found += [(frozenset({Related("touching", items, span)}), end) for span, items, end in self.object(start)]
        return found

    # "That is" speaks of the noun just before it.
    def object(self, at: int) -> list[tuple[Span, Filter, int]]:
        """The noun to which a relation leads."""
        found = []
        for phrase in ("a", "an", "another", "no", "no other"):
            for start in self.at(at, phrase):
                for head in self.heads(start, False):
                    span = NONE if phrase.startswith("no") else SOME
                    found.append((span, head.items, head.end))
                    for place in self.at(head.end, "that is"):
                        found += [(span, head.items | items, end) for items, end in self.phrase(place)]
        return found
