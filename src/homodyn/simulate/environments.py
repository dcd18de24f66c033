"""Environments with the Gymnasium interface: simulations that learning agents act in.

A `MovementTask` says what is simulated, what the agent sees and sets, and what it is rewarded for.
`VectorMovementEnv` simulates many episodes as one batch, `MovementEnv` a single one. Both need the
package ``gymnasium`` (``pip install "homodyn[gymnasium]"``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.model import Model
from homodyn.simulate.actuation import ActuationArgument
from homodyn.simulate.laws import ContactLaw
from homodyn.simulate.measures import Mean, MeasureFunction
from homodyn.simulate.options import DEFAULT_OPTIONS, SimulationOptions
from homodyn.simulate.result import SimulationStatus
from homodyn.simulate.signals.signal import SignalFunction
from homodyn.simulate.simulation import Simulation, start

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode
except ImportError as error:  # pragma: no cover
    raise ImportError(
        "environments need the package gymnasium: pip install 'homodyn[gymnasium]'"
    ) from error

REWARD = "reward"
"""Name of the measure that accumulates the reward of an action."""

Bounds = tuple[float, float]


@record
class MovementTask(Record):
    """A task for learning agents: a simulation with observations, actions and rewards.

    An episode ends (``terminated``) by an event whose action is ``"end"`` or where the simulation
    fails, and is cut (``truncated``) after ``duration``.

    Raises:
        ModelError: An action is no batch parameter of the options, or times do not fit.
    """

    model: Model
    initial: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
    """A function of a random generator: positions (nq,) and velocities (nv,) at the start."""
    observation: SignalFunction
    """``f(t, q, v, batch)`` over symbols: what the agent sees, (size,)."""
    reward: MeasureFunction
    """``f(step)`` over symbols: a number; the reward of an action is its mean over the steps."""
    actions: Mapping[str, Bounds]
    """Lower and upper bounds of the batch parameters that the agent sets, by name."""
    actuation: ActuationArgument = None
    """What the actions do, such as a `PD` whose targets are the names of actions."""
    contact: ContactLaw | str | None = "implicit"
    dt: float = 2e-3
    """Step of the simulation (s)."""
    steps_per_action: int = 10
    """Steps between two actions."""
    duration: float = 10.0
    """Longest episode (s)."""
    options: SimulationOptions = DEFAULT_OPTIONS
    """Events, signals, batch parameters and all else. ``batch_parameters`` has the actions; their
    values are those before the first action."""
    draw: Callable[[np.random.Generator], Mapping[str, float]] | None = None
    """A function of a random generator: batch parameters of an episode, such as a push seed."""

    def __post_init__(self) -> None:
        known = self.options.batch_parameters or {}
        missing = [name for name in self.actions if name not in known]
        if missing or not self.actions:
            raise ModelError(
                f"actions are batch parameters of the options; {', '.join(missing) or 'none'} "
                f"{'is' if len(missing) < 2 else 'are'} not among {', '.join(known) or 'none'}"
            )
        if REWARD in (self.options.measures or {}):
            raise ModelError("the measure 'reward' is that of the task; choose another name")
        if self.steps_per_action < 1 or not self.duration > 0:
            raise ModelError(
                f"steps_per_action is {self.steps_per_action} and duration {self.duration} s; at "
                "least 1 and more than 0 are needed"
            )

    @property
    def action_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of the actions, (actions,) each."""
        low, high = np.array(list(self.actions.values()), dtype=float).T
        return low, high

    @property
    def episode_length(self) -> int:
        """Largest number of actions in an episode."""
        return max(1, round(self.duration / (self.dt * self.steps_per_action)))

    def start(self, count: int, threads: int | None = None) -> Simulation:
        """Start a batch of simulations of this task.

        Args:
            count: Number of simulations.
            threads: Threads to use; None: all.

        Returns:
            The simulations, in the neutral pose.
        """
        measures = {**(self.options.measures or {}), REWARD: Mean(self.reward)}
        return start(
            self.model,
            np.tile(self.model.neutral(), (count, 1)),
            dt=self.dt,
            contact=self.contact,
            actuation=self.actuation,
            options=replace(self.options, measures=measures, threads=threads),
        )


