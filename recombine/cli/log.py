"""Shows the library's log messages on the command line: one line each on standard error."""

from __future__ import annotations

import logging
import sys


class _Shown(logging.Handler):
    """Writes to the standard error of the moment, so that a redirected stream is respected."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(self.format(record) + "\n")
        sys.stderr.flush()


def show_log() -> None:
    """Show what the library logs at `INFO` and above. A second call changes nothing."""
    log = logging.getLogger("recombine")
    if not any(isinstance(handler, _Shown) for handler in log.handlers):
        log.addHandler(_Shown())
        log.setLevel(logging.INFO)
