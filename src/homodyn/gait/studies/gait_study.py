"""A gait study: a model, a controller and objectives, and the search for its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.gait.studies.assistance import PitchAssistance
from homodyn.gait.studies.gait_controller import GaitController
from homodyn.gait.studies.gait_objective import GaitContext, GaitObjective
from homodyn.gait.studies.normative_targets import foot_strike_pose
from homodyn.gait.studies.objectives import combine_objectives, gait_objective
from homodyn.gait.studies.pushes import SEED, SwingPushes
from homodyn.model import Model
from homodyn.search import (
    PSO,
    Objective,
    OptimizerSettings,
    SearchOptions,
    SearchResult,
    Space,
    minimize,
)
from homodyn.search.options import SearchKeywords
from homodyn.simulate import (
    BatchSimulator,
    BodyForce,
    SimulationOptions,
    SimulationResult,
    SimulationStatus,
    SoftContact,
    StateEvent,
    place_on_ground,
    run,
)
from homodyn.simulate.laws import ContactLaw
from homodyn.simulate.measures import Measure
from homodyn.simulate.signals.random_numbers import MAX_SEED

InitialPose = Literal["standing", "stride"]
"""Pose in which simulations begin."""
FALL_HEIGHT_SHARE = 0.7
"""A walker has fallen when its root is below this share of its initial height."""
BROKEN_STATUSES = (
    SimulationStatus.NOT_FINITE,
    SimulationStatus.NOT_CONVERGED,
    SimulationStatus.UNSTABLE,
)
"""Simulations that broke: their candidates fail and are never evaluated as gaits."""


@record
class GaitEvaluation(Record):
    """Objectives of a batch of candidates."""

    objectives: dict[str, np.ndarray]
    """(candidates,) by name; NaN where the simulation broke."""
    end_time: np.ndarray
    """(candidates,), s."""
    status: np.ndarray
    """Values of `SimulationStatus`, (candidates,)."""

    @property
    def broken(self) -> np.ndarray:
        """Whether a simulation broke, (candidates,)."""
        return np.isin(self.status, [status.value for status in BROKEN_STATUSES])


@record
class GaitStudy(Record):
    """A search for gaits of a model by simulation.

    Raises:
        HomodynError: An objective is unknown, or a number is out of range.
    """

    name: str
    model: Model
    controller: GaitController
    objectives: tuple[Objective, ...]
    """In order, each except the last with a condition; names are those of `GAIT_OBJECTIVES`."""
    speed: float
    """Target, and speed at the start (m/s)."""
    duration: float = 10.0
    """s."""
    dt: float = 1e-3
    """s."""
    contact: ContactLaw = field(default_factory=lambda: SoftContact(stiffness=3e4, damping=60.0))
    assistance: PitchAssistance | None = field(default_factory=PitchAssistance)
    pushes: SwingPushes | None = None
    repeats: int = 1
    """Simulations of a candidate with different pushes, of which the worst counts."""
    optimizer: OptimizerSettings = field(default_factory=lambda: PSO.with_constriction(120))
    iterations: int = 500
    notes: tuple[str, ...] = ()
    """What is assumed."""
    formulas: Mapping[str, str] = field(default_factory=dict)
    """Formulas of objectives that combine others, by name; see `combine_objectives`."""
    initial_values: Mapping[str, float] = field(default_factory=dict)
    """Values of parameters at which a search begins, by name; others are drawn at random."""
    initial_pose: InitialPose = "standing"
    """Upright with straight legs, or the pose of normative gait at the right foot strike."""

    def __post_init__(self) -> None:
        for what, number in (
            ("speed", self.speed),
            ("duration", self.duration),
            ("dt", self.dt),
            ("repeats", self.repeats),
            ("iterations", self.iterations),
        ):
            if not number > 0:
                raise HomodynError(f"{what} of study {self.name!r} must be positive, got {number}")
        if not self.objectives:
            raise HomodynError(f"study {self.name!r} needs at least one objective")
        for one in self.objectives:
            known = self.gait_objective(one.name, one.maximize)
            if known.maximize != one.maximize:
                better = "larger" if known.maximize else "smaller"
                raise HomodynError(
                    f"objective {one.name!r} is better when {better}; maximize is wrong"
                )

    def gait_objective(self, name: str, maximize: bool | None = None) -> GaitObjective:
        """The objective of this name: a known one, or a formula of the study.

        Args:
            name: Name of an objective of the study.
            maximize: Whether a formula is maximized; by default as the study says.

        Returns:
            The objective.

        Raises:
            HomodynError: There is no such objective.
        """
        if name not in self.formulas:
            return gait_objective(name)
        if maximize is None:
            maximize = next((one.maximize for one in self.objectives if one.name == name), False)
        return combine_objectives(name, self.formulas[name], maximize=maximize)

    @property
    def space(self) -> Space:
        """Parameters of the controller."""
        return Space(self.controller.parameters)

    @property
    def context(self) -> GaitContext:
        """What the objectives know."""
        joints = self.controller.joints.values()
        names = [name for bounds in joints for name in (bounds.right, bounds.left)]
        assistance = self.assistance or PitchAssistance()
        return GaitContext(
            self.model,
            self.duration,
            self.speed,
            assistance.coordinate,
            assistance.neutral_zone,
            tuple(self.model.coordinate_index(name) for name in names),
            self.controller.phases,
        )

    @cached_property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Initial positions and velocities, on the ground, at the target speed."""
        q, v = self.model.neutral(), np.zeros(self.model.nv)
        if self.initial_pose == "stride":
            q, v = foot_strike_pose(self.model, self.controller.cycle_frequency)
        q = place_on_ground(self.model, q)
        v[self.context.forward] = self.speed
        return q, v

    @cached_property
    def simulator(self) -> BatchSimulator:
        """The compiled simulation of all candidates."""
        return BatchSimulator(
            self.model,
            contact=self.contact,
            actuation=self.controller.servos(),
            options=self.simulation_options(),
        )

    def simulation_options(
        self, parameters: Mapping[str, float] | None = None
    ) -> SimulationOptions:
        """Options of the simulations of the study.

        Args:
            parameters: Values of the parameters; zero by default, for batches that give their own.

        Returns:
            Signals, measures, assistance, pushes and the event of a fall.
        """
        names = list(self.space.names)
        values: dict[str, Any] = dict.fromkeys(names, 0.0) if parameters is None else {**parameters}
        signals = self.controller.signals()
        forces: tuple[BodyForce, ...] = ()
        if self.pushes is not None:
            values.setdefault(SEED, 0.0)
            signals = {**signals, **self.pushes.signals(self.model)}
            forces = self.pushes.forces(self.model)
        return SimulationOptions(
            events=[_fall_event(self.model, self.start[0])],
            rows=() if self.assistance is None else (self.assistance.row(),),
            signals=signals,
            measures=self._measures(),
            batch_parameters=values,
            external_forces=forces,
        )

    def _measures(self) -> dict[str, Measure]:
        found: dict[str, Measure] = {}
        for one in self.objectives:
            found.update(self.gait_objective(one.name).measures(self.context))
        return found

    def evaluate(
        self, values: ArrayLike, seed: ArrayLike = 0, threads: int | None = None
    ) -> GaitEvaluation:
        """Simulate candidates and compute their objectives.

        Args:
            values: (candidates, parameters), in the order of the space.
            seed: Seed of the pushes: one for all candidates, or one per candidate.
            threads: Threads of the simulation; all by default.

        Returns:
            Objectives of each candidate; those of candidates that fell before the second half have
            the worst value of the objective.
        """
        rows = np.atleast_2d(np.asarray(values, dtype=float))
        batch = {name: rows[:, k] for k, name in enumerate(self.space.names)}
        if self.pushes is not None:
            seeds = np.asarray(seed) % MAX_SEED
            batch[SEED] = np.broadcast_to(seeds, len(rows)).astype(float)
        q, v = self.start
        rolled = self.simulator(
            np.tile(q, (len(rows), 1)),
            np.tile(v, (len(rows), 1)),
            self.duration,
            self.dt,
            batch_parameters=batch,
            threads=threads,
        )
        measured = {**rolled.measures, "time": rolled.end_time}
        objectives = self._objective_values(measured)
        broken = np.isin(rolled.status, [status.value for status in BROKEN_STATUSES])
        for name in objectives:
            objectives[name] = np.where(broken, np.nan, objectives[name])
        return GaitEvaluation(objectives, rolled.end_time, rolled.status)

    def _objective_values(self, measured: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Objectives from measures; the worst value where the window was not reached."""
        context = self.context
        reached = measured["time"] > context.second_half
        found = {}
        for one in self.objectives:
            known = self.gait_objective(one.name)
            value = np.asarray(known.value(measured, context), dtype=float)
            usable = np.isfinite(value) & (reached if known.needs_window else True)
            found[one.name] = np.where(usable, value, known.worst)
        return found

    def search(
        self,
        seed: int = 0,
        *,
        options: SearchOptions | None = None,
        iterations: int | None = None,
        optimizer: OptimizerSettings | None = None,
        seeding: Sequence[str | Path] = (),
        **changes: Unpack[SearchKeywords],
    ) -> SearchResult:
        """Search for the best gait.

        Args:
            seed: Seed of the optimizer, and of the pushes.
            options: Database, executor, time limit and progress of the search.
            iterations: Generations; those of the study by default.
            optimizer: Settings of the optimizer; those of the study by default.
            seeding: Databases of earlier studies of the same space, whose best solutions start the
                population.
            **changes: Fields of `SearchOptions` to change, such as ``database="human.db"``.

        Returns:
            The best candidate and the study with all of them.

        Raises:
            SearchError: All candidates failed, or the database has another study of this name.
        """
        with_seed = self.pushes is not None
        return minimize(
            self._evaluate_with_seeds if with_seed else self._evaluate_without_seeds,
            self.space,
            objectives=list(self.objectives),
            optimizer=optimizer or self.optimizer,
            batch=True,
            options=options,
            name=self.name,
            seed=seed,
            iterations=self.iterations if iterations is None else iterations,
            evaluate={"repeats": self.repeats, "keep": "worst"} if self.repeats > 1 else {},
            seeding=self._seeding(seeding),
            **changes,
        )

    def _seeding(self, studies: Sequence[str | Path]) -> dict[str, Any]:
        """Solutions that start the population: those of other studies, or the initial values."""
        if studies:
            return {"studies": tuple(map(str, studies))}
        return {"solutions": (dict(self.initial_values),)} if self.initial_values else {}

    def _evaluate_without_seeds(self, values: np.ndarray) -> np.ndarray:
        found = self.evaluate(values).objectives
        return np.stack([found[one.name] for one in self.objectives], axis=-1)

    def _evaluate_with_seeds(self, values: np.ndarray, seed: np.ndarray) -> np.ndarray:
        found = self.evaluate(values, seed).objectives
        return np.stack([found[one.name] for one in self.objectives], axis=-1)

    def replay(
        self, parameters: Mapping[str, float], duration: float | None = None, seed: int = 0
    ) -> SimulationResult:
        """Simulate one candidate and record everything.

        Args:
            parameters: Values by name, such as ``result.best.parameters``.
            duration: s; that of the study by default.
            seed: Seed of the pushes.

        Returns:
            The simulation; its ``motion`` plays in the studio and has gait measures.

        Raises:
            HomodynError: A parameter is missing or unknown.
        """
        names = set(self.space.names)
        if set(parameters) != names:
            missing, unknown = sorted(names - set(parameters)), sorted(set(parameters) - names)
            wrong = [f"missing {missing[0]!r}"] if missing else []
            wrong += [f"unknown {unknown[0]!r}"] if unknown else []
            raise HomodynError(f"parameters of study {self.name!r}: {', '.join(wrong)}")
        values = {name: float(value) for name, value in parameters.items()}
        if self.pushes is not None:
            values[SEED] = float(seed % MAX_SEED)
        q, v = self.start
        return run(
            self.model,
            q,
            v,
            duration=duration or self.duration,
            dt=self.dt,
            contact=self.contact,
            actuation=self.controller.servos(),
            options=self.simulation_options(values),
        )

    def headline(self) -> str:
        """Name, model, modulation and number of parameters."""
        control, count = self.controller.modulation, len(self.controller.parameters)
        what = f"{control} impedance, {count} parameters"
        return f"GaitStudy {self.name!r} of {self.model.name!r}: {what}"


def _fall_event(model: Model, q0: np.ndarray) -> StateEvent:
    """The root falls below a share of its initial height."""
    up = model.position_index[model.root.v[1]]
    if up is None:
        raise HomodynError(f"the root of {model.name!r} has no height of its own")
    limit = FALL_HEIGHT_SHARE * float(q0[up])
    return StateEvent("fall", lambda t, q, v, batch: q[up] - limit, "falling", action="end")
