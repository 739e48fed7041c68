"""A deliberate second implementation: the laws of SCAN and NACS by rewriting text, sharing no code with the generator.

The generator composes meanings over plan trees and counts copies in arrays. Here a command is only text: one regular
expression says whether it is in the grammar, seven rewriting rules turn its words into actions, and each split is a sentence
about words. Nothing but `keys`, which names the random streams, is used by both.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import product
from typing import Any

from recombine import keys
from recombine.core import Batch, Example, Problem
from recombine.errors import shown

_CLAUSE = (
    r"(?:(?:walk|look|run|jump)(?:(?: opposite| around)? (?:left|right))?|turn(?: opposite| around)? (?:left|right))"
    r"(?: twice| thrice)?"
)
GRAMMAR = re.compile(rf"{_CLAUSE}(?: (?:and|after) {_CLAUSE})?")
REWRITES = tuple(
    (re.compile(pattern, re.MULTILINE), result)
    for pattern, result in (
        (r"^(.+) after (.+)$", r"\2\n\1"),
        (r"^(.+) and (.+)$", r"\1\n\2"),
        (r"^(.+) thrice$", r"\1\n\1\n\1"),
        (r"^(.+) twice$", r"\1\n\1"),
        (r"^(\w+) around (\w+)$", r"\2 \1 \2 \1 \2 \1 \2 \1"),
        (r"^(\w+) opposite (\w+)$", r"\2 \2 \1"),
        (r"^(\w+) (left|right)$", r"\2 \1"),
    )
)
"""One phrase a line; in the end every word but `turn` is an action."""
WORDS = ("walk", "look", "run", "jump", "left", "right")
SPELLINGS = (
    dict(zip(WORDS, ("I_WALK", "I_LOOK", "I_RUN", "I_JUMP", "I_TURN_LEFT", "I_TURN_RIGHT"), strict=True)),
    dict(zip(WORDS, ("WALK", "LOOK", "RUN", "JUMP", "LTURN", "RTURN"), strict=True)),
)
PLAIN = {spelling[word]: SPELLINGS[0][word] for spelling in SPELLINGS for word in WORDS}
"""Tokens of either spelling -> the released files' one."""
PAPER = frozenset(SPELLINGS[1].values())


# --- meaning ---------------------------------------------------------------------------------------------------------


def meaning(command: str) -> tuple[str, ...] | None:
    """What the command means, in the released files' tokens; None if it is not in the grammar."""
    return _rewritten(command) if len(command) < 100 and GRAMMAR.fullmatch(command) else None


@functools.cache
def _rewritten(command: str) -> tuple[str, ...]:
    """The meaning of a command of the grammar (so the cache holds at most 20,910)."""
    for pattern, result in REWRITES:
        command = pattern.sub(result, command)
    return tuple(SPELLINGS[0][word] for word in command.split() if word != "turn")


@functools.cache
def everything() -> tuple[str, ...]:
    """All commands, in the canonical order: single clauses, `and`, `after`; bare verbs first, `twice` and `thrice` fastest."""
    bare = ("walk", "look", "run", "jump")
    sided = (
        " ".join(words).replace("  ", " ") for words in product((*bare, "turn"), ("", "opposite", "around"), ("left", "right"))
    )
    clauses = [f"{phrase}{repeat}" for phrase in (*bare, *sided) for repeat in ("", " twice", " thrice")]
    joined = [f"{a} {word} {b}" for word in ("and", "after") for a in clauses for b in clauses]
    return (*clauses, *joined)


@functools.cache
def commands_per_meaning() -> Counter[tuple[str, ...]]:
    """How many commands mean each action sequence."""
    return Counter(_rewritten(command) for command in everything())


# --- membership ------------------------------------------------------------------------------------------------------

