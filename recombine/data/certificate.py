"""The certificate of a user's split: what the folder's rows show about the predicate that was held out.

`generate` writes it into the manifest and the card. `verify` computes it again and compares.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from recombine.abilities import Deriving, Faceted
from recombine.core import Example, Family
from recombine.data.folders import Folder, open_folder
from recombine.data.shortcuts import shortcut_scores
from recombine.errors import UsageError, shown
from recombine.predicates import atoms, mask, sentence
from recombine.predicates.divergence import (
    Divergence,
    count_batches,
    count_values,
    divergence,
    measured_facets,
    tree_divergence,
)
from recombine.predicates.draw import HOLD_OUT, predicate_of, predicate_text
from recombine.predicates.search import ATOM_LIMIT
from recombine.predicates.trees import TreeCounts

SHORTCUT_ROWS = 100
"""Rows of the test on which the shortcut readers are tried."""
LISTED = 20
"""New compounds that are listed; all are counted."""


def certificate(folder: Folder) -> dict[str, Any] | None:
    """The certificate, computed from the rows; None for a folder without the train and test parts of a user's split."""
    family = folder.family
    if any(part.chosen for part in folder.plan.parts):
        return _chosen_certificate(folder)
    parts = {part.job.part: n for n, part in enumerate(folder.plan.parts) if part.job.split == HOLD_OUT}
    if folder.plan.format == "native" or not {"train", "test"} <= set(parts) or not isinstance(family, Faceted):
        return None
    job = folder.plan.parts[parts["train"]].job
    predicate = predicate_of(job, family.OPTIONS)
    named = sorted({atom.facet for atom in atoms(predicate)})
    satisfying = {
        part: sum(int(mask(predicate, family.facet_columns(batch, named)).sum()) for batch in folder.batches(number))
        for part, number in parts.items()
    }
    measured = measured_facets(family.FACETS, named)
    train, test = (
        count_batches(measured, ((family.facet_columns(b, measured), len(b)) for b in folder.batches(parts[part])))
        for part in ("train", "test")
    )
    apart = divergence(train, test)
    if isinstance(family, Deriving):
        deeper = tree_divergence(*(_trees(folder, parts[part]) for part in ("train", "test")))
        apart = replace(apart, atoms=deeper.atoms, compounds=deeper.compounds)
    rows = {part: folder.plan.parts[number].rows for part, number in parts.items()}
    held = {part: count == (rows[part] if part == "test" else 0) for part, count in satisfying.items()}
    scores = shortcut_scores(islice(_examples(folder, parts["test"]), SHORTCUT_ROWS))
    return {
        "predicate": predicate_text(job, family.OPTIONS),
        "claim": sentence(predicate),
        "holds": all(held.values()),
        "satisfying": satisfying,
        "rows": rows,
        **_distances(apart),
        "shortcuts": {score.name: round(score.accuracy, 4) for score in scores},
    }


def _distances(apart: Divergence) -> dict[str, Any]:
    """The divergence of test from train, as both kinds of certificate state it."""
    return {
        "rarest_test_atom": {"atom": apart.rarest_atom[0], "train_rows": apart.rarest_atom[1]},
        "every_test_atom_is_trained": apart.rarest_atom[1] > 0,
        "new_compounds": len(apart.new_compounds),
        "commonest_new_compounds": [list(pair) for pair in apart.new_compounds[:LISTED]],
        "atom_divergence": apart.atoms,
        "compound_divergence": apart.compounds,
    }


def _chosen_certificate(folder: Folder) -> dict[str, Any] | None:
    """The certificate of a split that a search chose: its divergence, computed from the rows."""
    parts = {part.job.part: n for n, part in enumerate(folder.plan.parts)}
    if folder.plan.format == "native" or set(parts) != {"train", "test"}:
        return None
    apart = divergences(folder)[f"{folder.plan.parts[parts['test']].job.split}/test"]
    return {
        "kind": "divergence",
        "holds": apart.atoms <= ATOM_LIMIT,
        "rows": {part: folder.plan.parts[number].rows for part, number in parts.items()},
        "atom_limit": ATOM_LIMIT,
        **_distances(apart),
    }


def _trees(folder: Folder, number: int) -> TreeCounts:
    family = folder.family
    assert isinstance(family, Deriving)
    found = TreeCounts()
    found.add(family.derivation(example) for example in _examples(folder, number))
    return found


