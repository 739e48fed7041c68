"""A deliberate second implementation: it reads the English back, without the generator's plans, programs, geometry or planner.

The statement is parsed word by word into a test on items; the edits are carried out by a simulator of its own; and what the
generator's program says is compared with what the sentence says, on the example's scenes and on others made from them.
Do not merge it with `plan.py` or the interpreter: two roads to the same answer are the point.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from recombine.core import Example, Problem
from recombine.errors import ProgramError, RecombineError, shown

Thing = tuple[int, int, int, int, int, int]
Picture = tuple[Thing, ...]
Test = Callable[[Picture], bool]
Filter = Callable[[Picture, Thing], bool]

COLOR_WORDS = {"yellow": 0, "black": 1, "blue": 2}
SHAPE_WORDS = {"circle": 0, "square": 1, "triangle": 2}
SIZE_WORDS = {"small": 10, "medium": 20, "big": 30}
BOX_WORDS = {"left": 0, "middle": 1, "right": 2}
NUMBER_WORDS = {
    w: n for n, w in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
}
MOST_EDITS = 10


class Unreadable(RecombineError):
    """The sentence is not of the language, or the answer is no list of edits."""


# --- reading sentences -----------------------------------------------------------------------------------------------


def understand(sentence: str) -> Test:
    """What a sentence of the language claims, as a test on a scene's items."""
    if len(sentence) > 1000 or not sentence.endswith("."):
        raise Unreadable(f"{shown(sentence)} is not a sentence of the language.")
    reader = _Reader(re.findall(r"[a-z]+|,", sentence[0].lower() + sentence[1:-1]))
    if re.sub(r"[A-Za-z, ]", "", sentence[:-1]):
        raise Unreadable(f"{shown(sentence)} has characters that no sentence has.")
    test = reader.sentence()
    if reader.words:
        raise Unreadable(f"{shown(sentence)} goes on after its end: {' '.join(reader.words[:6])}.")
    return test


