"""Sentences, people and pronouns of a rich story: the lower half of the oracle's reader, which shares no code with the writer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from recombine.errors import shown
from recombine.families.clutrr.language.parser import Unreadable

MALE, FEMALE = "male", "female"
WORDS: dict[str, tuple[str, str]] = {}
"""Spoken word -> (formal word of the same meaning, its gender; empty where the word leaves it open)."""
for _formal, _gender, _others in (
    ("father", MALE, "dad papa daddy"), ("mother", FEMALE, "mom mum mama"), ("husband", MALE, "hubby groom"),
    ("wife", FEMALE, "missus wifey bride"), ("brother", MALE, "bro"), ("sister", FEMALE, "sis"),
    ("grandfather", MALE, "grandpa granddad gramps"), ("grandmother", FEMALE, "grandma granny nana"),
    ("aunt", FEMALE, "auntie aunty"), ("uncle", MALE, ""), ("son", MALE, ""), ("daughter", FEMALE, ""),
    ("grandson", MALE, ""), ("granddaughter", FEMALE, ""), ("nephew", MALE, ""), ("niece", FEMALE, ""),
    ("father-in-law", MALE, ""), ("mother-in-law", FEMALE, ""), ("son-in-law", MALE, ""), ("daughter-in-law", FEMALE, ""),
    ("brother-in-law", MALE, ""), ("sister-in-law", FEMALE, ""), ("cousin", "", ""), ("spouse", "", "half"),
):  # fmt: skip
    for _word in (_formal, *_others.split()):
        WORDS[_word] = (_formal, _gender)
PLURALS = {
    (word.replace("-in-law", "s-in-law") if "-in-law" in word else f"{word}s"): word for word in WORDS if word not in ("half", "wife")
}  # fmt: skip
OWNERS = {"his": MALE, "her": FEMALE}
PRONOUNS = {**OWNERS, "he": MALE, "him": MALE, "himself": MALE, "she": FEMALE, "herself": FEMALE}
NOUNS = {"girl": FEMALE, "woman": FEMALE, "boy": MALE, "man": MALE}
MODIFIERS = frozenset(
    ["old", "own", "big", "kid", "twin", "two", "proud", "newborn", "favourite", "better", "only", "other", "dear", "lucky"]
)
_TOKEN = re.compile(r"\[[^\[\]\n]{1,80}\]|@?\w[\w-]*|'s\b|[^\w\s]")
_CLOSERS = (".", "!", "?")
_QUOTE = '"'


def tokens_of(text: str) -> list[str]:
    """Names in brackets, words, `'s` and punctuation marks, in order."""
    return _TOKEN.findall(text)


def sentence_ends(tokens: Sequence[str]) -> list[int]:
    """Where each sentence ends: the place after its last token. A quotation does not end the sentence in which it stands."""
    found: list[int] = []
    begin, inside, from_start = 0, False, False
    for place, token in enumerate(tokens):
        if token == _QUOTE:
            inside = not inside
            from_start = place == begin if inside else from_start
        elif token not in _CLOSERS:
            continue
        last = tokens[place - 1] if place > begin else ""
        if not inside and (token != _QUOTE or last == "." or (last in _CLOSERS and not from_start)):
            found.append(place + 1)
            begin, from_start = place + 1, False
    return found if begin == len(tokens) else [*found, len(tokens)]


def quoted_places(tokens: Sequence[str]) -> list[bool]:
    """Which places of a sentence stand in quotation marks."""
    found, inside = [], False
    for token in tokens:
        inside ^= token == _QUOTE
        found.append(inside and token != _QUOTE)
    return found


class Ambiguous(Unreadable):
    """The text can be read in two ways; the message names both."""


@dataclass
class Person:
    """Somebody in the text, perhaps without a name yet."""

    name: str = ""
    gender: str = ""


@dataclass
class Sentence:
    """The tokens of a sentence (lower case but for names), the person named at each place, and which places are quoted."""

    tokens: list[str]
    people: list[Person | None]
    quoted: list[bool]
    mentioned: list[Person] = field(default_factory=list)
    open: list[Person] = field(default_factory=list)
    is_pair: bool = False
    """The two in `open` are alike: `her two sons`."""

    def token(self, place: int) -> str:
        return self.tokens[place] if 0 <= place < len(self.tokens) else ""

    def person(self, place: int) -> Person | None:
        return self.people[place] if 0 <= place < len(self.tokens) else None


class Discourse:
    """Sentences, people, pronouns and what is known of them so far."""

    def __init__(self, names: frozenset[str] | None) -> None:
        self.names = names
        self.known: dict[str, Person] = {}
        self.facts: list[tuple[str, Person, Person]] = []
        self.before = Sentence([], [], [])
        self.now = Sentence([], [], [])
        self.asked: tuple[str, Person] | None = None

    # --- sentences ---

    def _person(self, token: str) -> Person | None:
        name = token[1:-1] if token[0] == "[" and len(token) > 2 else token
        if (self.names is not None and name in self.names) or (self.names is None and token[0] == "["):
            return self.known.setdefault(name, Person(name))
        return None

    def _sentences(self, text: str) -> list[Sentence]:
        found: list[Sentence] = []
        pieces, begin = tokens_of(text), 0
        for end in sentence_ends(pieces):
            own = pieces[begin:end]
            people = [self._person(piece) for piece in own]
            words = [piece if person else piece.lower() for piece, person in zip(own, people, strict=True)]
            found.append(Sentence(words, people, quoted_places(own)))
            begin = end
        return found

    def _name_the_unnamed(self) -> None:
        """Give the names of this sentence's newcomers to those whom the last sentence left unnamed."""
        waiting = self.before.open
        if not waiting:
            return
        new = list(dict.fromkeys(p.name for p in self.now.people if p and all(p is not q for q in self.before.mentioned)))
        if len(new) < len(waiting):
            self._refuse(0, "does not name the relative of the sentence before")
        if len(new) > len(waiting):
            self._doubt(f"the unnamed relative of the sentence before could be {new[0]} or {new[1]}")
        if len(waiting) > 1 and not (self.before.is_pair and len(waiting) == 2):
            self._doubt(f"{new[0]} and {new[1]} could be either of the unnamed relatives of the sentence before")
        for unnamed, name in zip(waiting, new, strict=True):
            person = self.known[name]
            for i, (word, owner, relative) in enumerate(self.facts):
                self.facts[i] = (word, person if owner is unnamed else owner, person if relative is unnamed else relative)
            self.before.mentioned = [person if p is unnamed else p for p in self.before.mentioned]
            if unnamed.gender:
                self._show(person, unnamed.gender)
            if len(waiting) == 1:
                for place, token in enumerate(self.now.tokens):
                    gender = NOUNS.get(token, "")
                    if token in ("bride", "groom") and self._is_noun(place):
                        gender = WORDS[token][1]
                    if gender:
                        self._show(person, gender)

    # --- one sentence ---

    def _is_noun(self, place: int) -> bool:
        """Whether a word that is not always about kin (`half an hour`, `groom a donkey`) is so here."""
        s, found = self.now, self.now.token(place)
        if found == "half":
            return s.token(place - 1) in ("better", "other")
        return found not in ("bride", "groom") or s.token(place - 1) == "the" or s.token(place - 1) in OWNERS

    def _join_descriptions(self) -> None:
        """`a girl called Ann` is Ann, and a girl."""
        s = self.now
        if "called" not in s.tokens and "named" not in s.tokens:
            return
        for place in range(len(s.tokens) - 3, -1, -1):
            if s.tokens[place] in ("a", "an") and s.tokens[place + 1] in NOUNS and s.tokens[place + 2] in ("called", "named"):
                person = s.person(place + 3)
                if person:
                    self._show(person, NOUNS[s.tokens[place + 1]])
                    for column in (s.tokens, s.people, s.quoted):
                        del column[place : place + 3]

    def _mention(self, person: Person) -> None:
        mentioned = self.now.mentioned
        for other in mentioned:
            if other is person:
                return
        mentioned.append(person)

    def _described(self, place: int) -> Person | None:
        """Whom an apposition that begins here describes: `Ann, his aunt`."""
        s, noun = self.now, place + 1
        while s.token(noun) in MODIFIERS:
            noun += 1
        if s.token(place - 1) == "," and s.token(noun) in WORDS and s.person(place - 2) and not s.person(noun + 1):
            return s.person(place - 2)
        return None

    def _owner(self, gender: str, described: Person | None) -> Person:
        """The one person whom a pronoun of this gender can mean here."""
        for scope in (self.now.mentioned, self.before.mentioned):
            fits = [p for p in scope if p is not described and p.gender in ("", gender)]
            if len(fits) > 1:
                self._doubt(f"a pronoun could mean {fits[0].name or 'an unnamed relative'} or {fits[1].name or 'another one'}")
            if fits:
                return fits[0]
        raise self._problem(0, "has a pronoun without anyone before it")

    def _only_name(self, before: int) -> Person:
        """The one person mentioned outside quotes before a place."""
        found = list({id(p): p for p in self.now.people[:before] if p}.values())
        if len(found) != 1:
            if found:
                self._doubt(f"the subject could be {found[0].name} or {found[1].name}")
            self._refuse(before, "has no subject")
        return found[0]

    def _speakers(self) -> list[tuple[int, Person]]:
        """Places and people outside quotes, in order."""
        s = self.now
        return [(i, p) for i, p in enumerate(s.people) if p and not s.quoted[i]]

    def _voice(self, is_speaker: bool, place: int) -> Person:
        """Who speaks, or who is spoken to."""
        outside = self._speakers()
        if not outside or len({id(p) for _, p in outside}) > 2:
            self._refuse(place, "is said by nobody, or by one of several people")
        at, person = outside[0] if is_speaker else outside[-1]
        is_object = self.now.token(at - 1) in ("asked", "told", "to")
        if len(outside) == 1 and is_object == is_speaker:
            self._refuse(place, "is said by nobody, or to nobody")
        self._mention(person)
        return person

    # --- the end of a statement ---

    def _state(self, word: str, owner: Person, relative: Person) -> None:
        if owner is relative:
            self._refuse(0, "makes someone their own relative")
        self.facts.append((word, owner, relative))
        self._mention(owner)
        self._mention(relative)

    def _show(self, person: Person, gender: str) -> None:
        if person.gender not in ("", gender):
            self._refuse(0, f"makes {person.name or 'a relative'} both male and female")
        person.gender = gender

    def _problem(self, place: int, why: str) -> Unreadable:
        return Unreadable(f"the sentence {shown(' '.join(self.now.tokens), 200)} {why} (at {shown(self.now.token(place))}).")

    def _refuse(self, place: int, why: str) -> None:
        raise self._problem(place, why)

    def _doubt(self, why: str) -> None:
        raise Ambiguous(f"two readings of {shown(' '.join(self.now.tokens), 200)}: {why}.")
