"""Examples that stay rows: each field is read from the batch when it is first used, so iterating over many rows is cheap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from recombine.core import Batch, Example, Family


class RowFields(NamedTuple):
    """How a family reads the fields of an example from a row of a batch."""

    inputs: Callable[[Batch, int], Mapping[str, Any]]
    answer: Callable[[Batch, int], str]
    plan: Callable[[Batch, int], Any]
    world: Callable[[Batch, int], Any]
    meta: Callable[[Batch, int], Mapping[str, Any]]


class _Unread:
    """A field of a `RowExample`: the first access computes it and keeps it in the example."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, example: RowExample, owner: type | None = None) -> Any:
        kept = vars(example)
        batch, row = kept["_place"]
        value = batch.id(row) if self.name == "id" else getattr(kept["_fields"], self.name)(batch, row)
        kept[self.name] = value
        return value


class RowExample(Example):
    """The example in one row of a batch. Each field is computed when it is first read; the batch must not change before."""

    id: str = _Unread()  # type: ignore[assignment]
    inputs: Mapping[str, Any] = _Unread()  # type: ignore[assignment]
    answer: str = _Unread()  # type: ignore[assignment]
    plan: Any = _Unread()
    world: Any = _Unread()
    meta: Mapping[str, Any] = _Unread()  # type: ignore[assignment]

    @classmethod
    def at(cls, family: Family, batch: Batch, row: int, fields: RowFields) -> RowExample:
        """The example in this row."""
        made = object.__new__(cls)
        vars(made).update(family=family, _place=(batch, row), _fields=fields)
        return made

    def read(self) -> Example:
        """The same example with all its fields computed and without its batch."""
        return Example(self.family, self.id, self.inputs, self.answer, self.plan, self.world, self.meta)

    def __reduce__(self) -> tuple[Callable[..., Example], tuple[Any, ...]]:
        return Example, (self.family, self.id, self.inputs, self.answer, self.plan, self.world, self.meta)

    def __repr__(self) -> str:
        return f"Example(id={self.id!r}, inputs={self.inputs!r}, answer={self.answer!r})"
