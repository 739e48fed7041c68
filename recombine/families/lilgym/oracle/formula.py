"""Programs read into a `Meaning`, by the shape of their syntax tree; the interpreter of programs is not asked.

Only the forms that statements of the language take are read; anything else is `Unreadable`, and the oracle then looks at scenes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

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
from recombine.families.lilgym.oracle.nouns import Unreadable
from recombine.families.lilgym.program.syntax import Node, parse

ATTRIBUTES = {"color": COLOR_WORDS, "shape": SHAPE_WORDS, "size": SIZE_WORDS}
PLACES = {"is_top": At("top"), "is_bottom": At("bottom"), "is_second": At("second"), "is_third": At("third")}
WALLS = {"is_touching_wall": 0, "is_closely_touching_wall": 4}
CORNERS = {"is_touching_corner": 0, "is_closely_touching_corner": 4}
RELATIVES = {
    "get_below": "directly above",
    "get_above": "directly below",
    "get_box_all_below": "above",
    "get_box_all_above": "below",
    "get_touching": "touching",
    "get_box_exclusive": "in the same box",
}
"""Function that gives other items -> how the item stands to them."""


@functools.lru_cache(maxsize=65_536)
def read(text: str) -> Meaning:
    """What a program claims; `Unreadable` (or `ProgramError`) if it has no form of the language."""
    return _meaning(_tree(text))


@functools.lru_cache(maxsize=1_024)
def _tree(text: str) -> Node:
    """The syntax tree of a program; a row asks for it twice."""
    return parse(text)


def _fail(node: Node) -> Unreadable:
    return Unreadable(f"the program has no form of the language at characters {node.start} to {node.stop}.")


def _call(node: Node, name: str, arguments: int) -> tuple[Node, ...] | None:
    """The arguments, if the node is this call with this many."""
    if node.kind == "call" and node.children[0].kind == "name" and node.children[0].name == name and not node.names:
        return node.children[1:] if len(node.children) == arguments + 1 else None
    return None


def _called(node: Node) -> str:
    return node.children[0].name if node.kind == "call" and node.children[0].kind == "name" and not node.names else ""


def _method(node: Node, name: str, variable: str) -> bool:
    """Whether the node is `variable.name()`."""
    if node.kind != "call" or len(node.children) != 1 or node.children[0].kind != "attr" or node.children[0].name != name:
        return False
    owner = node.children[0].children[0]
    return owner.kind == "name" and owner.name == variable


def _constant(node: Node, words: dict[str, int], kind: str) -> int:
    """The value of `Color.BLUE` and its like."""
    if node.kind == "attr" and node.children[0].kind == "name" and node.children[0].name == kind and node.name.lower() in words:
        return words[node.name.lower()]
    raise _fail(node)


def _span(node: Node) -> tuple[Node, Span] | None:
    """`exist(S)` or `count(S) <sign> number`: the collection and the range of its size."""
    some = _call(node, "exist", 1)
    if some:
        return some[0], SOME
    if node.kind != "compare" or len(node.names) != 1 or node.children[1].kind != "int":
        return None
    counted, number = _call(node.children[0], "count", 1), node.children[1].value
    spans = {
        "==": Span(number, number), ">=": Span(number, MANY), "<=": Span(0, number), ">": Span(number + 1, MANY),
        "<": Span(0, number - 1),
    }  # fmt: skip
    return (counted[0], spans[node.names[0]]) if counted and node.names[0] in spans else None


# --- whole programs --------------------------------------------------------------------------------------------------


def _meaning(node: Node) -> Meaning:
    if node.kind in ("and", "or"):
        return join([_meaning(child) for child in node.children], every=node.kind == "and")
    if node.kind == "not":
        return deny(_meaning(node.children[0]))
    spanned = _span(node)
    if spanned:
        return _sized(*spanned)
    if node.kind == "compare" and len(node.names) == 1 and node.names[0] in (">", "=="):
        both = [_call(child, "count", 1) for child in node.children]
        if both[0] and both[1]:
            return Compare(_items(both[0][0], _is_all), _items(both[1][0], _is_all), node.names[0] == ">")
    every = _call(node, "All", 2)
    if every:
        if every[0].kind == "name" and every[0].name == "all_boxes":
            return Boxes(_conditions(every[1]), Span(3, 3))
        return Every(_items(every[0], _is_all), _predicate(every[1]))
    for attribute in ATTRIBUTES:
        same = _call(node, f"all_same_{attribute}", 1)
        if same:
            return Variety(_items(same[0], _is_all), attribute, Span(1, 1))
    raise _fail(node)


def _sized(collection: Node, span: Span) -> Meaning:
    """This many elements: boxes, pairs of boxes, values of an attribute, or items."""
    filtered = _call(collection, "filter_obj", 2)
    if filtered and filtered[0].kind == "name" and filtered[0].name == "all_boxes":
        return Boxes(_conditions(filtered[1]), span.clipped(3))
    if filtered and _called(filtered[0]) == "combinations":
        return _equal_boxes(filtered[0], filtered[1], span)
    values = _values(collection)
    if values:
        return Variety(_items(values[1], _is_all), values[0], span.clipped(3))
    return Items(_items(collection, _is_all), span)


def _values(node: Node) -> tuple[str, Node] | None:
    for attribute in ATTRIBUTES:
        found = _call(node, f"get_set_{attribute}s", 1)
        if found:
            return attribute, found[0]
    return None


def _equal_boxes(pairs: Node, test: Node, span: Span) -> Meaning:
    """`exist` of pairs of boxes with equally many items."""
    boxes, size = pairs.children[1:] if len(pairs.children) == 3 else (pairs, pairs)
    equal = test.children[0] if test.kind == "lambda" else test
    sides = [_call(side, "count", 1) for side in equal.children] if equal.kind == "compare" and equal.names == ("==",) else []
    if span != SOME or size.kind != "int" or size.value != 2 or len(sides) != 2:
        raise _fail(pairs)
    places = set()
    for side in sides:
        inner = side[0] if side else equal
        owner = inner.children[0].children[0] if inner.kind == "call" and inner.children[0].kind == "attr" else inner
        is_items = inner.kind == "call" and len(inner.children) == 1 and inner.children[0].name == "all_items_in_box"
        if not is_items or owner.kind != "index" or owner.children[0].name != test.name or owner.children[1].kind != "int":
            raise _fail(equal)
        places.add(owner.children[1].value)
    if places != {0, 1}:
        raise _fail(equal)
    if boxes.kind == "name" and boxes.name == "all_boxes":
        return EqualBoxes(False, True)
    towers = _call(boxes, "filter_obj", 2)
    if towers and towers[0].name == "all_boxes" and _conditions(towers[1]) == {NOT_EMPTY}:
        return EqualBoxes(True, True)
    raise _fail(boxes)


# --- boxes -----------------------------------------------------------------------------------------------------------


def _conditions(function: Node) -> frozenset[Condition]:
    if function.kind != "lambda":
        raise _fail(function)
    body = function.children[0]
    parts = body.children if body.kind == "and" else (body,)
    return frozenset(_condition(part, function.name) for part in parts)


def _condition(node: Node, box: str) -> Condition:
    def is_inside(collection: Node) -> bool:
        return _method(collection, "all_items_in_box", box)

    if _method(node, "is_tower", box):
        return NOT_EMPTY
    every = _call(node, "All", 2)
    if every and is_inside(every[0]):
        return Only(_predicate(every[1]))
    negated = node.kind == "not"
    spanned = _span(node.children[0] if negated else node)
    if spanned is None or (negated and spanned[1] != SOME):
        raise _fail(node)
    collection, span = spanned[0], NONE if negated else spanned[1]
    values = _values(collection)
    if values:
        if not is_inside(values[1]):
            raise _fail(node)
        return Mixed(values[0], span.clipped(3))
    return Has(_items(collection, is_inside), span)


# --- items -----------------------------------------------------------------------------------------------------------


def _is_all(node: Node) -> bool:
    return node.kind == "name" and node.name == "all_items"


def _items(node: Node, is_base: Callable[[Node], bool]) -> Filter:
    """The properties by which a collection is filtered from its base."""
    if is_base(node):
        return frozenset()
    for attribute, words in ATTRIBUTES.items():
        chosen = _call(node, f"filter_{attribute}", 2)
        if chosen:
            value = _constant(chosen[1], words, attribute.capitalize())
            return _items(chosen[0], is_base) | {Is(attribute, value)}
    filtered = _call(node, "filter_obj", 2)
    if filtered:
        return _items(filtered[0], is_base) | _predicate(filtered[1])
    raise _fail(node)


def _predicate(function: Node) -> Filter:
    if function.kind != "lambda":
        raise _fail(function)
    body = function.children[0]
    parts = body.children if body.kind == "and" else (body,)
    return frozenset(_test(part, function.name) for part in parts)


def _test(node: Node, item: str) -> Is | At | Related:
    if node.kind == "not":
        inner = _test(node.children[0], item)
        if inner == At("wall"):
            return At("no wall")
        if isinstance(inner, Related) and inner.span == SOME:
            return Related(inner.relation, inner.others, NONE)
        raise _fail(node)
    spanned = _span(node)
    if spanned:
        return _related(*spanned, item)
    name = _called(node)
    if len(node.children) < 2 or node.children[1].kind != "name" or node.children[1].name != item:
        raise _fail(node)
    if len(node.children) == 2:
        word = name.removeprefix("is_")
        for attribute, words in ATTRIBUTES.items():
            if word in words:
                return Is(attribute, words[word])
        if name in PLACES:
            return PLACES[name]
        if name in CORNERS:
            return At("corner", CORNERS[name])
    if name in WALLS and len(node.children) in (2, 3):
        sides = {"left": 1, "right": 2, "top": 3, "bottom": 4}
        if len(node.children) == 2:
            return At("wall", WALLS[name])
        code = _constant(node.children[2], sides, "Side")
        return At(f"{next(side for side, known in sides.items() if known == code)} wall", WALLS[name])
    raise _fail(node)


def _related(collection: Node, span: Span, item: str) -> Related:
    """This many of the items to which `item` stands in a relation."""
    relation = ""

    def is_base(node: Node) -> bool:
        nonlocal relation
        if _called(node) in RELATIVES and len(node.children) == 2 and node.children[1].name == item:
            relation = RELATIVES[_called(node)]
        return bool(relation)

    others = _items(collection, is_base)
    return Related(relation, others, span)


# --- what occurs in a program ----------------------------------------------------------------------------------------

_SHOWN_BY_CALL = {
    "color": r"is_(yellow|black|blue)",
    "existential": r"exist",
    "exact_count": r"equal_int",
    "shape": r"is_(circle|square|triangle)",
    "wall": r"is_(closely_)?touching_wall",
    "rank": r"is_(top|bottom|second|third)",
    "lower_bound": r"ge",
    "negation": r"NOT",
    "above_below": r"get_(above|below|box_all_above|box_all_below)",
    "same_different": r"all_same.*|get_set_.*|query_.*|equal_(color|shape|size)",
    "universal": r"All",
    "corner": r".*corner",
    "disjunction": r"OR",
    "contact": r"get_(closely_)?touching|is_closely_touching",
    "upper_bound": r"le",
    "size": r"is_(small|medium|big)",
    "pairs": r"combinations",
    "conjunction": r"AND",
}
"""Phenomenon -> the functions that show it."""
_SHOWN_BY_NODE = {"and": "conjunction", "or": "disjunction", "not": "negation"}
_SHOWN_BY_NAME = {"all_boxes": "over_boxes", "all_items": "over_items", "Color": "color", "Shape": "shape", "Size": "size"}
_SHOWN_BY_SIGN = {"==": "exact_count", ">": "lower_bound", "<": "upper_bound"}
_BOUNDS = {">=": "lower_bound", "<=": "upper_bound", "!=": "negation"}


@functools.lru_cache(maxsize=65_536)
def shown_in(text: str) -> frozenset[str]:
    """The phenomena of the corpus's table that a program shows, by its syntax tree."""
    tree = _tree(text)
    found: set[str] = {"nested"} if _lambda_depth(tree) > 1 else set()
    for node in _nodes(tree):
        if node.kind in _SHOWN_BY_NODE:
            found.add(_SHOWN_BY_NODE[node.kind])
        if node.kind == "name" and node.name in _SHOWN_BY_NAME:
            found.add(_SHOWN_BY_NAME[node.name])
        if node.kind == "attr" and node.name == "is_tower":
            found.add("is_tower")
        if node.kind == "call":
            found |= _shown_by_call(_called(node))
        for sign, right in zip(node.names, node.children[1:], strict=False) if node.kind == "compare" else ():
            if sign in _BOUNDS:
                found.add(_BOUNDS[sign])
            if sign in _SHOWN_BY_SIGN and right.kind == "int":
                found.add(_SHOWN_BY_SIGN[sign])
    return frozenset(found)


@functools.lru_cache(maxsize=1_024)
def _shown_by_call(function: str) -> frozenset[str]:
    """The phenomena that a call of a function shows."""
    return frozenset(name for name, pattern in _SHOWN_BY_CALL.items() if re.fullmatch(pattern, function))


def _nodes(node: Node) -> list[Node]:
    return [node, *(inner for child in node.children for inner in _nodes(child))]


def _lambda_depth(node: Node) -> int:
    return (node.kind == "lambda") + max((_lambda_depth(child) for child in node.children), default=0)
