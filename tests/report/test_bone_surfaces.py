"""Surfaces of bodies in drawings and pages."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import position
from homodyn.model.shapes import Mesh
from homodyn.report.bone_surfaces import BoneSurface, bone_surfaces, simplify_surface
from homodyn.report.replay import ROTATION_UNITS, replay_data, replay_html
from homodyn.spatial import Transform, rotation
from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.meshes import ball
from support import muscled_leg
from support.surfaces import TETRAHEDRON, write_stl, write_vtp

PLACE = Transform(rotation(np.array([0.0, 0, 1]), 0.4), np.array([0.01, 0.02, -0.1]))
SCALE = np.array([0.03, 0.04, 0.1])


@pytest.fixture
def leg(tmp_path):
    """A leg whose thigh has a bone; the file of the shank is missing, that of the foot broken."""
    corners, faces = TETRAHEDRON
    (tmp_path / "Geometry").mkdir()
    write_vtp(tmp_path / "Geometry" / "femur", corners, faces)
    write_stl(tmp_path / "broken", corners, faces[:0])
    names = ("femur.vtp", "tibia.vtp", "broken.stl")
    meshes = [
        Mesh(body, name, PLACE, SCALE, str(tmp_path))
        for body, name in zip(("thigh", "shank", "shank"), names, strict=True)
    ]
    return replace(muscled_leg.build(), meshes=tuple(meshes))


def test_surfaces_are_scaled_and_placed_in_their_body(leg):
    found = bone_surfaces(leg)
    (femur,) = found.surfaces
    assert femur.body == "thigh"
    corners = np.array([PLACE.point_back(corner * SCALE) for corner in TETRAHEDRON[0]])
    np.testing.assert_allclose(femur.vertices, corners, atol=1e-12)
    assert found.missing == ("tibia.vtp",)
    assert "no facets" in found.faults[0]
    assert any("1 bone surface not found: tibia.vtp" in note for note in found.sentences())
    elsewhere = replace(leg, meshes=tuple(replace(mesh, folder="") for mesh in leg.meshes))
    assert bone_surfaces(elsewhere).surfaces == ()
    assert bone_surfaces(elsewhere).sentences() == ()


def test_simplified_surfaces_keep_their_shape():
    vertices, triangles = ball(40, 60)
    fine = BoneSurface("thigh", "middle", vertices.astype(float), triangles.astype(int))
    coarse = simplify_surface(fine, 240)
    assert 100 < len(coarse.triangles) <= 240
    radius = np.linalg.norm(coarse.vertices, axis=1)
    assert 0.85 < radius.min() < radius.max() <= 1.0
    assert coarse.triangles.max() < len(coarse.vertices)
    assert simplify_surface(coarse, 240) is coarse


def test_a_replay_has_the_bones_where_the_bodies_are(leg):
    motion = muscled_leg.swing(leg, 20)
    data = replay_data(motion)
    bones = data["bones"]
    assert bones["counts"] == [4]
    assert data["segments"]["bone"] == [True]
    packed = bones["origins"]
    origin = np.frombuffer(base64.b64decode(packed["data"]), "<i2").reshape(-1, 3)[0]
    axes = np.frombuffer(base64.b64decode(bones["axes"]), "<i2").reshape(-1, 3, 3)[0]
    at = origin * packed["scale"] + packed["offset"] + 0.1 * axes[2] / ROTATION_UNITS
    expected = _point(leg, motion.q[0], (0, 0, 0.1))
    np.testing.assert_allclose(at, expected, atol=1e-4)
    page = replay_html(data, "")
    assert 'name="bones"' in page
    json.dumps(data, allow_nan=False)
    plain = replay_data(muscled_leg.swing(muscled_leg.build(), 20))
    assert plain["bones"] is None
    assert 'name="bones"' not in replay_html(plain, "")


def test_the_studio_turns_bones_with_their_bodies(leg):
    poses = body_geometry(leg).poses(np.array([[-0.3, 0.5], [0.0, 0.5]]))
    assert poses.bones.shape == (2, 1, 4, 3)
    expected = _point(leg, np.array([-0.3, 0.5]), (0, 0, 1.0))
    np.testing.assert_allclose(poses.bones[0, 0, 3], expected, atol=1e-6)
    turn = poses.bone_rotations(0)[0]
    np.testing.assert_allclose(turn, [np.cos(0.15), 0, -np.sin(0.15), 0], atol=1e-6)
    assert body_geometry(muscled_leg.build()).poses(np.zeros(2)).bone_rotations(0).shape == (0, 4)


def _point(model, q, at):
    """World position of a point of the thigh."""
    framed = replace(model, frames=(hd.model.Frame("top", "thigh", Transform(np.eye(3), at)),))
    return np.asarray(position(framed, q, "top"))
