"""Static optimization: properties, faults, and OpenSim's tool on the same problem."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.model.muscles import Muscle, PathPoint
from homodyn.muscle import ActivationStatus, EmgTargets
from homodyn.muscle.models import FiberForce, FiberState, Millard2012
from support import muscled_leg
from support.opensim_walks import load_walk, opensim_activations

ACTIVATION_TOLERANCE = 1e-3
"""Of activations where the problem is the same as OpenSim's."""
SPEED_RAD_S = 0.5


class UnprojectedMillard(Millard2012):
    """Fibers whose force is not projected on the tendon.

    So does OpenSim's StaticOptimization with muscles of Millard, though not with those of Thelen.
    """

    def rigid_tendon_forces(self, muscle, activation, length, speed):
        parts = super().rigid_tendon_forces(muscle, activation, length, speed)
        along = length - muscle.tendon_slack_length
        cosine = FiberState.of(muscle, along, speed, self.shortest_fiber_along(muscle)).cosine
        return FiberForce(parts.active / cosine, parts.passive / cosine, parts.damping / cosine)


@pytest.fixture(scope="module")
def leg():
    return muscled_leg.build()


@pytest.fixture(scope="module")
def loads(leg):
    return muscled_leg.loads(muscled_leg.swing(leg))


@pytest.fixture(scope="module")
def solved(loads):
    return hd.muscle.static_optimization(loads.motion, loads)


def torques_of(result):
    return np.einsum("fmc,fm->fc", result.moment_arms, result.forces)


def test_muscles_and_reserves_produce_the_torques(loads, solved):
    np.testing.assert_allclose(torques_of(solved) + solved.reserves, loads.tau, atol=1e-8)
    assert solved.count(ActivationStatus.SOLVED) == loads.motion.frames
    assert solved.residual.max() < 1e-8
    assert solved.optimality.max() < 1e-5
    assert solved.activations.min() >= 0.01
    assert solved.activations.max() <= 1.0


def test_forces_are_those_of_the_muscle_model(leg, loads, solved):
    motion = loads.motion
    expected = hd.muscle.forces(leg, motion.q, motion.v, solved.activations, tendon="rigid")
    np.testing.assert_allclose(solved.forces, expected, rtol=1e-9)


def test_no_other_activations_cost_less(loads, solved):
    """Moves in the null space of the moment arms, within the bounds, cost more."""
    generator = np.random.default_rng(0)
    active = (solved.forces - solved.passive_forces) / solved.activations
    for frame in range(0, loads.motion.frames, 12):
        torque = (solved.moment_arms[frame] * active[frame][:, None]).T
        _, _, right = np.linalg.svd(torque)
        cost = (solved.activations[frame] ** 2).sum()
        for direction in right[2:]:
            step = 0.02 * generator.normal() * direction
            other = solved.activations[frame] + step
            if other.min() >= 0.01 and other.max() <= 1:
                assert (other**2).sum() > cost - 1e-9


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_powers_share_the_same_torques(loads, solved, power):
    other = hd.muscle.static_optimization(loads.motion, loads, power=power)
    np.testing.assert_allclose(torques_of(other) + other.reserves, loads.tau, atol=1e-8)
    effort = [(result.activations**power).sum() for result in (other, solved)]
    assert effort[0] < effort[1]


def test_passive_fibers_and_speed_are_choices(loads, solved):
    plain = hd.muscle.static_optimization(loads.motion, loads, force_length_velocity=False)
    assert not plain.fiber_lengths.size
    strengths = np.array([one[1] for one in muscled_leg.LINES.values()])
    np.testing.assert_allclose(plain.forces, plain.activations * strengths)
    active = hd.muscle.static_optimization(loads.motion, loads, passive_fibers=False)
    assert not active.passive_forces.any()
    assert solved.passive_forces.max() > 1
    for result in (plain, active):
        np.testing.assert_allclose(torques_of(result) + result.reserves, loads.tau, atol=1e-8)