class _Reader:
    """Recursive descent over the words that are left."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def sees(self, phrase: str) -> bool:
        wanted = phrase.split()
        return self.words[: len(wanted)] == wanted

    def took(self, *phrases: str) -> str | None:
        """The first phrase that comes next, taken; None if none does."""
        for phrase in phrases:
            if self.sees(phrase):
                del self.words[: len(phrase.split())]
                return phrase
        return None

    def must(self, *phrases: str) -> str:
        found = self.took(*phrases)
        if found is None:
            raise Unreadable(f"expected {' or '.join(map(repr, phrases))} before {shown(' '.join(self.words[:6]))}.")
        return found

    def sentence(self) -> Test:
        first = self.clause()
        if self.took(", or"):
            second = self.clause()
            self.must(", or both")
            return lambda picture: first(picture) or second(picture)
        if self.took(", and"):
            following = self.clause()
            return lambda picture: first(picture) and following(picture)
        return first

    def clause(self) -> Test:
        if self.took("it is not true that"):
            inner = self.clause()
            return lambda picture: not inner(picture)
        if self.took("there is", "there are"):
            return self.there()
        if self.took("every box"):
            return self.every_box()
        return self.number_first()

    def there(self) -> Test:
        if self.took("more"):
            first, _ = self.noun()
            self.must("than")
            second, _ = self.noun()
            return lambda picture: _count(picture, first) > _count(picture, second)
        if self.took("as many"):
            first, _ = self.noun()
            self.must("as")
            second, _ = self.noun()
            return lambda picture: _count(picture, first) == _count(picture, second)
        amount = self.amount()
        if self.took("towers that each", "tower that", "boxes that each", "box that"):
            body = self.box_body()
            return lambda picture: amount(sum(body(picture, box) for box in range(3)))
        noun, words = self.noun()
        if self.took(", and every"):
            self.must(words)
            self.must("is")
            predicate = self.predicate()
            return lambda picture: all(predicate(picture, t) for t in picture if noun(picture, t)) and _count(picture, noun) > 0
        if self.took(", and all"):
            self.must(words)
            self.must("have the same")
            value = self.attribute()
            return lambda picture: amount(_count(picture, noun)) and len({value(t) for t in picture if noun(picture, t)}) == 1
        return lambda picture: amount(_count(picture, noun))

    def number_first(self) -> Test:
        for how in ("no", "at least"):
            for boxes in ("towers have the same number of blocks", "boxes contain the same number of objects"):
                if self.took(f"{how} two {boxes}"):
                    towers, some = boxes.startswith("towers"), how != "no"
                    return lambda picture: _some_equal(picture, towers) == some
        amount = self.amount()
        self.took("different")
        value = self.attribute()
        self.must("occurs among the", "occur among the")
        noun, _ = self.noun()
        return lambda picture: amount(len({value(t) for t in picture if noun(picture, t)}))

    def amount(self) -> Callable[[int], bool]:
        if self.took("a", "an"):
            return lambda n: n >= 1
        if self.took("no"):
            return lambda n: n == 0
        how = self.must("exactly", "at least", "at most")
        number = NUMBER_WORDS[self.must(*NUMBER_WORDS)]
        if how == "exactly":
            return lambda n: n == number
        return (lambda n: n >= number) if how == "at least" else (lambda n: n <= number)

    def attribute(self) -> Callable[[Thing], int]:
        word = self.must("colors", "color", "shapes", "shape", "sizes", "size")
        place = {"c": 4, "h": 5, "i": 3}["c" if word.startswith("c") else word[1]]
        return lambda thing: thing[place]

    def every_box(self) -> Callable[[Picture], bool]:
        if self.took("has a tower that"):
            body = self.box_body()
        else:
            first = self.condition()
            second = self.condition() if self.took("and") else None
            body = (lambda picture, box: first(picture, box) and second(picture, box)) if second else first
        return lambda picture: all(body(picture, box) for box in range(3))

    def box_body(self) -> Callable[[Picture, int], bool]:
        conditions = [self.condition()]
        while self.took("and that each", "and that"):
            conditions.append(self.condition())
        return lambda picture, box: all(condition(picture, box) for condition in conditions)

    def condition(self) -> Callable[[Picture, int], bool]:
        """Of a box; a tower is a box with blocks in it, and what has no block has no tower."""
        tower = self.must("has", "have", "contains", "contain") in ("has", "have")

        def within(test: Callable[[Picture, Picture], bool]) -> Callable[[Picture, int], bool]:
            def judge(picture: Picture, box: int) -> bool:
                inside = tuple(t for t in picture if t[0] == box)
                return test(picture, inside) and (bool(inside) or not tower)

            return judge

        if self.took("one or more"):
            noun, _ = self.noun()
            self.must("and nothing else")
            return within(lambda picture, inside: bool(inside) and all(noun(picture, t) for t in inside))
        if self.took("blocks of", "objects of"):
            amount = self.amount()
            value = self.attribute()
            return within(lambda _picture, inside: amount(len({value(t) for t in inside})))
        amount = self.amount()
        noun, _ = self.noun()
        return within(lambda picture, inside: amount(sum(noun(picture, t) for t in inside)))

    def noun(self) -> tuple[Filter, str]:
        """A description of items, and the words it was said with."""
        before = list(self.words)
        tests: list[Filter] = []
        size, color = self.took(*SIZE_WORDS), self.took(*COLOR_WORDS)
        plural = [word + "s" for word in ("block", "object", *SHAPE_WORDS)]
        word = self.must(*plural, "block", "object", *SHAPE_WORDS).removesuffix("s")
        if size:
            tests.append(lambda _picture, t: t[3] == SIZE_WORDS[size])
        if color:
            tests.append(lambda _picture, t: t[4] == COLOR_WORDS[color])
        if word in SHAPE_WORDS:
            tests.append(lambda _picture, t: t[5] == SHAPE_WORDS[word])
        after = self.after()
        if after is not None:
            tests.append(after)
        said = " ".join(before[: len(before) - len(self.words)])
        return (lambda picture, t: all(test(picture, t) for test in tests)), said

    def predicate(self) -> Filter:
        color = self.took(*COLOR_WORDS)
        if color:
            return lambda _picture, t: t[4] == COLOR_WORDS[color]
        found = self.after()
        if found is None:
            raise Unreadable(f"expected a place or a relation before {shown(' '.join(self.words[:6]))}.")
        return found

    def after(self) -> Filter | None:
        """A place or a relation, if one comes next."""
        for phrase, level in (
            ("at the top", -1),
            ("at the bottom", 0),
            ("in second place from the bottom", 1),
            ("in third place from the bottom", 2),
        ):
            if self.took(phrase):
                self.took("of a tower")
                return lambda picture, t, level=level: _stack(picture, t[0])[level:][:1] == [t]  # type: ignore[misc]
        if self.took("not touching any wall"):
            return lambda _picture, t: not _walls(t, 0)
        if self.took("in or almost in a corner"):
            return lambda _picture, t: _is_cornered(t, 4)
        if self.took("in a corner"):
            return lambda _picture, t: _is_cornered(t, 0)
        if self.took("in the same box as"):
            return self.related(lambda _picture, t, other: other[0] == t[0])
        return self.wall() or self.vertical()

    def wall(self) -> Filter | None:
        for start, slack in (("touching or almost touching", 4), ("touching", 0)):
            if self.took(f"{start} a wall"):
                return lambda _picture, t, slack=slack: bool(_walls(t, slack))  # type: ignore[misc]
            for side in ("left", "right", "top", "bottom"):
                if self.took(f"{start} the {side} wall"):
                    return lambda _picture, t, slack=slack, side=side: side in _walls(t, slack)  # type: ignore[misc]
        return None

    def vertical(self) -> Filter | None:
        said = self.took("directly above", "directly below", "somewhere above", "somewhere below", "touching")
        if said is None:
            return None

        def holds(picture: Picture, t: Thing, other: Thing) -> bool:
            if t[0] != other[0]:
                return False
            stack = _stack(picture, t[0])
            rise = stack.index(t) - stack.index(other)
            return {"directly above": rise == 1, "directly below": rise == -1, "somewhere above": rise > 0,
                    "somewhere below": rise < 0, "touching": abs(rise) == 1}[said]  # fmt: skip

        return self.related(holds)

    def related(self, holds: Callable[[Picture, Thing, Thing], bool]) -> Filter:
        self.must("a", "an")
        noun, _ = self.noun()
        return lambda picture, t: any(other != t and noun(picture, other) and holds(picture, t, other) for other in picture)


def _count(picture: Picture, noun: Filter) -> int:
    return sum(noun(picture, t) for t in picture)


def _some_equal(picture: Picture, towers: bool) -> bool:
    """Whether two boxes hold the same number; where towers are meant, empty boxes do not count."""
    heights = [sum(t[0] == box for t in picture) for box in range(3)]
    kept = [h for h in heights if h > 0] if towers else heights
    return len(set(kept)) < len(kept)


def _stack(picture: Picture, box: int) -> list[Thing]:
    """The items of a box from the lowest to the highest."""
    return sorted((t for t in picture if t[0] == box), key=lambda t: -t[2])


def _walls(t: Thing, slack: int) -> set[str]:
    _, x, y, size, _, _ = t
    return {
        side for side, room in (("left", x), ("top", y), ("right", 100 - x - size), ("bottom", 100 - y - size)) if room <= slack
    }


def _is_cornered(t: Thing, slack: int) -> bool:
    touched = _walls(t, slack)
    return bool(touched & {"left", "right"}) and bool(touched & {"top", "bottom"})


# --- carrying out edits ----------------------------------------------------------------------------------------------


class Ending(NamedTuple):
    """Where a list of edits leads."""

    picture: Picture
    edits: int


def carry_out(answer: str, picture: Picture, is_tower: bool) -> Ending:
    """The scene at STOP; `Unreadable` if the answer is no list of valid edits that ends in its only STOP."""
    steps = [step.strip() for step in answer.split(";")]
    if len(answer) > 2000 or steps[-1] != "STOP":
        raise Unreadable("the answer does not end in STOP.")
    if len(steps) - 1 > MOST_EDITS:
        raise Unreadable(f"the answer has {len(steps) - 1} edits, but at most {MOST_EDITS} fit before the horizon.")
    for step in steps[:-1]:
        picture = _edited_tower(step, picture) if is_tower else _edited_scatter(step, picture)
    return Ending(picture, len(steps) - 1)


def _edited_tower(step: str, picture: Picture) -> Picture:
    found = re.fullmatch(r"(?:ADD (yellow|black|blue)|REMOVE) (left|middle|right)", step)
    if found is None:
        raise Unreadable(f"{shown(step)} is no edit of a tower.")
    color, box = found[1], BOX_WORDS[found[2]]
    stack = _stack(picture, box)
    if color is None:
        if not stack:
            raise Unreadable(f"{shown(step)}: there is nothing to remove.")
        return tuple(t for t in picture if t != stack[-1])
    if len(stack) >= 4:
        raise Unreadable(f"{shown(step)}: a fifth block does not fit.")
    return (*picture, (box, 40, 80 - 21 * len(stack), 20, COLOR_WORDS[color], 1))


def _edited_scatter(step: str, picture: Picture) -> Picture:
    pattern = r"(?:ADD (small|medium|big) (yellow|black|blue) (circle|square|triangle)|REMOVE) (\d{1,3}) (\d{1,3})"
    found = re.fullmatch(pattern, step)
    if found is None:
        raise Unreadable(f"{shown(step)} is no edit of a scatter.")
    box, x = divmod(int(found[4]), 140)
    y = int(found[5])
    if x % 20 or y % 20 or x >= 100 or y >= 100 or box > 2:
        raise Unreadable(f"{shown(step)} is at no cell of a box.")
    if found[1] is None:
        return _removed(step, picture, box, x, y)
    size = SIZE_WORDS[found[1]]
    new = (box, x, y, size, COLOR_WORDS[found[2]], SHAPE_WORDS[found[3]])
    if max(x, y) + size > 100 or any(t[0] == box and _overlap(t, new) for t in picture):
        raise Unreadable(f"{shown(step)}: it does not fit there.")
    return (*picture, new)


def _removed(step: str, picture: Picture, box: int, x: int, y: int) -> Picture:
    cell = [(float(x), float(y)), (x + 20.0, float(y)), (x + 20.0, y + 20.0), (float(x), y + 20.0)]
    covers = [(_area(_clipped(_outline(t), cell)), t) for t in picture if t[0] == box]
    best = max(covers, key=lambda pair: pair[0], default=None)
    if best is None or best[0] <= 0:
        raise Unreadable(f"{shown(step)}: there is nothing to remove.")
    return tuple(t for t in picture if t != best[1])


def _outline(t: Thing) -> list[tuple[float, float]]:
    """The corners of a shape in its box, in one turn; a circle has 180."""
    _, x, y, size, _, shape = t
    if shape == 1:
        return [(x, y), (x + size, y), (x + size, y + size), (x, y + size)]
    if shape == 2:
        return [(x + size / 2, y), (x + size, y + size), (x, y + size)]
    r = size / 2
    return [(x + r + r * math.cos(k * math.pi / 90), y + r + r * math.sin(k * math.pi / 90)) for k in range(180)]


def _overlap(a: Thing, b: Thing) -> bool:
    apart = a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1] or a[2] + a[3] <= b[2] or b[2] + b[3] <= a[2]
    return not apart and _area(_clipped(_outline(a), _outline(b))) > 0.01


def _clipped(shape: list[tuple[float, float]], window: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The part of a convex shape inside a convex window; both turn the same way."""
    for (ax, ay), (bx, by) in zip(window, window[1:] + window[:1], strict=True):
        sides = [(bx - ax) * (py - ay) - (by - ay) * (px - ax) for px, py in shape]
        kept: list[tuple[float, float]] = []
        for k, (point, side) in enumerate(zip(shape, sides, strict=True)):
            last, before = shape[k - 1], sides[k - 1]
            if (side >= 0) != (before >= 0):
                t = before / (before - side)
                kept.append((last[0] + t * (point[0] - last[0]), last[1] + t * (point[1] - last[1])))
            if side >= 0:
                kept.append(point)
        shape = kept
        if not shape:
            return []
    return shape


