"""A deliberate second implementation: the laws of SCAN and NACS by rewriting text, sharing no code with the generator.

The generator composes meanings over plan trees and counts copies in arrays. Here a command is only text: one regular
expression says whether it is in the grammar, seven rewriting rules turn its words into actions, and each split is a sentence
about words. Nothing but `keys`, which names the random streams, is used by both.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import product
from typing import Any

from recombine import keys
from recombine.core import Batch, Claim, Example, Problem, option
from recombine.errors import shown
from recombine.predicates.judge import holds

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

Divided = tuple[Counter[str], Set[str]]
"""How often each command stands in train, and which commands stand (once) in test."""
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
"""Split -> (phrase that every test command holds, phrase that no train command holds). Such phrases with `turn` are in neither set."""
FEW_SHOT_ANOMALIES = {(32, 3): 31, (64, 1): 61, (64, 2): 61, (64, 3): 63, (64, 4): 62, (64, 5): 60}
HELD_WITH_JUMP = (1_277, 157)
"""Rows that leave train for validation in the jump splits: of those that stand once, and copies of a single repeated one."""


@functools.cache
def _order() -> dict[str, int]:
    return {command: i for i, command in enumerate(everything())}


def _ranked(pool: Iterable[str], *name: str | int) -> list[str]:
    """The pool in the order that the stream of this name draws."""
    order = _order()
    drawn = keys.states(keys.state("scan", *name), 0, len(order)).tolist()
    return sorted(pool, key=lambda command: (drawn[order[command]], order[command]))


@functools.cache
def _holding(pattern: str) -> frozenset[str]:
    words = re.compile(rf"\b{pattern}\b")
    return frozenset(command for command in everything() if words.search(command))


@dataclass(frozen=True)
class Membership:
    """A claim: the commands of train and test, said in the words of the papers; `fit` and `validation` divide train.

    `held` says how many rows that stand once, and how many copies of a repeated one, leave train; None says a tenth of each.
    """

    split: str
    divided: Callable[[int], Divided]
    held: tuple[int, int] | None = None

    def __call__(self, example: Example, part: str) -> str:
        """Why the command may not stand in this part under the example's seed; "" if it may."""
        command = str(example.inputs.get("command", example.answer))
        return self.refusal(command, part, int(example.meta["seed"]))

    def refusal(self, command: str, part: str, seed: int) -> str:
        """The same for the bare text of a command."""
        return "" if self.expected(seed)[part][command] else f"{shown(command)} does not belong there under seed {seed}"

    def expected(self, seed: int) -> Mapping[str, Counter[str]]:
        """Every part as a multiset of commands."""
        return _expected(self, seed)


