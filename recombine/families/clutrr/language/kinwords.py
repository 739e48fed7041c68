"""Kinship words as people say them: the word list of the rich style. Facts only; the oracle's reader has its own copy of the grammar."""

from __future__ import annotations

import functools

from recombine.families.clutrr.kinship import CODES, RELATIONS

FORMAL = 4
"""Variants below this number are formal, the other `FORMAL` colloquial."""

COLLOQUIAL: dict[str, tuple[str, ...]] = {
    "father": ("dad", "papa", "daddy"), "mother": ("mom", "mum", "mama"), "husband": ("hubby",), "wife": ("missus", "wifey"),
    "brother": ("bro", "big brother", "kid brother"), "sister": ("sis", "big sister", "kid sister"),
    "grandfather": ("grandpa", "granddad", "gramps"), "grandmother": ("grandma", "granny", "nana"), "aunt": ("auntie", "aunty"),
}  # fmt: skip
"""Formal word -> colloquial ones; other words have none."""

VOCATIVE: dict[str, tuple[str, ...]] = {
    "father": ("Dad", "Papa", "Daddy"), "mother": ("Mom", "Mum", "Mama"), "brother": ("Bro",), "sister": ("Sis",),
    "grandfather": ("Grandpa", "Granddad", "Gramps"), "grandmother": ("Grandma", "Granny", "Nana"), "uncle": ("Uncle",),
    "aunt": ("Auntie", "Aunty"),
}  # fmt: skip
"""How somebody addresses such a relative."""

DENIED: dict[str, str] = {
    "father": "uncle", "mother": "aunt", "son": "nephew", "daughter": "niece", "husband": "brother", "wife": "sister",
    "brother": "cousin", "sister": "cousin", "grandfather": "father", "grandmother": "mother", "grandson": "son",
    "granddaughter": "daughter", "uncle": "father", "aunt": "mother", "nephew": "son", "niece": "daughter",
    "father-in-law": "father", "mother-in-law": "mother", "son-in-law": "son", "daughter-in-law": "daughter",
    "brother-in-law": "brother", "sister-in-law": "sister",
}  # fmt: skip
"""A word that does not fit somebody who is the other; no person is two of these to another."""

NEUTRAL_NAMES: dict[str, int] = {
    "parent": 0, "child": 1, "spouse": 2, "sibling": 3, "grandparent": 4, "grandchild": 5, "pibling": 6, "nibling": 7,
    "parent-in-law": 8, "child-in-law": 9, "sibling-in-law": 10,
}  # fmt: skip
"""How conditions of frames call the relations without gender."""


def plural(word: str) -> str:
    """`sons`, `wives`, `sisters-in-law`."""
    head, law, tail = word.partition("-in-law")
    return f"{'wives' if head == 'wife' else head + 's'}{law}{tail}"


def with_article(word: str) -> str:
    """`a dad`, `an aunt`."""
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


@functools.cache
def variants(flavour: str) -> tuple[tuple[str, ...], ...]:
    """For each relation code, the eight words of a flavour: k formal, c casual, d with its article, v address, n denial, p plural."""
    found = []
    for word in RELATIONS:
        casual = COLLOQUIAL.get(word, (word,))
        eight = (word,) * FORMAL + tuple(casual[i % len(casual)] for i in range(FORMAL))
        called = VOCATIVE.get(word, (word,))
        rows = {
            "k": (word,) * (2 * FORMAL),
            "c": eight,
            "d": tuple(with_article(one) for one in eight),
            "v": tuple(called[i % len(called)] for i in range(2 * FORMAL)),
            "n": (DENIED[word],) * (2 * FORMAL),
            "p": (plural(word),) * (2 * FORMAL),
        }
        found.append(rows[flavour])
    assert len(found) == len(CODES)
    return tuple(found)
