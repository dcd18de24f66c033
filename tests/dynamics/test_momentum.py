"""Center of mass, momentum and energy."""

import numpy as np

from homodyn import dynamics as hd
from homodyn.dynamics.tree import Tree
from homodyn.model.configuration import integrate
from homodyn.spatial import Transform
from support.trees import human_tree, random_state, random_tree, relative_error


def test_center_of_mass_jacobian_needs_the_masses():
    """Kieboom eq. 2.70 prints the Jacobian of all joints moved to the center of mass."""
    model = human_tree()
    q, v, _ = random_state(model, 2)
    h = 1e-6
    before, after = hd.center_of_mass(model, integrate(model, q, np.array([[-h], [h]]) * v))
    measured = (after - before) / (2 * h)
    assert relative_error(hd.center_of_mass_velocity(model, q, v), measured) < 1e-8
    assert relative_error(hd.center_of_mass_jacobian(model, q) @ v, measured) < 1e-8
    center = hd.center_of_mass(model, q)
    tree = Tree(model, q, v)
    printed = sum(
        placed.E.T @ (joint.v[3:] + np.cross(joint.v[:3], placed.E @ (center - placed.r)))
        for joint, placed in zip(tree.joints, tree.placements, strict=True)
    )
    assert relative_error(printed, measured) > 1e-2


def test_momentum_moves_like_a_force():
    """Felis eq. 3.66 prints the transform of motions."""
    model = random_tree(14, 4)
    q, v, _ = random_state(model, 4)
    center = hd.center_of_mass(model, q)
    angular, linear = np.zeros(3), np.zeros(3)
    for body in model.bodies:
        turn = hd.orientation(model, q, body.name)
        speed = hd.velocity(model, q, v, body.name, body.com)
        spin = hd.angular_velocity(model, q, v, body.name)
        arm = hd.position(model, q, body.name, body.com)
        angular += turn @ body.inertia @ turn.T @ spin + np.cross(arm, body.mass * speed)
        linear += body.mass * speed
    at_origin = np.concatenate([angular, linear])
    shift = Transform(np.eye(3), center)
    ours = hd.momentum(model, q, v)
    assert relative_error(ours, shift.force(at_origin)) < 1e-12
    assert relative_error(ours, shift.motion(at_origin)) > 1e-2
