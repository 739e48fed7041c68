"""The paraphrase store: sentence frames, events and times, written here, and the paraphrases that they make.

A *frame* (`text/frames1.txt` … `frames3.txt`, one a line) words 1, 2 or 3 facts along a path of people X, Y, Z, W:

    X, hisX, heX, himX    a person's name; pronouns in that person's gender (HisX, HeX begin a sentence)
    kXY                   what Y is to X (`father`, `niece`, …), for neighbours on the path, in either direction
    > at the beginning    the frame leaves X's sex open, so it never tells a path backwards
    {do} {did} {doing}    an event from `events.txt`, in that form; {when} or {When} a time from `times.txt`

Frames say nothing about ages or sexes of their own, so each fits every clause, told from either end of the path. An even
paraphrase code reads the path as X, Y, Z, W, an odd one backwards, with each word replaced by its inverse. A *paraphrase* is
a frame with its events and time filled in; which ones make up the store is drawn once, by name, and never depends on a seed.
Frames, events and times are each divided 80 : 20, and a held-out paraphrase has no frame, event or time in common with
training ones.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from recombine.errors import BadOption, UnknownName
from recombine.families.clutrr import kinship
from recombine.families.clutrr.language import inflect, kinwords
from recombine.families.clutrr.language.kernel import BASE, EVENT, FLAVOURED, KIN, LITERAL, NAME, PRONOUN, TIME
from recombine.keys import Stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Portion = Literal["train", "heldout", "all"]
Style = Literal["paraphrase", "simple"]
PORTIONS: tuple[Portion, ...] = ("train", "heldout", "all")
STYLES: tuple[Style, ...] = ("paraphrase", "simple")
HELD_OUT = 0.2
PER_FRAME = 24
"""Paraphrases made from each frame that has a slot for an event."""

PRONOUNS: dict[str, tuple[str, str]] = {
    "he": ("she", "he"), "him": ("her", "him"), "his": ("her", "his"), "himself": ("herself", "himself"),
    "He": ("She", "He"), "His": ("Her", "His"),
}  # fmt: skip
"""Pronoun as written in frames -> (female, male), in the order of the gender codes."""

_FORMS = {"do": 0, "did": 1, "doing": 2}
_SLOT = re.compile(r"\bk([XYZW])([XYZW])\b|\b(he|him|his|himself|He|His)([XYZW])\b|\b([XYZW])\b|\{(do|did|doing|when|When)\}")
_TEXT = Path(__file__).parent / "text"


class Tables(NamedTuple):
    """Everything that the kernel needs to word facts, as arrays; made by `tables` or by `original.tables`."""

    pool: Array
    frame_start: Array
    ops: Array
    templates: Array
    events: Array
    times: Array
    pronouns: Array
    words: Array
    inverse: Array
    candidates: Array
    first: Array
    counts: Array
    longest: int
    by_class: Array  # [clause keys, classes]: candidates of each class, in their order; only where `fills` is not 0
    parts: Array  # [frames, parts]: the parts of a frame, -1 for none; a story avoids using one twice
    kin: Array  # [flavours, relations, variants, 2]: words as people say them
    register_lines: Array  # [3, lines, 2]: openings, sentences in between and closings of a register
    first_number: int  # the number of the first paraphrase
    fills: int  # fillings of each frame; 0 where candidates are codes themselves
    coreference: float  # share of frames that tie names to words across sentences
    colloquial: float  # share of paraphrases with colloquial words


@dataclass(frozen=True)
class Op:
    """One step of a frame: literal text, or a slot with two numbers (see the kernel's kinds)."""

    kind: int
    a: int = 0
    b: int = 0
    text: str = ""


@dataclass(frozen=True)
class Frame:
    """A parsed frame: its line, how many facts it words, its steps, and how many events and times it takes."""

    line: str
    facts: int
    ops: tuple[Op, ...]
    events: int
    has_time: bool
    is_one_way: bool


@dataclass(frozen=True)
class Paraphrase:
    """A frame with its events and time chosen; `number` is its place in the store."""

    number: int
    frame: int
    events: tuple[int, ...]
    time: int
    portion: Portion


def parse_frame(line: str, facts: int) -> Frame:
    """A frame from its line of text."""
    ops: list[Op] = []
    events, has_time, at = 0, False, 0
    is_one_way, line = line.startswith("> "), line.removeprefix("> ")
    for match in _SLOT.finditer(line):
        if match.start() > at:
            ops.append(Op(LITERAL, text=line[at : match.start()]))
        at = match.end()
        possessor, relative, pronoun, owner, name, form = match.groups()
        if possessor:
            ops.append(Op(KIN, "XYZW".index(possessor), "XYZW".index(relative)))
        elif pronoun:
            ops.append(Op(PRONOUN, "XYZW".index(owner), list(PRONOUNS).index(pronoun)))
        elif name:
            ops.append(Op(NAME, "XYZW".index(name)))
        elif form in _FORMS:
            ops.append(Op(EVENT, events, _FORMS[form]))
            events += 1
        else:
            ops.append(Op(TIME, 0, int(form == "When")))
            has_time = True
    if at < len(line):
        ops.append(Op(LITERAL, text=line[at:]))
    return Frame(line, facts, tuple(ops), events, has_time, is_one_way)


def read_lines(name: str) -> list[str]:
    """The lines of a text file of the store, without comments and blanks."""
    raw = (_TEXT / name).read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in raw if line.strip() and not line.startswith("#")]


