import re

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn import dynamics
from homodyn.catalog import heiman, mirror, mirror_map
from homodyn.dynamics.tree import Tree
from homodyn.model import Assembly, box, joints

SIGNS = np.array([1.0, -1.0, 1.0])


def points(model, q):
    """World positions of all bodies, markers and contacts, without a kernel for each."""
    placements = Tree(model, q).placements
    places = {}
    for part in (*model.bodies, *model.markers, *model.contacts):
        body, at = model.locate(part.name)
        places[part.name] = placements[body].point_back(at.r)
    return places


def assert_mirrors(model, exact=1e-10):
    """Points, energy and torques of the mirrored state are those of the state in a mirror."""
    image = mirror_map(model)
    rng = np.random.default_rng(5)
    for q, v in zip(model.random(rng, 3), rng.normal(size=(3, model.nv)), strict=True):
        q2, v2 = image.position(q), image.velocity(v)
        here, there = points(model, q), points(model, q2)
        for name, place in here.items():
            assert there[image.names[name]] == pytest.approx(SIGNS * place, abs=exact), name
        assert dynamics.center_of_mass(model, q2) == pytest.approx(
            SIGNS * dynamics.center_of_mass(model, q), abs=exact
        )
        energy = dynamics.kinetic_energy(model, q, v)
        assert dynamics.kinetic_energy(model, q2, v2) == pytest.approx(energy, rel=1e-10)
        tau = dynamics.inverse_dynamics(model, q, v, v)
        mirrored = dynamics.inverse_dynamics(model, q2, v2, v2)
        assert mirrored == pytest.approx(image.velocity(tau), abs=1e-8)


def humanoid(left_at=(0, 0.2, 0.1), flipped=False, left_joint=None):
    """A floating base with two arms of ball and hinge, whose left hinge may count backwards."""
    created = Assembly("humanoid").add(box("base", 3.0, (0.1, 0.2, 0.3)), joints.free())
    for side, out, at in (("r", -1, (0, -0.2, 0.1)), ("l", 1, left_at)):
        arm = box(f"{side}_arm", 1.0, (0.1, 0.1, 0.3), com=(0.02, out * 0.1, -0.1))
        hand = box(f"hand_{side}", 0.5, (0.1, 0.05, 0.1), com=(0, 0, -0.1))
        axis = (0.0, -1.0, 0.0) if flipped and side == "l" else (0.0, 1.0, 0.0)
        ball = left_joint if left_joint and side == "l" else joints.spherical()
        created = created.add(arm, ball, "base", at=at)
        created = created.add(hand, joints.revolute(axis), f"{side}_arm", at=(0, 0, -0.3))
        created = created.marker(f"{side.upper()}TIP", f"hand_{side}", (0.03, out * 0.01, -0.2))
    return created.model()


def test_heiman_has_the_mirror_map_of_the_thesis():
    model = heiman()
    image = mirror_map(model)
    for k, name in enumerate(model.coordinate_names):
        swapped = name.replace("Right", "?").replace("Left", "Right").replace("?", "Left")
        assert model.coordinate_names[image.q_index[k]] == swapped == image.names[name]
        assert image.q_sign[k] == (-1.0 if name.endswith(("TY", "RX", "RZ")) else 1.0)
    assert image.names["RASI"] == "LASI"
    assert image.names["HalluxLeft"] == "HalluxRight"
    assert image.names["C7"] == "C7"


def test_twice_in_the_mirror_is_the_pose_itself():
    for model in (heiman(), humanoid()):
        q = model.random(1, (2, 3))
        assert np.array_equal(mirror(model, mirror(model, q)), q)
        v = np.random.default_rng(1).normal(size=(4, model.nv))
        image = mirror_map(model)
        assert np.array_equal(image.velocity(image.velocity(v)), v)
        assert {image.names[other] for other in image.names.values()} == set(image.names)


@pytest.mark.parametrize(
    "model",
    [heiman(), heiman(1.6, 55.0, "female"), humanoid(), humanoid(flipped=True)],
    ids=["heiman", "woman", "balls", "a hinge that counts backwards"],
)
def test_the_mirrored_state_moves_as_the_mirror_image(model):
    assert_mirrors(model)


def test_symbols_are_mirrored_like_numbers():
    model = heiman()
    q = ca.SX.sym("q", model.nq)
    function = ca.Function("mirror", [q], [mirror(model, q)])
    pose = model.random(4)
    assert np.array_equal(function(pose).full()[:, 0], mirror(model, pose))


def test_parameters_keep_the_map():
    parametric = hd.parametric(heiman, height=1.79, mass=76.0)
    assert mirror_map(parametric) == mirror_map(heiman())


def test_a_longer_leg_is_reported_and_can_be_accepted():
    limping = heiman(overrides={"ThighRightLength": 0.5})
    with pytest.raises(hd.ModelError, match=r"'Thigh\w+' is 0\.0\d+ m from the mirror image"):
        mirror_map(limping)
    assert mirror_map(limping, tolerance=0.1) == mirror_map(heiman())


def test_what_is_not_symmetric_is_refused_by_name():
    with pytest.raises(hd.ModelError, match=r"'l_arm' is 0\.1 m from the mirror image of 'r_arm'"):
        mirror_map(humanoid(left_at=(0, 0.3, 0.1)))
    with pytest.raises(hd.ModelError, match="joints 'r_arm' and 'l_arm' are not mirror images"):
        mirror_map(humanoid(left_joint=joints.euler("xyz")))
    tilted = joints.revolute((0.0, 1.0, 1.0))
    created = Assembly("a").add(box("base", 1.0, (1, 1, 1)), joints.free())
    created = created.add(box("leg_r", 1.0, (1, 1, 1)), joints.revolute("y"), "base", at=(0, -1, 0))
    created = created.add(box("leg_l", 1.0, (1, 1, 1)), tilted, "base", at=(0, 1, 0))
    with pytest.raises(hd.ModelError, match=re.escape("the axis of 'leg_l' is not the mirror")):
        mirror_map(created.model())


def test_names_that_do_not_pair_both_ways_stay_alone():
    created = Assembly("a").add(box("base", 1.0, (1, 1, 1)), joints.free())
    for name in ("LxR", "LxL", "RxL"):
        created = created.frame(name, "base")
    names = mirror_map(created.model()).names
    assert (names["LxR"], names["LxL"], names["RxL"]) == ("LxR", "RxL", "LxL")
