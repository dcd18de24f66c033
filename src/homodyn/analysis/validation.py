"""Results on recordings of a data folder, compared with reference angles and torques."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

import numpy as np

from homodyn.analysis.pipeline import Analysis, analyze
from homodyn.analysis.quality import quality_verdicts
from homodyn.analysis.settings import Settings
from homodyn.analysis.validation_cases import ValidationCase
from homodyn.analysis.verdict import overall_light
from homodyn.capture import read_table
from homodyn.capture.kinetics import residuals
from homodyn.capture.kinetics.motion_table import state_coordinate
from homodyn.capture.scaling import pelvis_convention_difference
from homodyn.dynamics import position
from homodyn.errors import CaptureError, HomodynError
from homodyn.foundation import Record, record
from homodyn.model import Model, load
from homodyn.model.side import side_of
from homodyn.motion import Motion
from homodyn.motion.coordinate_columns import angular_coordinates

ASSUMED_MASS_KG = 70.0
"""Mass (kg) for the generic body where none is known; torques and residuals are then left out."""
SAGITTAL_NAME = re.compile(r"pelvis_tilt|hip_flexion|knee_angle|ankle_angle")
"""Coordinates of flexion and tilt, by their names in OpenSim models."""
SCALED_METHODS = ("scaled", "session")
"""Methods that scale the generic model to the person."""
CENTER_JOINTS = ("hip", "knee", "ankle")
"""Parts of the names of joints whose centers are compared."""


@record(eq=True)
class Deviation(Record):
    """Difference of a curve from its reference: result minus reference."""

    name: str
    """The coordinate."""
    bias: float
    """Mean difference (deg or N m)."""
    rms: float
    """Root mean square difference (deg or N m)."""


@record
class ValidationRow(Record):
    """One recording with one model: errors against the reference, residuals and verdict."""

    recording: str
    """The file, relative to the data folder."""
    method: str
    """``"scaled"``: generic model scaled to the person by static trial and movement;
    ``"session"``: by the same trials for all recordings of the person; ``"expert"``: the expert's
    model as it is; ``"catalog"``: a body of the catalog, where there is no model."""
    reference: str = ""
    """The file that the angles are compared with; empty without one."""
    marker_rms: float | None = None
    """Marker error (m, root mean square)."""
    angles: tuple[Deviation, ...] = ()
    """Deviations of the angles (deg) from the reference."""
    expert_angles: tuple[Deviation, ...] = ()
    """Deviations of the angles (deg) of the scaled model from those of the expert's model, fitted
    to the same markers."""
    pelvis_convention: float | None = None
    """Pelvis tilt (deg) of the scaled model minus that of the expert's model for the same pelvis,
    from the places of the pelvis landmarks in both (`pelvis_convention_difference`)."""
    centers: Mapping[str, float] = field(default_factory=dict)
    """Mean distance (m) of the hips, knees and ankles of the scaled model from those of the
    expert's model, fitted to the same markers, by ``"hip"``, ``"knee"`` and ``"ankle"``."""
    torques: tuple[Deviation, ...] = ()
    """Deviations of the joint torques (N m)."""
    residual_force: float | None = None
    """Root mean square residual force (N)."""
    residual_moment: float | None = None
    """Root mean square residual moment (N m)."""
    light: str = ""
    """Overall verdict: good, fair or poor; empty when there is no result."""
    reason: str = ""
    """The worst verdict, or why there is no result."""
    notes: tuple[str, ...] = ()
    """Assumptions, and files that were left out."""

    @property
    def sagittal(self) -> tuple[Deviation, ...]:
        """Deviations of pelvis tilt and flexion of hips, knees and ankles from the reference."""
        return tuple(d for d in self.angles if SAGITTAL_NAME.search(d.name))

    @property
    def expert_sagittal(self) -> tuple[Deviation, ...]:
        """The same deviations from the fit of the expert's model."""
        return tuple(d for d in self.expert_angles if SAGITTAL_NAME.search(d.name))

    @property
    def adjusted_sagittal(self) -> tuple[Deviation, ...]:
        """Those deviations after the difference of the pelvis conventions.

        It is a constant that adds to pelvis tilt and subtracts from hip flexion; the rms remains
        that before.
        """
        shift = self.pelvis_convention or 0.0
        signs = {"pelvis_tilt": -1.0, "hip_flexion": 1.0}
        return tuple(
            replace(d, bias=d.bias + shift * signs.get(re.sub("_[rl]$", "", d.name), 0.0))
            for d in self.expert_sagittal
        )

    @property
    def failed(self) -> bool:
        """Whether the recording gave no result."""
        return not self.light