def test_splitting_a_muscle_changes_nothing_with_volumes(leg, loads):
    whole = hd.muscle.static_optimization(loads.motion, loads, weights="volume")
    k = int(whole.activations.max(axis=0).argmax())
    half = replace(leg.muscles[k], max_isometric_force=leg.muscles[k].max_isometric_force / 2)
    parts = (replace(half, name="first_part"), replace(half, name="second_part"))
    split = replace(leg, muscles=(*leg.muscles[:k], *parts, *leg.muscles[k + 1 :]))
    own = replace(loads, motion=replace(loads.motion, model=split))
    halves = hd.muscle.static_optimization(own.motion, own, weights="volume")
    merged = np.delete(halves.activations, k + 1, axis=1)
    np.testing.assert_allclose(halves.activations[:, k], halves.activations[:, k + 1], atol=1e-6)
    np.testing.assert_allclose(merged, whole.activations, atol=1e-6)
    # With equal weights, half the muscle costs as much as the whole.
    equal = [hd.muscle.static_optimization(one.motion, one) for one in (loads, own)]
    assert np.abs(equal[1].activations[:, k] - equal[0].activations[:, k]).max() > 1e-3


def test_weights_of_muscles_shift_the_effort(loads, solved):
    shifted = hd.muscle.static_optimization(loads.motion, loads, weights={"vastus": 20.0})
    column = solved.muscle("vastus")
    assert shifted.activations[:, column].sum() < solved.activations[:, column].sum()
    with pytest.raises(hd.HomodynError, match="no muscle 'vastas'"):
        hd.muscle.static_optimization(loads.motion, loads, weights={"vastas": 2.0})


def test_smooth_activations_have_smaller_rates(loads, solved):
    smooth = hd.muscle.static_optimization(loads.motion, loads, smoothness=1e-3)
    np.testing.assert_allclose(torques_of(smooth) + smooth.reserves, loads.tau, atol=1e-6)
    assert smooth.count(ActivationStatus.SOLVED) == loads.motion.frames
    changes = [np.square(np.diff(r.activations, axis=0)).sum() for r in (smooth, solved)]
    assert changes[0] < changes[1]


def test_measured_activations_inform_and_are_tracked(loads, solved):
    measured = np.full((loads.motion.frames, 1), np.nan)
    measured[:30, 0] = np.minimum(solved.activations[:30, 3] + 0.1, 1.0)
    column = solved.muscle("rectus")
    deviations = []
    for mode in ("informed", "tracking"):
        emg = EmgTargets(("rectus",), measured, weight=2.0, mode=mode)
        result = hd.muscle.static_optimization(loads.motion, loads, emg=emg)
        np.testing.assert_allclose(result.activations[30:], solved.activations[30:], atol=1e-6)
        deviations.append(np.abs(result.activations[:30, column] - measured[:30, 0]).mean())
    before = np.abs(solved.activations[:30, column] - measured[:30, 0]).mean()
    assert deviations[1] < deviations[0] < before


def test_frames_without_known_loads_are_reported(loads):
    edge = np.zeros(loads.motion.frames, dtype=bool)
    edge[:4] = True
    result = hd.muscle.static_optimization(loads.motion, replace(loads, edge=edge))
    assert (result.status[:4] == ActivationStatus.LOADS_UNKNOWN).all()
    assert result.count(ActivationStatus.LOADS_UNKNOWN) == 4
    assert "4 without known torques" in result.sentence


def test_a_weak_muscle_makes_frames_infeasible(leg, loads):
    weak = tuple(
        replace(one, max_isometric_force=1.0) if one.name in ("vastus", "rectus") else one
        for one in leg.muscles
    )
    motion = replace(loads.motion, model=replace(leg, muscles=weak))
    own = replace(loads, motion=motion, tau=loads.tau + np.array([0.0, -150.0]))
    result = hd.muscle.static_optimization(motion, own, reserves=0.0)
    short = result.status == ActivationStatus.INFEASIBLE
    assert short.all()
    assert np.abs(result.reserves[:, 1]).min() > 50
    sentence = result.notes[-2]
    assert "60 frames beyond the strength" in sentence
    assert "frame 0 (0.000 s)" in sentence
    assert "knee (-" in sentence
    with_reserves = hd.muscle.static_optimization(motion, own)
    assert with_reserves.count(ActivationStatus.RESERVES) == motion.frames


