"""The rich style: frames composed of parts, each frame with the facts it states and the people it fits.

Parts live in `text/rich/`. An *intro* names one person and mentions a relative without a name; a *link* names that relative and
mentions the next one; an *end* only names. A *scene* is a sentence with places for two, three or four people, filled with phrases
that say who they are to each other. *Own* and *pair* lines word one and two facts in ways of their own. The slots:

    X hisX heX himX       a name; pronouns in that person's gender
    kXY cXY dXY           what Y is to X: the formal word; a word as people say it; the same with its article
    vXY pXY nXY           Y as X addresses Y; the plural; another word that does not fit (only in denials)
    {girl|boy:X}          the first word for a woman, the second for a man
    {do} {did} {doing}    an event; {when} or {When} a time
    [XY:child X:f X=Z]    conditions: Y is a child of X, X is a woman, X and Z have the same gender (X!Z: different ones)

A frame is offered for a clause only where every pronoun has one possible owner (`fits`) and where the gender of every relative is
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
from recombine.families.clutrr.language.kernel import BASE, EVENT, FLAVOURED, LITERAL, NAME, PRONOUN, TIME
from recombine.keys import Stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

FIRST = 1 << 20
"""Rich paraphrases have numbers from here on; those of the plain store are smaller."""
FILLS = 16
"""Ways in which a frame is filled with events, a time and words; even ones use formal words, odd ones colloquial ones."""
MAX_EVENTS = 4
CLASSES = ("coreference", "own", "scene")
"""How a frame ties names to kinship words: across sentences, in a wording of its own, or beside the name."""
_PLACES = "XYZW"
_SLOT = re.compile(
    r"\b([kcdvnp])([XYZW])([XYZW])\b|\b(he|him|his|himself|He|His)([XYZW])\b|\b([XYZW])\b"
    r"|\{(do|did|doing|when|When)\}|\{([^{}|]+)\|([^{}|]+):([XYZW])\}"
)
_PART_SLOT = re.compile(r"\b([kcdvnp]|he|him|his|himself|He|His)?([ABCD])([ABCD])?\b")
_LIKE_A_LIST = re.compile(r", (?:his[XYZW] |[XYZW]'s |the )[kc][XYZW]{2}(?: of [XYZW])?, (?:and|or|[XYZW])\b")
"""`Ann, his aunt, and Bob`: two people or three."""
_CONDITIONS = re.compile(r"^\[([^\]]*)\] ")
_FLAVOURS = "kcdvnp"
DENIAL, PLURAL = FLAVOURED + _FLAVOURS.index("n"), FLAVOURED + _FLAVOURS.index("p")
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
        told = " ".join(_renamed(part, "XYZW"[i : i + 2]) for i, part in enumerate(chain))
        yield told, tuple(chain), 0
    if k == 1:
        return
    calm = [scene for scene in _sides("scene2")[side] if "<B>'s" not in scene]
    for _ in range(_COUNTS[k, "chain"] // (1 if side == "train" else 4)):
        scene, end, more = stream.choice(calm), *stream.sample(ends, 2)
        told = _filled(scene, ("X", "hisX cXY's cYZ Z")) + " " + _renamed(end, "Y")
        if k == 2:
            yield told, (scene, end), 0
        else:
            link = stream.choice(links)
            yield f"{told} {_renamed(link, 'ZW')} {_renamed(more, 'W')}", (scene, end, link, more), 0
    if k == 3:
        pairs = _sides("pair")[side]
        for _ in range(_COUNTS[k, "pair"] // (1 if side == "train" else 4)):
            pair, link, end = stream.choice(pairs), stream.choice(links), stream.choice(ends)
            yield f"[same] {pair} {_renamed(link, 'ZW')} {_renamed(end, 'W')}", (pair, link, end), 0


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
            ops.append(store.Op(FLAVOURED + _FLAVOURS.index(flavour), _PLACES.index(owner), _PLACES.index(relative)))
        elif pronoun:
            ops.append(store.Op(PRONOUN, _PLACES.index(person), 0, pronoun))
        elif name:
            ops.append(store.Op(NAME, _PLACES.index(name)))
        elif noun:
            ops.append(store.Op(PRONOUN, _PLACES.index(noun), 1, f"{female}|{male}"))
        elif form in ("when", "When"):
            ops.append(store.Op(TIME, 0, int(form == "When")))
        else:
            ops.append(store.Op(EVENT, events, ("do", "did", "doing").index(form)))
            events += 1
    if at < len(line):
        ops.append(store.Op(LITERAL, text=line[at:]))
    return RichFrame(line, k, kind, side, parts, conditions, tuple(ops), events)


# --- whom a frame fits ------------------------------------------------------------------------------------------------

_END_OF_SENTENCE = re.compile(r'[.!?]"? ')


def shown(frame: RichFrame) -> frozenset[int]:
    """The people whose gender the frame's own words show."""
    found = {op.b for op in frame.ops if op.kind >= FLAVOURED and op.kind != DENIAL}
    found |= {op.a for op in frame.ops if op.kind == PRONOUN}
    if any(op.kind == PLURAL for op in frame.ops):
        found |= {0, 2}  # the plural shows both
    return frozenset(found)


