"""Plans in English. A plan has many wordings; every wording has one reading.

Numbers are always marked (exactly, at least, at most; "only" at the beginning of a clause), or "the rest do not" marks them.
"Every", "all" and "only" say that there is something to speak of. What is said of a plural is said of "each". "Or" says "or both".
"That is" speaks of the noun just before it. SCATTER speaks of contact only where it is clear (`sound.kernel.contact`).
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from recombine.families.lilgym import phrases as words
from recombine.families.lilgym.nouns import (
    amount_of,
    counted,
    head_of,
    is_one,
    noun_phrase,
    noun_words,
    partitive_of,
    post_of,
    predicate_of,
    with_article,
)
from recombine.families.lilgym.phrases import Voice
from recombine.families.lilgym.plan import (
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
    SameCount,
    Simple,
    Variety,
)  # fmt: skip
from recombine.families.lilgym.scene import Kind

MOST_WORDS = 30
"""No statement has more words."""


def say(plan: Plan, kind: Kind, voice: Voice | None = None) -> str:
    """The statement in English: a sentence with its full stop. Without a voice, the plain wording."""
    text = _clause(plan, kind, voice or Voice())
    return text[0].upper() + text[1:] + "."


def _clause(plan: Plan, kind: Kind, voice: Voice) -> str:
    match plan:
        case Both(first, second):
            return voice.pick(words.BOTH).format(a=_simple(first, kind, voice, False), b=_simple(second, kind, voice, False))
        case Either(first, second):
            return voice.pick(words.EITHER).format(a=_simple(first, kind, voice, False), b=_simple(second, kind, voice, False))
        case Not(inner):
            return f"{voice.pick(words.NOT)} {_simple(inner, kind, voice, False)}"
        case _:
            return _simple(plan, kind, voice, True)


def _simple(plan: Simple, kind: Kind, voice: Voice, alone: bool) -> str:
    """A clause; `alone`: it is the whole sentence, so it may have a comma of its own."""
    match plan:
        case Items():
            return _items(plan, kind, voice, alone)
        case Boxes():
            return _boxes(plan, kind, voice, alone)
        case EveryBox(conditions):
            return _every_box(conditions, kind, voice)
        case EveryItem(noun, predicate):
            return _every_item(noun, predicate, kind, voice)
        case AllSame(noun, attribute):
            tail = voice.pick(words.ALL_HAVE).format(a=attribute)
            amount = voice.pick(words.AT_LEAST).format(n="two")
            return f"{_shown(voice.pick(words.SEEN), True, f'{amount} {noun_phrase(noun, kind, voice, True, False)}')}, {tail}"
        case Variety():
            return _variety(plan, kind, voice)
        case Compare():
            return _compare(plan, kind, voice)
        case SameCount(some):
            return voice.pick(words.SAME_COUNT[kind == "tower", some])


# --- clauses about items ---------------------------------------------------------------------------------------------


def _shown(how: str, plural: bool, said: str) -> str:
    """That something is there."""
    if how == "there":
        return f"there {'are' if plural else 'is'} {said}"
    if how == "present":
        return f"{said} {'are' if plural else 'is'} present"
    return f"{'the picture shows' if how == 'shows' else 'one can see'} {said}"


def _items(plan: Items, kind: Kind, voice: Voice, alone: bool) -> str:
    quantifier, number, noun = plan.quantifier, plan.number, plan.noun
    plural = not is_one(quantifier, number)
    how = voice.pick(words.ITEMS.among(_item_forms(plan, alone)))
    if how in ("subject", "partitive", "of"):
        head, _ = head_of(Noun(*noun.attributes), kind, voice, how != "subject" or plural)
        post = post_of(noun, kind, voice, False, False)
        assert post is not None
        said = predicate_of(post, plural, voice)
        if how == "subject":
            return f"{counted(amount_of(quantifier, number, voice, True), head)} {said}"
        amount = partitive_of(quantifier, number, voice)
        return f"{amount} of the {head} {said}" if how == "partitive" else f"of the {head}, {amount} {said}"
    if how == "number":
        head = " ".join(w for w in (*noun.attributes[2::-2], noun.place, noun.shape or noun_words(kind)[0]) if w)
        return f"the number of {head}s is {amount_of(quantifier, number, voice)}"
    said = counted(amount_of(quantifier, number, voice, how == "present"), noun_phrase(noun, kind, voice, plural, False))
    return f"in total {_shown('there', plural, said)}" if how == "total" else _shown(how, plural, said)


@functools.cache
def _item_forms(plan: Items, alone: bool) -> frozenset[str]:
    """The forms of a clause about items that fit."""
    found, noun = {"there", "shows", "see", "present"}, plan.noun
    if noun.place or noun.other is not None:
        found |= {"subject", "partitive"} | ({"of"} if alone else set())
    if plan.quantifier not in ("some", "none"):
        found.add("total")
        if noun.other is None and noun.place in ("", "top", "bottom"):
            found.add("number")
    return frozenset(found)


def _every_item(noun: Noun, predicate: Noun, kind: Kind, voice: Voice) -> str:
    how = voice.pick(words.EVERY)
    head, _ = head_of(noun, kind, voice, how.endswith("the"))
    if predicate.color:
        said = f"is {predicate.color}"
    else:
        post = post_of(predicate, kind, voice, False, False, noun)
        assert post is not None
        said = predicate_of(post, False, voice)
    return f"there is at least one {head}, and each of them {said}" if how == "there" else f"{how} {head} {said}"


def _variety(plan: Variety, kind: Kind, voice: Voice) -> str:
    plural = plan.number > 1
    values = f"{amount_of(plan.quantifier, plan.number, voice)} {plan.attribute}{'s' if plural else ''}"
    among = f"the {noun_phrase(plan.noun, kind, voice, True, False)}"
    match voice.pick(words.VARIETY):
        case "come in":
            return f"{among} come in {values}"
        case "are of":
            return f"{among} are of {values}"
        case "occur":
            return f"{values} {'occur' if plural else 'occurs'} among {among}"
        case "among":
            return f"among {among} there {'are' if plural else 'is'} {values}"
        case "seen":
            return f"{values} can be seen among {among}"
        case _:
            return f"the number of {plan.attribute}s among {among} is {amount_of(plan.quantifier, plan.number, voice)}"


def _compare(plan: Compare, kind: Kind, voice: Voice) -> str:
    first, second = (noun_phrase(noun, kind, voice, True, False) for noun in (plan.first, plan.second))
    if not plan.more:
        how = voice.pick(words.EQUAL if plan.first.is_short else words.EQUAL_LONG)
        if how == "equally":
            return f"there are equally many {first} and {second}"
        return f"there are as many {second} as {first}" if how == "other" else _shown(how, True, f"as many {first} as {second}")
    match voice.pick(words.MORE):
        case "there more":
            return f"there are more {first} than {second}"
        case "there fewer":
            return f"there are fewer {second} than {first}"
        case "outnumber":
            return f"the {first} outnumber the {second}"
        case how:
            return _shown(how, True, f"more {first} than {second}")


# --- clauses about boxes ---------------------------------------------------------------------------------------------

_VERBS = {"contains": "contain", "has": "have", "holds": "hold"}


def _boxes(plan: Boxes, kind: Kind, voice: Voice, alone: bool) -> str:
    quantifier, number = plan.quantifier, plan.number
    tower, plural = kind == "tower" and not plan.plain, not is_one(quantifier, number)
    one, several = ("tower", "towers") if tower else ("box", "boxes")
    speaker = Speaker(kind, tower, voice)
    how = voice.pick(words.BOXES.among(_box_forms(plan, tower, alone)))
    box = several if plural else one
    be, each = ("are", "each ") if plural else ("is", "")
    match how:
        case "there with":
            amount = counted(amount_of(quantifier, number, voice), box)
            return f"there {be} {amount} {each}{speaker.prepositions(plan.conditions)}"
        case "there that":
            amount = counted(amount_of(quantifier, number, voice), box)
            return f"there {be} {amount} that {each}{speaker.verbs(plan.conditions, plural)}"
        case "subject":
            amount = counted(amount_of(quantifier, number, voice, True), box)
            return f"{amount} {each}{speaker.verbs(plan.conditions, plural)}"
        case "with subject":
            amount = counted(amount_of(quantifier, number, voice, True), box)
            return f"{amount} {speaker.prepositions(plan.conditions[:1])} {speaker.verbs(plan.conditions[1:], False)}"
        case "partitive":
            return f"{partitive_of(quantifier, number, voice)} of the {several} {each}{speaker.verbs(plan.conditions, plural)}"
        case "number":
            amount = amount_of(quantifier, number, voice)
            return f"the number of {several} that each {speaker.verbs(plan.conditions, True)} is {amount}"
        case "rest":
            return f"one {one} {speaker.verbs(plan.conditions, False)}, the rest do not"
        case "but one":
            return f"every box but one {speaker.verbs(plan.conditions, False)}"
        case _:
            return _all_boxes(how, plan.conditions, speaker)


@functools.cache
def _box_forms(plan: Boxes, tower: bool, alone: bool) -> frozenset[str]:
    """The forms of a clause about boxes that fit."""
    found = {"there with", "there that", "subject", "partitive"}
    if plan.quantifier not in ("some", "none"):
        found.add("number")
    if len(plan.conditions) == 2 and is_one(plan.quantifier, plan.number):
        found.add("with subject")
    if plan.quantifier != "exactly":
        return frozenset(found)
    if not tower:
        found |= {2: {"but one"}, 3: {"every", "each", "each of", "all", "every single"}}.get(plan.number, set())
    condition = plan.conditions[0]
    denies = isinstance(condition, Has) and (condition.quantifier == "none" or condition.noun.relation == "no_contact")
    if plan.number == 1 and alone and len(plan.conditions) == 1 and not denies:
        found.add("rest")
    return frozenset(found)


def _all_boxes(how: str, conditions: tuple[Condition, ...], speaker: Speaker) -> str:
    """That every box has these properties."""
    if how == "all":
        return f"all three boxes each {speaker.verbs(conditions, True)}"
    return f"{'each of the boxes' if how == 'each of' else how + ' box'} {speaker.verbs(conditions, False)}"


def _every_box(conditions: tuple[Condition, ...], kind: Kind, voice: Voice) -> str:
    how = voice.pick(words.BOXES.among(_EVERY_FORMS))
    if kind == "scatter":
        return _all_boxes(how, conditions, Speaker(kind, False, voice))
    speaker = Speaker(kind, True, voice)
    if voice.pick(words.TOWER_WITH) == "with":
        said = f"a tower {speaker.prepositions(conditions)}"
    else:
        said = f"a tower that {speaker.verbs(conditions, False)}"
    subject = "all three boxes each have" if how == "all" else "each of the boxes has" if how == "each of" else f"{how} box has"
    return f"{subject} {said}"


_EVERY_FORMS = frozenset({"every", "each", "each of", "all", "every single"})


class Speaker(NamedTuple):
    """Says the properties of a tower or a box."""

    kind: Kind
    tower: bool
    voice: Voice

    @property
    def inside(self) -> bool:
        """Whether "at the top" needs no tower beside it; of a box one says "at the top of a tower"."""
        return self.tower or self.kind == "scatter"

    def verbs(self, conditions: tuple[Condition, ...], plural: bool) -> str:
        """The properties after verbs: "has … and has …"."""
        first = conditions[0]
        if self.tower and not plural and len(conditions) == 1 and isinstance(first, Has) and first.noun.is_bare:
            how = self.voice.pick(words.TALL)
            if how != "have" and first.quantifier not in ("some", "none"):
                block = "block" if first.number == 1 else "blocks"
                return f"is {amount_of(first.quantifier, first.number, self.voice)} {block} {how}"
        verb = "has" if self.tower else self.voice.pick(words.CONTAINS)
        verb = _VERBS[verb] if plural else verb
        found = self.things(conditions)
        if len(found) == 1:
            return f"{verb} {found[0].text}"
        if found[0].is_short and found[1].is_counted:
            return f"{verb} {found[0].text} and {found[1].text}"
        return f"{verb} {found[0].text} {self.voice.pick(words.AND)} {verb} {found[1].text}"

    def prepositions(self, conditions: tuple[Condition, ...]) -> str:
        """The properties after "with" or "without"."""
        found = self.things(conditions)
        said = [
            f"without {thing.denied}" if thing.denied and self.voice.pick(words.WITHOUT) == "without" else f"with {thing.text}"
            for thing in found
        ]
        if len(found) == 1:
            return said[0]
        if found[0].is_short and found[1].is_counted and said[1].startswith("with "):
            return f"{said[0]} and {found[1].text}"
        return f"{said[0]} {self.voice.pick(words.AND)} {said[1]}"

    def things(self, conditions: tuple[Condition, ...]) -> list[Thing]:
        """What a box has; what allows a second thing after "and" comes first."""
        return sorted(map(self.thing, conditions), key=lambda thing: not thing.is_short)

    def thing(self, condition: Condition) -> Thing:
        """What a box has."""
        return self.voice.draw(_thing, condition, self.kind, self.inside)


class Thing(NamedTuple):
    """What a box has, in words."""

    text: str
    is_short: bool = False  # a second thing can follow after "and" without a second reading
    is_counted: bool = False
    denied: str = ""  # what it has none of


def _thing(voice: Voice, condition: Condition, kind: Kind, inside: bool) -> Thing:
    """What a box has; `inside`: as `Speaker.inside` says."""
    match condition:
        case Has(quantifier, number, noun):
            said = noun_phrase(noun, kind, voice, not is_one(quantifier, number), inside)
            is_short = quantifier != "none" and noun.other is None and (not noun.place or _names_rank(said))
            denied = with_article(said) if quantifier == "none" else ""
            return Thing(counted(amount_of(quantifier, number, voice), said), is_short, True, denied)
        case HasOnly(noun):
            return Thing(voice.pick(words.ONLY).format(n=noun_phrase(noun, kind, voice, True, inside)))
        case HasVariety(quantifier, number, attribute):
            values = f"{amount_of(quantifier, number, voice)} {attribute}{'' if number == 1 else 's'}"
            return Thing(voice.pick(words.COLORS_OF).format(many=noun_words(kind)[1], q=values))


def _names_rank(said: str) -> bool:
    """Whether the rank stands before the noun, or is the noun, so that nothing follows."""
    before, last = ["", *said.removesuffix("s").split()][-2:]
    return before in ("top", "bottom") if last == "block" else last in ("top", "base") and before != "the"
