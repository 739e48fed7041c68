"""Old names. Each still works for one release, with a warning that names the new one.

When you rename something, add a line here. When you make the next release, empty the tables.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types
import warnings

_LILGYM = "recombine.families.lilgym"
MODULES: dict[str, str] = {
    f"{_LILGYM}.edits": f"{_LILGYM}.play.edits",
    f"{_LILGYM}.pictures": f"{_LILGYM}.render",
    f"{_LILGYM}.solver": f"{_LILGYM}.play.solver",
    f"{_LILGYM}.tasks": f"{_LILGYM}.play.tasks",
    "recombine.families.clutrr.genealogy": "recombine.families.clutrr.sound.family",
    "recombine.families.clutrr.names": "recombine.families.clutrr.language.names",
    "recombine.families.clutrr.rules": "recombine.families.clutrr.sound.rules",
}
"""Old name -> new name, since 0.2."""
SCALES = {"minute": "smoke"}
"""Old scale of `reproduce` -> new one, since 0.2."""
SIZES = {"--train": "train", "--test": "test"}
"""Old option of `generate` -> the part that it gives a size, now `--size PART=N`, since 0.2."""


def warn(old: str, new: str) -> None:
    """Say once per place that a name has moved."""
    warnings.warn(f"{old} is called {new} now; the old name goes with the next release.", FutureWarning, stacklevel=3)


class Finder:
    """Finds modules under their old names. Python asks it last, so names that exist cost nothing."""

    def find_spec(self, fullname: str, *_where: object) -> importlib.machinery.ModuleSpec | None:
        """A loader for an old name; None for every other."""
        if fullname not in MODULES:
            return None
        return importlib.machinery.ModuleSpec(fullname, self)  # type: ignore[arg-type]  # importlib.abc, its base, is slow

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """The module under its new name."""
        warn(spec.name, MODULES[spec.name])
        module = importlib.import_module(MODULES[spec.name])
        self.kept = module.__spec__  # the import system is about to write the old spec into the module
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """The module ran already; it keeps its own spec."""
        module.__spec__ = self.kept


def install() -> None:
    """Ask the finder for modules that no other finder knows."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.append(Finder())