class _Episodes:
    """Episodes of a task, one per element of a batch."""

    def __init__(self, task: MovementTask, count: int, threads: int | None) -> None:
        self.task, self.count = task, count
        self.simulation = task.start(count, threads)
        self._observe = self.simulation.observer(task.observation)
        self.actions_taken = np.zeros(count, dtype=int)
        self._defaults = {
            name: float(np.asarray(value))
            for name, value in (task.options.batch_parameters or {}).items()
        }
        low, high = task.action_bounds
        self.action_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
        size = self.observation.shape[1]
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)

    @property
    def observation(self) -> np.ndarray:
        """What the agents see, (count, size)."""
        return np.array(self._observe())

    def begin(self, elements: np.ndarray, generators: list[np.random.Generator]) -> None:
        """Begin new episodes of elements, drawn by their generators."""
        for element in elements:
            generator = generators[element]
            q, v = self.task.initial(generator)
            drawn = self.task.draw(generator) if self.task.draw else {}
            self.simulation.reset(q, v, [element], **{**self._defaults, **drawn})
            self.actions_taken[element] = 0

    def act(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take the steps of an action; rewards, and which episodes terminated or were cut."""
        low, high = self.task.action_bounds
        clipped = np.clip(np.asarray(actions, dtype=float), low, high)
        self.simulation.reset_measures()
        self.simulation.step(
            steps=self.task.steps_per_action,
            **dict(zip(self.task.actions, clipped.T, strict=True)),
        )
        self.actions_taken += 1
        # An episode that ends in its first step has no mean reward.
        reward = np.nan_to_num(self.simulation.measures[REWARD])
        terminated = ~self.simulation.running
        truncated = ~terminated & (self.actions_taken >= self.task.episode_length)
        return reward, terminated, truncated

    def info(self) -> dict[str, Any]:
        """Time (s) and status of each element."""
        names = [SimulationStatus(int(k)).name for k in self.simulation.statuses]
        return {"time": self.simulation.time.copy(), "status": np.array(names)}


class VectorMovementEnv(gymnasium.vector.VectorEnv):
    """Many episodes of a task as one batch of simulations.

    Episode k of ``reset(seed=s)`` is that of a single environment with ``reset(seed=s + k)``, to
    the bit. An episode that is over restarts with the next action, which is then ignored
    (``AutoresetMode.NEXT_STEP``).

    Args:
        task: The task.
        num_envs: Number of episodes.
        threads: Threads to use; None: all.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, task: MovementTask, num_envs: int, threads: int | None = None) -> None:
        self.task, self.num_envs = task, num_envs
        self._episodes = _Episodes(task, num_envs, threads)
        self.simulation = self._episodes.simulation
        self.single_action_space = self._episodes.action_space
        self.single_observation_space = self._episodes.observation_space
        batch_space = gymnasium.vector.utils.batch_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._generators: list[np.random.Generator] = []
        self._over = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin new episodes.

        Args:
            seed: Seed of the first episode; the others have the next ones. None: go on with the
                generators, or begin with random ones.
            options: Not used.

        Returns:
            Observations (num_envs, size), and time and status of each episode.
        """
        if seed is not None:
            self._generators = [np.random.default_rng(seed + k) for k in range(self.num_envs)]
        elif not self._generators:
            self._generators = [np.random.default_rng() for _ in range(self.num_envs)]
        self._episodes.begin(np.arange(self.num_envs), self._generators)
        self._over[:] = False
        return self._episodes.observation, self._episodes.info()

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take the steps of one action in all episodes.

        Args:
            actions: (num_envs, actions); values beyond the bounds are clipped.

        Returns:
            Observations, rewards, whether each episode terminated, whether it was cut, and time and
            status.
        """
        fresh = self._over.copy()
        reward, terminated, truncated = self._episodes.act(actions)
        if fresh.any():
            self._episodes.begin(np.flatnonzero(fresh), self._generators)
            reward[fresh], terminated[fresh], truncated[fresh] = 0.0, False, False
        self._over = terminated | truncated
        return self._episodes.observation, reward, terminated, truncated, self._episodes.info()


class MovementEnv(gymnasium.Env):
    """A single episode of a task.

    Args:
        task: The task.
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self, task: MovementTask) -> None:
        self.task = task
        self._episodes = _Episodes(task, 1, 1)
        self.simulation = self._episodes.simulation
        self.action_space = self._episodes.action_space
        self.observation_space = self._episodes.observation_space
        self._generator: np.random.Generator | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin a new episode.

        Args:
            seed: Seed of the episode; None: go on with the generator, or begin with a random one.
            options: Not used.

        Returns:
            Observation (size,), and time and status.
        """
        super().reset(seed=seed)
        if seed is not None or self._generator is None:
            self._generator = np.random.default_rng(seed)
        self._episodes.begin(np.array([0]), [self._generator])
        return self._episodes.observation[0], self._single_info()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take the steps of one action.

        Args:
            action: (actions,); values beyond the bounds are clipped.

        Returns:
            Observation, reward, whether the episode terminated, whether it was cut, and time and
            status.
        """
        reward, terminated, truncated = self._episodes.act(np.asarray(action)[None])
        return (
            self._episodes.observation[0],
            float(reward[0]),
            bool(terminated[0]),
            bool(truncated[0]),
            self._single_info(),
        )

    def _single_info(self) -> dict[str, Any]:
        return {name: values[0] for name, values in self._episodes.info().items()}