NAME = re.compile(r"(?P<kind>.+?)(?:_(?:num|p)(?P<number>\d+))?(?:_rep(?P<replicate>\d))?")
"""A split's name: its kind, and perhaps a number and a replicate."""
ANY = "(?:walk|look|run|jump)"
HELD_OUT_PHRASES = {
    "template_jump_around_right": ("jump around right", "jump around right"),
    "template_around_right": (f"{ANY} around right", f"{ANY} around right"),
    "template_opposite_right": (f"{ANY} opposite right", f"{ANY} opposite right"),
    "template_right": (f"{ANY} right", f"{ANY} right"),
    "filler0": ("jump around right", f"{ANY} around right"),
    "filler1": ("jump around right", "(?:walk|run|jump) around right"),
    "filler2": ("jump around right", "(?:run|jump) around right"),
    "filler3": ("jump around right", "jump around right"),
}
"""What a test command holds, and what no train command holds; the same with `turn` is in neither set."""
FEW_SHOT_ANOMALIES = {(32, 3): 31, (64, 1): 61, (64, 2): 61, (64, 3): 63, (64, 4): 62, (64, 5): 60}
HELD_OUT_ROWS = {"simple": (1_645, 0), "length": (1_679, 0), "addprim_turn_left": (1_949, 222), "addprim_jump": (1_277, 157)}
"""Rows that leave train for validation in the NACS paper: of those that stand once, and copies of the repeated one."""


@functools.cache
def _order() -> dict[str, int]:
    return {command: i for i, command in enumerate(everything())}


def _ranked(pool: Iterable[str], *name: str | int) -> list[str]:
    """The pool in the order that the stream of this name draws."""
    base, order = keys.state("scan", *name), _order()
    return sorted(pool, key=lambda command: (keys.item_state(base, order[command]), order[command]))


@functools.cache
def _holding(pattern: str) -> frozenset[str]:
    words = re.compile(rf"\b{pattern}\b")
    return frozenset(command for command in everything() if words.search(command))