def validate(
    cases: Sequence[ValidationCase],
    root: str | Path,
    *,
    progress: Callable[[str], None] | None = None,
) -> tuple[ValidationRow, ...]:
    """Analyze recordings and compare the results with their references.

    The generic model is scaled to the person from the static trial and the movement, and where a
    case names trials of a calibration, also by these. The expert's model is fitted as it is, with
    the marker weights of the expert. Scaled models are compared with the table of reference angles
    and with the fit of the expert's model.

    Args:
        cases: The recordings.
        root: The data folder, from which the names of recordings start.
        progress: Called with a line before each analysis.

    Returns:
        One row per recording and model; a recording that cannot be analyzed has the reason.
    """
    runs = [(case, method) for case in cases for method in _methods(case)]
    rows: list[ValidationRow] = []
    fits: dict[str, Motion] = {}
    for number, (case, method) in enumerate(runs, start=1):
        name = Path(case.recording).relative_to(root).as_posix()
        if progress is not None:
            progress(f"{number} of {len(runs)}: {name}, {method}")
        try:
            found = _analyze(case, method)
        except HomodynError as error:
            reason = str(error).replace(f"{case.recording}: ", "").replace(f"{root}/", "")
            rows.append(ValidationRow(name, method, reason=reason, notes=case.notes))
            continue
        if method == "expert":
            fits[case.recording] = found.motion
        rows.append(_row(case, method, name, found, fits.get(case.recording)))
    return tuple(rows)


def _methods(case: ValidationCase) -> list[str]:
    """The expert's model first: the scaled one is compared with its fit."""
    session = case.model if case.calibrate_from else None
    named = [("expert", case.expert), ("scaled", case.model), ("session", session)]
    return [method for method, model in named if model is not None] or ["catalog"]


def _analyze(case: ValidationCase, method: str) -> Analysis:
    common = Settings(forces=case.forces, external_loads=case.external_loads, up=case.up)
    if method == "expert":
        settings = replace(common, model=str(case.expert), scale="none", tasks=case.tasks)
        return analyze(case.recording, settings)
    mass = case.mass
    if mass is None and case.expert is not None:
        mass = load(case.expert, as_measured=True).mass
    settings = replace(common, static=case.static, mass=mass, height=case.height)
    if method in SCALED_METHODS:
        settings = replace(
            settings, model=str(case.model), markerset=case.markerset, scale="motion"
        )
        if method == "session":
            settings = replace(settings, calibrate_from=case.calibrate_from)
    else:
        settings = replace(settings, mass=mass or ASSUMED_MASS_KG)
    return analyze(case.recording, settings)


def _row(
    case: ValidationCase, method: str, name: str, found: Analysis, expert: Motion | None
) -> ValidationRow:
    notes = list(case.notes)
    mass_known = method != "catalog" or case.mass is not None
    if not mass_known:
        notes.append(
            f"The mass is not known: {ASSUMED_MASS_KG:g} kg is assumed, and torques and residuals "
            "are left out."
        )
    angles: tuple[Deviation, ...] = ()
    torques: tuple[Deviation, ...] = ()
    reference = ""
    try:
        if case.angles is not None:
            angles, reference = angle_deviations(found, case.angles), Path(case.angles).name
        if case.torques is not None and mass_known:
            torques = torque_deviations(found, case.torques)
    except HomodynError as error:
        notes.append(f"The reference cannot be used: {error}")
    expert_angles: tuple[Deviation, ...] = ()
    convention, centers = None, {}
    if expert is not None and method in SCALED_METHODS:
        expert_angles = _motion_angles(found.motion, expert)
        convention = _pelvis_convention(found.model, expert.model)
        centers = center_distances(found.motion, expert)
    size = residuals(found.loads) if found.loads is not None and found.trial.plates else None
    verdicts = quality_verdicts(found)
    return ValidationRow(
        name,
        method,
        reference=reference if angles else "",
        marker_rms=found.motion.rms,
        angles=angles,
        expert_angles=expert_angles,
        pelvis_convention=convention,
        centers=centers,
        torques=torques,
        residual_force=size.rms_force if size and mass_known else None,
        residual_moment=size.rms_moment if size and mass_known else None,
        light=str(overall_light(verdicts)),
        reason=verdicts[0].sentence if verdicts else "",
        notes=tuple(notes),
    )


def angle_deviations(found: Analysis, path: str | Path) -> tuple[Deviation, ...]:
    """Deviations of the angles of an analysis from those of a table.

    Args:
        found: The analysis.
        path: A table whose columns have the names of coordinates of the model, with or without
            their path in the model; its header states degrees or radians.

    Returns:
        One deviation (deg) per angle that markers determine and that varies in the table, over the
        common times.

    Raises:
        FormatError: The table cannot be read.
    """
    table = read_table(path, partial=True)
    unit = 1.0 if table.degrees else 180.0 / np.pi
    columns = {
        state_coordinate(name): unit * table.values[:, k]
        for k, name in enumerate(table.names)
        if not name.endswith("/speed")
    }
    return _angle_deviations(found.motion, table.time, columns)


