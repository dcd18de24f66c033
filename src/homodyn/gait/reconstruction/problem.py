"""The optimal-control problem of a recorded step: track the recording under the laws of motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from scipy.interpolate import CubicSpline

from homodyn.dynamics import inverse_dynamics
from homodyn.dynamics.constraint_rows import constraint_jacobian
from homodyn.errors import CaptureError, HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.gait.contact_schedule.foot_contact_phases import (
    FootContactPhase,
    contact_phases,
)
from homodyn.gait.reconstruction.com_smoothing import mean_step_duration, smooth_center_of_mass
from homodyn.gait.reconstruction.felis2015 import (
    felis2015_bounds,
    is_felis2015_step,
    stage_constraints,
    stance_side,
    torque_scale,
)
from homodyn.gait.reconstruction.force_tracking import CurveSegment, force_terms
from homodyn.gait.reconstruction.load_sharing import (
    LOAD_TRANSFER,
    MAX_LOAD_TRANSFER,
    aimed_forces,
    smooth_transition,
    whole_force,
)
from homodyn.gait.reconstruction.tracking_weights import tracking_weights
from homodyn.model import Model
from homodyn.motion import Event, Loads, Motion, Side
from homodyn.optimal import (
    FreeParameter,
    ObjectiveTerm,
    PathConstraint,
    Phase,
    Problem,
    contact_force,
    friction_pyramid,
    height,
    torque,
    track,
    track_coordinates,
    unilateral,
)
from homodyn.optimal.statement.phase import Transition

CONTACT_FORCE_WEIGHT = 1e-6
"""Weight of squared contact forces, which makes redundant ones unique."""
BOUND_MARGIN = 0.05
"""Margin of bounds around a recording that exceeds them (rad, m)."""
MIN_INTERVALS = 3
"""Smallest number of intervals of a phase."""
STEP_S = 0.02
"""Default length of intervals."""


@record(eq=True)
class ReconstructionPreset(Record):
    """Weights and rules of a reconstruction."""

    lag: float
    """s: time after which an error of velocity or acceleration counts as much as the error of
    position that it causes; 0 tracks positions alone."""
    effort: float
    """Weight of squared torques, as fractions of typical ones, beside squared coordinates."""
    table_bounds: bool
    """Whether positions and torques obey the bounds of Felis (2015), tables 5.1 and 5.2."""
    swing_clearance: bool
    """Whether swinging points stay above the ground, and the constraints of the stages hold."""
    touchdown: Transition
    """``"impact"`` lets velocities jump at touchdown."""
    force_rate: float = 0.0
    """Weight of squared rates of contact forces (fractions of the weight per second) where no
    forces are tracked: it distributes the load smoothly between two feet."""
    smooth_center: bool = False
    """Whether the center of mass is low-pass filtered first, to the frequencies of the ground force
    (`homodyn.gait.reconstruction.com_smoothing`)."""
    compliant: bool = False
    """Whether soles and heel pads yield: contacts carry forces, the feet follow the recording, and
    `homodyn.gait.reconstruction.load_sharing` resolves what each foot carries."""


RECONSTRUCTION_PRESETS: Mapping[str, ReconstructionPreset] = {
    "close": ReconstructionPreset(0.1, 1e-8, False, False, "continuous", 1e-6),
    "step": ReconstructionPreset(0.1, 1e-8, True, True, "impact", 1e-6),
    "recorded": ReconstructionPreset(
        0.06, 1e-8, False, False, "continuous", 1e-6, smooth_center=True, compliant=True
    ),
    "felis2015": ReconstructionPreset(0.0, 1e-2, True, True, "impact"),
}
"""``felis2015`` is the problem of Felis (2015), section 5.3, with its stages, bounds, impacts and
strong weight of effort. ``step`` differs in the weights: it tracks velocities and accelerations
too, and effort decides only what they leave undetermined, so torques are as they were. ``close``
has those weights without the rules, for other movements. ``recorded`` is for recordings of people,
whose feet deform and do not stand exactly on the ground of the model, and whose markers swing with
the skin after a foot strike."""


class ReconstructionSettings(TypedDict, total=False):
    """Keyword settings of a reconstruction, all of them optional.

    Attributes:
        phases: Contact schedule; found in the motion when left out.
        events: Foot strikes and foot offs, for the contact schedule; found when left out.
        span: Time span (s); one step when left out.
        step: Length of intervals (s) (0.02).
        intervals: Number of intervals of each phase, instead of ``step``.
        preset: Name in `RECONSTRUCTION_PRESETS` (``"close"``).
        effort: Weight of squared torques; that of the preset when left out.
        lag: Time (s) of the preset when left out: see `ReconstructionPreset`.
        force: Weight of measured forces (squared fractions of the weight); 0 only compares (1).
        friction: Coefficient of friction; no friction cone when left out.
        touchdown: ``"continuous"`` or ``"impact"``; that of the preset when left out.
        compliant: Whether soles and heel pads yield; as in the preset when left out.
        load_transfer: ``"fixed"``, or ``"free"``: its shape is a parameter of the problem, where
            soles yield (``"fixed"``).
    """

    phases: Sequence[FootContactPhase] | None
    events: Sequence[Event] | None
    span: tuple[float, float] | None
    step: float
    intervals: Sequence[int] | None
    preset: str
    effort: float | None
    lag: float | None
    force: float
    friction: float | None
    touchdown: Transition | None
    compliant: bool | None
    load_transfer: Literal["fixed", "free"]


def reconstruction_problem(
    motion: Motion, *, measured: Loads | None = None, **settings: Unpack[ReconstructionSettings]
) -> tuple[Problem, tuple[FootContactPhase, ...]]:
    """The problem that `reconstruct` solves, to inspect or change.

    Args:
        motion: The recorded movement, with smooth velocities and accelerations.
        measured: Measured ground forces, which are tracked.
        settings: See `ReconstructionSettings`.

    Returns:
        The problem, and its contact schedule.

    Raises:
        HomodynError: A setting is unknown.
        CaptureError: The phases do not fit the motion, or there is no complete step.
    """
    unknown = set(settings) - set(ReconstructionSettings.__annotations__)
    if unknown:
        accepted = ReconstructionSettings.__annotations__
        raise HomodynError(unknown_name("setting of a reconstruction", unknown.pop(), accepted))
    name = settings.get("preset", "close")
    if name not in RECONSTRUCTION_PRESETS:
        raise HomodynError(f"there is {unknown_name('preset', name, RECONSTRUCTION_PRESETS)}")
    preset = RECONSTRUCTION_PRESETS[name]
    if settings.get("compliant") is not None:
        preset = replace(preset, compliant=bool(settings["compliant"]))
    transfer_is_free = preset.compliant and settings.get("load_transfer") == "free"
    touchdown = settings.get("touchdown") or preset.touchdown
    model = motion.model
    schedule = tuple(
        settings.get("phases")
        or contact_phases(
            motion,
            span=settings.get("span"),
            events=settings.get("events"),
        )
    )
    _check_phases(schedule, motion)
    counts = _interval_counts(schedule, settings.get("step", STEP_S), settings.get("intervals"))
    if preset.smooth_center:
        motion = _smooth(motion, schedule)
    splines = fit_splines(motion)
    shown = tracking_weights(motion) if preset.compliant else np.ones(model.nv)
    phases = []
    for k, (contacts, count) in enumerate(zip(schedule, counts, strict=True)):
        at = {
            key: CurveSegment(curve, contacts.begin, contacts.duration)
            for key, curve in splines.items()
        }
        constraints = _phase_constraints(schedule, k, preset.swing_clearance)
        friction = settings.get("friction")
        if friction is not None:
            bodies = [c.body for c in model.contacts if c.name in contacts.contact_points]
            # A yielding sole distributes the load: only the force on the whole foot is bounded.
            frames = dict.fromkeys(bodies) if preset.compliant else contacts.contact_points
            constraints.append(friction_pyramid(friction, *frames))
        terms = _terms(model, contacts, at, preset, shown, measured, settings)
        if preset.compliant:
            terms += [
                aimed_forces(model, contacts),
                *smooth_transition(model, schedule, k, transfer_is_free),
            ]
        if preset.smooth_center:
            terms.append(whole_force(motion, contacts))
        after = schedule[k + 1] if k + 1 < len(schedule) else contacts
        touches_down = not set(after.contact_points) <= set(contacts.contact_points)
        phases.append(
            Phase(
                f"{k + 1} {contacts.name}",
                contacts.duration,
                contacts.contacts,
                terms,
                constraints,
                count,
                bounds=_bounds(model, at["q"], stance_side(schedule), preset.table_bounds),
                guess=_guess(model, contacts, at, count),
                transition=touchdown if touches_down else "continuous",
                compliant=preset.compliant,
            )
        )
    parameters = {}
    if transfer_is_free:
        parameters[LOAD_TRANSFER] = FreeParameter(-MAX_LOAD_TRANSFER, MAX_LOAD_TRANSFER)
    return Problem(model, phases, parameters), schedule


def _terms(
    model: Model,
    contacts: FootContactPhase,
    at: Mapping[str, CurveSegment],
    preset: ReconstructionPreset,
    shown: np.ndarray,
    measured: Loads | None,
    settings: ReconstructionSettings,
) -> list[ObjectiveTerm]:
    """Tracking of coordinates, rates and forces, and effort."""
    given_lag, given_effort = settings.get("lag"), settings.get("effort")
    lag = preset.lag if given_lag is None else given_lag
    effort = preset.effort if given_effort is None else given_effort
    force = settings.get("force", 1.0)
    of_q = np.ones(model.nq)
    for entry, weight in zip(model.position_index, shown, strict=True):
        if entry is not None:
            of_q[entry] = weight
    terms: list[ObjectiveTerm] = [
        1.0 * track_coordinates(at["q"], scale=of_q),
        effort * torque(torque_scale(model)),
        CONTACT_FORCE_WEIGHT * contact_force(),
    ]
    if lag > 0:
        terms += [
            lag**2 * track("velocities", lambda i: i.v, at["v"], scale=shown),
            lag**4 * track("accelerations", lambda i: i.a, at["a"], scale=shown),
        ]
    tracked = []
    if measured is not None and force > 0:
        tracked = force_terms(measured, contacts, force, preset.compliant)
    if preset.force_rate > 0 and not tracked:
        tracked = [preset.force_rate * contact_force().at("change")]
    return terms + tracked


def _smooth(motion: Motion, schedule: Sequence[FootContactPhase]) -> Motion:
    """The motion with a smooth center of mass."""
    duration = mean_step_duration(schedule)
    return motion if duration is None else smooth_center_of_mass(motion, duration)


def _check_phases(schedule: Sequence[FootContactPhase], motion: Motion) -> None:
    begin, end = float(motion.time[0]), float(motion.time[-1])
    for k, phase in enumerate(schedule):
        if not begin - 1e-9 <= phase.begin < phase.end <= end + 1e-9:
            raise CaptureError(
                f"phase {k + 1} ({phase.name}) lasts from {phase.begin:.3f} to "
                f"{phase.end:.3f} s, the motion from {begin:.3f} to {end:.3f} s"
            )
        if k and abs(phase.begin - schedule[k - 1].end) > 1e-6:
            raise CaptureError(
                f"phase {k + 1} ({phase.name}) begins at {phase.begin:.4f} s, but the one before "
                f"ends at {schedule[k - 1].end:.4f} s"
            )


def _interval_counts(
    schedule: Sequence[FootContactPhase], step: float, given: Sequence[int] | None
) -> list[int]:
    if given is None:
        if not step > 0:
            raise HomodynError(f"step is {step:g} s; expected a time above 0")
        return [max(MIN_INTERVALS, round(phase.duration / step)) for phase in schedule]
    if len(given) != len(schedule):
        names = ", ".join(phase.name for phase in schedule)
        raise HomodynError(f"{len(given)} numbers of intervals for {len(schedule)} phases: {names}")
    return list(given)


def _phase_constraints(
    schedule: Sequence[FootContactPhase], k: int, swing_clearance: bool
) -> list[PathConstraint]:
    if swing_clearance and is_felis2015_step(schedule):
        return stage_constraints(k, stance_side(schedule))
    constraints = [unilateral(*schedule[k].contact_points)]
    swinging = [name for name in schedule[k].swing_points if not name.startswith("Meta5")]
    # Points that touch the ground before or after are on it at a boundary, and rise in between.
    if swing_clearance and swinging:
        constraints.append(height(*swinging).at("inside"))
    return constraints


def fit_splines(motion: Motion) -> dict[str, CubicSpline]:
    """Splines through the frames of a recording: positions, velocities, accelerations.

    Felis 2015, section 5.3, uses Catmull-Rom splines through the positions and takes velocities
    from them; these have continuous accelerations too.
    """
    return {key: CubicSpline(motion.time, getattr(motion, key)) for key in ("q", "v", "a")}


def _bounds(model: Model, q: CurveSegment, stance: Side, table_bounds: bool) -> dict[str, Any]:
    """Bounds of the tables or of the model, widened where the recording exceeds them."""
    recorded = q(np.linspace(0, 1, 50))
    bounds = {}
    known = felis2015_bounds(model, "reconstruction", stance) if table_bounds else {}
    names = zip(model.coordinate_names, model.position_index, strict=True)
    for k, (name, entry) in enumerate(names):
        if entry is not None:
            lowest, highest = known.get(name, (float(model.lower[k]), float(model.upper[k])))
            low = min(lowest, float(recorded[:, entry].min()) - BOUND_MARGIN)
            high = max(highest, float(recorded[:, entry].max()) + BOUND_MARGIN)
            bounds[name] = (low, high)
    torques = felis2015_bounds(model, "torque", stance) if table_bounds else {}
    return {"q": bounds, "tau": torques or (-np.inf, np.inf)}


def _guess(
    model: Model, contacts: FootContactPhase, at: Mapping[str, CurveSegment], intervals: int
) -> dict[str, Any]:
    """The recording itself, with the smallest contact forces that balance its root."""
    middles = (np.arange(intervals) + 0.5) / intervals
    q, v, a = (at[key](middles) for key in ("q", "v", "a"))
    required = np.asarray(inverse_dynamics(model, q, v, a))
    G = np.asarray(constraint_jacobian(model, q, contacts.contacts))
    root = list(model.root.v)
    A = np.swapaxes(G[:, :, root], 1, 2)
    normal = np.swapaxes(A, 1, 2) @ A + CONTACT_FORCE_WEIGHT * np.eye(G.shape[1])
    forces = np.linalg.solve(normal, np.swapaxes(A, 1, 2) @ required[:, root, None])[:, :, 0]
    tau = required - np.einsum("kij,ki->kj", G, forces)
    guess: dict[str, Any] = {key: at[key] for key in ("q", "v", "a")}
    return guess | {"force": _Samples(middles, forces), "tau": _Samples(middles, tau)}


@dataclass(frozen=True, eq=False)
class _Samples:
    """Linear interpolation between samples, as a function of the fraction of a phase."""

    known: np.ndarray
    values: np.ndarray

    def __call__(self, fractions: np.ndarray) -> np.ndarray:
        return np.column_stack([np.interp(fractions, self.known, c) for c in self.values.T])
