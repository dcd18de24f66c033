"""Ground forces of a recorded walk without its force plates, and how far they are from them.

A planar OpenSim model with ten degrees of freedom, driven by torques, walks as near to the recorded
markers as the laws of motion and contact allow. Which part of which foot stands is found from the
markers too; the plates are only looked at in the end.

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
from homodyn.motion import (
    Event,
    Loads,
    Motion,
)
from homodyn.spatial import Array, stack

FEET = {"Right": "calcn_r", "Left": "calcn_l"}
HEEL, TOE = (0.0, 0.0, 0.0), (0.20, 0.0, 0.0)
"""Points of the sole in the axes of the foot (m); y is up in this model."""
LIFTED = 0.006
"""m above its lowest in the stance: the heel has left the ground, or the toes are not down yet."""
STEP = 0.025
"""s: length of intervals."""
FRICTION = 0.8
CHANGE = 1e-5
"""Weight of squared rates of contact forces (parts of the weight per second): two feet share what
one would do, and shift it smoothly from one to the other."""
UNLOADED = 1e-2
"""Weight of the squared force on a foot as it comes and goes."""
BODY = 72.6
"""kg."""
LAG = 0.1
"""s: errors of speeds and accelerations that build up this long count as those of coordinates."""


@dataclass(frozen=True)
class Stand:
    """One foot over a stretch of time (s), on its heel, flat, or on its toes."""

    side: str
    begin: float
    end: float
    how: str


@dataclass(frozen=True, eq=False)
class Walked:
    """A reconstructed walk with the upward and forward forces of both feet (N)."""

    motion: Motion
    solution: oc.Solution
    time: np.ndarray
    force: dict[str, np.ndarray]
    """By side (instants, 2): forwards and upwards."""


def recorded(folder: Path) -> tuple[Motion, Loads]:
    """The recorded coordinates, filtered at 6 Hz, and what the plates measured."""
    model = hd.load(folder / "subject01.osim", as_measured=True)
    trial = hd.capture.read(folder / "walk.trc")
    motion = hd.capture.filter_motion(hd.capture.inverse_kinematics(model, trial), cutoff=6.0)
    plates = hd.capture.read_plates(folder / "walk_grf.mot", setup=folder / "walk_grf.xml", up="y")
    return motion, hd.capture.inverse_dynamics(motion, plates, cutoff=None, force_cutoff=20.0)


def over_ground(motion: Motion) -> tuple[Motion, float]:
    """The walk as the belt of the treadmill sees it, and the speed of the belt (m/s).

    The belt moves as flat feet do; forces are the same in a frame that moves evenly.
    """
    speeds = []
    for stand in stands(motion):
        inside = (motion.time >= stand.begin) & (motion.time <= stand.end)
        if stand.how == "flat" and inside.sum() > 3:
            q, foot = motion.q[inside], FEET[stand.side]
            path = np.asarray(hd.dynamics.position(motion.model, q, foot, HEEL))[:, 0]
            speeds.append(-np.polyfit(motion.time[inside], path, 1)[0])
    belt = float(np.median(speeds))
    along = motion.model.coordinate_index("pelvis_tx")
    q, v = motion.q.copy(), motion.v.copy()
    q[:, along] += belt * motion.time
    v[:, along] += belt
    return replace(motion, q=q, v=v), belt


def stands(motion: Motion) -> list[Stand]:
    """How both feet stand, from the events and heights that the markers tell."""
    found = []
    events = sorted(hd.gait.find_events(motion), key=lambda event: event.time)
    for side, foot in FEET.items():
        mine = [e for e in events if e.context == side]
        ends = [Event(t, "", side) for t in (motion.time[0], motion.time[-1])]
        for strike, off in pairwise([ends[0], *mine, ends[1]]):
            if strike.label == "Foot Off" or off.label == "Foot Strike":
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
                Stand(side, strike.time, down, "heel"),
                Stand(side, down, middle, "flat"),
                Stand(side, middle, off.time, "toes"),
            ]
    return [stand for stand in found if stand.end - stand.begin > 1e-3]


def held(motion: Motion, stand: Stand, flat: Stand) -> ConstraintSet:
    """Points of a foot that stand: they do not slide, at the height they had on the flat foot."""
    inside = (motion.time >= flat.begin) & (motion.time <= flat.end)
    foot = FEET[stand.side]
    parts = []
    for name, point in (("heel", HEEL), ("toes", TOE)):
        if stand.how in (name, "flat"):
            path = np.asarray(hd.dynamics.position(motion.model, motion.q[inside], foot, point))
            words = f"{stand.side} {name}"
            parts.append(PointContact(foot, point, "y", path.mean(axis=0), name=words))
            if stand.how == name or name == "heel":
                parts.append(PointContact(foot, point, "x", name=words))
    return ConstraintSet(tuple(parts))


def problem(motion: Motion, span: tuple[float, float]) -> tuple[oc.Problem, list[float]]:
    """Phases between the changes of contact, each tracking the recording."""
    found = stands(motion)
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
        contacts = sum((held(motion, s, flat_of(s, found)) for s in now), ConstraintSet())
        at = {key: over(curve, begin, end) for key, curve in curves.items()}
        words = " and ".join(f"{s.side.lower()} {s.how}" for s in now)
        phases.append(
            oc.Phase(
                f"{k + 1} {words}",
                end - begin,
                contacts,
                [
                    oc.track_coordinates(at["q"]),
                    LAG**2 * oc.track("velocities", lambda i: i.v, at["v"]),
                    LAG**4 * oc.track("accelerations", lambda i: i.a, at["a"]),
                    1e-10 * oc.torque(),
                    CHANGE * oc.contact_force().at("change"),
                ],
                [pushing(contacts)],
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
            terms=[*one.terms, *(unloaded(foot).at("end") for foot in before - after)],
        )
        new = [unloaded(foot).at("start") for foot in after - before]
        phases[k + 1] = replace(two, terms=[*two.terms, *new])
    return oc.Problem(motion.model, phases), times


def unloaded(foot: str) -> oc.ObjectiveTerm:
    """A foot that comes or goes hardly pushes at that instant (part of the weight)."""
    weight = BODY * 9.81
    return UNLOADED * oc.track(
        f"unloaded {foot}", lambda i: i.ground_force(foot)[1] / weight, np.zeros((1, 1))
    )


def flat_of(stand: Stand, found: list[Stand]) -> Stand:
    """The flat part of the stance that a stand belongs to."""
    flats = [s for s in found if s.side == stand.side and s.how == "flat"]
    return min(flats, key=lambda s: max(s.begin - stand.end, stand.begin - s.end))


def pushing(contacts: ConstraintSet) -> oc.PathConstraint:
    """Each point pushes up, and each foot along the ground within friction."""
    rows = list(enumerate(contacts.rows))
    up = [k for k, row in rows if row.slide[1]]

    def value(instant: oc.TimePoint) -> Array:
        parts = [instant.force[k] for k in up]
        for foot in sorted({row.frame for _, row in rows}):
            total = instant.ground_force(foot)
            parts += [FRICTION * total[1] - total[0], FRICTION * total[1] + total[0]]
        return stack(*parts)

    return oc.require("pushing", value, upper=np.inf)


def over(curve: CubicSpline, begin: float, end: float) -> Callable[[np.ndarray], np.ndarray]:
    """A curve as a function of the part of a phase."""
    return lambda part: curve(begin + (end - begin) * part)


def reconstruct(motion: Motion, span: tuple[float, float]) -> Walked:
    """Solve, and read the forces of each foot."""
    stated, times = problem(motion, span)
    solution = stated.solve()
    force: dict[str, list[np.ndarray]] = {side: [] for side in FEET}
    for phase, found in zip(stated.phases, solution.phases, strict=True):
        for side, foot in FEET.items():
            along = np.array([r.slide[:2] for r in phase.contacts.rows]).reshape(-1, 2)
            mine = np.array([float(r.frame == foot) for r in phase.contacts.rows])
            force[side].append((found.force * mine) @ along)
    clock = times[0] + solution.trajectory("tau")[0]
    joined = {side: np.concatenate(parts) for side, parts in force.items()}
    return Walked(motion, solution, clock, joined)


def compare(walked: Walked, plates: Loads) -> dict[str, np.ndarray]:
    """By side and for both together: rms error forwards and upwards in % of the weight."""
    weight = walked.motion.model.mass * 9.81
    off = {}
    for side, foot in FEET.items():
        known = next(f for f in plates.feet if f.body == foot).force[:, :2]
        sampled = [np.interp(walked.time, plates.motion.time, c) for c in known.T]
        off[side] = walked.force[side] - np.column_stack(sampled)
    off["both"] = off["Right"] + off["Left"]
    return {side: 100 * np.sqrt((x**2).mean(axis=0)) / weight for side, x in off.items()}


def picture(walked: Walked, plates: Loads) -> Figure:
    """Forces of both feet with those of the plates behind them."""
    weight = walked.motion.model.mass * 9.81
    drawn = Figure(figsize=(9.0, 5.6), layout="constrained", dpi=110)
    axes = drawn.subplots(2, 1, sharex=True)
    clock = plates.motion.time
    inside = (clock >= walked.time[0]) & (clock <= walked.time[-1])
    for row, word in enumerate(("multiple_shooting", "upward")):
        for side, colour in (("Right", "#c8553d"), ("Left", "#3b78b5")):
            known = next(f for f in plates.feet if f.body == FEET[side]).force
            share = 100 * known[inside, row] / weight
            axes[row].fill_between(clock[inside], share, color=colour, alpha=0.22, lw=0)
            axes[row].plot(walked.time, 100 * walked.force[side][:, row] / weight, color=colour)
        axes[row].set_ylabel(f"{word}, % of weight")
        for edge in ("top", "right"):
            axes[row].spines[edge].set_visible(False)
        axes[row].axhline(0, color="grey", lw=0.6)
    axes[1].set_xlabel("time, s")
    title = "Ground forces from markers alone (lines) and from plates (areas); right red, left blue"
    axes[0].set_title(title, fontsize=10, loc="left")
    return drawn


def run(folder: Path, out: Path, tell: Callable[[str], None] = print) -> Path:
    """Reconstruct a stride, compare, and write the picture."""
    seen, plates = recorded(folder)
    motion, belt = over_ground(seen)
    tell(f"the belt runs at {belt:.2f} m/s")
    offs = [e.time for e in hd.gait.find_events(motion) if e.label == "Foot Off"]
    begin, _, end = sorted(offs)[:3]
    walked = reconstruct(motion, (begin, end))
    tell(walked.solution.sentence)
    q = walked.solution.trajectory("q")[1]
    clock = begin + walked.solution.trajectory("q")[0]
    error = np.sqrt(((q - CubicSpline(motion.time, motion.q)(clock)) ** 2).mean(axis=0))
    names = motion.model.coordinate_names
    tell(f"tracked within {error.max():.4f} rms ({names[int(error.argmax())]})")
    for side, (forward, upward) in compare(walked, plates).items():
        tell(f"{side}: {forward:.1f} % forward, {upward:.1f} % upward (rms, % of weight)")
    out.mkdir(parents=True, exist_ok=True)
    picture(walked, plates).savefig(out / "forces.png")
    return out / "forces.png"


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]))
