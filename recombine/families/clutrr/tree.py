"""A family on paper: generations in rows, couples side by side, children under their parents."""

from __future__ import annotations

from collections.abc import Sequence

from recombine.families.clutrr.plan import People

GAP = 1.0
_ROUNDS = 80


def generations(world: People) -> list[int]:
    """Each person's row, 0 at the top of that person's own tree."""
    row: list[int | None] = [None] * len(world)
    for start in range(len(world)):
        if row[start] is not None:
            continue
        row[start], open_, piece = 0, [start], [start]
        while open_:
            p = open_.pop()
            here = row[p] or 0
            near = [(world.fathers[p], here - 1), (world.mothers[p], here - 1), (world.spouses[p], here)]
            near += [(c, here + 1) for c in range(len(world)) if p in (world.fathers[c], world.mothers[c])]
            for q, level in near:
                if q >= 0 and row[q] is None:
                    row[q] = level
                    open_.append(q)
                    piece.append(q)
        top = min(row[q] or 0 for q in piece)
        for q in piece:
            row[q] = (row[q] or 0) - top
    return [level or 0 for level in row]


def pieces(world: People) -> list[list[int]]:
    """The people of each connected tree, in the order of a walk through it."""
    seen: set[int] = set()
    found = []
    for start in range(len(world)):
        if start in seen:
            continue
        piece: list[int] = []
        open_ = [start]
        while open_:
            p = open_.pop(0)
            if p in seen:
                continue
            seen.add(p)
            piece.append(p)
            children = [c for c in range(len(world)) if p in (world.fathers[c], world.mothers[c])]
            open_ += [q for q in (world.spouses[p], world.fathers[p], world.mothers[p], *children) if q >= 0 and q not in seen]
        found.append(piece)
    return found


def layout(world: People) -> list[tuple[float, int]]:
    """(x, row) of every person; trees stand side by side."""
    rows = generations(world)
    x = [0.0] * len(world)
    offset = 0.0
    for piece in pieces(world):
        _arrange(world, piece, rows, x)
        left = min(x[p] for p in piece)
        for p in piece:
            x[p] += offset - left
        offset = max(x[p] for p in piece) + 1.6 * GAP
    return list(zip(x, rows, strict=True))


def _arrange(world: People, piece: Sequence[int], rows: Sequence[int], x: list[float]) -> None:
    """Pull everybody towards parents, children and spouse in turn, keeping couples together and everybody apart."""
    blocks: dict[int, list[list[int]]] = {}
    for p in piece:
        if world.spouses[p] < 0:
            blocks.setdefault(rows[p], []).append([p])
        elif world.genders[p] == 1:
            blocks.setdefault(rows[p], []).append([p, world.spouses[p]])
    for row in blocks.values():
        for i, block in enumerate(row):
            for j, p in enumerate(block):
                x[p] = 2.0 * i + j
    for turn in range(_ROUNDS):
        downwards = turn % 2 == 0
        for level in sorted(blocks, reverse=not downwards):
            row = blocks[level]
            wish = [_wish(world, block, x, downwards) for block in row]
            order = sorted(range(len(row)), key=lambda i: (wish[i], row[i][0]))
            blocks[level] = [row[i] for i in order]
            _spread(blocks[level], [wish[i] for i in order], x)
            _turn_couples(world, blocks[level], x)


def _wish(world: People, block: Sequence[int], x: Sequence[float], downwards: bool) -> float:
    """Where the middle of a block would like to be: under the parents, or over the children."""
    if downwards:
        near = [(x[world.fathers[p]] + x[world.mothers[p]]) / 2 for p in block if world.fathers[p] >= 0]
    else:
        near = [x[c] for c in range(len(world)) if block[0] in (world.fathers[c], world.mothers[c])]
    return sum(near) / len(near) if near else sum(x[p] for p in block) / len(block)


def _spread(row: Sequence[Sequence[int]], wish: Sequence[float], x: list[float]) -> None:
    """Put the blocks of a row near their wishes without overlap."""
    at: list[float] = []
    for block, middle in zip(row, wish, strict=True):
        start = middle - (len(block) - 1) * GAP / 2
        at.append(max(start, at[-1] + GAP * 1.15) if at else start)
        for j, p in enumerate(block):
            x[p] = at[-1] + j * GAP
        at[-1] = x[block[-1]]
    shift = sum(w - (x[b[0]] + x[b[-1]]) / 2 for b, w in zip(row, wish, strict=True)) / len(row)
    for block in row:
        for p in block:
            x[p] += shift


def _turn_couples(world: People, row: Sequence[list[int]], x: list[float]) -> None:
    """Let each spouse stand on the side of the own parents."""
    for block in row:
        if len(block) != 2 or min(world.fathers[p] for p in block) < 0:
            continue
        a, b = block
        if x[world.fathers[a]] > x[world.fathers[b]]:
            x[a], x[b] = x[b], x[a]
            block.reverse()