@functools.cache
def frames(style: Style = "paraphrase") -> tuple[Frame, ...]:
    """All frames of a style, in the order of their numbers: those for one fact first."""
    if style == "simple":
        return tuple(parse_frame(f"> {line}", 1) for line in read_lines("simple.txt"))
    return tuple(parse_frame(line, k) for k in (1, 2, 3) for line in read_lines(f"frames{k}.txt"))


@functools.cache
def events() -> tuple[tuple[str, str, str], ...]:
    """Each event as (base, past, -ing)."""
    found = []
    for line in read_lines("events.txt"):
        verb, _, rest = line.partition(" ")
        found.append((line, f"{inflect.past(verb)} {rest}", f"{inflect.gerund(verb)} {rest}"))
    return tuple(found)


@functools.cache
def times() -> tuple[tuple[str, str], ...]:
    """Each time as (inside a sentence, at its beginning)."""
    return tuple((line, line[0].upper() + line[1:]) for line in read_lines("times.txt"))


@functools.cache
def reserved_words() -> frozenset[str]:
    """Words that no person may be called, because frames, events, times or questions write them with a capital."""
    texts = [op.text for style in STYLES for frame in frames(style) for op in frame.ops] + read_lines("questions.txt")
    texts += [form for event in events() for form in event] + [form for time in times() for form in time]
    texts += [line for path in sorted((_TEXT / "rich").glob("*.txt")) for line in read_lines(f"rich/{path.name}")]
    texts += [word for words in kinwords.VOCATIVE.values() for word in words]
    return frozenset(word for text in texts for word in re.findall(r"\b[A-Z]\w*", text))


def divide(count: int, name: str) -> tuple[list[int], list[int]]:
    """The places 0 … count - 1 as (train, held out), each in a fixed random order."""
    places = list(range(count))
    Stream("clutrr", "language", "hold-out", name).shuffle(places)
    cut = round(count * HELD_OUT)
    return places[cut:], places[:cut]


class _Deck:
    """Draws every card once before any comes again."""

    def __init__(self, cards: Sequence[int], stream: Stream) -> None:
        self.cards, self.stream, self.rest = list(cards), stream, list[int]()

    def draw(self) -> int:
        if not self.rest:
            self.rest = list(self.cards)
            self.stream.shuffle(self.rest)
        return self.rest.pop()


