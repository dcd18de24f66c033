"""Steady balanced walking of HeiMan as Fourier series.

Feet, trunk and arms are prescribed; the legs follow in closed form. The unknowns are the three
coordinates of the pelvis: its height, such that the center of mass follows a cosine, and its
forward and lateral positions, such that the zero moment point of the multibody system follows the
center of pressure under the feet. At the angular frequency ω the zero moment point moves 1 + h ω²/g
times as far as a center of mass at height h, which gives a correction of each harmonic. Iterated
with the full dynamics, it converges in about twenty iterations.
"""

from __future__ import annotations

import numpy as np

from homodyn.dynamics import center_of_mass, position
from homodyn.errors import NoSolution
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.motion import Side
from homodyn.synthetic.foot_trajectory import FootShape, FootTrajectory
from homodyn.synthetic.footsteps import Footsteps
from homodyn.synthetic.fourier_series import FourierSeries
from homodyn.synthetic.gait_pose import GaitPose
from homodyn.synthetic.gait_style import GaitStyle
from homodyn.synthetic.ground_wrench import GroundWrench, distribute_wrench, required_wrench

SAMPLES_PER_STRIDE = 256
"""Times per stride at which balance is computed."""
HARMONIC_COUNT = 40
"""Harmonics of the Fourier series."""
MAX_ITERATIONS = 60
"""Iterations of the balance correction."""
ZMP_TOLERANCE_M = 8e-4
"""Largest deviation of the zero moment point from its plan (m); centers of pressure absorb it."""
INITIAL_CROUCH_M = 0.06
"""Initial lowering of the pelvis from its highest possible position (m): knees are bent."""
RISE_FRACTION = 0.35
"""Fraction of the possible rise of the pelvis that is taken in one iteration."""
MAX_SOLE_DEPTH_M, MAX_FRICTION = 0.005, 0.6
"""Largest depth of a sole below the ground (m), and largest horizontal over vertical force."""
MIN_LOADED_FRACTION = 1e-3
"""Friction is evaluated where the vertical force exceeds this fraction of its peak."""
STRUT_GAIN = 0.6
"""Strength of the opposed horizontal forces of both feet in double support; 1: forces point to the
center of mass."""


