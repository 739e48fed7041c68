"""Family files in which a function runs while one row is made: how far a newcomer must walk.

python benchmarks/files_entered.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import recombine
from recombine.families import OURS

PACKAGE = Path(recombine.__file__).parent


def entered(name: str) -> list[str]:
    """The files of the family's folder in which a function of ours ran during `load(name)[0]`."""
    folder = PACKAGE / "families" / ("scan" if name == "nacs" else name)
    recombine.families.family(name)  # importing is not walking
    seen: set[CodeType] = set()

    def look(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    sys.setprofile(look)
    try:
        _ = recombine.load(name)[0]
    finally:
        sys.setprofile(None)
    names = {Path(code.co_filename) for code in seen if code.co_name != "<module>" and not code.co_name.startswith("<")}
    return sorted(str(path.relative_to(folder)) for path in names if folder in path.parents)


if __name__ == "__main__":
    for family_name in OURS:
        files = entered(family_name)
        print(f"{family_name:8} {len(files):3}  {', '.join(files)}")