def test_large_reserves_are_reported(loads):
    tau = loads.tau.copy()
    tau[10, 1] += 600.0
    result = hd.muscle.static_optimization(loads.motion, replace(loads, tau=tau))
    assert result.status[10] is ActivationStatus.RESERVES
    assert result.count(ActivationStatus.RESERVES) == 1
    assert "knee" in result.sentence


def test_a_coordinate_without_a_muscle_is_left_out_or_named(leg, loads):
    hip_only = replace(leg, muscles=leg.muscles[:2])
    motion = replace(loads.motion, model=hip_only)
    own = replace(loads, motion=motion)
    result = hd.muscle.static_optimization(motion, own)
    assert result.coordinates == ("hip",)
    assert "no muscle moves 1 coordinate" in result.notes[0]
    assert "knee" in result.notes[0]
    chosen = hd.muscle.static_optimization(motion, own, coordinates=("hip", "knee"))
    np.testing.assert_allclose(chosen.reserves[:, 1], loads.tau[:, 1], atol=1e-6)
    with pytest.raises(
        hd.HomodynError, match="nothing can produce the torque of coordinate 'knee'"
    ):
        hd.muscle.static_optimization(motion, own, coordinates=("hip", "knee"), reserves=0.0)


def test_muscles_over_unseen_coordinates_have_no_result(loads):
    motion = replace(loads.motion, unobserved=("knee",))
    result = hd.muscle.static_optimization(motion, loads)
    assert result.coordinates == ("hip",)
    assert result.muscles == ("iliopsoas", "gluteus")
    assert any("4 muscles act on coordinates that no marker shows" in n for n in result.notes)
    with pytest.raises(hd.HomodynError, match="'knee' is locked or no marker shows it"):
        hd.muscle.static_optimization(motion, loads, coordinates=("knee",))


def test_muscles_without_an_effect_are_named(loads):
    model = loads.motion.model
    ends = (PathPoint("a", "thigh", (0, 0, -0.1)), PathPoint("b", "thigh", (0, 0, -0.4)))
    still = Muscle("still", model.muscles[0].kind, ends)
    motion = replace(loads.motion, model=replace(model, muscles=(*model.muscles, still)))
    result = hd.muscle.static_optimization(motion, replace(loads, motion=motion))
    assert "still" not in result.muscles
    assert any("1 muscle without a moment arm" in one and "still" in one for one in result.notes)


def test_faults_are_named(leg, loads):
    motion = loads.motion
    optimize = hd.muscle.static_optimization
    bare = replace(leg, muscles=())
    with pytest.raises(hd.ModelError, match="has no muscles"):
        optimize(replace(motion, model=bare), loads)
    q = motion.q.copy()
    q[5, 1] = np.nan
    with pytest.raises(
        hd.HomodynError, match=r"position of knee is not a number in frame 5 \(0\.0"
    ):
        optimize(replace(motion, q=q), loads)
    tau = loads.tau.copy()
    tau[8, 0] = np.inf
    with pytest.raises(hd.HomodynError, match="torque of hip is not a number in frame 8"):
        optimize(motion, replace(loads, tau=tau))
    with pytest.raises(hd.HomodynError, match="the motion has 10 frames"):
        optimize(motion.take(np.arange(10)), loads)
    with pytest.raises(hd.HomodynError, match=r"muscle 'rectus' contradict each other: lower 0\.5"):
        optimize(motion, loads, lower={"rectus": 0.5}, upper={"rectus": 0.2})
    with pytest.raises(hd.HomodynError, match="reserve of 'ankle'"):
        optimize(motion, loads, reserves={"ankle": 1.0})
    with pytest.raises(hd.HomodynError, match="no coordinate 'ankle'"):
        optimize(motion, loads, coordinates=("ankle",))
    strange = replace(leg, muscles=(replace(leg.muscles[0], kind="StrangeMuscle"),))
    with pytest.raises(hd.ModelError, match="StrangeMuscle"):
        optimize(replace(motion, model=strange), loads)


