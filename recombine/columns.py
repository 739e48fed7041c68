"""Columns: how the rows of a batch are held, without an object per row. What is not here is a plain numpy array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]


@dataclass(frozen=True)
class Coded:
    """A column of strings as codes into a short list of values: what Arrow calls a dictionary."""

    codes: Array
    values: Sequence[str]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> str:
        return self.values[int(self.codes[row])]


@dataclass(frozen=True)
class Text:
    """A column of strings as one UTF-8 byte array and n + 1 offsets."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> str:
        return bytes(self.data[self.offsets[row] : self.offsets[row + 1]]).decode()


@dataclass(frozen=True)
class Ragged:
    """A column of lists: all values end to end (numbers, or `Coded` strings) and n + 1 offsets."""

    values: Array | Coded
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> list[Any]:
        start, stop = int(self.offsets[row]), int(self.offsets[row + 1])
        if isinstance(self.values, Coded):
            return [self.values[i] for i in range(start, stop)]
        listed: list[Any] = self.values[start:stop].tolist()
        return listed


if TYPE_CHECKING:
    Column = Array | Coded | Text | Ragged | Sequence[str]
else:
    Array = Column = Any  # names for annotations only: numpy need not be imported to read this page
"""A column: a one-dimensional numpy array, `Coded` or `Text` strings, `Ragged` lists, or (small jobs only) a list of str."""


def value_at(column: Column, row: int) -> Any:
    """The Python value in one row of a column."""
    value: Any = column[row]
    if type(column) is list:
        return value.copy() if type(value) is list else value
    return value.item() if hasattr(value, "item") else value


def values_of(column: Column) -> list[Any]:
    """All values of a column as Python values: far quicker than one by one."""
    if isinstance(column, Coded):
        values = column.values
        return [values[code] for code in column.codes.tolist()]
    if isinstance(column, Text):
        return _cut(bytes(column.data).decode(), column) if _is_ascii(column) else [column[row] for row in range(len(column))]
    if isinstance(column, Ragged):
        flat, offsets = values_of(column.values), column.offsets.tolist()
        return [flat[start:stop] for start, stop in pairwise(offsets)]
    listed: list[Any] = column.tolist() if hasattr(column, "tolist") else list(column)
    return listed


def coded(column: Column) -> Coded:
    """A column of strings as codes, however it is held: rows that come from files need not have codes."""
    if isinstance(column, Coded):
        return column
    import numpy as np

    listed = values_of(column)
    values = sorted(set(listed))
    code = {value: i for i, value in enumerate(values)}
    return Coded(np.array([code[value] for value in listed], np.int64), values)


def distinct(column: Column) -> list[str]:
    """The different strings of a column."""
    import numpy as np

    held = coded(column)
    return [held.values[i] for i in np.unique(held.codes).tolist()]


def inside(column: Ragged) -> Any:
    """The values of all rows end to end, where a column may be a window into a longer one; strings as codes."""
    values: Any = column.values
    window = slice(int(column.offsets[0]), int(column.offsets[-1]))
    if hasattr(values, "dtype"):
        return values[window]
    held = coded(values)
    return Coded(held.codes[window], held.values)


def places_in(column: Column, names: Sequence[str], missing: int = -1) -> NDArray[np.int64]:
    """A column of names as places in a list; `missing` for a name that is not in it."""
    import numpy as np

    place, held = {name: i for i, name in enumerate(names)}, coded(column)
    table = np.array([place.get(value, missing) for value in held.values], np.int64)
    found: NDArray[np.int64] = table[np.asarray(held.codes, np.int64)]
    return found


def _is_ascii(column: Text) -> bool:
    """Whether every byte is a letter, so that offsets of bytes are offsets of letters."""
    return not len(column.data) or int(column.data.max()) < 128


def _cut(text: str, column: Text) -> list[str]:
    offsets = column.offsets.tolist()
    return [text[start:stop] for start, stop in pairwise(offsets)]
