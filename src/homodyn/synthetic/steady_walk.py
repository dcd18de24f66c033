"""Steady walking of HeiMan in balance: every curve a Fourier series, every force explained.

Feet, trunk and arms are prescribed; the legs follow in closed form. What is left are the three
paths of the pelvis: its height, so that the centre of mass goes up and down by a cosine, and its
forward and sideways paths, so that the zero moment point of the whole multibody is where the feet
can press. At angular frequency ω the zero moment point moves 1 + h ω²/g times as far as a
centre of mass at height h, which gives the correction of every harmonic; repeated with the full
dynamics it converges in about twenty rounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.dynamics import center_of_mass, position
from homodyn.errors import NoSolution
from homodyn.model import Model
from homodyn.synthetic.foot_trajectory import FootShape, FootTrajectory
from homodyn.synthetic.footsteps import SIDES, Footsteps
from homodyn.synthetic.fourier_series import FourierSeries
from homodyn.synthetic.gait_pose import GaitPose
from homodyn.synthetic.gait_style import GaitStyle
from homodyn.synthetic.ground_wrench import GroundWrench, distribute_wrench, required_wrench

SAMPLES_PER_STRIDE = 256
"""Instants of a stride at which the balance is asked for."""
HARMONIC_COUNT = 40
MAX_ITERATIONS = 60
ZMP_TOLERANCE_M = 8e-4
"""How far the zero moment point may be off its plan (m); the feet's pressure takes up the rest."""
INITIAL_CROUCH_M = 0.06
"""The first guess stands this much lower than the legs allow (m), away from straight knees."""
RISE_FRACTION = 0.35
"""Part of the room above that is taken in a round."""
MAX_SOLE_DEPTH_M, MAX_FRICTION = 0.005, 0.6
"""How deep a foot may go below the ground (m), and the horizontal over the vertical force."""
STRUT_GAIN = 0.6
"""How much the feet push against each other in double support: one would be towards the centre of
mass."""


@dataclass(frozen=True, eq=False)
class SteadyWalk:
    """A steady walk in continuous time; the right foot strikes at time zero."""

    model: Model
    steps: Footsteps
    feet: tuple[FootTrajectory, ...]
    """Right and left."""
    series: FourierSeries
    """Coordinates over time."""
    strut_curvature: float
    """What `shared` needs to know (1/m)."""
    iterations: int
    """Rounds of balancing that were needed."""
    zmp_error: float
    """Greatest distance of the zero moment point from its plan (m)."""

    def state(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, speeds and accelerations at some instants."""
        return self.series(time), self.series(time, 1), self.series(time, 2)

    def ground_wrenches(self, time: np.ndarray) -> tuple[GroundWrench, ...]:
        """What the ground does to the right and to the left foot."""
        total = required_wrench(self.model, *self.state(time))
        shares = np.stack([self.steps.share(side, time) for side in SIDES])
        points = np.stack([foot.center_of_pressure(time) for foot in self.feet])
        return distribute_wrench(total, shares, points, strut_curvature=self.strut_curvature)


def plan_walk(
    model: Model, steps: Footsteps, *, style: GaitStyle | None = None, swing_scale: float = 1.0
) -> SteadyWalk:
    """Plan a steady walk of HeiMan on given footsteps that is balanced at every instant.

    Feet, trunk and arms follow prescribed curves. The path of the pelvis is solved so that the zero
    moment point of the full multibody dynamics follows the centre of pressure under the feet.

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
    feet = tuple(FootTrajectory(steps, FootShape.of(model, side), side, style) for side in SIDES)
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
    """Refuse a walk that balances but drags its feet through the ground or would slip."""
    q = walk.state(time)[0]
    for foot, wrench in zip(walk.feet, walk.ground_wrenches(time), strict=True):
        toes = np.asarray(position(walk.model, q, f"Hallux{foot.side}"))[:, 2]
        heel = np.asarray(position(walk.model, q, f"Heel{foot.side}"))[:, 2] - foot.shape.height
        low = min(float(toes.min()), float(heel.min()))
        up = wrench.force[:, 2]
        loaded = up > 1e-3 * np.abs(up).max()
        slip = np.linalg.norm(wrench.force[loaded, :2], axis=1) / up[loaded]
        if low < -MAX_SOLE_DEPTH_M or up.min() < 0 or slip.max() > MAX_FRICTION:
            raise NoSolution(
                f"a walk at {walk.steps.speed:.2f} m/s with steps of "
                f"{walk.steps.step_length:.2f} m would drag or slip (sole at {1e3 * low:.0f} mm, "
                f"friction {slip.max():.2f}); leave the step length out or ask for one nearer to "
                f"{np.sqrt(0.36 * walk.steps.speed):.2f} m"
            )


def _pelvis_series(pose: GaitPose, pelvis: np.ndarray) -> FourierSeries:
    forwards = np.array([pose.steps.speed, 0.0, 0.0])
    return FourierSeries.from_samples(
        pelvis, pose.steps.period, harmonics=HARMONIC_COUNT, drift=forwards
    )


def _initial_pelvis_path(
    pose: GaitPose, center_of_pressure: np.ndarray, wave: np.ndarray
) -> np.ndarray:
    """A first path of the pelvis: at even speed over the mean pressure, knees well bent."""
    along = pose.steps.speed * pose.time
    pelvis = np.column_stack(
        [
            along + (center_of_pressure[:, 0] - along).mean(),
            np.zeros(len(along)),
            wave + sum(pose.legs["Right"]),
        ]
    )
    # The reach changes less than the height where legs are oblique, so it is asked some times.
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
        off = center_of_pressure - total.point[:, :2]
        zmp_error = float(np.abs(off).max())
        if not zmp_error < 10.0:
            break
        if zmp_error < ZMP_TOLERANCE_M and np.abs(up).max() < 2e-5 and abs(reach) < 1e-4:
            strut_curvature = STRUT_GAIN / float(com[:, 2].mean())
            return SteadyWalk(
                model, steps, pose.feet, series, strut_curvature, iterations, zmp_error
            )
        change = np.fft.rfft(off, axis=0) / (1 + com[:, 2].mean() * rates**2 / gravity)[:, None]
        change[HARMONIC_COUNT + 1 :] = 0
        pelvis = pelvis + np.column_stack([np.fft.irfft(change, SAMPLES_PER_STRIDE, axis=0), up])
    raise NoSolution(
        f"no balanced walk of {model.name!r} at {steps.speed:.2f} m/s with steps of "
        f"{steps.step_length:.2f} m was found; try a speed nearer to 1.2 m/s or shorter steps"
    )
