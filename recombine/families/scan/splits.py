"""Which commands are held out: every official split of SCAN, and the NACS paper's own jump series, by rule.

A split is a rule that says how often each of the 20,910 commands stands in train and in test. Three traps of the released
files are kept, because scores compare only if they are: the add-primitive train sets repeat the bare primitive about a
thousand times (so de-duplicating changes the benchmark); the template, filler and few-shot splits leave 1,209 commands
out of both sets (those with the held-out template and the head `turn`); six few-shot files have fewer extra rows than their
names say. Sampled splits have exactly the official sizes but their own samples, which depend on the seed; the same seed
gives `scan` and `nacs` the same rows.

`fit` and `validation` divide the train set as the NACS paper does: about a tenth is held out. The paper's four sizes are
exact; the other splits hold out a tenth, rounded down, of the rows that stand once, and of the copies of each repeated row.
In the jump splits (and only there) validation keeps one of a repeated command's held-out copies and the rest are dropped.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from recombine import keys
from recombine.core import Axis, Job, Option, Part, Split
from recombine.errors import Infeasible, UsageError
from recombine.families.scan.corpus import Ints, Mask, corpus, places
from recombine.families.scan.facets import FACETS, corpus_column
from recombine.families.scan.plan import SIZE, VERBS, Phrase
from recombine.predicates import atoms, mask, parse
from recombine.predicates.draw import HOLD_OUT, PredicateOption, predicate_text

Rule = Callable[[int], tuple[Ints, Ints]]
"""seed -> how often each command stands in train, and in test."""

OPTION = PredicateOption(
    "any(repeat) = twice and any(verb) = turn",
    "what the split `hold_out` holds out: a predicate over facets (`recombine list scan --facets`)",
    facets=lambda: FACETS,
    family="scan",
)

PERCENTS = (1, 2, 4, 8, 16, 32, 64)
JUMP_EXTRAS = (1, 2, 4, 8, 16, 32)
SHOTS = tuple(2**i for i in range(11))
REPLICATES = (1, 2, 3, 4, 5)
FILLERS = ("look", "walk", "run")
"""The verbs whose `around right` joins the train set of filler_num1, 2 and 3, in this order."""
FEWER_SHOTS = {(32, 3): 31, (64, 1): 61, (64, 2): 61, (64, 3): 63, (64, 4): 62, (64, 5): 60}
"""(N, replicate) -> the extra rows that the released few-shot file really has, where it is not N."""
WITHOUT_JUMP, WITH_JUMP, FEWEST_SHOTS = 13_203, 7_706, 15_225
"""Commands without `jump`; with it, but for `jump` itself; and those that every train set of the few-shot series holds."""
JUMP_COPIES = 1_467
"""How often the bare `jump` stands in train: round(13,203 / 9), a tenth of the whole; extra commands share this number."""
LEFT_COPIES = 2_189
"""How often the bare `turn left` stands in train: a tenth of the whole."""


class Held(NamedTuple):
    """What leaves train for validation: `once` rows that stand once, and `copies` of each repeated command; None says a tenth.

    `keeps_one`: validation holds each repeated command only once.
    """

    once: int | None = None
    copies: int | None = None
    keeps_one: bool = False


A_TENTH = Held()


@dataclass(frozen=True)
class ScanSplit(Split):
    """A split with the rule that fills train and test (None: its rows are read from published files), and what validation holds.

    All sizes are counted from the rule.
    """

    rule: Rule | None = None
    held: Held = A_TENTH

    def copies(self, seed: int) -> Mapping[str, Ints]:
        """How often each command stands in each part."""
        return _copies(self._division, seed)

    def rows(self, part: str, seed: int) -> Ints:
        """The places of a part's commands, copies included, in an order that the seed draws."""
        return _rows(self._division, part, seed)

    @property
    def _division(self) -> Division:
        """What decides the rows: the key of the caches."""
        if self.rule is None:
            raise UsageError(
                f"split {self.name!r} is read from its published files: say where they are with --set files=FOLDER."
            )
        return Division(self.name, self.rule, self.held)


