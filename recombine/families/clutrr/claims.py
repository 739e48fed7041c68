"""The claims of the splits: why an example may not stand in a part. Part of the oracle: shares no code with `splits.py`.

A claim says the split's sentence again. It looks at the facts of the story, the paraphrases that tell them and the family's dials,
never at the flags that the generator wrote. A split needs one entry here, with the name that it has in `splits.SPLITS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from recombine.core import Claim, Example
from recombine.families.clutrr.kinship import NEUTRAL, RELATIONS
from recombine.families.clutrr.language import rich, store
from recombine.families.clutrr.plan import KINDS, StoryPlan
from recombine.predicates.judge import Seen, holds

_WORD = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_SALT = 0x636C757472C9
_UNITS = 1 << 24
"""Ranks are numbers below this."""
SHARES = {"test": (0, _UNITS // 10), "validation": (_UNITS // 10, _UNITS // 5), "train": (_UNITS // 5, _UNITS)}
"""Role -> the ranks of the stories that belong to it, where the clause does not decide: a tenth, a tenth and the rest."""


def _stir(word: int, value: int) -> int:
    """Mix a small number into a word of 64 bits."""
    word = ((word ^ ((value + 1) * _GOLDEN & _WORD)) + _GOLDEN) & _WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)


def clause_rank(plan: StoryPlan) -> int:
    """The rank of a clause: of its first person's gender and its words."""
    path = plan.path
    return _rank((plan.genders[path[0].subject], *(fact.relation for fact in path)))


@lru_cache(maxsize=1 << 16)
def _rank(values: tuple[int, ...]) -> int:
    """The rank of a row of small numbers."""
    word = _SALT
    for value in values:
        word = _stir(word, value)
    return word >> 40


def story_rank(plan: StoryPlan) -> int:
    """The rank of a story without its names: paraphrases, facts as told with people numbered as they come up, and the query."""
    seen: dict[int, int] = {}
    word, at = _SALT, 0
    for code, length in zip(plan.paraphrases, _lengths(plan), strict=True):
        word = _stir(word, code)
        for fact in plan.facts[at : at + length]:
            word = _stir(word, fact.relation)
            for person in (fact.subject, fact.relative):
                word = _stir(word, seen.setdefault(person, len(seen)))
        at += length
    for person in plan.query:
        word = _stir(word, seen.get(person, -1))
    return word >> 40


def _lengths(plan: StoryPlan) -> list[int]:
    """How many facts each paraphrase tells: one, or what its frame says."""
    if len(plan.paraphrases) == len(plan.facts):
        return [1] * len(plan.facts)
    known = store.paraphrases()
    found = []
    for code in plan.paraphrases:
        frame = rich.frame_of(code)
        if frame:
            found.append(frame.facts)
        else:
            found.append(store.frames()[known[code >> 1].frame].facts if 0 <= code >> 1 < len(known) else 1)
    return found


def _dials(example: Example) -> Mapping[str, Any]:
    options: Mapping[str, Any] = example.meta.get("options", {})
    return options


def _wrong_length(example: Example, lengths: tuple[int, ...], is_named: bool = False) -> str:
    """The path has one of the part's numbers of facts. The option k replaces them, but never in a part that is named for its length."""
    asked = str(_dials(example).get("k", ""))
    if asked and not is_named:
        lengths = tuple(int(piece) for piece in asked.split(","))
    k = len(example.plan.path)
    return "" if k in lengths else f"its path has {k} facts, but the part holds {', '.join(map(str, lengths))}"


def _wrong_noise(example: Example, wanted: str, is_named: bool = False) -> str:
    """The facts off the path are of the part's kinds of noise, all of them. A part that is named for its noise keeps it."""
    wanted = wanted if is_named else str(_dials(example).get("noise", "") or wanted)
    wanted = "supporting+irrelevant+disconnected" if wanted == "all" else wanted
    found = "+".join(KINDS[kind] for kind in sorted({fact.kind for fact in example.plan.facts if fact.kind})) or "clean"
    return "" if found == wanted else f"its noise is {found}, but the part's is {wanted}"


def is_held_out(example: Example) -> bool:
    """Whether the clause is one of the tenth (or the fraction asked for) that training on three and more facts never sees."""
    fraction = float(_dials(example).get("hold_out", 0.1))
    return len(example.plan.path) >= 3 and clause_rank(example.plan) < round(fraction * _UNITS)


def _wrong_clause(example: Example, role: str) -> str:
    """Clauses of three and more facts: a test holds only held-out ones, training none. (`release` holds out by its own run.)"""
    if example.recipe != "sound" or len(example.plan.path) < 3:
        return ""
    is_open = float(_dials(example).get("hold_out", 0.1)) == 0
    held = is_held_out(example)
    if role == "test" and not held and not is_open:
        return "its clause is not held out"
    return "its clause is held out from training" if role != "test" and held else ""