@functools.cache
def paraphrases() -> tuple[Paraphrase, ...]:
    """The whole store in the order of its numbers: training paraphrases and held-out ones, for 1, 2 and 3 facts."""
    found: list[Paraphrase] = []
    every = frames()
    divided = {"events": divide(len(events()), "events"), "times": divide(len(times()), "times")}
    for k in (1, 2, 3):
        own = [number for number, frame in enumerate(every) if frame.facts == k]
        parts = divide(len(own), f"frames{k}")
        for side, portion in enumerate(("train", "heldout")):
            stream = Stream("clutrr", "language", "paraphrases", k, portion)
            event_deck = _Deck(divided["events"][side], stream)
            time_deck = _Deck(divided["times"][side], stream)
            for place in parts[side]:
                frame = every[own[place]]
                drawn = set[tuple[int, ...]]()
                while len(drawn) < (PER_FRAME if frame.events else 1):
                    chosen = tuple(event_deck.draw() for _ in range(frame.events))
                    if chosen in drawn or len(set(chosen)) < len(chosen):
                        continue
                    drawn.add(chosen)
                    time = time_deck.draw() if frame.has_time else 0
                    found.append(Paraphrase(len(found), own[place], chosen, time, portion))  # type: ignore[arg-type]
    return tuple(found)


@functools.cache
def tables(style: Style = "paraphrase", portion: Portion = "all", fraction: float = 1.0) -> Tables:
    """The kernel's tables for a portion of the store, cut down to a fraction of its frames (at least one per length).

    Codes mean the same paraphrase in every portion and fraction: two parts share no paraphrase if their codes are disjoint.
    """
    if style not in STYLES:
        raise UnknownName("language style", style, STYLES)
    if portion not in PORTIONS:
        raise UnknownName("portion of the paraphrase store", portion, PORTIONS)
    if not 0.0 < fraction <= 1.0:
        raise BadOption(f"fraction is {fraction!r}, but must be above 0 and at most 1.")
    if style == "simple":
        found = tuple(Paraphrase(i, i, (), 0, "all") for i in range(len(frames("simple"))))
        return _assemble(frames("simple"), found, [list(range(len(found))), [], []])
    chosen: list[list[int]] = [[], [], []]
    for k in (1, 2, 3):
        for side in ("train", "heldout"):
            own = [p for p in paraphrases() if p.portion == side and frames()[p.frame].facts == k]
            own_frames = list(dict.fromkeys(p.frame for p in own))
            kept = set(own_frames[: max(1, round(len(own_frames) * fraction))])
            if portion in (side, "all"):
                chosen[k - 1] += [p.number for p in own if p.frame in kept]
    return _assemble(frames(), paraphrases(), chosen)


def _assemble(every: Sequence[Frame], found: Sequence[Paraphrase], chosen: list[list[int]]) -> Tables:
    """Arrays from frames and paraphrases; `chosen[k - 1]` lists the paraphrases that may word a clause of k facts."""
    pool = Pool()
    ops = [(op.kind, *(pool.add(op.text) if op.kind == LITERAL else (op.a, op.b))) for frame in every for op in frame.ops]
    starts = np.cumsum([0] + [len(frame.ops) for frame in every])
    rows = [(p.frame, p.time, 0, *(*p.events, 0, 0, 0)[:3]) for p in found]
    candidates: list[int] = []
    spans = []
    for numbers in chosen:
        codes = [2 * n + m for n in numbers for m in ((0,) if every[found[n].frame].is_one_way else (0, 1))]
        spans.append((len(candidates), len(codes)))
        candidates += codes
    first, count = _clause_index(spans)
    return Tables(
        frame_start=starts.astype(np.int32),
        ops=np.array(ops, np.int32),
        templates=np.array(rows, np.int32),
        events=np.array([[pool.add(form) for form in event] for event in events()], np.int32),
        times=np.array([[pool.add(form) for form in time] for time in times()], np.int32),
        candidates=np.array(candidates, np.int32),
        first=first,
        counts=count,
        longest=max(k for k in (1, 2, 3) if chosen[k - 1]),
        parts=np.arange(len(every), dtype=np.int32).reshape(-1, 1),
        **no_fillings(),
        **kin_arrays(pool),
        pool=pool.bytes(),
    )


def no_fillings() -> dict[str, Any]:
    """The fields of tables whose candidates are paraphrase codes themselves."""
    return {
        "by_class": np.zeros((1, 3), np.int32), "kin": np.zeros((1, 1, 1, 2), np.int32), "first_number": 0, "fills": 0,
        "register_lines": np.zeros((3, 0, 2), np.int32), "coreference": 0.0, "colloquial": 0.0,
    }  # fmt: skip


