"""Forces of all muscles of a model."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.forces import model_of
from homodyn.muscle.models import DeGrooteFregly2016, MuscleModel

FORCE_TOLERANCE = 1e-4
"""Of the maximum isometric force."""


class OnlyRigid(MuscleModel):
    """A model of a user without a tendon."""

    def tendon_force(self, muscle, activation, length, speed):
        return 500.0 * activation


def random_motion(model, count):
    generator = np.random.default_rng(4)
    lower, upper = np.maximum(model.lower, -1), np.minimum(model.upper, 1)
    states = generator.uniform(lower, upper, (count, model.nv))
    speeds = generator.normal(size=states.shape)
    return states, speeds, generator.uniform(0.02, 1, (count, len(model.muscles)))


def check_against_opensim(model, file, ask, count):
    states, speeds, activations = random_motion(model, count)
    expected = ask(file, model, states, 0, speeds, activations)
    strength = np.array([muscle.max_isometric_force for muscle in model.muscles])
    ours = hd.muscle.forces(model, states, speeds, activations, tendon="rigid")
    error = np.abs(ours - expected) / strength
    alone = np.array([len(muscle.wraps) < 2 for muscle in model.muscles])
    # OpenSim's tangent points of the axial method may be on the other side; see tests of paths.
    ellipsoid = np.array([muscle.name.startswith("ellipsoid_") for muscle in model.muscles])
    assert error[:, alone & ~ellipsoid].max() < FORCE_TOLERANCE
    if ellipsoid.any():
        assert np.quantile(error[:, ellipsoid], 0.98) < FORCE_TOLERANCE


def test_forces_agree_with_opensim(wraps_file, wraps_model, opensim_paths):
    check_against_opensim(wraps_model, wraps_file, opensim_paths, 100)


@pytest.mark.parametrize(
    "file", ["arnold2013/subject01/subject01.osim", "gait10dof/subject01.osim"]
)
def test_forces_with_rigid_tendons_agree_with_opensim(shared_data, opensim_paths, file):
    check_against_opensim(hd.load(shared_data / file), shared_data / file, opensim_paths, 20)


def test_capacity_is_the_force_at_full_activation_and_at_rest(wraps_model):
    states, speeds, activations = random_motion(wraps_model, 20)
    capacity = hd.muscle.force_capacity(wraps_model, states, speeds)
    force = hd.muscle.forces(wraps_model, states, speeds, activations)
    expected = activations * capacity.active + capacity.passive
    np.testing.assert_allclose(force, expected, atol=1e-9)


def test_power_of_the_forces_is_that_of_their_torques(wraps_model):
    states, speeds, activations = random_motion(wraps_model, 20)
    force = hd.muscle.forces(wraps_model, states, speeds, activations)
    torque = np.einsum("sm,smc->sc", force, hd.muscle.moment_arms(wraps_model, states))
    rate = hd.muscle.lengthening_speeds(wraps_model, states, speeds)
    np.testing.assert_allclose((torque * speeds).sum(axis=1), -(force * rate).sum(axis=1))


def test_refusals_name_what_is_accepted(wraps_model):
    first = wraps_model.muscles[0]
    muscle = replace(first, settings={**first.settings, "ignore_tendon_compliance": False})
    model = replace(wraps_model, muscles=(muscle,))
    state, speed = model.neutral(), np.zeros(model.nv)
    with pytest.raises(hd.ModelError, match="file, rigid, compliant"):
        hd.muscle.forces(model, state, speed, [1.0], tendon="stiff")
    with pytest.raises(hd.ModelError, match="compliant tendon, for which OnlyRigid has no curve"):
        hd.muscle.forces(model, state, speed, [1.0], OnlyRigid())
    assert hd.muscle.forces(model, state, speed, [1.0], OnlyRigid(), tendon="rigid") == [500.0]
    with pytest.raises(hd.ModelError, match="OnlyRigid has no active and passive force"):
        hd.muscle.force_capacity(model, state, speed, OnlyRigid())


def test_an_unknown_kind_needs_a_model(wraps_model):
    muscle = replace(wraps_model.muscles[0], kind="Schutte1993Muscle_Deprecated")
    model = replace(wraps_model, muscles=(muscle,))
    state, speed = model.neutral(), np.zeros(model.nv)
    with pytest.raises(
        hd.ModelError, match="Schutte1993Muscle_Deprecated; forces are computed for"
    ):
        hd.muscle.forces(model, state, speed, [1.0])
    law = DeGrooteFregly2016()
    assert model_of(model, law) == [law]
    assert hd.muscle.forces(model, state, speed, [1.0], law).shape == (1,)


@pytest.mark.parametrize("tendon", ["rigid", "compliant"])
@pytest.mark.parametrize("level", [np.nan, 1.2, -0.1])
def test_activations_out_of_range_are_refused_by_muscle_and_frame(wraps_model, tendon, level):
    states, speeds, activations = random_motion(wraps_model, 4)
    activations[2, 1] = level
    name = wraps_model.muscles[1].name
    for compute in (hd.muscle.forces, hd.muscle.equilibrium):
        with pytest.raises(hd.ModelError, match=f"of muscle '{name}' in frame 2 is {level:g}"):
            compute(wraps_model, states, speeds, activations, tendon=tendon)
