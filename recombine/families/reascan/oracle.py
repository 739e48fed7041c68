"""The laws, checked by a deliberate second implementation: it shares no code with the generator, so do not merge the two.

Everything is derived again from the example: the command is read word by word, referents are found with sets of objects instead
of bit masks, the plan is written from the rules of movement and then acted out cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from recombine.checks import claim_problems
from recombine.core import Example, Problem, Severity
from recombine.errors import shown
from recombine.families.reascan import oracle_claims
from recombine.families.reascan.native import derived
from recombine.families.reascan.oracle_reader import (
    COLOR_WORDS,
    HEADS,
    KINDS,
    SIZE_WORDS,
    Misread,
    Noun,
    Said,
    comparison_class,
    denotation,
    each_omission,
    grammar_faults,
    holds,
    is_natural,
    means,
    understand,
    without,
)
from recombine.grid.world import World

ROLES = ("target", "pivot", "relation", "attribute", "isomorphism", "contrast", "random")
FREE_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "object_roles": "which of several objects that serve a decoy group is named as part of it",
        "object_catches": "the same; role and reader must fit each other, and the reader must exist",
        "attribute_distractor": "false in `release` also if the group is whole and a size contrast is missing",
        "relation_distractor": "in `release`, if objects of the groups are missing",
        "strategy": "which of the possible words `release` changed or swapped; `sound` leaves it empty",
    }
)
"""Columns that cannot be derived in full, and what about them is free. Everything else is derived again."""
_RELATION_CODES = ("row", "column", "color", "shape", "size", "inside")
_VERB_CODES = ("walk", "push", "pull")
_ADVERB_CODES = ("", "while zigzagging", "while spinning", "cautiously", "hesitantly")


# --- doing -----------------------------------------------------------------------------------------------------------


def directions_to_go(world: World, target: int, adverb: str) -> str:
    """The compass letters of the steps to the target: east or west first, then north or south; zigzag takes turns."""
    goal = world.things[target]
    across = ("E" if goal.column > world.column else "W") * abs(goal.column - world.column)
    along = ("S" if goal.row > world.row else "N") * abs(goal.row - world.row)
    if adverb != "while zigzagging" or not across or not along:
        return across + along
    both = min(len(across), len(along))
    return "".join(a + b for a, b in zip(across, along, strict=False)) + across[both:] + along[both:]


def expected_actions(world: World, target: int, verb: str, adverb: str) -> list[str]:
    """The actions that the rules of movement give for this target."""
    compass = "ESWN"
    facing = compass[["east", "south", "west", "north"].index(world.heading)]
    actions: list[str] = []

    def do(action: str, toward: str) -> None:
        nonlocal facing
        if adverb == "while spinning":
            actions.extend(["turn left"] * 4)
        quarter_turns = (compass.index(toward) - compass.index(facing)) % 4
        actions.extend([[], ["turn right"], ["turn left", "turn left"], ["turn left"]][quarter_turns])
        facing = toward
        if adverb == "cautiously":
            actions.extend(["turn left", "turn right", "turn right", "turn left"])
        actions.append(action)
        if adverb == "hesitantly":
            actions.append("stay")

    for letter in directions_to_go(world, target, adverb):
        do("walk", letter)
    if verb == "walk":
        return actions
    thing = world.things[target]
    step = {"E": (0, 1), "S": (1, 0), "W": (0, -1), "N": (-1, 0)}[facing]
    sign = 1 if verb == "push" else -1
    taken = {(t.row, t.column) for i, t in enumerate(world.things) if t.shape != "box" and i != target}
    row, column = thing.row + sign * step[0], thing.column + sign * step[1]
    while 0 <= row < world.size and 0 <= column < world.size and (row, column) not in taken:
        for _ in range(2 if thing.size >= 3 else 1):
            do(verb, facing)
        row, column = row + sign * step[0], column + sign * step[1]
    return actions


def act_out(world: World, actions: Sequence[str]) -> tuple[dict[int, tuple[int, int]], tuple[int, int], str]:
    """(where each object that is no box ends, where the agent ends, what went wrong first or "")."""
    places = {i: (t.row, t.column) for i, t in enumerate(world.things) if t.shape != "box"}
    here = (world.row, world.column)
    heading = ["east", "south", "west", "north"].index(world.heading)
    steps = [(0, 1), (1, 0), (0, -1), (-1, 0)]
    strain: tuple[int, str] | None = None
    for k, action in enumerate(actions):
        if action in ("turn left", "turn right", "stay"):
            heading = (heading + {"turn left": -1, "turn right": 1, "stay": 0}[action]) % 4
            continue
        sign = -1 if action == "pull" else 1
        there = (here[0] + sign * steps[heading][0], here[1] + sign * steps[heading][1])
        if not (0 <= there[0] < world.size and 0 <= there[1] < world.size):
            return places, here, f"action {k + 1} ({action}) leaves the grid"
        if action != "walk":
            held = [i for i, place in places.items() if place == here]
            if not held:
                return places, here, f"action {k + 1} ({action}) finds nothing"
            if there in places.values():
                return places, here, f"action {k + 1} ({action}) runs into another object"
            if world.things[held[0]].size >= 3 and strain != (heading, action):
                strain = (heading, action)
                continue
            places[held[0]] = there
        strain = None
        here = there
    return places, here, ""


# --- the laws --------------------------------------------------------------------------------------------------------


def validate(example: Example) -> list[Problem]:
    """Every broken law of one example; what breaks only the sound recipe's laws is an artifact in others."""
    world = cast(World, example.world)
    if world.problems or not world.things:
        return [Problem("bad_world", sentence) for sentence in world.problems or ("the world has no objects",)]
    try:
        said = understand(str(example.inputs["command"]), is_natural(example))
    except Misread as problem:
        return [Problem("bad_command", f"{shown(example.inputs['command'])} cannot be read: {problem}")]
    severity: Severity = "error" if example.recipe == "sound" else "artifact"
    text = shown(example.inputs["command"])
    found = [Problem("bad_command", f"{text} breaks a rule: {fault}", severity) for fault in grammar_faults(said)]
    found += _referent_problems(world, said, severity)
    found += [Problem("wrong_binding", fault, severity) for fault in binding_faults(world, said)]
    found += _action_problems(world, said, example.answer)
    found += field_problems(world, said, example)
    meta = example.meta if example.recipe == "sound" else {}
    found += [Problem(code, sentence, severity) for code, sentence in sound_laws(world, said, meta)]
    found += claim_problems(oracle_claims.CLAIMS, example)
    found += _written_problems(example)
    return found


