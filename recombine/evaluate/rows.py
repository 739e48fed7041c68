"""The rows of a set for an evaluation: ids, clusters and dials come from columns. An example is made when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from recombine.abilities import Clustering, Faceted
from recombine.columns import Coded, value_at
from recombine.core import Batch, Example, Family
from recombine.errors import UsageError, shown

if TYPE_CHECKING:
    from recombine.columns import Column
    from recombine.data.datasets import Dataset

Chosen = tuple[Batch, Sequence[int]]
"""A batch, and the places in it of the rows that are evaluated."""


@dataclass(frozen=True)
class Rows(Sequence[Example]):
    """Some rows of a part. Indexing makes the example of a row and keeps it."""

    family: Family
    chosen: Sequence[Chosen]
    ids: Sequence[str]
    clusters: Sequence[str]
    dials: Sequence[Mapping[str, float]]
    _places: Sequence[tuple[int, int]] = field(repr=False)
    _made: dict[int, Example] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        """The example at an index, or a list of them for a slice."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        place = index % len(self)
        if place not in self._made:
            number, row = self._places[place]
            self._made[place] = self.family.example(self.chosen[number][0], row)
        return self._made[place]


def rows_of(family: Family, batches: Iterable[Batch], keep: Callable[[Batch], Sequence[int]] | None = None) -> Rows:
    """The rows of these batches, or those of each batch that `keep` chooses."""
    chosen: list[Chosen] = []
    ids: list[str] = []
    clusters: list[str] = []
    dials: list[dict[str, float]] = []
    places: list[tuple[int, int]] = []
    for batch in batches:
        kept = range(len(batch)) if keep is None else keep(batch)
        if not len(kept):
            continue
        ids += [batch.id(row) for row in kept]
        groups = column_values(clusters_of(family, batch))
        clusters += [str(groups[row]) for row in kept]
        figures = {name: column_values(batch.columns[name]) for name in family.DIALS if name in batch.columns}
        dials += [{name: float(values[row]) for name, values in figures.items()} for row in kept]
        places += [(len(chosen), row) for row in kept]
        chosen.append((batch, kept))
    return Rows(family, chosen, ids, clusters, dials, places)


def column_values(column: Column) -> Sequence[Any]:
    """All values of a column as plain Python values."""
    if isinstance(column, Coded):
        return [column.values[code] for code in column.codes.tolist()]
    if hasattr(column, "tolist"):
        listed: list[Any] = column.tolist()
        return listed
    return [value_at(column, row) for row in range(len(column))]


def clusters_of(family: Family, batch: Batch) -> Column:
    """The cluster of each row. Rows of one cluster share context and are not independent."""
    return family.clusters(batch) if isinstance(family, Clustering) else batch.columns[family.CLUSTER]


def cluster_of(example: Example) -> str:
    """The cluster of an example, or its id if the cluster is unknown. Examples of one cluster are not independent."""
    name = example.family.CLUSTER
    return str(example.meta.get(name, example.inputs.get(name, example.id)))


def part_rows(data: Dataset, ids: Set[str] | None = None, where: str | None = None) -> Rows:
    """The rows of a part: all, those with these ids, or those that a predicate over the family's facets is true of."""
    judge = None if where is None else _predicate(data.family, where)

    def keep(batch: Batch) -> Sequence[int]:
        kept: Iterable[int] = range(len(batch)) if judge is None else judge(batch)
        return [row for row in kept if ids is None or batch.id(row) in ids]

    return rows_of(data.family, data.batches(), None if ids is None and judge is None else keep)


def _predicate(family: Family, text: str) -> Callable[[Batch], list[int]]:
    """The function that gives the rows of a batch for which the predicate is true."""
    from recombine.predicates import atoms, mask, parse

    if not isinstance(family, Faceted):
        raise UsageError(f"{family.NAME} has no facets, so its rows cannot be chosen by the predicate {shown(text)}.")
    predicate = parse(text, family.FACETS, family.NAME)
    names = list(dict.fromkeys(atom.facet for atom in atoms(predicate)))
    return lambda batch: [int(row) for row in mask(predicate, family.facet_columns(batch, names)).nonzero()[0]]
