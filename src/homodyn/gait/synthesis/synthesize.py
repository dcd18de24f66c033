"""The search for a best step: from a stored one, by as many stages as it takes.

A stage changes objective and speed at once. Where that fails, the way is halved: a step half-way in
the weights and in the speed is found first, and the rest follows from there.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from homodyn.catalog.heiman_tables import walking_bounds
from homodyn.errors import HomodynError, NoSolution
from homodyn.gait.synthesis.problem import (
    FOOTINGS,
    INTERVALS,
    LENGTHS,
    LONGEST,
    OBJECTIVES,
    SHORTEST,
    TRANSCRIPTION,
    Objective,
    synthesis_problem,
    walker,
)
from homodyn.gait.synthesis.problem import (
    objective as named,
)
from homodyn.gait.synthesis.stored_steps import StoredStep, nearest_start, starts
from homodyn.model import Model
from homodyn.optimal.between import Arrival, run_again
from homodyn.optimal.lapses import Lapse, lapses
from homodyn.optimal.refine import finer
from homodyn.optimal.solution import Solution, Status
from homodyn.optimal.terms import Term, track_coordinates
from homodyn.optimal.warm import Resampled

TRACKING = 3.0
"""Weight (1/s) of squared distances (rad, m) from a walk that leads to a first periodic step."""
HALVINGS = 3
"""How often the way from one step to the next is halved at most."""
TOLERANCE = 1e-5
"""Of the optimality of a step; its conditions are met to 1e-4 of their units or better."""
REFINEMENTS = 2
"""How often intervals are added after the first mesh."""
BARRIER = 1e-3
"""Where the barrier begins when the guess is a step already."""


@dataclass(frozen=True)
class Stage:
    """One problem on the way: what it asks for and how it ended."""

    name: str
    objective: Objective
    speed: float | None
    intervals: tuple[int, ...]
    tracking: float = 0.0
    status: Status | None = None
    iterations: int = 0
    seconds: float = 0.0
    sentence: str = ""

    def __str__(self) -> str:
        how = "not tried" if self.status is None else str(self.status)
        return f"{self.name}: {how}, {self.iterations} iterations, {self.seconds:.1f} s"


@dataclass(frozen=True, eq=False)
class Synthesis:
    """A step that is best at something, and the stages it took."""

    objective: Objective
    speed: float | None
    """m/s, as asked for; None where it was free."""
    solution: Solution
    stages: tuple[Stage, ...]

    @property
    def model(self) -> Model:
        """Who walks."""
        return self.solution.built.model

    @property
    def seconds(self) -> float:
        """Of all stages."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def step(self) -> StoredStep:
        """The step by itself, as it is stored."""
        pace = "free" if self.speed is None else f"{self.speed:g}"
        found = self.solution
        name = f"{self.objective.name} {pace}"
        return stored(name, found, self.objective)

    @property
    def sentence(self) -> str:
        """What came out, for a person."""
        step = self.step
        return (
            f"{self.objective.name}: {self.solution.status} in {len(self.stages)} stages and "
            f"{self.seconds:.0f} s; step of {step.parameters['length']:.3f} m in "
            f"{step.duration:.3f} s, {step.speed:.3f} m/s"
        )

    def explain(self, most: int = 4) -> str:
        """What stands in the way: kinds of conditions that are missed, the worst, what to try."""
        lines = [str(stage) for stage in self.stages]
        kinds: dict[str, int] = {}
        for violation in self.solution.violations:
            kind = violation.what.split(":")[0]
            kinds[kind] = kinds.get(kind, 0) + 1
        if kinds:
            told = sorted(kinds.items(), key=lambda pair: -pair[1])
            lines.append("missed: " + ", ".join(f"{kind} ({count})" for kind, count in told))
        return "\n".join([*lines, self.solution.explain(most)])


Progress = Callable[[Stage], None]


