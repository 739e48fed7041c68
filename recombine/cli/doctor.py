"""Say what is installed, what each extra would add, whether kernels are cached, and whether there are a browser and a GPU."""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import sys
from importlib import metadata, util
from pathlib import Path
from typing import Any

from recombine.cli.printing import print_json, say

ADDS = {
    "train": "train models, and answer with local Hugging Face models",
    "rl": "train policies: recombine train ppo",
    "gym": "use the environments",
    "serve": "serve pages",
    "eval": "ask models behind an endpoint: recombine ask",
    "ray": "generate on a cluster: --engine ray",
    "cloud": "write to object stores",
    "inspect": "evaluate with Inspect",
    "lm-eval": "evaluate with lm-eval",
    "trl": "train language models with TRL",
    "reasoning-gym": "use the tasks in reasoning-gym",
    "mcp": "serve episodes as tools: recombine mcp",
    "verifiers": "use the tasks in verifiers",
    "openenv": "use the episodes in OpenEnv",
    "skyrl": "use the episodes in SkyRL-gym",
    "nemo-gym": "use the tasks in NeMo-Gym",
    "hub": "push folders to the Hugging Face hub",
}
"""What an extra lets you do. The extras themselves, with their packages, come from the installed package's description."""
LEFT_OUT = ("dev", "docs")
NEEDED = ("numpy", "numba", "pyarrow", "pillow", "rich")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "firefox")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine doctor`."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; exit code 1 if something that every command needs is missing."""
    found = examined()
    if arguments.json:
        print_json(found)
    else:
        _print(found)
    return 0 if all(found["needed"].values()) else 1


def examined() -> dict[str, Any]:
    """What is installed. Nothing is imported: versions come from the packages' descriptions."""
    from recombine import __version__

    return {
        "recombine": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "needed": {name: _version(name) for name in NEEDED},
        "extras": {
            name: {"adds": ADDS.get(name, "use what its name says"), "packages": {p: _version(p) for p in packages}}
            for name, packages in extras().items()
        },
        "kernels": _kernels(),
        "browser": next((path for name in BROWSERS if (path := shutil.which(name))), None),
        "gpu": _gpu(),
    }


def extras() -> dict[str, list[str]]:
    """Extra -> the packages that it needs, as the installed package declares them."""
    found: dict[str, list[str]] = {}
    try:
        declared = metadata.requires("recombine") or []
    except metadata.PackageNotFoundError:  # run from a checkout that was never installed
        declared = []
    for line in declared:
        match = re.match(r"([A-Za-z0-9_.-]+).*\bextra == ['\"]([\w-]+)['\"]", line)
        if match and match[2] not in LEFT_OUT:
            found.setdefault(match[2], []).append(match[1])
    return found


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _kernels() -> dict[str, Any]:
    """How many compiled functions are kept, and where."""
    from recombine.kernels import CACHE_VARIABLE

    spec = util.find_spec("recombine")
    top = Path(spec.origin).parent if spec and spec.origin else Path()
    named = os.environ.get(CACHE_VARIABLE) or os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or (str(Path.home() / ".cache"))
    places = [Path(named)] if named else [top, Path(home) / "recombine"]
    kept = sum(1 for place in places if place.is_dir() for _ in place.rglob("*.nbc"))
    return {"kept": kept, "places": [str(place) for place in places]}


def _gpu() -> str | None:
    """The driver's file, if there is one: torch is not imported, because that takes seconds."""
    for path in ("/dev/nvidia0", "/dev/kfd"):
        if Path(path).exists():
            return path
    return "Metal" if sys.platform == "darwin" and platform.machine() == "arm64" else None


def _print(found: dict[str, Any]) -> None:
    say(f"recombine {found['recombine']}, Python {found['python']}, {found['system']}")
    for name, version in found["needed"].items():
        say(f"  {name:<12} {version or 'MISSING: pip install --force-reinstall recombine'}")
    say("extras:")
    for name, extra in found["extras"].items():
        missing = [package for package, version in extra["packages"].items() if version is None]
        state = "installed" if not missing else f"missing: pip install 'recombine[{name}]'"
        say(f"  {name:<12} {state}; it lets you {extra['adds']}")
    kept = found["kernels"]["kept"]
    say(f"compiled kernels: {kept} kept" if kept else "compiled kernels: none yet; the first large job compiles them, once")
    say(f"browser: {found['browser'] or 'none on the path; reports open in any browser elsewhere'}")
    say(f"GPU: {found['gpu'] or 'none found; everything runs on the CPU'}")