class Division(NamedTuple):
    """The fields of a `ScanSplit` that decide its rows."""

    name: str
    rule: Rule
    held: Held


@functools.lru_cache(maxsize=64)
def _copies(division: Division, seed: int) -> Mapping[str, Ints]:
    train, test = division.rule(seed)
    once, many = train == 1, train > 1
    held = _counted(drawn(once, _tenth(once.sum(), division.held.once), division.name, "validation", seed))
    lost = _counted(many, _tenth(train.max(), division.held.copies))
    kept = _counted(many) if division.held.keeps_one else lost
    return {"train": train, "test": test, "fit": train - held - lost, "validation": held + kept}


@functools.lru_cache(maxsize=64)
def _rows(division: Division, part: str, seed: int) -> Ints:
    sorted_rows = np.repeat(np.arange(SIZE, dtype=np.int32), _copies(division, seed)[part])
    order = np.argsort(keys.states(keys.state("scan", division.name, part, "order", seed), 0, len(sorted_rows)), kind="stable")
    return sorted_rows[order]


def _tenth(count: int, held: int | None) -> int:
    return int(count) // 10 if held is None else held


def divide(
    name: str,
    claim: str,
    *,
    train: str,
    test: str,
    rule: Rule,
    repeats: int = 1,
    fixed: tuple[str, ...] = ("train", "test"),
    axis: Axis = "substitution",
    held: Held = A_TENTH,
    pools: tuple[int, int] = (SIZE, SIZE),
) -> ScanSplit:
    """A split with four parts. `fit` and `validation` divide train, and are written only when they are named.

    `repeats`: the most copies of one command in train. `fixed`: the parts that are the same for every seed.
    `pools`: from how many commands the seed chooses train and test.
    """
    apart = f"About a tenth of train, drawn by the seed{'; one row of each repeated command' * held.keeps_one}."
    rest = "The rows of train that are not held out for validation."
    both = repeats > 1  # a repeated command stands in fit and in validation

    def part(which: str, sentence: str, shares: tuple[str, ...], copies: int) -> Part:
        def size(_recipe: str) -> int:
            return int(SPLITS[name].copies(0)[which].sum())

        is_default = which in ("train", "test")
        return Part(which, sentence, size, True, is_default, shares, copies, which in fixed, exists=pools[which == "test"])

    parts = {
        "train": part("train", train, ("fit", "validation"), repeats),
        "test": part("test", test, (), 1),
        "fit": part("fit", rest, ("train", *["validation"] * both), repeats),
        "validation": part("validation", apart, ("train", *["fit"] * both), 1 if held.keeps_one else repeats),
    }
    return ScanSplit(name, claim, parts, recipes=("release",), axis=axis, rule=rule, held=held)


# --- drawing ---------------------------------------------------------------------------------------------------------


def drawn(pool: Mask, count: int, *name: str | int) -> Mask:
    """`count` commands of the pool, drawn by the stream of this name; smaller counts of one name and pool are nested."""
    order: Ints = np.argsort(keys.states(keys.state("scan", *name), 0, SIZE), kind="stable").astype(np.int32)
    chosen: Mask = np.zeros(SIZE, np.bool_)
    chosen[order[pool[order]][:count]] = True
    return chosen


def _counted(mask: Mask, copies: int = 1) -> Ints:
    return mask.astype(np.int32) * np.int32(copies)


def _place(command: str) -> Mask:
    """The mask of a single command."""
    mask: Mask = np.arange(SIZE) == places()[command]
    return mask


# --- the rules -------------------------------------------------------------------------------------------------------


def _sampled(size: int, stream: str) -> Rule:
    def rule(seed: int) -> tuple[Ints, Ints]:
        train = drawn(np.ones(SIZE, np.bool_), size, stream, seed)
        return _counted(train), _counted(~train)

    return rule


