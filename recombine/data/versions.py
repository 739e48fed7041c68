"""Says which release of the package makes which version of a recipe's rows, for older ids and folders."""

from __future__ import annotations

MADE_BY: dict[str, dict[str, dict[int, str]]] = {
    "scan": {"release": {1: "0.1.0"}},
    "nacs": {"release": {1: "0.1.0"}},
    "gscan": {"sound": {1: "0.1.0"}, "release": {1: "0.1.0"}},
    "reascan": {"sound": {1: "0.1.0"}, "release": {1: "0.1.0"}},
    "clutrr": {"sound": {1: "0.1.0"}, "release": {1: "0.1.0"}},
    "lilgym": {"sound": {1: "0.1.0"}, "official": {1: "0.1.0"}},
    "abstract": {"sound": {}, "release": {}},
    "lexicon": {"sound": {}},
}
"""Family -> recipe -> version -> the last release that makes it. When a version is raised, add a line for the version before it."""


def maker_of(family: str, recipe: str, version: int) -> str:
    """The release that makes this version, such as `recombine 0.1.0`, or words that say that this release does not know it."""
    release = MADE_BY.get(family, {}).get(recipe, {}).get(version)
    return f"recombine {release}" if release else "a release that this one does not know"
