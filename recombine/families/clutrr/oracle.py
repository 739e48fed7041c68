"""The oracle: a deliberate second implementation that shares no code with the generator; do not merge the two.

`oracle_rules.py` reads the rules of kinship off explicit families; the generator finds them by walks. `oracle_kernel.py` finds answers: it
cuts sets of possible relations down to a fixpoint. A parser that does not know the paraphrases reads the stories back. Each split has a
claim (`claims.py`). `release/oracle.py` judges released rows by the released rules. Laws of `sound` that those rows break are artifacts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import kernels
from recombine.checks import claim_problems
from recombine.columns import values_of
from recombine.core import Batch, Example, Problem
from recombine.errors import FileError, shown
from recombine.families.clutrr import oracle_kernel as laws
from recombine.families.clutrr.claims import CLAIMS, RANKED, is_held_out
from recombine.families.clutrr.kinship import CODES, RELATIONS
from recombine.families.clutrr.language import rich
from recombine.families.clutrr.language.parser import Unreadable, differences, read_question, read_story
from recombine.families.clutrr.language.proofreader import retold, retold_richly
from recombine.families.clutrr.oracle_reader import Ambiguous, read_rich_story
from recombine.families.clutrr.oracle_rules import kinship
from recombine.families.clutrr.oracle_shape import MAX_NAMED, columns_of, rows_of
from recombine.families.clutrr.plan import StoryPlan, example
from recombine.families.clutrr.release.oracle import validate_release

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMPILE_FROM_ROWS, LOAD_FROM_ROWS = 10_000, 300
"""Interpreted rows that take as long as compiling the laws, and as loading them from disk."""
_MODULE = "recombine.families.clutrr.oracle_kernel"

LAWS: Mapping[int, tuple[str, str]] = {
    laws.BAD_FAMILY: ("bad_family", "the family is none: parents, spouses or genders do not agree"),
    laws.BAD_PEOPLE: ("bad_people", "a named person is in no fact, or has another gender in the family"),
    laws.BAD_PATH: ("bad_path", "the facts on the path do not lead from one person of the query to the other through k distinct people"),
    laws.SHORTER: ("shorter_path", "fewer than k stated facts join the people of the query"),
    laws.STATED: ("stated_answer", "the story states what it asks"),
    laws.BAD_MEMORY: ("bad_memory", "a memory question does not ask for a stated fact, or has a proof"),
    laws.TOO_OLD: ("too_many_generations", "people of more than four generations act together"),
    laws.FALSE_FACT: ("false_fact", "a stated fact is not true in the family"),
    laws.FALSE_TARGET: ("wrong_label", "the answer is not true in the family"),
    laws.AMBIGUOUS: ("ambiguous", "more than one answer fits the story"),
    laws.WRONG_LABEL: ("wrong_label", "the story has another answer"),
    laws.BAD_PROOF: ("bad_proof", "a step of the proof does not follow, or the proof does not end in the answer"),
    laws.BAD_NOISE: ("bad_noise", "a noise fact is not of the kind it is called"),
    laws.CONTRADICTION: ("contradiction", "the stated facts contradict each other"),
}  # fmt: skip
"""Bit -> (code, what is broken)."""

FREE_COLUMNS: Mapping[str, str] = {
    "family": "relatives whom the story does not mention may be any that keep the family lawful and the facts true",
    "members": "numbers of the released family up to its symmetries; empty in `sound`, free where options change the family",
    "paraphrases": "derived again, except where the user's own template file words the stories",
    "story": "derived again, except where the user's own template file words the stories",
}
"""Column -> what of it the oracle leaves free, and why. Every other column is derived again in full."""


_OUR_SOUND = re.compile(r"clutrr@\d+/sound\b")
"""How the ids of our own `sound` stories begin."""


# --- one example, or many --------------------------------------------------------------------------------------------


def validate(one: Example) -> list[Problem]:
    """Every broken law of the example's recipe. For `release`, broken laws of `sound` are added as artifacts.

    The reader of released files calls every row `release`. A row whose id says that it is ours and `sound` is judged by the laws of
    `sound` all the same: the released rules derive less, so right answers would be called wrong.
    """
    try:
        rows, reasons = rows_of(columns_of(one))
    except FileError as problem:  # the row of a file, whose lists do not fit each other
        return [Problem("malformed", str(problem))]
    if 0 in reasons:
        code = "wrong_label" if one.answer not in CODES else "malformed"
        return [Problem(code, f"{reasons[0]}: {shown(one.answer)}" if code == "wrong_label" else reasons[0])]
    if one.recipe != "sound" and not _OUR_SOUND.match(one.id):
        return validate_release(one) + _row_problems(one)
    bits = int(_broken(rows, 1, _conventions(one), compiled=False)[0])
    if one.recipe != "sound" and one.world is None:  # the released layout has no place for the family of a `sound` story
        bits &= ~(laws.FALSE_FACT | laws.FALSE_TARGET)
        if not one.plan.proof:  # a story from the playground has none, and the kind of its noise is not stated
            bits &= ~(laws.BAD_PROOF | laws.BAD_NOISE)
    return _problems(bits, one) + _row_problems(one)


def validate_batch(batch: Batch) -> Iterator[tuple[int, Problem]]:
    """Every broken law of every row: graphs and proofs in compiled code, texts and claims one by one.

    A row of the wrong shape gets a problem of its own, and the other rows are judged all the same.
    """
    rows, reasons = rows_of(batch.columns)
    is_sound = batch.job.recipe == "sound"
    conventions = dict(batch.job.options).get("conventions", "stated") != "none"
    compiled = kernels.is_worth_compiling(_MODULE, len(batch), COMPILE_FROM_ROWS, LOAD_FROM_ROWS)
    bits = _broken(rows, len(batch), conventions, compiled) if is_sound else np.zeros(len(batch), np.int64)
    batch = replace(
        batch, columns={name: values_of(column) for name, column in batch.columns.items()}
    )  # rows are read one by one
    for row in range(len(batch)):
        if row in reasons:
            answer = str(batch.columns["target"][row])
            code = "wrong_label" if answer not in CODES else "malformed"
            yield row, Problem(code, f"{reasons[row]}: {shown(answer)}" if code == "wrong_label" else reasons[row])
            continue
        one = example(batch, row)
        found = _problems(int(bits[row]), one) if is_sound else validate_release(one)
        for problem in found + _row_problems(one):
            yield row, problem


def broken_bits(batch: Batch) -> NDArray[np.int64]:
    """The laws that each row of a `sound` batch breaks (bits of `LAWS`), graph and proof only."""
    rows, reasons = rows_of(batch.columns)
    conventions = dict(batch.job.options).get("conventions", "stated") != "none"
    found = _broken(
        rows, len(batch), conventions, kernels.is_worth_compiling(_MODULE, len(batch), COMPILE_FROM_ROWS, LOAD_FROM_ROWS)
    )
    found[list(reasons)] = laws.BAD_PATH
    return found


def _broken(rows: laws.Rows, count: int, conventions: bool, compiled: bool) -> NDArray[np.int64]:
    out = np.zeros(count, np.int64)
    most = MAX_NAMED if count > 1 else max(2, len(rows.genders))
    scratch = laws.Scratch(np.zeros((most, most), np.int64), np.zeros(most, np.int64), np.zeros(most, np.int64))
    kernels.load(_MODULE, compiled).check_rows(rows, kinship(conventions), scratch, out)
    return out


def _conventions(one: Example) -> bool:
    """Whether the story rests on the conventions of kinship. A row of a file has its options in its id alone."""
    return bool(one.meta.get("options", {}).get("conventions", "stated") != "none") and "conventions=none" not in one.id


def _problems(bits: int, one: Example) -> list[Problem]:
    if not bits:
        return []
    x, y = (one.plan.names[p] for p in one.plan.query)
    asked = f" (asked: what {y} is to {x}; answer: {one.answer})"
    return list({code: Problem(code, text + asked) for bit, (code, text) in LAWS.items() if bits & bit}.values())


# --- the row and its part --------------------------------------------------------------------------------------------


def _row_problems(one: Example) -> list[Problem]:
    return [*_field_problems(one), *claim_problems(CLAIMS, one), *_text_problems(one)]


def _field_problems(one: Example) -> list[Problem]:
    """Columns that only repeat what others say."""
    plan: StoryPlan = one.plan
    meta = one.meta
    found = []
    clause = "-".join(RELATIONS[fact.relation] for fact in plan.path)
    if clause != meta.get("clause", clause):
        found.append(Problem("wrong_clause", f"the clause is called {shown(meta['clause'])}, but the path says {clause}"))
    if len(set(plan.names)) != len(plan.names):
        found.append(Problem("same_name", f"two people have one name: {shown(list(plan.names))}"))
    if meta.get("fact_count", len(plan.facts)) != len(plan.facts):
        found.append(Problem("wrong_field", f"fact_count is {meta['fact_count']}, but there are {len(plan.facts)} facts"))
    if "split" in meta and "held_out" in meta and meta["split"] in RANKED and bool(meta["held_out"]) != _held_out(one):
        found.append(Problem("wrong_field", f"held_out is {meta['held_out']}, but must be {_held_out(one)}"))
    if one.recipe == "sound" and meta.get("members"):
        found.append(Problem("wrong_field", "members is not empty, but only released families have numbers"))
    return found


def _held_out(one: Example) -> bool:
    """Whether the row's clause is held out. `release` marks the tests of trained lengths above two."""
    if one.recipe == "sound":
        return is_held_out(one)
    k = len(one.plan.path)
    trained = (2, 3, 4) if one.meta["split"] == "generalization_234" else (2, 3)
    if dials := one.meta.get("options", {}).get("k"):
        return bool(one.meta["held_out"]) and str(k) in str(dials).split(",")
    return str(one.meta["part"]).startswith("test") and k > 2 and k in trained


