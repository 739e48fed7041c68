"""The set machine's other actor: rules for steps and a template for each manner of walking, learnt by search, no gradient.

Built in. An answer is a row of steps. A step is a turn (none, left, right, about) and a move (walk, push, pull). A word may put fixed
actions before the turn, between turn and move, and after the move: its manner. The actor sees the target as it faces (ahead,
beside, behind), never the compass. It also sees the last step, how often it has moved the target, the target's size, the room before
and behind the target (cells up to the next object or the wall), and which words the command has.
Learnt. Which words are manners, and their actions; a decision tree that gives the next step. The tree first splits off a test
that leaves one kind of step alone, so a test that decides by itself is not made to depend on others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.models.set_machine_rows import ACTIONS, PULL, PUSH, STEP, TURN_LEFT, TURN_RIGHT, WALK, Rows, Walk
from recombine.models.set_machine_tree import decide, grow

Ints = NDArray[np.int64]
Actions = tuple[int, ...]
Steps = list[int]
"""Steps as numbers: turn * len(MOVES) + move."""

TURNS: tuple[Actions, ...] = ((), (TURN_LEFT,), (TURN_RIGHT,), (TURN_LEFT, TURN_LEFT), (TURN_RIGHT, TURN_RIGHT))
MOVES = (WALK, PUSH, PULL)
ENDING = len(TURNS) * len(MOVES)
"""The class of the moment after the last step."""
KINDS = ENDING + 1
MOST_SLOTS = 8
"""Most actions in each of the three places of a manner."""
MOST_AFTER = 4
"""Most actions after a move that a candidate manner may have."""
AHEAD, BESIDE, LAST, MOVED, SIZE, BEFORE, BEHIND, FIRST_WORD = range(8)
"""Places of a state's features; words follow."""
ORDERED = frozenset((MOVED, SIZE, BEFORE, BEHIND))
"""Features that are compared by size; all others by equality."""
MOST_MOVED = 40
MANNER_ROWS, MANNER_SEEDS = 200, 6
"""Rows that judge a candidate manner, and rows from which candidates are made."""


class Manner(NamedTuple):
    """What a word adds to every step."""

    before: Actions = ()
    middle: Actions = ()
    after: Actions = ()


class Scene(NamedTuple):
    """What does not change while one row is acted out."""

    words: frozenset[int]
    target: tuple[int, int]
    size: int
    cells: frozenset[tuple[int, int]]  # of all objects
    grid: int


def parsed(actions: Sequence[int], manner: Manner) -> Steps | None:
    """The steps of an answer without the actions of a manner; None if it is no such answer."""
    steps: Steps = []
    before, middle, after = manner
    at = 0
    while at < len(actions):
        move = next((k for k in range(at + len(before), len(actions)) if actions[k] in MOVES), None)
        if move is None or tuple(actions[at : at + len(before)]) != before or move < at + len(before) + len(middle):
            return None
        turn = tuple(actions[at + len(before) : move - len(middle)])
        end = move + 1 + len(after)
        if turn not in TURNS or tuple(actions[move - len(middle) : move]) != middle or tuple(actions[move + 1 : end]) != after:
            return None
        steps.append(TURNS.index(turn) * len(MOVES) + MOVES.index(actions[move]))
        at = end
    return steps


def written(step: int, manner: Manner) -> Actions:
    """The actions of a step in a manner."""
    turn, move = divmod(step, len(MOVES))
    return (*manner.before, *TURNS[turn], *manner.middle, MOVES[move], *manner.after)


# --- states ------------------------------------------------------------------------------------------------------------


def scene_of(rows: Rows, row: int, target: Sequence[int], size: int) -> Scene:
    """The scene of a row for an agent that goes to this cell."""
    objects = rows.objects[row, : rows.counts[row]]
    words = frozenset(int(word) for word in rows.words[row, : rows.lengths[row]] if word)
    cells = frozenset((int(one[3]), int(one[4])) for one in objects)
    return Scene(words, (int(target[0]), int(target[1])), max(size, 0), cells, rows.grid)


