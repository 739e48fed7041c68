"""The grammar: every statement that can be said, as frames of weighted choices. A statement is a frame and a rank in it.

A frame is a product of pools. Which statements are used is decided once, by `selection.py`: those that are neither constant nor out
of reach, each meaning once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from recombine.families.lilgym import plan as p
from recombine.families.lilgym.scene import COLORS, SHAPES, SIZE_NAMES, Kind
from recombine.families.lilgym.sound.pool import Frame, Pool, mixed

# --- amounts ---------------------------------------------------------------------------------------------------------

Amount = tuple[p.Quantifier, int]


def amounts(quantifiers: Mapping[p.Quantifier, float], numbers: Mapping[int, float]) -> Pool:
    """Quantifiers with their numbers. "At least one" and "at most none" are said otherwise; the largest number is no upper bound."""
    some: Mapping[p.Quantifier, Mapping[int, float]] = {
        "some": {0: 1},
        "none": {0: 1},
        "exactly": numbers,
        "at_least": {n: w for n, w in numbers.items() if n > 1},
        "at_most": {n: w for n, w in numbers.items() if n < max(numbers)},
    }
    return mixed(*((share, Pool.of(((name, n), w) for n, w in some[name].items())) for name, share in quantifiers.items()))


FEW = {1: 42, 2: 40, 3: 18}
"""Three boxes have three tops, so counts end at three there."""
ITEM_NUMBERS = {1: 25, 2: 35, 3: 22, 4: 12, 5: 6}
INSIDE_NUMBERS = {1: 34, 2: 38, 3: 22, 4: 6}
HEIGHTS = {1: 15, 2: 30, 3: 33, 4: 22}
CROWDS = {2: 20, 3: 25, 4: 25, 5: 15, 6: 10, 7: 5}
BOX_NUMBERS = {1: 40, 2: 52, 3: 8}
_OF_ITEMS: Mapping[p.Quantifier, float] = {"some": 34, "exactly": 50, "at_least": 16, "none": 4, "at_most": 3}
_OF_BOXES: Mapping[p.Quantifier, float] = {"some": 42, "exactly": 55, "at_least": 6, "none": 3, "at_most": 2}
_INSIDE: Mapping[p.Quantifier, float] = {"some": 48, "exactly": 46, "at_least": 8, "none": 5, "at_most": 2}
_BARE: Mapping[p.Quantifier, float] = {"exactly": 84, "at_least": 12, "at_most": 4}
COUNTED = amounts(_OF_ITEMS, ITEM_NUMBERS)
COUNTED_FEW = amounts(_OF_ITEMS, FEW)
BOXED = Pool.of((a, w) for a, w in zip(*vars(amounts(_OF_BOXES, BOX_NUMBERS)).values(), strict=True) if a != ("at_least", 3))
INSIDE = amounts(_INSIDE, INSIDE_NUMBERS)
INSIDE_TOWER = amounts({"some": 46, "exactly": 44, "at_least": 8, "none": 1.5, "at_most": 0.5}, {1: 34, 2: 40, 3: 26})
MOSTLY = amounts({"some": 97, "none": 3}, {1: 1})
ONE_OR_TWO = amounts({"some": 60, "exactly": 28, "at_least": 8, "none": 2}, {1: 60, 2: 40})
VALUES = Pool.of([(("exactly", 1), 27), (("exactly", 2), 40), (("exactly", 3), 12), (("at_least", 2), 21)])


# --- nouns -----------------------------------------------------------------------------------------------------------

COLOR_WORDS = Pool.of((color, 1) for color in COLORS)
RANKS = Pool.of({"top": 46, "bottom": 42, "second": 8, "third": 4}.items())
RISES = Pool.of({"directly_above": 34, "directly_below": 30, "above": 12, "below": 9, "touching": 15}.items())
LEVELS = Pool.of(
    [
        (("top", "directly_above"), 20), (("top", "above"), 12), (("bottom_wall", "directly_below"), 22),
        (("bottom_wall", "below"), 12), (("second", "directly_above"), 9), (("second", "directly_below"), 8), (("second", "below"), 4),
        (("third", "directly_above"), 6), (("third", "above"), 4), (("third", "directly_below"), 3),
    ]
)  # fmt: skip
"""A rank with a relation that says something more: the top has nothing above it."""
SPOTS = Pool.of(
    {
        "wall": 30, "no_wall": 8, "near_wall": 11, "corner": 6, "near_corner": 8, "bottom_wall": 10, "right_wall": 6, "top_wall": 4,
        "left_wall": 4, "near_bottom_wall": 4, "near_right_wall": 3, "near_top_wall": 3, "near_left_wall": 3,
    }.items()
)  # fmt: skip


def _tower_nouns() -> dict[str, Pool]:
    """Blocks by colour, rank, relation; a rank with a relation; a relation to a block that has a rank or a relation itself."""
    colored = COLOR_WORDS.map(lambda c: p.Noun(c))
    ranked = (COLOR_WORDS * RANKS).map(lambda v: p.Noun(v[0], place=v[1]))
    tight = _related(COLOR_WORDS, COLOR_WORDS)
    related = mixed((85, tight), (15, _related(Pool.of([("", 1)]), COLOR_WORDS)))
    levelled = (COLOR_WORDS * LEVELS * colored).map(
        lambda v: p.Noun(v[0][0], place=v[0][1][0], relation=v[0][1][1], other=v[1])
    )
    inner = mixed((40, ranked), (60, tight))
    nested = (COLOR_WORDS * RISES * inner).map(lambda v: p.Noun(v[0][0], relation=v[0][1], other=v[1]))
    return {"colored": colored, "ranked": ranked, "related": related, "levelled": levelled, "nested": nested}


def _related(first: Pool, second: Pool) -> Pool:
    """Blocks above, below or beside another one."""
    return (first * RISES * second).map(lambda v: p.Noun(v[0][0], relation=v[0][1], other=p.Noun(v[1])))


def _attributes(bare: float = 0.0) -> Pool:
    """Colour, shape and size, each open or named; `bare`: the share of nouns that name none."""
    colors = Pool.of([("", 32), *((c, 68 / 3) for c in COLORS)])
    shapes = Pool.of([("", 47), *((s, 53 / 3) for s in SHAPES)])
    sizes = Pool.of([("", 97), *((s, 1) for s in SIZE_NAMES)])
    nouns = (colors * shapes * sizes).map(lambda v: p.Noun(v[0][0], v[0][1], v[1]))
    named = Pool.of((n, w) for n, w in zip(nouns.values, nouns.weights, strict=True) if not n.is_bare)
    return mixed((100 - bare, named), (bare, Pool.of([(p.Noun(), 1)]))) if bare else named


def _scatter_nouns() -> dict[str, Pool]:
    """Objects by attributes, and by one attribute and a place or contact."""
    single = Pool.of([*((p.Noun(c), 20) for c in COLORS), *((p.Noun(shape=s), 13) for s in SHAPES)])
    loose = mixed((84, single), (16, Pool.of([(p.Noun(), 1)])))
    contact = loose * CONTACT * loose
    return {
        "named": _attributes(),
        "single": single,
        "placed": (loose * SPOTS).map(lambda v: _placed(v[0], v[1])),
        "touching": contact.map(lambda v: _touching(v[0][0], v[0][1], v[1])),
    }


CONTACT = Pool.of([("contact", 80), ("no_contact", 20)])


def _placed(noun: p.Noun, place: str) -> p.Noun:
    return p.Noun(*noun.attributes, place)


def _touching(noun: p.Noun, relation: str, other: p.Noun) -> p.Noun:
    return p.Noun(*noun.attributes, relation=relation, other=other)


def _company(noun: p.Noun, other: p.Noun) -> p.Noun | None:
    """A noun with another in its box; the two differ in colour or shape, so they are two items."""
    if not (noun.color or noun.shape):
        return None
    differs = any(a and b and a != b for a, b in ((noun.color, other.color), (noun.shape, other.shape)))
    return p.Noun(*noun.attributes, relation="same_box", other=other) if differs else None


# --- conditions and statements ---------------------------------------------------------------------------------------


def _has(pool: Pool, counted: Pool) -> Pool:
    made = (pool * counted).map(lambda v: None if _is_denied_twice(v[0], v[1]) else p.Has(v[1][0], v[1][1], v[0]))
    return Pool.of((c, w) for c, w in zip(made.values, made.weights, strict=True) if c is not None)


def _items(pool: Pool, counted: Pool) -> Pool:
    made = (pool * counted).map(lambda v: None if _is_denied_twice(v[0], v[1]) else p.Items(v[1][0], v[1][1], v[0]))
    return Pool.of((c, w) for c, w in zip(made.values, made.weights, strict=True) if c is not None)


def _is_denied_twice(noun: p.Noun, amount: Amount) -> bool:
    """ "No object that touches no other" is not said."""
    return amount[0] == "none" and noun.relation == "no_contact"


def _conditions(kind: Kind, nouns: Mapping[str, Pool]) -> Pool:
    """What is said of a box."""
    bare = Pool.of([(p.Noun(), 1)])
    if kind == "tower":
        attributes = Pool.of([("color", 1)])
        return mixed(
            (18, _has(bare, amounts(_BARE, HEIGHTS))),
            (30, _has(nouns["colored"], INSIDE_TOWER)),
            (36, _has(nouns["ranked"], MOSTLY)),
            (6, _has(nouns["related"], ONE_OR_TWO)),
            (1.5, _has(nouns["levelled"], MOSTLY)),
            (5, nouns["colored"].map(p.HasOnly)),
            (12, (VALUES * attributes).map(lambda v: p.HasVariety(v[0][0], v[0][1], v[1]))),
        )
    attributes = Pool.of({"color": 60, "shape": 32, "size": 8}.items())
    return mixed(
        (11, _has(bare, amounts(_BARE, CROWDS))),
        (34, _has(nouns["single"], INSIDE)),
        (20, _has(nouns["named"], INSIDE)),
        (14, _has(nouns["placed"], ONE_OR_TWO)),
        (2, _has(nouns["touching"], ONE_OR_TWO)),
        (5, nouns["single"].map(p.HasOnly)),
        (7, (VALUES * attributes).map(lambda v: p.HasVariety(v[0][0], v[0][1], v[1]))),
    )


def _clash(first: p.Condition, second: p.Condition) -> bool:
    """Whether two conditions speak of the same noun, or of varieties twice: such pairs are contradictions or repetitions."""
    if isinstance(first, p.Has) and isinstance(second, p.Has):
        return first.noun == second.noun
    return type(first) is type(second) or {type(first), type(second)} == {p.HasOnly, p.HasVariety}


def _two(kind: Kind, first: p.Condition, second: p.Condition) -> tuple[p.Condition, ...] | None:
    """Two conditions in the order of their programs; None if they do not go together or stand the other way round."""
    if _clash(first, second) or p.write(p.EveryBox((first,)), kind) > p.write(p.EveryBox((second,)), kind):
        return None
    return first, second


def _without(attribute: p.Attribute, noun: p.Noun) -> p.Noun:
    """The noun without the attribute that is spoken of."""
    return p.Noun(
        "" if attribute == "color" else noun.color, "" if attribute == "shape" else noun.shape,
        "" if attribute == "size" else noun.size, noun.place, noun.relation, noun.other,
    )  # fmt: skip


def _joined(kind: Kind, join: Callable[[p.Simple, p.Simple], p.Plan]) -> Callable[[p.Simple, p.Simple], p.Plan | None]:
    def make(first: p.Simple, second: p.Simple) -> p.Plan | None:
        return join(first, second) if p.write(first, kind) < p.write(second, kind) else None

    return make


def _denies(plan: p.Simple) -> bool:
    """Whether a clause has a negation of its own; then "it is not true that" is not said of it."""
    nouns = [noun for quantifier, noun in p.nouns(plan) if quantifier == "none" or noun.relation == "no_contact"]
    return bool(nouns) or (isinstance(plan, p.Boxes) and plan.quantifier == "none")


def _box_frames(kind: Kind, conditions: Pool, shares: Sequence[float]) -> list[Frame]:
    tower = kind == "tower"
    plain = Pool.of([(False, 78), (True, 22)]) if tower else Pool.of([(False, 1)])

    def one(amount: Amount, is_plain: bool, condition: p.Condition) -> p.Plan:
        return p.Boxes(*amount, (condition,), is_plain)

    def two(amount: Amount, is_plain: bool, first: p.Condition, second: p.Condition) -> p.Plan | None:
        both = _two(kind, first, second)
        return None if both is None else p.Boxes(*amount, both, is_plain)

    def every_two(first: p.Condition, second: p.Condition) -> p.Plan | None:
        both = _two(kind, first, second)
        return None if both is None else p.EveryBox(both)

    return [
        Frame("boxes", shares[0], (BOXED, plain, conditions), one),
        Frame("boxes_two", shares[1], (BOXED, plain, conditions, conditions), two),
        Frame("every_box", shares[2], (conditions,), lambda c: p.EveryBox((c,))),
        Frame("every_box_two", shares[3], (conditions, conditions), every_two),
    ]


def _rest_frames(kind: Kind, parts: Pool, counted: Pool, compared: Pool, shares: Sequence[float]) -> list[Frame]:
    """Statements that join, deny or compare."""

    def compare(more: bool, first: p.Noun, second: p.Noun) -> p.Plan | None:
        if first == second or (
            not more and p.write(p.Compare(False, second, first), kind) < p.write(p.Compare(False, first, second), kind)
        ):
            return None
        return p.Compare(more, first, second)

    return [
        Frame("both", shares[0], (parts, parts), _joined(kind, p.Both)),
        Frame("either", shares[1], (parts, parts), _joined(kind, p.Either)),
        Frame("not", shares[2], (counted,), lambda inner: None if _denies(inner) else p.Not(inner)),
        Frame("compare", shares[3], (Pool.of([(True, 65), (False, 35)]), compared, compared), compare),
        Frame("same_count", shares[4], (Pool.of([(True, 70), (False, 30)]),), p.SameCount),
    ]


def _short_frames(kind: Kind, conditions: Pool, counted: Pool, shares: Sequence[float]) -> list[Frame]:
    """Two short clauses: what a program says without a quantifier inside another one. Of `either` no clause says "and"."""
    boxes = (BOXED * conditions).map(lambda v: p.Boxes(v[0][0], v[0][1], (v[1],), False))
    plain = (BOXED * conditions).map(lambda v: p.Boxes(v[0][0], v[0][1], (v[1],), kind == "tower"))
    return [
        Frame("both_short", shares[0], (mixed((70, boxes), (30, counted)),) * 2, _joined(kind, p.Both)),
        Frame("either_short", shares[1], (mixed((60, plain), (40, counted)),) * 2, _joined(kind, p.Either)),
    ]


def _tower_frames() -> list[Frame]:
    nouns = _tower_nouns()
    conditions = _conditions("tower", nouns)
    boxes = (BOXED * conditions).map(lambda v: p.Boxes(v[0][0], v[0][1], (v[1],)))
    simple = mixed(
        (30, _items(nouns["colored"], COUNTED)),
        (30, _items(nouns["ranked"], COUNTED_FEW)),
        (20, _items(nouns["related"], COUNTED)),
    )
    parts = mixed((72, simple), (28, boxes))
    varieties = VALUES.map(lambda amount: p.HasVariety(amount[0], amount[1], "color"))
    heights = _has(Pool.of([(p.Noun(), 1)]), amounts(_BARE, HEIGHTS))
    short = mixed((45, heights), (25, varieties), (30, _has(nouns["colored"], INSIDE_TOWER)))
    told = mixed((30, nouns["ranked"]), (40, nouns["related"]), (30, nouns["nested"]))
    predicates = Pool.of((n, 1) for n in dict.fromkeys(p.Noun("", "", "", n.place, n.relation, n.other) for n in told.values))
    return [
        Frame("items", 3, (_items(nouns["colored"], COUNTED),), _itself),
        Frame("items_ranked", 9, (_items(nouns["ranked"], COUNTED_FEW),), _itself),
        Frame("items_related", 5, (_items(nouns["related"], COUNTED),), _itself),
        Frame("items_levelled", 4, (_items(nouns["levelled"], COUNTED_FEW),), _itself),
        Frame("items_nested", 4, (_items(nouns["nested"], COUNTED_FEW),), _itself),
        Frame("every_item", 2, (nouns["colored"], predicates), p.EveryItem),
        Frame("all_same", 1, (predicates,), lambda n: p.AllSame(n, "color")),
        Frame("variety", 1, (VALUES, predicates), lambda a, n: p.Variety(a[0], a[1], "color", n)),
        *_box_frames("tower", conditions, (24, 34, 1.5, 4)),
        *_rest_frames("tower", parts, mixed((50, simple), (50, boxes)), mixed((40, nouns["colored"]), (60, nouns["ranked"])), (4, 3.5, 3, 0.4, 1.2)),
        *_short_frames("tower", short, _items(nouns["colored"], COUNTED), (4, 2)),
    ]  # fmt: skip


def _scatter_frames() -> list[Frame]:
    nouns = _scatter_nouns()
    loose, attributes = _attributes(14), Pool.of({"color": 60, "shape": 32, "size": 8}.items())
    conditions = _conditions("scatter", nouns)
    short = mixed((60, _has(nouns["single"], INSIDE)), (20, _has(Pool.of([(p.Noun(), 1)]), amounts(_BARE, CROWDS))))
    boxes = (BOXED * short).map(lambda v: p.Boxes(v[0][0], v[0][1], (v[1],)))
    simple = mixed((35, _items(nouns["named"], COUNTED)), (65, _items(nouns["placed"], COUNTED)))
    described = mixed((60, nouns["named"]), (40, nouns["placed"]))

    def placed(noun: p.Noun, place: str, amount: Amount) -> p.Plan:
        return p.Items(*amount, _placed(noun, place))

    def company(noun: p.Noun, other: p.Noun, amount: Amount) -> p.Plan | None:
        both = _company(noun, other)
        return None if both is None else p.Items(*amount, both)

    def touching(noun: p.Noun, relation: str, other: p.Noun, amount: Amount) -> p.Plan | None:
        made = _touching(noun, relation, other)
        return None if _is_denied_twice(made, amount) else p.Items(*amount, made)

    def every_touching(noun: p.Noun, relation: str, other: p.Noun) -> p.Plan:
        return p.EveryItem(noun, _touching(p.Noun(), relation, other))

    def same(attribute: p.Attribute, noun: p.Noun) -> p.Plan | None:
        return None if noun.is_bare or _without(attribute, noun) != noun else p.AllSame(noun, attribute)

    def variety(amount: Amount, attribute: p.Attribute, noun: p.Noun) -> p.Plan | None:
        return None if _without(attribute, noun) != noun else p.Variety(amount[0], amount[1], attribute, noun)

    return [
        Frame("items", 9, (_items(nouns["named"], COUNTED),), _itself),
        Frame("items_placed", 24, (loose, SPOTS, COUNTED), placed),
        Frame("items_company", 2, (nouns["named"], nouns["named"], COUNTED_FEW), company),
        Frame("items_touching", 2, (_attributes(20), CONTACT, _attributes(30), COUNTED_FEW), touching),
        Frame("every_item", 1.4, (nouns["named"], SPOTS), lambda n, place: p.EveryItem(n, p.Noun(place=place))),
        Frame("every_color", 0.3, (nouns["named"], COLOR_WORDS), lambda n, c: None if n.color else p.EveryItem(n, p.Noun(c))),
        Frame("every_touching", 0.4, (nouns["named"], CONTACT, nouns["named"]), every_touching),
        Frame("all_same", 1.2, (attributes, described), same),
        Frame("variety", 1, (VALUES, attributes, described), variety),
        *_box_frames("scatter", conditions, (18, 30, 1.2, 2)),
        *_rest_frames("scatter", mixed((75, simple), (25, boxes)), mixed((50, simple), (50, boxes)), described, (4, 2, 5, 0.7, 0.7)),
        *_short_frames("scatter", short, _items(nouns["single"], COUNTED), (2, 2)),
    ]  # fmt: skip


def _itself(statement: p.Plan) -> p.Plan:
    return statement


@functools.cache
def frames(kind: Kind) -> tuple[Frame, ...]:
    """The frames of a kind of scene. Of two statements that mean the same, the one of the earlier frame is taken."""
    return tuple(_tower_frames() if kind == "tower" else _scatter_frames())
