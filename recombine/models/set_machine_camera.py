"""The set machine's camera: objects as pictures instead of symbols.

A family that can draw one object by itself (the ability `Portraying`) gives the pixels. Rows then hold the number of each object's
picture in place of its size, colour and shape. The numbers follow a hash of the pixels, so they say nothing about the object.
A picture is seen twice, as by a retina: its corner, where the object's own cell is, in full resolution, and the whole in a quarter of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.abilities import Portraying
from recombine.errors import UsageError

if TYPE_CHECKING:
    from recombine.core import Family

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Look = tuple[int, str, str]
"""Size, colour and shape: what the painter needs. Nothing behind the camera sees them."""
MOST_PICTURES = 127
"""Numbers of pictures are small integers."""
WHITE = 255.0
COARSE = 4
"""The corner is this part of each side, and the whole is reduced by as much."""


class Camera:
    """Numbers for looks, and the picture of each number. Equal pixels have equal numbers."""

    def __init__(self, family: Family) -> None:
        if not isinstance(family, Portraying):
            raise UsageError(f"sight = pictures needs a family that draws its objects one by one; {family.NAME} does not.")
        self.painter = family
        self.numbers: dict[Look, int] = {}
        self.taken: dict[bytes, int] = {}
        self.shots: list[Floats] = []

    def numbers_of(self, looks: Sequence[Look]) -> Ints:
        """The number of each look's picture."""
        self._take(set(looks) - set(self.numbers))
        return np.array([self.numbers[look] for look in looks], np.int64)

    def _take(self, new: Iterable[Look]) -> None:
        """Draw looks that were not seen before. The order of their numbers follows from their pixels alone."""
        drawn = {look: self.painter.portrait(*look) for look in new}
        for look in sorted(drawn, key=lambda one: keys.state("picture", drawn[one].tobytes().hex())):
            pixels = drawn[look].tobytes()
            if pixels not in self.taken:
                self.taken[pixels] = len(self.shots)
                self.shots.append(retina(1.0 - drawn[look] / WHITE))
            self.numbers[look] = self.taken[pixels]
        if len(self.shots) > MOST_PICTURES:
            raise UsageError(
                f"the set machine takes at most {MOST_PICTURES} different pictures; these rows have {len(self.shots)}."
            )

    def pictures(self) -> Floats:
        """All pictures so far: (pictures, numbers of a retina)."""
        return np.array(self.shots)


def retina(ink: Floats) -> Floats:
    """What the eye gets of a picture (height, width, 3) whose white is 0: the corner, and the whole in blocks."""
    height, width = (side // COARSE for side in ink.shape[:2])
    corner = ink[:height, :width]
    whole = ink[: height * COARSE, : width * COARSE].reshape(height, COARSE, width, COARSE, 3).mean((1, 3))
    return np.concatenate([corner.reshape(-1), whole.reshape(-1)])
