"""Which bodies are feet, on models whose makers never agreed on a name."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.kinetics import find_feet
from homodyn.errors import CaptureError

FILES = {
    "gait10dof/subject01.osim": ("calcn_r", "calcn_l"),
    "arnold2013/subject01/subject01.osim": ("calcn_r", "calcn_l"),
    "opensim_id/subject01.osim": ("calcn_r", "calcn_l"),
    "rbdl_planar/gait912.lua": ("Foot_R", "Foot_L"),
    "urdf/simple_humanoid.urdf": ("r_ankle", "l_ankle"),
    "urdf/humanSubject01_48dof.urdf": ("RightFoot", "LeftFoot"),
}
BODIES = {
    "heiman": ("FootRight", "FootLeft"),
    "human36": ("right_foot", "left_foot"),
    "hdm": ("right_heel", "left_heel"),
    "manikin": ("right_foot", "left_foot"),
    "bip": ("right_foot", "left_foot"),
    "coman": ("right_foot", "left_foot"),
    "khr1": ("right_foot", "left_foot"),
}


@pytest.mark.parametrize("file", FILES)
def test_feet_of_models_from_files(shared_data, file):
    feet = find_feet(hd.model.load(shared_data / file, as_measured=True))
    assert {foot.body: foot.side for foot in feet} == dict(
        zip(FILES[file], ("right", "left"), strict=True)
    )


@pytest.mark.parametrize("name", BODIES)
def test_feet_of_the_catalog(name):
    feet = find_feet(getattr(hd.catalog, name)())
    assert {foot.body: foot.side for foot in feet} == dict(
        zip(BODIES[name], ("right", "left"), strict=True)
    )


def renamed(model, **parts):
    """A copy whose bodies have names that say nothing."""
    names = {name: f"part{k}" for k, name in enumerate(model.body_names)}
    names["world"] = "world"
    return names, replace(
        model,
        bodies=tuple(replace(b, name=names[b.name]) for b in model.bodies),
        joints=tuple(
            replace(j, parent=names[j.parent], child=names[j.child]) for j in model.joints
        ),
        markers=(),
        contacts=tuple(replace(c, body=names[c.body]) for c in model.contacts),
        capsules=tuple(replace(c, body=names[c.body]) for c in model.capsules),
        meshes=(),
        frames=(),
        contact_sets=(),
        **parts,
    )


def test_without_known_names_contacts_near_the_ground_are_used():
    names, model = renamed(hd.catalog.human36())
    assert {foot.body for foot in find_feet(model)} == {names["right_foot"], names["left_foot"]}
    assert {foot.side for foot in find_feet(model)} == {"left", "right"}


def test_without_names_and_contacts_the_lowest_ends_are_feet():
    names, model = renamed(hd.catalog.heiman())
    model = replace(model, contacts=())
    assert {foot.body for foot in find_feet(model)} == {names["FootRight"], names["FootLeft"]}


def test_toes_belong_to_the_foot_that_carries_them():
    right, left = sorted(find_feet(hd.catalog.manikin()), key=lambda foot: foot.body, reverse=True)
    assert right.bodies == ("right_foot", "right_toes")
    assert {body for body, _ in left.points} == {"left_foot", "left_toes"}


def test_points_of_a_sole_move_with_it():
    model = hd.catalog.heiman()
    foot = find_feet(model)[0]
    q = np.tile(model.neutral(), (2, 1))
    q[1, 0] += 0.3
    positions = foot.positions(model, q)
    np.testing.assert_allclose(
        positions[1] - positions[0], np.tile([0.3, 0, 0], (3, 1)), atol=1e-12
    )


def test_a_body_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(CaptureError, match="FootRight"):
        find_feet(hd.catalog.heiman(), ("foot_r",))
