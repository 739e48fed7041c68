"""Sealed exams: items that nobody can know before the sitting and that everybody can make anew afterwards.

`seal` commits to a secret and to a description. `sit` makes the items from the secret and keeps every reply in a hash-chained journal.
`reveal` publishes the secret with the scores. `check` makes everything anew and compares.
"""

from recombine.exams.document import Exam, Revealed, Section, seal
from recombine.exams.faults import ExamFault
from recombine.exams.paper import Question, make_paper
from recombine.exams.result import check, reveal
from recombine.exams.sitting import sit

__all__ = ["Exam", "ExamFault", "Question", "Revealed", "Section", "check", "make_paper", "reveal", "seal", "sit"]
