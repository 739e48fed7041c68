"""What a check of an exam can find. Each fault has a class and a code of its own."""

from __future__ import annotations

from recombine.errors import RecombineError


class ExamFault(RecombineError):
    """Something about an exam, a sitting or a result is not what was committed to."""

    code = "fault"


class EditedExam(ExamFault):
    """The exam's description does not belong to its commitment."""

    code = "edited_exam"


class OtherSecret(ExamFault):
    """The secret is not the one that was sealed."""

    code = "other_secret"


class ReplayedChain(ExamFault):
    """A secret or a journal of another exam is presented for this one."""

    code = "replayed_chain"


class TwoExams(ExamFault):
    """Two sittings under one commitment do not have the same items."""

    code = "two_exams"


class OtherVersion(ExamFault):
    """This package makes another version of the rows, so it cannot make the items anew."""

    code = "other_version"


class OtherItem(ExamFault):
    """A question of the sitting is not the question that the secret gives."""

    code = "other_item"


class DroppedReply(ExamFault):
    """A reply is missing from the journal."""

    code = "dropped_reply"


class SwappedReply(ExamFault):
    """Replies do not stand in the order of their numbers."""

    code = "swapped_reply"


class EditedReply(ExamFault):
    """A line of the journal is not the line that its link was made from."""

    code = "edited_reply"


class ForgedJournal(ExamFault):
    """The journal is consistent, but its head is not the published one."""

    code = "forged_journal"


class LateReply(ExamFault):
    """A reply came after the journal was closed, or after the exam was."""

    code = "late_reply"


class UnfinishedSitting(ExamFault):
    """The journal was not closed, so its head could not be published."""

    code = "unfinished_sitting"


class EditedScore(ExamFault):
    """The stated result is not the result that the replies give."""

    code = "edited_score"
