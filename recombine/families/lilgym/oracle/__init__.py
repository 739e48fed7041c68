"""A deliberate second implementation that judges examples: it shares no code with the generator. Do not merge the two.

`reading` understands sentences, `simulator` carries out edits, `laws` lists the broken laws of an example.
"""

from recombine.families.lilgym.oracle.laws import Ending, Unreadable, carry_out, understand, validate

__all__ = ["Ending", "Unreadable", "carry_out", "understand", "validate"]
