"""Learn to stand: a linear policy for the posture of a planar human, by CMA-ES.

Servos of constant targets are too soft to keep the body upright. A policy sets their targets at
ankles, knees and hips fifty times a second from posture and speed; its worth is the mean reward of
pushed episodes. All candidates of a generation act at once, each in its own elements of one vector
environment. ``python examples/learn_to_stand.py`` takes less than a minute; it needs
``pip install "homodyn[gymnasium]"``.
"""

import argparse
from collections.abc import Mapping

import casadi as ca
import cma
import numpy as np

import homodyn as hd
from homodyn.simulate import PD, SimulationOptions, SoftContact, StateEvent
from homodyn.simulate.environments import MovementTask, VectorMovementEnv
from homodyn.simulate.signals import StepSample

HUMAN = hd.catalog.winter_human()
STANDING = hd.simulate.place_on_ground(HUMAN, HUMAN.neutral())
INDEX = {name: HUMAN.coordinate_index(name) for name in HUMAN.coordinate_names}
JOINTS = ("ankle", "knee", "hip")
EPISODES = 2  # per candidate
DURATION = 3.0  # s
MAX_PUSH = 0.25  # rad/s, of the whole body


SERVOS = PD(
    kp={f"{side}_{joint}": 250.0 for side in ("right", "left") for joint in JOINTS},
    kd={f"{side}_{joint}": 15.0 for side in ("right", "left") for joint in JOINTS},
    target={f"{side}_{joint}": joint for side in ("right", "left") for joint in JOINTS},
    stable=True,
)
"""Servos with targets that the policy sets, the same on both sides."""


def posture(t: ca.SX, q: ca.SX, v: ca.SX, batch: Mapping[str, ca.SX]) -> ca.SX:
    """Trunk and joint angles of the right leg (rad) and their speeds, scaled to about 1."""
    places = [INDEX[name] for name in ("root_ry", "right_hip", "right_knee", "right_ankle")]
    center = hd.dynamics.center_of_mass(HUMAN, q)
    foot = hd.dynamics.position(HUMAN, q, "right_sole_3")
    return ca.vertcat(
        5 * ca.vertcat(*[q[k] for k in places]), *[v[k] for k in places], 10 * (center[0] - foot[0])
    )


def uprightness(step: StepSample) -> ca.SX:
    """1 for every step of standing, less the effort and the sway of the trunk."""
    effort = ca.sumsqr(step.torque / 100)
    return 1 - 0.02 * effort - 0.1 * step.v[INDEX["root_ry"]] ** 2


FALLEN = StateEvent(
    "fallen", lambda t, q, v, batch: q[1] - 0.8 * STANDING[1], "falling", action="end"
)


def pushed(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The standing pose, turning about the ankles at a random speed."""
    v = np.zeros(HUMAN.nv)
    v[INDEX["root_ry"]] = generator.uniform(-MAX_PUSH, MAX_PUSH)
    v[INDEX["root_tx"]] = STANDING[1] * v[INDEX["root_ry"]]
    for side in ("right", "left"):
        v[INDEX[f"{side}_ankle"]] = -v[INDEX["root_ry"]]
    return STANDING, v


TASK = MovementTask(
    HUMAN,
    pushed,
    posture,
    uprightness,
    actions={"ankle": (-0.6, 0.6), "knee": (-0.1, 0.6), "hip": (-0.8, 0.8)},
    actuation=SERVOS,
    contact=SoftContact(stiffness=3e4, damping=300.0, friction=0.9),
    dt=1e-3,
    steps_per_action=20,
    duration=DURATION,
    options=SimulationOptions(batch_parameters=dict.fromkeys(JOINTS, 0.0), events=(FALLEN,)),
)


def returns(env: VectorMovementEnv, policies: np.ndarray, seed: int) -> np.ndarray:
    """Mean reward per second of standing of each policy, (candidates,), at most 1."""
    gains = np.repeat(policies.reshape(len(policies), len(JOINTS), -1), EPISODES, axis=0)
    observation, _ = env.reset(seed=seed)
    total, alive = np.zeros(env.num_envs), np.ones(env.num_envs, dtype=bool)
    for _ in range(TASK.episode_length):
        actions = 0.1 * np.einsum("eao,eo->ea", gains, observation)
        observation, reward, terminated, truncated, _ = env.step(actions)
        total += np.where(alive, reward, 0.0)
        alive &= ~(terminated | truncated)
        if not alive.any():
            break
    return total.reshape(len(policies), EPISODES).mean(axis=1) / TASK.episode_length


def learn(
    generations: int, population: int = 24, seed: int = 1
) -> tuple[np.ndarray, float, list[float]]:
    """The best policy, its return on new pushes, and the best return of each generation."""
    env = VectorMovementEnv(TASK, population * EPISODES)
    size = len(JOINTS) * env.reset(seed=0)[0].shape[1]
    search = cma.CMAEvolutionStrategy(
        np.zeros(size), 0.3, {"popsize": population, "seed": seed, "verbose": -9}
    )
    history = []
    for generation in range(generations):
        policies = np.array(search.ask())
        worth = returns(env, policies, seed=1000 + generation)
        search.tell(list(policies), list(-worth))
        history.append(worth.max())
    best = search.result.xfavorite
    final = float(returns(env, np.tile(best, (population, 1)), seed=0).mean())
    return best, final, history


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generations", type=int, default=40)
    generations = parser.parse_args().generations
    idle = VectorMovementEnv(TASK, 24 * EPISODES)
    size = len(JOINTS) * idle.reset(seed=0)[0].shape[1]
    print(f"constant targets: {returns(idle, np.zeros((24, size)), seed=0).mean():.3f}")
    policy, final, history = learn(generations)
    print(
        "best of generations:", " ".join(f"{x:.2f}" for x in history[:: max(1, generations // 10)])
    )
    print(f"learned policy on new pushes: {final:.3f}")
