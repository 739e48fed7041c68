"""Under which licence the rows of a folder stand: ours for what our generators made, the original's for what comes from files."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.core import FILES
from recombine.data.plan import Plan
from recombine.families import OURS

READ_FILES = (FILES, "templates")
"""Options that name files of the user's. What such files hold, or decide, stands in the rows."""
ORIGINALS = {
    "scan": "SCAN (its data: BSD)",
    "nacs": "NACS (code and data: CC BY-NC 4.0)",
    "gscan": "groundedSCAN (its code: MIT)",
    "reascan": "ReaSCAN (code and data: CC BY 4.0)",
    "clutrr": "CLUTRR (code, templates and data: CC BY-NC 4.0)",
    "lilgym": "lilGym (code and data: MIT) and NLVR (statements, programs and scenes: CC BY 4.0)",
}
"""Family -> the original whose files it reads, with its licence, as docs/explanation/licences.md says."""


@dataclass(frozen=True)
class Licence:
    """The mark of a data set on Hugging Face, what Croissant says, and a sentence for people."""

    mark: str
    croissant: str
    sentence: str


CC_BY = Licence(
    "cc-by-4.0",
    "https://creativecommons.org/licenses/by/4.0/",
    "Recombine generated the rows; they are released under CC-BY-4.0: use, change and redistribute them, and name the source. "
    "The original benchmark has its own terms.",
)


def reads_files(plan: Plan) -> bool:
    """Whether some rows of a folder come from files that its user named."""
    return any(value for part in plan.parts for name, value in part.job.options if name in READ_FILES)


def licence_of(plan: Plan) -> Licence:
    """The licence of a folder's rows."""
    if plan.family not in OURS:
        sentence = f"The family {plan.family} is not part of Recombine; ask its authors before you publish its rows."
    elif reads_files(plan):
        original = ORIGINALS.get(plan.family)
        told = f" The published files are of {original}." if original else ""
        sentence = (
            f"The rows come, in whole or in part, from files that the user named, so the terms of those files hold.{told}"
        )
    else:
        return CC_BY
    return Licence("other", sentence, sentence)
