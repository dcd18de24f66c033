"""The tree of bodies: order, loops, and joints without inertia."""

from dataclasses import replace

from homodyn.model import (
    WORLD,
    Assembly,
    joints,
)
from homodyn.model.tree import sorted_tree
from support.small_models import two_links

GOOD = two_links()
THIGH, SHANK = GOOD.bodies
HIP, KNEE = GOOD.joints


def test_massless_bodies_may_stand_between_or_be_welded():
    model = (
        Assembly("ladder")
        .add("empty", joints.revolute("x"))
        .add("full", joints.revolute("y"), "empty", mass=1, com=(0, 0, 1), inertia=(1, 1, 1))
        .add("tip", joints.fixed(), "full")
        .add("rotor", joints.revolute("z", armature=0.1), "full")
        .model()
    )
    assert model.body_names == ("empty", "full", "tip", "rotor")
    assert (model.nq, model.nv) == (3, 3)


def test_point_mass_behind_a_weld_carries_a_massless_body():
    model = (
        Assembly("bob")
        .add("string", joints.revolute("y"))
        .add("bob", joints.fixed(), "string", at=(0, 0, -1), mass=1.0)
        .model()
    )
    assert model.mass == 1.0


def test_bodies_are_sorted_depth_first_whatever_the_order():
    again = replace(GOOD, bodies=(SHANK, THIGH), joints=(KNEE, HIP))
    assert again.body_names == ("thigh", "shank")
    assert again == GOOD


def test_sorting_ends_on_rings_and_doubles():
    ring = (replace(HIP, parent="shank"), KNEE)
    assert sorted_tree((THIGH, SHANK), ring) == ((), ())
    doubled = (HIP, KNEE, replace(KNEE, parent=WORLD))
    assert len(sorted_tree((THIGH, SHANK), doubled)[0]) == 2