def _wrong_wording(example: Example, role: str) -> str:
    """Test stories use held-out paraphrases, and all other stories use training paraphrases."""
    dials = _dials(example)
    if dials.get("templates") or dials.get("paraphrases") == "shared" or dials.get("language") == "simple":
        return ""
    known, wanted = store.paraphrases(), "heldout" if role == "test" else "train"
    for code in example.plan.paraphrases:
        frame = rich.frame_of(code)
        portion = frame.side if frame else known[code >> 1].portion if 0 <= code >> 1 < len(known) else wanted
        if portion != wanted:
            return f"its paraphrase {code} is for {'training' if wanted == 'heldout' else 'testing'}"
    return ""


def _wrong_share(example: Example, role: str) -> str:
    """Where the clause does not decide, the story's rank does: no story of one part, names aside, can be in another."""
    is_apart = role == "test" and len(example.plan.path) >= 3 and float(_dials(example).get("hold_out", 0.1)) > 0
    if example.recipe != "sound" or is_apart or _dials(example).get("templates"):
        return ""
    low, high = SHARES[role]
    return "" if low <= story_rank(example.plan) < high else "its rank belongs to another part"


def _story(example: Example, part: str, lengths: tuple[int, ...], noise: str) -> str:
    role = "test" if part.startswith("test") else part
    if role not in SHARES:
        return f"there is no part {part!r}"
    return (
        _wrong_length(example, lengths, part.startswith("test_k"))
        or _wrong_noise(example, noise, part == f"test_{noise}")
        or _wrong_clause(example, role)
        or _wrong_wording(example, role)
        or _wrong_share(example, role)
    )


def generalizing(*trained: int) -> Claim:
    """Training on these lengths without noise; each test has one length, up to ten facts."""
    tests = {f"test_k{k}": (k,) for k in range(2, 11)}

    def claim(example: Example, part: str) -> str:
        return _story(example, part, tests.get(part, trained), "clean")

    return claim


def robust(noise: str) -> Claim:
    """Training on two and three facts with one kind of noise; each test has two and three facts with its own kind."""

    def claim(example: Example, part: str) -> str:
        return _story(example, part, (2, 3), part.removeprefix("test_") if part.startswith("test_") else noise)

    return claim


_SEXES = ("female", "male")


def read_facets(example: Example) -> Seen:
    """What a predicate can say of a story, read from its facts, its people and its answer."""
    plan: StoryPlan = example.plan
    on_path = sorted((fact for fact in plan.facts if fact.place >= 0), key=lambda fact: fact.place)
    words = tuple(RELATIONS[fact.relation] for fact in on_path)
    walkers = (*(fact.subject for fact in on_path[:1]), *(fact.relative for fact in on_path))
    first, second = plan.query
    kinds = sorted({fact.kind for fact in plan.facts if fact.kind})
    answer = RELATIONS.index(example.answer)
    return {
        "target": example.answer,
        "target.relation": NEUTRAL[answer // 2],
        "target.gender": _SEXES[plan.genders[second]],
        "asker.gender": _SEXES[plan.genders[first]],
        "path.relation": words,
        "path.gender": tuple(_SEXES[plan.genders[person]] for person in walkers),
        "first.relation": words[0],
        "last.relation": words[-1],
        "clause": "-".join(words),
        "k": len(on_path),
        "noise": "+".join(KINDS[kind] for kind in kinds) or "clean",
        "noise.relation": tuple(RELATIONS[fact.relation] for fact in plan.facts if fact.place < 0),
        "fact_count": len(plan.facts),
        "people": len(plan.names),
        "memory": any({fact.subject, fact.relative} == {first, second} for fact in plan.facts),
        "held_out": False,
    }


def _predicate_claim(example: Example, part: str) -> str:
    """Rows of the test satisfy the predicate of the split, and other rows do not. The story's rank must also fit the part."""
    if part not in SHARES:
        return f"there is no part {part!r}"
    text = str(example.meta.get("predicate", ""))
    is_shown = holds(text, read_facets(example))
    if is_shown != (part == "test"):
        return f"it {'satisfies' if is_shown else 'does not satisfy'} {text!r}"
    return _random_claim(example, part)


def _random_claim(example: Example, part: str) -> str:
    """The story's rank decides the part: any clause of two to four facts, in any paraphrase, without noise."""
    if part not in SHARES:
        return f"there is no part {part!r}"
    low, high = SHARES[part]
    is_ranked = low <= story_rank(example.plan) < high or bool(_dials(example).get("templates"))
    return (
        _wrong_length(example, (2, 3, 4))
        or _wrong_noise(example, "clean")
        or ("" if is_ranked else "its rank belongs to another part")
    )


CLAIMS: dict[str, Claim] = {
    "generalization_23": generalizing(2, 3),
    "generalization_234": generalizing(2, 3, 4),
    "robust_clean": robust("clean"),
    "robust_supporting": robust("supporting"),
    "robust_irrelevant": robust("irrelevant"),
    "robust_disconnected": robust("disconnected"),
    "hold_out": _predicate_claim,
    "random": _random_claim,
}
"""By the names of `splits.SPLITS`."""

RANKED: frozenset[str] = frozenset(CLAIMS) - {"hold_out", "random"}
"""The splits whose column `held_out` says that the clause is one of the held-out fraction."""