def _written_problems(example: Example) -> Iterator[Problem]:
    """Everything else that a released file says must follow from command, world and actions."""
    written = example.meta.get("claims")
    if written is None:
        return
    due = derived(str(example.inputs["command"]), example.plan, example.world, example.answer.split(","))
    for name, value in {**written, "situation": example.meta.get("claimed_situation")}.items():
        if name in due and value is not None and due[name] != value:
            yield Problem("wrong_field", f"{name} is {shown(value)}, not {shown(due[name])}")


def _referent_problems(world: World, said: Said, severity: Severity) -> Iterator[Problem]:
    # The command means the target and nothing else, with different objects for different phrases.
    meant = means(world, said.nouns)
    if len(meant) > 1:
        cells = [(world.things[i].row, world.things[i].column) for i in sorted(meant)]
        yield Problem("ambiguous", f"the command fits {len(meant)} objects, at {cells}")
    elif meant != {0}:
        yield Problem("no_referent", f"the command fits objects {sorted(meant)}, not the target")
    # It still does if two phrases may mean the same object. (The original does not promise that.)
    for superlative in (False, True):
        shared = means(world, said.nouns, superlative, can_share=True)
        if len(shared) > 1 and shared != meant:
            cells = [(world.things[i].row, world.things[i].column) for i in sorted(shared)]
            text = f"if two phrases may mean the same object, the command fits {len(shared)} objects, at {cells}"
            yield Problem("shared_object", text, severity)
            break
    # "the" is said of what fits one object only, and of the target.
    for j, noun in enumerate(said.nouns):
        due = "the" if j == 0 or len(denotation(world, noun, False)) == 1 else "a"
        if noun.determiner != due:
            yield Problem("wrong_determiner", f"phrase {j + 1} is said with {noun.determiner!r} instead of {due!r}")


