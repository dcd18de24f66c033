"""Points of a body agree with a slow computation in every model of the catalog."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from homodyn import catalog, dynamics
from homodyn.report.posed_geometry import geometry_at_pose
from homodyn.studio.body_geometry import body_geometry


@pytest.mark.parametrize("entry", [entry.name for entry in catalog.entries()])
def test_all_points_agree_with_a_slow_computation(entry):
    model = catalog.build(entry)
    q = model.random(7, 3)
    poses = body_geometry(model).poses(q)
    for row in range(3):
        slow = geometry_at_pose(model, q[row])
        np.testing.assert_allclose(poses.com[row], slow.com, atol=1e-5)
        np.testing.assert_allclose(poses.joints[row], list(slow.joints.values()), atol=1e-5)
        np.testing.assert_allclose(poses.markers[row], list(slow.markers.values()), atol=1e-5)
        solids = [end for solid in slow.capsules for end in (solid.start, solid.end)]
        np.testing.assert_allclose(poses.caps[row][: len(solids)], solids, atol=1e-5)


def test_a_world_with_y_up_is_rotated_to_z_up():
    turned = replace(catalog.heiman(), gravity=np.array([0.0, -9.81, 0.0]))
    q = turned.random(1)
    x, y, z = dynamics.center_of_mass(turned, q)
    np.testing.assert_allclose(body_geometry(turned).poses(q).com[0], [x, -z, y], atol=1e-5)


def test_caps_close_both_ends_of_capsules():
    geometry = body_geometry(catalog.heiman())
    poses = geometry.poses(catalog.heiman().random(3, 2))
    ends = poses.ends.copy()
    ends[1, 0, 1] = ends[1, 0, 0]
    turned = Rotation.from_quat(replace(poses, ends=ends).cap_rotations(1), scalar_first=True)
    out = turned.apply([0.0, 0.0, 1.0]).reshape(-1, 2, 3)
    np.testing.assert_allclose(out[:, 0], -out[:, 1], atol=1e-6)
    along_parts = ends[1, 1:, 1] - ends[1, 1:, 0]
    assert (np.einsum("ij,ij->i", out[1:, 1], along_parts) > 0).all()
