"""Robot joints of one leg for given hip and knee angles: loops closed by Newton steps."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.codesign.device import Device, DeviceJoint
from homodyn.codesign.leg_poses import LegPoses
from homodyn.dynamics import ConstraintSet
from homodyn.dynamics.constraint_rows import constraint_error, constraint_jacobian
from homodyn.model.side import Side
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

CLOSURE_TOLERANCE_M = 1e-8
"""Largest distance of the two sides of a closed loop."""
MAX_STEP_RAD = 0.3
"""Largest change of a joint in one iteration."""
STEPS_PER_CALL = 5
"""Newton steps in one call of the kernel."""
MAX_CALLS = 6
CLOSURE_DAMPING_M2 = 1e-8
"""Damping (m2) of least squares, which keeps steps finite near singular poses."""
STEPS_FROM_UPRIGHT = 8
"""Poses between upright and the first pose of a cycle."""


class LegLoops:
    """Loops of one leg of a device, for batches of designs.

    Args:
        device: The device.
        side: The leg; the other one is equal.
    """

    def __init__(self, device: Device, side: Side = Side.LEFT) -> None:
        self.device, self.side = device, side
        prefix = f"{side.value}_robot_"
        own = tuple(pin for pin in device.pins if pin.frame.startswith(prefix))
        self.loops = ConstraintSet(own)
        self.joints = tuple(joint for joint in device.joints if joint.side is side)
        model = device.model
        frame = next(one for one in device.frames if one.side is side)
        self.human = [model.coordinate_index(name) for name in frame.coordinates]
        """Indices of hip and knee in v."""
        self.robot = [
            model.coordinate_index(joint.coordinate)
            for joint in self.joints
            if joint.coordinate is not None
        ]
        """Indices of the robot joints of the tree in v."""

    def follow(self, poses: LegPoses, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Close the loops along a cycle, each pose from the one before.

        Args:
            poses: Hip and knee angles.
            parameters: Parameters of the model in their order, (designs, parameters).

        Returns:
            Positions (designs, poses, offsets, nq), and whether the loops close, (designs, poses,
            offsets).
        """
        angles = np.tile(self._neutral[[*self.human, *self.robot]], (len(parameters), 1))
        start = angles[0, :2].copy()
        for share in np.linspace(0.0, 1.0, STEPS_FROM_UPRIGHT):
            leg = start + share * (poses.cycle[0] - start)
            angles, _ = self._close(angles, leg, parameters)
        shape = (len(parameters), len(poses.cycle), len(poses.offsets))
        found = np.empty((*shape, angles.shape[-1]))
        closed = np.empty(shape, bool)
        for k, pose in enumerate(poses.cycle):
            angles, closed[:, k, 0] = self._close(angles, pose, parameters)
            found[:, k, 0] = angles
        # Offsets start from their pose in the cycle, all at once.
        count = len(poses.offsets) - 1
        beside = np.repeat(found[:, :, :1], count, axis=2).reshape(-1, found.shape[-1])
        leg = np.tile(
            (poses.cycle[:, None] + poses.offsets[None, 1:]).reshape(-1, 2), (len(parameters), 1)
        )
        moved, reached = self._close(
            beside, leg, np.repeat(parameters, count * len(poses.cycle), axis=0)
        )
        found[:, :, 1:] = moved.reshape(*shape[:2], count, -1)
        closed[:, :, 1:] = reached.reshape(*shape[:2], count)
        q = np.tile(self._neutral, (*shape, 1))
        q[..., [*self.human, *self.robot]] = found
        return q, closed

    def close(
        self, q: np.ndarray, leg: np.ndarray, parameters: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Close the loops at one pose of the leg by damped Newton steps.

        Args:
            q: Positions to start from, (designs, nq).
            leg: Hip and knee (rad), (2,) or (designs, 2).
            parameters: Parameters of the model in their order, (designs, parameters).

        Returns:
            Positions (designs, nq) and whether the loops close (designs,).
        """
        columns = [*self.human, *self.robot]
        angles, closed = self._close(q[:, columns], leg, parameters)
        q = q.copy()
        q[:, columns] = angles
        return q, closed

    def _close(
        self, angles: np.ndarray, leg: np.ndarray, parameters: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """As `close`, for the angles of hip, knee and robot joints, (designs, 2 + robot)."""
        angles = angles.copy()
        angles[:, :2] = leg
        closed = np.zeros(len(angles), bool)
        for _ in range(MAX_CALLS):
            rows = np.flatnonzero(~closed)
            found = self._newton(angles=angles[rows], parameters=parameters[rows])
            angles[rows], closed[rows] = found["angles"], found["error"] <= CLOSURE_TOLERANCE_M
            if closed.all():
                break
        return angles, closed

    @cached_property
    def _neutral(self) -> np.ndarray:
        return np.asarray(self.device.model.neutral(), dtype=float)

    def _kernel(self, body: Any, name: str) -> Kernel:
        """A kernel of the angles of hip, knee and robot joints, and the parameters."""
        model = self.device.model
        shapes = {"angles": 2 + len(self.robot), "parameters": len(model.parameters)}
        known = {"parameters": model.parameter_symbols}
        return Kernel(trace(body, shapes, None, name, given=known), mapping=True)

    def _positions(self, angles: ca.SX) -> ca.SX:
        q = ca.SX(self._neutral)
        for k, place in enumerate([*self.human, *self.robot]):
            q[place] = angles[k]
        return q

    @cached_property
    def _newton(self) -> Kernel:
        """Some damped Newton steps, and the largest distance (m) of the sides of a loop."""
        model = self.device.model

        def steps(angles: ca.SX, parameters: ca.SX) -> dict[str, ca.SX]:
            for _ in range(STEPS_PER_CALL):
                q = self._positions(angles)
                error = constraint_error(model, q, self.loops)
                own = constraint_jacobian(model, q, self.loops)[:, self.robot]
                normal = own.T @ own + CLOSURE_DAMPING_M2 * ca.SX.eye(len(self.robot))
                step = -ca.solve(normal, own.T @ error)
                largest = ca.mmax(ca.fabs(step))
                scale = ca.fmin(1.0, MAX_STEP_RAD / ca.fmax(largest, 1e-300))
                angles = ca.vertcat(angles[:2], angles[2:] + scale * step)
            error = constraint_error(model, self._positions(angles), self.loops)
            return {"angles": angles, "error": ca.mmax(ca.fabs(error))}

        return self._kernel(steps, f"loops of {model.name}")

    @cached_property
    def _jacobian(self) -> Kernel:
        """Jacobian of the loops in hip, knee and robot joints, (rows, 2 + robot)."""
        model, columns = self.device.model, [*self.human, *self.robot]

        def jacobian(angles: ca.SX, parameters: ca.SX) -> dict[str, ca.SX]:
            q = self._positions(angles)
            return {"jacobian": constraint_jacobian(model, q, self.loops)[:, columns]}

        return self._kernel(jacobian, f"loop jacobian of {model.name}")

    def motions(self, q: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocities that the loops allow with the trunk at rest, and the condition of the loops.

        Args:
            q: Positions, (designs, nq).
            parameters: Parameters of the model in their order, (designs, parameters).

        Returns:
            An orthonormal basis (designs, 2 + robot joints of the tree, 2): rates of hip, knee and
            robot coordinates; and (designs,): the reciprocal condition number of the loops with
            respect to the robot joints, with the sign of the determinant. It passes zero where the
            leg does not determine the robot, as where two bars of a four-bar linkage are in line.
        """
        columns = [*self.human, *self.robot]
        jacobian = self._jacobian(
            angles=np.ascontiguousarray(q[..., columns]), parameters=parameters
        )["jacobian"]
        # The last rows of a complete Q are the null space, as for a complete SVD.
        basis = np.linalg.qr(np.swapaxes(jacobian, -1, -2), mode="complete")[0][..., -2:]
        own = jacobian[..., 2:]
        sizes = np.linalg.svd(own, compute_uv=False)
        return basis, np.sign(np.linalg.det(own)) * sizes[..., -1] / sizes[..., 0]

    def joint_rates(self, motions: np.ndarray, joint: DeviceJoint) -> np.ndarray:
        """Rate of a robot joint for each motion.

        Args:
            motions: What `motions` returned, (designs, coordinates, 2).
            joint: A joint of this leg.

        Returns:
            (designs, 2), rad per unit of motion.
        """
        model = self.device.model
        columns = [*self.human, *self.robot]
        weights = np.array(
            [joint.coefficients.get(model.coordinate_names[k], 0.0) for k in columns]
        )
        return np.asarray(weights @ motions)
