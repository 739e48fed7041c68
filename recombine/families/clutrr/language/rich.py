"""The rich style: frames composed of parts, each frame with the facts it states and the people it fits.

Parts live in `text/rich/`. An *intro* names one person and mentions a relative without a name; a *link* names that relative and
mentions the next one; an *end* only names. A *scene* is a sentence with places for two, three or four people, filled with phrases
that say who they are to each other. *Own* and *pair* lines word one and two facts in ways of their own. The slots:

    X hisX heX himX       a name; pronouns in that person's gender
    kXY cXY dXY           what Y is to X: the formal word; a word as people say it; the same with its article
    vXY pXY nXY           Y as X addresses Y; the plural; another word that does not fit (only in denials)
    {girl|boy:X}          the first word for a woman, the second for a man
    {do} {did} {doing}    an event; {when} or {When} a time
    [XY:child X:f X=Z]    conditions: Y is a child of X, X is a woman, X and Z have the same gender (X!Z: different ones);
                          XY!spouse: Y is anything but X's spouse

A frame is offered for a clause only where every pronoun has one possible owner (`rich_tables.fits`) and where the gender of every relative is
shown. A fifth of all parts is held out, and held-out frames consist of held-out parts only.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recombine.errors import UnknownName
from recombine.families.clutrr import kinship
from recombine.families.clutrr.language import kinwords, store
from recombine.families.clutrr.language.kernel import EVENT, FLAVOURED, LITERAL, NAME, PRONOUN, TIME
from recombine.keys import Stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

FIRST = 1 << 20
"""Rich paraphrases have numbers from here on; those of the plain store are smaller."""
FILLS = 64
"""Ways in which a frame is filled with events, a time and words; even ones use formal words, odd ones colloquial ones."""
MAX_EVENTS = 4
CLASSES = ("coreference", "own", "scene")
"""How a frame ties names to kinship words: across sentences, in a wording of its own, or beside the name."""
PLACES = "XYZW"
_SLOT = re.compile(
    r"\b([kcdvnp])([XYZW])([XYZW])\b|\b(he|him|his|himself|He|His)([XYZW])\b|\b([XYZW])\b"
    r"|\{(do|did|doing|when|When)\}|\{([^{}|]+)\|([^{}|]+):([XYZW])\}"
)
_PART_SLOT = re.compile(r"\b([kcdvnp]|he|him|his|himself|He|His)?([ABCD])([ABCD])?\b")
_LIKE_A_LIST = re.compile(r", (?:his[XYZW] |[XYZW]'s |the )[kc][XYZW]{2}(?: of [XYZW])?, (?:and|or|[XYZW])\b")
"""`Ann, his aunt, and Bob`: two people or three."""
_CONDITIONS = re.compile(r"^\[([^\]]*)\] ")
FLAVOURS = "kcdvnp"
DENIAL, PLURAL = FLAVOURED + FLAVOURS.index("n"), FLAVOURED + FLAVOURS.index("p")
Side = Literal["train", "heldout"]

PERSONS: dict[int, tuple[tuple[str, ...], ...]] = {
    1: (("X", "hisX cXY Y"), ("X", "Y, hisX cXY,"), ("X's cXY Y", "X"), ("Y, who is X's cXY,", "X")),
    2: (
        ("X", "hisX cXY Y", "Y's cYZ Z"), ("Y", "hisY cYX X", "Y's cYZ Z"),
        ("Y", "hisY cYX X", "hisY cYZ Z"), ("X", "X's cXY Y", "Z, the kYZ of Y,"), ("X", "Y, hisX cXY,", "Y's cYZ Z"),
        ("Z, Y's cYZ,", "X", "X's cXY Y"),
    ),
    3: (
        ("X", "hisX cXY Y", "Y's cYZ Z", "Z's cZW W"), ("Y", "hisY cYX X", "Y's cYZ Z", "Z's cZW W"),
        ("Z", "hisZ cZW W", "Z's cZY Y", "Y's cYX X"),
        ("X", "Y, hisX cXY,", "Y's cYZ Z", "Z's cZW W"), ("X", "X's cXY Y", "Z, Y's cYZ,", "Z's cZW W"),
        ("W", "hisW cWZ Z", "Y, the kZY of Z,", "Y's cYX X"),
    ),
}  # fmt: skip
"""Facts of a scene -> ways to say who its people are."""


@dataclass(frozen=True)
class RichFrame:
    """One frame: its line, its facts, which parts it is made of, and what must hold of its people."""

    line: str
    facts: int
    kind: int
    side: Side
    parts: tuple[str, ...]
    conditions: tuple[str, ...]
    ops: tuple[store.Op, ...]
    events: int


def _read(name: str) -> list[str]:
    return store.read_lines(f"rich/{name}.txt")


@functools.cache
def times() -> tuple[tuple[str, str], ...]:
    """Each time as (inside a sentence, at its beginning)."""
    return tuple((line, line[0].upper() + line[1:]) for line in _read("times"))


# --- composition ------------------------------------------------------------------------------------------------------


def _renamed(part: str, places: str) -> str:
    """A part about A, B … told of the people X, Y, Z, W at these places."""
    table = dict(zip("ABCD", places, strict=False))
    return _PART_SLOT.sub(lambda m: (m[1] or "") + table[m[2]] + (table[m[3]] if m[3] else ""), part)


def _joined(parts: Sequence[str]) -> str:
    """Parts as one text, with the conditions of all of them in front."""
    found = [_CONDITIONS.match(part) for part in parts]
    conditions = " ".join(match[1] for match in found if match)
    text = " ".join(part[match.end() :] if match else part for part, match in zip(parts, found, strict=True))
    return f"[{conditions}] {text}" if conditions else text


def _filled(scene: str, phrases: Sequence[str]) -> str:
    """A scene with its people; a comma that a phrase leaves before another mark is dropped."""
    for letter, phrase in zip("ABCD", phrases, strict=False):
        scene = scene.replace(f"<{letter}>", phrase)
    return re.sub(r",([,.;:?!])", r"\1", scene.removeprefix("~ "))


def _scenes(k: int, side: Side) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Every scene of a side with every way of saying who its people are."""
    for scene in _sides(f"scene{k + 1}")[side]:
        for phrases in PERSONS[k]:
            told = _filled(scene, phrases)
            if not (scene.startswith("~") and any("," in phrase for phrase in phrases)) and not _LIKE_A_LIST.search(told):
                yield told, (scene,), 2