def file_divergence(family: Family, train: Path, test: Path) -> Divergence:
    """The divergence of an originally released test file from its training file."""
    sets = []
    for path in (train, test):
        examples = [row for row in family.read(path) if isinstance(row, Example)]
        if not examples:
            raise UsageError(f"{shown(str(path))} holds no example of {family.NAME}.")
        sets.append(examples)
    if isinstance(family, Deriving):
        trees = [TreeCounts(collections.Counter(family.derivation(example) for example in examples)) for examples in sets]
        return tree_divergence(*trees)
    if not isinstance(family, Faceted):
        raise UsageError(f"{family.NAME} publishes no facets, so its files cannot be compared.")
    measured = measured_facets(family.FACETS)
    counts = [count_values(measured, (family.facet_values(example) for example in examples)) for examples in sets]
    return divergence(*counts)


def divergences(path: str | Path | Folder, train: str = "train") -> dict[str, Divergence]:
    """The divergence of each part of a folder from its training part, by `split/part`."""
    folder = path if isinstance(path, Folder) else open_folder(path)
    path = folder.path
    family = folder.family
    names = [f"{part.job.split}/{part.job.part}" for part in folder.plan.parts]
    trained = [n for n, part in enumerate(folder.plan.parts) if part.job.part == train]
    if not isinstance(family, Faceted):
        raise UsageError(f"{family.NAME} publishes no facets, so its parts cannot be compared.")
    if len(trained) != 1 or len(names) < 2:
        raise UsageError(
            f"{shown(str(path))} has the parts {', '.join(names)}; one part {shown(train)} and another part are needed."
        )
    others = [n for n in range(len(names)) if n != trained[0]]
    if isinstance(family, Deriving):
        first = _trees(folder, trained[0])
        return {names[n]: tree_divergence(first, _trees(folder, n)) for n in others}
    measured = measured_facets(family.FACETS)
    counts = [
        count_batches(measured, ((family.facet_columns(b, measured), len(b)) for b in folder.batches(number)))
        for number in range(len(names))
    ]
    return {names[n]: divergence(counts[trained[0]], counts[n]) for n in others}


def _examples(folder: Folder, number: int) -> Iterator[Example]:
    for batch in folder.batches(number):
        for row in range(len(batch)):
            yield folder.family.example(batch, row)


def card_lines(found: Mapping[str, Any]) -> list[str]:
    """The certificate as a section of the card."""
    if found.get("kind") == "divergence":
        return _chosen_lines(found)
    rarest, rows = found["rarest_test_atom"], found["rows"]
    satisfying = ", ".join(f"{part} {count:,} of {rows[part]:,}" for part, count in found["satisfying"].items())
    shortcuts = ", ".join(f"{name} {share:.1%}" for name, share in found["shortcuts"].items())
    apart = f"Atom divergence {found['atom_divergence']:.4f}, compound divergence {found['compound_divergence']:.4f}."
    return [
        "## Certificate",
        "",
        f"- Held out: `{found['predicate']}`. {found['claim']}",
        f"- Rows that satisfy it: {satisfying}.",
        f"- The rarest atom of the test, `{rarest['atom']}`, stands in {rarest['train_rows']:,} training rows.",
        f"- {found['new_compounds']:,} pairs of atoms are in the test only; the commonest:",
        *(f"  - {name} ({count:,} rows)" for name, count in found["commonest_new_compounds"][:5]),
        f"- {apart} (Chernoff coefficients 0.5 and 0.1 over atoms and weighted compounds.)",
        f"- Shortcut readers on the test: {shortcuts}.",
        "",
    ]


def _chosen_lines(found: Mapping[str, Any]) -> list[str]:
    rarest = found["rarest_test_atom"]
    apart = f"atom divergence {found['atom_divergence']:.4f}, compound divergence {found['compound_divergence']:.4f}"
    return [
        "## Certificate",
        "",
        f"- Rows were chosen so that known atoms meet in new compounds: {apart}.",
        f"- The rarest atom of the test, `{rarest['atom']}`, stands in {rarest['train_rows']:,} training rows.",
        f"- {found['new_compounds']:,} compounds are in the test only; the commonest:",
        *(f"  - {name} ({count:,} rows)" for name, count in found["commonest_new_compounds"][:5]),
        "",
    ]
