"""Reading stories back: a deliberate second implementation that knows English kinship phrases, not the store's frames.

It shares no code and no tables with the writer. Every kinship word must stand in one of a few phrases (`his aunt Ann`,
`Bob's aunt, Ann,`, `Ann, his aunt`, `Ann, the aunt of Bob`, `Bob, whose aunt Ann …`, `Ann is Bob's aunt`), and whose aunt she
is must be decided by a fixed rule: `his`, `her` and `whose` belong to the last person named before (in an apposition, before
the one who is being described). What does not fit, or fits twice, is `Unreadable`, never guessed: since this is a function
from texts to facts, no text that it reads rightly can also have been written for other facts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from recombine.errors import RecombineError, shown

MAX_CHARACTERS = 1 << 20
"""Longest text that is read."""

Tie = tuple[str, str, str]
"""A fact without direction: (kind, lower, upper) for kinds with a direction, the two names sorted for the others."""

_TOKEN = re.compile(r"\[[^\[\]\n]{1,80}\]|@?\w[\w-]*|'s\b|[^\w\s]")
_MALE, _FEMALE = "male", "female"
_OWNERS = {"his": _MALE, "His": _MALE, "her": _FEMALE, "Her": _FEMALE}

_KIN: dict[str, tuple[str, int, str]] = {
    "father": ("parent", 1, _MALE), "mother": ("parent", 1, _FEMALE), "son": ("parent", -1, _MALE), "daughter": ("parent", -1, _FEMALE),
    "husband": ("spouse", 0, _MALE), "wife": ("spouse", 0, _FEMALE), "brother": ("sibling", 0, _MALE), "sister": ("sibling", 0, _FEMALE),
    "grandfather": ("grandparent", 1, _MALE), "grandmother": ("grandparent", 1, _FEMALE),
    "grandson": ("grandparent", -1, _MALE), "granddaughter": ("grandparent", -1, _FEMALE),
    "uncle": ("uncle or aunt", 1, _MALE), "aunt": ("uncle or aunt", 1, _FEMALE),
    "nephew": ("uncle or aunt", -1, _MALE), "niece": ("uncle or aunt", -1, _FEMALE),
    "father-in-law": ("parent-in-law", 1, _MALE), "mother-in-law": ("parent-in-law", 1, _FEMALE),
    "son-in-law": ("parent-in-law", -1, _MALE), "daughter-in-law": ("parent-in-law", -1, _FEMALE),
    "brother-in-law": ("sibling-in-law", 0, _MALE), "sister-in-law": ("sibling-in-law", 0, _FEMALE),
}  # fmt: skip
"""Word -> (kind, whether the relative is the upper (1) or lower (-1) end, the relative's gender)."""


class Unreadable(RecombineError):
    """The text holds a kinship word whose owner or bearer is not beyond doubt, or contradicts itself."""


@dataclass(frozen=True)
class Statement:
    """As worded: `relative` is the `word` of `owner`."""

    word: str
    owner: str
    relative: str

    @property
    def edge(self) -> Tie:
        """The fact without direction or gender: `Bob's aunt Ann` and `Ann's nephew Bob` are the same edge."""
        kind, direction, _ = _KIN[self.word]
        if direction == 0:
            return kind, min(self.owner, self.relative), max(self.owner, self.relative)
        return (kind, self.owner, self.relative) if direction > 0 else (kind, self.relative, self.owner)


@dataclass(frozen=True)
class Reading:
    """What a text says: its statements in order, and each person's gender as far as words and pronouns show it."""

    statements: tuple[Statement, ...]
    genders: Mapping[str, str]

    @property
    def edges(self) -> frozenset[Tie]:
        """The facts without direction."""
        return frozenset(s.edge for s in self.statements)


def read_story(text: str, names: Collection[str] | None = None) -> Reading:
    """The facts that a story states. Pass the names, all of which may occur; without them names must be in [brackets]."""
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(f"the story has {len(text)} characters; at most {MAX_CHARACTERS} are read.")
    return _Reader(text, names if names is None else frozenset(names)).read()


def read_question(text: str, names: Collection[str] | None = None) -> tuple[str, str]:
    """(subject, relative): the question asks what the relative is to the subject."""
    if len(text) > 2_000:
        raise Unreadable(f"the question has {len(text)} characters; at most 2000 are read.")
    tokens = _TOKEN.findall(text)
    named = [place for place, token in enumerate(tokens) if _name(token, names)]
    if len(named) < 2:
        raise Unreadable(f"a question names two people; this one does not: {shown(text)}.")
    skeleton = " ".join("#" if place in named else token.lower() for place, token in enumerate(tokens))
    people = [_name(tokens[place], names) for place in named]
    for subject, relative in _askings(skeleton):
        if len(people) > max(subject, relative) and len(set(people)) == 2:
            return people[subject], people[relative]
    raise Unreadable(f"not a phrasing of the question that is known here: {shown(text)}.")


@lru_cache(maxsize=256)
def _askings(skeleton: str) -> tuple[tuple[int, int], ...]:
    """(place of the subject, place of the relative) among the names, for each pattern that a question without names fits."""
    return tuple((subject, relative) for pattern, subject, relative in _QUESTIONS if pattern.fullmatch(skeleton))


_QUESTIONS = tuple(
    (re.compile(pattern), subject, relative)
    for pattern, subject, relative in (
        (r"(how|in what way) is # related to # \?", 1, 0),
        (r"(what|who|what relation|what kin) is # to # \?", 1, 0),
        (r"which (word|term) says what # is to # \?", 1, 0),
        (r"# is # 's what \?", 1, 0),
        (r"which relative of # is # \?", 0, 1),
        (r"what is the kinship between # and # , as seen from # \?", 0, 1),
        (r"how would # introduce # , by kinship \?", 0, 1),
        (r'if # spoke of # as " my … " , what would the missing word be \?', 0, 1),
        (r"as what kind of relative does # know # \?", 0, 1),
        (
            r"(so what does that make|do you know how|can you tell what|remind me : who is|what exactly is|given all this , how is) # (is )?(related )?to # \?",
            1,
            0,
        ),
        (r"# has many relatives \. which one is # \?", 0, 1),
        (r'when # says " my … " and means # , which word is missing \?', 0, 1),
        (r"# and # are related , but how \? what is # to # \?", 1, 0),
    )
)


def differences(reading: Reading, facts: Iterable[tuple[str, str, str]], genders: Mapping[str, str]) -> list[str]:
    """How a reading differs from the facts (word, subject, relative) it should state; empty if it states exactly these.

    The object's gender is part of a fact, so the text must show it; a gender that contradicts `genders` is a difference too.
    """
    wanted = [Statement(word, subject, relative) for word, subject, relative in facts]
    edges = frozenset(s.edge for s in wanted)
    found = [f"not stated: {edge}" for edge in sorted(edges - reading.edges)]
    found += [f"stated but no fact: {edge}" for edge in sorted(reading.edges - edges)]
    for s in wanted:
        if reading.genders.get(s.relative) != _KIN[s.word][2]:
            found.append(f"the text does not show that {s.relative} is {_KIN[s.word][2]}")
    found += [f"{name} is shown as {g}" for name, g in reading.genders.items() if genders.get(name, g) != g]
    return found


def _name(token: str, names: Collection[str] | None) -> str:
    """The name in this token, or the empty string."""
    if token[0] == "[" and len(token) > 2:
        return token[1:-1] if names is None or token[1:-1] in names else ""
    return token if names is not None and token in names else ""


class _Reader:
    """One pass over the tokens of a text."""

    def __init__(self, text: str, names: Collection[str] | None) -> None:
        self.tokens = ["", "", "", *_TOKEN.findall(text), "", "", "", ""]
        self.people = [_name(token, names) if token else "" for token in self.tokens]
        self.genders: dict[str, str] = {}

    def read(self) -> Reading:
        statements = []
        last: list[int] = []
        for place, token in enumerate(self.tokens):
            if self.people[place]:
                last.append(place)
            elif token in _KIN:
                statements.append(self._statement(place, last))
        return Reading(tuple(statements), self.genders)

    def _statement(self, place: int, named: list[int]) -> Statement:
        """The statement made with the kinship word at this place; `named` are the places of names before it."""
        tokens, people = self.tokens, self.people
        left, right, owner = place - 1, place + 1, ""
        if tokens[left] == "'s" and people[left - 1]:
            left -= 1
            owner = people[left]
        elif tokens[left] in ("the", "The") and tokens[right] == "of" and people[right + 1]:
            owner = people[right + 1]
            right += 2
        elif tokens[left] not in _OWNERS and tokens[left] != "whose":
            self._refuse(place, "has no owner")
        relative, described = self._relative(place, left, right)
        if not owner:
            before = [p for p in named[-3:] if p < left and not (described and p == described)]
            if not before:
                self._refuse(place, "has a pronoun without anyone before it")
            owner = people[before[-1]]
        if owner == relative:
            self._refuse(place, "makes someone their own relative")
        if tokens[left] in _OWNERS:
            self._show(owner, _OWNERS[tokens[left]], place)
        self._show(relative, _KIN[tokens[place]][2], place)
        return Statement(tokens[place], owner, relative)

    def _relative(self, place: int, left: int, right: int) -> tuple[str, int]:
        """(who bears the kinship word, the place of that name if it stands before the word, else 0)."""
        tokens, people = self.tokens, self.people
        if people[right]:
            return people[right], 0
        after = 0
        if tokens[right] == "," or tokens[right] in ("is", "was"):
            after = right + 1 if people[right + 1] else 0
        before = 0
        if tokens[left] != "whose" and tokens[left - 1] in (",", "is", "was", "being"):
            before = left - 2
            if tokens[left - 1] != "," and tokens[left - 2] == "who" and tokens[left - 3] == ",":
                before = left - 4
            before = before if before > 0 and people[before] else 0
        if bool(after) == bool(before):
            self._refuse(place, "could describe two people" if after else "describes nobody")
        return people[after or before], before

    def _show(self, name: str, gender: str, place: int) -> None:
        if self.genders.setdefault(name, gender) != gender:
            self._refuse(place, f"makes {name} both male and female")

    def _refuse(self, place: int, why: str) -> None:
        around = " ".join(token for token in self.tokens[max(0, place - 8) : place + 6] if token)
        raise Unreadable(f"the word {self.tokens[place]!r} {why} in {shown(around, 160)}.")
