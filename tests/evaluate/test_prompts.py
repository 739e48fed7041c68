"""Prompts and replies: what a model is shown, that the rules suffice, and how its words are read."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any

import pytest

from recombine.core import Example
from recombine.data.datasets import Dataset, load
from recombine.data.training import training_rows
from recombine.errors import UnknownName, UsageError
from recombine.evaluate.prompts import STYLES, Prompter, chat_messages, prompts_of
from recombine.evaluate.replies import MAX_ANSWER, parse_reply
from recombine.families import FAMILIES
from recombine.families import family as find_family

SPLITS = {"scan": "length", "nacs": "length", "reascan": "two_clauses"}
SEEN = ("gscan", "reascan", "lilgym")
"""Families with pictures."""


def first_part(family: str) -> tuple[Dataset, Dataset]:
    """Rows to ask about, and the training part that belongs to them."""
    from recombine.families import family as find

    split = SPLITS.get(family, next(iter(find(family).SPLITS)))
    parts = find(family).SPLITS[split].parts
    rows = load(family, split, "test" if "test" in parts else next(p for p in parts if p.startswith("test")), size=40)
    return rows, training_rows(rows, split)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_can_be_asked(family: str) -> None:
    rows, train = first_part(family)
    examples = list(rows)[:6]
    words = prompts_of(find_family(family))
    for style in STYLES:
        prompter = Prompter(rows.family, style, "text", 2, False, train)  # type: ignore[arg-type]
        again = Prompter(rows.family, style, "text", 2, False, train)  # type: ignore[arg-type]
        assert prompter.hash == again.hash
        for example in examples:
            prompt = prompter.prompt(example)
            assert prompt.hash == again.prompt(example).hash
            assert words.question(example, "text") in prompt.text
            assert (words.rules(family) in prompt.text) == (style == "rules")
            assert prompt.text.endswith(STYLES[style])
            assert len(prompt.shots) == 2
            assert example.id not in prompt.shots
            assert prompt.tokens < prompt.most_tokens < 40_000
    hashes = {
        Prompter(rows.family, style, "text", shots, fresh, train).hash  # type: ignore[arg-type]
        for style in STYLES
        for shots, fresh in ((0, False), (1, False), (1, True))
    }
    assert len(hashes) == 9


@pytest.mark.parametrize("family", FAMILIES)
def test_questions_and_pictures_hold_nothing_but_the_inputs(family: str) -> None:
    rows, _ = first_part(family)
    words = prompts_of(find_family(family))
    for example in list(rows)[:10]:
        bare = Example(rows.family, "x", example.inputs, "", None, None, {})
        for sight in ("text", "picture", "both"):
            assert words.question(bare, sight) == words.question(example, sight)  # type: ignore[arg-type]
        assert words.picture(bare) == words.picture(example)


@pytest.mark.parametrize("family", FAMILIES)
def test_right_answers_as_shown_are_read_and_score_one(family: str) -> None:
    rows, _ = first_part(family)
    words = prompts_of(find_family(family))
    for example in rows:
        for reply in (
            f"Answer: {words.answer(example)}",
            f"So.\n\n**Answer:** `{words.answer(example)}`.",
            words.answer(example),
        ):
            parsed = parse_reply(reply)
            assert parsed.answer is not None
            assert example.score(parsed.answer).value == 1.0


@pytest.mark.parametrize("family", SEEN)
def test_pictures_stand_where_the_description_stood(family: str) -> None:
    rows, train = first_part(family)
    example = rows[0]
    prompt = Prompter(rows.family, "direct", "picture", 1, False, train).prompt(example)
    assert prompt.pictures == 2
    assert prompts_of(find_family(family)).question(example, "text") not in prompt.text
    assert (
        prompts_of(find_family(family)).question(example, "text")
        in Prompter(rows.family, "direct", "both").prompt(example).text
    )
    content = chat_messages(prompt)[0]["content"]
    urls = [piece["image_url"]["url"] for piece in content if piece["type"] == "image_url"]
    assert len(urls) == 2
    assert all(url.startswith("data:image/png;base64,iVBOR") for url in urls)


def test_families_without_pictures_say_so() -> None:
    rows, _ = first_part("scan")
    with pytest.raises(UsageError, match="no pictures"):
        Prompter(rows.family, "direct", "picture").prompt(rows[0])
    with pytest.raises(UnknownName):
        Prompter(rows.family, "directly")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="training part"):
        Prompter(rows.family, "direct", "text", 3, False, ())


def test_shots_are_the_same_for_every_row_or_fresh_and_never_the_asked_row() -> None:
    train = load("nacs", "simple", "train")
    same = Prompter(train.family, "direct", "text", 3, False, train)
    fresh = Prompter(train.family, "direct", "text", 3, True, train)
    asked = [next(same._common()), *(train[i] for i in range(20))]
    shots = [same.prompt(example).shots for example in asked]
    assert len(set(shots[1:])) == 1
    assert asked[0].id not in shots[0]
    assert shots[0][:2] == shots[1][1:]
    assert len({fresh.prompt(example).shots for example in asked}) == len(asked)
    twin = next(e for e in train if e.meta["readings"] > 1)
    alike = [e for e in train if e.inputs == twin.inputs]
    small = Prompter(train.family, "direct", "text", 1, False, [*alike, train[5]])
    assert small.prompt(twin).shots == (train[5].id,)


# --- the rules suffice -----------------------------------------------------------------------------------------------


def test_the_examples_in_the_rules_of_scan_are_right() -> None:
    from recombine.families.scan.corpus import corpus, places
    from recombine.families.scan.plan import format_actions

    found = re.findall(r"`([a-z ]+)` is (I_[A-Z_ ]+[A-Z])", prompts_of(find_family("scan")).rules("scan"))
    assert len(found) >= 4
    for command, actions in found:
        assert format_actions(corpus().letters[places()[command]]) == actions


def test_the_examples_in_the_rules_of_clutrr_are_right() -> None:
    from recombine.families.clutrr.kinship import CODES
    from recombine.families.clutrr.sound.rules import compose_table

    text = " ".join(prompts_of(find_family("clutrr")).rules("clutrr").split())
    found = re.findall(r"the (\w+) of one's (\w+) is one's (\w+)", text)
    assert len(found) == 5
    for second, first, whole in found:
        for gender in (0, 1):
            assert compose_table()[gender, CODES[first], CODES[second]] == CODES[whole]


DIRECTIONS = ("north", "east", "south", "west")
STEPS = {"north": (-1, 0), "east": (0, 1), "south": (1, 0), "west": (0, -1)}


class Reader:
    """A careful reader who has only the words of a grid question, and does what the rules say."""

    def __init__(self, text: str) -> None:
        self.size = int(re.search(r"has (\d+) rows", text)[1])  # type: ignore[index]
        row, column, self.heading = re.search(r"row (\d+), column (\d+) and faces (\w+)", text).groups()  # type: ignore[union-attr]
        self.at = (int(row), int(column))
        self.command = text.rpartition("Command: ")[2]
        self.things: list[dict[str, Any]] = []
        pattern = r"- a (\w+) (\w+) of size (\d) (?:in|around) rows? (\d+)(?: to \d+)?, columns? (\d+)"
        for color, shape, size, r, c in re.findall(pattern, text):
            self.things.append({"color": color, "shape": shape, "size": int(size), "row": int(r), "column": int(c)})
        self.adverb = next((a for a in ("zigzagging", "spinning", "cautiously", "hesitantly") if self.command.endswith(a)), "")
        self.actions: list[str] = []

    def fits(self, phrase: str, pairwise: bool) -> list[int]:
        words = phrase.split()
        class_ = [
            i for i, t in enumerate(self.things)
            if all(w in (t["color"], t["shape"]) for w in words if w not in ("a", "the", "small", "big", "object"))
        ]  # fmt: skip
        sizes = [self.things[i]["size"] for i in class_]
        if "small" in words:
            return [
                i for i in class_ if (self.things[i]["size"] < max(sizes) if pairwise else self.things[i]["size"] == min(sizes))
            ]
        if "big" in words:
            return [
                i for i in class_ if (self.things[i]["size"] > min(sizes) if pairwise else self.things[i]["size"] == max(sizes))
            ]
        return class_

    def holds(self, relation: str, a: dict[str, Any], b: dict[str, Any]) -> bool:
        if relation == "inside of":
            inside = b["row"] <= a["row"] < b["row"] + b["size"] and b["column"] <= a["column"] < b["column"] + b["size"]
            return bool(b["shape"] == "box" and inside)
        key = relation.split()[3]
        return bool(a[key] == b[key])

    def target(self, pairwise: bool) -> int:
        text = re.sub(r"( while)? (zigzagging|spinning|cautiously|hesitantly)$", "", self.command)
        pieces = re.split(r" (that is|and) (in the same \w+ as|inside of) ", re.sub(r"^(walk to|push|pull) ", "", text))
        phrases, links, relations = pieces[0::3], pieces[1::3], pieces[2::3]
        parents: list[int] = []
        for k, link in enumerate(links):
            parents.append(k if link == "that is" else parents[-1])
        found = {
            chosen[0]
            for chosen in itertools.product(*(self.fits(p, pairwise) for p in phrases))
            if len(set(chosen)) == len(chosen)
            and all(
                self.holds(r, self.things[chosen[p]], self.things[chosen[k + 1]])
                for k, (p, r) in enumerate(zip(parents, relations, strict=True))
            )
        }
        assert len(found) == 1, (self.command, found)
        return found.pop()

    def effort(self, action: str, heading: str) -> None:
        if self.adverb == "spinning":
            self.actions += ["turn left"] * 4
        turn = (DIRECTIONS.index(heading) - DIRECTIONS.index(self.heading)) % 4
        self.actions += [[], ["turn right"], ["turn left"] * 2, ["turn left"]][turn]
        self.heading = heading
        if self.adverb == "cautiously":
            self.actions += ["turn left", "turn right", "turn right", "turn left"]
        self.actions.append(action)
        if self.adverb == "hesitantly":
            self.actions.append("stay")

    def answer(self, pairwise: bool) -> str:
        thing = self.things[self.target(pairwise)]
        down, right = thing["row"] - self.at[0], thing["column"] - self.at[1]
        across, along = ["east" if right > 0 else "west"] * abs(right), ["south" if down > 0 else "north"] * abs(down)
        pairs = min(len(across), len(along)) if self.adverb == "zigzagging" else 0
        steps = [way for _ in range(pairs) for way in (across.pop(), along.pop())]
        for way in [*steps, *across, *along]:
            self.effort("walk", way)
        verb = self.command.split()[0]
        if verb == "walk":
            return ", ".join(self.actions)
        dr, dc = STEPS[self.heading]
        dr, dc = (-dr, -dc) if verb == "pull" else (dr, dc)
        taken = {(t["row"], t["column"]) for t in self.things if t["shape"] != "box"}
        cell = (thing["row"] + dr, thing["column"] + dc)
        while 1 <= cell[0] <= self.size and 1 <= cell[1] <= self.size and cell not in taken:
            for _ in range(2 if thing["size"] >= 3 else 1):
                self.effort(verb, self.heading)
            cell = (cell[0] + dr, cell[1] + dc)
        return ", ".join(self.actions)


@pytest.mark.parametrize(
    ("family", "split"), [("gscan", None), ("reascan", "all"), ("reascan", "three_clauses"), ("reascan", "nested")]
)
def test_a_reader_who_has_only_the_question_and_the_rules_is_right(family: str, split: str | None) -> None:
    words = prompts_of(find_family(family))
    for example in load(family, split, "test", size=40):
        reader = Reader(words.question(example, "text"))
        assert reader.answer(pairwise=family == "reascan") == words.answer(example), example.id


# --- replies ---------------------------------------------------------------------------------------------------------

REPLIES = {
    "Answer: a b": ("ok", "a b"),
    "thinking …\nAnswer: a\nmore\nanswer: b": ("ok", "b"),
    "**Answer:** `a`": ("ok", "a"),
    "**Final Answer: a**": ("ok", "a"),
    "> ### Answer: a.": ("ok", "a"),
    "x\n<answer>a\nb</answer> bye": ("ok", "a\nb"),
    "<answer>a</answer>\nAnswer: b": ("ok", "b"),
    "Answer: b\n<answer>a</answer>": ("ok", "a"),
    "Answer:\n```\nADD blue left\nSTOP\n```\n\nHope this helps": ("ok", "ADD blue left\nSTOP"),
    "father": ("ok", "father"),
    '"father".': ("ok", "father"),
    "<think>Answer: no</think>Answer: yes": ("ok", "yes"),
    "<think>Answer: no": ("unparsable", None),
    "two\nlines": ("unparsable", None),
    "": ("unparsable", None),
    "Answer:": ("unparsable", None),
    "Answer: ``": ("unparsable", None),
    "x" * 5000: ("unparsable", None),
    "Answer: " + "x" * (MAX_ANSWER + 1): ("unparsable", None),
    "I'm sorry, but I can't help with that.": ("refused", None),
    "I cannot answer.\nReally.": ("refused", None),
    "I cannot be sure, but\nAnswer: a": ("ok", "a"),
    "The answer: a is here\nand more": ("unparsable", None),
}


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: repr(reply)[:30])
def test_replies_are_read_by_the_documented_rules(reply: str) -> None:
    parsed = parse_reply(reply)
    assert (parsed.status, parsed.answer) == REPLIES[reply]


def test_cut_and_refused_replies_are_not_read() -> None:
    assert parse_reply("Answer: a", "length").status == "truncated"
    assert parse_reply("Answer: a", "content_filter").status == "refused"
    assert parse_reply("", "stop", "No.").status == "refused"


HOSTILE = (
    "<answer>" * 50_000, "</answer>" * 50_000, "<answer>" * 20_000 + "</answer>" * 20_000, "Answer:\n" * 50_000, "answer " * 50_000,
    "*_#>- " * 50_000, "Answer" + " " * 200_000 + ":", "<think>" * 50_000, "</think>" * 50_000, "\n" * 200_000, "\0" * 1000, "Answer: \ud800",
)  # fmt: skip


def test_hostile_replies_are_read() -> None:
    for reply in HOSTILE:
        assert parse_reply(reply).status in ("ok", "unparsable")
    chance = random.Random(3)
    pieces = [
        "Answer:",
        "<answer>",
        "</answer>",
        "\n",
        "```",
        "**",
        "I'm sorry",
        "<think>",
        "</think>",
        "a",
        " ",
        "\u202e",
        "'",
        ".",
        "\r",
    ]
    for _ in range(5_000):
        parsed = parse_reply("".join(chance.choices(pieces, k=chance.randrange(30))))
        assert (parsed.answer is None) == (parsed.status != "ok")
        assert parsed.answer is None or parsed.answer.strip()
