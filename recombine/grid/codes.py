"""The small numbers behind colours, shapes, headings, actions, verbs, adverbs and relations, and the layout of a world.

A world inside a kernel is three things:

- `things`: int64 array, one row per object, columns SIZE, COLOR, SHAPE, ROW, COLUMN (row 0 is north, column 0 is west);
  a box of size k covers the k × k cells whose top-left one is its (ROW, COLUMN), everything else one cell;
- `n`: how many rows of `things` are in use;
- `agent`: int64 array [row, column, heading, charge]; `charge` is 0 except between the two efforts on a heavy object.

The order of colours and shapes is ReaSCAN's bit order; gSCAN's own order lives in its family. Only names leave this layer.
"""

from __future__ import annotations

SIZES = (1, 2, 3, 4)
COLORS = ("red", "blue", "green", "yellow")
SHAPES = ("circle", "cylinder", "square", "box")
HEADINGS = ("east", "south", "west", "north")
ACTIONS = ("walk", "push", "pull", "stay", "turn left", "turn right")
VERBS = ("walk", "push", "pull")
ADVERBS = ("", "while zigzagging", "while spinning", "cautiously", "hesitantly")
RELATIONS = ("row", "column", "color", "shape", "size", "inside")
DIRECTIONS = ("e", "se", "s", "sw", "w", "nw", "n", "ne")
"""Where the target lies as seen from the agent; even codes are straight, odd ones diagonal."""

# columns of `things`, and of `agent`
SIZE, COLOR, SHAPE, ROW, COLUMN = 0, 1, 2, 3, 4
AGENT_ROW, AGENT_COLUMN, HEADING, CHARGE = 0, 1, 2, 3

RED, BLUE, GREEN, YELLOW = 0, 1, 2, 3
CIRCLE, CYLINDER, SQUARE, BOX = 0, 1, 2, 3
EAST, SOUTH, WEST, NORTH = 0, 1, 2, 3
DO_WALK, DO_PUSH, DO_PULL, DO_STAY, DO_LEFT, DO_RIGHT = 0, 1, 2, 3, 4, 5
WALK, PUSH, PULL = 0, 1, 2
PLAIN, ZIGZAG, SPIN, CAUTIOUS, HESITANT = 0, 1, 2, 3, 4
SAME_ROW, SAME_COLUMN, SAME_COLOR, SAME_SHAPE, SAME_SIZE, INSIDE = 0, 1, 2, 3, 4, 5

ANY = -1
"""No colour word, or the head noun "object"."""
NO_SIZE, SMALL, BIG = 0, 1, 2
"""Size words of a noun phrase."""
SIZE_WORDS = ("", "small", "big")
PAIRWISE, SUPERLATIVE = 0, 1
"""Readings of a size word: some other object of the class is larger (smaller); or none of the class is smaller (larger)."""

ROW_STEP = (0, 1, 0, -1)
COLUMN_STEP = (1, 0, -1, 0)
"""One cell ahead, by heading."""

OK, WALL, BLOCKED, NOTHING = 0, 1, 2, 3
OUTCOMES = ("ok", "wall", "blocked", "nothing")
"""The result of an action: done; out of the grid; another object is in the way; no object here to push or pull."""

HEAVY_FROM = 3
"""Objects of this size and above need two efforts for each cell they move."""
MAX_GRID = 24
MAX_THINGS = 31
"""Sets of objects, and rows of cells, are bits of one word that stays below 2**31, so that no speed ever wraps."""
