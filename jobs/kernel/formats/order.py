"""The order of scores: equal when they agree to some significant digits, then by key.

Runners that stop at a tolerance differ in the last digits; rounding first keeps their orders equal
wherever the scores are.
"""

from __future__ import annotations

DIGITS = 9


def rounded(score: float, digits: int = DIGITS) -> float:
    """The score to `digits` significant decimal digits."""
    return float(f"{score:.{digits - 1}e}")


def descending(score: float, digits: int = DIGITS) -> bytes:
    """Text whose byte order is that of the rounded scores, the best first; score >= 0.

    All exponents of doubles and up to 17 digits; 0 comes behind the least of them.
    """
    mantissa, exponent = f"{score:.{digits - 1}e}".split("e")
    inverted = 10**digits - 1 - int(mantissa.replace(".", ""))
    return b"%04d%0*d" % (1000 - int(exponent) if score else 9999, digits, inverted)


def ascending_id(node: bytes) -> bytes:
    """An id whose byte order is that of its number: a letter for its length, then the digits.

    `dummy`, in lower case, comes last.
    """
    return bytes((64 + len(node),)) + node if node.isdigit() else node
