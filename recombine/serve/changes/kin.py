"""Families: change, add and drop facts, and ask about any two people. The oracle says which answers are left."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from recombine import kernels
from recombine.core import Example
from recombine.errors import UsageError
from recombine.families.clutrr import CLUTRR
from recombine.families.clutrr.kinship import GENDER, RELATIONS, inverse, word
from recombine.families.clutrr.native import COLUMNS
from recombine.families.clutrr.oracle_rules import NONE, kinship
from recombine.serve.boards.base import Button, Field, Form, View, unknown
from recombine.serve.changes.base import Finding, Saved, Word, parsed, written

MOST_FACTS, MOST_PEOPLE = 30, 20
OWN_ID = f"clutrr@{CLUTRR.RECIPES['sound'].version}/sound/mine"
"""The id of a saved row: it says that the laws of `sound` judge it. The released rules derive less."""
Triple = tuple[int, int, int]


class KinEditor:
    """State: names, genders, facts as (relation, subject, relative), and the two people asked about."""

    def begin(self, example: Example) -> str:
        """The example's facts."""
        plan = example.plan
        facts = [list(fact.triple) for fact in plan.facts]
        return written({"names": plan.names, "genders": plan.genders, "facts": facts, "query": plan.query})

    def view(self, state: str, said: str = "") -> View:
        """The facts as sentences, and lists to change them."""
        story = _Story(state)
        names = tuple(story.names)
        facts = tuple(f"{number}. {story.sentence(fact)}" for number, fact in enumerate(story.facts, 1))
        who, whom, what = Field("relative", "person", names), Field("subject", "of", names), Field("word", "is the", RELATIONS)
        forms = (
            Form("Change", "change", (Field("fact", "fact", facts), Field("word", "to", RELATIONS))),
            Form("Drop", "remove", (Field("fact", "fact", facts),)),
            Form("Add", "add", (who, what, whom)),
            Form("Ask", "ask", (Field("relative", "what is", names), Field("subject", "to", names))),
        )
        asked = f"What is {names[story.query[1]]} to {names[story.query[0]]}?"
        buttons = tuple(
            Button(f"{n} is {('female', 'male')[g]}: change", f"gender:{i}")
            for i, (n, g) in enumerate(zip(names, story.genders, strict=True))
        )
        return View(state, said=said, hint=" ".join([*facts, asked]), buttons=buttons, forms=forms)

    def act(self, state: str, event: str, fields: Mapping[str, str]) -> tuple[str, str]:
        """The story after one change."""
        story = _Story(state)
        place = _place(fields.get("fact", ""), len(story.facts))
        if event.startswith("gender:") and event[7:].isdecimal() and int(event[7:][:3]) < len(story.names):
            person = int(event[7:][:3])
            story.genders[person] ^= 1
            story.facts = [(r if GENDER[r] == story.genders[o] else r ^ 1, s, o) for r, s, o in story.facts]
            return story.state(), "The words of this person's facts were changed with it."
        if event in ("change", "remove"):
            if place is None:
                return state, "Choose a fact."
            old = story.facts.pop(place)
            if event == "change":
                story.facts.insert(place, (_code(fields.get("word", "")), *old[1:]))
            return self._checked(state, story)
        subject, relative = (story.person(fields.get(name, "")) for name in ("subject", "relative"))
        if subject == relative:
            return state, "Choose two different people."
        if event == "add":
            story.facts.append((_code(fields.get("word", "")), subject, relative))
            return self._checked(state, story)
        if event == "ask":
            story.query = (subject, relative)
            return story.state(), ""
        raise unknown(event)

    def _checked(self, state: str, story: _Story) -> tuple[str, str]:
        for relation, _, relative in story.facts:
            if GENDER[relation] != story.genders[relative]:
                return (
                    state,
                    f"{story.names[relative]} is {('female', 'male')[story.genders[relative]]} and cannot be a {RELATIONS[relation]}.",
                )
        if len(story.facts) > MOST_FACTS:
            return state, f"A story has at most {MOST_FACTS} facts here."
        return story.state(), ""

    def finding(self, state: str) -> Finding:
        """The relations that the facts leave open between the two people, and whether each fact is needed."""
        story = _Story(state)
        x, y = story.query
        left = story.left(story.facts)
        needed = tuple(
            Word(story.sentence(fact), others != left, f"without it {_told(others, story.genders[y])}")
            for i, fact in enumerate(story.facts)
            for others in [story.left([*story.facts[:i], *story.facts[i + 1 :]])]
        )
        asked = f"what {story.names[y]} is to {story.names[x]}"
        if not left:
            return Finding("impossible", "The facts contradict each other.", words=needed)
        words = _words(left, story.genders[y])
        if left == 1 << NONE:
            return Finding("impossible", f"The facts say that no word fits {asked}.", words=needed)
        if len(words) == 1 and not left >> NONE & 1:
            return Finding("unique", f"{story.names[y]} is the {words[0]} of {story.names[x]}.", words[0], needed)
        listed = ", ".join(words) if len(words) < len(RELATIONS) // 2 else "every word"
        return Finding(
            "ambiguous", f"The facts leave open {asked}: {listed}{' or nothing' if left >> NONE & 1 else ''}.", words=needed
        )

    def saved(self, state: str) -> Saved:
        """One row of the released CSV; the story states the facts plainly."""
        story, found = _Story(state), self.finding(state)
        if found.status != "unique":
            raise UsageError("only an example with one answer can be saved.")
        path = story.path()
        if path is None:
            raise UsageError("no chain of facts joins the two people, so the row has no path.")
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        cells = story.cells(path, found.answer)
        writer.writerow([cells.get(name, "") for name in COLUMNS])
        return Saved("my-clutrr.csv", out.getvalue(), "clutrr")