def _by_length(_seed: int) -> tuple[Ints, Ints]:
    is_short = corpus().action_length <= 22
    return _counted(is_short), _counted(~is_short)


def _isolated(primitive: str, phrase_holds: Callable[[Phrase], bool], copies: int) -> Rule:
    """Train: all commands without the primitive, and the bare primitive `copies` times. Test: all others with it."""

    def rule(_seed: int) -> tuple[Ints, Ints]:
        has, bare = corpus().holding(phrase_holds), _place(primitive)
        return _counted(~has) + _counted(bare, copies), _counted(has & ~bare)

    return rule


def _holds_jump(phrase: Phrase) -> bool:
    return phrase.verb == "jump"


def _holds_turn_left(phrase: Phrase) -> bool:
    return phrase == Phrase("turn", "", "left")


def _jump_copies(extras: int) -> int:
    return round(JUMP_COPIES / (extras + 1))


def _jump_extras(count: int, tested_without: int, *stream: str | int) -> Rule:
    """Jump, with `count` drawn commands in train; `tested_without` drawn ones are not in test (the NACS paper: always 32)."""

    def rule(seed: int) -> tuple[Ints, Ints]:
        has, bare = corpus().holding(_holds_jump), _place("jump")
        extra = drawn(has & ~bare, count, *stream, seed)
        untested = drawn(has & ~bare, tested_without, *stream, seed)
        return _counted(~has) + _counted(bare | extra, _jump_copies(count)), _counted(has & ~bare & ~untested)

    return rule


def _template(manner: str, tested: tuple[str, ...], trained: tuple[str, ...] = ()) -> Rule:
    """Test: a tested verb with `manner right`. Train: no verb but the trained ones with it. `turn` with it: in neither set."""

    def rule(_seed: int) -> tuple[Ints, Ints]:
        def holding(verbs: tuple[str, ...]) -> Mask:
            return corpus().holding(lambda phrase: phrase.verb in verbs and (phrase.manner, phrase.side) == (manner, "right"))

        dropped = holding(("turn",))
        barred = holding(tuple(verb for verb in VERBS if verb not in trained))
        return _counted(~barred & ~dropped), _counted(holding(tested) & ~dropped)

    return rule


def _few_shots(count: int, *stream: str | int) -> Rule:
    """filler_num0, and `count` rows of what filler_num1 adds to it (1,065 rows with `look around right`)."""

    def rule(seed: int) -> tuple[Ints, Ints]:
        none, test = _template("around", ("jump",))(seed)
        one, _ = _template("around", ("jump",), FILLERS[:1])(seed)
        return none + _counted(drawn(one > none, count, *stream, seed)), test

    return rule


@functools.cache
def held_out_by(text: str) -> Rule:
    """Test: the commands that satisfy the predicate. Train: all others."""
    predicate = parse(text, FACETS, "scan")
    found = mask(predicate, {atom.facet: corpus_column(atom.facet) for atom in atoms(predicate)})
    if not found.any():
        raise Infeasible(f"no command of SCAN satisfies {text!r}, so the test would be empty; hold out something that exists.")
    if found.all():
        raise Infeasible(f"every command of SCAN satisfies {text!r}, so training would be empty; add a condition.")

    def rule(_seed: int) -> tuple[Ints, Ints]:
        return _counted(~found), _counted(found)

    return rule


# --- the table -------------------------------------------------------------------------------------------------------