def _area(shape: Sequence[tuple[float, float]]) -> float:
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(shape, [*shape[1:], *shape[:1]], strict=True))) / 2


# --- the laws --------------------------------------------------------------------------------------------------------


def validate(example: Example) -> list[Problem]:
    """Every broken law of an example of ours; released examples are judged by `audit.judge`."""
    if example.recipe != "sound":
        from recombine.families.lilgym import audit

        return audit.judge(example)
    picture: Picture = tuple(tuple(item) for item in example.world.items)
    is_tower = example.meta["scene"] == "tower"
    problems = list(_scene_problems(picture, is_tower))
    if example.inputs["boxes"] != [[list(t[1:]) for t in picture if t[0] == box] for box in range(3)]:
        problems.append(Problem("inputs_differ", "the boxes that a model sees are not those of the scene"))
    try:
        test = understand(example.inputs["statement"])
    except Unreadable as problem:
        return [*problems, Problem("unreadable", str(problem))]
    truth = test(picture)
    if example.meta["task"] == "truth":
        if example.answer != ("true" if truth else "false"):
            problems.append(Problem("wrong_label", f"the answer is {shown(example.answer)}, but the statement is {truth}"))
        return problems + _program_problems(example, test, [picture])
    if example.inputs.get("target") != example.meta["target"] or truth == example.meta["target"]:
        problems.append(
            Problem("wrong_target", f"the target is {example.meta['target']}, but the statement is {truth} already")
        )
    if example.meta["start"] == "scratch" and picture:
        problems.append(Problem("not_empty", f"a start from scratch has {len(picture)} items"))
    return problems + _answer_problems(example, test, picture, is_tower)


