"""Inverse dynamics: joint torques and root residuals of a motion under ground forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from homodyn.capture.kinematics.segment_observability import require_seen
from homodyn.capture.kinetics.feet import find_feet
from homodyn.capture.kinetics.filter_loss import force_loss
from homodyn.capture.kinetics.foot_trajectories import foot_trajectories
from homodyn.capture.kinetics.ground_force_prediction import (
    predict_ground_forces,
    prediction_notes,
    supported_frames,
)
from homodyn.capture.kinetics.motion_filter import Cutoff, filter_motion, resolve_cutoff
from homodyn.capture.kinetics.newton_euler import newton_euler_loads
from homodyn.capture.kinetics.plate_assignment import PlateAssignment, assign_plates, spans_text
from homodyn.capture.kinetics.plate_consistency import consistency_notes, unmeasured_frames
from homodyn.capture.kinetics.plate_sampling import sample_plates
from homodyn.capture.kinetics.residual_elimination import eliminate_residuals
from homodyn.capture.kinetics.residuals import residuals
from homodyn.errors import CaptureError
from homodyn.foundation.arguments import require_type
from homodyn.motion import STANCE_THRESHOLD, ForcePlate, Loads, Motion

DEFAULT_CUTOFF_HZ = 6.0
"""Cutoff (Hz) of the low-pass filter for walking, for coordinates and forces."""


def inverse_dynamics(
    motion: Motion,
    plates: Sequence[ForcePlate] = (),
    *,
    cutoff: Cutoff = DEFAULT_CUTOFF_HZ,
    force_cutoff: float | Literal["same"] | None = "same",
    feet: Mapping[str, str | None] | None = None,
    residual: Literal["report", "eliminate"] = "report",
    threshold: float = STANCE_THRESHOLD.contact_n,
) -> Loads:
    """Generalized forces that produce a motion under the measured ground forces.

    Coordinates and plates are low-pass filtered without lag at the same cutoff, which keeps impacts
    from appearing as torques (Kristianslund et al. 2012, J. Biomech. 45:666); the coordinates are
    then differentiated by splines. Half a period of the cutoff at both ends is marked in
    ``Loads.edge``: a filter does not know the accelerations there. A note says when the filter
    takes more than 5 % off the peak of a plate. Each plate is assigned to the foot over its center
    of pressure. Without plates the ground forces are predicted from the motion.

    Args:
        motion: The motion.
        plates: Force plates in Z-up axes, as in ``Trial.plates``.
        cutoff: Cutoff frequency, Hz; ``"auto"`` chooses it by residual analysis of the markers;
            None uses velocities and accelerations of the motion and the plates as they are.
        force_cutoff: A different cutoff for the plates, Hz.
        feet: Body by plate name, instead of the automatic assignment; None ignores the plate.
        residual: ``"report"`` keeps the residual force and moment at the root; ``"eliminate"``
            removes them by the smallest weighted change of accelerations and ground forces, see
            `eliminate_residuals`.
        threshold: Vertical force, N, below which a plate counts as unloaded.

    Returns:
        Joint torques, contact forces, residuals and power.

    Raises:
        CaptureError: The motion contains NaN, a plate does not overlap it in time, or an argument
            is invalid.
        UnseenSegments: The model moves freely, and no marker shows its root or a foot.
        HomodynError: ``motion`` has another type.
    """
    require_type("motion", motion, Motion)
    if residual not in ("report", "eliminate"):
        raise CaptureError(f"residual is {residual!r}; accepted: 'report' or 'eliminate'")
    _check_motion(motion)
    cutoff = resolve_cutoff(motion, cutoff)
    forces = cutoff if force_cutoff == "same" else force_cutoff
    if motion.model.root and motion.unobserved:
        bodies = [
            name
            for name, p in zip(motion.model.body_names, motion.model.parents, strict=True)
            if p < 0
        ]
        bodies += [foot.body for foot in find_feet(motion.model)]
        require_seen(motion, tuple(bodies), "ground forces and joint torques")
    filtered = motion if cutoff is None else filter_motion(motion, cutoff=cutoff)
    found = _ground_forces(filtered, plates, forces, dict(feet or {}), threshold)
    result = replace(newton_euler_loads(filtered, found.feet), usable=found.usable)
    result = replace(result, edge=filtered.edge)
    notes = (*found.notes, residuals(result).sentence) if result.root else found.notes
    loss = force_loss(motion, plates, forces)
    if loss is not None and loss.notable:
        notes = (*notes, loss.sentence)
    given = f" ({motion.method})" if motion.method else ""
    filtering = (
        f"velocities and accelerations as given{given}"
        if cutoff is None
        else f"low-pass {cutoff:g} Hz"
    )
    method = (
        f"inverse dynamics; coordinates: {filtering}; {_force_sentence(plates, forces, threshold)}"
    )
    if residual == "eliminate" and result.root:
        result, change = eliminate_residuals(result)
        method += "; residuals eliminated"
        notes = (*notes, change.sentence)
    return replace(result, method=method, notes=notes)


def _check_motion(motion: Motion) -> None:
    model, frames = motion.model, len(motion.time)
    if not model.mass > 0:
        raise CaptureError(
            f"model {model.name!r} has no mass, so forces cannot be computed; scale it to the "
            "subject with mass=, or give its bodies masses"
        )
    for name, size in (("q", model.nq), ("v", model.nv), ("a", model.nv)):
        values = np.asarray(getattr(motion, name))
        if values.shape != (frames, size):
            raise CaptureError(
                f"{name} of the motion has shape {values.shape}, ({frames}, {size}) is expected"
            )
        missing = ~np.isfinite(values).all(-1)
        if missing.any():
            first = int(np.flatnonzero(missing)[0])
            raise CaptureError(
                f"{name} of the motion is NaN in {int(missing.sum())} of {frames} frames, first at "
                f"{motion.time[first]:.3f} s; fill the gaps or crop the motion"
            )


def _ground_forces(
    motion: Motion,
    plates: Sequence[ForcePlate],
    cutoff: float | None,
    named: dict[str, str | None],
    threshold: float,
) -> PlateAssignment:
    """Forces on the feet, measured or predicted."""
    names = [plate.name for plate in plates]
    for name in named:
        if name not in names:
            known = ", ".join(map(repr, names)) or "none"
            raise CaptureError(f"feet= names a plate {name!r}; the plates are {known}")
    feet = find_feet(motion.model)
    others = [b for b in named.values() if b is not None and b not in [f.body for f in feet]]
    feet += find_feet(motion.model, tuple(dict.fromkeys(others))) if others else ()
    all_frames = np.ones(len(motion.time), dtype=bool)
    has_root = bool(motion.model.root)
    if not plates and not has_root:
        note = "the model is fixed to the world: there are no ground forces and no root residual"
        return PlateAssignment((), all_frames, (note,))
    if not plates:
        found = predict_ground_forces(motion)
        supported = supported_frames(motion, found)
        return PlateAssignment(found, supported, prediction_notes(motion, found))
    paths = foot_trajectories(motion, feet)
    sampled = sample_plates(motion, plates, cutoff=cutoff, threshold=threshold)
    assigned = assign_plates(motion, sampled, paths, named)
    if not has_root:
        return assigned
    notes = [*assigned.notes, *consistency_notes(motion, assigned.feet, paths)]
    off_plate = unmeasured_frames(motion, assigned.feet, paths) & assigned.usable
    if off_plate.any():
        notes.append(
            f"in {int(off_plate.sum())} of {len(off_plate)} frames a foot beside the plates, or a "
            f"chair, carries part of the weight ({spans_text(motion.time, off_plate)}); torques "
            "are not valid there"
        )
    return PlateAssignment(assigned.feet, assigned.usable & ~off_plate, tuple(notes))


def _force_sentence(plates: Sequence[ForcePlate], cutoff: float | None, threshold: float) -> str:
    if not plates:
        return "no plates: ground forces predicted from the motion"
    filtered = "not filtered" if cutoff is None else f"low-pass {cutoff:g} Hz"
    return f"plates: {filtered}, interpolated at the frames, zero below {threshold:g} N"
