"""Nouns and amounts in English, for `wording.py`: heads, what follows them, and how many."""

from __future__ import annotations

from typing import NamedTuple

from recombine.families.lilgym import phrases as words
from recombine.families.lilgym.phrases import Voice
from recombine.families.lilgym.plan import Noun, Quantifier
from recombine.families.lilgym.scene import Kind

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class Post(NamedTuple):
    """What is said after a noun: as a participle or a phrase, and as a verb for one and for several ("" if it has none)."""

    phrase: str
    one: str = ""
    several: str = ""


def noun_words(kind: Kind) -> tuple[str, str]:
    """What an item is called, one and several."""
    return ("block", "blocks") if kind == "tower" else ("object", "objects")


def with_article(phrase: str) -> str:
    return ("an " if phrase[0] in "aeiou" else "a ") + phrase


def head_of(noun: Noun, kind: Kind, voice: Voice, plural: bool, tower: bool = False) -> tuple[str, bool]:
    """Size, colour and shape of a noun; whether its rank is said here, too. `tower`: it is a block of a tower just named."""
    word = noun.shape or ("block" if kind == "tower" else voice.pick(words.OBJECT))
    size = voice.pick(words.BIG) if noun.size == "big" else noun.size
    rank = ""
    if noun.place in ("top", "bottom"):
        how = voice.pick(words.RANK_INSIDE if tower and noun.color else words.RANK)
        rank = noun.place if how == "adjective" else ""
        if how == "noun":
            return f"{noun.color} {'top' if noun.place == 'top' else 'base'}" + ("s" if plural else ""), True
    return " ".join(w for w in (size, noun.color, rank, word + ("s" if plural else "")) if w), bool(rank)


def post_of(noun: Noun, kind: Kind, voice: Voice, inside: bool, has_rank: bool, host: Noun | None = None) -> Post | None:
    """What follows the head: a place, a relation, or both. `host` is the noun of which it is said, if that is another."""
    place = place_post(noun.place, kind, voice, inside) if noun.place and not has_rank else None
    if noun.other is None:
        return place
    relation = relation_post(noun, host or noun, kind, voice, inside)
    return relation if place is None else Post(f"{place.phrase} and {relation.phrase}")


def place_post(name: str, kind: Kind, voice: Voice, inside: bool) -> Post:
    if name == "no_wall":
        phrase = voice.pick(words.NO_WALL)
        return Post(phrase, "touches no wall", "touch no wall")
    if not name.endswith("wall"):
        ranked = " of a tower" if kind == "tower" and not inside else ""
        return Post(voice.pick(words.PLACES[name]) + ranked)
    side = name.removeprefix("near_").removesuffix("wall").strip("_")
    wall = f"the {side} wall" if side else "a wall"
    if name.startswith("near_"):
        almost = voice.pick(words.NEARLY)
        verbs = (f"{verb} or {almost} {verb} {wall}" for verb in ("touching", "touches", "touch"))
        return Post(*verbs)
    touching = voice.pick(words.TOUCHING)
    return Post(f"{touching} {wall}", f"touches {wall}", f"touch {wall}")


def relation_post(noun: Noun, host: Noun, kind: Kind, voice: Voice, inside: bool) -> Post:
    assert noun.other is not None
    other = inner_noun(noun.other, kind, voice, inside)
    if noun.relation in ("contact", "no_contact"):
        is_same, is_none = host.implies(noun.other), noun.relation == "no_contact"
        said = (
            (f"no other {other}" if is_same else f"no {other}")
            if is_none
            else f"another {other}"
            if is_same
            else with_article(other)
        )
        return Post(f"touching {said}", f"touches {said}", f"touch {said}")
    phrase = f"{voice.pick(words.RELATIONS[noun.relation])} {with_article(other)}"
    if noun.relation == "touching":
        return Post(phrase, f"touches {with_article(other)}", f"touch {with_article(other)}")
    return Post(phrase)


def inner_noun(noun: Noun, kind: Kind, voice: Voice, inside: bool) -> str:
    """The noun to which a relation leads; "that is" speaks of it."""
    head, has_rank = head_of(noun, kind, voice, False)
    post = post_of(noun, kind, voice, inside, has_rank)
    return head if post is None else f"{head} that is {post.phrase}"


def noun_phrase(noun: Noun, kind: Kind, voice: Voice, plural: bool, inside: bool) -> str:
    """The words of a noun. What follows a plural is said of each."""
    return voice.draw(_noun_phrase, noun, kind, plural, inside)


def _noun_phrase(voice: Voice, noun: Noun, kind: Kind, plural: bool, inside: bool) -> str:
    head, has_rank = head_of(noun, kind, voice, plural, inside and kind == "tower")
    post = post_of(noun, kind, voice, inside, has_rank)
    if post is None:
        return head
    link = voice.pick(words.LINK)
    if link == "verb" and post.one:
        return f"{head} that each {post.several}" if plural else f"{head} that {post.one}"
    if link == "that is":
        return f"{head} that are each {post.phrase}" if plural else f"{head} that is {post.phrase}"
    return f"{head} each {post.phrase}" if plural else f"{head} {post.phrase}"


def predicate_of(post: Post, plural: bool, voice: Voice) -> str:
    """What follows a noun, as what the clause says of it."""
    if post.one and voice.pick(words.PREDICATE) == "verb":
        return f"each {post.several}" if plural else post.one
    return f"are each {post.phrase}" if plural else f"is {post.phrase}"


# --- amounts ---------------------------------------------------------------------------------------------------------


def is_one(quantifier: Quantifier, number: int) -> bool:
    return quantifier in ("some", "none") or number == 1


def amount_of(quantifier: Quantifier, number: int, voice: Voice, subject: bool = False) -> str:
    match quantifier:
        case "some":
            return voice.pick(words.SOME)
        case "none":
            return voice.pick(words.NONE)
        case "exactly":
            options = words.EXACTLY_SUBJECT if subject else words.EXACTLY
        case "at_least":
            options = words.AT_LEAST
        case "at_most":
            options = words.AT_MOST_ONE if number == 1 else words.AT_MOST
    return voice.pick(options).format(n=NUMBERS[number])


def counted(amount: str, phrase: str) -> str:
    return with_article(phrase) if amount == "a" else f"{amount} {phrase}"


def partitive_of(quantifier: Quantifier, number: int, voice: Voice) -> str:
    """How many of several."""
    if quantifier in ("some", "none"):
        return "at least one" if quantifier == "some" else "none"
    return amount_of(quantifier, number, voice, True)
