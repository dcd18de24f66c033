"""Curves and forces of the model of Thelen (2003)."""

import numpy as np
import pytest

from homodyn.model.muscles import Muscle, PathPoint
from homodyn.muscle.models import Thelen2003
from support.muscle_kinds import evaluate, load_kind, random_motion, strengths

KIND = "Thelen2003Muscle"
LAW = Thelen2003()


def make_muscle(**settings):
    points = (PathPoint("a", "world"), PathPoint("b", "world"))
    return Muscle("m", KIND, points, settings=settings)


def test_curves_pass_through_their_named_points():
    muscle = make_muscle(FmaxMuscleStrain=0.5, FmaxTendonStrain=0.03)
    assert float(LAW.active_force_length(muscle, 1.0)) == 1
    assert float(LAW.passive_force_length(muscle, 1.5)) == pytest.approx(1)
    assert float(LAW.passive_force_length(muscle, 0.9)) == 0
    assert float(LAW.tendon_force_length(muscle, 1.03)) == pytest.approx(1)
    assert float(LAW.tendon_force_length(muscle, 0.99)) == 0


@pytest.mark.parametrize("activation", [0.01, 0.5, 1.0])
def test_the_factor_of_speed_has_the_speeds_of_thelen(activation):
    muscle = make_muscle(Af=0.3, Flen=1.8)
    fastest = 0.25 + 0.75 * activation
    assert float(LAW.force_velocity(muscle, 0.0, activation)) == 1
    assert float(LAW.force_velocity(muscle, -fastest, activation)) == 0
    assert float(LAW.force_velocity(muscle, -2.0, activation)) == 0
    # Thelen (2003), equations 6 and 7: speed at a force, in both branches and on the line.
    for factor in (0.2, 0.7, 1.2, 1.6):
        below = 1 + factor / 0.3
        above = (2 + 2 / 0.3) * (1.8 - factor) / 0.8
        speed = fastest * (factor - 1) / (below if factor < 1 else above)
        assert float(LAW.force_velocity(muscle, speed, activation)) == pytest.approx(factor)
    speeds = np.linspace(-1.2, 3, 4000)
    factors = [float(LAW.force_velocity(muscle, s, activation)) for s in speeds]
    assert (np.diff(factors) >= 0).all()
    assert np.diff(factors).max() < 36 * (speeds[1] - speeds[0])  # (2 + 2 / Af) / 0.2575 = 33.7


def test_active_forces_with_rigid_tendons_agree_with_opensim(wraps_file, tmp_path, opensim_muscles):
    path, model = load_kind(wraps_file, tmp_path, KIND)
    q, v, activation = random_motion(model, 40, speed=12.0)
    expected = opensim_muscles(path, model, q, v, activation, tendon="rigid")
    force = evaluate(
        model,
        lambda muscle, law, *x: law.rigid_tendon_forces(muscle, 1.0, *x).active,
        expected["length"],
        expected["speed"],
    )
    # OpenSim iterates for the factor of speed until the speed is within its tolerance.
    assert np.abs(force - expected["active"]).max() < 1e-7 * strengths(model).max()
    assert (expected["active"] == 0).any()
