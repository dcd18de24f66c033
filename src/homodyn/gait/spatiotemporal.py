"""Spatiotemporal gait measures: lengths, durations, velocities, shares and margins per cycle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.foundation.arguments import require_type
from homodyn.gait.elevation import elevation_from_kinematics, planarity
from homodyn.gait.events import motion_events
from homodyn.gait.gait_cycles import (
    Stride,
    event_times,
    joint_landings,
    normalize_cycles,
    step_events,
    strides,
)
from homodyn.gait.gait_measures import GaitMeasure, GaitMeasures, MissingMeasure
from homodyn.gait.ground_kinematics import GroundKinematics, ground_kinematics
from homodyn.gait.heading import MIN_PROGRESS_M, Heading, find_heading, left_of
from homodyn.gait.legs import LegsNotFound
from homodyn.gait.stability import ExtrapolatedComMargins, stability_margins
from homodyn.model.side import Side
from homodyn.motion import FOOT_OFF, FOOT_STRIKE, ContactForce, Event, Loads, Motion

MIN_PEAK_FORCE_WEIGHTS = 0.1
"""A stance whose vertical force stays below this fraction of the weight was not measured."""
PLANAR_TOLERANCE_M = 1e-9
"""Lateral distance of the feet (m) up to which a model is planar."""
SIDE_MEASURES = (
    "stride duration",
    "stance duration",
    "swing duration",
    "stance share",
    "double support duration",
    "double support share",
    "stride length",
    "stride velocity",
    "step length",
    "step width",
    "step duration",
    "cadence",
    "toe step length",
    "toe step duration",
    "toe step velocity",
    "margin of stability, forward",
    "margin of stability, sideways",
    "planarity of elevation angles",
)
"""Measures of each side, without those of forces."""
MIN_UPRIGHT_SHARE, MIN_STANDING_SHARE = 0.65, 0.95
"""Shares of the largest height of the center of mass: below the first one at the end of a motion
the person has fallen or sat down; the last frame above the second one is where that began."""
SYMMETRY_MEASURES = (
    "step length",
    "step duration",
    "stride length",
    "stance duration",
    "swing duration",
)
"""Measures that have a symmetry index."""
OVERALL_MEASURES = (
    "velocity",
    "velocity over the recording",
    "cadence",
    *(f"symmetry index of {name}" for name in SYMMETRY_MEASURES),
)
"""Measures of both sides together."""


def measures(
    motion: Motion,
    events: Sequence[Event] | None = None,
    loads: Loads | None = None,
    *,
    pendulum_length: float | None = None,
    belt_speed: float | None = None,
) -> GaitMeasures:
    """Spatiotemporal measures of a walk, per side and cycle.

    The motion may be recorded, simulated, optimized or synthetic. A stride lasts from strike to
    strike of a foot; a step from the strike of the other foot to its own. Lengths are measured at
    the heel where each foot strikes, along the direction of progression; width is perpendicular to
    it and negative when the feet cross. The toe steps of Felis 2015, section 1.1.2, are included:
    length between the toes of both feet, duration from one foot off to the next, and velocity.
    Symmetry index: ``100 (right - left) / mean of both`` (Robinson 1987). Margins of stability are
    those of Hof; see `margin_of_stability`.

    Args:
        motion: Any movement of a model with two legs.
        events: Foot strikes and foot offs. When left out, the events of the motion are used or,
            where it has none, events detected from forces or kinematics.
        loads: Loads of the motion, for peak ground forces and event detection; the contact forces
            of the motion itself when left out.
        pendulum_length: Pendulum length (m) of the extrapolated center of mass; by default the mean
            distance of the center of mass from the lower ankle.
        belt_speed: Speed of a treadmill (m/s) where it is known; 0 is still ground; found in the
            stance feet by default.

    Returns:
        All measures, the reasons for missing ones, and notes. A model without two legs has none.

    Raises:
        CaptureError: The motion is too short or has gaps.
        HomodynError: ``motion`` has another type.
    """
    require_type("motion", motion, Motion)
    try:
        kinematics = ground_kinematics(motion, belt_speed)
    except LegsNotFound as error:
        return _no_measures(str(error))
    known = motion_events(motion, loads) if events is None else events
    last, fall = _fall_start(kinematics)
    within = tuple(e for e in known if kinematics.time[0] <= e.time <= last)
    inside = step_events(within)
    heading = find_heading(kinematics, inside)
    stability = stability_margins(kinematics, inside, heading, pendulum_length=pendulum_length)
    table = _Table()
    for side in (Side.LEFT, Side.RIGHT):
        _add_strides(table, kinematics, heading, inside, side)
        _add_steps(table, kinematics, heading, inside, side)
        _add_toe_steps(table, kinematics, heading, inside, side)
        _add_margins(table, stability, inside, side)
        _add_planarity(table, kinematics, heading, inside, side)
        if loads is not None:
            _add_peak_forces(table, loads.motion, loads.feet, inside, side)
        elif motion.contact_forces:
            _add_peak_forces(table, motion, motion.contact_forces, inside, side)
    _add_overall(table, kinematics, heading, inside, last)
    _add_symmetry(table)
    notes = [*getattr(known, "notes", ()), *kinematics.notes, *heading.notes, *fall]
    landings = joint_landings(within)
    if landings:
        notes.append(
            f"Both feet land together at {', '.join(f'{time:.2f}' for time in landings[::2])} s: "
            "these landings of jumps are not steps."
        )
    if not inside:
        notes.append("The motion contains no events, so there are no cycles to measure.")
    notes.append(
        f"Margins of stability: pendulum of {stability.pendulum_length:.3f} m, "
        f"omega0 = {stability.omega0:.3f} 1/s."
    )
    return GaitMeasures(
        rows=tuple(table.rows),
        missing=tuple(table.missing),
        direction=heading.direction,
        belt_speed=float(np.linalg.norm(kinematics.belt)),
        pendulum_length=stability.pendulum_length,
        notes=tuple(dict.fromkeys(notes)),
    )


def _no_measures(reason: str) -> GaitMeasures:
    """The answer for a model that cannot walk."""
    missing = [MissingMeasure(name, side, reason) for side in Side for name in SIDE_MEASURES]
    missing += [MissingMeasure(name, "both", reason) for name in OVERALL_MEASURES]
    return GaitMeasures((), tuple(missing), notes=(f"There are no gait measures: {reason}.",))


class _Table:
    """Rows under construction."""

    def __init__(self) -> None:
        self.rows: list[GaitMeasure] = []
        self.missing: list[MissingMeasure] = []

    def add(
        self, name: str, unit: str, side: str, found: Iterable[tuple[float, float]], reason: str
    ) -> None:
        """Add a row of (time, value), or the reason for its absence."""
        pairs = np.array([(t, v) for t, v in found if np.isfinite(v)], dtype=float).reshape(-1, 2)
        if len(pairs):
            self.rows.append(GaitMeasure(name, unit, side, pairs[:, 1], pairs[:, 0]))
        else:
            self.missing.append(MissingMeasure(name, side, reason))

    def mean(self, name: str, side: str) -> float | None:
        return next((r.mean for r in self.rows if (r.name, r.side) == (name, side)), None)


def _add_strides(
    table: _Table,
    kinematics: GroundKinematics,
    heading: Heading,
    events: Sequence[Event],
    side: Side,
) -> None:
    found = strides(events, side)
    none = f"no two strikes of the {side} foot follow each other in the recording"
    no_off = none if not found else f"no foot off of the {side} foot lies within a stride"
    heel = kinematics.side(side).heel
    offs = [(s, s.foot_off) for s in found if s.foot_off is not None]
    lengths = {s: _forward_distance(kinematics, heading, heel, s) for s in found}
    table.add("stride duration", "s", side, ((s.start, s.duration) for s in found), none)
    table.add("stance duration", "s", side, ((s.start, off - s.start) for s, off in offs), no_off)
    table.add("swing duration", "s", side, ((off, s.end - off) for s, off in offs), no_off)
    shares = ((s.start, 100 * (off - s.start) / s.duration) for s, off in offs)
    table.add("stance share", "%", side, shares, no_off)
    both = [(s, t) for s in found if (t := _double_support(events, s)) is not None]
    no_both = none if not found else "events of the other foot are missing within the strides"
    if both and all(t == 0 for _, t in both):
        both, no_both = [], "there is no double support: running"
    table.add("double support duration", "s", side, ((s.start, t) for s, t in both), no_both)
    shares = ((s.start, 100 * t / s.duration) for s, t in both)
    table.add("double support share", "%", side, shares, no_both)
    table.add("stride length", "m", side, ((s.start, lengths[s]) for s in found), none)
    speeds = ((s.start, lengths[s] / s.duration) for s in found)
    table.add("stride velocity", "m/s", side, speeds, none)


def _forward_distance(
    kinematics: GroundKinematics, heading: Heading, path: np.ndarray, stride: Stride
) -> float:
    move = kinematics.at(path, stride.end) - kinematics.at(path, stride.start)
    return float(move[:2] @ heading.at((stride.start + stride.end) / 2))


def _double_support(events: Sequence[Event], stride: Stride) -> float | None:
    """Double-support time within a stride (s); None when events are missing."""
    other = stride.side.other
    offs = [t for t in event_times(events, other, FOOT_OFF) if stride.start < t < stride.end]
    strikes = [t for t in event_times(events, other, FOOT_STRIKE) if stride.start < t < stride.end]
    if stride.foot_off is None or len(offs) != 1 or len(strikes) != 1:
        return None
    first = offs[0] - stride.start if offs[0] < strikes[0] else 0.0
    return first + max(0.0, stride.foot_off - strikes[0])


def _add_steps(
    table: _Table,
    kinematics: GroundKinematics,
    heading: Heading,
    events: Sequence[Event],
    side: Side,
) -> None:
    pairs = _pair_with_previous(
        event_times(events, side.other, FOOT_STRIKE), event_times(events, side, FOOT_STRIKE)
    )
    none = f"no strike of the {side.other} foot comes before one of the {side} foot"
    outward = side.sign
    lengths, widths = [], []
    for before, strike in pairs:
        here = kinematics.at(kinematics.side(side).heel, strike)
        there = kinematics.at(kinematics.side(side.other).heel, before)
        direction = heading.at((before + strike) / 2)
        lengths.append((strike, float((here - there)[:2] @ direction)))
        widths.append((strike, outward * float((here - there)[:2] @ left_of(direction))))
    table.add("step length", "m", side, lengths, none)
    table.add("step width", "m", side, *_lateral_or_reason(widths, none))
    table.add("step duration", "s", side, ((b, b - a) for a, b in pairs), none)
    table.add("cadence", "steps/min", side, ((b, 60 / (b - a)) for a, b in pairs), none)


def _lateral_or_reason(
    found: list[tuple[float, float]], reason: str
) -> tuple[list[tuple[float, float]], str]:
    """Lateral values, or the reason why a planar model has none."""
    if found and all(abs(value) < PLANAR_TOLERANCE_M for _, value in found):
        return [], "the model is planar: both feet move in one plane"
    return found, reason


def _add_toe_steps(
    table: _Table,
    kinematics: GroundKinematics,
    heading: Heading,
    events: Sequence[Event],
    side: Side,
) -> None:
    """Steps between foot offs: of this foot, then of the other."""
    pairs = _pair_with_previous(
        event_times(events, side, FOOT_OFF), event_times(events, side.other, FOOT_OFF)
    )
    none = f"no foot off of the {side.other} foot comes after one of the {side} foot"
    lengths = []
    for lift, last in pairs:
        toe, other_toe = (kinematics.at(kinematics.side(s).toe, last) for s in (side, side.other))
        direction = heading.at((lift + last) / 2)
        lengths.append((last, float((toe - other_toe)[:2] @ direction)))
    speeds = [(b, v / (b - a)) for (a, b), (_, v) in zip(pairs, lengths, strict=True)]
    table.add("toe step length", "m", side, lengths, none)
    table.add("toe step duration", "s", side, ((b, b - a) for a, b in pairs), none)
    table.add("toe step velocity", "m/s", side, speeds, none)


def _pair_with_previous(
    first: Sequence[float], second: Sequence[float]
) -> list[tuple[float, float]]:
    """Each time of ``second`` with the last time of ``first`` before it, if consecutive.

    Pairs much longer than the median are left out: an event between them was not detected.
    """
    found = []
    for k, later in enumerate(second):
        earlier = [t for t in first if t < later and (k == 0 or t > second[k - 1])]
        if earlier:
            found.append((earlier[-1], later))
    median = float(np.median([b - a for a, b in found])) if found else 0.0
    return [(a, b) for a, b in found if b - a <= 2 * median]


def _add_margins(
    table: _Table, stability: ExtrapolatedComMargins, events: Sequence[Event], side: Side
) -> None:
    strikes = event_times(events, side, FOOT_STRIKE)
    pairs = [(t, stability.at_strike(side, t)) for t in strikes]
    none = f"no strike of the {side} foot is in the recording"
    name = "margin of stability"
    table.add(f"{name}, forward", "m", side, ((t, m[0]) for t, m in pairs), none)
    table.add(
        f"{name}, sideways", "m", side, *_lateral_or_reason([(t, m[1]) for t, m in pairs], none)
    )


def _add_planarity(
    table: _Table,
    kinematics: GroundKinematics,
    heading: Heading,
    events: tuple[Event, ...],
    side: Side,
) -> None:
    angles = elevation_from_kinematics(kinematics, events, heading).side(side)
    over = normalize_cycles(kinematics.time, angles, events, side)
    values = [(s.start, planarity(v).share) for s, v in zip(over.strides, over.values, strict=True)]
    none = f"no two strikes of the {side} foot follow each other in the recording"
    table.add("planarity of elevation angles", "", side, values, none)


def _fall_start(kinematics: GroundKinematics) -> tuple[float, tuple[str, ...]]:
    """Time (s) up to which the feet can step, and a note where the body sinks for good.

    A body that sinks and stays low falls, sits or lies down; its feet do not walk from then on.
    """
    time = kinematics.time
    soles = np.concatenate([kinematics.left.sole, kinematics.right.sole], axis=1)
    height = kinematics.com[:, 2] - np.median(soles[:, :, 2].min(axis=1))
    upright = float(height.max())
    if height[-1] >= MIN_UPRIGHT_SHARE * upright:
        return float(time[-1]), ()
    start = float(time[np.flatnonzero(height >= MIN_STANDING_SHARE * upright)[-1]])
    return start, (
        f"The center of mass sinks from {upright:.2f} to {height[-1]:.2f} m after {start:.2f} s "
        "and does not rise again: the person falls or sits down; there are no steps from then on.",
    )


def _add_peak_forces(
    table: _Table,
    motion: Motion,
    forces: Sequence[ContactForce],
    events: Sequence[Event],
    side: Side,
) -> None:
    model, time = motion.model, motion.time
    weight = model.mass * float(np.linalg.norm(model.gravity))
    up = world_axes(model)[2]
    feet = [foot for foot in forces if foot.side is side]
    values = []
    if feet:
        force = np.nan_to_num(sum(foot.force @ up for foot in feet))
        for stride in strides(events, side):
            inside = (time >= stride.start) & (time <= (stride.foot_off or stride.end))
            frames = np.flatnonzero(inside)
            if not frames.size:
                continue
            top = frames[int(np.argmax(force[frames]))]
            unreliable = bool(motion.edge.size) and bool(motion.edge[top])
            # A stance without measured force has no peak, not a peak of zero.
            if force[top] > MIN_PEAK_FORCE_WEIGHTS * weight and not unreliable:
                values.append((stride.start, float(force[top]) / weight))
    reason = f"no whole stride of the {side} foot has known forces"
    table.add("peak vertical force", "body weights", side, values, reason)


def _add_overall(
    table: _Table,
    kinematics: GroundKinematics,
    heading: Heading,
    events: Sequence[Event],
    last: float,
) -> None:
    """Velocity and cadence over strides of both sides; velocity up to a time (s) as a whole."""
    found = [stride for side in (Side.LEFT, Side.RIGHT) for stride in strides(events, side)]
    none = "the recording has no whole stride"
    speeds = [
        (s.start, _forward_distance(kinematics, heading, kinematics.com, s) / s.duration)
        for s in found
    ]
    table.add("velocity", "m/s", "both", sorted(speeds), none)
    end = int(np.searchsorted(kinematics.time, last))
    progress = float((kinematics.com[end] - kinematics.com[0])[:2] @ heading.direction)
    duration = float(kinematics.time[end] - kinematics.time[0])
    mean = [(float(kinematics.time[0]), progress / duration)] if duration > 0 else []
    walks = bool(events) and abs(progress) > MIN_PROGRESS_M
    reason = "there are no steps" if not events else "the center of mass does not progress"
    table.add("velocity over the recording", "m/s", "both", mean if walks else (), reason)
    steps = sorted(
        (float(t), float(v))
        for row in table.rows
        if row.name == "cadence"
        for t, v in zip(row.times, row.values, strict=True)
    )
    table.add("cadence", "steps/min", "both", steps, "no strikes of both feet follow each other")


def _add_symmetry(table: _Table) -> None:
    for name in SYMMETRY_MEASURES:
        left, right = table.mean(name, "left"), table.mean(name, "right")
        found = []
        reason = f"{name} is not known for both sides"
        if left is not None and right is not None:
            middle = (left + right) / 2
            reason = f"{name} is zero in the mean of both sides"
            found = [(0.0, 100 * (right - left) / middle)] if middle else []
        table.add(f"symmetry index of {name}", "%", "both", found, reason)
