import re

import numpy as np
import pytest

import homodyn as hd
from homodyn import dynamics
from homodyn.catalog import heiman, scale
from homodyn.dynamics.tree import Tree
from homodyn.model import Assembly, Body, Model, box, joints, sphere
from homodyn.model.functions import Spline

STRETCH = {"ThighRight": 1.05, "Pelvis": (1.1, 0.9, 1.0), "FootLeft": (1.2, 1.0, 0.95)}


def moments(model):
    return {body.name: np.linalg.eigvalsh(body.inertia) for body in model.bodies}


def ellipsoid(mass, axes):
    x, y, z = np.square(axes) * mass / 5
    return np.diag([y + z, x + z, x + y])


def test_scaled_as_a_whole_it_is_the_person_of_that_stature():
    large, expected = scale(heiman(), 1.1), heiman(height=1.79 * 1.1)
    assert large.mass == pytest.approx(76.0, rel=1e-14)
    assert large.neutral() == pytest.approx(expected.neutral(), abs=1e-14)
    for part in ("bodies", "markers", "contacts"):
        for one, other in zip(getattr(large, part), getattr(expected, part), strict=True):
            for field in {"com", "inertia", "position", "radius"} & set(vars(one)):
                value = getattr(other, field)
                assert getattr(one, field) == pytest.approx(value, abs=1e-14), one.name


@pytest.mark.parametrize(("mass", "power"), [(None, 2), ("density", 5)])
def test_inertia_grows_with_the_square_or_with_density_kept_the_fifth_power(mass, power):
    before, after = heiman(), scale(heiman(), 1.3, mass=mass)
    for one, other in zip(before.bodies, after.bodies, strict=True):
        assert other.inertia == pytest.approx(one.inertia * 1.3**power, rel=1e-12)
    assert after.mass == pytest.approx(76.0 * (1.3**3 if mass else 1.0))


def test_the_total_mass_is_kept_or_as_asked_and_shared_by_volume():
    before = heiman()
    for asked, total in ((None, 76.0), (60.0, 60.0)):
        after = scale(before, STRETCH, mass=asked)
        assert after.mass == pytest.approx(total, rel=1e-14)
        ratio = {b.name: b.mass / before.body(b.name).mass for b in after.bodies if b.mass}
        assert ratio["ThighRight"] / ratio["Head"] == pytest.approx(1.05**3)
        assert ratio["Pelvis"] / ratio["Head"] == pytest.approx(1.1 * 0.9)
    assert scale(before, {}, mass=60.0).mass == pytest.approx(60.0)


def test_a_stretched_ellipsoid_has_the_inertia_of_an_ellipsoid():
    axes, factor = np.array([0.1, 0.2, 0.3]), np.array([1.5, 0.8, 1.1])
    ball = Body("ball", 2.0, (0.0, 0.1, 0.0), ellipsoid(2.0, axes))
    model = Assembly("one").add(ball, joints.free()).model()
    body = scale(model, {"ball": factor}, mass="density").body("ball")
    expected = ellipsoid(2.0 * factor.prod(), axes * factor)
    assert body.inertia == pytest.approx(expected, rel=1e-12)
    assert body.com == pytest.approx([0, 0.08, 0])


def test_stretching_keeps_inertias_possible():
    rng = np.random.default_rng(3)
    model = heiman()
    for _ in range(5):
        factors = {name: np.exp(rng.normal(scale=0.7, size=3)) for name in model.body_names}
        for name, (a, b, c) in moments(scale(model, factors)).items():
            assert c <= a + b + 1e-12, name


def test_what_is_fixed_in_a_segment_is_stretched_with_it_and_nothing_else():
    before = heiman()
    after = scale(before, STRETCH)
    assert after.joint("KneeRight").placement.r == pytest.approx(
        before.joint("KneeRight").placement.r * 1.05
    )
    assert after.joint("HipLeft").placement.r[1] == pytest.approx(0.9 * 0.0461 * 1.79)
    for marker in after.markers:
        old = next(m for m in before.markers if m.name == marker.name)
        factor = np.broadcast_to(STRETCH.get(marker.body, 1.0), 3)
        assert marker.position == pytest.approx(old.position * factor)
    places = Tree(after, after.neutral()).placements
    toe = next(c for c in after.contacts if c.name == "HalluxLeft")
    left = after.body_names.index("FootLeft")
    assert toe.position[0] == pytest.approx(1.2 * 0.18 / 0.2719 * 0.1462 * 1.79)
    right = after.body_names.index("FootRight")
    # The longer right leg stands on the ground, the left one hangs.
    assert places[right].point_back([0, 0, -0.0468 * 1.79])[2] == pytest.approx(0.0, abs=1e-12)
    assert places[left].point_back(toe.position)[2] > 0.02


def test_capsules_and_spheres_keep_the_ratio_of_volumes():
    before = heiman()
    after = scale(before, {"ThighRight": (1.2, 1.2, 1.0), "FootRight": (1.1, 1.2, 1.3)})

    def capsule(model):
        return next(c for c in model.capsules if c.name == "ThighRight")

    assert capsule(after).radius == pytest.approx(1.2 * capsule(before).radius)
    assert capsule(after).end == pytest.approx(capsule(before).end)
    heel = [next(c for c in m.contacts if c.name == "HeelRight") for m in (before, after)]
    assert (heel[1].radius / heel[0].radius) ** 3 == pytest.approx(1.1 * 1.2 * 1.3)


