"""The certificate of a split of one's own: what the folder's rows say of the predicate that was held out.

`generate` writes it into the manifest and the card; `verify` works it out again and compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from recombine.abilities import Faceted
from recombine.core import Example
from recombine.data.folders import Folder, open_folder
from recombine.data.shortcuts import shortcut_scores
from recombine.errors import UsageError, shown
from recombine.predicates import atoms, mask, sentence
from recombine.predicates.divergence import Divergence, count_batches, divergence, measured_facets
from recombine.predicates.draw import HOLD_OUT, predicate_of, predicate_text

SHORTCUT_ROWS = 100
"""Rows of the test on which the shortcut readers are tried."""
LISTED = 20
"""New compounds that are listed; all are counted."""


def certificate(folder: Folder) -> dict[str, Any] | None:
    """The certificate, from the rows; None for a folder without the train and test parts of a split of one's own."""
    parts = {part.job.part: n for n, part in enumerate(folder.plan.parts) if part.job.split == HOLD_OUT}
    family = folder.family
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
    rows = {part: folder.plan.parts[number].rows for part, number in parts.items()}
    held = {part: count == (rows[part] if part == "test" else 0) for part, count in satisfying.items()}
    scores = shortcut_scores(islice(_examples(folder, parts["test"]), SHORTCUT_ROWS))
    return {
        "predicate": predicate_text(job, family.OPTIONS),
        "claim": sentence(predicate),
        "holds": all(held.values()),
        "satisfying": satisfying,
        "rows": rows,
        "rarest_test_atom": {"atom": apart.rarest_atom[0], "train_rows": apart.rarest_atom[1]},
        "every_test_atom_is_trained": apart.rarest_atom[1] > 0,
        "new_compounds": len(apart.new_compounds),
        "commonest_new_compounds": [list(pair) for pair in apart.new_compounds[:LISTED]],
        "atom_divergence": apart.atoms,
        "compound_divergence": apart.compounds,
        "shortcuts": {score.name: round(score.accuracy, 4) for score in scores},
    }


def divergences(path: str | Path, train: str = "train") -> dict[str, Divergence]:
    """How far each part of a folder lies from its training part, by `split/part`."""
    folder = open_folder(path)
    family = folder.family
    names = [f"{part.job.split}/{part.job.part}" for part in folder.plan.parts]
    trained = [n for n, part in enumerate(folder.plan.parts) if part.job.part == train]
    if not isinstance(family, Faceted):
        raise UsageError(f"{family.NAME} publishes no facets, so its parts cannot be compared.")
    if len(trained) != 1 or len(names) < 2:
        raise UsageError(
            f"{shown(str(path))} has the parts {', '.join(names)}; one part {shown(train)} and another part are needed."
        )
    measured = measured_facets(family.FACETS)
    counts = [
        count_batches(measured, ((family.facet_columns(b, measured), len(b)) for b in folder.batches(number)))
        for number in range(len(names))
    ]
    return {name: divergence(counts[trained[0]], counts[n]) for n, name in enumerate(names) if n != trained[0]}


def _examples(folder: Folder, number: int) -> Iterator[Example]:
    for batch in folder.batches(number):
        for row in range(len(batch)):
            yield folder.family.example(batch, row)


def card_lines(found: Mapping[str, Any]) -> list[str]:
    """The certificate as a section of the card."""
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
        f"- {apart} (Chernoff coefficients 0.5 and 0.1; atoms are facets with values, compounds unweighted pairs of atoms.)",
        f"- Shortcut readers on the test: {shortcuts}.",
        "",
    ]