class Pool:
    """Literal text as one byte array; equal texts share their place."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.places: dict[str, tuple[int, int]] = {}

    def add(self, text: str) -> tuple[int, int]:
        """(offset, length) of this text."""
        if text not in self.places:
            raw = text.encode()
            self.places[text] = (len(self.data), len(raw))
            self.data += raw
        return self.places[text]

    def bytes(self) -> Array:
        """All texts end to end."""
        return np.frombuffer(bytes(self.data), np.uint8).copy()


def kin_arrays(pool: Pool) -> dict[str, Any]:
    """The arrays that all kinds of tables share: pronouns, kinship words, and each word's inverse by the subject's gender."""
    return {
        "pronouns": np.array([[pool.add(form) for form in pair] for pair in PRONOUNS.values()], np.int32),
        "words": np.array([pool.add(word) for word in kinship.RELATIONS], np.int32),
        "inverse": np.array([[kinship.inverse(r, g) for g in (0, 1)] for r in range(len(kinship.RELATIONS))], np.int8),
    }


def _clause_index(spans: Sequence[tuple[int, int]]) -> tuple[Array, Array]:
    """(first, count) by clause key, when all clauses of a length share the same candidates."""
    first = np.zeros((BASE, BASE, BASE, 2), np.int32)
    count = np.zeros((BASE, BASE, BASE, 2), np.int32)
    for at, values in ((first, [s[0] for s in spans]), (count, [s[1] for s in spans])):
        at[1:, 0, 0, :] = values[0]
        at[1:, 1:, 0, :] = values[1]
        at[1:, 1:, 1:, :] = values[2]
    return first.reshape(-1), count.reshape(-1)


def room(t: Tables, facts: int, longest_name: int) -> int:
    """Bytes that a story of this many facts never exceeds, for names of up to `longest_name` bytes."""
    key = id(t), longest_name
    if key not in _BOUNDS:
        if len(_BOUNDS) >= MOST_BOUNDS:
            _BOUNDS.clear()
        _BOUNDS[key] = t, *_bounds(t, longest_name)
    _, per_fact, around = _BOUNDS[key]
    return int(np.ceil(per_fact * facts)) + (facts + 2) * around


_BOUNDS: dict[tuple[int, int], tuple[Tables, float, int]] = {}
"""What `_bounds` found. The tables are held, so no others take their id."""
MOST_BOUNDS = 64


def _bounds(t: Tables, longest_name: int) -> tuple[float, int]:
    """The most bytes for each fact, and around each sentence."""
    bounds = {
        EVENT: int(t.events[..., 1].max()), TIME: int(t.times[..., 1].max()), KIN: int(t.words[:, 1].max()),
        PRONOUN: int(t.pronouns[..., 1].max()), NAME: longest_name + 2,
    }  # fmt: skip
    sizes = np.where(t.ops[:, 0] == LITERAL, t.ops[:, 2], 0)
    sizes[t.ops[:, 0] >= FLAVOURED] = t.kin[..., 1].max()
    for kind, bound in bounds.items():
        sizes[t.ops[:, 0] == kind] = bound
    worded = np.maximum.reduceat(np.where(t.ops[:, 0] == NAME, t.ops[:, 1], 0), t.frame_start[:-1])
    per_fact = (np.add.reduceat(sizes, t.frame_start[:-1]) + 1) / np.maximum(worded, 1)
    return float(per_fact.max()), int(t.register_lines[..., 1].max(initial=-1)) + 1


class Questions(NamedTuple):
    """The phrasings of the question, as the kernel reads them."""

    pool: Array
    frame_start: Array
    ops: Array


@functools.cache
def questions(is_rich: bool = False) -> Questions:
    """Every phrasing of "what is Y to X?", as `text/questions.txt` or the rich style has it."""
    pool = Pool()
    every = [parse_frame(line, 1) for line in read_lines("rich/questions.txt" if is_rich else "questions.txt")]
    ops = [(op.kind, *(pool.add(op.text) if op.kind == LITERAL else (op.a, op.b))) for frame in every for op in frame.ops]
    starts = np.cumsum([0] + [len(frame.ops) for frame in every])
    return Questions(pool.bytes(), starts.astype(np.int32), np.array(ops, np.int32))