@functools.lru_cache(maxsize=8)
def _expected(claim: Membership, seed: int) -> Mapping[str, Counter[str]]:
    train, test = claim.divided(seed)
    once = [command for command, count in train.items() if count == 1]
    many = {command: count for command, count in train.items() if count > 1}
    rows = claim.held[0] if claim.held else len(once) // 10
    held = Counter(_ranked(once, claim.split, "validation", seed)[:rows])
    leaving = Counter(
        {command: claim.held[1] if claim.held and len(many) == 1 else count // 10 for command, count in many.items()}
    )
    kept = Counter(leaving.keys()) if "jump" in many else leaving
    return {"train": train, "test": Counter(test), "fit": train - held - leaving, "validation": held + kept}


def _simple(size: int, stream: str) -> Callable[[int], Divided]:
    def divided(seed: int) -> Divided:
        ranked = _ranked(everything(), stream, seed)
        return Counter(ranked[:size]), set(ranked[size:])

    return divided


def _length(_seed: int) -> Divided:
    short = {command for command in everything() if len(_rewritten(command)) < 23}
    return Counter(short), set(everything()) - short


def _turn_left(_seed: int) -> Divided:
    having = _holding("turn left")
    return Counter({**dict.fromkeys(set(everything()) - having, 1), "turn left": 2_189}), having - {"turn left"}


def _jump(extras: int, untested: int, *stream: str | int) -> Callable[[int], Divided]:
    """`jump` alone and `extras` drawn compositions are trained; the first `untested` drawn ones are not tested."""

    def divided(seed: int) -> Divided:
        having = _holding("jump")
        ranked = _ranked(having - {"jump"}, *stream, seed)
        repeated = dict.fromkeys(["jump", *ranked[:extras]], round(1_467 / (extras + 1)))
        return Counter({**dict.fromkeys(set(everything()) - having, 1), **repeated}), set(ranked[untested:])

    return divided


def _held_out_phrase(key: str, shots: tuple[int, int] | None = None) -> Callable[[int], Divided]:
    """Test: commands with a phrase. Train: commands without it. `shots` (N, replicate): and N drawn ones of filler_num1."""
    tested, untrained = HELD_OUT_PHRASES[key]

    def divided(seed: int) -> Divided:
        kept = set(everything()) - _holding(re.sub(r"\(.*\)|jump", "turn", tested))
        train = Counter(kept - _holding(untrained))
        if shots is not None:
            more = kept - _holding(HELD_OUT_PHRASES["filler1"][1]) - set(train)
            train.update(_ranked(more, "fewshot", *shots, seed)[: FEW_SHOT_ANOMALIES.get(shots, shots[0])])
        return train, kept & _holding(tested)

    return divided


def read_facets(command: str) -> dict[str, str | int | bool | tuple[str | int | bool, ...]]:
    """What a predicate can say of a command, read from its words."""
    joint = re.search(r" (and|after) ", command)
    clauses = re.split(r" (?:and|after) ", command)
    words = [clause.split() for clause in clauses]

    def first_of(listed: list[str], known: tuple[str, ...], otherwise: str) -> str:
        return next((word for word in listed if word in known), otherwise)

    return {
        "verb": tuple(listed[0] for listed in words),
        "direction": tuple(first_of(listed, ("left", "right"), "none") for listed in words),
        "manner": tuple(first_of(listed, ("opposite", "around"), "none") for listed in words),
        "repeat": tuple(first_of(listed, ("twice", "thrice"), "once") for listed in words),
        "phrase": tuple(re.sub(r" (?:twice|thrice)$", "", clause) for clause in clauses),
        "clause": tuple(clauses),
        "conjunction": joint[1] if joint else "none",
        "clauses": len(clauses),
        "command_length": len(command.split()),
        "action_length": len(_rewritten(command)),
    }


@dataclass(frozen=True)
class ByPredicate:
    """The claim of a user's split: the test has the commands that satisfy the row's predicate, and training has the others."""

    def of(self, text: str) -> Membership:
        """The claim for one predicate."""
        return _held_out_by(text)

    def __call__(self, example: Example, part: str) -> str:
        """Why the command may not stand in this part; "" if it may."""
        return self.of(str(example.meta.get("predicate", "")))(example, part)


@functools.lru_cache(maxsize=64)
def _held_out_by(text: str) -> Membership:
    test = {command for command in everything() if holds(text, read_facets(command))}
    train = Counter(command for command in everything() if command not in test)
    return Membership("hold_out", lambda _seed: (train, test))


def _from_files(_example: Example, _part: str) -> str:
    """The published MCD files are lists without a rule: `parts_equal_to` and the leak check of `verify` judge them."""
    return ""


def _claims() -> Iterator[tuple[str, Claim]]:
    def rule(name: str, divided: Callable[[int], Divided], held: tuple[int, int] | None = None) -> tuple[str, Claim]:
        return name, Membership(name, divided, held)

    yield rule("simple", _simple(16_728, "simple"), (1_645, 0))
    for percent in (1, 2, 4, 8, 16, 32, 64):
        yield rule(f"simple_p{percent}", _simple(20_910 * percent // 100, "simple_size"))
    yield rule("length", _length, (1_679, 0))
    yield rule("addprim_jump", _jump(0, 0, "addprim_jump"), HELD_WITH_JUMP)
    yield rule("addprim_turn_left", _turn_left, (1_949, 222))
    for n, replicate in product((1, 2, 4, 8, 16, 32), range(1, 6)):
        stream = ("addprim_complex_jump", n, replicate)
        yield rule(f"addprim_complex_jump_num{n}_rep{replicate}", _jump(n, n, *stream), HELD_WITH_JUMP)
    for n in (0, 1, 2, 4, 8, 16, 32):
        yield rule(f"nacs_jump_num{n}", _jump(n, 32, "nacs_jump"), HELD_WITH_JUMP)
    for key in HELD_OUT_PHRASES:
        yield rule(key.replace("filler", "filler_num"), _held_out_phrase(key))
    for n, replicate in product((2**i for i in range(11)), range(1, 6)):
        yield rule(f"fewshot_num{n}_rep{replicate}", _held_out_phrase("filler0", (n, replicate)))
    for name in ("mcd1", "mcd2", "mcd3"):
        yield name, _from_files
    yield "hold_out", ByPredicate()
    yield rule("pool", lambda _seed: (Counter(everything()), set(everything())))


CLAIMS: Mapping[str, Claim] = dict(_claims())
"""Split -> its claim. A new split needs its entry here."""


@functools.lru_cache(maxsize=8)
def _seen(claim: Membership, seed: int, part: str) -> frozenset[tuple[str, ...]]:
    if claim.split == "pool" and part == "test":  # the row itself is never trained, any other row may be
        return frozenset(meant for meant, count in Counter(map(_rewritten, everything())).items() if count > 1)
    learnt = {"test": "train", "validation": "fit"}.get(part)
    return frozenset(_rewritten(command) for command in claim.expected(seed)[learnt]) if learnt else frozenset()


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
    if job.split == "hold_out":
        from recombine.families.scan.generate import OPTIONS

        fixed["predicate"] = option(job, OPTIONS, "predicate")
    for row in range(len(batch)):
        values = batch.row(row)
        for code, text in laws(values["command"], values["actions"], {**values, **fixed}):
            yield row, Problem(code, text)


def laws(command: str, actions: str, meta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(code, text) of every broken law: grammar, vocabulary, meaning, columns, membership, leaks.

    Membership and leaks are judged where split, part and seed are known.
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
    yield from _membership(command, actions, meant, meta)


def _membership(command: str, actions: str, meant: tuple[str, ...], meta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The claim of the row's split, and whether `leak_free` is true; nothing where split or seed is not known."""
    split, part, seed = meta.get("split"), str(meta.get("part", "")), meta.get("seed")
    if not isinstance(split, str) or not isinstance(seed, int):
        return
    if split not in CLAIMS:
        yield "unjudged_split", f"the oracle has no claim for split {shown(split)}, so nothing says what belongs there"
        return
    claim = CLAIMS[split]
    if isinstance(claim, ByPredicate):
        claim = claim.of(str(meta.get("predicate", "")))
    if not isinstance(claim, Membership):
        reason = claim(_bare(command, actions, meta), part)
        if reason:
            yield "wrong_split", f"it cannot be in {split}/{part}: {reason}"
        return
    if part not in claim.expected(seed):
        yield "wrong_split", f"split {split} has no part {shown(part)}"
        return
    reason = claim.refusal(command, part, seed)
    if reason:
        yield "wrong_split", f"it cannot be in {split}/{part}: {reason}"
    is_fresh = meant not in _seen(claim, seed, part)
    if meta.get("leak_free", is_fresh) != is_fresh:
        yield "wrong_leak_free", f"leak_free is {meta['leak_free']} for {shown(command)}, expected {is_fresh}"


def _bare(command: str, actions: str, meta: Mapping[str, Any]) -> Example:
    """The row as an example that a claim can read."""
    from recombine.families.scan import SCAN

    return Example(SCAN, "", {"command": command}, actions, None, None, meta)


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


RULE_BASED = ("length", "addprim_jump", "addprim_turn_left", *(k.replace("filler", "filler_num") for k in HELD_OUT_PHRASES))
"""Splits that are the same for every seed."""


def parts_equal_to(commands: Counter[str]) -> list[str]:
    """The official parts (`length/train`, …) that hold exactly these commands with these multiplicities."""
    if commands == Counter(everything()):
        return ["tasks"]
    rows = commands.total()
    return [f"{split}/{part}" for (split, part), size in _sizes().items() if size == rows and _held(split)[part] == commands]


@functools.cache
def _sizes() -> dict[tuple[str, str], int]:
    """The rows of every official part; a file of another size equals none of them."""
    return {(split, part): held.total() for split in RULE_BASED for part, held in _held(split).items()}


def _held(split: str) -> dict[str, Counter[str]]:
    """The commands of a rule-based split's parts."""
    claim = CLAIMS[split]
    assert isinstance(claim, Membership)
    train, test = claim.divided(0)
    return {"train": train, "test": Counter(test)}