def _train_and_test(split: str, seed: int) -> tuple[Counter[str], Set[str]]:
    """How often each command stands in train, and which stand (once) in test, in the words of the original papers."""
    match = NAME.fullmatch(split)
    assert match is not None
    kind, number, replicate = match["kind"], int(match["number"] or 0), int(match["replicate"] or 0)
    whole = set(everything())
    if kind == "simple":
        size, stream = (len(whole) * number // 100, "simple_size") if number else (16_728, "simple")
        ranked = _ranked(whole, stream, seed)
        return Counter(ranked[:size]), set(ranked[size:])
    if kind == "length":
        short = {command for command in whole if len(_rewritten(command)) < 23}
        return Counter(short), whole - short
    if kind == "addprim_turn_left":
        having = _holding("turn left")
        return Counter({**dict.fromkeys(whole - having, 1), "turn left": 2_189}), having - {"turn left"}
    if kind.endswith("jump"):
        return _jump(kind, number, replicate, seed)
    return _held_out_phrase(kind, number, replicate, seed)


def _jump(kind: str, extras: int, replicate: int, seed: int) -> tuple[Counter[str], Set[str]]:
    having = _holding("jump")
    composed = having - {"jump"}
    stream = (kind, seed) if kind == "nacs_jump" else (kind, extras, replicate, seed)
    ranked = _ranked(composed, *stream)
    repeated = dict.fromkeys(["jump", *ranked[:extras]], round(1_467 / (extras + 1)))
    train = Counter({**dict.fromkeys(set(everything()) - having, 1), **repeated})
    return train, set(ranked[32 if kind == "nacs_jump" else extras :])


def _held_out_phrase(kind: str, number: int, replicate: int, seed: int) -> tuple[Counter[str], Set[str]]:
    key = {"filler": f"filler{number}", "fewshot": "filler0"}.get(kind, kind)
    tested, untrained = HELD_OUT_PHRASES[key]
    kept = set(everything()) - _holding(re.sub(r"\(.*\)|jump", "turn", tested))
    train = Counter(kept - _holding(untrained))
    if kind == "fewshot":
        more = kept - _holding(HELD_OUT_PHRASES["filler1"][1]) - set(train)
        ranked = _ranked(more, "fewshot", number, replicate, seed)
        train.update(ranked[: FEW_SHOT_ANOMALIES.get((number, replicate), number)])
    return train, kept & _holding(tested)


@functools.lru_cache(maxsize=8)
def expected(split: str, seed: int) -> Mapping[str, Counter[str]]:
    """Every part of a split as a multiset of commands."""
    train, test = _train_and_test(split, seed)
    once = [command for command, count in train.items() if count == 1]
    many = {command: count for command, count in train.items() if count > 1}
    is_jump = "jump" in many
    rows, copies = HELD_OUT_ROWS["addprim_jump"] if is_jump else HELD_OUT_ROWS.get(split, (len(once) // 10, 0))
    held = Counter(_ranked(once, split, "validation", seed)[:rows])
    leaving = Counter({command: copies if len(many) == 1 else count // 10 for command, count in many.items()})
    kept = Counter(leaving.keys()) if is_jump else leaving
    return {"train": train, "test": Counter(test), "fit": train - held - leaving, "validation": held + kept}


@functools.lru_cache(maxsize=8)
def _seen(split: str, seed: int, part: str) -> frozenset[tuple[str, ...]]:
    learnt = {"test": "train", "validation": "fit"}.get(part)
    return frozenset(_rewritten(command) for command in expected(split, seed)[learnt]) if learnt else frozenset()


# --- the laws --------------------------------------------------------------------------------------------------------


def validate(example: Example) -> list[Problem]:
    """Every broken law of one example, generated or read from a file."""
    command = example.inputs.get("command", example.answer)
    actions = example.inputs.get("actions", example.answer)
    place = str(example.meta.get("place", ""))
    return [Problem(code, text, place=place) for code, text in laws(str(command), str(actions), example.meta)]


def validate_batch(batch: Batch) -> Iterator[tuple[int, Problem]]:
    """The same findings for a whole batch, without making examples."""
    job = batch.job
    fixed = {"split": job.split, "part": job.part, "seed": job.seed}
    for row in range(len(batch)):
        values = batch.row(row)
        for code, text in laws(values["command"], values["actions"], {**values, **fixed}):
            yield row, Problem(code, text)


def laws(command: str, actions: str, meta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(code, text) of every broken law: grammar, vocabulary, meaning, columns, membership, leaks.

    Membership and leaks are judged where split, part and seed are known and the split is a rule (MCD is only files).
    """
    tokens = actions.split(" ")
    unknown = [token for token in tokens if token not in PLAIN]
    if unknown:
        yield "unknown_action", f"{shown(unknown[0])} is not an action"
    elif not PAPER.isdisjoint(tokens) and not PAPER.issuperset(tokens):
        yield "mixed_style", f"the actions {shown(actions)} mix the files' and the papers' spelling"
    meant = meaning(command)
    if meant is None:
        yield "not_in_grammar", f"{shown(command)} is not a command of the grammar"
        return
    if not unknown and tuple(PLAIN[token] for token in tokens) != meant:
        yield "wrong_label", f"{shown(command)} means {shown(' '.join(meant), 700)}, not {shown(actions, 700)}"
    yield from _columns(command, meant, meta)
    split, part, seed = meta.get("split"), meta.get("part"), meta.get("seed")
    if not isinstance(split, str) or not isinstance(seed, int) or re.fullmatch(r"mcd\d", split):
        return
    if not expected(split, seed).get(str(part), Counter())[command]:
        yield "wrong_part", f"{shown(command)} does not belong in {split}/{part} of seed {seed}"
    is_fresh = meant not in _seen(split, seed, str(part))
    if meta.get("leak_free", is_fresh) != is_fresh:
        yield "wrong_leak_free", f"leak_free is {meta['leak_free']} for {shown(command)}, expected {is_fresh}"


def _columns(command: str, meant: tuple[str, ...], meta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    joint = re.search(r"\b(and|after)\b", command)
    facts = {
        "template": re.sub(r"\b(left|right)\b", "SIDE", re.sub(r"\b(walk|look|run|jump)\b", "VERB", command)),
        "conjunction": joint[1] if joint else "",
        "command_length": len(command.split()),
        "action_length": len(meant),
        "repeats": 3 if "thrice" in command else 2 if "twice" in command else 1,
        "readings": commands_per_meaning()[meant] if "readings" in meta else None,
    }
    for name, fact in facts.items():
        if name in meta and meta[name] != fact:
            yield "wrong_column", f"{name} is {shown(meta[name])}, expected {shown(fact)}"


RULE_BASED = ("length", "addprim_jump", "addprim_turn_left", *(k for k in HELD_OUT_PHRASES if "filler" not in k))


def parts_equal_to(commands: Counter[str]) -> list[str]:
    """The official parts (`length/train`, …) that hold exactly these commands with these multiplicities."""
    if commands == Counter(everything()):
        return ["tasks"]
    found = []
    for split in (*RULE_BASED, *(f"filler_num{n}" for n in range(4))):
        train, test = _train_and_test(split, 0)
        found += [f"{split}/{part}" for part, held in (("train", train), ("test", Counter(test))) if held == commands]
    return found
