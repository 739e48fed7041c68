"""Programs over scenes: the annotation language of lilGym, parsed, typed, and evaluated one by one or in bulk.

`syntax` parses, `types` and `signatures` check, `reference` says what a program means (with `values` and `functions`), `compiler`
and `emitter` translate it for `kernel`, and `bank` runs many programs over many scenes.
"""

from recombine.families.lilgym.program.bank import (
    COMPILE_FROM_PAIRS,
    KERNEL_NAME,
    UNDECIDED,
    Bank,
    Prepared,
    Program,
    compile,  # noqa: A004 - the word that users look for; Python's own has no place here
    make,
)

__all__ = ["COMPILE_FROM_PAIRS", "KERNEL_NAME", "UNDECIDED", "Bank", "Prepared", "Program", "compile", "make"]