def _answer_problems(example: Example, test: Test, picture: Picture, is_tower: bool) -> list[Problem]:
    try:
        end, edits = carry_out(example.answer, picture, is_tower)
    except Unreadable as problem:
        return [Problem("wrong_label", f"the answer fails: {problem}"), *_program_problems(example, test, [picture])]
    problems = []
    if test(end) != example.meta["target"]:
        problems.append(Problem("wrong_label", f"after the edits the statement is {test(end)}, not {example.meta['target']}"))
    if edits != example.meta["edits"]:
        problems.append(Problem("wrong_edits", f"the plan has {edits} edits, not {example.meta['edits']}"))
    return problems + _program_problems(example, test, [picture, end])


def _program_problems(example: Example, test: Test, pictures: Sequence[Picture]) -> list[Problem]:
    """The program must say what the sentence says: on the given pictures, and on each with one box or one item taken away."""
    from recombine.families.lilgym import program
    from recombine.families.lilgym.scene import Scene

    try:
        compiled = program.compile(example.meta["program"])
        problems = [Problem("type_fault", fault.text) for fault in compiled.faults]
        for picture in dict.fromkeys(other for p in pictures for other in _variants(p, example.meta["scene"] == "tower")):
            says, means = compiled.evaluate(Scene.of(example.meta["scene"], picture)), test(picture)
            if says != means:
                text = f"the program says {says}, the sentence means {means}, on {shown(picture)}"
                return [*problems, Problem("program_mismatch", text)]
    except ProgramError as problem:
        return [Problem("bad_program", str(problem))]
    return problems


