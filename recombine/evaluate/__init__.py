"""Predictions become scores, statistics, named mistakes and a report.

The module can be called: `recombine.evaluate(data, answers)` is `recombine.evaluate.public.evaluate`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recombine.evaluate.evaluate import Evaluation


class _Callable(ModuleType):
    """A package that is also a function, because the verb and the package have the same name."""

    def __call__(self, data: Any, answers: Any, **words: Any) -> Evaluation:
        """Score runs over one folder or several; see `recombine.evaluate.public.evaluate`."""
        from recombine.evaluate.public import evaluate

        return evaluate(data, answers, **words)


sys.modules[__name__].__class__ = _Callable
