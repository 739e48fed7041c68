"""Predicates over facets: the language in which a user describes what a split holds out.

`parse` turns text into a checked `Predicate`; `mask` evaluates it over columns; `holds` judges one example by other code;
`draw` makes the rows of a split that holds a predicate out.
"""

from recombine.predicates.judge import holds
from recombine.predicates.parser import parse
from recombine.predicates.syntax import And, Atom, Not, Or, Predicate, atoms, format_predicate, sentence, weakened
from recombine.predicates.truth import mask

__all__ = [
    "And", "Atom", "Not", "Or", "Predicate", "atoms", "format_predicate", "holds", "mask", "parse", "sentence", "weakened",
]  # fmt: skip
