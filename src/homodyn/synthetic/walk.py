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
from homodyn.synthetic.balance import Wrench, needed_wrench, shared
from homodyn.synthetic.foot import FootPlan, FootShape
from homodyn.synthetic.gait_pose import GaitPose
from homodyn.synthetic.manner import Manner
from homodyn.synthetic.series import PeriodicSeries
from homodyn.synthetic.steps import SIDES, Footsteps

SAMPLES = 256
"""Instants of a stride at which the balance is asked for."""
HARMONICS = 40
ROUNDS = 60
TOLERANCE = 8e-4
"""How far the zero moment point may be off its plan (m); the feet's pressure takes up the rest."""
CROUCH = 0.06
"""The first guess stands this much lower than the legs allow (m), away from straight knees."""
RISE = 0.35
"""Part of the room above that is taken in a round."""
SINK, FRICTION = 0.005, 0.6
"""How deep a foot may go below the ground (m), and the horizontal over the vertical force."""
STRUT = 0.6
"""How much the feet push against each other in double support: one would be towards the centre of
mass."""


@dataclass(frozen=True, eq=False)
class Walk:
    """A steady walk in continuous time; the right foot strikes at time zero."""

    model: Model
    steps: Footsteps
    feet: tuple[FootPlan, ...]
    """Right and left."""
    series: PeriodicSeries
    """Coordinates over time."""
    lean: float
    """What `shared` needs to know (1/m)."""
    rounds: int
    """Rounds of balancing that were needed."""
    off_plan: float
    """Greatest distance of the zero moment point from its plan (m)."""

    def state(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, speeds and accelerations at some instants."""
        return self.series(time), self.series(time, 1), self.series(time, 2)

    def ground(self, time: np.ndarray) -> tuple[Wrench, ...]:
        """What the ground does to the right and to the left foot."""
        total = needed_wrench(self.model, *self.state(time))
        shares = np.stack([self.steps.share(side, time) for side in SIDES])
        points = np.stack([foot.pressure(time) for foot in self.feet])
        return shared(total, shares, points, lean=self.lean)


def plan_walk(
    model: Model, steps: Footsteps, *, manner: Manner | None = None, effort: float = 1.0
) -> Walk:
    """A walk of HeiMan with these footsteps, in balance at every instant."""
    manner = manner or Manner()
    feet = tuple(FootPlan(steps, FootShape.of(model, side), side, manner) for side in SIDES)
    time = np.arange(SAMPLES) * (steps.period / SAMPLES)
    pose = GaitPose(model, steps, feet, manner, effort, time)
    middle = steps.double_support / 2 * steps.period
    amplitude = manner.bounce * (steps.step_length / 0.7) ** 2
    wave = -amplitude * np.cos(4 * np.pi / steps.period * (time - middle))
    pressure = sum(steps.share(foot.side, time)[:, None] * foot.pressure(time) for foot in feet)
    walk = _balanced(pose, np.asarray(pressure)[:, :2], wave, _crouching(pose, pressure, wave))
    _check_feet(walk, time)
    return walk


def _check_feet(walk: Walk, time: np.ndarray) -> None:
    """Refuse a walk that balances but drags its feet through the ground or would slip."""
    q = walk.state(time)[0]
    for foot, wrench in zip(walk.feet, walk.ground(time), strict=True):
        toes = np.asarray(position(walk.model, q, f"Hallux{foot.side}"))[:, 2]
        heel = np.asarray(position(walk.model, q, f"Heel{foot.side}"))[:, 2] - foot.shape.height
        low = min(float(toes.min()), float(heel.min()))
        up = wrench.force[:, 2]
        loaded = up > 1e-3 * np.abs(up).max()
        slip = np.linalg.norm(wrench.force[loaded, :2], axis=1) / up[loaded]
        if low < -SINK or up.min() < 0 or slip.max() > FRICTION:
            raise NoSolution(
                f"a walk at {walk.steps.speed:.2f} m/s with steps of "
                f"{walk.steps.step_length:.2f} m would drag or slip (sole at {1e3 * low:.0f} mm, "
                f"friction {slip.max():.2f}); leave the step length out or ask for one nearer to "
                f"{np.sqrt(0.36 * walk.steps.speed):.2f} m"
            )


def _path(pose: GaitPose, pelvis: np.ndarray) -> PeriodicSeries:
    forwards = np.array([pose.steps.speed, 0.0, 0.0])
    return PeriodicSeries.through(pelvis, pose.steps.period, harmonics=HARMONICS, drift=forwards)


def _crouching(pose: GaitPose, pressure: np.ndarray, wave: np.ndarray) -> np.ndarray:
    """A first path of the pelvis: at even speed over the mean pressure, knees well bent."""
    along = pose.steps.speed * pose.time
    pelvis = np.column_stack(
        [
            along + (pressure[:, 0] - along).mean(),
            np.zeros(len(along)),
            wave + sum(pose.legs["Right"]),
        ]
    )
    # The reach changes less than the height where legs are oblique, so it is asked some times.
    for _ in range(8):
        _, reach = pose.coordinates(_path(pose, pelvis))
        pelvis[:, 2] -= reach + CROUCH
    return pelvis


def _balanced(pose: GaitPose, pressure: np.ndarray, wave: np.ndarray, pelvis: np.ndarray) -> Walk:
    model, steps, time = pose.model, pose.steps, pose.time
    rates = 2 * np.pi / steps.period * np.arange(SAMPLES // 2 + 1)
    gravity = float(-model.gravity[2])
    height = float("nan")
    for rounds in range(1, ROUNDS + 1):
        q, reach = pose.coordinates(_path(pose, pelvis))
        series = PeriodicSeries.through(q, steps.period, harmonics=HARMONICS, drift=pose.drift)
        state = series(time), series(time, 1), series(time, 2)
        total = needed_wrench(model, *state)
        com = np.asarray(center_of_mass(model, state[0]))
        height = com[:, 2].mean() if rounds == 1 else height
        height -= reach if reach > 0 else RISE * reach
        up = height + wave - com[:, 2]
        off = pressure - total.point[:, :2]
        off_plan = float(np.abs(off).max())
        if not off_plan < 10.0:
            break
        if off_plan < TOLERANCE and np.abs(up).max() < 2e-5 and abs(reach) < 1e-4:
            lean = STRUT / float(com[:, 2].mean())
            return Walk(model, steps, pose.feet, series, lean, rounds, off_plan)
        change = np.fft.rfft(off, axis=0) / (1 + com[:, 2].mean() * rates**2 / gravity)[:, None]
        change[HARMONICS + 1 :] = 0
        pelvis = pelvis + np.column_stack([np.fft.irfft(change, SAMPLES, axis=0), up])
    raise NoSolution(
        f"no balanced walk of {model.name!r} at {steps.speed:.2f} m/s with steps of "
        f"{steps.step_length:.2f} m was found; try a speed nearer to 1.2 m/s or shorter steps"
    )
