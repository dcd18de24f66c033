"""Motors of a leg: a periodic target angle, and stiffness and damping that switch in a cycle.

tau = K(phase) (target(phase) - q) - D(phase) v (van den Kieboom 2014, eqs. 5.9 to 5.11, table 5.2).
Both legs share all numbers; their phases differ by half a cycle.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from homodyn.foundation.record import Record, record
from homodyn.model.side import Side
from homodyn.search import SearchParameter
from homodyn.simulate.signals import PeriodicCubic, PhaseVariable, Quantity, Signal

MIN_INTERVAL = 0.01
"""Smallest interval of a target curve before scaling: intervals must not all be zero."""
MIN_GAIN = 0.5
"""Smallest gain (N m/rad, N m s/rad); gains are searched on a logarithmic scale."""
GAINS = ("stiffness", "damping")
WINDOW_ENDS = ("start", "share")
"""Parameters of the part of the cycle in which the first of two gains acts."""


@record(eq=True)
class DriveBounds(Record):
    """Bounds of the numbers of a motor."""

    lower: float
    """Smallest target angle (rad)."""
    upper: float
    """Largest target angle (rad)."""
    first: float
    """Candidates begin with target angles within +- this number (rad)."""
    points: int = 5
    """Points of the target curve."""
    max_stiffness: float = 12000.0
    """N m/rad."""
    max_damping: float = 60.0
    """N m s/rad."""


def phase_name(side: Side) -> str:
    """Signal: phase of a leg in its cycle, 0 to 1."""
    return f"{side.value} phase"


def phase_signals(frequency: float) -> dict[str, Signal | Quantity]:
    """Phases of both legs.

    Args:
        frequency: Cycles per second.

    Returns:
        Signals by name; the left leg is half a cycle behind.
    """
    return {
        phase_name(Side.RIGHT): PhaseVariable(frequency),
        phase_name(Side.LEFT): PhaseVariable(frequency, start=0.5),
    }


def drive_names(drive: str, points: int) -> list[str]:
    """Names of the numbers of a motor.

    Args:
        drive: Name of the motor.
        points: Points of its target curve.

    Returns:
        4 + 4 names of gains after 2 points + 1 names of the target.
    """
    intervals, values = _target_names(drive, points)
    gains = [f"{drive} {gain} {part}" for gain in GAINS for part in ("1", "2", *WINDOW_ENDS)]
    return [*intervals, *values, *gains]


def drive_parameters(drive: str, bounds: DriveBounds) -> list[SearchParameter]:
    """Parameters of a search for one motor, in the order of `drive_names`.

    Args:
        drive: Name of the motor.
        bounds: Their bounds.

    Returns:
        19 parameters for 5 points.
    """
    intervals, values = _target_names(drive, bounds.points)
    first = (max(-bounds.first, bounds.lower), min(bounds.first, bounds.upper))
    found = [SearchParameter(name, MIN_INTERVAL, 1.0) for name in intervals]
    found += [
        SearchParameter(name=name, lower=bounds.lower, upper=bounds.upper, unit="rad", start=first)
        for name in values
    ]
    limits = (bounds.max_stiffness, "N m/rad"), (bounds.max_damping, "N m s/rad")
    for gain, (upper, unit) in zip(GAINS, limits, strict=True):
        found += [gain_parameter(f"{drive} {gain} {k}", upper, unit) for k in (1, 2)]
        found += [SearchParameter(f"{drive} {gain} {end}", 0.0, 1.0) for end in WINDOW_ENDS]
    return found


def gain_parameter(name: str, upper: float, unit: str) -> SearchParameter:
    """A gain on a logarithmic scale.

    Args:
        name: Its name.
        upper: Largest value.
        unit: Its unit.

    Returns:
        The parameter.
    """
    return SearchParameter(name=name, lower=MIN_GAIN, upper=upper, unit=unit, scale="log")


def drive_signals(drive: str, side: Side, points: int) -> dict[str, Signal | Quantity]:
    """Target, stiffness and damping of a motor of one leg.

    Args:
        drive: Name of the motor; batch parameters have the names of `drive_names`.
        side: The leg.
        points: Points of the target curve.

    Returns:
        Signals by name, such as ``"left ankle target"``.
    """
    phase = phase_name(side)
    found: dict[str, Signal | Quantity] = {
        f"{side.value} {drive} target": PeriodicCubic(phase, *_target_names(drive, points))
    }
    for gain in GAINS:
        found[f"{side.value} {drive} {gain}"] = _switching_gain(f"{drive} {gain}", phase)
    return found


def in_window(batch: Mapping[str, ca.SX], name: str, phase: str) -> ca.SX:
    """Whether a phase is in the window of a gain.

    Args:
        batch: Batch parameters and signals, with ``name start`` and ``name share``.
        name: Name of the gain.
        phase: Name of the phase.

    Returns:
        1 or 0.
    """
    since = batch[phase] - batch[f"{name} start"]
    return since - ca.floor(since) < batch[f"{name} share"]


def _switching_gain(name: str, phase: str) -> Quantity:
    def gain(t: object, q: object, v: object, batch: Mapping[str, ca.SX]) -> ca.SX:
        return ca.if_else(in_window(batch, name, phase), batch[f"{name} 1"], batch[f"{name} 2"])

    return gain


def _target_names(drive: str, points: int) -> tuple[list[str], list[str]]:
    """Names of the intervals and values of a target curve."""
    return (
        [f"{drive} target d{k}" for k in range(1, points + 2)],
        [f"{drive} target y{k}" for k in range(1, points + 1)],
    )