class Agent:
    """The pose of an agent that acts out steps, and what it remembers."""

    def __init__(self, scene: Scene, pose: Sequence[int]) -> None:
        self.scene = scene
        self.row, self.column, self.heading = (int(value) for value in pose)
        self.last, self.moved = 0, 0

    def state(self, width: int) -> list[int]:
        """The features of the present moment."""
        scene = self.scene
        down, right = scene.target[0] - self.row, scene.target[1] - self.column
        dr, dc = (int(value) for value in STEP[self.heading])
        found = [0] * width
        found[AHEAD], found[BESIDE] = _sign(down * dr + right * dc), _sign(down * dc - right * dr)
        found[LAST], found[MOVED], found[SIZE] = self.last, min(self.moved, MOST_MOVED), scene.size
        found[BEFORE], found[BEHIND] = self._room(dr, dc), self._room(-dr, -dc)
        for word in scene.words:
            found[FIRST_WORD + word] = 1
        return found

    def _room(self, dr: int, dc: int) -> int:
        """Free cells from the target on, in a direction."""
        row, column = self.scene.target
        room = 0
        while True:
            row, column = row + dr, column + dc
            if not (0 <= row < self.scene.grid and 0 <= column < self.scene.grid) or (row, column) in self.scene.cells:
                return room
            room += 1

    def take(self, step: int) -> None:
        """Act one step out."""
        turn, move = divmod(step, len(MOVES))
        self.heading = (self.heading + sum(1 if one == TURN_RIGHT else -1 for one in TURNS[turn])) % 4
        if MOVES[move] == WALK:
            self.row = min(max(self.row + int(STEP[self.heading][0]), 0), self.scene.grid - 1)
            self.column = min(max(self.column + int(STEP[self.heading][1]), 0), self.scene.grid - 1)
        else:
            self.moved += 1
        self.last = step + 1


def _sign(value: int) -> int:
    """0 for negative, 1 for zero, 2 for positive numbers."""
    return (value > 0) - (value < 0) + 1


# --- learning ------------------------------------------------------------------------------------------------------------


class Lessons(NamedTuple):
    """Rows with the cell that each agent walked to and the size of what stands there."""

    rows: Rows
    walk: Walk
    sizes: Ints

    def actions(self, row: int) -> list[int]:
        """The right actions of a row."""
        found: list[int] = self.rows.actions[self.rows.ends[row] : self.rows.ends[row + 1]].tolist()
        return found

    def scene(self, row: int, without: frozenset[int]) -> Scene:
        """The scene of a row; words that are manners are not seen."""
        scene = scene_of(self.rows, row, self.walk.targets[row], int(self.sizes[row]))
        return scene._replace(words=scene.words - without)


def rows_for_rules(rows: Rows, order: Ints, count: int) -> Ints:
    """The first rows of an order, and for each word so many of its rows that a manner can be judged."""
    chosen = set(order[:count].tolist())
    for word in np.unique(rows.words[rows.words > 0]).tolist():
        chosen.update(order[(rows.words[order] == word).any(1)][:MANNER_ROWS].tolist())
    return np.array([row for row in order.tolist() if row in chosen], np.int64)


def learn_rules(lessons: Lessons, order: Ints, words: int) -> dict[str, NDArray[Any]]:
    """The tree and the manners, from these rows."""
    width = FIRST_WORD + words
    steps = {int(row): parsed(lessons.actions(int(row)), Manner()) for row in order}
    plain = [(row, found) for row, found in steps.items() if found is not None]
    tree = _grown(lessons, plain, frozenset(), width)
    manners = _manners(lessons, [int(row) for row in order], frozenset(row for row, _ in plain), tree, width)
    if manners:
        heard = frozenset(manners)
        known = []
        for row in map(int, order):
            found = parsed(lessons.actions(row), manner_of(lessons.scene(row, frozenset()).words, manners))
            if found is not None:
                known.append((row, found))
        tree = _grown(lessons, known, heard, width)
    table = np.zeros((words, len(Manner._fields), MOST_SLOTS), np.int64)
    for word, manner in manners.items():
        for k, part in enumerate(manner):
            table[word, k, : len(part)] = part
    return {"tree": tree, "manners": table}


def manner_of(words: frozenset[int], manners: Mapping[int, Manner]) -> Manner:
    """The manner of a command; of several the first word's by number."""
    return next((manners[word] for word in sorted(words) if word in manners), Manner())


def _grown(lessons: Lessons, known: Sequence[tuple[int, Steps]], heard: frozenset[int], width: int) -> Ints:
    states: list[list[int]] = []
    kinds: list[int] = []
    for row, steps in known:
        agent = Agent(lessons.scene(row, heard), lessons.rows.agents[row])
        for step in (*steps, ENDING):
            states.append(agent.state(width))
            kinds.append(step)
            if step != ENDING:
                agent.take(step)
    return grow(np.array(states, np.int64).reshape(-1, width), np.array(kinds, np.int64), KINDS, ORDERED)


def _manners(lessons: Lessons, order: Sequence[int], plain: frozenset[int], tree: Ints, width: int) -> dict[int, Manner]:
    """The manner of each word most of whose rows are not plain: what makes most of its rows plain, and right by the tree."""
    by_word: dict[int, list[int]] = defaultdict(list)
    for row in order:
        for word in lessons.scene(row, frozenset()).words:
            by_word[word].append(row)
    found: dict[int, Manner] = {}
    nodes = tree.tolist()
    for word, own in sorted(by_word.items()):
        if 2 * sum(row in plain for row in own) >= len(own):
            continue
        judges = own[:MANNER_ROWS]
        ranked = sorted(
            (-_explained(lessons, judges, word, manner, nodes, width), sum(map(len, manner)), manner)
            for manner in sorted(_candidates([lessons.actions(row) for row in judges[:MANNER_SEEDS]]))
        )
        if ranked and 2 * -ranked[0][0] > len(judges):
            found[word] = ranked[0][2]
    return found


