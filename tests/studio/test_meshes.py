"""Meshes face outwards, and rotations align them with vectors."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from homodyn.studio.meshes import axial_rotation, ball, bead, cylinder, directed_rotation, dome


def test_rotations_align_z_with_vectors():
    rng = np.random.default_rng(0)
    vectors = np.vstack([rng.standard_normal((50, 3)), [[0, 0, -1.0], [0, 0, 2.0], [0, 0, 0]]])
    axes = Rotation.from_quat(axial_rotation(vectors), scalar_first=True).apply([0.0, 0.0, 1.0])
    np.testing.assert_allclose(np.cross(axes, vectors), 0.0, atol=1e-9)
    ways = Rotation.from_quat(directed_rotation(vectors), scalar_first=True).apply([0.0, 0.0, 1.0])
    np.testing.assert_allclose(
        ways[:-1], vectors[:-1] / np.linalg.norm(vectors[:-1], axis=1)[:, None]
    )


@pytest.mark.parametrize("mesh", [ball(), cylinder(), dome(), bead()])
def test_meshes_face_outwards(mesh):
    corners, faces = mesh
    a, b, c = (corners[faces[:, k]].astype(float) for k in range(3))
    normals = np.cross(b - a, c - a)
    middle = (a + b + c) / 3
    if np.ptp(corners[:, 2]) == 1.0:
        middle = middle * [1.0, 1.0, 0.0]
    assert (np.einsum("ij,ij->i", normals, middle) > 0).all()
