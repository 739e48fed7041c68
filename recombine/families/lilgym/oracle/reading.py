"""A deliberate second implementation: sentences read back word by word, without the generator's plans and programs.

Recursive descent turns a sentence into a test on items. Whether two scattered items touch is asked of their true shapes, where the
programs look at bounding squares: the scenes of statements about contact must be such that both say the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from recombine.errors import RecombineError, shown

Thing = tuple[int, int, int, int, int, int]
"""Box, x, y, size, colour, shape."""
Picture = tuple[Thing, ...]
Test = Callable[[Picture], bool]
Filter = Callable[[Picture, Thing], bool]

COLOR_WORDS = {"yellow": 0, "black": 1, "blue": 2}
SHAPE_WORDS = {"circle": 0, "square": 1, "triangle": 2}
SIZE_WORDS = {"small": 10, "medium": 20, "big": 30}
NUMBER_WORDS = {
    w: n for n, w in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
}
CLEARLY_APART = 5


class Unreadable(RecombineError):
    """The sentence is not of the language, or the answer is no list of edits."""


def understand(sentence: str) -> Test:
    """What a sentence of the language claims, as a test on a scene's items."""
    if len(sentence) > 1000 or not sentence.endswith("."):
        raise Unreadable(f"{shown(sentence)} is not a sentence of the language.")
    reader = _Reader(re.findall(r"[a-z]+|,", sentence[0].lower() + sentence[1:-1]))
    if re.sub(r"[A-Za-z, ]", "", sentence[:-1]):
        raise Unreadable(f"{shown(sentence)} has characters that no sentence has.")
    test = reader.sentence()
    if reader.words:
        raise Unreadable(f"{shown(sentence)} goes on after its end: {' '.join(reader.words[:6])}.")
    return test


