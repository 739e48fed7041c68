"""A deliberate second implementation: sentences read back word by word, without the generator's plans, phrases and programs.

The reader finds every way to read a sentence. It accepts a sentence only if all its readings mean the same. A tower is a box with
blocks in it. "Every", "all" and "only" say that there is something to speak of. Nouns are read in `nouns.py`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from recombine.errors import shown
from recombine.families.lilgym.oracle.meaning import (
    NOT_EMPTY,
    SOME,
    Boxes,
    Compare,
    Condition,
    EqualBoxes,
    Every,
    Filter,
    Has,
    Is,
    Items,
    Meaning,
    Mixed,
    Only,
    Related,
    Span,
    Variety,
    deny,
    join,
)
from recombine.families.lilgym.oracle.nouns import COLOR_NAMES, Noun, Nouns, Unreadable

LONGEST = 1000
"""Characters beyond which a text is no sentence."""
THREE = Span(3, 3)
Found = list[tuple[Meaning, int]]
Conditions = frozenset[Condition]


@functools.lru_cache(maxsize=65_536)
def understand(sentence: str) -> Meaning:
    """What a sentence of the language claims; `Unreadable` if it is none, or if it has two readings."""
    found = readings(sentence)
    if not found:
        raise Unreadable(f"{shown(sentence)} is not a sentence of the language.")
    if len(found) > 1:
        raise Unreadable(f"{shown(sentence)} has {len(found)} readings.")
    return next(iter(found))


def readings(sentence: str) -> frozenset[Meaning]:
    """Every meaning that the grammar gives a sentence."""
    if len(sentence) > LONGEST or not sentence.endswith(".") or re.sub(r"[A-Za-z, ]", "", sentence[:-1]):
        return frozenset()
    words = re.findall(r"[a-z]+|,", sentence[0].lower() + sentence[1:-1])
    if " ".join(words).replace(" ,", ",") != sentence[0].lower() + sentence[1:-1]:
        return frozenset()
    return frozenset(meaning for meaning, end in _Reader(words).sentence() if end == len(words))


def speaks_of_contact(meaning: Meaning) -> bool:
    """Whether a statement says of items that they touch one another."""
    from recombine.families.lilgym.oracle.claims import everything_described

    return any(
        isinstance(test, Related) and test.relation == "touching" for items in everything_described(meaning) for test in items
    )


class _Reader(Nouns):
    """Clauses. Every method returns all that can be read from a place on, each with the place after it."""

    def __init__(self, words: list[str]) -> None:
        super().__init__(words)
        self._clauses: dict[int, Found] = {}
        self._present: dict[int, list[tuple[Span, Noun, int]]] = {}

    # A sentence is one clause, a denied one, or two that are joined.
    def sentence(self) -> Found:
        found = [*self.clause(0), *self.lone(0)]
        for phrase in (
            "it is not true",
            "it is false",
            "it is not the case",
            "it is wrong",
            "it does not hold",
            "it is untrue",
        ):
            found += [(deny(inner), end) for start in self.at(0, f"{phrase} that") for inner, end in self.clause(start)]
        for first, middle in self.clause(0):
            for start in self.at(middle, ", and", ", while", ", but", ", and also", ", yet", ", whereas"):
                found += [(join((first, second), every=True), end) for second, end in self.clause(start)]
        for begin in [0, *self.at(0, "either")]:
            for first, middle in self.clause(begin):
                for start in self.at(middle, ", or", ", or else", ", or otherwise"):
                    found += [
                        (join((first, second), every=False), end)
                        for second, stop in self.clause(start)
                        for end in self.at(stop, ", or both", ", perhaps both", ", possibly both")
                    ]
        return found

    def clause(self, at: int) -> Found:
        if at not in self._clauses:
            self._clauses[at] = self._clause(at)
        return self._clauses[at]

    def _clause(self, at: int) -> Found:
        return self.about_items(at) + self.about_boxes(at) + self.comparison(at) + self.equal_boxes(at) + self.variety(at)

    # --- items

    def present(self, at: int) -> list[tuple[Span, Noun, int]]:
        """This many of a noun, said to be there."""
        if at in self._present:
            return self._present[at]
        found: list[tuple[Span, Noun, int]] = []
        for start, verb in self.verbs(
            at, {"there is": False, "there are": True, "in total there is": False, "in total there are": True}
        ):
            found += [(s, n, end) for s, n, end in self.counted(start, False) if n.plural == verb]
        for start in self.at(at, "the picture shows", "one can see"):
            found += self.counted(start, False)
        for span, noun, end in self.counted(at, True):
            found += [(span, noun, stop) for stop in self.at(end, "are present" if noun.plural else "is present")]
        self._present[at] = found
        return found

    def about_items(self, at: int) -> Found:
        found: Found = [(Items(noun.items, span), end) for span, noun, end in self.present(at)]
        # "Exactly two blue blocks are each at the top", and the same of "the blue blocks".
        for span, plural, start in self.amount(at, True):
            for noun in self.heads(start, plural):
                found += [(Items(noun.items | said, span), end) for said, end in self.predicate(noun.end, plural)]
            for middle in self.at(start, "of the"):
                for noun in self.heads(middle, True):
                    found += [(Items(noun.items | said, span), end) for said, end in self.predicate(noun.end, plural)]
        for start in self.at(at, "of the"):
            for noun in self.heads(start, True):
                for comma in self.at(noun.end, ","):
                    for span, plural, middle in self.amount(comma, True):
                        found += [(Items(noun.items | said, span), end) for said, end in self.predicate(middle, plural)]
        for start in self.at(at, "the number of"):
            for noun in self.heads(start, True):
                for middle in self.at(noun.end, "is"):
                    found += [(Items(noun.items, span), end) for span, _, end in self.amount(middle, False)]
        return found + self.every_item(at)

    def every_item(self, at: int) -> Found:
        found: Found = []
        starts = [(start, False) for start in self.at(at, "every", "each", "every single")]
        starts += [(start, True) for start in self.at(at, "each of the", "every one of the")]
        for start, plural in starts:
            for noun in self.heads(start, plural):
                found += [(Every(noun.items, said), end) for said, end in self.said_of_each(noun.end)]
        return found

    def said_of_each(self, at: int) -> list[tuple[Filter, int]]:
        colors = [
            (frozenset({Is("color", COLOR_NAMES[name])}), end) for name in COLOR_NAMES for end in self.at(at, f"is {name}")
        ]
        return [*self.predicate(at, False), *colors]

    # Sentences that have a comma of their own stand alone.
    def lone(self, at: int) -> Found:
        found: Found = []
        for span, noun, end in self.present(at):
            if span == SOME and not noun.plural:
                for start in self.at(end, ", and each of them"):
                    found += [(Every(noun.items, said), stop) for said, stop in self.said_of_each(start)]
            for name in ("color", "shape", "size"):
                same = join((Items(noun.items, span), Variety(noun.items, name, Span(1, 1))), every=True)
                tails = (f", all of the same {name}", f", and they all have the same {name}", f", and they share one {name}")
                found += [(same, stop) for stop in self.at(end, *tails)] if noun.plural else []
        for start, tower in self.verbs(at, {"one tower": True, "one box": False}):
            for conditions, end in self.verb_phrase(start, tower, False):
                found += [(Boxes(conditions, Span(1, 1)), stop) for stop in self.at(end, ", the rest do not")]
        return found

    # --- comparisons

    def comparison(self, at: int) -> Found:
        found: Found = []
        starts = self.at(at, "there are", "the picture shows", "one can see")
        for start in [at, *starts]:
            for word, link in (("more", "than"), ("fewer", "than"), ("as many", "as"), ("equally many", "and")):
                for one, two, end in self.two_nouns(start, word, link):
                    ends = [end] if start != at else self.at(end, "are present")
                    pair = (two, one) if word == "fewer" else (one, two)
                    found += [(Compare(*pair, word in ("more", "fewer")), stop) for stop in ends]
        for one, two, end in self.two_nouns(at, "the", "outnumber the"):
            found.append((Compare(one, two, True), end))
        return found

    def equal_boxes(self, at: int) -> Found:
        found: Found = []
        for tower, boxes, have, things, full in (
            (True, "towers", "have", "blocks", "tall"),
            (False, "boxes", "contain", "objects", "full"),
        ):
            same = (f"{have} the same number of {things}", f"{have} equally many {things}", f"are equally {full}")
            for how, some in (("at least two", True), ("two or more", True), ("no two", False)):
                texts = [f"{how} {of}{boxes} {tail}" for of in ("", "of the ") for tail in same]
                texts.append(f"there are {how} {boxes} with the same number of {things}")
                found += [(EqualBoxes(tower, some), end) for end in self.at(at, *texts)]
            found += [
                (EqualBoxes(tower, False), end) for end in self.at(at, f"all {boxes} {have} different numbers of {things}")
            ]
        return found

    def variety(self, at: int) -> Found:
        found: Found = []
        for start in self.at(at, "the"):
            for noun in self.nouns(start, True):
                for middle in self.at(noun.end, "come in", "are of"):
                    found += [(Variety(noun.items, name, span), end) for span, name, end in self.values(middle)]
        for span, name, middle in self.values(at):
            for start in self.at(middle, "occur among the", "occurs among the", "can be seen among the"):
                found += [(Variety(noun.items, name, span), noun.end) for noun in self.nouns(start, True)]
        for start in self.at(at, "among the"):
            for noun in self.nouns(start, True):
                for middle in self.at(noun.end, "there is", "there are"):
                    found += [(Variety(noun.items, name, span), end) for span, name, end in self.values(middle)]
        for name in ("color", "shape", "size"):
            for start in self.at(at, f"the number of {name}s among the"):
                for noun in self.nouns(start, True):
                    for middle in self.at(noun.end, "is"):
                        found += [
                            (Variety(noun.items, name, span.clipped(3)), end) for span, _, end in self.amount(middle, False)
                        ]
        return found

    def values(self, at: int) -> list[tuple[Span, str, int]]:
        """This many colours, shapes or sizes."""
        return [
            (span.clipped(3), name, end)
            for span, plural, start in self.amount(at, False)
            for name in ("color", "shape", "size")
            for end in self.at(start, name + ("s" if plural else ""))
        ]

    # --- boxes

    def about_boxes(self, at: int) -> Found:
        found: Found = []
        for start, verb in self.verbs(at, {"there is": False, "there are": True}):
            for span, plural, middle in self.amount(start, False):
                for box, tower in self.box_words(middle, plural) if plural == verb else ():
                    each = self.at(box, "each") if plural else [box]
                    found += self.boxes(span, (c for place in each for c in self.accompanied(place, tower)))
                    for place in self.at(box, "that each" if plural else "that"):
                        found += self.boxes(span, self.verb_phrase(place, tower, plural))
        for span, plural, start in self.amount(at, True):
            for box, tower in self.box_words(start, plural):
                for place in self.at(box, "each") if plural else [box]:
                    found += self.boxes(span, self.verb_phrase(place, tower, plural))
                for one, middle in self.accompanied(box, tower) if not plural else ():
                    found += self.boxes(span, ((one | two, end) for two, end in self.verb_phrase(middle, tower, plural)))
            for middle in self.at(start, "of the"):
                for box, tower in self.box_words(middle, True):
                    for place in self.at(box, "each") if plural else [box]:
                        found += self.boxes(span, self.verb_phrase(place, tower, plural))
        for start in self.at(at, "the number of"):
            for box, tower in self.box_words(start, True):
                for place in self.at(box, "that each"):
                    for conditions, middle in self.verb_phrase(place, tower, True):
                        for stop in self.at(middle, "is"):
                            found += [(Boxes(conditions, s.clipped(3)), end) for s, _, end in self.amount(stop, False)]
        return found + self.every_box(at)

    def boxes(self, span: Span, found: Iterable[tuple[Conditions, int]]) -> Found:
        return [(Boxes(conditions, span.clipped(3)), end) for conditions, end in found]

    def every_box(self, at: int) -> Found:
        found: Found = []
        for start in self.at(at, "every box but one"):
            found += [(Boxes(conditions, Span(2, 2)), end) for conditions, end in self.verb_phrase(start, False, False)]
        starts = [(start, False) for start in self.at(at, "every box", "each box", "every single box", "each of the boxes")]
        for start, plural in [*starts, *((start, True) for start in self.at(at, "all three boxes each"))]:
            found += [(Boxes(conditions, THREE), end) for conditions, end in self.verb_phrase(start, False, plural)]
            for tower in self.at(start, "have a tower" if plural else "has a tower"):
                found += [(Boxes(conditions, THREE), end) for conditions, end in self.accompanied(tower, True)]
                for place in self.at(tower, "that"):
                    found += [(Boxes(conditions, THREE), end) for conditions, end in self.verb_phrase(place, True, False)]
        return found

    # "Has X", "has X and has Y", "has X and Y" where nothing follows the noun X; what has no block is no tower.
    def verb_phrase(self, at: int, tower: bool, plural: bool) -> list[tuple[Conditions, int]]:
        own = frozenset({NOT_EMPTY}) if tower else frozenset()
        found = [(own | {has}, end) for has, end in self.tall(at)] if tower and not plural else []
        verbs = ("have", "contain", "hold") if plural else ("has", "contains", "holds")
        for verb in verbs if not tower else verbs[:1]:
            for start in self.at(at, verb):
                for first, is_short, end in self.things(start):
                    found.append((own | {first}, end))
                    for middle in self.at(end, f"and {verb}", f"and also {verb}", *(("and",) if is_short else ())):
                        found += [(own | {first, second}, stop) for second, _, stop in self.things(middle)]
        return found

    def tall(self, at: int) -> list[tuple[Condition, int]]:
        return [
            (Has(frozenset(), span), end)
            for start in self.at(at, "is")
            for span, plural, middle in self.amount(start, False)
            for unit in ("tall", "high")
            for end in self.at(middle, f"{'blocks' if plural else 'block'} {unit}")
        ]

    def accompanied(self, at: int, tower: bool) -> list[tuple[Conditions, int]]:
        own = frozenset({NOT_EMPTY}) if tower else frozenset()
        found = []
        for first, is_short, end in self.company(at):
            found.append((own | {first}, end))
            for middle in self.at(end, "and", "and also"):
                found += [(own | {first, second}, stop) for second, _, stop in self.company(middle)]
            for middle in self.at(end, "and") if is_short else ():
                found += [(own | {first, second}, stop) for second, _, stop in self.things(middle)]
        return found

    def company(self, at: int) -> list[tuple[Condition, bool, int]]:
        """One property after "with" or "without"."""
        found = [one for start in self.at(at, "with") for one in self.things(start)]
        for start in self.at(at, "without a", "without an"):
            found += [(Has(noun.items, Span(0, 0)), False, noun.end) for noun in self.nouns(start, False)]
        return found

    def things(self, at: int) -> list[tuple[Condition, bool, int]]:
        """What a box has, and whether "and" and a second thing may follow."""
        found: list[tuple[Condition, bool, int]] = []
        for span, noun, end in self.counted(at, False):
            found.append((Has(noun.items, span), noun.is_short and span.high > 0, end))
        for start in self.at(at, "only", "nothing but"):
            found += [(Only(noun.items), False, noun.end) for noun in self.nouns(start, True)]
        for noun in self.nouns(at, True):
            found += [(Only(noun.items), False, end) for end in self.at(noun.end, "and nothing else")]
        for start in [at, *self.at(at, "blocks of", "objects of", "blocks in", "objects in")]:
            found += [(Mixed(name, span), False, end) for span, name, end in self.values(start)]
        return found