def _candidates(answers: Sequence[Sequence[int]]) -> set[Manner]:
    """Every manner that could have made the first step of one of these answers."""
    found: set[Manner] = set()
    for actions in answers:
        moves = [k for k, action in enumerate(actions) if action in MOVES]
        if not moves:
            continue
        first = moves[0]
        last = moves[1] if len(moves) > 1 else len(actions)
        for after in range(min(last - first - 1, MOST_AFTER) + 1):
            for start in range(first + 1):
                for end in range(start, first + 1):
                    if tuple(actions[start:end]) in TURNS and max(start, first - end) <= MOST_SLOTS:
                        tail = tuple(actions[first + 1 : first + 1 + after])
                        found.add(Manner(tuple(actions[:start]), tuple(actions[end:first]), tail))
    return found


def _explained(
    lessons: Lessons, judges: Sequence[int], word: int, manner: Manner, tree: Sequence[Sequence[int]], width: int
) -> float:
    """Rows that a manner makes plain; a row counts half if the tree would not have taken these steps."""
    total = 0.0
    for row in judges:
        steps = parsed(lessons.actions(row), manner)
        if steps is not None:
            agent = Agent(lessons.scene(row, frozenset([word])), lessons.rows.agents[row])
            total += 1.0 if _acted(agent, tree, len(steps) + 1, width) == steps else 0.5
    return total


# --- acting --------------------------------------------------------------------------------------------------------------


def _acted(agent: Agent, tree: Sequence[Sequence[int]], most: int, width: int) -> Steps:
    steps: Steps = []
    while len(steps) < most:
        step = decide(tree, agent.state(width), ORDERED)
        if step == ENDING:
            break
        agent.take(step)
        steps.append(step)
    return steps


def manners_of(table: NDArray[Any]) -> dict[int, Manner]:
    """The manners of an array of `learn_rules`."""
    found = {}
    for word in np.nonzero(table.any((1, 2)))[0].tolist():
        found[word] = Manner(*(tuple(int(action) for action in part if action) for part in table[word]))
    return found


def act_by_rules(actor: Mapping[str, NDArray[Any]], rows: Rows, order: Ints, targets: Ints, sizes: Ints) -> list[list[int]]:
    """The actions of each row."""
    manners, tree = manners_of(actor["manners"]), actor["tree"].tolist()
    heard, width = frozenset(manners), FIRST_WORD + len(actor["manners"])
    taken = []
    for n, row in enumerate(order.tolist()):
        scene = scene_of(rows, row, targets[n], int(sizes[n]))
        manner = manner_of(scene.words, manners)
        agent = Agent(scene._replace(words=scene.words - heard), rows.agents[row])
        steps = _acted(agent, tree, 4 * rows.grid + 8, width)
        taken.append([action for step in steps for action in written(step, manner)])
    return taken


def as_rules(found: Mapping[str, NDArray[Any]], words: int) -> dict[str, NDArray[Any]]:
    """Loaded rules, checked: every node leads on, and every action and kind of step exists."""
    if "tree" not in found or "manners" not in found:
        raise ValueError("tree and manners are missing")
    tree, table = np.asarray(found["tree"], np.int64), np.asarray(found["manners"], np.int64)
    if table.shape != (words, len(Manner._fields), MOST_SLOTS) or tree.ndim != 2 or tree.shape[1] != 4 or not len(tree):
        raise ValueError(f"tree and manners have the shapes {tree.shape} and {table.shape}")
    leaf, number = tree[:, 0] < 0, np.arange(len(tree))
    inner = tree[~leaf]
    leads_on = (inner[:, 2:] > number[~leaf, None]) & (inner[:, 2:] < len(tree))
    if not leads_on.all() or (inner[:, 0] >= FIRST_WORD + words).any():
        raise ValueError("a node of the tree leads nowhere")
    kinds = tree[leaf, 1]
    if (kinds < 0).any() or (kinds >= KINDS).any() or (table < 0).any() or (table > 7).any():
        raise ValueError("a leaf or a manner is no step")
    return {"tree": tree, "manners": table}


def rules_size(actor: Mapping[str, NDArray[Any]]) -> int:
    """Nodes of the tree, and actions of the manners."""
    return len(actor["tree"]) + int(np.count_nonzero(actor["manners"]))


def manner_lines(actor: Mapping[str, NDArray[Any]], words: Sequence[str]) -> list[tuple[str, ...]]:
    """The words that are manners, as lines of a lexicon."""
    lines: list[tuple[str, ...]] = []
    for word, manner in manners_of(actor["manners"]).items():
        before, middle, after = (tuple(ACTIONS[action] for action in part) for part in manner)
        lines.append((words[word - 1], "manner", "1.00", ", ".join((*before, "TURN", *middle, "MOVE", *after))))
    return lines
