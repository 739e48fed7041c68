"""A deliberate second implementation: sentences read back word by word, without the generator's plans and programs.

Recursive descent turns a sentence into a `Meaning`. A tower is a box with blocks in it.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from recombine.errors import RecombineError, shown
from recombine.families.lilgym.oracle.meaning import (
    COLOR_WORDS,
    MANY,
    NONE,
    NOT_EMPTY,
    SHAPE_WORDS,
    SIZE_WORDS,
    SOME,
    At,
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

NUMBER_WORDS = {
    w: n for n, w in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
}
PLACES = {
    "at the top": At("top"),
    "at the bottom": At("bottom"),
    "in second place from the bottom": At("second"),
    "in third place from the bottom": At("third"),
    "not touching any wall": At("no wall"),
    "in or almost in a corner": At("corner", 4),
    "in a corner": At("corner"),
    **{
        f"{touching} {article} {wall}": At(wall, slack)
        for touching, slack in (("touching or almost touching", 4), ("touching", 0))
        for article, wall in (("a", "wall"), *(("the", f"{side} wall") for side in ("left", "right", "top", "bottom")))
    },
}
"""Phrase -> the place that it names."""
RELATIONS = {
    "directly above": "directly above",
    "directly below": "directly below",
    "somewhere above": "above",
    "somewhere below": "below",
    "in the same box as": "in the same box",
    "touching": "touching",
}
"""Phrase -> the relation that it names; `PLACES` come first, since "touching" also begins a place."""


class Unreadable(RecombineError):
    """The sentence is not of the language, or the answer is no list of edits."""


class Phrase(NamedTuple):
    """A noun as it was read: which items, whether it is a plural, and its words."""

    items: Filter
    plural: bool
    words: str


@functools.lru_cache(maxsize=65_536)
def understand(sentence: str) -> Meaning:
    """What a sentence of the language claims; `Unreadable` if it is none."""
    if len(sentence) > 1000 or not sentence.endswith("."):
        raise Unreadable(f"{shown(sentence)} is not a sentence of the language.")
    if re.sub(r"[A-Za-z, ]", "", sentence[:-1]):
        raise Unreadable(f"{shown(sentence)} has characters that no sentence has.")
    reader = _Reader(re.findall(r"[a-z]+|,", sentence[0].lower() + sentence[1:-1]))
    meaning = reader.sentence()
    if reader.words:
        raise Unreadable(f"{shown(sentence)} goes on after its end: {' '.join(reader.words[:6])}.")
    return meaning


def speaks_of_contact(sentence: str) -> bool:
    """Whether a sentence says of scattered items that they touch one another."""
    return re.search(r"\btouch(es)?\b", sentence) is not None


class _Reader:
    """Recursive descent over the words that are left."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def took(self, *phrases: str) -> str | None:
        """The first phrase that comes next, taken; None if none does."""
        for phrase in phrases:
            wanted = phrase.split()
            if self.words[: len(wanted)] == wanted:
                del self.words[: len(wanted)]
                return phrase
        return None

    def must(self, *phrases: str) -> str:
        found = self.took(*phrases)
        if found is None:
            raise Unreadable(f"expected {' or '.join(map(repr, phrases[:8]))} before {shown(' '.join(self.words[:6]))}.")
        return found

    # A sentence is one clause, or two joined by ", and" or by ", or …, or both".
    def sentence(self) -> Meaning:
        first = self.clause()
        if self.took(", or"):
            second = self.clause()
            self.must(", or both")
            return join((first, second), every=False)
        return join((first, self.clause()), every=True) if self.took(", and") else first

    def clause(self) -> Meaning:
        if self.took("it is not true that"):
            return deny(self.clause())
        be = self.took("there is", "there are")
        if be:
            return self.there(plural=be == "there are")
        if self.took("every box"):
            return self.every_box()
        return self.number_first()

    def there(self, plural: bool) -> Meaning:
        comparison = self.took("more", "as many")
        if comparison:
            first = self.noun().items
            self.must("than" if comparison == "more" else "as")
            return Compare(first, self.noun().items, comparison == "more")
        span = self.amount()
        box = self.took("towers that each", "tower that", "boxes that each", "box that")
        if box:
            self.agree(plural, box.startswith(("towers", "boxes")))
            return Boxes(self.body(box.startswith("tower"), plural), span.clipped(3))
        noun = self.noun()
        self.agree(plural, noun.plural)
        if self.took(", and every"):
            self.must(noun.words)
            return self.every_item(noun, span)
        if self.took(", and all"):
            self.must(noun.words)
            self.must("have the same")
            same = Variety(noun.items, self.attribute(), Span(1, 1))
            return join((Items(noun.items, span), same), every=True)
        return Items(noun.items, span)

    # "There is at least one A, and every A …": the first half says only that there is something to speak of.
    def every_item(self, noun: Phrase, span: Span) -> Meaning:
        if span != SOME:
            raise Unreadable("“every” follows “at least one” only.")
        if self.took("touches"):
            return Every(noun.items, frozenset({self.touched()}))
        self.must("is")
        color = self.took(*COLOR_WORDS)
        if color:
            return Every(noun.items, frozenset({Is("color", COLOR_WORDS[color])}))
        found = self.after()
        if not found:
            raise Unreadable(f"expected a place or a relation before {shown(' '.join(self.words[:6]))}.")
        return Every(noun.items, found)

    def number_first(self) -> Meaning:
        for how in ("no", "at least"):
            for boxes in ("towers have the same number of blocks", "boxes contain the same number of objects"):
                if self.took(f"{how} two {boxes}"):
                    return EqualBoxes(boxes.startswith("towers"), how != "no")
        span = self.amount()
        self.took("different")
        attribute = self.attribute()
        self.must("occurs among the", "occur among the")
        return Variety(self.noun().items, attribute, span.clipped(3))

    def amount(self) -> Span:
        if self.took("a", "an"):
            return SOME
        if self.took("no"):
            return NONE
        how = self.must("exactly", "at least", "at most")
        number = NUMBER_WORDS[self.must(*NUMBER_WORDS)]
        return {"exactly": Span(number, number), "at least": Span(number, MANY), "at most": Span(0, number)}[how]

    def attribute(self) -> str:
        return self.must("colors", "color", "shapes", "shape", "sizes", "size").removesuffix("s")

    def agree(self, verb_plural: bool, noun_plural: bool) -> None:
        if verb_plural != noun_plural:
            raise Unreadable(f"the verb and its noun disagree in number before {shown(' '.join(self.words[:6]))}.")

    def every_box(self) -> Meaning:
        if self.took("has a tower that"):
            return Boxes(self.body(True, False), Span(3, 3))
        conditions = [self.condition("contains")]
        if self.took("and"):
            conditions.append(self.condition("contains"))
        return Boxes(frozenset(conditions), Span(3, 3))

    def body(self, tower: bool, plural: bool) -> frozenset[Condition]:
        """What is said of a box; what has no block has no tower."""
        verb = {(True, False): "has", (True, True): "have", (False, False): "contains", (False, True): "contain"}[tower, plural]
        conditions = [self.condition(verb)]
        while self.took("and that each" if plural else "and that"):
            conditions.append(self.condition(verb))
        return frozenset([*conditions, NOT_EMPTY] if tower else conditions)

    def condition(self, verb: str) -> Condition:
        self.must(verb)
        if self.took("one or more"):
            noun = self.noun()
            self.must("and nothing else")
            return Only(noun.items)
        if self.took("blocks of", "objects of"):
            span = self.amount()
            return Mixed(self.attribute(), span.clipped(3))
        span = self.amount()
        return Has(self.noun().items, span)

    def noun(self) -> Phrase:
        before = list(self.words)
        size, color = self.took(*SIZE_WORDS), self.took(*COLOR_WORDS)
        singular = ("block", "object", *SHAPE_WORDS)
        word = self.must(*(w + "s" for w in singular), *singular)
        tests: set[Is | At | Related] = set(self.after(plural=word.endswith("s")))
        if size:
            tests.add(Is("size", SIZE_WORDS[size]))
        if color:
            tests.add(Is("color", COLOR_WORDS[color]))
        if word.removesuffix("s") in SHAPE_WORDS:
            tests.add(Is("shape", SHAPE_WORDS[word.removesuffix("s")]))
        said = " ".join(before[: len(before) - len(self.words)])
        return Phrase(frozenset(tests), word.endswith("s"), said)

    def after(self, plural: bool = False) -> Filter:
        """The place and the relation that follow a noun; after a plural they must be said of each."""
        if plural:
            if self.took("that each touch"):
                return frozenset({self.touched()})
            if not self.took("that are each"):
                return frozenset()
        elif self.took("that touches"):
            return frozenset({self.touched()})
        else:
            self.took("that is")
        found: set[Is | At | Related] = set()
        place = self.took(*PLACES)
        if place:
            self.took("of a tower")
            found.add(PLACES[place])
        relation = self.took(*(f"and {phrase}" for phrase in RELATIONS)) if place else self.took(*RELATIONS)
        if relation:
            found.add(self.related(RELATIONS[relation.removeprefix("and ")]))
        if plural and not found:
            raise Unreadable(f"expected a place or a relation before {shown(' '.join(self.words[:6]))}.")
        return frozenset(found)

    def related(self, relation: str) -> Related:
        none = self.must("an", "a", "no") == "no"
        return Related(relation, self.noun().items, NONE if none else SOME)

    def touched(self) -> Related:
        """What follows "touches": another item so described, or none."""
        none = self.must("another", "no other", "an", "a", "no").startswith("no")
        return Related("touching", self.noun().items, NONE if none else SOME)
