"""Curves and forces of the model of Millard et al. (2012)."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model.muscles import Muscle, PathPoint
from homodyn.muscle.models import FiberState, Millard2012
from support.muscle_kinds import evaluate, load_kind, random_motion, strengths

KIND = "Millard2012EquilibriumMuscle"
LAW = Millard2012()


def make_muscle(**settings):
    points = (PathPoint("a", "world"), PathPoint("b", "world"))
    return Muscle("m", KIND, points, settings=settings)


def test_curves_pass_through_their_named_points():
    muscle = make_muscle(**{"FiberForceLengthCurve.strain_at_one_norm_force": 0.5})
    assert LAW.active_force_length(muscle, 1.0) == pytest.approx(1)
    assert LAW.active_force_length(muscle, 0.4441) == pytest.approx(0, abs=1e-12)
    assert LAW.active_force_length(muscle, 1.9) == pytest.approx(0, abs=1e-12)
    assert LAW.passive_force_length(muscle, 1.5) == pytest.approx(1)
    assert LAW.force_velocity(muscle, 0.0) == pytest.approx(1)
    assert LAW.force_velocity(muscle, -1.0) == pytest.approx(0, abs=1e-12)
    assert LAW.force_velocity(muscle, 1.0) == pytest.approx(1.4)
    assert LAW.tendon_force_length(muscle, 1.049) == pytest.approx(1)


def test_an_undamped_muscle_has_curves_with_an_inverse():
    muscle = make_muscle(fiber_damping=0.0005)
    assert LAW.damping(muscle) == 0
    assert LAW.is_undamped(muscle)
    assert LAW.active_force_length(muscle, 0.2) == pytest.approx(0.1)
    assert LAW.force_velocity(muscle, 2.0) == pytest.approx(1.4 + 0.1)
    rigid = replace(muscle, settings={**muscle.settings, "ignore_tendon_compliance": True})
    assert LAW.active_force_length(rigid, 0.2) == pytest.approx(0, abs=1e-12)


def test_forces_with_rigid_tendons_agree_with_opensim(wraps_file, tmp_path, opensim_muscles):
    path, model = load_kind(wraps_file, tmp_path, KIND, rigid=True)
    q, v, activation = random_motion(model, 40)
    expected = opensim_muscles(path, model, q, v, activation, tendon="rigid")
    force = evaluate(
        model,
        lambda muscle, law, *x: law.tendon_force(muscle, *x),
        activation,
        expected["length"],
        expected["speed"],
    )
    assert np.abs(force - expected["force"]).max() < 1e-10 * strengths(model).max()
    assert (expected["force"] == 0).any()
    assert (expected["force"] > strengths(model)).any()


def test_errors_name_the_muscle_and_the_curve():
    muscle = make_muscle(**{"FiberForceLengthCurve.curviness": 0.5})
    with pytest.raises(
        hd.ModelError, match=r"muscle 'm', FiberForceLengthCurve: curviness without"
    ):
        LAW.passive_force_length(muscle, 1.0)
    muscle = make_muscle(**{"ForceVelocityCurve.isometric_slop": 5})
    with pytest.raises(hd.ModelError, match=r"muscle 'm', ForceVelocityCurve: .*isometric_slop"):
        LAW.force_velocity(muscle, 1.0)
    muscle = make_muscle(**{"TendonForceLengthCurve.strain_at_one_norm_force": -1})
    with pytest.raises(hd.ModelError, match="strain of the tendon must be positive, got -1"):
        LAW.tendon_force_length(muscle, 1.0)
    muscle = make_muscle(
        **{
            "FiberForceLengthCurve.strain_at_zero_force": 0.5,
            "FiberForceLengthCurve.strain_at_one_norm_force": 0.4,
        }
    )
    with pytest.raises(hd.ModelError, match="must be larger than that at zero force"):
        LAW.passive_force_length(muscle, 1.0)


@pytest.mark.parametrize("damping", [0.0, 0.01, 0.5])
def test_fibers_have_the_speed_of_their_force(damping):
    points = (PathPoint("a", "world"), PathPoint("b", "world"))
    muscle = Muscle(
        "m", "Millard2012EquilibriumMuscle", points, settings={"fiber_damping": damping}
    )
    law, x = Millard2012(), ca.SX.sym("x", 3)
    speed = law.fiber_speed(muscle, x[0], x[1], x[2])
    force = law.fiber_force(muscle, x[0], FiberState(x[1], speed, ca.SX(1.0))).total
    active = x[2] - law.passive_force_length(muscle, x[1])
    evaluate = ca.Function("force", [x], [ca.vertcat(force, speed, active)])
    generator = np.random.default_rng(0)
    ranges = ((0.01, 1), (0.5, 1.5), (0, 2))
    columns = np.array([generator.uniform(*ends, 5000) for ends in ranges])
    found, speeds, needed = np.asarray(evaluate.map(5000)(columns))
    usual = (np.abs(speeds) < 20) & (needed > 0)
    assert usual.sum() > 1500
    assert np.abs(found - columns[2])[usual].max() < 1e-10
