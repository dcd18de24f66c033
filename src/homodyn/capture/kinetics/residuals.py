"""Root residuals, compared with the limits of Hicks et al. (2015)."""

from __future__ import annotations

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import angular_jacobian, jacobian
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.motion.loads import Loads

MAX_RESIDUAL_FORCE_SHARE = 0.05
"""Hicks et al. 2015: peak residual force, as a share of the largest external force."""
MAX_RESIDUAL_MOMENT_SHARE = 0.01
"""Hicks et al. 2015: peak residual moment, as a share of that force times the height of the
center of mass."""


@record(eq=True)
class Residuals(Record):
    """Residual force and moment at the root, over the usable frames.

    Limits after Hicks, Uchida, Seth, Rajagopal and Delp, J. Biomech. Eng. 137 (2015) 020905.
    """

    peak_force: float
    """N."""
    rms_force: float
    """N."""
    force_limit: float
    """N: 5 % of the largest external force."""
    peak_moment: float
    """N m, about the center of mass."""
    rms_moment: float
    """N m."""
    moment_limit: float
    """N m: 1 % of that force times the height of the center of mass."""
    weight: float
    """Body weight (N)."""

    @property
    def acceptable(self) -> bool:
        """Whether both peaks are within the limits."""
        return self.peak_force <= self.force_limit and self.peak_moment <= self.moment_limit

    @property
    def sentence(self) -> str:
        """Peaks and rms values with their limits, in words."""
        force = "within" if self.peak_force <= self.force_limit else "above"
        moment = "within" if self.peak_moment <= self.moment_limit else "above"
        return (
            f"residual force at the root: peak {self.peak_force:.3g} N, rms {self.rms_force:.3g} N "
            f"({100 * self.rms_force / self.weight:.2g} % of weight), {force} the limit of "
            f"{self.force_limit:.3g} N; moment: peak {self.peak_moment:.3g} N m, rms "
            f"{self.rms_moment:.3g} N m, {moment} the limit of {self.moment_limit:.3g} N m "
            "(Hicks et al. 2015)"
        )


def residuals(loads: Loads) -> Residuals:
    """Peak and rms residuals at the root, with the limits of Hicks et al. (2015).

    Args:
        loads: Loads of a motion.

    Returns:
        The residuals of the usable frames.
    """
    kept = loads.usable if loads.usable.any() else np.ones(len(loads.tau), dtype=bool)
    force, moment = (
        np.linalg.norm(part[kept], axis=-1)
        for part in (loads.residual_force, loads.residual_moment)
    )
    model = loads.motion.model
    weight = model.mass * float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    largest = float(np.linalg.norm(loads.ground_force[kept], axis=-1).max(initial=0.0))
    height = float(np.mean(_center_of_mass_heights(loads)[kept]))
    return Residuals(
        peak_force=float(force.max()),
        rms_force=float(np.sqrt(np.mean(force**2))),
        force_limit=MAX_RESIDUAL_FORCE_SHARE * largest,
        peak_moment=float(moment.max()),
        rms_moment=float(np.sqrt(np.mean(moment**2))),
        moment_limit=MAX_RESIDUAL_MOMENT_SHARE * largest * height,
        weight=weight,
    )


def _center_of_mass_heights(loads: Loads) -> np.ndarray:
    """(frames,): height of the center of mass above the ground under the feet (m)."""
    up = world_axes(loads.motion.model)[2]
    height = loads.center_of_mass @ up
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
