"""Actions and their readable form, and the setting in which they mean something.

TOWER has 13 actions: 0 STOP; 1 + 3 * box + colour ADD; 10 + box REMOVE. SCATTER has them over a grid of W × H cells of the
380 × 100 canvas (19 × 5, or 380 × 100 at native resolution): 0 STOP; 1 + ((((x*H + y)*3 + shape)*3 + colour)*3 + size) ADD with
the item's top-left corner at the cell's; 1 + 27*W*H + x*H + y REMOVE what covers most of the cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from recombine.errors import UnknownName, UsageError, shown
from recombine.families.lilgym.scene import BOX_NAMES, COLORS, KINDS, SHAPES, SIZE_NAMES, Kind, Numbers

RuleBook = Literal["paper", "code"]
Grid = Literal["19x5", "native"]
Sight = Literal["image", "scene"]
SIGHTS: tuple[Sight, ...] = ("image", "scene")
Resolution = Literal["half", "full"]
RESOLUTIONS: dict[Resolution, tuple[int, int, int]] = {"half": (50, 190, 3), "full": (100, 380, 3)}
"""Shapes of an image observation: what the released code gives, and the 380 × 100 pixels of the paper."""
RULE_BOOKS: tuple[RuleBook, ...] = ("paper", "code")
GRIDS: dict[Grid, tuple[int, int, int]] = {"19x5": (19, 5, 20), "native": (380, 100, 1)}
"""Columns, rows and pixels per cell."""
ERRORS = ("", "does_not_fit", "on_separator", "nothing_to_remove", "stopped_early", "never_stopped")
"""By error code; the empty name is no error."""
HORIZON = 11
MAX_HORIZON = 40
STEP_COST = 0.1
"""What each edit costs (the paper's δ)."""
MAX_ANSWER = 20_000
"""Longest text, in characters, that `parse_edits` reads."""
MOST_DIGITS = 4
"""Digits of the longest number in an edit; a coordinate has three."""


@dataclass(frozen=True)
class Setting:
    """How one acts: the kind of scene, the rule book, the grid of SCATTER actions, the horizon, whether STOP is forced, and δ."""

    kind: Kind
    rules: RuleBook = "paper"
    grid: Grid = "19x5"
    horizon: int = HORIZON
    stop_forcing: bool = False
    step_cost: float = STEP_COST

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownName("kind of scene", self.kind, KINDS)
        if self.rules not in RULE_BOOKS:
            raise UnknownName("rule book", self.rules, RULE_BOOKS)
        if self.grid not in GRIDS:
            raise UnknownName("action grid", self.grid, GRIDS)
        if isinstance(self.horizon, bool) or not isinstance(self.horizon, int) or not 1 <= self.horizon <= MAX_HORIZON:
            raise UsageError(f"horizon is {shown(self.horizon)}, but must be an integer from 1 to {MAX_HORIZON}.")
        if isinstance(self.step_cost, bool) or not isinstance(self.step_cost, int | float) or not 0 <= self.step_cost <= 1:
            raise UsageError(f"step_cost is {shown(self.step_cost)}, but must be a number from 0 to 1.")
        if self.stop_forcing not in (False, True):
            raise UsageError(f"stop_forcing is {shown(self.stop_forcing)}, but must be true or false.")
        object.__setattr__(self, "step_cost", float(self.step_cost))

    @property
    def action_count(self) -> int:
        """13 for TOWER; 2,661 or 1,064,001 for SCATTER."""
        columns, rows, _ = GRIDS[self.grid]
        return 13 if self.kind == "tower" else 1 + 28 * columns * rows

    def rule(self, images: bool) -> Numbers:
        """The setting as the kernels read it."""
        return np.array(
            [self.kind == "tower", *GRIDS[self.grid], self.rules == "code", self.horizon, images],
            np.int64,
        )


# --- readable edits --------------------------------------------------------------------------------------------------


class Edit(NamedTuple):
    """An action in words: verb `STOP`, `ADD` or `REMOVE`; codes that the verb or the kind does not need are -1.

    TOWER names a box; SCATTER names canvas pixels x (0 to 379) and y (0 to 99), of the cell's top-left corner.
    """

    verb: str
    box: int = -1
    x: int = -1
    y: int = -1
    size: int = -1
    color: int = -1
    shape: int = -1

    def __str__(self) -> str:
        item = [
            table[code] for table, code in ((SIZE_NAMES, self.size), (COLORS, self.color), (SHAPES, self.shape)) if code >= 0
        ]
        place = [BOX_NAMES[self.box]] if self.box >= 0 else [str(v) for v in (self.x, self.y) if v >= 0]
        return " ".join([self.verb, *item, *place])


def edit_of(setting: Setting, action: int) -> Edit:
    """The readable form of an action; a number that is no action is an error."""
    if not 0 <= action < setting.action_count:
        raise UsageError(f"action {shown(action)} does not exist; {setting.kind} actions are 0 to {setting.action_count - 1}.")
    if action == 0:
        return Edit("STOP")
    if setting.kind == "tower":
        return Edit("REMOVE", box=action - 10) if action >= 10 else Edit("ADD", box=(action - 1) // 3, color=(action - 1) % 3)
    columns, rows, cell = GRIDS[setting.grid]
    if action > 27 * columns * rows:
        column, row = divmod(action - 1 - 27 * columns * rows, rows)
        return Edit("REMOVE", x=column * cell, y=row * cell)
    place, item = divmod(action - 1, 27)
    column, row = divmod(place, rows)
    return Edit("ADD", x=column * cell, y=row * cell, shape=item // 9, color=item // 3 % 3, size=item % 3)


def action_of(setting: Setting, edit: Edit) -> int:
    """The action of an edit; one that the grid cannot express is an error that names the nearest step."""
    if edit.verb == "STOP":
        return 0
    if setting.kind == "tower":
        return 10 + edit.box if edit.verb == "REMOVE" else 1 + 3 * edit.box + edit.color
    columns, rows, cell = GRIDS[setting.grid]
    if edit.x % cell or edit.y % cell or not 0 <= edit.x < columns * cell or not 0 <= edit.y < rows * cell:
        raise UsageError(
            f"({edit.x}, {edit.y}) is no cell of the {setting.grid} grid; use x below 380 and y below 100 in steps of {cell}."
        )
    place = edit.x // cell * rows + edit.y // cell
    if edit.verb == "REMOVE":
        return 1 + 27 * columns * rows + place
    return 1 + ((place * 3 + edit.shape) * 3 + edit.color) * 3 + edit.size


def format_edits(setting: Setting, actions: Sequence[int]) -> str:
    """Actions as text, one edit per line: `ADD blue left`, `ADD big yellow circle 160 20`, `REMOVE 160 20`, `STOP`."""
    return "\n".join(str(edit_of(setting, int(action))) for action in actions)


_WORDS = re.compile(r"[A-Za-z]+|[0-9]+")
_FILL = frozenset({"a", "an", "at", "box", "from", "in", "item", "of", "on", "the", "to"})
_TABLES: dict[str, tuple[str, ...]] = {"box": BOX_NAMES, "color": COLORS, "shape": SHAPES, "size": SIZE_NAMES}
_LEXICON: dict[str, tuple[str, int]] = {
    **{word: (name, code) for name, table in _TABLES.items() for code, word in enumerate(table)},
    "large": ("size", 2),
}


def parse_edits(setting: Setting, text: str) -> list[int]:
    """The actions of a text with one edit per line (or separated by `;`), as `format_edits` writes it.

    Case, brackets, commas and small words (`at`, `the`, `box`) do not matter; anything else is an error that names the line.
    """
    if len(text) > MAX_ANSWER:
        raise UsageError(f"the answer has {len(text)} characters, but at most {MAX_ANSWER} are read.")
    lines = [line for line in re.split(r"[;\n]", text) if line.strip()]
    return [action_of(setting, _parsed(setting, line)) for line in lines]


def _parsed(setting: Setting, line: str) -> Edit:
    words = [word.lower() for word in _WORDS.findall(line)]
    rest = _WORDS.sub("", line).strip(" \t\r,().:-")
    known: dict[str, int] = {}
    numerals = [word for word in words if word.isdigit()]
    verbs = [word.upper() for word in words if word in ("stop", "add", "remove")]
    for word in words:
        if word.isdigit() or word in _FILL or word.upper() in verbs:
            continue
        name, code = _LEXICON.get(word, ("", 0))
        if not name or name in known:
            raise UsageError(f"{shown(line.strip())} is no edit: {shown(word)} is unknown or too much there.")
        known[name] = code
    for word in numerals:
        if len(word) > MOST_DIGITS:
            raise UsageError(f"{shown(line.strip(), 80)} is no edit: {shown(word, 40)} has more than {MOST_DIGITS} digits.")
    numbers = [int(word) for word in numerals]
    if rest.strip(" \t\r,().:-") or len(verbs) != 1:
        raise UsageError(f"{shown(line.strip())} is no edit; write STOP, ADD … or REMOVE …")
    if setting.kind == "scatter" and verbs[0] != "STOP":
        known.update(dict(zip(("x", "y"), numbers, strict=False)))
    needed = _NEEDED[setting.kind, verbs[0]]
    if set(known) != set(needed) or len(numbers) != 2 * ("x" in needed):
        raise UsageError(
            f"{shown(line.strip())} is no edit of a {setting.kind}: {verbs[0]} needs {', '.join(needed) or 'nothing'}."
        )
    return Edit(verbs[0], **known)


_NEEDED: dict[tuple[str, str], tuple[str, ...]] = {
    ("tower", "STOP"): (),
    ("tower", "ADD"): ("color", "box"),
    ("tower", "REMOVE"): ("box",),
    ("scatter", "STOP"): (),
    ("scatter", "ADD"): ("size", "color", "shape", "x", "y"),
    ("scatter", "REMOVE"): ("x", "y"),
}