class _Reader:
    """Recursive descent over the words that are left."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def sees(self, phrase: str) -> bool:
        wanted = phrase.split()
        return self.words[: len(wanted)] == wanted

    def took(self, *phrases: str) -> str | None:
        """The first phrase that comes next, taken; None if none does."""
        for phrase in phrases:
            if self.sees(phrase):
                del self.words[: len(phrase.split())]
                return phrase
        return None

    def must(self, *phrases: str) -> str:
        found = self.took(*phrases)
        if found is None:
            raise Unreadable(f"expected {' or '.join(map(repr, phrases))} before {shown(' '.join(self.words[:6]))}.")
        return found

    def sentence(self) -> Test:
        first = self.clause()
        if self.took(", or"):
            second = self.clause()
            self.must(", or both")
            return lambda picture: first(picture) or second(picture)
        if self.took(", and"):
            following = self.clause()
            return lambda picture: first(picture) and following(picture)
        return first

    def clause(self) -> Test:
        if self.took("it is not true that"):
            inner = self.clause()
            return lambda picture: not inner(picture)
        if self.took("there is", "there are"):
            return self.there()
        if self.took("every box"):
            return self.every_box()
        return self.number_first()

    def there(self) -> Test:
        if self.took("more"):
            first, _ = self.noun()
            self.must("than")
            second, _ = self.noun()
            return lambda picture: _count(picture, first) > _count(picture, second)
        if self.took("as many"):
            first, _ = self.noun()
            self.must("as")
            second, _ = self.noun()
            return lambda picture: _count(picture, first) == _count(picture, second)
        amount = self.amount()
        if self.took("towers that each", "tower that", "boxes that each", "box that"):
            body = self.box_body()
            return lambda picture: amount(sum(body(picture, box) for box in range(3)))
        noun, words = self.noun()
        if self.took(", and every"):
            self.must(words)
            predicate = self.touched() if self.took("touches") else self.predicate()
            return lambda picture: all(predicate(picture, t) for t in picture if noun(picture, t)) and _count(picture, noun) > 0
        if self.took(", and all"):
            self.must(words)
            self.must("have the same")
            value = self.attribute()
            return lambda picture: amount(_count(picture, noun)) and len({value(t) for t in picture if noun(picture, t)}) == 1
        return lambda picture: amount(_count(picture, noun))

    def number_first(self) -> Test:
        for how in ("no", "at least"):
            for boxes in ("towers have the same number of blocks", "boxes contain the same number of objects"):
                if self.took(f"{how} two {boxes}"):
                    towers, some = boxes.startswith("towers"), how != "no"
                    return lambda picture: _some_equal(picture, towers) == some
        amount = self.amount()
        self.took("different")
        value = self.attribute()
        self.must("occurs among the", "occur among the")
        noun, _ = self.noun()
        return lambda picture: amount(len({value(t) for t in picture if noun(picture, t)}))

    def amount(self) -> Callable[[int], bool]:
        if self.took("a", "an"):
            return lambda n: n >= 1
        if self.took("no"):
            return lambda n: n == 0
        how = self.must("exactly", "at least", "at most")
        number = NUMBER_WORDS[self.must(*NUMBER_WORDS)]
        if how == "exactly":
            return lambda n: n == number
        return (lambda n: n >= number) if how == "at least" else (lambda n: n <= number)

    def attribute(self) -> Callable[[Thing], int]:
        word = self.must("colors", "color", "shapes", "shape", "sizes", "size")
        place = {"c": 4, "h": 5, "i": 3}["c" if word.startswith("c") else word[1]]
        return lambda thing: thing[place]

    def every_box(self) -> Callable[[Picture], bool]:
        if self.took("has a tower that"):
            body = self.box_body()
        else:
            first = self.condition()
            second = self.condition() if self.took("and") else None
            body = (lambda picture, box: first(picture, box) and second(picture, box)) if second else first
        return lambda picture: all(body(picture, box) for box in range(3))

    def box_body(self) -> Callable[[Picture, int], bool]:
        conditions = [self.condition()]
        while self.took("and that each", "and that"):
            conditions.append(self.condition())
        return lambda picture, box: all(condition(picture, box) for condition in conditions)

    def condition(self) -> Callable[[Picture, int], bool]:
        """Of a box; a tower is a box with blocks in it, and what has no block has no tower."""
        tower = self.must("has", "have", "contains", "contain") in ("has", "have")

        def within(test: Callable[[Picture, Picture], bool]) -> Callable[[Picture, int], bool]:
            def judge(picture: Picture, box: int) -> bool:
                inside = tuple(t for t in picture if t[0] == box)
                return test(picture, inside) and (bool(inside) or not tower)

            return judge

        if self.took("one or more"):
            noun, _ = self.noun()
            self.must("and nothing else")
            return within(lambda picture, inside: bool(inside) and all(noun(picture, t) for t in inside))
        if self.took("blocks of", "objects of"):
            amount = self.amount()
            value = self.attribute()
            return within(lambda _picture, inside: amount(len({value(t) for t in inside})))
        amount = self.amount()
        noun, _ = self.noun()
        return within(lambda picture, inside: amount(sum(noun(picture, t) for t in inside)))

    def noun(self) -> tuple[Filter, str]:
        """A description of items, and the words it was said with."""
        before = list(self.words)
        tests: list[Filter] = []
        size, color = self.took(*SIZE_WORDS), self.took(*COLOR_WORDS)
        plural = [word + "s" for word in ("block", "object", *SHAPE_WORDS)]
        word = self.must(*plural, "block", "object", *SHAPE_WORDS).removesuffix("s")
        if size:
            tests.append(lambda _picture, t: t[3] == SIZE_WORDS[size])
        if color:
            tests.append(lambda _picture, t: t[4] == COLOR_WORDS[color])
        if word in SHAPE_WORDS:
            tests.append(lambda _picture, t: t[5] == SHAPE_WORDS[word])
        after = self.after()
        if after is not None:
            tests.append(after)
        said = " ".join(before[: len(before) - len(self.words)])
        return (lambda picture, t: all(test(picture, t) for test in tests)), said

    def predicate(self) -> Filter:
        self.must("is")
        color = self.took(*COLOR_WORDS)
        if color:
            return lambda _picture, t: t[4] == COLOR_WORDS[color]
        found = self.after()
        if found is None:
            raise Unreadable(f"expected a place or a relation before {shown(' '.join(self.words[:6]))}.")
        return found

    def after(self) -> Filter | None:
        """A place or a relation, if one comes next."""
        for phrase, level in (
            ("at the top", -1),
            ("at the bottom", 0),
            ("in second place from the bottom", 1),
            ("in third place from the bottom", 2),
        ):
            if self.took(phrase):
                self.took("of a tower")
                return lambda picture, t, level=level: stack_of(picture, t[0])[level:][:1] == [t]  # type: ignore[misc]
        if self.took("not touching any wall"):
            return lambda _picture, t: not _walls(t, 0)
        if self.took("in or almost in a corner"):
            return lambda _picture, t: _is_cornered(t, 4)
        if self.took("in a corner"):
            return lambda _picture, t: _is_cornered(t, 0)
        if self.took("that touches", "that each touch"):
            return self.touched()
        if self.took("in the same box as"):
            return self.related(lambda _picture, t, other: other[0] == t[0])
        return self.wall() or self.vertical()

    def wall(self) -> Filter | None:
        for start, slack in (("touching or almost touching", 4), ("touching", 0)):
            if self.took(f"{start} a wall"):
                return lambda _picture, t, slack=slack: bool(_walls(t, slack))  # type: ignore[misc]
            for side in ("left", "right", "top", "bottom"):
                if self.took(f"{start} the {side} wall"):
                    return lambda _picture, t, slack=slack, side=side: side in _walls(t, slack)  # type: ignore[misc]
        return None

    def vertical(self) -> Filter | None:
        said = self.took("directly above", "directly below", "somewhere above", "somewhere below", "touching")
        if said is None:
            return None

        def holds(picture: Picture, t: Thing, other: Thing) -> bool:
            if t[0] != other[0]:
                return False
            stack = stack_of(picture, t[0])
            rise = stack.index(t) - stack.index(other)
            return {"directly above": rise == 1, "directly below": rise == -1, "somewhere above": rise > 0,
                    "somewhere below": rise < 0, "touching": abs(rise) == 1}[said]  # fmt: skip

        return self.related(holds)

    def touched(self) -> Filter:
        """What follows "touches": another item so described, or none."""
        none = self.must("another", "no other", "an", "a", "no").startswith("no")
        noun, _ = self.noun()

        def holds(picture: Picture, t: Thing) -> bool:
            return any(u != t and u[0] == t[0] and noun(picture, u) and distance(t, u) < 0.5 for u in picture)

        return (lambda picture, t: not holds(picture, t)) if none else holds

    def related(self, holds: Callable[[Picture, Thing, Thing], bool]) -> Filter:
        self.must("a", "an")
        noun, _ = self.noun()
        return lambda picture, t: any(other != t and noun(picture, other) and holds(picture, t, other) for other in picture)


def _count(picture: Picture, noun: Filter) -> int:
    return sum(noun(picture, t) for t in picture)


def _some_equal(picture: Picture, towers: bool) -> bool:
    """Whether two boxes hold the same number; where towers are meant, empty boxes do not count."""
    heights = [sum(t[0] == box for t in picture) for box in range(3)]
    kept = [h for h in heights if h > 0] if towers else heights
    return len(set(kept)) < len(kept)


def stack_of(picture: Picture, box: int) -> list[Thing]:
    """The items of a box from the lowest to the highest."""
    return sorted((t for t in picture if t[0] == box), key=lambda t: -t[2])


def _walls(t: Thing, slack: int) -> set[str]:
    _, x, y, size, _, _ = t
    return {
        side for side, room in (("left", x), ("top", y), ("right", 100 - x - size), ("bottom", 100 - y - size)) if room <= slack
    }


def _is_cornered(t: Thing, slack: int) -> bool:
    touched = _walls(t, slack)
    return bool(touched & {"left", "right"}) and bool(touched & {"top", "bottom"})


# --- contact ---------------------------------------------------------------------------------------------------------


def speaks_of_contact(sentence: str) -> bool:
    """Whether a sentence says of scattered items that they touch one another."""
    return re.search(r"\btouch(es)?\b", sentence) is not None


def is_clear(picture: Picture) -> bool:
    """Whether every two items of a box touch, or do not, however one looks at it."""
    return all(a[0] != b[0] or _clear_contact(a, b) is not None for k, a in enumerate(picture) for b in picture[:k])


def _clear_contact(a: Thing, b: Thing) -> bool | None:
    """Clearly: bounding squares flush along a line, and the shapes meet there. Clearly not: squares far apart. Else None."""
    gaps = [max(b[axis] - a[axis] - a[3], a[axis] - b[axis] - b[3]) for axis in (1, 2)]
    if max(gaps) >= CLEARLY_APART:
        return False
    return True if max(gaps) == 0 and min(gaps) < 0 and distance(a, b) < 0.001 else None


def distance(a: Thing, b: Thing) -> float:
    """Pixels between two shapes that do not overlap; a circle is its centre, less its radius."""
    (corners, reach), (others, other_reach) = _core(a), _core(b)
    pairs = [(p, edge) for p in corners for edge in _edges(others)] + [(p, edge) for p in others for edge in _edges(corners)]
    return min(_from_edge(p, *edge) for p, edge in pairs) - reach - other_reach


def _core(t: Thing) -> tuple[list[tuple[float, float]], float]:
    _, x, y, size, _, shape = t
    if shape == 0:
        return [(x + size / 2, y + size / 2)], size / 2
    top = [(x + size / 2, y)] if shape == 2 else [(x, y), (x + size, y)]
    return [*top, (x + size, y + size), (x, y + size)], 0.0


def _edges(corners: list[tuple[float, float]]) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    return list(zip(corners, corners[1:] + corners[:1], strict=True))


def _from_edge(p: tuple[float, float], a: tuple[float, float], b: tuple[float, float]) -> float:
    ex, ey = b[0] - a[0], b[1] - a[1]
    length = ex * ex + ey * ey
    along = 0.0 if length == 0 else min(1.0, max(0.0, ((p[0] - a[0]) * ex + (p[1] - a[1]) * ey) / length))
    return math.hypot(p[0] - a[0] - along * ex, p[1] - a[1] - along * ey)