def _motion_angles(motion: Motion, reference: Motion) -> tuple[Deviation, ...]:
    model = reference.model
    columns = {}
    for k, name in enumerate(model.coordinate_names):
        index = model.position_index[k]
        if index is not None:
            columns[name] = np.rad2deg(reference.q[:, index])
    return _angle_deviations(motion, reference.time, columns)


def _pelvis_convention(model: Model, other: Model) -> float | None:
    """Difference of the pelvis conventions (deg); None where a model lacks the landmarks."""
    try:
        return float(np.rad2deg(pelvis_convention_difference(model, other)))
    except CaptureError:
        return None


def center_distances(motion: Motion, reference: Motion) -> dict[str, float]:
    """Mean distances of the joint centers of two models fitted to the same markers.

    Args:
        motion: The fit of one model.
        reference: The fit of the other model, whose joints and bodies have the same names and whose
            world has the same axes.

    Returns:
        Distance (m) in the world by ``"hip"``, ``"knee"`` and ``"ankle"``, over both sides and the
        common times; joints that a model lacks are left out.
    """
    inside = (reference.time >= motion.time[0]) & (reference.time <= motion.time[-1])
    if not inside.any() or not np.allclose(motion.model.gravity, reference.model.gravity, atol=0.1):
        return {}
    time = reference.time[inside]
    distances: dict[str, list[float]] = {}
    bodies = set(motion.model.body_names)
    for joint in reference.model.joints:
        kind = next((name for name in CENTER_JOINTS if name in joint.name.lower()), None)
        if kind is None or side_of(joint.name) is None or joint.child not in bodies:
            continue
        if "patell" in joint.name.lower():
            continue
        ours = position(motion.model, motion.q, joint.child)
        sampled = np.stack([np.interp(time, motion.time, ours[:, k]) for k in range(3)], axis=-1)
        theirs = position(reference.model, reference.q[inside], joint.child)
        distance = np.linalg.norm(sampled - theirs, axis=-1)
        distances.setdefault(kind, []).append(float(np.mean(distance)))
    return {kind: float(np.mean(distances[kind])) for kind in CENTER_JOINTS if kind in distances}


def _angle_deviations(
    motion: Motion, time: np.ndarray, columns: dict[str, np.ndarray]
) -> tuple[Deviation, ...]:
    """Deviations (deg) of the angles that markers determine, at the common times."""
    model = motion.model
    angular = angular_coordinates(model)
    inside = (time >= motion.time[0]) & (time <= motion.time[-1])
    if not inside.any():
        return ()
    rows = []
    for k, name in enumerate(model.coordinate_names):
        index = model.position_index[k]
        if name not in columns or index is None or not angular[k] or name in motion.unobserved:
            continue
        reference = columns[name][inside]
        if np.ptp(reference) == 0.0:
            continue  # A coordinate that the reference holds still, such as a locked one.
        ours = np.interp(time[inside], motion.time, np.rad2deg(motion.q[:, index]))
        difference = ours - reference
        difference -= 360.0 * np.round(np.median(difference) / 360.0)
        rows.append(_deviation(name, difference))
    return tuple(rows)


def torque_deviations(found: Analysis, path: str | Path) -> tuple[Deviation, ...]:
    """Deviations of the joint torques of an analysis from those of a table.

    Args:
        found: The analysis.
        path: A table with a column ``<coordinate>_moment`` (N m) per coordinate, as OpenSim writes
            it.

    Returns:
        One deviation (N m) per joint, over the common frames with known ground forces.

    Raises:
        FormatError: The table cannot be read.
    """
    loads = found.loads
    if loads is None or not loads.valid.any():
        return ()
    table = read_table(path, partial=True)
    model = found.model
    root = {model.coordinate_names[k] for k in model.root.v}
    angular = angular_coordinates(model)
    time = loads.motion.time
    kept = loads.valid & (time >= table.time[0]) & (time <= table.time[-1])
    if not kept.any():
        return ()
    rows = []
    for k, name in enumerate(model.coordinate_names):
        column = f"{name}_moment"
        if name in root or not angular[k] or column not in table.names:
            continue
        reference = np.interp(time[kept], table.time, table.column(column))
        if np.ptp(reference) == 0.0:
            continue
        rows.append(_deviation(name, loads.tau[kept, k] - reference))
    return tuple(rows)


def _deviation(name: str, difference: np.ndarray) -> Deviation:
    rms = float(np.sqrt(np.mean(difference**2)))
    return Deviation(name, float(np.mean(difference)), rms)