def _text_problems(one: Example) -> list[Problem]:
    """Whether the text says exactly the facts in its paraphrases, and the question asks exactly the query."""
    plan: StoryPlan = one.plan
    options = one.meta.get("options", {})
    if options.get("templates") or (one.recipe != "sound" and not plan.paraphrases):
        return []
    story = str(one.inputs["story"])
    facts = [(RELATIONS[f.relation], plan.names[f.subject], plan.names[f.relative]) for f in plan.facts]
    genders = {name: ("female", "male")[g] for name, g in zip(plan.names, plan.genders, strict=True)}
    is_rich = any(rich.frame_of(code) for code in plan.paraphrases)
    try:
        reading = read_rich_story(story, plan.names) if is_rich else read_story(story, plan.names)
        said = differences(reading, facts, genders)
        asked = read_question(str(one.inputs["question"]), plan.names)
    except Unreadable as problem:
        return [Problem("ambiguous_text" if isinstance(problem, Ambiguous) else "unreadable", str(problem))]
    found = [Problem("wrong_text", f"the story and its facts differ: {'; '.join(said[:3])}")] if said else []
    if asked != (plan.names[plan.query[0]], plan.names[plan.query[1]]):
        found.append(Problem("wrong_question", f"{shown(one.inputs['question'])} does not ask what the query asks"))
    triples = [fact.triple for fact in plan.facts]
    language: Any = options.get("language", "paraphrase")
    if is_rich:
        again = retold_richly(plan.paraphrases, triples, plan.names, plan.genders, str(options.get("register", "plain")))
    else:
        again = retold(plan.paraphrases, triples, plan.names, plan.genders, language)
    if reason := _wrong_style(one, options):
        found.append(Problem("wrong_style", reason))
    if again != story.replace("[", "").replace("]", ""):
        found.append(Problem("wrong_paraphrases", f"the story is not told in the paraphrases {shown(list(plan.paraphrases))}"))
    return found


def _wrong_style(one: Example, options: Mapping[str, Any]) -> str:
    """Whether the paraphrases are of the style, and of the shares 0 and 1 of the dials, that the options ask for."""
    asked = str(options.get("style", "auto"))
    if one.recipe != "sound" or options.get("language", "paraphrase") == "simple":
        asked = "plain"
    frames = [rich.frame_of(code) for code in one.plan.paraphrases]
    kinds = {"rich" if frame else "plain" for frame in frames}
    wanted = {"auto": [{"rich"}], "mixed": [{"rich"}, {"plain"}]}.get(asked, [{asked}])
    if kinds not in wanted:
        return f"style is {asked}, but the story is {' and '.join(sorted(kinds))}"
    across = {frame.kind == 0 for frame in frames if frame}
    if True in across and float(options.get("coreference", 0.35)) == 0:
        return "coreference is 0, but a relative is named only in the next sentence"
    if float(options.get("colloquial", 0.5)) == 0 and any(
        code >> 1 & 1 for code in one.plan.paraphrases if rich.frame_of(code)
    ):
        return "colloquial is 0, but the words are colloquial"
    return ""


__all__ = ["CLAIMS", "FREE_COLUMNS", "LAWS", "broken_bits", "validate", "validate_batch"]