def fits(frame: RichFrame, genders: Sequence[int]) -> bool:
    """Whether every pronoun of the frame, told of people of these genders, has one possible owner.

    Possible owners are the people mentioned earlier in the sentence whose gender fits or is not yet shown. If there is none, they
    are those of the sentence before. A person who is being described (`Y, his aunt,`) does not count.
    """
    here: set[int] = set()
    before: set[int] = set()
    known: set[int] = set()
    ops = frame.ops
    for i, op in enumerate(ops):
        if op.kind == LITERAL and _END_OF_SENTENCE.search(op.text):
            here, before = set(), here
        elif op.kind == NAME:
            here.add(op.a)
        elif op.kind >= FLAVOURED:
            people = {0, 2} if op.kind == PLURAL else {op.b}
            here |= people
            known |= people
        elif op.kind == PRONOUN and op.b == 1:
            here.add(op.a)
            known.add(op.a)
        elif op.kind == PRONOUN:
            described = _described(ops, i)
            for scope in (here, before):
                possible = {p for p in scope if p != described and (p not in known or genders[p] == genders[op.a])}
                if possible:
                    break
            if possible != {op.a}:
                return False
            known.add(op.a)
    return True


def _described(ops: Sequence[store.Op], i: int) -> int:
    """Whom `Y, his aunt` describes, where the pronoun stands at place i; -1 if nobody."""
    if i < 2 or i + 2 >= len(ops) or ops[i - 1].text != ", " or ops[i - 2].kind != NAME or ops[i + 2].kind < FLAVOURED:
        return -1
    return ops[i - 2].a if ops[i + 2].b == ops[i - 2].a else -1


def _signature(frame: RichFrame) -> tuple[Any, ...]:
    """What `fits` depends on."""
    return tuple(
        (op.kind, op.a, op.b, op.text if op.kind == LITERAL and op.text == ", " else bool(_END_OF_SENTENCE.search(op.text)))
        for op in frame.ops
        if op.kind not in (EVENT, TIME)
    )