@record
class SteadyWalk(Record):
    """A steady walk in continuous time; the right foot strikes at time zero."""

    model: Model
    """The body that walks."""
    steps: Footsteps
    """Step length, width, speed and stance."""
    feet: tuple[FootTrajectory, ...]
    """Right and left."""
    series: FourierSeries
    """Coordinates over time."""
    strut_curvature: float
    """Horizontal force of a foot per distance and vertical force (1/m): see `distribute_wrench`."""
    iterations: int
    """Iterations of the balance correction."""
    zmp_error: float
    """Largest distance of the zero moment point from its plan (m)."""

    def headline(self) -> str:
        """Speed, step length and accuracy, in one line."""
        return (
            f"SteadyWalk of {self.model.name!r}: {self.steps.speed:.3g} m/s, "
            f"steps of {self.steps.step_length:.3g} m, ZMP error {1e3 * self.zmp_error:.2g} mm"
        )

    def state(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, velocities and accelerations.

        Args:
            time: (times,), s.

        Returns:
            (times, nq) and twice (times, nv).
        """
        return self.series(time), self.series(time, 1), self.series(time, 2)

    def ground_wrenches(self, time: np.ndarray) -> tuple[GroundWrench, ...]:
        """Wrenches of the ground on the right and on the left foot.

        Args:
            time: (times,), s.

        Returns:
            One wrench per foot.
        """
        total = required_wrench(self.model, *self.state(time))
        shares = np.stack([self.steps.share(side, time) for side in Side])
        points = np.stack([foot.center_of_pressure(time) for foot in self.feet])
        return distribute_wrench(total, shares, points, strut_curvature=self.strut_curvature)


def plan_walk(
    model: Model, steps: Footsteps, *, style: GaitStyle | None = None, swing_scale: float = 1.0
) -> SteadyWalk:
    """Plan a steady walk of HeiMan on given footsteps that is balanced at all times.

    Feet, trunk and arms follow prescribed curves. The path of the pelvis is solved so that the zero
    moment point of the full multibody dynamics follows the center of pressure under the feet.

    Args:
        model: A HeiMan of the catalog, without open parameters.
        steps: Step length, width, speed, stance and toe-out of the walk.
        style: Foot, knee and trunk curves over a stride; comfortable walking if left out.
        swing_scale: Scale of the arm swing and of the axial rotation of pelvis and trunk; 1
            corresponds to 1.3 m/s.

    Returns:
        The walk in continuous time, periodic over one stride except for its forward motion.

    Raises:
        NoSolution: No balanced walk was found, or its feet would penetrate the ground or slip.
    """
    style = style or GaitStyle()
    feet = tuple(FootTrajectory(steps, FootShape.of(model, side), side, style) for side in Side)
    time = np.arange(SAMPLES_PER_STRIDE) * (steps.period / SAMPLES_PER_STRIDE)
    pose = GaitPose(model, steps, feet, style, swing_scale, time)
    middle = steps.double_support / 2 * steps.period
    amplitude = style.com_amplitude * (steps.step_length / 0.7) ** 2
    wave = -amplitude * np.cos(4 * np.pi / steps.period * (time - middle))
    center_of_pressure = sum(
        steps.share(foot.side, time)[:, None] * foot.center_of_pressure(time) for foot in feet
    )
    walk = _solve_balance(
        pose,
        np.asarray(center_of_pressure)[:, :2],
        wave,
        _initial_pelvis_path(pose, center_of_pressure, wave),
    )
    _check_feet(walk, time)
    return walk


def _check_feet(walk: SteadyWalk, time: np.ndarray) -> None:
    """Refuse a balanced walk whose feet penetrate the ground or would slip."""
    q = walk.state(time)[0]
    for foot, wrench in zip(walk.feet, walk.ground_wrenches(time), strict=True):
        toes = np.asarray(position(walk.model, q, f"Hallux{foot.side.title}"))[:, 2]
        heel = (
            np.asarray(position(walk.model, q, f"Heel{foot.side.title}"))[:, 2] - foot.shape.height
        )
        low = min(float(toes.min()), float(heel.min()))
        up = wrench.force[:, 2]
        loaded = up > MIN_LOADED_FRACTION * np.abs(up).max()
        slip = np.linalg.norm(wrench.force[loaded, :2], axis=1) / up[loaded]
        if low < -MAX_SOLE_DEPTH_M or up.min() < 0 or slip.max() > MAX_FRICTION:
            raise NoSolution(
                f"a walk at {walk.steps.speed:.2f} m/s with steps of "
                f"{walk.steps.step_length:.2f} m would penetrate the ground or slip (sole at "
                f"{1e3 * low:.0f} mm, friction {slip.max():.2f}); leave out the step length, or "
                f"choose one nearer to {np.sqrt(0.36 * walk.steps.speed):.2f} m"
            )


def _pelvis_series(pose: GaitPose, pelvis: np.ndarray) -> FourierSeries:
    velocity = np.array([pose.steps.speed, 0.0, 0.0])
    return FourierSeries.from_samples(
        pelvis, pose.steps.period, harmonics=HARMONIC_COUNT, drift=velocity
    )


def _initial_pelvis_path(
    pose: GaitPose, center_of_pressure: np.ndarray, wave: np.ndarray
) -> np.ndarray:
    """Initial path of the pelvis: constant speed over the mean center of pressure, bent knees."""
    along = pose.steps.speed * pose.time
    pelvis = np.column_stack(
        [
            along + (center_of_pressure[:, 0] - along).mean(),
            np.zeros(len(along)),
            wave + sum(pose.legs[Side.RIGHT]),
        ]
    )
    # Where legs are oblique, the reach changes less than the height: the correction is repeated.
    for _ in range(8):
        _, reach = pose.coordinates(_pelvis_series(pose, pelvis))
        pelvis[:, 2] -= reach + INITIAL_CROUCH_M
    return pelvis


def _solve_balance(
    pose: GaitPose, center_of_pressure: np.ndarray, wave: np.ndarray, pelvis: np.ndarray
) -> SteadyWalk:
    model, steps, time = pose.model, pose.steps, pose.time
    rates = 2 * np.pi / steps.period * np.arange(SAMPLES_PER_STRIDE // 2 + 1)
    gravity = float(-model.gravity[2])
    height = float("nan")
    for iterations in range(1, MAX_ITERATIONS + 1):
        q, reach = pose.coordinates(_pelvis_series(pose, pelvis))
        series = FourierSeries.from_samples(
            q, steps.period, harmonics=HARMONIC_COUNT, drift=pose.drift
        )
        state = series(time), series(time, 1), series(time, 2)
        total = required_wrench(model, *state)
        com = np.asarray(center_of_mass(model, state[0]))
        height = com[:, 2].mean() if iterations == 1 else height
        height -= reach if reach > 0 else RISE_FRACTION * reach
        up = height + wave - com[:, 2]
        error = center_of_pressure - total.point[:, :2]
        zmp_error = float(np.abs(error).max())
        if not zmp_error < 10.0:
            break
        if zmp_error < ZMP_TOLERANCE_M and np.abs(up).max() < 2e-5 and abs(reach) < 1e-4:
            strut_curvature = STRUT_GAIN / float(com[:, 2].mean())
            return SteadyWalk(
                model, steps, pose.feet, series, strut_curvature, iterations, zmp_error
            )
        change = np.fft.rfft(error, axis=0) / (1 + com[:, 2].mean() * rates**2 / gravity)[:, None]
        change[HARMONIC_COUNT + 1 :] = 0
        pelvis = pelvis + np.column_stack([np.fft.irfft(change, SAMPLES_PER_STRIDE, axis=0), up])
    raise NoSolution(
        f"no balanced walk of {model.name!r} at {steps.speed:.2f} m/s with steps of "
        f"{steps.step_length:.2f} m was found; try a speed nearer to 1.2 m/s or shorter steps"
    )