def _variants(picture: Picture, is_tower: bool) -> list[Picture]:
    """The picture, itself without each box, and without its last item (the top block of the last tower)."""
    less = [tuple(t for t in picture if t[0] != box) for box in range(3)]
    swapped = tuple((t[0], t[1], t[2], t[3], (t[4] + 1) % 3, t[5] if is_tower else (t[5] + 1) % 3) for t in picture)
    return [picture, *less, picture[:-1], swapped]


def _scene_problems(picture: Picture, is_tower: bool) -> list[Problem]:
    problems = []
    for t in picture:
        if min(t[1], t[2]) < 0 or max(t[1], t[2]) + t[3] > 100:
            problems.append(Problem("out_of_box", f"the item {t} leaves its box"))
    for box in range(3):
        stack = _stack(picture, box)
        if is_tower and [t[1:4] + t[5:] for t in stack] != [
            (40, 80 - 21 * level, 20, 1) for level in range(min(4, len(stack)))
        ]:
            problems.append(Problem("no_tower", f"box {box} holds {stack}, which is no tower"))
        if not is_tower and any(_overlap(a, b) for k, a in enumerate(stack) for b in stack[:k]):
            problems.append(Problem("overlap", f"items overlap in box {box}"))
    return problems


__all__ = ["Ending", "Unreadable", "carry_out", "understand", "validate"]
