"""Published numbers: accuracy and seconds of every method on every data set of the paper's tables."""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    """A published accuracy and its time."""

    accuracy: float
    seconds: float


# None stands for N/A in the paper: out of memory.
Row = tuple[Printed | None, ...]

SYNTHETIC = ("(2,2) R^6", "(4,5,6) R^10", "(5,6,7) R^20", "(3,4,5,6,7) R^80")
DIGITS = ("1,7", "4,9", "2,4,8", "3,6,8", "2,5,7,8,9", "1-9")

# By table, then method; columns in the order of SYNTHETIC and DIGITS. Faces and penDigits have one column each.
PUBLISHED: dict[str, dict[str, Row]] = {
    "synthetic 5%": {
        "FLS": (Printed(0.99, 0.81), Printed(0.98, 0.81), Printed(1.00, 1.0), Printed(1.00, 4.7)),
        "LBF": (Printed(0.99, 0.65), Printed(0.97, 0.98), Printed(1.00, 1.3), Printed(0.98, 8.7)),
        "SSC": (Printed(0.92, 140), Printed(0.55, 290), Printed(0.98, 330), Printed(0.95, 160)),
        "SSSC": (Printed(0.89, 2.6), Printed(0.62, 4.2), Printed(0.83, 6.8), Printed(0.73, 6.4)),
    },
    "synthetic 30%": {
        "FLS": (Printed(0.99, 0.69), Printed(0.98, 0.99), Printed(1.00, 1.2), Printed(0.99, 7.9)),
        "LBF": (Printed(0.99, 0.61), Printed(0.98, 1.0), Printed(1.00, 1.6), Printed(0.98, 11)),
        "SSC": (Printed(0.91, 210), Printed(0.59, 360), Printed(0.84, 260), Printed(0.73, 760)),
        "SSSC": (Printed(0.76, 2.6), Printed(0.44, 4.1), Printed(0.47, 6.2), Printed(0.40, 6.9)),
    },
    "mnist": {
        "FLS": (
            Printed(0.99, 15), Printed(0.93, 13), Printed(0.97, 20),
            Printed(0.95, 19), Printed(0.81, 38), Printed(0.54, 111),
        ),
        "LBF": (
            Printed(0.65, 6), Printed(0.57, 7), Printed(0.44, 12),
            Printed(0.57, 12), Printed(0.36, 27), Printed(0.25, 85),
        ),
        "SSC": (
            Printed(0.76, 18993), Printed(0.66, 14358), Printed(0.94, 45683),
            Printed(0.86, 47448), None, None,
        ),
        "SSSC": (
            Printed(0.89, 33), Printed(0.65, 27), Printed(0.95, 34),
            Printed(0.90, 37), Printed(0.77, 70), Printed(0.50, 152),
        ),
    },
    "faces": {
        "FLS": (Printed(0.68, 1.79),),
        "LBF": (Printed(0.63, 4.36),),
        "SSC": (Printed(0.87, 259.66),),
        "SSSC": (Printed(0.57, 15.02),),
    },
    "pendigits": {
        "FLS": (Printed(0.68, 18.58),),
        "LBF": (Printed(0.53, 13.33),),
        "SSC": (None,),
        "SSSC": (Printed(0.51, 44.07),),
    },
}  # fmt: skip
