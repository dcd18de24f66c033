"""Pose and velocity of a body from an accelerometer, a gyroscope and supports at rest.

An extended Kalman filter on the error of position, velocity, orientation, both biases of the sensor
and the places of all support points. Loaded supports do not move: joint angles give the vector from
the sensor to their points, which is the measurement. Method: Bloesch et al. 2012, Robotics:
Science and Systems VIII; any model, supports and sensor frame here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from homodyn.dynamics import (
    angular_jacobian,
    jacobian,
    orientation,
    position,
    velocity,
)
from homodyn.errors import ModelError, NoSolution
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model

POSITION, VELOCITY, ATTITUDE = slice(0, 3), slice(3, 6), slice(6, 9)
FORCE_BIAS, RATE_BIAS = slice(9, 12), slice(12, 15)
BASE_STATES = 15
UNLOADED_VARIANCE_M2 = 1e2
"""Variance of the place of a point that may be anywhere."""
MAX_NEWTON_STEPS = 30
STEP_TOLERANCE = 1e-10


@record(eq=True)
class InertialNoise(Record):
    """Noises that the estimator reckons with; standard deviations."""

    accelerometer: float = 0.05
    """m/s2, of a reading."""
    gyroscope: float = 0.005
    """rad/s, of a reading."""
    accelerometer_bias: float = 0.1
    """m/s2, at the start."""
    gyroscope_bias: float = 0.02
    """rad/s, at the start."""
    accelerometer_walk: float = 1e-3
    """m/s2/sqrt(s): change of the bias."""
    gyroscope_walk: float = 1e-4
    """rad/s/sqrt(s)."""
    kinematics: float = 1e-3
    """m: place of a support point by joint angles."""
    slip: float = 1e-3
    """m/sqrt(s): motion of a loaded support."""
    start_position: float = 1e-3
    """m."""
    start_velocity: float = 1e-2
    """m/s."""
    start_attitude: float = 1e-2
    """rad."""


@record
class InertialEstimate(Record):
    """Pose and velocities with the errors that the estimator expects."""

    q: np.ndarray
    """(nq,): measured joints, estimated root."""
    position: np.ndarray
    """(3,), m: the sensor frame in the world."""
    velocity: np.ndarray
    """(3,), m/s."""
    orientation: np.ndarray
    """(3, 3): axes of the sensor frame in the world as columns."""
    accelerometer_bias: np.ndarray
    """(3,), m/s2."""
    gyroscope_bias: np.ndarray
    """(3,), rad/s."""
    position_error: np.ndarray
    """(3,), m: standard deviations along the world axes."""
    velocity_error: np.ndarray
    """(3,), m/s."""
    attitude_error: np.ndarray
    """(3,), rad: standard deviations about the world axes; the last is the heading."""
    loaded: tuple[str, ...]
    """Supports that served as references."""

    def headline(self) -> str:
        """Supports and expected errors."""
        place = 1000 * float(np.linalg.norm(self.position_error))
        tilt = float(np.degrees(np.linalg.norm(self.attitude_error[:2])))
        supports = ", ".join(self.loaded) or "no support"
        return f"InertialEstimate on {supports}: error {place:.2g} mm, tilt {tilt:.2g} deg (1 sd)"


class InertialEstimator:
    """Fuses an inertial sensor with supports at rest, reading by reading.

    Args:
        model: A model with a floating root.
        frame: Body, frame or marker that carries the sensor.
        supports: Points (markers, contacts, frames) by support.
        start: Pose at the start, (nq,).
        start_velocity: Velocities at the start, (nv,); None: rest.
        noise: What the estimator reckons with.

    Raises:
        ModelError: The model has no floating root, or a name is unknown.
    """

    def __init__(
        self,
        model: Model,
        frame: str,
        supports: Mapping[str, Sequence[str]],
        start: ArrayLike,
        *,
        start_velocity: ArrayLike | None = None,
        noise: InertialNoise | None = None,
    ) -> None:
        self.model = model.at(model.parameter_values) if model.parameters else model
        if not self.model.root:
            raise ModelError(f"model {model.name!r} has no floating root to estimate")
        self.frame, self.noise = frame, noise or InertialNoise()
        self.supports = {name: tuple(points) for name, points in supports.items()}
        q = np.array(start, dtype=float)
        if q.shape != (self.model.nq,) or not np.isfinite(q).all():
            raise ModelError(f"start is {self.model.nq} finite numbers, got shape {q.shape}")
        v = np.zeros(self.model.nv) if start_velocity is None else np.array(start_velocity, float)
        self._q = q
        self._r = position(self.model, q, frame)
        self._v = velocity(self.model, q, v, frame)
        self._R = orientation(self.model, q, frame)
        self._bias_f, self._bias_w = np.zeros(3), np.zeros(3)
        count = sum(len(points) for points in self.supports.values())
        self._points = np.zeros((count, 3))
        own = self.noise
        start_sd = np.repeat(
            [
                own.start_position,
                own.start_velocity,
                own.start_attitude,
                own.accelerometer_bias,
                own.gyroscope_bias,
            ],
            3,
        )
        variances = np.r_[start_sd**2, np.full(3 * count, UNLOADED_VARIANCE_M2)]
        self._P = np.diag(variances)
        self._before: frozenset[str] = frozenset()
        for points in self.supports.values():
            for point in points:
                position(self.model, q, point)

    def update(
        self,
        specific_force: ArrayLike,
        angular_rate: ArrayLike,
        joints: ArrayLike,
        loaded: Sequence[str],
        dt: float,
    ) -> InertialEstimate:
        """The estimate after a new reading.

        Args:
            specific_force: (3,), m/s2: of the accelerometer over the last ``dt``.
            angular_rate: (3,), rad/s: of the gyroscope.
            joints: Measured positions of all coordinates, (nq,); entries of the root are ignored.
            loaded: Names of the supports that are loaded.
            dt: Time since the previous reading, s.

        Returns:
            Pose, velocity, biases and their expected errors.

        Raises:
            ModelError: A support is unknown, or a number is not finite.
            NoSolution: No root has the estimated pose.
        """
        measured = np.array(joints, dtype=float)
        others = [k for k in range(self.model.nq) if k not in self.model.root.q]
        if measured.shape != (self.model.nq,) or not np.isfinite(measured[others]).all():
            raise ModelError(f"joints are {self.model.nq} numbers, finite besides the root")
        readings = np.r_[np.asarray(specific_force, float), np.asarray(angular_rate, float)]
        if readings.shape != (6,) or not np.isfinite(readings).all():
            raise ModelError("readings of an inertial sensor are two times three finite numbers")
        if not dt > 0:
            raise ModelError(f"dt is a time above 0 s, got {dt!r}")
        for name in loaded:
            if name not in self.supports:
                raise ModelError(unknown_name("support", name, self.supports))
        now = frozenset(loaded)
        self._predict(readings[:3], readings[3:], now, dt)
        self._q[others] = measured[others]
        vectors = self._sensor_vectors()
        for name in self.supports:
            if name in now and name not in self._before:
                self._place_points(name, vectors)
        used = [k for name in self.supports if name in now for k in self._indices(name)]
        if used:
            self._correct(used, vectors)
        self._before = now
        self._q = self._fit_root(self._q)
        return self._estimate(tuple(name for name in self.supports if name in now))

    def _indices(self, name: str) -> range:
        start = 0
        for other, points in self.supports.items():
            if other == name:
                return range(start, start + len(points))
            start += len(points)
        raise ModelError(unknown_name("support", name, self.supports))

    def _sensor_vectors(self) -> np.ndarray:
        """(points, 3), m: from the sensor to all support points, in the axes of the sensor."""
        R, r = (
            orientation(self.model, self._q, self.frame),
            position(self.model, self._q, self.frame),
        )
        places = [
            position(self.model, self._q, point)
            for points in self.supports.values()
            for point in points
        ]
        return np.asarray((np.array(places) - r) @ R)

    def _predict(
        self, force: np.ndarray, rate: np.ndarray, loaded: frozenset[str], dt: float
    ) -> None:
        f, w = force - self._bias_f, rate - self._bias_w
        a = self._R @ f + np.asarray(self.model.gravity, dtype=float)
        size = len(self._P)
        F = np.eye(size)
        F[POSITION, VELOCITY] = dt * np.eye(3)
        F[POSITION, ATTITUDE] = -0.5 * dt**2 * self._R @ _cross(f)
        F[VELOCITY, ATTITUDE] = -dt * self._R @ _cross(f)
        F[VELOCITY, FORCE_BIAS] = -dt * self._R
        F[ATTITUDE, ATTITUDE] = Rotation.from_rotvec(-w * dt).as_matrix()
        F[ATTITUDE, RATE_BIAS] = -dt * np.eye(3)
        own = self.noise
        Q = np.zeros(size)
        Q[POSITION] = (0.5 * own.accelerometer * dt**2) ** 2
        Q[VELOCITY] = (own.accelerometer * dt) ** 2
        Q[ATTITUDE] = (own.gyroscope * dt) ** 2
        Q[FORCE_BIAS] = own.accelerometer_walk**2 * dt
        Q[RATE_BIAS] = own.gyroscope_walk**2 * dt
        Q[BASE_STATES:] = own.slip**2 * dt
        self._P = F @ self._P @ F.T + np.diag(Q)
        self._r = self._r + dt * self._v + 0.5 * dt**2 * a
        self._v = self._v + dt * a
        self._R = self._R @ Rotation.from_rotvec(w * dt).as_matrix()

    def _place_points(self, name: str, vectors: np.ndarray) -> None:
        """Points of a support that lands are where the estimate has them, with its uncertainty."""
        for k in self._indices(name):
            rows = slice(BASE_STATES + 3 * k, BASE_STATES + 3 * k + 3)
            self._points[k] = self._r + self._R @ vectors[k]
            G = np.zeros((3, len(self._P)))
            G[:, POSITION] = np.eye(3)
            G[:, ATTITUDE] = -self._R @ _cross(vectors[k])
            G[:, rows] = 0.0
            cross = G @ self._P
            own = cross @ G.T + self.noise.kinematics**2 * np.eye(3)
            self._P[rows, :] = cross
            self._P[:, rows] = cross.T
            self._P[rows, rows] = own

    def _correct(self, used: Sequence[int], vectors: np.ndarray) -> None:
        size = len(self._P)
        H, gap = np.zeros((3 * len(used), size)), np.zeros(3 * len(used))
        for place, k in enumerate(used):
            rows = slice(3 * place, 3 * place + 3)
            own = slice(BASE_STATES + 3 * k, BASE_STATES + 3 * k + 3)
            # Measured: the vector to the point, in the axes of the sensor.
            expected = self._R.T @ (self._points[k] - self._r)
            gap[rows] = vectors[k] - expected
            H[rows, POSITION] = -self._R.T
            H[rows, own] = self._R.T
            H[rows, ATTITUDE] = _cross(expected)
        S = H @ self._P @ H.T + self.noise.kinematics**2 * np.eye(len(H))
        K = np.linalg.solve(S, H @ self._P).T
        step = K @ gap
        keep = np.eye(size) - K @ H
        self._P = keep @ self._P @ keep.T + self.noise.kinematics**2 * K @ K.T
        self._r, self._v = self._r + step[POSITION], self._v + step[VELOCITY]
        self._R = self._R @ Rotation.from_rotvec(step[ATTITUDE]).as_matrix()
        self._bias_f = self._bias_f + step[FORCE_BIAS]
        self._bias_w = self._bias_w + step[RATE_BIAS]
        self._points = self._points + step[BASE_STATES:].reshape(-1, 3)

    def _fit_root(self, q: np.ndarray) -> np.ndarray:
        """The pose whose sensor frame is where the estimate has it, by Newton steps of the root."""
        root = list(self.model.root.v)
        for _ in range(MAX_NEWTON_STEPS):
            R = orientation(self.model, q, self.frame)
            turn = Rotation.from_matrix(self._R @ R.T).as_rotvec()
            gap = np.r_[turn, self._r - position(self.model, q, self.frame)]
            rows = np.vstack(
                [angular_jacobian(self.model, q, self.frame), jacobian(self.model, q, self.frame)]
            )[:, root]
            found = np.linalg.lstsq(rows, gap, rcond=None)[0]
            step = np.zeros(self.model.nv)
            step[root] = found
            q = np.asarray(self.model.integrate(q, step))
            if np.abs(found).max() < STEP_TOLERANCE:
                return q
        raise NoSolution("the root does not converge: its coordinates are near a singularity")

    def _estimate(self, loaded: tuple[str, ...]) -> InertialEstimate:
        deviation = np.sqrt(np.diag(self._P))
        world = self._R @ self._P[ATTITUDE, ATTITUDE] @ self._R.T
        return InertialEstimate(
            self._q.copy(),
            self._r.copy(),
            self._v.copy(),
            self._R.copy(),
            self._bias_f.copy(),
            self._bias_w.copy(),
            deviation[POSITION],
            deviation[VELOCITY],
            np.sqrt(np.diag(world)),
            loaded,
        )


def _cross(a: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
