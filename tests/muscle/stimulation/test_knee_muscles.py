"""Muscles of the knee: lengths, power and length rates (V31, V32)."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.stimulation import CALCIUM_KIND, KneeGeometry, add_knee_muscles
from support import stimulated_knee

ANGLES_RAD = np.linspace(0.0, 2.3, 12)[:, None]


@pytest.fixture(scope="module")
def knee():
    return stimulated_knee.build()


def test_lengths_are_those_of_the_document(knee):
    for wrapping in ("geodesic", "opensim"):
        found = hd.muscle.lengths(knee, ANGLES_RAD, wrapping)
        expected = [stimulated_knee.lengths(q) for q in ANGLES_RAD[:, 0]]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_human36_flexes_its_knees_in_the_negative_sense(knee):
    human = add_knee_muscles(hd.catalog.human36())
    assert [m.name for m in human.muscles] == [
        f"{side}_knee_{name}" for side in ("right", "left") for name in ("quadriceps", "hamstrings")
    ]
    assert {m.kind for m in human.muscles} == {CALCIUM_KIND}
    q = human.pose({"right_knee_extension": -1.2, "left_knee_extension": -0.4})
    found = hd.muscle.lengths(human, q, "geodesic")
    expected = [*stimulated_knee.lengths(1.2), *stimulated_knee.lengths(0.4)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_v31_power_of_the_muscles(knee):
    speeds = np.linspace(-3, 3, 12)[:, None]
    forces = np.random.default_rng(0).uniform(0, 500, (12, 2))
    arms = hd.muscle.moment_arms(knee, ANGLES_RAD, "geodesic")[..., 0]
    friction = knee.joints[1].coordinates[0].damping
    torque = (arms * forces).sum(axis=1) - friction * speeds[:, 0]
    rates = hd.muscle.lengthening_speeds(knee, ANGLES_RAD, speeds, "geodesic")
    expected = -(forces * rates).sum(axis=1) - friction * speeds[:, 0] ** 2
    np.testing.assert_allclose(torque * speeds[:, 0], expected, atol=1e-9)
    # Quadriceps extends, hamstrings flex.
    assert (arms[1:, 0] < 0).all()
    assert (arms[1:, 1] > 0).all()


def test_misprint_of_the_signs_of_the_torque_violates_the_power(knee):
    slopes = np.array([stimulated_knee.length_slopes(q) for q in ANGLES_RAD[1:, 0]])
    forces, speed, friction = np.array([300.0, 50.0]), 2.0, 0.5
    printed = slopes @ forces - friction * speed
    balance = -(slopes @ forces) * speed - friction * speed**2
    assert np.abs(printed * speed - balance).min() > 1


def test_v32_rate_of_the_hamstrings_is_the_derivative_of_their_length(knee):
    step, speed = 1e-6, 1.7
    sides = [hd.muscle.lengths(knee, ANGLES_RAD + d, "geodesic")[:, 1] for d in (-step, step)]
    rate = hd.muscle.lengthening_speeds(knee, ANGLES_RAD, np.full((12, 1), speed), "geodesic")
    np.testing.assert_allclose(rate[:, 1], speed * (sides[1] - sides[0]) / (2 * step), atol=1e-8)
    formula = [stimulated_knee.length_slopes(q)[1] for q in ANGLES_RAD[:, 0]]
    np.testing.assert_allclose(rate[:, 1], speed * np.array(formula), atol=1e-12)


def test_misprint_of_the_strain_rate_lacks_the_rest_length():
    step, q = 1e-6, 1.0
    strain = [stimulated_knee.lengths(q + d)[1] / 0.492 for d in (-step, step)]
    rate = np.diff(strain)[0] / (2 * step)
    printed = stimulated_knee.length_slopes(q)[1]
    assert rate == pytest.approx(printed / 0.492, rel=1e-7)
    assert abs(rate - printed) > 0.05


def test_rest_lengths_scale_with_the_body(knee):
    larger = hd.catalog.scale(knee, 1.1)
    for before, after in zip(knee.muscles, larger.muscles, strict=True):
        assert after.optimal_fiber_length == pytest.approx(1.1 * before.optimal_fiber_length)
        assert after.tendon_slack_length == pytest.approx(1.1 * before.tendon_slack_length)


def test_refusals():
    human = hd.catalog.human36()
    with pytest.raises(hd.ModelError, match="no joint 'knee'"):
        add_knee_muscles(human, ("knee",))
    with pytest.raises(hd.ModelError, match="'right_hip' is no knee: one rotation is needed"):
        add_knee_muscles(human, ("right_hip",))
    with pytest.raises(hd.ModelError, match=r"quadriceps_distance_m of a knee must be larger than"):
        KneeGeometry(quadriceps_distance_m=0.03)
    with pytest.raises(hd.ModelError, match="a strength above zero"):
        KneeGeometry(strength=0.0)
