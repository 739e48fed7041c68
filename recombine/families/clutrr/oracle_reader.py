"""Reading rich stories back: a deliberate second implementation that knows English kinship phrases, not the store's frames.

It shares a list of words with the writer in content, but no code and no tables. It goes through a story sentence by sentence. Every
kinship word must be a statement about two people who are beyond doubt, or a denial. The conventions (`kinship.TELLING` says them for readers):

- A pronoun belongs to somebody mentioned earlier in its sentence, or else in the sentence before, whose gender is not known to differ.
- `my` is the speaker's and `your` the listener's. A word of address (`Dad, …`) says what the listener is to the speaker.
- A relative who is mentioned without a name is the one person whom the next sentence names for the first time.
- `not her mother`, `take Ann for her mother` and the like state nothing.

Where two people fit, the text has a second reading, and the reader refuses it (`Ambiguous`); where nobody fits, `Unreadable`.
"""

from __future__ import annotations

from collections.abc import Collection

from recombine.families.clutrr.language.parser import MAX_CHARACTERS, Reading, Statement, Unreadable
from recombine.families.clutrr.oracle_discourse import (
    FEMALE,
    MODIFIERS,
    NOUNS,
    OWNERS,
    PLURALS,
    PRONOUNS,
    WORDS,
    Ambiguous,
    Discourse,
    Person,
)  # fmt: skip

_TELLING = frozenset(["married", "wedding", "knot", "altar", "birth", "labour", "born"]).union(PLURALS, WORDS, PRONOUNS)
"""Words that may tell something about people; all others are passed over."""


def read_rich_story(text: str, names: Collection[str] | None = None) -> Reading:
    """The facts that a rich story states; `Ambiguous` or `Unreadable` where that is not beyond doubt."""
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(f"the story has {len(text)} characters; at most {MAX_CHARACTERS} are read.")
    return _Reader(None if names is None else frozenset(names)).read(text)


def _gendered(word: str, relative: Person) -> str:
    """The kinship word of a wedding or a birth."""
    if word == "spouse":
        return "wife" if relative.gender == FEMALE else "husband"
    if word == "child":
        return "daughter" if relative.gender == FEMALE else "son"
    return word


