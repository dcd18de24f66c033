"""Classical balance criteria on the same contacts as the wrench margins.

CoM projection  center of mass over the base of support; valid at rest on level ground
ZMP             point without tipping moment of the required force; level ground, enough friction
FRI             the same without the inertia of the stance foot (Goswami 1999); single support
CMP             origin of the ground force if it passed through the CoM (Popovic et al. 2005)
CWC             contact wrench cone: friction, no force limits (Hirukawa et al. 2006)
XCoM            ``x + v / omega0`` over the base of support (Hof et al. 2005)

All but the CWC are distances (m) to the border of the base of support, negative outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from homodyn.balance.polytopes.convex_polygon import signed_distance_inside
from homodyn.balance.required_wrench import RequiredWrench
from homodyn.balance.stability_margins import wrench_margins
from homodyn.balance.stance import Stance
from homodyn.balance.support_areas import GroundAxes
from homodyn.balance.wrench_polytope import wrench_set
from homodyn.capture.kinetics.plate_sampling import center_of_pressure
from homodyn.dynamics import (
    acceleration,
    angular_acceleration,
    angular_velocity,
    orientation,
    position,
)
from homodyn.foundation.record import record
from homodyn.foundation.text import count_of
from homodyn.foundation.time_series import Curve, TimeSeries
from homodyn.motion import Motion
from homodyn.motion.supports import ContactPatch

__all__ = ["ClassicalCriteria", "classical_criteria", "foot_inertia", "without_force_limits"]

CRITERIA = ("com_projection", "zmp", "fri", "cmp", "xcom", "cwc")
"""Fields of `ClassicalCriteria` that are criteria."""


@record
class ClassicalCriteria(TimeSeries):
    """Values of the classical criteria at each instant, (instants,) unless noted."""

    time: np.ndarray
    """s."""

    com_projection: np.ndarray
    """m."""
    zmp: np.ndarray
    """m."""
    fri: np.ndarray
    """m; equal to ``zmp`` while the foot is at rest."""
    cmp: np.ndarray
    """m."""
    xcom: np.ndarray
    """m: Hof's margin of stability."""
    cwc: np.ndarray
    """N m: M_s3 in the cone, about the center of mass."""
    zmp_position: np.ndarray
    """(instants, 2), m, in the horizontal plane."""
    cmp_position: np.ndarray
    """(instants, 2), m."""
    xcom_position: np.ndarray
    """(instants, 2), m."""

    @property
    def table(self) -> dict[str, float]:
        """Fraction of the evaluated instants that each criterion classifies as balanced."""
        evaluated = ~np.isnan(self.com_projection)
        return {name: float((getattr(self, name)[evaluated] >= 0).mean()) for name in CRITERIA}

    def columns(self) -> dict[str, Curve]:
        """The criteria: distances (m) and the wrench margin (N m).

        Returns:
            One curve per criterion.
        """
        return {
            name: Curve(name, "N m" if name == "cwc" else "m", self.time, getattr(self, name))
            for name in CRITERIA
        }

    def headline(self) -> str:
        """Number of instants."""
        return f"ClassicalCriteria: {count_of(len(self.time), 'instant')}"


