"""Plans in English. Every wording has one reading.

Numbers are always marked (exactly, at least, at most). "Every" and "all the same" say first that there is something to speak of.
What is said of a plural is said of "each". "Or" says "or both". "That is" speaks of the noun just before it. "Touches" is said only
of scenes in which every pair of items clearly touches or clearly does not (`sound.kernel.contact`).
"""

from __future__ import annotations

from recombine.families.lilgym.plan import (
    CONTACTS,
    PLACES,
    RELATIONS,
    AllSame,
    Both,
    Boxes,
    Compare,
    Condition,
    Either,
    EveryBox,
    EveryItem,
    Has,
    HasOnly,
    HasVariety,
    Items,
    Not,
    Noun,
    Plan,
    Quantifier,
    SameCount,
    Simple,
    Variety,
)  # fmt: skip
from recombine.families.lilgym.scene import Kind

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def say(plan: Plan, kind: Kind) -> str:
    """The statement in English: a sentence with its full stop."""
    text = _clause(plan, kind)
    return text[0].upper() + text[1:] + "."


def _clause(plan: Plan, kind: Kind) -> str:
    match plan:
        case Both(first, second):
            return f"{_clause(first, kind)}, and {_clause(second, kind)}"
        case Either(first, second):
            return f"{_clause(first, kind)}, or {_clause(second, kind)}, or both"
        case Not(inner):
            return f"it is not true that {_clause(inner, kind)}"
        case _:
            return _simple(plan, kind)


def _simple(plan: Simple, kind: Kind) -> str:
    many = noun_words(kind)[1]
    match plan:
        case Items(quantifier, number, noun):
            be = "is" if _is_one(quantifier, number) else "are"
            return f"there {be} {_counted(quantifier, number, noun, kind, False)}"
        case Boxes():
            return _boxes(plan, kind)
        case EveryBox(conditions) if kind == "tower":
            return "every box has a tower that " + " and that ".join(_said(c, kind, "has") for c in conditions)
        case EveryBox(conditions):
            return "every box " + " and ".join(_said(c, kind, "contains") for c in conditions)
        case EveryItem(noun, predicate):
            one = _noun(noun, kind, 1, False)
            return f"there is at least one {one}, and every {one} {_verb_phrase(noun, predicate, kind)}"
        case AllSame(noun, attribute):
            several = _noun(noun, kind, 2, False)
            return f"there are at least two {several}, and all {several} have the same {attribute}"
        case Variety(quantifier, number, attribute, noun):
            occur = f"different {attribute}s occur" if number > 1 else f"{attribute} occurs"
            return f"{_marked(quantifier, number)} {occur} among the {_noun(noun, kind, 2, False)}"
        case Compare(more, first, second):
            a, b = _noun(first, kind, 2, False), _noun(second, kind, 2, False)
            return f"there are more {a} than {b}" if more else f"there are as many {a} as {b}"
        case SameCount(some):
            boxes = "towers have" if kind == "tower" else "boxes contain"
            return f"{'at least' if some else 'no'} two {boxes} the same number of {many}"


def _boxes(plan: Boxes, kind: Kind) -> str:
    one, tower = _is_one(plan.quantifier, plan.number), kind == "tower" and not plan.plain
    box, has = ("tower", "has" if one else "have") if tower else ("box", "contains" if one else "contain")
    plural = box if one else "towers" if tower else "boxes"
    article = {"some": "a", "none": "no"}.get(plan.quantifier) or _marked(plan.quantifier, plan.number)
    link = "that" if one else "that each"
    said = f" and {link} ".join(_said(c, kind, has) for c in plan.conditions)
    return f"there {'is' if one else 'are'} {article} {plural} {link} {said}"


def _said(condition: Condition, kind: Kind, has: str) -> str:
    """A property of a box or a tower; what is at the top of a box's tower is not said to be at the top of the box."""
    many, inside = noun_words(kind)[1], kind == "scatter" or has in ("has", "have")
    match condition:
        case Has(quantifier, number, noun):
            return f"{has} {_counted(quantifier, number, noun, kind, inside)}"
        case HasOnly(noun):
            return f"{has} one or more {_noun(noun, kind, 2, inside)} and nothing else"
        case HasVariety(quantifier, number, attribute):
            return f"{has} {many} of {_marked(quantifier, number)} {attribute}{'' if number == 1 else 's'}"


def noun_words(kind: Kind) -> tuple[str, str]:
    """What an item is called, one and several."""
    return ("block", "blocks") if kind == "tower" else ("object", "objects")


def _is_one(quantifier: Quantifier, number: int) -> bool:
    return quantifier in ("some", "none") or number == 1


def _marked(quantifier: Quantifier, number: int) -> str:
    return f"{quantifier.replace('_', ' ')} {NUMBERS[number]}"


def _counted(quantifier: Quantifier, number: int, noun: Noun, kind: Kind, inside: bool) -> str:
    one = _is_one(quantifier, number)
    phrase = _noun(noun, kind, 1 if one else 2, inside)
    if quantifier == "some":
        return _with_article(phrase)
    return f"no {phrase}" if quantifier == "none" else f"{_marked(quantifier, number)} {phrase}"


def _with_article(phrase: str) -> str:
    return ("an " if phrase[0] in "aeiou" else "a ") + phrase


def _noun(noun: Noun, kind: Kind, number: int, inside: bool, noun_of_relation: bool = False) -> str:
    """The words of a noun. What a plural says is said of each; \"that is\" speaks of the noun just before it."""
    word = noun.shape or noun_words(kind)[0]
    head = " ".join(w for w in (noun.size, noun.color, word + ("s" if number > 1 else "")) if w)
    if noun.relation in CONTACTS and noun.other is not None:
        link = "that each touch" if number > 1 else "that touches"
        return f"{head} {link} {_touched(noun, noun, kind)}"
    after = _after(noun, kind, inside)
    link = "that are each " if number > 1 else "that is " if noun_of_relation else ""
    return f"{head} {link}{after}" if after else head


def _verb_phrase(noun: Noun, predicate: Noun, kind: Kind) -> str:
    """What is said of every item that a noun describes."""
    if predicate.relation in CONTACTS:
        return f"touches {_touched(noun, predicate, kind)}"
    return f"is {predicate.color or _after(predicate, kind, False)}"


def _touched(noun: Noun, relation: Noun, kind: Kind) -> str:
    """The object of "touches"; "other" where the item itself answers its description, too (nothing touches itself)."""
    assert relation.other is not None
    other, is_same = _noun(relation.other, kind, 1, False), noun.implies(relation.other)
    if relation.relation == "no_contact":
        return f"no other {other}" if is_same else f"no {other}"
    return f"another {other}" if is_same else _with_article(other)


def _after(noun: Noun, kind: Kind, inside: bool) -> str:
    said = [PLACES[noun.place][1 if inside else 0]] if noun.place else []
    if noun.other is not None:
        other = _noun(noun.other, kind, 1, inside, noun_of_relation=True)
        said.append(f"{RELATIONS[noun.relation][0]} {_with_article(other)}")
    return " and ".join(said)
