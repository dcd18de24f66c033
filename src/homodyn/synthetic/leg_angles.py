"""Joint angles of a leg from the positions of hip and ankle, in closed form."""

from __future__ import annotations

import numpy as np


def rotation_about(axis: str, angle: np.ndarray) -> np.ndarray:
    """Rotation matrices about one axis, (..., 3, 3), from body into parent axes."""
    angle = np.asarray(angle, float)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    matrix = np.zeros((*angle.shape, 3, 3))
    matrix[..., 3 - i - j, 3 - i - j] = 1.0
    matrix[..., i, i] = matrix[..., j, j] = np.cos(angle)
    matrix[..., j, i] = np.sin(angle)
    matrix[..., i, j] = -matrix[..., j, i]
    return matrix


def euler_yxz(matrix: np.ndarray) -> np.ndarray:
    """The angles (RY, RX, RZ) of R = Ry Rx Rz, (..., 3)."""
    return np.stack(
        [
            np.arctan2(matrix[..., 0, 2], matrix[..., 2, 2]),
            np.arcsin(-matrix[..., 1, 2]),
            np.arctan2(matrix[..., 1, 0], matrix[..., 1, 1]),
        ],
        -1,
    )


def knee_flexion(distance: np.ndarray, thigh: float, shank: float) -> np.ndarray:
    """Knee flexion (rad) for a distance of hip and ankle; 0 where it exceeds the leg length."""
    cosine = (distance**2 - thigh**2 - shank**2) / (2.0 * thigh * shank)
    return np.arccos(np.clip(cosine, -1.0, 1.0))


def leg_angles(
    hip: np.ndarray,
    pelvis: np.ndarray,
    ankle: np.ndarray,
    foot: np.ndarray,
    *,
    thigh: float,
    shank: float,
    hip_rotation: np.ndarray,
) -> np.ndarray:
    """Hip RY RX RZ, knee RY, ankle RY RX RZ (rad), (times, 7).

    ``hip`` and ``ankle`` are positions (m), ``pelvis`` and ``foot`` rotations from body to world.
    The remaining degree of freedom is the rotation about the line from hip to ankle:
    ``hip_rotation`` is the angle RZ of the hip.
    """
    line = np.einsum("...ji,...j->...i", pelvis, ankle - hip)
    knee = knee_flexion(np.linalg.norm(line, axis=-1), thigh, shank)
    back, down = -shank * np.sin(knee), -thigh - shank * np.cos(knee)
    x, y = np.cos(hip_rotation) * back, np.sin(hip_rotation) * back
    # Rx rotates (y, down) to the lateral component of the line, Ry then rotates the rest.
    reach = np.hypot(y, down)
    sideways = np.arcsin(np.clip(line[..., 1] / reach, -1.0, 1.0))
    hip_rx = sideways - np.arctan2(y, -down)
    low = -np.sqrt(reach**2 - np.minimum(line[..., 1] ** 2, reach**2))
    hip_ry = np.arctan2(line[..., 0], line[..., 2]) - np.arctan2(x, low)
    hip_ry = np.mod(hip_ry + np.pi, 2 * np.pi) - np.pi
    shank_rotation = (
        pelvis
        @ rotation_about("y", hip_ry)
        @ rotation_about("x", hip_rx)
        @ rotation_about("z", hip_rotation)
        @ rotation_about("y", knee)
    )
    ankles = euler_yxz(np.swapaxes(shank_rotation, -1, -2) @ foot)
    return np.concatenate([np.stack([hip_ry, hip_rx, hip_rotation, knee], -1), ankles], -1)