def binding_faults(world: World, said: Said) -> Iterator[str]:
    """The first objects of a world are the mentioned ones, in the order of the phrases. (The original only sees to the target.)"""
    if len(world.things) < len(said.nouns):
        yield f"{len(world.things)} objects for {len(said.nouns)} phrases"
        return
    for j, noun in enumerate(said.nouns):
        if j not in denotation(world, noun, False):
            yield f"object {j} is not what phrase {j + 1} says"
        if j and not holds(world, noun.relation, noun.parent, j):
            yield f"object {noun.parent} is not related to object {j} by {noun.relation!r}"


def _action_problems(world: World, said: Said, answer: str) -> Iterator[Problem]:
    due = expected_actions(world, 0, said.verb, said.adverb)
    if answer != ",".join(due):
        yield Problem("wrong_label", f"the actions are {shown(answer)}, not {shown(','.join(due))}")
        return
    places, here, fault = act_out(world, due)
    if fault:
        yield Problem("wrong_label", f"acted out, {fault}")
    elif said.verb == "walk" and here != (world.things[0].row, world.things[0].column):
        yield Problem("wrong_label", f"acted out, the agent ends at {here}, not at the target")
    elif said.verb != "walk" and places[0] != here:
        yield Problem("wrong_label", f"acted out, the target ends at {places[0]}, the agent at {here}")


def field_problems(world: World, said: Said, example: Example) -> Iterator[Problem]:
    """Every column that follows from command, world and actions (see FREE_COLUMNS for the others)."""
    target = world.things[0]
    down, right = target.row - world.row, target.column - world.column
    actions = example.answer.split(",") if example.answer else []
    nouns = said.nouns
    due = {
        "verb": said.verb,
        "adverb": said.adverb,
        "clauses": len(nouns) - 1,
        "direction": ("n" if down < 0 else "s" if down > 0 else "") + ("w" if right < 0 else "e" if right > 0 else ""),
        "distance": abs(down) + abs(right),
        "action_count": len(actions),
        "object_count": len(world.things),
        "interaction": "push" in actions or "pull" in actions,
        "form": form_number(said),
        "pattern": pattern_text(nouns),
    }
    for name, value in due.items():
        if name in example.meta and example.meta[name] != value:
            yield Problem("wrong_field", f"{name} is {shown(example.meta[name])}, not {shown(value)}")
    if world.heading != "east":
        yield Problem("wrong_field", f"the agent faces {shown(world.heading)}, not 'east'")
    if "object_catches" in example.meta:
        yield from _strategy_problems(world, said, example)


