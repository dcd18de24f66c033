"""Robot joints of one leg for given hip and knee angles: loops closed by Newton steps."""

from __future__ import annotations

import numpy as np

from homodyn.codesign.device import Device, DeviceJoint
from homodyn.codesign.leg_poses import LegPoses
from homodyn.dynamics import ConstraintSet
from homodyn.dynamics.constraint_rows import constraint_error, constraint_jacobian
from homodyn.model.side import Side

CLOSURE_TOLERANCE_M = 1e-8
"""Largest distance of the two sides of a closed loop."""
MAX_STEP_RAD = 0.3
"""Largest change of a joint in one iteration."""
MAX_ITERATIONS = 30
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
        count = len(parameters)
        q = np.tile(self.device.model.neutral(), (count, 1))
        start = q[0, self.human]
        for share in np.linspace(0.0, 1.0, STEPS_FROM_UPRIGHT):
            q, _ = self.close(q, start + share * (poses.cycle[0] - start), parameters)
        shape = (count, len(poses.cycle), len(poses.offsets))
        found, closed = np.empty((*shape, q.shape[-1])), np.empty(shape, bool)
        for k, pose in enumerate(poses.cycle):
            for i, offset in enumerate(poses.offsets):
                moved, closed[:, k, i] = self.close(q, pose + offset, parameters)
                found[:, k, i] = moved
                if i == 0:
                    q = moved
        return found, closed

    def close(
        self, q: np.ndarray, leg: np.ndarray, parameters: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Close the loops at one pose of the leg by damped Newton steps.

        Args:
            q: Positions to start from, (designs, nq).
            leg: Hip and knee (rad), (2,).
            parameters: Parameters of the model in their order, (designs, parameters).

        Returns:
            Positions (designs, nq) and whether the loops close (designs,).
        """
        model, columns = self.device.model, self.robot
        q = q.copy()
        q[:, self.human] = leg
        for _ in range(MAX_ITERATIONS):
            error = constraint_error(model, q, self.loops, parameters=parameters)
            if (np.abs(error) <= CLOSURE_TOLERANCE_M).all():
                break
            jacobian = constraint_jacobian(model, q, self.loops, parameters=parameters)
            own = jacobian[..., columns]
            normal = np.swapaxes(own, -1, -2) @ own + CLOSURE_DAMPING_M2 * np.eye(len(columns))
            gradient = np.einsum("...rc,...r->...c", own, error)
            step = -np.linalg.solve(normal, gradient[..., None])[..., 0]
            largest = np.abs(step).max(axis=-1, keepdims=True)
            q[:, columns] += step * np.minimum(1.0, MAX_STEP_RAD / np.maximum(largest, 1e-300))
        error = constraint_error(model, q, self.loops, parameters=parameters)
        return q, (np.abs(error) <= CLOSURE_TOLERANCE_M).all(axis=-1)

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
        jacobian = constraint_jacobian(self.device.model, q, self.loops, parameters=parameters)
        _, _, directions = np.linalg.svd(jacobian[..., columns])
        basis = np.swapaxes(directions[..., -2:, :], -1, -2)
        own = jacobian[..., self.robot]
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
        return np.einsum("c,...cm->...m", weights, motions)