def _splits() -> Iterator[ScanSplit]:
    yield divide(
        "simple",
        "Trained on a random 80 % of all commands, tested on the rest: no systematic difference.",
        train="A random 80 % of all commands.",
        test="The other 20 %.",
        rule=_sampled(16_728, "simple"), held=Held(1_645), axis="random", fixed=(),
    )  # fmt: skip
    for percent in PERCENTS:
        yield divide(
            f"simple_p{percent}",
            f"Trained on a random {percent} % of all commands, tested on the rest; the seven train sets are nested.",
            train=f"A random {percent} % of all commands, which holds the smaller train sets of the series.",
            test="All other commands.",
            rule=_sampled(SIZE * percent // 100, "simple_size"), axis="random", fixed=(),
        )  # fmt: skip
    yield divide(
        "length",
        "Trained on commands of up to 22 actions, tested on those of 24 to 48.",
        train="At most 22 actions.",
        test="More than 22 actions (24, 25, 26, 27, 28, 30, 32, 33, 36, 40 or 48).",
        rule=_by_length, held=Held(1_679), axis="length",
    )  # fmt: skip
    yield divide(
        "addprim_jump",
        "`jump` is trained only on its own, and tested in every composition.",
        train="The 13,203 commands without `jump`, and `jump` itself 1,467 times.",
        test="All other commands with `jump`.",
        rule=_isolated("jump", _holds_jump, JUMP_COPIES), repeats=JUMP_COPIES,
        held=Held(1_277, 157, keeps_one=True),
    )  # fmt: skip
    yield divide(
        "addprim_turn_left",
        "`turn left` is trained only on its own, and tested in every composition.",
        train="The 19,701 commands without the phrase `turn left`, and `turn left` itself 2,189 times.",
        test="All other commands with the phrase `turn left`.",
        rule=_isolated("turn left", _holds_turn_left, LEFT_COPIES), repeats=LEFT_COPIES, held=Held(1_949, 222),
    )  # fmt: skip
    for n, replicate in product(JUMP_EXTRAS, REPLICATES):
        rule = _jump_extras(n, n, "addprim_complex_jump", n, replicate)
        yield _jump_split(f"addprim_complex_jump_num{n}_rep{replicate}", n, n, rule)
    yield from _template_splits()
    for n in (0, *JUMP_EXTRAS):
        yield _jump_split(f"nacs_jump_num{n}", n, 32, _jump_extras(n, 32, "nacs_jump"))


def _jump_split(name: str, extras: int, untested: int, rule: Rule) -> ScanSplit:
    copies = _jump_copies(extras)
    common = " (those of the largest train set, so that the series shares one test set)" if untested > extras else ""
    return divide(
        name,
        f"`jump` is trained on its own and in a sample of {extras} compositions, and tested in the others.",
        train=f"The 13,203 commands without `jump`; `jump` itself and a sample of {extras} with it, {copies} times each.",
        test=f"All other commands with `jump`, except a sample of {untested}{common}.",
        rule=rule, repeats=copies, fixed=() if extras else ("train",), pools=(WITHOUT_JUMP, WITH_JUMP),
        held=Held(1_277, None if extras else 157, keeps_one=True),
    )  # fmt: skip


def _template_splits() -> Iterator[ScanSplit]:
    dropped = "; `turn` with it is in neither set"
    yield divide(
        "template_jump_around_right",
        "`around right` is trained with every other verb, and tested with `jump`.",
        train=f"No `jump around right`{dropped}.",
        test="With the phrase `jump around right`.",
        rule=_template("around", ("jump",), FILLERS),
    )
    for manner in ("around", "opposite", ""):
        name = f"{manner} right".strip()
        yield divide(
            f"template_{name.replace(' ', '_')}",
            f"The template `VERB {name}` is never trained, and tested with all four verbs.",
            train=f"No `VERB {name}`{dropped}.",
            test=f"With walk, look, run or jump in `VERB {name}`.",
            rule=_template(manner, VERBS),
        )
    for n in range(len(FILLERS) + 1):
        yield divide(
            f"filler_num{n}",
            f"`jump around right` is tested when `VERB around right` was trained with {n} other verbs.",
            train=f"`VERB around right` only with {', '.join(FILLERS[:n]) or 'no verb'}{dropped}.",
            test="With the phrase `jump around right`.",
            rule=_template("around", ("jump",), FILLERS[:n]),
        )
    for n, replicate in product(SHOTS, REPLICATES):
        shots = FEWER_SHOTS.get((n, replicate), n)
        yield divide(
            f"fewshot_num{n}_rep{replicate}",
            f"`jump around right` is tested when `look around right` was trained in a sample of {shots} commands.",
            train=f"The train set of filler_num0, and a sample of {shots} of the rows that filler_num1 adds to it.",
            test="With the phrase `jump around right`.",
            rule=_few_shots(shots, "fewshot", n, replicate), fixed=("test",), pools=(FEWEST_SHOTS, SIZE),
        )  # fmt: skip


MCD = ("mcd1", "mcd2", "mcd3")
MCD_ROWS = {"train": 8_365, "test": 1_045, "validation": 1_045}


def _mcd(name: str) -> ScanSplit:
    files = {"train": "train", "test": "test", "validation": "dev"}
    return ScanSplit(
        name,
        "Words are spread alike over train and test, their compounds as differently as a search could make them (maximum "
        "compound divergence).",
        {
            part: Part(part, f"The published {file} file.", MCD_ROWS[part], True, part != "validation", fixed=True, exists=SIZE)
            for part, file in files.items()
        },
        aliases={"fit": (name, "train")},
        recipes=("release",),
        needs_files=f"the published {name.upper()} files (--set files=FOLDER with tasks_train_{name}.txt and so on)",
    )


def _own() -> ScanSplit:
    return replace(
        divide(
            HOLD_OUT,
            "Training has no command that satisfies the user's predicate (--hold-out); the test has only such commands.",
            train="The commands that do not satisfy the predicate.",
            test="The commands that satisfy the predicate.",
            rule=held_out_by(str(OPTION.default)), axis="composition",
        ),
        is_published=False,
    )  # fmt: skip


POOL = "pool"


@dataclass(frozen=True)
class Pool(ScanSplit):
    """All commands, in the same order in both parts: what a search by divergence chooses from."""

    def copies(self, seed: int) -> Mapping[str, Ints]:  # noqa: ARG002 - the same for every seed
        """Every command stands once in each part."""
        return dict.fromkeys(self.parts, np.ones(SIZE, np.int64))

    def rows(self, part: str, seed: int) -> Ints:  # noqa: ARG002 - the same for every part and seed
        """The canonical order."""
        return np.arange(SIZE, dtype=np.int32)


def _pool() -> Pool:
    rule = "All 20,910 commands, in one order; a choice by divergence takes each command for one part at most."
    parts = {
        "train": Part("train", rule, SIZE, True, fixed=True, exists=SIZE),
        "test": Part("test", rule, SIZE, True, False, shares=("train",), fixed=True, exists=SIZE),
    }
    claim = "All commands stand in both parts, for `--hold-out-mcd` to choose from; on its own it tests nothing."
    return Pool(POOL, claim, parts, recipes=("release",), axis="random", is_published=False)


def split_of(job: Job, options: Mapping[str, Option]) -> ScanSplit:
    """The job's split; `hold_out` with the predicate of the job."""
    split = SPLITS[job.split]
    return replace(split, rule=held_out_by(predicate_text(job, options))) if job.split == HOLD_OUT else split


SPLITS: Mapping[str, ScanSplit] = {split.name: split for split in (*_splits(), *map(_mcd, MCD), _own(), _pool())}
"""By name. A split is one entry here, and one claim of the same name in `oracle.CLAIMS`."""


# --- the rows --------------------------------------------------------------------------------------------------------

LEARNT = {"test": "train", "validation": "fit"}
"""Part -> the part that a model learns from before it is tested on this one."""


def leak_free(tested: Ints, trained: Ints) -> Mask:
    """Which of the tested commands have a meaning (an action sequence) that no trained command has."""
    meaning = corpus().meaning
    seen = np.zeros(int(meaning.max()) + 1, np.bool_)
    seen[meaning[trained]] = True
    fresh: Mask = ~seen[meaning[tested]]
    return fresh