def classical_criteria(
    demand: RequiredWrench, stance: Stance, *, foot: tuple[np.ndarray, np.ndarray] | None = None
) -> ClassicalCriteria:
    """Evaluate required wrenches by the classical criteria, all on the same stance.

    The ground is horizontal at the mean height of the support points.

    Args:
        demand: Required wrench at each instant.
        stance: Supports in use at all of these instants.
        foot: Inertial force (instants, 3; N) of the stance foot and its moment (instants, 3; N m)
            about the world origin, as returned by `foot_inertia`. None assumes a foot at rest, so
            that the FRI equals the ZMP.

    Returns:
        Signed distance to the border of the base of support (m, negative outside) per criterion and
        instant, and the wrench margin (N m) in the contact wrench cone. Distances of ZMP, FRI and
        CMP are minus infinity where the required normal force is not positive.

    Raises:
        NoSolution: Gravity is zero, or the wrench set of the stance has too many vertices.
    """
    level = GroundAxes.of(demand.gravity)
    base = level.flat(stance.points)
    height = float((stance.points @ level.up).mean())
    zmp, _ = center_of_pressure(demand.force, demand.moment, level.up, height)
    force, moment = (0.0, 0.0) if foot is None else foot
    fri, _ = center_of_pressure(demand.force - force, demand.moment - moment, level.up, height)
    above = demand.com @ level.up - height
    vertical = demand.force @ level.up
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where((vertical > 0)[:, None], demand.force / vertical[:, None], np.nan)
    cmp = level.flat(demand.com - above[:, None] * slope)
    omega = np.sqrt(float(np.linalg.norm(demand.gravity)) / np.maximum(above, 1e-6))
    xcom = level.flat(demand.com) + level.flat(demand.velocity) / omega[:, None]
    cone = wrench_set(without_force_limits(stance))
    margins = wrench_margins(cone, demand.force, demand.moment, com=demand.com)
    return ClassicalCriteria(
        time=demand.time,
        com_projection=_distances_inside(base, level.flat(demand.com)),
        zmp=_pressure_distances(base, level.flat(zmp), vertical),
        fri=_pressure_distances(base, level.flat(fri), vertical),
        cmp=_pressure_distances(base, cmp, vertical),
        xcom=_distances_inside(base, xcom),
        cwc=margins.wrench,
        zmp_position=level.flat(zmp),
        cmp_position=cmp,
        xcom_position=xcom,
    )


def without_force_limits(stance: Stance) -> Stance:
    """Remove the force and yaw limits of a stance and its contacts; grasps keep their bounds.

    Args:
        stance: The stance.

    Returns:
        A stance of the same supports, limited by friction and grasp bounds only.
    """
    supports = tuple(
        replace(s, limit=np.inf, yaw_limit=np.inf) if isinstance(s, ContactPatch) else s
        for s in stance.supports
    )
    return Stance(supports, name=stance.name)


def foot_inertia(motion: Motion, bodies: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Compute the inertial force and moment of some bodies of a motion.

    Args:
        motion: Motion with velocities and accelerations.
        bodies: Names of the bodies, for example foot and toes.

    Returns:
        Sum of mass times acceleration (frames, 3; N), and rate of the angular momentum of the
        bodies about the world origin (frames, 3; N m).
    """
    model = motion.model
    fixed = model.at(model.parameter_values) if model.parameters else model
    q, v, a = motion.q, motion.v, motion.a
    force, moment = np.zeros((2, len(motion.time), 3))
    for name in bodies:
        body = fixed.body(name)
        center = np.asarray(position(model, q, name, point=body.com))
        inertial = float(body.mass) * np.asarray(acceleration(model, q, v, a, name, point=body.com))
        turn = np.asarray(orientation(model, q, name))
        omega = np.asarray(angular_velocity(model, q, v, name))
        alpha = np.asarray(angular_acceleration(model, q, v, a, name))
        inertia = turn @ np.asarray(body.inertia, dtype=float) @ np.swapaxes(turn, -1, -2)
        spin = (inertia @ omega[..., None])[..., 0]
        rate = (inertia @ alpha[..., None])[..., 0] + np.cross(omega, spin)
        force = force + inertial
        moment = moment + np.cross(center, inertial) + rate
    return force, moment


def _distances_inside(base: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.array([signed_distance_inside(base, place) for place in places])


def _pressure_distances(base: np.ndarray, places: np.ndarray, vertical: np.ndarray) -> np.ndarray:
    """As ``_distances_inside``; minus infinity where no normal force acts."""
    distances = np.full(len(places), -np.inf)
    loaded = vertical > 0
    distances[loaded] = _distances_inside(base, places[loaded])
    return distances
