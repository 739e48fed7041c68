"""The vocabulary of kinship: 22 words, 11 neutral relations, genders and inverses. Facts only; no rules live here.

A *fact* is (relation code r, subject s, object o) and means "o is the r of s": an edge (s, o) labelled r, as in CLUTRR.
The word carries the gender of the object: a `father` is male, whatever the gender of his child. Codes are places in `RELATIONS`;
even codes are male, odd codes female, and code // 2 is the place in `NEUTRAL`.
"""

from __future__ import annotations

FEMALE, MALE = 0, 1

RELATIONS: tuple[str, ...] = (
    "father", "mother", "son", "daughter", "husband", "wife", "brother", "sister",
    "grandfather", "grandmother", "grandson", "granddaughter", "uncle", "aunt", "nephew", "niece",
    "father-in-law", "mother-in-law", "son-in-law", "daughter-in-law", "brother-in-law", "sister-in-law",
)  # fmt: skip
"""The 22 words; a relation's code is its place."""

NEUTRAL: tuple[str, ...] = (
    "parent", "child", "spouse", "sibling", "grandparent", "grandchild", "parent's sibling", "sibling's child",
    "parent-in-law", "child-in-law", "sibling-in-law",
)  # fmt: skip
"""The 11 relations without gender; code // 2 of a word."""

PARENT, CHILD, SPOUSE, SIBLING, GRANDPARENT, GRANDCHILD, PIBLING, NIBLING, PARENT_IN_LAW, CHILD_IN_LAW, SIBLING_IN_LAW = range(
    11
)

INVERSE: tuple[int, ...] = (CHILD, PARENT, SPOUSE, SIBLING, GRANDCHILD, GRANDPARENT, NIBLING, PIBLING, CHILD_IN_LAW, PARENT_IN_LAW, SIBLING_IN_LAW)  # fmt: skip
"""Neutral relation -> neutral relation of the reversed edge."""

GENDER: tuple[int, ...] = (MALE, FEMALE) * 11
"""Relation code -> gender of the object."""

STATED: tuple[int, ...] = tuple(range(14))
"""Codes that a path may state: father … aunt (the 14 words on edges of the released stories)."""

CODES: dict[str, int] = {word: code for code, word in enumerate(RELATIONS)}
"""Word -> code."""


CONVENTIONS: dict[str, str] = {
    "parent's spouse": "the husband or wife of a parent is the other parent",
    "spouse's child": "a couple share all their children",
    "child's parent": "the parents of a child are married to each other",
    "parent's child": "children of one parent are full brothers and sisters",
}
"""The conventions of these families, by the step that needs them. Nothing in the words themselves implies them."""
CONVENTION = (
    "In these families a couple is a man and a woman who marry once, are the parents of the same children and are married to each "
    "other; brothers and sisters share both parents. There are no step-families, half-siblings or former partners."
)
"""The same in the words that prompts, cards and pages use."""


TELLING = (
    "a pronoun belongs to the one person whom it fits among those mentioned before it in its sentence or, if there is none, in the "
    "sentence before. A relative who is mentioned without a name is the person whom the next sentence names for the first time. What "
    "somebody calls another person in direct speech (Dad, Auntie) says what the listener is to the speaker. Who gives birth to somebody "
    "is the mother, and a bride and groom are wife and husband."
)
"""How rich stories are to be read, in the words that prompts and pages use."""
REGISTERS: tuple[str, ...] = ("plain", "diary", "gossip", "letter", "obituary", "news")
"""Kinds of text that a rich story can be."""


def word(neutral: int, gender: int) -> int:
    """The code of a neutral relation whose object has this gender."""
    return 2 * neutral + 1 - gender


def inverse(code: int, subject_gender: int) -> int:
    """The code of the same fact told from the other end: `father` of a girl is her father's `daughter`."""
    return word(INVERSE[code // 2], subject_gender)