class _Reader(Discourse):
    """Kinship phrases, weddings and births."""

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

    def _read_sentence(self) -> None:
        s = self.now
        self._join_descriptions()
        if self.asked:
            word, relative = self.asked
            owner = s.person(0)
            if owner is None or s.token(1) != "'s":
                self._refuse(0, "does not answer whose relative it is")
            assert owner is not None
            others = [p for p in s.people if p and p is not owner]
            if others:
                self._doubt(f"the answer could be {owner.name} or {others[0].name}")
            self._state(word, owner, relative)
            self.asked = None
        for place, (token, person) in enumerate(zip(s.tokens, s.people, strict=True)):
            if person:
                self._mention(person)
            elif token not in _TELLING:
                continue
            elif token in PLURALS:
                self._plural(place, PLURALS[token])
            elif token in WORDS and self._is_noun(place):
                self._singular(place)
            elif token in PRONOUNS:
                self._show(self._owner(PRONOUNS[token], self._described(place)), PRONOUNS[token])
            elif token in ("married", "wedding", "knot", "altar"):
                self._wedding(place)
            elif token in ("birth", "labour", "born"):
                self._birth(place)

    # --- kinship words ---

    def _singular(self, place: int) -> None:
        s, (word, gender) = self.now, WORDS[self.now.tokens[place]]
        left = place - 1
        while s.token(left) in MODIFIERS:
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

    def _possessor(self, place: int, left: int) -> tuple[Person, int]:
        """(whose relative it is, where the phrase begins)."""
        s, found = self.now, self.now.token(left)
        if found == "'s":
            named = s.person(left - 1)
            if named:
                return named, left - 1
            if s.token(left - 1) in WORDS and s.open:
                return s.open[-1], self._start_of(left - 1)
        if found in OWNERS:
            owner = self._owner(OWNERS[found], self._described(left))
            self._show(owner, OWNERS[found])
            return owner, left
        if found in ("my", "your") and s.quoted[place]:
            return self._voice(found == "my", place), left
        if found in ("the", "a", "an") and s.token(place + 1) == "of":
            return self._possessor_after(place), left
        if found == "whose" and s.person(left - 1):
            described = s.person(left - 1)
            assert described is not None
            return described, left
        if found in ("a", "an") and any(s.token(i) in ("has", "had", "have") for i in range(max(0, left - 2), left)):
            return self._only_name(left), left
        raise self._problem(place, "has no owner")

    def _start_of(self, noun: int) -> int:
        """Where the phrase of an earlier kinship word begins."""
        s, left = self.now, noun - 1
        while s.token(left) in MODIFIERS:
            left -= 1
        return left - 1 if s.token(left) == "'s" else left

    def _possessor_after(self, place: int) -> Person:
        """Whose relative it is in `the father of Ann` and `the father of a girl`, who is then named in the next sentence."""
        s = self.now
        owner = s.person(place + 2)
        if owner:
            return owner
        if s.token(place + 2) == "a" and s.token(place + 3) in NOUNS:
            return self._unnamed(NOUNS[s.token(place + 3)])
        raise self._problem(place, "has no owner")

    def _bare(self, place: int, left: int, word: str, gender: str) -> bool:
        """Phrases in which the owner is not beside the word; True if this was one of them."""
        s, found = self.now, self.now.token(left)
        after = s.person(place + 1)
        if found == "the" and after and s.token(left - 1) == "is" and s.person(left - 2):
            relative = s.person(left - 2)
            assert relative is not None
            self._bear(word, gender, after, relative, place)
            return True
        if "better" in s.tokens[left + 1 : place] and s.token(place + 1) == "than" and s.person(place + 2):
            relative = s.person(place + 2)
            assert relative is not None
            self._bear(word, gender, self._only_name(place), relative, place)
            return True
        if found in ("a", "an") and s.token(left - 1) == "became" and s.token(place + 1) == "when":
            born = [p for i, p in enumerate(s.people) if p and i > place]
            if len(born) != 1 or s.token(place + 3) != "was" or s.token(place + 4) != "born":
                self._refuse(place, "does not say who was born")
            self._bear(word, gender, born[0], self._only_name(place), place)
            return True
        if found == "whose" and left == 0:
            relative = s.person(place + 2)
            if s.token(place + 1) != "is" or relative is None:
                self._refuse(place, "asks about nobody")
            assert relative is not None
            self.asked = (word, relative)
            self._show(relative, gender)
            return True
        return False

    def _is_denied(self, left: int) -> bool:
        """`not her aunt`, `take Ann for her aunt`, `described Ann as her aunt`, `think that Ann is her aunt`."""
        s, before = self.now, left - 1
        if s.token(before) == "not":
            return True
        if not s.person(before - 1):
            return False
        head = (s.token(before - 3), s.token(before - 2), s.token(before))
        return head == ("think", "that", "is") or head[1:] in (("take", "for"), ("described", "as"))

    def _bearer(self, place: int, left: int, gender: str) -> Person:
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

    def _named_after(self, place: int) -> Person | None:
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
            if s.person(nxt) or s.token(nxt) in OWNERS:
                self._doubt("an apposition could be a list")

    def _named_before(self, place: int, left: int) -> Person | None:
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
        if s.token(at) == "but" and "not" in s.tokens[:at] and s.token(s.tokens.index("not") - 1) == "is":
            at = s.tokens.index("not") - 1
        if s.token(at) in ("is", "was", "being", "became"):
            if s.token(at - 1) == "who":
                return s.person(at - 3) if s.token(at - 2) == "," else s.person(at - 2)
            return s.person(at - 1)
        return None

    def _bear(self, word: str, gender: str, owner: Person, relative: Person, place: int) -> None:
        if gender:
            self._show(relative, gender)
        if word == "cousin":
            self._refuse(place, "is a cousin, of whom these stories say nothing")
        self._state(word, owner, relative)
        self._mention(relative)

    def _unnamed(self, gender: str) -> Person:
        person = Person(gender=gender)
        self.now.open.append(person)
        self.now.mentioned.append(person)
        return person

    # --- plurals, weddings, births ---

    def _plural(self, place: int, singular: str) -> None:
        """`his sons Ann and Bob`, `his sons. Ann and Bob …`, `Ann and Bob are sons of Carl`, `Ann and Bob are sisters`."""
        s, (word, gender) = self.now, WORDS[singular]
        left = place - 1
        while s.token(left) in MODIFIERS:
            left -= 1
        couple = self._couple(place + 1) or self._couple_before(place)
        if s.token(place + 1) == "of" and s.person(place + 2):
            owner = s.person(place + 2)
        elif s.token(left) == "of" and s.token(left - 1) == "which":
            owner = None
        elif s.token(left) in OWNERS:
            owner = self._owner(OWNERS[s.token(left)], None)
            self._show(owner, OWNERS[s.token(left)])
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
            s.is_pair = len(s.open) == 2
        if couple[0] is couple[1]:
            self._refuse(place, "needs two people")
        for person in couple:
            self._bear(word, gender, owner, person, place)

    def _couple(self, place: int) -> tuple[Person, Person] | None:
        """`Ann and Bob` (or `Ann or Bob`) after a place of the sentence."""
        s = self.now
        for i in range(place, len(s.tokens) - 2):
            one, two = s.person(i), s.person(i + 2)
            if one and two and s.token(i + 1) in ("and", "or"):
                self._check_couple(i)
                return one, two
        return None

    def _check_couple(self, place: int) -> None:
        """A plural that stands for two is not told of three people."""
        s = self.now
        before, after = s.person(place - 2), s.person(place + 4)
        if (before and s.token(place - 1) == ",") or (after and s.token(place + 3) in ("and", "or")):
            self._doubt("a plural could stand for two people or for three")

    def _couple_before(self, place: int) -> tuple[Person, Person] | None:
        s = self.now
        for i in range(place - 3, -1, -1):
            one, two = s.person(i), s.person(i + 2)
            if one and two and s.token(i + 1) == "and":
                self._check_couple(i)
                return one, two
        return None

    def _wedding(self, place: int) -> None:
        s = self.now
        if s.token(place) == "married":
            partner = s.person(place + 2) if s.token(place + 1) == "to" else s.person(place + 1)
            if partner is None and s.token(place - 2) in NOUNS and s.person(place - 1) and s.token(place - 4) == "is":
                partner = s.person(place - 5)
                if partner:
                    self._show(partner, NOUNS[s.token(place - 2)])
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
        s, found = self.now, self.now.token(place)
        if found == "labour":
            mother = self._only_name(place)
            self._show(mother, FEMALE)
            self._state("child", mother, self._unnamed(""))
        elif found == "birth" and s.token(place - 1) == "gave" and s.token(place + 1) == "to":
            mother = self._only_name(place)
            self._show(mother, FEMALE)
            child = s.person(place + 2)
            if child is None and s.token(place + 2) == "a" and s.token(place + 3) in NOUNS:
                child = self._unnamed(NOUNS[s.token(place + 3)])
            if child is None:
                raise self._problem(place, "does not say who was born")
            self._state("child", mother, child)
        elif found == "born" and s.token(place + 1) == "to":
            child, parent = self._only_name(place), s.person(place + 2)
            if parent is None:
                raise self._problem(place, "does not say to whom")
            self._state("child", parent, child)


__all__ = ["Ambiguous", "read_rich_story"]