def synthesize(
    objective: str | Objective = "mixed",
    *,
    speed: float | None = None,
    model: Model | None = None,
    start: StoredStep | str | None = None,
    intervals: Sequence[int] | None = None,
    friction: float | None = None,
    seconds: float = 300.0,
    iterations: int = 200,
    between: float | None = 0.02,
    refinements: int = REFINEMENTS,
    progress: Progress = lambda stage: None,
) -> Synthesis:
    """A periodic, mirrored step that is best at ``objective``, at a speed (m/s) or a free one.

    ``objective`` is one of `OBJECTIVES`, or a sum such as ``"torque+3*head"``. The search begins at
    a stored step: the nearest one, or that named ``start`` (``"walk"`` is the synthetic walk).
    ``intervals`` of the four phases are those of the stored step, or as many more as keep what
    happens ``between`` its nodes within bounds; they are added up to ``refinements`` times where
    the motion is not what the nodes say, or a contact pulls between them. ``progress`` hears of
    each stage before and after it. ``seconds`` bounds the whole search. The answer says how it
    ended; look at ``solution.status``.
    """
    wanted = named(objective)
    check_speed(speed)
    model = walker() if model is None else model
    begin = _start(start, wanted, speed)
    mesh = first_mesh(model, begin, between) if intervals is None else tuple(intervals)
    search = _Search(model, mesh, friction, seconds, iterations, between, refinements, progress)
    if begin.objective is None:
        found = search.stage("nearest to the walk", begin, OBJECTIVES["mixed"], None, TRACKING)
        if found.status.good or found.status is Status.COARSE:
            begin = stored("first", found, OBJECTIVES["mixed"])
            found = search.stage("mixed", begin, OBJECTIVES["mixed"], None)
            begin = stored("second", found, OBJECTIVES["mixed"])
        if wanted == OBJECTIVES["mixed"] and speed is None:
            found = search.refined(found, wanted, speed)
            return Synthesis(wanted, speed, found, tuple(search.stages))
    solution = search.refined(search.towards(begin, wanted, speed, HALVINGS), wanted, speed)
    return Synthesis(wanted, speed, solution, tuple(search.stages))


def first_mesh(model: Model, begin: StoredStep, between: float | None) -> tuple[int, ...]:
    """As many intervals as a step like the stored one needs."""
    if begin.objective is None or between is None:
        return INTERVALS
    if begin.transcription != TRANSCRIPTION:
        return INTERVALS
    own = begin.intervals
    problem = synthesis_problem(model, objective=begin.objective, intervals=own)
    built = begin.guess_for(problem).build(TRANSCRIPTION)
    parameters = {name: float(built.guess[place]) for name, place in built.parameters.items()}
    ran = run_again(built, begin.phases, parameters)
    missed = _Again(tuple(a.arrival for a in ran), lapses(model, ran, parameters))
    return finer(own, missed, between, TRANSCRIPTION)


@dataclass(frozen=True, eq=False)
class _Again:
    """What the intervals of a stored step miss."""

    arrivals: tuple[Arrival, ...]
    lapses: tuple[Lapse, ...]


def check_speed(speed: float | None) -> None:
    """Refuse what is no speed of walking, and what bounds rule out before anything is computed."""
    if speed is None:
        return
    if not (np.isfinite(speed) and speed > 0):
        raise HomodynError(f"a speed is a positive number of m/s, got {speed!r}")
    farthest = min(LENGTHS[1], walking_bounds("synthesis")["Pelvis_TX"][1])
    quickest, slowest = len(FOOTINGS) * SHORTEST, len(FOOTINGS) * LONGEST
    if not LENGTHS[0] / slowest <= speed <= farthest / quickest:
        raise NoSolution(
            f"no step at {speed:g} m/s: it would be {LENGTHS[0]:g} to {farthest:g} m long and last "
            f"{quickest:g} to {slowest:g} s, so that speeds lie between "
            f"{LENGTHS[0] / slowest:.2g} and {farthest / quickest:.2g} m/s; ask for one of those, "
            "or for running with a problem of your own"
        )


def _start(start: StoredStep | str | None, wanted: Objective, speed: float | None) -> StoredStep:
    if isinstance(start, StoredStep):
        return start
    if start is None:
        return nearest_start(wanted, speed)
    if start not in starts():
        raise HomodynError(f"no stored step {start!r}; there are {', '.join(starts())}")
    return starts()[start]


