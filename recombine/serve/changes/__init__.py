"""Editors: change an example and let the family's oracle answer at once. One file for each kind of world.

An editor's state is a JSON text that holds the whole changed example, so that the server keeps nothing between two requests.
"""

from __future__ import annotations

from recombine.core import Example
from recombine.errors import UsageError
from recombine.serve.changes.base import Editor, Finding, Saved, Word


def editor_of(example: Example) -> Editor:
    """The editor for the example's kind of world; an error where there is none."""
    name, kind = example.family.NAME, type(example.world).__module__
    if kind == "recombine.grid.world":
        from recombine.serve.changes.grid import GridEditor
        from recombine.serve.changes.judges import JUDGES

        if name in JUDGES:
            return GridEditor(JUDGES[name])
    if kind.startswith("recombine.families.lilgym."):
        from recombine.serve.changes.scene import SceneEditor

        return SceneEditor()
    if type(example.plan).__module__.startswith("recombine.families.clutrr."):
        from recombine.serve.changes.kin import KinEditor

        return KinEditor()
    raise UsageError(f"examples of {name} cannot be changed; those of gscan, reascan, clutrr and lilgym can.")


def can_change(example: Example) -> bool:
    """Whether there is an editor for the example."""
    try:
        editor_of(example)
    except UsageError:
        return False
    return True


__all__ = ["Editor", "Finding", "Saved", "Word", "can_change", "editor_of"]
