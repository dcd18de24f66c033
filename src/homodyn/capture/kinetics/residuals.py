"""Root residuals, compared with the limits of Hicks et al. (2015).

`Residuals` is the only definition of this criterion: notes, verdicts, summaries and pages use it.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import angular_jacobian, center_of_mass, jacobian
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.motion.loads import Loads

MAX_RESIDUAL_FORCE_SHARE = 0.05
"""Hicks et al. 2015: peak residual force, as a share of the largest external force."""
MAX_RESIDUAL_MOMENT_SHARE = 0.01
"""Hicks et al. 2015: peak residual moment, as a share of that force times the height of the
center of mass."""


MAX_FAIR_RMS_FACTOR = 3.0
"""Multiple of the limits up to which the rms residuals of plain inverse dynamics are fair."""
MAX_FAIR_OFFSET_M = 0.05
"""Distance (m) that may separate the center of mass of the model from the real one in fair results:
a residual moment is the weight times this distance (an engineering bound). With models that experts
scaled to real people it is 1.7 to 2.3 cm in walking and 3.2 cm in deep squats, where the trunk
leans and one rigid segment stands for the spine; torques of the legs do not depend on it."""


class ResidualGrade(StrEnum):
    """Grade of the root residuals, the best first."""

    GOOD = "good"
    """All peaks are within the limits."""
    FAIR = "fair"
    """Peaks exceed the limits; the rms values are within a small multiple of them."""
    POOR = "poor"
    """The rms values exceed that multiple: motion and forces do not belong together."""


@record(eq=True)
class Residuals(Record):
    """Residual force and moment at the root, over the frames with known ground forces.

    Hicks, Uchida, Seth, Rajagopal and Delp, J. Biomech. Eng. 137 (2015) 020905, state limits for
    the largest residuals: 5 % of the net external force, and 1 % of that force times the height of
    the center of mass. They are meant for simulations after residual reduction, so that the peaks
    decide between good and fair. Plain inverse dynamics of a recording rarely meets them; it is
    poor when the root mean square exceeds `MAX_FAIR_RMS_FACTOR` times the limits, and a moment also
    exceeds the weight times `MAX_FAIR_OFFSET_M`.
    """

    peak_force: float
    """N."""
    rms_force: float
    """N."""
    force_limit: float
    """N: 5 % of the largest external force, at least of the body weight."""
    peak_moment: float
    """N m, about the center of mass."""
    rms_moment: float
    """N m."""
    moment_limit: float
    """N m: 1 % of that force times the height of the center of mass."""
    weight: float
    """Body weight (N)."""
    frames: int = 0
    """Number of frames that these numbers cover."""
    total_frames: int = 0
    """Number of frames of the motion."""

    @property
    def grade(self) -> ResidualGrade:
        """Good by the peaks, fair by the rms values, otherwise poor."""
        if self.peak_force <= self.force_limit and self.peak_moment <= self.moment_limit:
            return ResidualGrade.GOOD
        most = max(MAX_FAIR_RMS_FACTOR * self.moment_limit, MAX_FAIR_OFFSET_M * self.weight)
        fair = self.rms_force <= MAX_FAIR_RMS_FACTOR * self.force_limit and self.rms_moment <= most
        return ResidualGrade.FAIR if fair else ResidualGrade.POOR

    @property
    def acceptable(self) -> bool:
        """Whether both peaks are within the limits: the grade is good."""
        return self.grade is ResidualGrade.GOOD

    @property
    def sentence(self) -> str:
        """Peaks and rms values with their limits and frames, in words."""
        force = "within" if self.peak_force <= self.force_limit else "above"
        moment = "within" if self.peak_moment <= self.moment_limit else "above"
        covered = (
            f"all {self.total_frames} frames"
            if self.frames == self.total_frames
            else f"{self.frames} of {self.total_frames} frames (ground forces known)"
        )
        return (
            f"root residuals over {covered}: force peak {self.peak_force:.3g} N, rms "
            f"{self.rms_force:.3g} N ({100 * self.rms_force / self.weight:.2g} % of weight), peak "
            f"{force} the limit of {self.force_limit:.3g} N; moment peak {self.peak_moment:.3g} "
            f"N m, rms {self.rms_moment:.3g} N m, peak {moment} the limit of "
            f"{self.moment_limit:.3g} N m (Hicks et al. 2015)"
        )


def residuals(loads: Loads) -> Residuals:
    """Peak and rms residuals at the root, with the limits of Hicks et al. (2015).

    Args:
        loads: Loads of a motion.

    Returns:
        The residuals of the frames of ``loads.valid``, or of all frames if none is valid.
    """
    kept = loads.valid if loads.valid.any() else np.ones(len(loads.tau), dtype=bool)
    force, moment = (
        np.linalg.norm(part[kept], axis=-1)
        for part in (loads.residual_force, loads.residual_moment)
    )
    model = loads.motion.model
    weight = model.mass * float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    largest = float(np.linalg.norm(loads.ground_force[kept], axis=-1).max(initial=weight))
    height = float(np.mean(_center_of_mass_heights(loads)[kept]))
    return Residuals(
        peak_force=float(force.max()),
        rms_force=float(np.sqrt(np.mean(force**2))),
        force_limit=MAX_RESIDUAL_FORCE_SHARE * largest,
        peak_moment=float(moment.max()),
        rms_moment=float(np.sqrt(np.mean(moment**2))),
        moment_limit=MAX_RESIDUAL_MOMENT_SHARE * largest * height,
        weight=weight,
        frames=int(kept.sum()),
        total_frames=len(kept),
    )


def _center_of_mass_heights(loads: Loads) -> np.ndarray:
    """(frames,): height of the center of mass above the ground under the feet (m)."""
    up = world_axes(loads.motion.model)[2]
    center = loads.center_of_mass
    if not len(center):
        center = center_of_mass(loads.motion.model, loads.motion.q)
    height = center @ up
    grounds = np.concatenate([(foot.point @ up) for foot in loads.feet] or [np.zeros(0)])
    grounds = grounds[np.isfinite(grounds)]
    return height - (np.median(grounds) if len(grounds) else 0.0)


def root_projections(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Projections (3, 3) on the rotations and on the translations that the root joint allows.

    A root with six degrees of freedom allows all. In the directions that a planar root forbids, the
    joint carries the load, and there is no residual.
    """
    roots = [model.body_names[i] for i, parent in enumerate(model.parents) if parent < 0]
    pose = model.neutral()
    angular = np.concatenate([angular_jacobian(model, pose, name) for name in roots], axis=1)
    linear = np.concatenate([jacobian(model, pose, name) for name in roots], axis=1)
    return _projection(angular), _projection(linear)


def _projection(columns: np.ndarray) -> np.ndarray:
    """Orthogonal projection of 3-vectors on the span of columns."""
    left, sizes, _ = np.linalg.svd(columns)
    basis = left[:, : int((sizes > 1e-9).sum())]
    return basis @ basis.T
