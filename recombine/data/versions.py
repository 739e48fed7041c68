"""Which release of the package makes which version of a recipe's rows: for ids and folders that are older than this one."""

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
"""Family -> recipe -> version -> the last release of the package that makes it. A raised version adds the line of the one before."""


def maker_of(family: str, recipe: str, version: int) -> str:
    """`recombine 0.1.0`, the release that makes this version; or words that say that it is not known here."""
    release = MADE_BY.get(family, {}).get(recipe, {}).get(version)
    return f"recombine {release}" if release else "a release that this one does not know"