class _Clauses:
    """All clauses of k facts as arrays: keys, relation codes between neighbours in both directions, and genders."""

    def __init__(self, k: int, mirrored: bool) -> None:
        codes = np.array(list(itertools.product(range(len(kinship.RELATIONS)), repeat=k)), np.int64)
        first = np.repeat(np.array([0, 1]), len(codes))
        codes = np.concatenate([codes, codes])
        gender = np.column_stack([first, np.array(kinship.GENDER)[codes]])
        fine = np.ones(len(codes), np.bool_)
        for i in range(k):
            fine &= (codes[:, i] // 2 != kinship.SPOUSE) | (gender[:, i] != gender[:, i + 1])
        codes, gender = codes[fine], gender[fine]
        key = np.zeros(len(codes), np.int64)
        for i in range(3):
            key = key * BASE + (codes[:, i] + 1 if i < k else 0)
        self.keys = key * 2 + gender[:, 0]
        back = 2 * np.array(kinship.INVERSE)[codes // 2] + 1 - gender[:, :-1]
        self.there, self.back, self.gender = (
            (codes, back, gender) if not mirrored else (back[:, ::-1], codes[:, ::-1], gender[:, ::-1])
        )
        self.combination = (self.gender << np.arange(k + 1)).sum(1)

    def admits(self, condition: str) -> Array:
        """The clauses of which a condition holds."""
        if condition == "same":
            found: Array = (self.back[:, 0] == self.there[:, 1]) & (self.there[:, 1] // 2 != kinship.SPOUSE)
            return found
        a = _PLACES.index(condition[0])
        if condition[1] == ":":
            found = self.gender[:, a] == "fm".index(condition[2])
        elif condition[1] in "=!":
            found = (self.gender[:, a] == self.gender[:, _PLACES.index(condition[2])]) == (condition[1] == "=")
        else:
            b = _PLACES.index(condition[1])
            codes = self.there[:, a] if b == a + 1 else self.back[:, b]
            names = condition[3:].split(",")
            found = np.isin(codes // 2, [kinwords.NEUTRAL_NAMES[name] for name in names])
        return found


def _index(chosen: Sequence[int]) -> tuple[Array, Array, Array]:
    """(candidates, first, counts by class) of every clause key: which frames, told which way, may word it."""
    every = frames()
    first, counts = np.zeros(BASE**3 * 2, np.int32), np.zeros((BASE**3 * 2, len(CLASSES)), np.int32)
    pieces, at = [], 0
    for k in (1, 2, 3):
        own = sorted((n for n in chosen if every[n].facts == k), key=lambda n: (every[n].kind, n))
        told = [(n, mirrored) for n in own for mirrored in (0, 1)]
        sides = [_Clauses(k, False), _Clauses(k, True)]
        some, group = _alike(sides, {condition for n in own for condition in every[n].conditions})
        masks = np.zeros((len(told), len(some)), np.bool_)
        for row, (n, mirrored) in enumerate(told):
            masks[row] = _mask(every[n], sides[mirrored], mirrored, some)
        kinds = np.array([every[n].kind for n, _ in told])
        sizes = np.stack([masks[kinds == kind].sum(0) for kind in range(len(CLASSES))], axis=1)
        pieces.append(np.array([2 * n + m for n, m in told], np.int32)[np.nonzero(masks.T)[1]])
        starts = at + np.concatenate([[0], np.cumsum(sizes.sum(1))[:-1]])
        first[sides[0].keys], counts[sides[0].keys] = starts[group], sizes[group]
        at += int(sizes.sum())
    return np.concatenate(pieces), first, counts


def _alike(sides: Sequence[_Clauses], conditions: set[str]) -> tuple[Array, Array]:
    """(one clause of every group, the group of every clause); frames cannot tell the clauses of a group apart."""
    told = [side.combination for side in sides]
    told += [side.admits(condition) for side in sides for condition in sorted(conditions)]
    _, some, group = np.unique(np.stack(told, axis=1).astype(np.int64), axis=0, return_index=True, return_inverse=True)
    return some, group.reshape(-1)


def _mask(frame: RichFrame, clauses: _Clauses, mirrored: int, some: Array) -> Array:
    """Which of some clauses a frame can word when it is told in this direction."""
    needed = set(range(frame.facts)) if mirrored else set(range(1, frame.facts + 1))
    if not needed <= shown(frame):
        return np.zeros(len(some), np.bool_)
    fine = np.array([_fits(_signature(frame), frame, c) for c in range(2 << frame.facts)])
    found: Array = fine[clauses.combination[some]]
    for condition in frame.conditions:
        found = found & clauses.admits(condition)[some]
    return found


_FITS: dict[tuple[Any, ...], bool] = {}


def _fits(signature: tuple[Any, ...], frame: RichFrame, combination: int) -> bool:
    key = (signature, combination)
    if key not in _FITS:
        _FITS[key] = fits(frame, [(combination >> p) & 1 for p in range(frame.facts + 1)])
    return _FITS[key]


# --- tables -----------------------------------------------------------------------------------------------------------


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
def tables(portion: store.Portion = "all", fraction: float = 1.0, coreference: float = 0.5, colloquial: float = 0.5,
           register: str = "plain") -> store.Tables:  # fmt: skip
    """The kernel's tables for a portion of the frames. `coreference` and `colloquial` are the shares of such frames and words."""
    if portion not in store.PORTIONS:
        raise UnknownName("portion of the paraphrase store", portion, store.PORTIONS)
    every = frames()
    chosen: list[int] = []
    for side in ("train", "heldout"):
        own = [n for n, frame in enumerate(every) if frame.side == side]
        step = 1 / fraction
        kept = {own[int(i * step)] for i in range(round(len(own) * fraction))}
        chosen += sorted(kept) if portion in (side, "all") else []
    pool = store.Pool()
    numbers = {part: i for i, part in enumerate(sorted({part for frame in every for part in frame.parts}))}
    pairs = list(store.PRONOUNS.values())
    for text in sorted({op.text for frame in every for op in frame.ops if op.kind == PRONOUN and op.b == 1}):
        female, male = text.split("|")
        pairs.append((female, male))
    place = {"|".join(pair): i for i, pair in enumerate(pairs)} | {word: i for i, word in enumerate(store.PRONOUNS)}
    ops = [_packed(op, pool, place) for frame in every for op in frame.ops]
    candidates, first, counts = _index(sorted(chosen))
    parts = np.full((len(every), 4), -1, np.int32)
    for row, frame in enumerate(every):
        parts[row, : len(frame.parts)] = [numbers[part] for part in frame.parts]
    base = store.kin_arrays(pool)
    base["pronouns"] = np.array([[pool.add(form) for form in pair] for pair in pairs], np.int32)
    found = store.Tables(
        frame_start=np.cumsum([0] + [len(frame.ops) for frame in every]).astype(np.int32),
        ops=np.array(ops, np.int32),
        templates=fillings(),
        events=np.array([[pool.add(form) for form in event] for event in store.events()], np.int32),
        times=np.array([[pool.add(form) for form in time] for time in times()], np.int32),
        candidates=candidates, first=first, counts=counts.sum(1).astype(np.int32), longest=3, by_class=counts, parts=parts,
        kin=np.array([[[pool.add(word) for word in row] for row in kinwords.variants(flavour)] for flavour in _FLAVOURS], np.int32),
        first_number=FIRST, fills=FILLS, coreference=float(coreference), colloquial=float(colloquial),
        register_lines=_register_lines(register, pool), **base, pool=pool.bytes(),
    )  # fmt: skip
    return found


def _packed(op: store.Op, pool: store.Pool, place: dict[str, int]) -> tuple[int, int, int]:
    if op.kind == LITERAL:
        return (LITERAL, *pool.add(op.text))
    if op.kind == PRONOUN:
        return PRONOUN, op.a, place[op.text]
    return op.kind, op.a, op.b


@functools.cache
def register_lines(register: str) -> tuple[tuple[str, ...], ...]:
    """(openings, sentences between passages, closings) of a register."""
    if register not in kinship.REGISTERS:
        raise UnknownName("register", register, kinship.REGISTERS)
    own = [line.split(" ", 2)[1:] for line in _read("registers") if line.startswith(f"{register} ")]
    return tuple(tuple(text for mark, text in own if mark == wanted) for wanted in "<=>")


def _register_lines(register: str, pool: store.Pool) -> Array:
    """[3, lines, 2]: the lines of the register in the pool, as often as needed to be equally many; none for `plain`."""
    lines = register_lines(register)
    most = max(len(one) for one in lines)
    return np.array([[pool.add(one[i % len(one)]) for i in range(most)] for one in lines], np.int32).reshape(3, most, 2)
