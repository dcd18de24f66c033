"""The floating root of a model and its actuated coordinates."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn import catalog
from homodyn.errors import ModelError
from homodyn.model import Assembly, Coupler, Parameter, Root, box, joints, load, save
from homodyn.model.formats import losses
from homodyn.model.functions import Linear
from homodyn.optimal.transcription.layout import actuated_entries
from homodyn.simulate import PD, run

TRUNK, LEG = box("trunk", 30.0, (0.3, 0.3, 0.6)), box("leg", 8.0, (0.1, 0.1, 0.8))


def chained(*kinds, link_mass=0.0, link_inertia=0.0):
    """A trunk with a leg on a base of one-coordinate joints between links of the given mass."""
    built, parent = Assembly("chained"), "world"
    for k, kind in enumerate(kinds):
        make = joints.prismatic if kind[0] == "p" else joints.revolute
        last = k == len(kinds) - 1
        body = TRUNK if last else f"link{k}"
        inertia = {} if last else {"mass": link_mass, "inertia": [link_inertia] * 3}
        built = built.add(body, make(kind[1]), parent, joint_name=kind, **inertia)
        parent = "trunk" if last else f"link{k}"
    return built.add(LEG, joints.revolute("y"), "trunk", at=(0, 0, -0.3))


PLANAR = ("px", "pz", "ry")
SPATIAL = ("px", "py", "pz", "rz", "ry", "rx")


@pytest.mark.parametrize("kinds", [PLANAR, SPATIAL, ("pz", "px", "ry"), ("px", "py", "pz")])
def test_a_chain_of_massless_links_is_a_floating_root(kinds):
    model = chained(*kinds).model()
    count = len(kinds)
    assert model.root == Root(kinds, ("trunk",), tuple(range(count)), tuple(range(count)))
    assert model.root.body == "trunk"
    assert model.root
    assert model.actuated == (count,)


@pytest.mark.parametrize(
    "kinds",
    [
        ("px",),
        ("px", "pz"),
        ("ry",),
        ("rz", "ry", "rx"),
        ("rz", "pz", "px"),
        ("px", "rx"),
        ("px", "pz", "rx"),
    ],
)
def test_rails_gantries_and_stands_are_fixed_to_the_world(kinds):
    model = chained(*kinds).model()
    assert model.root == Root()
    assert not model.root
    assert model.root.body is None
    assert model.actuated == tuple(range(model.nv))


def test_a_chain_of_heavy_links_is_a_machine_and_not_a_floating_root():
    assert not chained(*PLANAR, link_mass=5.0).model().root
    assert not chained(*PLANAR, link_inertia=1.0).model().root


def test_links_with_the_tiny_inertia_that_simulators_ask_for_are_virtual():
    assert chained(*PLANAR, link_mass=1e-3, link_inertia=1e-4).model().root.joints == PLANAR


@pytest.mark.parametrize("part", ["marker", "contact"])
def test_a_link_with_a_marker_or_a_contact_is_real(part):
    assert not getattr(chained(*PLANAR), part)("point", "link1").model().root


def test_a_link_that_carries_two_bodies_is_real():
    forked = chained(*PLANAR).add(box("tool", 1.0, (0.1, 0.1, 0.1)), joints.revolute("y"), "link1")
    assert not forked.model().root


@pytest.mark.parametrize(
    ("kind", "floats"),
    [
        (joints.free(), True),
        (joints.euler_free(), True),
        (joints.planar("y"), True),
        (joints.planar([0.6, 0.0, 0.8]), True),
        (joints.translation(), True),
        (joints.custom(joints.turn("z", 0), joints.slide("x", 1), joints.slide("y", 2)), True),
        (joints.custom(joints.turn("z", 0), joints.slide("x", 1), joints.slide("z", 2)), False),
        (joints.spherical(), False),
        (joints.euler("xyz"), False),
        (joints.cylindrical("z"), False),
        (joints.prismatic("x"), False),
        (joints.fixed(), False),
    ],
)
def test_one_joint_floats_by_its_directions(kind, floats):
    model = Assembly("one").add(TRUNK, kind).add(LEG, joints.revolute("y"), "trunk").model()
    assert model.root.joints == (("trunk",) if floats else ())
    assert model.root.v == (tuple(range(model.joints[0].nv)) if floats else ())
    assert model.root.q == (tuple(range(model.joints[0].nq)) if floats else ())
    assert len(model.actuated) == model.nv - len(model.root.v)


def test_translations_and_a_ball_joint_over_a_massless_link_are_one_root():
    built = Assembly("two").add("slider", joints.translation())
    model = built.add(TRUNK, joints.spherical(), "slider").model()
    assert model.root == Root(("slider", "trunk"), ("trunk",), tuple(range(7)), tuple(range(6)))


def test_fixed_joints_inside_a_root_belong_to_it_and_after_it_do_not():
    built = (
        Assembly("fixed").add("origin", joints.fixed()).add("x", joints.prismatic("x"), "origin")
    )
    built = built.add("turned", joints.fixed(), "x").add("z", joints.prismatic("z"), "turned")
    built = built.add("base", joints.revolute("y"), "z").add(TRUNK, joints.fixed(), "base")
    model = built.model()
    assert model.root.joints == ("origin", "x", "turned", "z", "base")
    assert model.root.body == "base"
    assert model.root.v == (0, 1, 2)


def test_a_massless_body_after_a_complete_root_keeps_its_motor():
    model = (
        Assembly("hopper")
        .add("a", joints.prismatic("x"))
        .add("b", joints.prismatic("z"), "a")
        .add("hip", joints.revolute("y"), "b")
        .add(LEG, joints.revolute("y"), "hip")
        .model()
    )
    assert model.root.joints == ("a", "b", "hip")
    assert model.actuated == (3,)


def test_each_tree_has_its_own_root():
    two = Assembly("two").add(TRUNK, joints.free()).add(LEG, joints.revolute("y"), "trunk")
    two = two.add(box("arm", 2.0, (0.1, 0.1, 0.5)), joints.revolute("z"))
    model = two.add(box("ball", 1.0, (0.2, 0.2, 0.2)), joints.translation()).model()
    assert model.root.joints == ("trunk", "ball")
    assert model.root.bodies == ("trunk", "ball")
    assert model.root.v == (0, 1, 2, 3, 4, 5, 8, 9, 10)
    assert model.actuated == (6, 7)


def test_coordinates_declared_unactuated_have_no_motor():
    built = Assembly("wing").add(TRUNK, joints.planar("y"))
    model = built.add(LEG, joints.universal("x", "y", actuated=(True, False)), "trunk").model()
    assert model.root.v == (0, 1, 2)
    assert model.actuated == (3,)


def test_declared_root_joints_win():
    cart = chained("px", link_mass=1.0).model()
    assert replace(cart, root_joints=("px",)).root == Root(("px",), ("trunk",), (0,), (0,))
    assert replace(cart, root_joints=("px",)).actuated == (1,)
    flying = chained(*PLANAR).model()
    assert not replace(flying, root_joints=()).root
    assert replace(flying, root_joints=()).actuated == (0, 1, 2, 3)
    heavy = replace(chained(*PLANAR, link_mass=5.0).model(), root_joints=PLANAR)
    assert heavy.root.v == (0, 1, 2)
    assert heavy.root.body == "trunk"


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (("rail",), "there is no joint 'rail'"),
        (("pz",), "the parent of joint 'pz' is 'link0'"),
        (("px", "ry"), "the parent of joint 'ry' is 'link1'"),
    ],
)
def test_declared_root_joints_must_be_a_chain_from_the_world(names, reason):
    with pytest.raises(ModelError, match=reason):
        replace(chained(*PLANAR).model(), root_joints=names)


def test_a_declared_root_does_not_branch():
    built = Assembly("fork").add(TRUNK, joints.planar("y")).add(LEG, joints.revolute("y"), "trunk")
    model = built.add(box("arm", 2.0, (0.1, 0.1, 0.5)), joints.revolute("y"), "trunk").model()
    with pytest.raises(ModelError, match="a root does not branch"):
        replace(model, root_joints=("trunk", "leg", "arm"))


def test_parameters_and_foreign_symbols_do_not_hide_a_root():
    mass = Parameter("m", 30.0)
    built = Assembly("parametric", parameters=(mass,)).add("a", joints.prismatic("x"))
    built = built.add("b", joints.prismatic("z"), "a", at=(0, 0, 0.1 * mass.symbol))
    built = built.add("trunk", joints.revolute("y"), "b", mass=mass, inertia=[1.0, 1.0, 1.0])
    model = built.model()
    assert model.root.v == (0, 1, 2)
    assert model.at({"m": ca.SX.sym("other")}).root.v == (0, 1, 2)


def test_coupled_coordinates_are_no_directions_of_their_own():
    model = chained(*PLANAR).model()
    assert not replace(model, couplers=(Coupler("pz", "px", Linear(0.5)),)).root


@pytest.mark.parametrize("suffix", [".toml", ".lua"])
def test_declared_roots_and_actuation_survive_files(tmp_path, suffix):
    built = chained("px", link_mass=1.0).add(
        "tail", joints.revolute("y", actuated=False), "leg", mass=1.0, inertia=[1.0, 1.0, 1.0]
    )
    for root in (None, (), ("px",)):
        model = replace(built.model(), root_joints=root)
        path = tmp_path / f"model{suffix}"
        save(model, path)
        again = load(path)
        assert again.root_joints == root
        assert again.root == model.root
        assert again.actuated == model.actuated
        assert not [line for line in losses(model, suffix) if "root" in line or "actua" in line]


def test_the_losses_of_other_formats_name_roots_and_actuators():
    model = replace(chained("px").model(), root_joints=("px",))
    found = "\n".join(losses(model, ".urdf"))
    assert "the declared root joints cannot be stored in URDF" in found


def test_a_chained_base_in_a_urdf_is_recognized(tmp_path):
    path = tmp_path / "chained.urdf"
    save(chained(*SPATIAL).model(), path)
    model = load(path, base="fixed")
    assert model.root.v == (0, 1, 2, 3, 4, 5)
    assert model.root.body == "trunk"
    assert [model.coordinate_names[k] for k in model.actuated] == ["leg"]


@pytest.mark.parametrize(
    ("file", "body", "count"),
    [
        ("urdf/humanSubject01_48dof.urdf", "Pelvis", 6),
        ("urdf/simple_humanoid.urdf", "base_link", 6),
        ("rbdl_planar/gait912.lua", "Pelvis", 3),
        ("gait10dof/subject01.osim", "pelvis", 3),
        ("rajagopal_walk/Rajagopal2016.osim", "pelvis", 6),
        ("opensim_id/arm26.osim", None, 0),
    ],
)
def test_roots_of_published_models(shared_data, file, body, count):
    model = load(shared_data / file, as_measured=True)
    assert model.root.body == body
    assert model.root.v == tuple(range(count))
    assert model.actuated == tuple(range(count, model.nv))


@pytest.mark.parametrize("entry", catalog.entries(), ids=lambda entry: entry.name)
def test_every_body_of_the_catalog_floats(entry):
    model = entry.build()
    assert model.root.joints == (model.joint_names[0],)
    assert len(model.root.v) in (3, 6)


def test_servos_leave_a_chained_base_free_to_fall():
    """The chain of one-coordinate joints falls as the planar joint does."""
    planar = Assembly("planar").add(TRUNK, joints.planar("y"))
    planar = planar.add(LEG, joints.revolute("y"), "trunk", at=(0, 0, -0.3)).model()
    servo = PD(500.0, 20.0, target=np.array([1.0, 1.0, 0.4, 0.3]))
    ends = [
        run(model, np.zeros(4), duration=0.2, dt=1e-3, actuation=servo).q[-1]
        for model in (planar, chained(*PLANAR).model())
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)
    assert ends[1][1] == pytest.approx(-0.5 * 9.81 * 0.2**2, rel=0.1)


def test_optimal_control_does_not_let_a_chained_base_levitate():
    """Without contact nothing lifts the body, whatever form its base has."""
    planar = Assembly("planar").add(TRUNK, joints.planar("y"))
    planar = planar.add(LEG, joints.revolute("y"), "trunk", at=(0, 0, -0.3)).model()
    chain = chained(*PLANAR).model()
    assert actuated_entries(planar, None).tolist() == actuated_entries(chain, None).tolist() == [3]
    for model in (planar, chain):
        x, z, pitch, leg = model.coordinate_names
        phase = oc.Phase(
            "lift",
            1.0,
            terms=[oc.torque()],
            intervals=10,
            start={"q": 0.0, "v": 0.0},
            end={"q": {x: 0.0, z: 0.5, pitch: 0.0, leg: 0.0}, "v": 0.0},
        )
        solution = oc.Problem(model, [phase]).solve()
        assert solution.status is not oc.SolveStatus.SOLVED
