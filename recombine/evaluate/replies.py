"""Finds the answer in a reply of a language model. This strict parser never executes anything.

The rules, in order:

1. A reply cut at the token limit (`finish` is `length`) is `truncated`; what it holds is not read.
2. What precedes a closing `</think>` is not part of the reply; an opened `<think>` that never closes leaves nothing.
3. The endpoint's own refusal (a `refusal` text, or `finish` is `content_filter`) is `refused`.
4. The answer is what the **last** marker gives: `<answer>…</answer>`, or a line that begins with `Answer:` (also `Final answer:`,
   in any case, with Markdown's `*`, `_`, `#`, `>`, `-` around it). If nothing follows on that line, the lines below it up to the
   next blank one are the answer, without code fences.
5. Without a marker, a reply of one line of at most `MAX_LINE` characters is itself the answer, unless it opens like a refusal.
6. Anything else is `refused` if it opens like a refusal, and `unparsable` otherwise.

Blanks, quotation marks, back-ticks, Markdown stars and one final full stop around an answer are dropped. An answer over `MAX_ANSWER`
characters is `unparsable`. Whether the answer makes sense is for the family's `score` to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

PARSER_VERSION = 1
"""Raised whenever the same reply may be read differently; stored with every run."""
MAX_ANSWER = 20_000
MAX_LINE = 4_000
MAX_REPLY = 2_000_000
"""Longer replies are `unparsable` without being searched."""

Status = Literal["ok", "unparsable", "refused", "truncated", "error"]


@dataclass(frozen=True)
class Parsed:
    """The answer of a reply, or the reason why it holds none (`answer` is then None)."""

    status: Status
    answer: str | None = None


_MARKER = re.compile(
    r"^[ \t>*_#-]{0,12}(?:final[ \t]{1,3})?answer[ \t]{0,3}[*_]{0,3}[ \t]{0,3}:[*_]{0,3}", re.IGNORECASE | re.MULTILINE
)
_REFUSAL = re.compile(
    r"\s*(?:(?:i['’]?m|i am) (?:very |so )?sorry\b|sorry,|i apologi[sz]e\b|i (?:can['’]?t|cannot|can not|won['’]?t|will not) |"
    r"(?:i['’]?m|i am) (?:unable|not able) to\b|as an ai\b)",
    re.IGNORECASE,
)
_WRAPPING = " \t\r\n*`'\"“”‘’"


def parse_reply(text: str, finish: str = "stop", refusal: str = "") -> Parsed:
    """The answer of a reply by the rules at the top of this file."""
    if finish == "length":
        return Parsed("truncated")
    if refusal or finish == "content_filter":
        return Parsed("refused")
    if len(text) > MAX_REPLY:
        return Parsed("unparsable")
    said = spoken(text).strip()
    marked = _marked(said)
    if marked is None and "\n" not in said and 0 < len(said) <= MAX_LINE and not _REFUSAL.match(said):
        marked = said
    answer = "" if marked is None else _bare(marked)
    if answer and len(answer) <= MAX_ANSWER:
        return Parsed("ok", answer)
    return Parsed("refused" if marked is None and _REFUSAL.match(said) else "unparsable")


def parse_leniently(text: str, finish: str = "stop", refusal: str = "") -> Parsed:
    """The answer as a generous reader takes it. Where the rules find none, the last line that is not blank is the answer.

    A line in a code fence counts without the fence. Refusals and replies cut at the token limit stay what they are.
    """
    strict = parse_reply(text, finish, refusal)
    if strict.status != "unparsable" or len(text) > MAX_REPLY:
        return strict
    lines = [line.strip() for line in spoken(text).split("\n")]
    last = next((line for line in reversed(lines) if line and not line.startswith("```")), "")
    answer = _bare(last) if len(last) <= MAX_LINE else ""
    return Parsed("ok", answer) if answer else strict


def spoken(text: str) -> str:
    """The reply without the thinking before it."""
    before, closed, after = text.rpartition("</think>")
    said = after if closed else before + after
    return said.partition("<think>")[0]


def _marked(said: str) -> str | None:
    """What the last marker gives; None if there is no marker. Linear in the length of the text."""
    close = said.rfind("</answer>")
    opened = said.rfind("<answer>", 0, max(close, 0))
    after = max((match.end() for match in _MARKER.finditer(said)), default=-1)
    if opened >= 0 and close > after:
        return said[opened + len("<answer>") : close]
    if after < 0:
        return None
    line, _, below = said[after:].partition("\n")
    if line.strip(_WRAPPING):
        return line
    kept = []
    for row in below.lstrip("\r\n").split("\n"):
        if not row.strip():
            break
        if not row.lstrip().startswith("```"):
            kept.append(row.strip())
    return "\n".join(kept)


def _bare(text: str) -> str:
    """The answer without what Markdown and good manners put around it."""
    bare = text.strip(_WRAPPING)
    return bare.removesuffix(".").strip(_WRAPPING) if not bare.endswith("..") else bare
