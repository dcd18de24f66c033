"""Explicit and implicit dynamics of compliant tendons, for all models with fibers."""

import casadi as ca
import numpy as np
import pytest

from homodyn.muscle.forces import model_of
from support.muscle_kinds import SETTINGS, load_kind


@pytest.mark.parametrize("kind", SETTINGS)
def test_the_residual_is_zero_at_the_explicit_speed(kind, wraps_file, tmp_path):
    _, model = load_kind(wraps_file, tmp_path, kind)
    muscle, law = model.muscles[0], model_of(model, None)[0]
    optimal, slack = muscle.optimal_fiber_length, muscle.tendon_slack_length
    fastest = muscle.max_contraction_velocity * optimal
    width = optimal * np.sin(muscle.pennation_angle)
    x = ca.SX.sym("x", 3)  # activation, fiber length, length of the path
    along = ca.sqrt(x[1] ** 2 - width**2)
    force = law.tendon_force_length(muscle, (x[2] - along) / slack)
    speed = fastest * law.fiber_speed(muscle, x[0], x[1] / optimal, force * x[1] / along)
    found = law.contraction_residual(muscle, (x[0], x[1]), speed, x[2])
    off = law.contraction_residual(muscle, (x[0], x[1]), speed + 0.05 * fastest, x[2])
    # The model of Thelen has no force where fibers would have to push.
    pulls = force * x[1] / along - law.passive_force_length(muscle, x[1] / optimal)
    evaluate = ca.Function("residual", [x], [ca.vertcat(found, off, speed / fastest, pulls)])
    generator = np.random.default_rng(5)
    fibers = optimal * generator.uniform(0.7, 1.3, 300)
    total = np.sqrt(fibers**2 - width**2) + slack * generator.uniform(1.0, 1.04, 300)
    columns = np.array([generator.uniform(0.1, 1, 300), fibers, total])
    residual, moved, speeds, pulls = np.asarray(evaluate.map(300)(columns))
    usual = (np.abs(speeds) < 1) & (pulls > 0)
    assert usual.sum() > 50
    assert np.abs(residual[usual]).max() < 1e-10
    assert (moved[usual] > 1e-4).all()


def test_the_residual_is_smooth_without_activation(wraps_file, tmp_path):
    _, model = load_kind(wraps_file, tmp_path, "DeGrooteFregly2016Muscle")
    muscle, law = model.muscles[0], model_of(model, None)[0]
    x = ca.SX.sym("x", 4)
    found = law.contraction_residual(muscle, (x[0], x[1]), x[2], x[3])
    gradient = ca.Function("gradient", [x], [ca.gradient(found, x)])
    length = muscle.optimal_fiber_length
    at = gradient([0.0, length, 0.0, length + muscle.tendon_slack_length])
    assert np.isfinite(np.asarray(at)).all()
