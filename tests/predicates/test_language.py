"""The predicate language: what it accepts, what it refuses and how, and that two evaluators agree."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from recombine.columns import Coded, Ragged
from recombine.errors import UnknownName, UsageError
from recombine.facets import Facet, Value
from recombine.predicates import Atom, atoms, format_predicate, holds, mask, parse, sentence, weakened
from recombine.predicates.syntax import And, Not, Or, Predicate

FACETS = {
    f.name: f
    for f in (
        Facet("verb", "word", "", ("walk", "push", "pull")),
        Facet("adverb", "word", "", ("none", "while spinning", "cautiously")),
        Facet("np.color", "word", "", ("red", "blue", "a+b"), many=True),
        Facet("relation", "word", "", ("row", "inside"), many=True),
        Facet("k", "number", "", (0, 9)),
        Facet("sizes", "number", "", (0, 9), many=True),
        Facet("moves", "flag", ""),
        Facet("text", "word", ""),
    )
}
FUZZED = int(os.environ.get("RECOMBINE_FUZZ", "20000"))


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("verb=pull", "verb = pull"),
        ("verb == pull and k>2", "verb = pull and k > 2"),
        ("np.color = red", "any(np.color) = red"),
        ("np[2].color = red", "np.color[2] = red"),
        ("clause[2].relation = row", "relation[2] = row"),
        ("adverb = 'while spinning'", "adverb = 'while spinning'"),
        ('adverb = "while spinning"', "adverb = 'while spinning'"),
        ("(verb = push or verb = pull) and (k < 3)", "(verb = push or verb = pull) and k < 3"),
        ("verb = push or verb = pull and k < 3", "verb = push or (verb = pull and k < 3)"),
        ("not verb = push", "not (verb = push)"),
        ("not not moves", "not not (moves = true)"),
        ("verb in (push, pull, push)", "verb in (pull, push)"),
        ("k in (3, 1)", "k in (1, 3)"),
        ("all(sizes) >= 2", "all(sizes) >= 2"),
        ("np.color = 'a&b'", "any(np.color) = 'a&b'"),
        ("(((k = 1)))", "k = 1"),
        ("k = 1 and (k = 2 and k = 3)", "k = 1 and k = 2 and k = 3"),
        ("k = -4", "k = -4"),
        ("text = anything", "text = anything"),
    ],
)
def test_canonical_text_reads_back(text: str, canonical: str) -> None:
    found = parse(text, FACETS)
    assert format_predicate(found) == canonical
    assert parse(canonical, FACETS) == found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected a facet"),
        ("verb", "expected a comparison of verb"),
        ("verb = pul", "Did you mean 'pull'"),
        ("vreb = pull", "Did you mean 'verb'"),
        ("color = red", "Did you mean np.color"),
        ("verb < pull", "is no number"),
        ("k = red", "is a number"),
        ("moves = 1", "true or false"),
        ("any(verb) = push", "only once"),
        ("verb[1] = push", "only once"),
        ("np.color != red", "any(np.color), all(np.color)"),
        ("np[0].color = red", "number from 1"),
        ("k = 1 k = 2", "expected 'and', 'or' or the end"),
        ("(k = 1", "expected ')'"),
        ("k = 1 and", "expected a facet"),
        ("verb = `ls`", "something unknown at character"),
        ("verb = pull; import os", "something unknown"),
        ("k = 99999999999", "something unknown"),
        ("(" * 30 + "k = 1" + ")" * 30, "nested more than"),
        ("not " * 40 + "moves", "nested more than"),
        (" or ".join(["k = 1"] * 17), "more than 16 comparisons"),
        ("k = 1 or " * 40 + "k = 1", "characters, but may have at most"),
        ("k = ½", "something unknown"),
    ],
)
def test_faults_are_typed_and_say_what_is_wrong(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text, FACETS)
    assert says in str(caught.value)


def test_unknown_values_are_unknown_names() -> None:
    with pytest.raises(UnknownName):
        parse("verb = fly", FACETS)


def test_the_claim_is_a_sentence() -> None:
    found = parse("verb = pull and any(np.color) in (red, blue) and k >= 3 and not moves", FACETS)
    assert sentence(found) == (
        "In training there is no example in which the verb is pull and some np color is blue or red and the k is at least 3 "
        "and it is not the case that the moves is true. In the test every example is one."
    )


def test_what_follows_keeps_only_known_comparisons() -> None:
    def known(atom: Atom) -> bool:
        return atom.facet != "k"

    def after(text: str) -> str | None:
        found = weakened(parse(text, FACETS), known)
        return None if found is None else format_predicate(found)

    assert after("verb = pull and k > 2") == "verb = pull"
    assert after("verb = pull or k > 2") is None
    assert after("not (verb = pull or k > 2)") == "not (verb = pull)"
    assert after("not (verb = pull and k > 2)") is None
    assert after("verb = pull and moves") == "verb = pull and moves = true"


# --- both evaluators -------------------------------------------------------------------------------------------------


def random_value(rng: random.Random, facet: Facet) -> Value:
    if facet.kind == "flag":
        return rng.random() < 0.5
    if facet.kind == "number":
        return rng.randrange(5)
    return str(rng.choice(facet.values or ("x", "y"))).replace("+", "&")


def random_predicate(rng: random.Random, depth: int = 0) -> Predicate:
    kind = rng.random() if depth < 3 else 1.0
    if kind < 0.15:
        return Not(random_predicate(rng, depth + 1))
    if kind < 0.5:
        node = And if kind < 0.33 else Or
        items: list[Predicate] = []
        for _ in range(2):
            item = random_predicate(rng, depth + 1)
            items += item.items if isinstance(item, node) else [item]
        return node(tuple(items))
    facet = rng.choice(list(FACETS.values()))
    operator = rng.choice(("=", "!=", "in", "<", ">=") if facet.kind == "number" else ("=", "!=", "in"))
    values = [random_value(rng, facet) for _ in range(rng.randint(1, 3) if operator == "in" else 1)]
    values = sorted(set(values), key=lambda v: (str(type(v)), v))
    mode, place = "one", 0
    if facet.many:
        mode, place = rng.choice((("any", 0), ("all", 0), ("one", rng.randint(1, 3))))
    return Atom(facet.name, operator, tuple(values), mode, place)  # type: ignore[arg-type]


def test_columns_and_the_oracles_judge_agree_and_text_reads_back() -> None:
    rng = random.Random(5)
    rows = []
    for _ in range(60):
        row: dict[str, Value | tuple[Value, ...]] = {}
        for facet in FACETS.values():
            row[facet.name] = (
                tuple(random_value(rng, facet) for _ in range(rng.randrange(4))) if facet.many else random_value(rng, facet)
            )
        rows.append(row)
    columns = {}
    for facet in FACETS.values():
        listed = [row[facet.name] for row in rows]
        flat = [v for value in listed for v in (value if isinstance(value, tuple) else (value,))]
        if facet.kind == "word":
            words = sorted({str(v) for v in flat})
            held: object = Coded(np.array([words.index(str(v)) for v in flat]), words)
        else:
            held = np.array(flat)
        if facet.many:
            ends = np.cumsum([len(value) for value in listed])  # type: ignore[arg-type]
            held = Ragged(held, np.concatenate([[0], ends]))  # type: ignore[arg-type]
        columns[facet.name] = held
    checked = 0
    for _ in range(1_500):
        predicate = random_predicate(rng)
        text = format_predicate(predicate)
        if len(text) > 200:
            continue
        assert parse(text, FACETS) == predicate, text
        truth = mask(predicate, columns)  # type: ignore[arg-type]
        assert truth.tolist() == [holds(text, row) for row in rows], text
        checked += 1
    assert checked > 1_000


def test_fuzzed_predicates_give_typed_errors_only() -> None:
    rng = random.Random(11)
    pieces = [
        *FACETS, "and", "or", "not", "in", "any", "all", "(", ")", "[", "]", "1", "2", ",", ".", "=", "!=", "<", ">=", "red", "'a b'",
        '"', "'", "\0", "é", "0x1", "--", "true", "𝟙", "1e9", "\n", "__class__", "{}", "%s",
    ]  # fmt: skip
    good = 0
    for number in range(FUZZED):
        if number % 2:
            text = " ".join(rng.choice(pieces) for _ in range(rng.randrange(14)))
        else:
            letters = list(format_predicate(random_predicate(rng)))
            for _ in range(rng.randrange(4)):
                letters[rng.randrange(len(letters))] = rng.choice("abk1 ()[]=<>'\",.&\t\x7f½")
            text = "".join(letters)
        try:
            found = parse(text, FACETS)
        except UsageError:
            continue
        good += 1
        assert parse(format_predicate(found), FACETS) == found
        assert list(atoms(found))
    assert good > FUZZED // 20
