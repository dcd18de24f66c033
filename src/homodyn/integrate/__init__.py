"""How time advances, for bodies and networks alike: steps, and zeros that are passed in them."""

from homodyn.integrate.crossings import cut, holds, line_share, passes, settled
from homodyn.integrate.methods import (
    CLASSICAL,
    EULER,
    HEUN,
    Tableau,
    kick_drift,
    leap_frog,
    runge_kutta,
)

__all__ = [
    "CLASSICAL",
    "EULER",
    "HEUN",
    "Tableau",
    "cut",
    "holds",
    "kick_drift",
    "leap_frog",
    "line_share",
    "passes",
    "runge_kutta",
    "settled",
]