def stored(name: str, solution: Solution, objective: Objective) -> StoredStep:
    """The step of a solution; its speed is that of the pelvis, whether it was free or not."""
    first, last = solution.phases[0], solution.phases[-1]
    forward = solution.built.model.coordinate_index("Pelvis_TX")
    gone = float(last.q[-1, forward] - first.q[0, forward])
    parameters = {"speed": gone / float(last.time[-1])} | solution.parameters
    return StoredStep(name, solution.phases, parameters, objective)


@dataclass(eq=False)
class _Search:
    """The stages so far and what is left of the time."""

    model: Model
    intervals: tuple[int, ...]
    friction: float | None
    seconds: float
    iterations: int
    between: float | None
    refinements: int
    progress: Progress

    def __post_init__(self) -> None:
        self.stages: list[Stage] = []
        self.began = clock.perf_counter()

    @property
    def left(self) -> float:
        """Time that is left (s)."""
        return self.seconds - (clock.perf_counter() - self.began)

    def towards(
        self, begin: StoredStep, wanted: Objective, speed: float | None, halvings: int
    ) -> Solution:
        """The step that is wanted, by way of one in the middle where it must be."""
        found = self.stage(_name(wanted, speed), begin, wanted, speed)
        done = found.status.good or found.status is Status.COARSE
        if done or not halvings or self.left <= 0:
            return found
        middle = _between(begin.objective or wanted, wanted)
        pace = None if speed is None else (begin.speed + speed) / 2
        if middle == wanted and (pace is None or abs(pace - begin.speed) < 1e-6):
            return found
        half = self.towards(begin, middle, pace, halvings - 1)
        if not (half.status.good or half.status is Status.COARSE):
            return found
        return self.towards(stored("middle", half, middle), wanted, speed, halvings - 1)

    def refined(self, found: Solution, wanted: Objective, speed: float | None) -> Solution:
        """The same step with more intervals in the phases that move too far between nodes."""
        for _ in range(self.refinements):
            if found.status is not Status.COARSE or self.between is None or self.left <= 0:
                break
            self.intervals = finer(self.intervals, found, self.between, TRANSCRIPTION)
            begin = stored("coarse", found, wanted)
            name = f"{_name(wanted, speed)}, {sum(self.intervals)} intervals"
            finest = self.stage(name, begin, wanted, speed)
            if not (finest.status.good or finest.status is Status.COARSE):
                break
            found = finest
        return found

    def stage(
        self,
        name: str,
        begin: StoredStep,
        wanted: Objective,
        speed: float | None,
        tracking: float = 0.0,
    ) -> Solution:
        """Solve one problem from a step, and tell of it."""
        planned = Stage(name, wanted, speed, self.intervals, tracking)
        self.progress(planned)
        problem = synthesis_problem(
            self.model,
            objective=wanted,
            speed=speed,
            intervals=self.intervals,
            friction=self.friction,
        )
        if tracking:
            terms = _tracking(begin, tracking)
            phases = [
                replace(phase, terms=[*phase.terms, term])
                for phase, term in zip(problem.phases, terms, strict=True)
            ]
            problem = replace(problem, phases=phases)
        solution = begin.guess_for(problem).solve(
            TRANSCRIPTION,
            seconds=max(self.left, 1.0),
            iterations=self.iterations,
            tolerance=TOLERANCE,
            between=self.between,
            barrier=None if begin.objective is None else BARRIER,
        )
        spent: dict[str, Any] = solution.seconds
        done = replace(
            planned,
            status=solution.status,
            iterations=solution.iterations,
            seconds=spent["preparing"] + spent["solving"],
            sentence=solution.sentence,
        )
        self.stages.append(done)
        self.progress(done)
        return solution


def _tracking(begin: StoredStep, weight: float) -> list[Term]:
    return [
        weight * track_coordinates(Resampled(p.time, p.q, p.time[0], p.duration))
        for p in begin.phases
    ]


def _between(one: Objective, two: Objective) -> Objective:
    """Half-way between two objectives."""
    if one == two:
        return two
    weights = {
        name.replace("-", "_"): (one.weights[name] + two.weights[name]) / 2 for name in one.weights
    }
    return Objective(f"half-way to {two.name}", **weights)


def _name(wanted: Objective, speed: float | None) -> str:
    return wanted.name if speed is None else f"{wanted.name} at {speed:g} m/s"
