"""Reading rich stories back: a deliberate second implementation that knows English kinship phrases, not the store's frames.

It shares a list of words with the writer in content, but no code and no tables. It goes through a story sentence by sentence. Every
kinship word must be a statement about two people who are beyond doubt, or a denial. The conventions (`CONVENTIONS`):

- A pronoun belongs to somebody mentioned earlier in its sentence, or else in the sentence before, whose gender is not known to differ.
- `my` is the speaker's and `your` the listener's. A word of address (`Dad, …`) says what the listener is to the speaker.
- A relative who is mentioned without a name is the one person whom the next sentence names for the first time.
- `not her mother`, `take Ann for her mother` and the like state nothing.

Where two people fit, the text has a second reading, and the reader refuses it (`Ambiguous`); where nobody fits, `Unreadable`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from recombine.errors import shown
from recombine.families.clutrr.language.parser import MAX_CHARACTERS, Reading, Statement, Unreadable

CONVENTIONS = (
    "A pronoun belongs to the person mentioned earlier in its sentence, or else in the sentence before, whom it fits; only one "
    "does. A relative mentioned without a name is the person whom the next sentence names first. What somebody calls another person "
    "in direct speech (Dad, Auntie) says what the listener is to the speaker."
)
"""How the rich stories are to be read, in the words that prompts and pages use."""

_MALE, _FEMALE = "male", "female"
_WORDS: dict[str, tuple[str, str]] = {}
"""Spoken word -> (formal word of the same meaning, its gender; empty where the word leaves it open)."""
for _formal, _gender, _others in (
    ("father", _MALE, "dad papa daddy"), ("mother", _FEMALE, "mom mum mama"), ("husband", _MALE, "hubby groom"),
    ("wife", _FEMALE, "missus wifey bride"), ("brother", _MALE, "bro"), ("sister", _FEMALE, "sis"),
    ("grandfather", _MALE, "grandpa granddad gramps"), ("grandmother", _FEMALE, "grandma granny nana"),
    ("aunt", _FEMALE, "auntie aunty"), ("uncle", _MALE, ""), ("son", _MALE, ""), ("daughter", _FEMALE, ""),
    ("grandson", _MALE, ""), ("granddaughter", _FEMALE, ""), ("nephew", _MALE, ""), ("niece", _FEMALE, ""),
    ("father-in-law", _MALE, ""), ("mother-in-law", _FEMALE, ""), ("son-in-law", _MALE, ""), ("daughter-in-law", _FEMALE, ""),
    ("brother-in-law", _MALE, ""), ("sister-in-law", _FEMALE, ""), ("cousin", "", ""), ("spouse", "", "half"),
):  # fmt: skip
    for _word in (_formal, *_others.split()):
        _WORDS[_word] = (_formal, _gender)
_PLURALS = {
    (word.replace("-in-law", "s-in-law") if "-in-law" in word else f"{word}s"): word for word in _WORDS if word not in ("half", "wife")
}  # fmt: skip
_OWNERS = {"his": _MALE, "her": _FEMALE}
_PRONOUNS = {**_OWNERS, "he": _MALE, "him": _MALE, "himself": _MALE, "she": _FEMALE, "herself": _FEMALE}
_NOUNS = {"girl": _FEMALE, "woman": _FEMALE, "boy": _MALE, "man": _MALE}
_MODIFIERS = frozenset(
    ["old", "own", "big", "kid", "twin", "two", "proud", "newborn", "favourite", "better", "only", "other", "dear", "lucky"]
)
_TOKEN = re.compile(r"\[[^\[\]\n]{1,80}\]|@?\w[\w-]*|'s\b|[^\w\s]")
_CLOSERS = (".", "!", "?")


class Ambiguous(Unreadable):
    """The text can be read in two ways; the message names both."""


@dataclass
class _Person:
    """Somebody in the text, perhaps without a name yet."""

    name: str = ""
    gender: str = ""


@dataclass
class _Sentence:
    """The tokens of a sentence (lower case but for names), the person named at each place, and which places are quoted."""

    tokens: list[str]
    people: list[_Person | None]
    quoted: list[bool]
    mentioned: list[_Person] = field(default_factory=list)
    open: list[_Person] = field(default_factory=list)

    def token(self, place: int) -> str:
        return self.tokens[place] if 0 <= place < len(self.tokens) else ""

    def person(self, place: int) -> _Person | None:
        return self.people[place] if 0 <= place < len(self.tokens) else None


def read_rich_story(text: str, names: Collection[str] | None = None) -> Reading:
    """The facts that a rich story states; `Ambiguous` or `Unreadable` where that is not beyond doubt."""
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(f"the story has {len(text)} characters; at most {MAX_CHARACTERS} are read.")
    return _Reader(None if names is None else frozenset(names)).read(text)


def _gendered(word: str, relative: _Person) -> str:
    """The kinship word of a wedding or a birth."""
    if word == "spouse":
        return "wife" if relative.gender == _FEMALE else "husband"
    if word == "child":
        return "daughter" if relative.gender == _FEMALE else "son"
    return word


class _Reader:
    def __init__(self, names: frozenset[str] | None) -> None:
        self.names = names
        self.known: dict[str, _Person] = {}
        self.facts: list[tuple[str, _Person, _Person]] = []
        self.before = _Sentence([], [], [])
        self.now = _Sentence([], [], [])
        self.asked: tuple[str, _Person] | None = None

    def read(self, text: str) -> Reading:
        for sentence in self._sentences(text):
            self.now = sentence
            self._name_the_unnamed()
            self._read_sentence()
            self.before = sentence
        if self.before.open or self.asked:
            self._refuse(0, "mentions a relative who is never named")
        statements = tuple(
            Statement(_gendered(word, relative), owner.name, relative.name) for word, owner, relative in self.facts
        )
        return Reading(statements, {name: person.gender for name, person in self.known.items() if person.gender})

    # --- sentences ---

    def _person(self, token: str) -> _Person | None:
        name = token[1:-1] if token[0] == "[" and len(token) > 2 else token
        if (self.names is not None and name in self.names) or (self.names is None and token[0] == "["):
            return self.known.setdefault(name, _Person(name))
        return None

    def _sentences(self, text: str) -> list[_Sentence]:
        found: list[_Sentence] = []
        now, inside, from_start = _Sentence([], [], []), False, False
        tokens = _TOKEN.findall(text)
        for place, token in enumerate(tokens):
            person = self._person(token)
            if token == '"':
                inside = not inside
                from_start = not now.tokens if inside else from_start
            now.tokens.append(token if person else token.lower())
            now.people.append(person)
            now.quoted.append(inside and token != '"')
            last = now.tokens[-2] if len(now.tokens) > 1 else ""
            ends = not inside and (
                token in _CLOSERS or (token == '"' and (last == "." or (last in _CLOSERS and not from_start)))
            )
            if ends or place == len(tokens) - 1:
                found.append(now)
                now, from_start = _Sentence([], [], []), False
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
        for unnamed, name in zip(waiting, new, strict=True):
            person = self.known[name]
            for i, (word, owner, relative) in enumerate(self.facts):
                self.facts[i] = (word, person if owner is unnamed else owner, person if relative is unnamed else relative)
            self.before.mentioned = [person if p is unnamed else p for p in self.before.mentioned]
            if unnamed.gender:
                self._show(person, unnamed.gender)
            if len(waiting) == 1:
                for place, token in enumerate(self.now.tokens):
                    gender = _NOUNS.get(token, "")
                    if token in ("bride", "groom") and self._is_noun(place):
                        gender = _WORDS[token][1]
                    if gender:
                        self._show(person, gender)

    # --- one sentence ---

    def _read_sentence(self) -> None:
        s = self.now
        self._join_descriptions()
        if self.asked:
            word, relative = self.asked
            owner = s.person(0)
            if owner is None or s.token(1) != "'s":
                self._refuse(0, "does not answer whose relative it is")
            assert owner is not None
            self._state(word, owner, relative)
            self.asked = None
        place = 0
        while place < len(s.tokens):
            token, person = s.tokens[place], s.people[place]
            if person:
                self._mention(person)
            elif token in _PLURALS:
                self._plural(place, _PLURALS[token])
            elif token in _WORDS and self._is_noun(place):
                self._singular(place)
            elif token in _PRONOUNS:
                self._show(self._owner(_PRONOUNS[token], self._described(place)), _PRONOUNS[token])
            elif token in ("married", "wedding", "knot", "altar"):
                self._wedding(place)
            elif token in ("birth", "labour", "born"):
                self._birth(place)
            place += 1

    def _is_noun(self, place: int) -> bool:
        """Whether a word that is not always about kin (`half an hour`, `groom a donkey`) is so here."""
        s, token = self.now, self.now.token(place)
        if token == "half":
            return s.token(place - 1) in ("better", "other")
        return token not in ("bride", "groom") or s.token(place - 1) == "the" or s.token(place - 1) in _OWNERS

    def _join_descriptions(self) -> None:
        """`a girl called Ann` is Ann, and a girl."""
        s = self.now
        for place in range(len(s.tokens) - 3, -1, -1):
            if s.tokens[place] in ("a", "an") and s.tokens[place + 1] in _NOUNS and s.tokens[place + 2] in ("called", "named"):
                person = s.person(place + 3)
                if person:
                    self._show(person, _NOUNS[s.tokens[place + 1]])
                    for column in (s.tokens, s.people, s.quoted):
                        del column[place : place + 3]

    def _mention(self, person: _Person) -> None:
        if all(person is not other for other in self.now.mentioned):
            self.now.mentioned.append(person)

    def _described(self, place: int) -> _Person | None:
        """Whom an apposition that begins here describes: `Ann, his aunt`."""
        s, noun = self.now, place + 1
        while s.token(noun) in _MODIFIERS:
            noun += 1
        if s.token(place - 1) == "," and s.token(noun) in _WORDS and s.person(place - 2) and not s.person(noun + 1):
            return s.person(place - 2)
        return None

    def _owner(self, gender: str, described: _Person | None) -> _Person:
        """The one person whom a pronoun of this gender can mean here."""
        for scope in (self.now.mentioned, self.before.mentioned):
            fits = [p for p in scope if p is not described and p.gender in ("", gender)]
            if len(fits) > 1:
                self._doubt(f"a pronoun could mean {fits[0].name or 'an unnamed relative'} or {fits[1].name or 'another one'}")
            if fits:
                return fits[0]
        raise self._problem(0, "has a pronoun without anyone before it")

    def _only_name(self, before: int) -> _Person:
        """The one person mentioned outside quotes before a place."""
        found = list({id(p): p for p in self.now.people[:before] if p}.values())
        if len(found) != 1:
            if found:
                self._doubt(f"the subject could be {found[0].name} or {found[1].name}")
            self._refuse(before, "has no subject")
        return found[0]

    def _speakers(self) -> list[tuple[int, _Person]]:
        """Places and people outside quotes, in order."""
        s = self.now
        return [(i, p) for i, p in enumerate(s.people) if p and not s.quoted[i]]

    def _voice(self, is_speaker: bool, place: int) -> _Person:
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

    # --- kinship words ---

    def _singular(self, place: int) -> None:
        s, (word, gender) = self.now, _WORDS[self.now.tokens[place]]
        left = place - 1
        while s.token(left) in _MODIFIERS:
            left -= 1
        if s.quoted[place] and s.token(left) in ('"', ",") and s.token(place + 1) in (",", "!", "?", '"', "."):
            speaker, listener = self._voice(True, place), self._voice(False, place)
            self._bear(word, gender, speaker, listener, place)
            return
        if s.token(left) == "the" and s.token(place) in ("bride", "groom"):
            return  # shows who was left unnamed; the wedding is stated in the sentence before
        if self._bare(place, left, word, gender):
            return
        owner, left = self._possessor(place, left)
        if self._is_denied(left):
            return
        relative = self._bearer(place, left, gender)
        self._bear(word, gender, owner, relative, place)

    def _possessor(self, place: int, left: int) -> tuple[_Person, int]:
        """(whose relative it is, where the phrase begins)."""
        s, token = self.now, self.now.token(left)
        if token == "'s":
            named = s.person(left - 1)
            if named:
                return named, left - 1
            if s.token(left - 1) in _WORDS and s.open:
                return s.open[-1], self._start_of(left - 1)
        if token in _OWNERS:
            owner = self._owner(_OWNERS[token], self._described(left))
            self._show(owner, _OWNERS[token])
            return owner, left
        if token in ("my", "your") and s.quoted[place]:
            return self._voice(token == "my", place), left
        if token in ("the", "a", "an") and s.token(place + 1) == "of":
            return self._possessor_after(place), left
        if token == "whose" and s.person(left - 1):
            owner = s.person(left - 1)
            assert owner is not None
            return owner, left
        if token in ("a", "an") and any(s.token(i) in ("has", "had", "have") for i in range(max(0, left - 2), left)):
            return self._only_name(left), left
        raise self._problem(place, "has no owner")

    def _start_of(self, noun: int) -> int:
        """Where the phrase of an earlier kinship word begins."""
        s, left = self.now, noun - 1
        while s.token(left) in _MODIFIERS:
            left -= 1
        return left - 1 if s.token(left) == "'s" else left

    def _possessor_after(self, place: int) -> _Person:
        """Whose relative it is in `the father of Ann` and `the father of a girl`, who is then named in the next sentence."""
        s = self.now
        owner = s.person(place + 2)
        if owner:
            return owner
        if s.token(place + 2) == "a" and s.token(place + 3) in _NOUNS:
            return self._unnamed(_NOUNS[s.token(place + 3)])
        raise self._problem(place, "has no owner")

    def _bare(self, place: int, left: int, word: str, gender: str) -> bool:
        """Phrases in which the owner is not beside the word; True if this was one of them."""
        s, token = self.now, self.now.token(left)
        after = s.person(place + 1)
        if token == "the" and after and s.token(left - 1) == "is" and s.person(left - 2):
            relative = s.person(left - 2)
            assert relative is not None
            self._bear(word, gender, after, relative, place)
            return True
        if s.token(place - 1) == "better" and s.token(place + 1) == "than" and s.person(place + 2):
            relative = s.person(place + 2)
            assert relative is not None
            self._bear(word, gender, self._only_name(place), relative, place)
            return True
        if token in ("a", "an") and s.token(left - 1) == "became" and s.token(place + 1) == "when":
            born = [p for i, p in enumerate(s.people) if p and i > place]
            if len(born) != 1 or s.token(place + 3) != "was" or s.token(place + 4) != "born":
                self._refuse(place, "does not say who was born")
            self._bear(word, gender, born[0], self._only_name(place), place)
            return True
        if token == "whose" and left == 0:
            relative = s.person(place + 2)
            if s.token(place + 1) != "is" or relative is None:
                self._refuse(place, "asks about nobody")
            assert relative is not None
            self.asked = (word, relative)
            self._show(relative, gender)
            return True
        return False

    def _is_denied(self, left: int) -> bool:
        s = self.now
        head = s.tokens[:left]
        if s.token(left - 1) == "not" or ("mistake" in head and "as" in head):
            return True
        return ("take" in head and s.token(left - 1) == "for") or ("think" in head and "that" in head)

    def _bearer(self, place: int, left: int, gender: str) -> _Person:
        """Who is the relative; an unnamed person if the sentence does not say."""
        s = self.now
        after = [p for p in (self._named_after(place),) if p]
        before = [p for p in (self._named_before(place, left),) if p]
        if after and before and after[0] is not before[0]:
            self._doubt(f"a kinship word could describe {before[0].name} or {after[0].name}")
        found = after or before
        if found:
            return found[0]
        if s.quoted[place] and s.tokens[left - 3 : left] == ["you", "must", "be"]:
            return self._voice(False, place)
        return self._unnamed(gender)

    def _named_after(self, place: int) -> _Person | None:
        s, right = self.now, place + 1
        if s.token(right) == "of" and s.person(right + 1):
            right += 2
        if s.person(right):
            return s.person(right)
        if s.tokens[0] == "as" and s.token(right) == ",":
            return s.person(right + 1)
        if s.token(right) == "," and s.person(right + 1) and s.token(right + 2) != "'s":
            self._check_list(right + 2)
            return s.person(right + 1) if s.token(right + 2) in (",", ".", "?", "!", ";", ":", '"', "") else None
        for marker in (
            ("is",),
            ("was",),
            ("called",),
            ("named",),
            ("is", "called"),
            ("is", "none", "other", "than"),
            (",", "whose", "name", "is"),
            (",", "who", "goes", "by", "the", "name", "of"),
        ):
            end = right + len(marker)
            if tuple(s.tokens[right:end]) == marker and s.person(end):
                return s.person(end)
        for i in range(right, len(s.tokens) - 2):
            if s.tokens[i] == "the" and s.tokens[i + 1] == "name" and s.person(i + 2):
                return s.person(i + 2)
        return None

    def _check_list(self, place: int) -> None:
        """`his sister, Ann, and Bob` may be two people or three."""
        s = self.now
        at = place + 1 if s.token(place) == "," else place
        if s.token(at) in ("and", "or") or (s.token(place) == "," and s.person(at)):
            nxt = at + 1 if s.token(at) in ("and", "or") else at
            if s.person(nxt) or s.token(nxt) in _OWNERS:
                self._doubt("an apposition could be a list")

    def _named_before(self, place: int, left: int) -> _Person | None:
        s = self.now
        end = place + 1
        if s.token(end) == "of":
            end += 2
        if s.token(left - 1) == "," and s.person(left - 2):
            if s.token(end) not in (",", ".", "?", "!", ";", ":", '"', ""):
                return None
            if s.token(end) == ",":
                self._check_list(end)
            return s.person(left - 2)
        at = left - 1
        if s.token(at) == "but" and "not" in s.tokens[:at]:
            at = s.tokens.index("not") - 1
        if s.token(at) in ("is", "was", "being", "became"):
            if s.token(at - 1) == "who":
                return s.person(at - 3) if s.token(at - 2) == "," else s.person(at - 2)
            return s.person(at - 1)
        return None

    def _bear(self, word: str, gender: str, owner: _Person, relative: _Person, place: int) -> None:
        if gender:
            self._show(relative, gender)
        if word == "cousin":
            self._refuse(place, "is a cousin, of whom these stories say nothing")
        self._state(word, owner, relative)
        self._mention(relative)

    def _unnamed(self, gender: str) -> _Person:
        person = _Person(gender=gender)
        self.now.open.append(person)
        self.now.mentioned.append(person)
        return person

    # --- plurals, weddings, births ---

    def _plural(self, place: int, singular: str) -> None:
        """`his sons Ann and Bob`, `his sons. Ann and Bob …`, `Ann and Bob are sons of Carl`, `Ann and Bob are sisters`."""
        s, (word, gender) = self.now, _WORDS[singular]
        left = place - 1
        while s.token(left) in _MODIFIERS:
            left -= 1
        couple = self._couple(place + 1) or self._couple_before(place)
        if s.token(place + 1) == "of" and s.person(place + 2):
            owner = s.person(place + 2)
        elif s.token(left) == "of" and s.token(left - 1) == "which":
            owner = None
        elif s.token(left) in _OWNERS:
            owner = self._owner(_OWNERS[s.token(left)], None)
            self._show(owner, _OWNERS[s.token(left)])
        elif s.token(left) in ("my",) and s.quoted[place]:
            owner = self._voice(True, place)
        elif s.token(left) in ("has", "had"):
            owner = self._only_name(left)
        elif word in ("brother", "sister") and couple:
            for person in couple:
                self._show(person, gender)
            self._state(word, couple[0], couple[1])
            return
        else:
            owner = None
        if owner is None:
            raise self._problem(place, "has no owner")
        if couple is None:
            couple = (self._unnamed(gender), self._unnamed(gender))
        if couple[0] is couple[1]:
            self._refuse(place, "needs two people")
        for person in couple:
            self._bear(word, gender, owner, person, place)

    def _couple(self, place: int) -> tuple[_Person, _Person] | None:
        """`Ann and Bob` (or `Ann or Bob`) after a place of the sentence."""
        s = self.now
        for i in range(place, len(s.tokens) - 2):
            one, two = s.person(i), s.person(i + 2)
            if one and two and s.token(i + 1) in ("and", "or"):
                return one, two
        return None

    def _couple_before(self, place: int) -> tuple[_Person, _Person] | None:
        s = self.now
        for i in range(place - 3, -1, -1):
            one, two = s.person(i), s.person(i + 2)
            if one and two and s.token(i + 1) == "and":
                return one, two
        return None

    def _wedding(self, place: int) -> None:
        s = self.now
        if s.token(place) == "married":
            partner = s.person(place + 2) if s.token(place + 1) == "to" else s.person(place + 1)
            if partner is None and s.token(place - 2) in _NOUNS and s.person(place - 1) and s.token(place - 4) == "is":
                partner = s.person(place - 5)
                if partner:
                    self._show(partner, _NOUNS[s.token(place - 2)])
                    owner = s.person(place - 1)
                    assert owner is not None
                    self._state("spouse", owner, partner)
                    return
            if partner:
                self._state("spouse", self._only_name(place), partner)
                return
        if s.open:
            return
        owner = self._only_name(len(s.tokens))
        self._state("spouse", owner, self._unnamed(""))

    def _birth(self, place: int) -> None:
        s, token = self.now, self.now.token(place)
        if token == "labour":
            mother = self._only_name(place)
            self._show(mother, _FEMALE)
            self._state("child", mother, self._unnamed(""))
        elif token == "birth" and s.token(place - 1) == "gave" and s.token(place + 1) == "to":
            mother = self._only_name(place)
            self._show(mother, _FEMALE)
            child = s.person(place + 2)
            if child is None and s.token(place + 2) == "a" and s.token(place + 3) in _NOUNS:
                child = self._unnamed(_NOUNS[s.token(place + 3)])
            if child is None:
                raise self._problem(place, "does not say who was born")
            self._state("child", mother, child)
        elif token == "born" and s.token(place + 1) == "to":
            child, parent = self._only_name(place), s.person(place + 2)
            if parent is None:
                raise self._problem(place, "does not say to whom")
            self._state("child", parent, child)

    # --- the end of a statement ---

    def _state(self, word: str, owner: _Person, relative: _Person) -> None:
        if owner is relative:
            self._refuse(0, "makes someone their own relative")
        self.facts.append((word, owner, relative))
        self._mention(owner)
        self._mention(relative)

    def _show(self, person: _Person, gender: str) -> None:
        if person.gender not in ("", gender):
            self._refuse(0, f"makes {person.name or 'a relative'} both male and female")
        person.gender = gender

    def _problem(self, place: int, why: str) -> Unreadable:
        return Unreadable(f"the sentence {shown(' '.join(self.now.tokens), 200)} {why} (at {shown(self.now.token(place))}).")

    def _refuse(self, place: int, why: str) -> None:
        raise self._problem(place, why)

    def _doubt(self, why: str) -> None:
        raise Ambiguous(f"two readings of {shown(' '.join(self.now.tokens), 200)}: {why}.")