class _Story:
    """A state, read and checked."""

    def __init__(self, state: str) -> None:
        found = parsed(state)
        try:
            self.names = [str(name)[:40] for name in found["names"]]
            self.genders = [_number(g, 2) for g in found["genders"]]
            people = len(self.names)
            self.facts: list[Triple] = [
                (_number(r, len(RELATIONS)), _number(s, people), _number(o, people)) for r, s, o in found["facts"]
            ]
            x, y = (_number(p, people) for p in found["query"])
        except (KeyError, TypeError, ValueError):
            raise UsageError("the example cannot be read; reload the page.") from None
        self.query = (x, y)
        if len(self.genders) != people or not 2 <= people <= MOST_PEOPLE or len(self.facts) > MOST_FACTS or x == y:
            raise UsageError("the example cannot be read; reload the page.")
        if len(set(self.names)) != people or not all(name.replace("-", "").isalnum() for name in self.names):
            raise UsageError("the example cannot be read; reload the page.")

    def state(self) -> str:
        return written({"names": self.names, "genders": self.genders, "facts": self.facts, "query": self.query})

    def sentence(self, fact: Triple) -> str:
        return f"{self.names[fact[2]]} is the {RELATIONS[fact[0]]} of {self.names[fact[1]]}."

    def person(self, name: str) -> int:
        if name not in self.names:
            raise UsageError("choose people of the story.")
        return self.names.index(name)

    def left(self, facts: list[Triple]) -> int:
        """The relations that these facts leave to the two people, as bits; 0 if the facts contradict each other."""
        n, tables = len(self.names), kinship()
        kernel = kernels.load("recombine.families.clutrr.oracle_kernel", compiled=False)
        masks = np.zeros((n, n), np.int64)
        flat = np.array([number for fact in facts for number in fact], np.int64)
        if not kernel.open_masks(masks, n, flat, len(facts), tables.inverse):
            return 0
        kernel.settle(masks, n, np.array(self.genders, np.int64), tables.compose, tables.inverse)
        is_whole = all(masks[a, b] for a in range(n) for b in range(n) if a != b)
        return int(masks[self.query]) if is_whole else 0

    def path(self) -> list[Triple] | None:
        """The shortest chain of facts from the first person to the second, each told in that direction."""
        x, y = self.query
        before: dict[int, Triple] = {}
        open_ = [x]
        while open_ and y not in before:
            at = open_.pop(0)
            for r, s, o in self.facts:
                step = (r, s, o) if s == at else (inverse(r, self.genders[s]), o, s) if o == at else None
                if step is not None and step[2] != x and step[2] not in before:
                    before[step[2]] = step
                    open_.append(step[2])
        if y not in before:
            return None
        found: list[Triple] = []
        at = y
        while at != x:
            found.insert(0, before[at])
            at = before[at][1]
        return found

    def cells(self, path: list[Triple], answer: str) -> dict[str, Any]:
        """The row in the released columns."""
        on_path = {frozenset(fact[1:]) for fact in path}
        facts = [*path, *(fact for fact in self.facts if frozenset(fact[1:]) not in on_path)]
        number: dict[int, int] = {}
        for _, s, o in facts:
            for person in (s, o):
                number.setdefault(person, len(number))
        x, y = (self.names[p] for p in self.query)
        text = " ".join(f"[{self.names[o]}] is the {RELATIONS[r]} of [{self.names[s]}]." for r, s, o in self.facts)
        return {
            "": "0", "id": OWN_ID, "story": text, "query": repr((x, y)), "text_query": f"What is [{y}] to [{x}]?", "target": answer,
            "text_target": repr([f"[{y}] is the {answer} of [{x}]."]), "clean_story": text, "proof_state": "[]",
            "f_comb": "-".join(RELATIONS[r] for r, _, _ in path), "task_name": f"task_1.{len(path)}",
            "story_edges": repr([(number[s], number[o]) for _, s, o in facts]), "edge_types": repr([RELATIONS[r] for r, _, _ in facts]),
            "query_edge": repr(tuple(number[p] for p in self.query)),
            "genders": ",".join(f"{self.names[p]}:{('female', 'male')[self.genders[p]]}" for p in number), "task_split": "test",
        }  # fmt: skip


def _number(value: Any, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < high:
        raise ValueError("out of range")
    return value


def _place(text: str, count: int) -> int | None:
    head = text.partition(".")[0]
    return int(head) - 1 if head.isdecimal() and len(head) < 4 and 1 <= int(head) <= count else None


def _code(text: str) -> int:
    if text not in RELATIONS:
        raise UsageError("choose one of the 22 words.")
    return RELATIONS.index(text)


def _words(left: int, gender: int) -> list[str]:
    return [RELATIONS[word(neutral, gender)] for neutral in range(NONE) if left >> neutral & 1]


def _told(left: int, gender: int) -> str:
    words = _words(left, gender)
    if not left:
        return "the facts contradict each other"
    return f"the answer is {words[0]}" if len(words) == 1 and not left >> NONE & 1 else "the answer is open"
