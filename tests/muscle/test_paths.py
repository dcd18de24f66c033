"""Lengths, lengthening speeds and moment arms of paths."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.paths import path_owners, traced_paths

FILES = (
    "arnold2013/generic/unscaled_generic.osim",
    "arnold2013/subject01/subject01.osim",
    "gait10dof/subject01.osim",
    "ik_synthetic/subject01_simbody.osim",
    "opensim_id/arm26.osim",
    "opensim_id/subject01.osim",
    "rajagopal_walk/Rajagopal2016.osim",
    "rajagopal_walk/subject_walk_scaled.osim",
    "real_subject4/manually_scaled.osim",
    "real_subject4/unscaled_generic.osim",
)
LENGTH_TOLERANCE_M = 1e-6
ARM_TOLERANCE_M = 1e-5
WRAPPED_ARM_TOLERANCE_M = 1e-4
FAN_TOLERANCE_M = 3e-5
"""For ellipsoids of the hybrid method: OpenSim sums 298 samples, we integrate."""


def random_states(model, count, seed=1):
    """States between the limits, at most half a turn from zero."""
    lower, upper = np.maximum(model.lower, -np.pi), np.minimum(model.upper, np.pi)
    return np.random.default_rng(seed).uniform(lower, upper, (count, model.nv))


def only(model, *names):
    """The model with some of its muscles."""
    return replace(model, muscles=tuple(m for m in model.muscles if m.name in names))


def single_wraps(model):
    """Muscles with one wrap object at most; OpenSim does not update tangent points of several."""
    return np.array([len(muscle.wraps) < 2 for muscle in model.muscles])


def uses_fan(model):
    """Muscles over an ellipsoid with the hybrid method."""
    kinds = {wrap.name: wrap.kind for wrap in model.wraps}
    return np.array(
        [
            any(kinds[w.wrap] == "ellipsoid" and w.method == "hybrid" for w in muscle.wraps)
            for muscle in model.muscles
        ]
    )


def check_against_opensim(model, states, lengths, arms):
    alone, fan = single_wraps(model), uses_fan(model)
    ours = hd.muscle.lengths(model, states)
    error = np.abs(ours - lengths).max(axis=0)
    assert (error[alone & ~fan] < LENGTH_TOLERANCE_M).all()
    assert (error[alone & fan] < FAN_TOLERANCE_M).all()
    wrapped = np.array([bool(muscle.wraps) for muscle in model.muscles])
    error = np.abs(hd.muscle.moment_arms(model, states[: len(arms)]) - arms).max(axis=(0, 2))
    assert (error[~wrapped] < ARM_TOLERANCE_M).all()
    assert (error[alone & wrapped] < WRAPPED_ARM_TOLERANCE_M).all()


def test_all_kinds_of_paths_agree_with_opensim(wraps_file, wraps_model, opensim_paths):
    states = random_states(wraps_model, 200)
    lengths, arms = opensim_paths(wraps_file, wraps_model, states, 200)
    axial = [m.name == "ellipsoid_axial" for m in wraps_model.muscles]
    (column,) = np.flatnonzero(axial)
    # Where the axial point is outside, OpenSim's tangent points may be on the other side.
    error = np.abs(hd.muscle.lengths(wraps_model, states)[:, column] - lengths[:, column])
    assert (error < LENGTH_TOLERANCE_M).mean() > 0.98
    others = only(
        wraps_model, *(m.name for m in wraps_model.muscles if m.name != "ellipsoid_axial")
    )
    keep = np.logical_not(axial)
    check_against_opensim(others, states, lengths[:, keep], arms[:, keep])


def test_every_wrap_is_used_and_missed_by_random_states(wraps_model):
    straight = replace(
        wraps_model, wraps=tuple(replace(w, active=False) for w in wraps_model.wraps)
    )
    states = random_states(wraps_model, 200)
    longer = hd.muscle.lengths(wraps_model, states) - hd.muscle.lengths(straight, states)
    for k, muscle in enumerate(wraps_model.muscles):
        used = {w.wrap for w in muscle.wraps} - {"unused"}
        assert (longer[:, k] > 1e-9).any() == bool(used), muscle.name
        assert (longer[:, k] > -1e-12).all(), muscle.name


@pytest.mark.parametrize("file", FILES)
def test_models_of_the_data_folder_agree_with_opensim(shared_data, opensim_paths, file):
    model = hd.load(shared_data / file)
    states = random_states(model, 200)
    lengths, arms = opensim_paths(shared_data / file, model, states, 2)
    check_against_opensim(model, states, lengths, arms)


@pytest.mark.parametrize(
    "name",
    ["straight", "moving", "sphere", "sphere_side", "cylinder", "cylinder_front", "two_wraps"],
)
def test_arms_are_minus_the_derivative_of_geodesic_lengths(wraps_model, name):
    model = only(wraps_model, name)
    q = ca.SX.sym("q", model.nq)
    slope = ca.jacobian(hd.muscle.lengths(model, q, "geodesic"), q)
    derivative = ca.Function("slope", [q], [slope])
    states = random_states(model, 60)
    arms = hd.muscle.moment_arms(model, states, "geodesic")[:, 0]
    expected = np.array([-derivative(state).full()[0] for state in states])
    np.testing.assert_allclose(arms, expected, atol=2e-5 if name == "two_wraps" else 1e-9)


def test_lengthening_speed_is_the_rate_of_the_length(wraps_model):
    names = ("straight", "conditional", "moving", "sphere", "cylinder", "cylinder_range")
    model = only(wraps_model, *names)
    states = random_states(model, 20)
    v = np.random.default_rng(2).normal(size=states.shape)
    step = 1e-6
    ahead, behind = (
        hd.muscle.lengths(model, states + sign * step * v, "geodesic") for sign in (1, -1)
    )
    speeds = hd.muscle.lengthening_speeds(model, states, v, "geodesic")
    np.testing.assert_allclose(speeds, (ahead - behind) / (2 * step), atol=2e-8)


def test_both_rules_agree_where_opensim_slides_to_tangency(wraps_model):
    model = only(wraps_model, "cylinder")
    states = random_states(model, 100)
    geodesic = hd.muscle.lengths(model, states, "geodesic")
    difference = hd.muscle.lengths(model, states) - geodesic
    assert (difference > -1e-12).all()
    assert 0 < difference.max() < 1e-3


def test_a_batch_has_any_leading_shape(wraps_model):
    model = only(wraps_model, "straight", "cylinder")
    states = random_states(model, 6)
    lengths = hd.muscle.lengths(model, states.reshape(2, 3, -1))
    arms = hd.muscle.moment_arms(model, states[0])
    assert lengths.shape == (2, 3, 2)
    assert arms.shape == (2, model.nv)
    np.testing.assert_array_equal(lengths.reshape(6, 2), hd.muscle.lengths(model, states))


def test_native_code_computes_the_same_lengths(wraps_model):
    model = only(wraps_model, "cylinder_back", "sphere_side", "conditional")
    states = random_states(model, 50)
    kernel = hd.muscle.lengths.kernel(model, states)
    expected = kernel.as_interpreted()(states)
    kernel.compile()
    np.testing.assert_allclose(kernel(states), expected, atol=1e-14)


def test_ligaments_have_lengths_and_arms(wraps_model):
    q = wraps_model.neutral()
    (length,) = hd.muscle.lengths(wraps_model, q, group="ligaments")
    start = hd.dynamics.position(wraps_model, q, "arm", np.array([0.015, -0.27, 0.01]))
    end = hd.dynamics.position(wraps_model, q, "hand", np.array([0.012, -0.03, 0.006]))
    assert length == pytest.approx(np.linalg.norm(end - start), abs=1e-14)
    arms = hd.muscle.moment_arms(wraps_model, q, group="ligaments")
    assert arms.shape == (1, 3)
    assert arms[0, 2] != 0


def test_a_path_within_one_body_has_no_arms(wraps_model):
    muscle = wraps_model.muscles[0]
    fixed = replace(muscle, points=tuple(replace(p, body="arm") for p in muscle.points))
    model = replace(wraps_model, muscles=(fixed,))
    assert not hd.muscle.moment_arms(model, random_states(model, 5)).any()


def test_paths_follow_parameters_of_the_model(wraps_model):
    scale = hd.model.Parameter("scale", 1.0)
    first, *others = wraps_model.muscles[0].points
    longer = replace(first, position=first.position * scale.symbol)
    muscle = replace(wraps_model.muscles[0], points=(longer, *others))
    model = replace(wraps_model, muscles=(muscle,), parameters=(scale,))
    q = wraps_model.neutral()
    same = hd.muscle.lengths(model, q)
    np.testing.assert_allclose(same, hd.muscle.lengths(only(wraps_model, "straight"), q))
    assert hd.muscle.lengths(model, q, parameters={"scale": 1.2}) > same


def test_paths_follow_the_scale_of_a_body(wraps_model):
    scale = hd.model.Parameter("scale", 1.0)
    model = hd.catalog.scale(wraps_model, {"arm": [scale.symbol, 1.0, scale.symbol]})
    numeric = hd.catalog.scale(wraps_model, {"arm": [1.1, 1.0, 1.1]})
    states = random_states(model, 20)
    lengths = hd.muscle.lengths(model, states, parameters={"scale": 1.1})
    np.testing.assert_allclose(lengths, hd.muscle.lengths(numeric, states), atol=1e-12)


def test_refusals_name_what_is_accepted(wraps_model):
    q = wraps_model.neutral()
    with pytest.raises(hd.ModelError, match=r"has no muscles; muscles are read from \.osim files"):
        hd.muscle.lengths(hd.catalog.human36(), hd.catalog.human36().neutral())
    with pytest.raises(hd.ModelError, match="opensim, geodesic"):
        hd.muscle.lengths(wraps_model, q, "shortest")
    with pytest.raises(hd.ModelError, match="muscles, ligaments"):
        hd.muscle.lengths(wraps_model, q, group="tendons")


def test_traced_paths_are_in_the_order_of_the_model(wraps_model):
    q = ca.SX.sym("q", wraps_model.nq)
    _, paths = traced_paths(wraps_model, q, "opensim", "ligaments")
    assert len(paths) == len(path_owners(wraps_model, "ligaments")) == 1
