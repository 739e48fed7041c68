"""A deliberate second implementation that judges examples: it shares no code with the generator. Do not merge the two.

`sentence` and `formula` read sentences and programs into a `meaning`, `contact` and `simulator` carry out edits, `claims` says
what belongs to which split, and `laws` lists what is wrong with an example.
"""

from recombine.families.lilgym.oracle.claims import CLAIMS
from recombine.families.lilgym.oracle.laws import FREE_COLUMNS, proof, validate, validate_batch
from recombine.families.lilgym.oracle.meaning import holds
from recombine.families.lilgym.oracle.nouns import Unreadable
from recombine.families.lilgym.oracle.sentence import understand
from recombine.families.lilgym.oracle.simulator import Ending, carry_out

__all__ = [
    "CLAIMS", "FREE_COLUMNS", "Ending", "Unreadable", "carry_out", "holds", "proof", "understand", "validate", "validate_batch",
]  # fmt: skip