def _coreferent(k: int, side: Side) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Intro, links and end; possessive chains whose middle is named afterwards; pairs with a link. Sampled by name."""
    intros, links, ends = (_sides(name)[side] for name in ("intro", "link", "end"))
    stream = Stream("clutrr", "language", "rich", k, side)
    for _ in range(_COUNTS[k, "walk"] // (1 if side == "train" else 4)):
        chain = [stream.choice(intros), *stream.sample(links, k - 1), stream.choice(ends)]
        yield _joined([_renamed(part, PLACES[i : i + 2]) for i, part in enumerate(chain)]), tuple(chain), 0
    if k == 1:
        return
    calm = [scene for scene in _sides("scene2")[side] if "<B>'s" not in scene]
    for _ in range(_COUNTS[k, "chain"] // (1 if side == "train" else 4)):
        scene, end, more = stream.choice(calm), *stream.sample(ends, 2)
        told = [_filled(scene, ("X", "hisX cXY's cYZ Z")), _renamed(end, "Y")]
        if k == 2:
            yield _joined(told), (scene, end), 0
        else:
            link = stream.choice(links)
            yield _joined([*told, _renamed(link, "ZW"), _renamed(more, "W")]), (scene, end, link, more), 0
    if k == 3:
        pairs = _sides("pair")[side]
        for _ in range(_COUNTS[k, "pair"] // (1 if side == "train" else 4)):
            pair, link, end = stream.choice(pairs), stream.choice(links), stream.choice(ends)
            yield _joined([f"[same] {pair}", _renamed(link, "ZW"), _renamed(end, "W")]), (pair, link, end), 0


_COUNTS = {(1, "walk"): 400, (2, "walk"): 320, (3, "walk"): 320, (2, "chain"): 120, (3, "chain"): 120, (3, "pair"): 60}
"""Frames of each composition for training; a quarter as many are held out."""


@functools.cache
def _sides(name: str) -> dict[Side, list[str]]:
    """The lines of a file of parts, divided into training and held-out ones."""
    lines = _read(name)
    train, held = store.divide(len(lines), f"rich {name}")
    return {"train": [lines[i] for i in sorted(train)], "heldout": [lines[i] for i in sorted(held)]}


@functools.cache
def frames() -> tuple[RichFrame, ...]:
    """Every frame in the order of its number; no line comes twice."""
    found: dict[str, RichFrame] = {}
    for k, side in itertools.product((1, 2, 3), ("train", "heldout")):
        made = list(_coreferent(k, side))  # type: ignore[arg-type]
        own = {1: "own", 2: "pair"}.get(k)
        if own:
            made += [(f"[same] {line}" if k == 2 else line, (line,), 1) for line in _sides(own)[side]]  # type: ignore[index]
        made += _scenes(k, side)  # type: ignore[arg-type]
        for text, parts, kind in made:
            if text not in found:
                found[text] = _parsed(text, k, kind, side, parts)  # type: ignore[arg-type]
    return tuple(found.values())


def _parsed(text: str, k: int, kind: int, side: Side, parts: tuple[str, ...]) -> RichFrame:
    match = _CONDITIONS.match(text)
    conditions = tuple(match[1].split()) if match else ()
    line = text[match.end() :] if match else text
    ops: list[store.Op] = []
    at = events = 0
    for slot in _SLOT.finditer(line):
        if slot.start() > at:
            ops.append(store.Op(LITERAL, text=line[at : slot.start()]))
        at = slot.end()
        flavour, owner, relative, pronoun, person, name, form, female, male, noun = slot.groups()
        if flavour:
            ops.append(store.Op(FLAVOURED + FLAVOURS.index(flavour), PLACES.index(owner), PLACES.index(relative)))
        elif pronoun:
            ops.append(store.Op(PRONOUN, PLACES.index(person), 0, pronoun))
        elif name:
            ops.append(store.Op(NAME, PLACES.index(name)))
        elif noun:
            ops.append(store.Op(PRONOUN, PLACES.index(noun), 1, f"{female}|{male}"))
        elif form in ("when", "When"):
            ops.append(store.Op(TIME, 0, int(form == "When")))
        else:
            ops.append(store.Op(EVENT, events, ("do", "did", "doing").index(form)))
            events += 1
    if at < len(line):
        ops.append(store.Op(LITERAL, text=line[at:]))
    return RichFrame(line, k, kind, side, parts, conditions, tuple(ops), events)


# --- fillings ---------------------------------------------------------------------------------------------------------


@functools.cache
def fillings() -> Array:
    """[frames * FILLS, 3 + MAX_EVENTS]: frame, time, variant of the words, events. Parts of a side never meet the other's."""
    every = frames()
    sides = {name: store.divide(count, name) for name, count in (("events", len(store.events())), ("rich times", len(times())))}
    frame, fill = np.divmod(np.arange(len(every) * FILLS), FILLS)
    found = np.zeros((len(frame), 3 + MAX_EVENTS), np.int32)
    found[:, 0] = frame
    found[:, 2] = np.where(fill % 2, kinwords.FORMAL, 0) + (frame + fill // 2) % kinwords.FORMAL
    held = np.array([f.side == "heldout" for f in every])[frame]
    for is_held in (False, True):
        own = held == is_held
        clock, deeds = (np.array(sides[name][is_held]) for name in ("rich times", "events"))
        found[own, 1] = clock[(frame[own] * 13 + fill[own] * 29) % len(clock)]
        for slot in range(MAX_EVENTS):
            found[own, 3 + slot] = deeds[(frame[own] * 31 + fill[own] * 97 + slot * 211) % len(deeds)]
    return found


def frame_of(code: int) -> RichFrame | None:
    """The frame of a paraphrase code, or None if it is not a rich one."""
    number = (code >> 1) - FIRST
    return frames()[number // FILLS] if 0 <= number < len(frames()) * FILLS else None


@functools.cache
def register_lines(register: str) -> tuple[tuple[str, ...], ...]:
    """(openings, sentences between passages, closings) of a register."""
    if register not in kinship.REGISTERS:
        raise UnknownName("register", register, kinship.REGISTERS)
    own = [line.split(" ", 2)[1:] for line in _read("registers") if line.startswith(f"{register} ")]
    return tuple(tuple(text for mark, text in own if mark == wanted) for wanted in "<=>")