def test_boxes_and_lines_are_stretched_along_their_own_axes():
    created = Assembly("one").add(box("foot", 1.0, (1, 1, 1)), joints.free())
    turned = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    created = created.contact("sole", "foot", "box", size=(0.1, 0.2, 0.3), rotation=turned)
    created = created.contact(
        "rim", "foot", "capsule", size=(0.1, 0, 0), radius=0.1, rotation=turned
    )
    sole, rim = scale(created.model(), {"foot": (2.0, 3.0, 5.0)}).contacts
    assert sole.size == pytest.approx([0.3, 0.4, 1.5])
    assert rim.size[0] == pytest.approx(0.3)
    assert rim.radius == pytest.approx(0.1 * np.sqrt(2.0 * 5.0))


def test_frames_and_the_joint_a_segment_hangs_on_are_stretched_with_it():
    created = Assembly("one").add(box("base", 1.0, (1, 1, 1)), joints.free())
    created = created.add(
        box("arm", 1.0, (1, 1, 1)), joints.revolute("y"), "base", child_at=(0, 0, 0.3)
    )
    model = scale(created.frame("tool", "arm", (0.1, 0.2, 0.3)).model(), {"arm": (1.5, 2.0, 3.0)})
    assert model.joint("arm").child_placement.r == pytest.approx([0, 0, 0.9])
    assert model.frames[0].placement.r == pytest.approx([0.15, 0.4, 0.9])


def test_a_ball_stays_on_the_ground_as_it_grows():
    created = Assembly("one").add(
        sphere("ball", 1.0, 0.1), joints.free(default=(0, 0, 0.1, 0, 0, 0))
    )
    model = created.contact("skin", "ball", "sphere", radius=0.1).model()
    assert scale(model, 3.0).neutral() == pytest.approx([0, 0, 0.3, 1, 0, 0, 0])


def test_slides_that_follow_an_angle_are_stretched_and_coordinates_are_not():
    glide = Spline((0.0, 1.0, 2.0), (0.0, 0.01, 0.03))
    knee = joints.custom(joints.turn("y", 0), joints.slide("z", 0, glide))
    model = (
        Assembly("leg")
        .add(box("thigh", 5.0, (1, 1, 1)), joints.prismatic("z"))
        .add(box("shank", 3.0, (1, 1, 1)), knee, "thigh", at=(0, 0, -0.4))
        .model()
    )
    after = scale(model, {"thigh": (1, 1, 1.5)})
    q = np.array([0.7, 1.0])
    before_shank, after_shank = (Tree(m, q).placements[1].r[2] for m in (model, after))
    assert before_shank == pytest.approx(0.7 + glide_at(model, q) - 0.4)
    assert after_shank == pytest.approx(0.7 + 1.5 * (glide_at(model, q) - 0.4))


def glide_at(model, q):
    motion = model.joint("shank").axes[1]
    down = np.cos(q[1])  # the slide comes after the turn
    return motion.function.value(q[1]) * down


def test_momentum_of_the_scaled_model_is_that_of_its_parts():
    model = scale(heiman(), STRETCH, mass=81.0)
    q, v = model.random(1), np.random.default_rng(1).normal(size=model.nv)
    H = dynamics.mass_matrix(model, q)
    assert np.linalg.eigvalsh(H)[0] > 0
    assert v @ H @ v / 2 == pytest.approx(dynamics.kinetic_energy(model, q, v))
    assert H[:3, :3] == pytest.approx(81.0 * np.eye(3), abs=1e-10)


def test_factors_can_be_parameters():
    def person(thigh: float) -> Model:
        return scale(heiman(), {"ThighRight": (1.0, 1.0, thigh), "ThighLeft": thigh})

    model = hd.parametric(person, thigh=1.0)
    fixed = scale(heiman(), {"ThighRight": (1.0, 1.0, 1.2), "ThighLeft": 1.2})
    other = model.at({"thigh": 1.2})
    assert other.mass == pytest.approx(76.0)
    for one, two in zip(other.bodies, fixed.bodies, strict=True):
        assert one.inertia == pytest.approx(two.inertia, rel=1e-12)
    for one, two in zip(other.capsules, fixed.capsules, strict=True):
        assert one.radius == pytest.approx(two.radius, rel=1e-12)


@pytest.mark.parametrize(
    ("factors", "mass", "message"),
    [
        ({}, None, "nothing to scale in model 'HeiMan': factors or a mass are needed"),
        ({"Tigh": 1.1}, None, "model 'HeiMan' has no body 'Tigh'"),
        ({"ThighRight": 0.0}, None, "body 'ThighRight': one positive factor is needed"),
        ({"ThighRight": (1.0, 2.0)}, None, "got (1.0, 2.0)"),
        ({"ThighRight": float("nan")}, None, "got nan"),
        ({"ThighRight": "long"}, None, "got 'long'"),
        (1.1, "volume", "mass must be a number (kg), None or 'density'; got 'volume'"),
        (1.1, -3.0, "a total mass above zero is needed, got -3"),
    ],
)
def test_scaling_that_would_do_nothing_or_make_no_sense_is_refused(factors, mass, message):
    with pytest.raises(hd.ModelError, match=re.escape(message)):
        scale(heiman(), factors, mass=mass)