def _strategy_problems(world: World, said: Said, example: Example) -> Iterator[Problem]:
    """The distractor flags, roles, catches and notes agree with each other and with the world."""
    meta, nouns = example.meta, len(said.nouns)
    catches, notes = list(meta["object_catches"]), list(meta["strategy"])
    roles = [thing.role for thing in world.things]
    if len(catches) != len(roles):
        yield Problem("wrong_field", f"{len(catches)} entries of object_catches for {len(roles)} objects")
        return
    for i, (role, code) in enumerate(zip(roles, catches, strict=True)):
        if not _is_catch(role, code, example.recipe):
            yield Problem("wrong_role", f"object {i} has the role {shown(role)} and catches reader {code}")
    for name, (least, most) in _flag_bounds(roles, nouns, example.recipe).items():
        flag = bool(meta.get(f"{name}_distractor"))
        if (flag and not least) or (not flag and most):
            yield Problem("wrong_field", f"{name}_distractor is {flag}, but {roles.count(name)} objects have that role")
    spare = list(meta.get("spare_words", ()))
    if len(set(spare)) < len(spare) or (spare and example.recipe == "release"):
        yield Problem("wrong_field", f"spare_words is {shown(spare)}; each word is listed once, and only in `sound`")
    if example.recipe == "sound" and notes:
        yield Problem("wrong_field", f"strategy is {shown(notes)}, not empty")
    if example.recipe == "release" and not _are_notes(notes, said, meta):
        yield Problem("wrong_field", f"strategy is {shown(notes)}, which fits neither command nor flags")


def _is_catch(role: str, code: int, recipe: str) -> bool:
    """Whether an object of this role can be a distractor against the reader with this code."""
    if recipe != "sound" or role in ("target", "pivot", "random"):
        return code == -1 and role in ROLES
    if role == "isomorphism":
        return code >= 64
    kinds = {"relation": (3,), "attribute": (0, 1, 2), "contrast": (0,)}
    return 0 <= code < 64 and code % 8 in kinds.get(role, ())


def _flag_bounds(roles: Sequence[str], nouns: int, recipe: str) -> dict[str, tuple[bool, bool]]:
    """For each strategy: whether its flag may be true, and whether it must be.

    A flag of `release` says that a whole group of distractors was placed. Two things cannot be derived from the world: whether one of
    several groups is complete if objects are missing, and whether all size contrasts are there.
    """
    counted = {name: roles.count(name) for name in ("relation", "attribute", "isomorphism", "random")}
    if recipe == "sound":
        return {name: (count > 0, count > 0) for name, count in counted.items()}
    group = max(nouns - 1, 1)
    return {
        "relation": (counted["relation"] >= group, nouns > 1 and counted["relation"] >= group**2),
        "attribute": (counted["attribute"] == nouns, False),
        "isomorphism": (counted["isomorphism"] == 3, counted["isomorphism"] == 3),
        "random": (counted["random"] > 0, counted["random"] > 0),
    }


def _are_notes(notes: Sequence[int], said: Said, meta: Mapping[str, Any]) -> bool:
    """Whether the notes of `release` are possible: [phrase, kind of word, swapped kind, 1, 2]."""
    if len(notes) != 5 or notes[3:] != [1, 2]:
        return False
    node, kind, swap = notes[:3]
    if bool(swap) < bool(meta.get("isomorphism_distractor")) or swap not in (0, 1, 2):
        return False
    if (node, kind) == (-1, -1):
        return not meta.get("attribute_distractor")
    if not (0 <= node < len(said.nouns) and kind in (0, 1, 2)):
        return False
    noun = said.nouns[node]
    return noun.head not in ("object", "box") and bool((noun.size, noun.color, noun.head)[kind])


def pattern_text(nouns: Sequence[Noun]) -> str:
    """The pattern's name: how many clauses hang on each phrase that has any."""
    widths = [sum(1 for n in nouns if n.parent == j) for j in range(len(nouns))]
    text = "-".join(str(width) for width in widths if width)
    return {"": "simple", "1": "one_clause", "2": "two_clauses", "3": "three_clauses", "1-1": "nested"}.get(text, text)


def form_number(said: Said) -> int:
    """The command as a number, digit by digit: per phrase its link (relation, and whether it hangs on the one before) and words."""
    value = 1
    for j, noun in enumerate(said.nouns):
        words = (("", *SIZE_WORDS).index(noun.size) * 5 + ("", *COLOR_WORDS).index(noun.color)) * 5
        words += ("object", *HEADS).index(noun.head) if noun.head != "object" else 0
        relation = _RELATION_CODES.index(noun.relation) if j else 0
        value = value * 900 + (relation * 2 + (1 if j and noun.parent == j - 1 else 0)) * 75 + words
    return value * 15 + _VERB_CODES.index(said.verb) * 5 + _ADVERB_CODES.index(said.adverb)


