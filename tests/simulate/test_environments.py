"""Environments follow the Gymnasium interface, and batches have the bits of single episodes."""

import warnings

import casadi as ca
import numpy as np
import pytest

pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env

import homodyn as hd
from homodyn.model import Assembly, joints, rod
from homodyn.simulate import PD, BodyForce, SimulationOptions, StateEvent
from homodyn.simulate.environments import MovementEnv, MovementTask, VectorMovementEnv
from homodyn.simulate.signals import LowPass, RandomNumber

POLE = (
    Assembly("pole")
    .add(rod("legs", 28, (0, 0, 0), (0, 0, 0.9)), joints.revolute("y"))
    .add(rod("trunk", 42, (0, 0, 0), (0, 0, 0.8)), joints.revolute("y"), "legs", at=(0, 0, 0.9))
    .model()
)


def make_task(**changes):
    given = {
        "initial": lambda generator: (generator.uniform(-0.1, 0.1, 2), np.zeros(2)),
        "observation": lambda t, q, v, batch: ca.vertcat(q, v, batch["slow"]),
        "reward": lambda step: 1 - ca.sumsqr(step.q),
        "actions": {"hip": (-1.0, 1.0)},
        "actuation": PD({"trunk": 800.0}, {"trunk": 80.0}, {"trunk": "hip"}, stable=True),
        "contact": None,
        "duration": 1.0,
        "options": SimulationOptions(
            batch_parameters={"hip": 0.0, "seed": 0},
            signals={
                "slow": LowPass(lambda t, q, v, batch: q[0], 0.05),
                "size": RandomNumber("normal", 100.0, 20.0, "seed"),
            },
            external_forces=[BodyForce("trunk", force=("size", 0, 0), start=0.2, duration=0.1)],
            events=(
                StateEvent(
                    "fallen", lambda t, q, v, batch: ca.fabs(q[0]) - 0.5, "rising", action="end"
                ),
            ),
        ),
        "draw": lambda generator: {"seed": generator.integers(1000)},
    }
    return MovementTask(POLE, **{**given, **changes})


@pytest.fixture(scope="module")
def task():
    return make_task()


def test_the_environment_passes_the_checker_of_gymnasium(task):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an observation without bounds
        check_env(MovementEnv(task), skip_render_check=True)


def play(env, actions, seed):
    """Observations, rewards and ends of an episode."""
    seen = [env.reset(seed=seed)[0]]
    rewards, ends = [], []
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        seen.append(observation)
        rewards.append(reward)
        ends.append((terminated, truncated))
    return np.array(seen), np.array(rewards), np.array(ends)


def test_episodes_of_a_batch_have_the_bits_of_single_ones(task):
    rng = np.random.default_rng(3)
    length, count = 15, 9
    actions = rng.uniform(-1, 1, (length, count, 1))
    whole = play(VectorMovementEnv(task, count, threads=2), actions, seed=7)
    assert whole[0].shape == (length + 1, count, 5)
    for k in (0, 4, 8):
        alone = play(MovementEnv(task), actions[:, k], seed=7 + k)
        for ours, theirs in zip(whole, alone, strict=True):
            part = ours[..., k] if ours.ndim == 3 and ours.shape[1] == 2 else ours[:, k]
            assert np.array_equal(part, theirs)
    assert len(np.unique(whole[0][0, :, 0])) == count


def test_the_reward_is_the_mean_over_the_steps_of_an_action(task):
    env = VectorMovementEnv(task, 2)
    env.reset(seed=0)
    rewards = []
    for _ in range(4):
        states = []
        fork = env.simulation.save()
        for _ in range(task.steps_per_action):
            states.append(1 - (env.simulation.q**2).sum(axis=1))
            env.simulation.step(hip=0.0)
        env.simulation.restore(fork)
        rewards.append(np.mean(states, axis=0))
        _, reward, *_ = env.step(np.zeros((2, 1)))
        assert np.allclose(reward, rewards[-1], rtol=1e-12)


def test_episodes_end_and_begin_anew():
    leaning = make_task(
        initial=lambda generator: (np.array([generator.uniform(0.44, 0.49), 0.0]), np.zeros(2)),
        duration=0.3,
    )
    env = VectorMovementEnv(leaning, 6)
    first, _ = env.reset(seed=0)
    over = np.zeros(6, dtype=bool)
    for _ in range(60):
        observation, reward, terminated, truncated, info = env.step(np.zeros((6, 1)))
        # After an end the action is ignored and a new episode begins.
        assert not (terminated | truncated)[over].any()
        assert not reward[over].any()
        assert np.all(info["time"][over] == 0)
        assert np.isfinite(observation).all()
        if over.any():
            assert not np.isin(observation[over, 0], first[:, 0]).any()
        over = terminated | truncated
    single = MovementEnv(leaning)
    single.reset(seed=1)
    ends = [single.step([0.0])[2:4] for _ in range(15)]
    assert any(terminated for terminated, _ in ends)
    rest = lambda generator: (np.zeros(2), np.zeros(2))  # noqa: E731
    upright = MovementEnv(make_task(duration=0.2, initial=rest))
    upright.reset(seed=0)
    ends = [upright.step([0.0])[2:4] for _ in range(10)]
    assert ends[-1] == (False, True)
    assert not any(any(end) for end in ends[:-1])


def test_actions_are_clipped_to_their_bounds(task):
    envs = [MovementEnv(task) for _ in range(2)]
    results = []
    for env, action in zip(envs, ([50.0], [1.0]), strict=True):
        env.reset(seed=5)
        results.append(env.step(action)[0])
    assert np.array_equal(*results)


def test_wrong_tasks_are_refused():
    with pytest.raises(hd.ModelError, match="knee is not among hip, seed"):
        make_task(actions={"knee": (-1, 1)})
    with pytest.raises(hd.ModelError, match="steps_per_action is 0"):
        make_task(steps_per_action=0)
    with pytest.raises(hd.ModelError, match="choose another name"):
        make_task(
            options=SimulationOptions(
                batch_parameters={"hip": 0.0}, measures={"reward": hd.simulate.Count(lambda s: s.t)}
            )
        )