def test_emg_must_fit_the_motion_and_the_model(loads):
    short = EmgTargets(("rectus",), np.zeros((3, 1)))
    with pytest.raises(hd.HomodynError, match="targets have 3 frames, the motion has 60"):
        hd.muscle.static_optimization(loads.motion, loads, emg=short)
    emg = EmgTargets(("soleus",), np.zeros((60, 1)))
    with pytest.raises(hd.HomodynError, match="no muscle 'soleus'"):
        hd.muscle.static_optimization(loads.motion, loads, emg=emg)


def test_compliant_tendons_are_in_equilibrium(leg, loads, solved):
    motion = loads.motion
    result = hd.muscle.static_optimization(motion, loads, tendon="compliant")
    assert result.count(ActivationStatus.SOLVED) == motion.frames
    np.testing.assert_allclose(torques_of(result) + result.reserves, loads.tau, atol=1e-3)
    state = (leg, motion.q, motion.v, result.activations)
    expected = hd.muscle.forces(*state, tendon="compliant")
    np.testing.assert_allclose(result.forces, expected, rtol=1e-9, atol=1e-9)
    # Stretched tendons leave shorter fibers to muscles that pull.
    pulling = result.forces > 0.5 * result.forces.max(axis=0)
    shorter = result.fiber_lengths < solved.fiber_lengths
    assert shorter[pulling].mean() > 0.9


@pytest.mark.parametrize(
    ("name", "interval", "force_length_velocity"),
    [("gait10dof", (0.8, 0.83), True), ("gait54", (1.0, 1.03), True), ("arm26", (0.3, 0.4), False)],
)
def test_activations_are_those_of_opensim(
    shared_data, tmp_path, name, interval, force_length_velocity
):
    walk = load_walk(shared_data, name)
    rows, activations, forces = opensim_activations(
        walk,
        tmp_path,
        interval,
        1.0,
        power=2.0,
        force_length_velocity=force_length_velocity,
    )
    options = {"force_length_velocity": force_length_velocity, "passive_fibers": False}
    if name == "gait10dof":
        options["muscle_model"] = UnprojectedMillard()
    result = hd.muscle.static_optimization(walk.motion, walk.loads, **options)
    for k, muscle in enumerate(result.muscles):
        error = np.abs(result.activations[rows, k] - activations[muscle]).max()
        assert error < ACTIVATION_TOLERANCE, (muscle, error)
    # OpenSim satisfies the torques to a tolerance only: compare the costs of its own torques.
    columns = [walk.model.coordinate_names.index(name) for name in result.coordinates]
    reserves = np.column_stack([forces[f"reserve_{name}"] for name in result.coordinates])
    pulls = np.column_stack([forces[muscle] for muscle in result.muscles])
    produced = np.einsum("fmc,fm->fc", result.moment_arms[rows], pulls) + reserves
    assert np.abs(produced - walk.loads.tau[rows][:, columns]).max() < 1.0
    tau = walk.loads.tau.copy()
    tau[np.ix_(rows, columns)] = produced
    own = hd.muscle.static_optimization(
        walk.motion, replace(walk.loads, tau=tau), **options
    ).objective[rows]
    theirs = sum(activations[muscle] ** 2 for muscle in result.muscles)
    theirs = theirs + (reserves**2).sum(axis=1)
    assert (own <= theirs * (1 + 1e-6) + 1e-9).all(), (own, theirs)
