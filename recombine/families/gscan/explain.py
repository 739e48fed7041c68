"""Why this object and these actions; and what each shortcut reader would do instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from recombine.core import Example, Explanation, Shortcut
from recombine.families.gscan.plan import Command
from recombine.grid.codes import COLUMN_STEP, HEADINGS, ROW_STEP
from recombine.grid.matching import Phrase, fitting, misfits
from recombine.grid.play import plan, replay
from recombine.grid.world import Thing, World

READING = "superlative"
Answers = list[tuple[str, ...]]


# --- the proof -------------------------------------------------------------------------------------------------------


def explain(example: Example) -> Explanation:
    """The proof: how the phrase finds its object, what rules out each other one, and how the actions follow."""
    command: Command = example.plan
    world: World = example.world
    target = world.things[0]
    steps = [f"The command is to {command.verb} {'to ' if command.verb == 'walk' else ''}one object: the {command.phrase}."]
    steps += _finding(world, command.phrase)
    steps += _ruling_out(world, command.phrase)
    steps.append(f"So the target is the {target.name} of size {target.size} in {_cell(target)}.")
    steps += _going(world, command)
    return Explanation(tuple(steps), shortcuts(example))


def _cell(thing: Thing) -> str:
    return f"row {thing.row + 1}, column {thing.column + 1}"


def _finding(world: World, phrase: Phrase) -> list[str]:
    members = [world.things[i] for i in fitting(world, Phrase("", phrase.color, phrase.shape), READING)]
    listed = "; ".join(f"size {t.size} in {_cell(t)}" for t in members)
    plain = str(Phrase("", phrase.color, phrase.shape))
    found = [f"Objects that are a {plain}: {listed}."]
    if phrase.size:
        found.append(f"'{phrase.size}' picks the {'smallest' if phrase.size == 'small' else 'biggest'} of them.")
    return found


def _ruling_out(world: World, phrase: Phrase) -> list[str]:
    found = []
    for i, thing in enumerate(world.things[1:], 1):
        wrong = misfits(world, phrase, i, READING)
        found.append(
            f"The {thing.name} of size {thing.size} in {_cell(thing)} is ruled out by {' and '.join(map(repr, wrong))}."
        )
    return found


def _going(world: World, command: Command) -> list[str]:
    target = world.things[0]
    right, down = target.column - world.column, target.row - world.row
    legs = []
    if right:
        legs.append(f"{abs(right)} {'east' if right > 0 else 'west'}")
    if down:
        legs.append(f"{abs(down)} {'south' if down > 0 else 'north'}")
    order = "in turns, horizontal first" if command.adverb == "while zigzagging" and right and down else "horizontal first"
    found = [f"From row {world.row + 1}, column {world.column + 1} that is {' and '.join(legs)}; the agent goes {order}."]
    manner = {
        "while spinning": "Before every step or effort it turns left four times.",
        "cautiously": "Before every step or effort it looks both ways: left, right, right, left.",
        "hesitantly": "After every step or effort it stays once.",
    }.get(command.adverb)
    found += [manner] if manner else []
    if command.verb != "walk":
        gold = plan(world, 0, command.verb, command.adverb)
        end = replay(world, gold).world.things[0]
        cells = abs(end.row - target.row) + abs(end.column - target.column)
        weight = "heavy: two efforts a cell" if target.size >= 3 else "light: one effort a cell"
        reach = f"moves {cells} cell{'s' if cells != 1 else ''}, until something is in the way" if cells else "cannot move"
        found.append(f"Size {target.size} is {weight}. The {command.verb} {reach}.")
    return found


# --- shortcut readers ------------------------------------------------------------------------------------------------


def shortcuts(example: Example) -> tuple[Shortcut, ...]:
    """One answer for each shortcut reader: the nearest of the objects that it may take for the target."""
    found = []
    for name, (sentence, reader) in READERS.items():
        answers = reader(example.world, example.plan)
        found.append(Shortcut(name, sentence, ",".join(answers[0]) if answers else None))
    return tuple(found)


def _towards(world: World, command: Command, candidates: list[int]) -> Answers:
    """The plans for these objects, nearest first."""
    ranked = sorted(candidates, key=lambda i: (world.distance_to(world.things[i]), world.things[i].row, world.things[i].column))
    return [plan(world, i, command.verb, command.adverb) for i in ranked]


def _without(dropped: str) -> Callable[[World, Command], Answers]:
    """A reader that ignores one kind of word. It takes any object that fits the rest of the phrase, the nearest first.

    The reader is right if the word is not needed or if the target happens to be the nearest.
    """

    def reader(world: World, command: Command) -> Answers:
        phrase = command.phrase
        if not getattr(phrase, dropped):
            return []
        heard = Phrase(**{**phrase.__dict__, dropped: ""})
        return _towards(world, command, list(fitting(world, heard, READING)))

    return reader


def _opposite_size(world: World, command: Command) -> Answers:
    phrase = command.phrase
    if not phrase.size:
        return []
    other = Phrase("big" if phrase.size == "small" else "small", phrase.color, phrase.shape)
    return _towards(world, command, [i for i in fitting(world, other, READING) if i != 0])


def _nearest(world: World, command: Command) -> Answers:
    return _towards(world, command, list(range(len(world.things))))[:1]


def _no_adverb(world: World, command: Command) -> Answers:
    return [plan(world, 0, command.verb, "")] if command.adverb else []


def _only_walks(world: World, command: Command) -> Answers:
    return [plan(world, 0, "walk", command.adverb)] if command.verb != "walk" else []


def _swaps_verbs(world: World, command: Command) -> Answers:
    other = {"push": "pull", "pull": "push"}.get(command.verb)
    return [plan(world, 0, other, command.adverb)] if other else []


def _ignores_weight(world: World, command: Command) -> Answers:
    if command.verb == "walk":
        return []
    target = world.things[0]
    other = Thing(1 if target.size >= 3 else 4, target.color, target.shape, target.row, target.column)
    return [
        plan(
            World(world.size, (other, *world.things[1:]), world.row, world.column, world.heading),
            0,
            command.verb,
            command.adverb,
        )
    ]


def _ignores_obstacles(world: World, command: Command) -> Answers:
    if command.verb == "walk":
        return []
    alone = World(world.size, world.things[:1], world.row, world.column, world.heading)
    return [plan(alone, 0, command.verb, command.adverb)]


def _vertical_first(world: World, command: Command) -> Answers:
    """The plan of the world mirrored along its diagonal, with every turn mirrored back."""
    if not _is_diagonal(world) or command.verb != "walk":
        return []
    target = world.things[0]
    corner = World(world.size, (), world.row, world.column, world.heading)
    down = "south" if target.row > world.row else "north"
    across = "east" if target.column > world.column else "west"
    steps = [down] * abs(target.row - world.row) + [across] * abs(target.column - world.column)
    if command.adverb == "while zigzagging":
        pairs = min(abs(target.row - world.row), abs(target.column - world.column))
        rest = steps[: abs(target.row - world.row) - pairs] + steps[len(steps) - (abs(target.column - world.column) - pairs) :]
        steps = [down, across] * pairs + rest if len(rest) else [down, across] * pairs
    return [_step_by_step(corner, steps, command.adverb)]


def _is_diagonal(world: World) -> bool:
    return world.row != world.things[0].row and world.column != world.things[0].column


def _step_by_step(world: World, steps: list[str], adverb: str) -> tuple[str, ...]:
    """The actions along these unit steps: each one is a plan to the next cell."""
    found: list[str] = []
    for way in steps:
        k = HEADINGS.index(way)
        cell = Thing(1, "red", "square", world.row + ROW_STEP[k], world.column + COLUMN_STEP[k])
        here = World(world.size, (cell,), world.row, world.column, world.heading)
        found += plan(here, 0, "walk", adverb)
        world = World(world.size, (), cell.row, cell.column, way)
    return tuple(found)


READERS: Mapping[str, tuple[str, Callable[[World, Command], Answers]]] = MappingProxyType(
    {
        "ignores_size": ("does not hear 'small' or 'big'", _without("size")),
        "ignores_color": ("does not hear the colour", _without("color")),
        "ignores_shape": ("takes any object for the noun", _without("shape")),
        "opposite_size": ("takes 'small' for 'big', or the other way round", _opposite_size),
        "nearest_object": ("goes to the nearest object, whatever was said", _nearest),
        "ignores_adverb": ("does the right thing in the plain manner", _no_adverb),
        "only_walks": ("walks to the target and stops", _only_walks),
        "swaps_push_and_pull": ("pushes for 'pull', or the other way round", _swaps_verbs),
        "ignores_weight": ("takes heavy objects for light ones, or the other way round", _ignores_weight),
        "ignores_obstacles": ("moves the target to the wall, through other objects", _ignores_obstacles),
        "vertical_first": ("walks north or south before east or west", _vertical_first),
    }
)
"""Name -> what the reader does, and all answers it may give (the likeliest first)."""