def sound_laws(world: World, said: Said, meta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(code, sentence) for what only the sound recipe promises."""
    # Size words mean the same if they are read as smallest and biggest.
    marked = set(meta.get("spare_words", ()))
    if len(means(world, said.nouns, superlative=True)) != 1 or 0 not in means(world, said.nouns, superlative=True):
        yield "size_reading", "with 'small' and 'big' read as smallest and biggest, the command means something else"
    # The class of a sized phrase has two sizes, also without its colour word or its shape word.
    for j, noun in enumerate(said.nouns):
        if not noun.size:
            continue
        for wider in dict.fromkeys((noun, replace(noun, color=""), replace(noun, head="object"))):
            sizes = {world.things[i].size for i in comparison_class(world, wider)}
            if len(sizes) != 2:
                yield (
                    "size_class",
                    f"phrase {j + 1}: {wider.color or 'any colour'} {wider.head} comes in sizes {sorted(sizes)}, not in two",
                )
    # Every word and clause is needed, or marked as spare.
    spare = set()
    for code, shorter in each_omission(said.nouns):
        is_needed = all(len(means(world, shorter, superlative, 2)) > 1 for superlative in (False, True))
        if not is_needed:
            spare.add(code)
            if code not in marked:
                yield "spare_word", f"the {KINDS[code % 8]} of phrase {code // 8 + 1} is not needed to find the target"
    for code in sorted(marked - spare):
        yield "false_mark", f"word {code} is marked as not needed, but it is"
    yield from role_faults(world, said, meta)


def role_faults(world: World, said: Said, meta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Decoys must catch the reader they are there for: one of their group must be what that reader takes."""
    catches = list(meta.get("object_catches", ()))
    if not catches:
        return
    mentioned = len(said.nouns)
    for i, thing in enumerate(world.things):
        due = "target" if i == 0 else "pivot" if i < mentioned else ""
        if (due and thing.role != due) or (not due and thing.role in ("target", "pivot")):
            yield "wrong_role", f"object {i} has the role {thing.role!r}"
    for code in sorted({c for c in catches if 0 <= c < 64}):
        shorter = without(said.nouns, code)
        group = {i for i, c in enumerate(catches) if c == code and world.things[i].role in ("relation", "attribute")}
        if shorter is None:
            yield "wrong_role", f"no reader {code} exists for this command"
        elif group and len(means(world, shorter)) < 2:
            yield "wrong_role", f"the decoys for reader {code} catch nobody"
    for code in sorted({c for c in catches if c >= 64}):
        group = {i for i, c in enumerate(catches) if c == code}
        if not any(group & means(world, swapped) for swapped in swaps(said.nouns, (code - 64) // 8, code % 8)):
            yield "wrong_role", f"the isomorphic decoys {code} are not what a reader of swapped words takes"


def swaps(nouns: Sequence[Noun], a: int, b: int) -> Iterator[tuple[Noun, ...]]:
    """The command with one kind of word swapped between phrases a and b, for each kind that both have and differ in."""
    x, y = nouns[a], nouns[b]
    pairs = []
    if x.size and y.size and x.size != y.size:
        pairs.append((replace(x, size=y.size), replace(y, size=x.size)))
    if x.color and y.color and x.color != y.color:
        pairs.append((replace(x, color=y.color), replace(y, color=x.color)))
    if x.head != y.head and not {x.head, y.head} & {"box", "object"}:
        pairs.append((replace(x, head=y.head), replace(y, head=x.head)))
    for first, second in pairs:
        yield tuple(first if j == a else second if j == b else noun for j, noun in enumerate(nouns))
