"""The search for wearable robots and their control: topology, places, motors and springs together.

Candidates are checked before they are simulated; all accepted candidates of a topology are
simulated together by one compiled program. Van den Kieboom (2014), chapter 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from homodyn.catalog import winter_human
from homodyn.codesign.cuff_force import mean_cuff_force
from homodyn.codesign.design_check import MAX_BAR_LENGTH_M, DesignChecker, DesignVerdict
from homodyn.codesign.design_space import DesignBounds, DesignSpace
from homodyn.codesign.device import Device, attach_device
from homodyn.codesign.link_inertia import Construction
from homodyn.codesign.motor_set import device_motors
from homodyn.codesign.passive_element import PassiveElement
from homodyn.codesign.topology import Topology, topologies
from homodyn.codesign.walking import Walker, WalkingOutcome, WalkingTask
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.search import (
    MMPSO,
    Objective,
    OptimizerSettings,
    SearchOptions,
    SearchResult,
    Space,
    minimize,
)
from homodyn.search.options import SearchKeywords

FINAL_OBJECTIVES = {
    "power": "mean of the sum of the sizes of all motor powers (W)",
    "torque": "mean of the sum of the sizes of all motor torques (N m)",
    "cuff_force": "mean of the sum of the forces on all cuffs (N)",
}
"""What a search can minimize at last."""
WORST_OBJECTIVE = 1e6
"""Value (W, N m, N) of the last objective for candidates that do not walk to the second half."""
MIN_SPEED_MATCH = 0.95
MAX_ASSIST_SHARE = 0.1
"""Condition of the fourth objective: table 5.3."""
POPULATION, ITERATIONS = 200, 800


def default_optimizer(population: int = POPULATION) -> MMPSO:
    """The published swarm: exploration first, the best subspace at last.

    P_e is 1/20 and falls in the middle of the search, P_l acts about it, P_g from 5/8 of the
    iterations on (section 5.5); the shapes of the curves are not stated.

    Args:
        population: Particles.

    Returns:
        Settings of the optimizer.
    """
    return MMPSO(
        population=population,
        explore="0.05 * sigmoid((0.5 * N - k) / (0.05 * N))",
        local="0.05 * bump((k - 0.5 * N) / (0.1 * N))",
        globally="0.1 * sigmoid((k - 0.65 * N) / (0.02 * N))",
    )


@record
class DesignEvaluation(Record):
    """Objectives of a batch of candidates, and what happened to each."""

    objectives: dict[str, np.ndarray]
    """(candidates,) by name; NaN where the simulation broke."""
    verdicts: tuple[DesignVerdict, ...]
    """Result of the checks before the simulation."""
    broken: np.ndarray
    """Whether the simulation broke, (candidates,)."""

    @property
    def simulated(self) -> np.ndarray:
        """Whether a candidate was simulated and did not break, (candidates,)."""
        accepted = [verdict is DesignVerdict.ACCEPTED for verdict in self.verdicts]
        return np.array(accepted, bool) & ~self.broken


@record
class DesignStudy(Record):
    """A search for wearable robots together with the motors that walk in them.

    Raises:
        HomodynError: The objective is unknown, or a number is out of range.
    """

    name: str = "wearable"
    person: Model = field(default_factory=winter_human)
    """A planar person; hips and knees are passive."""
    topologies: tuple[Topology, ...] = field(default_factory=lambda: tuple(topologies()))
    task: WalkingTask = field(default_factory=WalkingTask)
    bounds: DesignBounds = field(default_factory=DesignBounds)
    passive: PassiveElement = PassiveElement.SPRING
    construction: Construction = field(default_factory=Construction)
    objective: str = "power"
    """What is minimized at last: a key of `FINAL_OBJECTIVES`."""
    optimizer: OptimizerSettings = field(default_factory=default_optimizer)
    iterations: int = ITERATIONS
    notes: tuple[str, ...] = ()
    """What is assumed."""

    def __post_init__(self) -> None:
        if self.objective not in FINAL_OBJECTIVES:
            raise HomodynError(unknown_name("objective", self.objective, FINAL_OBJECTIVES))
        if self.iterations < 1:
            raise HomodynError(f"iterations must be at least 1, got {self.iterations}")
        if not self.topologies or not any(one.pairs for one in self.topologies):
            raise HomodynError("a design study needs a topology with a pair of actuators")
        object.__setattr__(self, "passive", PassiveElement(self.passive))

    def __getstate__(self) -> dict[str, Any]:
        # Without programs: each process builds its own.
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def designs(self) -> DesignSpace:
        """Parameters and groups."""
        return DesignSpace(self.topologies, self.bounds, self.passive)

    @property
    def space(self) -> Space:
        """The search space."""
        return self.designs.space

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """Table 5.3, with the checks before the simulation first, as it is executed."""
        return (
            Objective(name="segment_size", until=f"<= {MAX_BAR_LENGTH_M}", unit="m"),
            Objective(name="singularity", until="<= 0"),
            Objective(name="time", maximize=True, until=">= 0.9999"),
            Objective(name="walking", maximize=True, until=">= 1"),
            Objective(name=self.objective),
        )

    @cached_property
    def _devices(self) -> dict[int, Device]:
        return {}

    @cached_property
    def _checkers(self) -> dict[int, DesignChecker]:
        return {}

    @cached_property
    def _walkers(self) -> dict[int, Walker]:
        return {}

    def device(self, topology: Topology) -> Device:
        """The person with a robot of one topology.

        Args:
            topology: A topology of the study.

        Returns:
            The device, built once.
        """
        if topology.number not in self._devices:
            self._devices[topology.number] = attach_device(
                self.person, topology, construction=self.construction
            )
        return self._devices[topology.number]

    def walker(self, topology: Topology) -> Walker:
        """The simulation of all designs of one topology.

        Args:
            topology: A topology of the study.

        Returns:
            The simulation, built once.
        """
        if topology.number not in self._walkers:
            device = self.device(topology)
            motors = device_motors(device, self.bounds.robot, self.passive)
            extra = {"cuff_force": mean_cuff_force(device)} if self._measures_cuffs else {}
            self._walkers[topology.number] = Walker(
                device.model, motors, self.task, device.loops, extra
            )
        return self._walkers[topology.number]

    @property
    def _measures_cuffs(self) -> bool:
        return self.objective == "cuff_force"

    def _checker(self, topology: Topology) -> DesignChecker:
        if topology.number not in self._checkers:
            self._checkers[topology.number] = DesignChecker(self.device(topology))
        return self._checkers[topology.number]

    def evaluate(
        self, values: ArrayLike, groups: ArrayLike, threads: int | None = None
    ) -> DesignEvaluation:
        """Check candidates, simulate those that are accepted, and compute their objectives.

        Args:
            values: (candidates, parameters), in the order of the space.
            groups: Index of the group of each candidate, (candidates,) or (candidates, 1).
            threads: Threads of the simulation; all by default.

        Returns:
            Objectives; candidates that are rejected have the worst values of those that need a
            simulation.
        """
        rows = np.atleast_2d(np.asarray(values, dtype=float))
        chosen = np.asarray(groups, dtype=int).reshape(len(rows), -1)[:, 0]
        count = len(rows)
        found = {
            "segment_size": np.full(count, np.inf),
            "singularity": np.ones(count),
            "time": np.zeros(count),
            "walking": np.zeros(count),
            self.objective: np.full(count, WORST_OBJECTIVE),
        }
        verdicts = np.full(count, DesignVerdict.ACCEPTED, dtype=object)
        broken = np.zeros(count, bool)
        numbers = np.array([self.designs.groups[k].topology.number for k in chosen])
        for topology in self.topologies:
            own = np.flatnonzero(numbers == topology.number)
            if not len(own):
                continue
            pairs, shares, places = self.designs.places(rows[own], chosen[own], topology)
            checks = self._checker(topology).check(pairs, shares, places, stop_early=True)
            verdicts[own] = checks.verdicts
            found["segment_size"][own] = checks.bar_lengths[:, 1]
            found["singularity"][own] = checks.failed_share
            accepted = np.array([v is DesignVerdict.ACCEPTED for v in checks.verdicts])
            if accepted.any():
                kept = own[accepted]
                device = self.device(topology)
                parameters = device.parameter_values(
                    pairs[accepted], shares[accepted], places[accepted]
                )
                batch = self.designs.batch(rows[kept], pairs[accepted])
                outcome = self.walker(topology).simulate(batch, parameters, threads)
                broken[kept] = outcome.broken
                for name, value in self._walking_objectives(outcome).items():
                    found[name][kept] = value
        for name in found:
            found[name] = np.where(broken, np.nan, found[name])
        return DesignEvaluation(found, tuple(verdicts), broken)

    def _walking_objectives(self, outcome: WalkingOutcome) -> dict[str, np.ndarray]:
        last = outcome.extra.get(self.objective, getattr(outcome, self.objective, None))
        assert last is not None
        return {
            "time": outcome.time,
            "walking": walking_value(outcome, self.task.speed),
            self.objective: np.where(np.isfinite(last), last, WORST_OBJECTIVE),
        }

    def search(
        self,
        seed: int = 0,
        *,
        options: SearchOptions | None = None,
        iterations: int | None = None,
        optimizer: OptimizerSettings | None = None,
        seeding: Sequence[str | Path] = (),
        solutions: Sequence[Mapping[str, float | str]] = (),
        **changes: Unpack[SearchKeywords],
    ) -> SearchResult:
        """Search for the best robot.

        Args:
            seed: Seed of the optimizer.
            options: Database, executor, time limit and progress of the search.
            iterations: Generations; those of the study by default.
            optimizer: Settings of the optimizer; those of the study by default.
            seeding: Databases of earlier studies of the same space, whose best solutions start the
                population.
            solutions: Candidates that start the population: parameters and group by name.
            **changes: Fields of `SearchOptions` to change, such as ``database="wearable.db"``.

        Returns:
            The best candidate and the study with all of them.

        Raises:
            SearchError: All candidates failed, or the database has another study of this name.
        """
        start = {"studies": tuple(map(str, seeding)), "solutions": tuple(solutions)}
        return minimize(
            self.evaluate_batch,
            self.space,
            objectives=list(self.objectives),
            optimizer=optimizer or self.optimizer,
            batch=True,
            options=options,
            name=self.name,
            seed=seed,
            iterations=self.iterations if iterations is None else iterations,
            seeding=start if seeding or solutions else {},
            **changes,
        )

    def evaluate_batch(self, values: np.ndarray, structure: np.ndarray) -> np.ndarray:
        """Objectives of candidates as a search needs them.

        Args:
            values: (candidates, parameters).
            structure: Index of the group, (candidates, 1).

        Returns:
            (candidates, objectives); NaN where the simulation broke.
        """
        found = self.evaluate(values, structure).objectives
        return np.stack([found[one.name] for one in self.objectives], axis=-1)

    def headline(self) -> str:
        """Name, person, topologies and groups."""
        groups = len(self.designs.groups)
        return (
            f"DesignStudy {self.name!r} on {self.person.name!r}: {len(self.topologies)} "
            f"topologies, {groups} actuator pairs, {self.passive} joints, least {self.objective}"
        )


def walking_value(outcome: WalkingOutcome, speed: float) -> np.ndarray:
    """Match of the speed times the share of time without assistance, both up to their conditions.

    It is 1 where the speed matches by 95 % and the assistance acts in at most 10 % of the time.

    Args:
        outcome: Measures of simulations.
        speed: Target (m/s).

    Returns:
        0 to 1, (candidates,).
    """
    actual = np.maximum(np.nan_to_num(outcome.speed), 0.0)
    match = np.minimum(actual, speed) / np.maximum(actual, speed)
    free = 1.0 - np.nan_to_num(outcome.assist_share, nan=1.0)
    return np.minimum(match / MIN_SPEED_MATCH, 1.0) * np.minimum(
        free / (1.0 - MAX_ASSIST_SHARE), 1.0
    )
