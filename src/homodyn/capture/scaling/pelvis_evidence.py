"""Inclination of the pelvis landmarks in the pelvis as evidence in the estimation of a person.

Scaling does not describe the shape of a pelvis. Where the hips of a person lie elsewhere relative
to the landmarks than those of the scaled model, rotating the pelvis body against its landmarks
reduces both deviations, and pelvis tilt and hip flexion change by opposite amounts. Pelvis tilt is
defined by the landmarks, so the line from PSIS to ASIS keeps its inclination in the pelvis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import PersonParameters
from homodyn.capture.scaling.hip_regression import pelvis_axes
from homodyn.capture.scaling.pelvis_landmarks import pelvis_landmarks
from homodyn.model import Model

DIFFERENCE_STEP = 1e-6
"""Step of the finite differences (m, or relative)."""


@dataclass(frozen=True, eq=False)
class PelvisEvidence:
    """Inclination of the line from PSIS to ASIS against the generic pelvis."""

    unknowns: PersonParameters
    columns: np.ndarray
    """Indices of the unknowns that the inclination depends on."""
    body: int
    """Index of the pelvis."""
    landmarks: np.ndarray
    """(markers, 3), m: generic positions of right ASIS, left ASIS and the back of the pelvis."""
    rows: np.ndarray
    """(markers,): indices of these markers."""
    normal: np.ndarray
    """(3,): unit vector across the line in the sagittal plane of the generic pelvis."""
    deviation: float
    """Standard deviation (rad)."""

    def residual(self, phi: np.ndarray) -> np.ndarray:
        """Deviation (1,) in standard deviations, for values of the unknowns."""
        person = self.unknowns.person(phi)
        place = self.landmarks * person.scales[self.body] + person.shifts[self.rows]
        _, axes = pelvis_axes(place[0], place[1], place[2:].mean(0))
        return np.array([axes[0] @ self.normal / self.deviation])

    def jacobian(self, phi: np.ndarray) -> np.ndarray:
        """Derivatives (1, unknowns) of `residual`, by central differences."""
        slopes = np.zeros((1, len(phi)))
        for column in self.columns:
            step = np.zeros(len(phi))
            step[column] = DIFFERENCE_STEP
            change = self.residual(phi + step) - self.residual(phi - step)
            slopes[:, column] = change / (2 * DIFFERENCE_STEP)
        return slopes


def pelvis_evidence(
    model: Model, markers: Sequence[str], unknowns: PersonParameters, deviation: float
) -> PelvisEvidence | None:
    """Evidence for the inclination of the pelvis landmarks in the pelvis.

    Args:
        model: The generic model.
        markers: Names of the recorded markers.
        unknowns: Layout of the parameters of the person.
        deviation: Standard deviation of the inclination (rad); 0 omits it.

    Returns:
        The evidence; None where the model lacks recorded landmarks of the pelvis.
    """
    found = pelvis_landmarks(model, markers)
    if found is None or deviation <= 0:
        return None
    body = model.body_names.index(found.body)
    rows = np.array([list(markers).index(name) for name in found.markers])
    place = {marker.name: np.asarray(marker.position) for marker in model.markers}
    landmarks = np.array([place[name] for name in found.markers])
    _, axes = pelvis_axes(landmarks[0], landmarks[1], landmarks[2:].mean(0))
    columns = np.concatenate(
        [
            np.flatnonzero(unknowns.tie[3 * body : 3 * body + 3].any(0)),
            (unknowns.shape + 3 * rows[:, None] + np.arange(3)).ravel(),
        ]
    )
    return PelvisEvidence(unknowns, columns, body, landmarks, rows, axes[1], deviation)
