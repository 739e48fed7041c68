"""Recombine: generate, prove, serve and evaluate benchmarks of compositional generalization.

ds = recombine.load("scan", split="length", part="test", seed=0)
ex = ds[17]
ex.inputs, ex.answer, ex.explain(), ex.score("I_WALK I_LOOK")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from recombine import moved

__version__ = "0.2.0.dev0"

_NAMES = {
    "load": "recombine.data.datasets",
    "Dataset": "recombine.data.datasets",
    "generate": "recombine.data.generate",
    "verify": "recombine.data.verify",
    "audit": "recombine.data.audit",
    "families": "recombine.families",
    "Episode": "recombine.episodes",
    "Turn": "recombine.episodes",
    "Scorer": "recombine.scorer",
    "mix": "recombine.mixture",
    "Curriculum": "recombine.difficulty",
    "score": "recombine.data.datasets",
    "evaluate": "recombine.evaluate",
    "compare": "recombine.evaluate.public",
    "report": "recombine.evaluate.public",
    "RecombineError": "recombine.errors",
}
_MODULES = ("families", "evaluate")
"""Public names that are packages; `recombine.evaluate` can be called as well."""
__all__ = [
    "Curriculum", "Dataset", "Episode", "RecombineError", "Scorer", "Turn", "audit", "compare", "evaluate", "families", "generate", "load", "mix",
    "report", "score", "verify",
]  # fmt: skip

if TYPE_CHECKING:
    from recombine import families as families
    from recombine.data.audit import audit as audit
    from recombine.data.datasets import Dataset as Dataset
    from recombine.data.datasets import load as load
    from recombine.data.datasets import score as score
    from recombine.data.generate import generate as generate
    from recombine.data.verify import verify as verify
    from recombine.difficulty import Curriculum as Curriculum
    from recombine.episodes import Episode as Episode
    from recombine.episodes import Turn as Turn
    from recombine.errors import RecombineError as RecombineError
    from recombine.evaluate.public import compare as compare
    from recombine.evaluate.public import evaluate as evaluate
    from recombine.evaluate.public import report as report
    from recombine.mixture import mix as mix
    from recombine.scorer import Scorer as Scorer


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `import recombine` costs nothing."""
    if name not in _NAMES:
        raise AttributeError(f"module 'recombine' has no attribute {name!r}; it has {', '.join(__all__)}")
    module = importlib.import_module(_NAMES[name])
    return module if name in _MODULES else getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


moved.install()
