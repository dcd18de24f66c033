"""An arm with markers that swings in a known way, as a stream of markers."""

from __future__ import annotations

import threading

import numpy as np

from homodyn import dynamics
from homodyn.model import Assembly, Model, box, joints
from homodyn.track.streams import MarkerFrame, MarkerSource, StreamEnd, StreamError

RATE = 100.0
LABELS = ("SHO", "UPA", "ELB", "UPB", "FRM", "WRA", "WRB", "FIN")
PLACES = (
    (0.05, 0.0, -0.02),
    (0.0, 0.06, -0.15),
    (0.0, 0.05, -0.3),
    (-0.06, 0.0, -0.2),
    (0.05, 0.0, -0.1),
    (0.0, 0.04, -0.25),
    (0.0, -0.04, -0.25),
    (0.03, 0.0, -0.32),
)


def arm() -> Model:
    """Upper arm and forearm, fixed to the world at the shoulder, with four markers each."""
    assembly = (
        Assembly("arm")
        .add(
            box("upper", 2.0, (0.08, 0.08, 0.3), com=(0, 0, -0.15)),
            joints.revolute("y"),
            at=(0, 0, 1.4),
            joint_name="shoulder",
        )
        .add(
            box("forearm", 1.2, (0.06, 0.06, 0.3), com=(0, 0, -0.15)),
            joints.revolute("y"),
            "upper",
            at=(0, 0, -0.3),
            joint_name="elbow",
        )
    )
    for k, (label, place) in enumerate(zip(LABELS, PLACES, strict=True)):
        assembly = assembly.marker(label, "upper" if k < 4 else "forearm", place)
    return assembly.model()


def true_state(time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles (rad), velocities and accelerations of both joints."""
    amplitude, rate = np.array([0.5, 0.4]), np.array([3.0, 4.0])
    q = amplitude * np.sin(rate * time) + [0.0, -0.6]
    return q, amplitude * rate * np.cos(rate * time), -amplitude * rate**2 * np.sin(rate * time)


def true_torques(model: Model, time: float) -> np.ndarray:
    """Torques (N m) of both joints."""
    return np.asarray(dynamics.inverse_dynamics(model, *true_state(time)))


def true_markers(model: Model, time: float) -> np.ndarray:
    """Positions (markers, 3), m."""
    return np.asarray(dynamics.marker_positions(model, true_state(time)[0])).reshape(-1, 3)


def arm_frame(model: Model, number: int, labels: tuple[str, ...] = LABELS) -> MarkerFrame:
    """The frame of a number, at its time."""
    time = 5.0 + number / RATE
    columns = [LABELS.index(label) for label in labels]
    return MarkerFrame(time, labels, true_markers(model, time)[columns], 0.0, number)


class ListSource(MarkerSource):
    """Frames and errors of a list, as fast as they are read; then the end.

    A frame is given when the one before was computed, so that no frame is skipped.
    """

    address = "list"

    def __init__(self, steps: list[MarkerFrame | StreamError]) -> None:
        super().__init__()
        self.steps = list(steps)
        self.ready = threading.Semaphore(1)

    def open(self) -> None:
        """Nothing to open."""

    def read(self, timeout_s: float) -> list[MarkerFrame]:
        """The next step."""
        from time import perf_counter

        if not self.ready.acquire(timeout=timeout_s):
            return []
        if not self.steps:
            raise StreamEnd("the list is at its end")
        step = self.steps.pop(0)
        if isinstance(step, StreamError):
            self.ready.release()
            raise step
        frame = MarkerFrame(step.time, step.labels, step.positions, perf_counter(), step.number)
        return [frame]

    def close(self) -> None:
        """Nothing to close."""
