"""Forward dynamics with the torques of tracking: rewound at every step, or from the start on."""

from __future__ import annotations

import numpy as np

from homodyn.foundation import Record, record
from homodyn.model import Model
from homodyn.motion import Motion
from homodyn.simulate import Simulation
from homodyn.track.result import TrackingResult
from homodyn.track.worlds import motor_world, torque_world

REPLAY_TOLERANCE = 1e-12
"""Residual of a step, relative to its largest impulse: that of rounding, so that a rewound step is
the same to about 1e-10 rad or m."""
SHARED_STATES = ("q", "v", "z")
"""Arrays of a simulation that are its state: positions, velocities and memory of the contacts."""


@record
class Replay(Record):
    """The driven body of a tracked trial, and bodies that its torques alone move."""

    model: Model
    time: np.ndarray
    """(frames,), s."""
    reference_q: np.ndarray
    """(frames, nq): the tracked movement."""
    driven_q: np.ndarray
    """(frames, nq): the body that motors drive."""
    rewound_q: np.ndarray
    """(frames, nq): after one step from the state of the driven body by its torques."""
    open_q: np.ndarray
    """(frames, nq): after all steps from the first state by the torques, without a correction."""
    torques: np.ndarray
    """(frames, nv), N m or N: those of the step that ends at the frame."""
    solved: np.ndarray
    """(frames,): whether the steps of the driven and the rewound body were solved."""

    def headline(self) -> str:
        """Model and largest difference after a rewind."""
        return f"Replay of {self.model.name!r}: {len(self.time)} frames"

    @property
    def rewind_difference(self) -> np.ndarray:
        """(frames,): largest difference of rewound and driven body, rad or m."""
        difference = self.model.difference(self.driven_q, self.rewound_q)
        return np.asarray(np.abs(difference).max(axis=1))

    def joint_error(self, q: np.ndarray) -> np.ndarray:
        """Mean difference of the joint angles from the tracked movement.

        Args:
            q: (frames, nq).

        Returns:
            (frames,), rad or m.
        """
        root = set(self.model.root.v)
        joints = [k for k in range(self.model.nv) if k not in root]
        difference = self.model.difference(self.reference_q, q)[:, joints]
        return np.asarray(np.abs(difference).mean(axis=1))


def replay(result: TrackingResult, motion: Motion | None = None) -> Replay:
    """Drive a body along a tracked movement, and replay its torques by forward dynamics.

    In each step, motors drive the body; the torques of that step are applied to a second body that
    starts the step in the same state (the rewind of HDM), and to a third one that started with the
    first frame.

    Args:
        result: A tracked trial.
        motion: The movement to follow; None: that of the trial.

    Returns:
        The three movements.
    """
    motion = result.motion if motion is None else motion
    model, options = motion.model, result.options
    dt = 1.0 / motion.rate
    driven = motor_world(model, motion.q[0], dt, options, REPLAY_TOLERANCE)
    columns = [model.coordinate_index(name) for name in driven.row_names]
    rewound = torque_world(model, motion.q[0], dt, options, REPLAY_TOLERANCE)
    opened = torque_world(model, motion.q[0], dt, options, REPLAY_TOLERANCE)
    for body in (driven, rewound, opened):
        body.reset(motion.q[0], motion.v[0])
    kept: list[tuple[np.ndarray, ...]] = []
    start = (motion.q[0].copy(),) * 3
    kept.append((*start, np.zeros(model.nv), np.array(True)))
    for before, after in zip(motion.q[:-1], motion.q[1:], strict=True):
        _copy_state(driven, rewound)
        rate = model.difference(before, after) * motion.rate
        driven.step(targets=np.concatenate([before, rate]))
        tau = np.zeros(model.nv)
        tau[columns] = driven.quantities["constraint_forces"]
        rewound.step(tau)
        opened.step(tau)
        solved = np.array(driven.statuses[0] == 0 and rewound.statuses[0] == 0)
        poses = (driven.q.copy(), rewound.q.copy(), opened.q.copy())
        kept.append((*poses, tau, solved))
        if driven.statuses[0] != 0:
            driven.reset(after, rate)
    columns_of = [np.array(values) for values in zip(*kept, strict=True)]
    return Replay(model, motion.time, motion.q, *columns_of)


def _copy_state(source: Simulation, target: Simulation) -> None:
    """Put a simulation into the state of another one of the same model and contact law."""
    given, state = source.save(), target.save()
    for name in SHARED_STATES:
        state[name][...] = given[name]
    state["status"][...] = 0.0
    target.restore(state)
