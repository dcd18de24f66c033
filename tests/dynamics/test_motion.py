"""Motions computed with the laws: what they conserve, and published or independent numbers."""

import numpy as np
import pytest

from homodyn import dynamics as hd
from homodyn.model import Assembly, Model, box, joints
from homodyn.model.configuration import normalize, rates
from support.trees import human_tree, random_state

STEP = 1e-3


def accelerations(model, q, v):
    return hd.forward_dynamics(model, q, v, hd.passive_force(model, q, v))


def runge_kutta(model: Model, q, v, step: float, count: int):
    """Every state of a motion under springs and dampers alone, in steps of the classical method."""
    states = [(q, v)]
    for _ in range(count):
        slopes = []
        for weight in (0.0, 0.5, 0.5, 1.0):
            x, y = q, v
            if slopes:
                x, y = q + weight * step * slopes[-1][0], v + weight * step * slopes[-1][1]
            slopes.append((rates(model, x, y), accelerations(model, x, y)))
        q, v = (
            x + step / 6 * sum(w * s[k] for w, s in zip((1, 2, 2, 1), slopes, strict=True))
            for k, x in enumerate((q, v))
        )
        q = normalize(model, q)
        states.append((q, v))
    return tuple(np.array(part) for part in zip(*states, strict=True))


@pytest.fixture(scope="module")
def flight():
    """A human-like tree thrown into the air, without any force but weight."""
    model = human_tree(joints.free())
    rng = np.random.default_rng(1)
    q, _, _ = random_state(model, 1)
    q[7:] *= 0.2
    return model, *runge_kutta(model, q, rng.uniform(-2, 2, model.nv), 5e-4, 100)


def test_free_flight_conserves_angular_momentum_about_the_center_of_mass(flight):
    model, q, v = flight
    momentum = hd.momentum(model, q, v)
    start = momentum[0]
    assert np.abs(momentum[:, :3] - start[:3]).max() < 1e-9 * np.abs(start[:3]).max()
    weight = model.mass * model.gravity * 0.05
    np.testing.assert_allclose(momentum[-1, 3:] - start[3:], weight, atol=1e-9)


def test_free_flight_conserves_energy(flight):
    model, q, v = flight
    energy = hd.kinetic_energy(model, q, v) + hd.potential_energy(model, q)
    assert np.abs(energy - energy[0]).max() < 1e-9 * np.abs(energy[0])
    assert np.ptp(hd.kinetic_energy(model, q, v)) > 1.0


def test_a_free_box_keeps_momentum_and_a_unit_quaternion():
    model = (
        Assembly("box")
        .add(box("box", 2.0, (0.1, 0.2, 0.5), com=(0.1, 0.0, 0.3)), joints.free())
        .model(gravity=(0.0, 0.0, 0.0))
    )
    q0 = np.array([0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5])
    q, v = runge_kutta(model, q0, np.array([0.1, 0.2, 0.3, 1.0, 4.0, 2.0]), STEP, 2000)
    momentum = hd.momentum(model, q, v)
    assert np.abs(momentum - momentum[0]).max() < 1e-9
    assert np.abs(np.linalg.norm(q[:, 3:], axis=1) - 1).max() < 1e-15
    # The middle axis is unstable: the body frame tumbles while the momentum stays.
    assert np.ptp(v[:, 4]) > 1.0


def test_triple_pendulum_of_listing_4():
    """Felis 2015, listing 4, at a more general state than the printed one."""
    build = Assembly("pendulum")
    for k in range(3):
        parent, at = ("world", 0.0) if k == 0 else (f"b{k - 1}", -1.0)
        inertial = {"mass": 0.1, "com": (0, 0, -1), "inertia": (0.1, 0.1, 0.1)}
        build = build.add(f"b{k}", joints.euler("zyx"), parent, at=(0, 0, at), **inertial)
    model = build.model()
    zero = np.zeros(9)
    printed = np.array([1.2, 0, 0, 0, 0, 0, 0, 0, 0])
    assert np.abs(hd.forward_dynamics(model, printed, zero, zero)).max() < 1e-12
    q = np.array([1.2, 0.3, 0, 0, -0.2, 0, 0, 0, 0.5])
    expected = [0, -2.67661163, 0.283651815, 0.0574990695, 3.66294670, 0.277882665]
    expected += [0.157624741, -0.697804918, -3.15305979]
    ours = hd.forward_dynamics(model, q, zero, zero)
    np.testing.assert_allclose(ours, expected, rtol=2e-9, atol=1e-12)


def five_links(damping: float) -> Model:
    """Kieboom 2014, model 2.18."""
    build = Assembly("five links")
    for k in range(5):
        parent, at = ("world", 0.0) if k == 0 else (f"p{k}", -1.0)
        link = box(f"p{k + 1}", 1.0, (0.05, 0.05, 1.0), com=(0, 0, -0.5))
        build = build.add(link, joints.revolute("y", damping=damping), parent, at=(0, 0, at))
    return build.model()


START = np.array([0.2 * np.pi, 0, 0, 0, 0])


def test_model_2_18_starts_as_computed_elsewhere():
    model = five_links(20.0)
    diagonal = [41.66770833, 21.33416667, 9.000625, 2.66708333, 0.33354167]
    np.testing.assert_allclose(np.diag(hd.mass_matrix(model, 0 * START)), diagonal, rtol=1e-8)
    expected = [-7.3079107, 9.26200174, -2.47721853, 0.66547479, -0.18967792]
    ours = accelerations(model, START, 0 * START)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=5e-8)


def test_model_2_18_swings_as_computed_elsewhere():
    q, _ = runge_kutta(five_links(20.0), START, 0 * START, STEP, 5000)
    expected = {
        500: (0.440657, -0.028235, 0.028236, 0.032602, 0.013752),
        1000: (0.122701, -0.137884, -0.022118, 0.011432, 0.009821),
        2000: (-0.267400, -0.200431, -0.078413, -0.044237, -0.014306),
        5000: (-0.043907, -0.073833, -0.032980, -0.009953, 0.000584),
    }
    for k, there in expected.items():
        np.testing.assert_allclose(q[k], there, rtol=0, atol=6e-7)


def test_model_2_18_without_damping_keeps_its_energy():
    model = five_links(0.0)
    q, v = runge_kutta(model, START, 0 * START, STEP, 5000)
    energy = hd.kinetic_energy(model, q, v) + hd.potential_energy(model, q)
    np.testing.assert_allclose(energy[0], -99.205709, atol=1e-6)
    assert np.abs(energy / energy[0] - 1).max() < 2e-12
