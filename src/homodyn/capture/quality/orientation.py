"""Vertical direction of a recording from forces, stepping and landmarks, and its correction.

A recording may have been read with the wrong vertical axis, or be in a laboratory frame that is
tilted by any angle. Four sources show where up is:

- Force plates: the mean force is vertical, and the markers are above its point of application.
- Stepping: a person who walks or runs moves at a right angle to the line from feet to head, or
  moves the feet in turn. Up is then the part of that line that is normal to the travel and to the
  lines from right to left landmarks.
- Standing still: the feet are below hips and head. HuMAnS finds its laboratory frame in this way,
  from malleoli and trochanters at rest. A person who keeps still at 20 to 60 degrees from the
  vertical does not stand, so that a tilt in this range is one of the axes.
- The line from feet to head alone. People also lie and bend, so it never corrects anything.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.capture.formats.up_axis import ROTATION_BY_UP_AXIS
from homodyn.capture.labeling.landmarks import landmark, left_right_pairs
from homodyn.capture.quality.body_checks import ARM_LANDMARKS, HIGH_LANDMARKS, LOW_LANDMARKS
from homodyn.capture.trial import Trial
from homodyn.foundation.record import Record, record
from homodyn.motion import STANCE_THRESHOLD, ForcePlate

MAX_TILT_DEG = 20.0
"""Angle between the vertical axis and the evidence up to which a recording is left as it is."""
MAX_CONFIRMED_TILT_DEG = 10.0
"""The same where plates and walking agree."""
MAX_CONFIRMING_ANGLE_DEG = 8.0
"""Angle between two sources of evidence that confirm each other."""
MAX_EVIDENCE_CONFLICT_DEG = 40.0
"""Angle between two sources of evidence up to which they agree."""
MAX_AXIS_DEVIATION_DEG = 12.0
"""Angle between the evidence and an axis of the recording up to which that axis is meant."""
MIN_LYING_ANGLE_DEG = 60.0
"""Angle of the line from feet to head to the vertical from which a still body may lie."""
MIN_DOUBTFUL_ANGLE_DEG = 45.0
"""Angle of this line from which the vertical axis is in doubt where nothing shows it."""
MAX_STILL_RANGE_M = 0.05
"""Range (m) of each marker, 5th to 95th percentile, of a person who keeps still."""
MAX_BODY_SWAY_DEG = 12.0
"""Angle of the line from feet to head to the vertical axis up to which a body is upright."""
MAX_FORCE_DISTANCE_M = 0.45
"""Distance (m) from the center of pressure to the nearest marker of feet that carry the body."""
MAX_BALANCE_OFFSET_M = 0.35
"""Horizontal distance (m) from the center of pressure to the middle of the markers of a still body:
its center of mass is above the center of pressure."""
MIN_TRAVEL_M = 0.5
"""Distance of travel that shows a direction of walking."""
MAX_TRAVEL_SLOPE_DEG = 25.0
"""Deviation of travel and body from a right angle that walking on level ground stays within."""
MIN_STEP_LENGTH_M = 0.15
"""Range of the feet relative to each other along the direction of walking."""
PELVIS_LANDMARKS = ("asis", "psis", "sacrum", "hip center", "trochanter")
UP = np.array([0.0, 0.0, 1.0])


@record
class Orientation(Record):
    """Where up is in a recording, by each source of evidence; None where it shows nothing."""

    up: np.ndarray | None
    """(3,), unit vector in the axes of the trial."""
    evidence: str
    """What ``up`` follows from."""
    tilt_deg: float
    """Angle between ``up`` and the vertical axis of the trial; 0 without evidence."""
    body_tilt_deg: float | None = None
    """Angle of the line from feet to head to the vertical axis of the trial."""
    conflict: str = ""
    """Why the evidence contradicts itself; empty if it does not."""
    confirmed: bool = False
    """Whether two independent sources show the same direction."""

    @property
    def is_upright(self) -> bool:
        """Whether nothing speaks against the vertical axis of the trial."""
        limit = MAX_CONFIRMED_TILT_DEG if self.confirmed else MAX_TILT_DEG
        return not self.conflict and self.tilt_deg <= limit

    @property
    def may_lie(self) -> bool:
        """Whether the body is far from upright and nothing but its landmarks shows where up is."""
        tilt = self.body_tilt_deg
        return self.up is None and tilt is not None and tilt > MIN_DOUBTFUL_ANGLE_DEG

    def headline(self) -> str:
        """Tilt and evidence."""
        if self.conflict:
            return f"Orientation: {self.conflict}"
        if self.up is None:
            return "Orientation: no evidence of the vertical direction"
        return f"Orientation: {self.tilt_deg:.0f} deg from the vertical by {self.evidence}"


def find_orientation(trial: Trial, *, standing: bool = False) -> Orientation:
    """Find the vertical direction of a recording.

    Args:
        trial: The recording; its vertical axis Z is the hypothesis.
        standing: Whether the person is known to stand, as in a static trial.

    Returns:
        The direction, its evidence, and contradictions.
    """
    body = _body_axis(trial)
    gravity = _up_by_plates(trial)
    stepping = None if body is None else _up_by_stepping(trial, body)
    body_tilt = None if body is None else _angle_deg(body, UP)
    vertical = gravity is not None and _angle_deg(gravity, UP) <= MAX_TILT_DEG
    if gravity is not None and vertical and stepping is None:
        if body_tilt is not None and body_tilt > MAX_EVIDENCE_CONFLICT_DEG:
            distance = _force_distance(trial)
            if distance > MAX_FORCE_DISTANCE_M:
                return Orientation(None, "", 0.0, body_tilt, _distance_text(distance))
            if _keeps_still(trial) and _balance_offset(trial) > MAX_BALANCE_OFFSET_M:
                # It lies with a part on the plates, or forces and markers have different axes.
                return Orientation(None, "", 0.0, body_tilt)
        # A body that lies, bends or stands on its hands above vertical forces is no error.
        still = _angle_deg(gravity, UP) > MAX_CONFIRMED_TILT_DEG and _keeps_still(trial)
        tilt = _angle_deg(gravity, UP)
        return Orientation(gravity, "force plates", tilt, body_tilt, confirmed=still)
    marker_up = stepping if stepping is not None else body
    if gravity is not None and marker_up is not None:
        apart = _angle_deg(gravity, marker_up)
        if apart > MAX_EVIDENCE_CONFLICT_DEG:
            reason = (
                f"forces and markers disagree by {apart:.0f} deg on where up is; they are in "
                "different axes"
            )
            return Orientation(None, "", 0.0, body_tilt, reason)
    if gravity is not None and stepping is not None:
        both = _unit(gravity + stepping)
        agree = _angle_deg(gravity, stepping) <= MAX_CONFIRMING_ANGLE_DEG
        evidence = "force plates and the direction of walking"
        return Orientation(both, evidence, _angle_deg(both, UP), body_tilt, confirmed=agree)
    if gravity is not None:
        if body is not None and _angle_deg(body, UP) < min(
            MAX_BODY_SWAY_DEG, _angle_deg(body, gravity)
        ):
            # An upright person who brakes or turns on a plate: the mean force is not vertical.
            return Orientation(None, "", 0.0, body_tilt)
        return Orientation(gravity, "force plates", _angle_deg(gravity, UP), body_tilt)
    if stepping is not None:
        tilt = _angle_deg(stepping, UP)
        return Orientation(stepping, "the direction of walking", tilt, body_tilt)
    if body is not None and body_tilt is not None and _keeps_still(trial):
        known = standing and body_tilt > MAX_TILT_DEG
        if known or MAX_TILT_DEG < body_tilt <= MIN_LYING_ANGLE_DEG:
            return Orientation(body, "a person who stands still", body_tilt, body_tilt)
    return Orientation(None, "", 0.0, body_tilt)


def correct_orientation(trial: Trial, *, standing: bool = False) -> Trial:
    """The recording with Z up, rotated if force plates or walking show that Z is not vertical.

    Args:
        trial: The recording.
        standing: Whether the person is known to stand, as in a static trial.

    Returns:
        The same trial if it is upright or nothing shows the contrary; else a rotated one with a
        note. An axis of the recording near the found direction is taken as exactly vertical.
    """
    found = find_orientation(trial, standing=standing)
    if found.is_upright or found.up is None:
        return trial
    axis = _nearest_axis(found.up)
    rotation = _rotation_to_vertical(found.up) if axis is None else ROTATION_BY_UP_AXIS[axis]
    turned = trial.rotate(rotation)
    of_file = None if axis is None else _nearest_axis(trial.axes.T @ found.up)
    how = "a tilted direction of it" if of_file is None else f"axis {of_file} of the file"
    note = (
        f"the vertical axis was {found.tilt_deg:.0f} deg from the vertical by {found.evidence}; "
        f"the recording is rotated so that {how} points up"
    )
    plates = tuple(_restore_sign(plate) for plate in turned.plates)
    return replace(turned, plates=plates, notes=(*turned.notes, note))


def _restore_sign(plate: ForcePlate) -> ForcePlate:
    """The plate with the sign of the file, if it was reversed for a wrong vertical axis."""
    channels = plate.channels
    if channels is None or channels.sign >= 0 or np.nan_to_num(plate.force[:, 2]).sum() >= 0:
        return plate
    restored = replace(channels, sign=-channels.sign)
    return replace(plate, force=-plate.force, torque=-plate.torque, channels=restored)


def _body_axis(trial: Trial) -> np.ndarray | None:
    """Mean direction from feet to head, from feet to pelvis, or from pelvis to head."""
    places = [landmark(label).place for label in trial.markers]
    groups = [
        [k for k, place in enumerate(places) if place in names]
        for names in (LOW_LANDMARKS, PELVIS_LANDMARKS, HIGH_LANDMARKS)
    ]
    low, middle, high = groups
    if not low or not (middle or high):
        low = middle
    bottom, top = _center(trial.positions[:, low]), _center(trial.positions[:, high or middle])
    line = top - bottom
    line = line[np.isfinite(line).all(axis=1)]
    if not len(line) or not low or low == (high or middle):
        return None
    mean = line.mean(axis=0)
    length = float(np.linalg.norm(mean))
    # The directions of a body that turns over cancel each other.
    if length < 0.5 * float(np.linalg.norm(line, axis=1).mean()) or length < 1e-3:
        return None
    return mean / length


def _up_by_plates(trial: Trial) -> np.ndarray | None:
    """Direction of the mean force, on the side of the markers."""
    total, point, weight = np.zeros(3), np.zeros(3), 0.0
    for plate in trial.plates:
        force = np.nan_to_num(plate.force)
        size = np.linalg.norm(force, axis=1)
        loaded = size > 2 * STANCE_THRESHOLD.plate_check_n
        if loaded.any():
            step = force[loaded].sum(axis=0) / plate.rate
            # A plate may store the force on the ground: the side is decided below.
            total += step * (1.0 if total @ step >= 0 else -1.0)
            share = float(size[loaded].sum()) / plate.rate
            point += share * np.nan_to_num(plate.point[loaded]).mean(axis=0)
            weight += share
    length = float(np.linalg.norm(total))
    # Forces that cancel each other, as on handles, show no direction.
    if not weight or length < 0.7 * weight or not trial.markers:
        return None
    seen = trial.positions[trial.seen]
    if not len(seen):
        return None
    height = (np.median(seen, axis=0) - point / weight) @ total
    return total / length * (1.0 if height >= 0 else -1.0)


def _force_distance(trial: Trial) -> float:
    """Median distance (m) from centers of pressure to the nearest marker; 0 where unknown."""
    places = [landmark(label).place for label in trial.markers]
    if not any(place in LOW_LANDMARKS for place in places):
        return 0.0
    found = []
    for plate in trial.plates:
        force = np.nan_to_num(plate.force)
        weight = np.linalg.norm(force, axis=1)
        loaded = (weight > 0.5 * weight.max(initial=0.0)) & (
            weight > 2 * STANCE_THRESHOLD.plate_check_n
        )
        frame = np.rint((plate.time[loaded] - trial.start) * trial.rate).astype(int)
        inside = (frame >= 0) & (frame < trial.frames)
        point, rows = plate.point[loaded][inside], trial.positions[frame[inside]]
        with np.errstate(invalid="ignore"):
            apart = np.linalg.norm(rows - point[:, None], axis=2)
            apart = np.where(np.isfinite(apart), apart, np.inf).min(axis=1, initial=np.inf)
        found.append(apart[np.isfinite(apart)])
    distances = np.concatenate(found) if found else np.zeros(0)
    return float(np.median(distances)) if len(distances) else 0.0


def _balance_offset(trial: Trial) -> float:
    """Horizontal distance (m) from the mean center of pressure to the median of the markers."""
    moments, weight = np.zeros(2), 0.0
    for plate in trial.plates:
        size = np.linalg.norm(np.nan_to_num(plate.force), axis=1)
        loaded = size > 2 * STANCE_THRESHOLD.plate_check_n
        moments += size[loaded] @ np.nan_to_num(plate.point[loaded, :2])
        weight += float(size[loaded].sum())
    middle = np.median(trial.positions[trial.seen], axis=0)[:2]
    return float(np.linalg.norm(middle - moments / weight)) if weight else 0.0


def _distance_text(distance: float) -> str:
    return (
        f"the center of pressure is {distance:.2f} m from the nearest marker of a body that is not "
        "upright; forces and markers are in different axes"
    )


def _keeps_still(trial: Trial) -> bool:
    """Whether all markers that are seen stay where they are."""
    seen = trial.seen.sum(axis=0) >= max(2, trial.frames // 2)
    if trial.frames < 2 or not seen.any():
        return False
    low, high = np.nanquantile(trial.positions[:, seen], [0.05, 0.95], axis=0)
    return bool(np.median(np.linalg.norm(high - low, axis=1)) < MAX_STILL_RANGE_M)


def _up_by_stepping(trial: Trial, body: np.ndarray) -> np.ndarray | None:
    """The part of the body axis normal to the travel and to the lateral axis, when walking."""
    lateral = _lateral_axis(trial)
    if lateral is None or _angle_deg(lateral, body) < 60.0 or _angle_deg(lateral, body) > 120.0:
        return None
    center = _center(trial.positions)
    center = center[np.isfinite(center).all(axis=1)]
    upright = _unit(body - (body @ lateral) * lateral)
    forward = np.cross(lateral, upright)
    steps = _foot_separation(trial, forward)
    walks = steps is not None and np.ptp(steps) > 2 * MIN_STEP_LENGTH_M and _alternates(steps)
    if not walks or len(center) < 2:
        return None
    count = max(1, len(center) // 20)
    travel = center[-count:].mean(axis=0) - center[:count].mean(axis=0)
    if np.linalg.norm(travel) < MIN_TRAVEL_M:
        # On a treadmill or in place the body itself shows the direction.
        return upright
    if abs(_angle_deg(travel, body) - 90.0) > MAX_TRAVEL_SLOPE_DEG:
        return None
    ahead = _unit(travel - (travel @ lateral) * lateral)
    if abs(ahead @ forward) < 0.5:
        return None
    return _unit(upright - (upright @ ahead) * ahead)


def _lateral_axis(trial: Trial) -> np.ndarray | None:
    """Median direction from right to left landmarks of trunk and legs.

    A wrong label turns the direction of one pair only.
    """
    lines = []
    for left, right in left_right_pairs(trial.markers):
        if landmark(trial.markers[left]).place in ARM_LANDMARKS:
            continue
        line = trial.positions[:, left] - trial.positions[:, right]
        line = line[np.isfinite(line).all(axis=1)]
        mean = line.mean(axis=0) if len(line) else np.zeros(3)
        if np.linalg.norm(mean) > 0:
            lines.append(_unit(mean))
    if not lines:
        return None
    middle = np.median(lines, axis=0)
    return _unit(middle) if np.linalg.norm(middle) > 0.5 else None


def _foot_separation(trial: Trial, forward: np.ndarray) -> np.ndarray | None:
    """(frames,): distance of the left foot before the right one (m)."""
    marks = [landmark(label) for label in trial.markers]
    feet = [
        _center(
            trial.positions[
                :, [k for k, m in enumerate(marks) if m.side == side and m.place in LOW_LANDMARKS]
            ]
        )
        for side in "lr"
    ]
    apart = (feet[0] - feet[1]) @ forward
    apart = apart[np.isfinite(apart)]
    return apart if len(apart) > 1 else None


def _alternates(steps: np.ndarray) -> bool:
    """Whether each foot is ahead of the other by at least a short step at some time."""
    return bool(steps.max() > MIN_STEP_LENGTH_M and steps.min() < -MIN_STEP_LENGTH_M)


def _center(positions: np.ndarray) -> np.ndarray:
    """(frames, 3): mean of the visible markers; NaN where none is visible."""
    seen = np.isfinite(positions).all(axis=2)
    total = np.where(seen[..., None], positions, 0.0).sum(axis=1)
    count = seen.sum(axis=1)[:, None]
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _nearest_axis(up: np.ndarray) -> str | None:
    largest = int(np.abs(up).argmax())
    if abs(up[largest]) < np.cos(np.radians(MAX_AXIS_DEVIATION_DEG)):
        return None
    return ("-" if up[largest] < 0 else "") + "xyz"[largest]


def _rotation_to_vertical(up: np.ndarray) -> np.ndarray:
    """The smallest rotation that turns a direction, not opposite to Z, to Z (Rodrigues)."""
    axis = np.cross(up, UP)
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    rotation: np.ndarray = np.eye(3) + cross + cross @ cross / (1.0 + up[2])
    return rotation


def _unit(vector: np.ndarray) -> np.ndarray:
    unit: np.ndarray = vector / np.linalg.norm(vector)
    return unit


def _angle_deg(one: np.ndarray, two: np.ndarray) -> float:
    cosine = one @ two / (np.linalg.norm(one) * np.linalg.norm(two))
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
