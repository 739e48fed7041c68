"""The derivation, step by step; and the shortcut readers, each of which misreads commands in one way.

A reader is a wrong interpreter: what it makes of a clause, and how it joins two. For SCAN its answer is what it reads in the
command. For NACS it is a command in which it reads the given actions; a wrong command therefore names every reader for whom
it would have been right. Where several commands would do for a NACS reader, a wrong one is shown, so the share of examples
that such a reader gets right is the least that it could be.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

from recombine.core import Example, Explanation, Shortcut
from recombine.families.scan.corpus import corpus, inverses, places
from recombine.families.scan.generate import texts
from recombine.families.scan.plan import (
    ACTS,
    CLAUSES,
    REPEATS,
    SIZE,
    TURNS,
    Clause,
    Command,
    format_actions,
    parse_actions,
    plan_at,
)

SWAPPED = str.maketrans("<>", "><")
UNTURNED = str.maketrans("", "", "<>")


def _in_order(command: Command, first: str, second: str) -> str:
    return second + first if command.conjunction == "after" else first + second


@dataclass(frozen=True)
class Reader:
    """A misreading: `clause` says what a clause means to this reader, `join` what two joined clauses mean."""

    name: str
    reader: str
    clause: Callable[[Clause], str] = Clause.actions
    join: Callable[[Command, str, str], str] = _in_order


def _with_manner(manner: dict[str, str]) -> Callable[[Clause], str]:
    """Clauses read with one manner taken for another."""

    def read(clause: Clause) -> str:
        phrase = clause.phrase
        return Clause(replace(phrase, manner=manner.get(phrase.manner, phrase.manner)), clause.times).actions()

    return read


def _turning_and_acting(clause: Clause) -> str:
    phrase = clause.phrase
    if phrase.manner != "opposite":
        return clause.actions()
    return (TURNS[phrase.side] + ACTS[phrase.verb]) * 2 * clause.times


def _turning_before_acting(clause: Clause) -> str:
    phrase = clause.phrase
    if phrase.manner != "around":
        return clause.actions()
    return (TURNS[phrase.side] * 4 + ACTS[phrase.verb]) * clause.times


def _repeating_more(clause: Clause) -> str:
    return clause.phrase.actions() * (3 if clause.times == 2 else clause.times)


def _repeating_last(clause: Clause) -> str:
    once = clause.phrase.actions()
    return once + once[-1] * (clause.times - 1)


def _repeating_all(command: Command, first: str, _second: str) -> str:
    if command.second is None:
        return first
    return _in_order(command, first, command.second.phrase.actions()) * command.second.times


READERS: tuple[Reader, ...] = (
    Reader("ignores_repetition", "does everything once", lambda c: c.phrase.actions()),
    Reader("twice_for_thrice", "does twice what should be done thrice", lambda c: c.phrase.actions() * min(c.times, 2)),
    Reader("thrice_for_twice", "does thrice what should be done twice", _repeating_more),
    Reader("repeats_last_action", "repeats only the last action of a phrase", _repeating_last),
    Reader("repeats_everything", "repeats the whole command as often as its last clause", join=_repeating_all),
    Reader("ignores_direction", "never turns", lambda c: c.actions().translate(UNTURNED)),
    Reader("swaps_sides", "takes left for right and right for left", lambda c: c.actions().translate(SWAPPED)),
    Reader("ignores_manner", "overlooks `opposite` and `around`", _with_manner({"opposite": "", "around": ""})),
    Reader("around_as_opposite", "takes `around` for `opposite`", _with_manner({"around": "opposite"})),
    Reader("opposite_as_around", "takes `opposite` for `around`", _with_manner({"opposite": "around"})),
    Reader("acts_at_each_turn", "acts after each of the two turns of `opposite`", _turning_and_acting),
    Reader("turns_before_acting", "makes all four turns of `around` before acting once", _turning_before_acting),
    Reader("acts_before_turning", "does the verb first and turns afterwards", lambda c: c.phrase.actions()[::-1] * c.times),
    Reader("after_as_and", "reads `after` as `and`, in the order said", join=lambda _, a, b: a + b),
    Reader("and_as_after", "reads `and` as `after`, the second clause first", join=lambda _, a, b: b + a),
    Reader("drops_second", "drops the second of two clauses", join=lambda _command, a, _b: a),
    Reader("drops_first", "drops the first of two clauses", join=lambda _, a, b: b or a),
)


@functools.cache
def _clause_readings() -> tuple[dict[Clause, str], ...]:
    """For each reader, what each of the 102 clauses means to it."""
    return tuple({clause: reader.clause(clause) for clause in CLAUSES} for reader in READERS)


def _read(number: int, command: Command) -> str:
    clauses = _clause_readings()[number]
    second = "" if command.second is None else clauses[command.second]
    return READERS[number].join(command, clauses[command.first], second)


@functools.lru_cache(maxsize=8192)
def readings_of(place: int) -> tuple[tuple[str, str], ...]:
    """(reader's name, the letters it reads) for the command at this place of the corpus."""
    command = plan_at(place)
    return tuple((reader.name, _read(number, command)) for number, reader in enumerate(READERS))


@functools.cache
def _shortest_first() -> list[tuple[int, Command]]:
    """Every command with its place, shorter ones first."""
    lengths = corpus().command_length.tolist()
    return [(place, plan_at(place)) for place in sorted(range(SIZE), key=lengths.__getitem__)]


@functools.cache
def _misread(number: int) -> dict[str, list[int]]:
    """Letters -> the places of the commands in which this reader reads them, shorter commands first."""
    grouped: dict[str, list[int]] = {}
    for place, command in _shortest_first():
        grouped.setdefault(_read(number, command), []).append(place)
    return grouped


def explain(example: Example) -> Explanation:
    """The derivation of the command and its meaning, and what each shortcut reader would answer."""
    command, actions = texts(example)
    style = str(example.meta.get("style", "file"))
    place = places().get(command)
    if place is None:
        return Explanation((f"`{command}` is not a command of the grammar.",), ())
    steps = list(_derivation(plan_at(place), style))
    if "actions" in example.inputs:
        others = [other for other in inverses(actions) if other != command]
        alike = f"{len(others)} other command{'s' * (len(others) != 1)}" if others else "No other command"
        steps.append(f"{alike} mean{'s' * (len(others) <= 1)} the same{': ' if others else ''}{'; '.join(others)}.")
        letters = parse_actions(actions) or ""
        answers = [_backward(number, letters) for number in range(len(READERS))]
    else:
        answers = [format_actions(letters, style) or None for _, letters in readings_of(place)]
    return Explanation(tuple(steps), tuple(Shortcut(r.name, r.reader, a) for r, a in zip(READERS, answers, strict=True)))


def commands_read_as(number: int, letters: str) -> list[str]:
    """Every command in which reader `number` reads these letters, shorter ones first."""
    commands = corpus().commands
    return [commands[place] for place in _misread(number).get(letters, [])]


def _backward(number: int, letters: str) -> str | None:
    """The shortest command in which this reader reads these letters, a wrong one if there is any."""
    everything = corpus()
    found = _misread(number).get(letters, [])
    wrong = next((place for place in found if everything.letters[place] != letters), found[0] if found else None)
    return None if wrong is None else everything.commands[wrong]


def _derivation(command: Command, style: str) -> list[str]:
    def shown(letters: str) -> str:
        return format_actions(letters, style)

    steps = []
    if command.second is not None:
        steps.append(f"C -> S {command.conjunction} S: `{command.first}` {command.conjunction} `{command.second}`.")
    for clause in dict.fromkeys(command.clauses):
        phrase = clause.phrase
        how = {
            "around": "turn and act, four times" if phrase.verb != "turn" else "turn four times",
            "opposite": "turn twice, then act" if phrase.verb != "turn" else "turn twice",
            "": "turn, then act" if phrase.verb != "turn" and phrase.side else "do it",
        }[phrase.manner]
        steps.append(f"[{phrase}] = {shown(phrase.actions())} ({how}).")
        if clause.times > 1:
            steps.append(f"[{clause}] = {shown(clause.actions())} (`{REPEATS[clause.times - 1]}`: {clause.times} times over).")
    if command.second is not None:
        order = "what is said second is done first" if command.conjunction == "after" else "in the order said"
        steps.append(f"[{command}] = {shown(command.actions())} (`{command.conjunction}`: {order}).")
    return steps
