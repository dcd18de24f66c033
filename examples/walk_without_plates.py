"""Ground forces of a recorded walk from its markers alone, compared with its force plates.

A planar OpenSim model with ten degrees of freedom, driven by torques, tracks the recorded markers
as closely as the laws of motion and contact allow. The contact schedule follows from the markers
too; the plates are used for comparison only.

Give the folder with ``subject01.osim``, ``walk.trc``, ``walk_grf.mot`` and ``walk_grf.xml``:

    python examples/walk_without_plates.py FOLDER OUT
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.interpolate import CubicSpline

import homodyn as hd
import homodyn.optimal as oc
from homodyn.dynamics import ConstraintSet, PointContact
from homodyn.motion import FOOT_OFF, FOOT_STRIKE, Event, Loads, Motion
from homodyn.spatial import Array, stack

FEET = {"Right": "calcn_r", "Left": "calcn_l"}
HEEL, TOE = (0.0, 0.0, 0.0), (0.20, 0.0, 0.0)
"""Points of the sole in the axes of the foot (m); y is up in this model."""
LIFTED = 0.006
"""Height (m) above the lowest position in the stance above which heel or toes are in the air."""
STEP = 0.025
"""Length of intervals (s)."""
FRICTION = 0.8
"""Coefficient of friction."""
CHANGE = 1e-5
"""Weight of squared rates of contact forces (fractions of the weight per second): two feet share
the load and transfer it smoothly."""
UNLOADED = 1e-2
"""Weight of the squared force on a foot at the start and the end of its stance."""
BODY_MASS = 72.6
"""kg."""
LAG = 0.1
"""Time (s) after which errors of velocity and acceleration count as much as errors of position."""


@dataclass(frozen=True)
class StancePart:
    """A time span (s) in which one foot is on its heel, flat, or on its toes."""

    side: str
    begin: float
    end: float
    contact: str
    """``"heel"``, ``"flat"`` or ``"toes"``."""


@dataclass(frozen=True, eq=False)
class ReconstructedWalk:
    """A reconstructed walk with the forward and upward forces of both feet (N)."""

    motion: Motion
    solution: oc.Solution
    time: np.ndarray
    force: dict[str, np.ndarray]
    """By side, (times, 2): forward and upward."""


def read_recording(folder: Path) -> tuple[Motion, Loads]:
    """The recorded coordinates, filtered at 6 Hz, and the measured ground forces."""
    model = hd.load(folder / "subject01.osim", as_measured=True)
    trial = hd.capture.read(folder / "walk.trc")
    motion = hd.capture.filter_motion(hd.capture.inverse_kinematics(model, trial), cutoff=6.0)
    plates = hd.capture.read_plates(folder / "walk_grf.mot", setup=folder / "walk_grf.xml", up="y")
    return motion, hd.capture.inverse_dynamics(motion, plates, cutoff=None, force_cutoff=20.0)


def relative_to_belt(motion: Motion) -> tuple[Motion, float]:
    """The walk relative to the belt of the treadmill, and the speed of the belt (m/s).

    The belt moves with the flat feet; forces are the same in a frame of constant velocity.
    """
    speeds = []
    for part in stance_parts(motion):
        inside = (motion.time >= part.begin) & (motion.time <= part.end)
        if part.contact == "flat" and inside.sum() > 3:
            q, foot = motion.q[inside], FEET[part.side]
            path = np.asarray(hd.dynamics.position(motion.model, q, foot, HEEL))[:, 0]
            speeds.append(-np.polyfit(motion.time[inside], path, 1)[0])
    belt = float(np.median(speeds))
    along = motion.model.coordinate_index("pelvis_tx")
    q, v = motion.q.copy(), motion.v.copy()
    q[:, along] += belt * motion.time
    v[:, along] += belt
    return replace(motion, q=q, v=v), belt


def stance_parts(motion: Motion) -> list[StancePart]:
    """Contacts of both feet, from events and heights in the recorded motion."""
    found = []
    events = sorted(hd.gait.find_events(motion), key=lambda event: event.time)
    for side, foot in FEET.items():
        own = [e for e in events if e.context == side]
        ends = [Event(t, "", side) for t in (motion.time[0], motion.time[-1])]
        for strike, off in pairwise([ends[0], *own, ends[1]]):
            if strike.label == FOOT_OFF or off.label == FOOT_STRIKE:
                continue
            inside = (motion.time >= strike.time) & (motion.time <= off.time)
            time, q = motion.time[inside], motion.q[inside]
            heel, toe = (
                np.asarray(hd.dynamics.position(motion.model, q, foot, point))[:, 1]
                for point in (HEEL, TOE)
            )
            down = time[np.argmax(toe - toe.min() < LIFTED)]
            up = time[len(time) - np.argmax((heel - heel.min() < LIFTED)[::-1]) - 1]
            middle = max(up, down + STEP)
            found += [
                StancePart(side, strike.time, down, "heel"),
                StancePart(side, down, middle, "flat"),
                StancePart(side, middle, off.time, "toes"),
            ]
    return [part for part in found if part.end - part.begin > 1e-3]


def foot_contacts(motion: Motion, part: StancePart, flat: StancePart) -> ConstraintSet:
    """Contact points of a foot: they do not slide, at the height they have on the flat foot."""
    inside = (motion.time >= flat.begin) & (motion.time <= flat.end)
    foot = FEET[part.side]
    contacts = []
    for name, point in (("heel", HEEL), ("toes", TOE)):
        if part.contact in (name, "flat"):
            path = np.asarray(hd.dynamics.position(motion.model, motion.q[inside], foot, point))
            label = f"{part.side} {name}"
            contacts.append(PointContact(foot, point, "y", path.mean(axis=0), name=label))
            if part.contact == name or name == "heel":
                contacts.append(PointContact(foot, point, "x", name=label))
    return ConstraintSet(tuple(contacts))


def problem(motion: Motion, span: tuple[float, float]) -> tuple[oc.Problem, list[float]]:
    """Phases between the changes of contact, each of which tracks the recording."""
    found = stance_parts(motion)
    cuts = {t for s in found for t in (s.begin, s.end) if span[0] < t < span[1]}
    times = [span[0]]
    for cut in [*sorted(cuts), span[1]]:
        if cut - times[-1] > 0.015:
            times.append(cut)
    times[-1] = span[1]
    curves = {key: CubicSpline(motion.time, getattr(motion, key)) for key in ("q", "v", "a")}
    phases = []
    for k, (begin, end) in enumerate(pairwise(times)):
        now = [s for s in found if s.begin < (begin + end) / 2 < s.end]
        contacts = sum(
            (foot_contacts(motion, s, flat_part(s, found)) for s in now), ConstraintSet()
        )
        at = {key: phase_curve(curve, begin, end) for key, curve in curves.items()}
        name = " and ".join(f"{s.side.lower()} {s.contact}" for s in now)
        phases.append(
            oc.Phase(
                f"{k + 1} {name}",
                end - begin,
                contacts,
                [
                    oc.track_coordinates(at["q"]),
                    LAG**2 * oc.track("velocities", lambda i: i.v, at["v"]),
                    LAG**4 * oc.track("accelerations", lambda i: i.a, at["a"]),
                    1e-10 * oc.torque(),
                    CHANGE * oc.contact_force().at("change"),
                ],
                [contact_limits(contacts)],
                max(2, round((end - begin) / STEP)),
                bounds={"tau": (-np.inf, np.inf), "q": (-np.inf, np.inf)},
                guess=dict(at),
            )
        )
    for k, (one, two) in enumerate(pairwise(phases)):
        before, after = ({row.frame for row in phase.contacts.rows} for phase in (one, two))
        names = [{row.name for row in phase.contacts.rows} for phase in (one, two)]
        phases[k] = replace(
            one,
            transition="continuous" if names[1] <= names[0] else "impact",
            terms=[*one.terms, *(small_force(foot).at("end") for foot in before - after)],
        )
        new = [small_force(foot).at("start") for foot in after - before]
        phases[k + 1] = replace(two, terms=[*two.terms, *new])
    return oc.Problem(motion.model, phases), times


def small_force(foot: str) -> oc.ObjectiveTerm:
    """Small force on a foot at the start and the end of its stance (fraction of the weight)."""
    weight = BODY_MASS * 9.81
    return UNLOADED * oc.track(
        f"unloaded {foot}", lambda i: i.ground_force(foot)[1] / weight, np.zeros((1, 1))
    )


def flat_part(part: StancePart, found: list[StancePart]) -> StancePart:
    """The flat part of the same stance."""
    flats = [s for s in found if s.side == part.side and s.contact == "flat"]
    return min(flats, key=lambda s: max(s.begin - part.end, part.begin - s.end))


def contact_limits(contacts: ConstraintSet) -> oc.PathConstraint:
    """Compressive force at each point, and the force of each foot within its friction cone."""
    rows = list(enumerate(contacts.rows))
    up = [k for k, row in rows if row.slide[1]]

    def value(point: oc.TimePoint) -> Array:
        parts = [point.force[k] for k in up]
        for foot in sorted({row.frame for _, row in rows}):
            total = point.ground_force(foot)
            parts += [FRICTION * total[1] - total[0], FRICTION * total[1] + total[0]]
        return stack(*parts)

    return oc.require("contact limits", value, upper=np.inf)


def phase_curve(curve: CubicSpline, begin: float, end: float) -> Callable[[np.ndarray], np.ndarray]:
    """A curve as a function of the fraction of a phase."""
    return lambda fraction: curve(begin + (end - begin) * fraction)


def reconstruct(motion: Motion, span: tuple[float, float]) -> ReconstructedWalk:
    """Solve the problem, and collect the forces of each foot."""
    stated, times = problem(motion, span)
    solution = stated.solve()
    force: dict[str, list[np.ndarray]] = {side: [] for side in FEET}
    for phase, found in zip(stated.phases, solution.phases, strict=True):
        for side, foot in FEET.items():
            along = np.array([r.slide[:2] for r in phase.contacts.rows]).reshape(-1, 2)
            own = np.array([float(r.frame == foot) for r in phase.contacts.rows])
            force[side].append((found.force * own) @ along)
    clock = times[0] + solution.trajectory("tau")[0]
    joined = {side: np.concatenate(parts) for side, parts in force.items()}
    return ReconstructedWalk(motion, solution, clock, joined)


def compare(walk: ReconstructedWalk, plates: Loads) -> dict[str, np.ndarray]:
    """By side, and for both together: rms error forward and upward in % of the weight."""
    weight = walk.motion.model.mass * 9.81
    errors = {}
    for side, foot in FEET.items():
        measured = next(f for f in plates.feet if f.body == foot).force[:, :2]
        sampled = [np.interp(walk.time, plates.motion.time, c) for c in measured.T]
        errors[side] = walk.force[side] - np.column_stack(sampled)
    errors["both"] = errors["Right"] + errors["Left"]
    return {side: 100 * np.sqrt((x**2).mean(axis=0)) / weight for side, x in errors.items()}


def draw_forces(walk: ReconstructedWalk, plates: Loads) -> Figure:
    """Forces of both feet (lines) and of the plates (areas)."""
    weight = walk.motion.model.mass * 9.81
    figure = Figure(figsize=(9.0, 5.6), layout="constrained", dpi=110)
    axes = figure.subplots(2, 1, sharex=True)
    clock = plates.motion.time
    inside = (clock >= walk.time[0]) & (clock <= walk.time[-1])
    for row, direction in enumerate(("forward", "upward")):
        for side, color in (("Right", "#c8553d"), ("Left", "#3b78b5")):
            measured = next(f for f in plates.feet if f.body == FEET[side]).force
            percent = 100 * measured[inside, row] / weight
            axes[row].fill_between(clock[inside], percent, color=color, alpha=0.22, lw=0)
            axes[row].plot(walk.time, 100 * walk.force[side][:, row] / weight, color=color)
        axes[row].set_ylabel(f"{direction}, % of weight")
        for edge in ("top", "right"):
            axes[row].spines[edge].set_visible(False)
        axes[row].axhline(0, color="gray", lw=0.6)
    axes[1].set_xlabel("time, s")
    title = "Ground forces from markers alone (lines) and from plates (areas); right red, left blue"
    axes[0].set_title(title, fontsize=10, loc="left")
    return figure


def run(folder: Path, out: Path, report: Callable[[str], None] = print) -> Path:
    """Reconstruct a stride, compare it with the plates, and write the figure."""
    recorded, plates = read_recording(folder)
    motion, belt = relative_to_belt(recorded)
    report(f"the belt runs at {belt:.2f} m/s")
    offs = [e.time for e in hd.gait.find_events(motion) if e.label == FOOT_OFF]
    begin, _, end = sorted(offs)[:3]
    walk = reconstruct(motion, (begin, end))
    report(walk.solution.sentence)
    q = walk.solution.trajectory("q")[1]
    clock = begin + walk.solution.trajectory("q")[0]
    error = np.sqrt(((q - CubicSpline(motion.time, motion.q)(clock)) ** 2).mean(axis=0))
    names = motion.model.coordinate_names
    report(f"tracked within {error.max():.4f} rms ({names[int(error.argmax())]})")
    for side, (forward, upward) in compare(walk, plates).items():
        report(f"{side}: {forward:.1f} % forward, {upward:.1f} % upward (rms, % of weight)")
    out.mkdir(parents=True, exist_ok=True)
    draw_forces(walk, plates).savefig(out / "forces.png")
    return out / "forces.png"


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]))
