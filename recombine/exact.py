"""Functions of numbers that have the same bits on every machine, for searches that choose rows.

The exponential and the powers of a system's mathematical library may differ in the last bit from one system or processor to another. These use
sums, products, quotients and square roots only, which IEEE 754 rounds in one way. Their own error is below one part in 10^14.
"""

from __future__ import annotations

import math

KERNEL = True
LOG2_OF_E, LN_2 = 1.4426950408889634, 0.6931471805599453
TERMS = 14
"""Terms of the series of the exponential: enough for arguments up to half of ln 2."""
LEAST = -700.0
"""The exponential of anything below counts as 0."""
FIFTH_ROOTS_OF_POWERS = (1.0, 1.148698354997035, 1.3195079107728942, 1.515716566510398, 1.7411011265922482)
"""The fifth roots of 1, 2, 4, 8 and 16."""


def exponential(x: float) -> float:
    """e to the power x, for x up to 700."""
    if x < LEAST:
        return 0.0
    doublings = math.floor(x * LOG2_OF_E + 0.5)
    rest = x - doublings * LN_2
    total = 1.0
    for term in range(TERMS, 0, -1):
        total = 1.0 + total * rest / term
    return math.ldexp(total, doublings)


def tenth_root(x: float) -> float:
    """The tenth root of a number that is not negative."""
    if x <= 0.0:
        return 0.0
    share, power = math.frexp(math.sqrt(x))  # the share is from 1/2 to 1
    whole, rest = power // 5, power % 5
    wanted = math.ldexp(share, rest)
    root = (0.7411 + 0.2589 * share) * FIFTH_ROOTS_OF_POWERS[rest]  # the chord; within one percent
    for _ in range(2):  # Halley's rule: the error goes to about twice its third power
        fifth = root * root
        fifth = fifth * fifth * root
        root = root * (2.0 * fifth + 3.0 * wanted) / (3.0 * fifth + 2.0 * wanted)
    return math.ldexp(root, whole)
