"""The result of a solver: trajectories, costs, violations and multipliers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of, unknown_name
from homodyn.model import Model
from homodyn.motion import Motion
from homodyn.optimal.nlp.transcribed_problem import TranscribedProblem
from homodyn.optimal.solve.phase_solution import MuscleSolution, PhaseSolution
from homodyn.optimal.solve.phase_trajectory import join_phases, phase_trajectories
from homodyn.optimal.solve.solve_status import SolveStatus
from homodyn.optimal.solve.solved_times import solved_location
from homodyn.optimal.statement.muscle_drive import MUSCLE_CONTROLS, MUSCLE_STATES
from homodyn.optimal.statement.phase import entry_names
from homodyn.optimal.transcription.layout import PhaseLayout
from homodyn.optimal.transcription.muscle_symbols import INTERIOR_SUFFIX

VIOLATION_TOLERANCE = 1e-4
"""Largest scaled violation of rows and bounds that is not reported."""
ACTIVE_BOUND_TOLERANCE = 1e-4
"""A variable within this fraction of its range of a bound is at the bound."""


@record
class ConstraintViolation(Record):
    """A violated constraint row or bound."""

    location: str
    """Phase, node and time (s) from the start of the movement."""
    constraint: str
    """Constraint, and coordinate or contact."""
    amount: float
    """Violation in the unit of the constraint."""
    multiplier: float = 0.0
    """Lagrange multiplier of the row."""

    def __str__(self) -> str:
        return f"{self.location}: {self.constraint} is violated by {self.amount:.3g}"

    def headline(self) -> str:
        """Location, constraint and amount."""
        return str(self)


@record
class SolverResult(Record):
    """What a solver found, before it is verified between the nodes."""

    transcribed: TranscribedProblem
    """The problem that was solved."""
    x: np.ndarray
    """(variables,), unscaled."""
    status: SolveStatus
    """How the solve ended."""
    phases: tuple[PhaseSolution, ...]
    """Trajectories, phase by phase."""
    parameters: dict[str, float]
    """Parameters of the problem by name."""
    terms: dict[str, float]
    """Contribution to the objective, by ``"phase: term"``."""
    violations: tuple[ConstraintViolation, ...]
    """Violated rows and bounds, the worst first."""
    active_bounds: tuple[str, ...]
    """Names of the free variables that lie on a bound."""
    iterations: int
    """Iterations of the solver."""
    timings: dict[str, float]
    """s: ``preparing``, ``solving`` (with ``functions`` and ``linear algebra``), ``checking``."""
    solver_message: str
    """Return status of the solver."""
    multipliers: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(rows,): sensitivity of the objective to the bounds of the rows."""
    bound_multipliers: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(variables,): the same for their bounds."""

    _transient: ClassVar[tuple[str, ...]] = ("transcribed",)

    def headline(self) -> str:
        """Status, objective, iterations and time."""
        return f"{type(self).__name__}: {self.sentence}"

    @property
    def model(self) -> Model:
        """The model that moves."""
        return self.transcribed.model

    @property
    def objective(self) -> float:
        """Sum of all terms."""
        return float(sum(self.terms.values()))

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        seconds = sum(self.timings.get(part, 0.0) for part in ("preparing", "solving", "checking"))
        text = (
            f"{self.status}: objective {self.objective:.6g} after "
            f"{count_of(self.iterations, 'iteration')} and {seconds:.1f} s"
        )
        if self.violations:
            count = count_of(len(self.violations), "constraint row")
            text += f"; {count} violated, worst: {self.violations[0]}"
        return text

    @cached_property
    def motion(self) -> Motion:
        """The movement as the record that gait measures, balance, reports and exporters accept.

        All phases are on one time axis, with torques (springs and muscles included), contact forces
        per body, and foot strikes and foot offs where contacts of feet change. Frames are the nodes
        and the time points of the controls. A node between two phases has the velocities, the
        torques and the contacts with which the later phase begins: those after an impact.
        ``motion.result`` is this solution.
        """
        phases = phase_trajectories(self.transcribed, self.phases, self.parameters)
        notes = []
        if self.transcribed.springs:
            count = count_of(len(self.transcribed.springs), "spring")
            notes.append(f"tau includes the torques of {count} across joints.")
        if self.transcribed.muscles is not None:
            count = count_of(len(self.model.muscles), "muscle")
            notes.append(f"tau includes the torques of {count}.")
        motion = join_phases(self.model, phases)
        return replace(motion, method=self.sentence, notes=tuple(notes), result=self)

    def phase(self, name: str) -> PhaseSolution:
        """The trajectories of one phase.

        Args:
            name: Name of the phase.

        Returns:
            The phase.

        Raises:
            HomodynError: There is no such phase.
        """
        for phase in self.phases:
            if phase.name == name:
                return phase
        raise HomodynError(unknown_name("phase", name, [p.name for p in self.phases]))

    def trajectory(self, quantity: str) -> tuple[np.ndarray, np.ndarray]:
        """Times and values of a quantity over all phases.

        Args:
            quantity: ``"q"``, ``"v"``, ``"a"`` or ``"tau"``.

        Returns:
            Times (s) of the nodes or the controls, and one row of values per time.
        """
        states = quantity in ("q", "v")
        times = [p.time if states else p.control_time for p in self.phases]
        return np.concatenate(times), np.concatenate([getattr(p, quantity) for p in self.phases])


@dataclass(frozen=True, eq=False)
class Iterate:
    """Variables, multipliers of rows and multipliers of bounds, unscaled."""

    x: np.ndarray
    multipliers: np.ndarray
    bound_multipliers: np.ndarray


@dataclass(frozen=True, eq=False)
class SolverOutcome:
    """The last iterate of a solver, and how it ended."""

    iterate: Iterate
    status: SolveStatus
    message: str
    iterations: int
    function_seconds: float
    """Time spent in functions (s)."""


def read_result(
    transcribed: TranscribedProblem, outcome: SolverOutcome, timings: dict[str, float]
) -> SolverResult:
    """Trajectories, terms and violations from the last iterate of a solver."""
    x, multipliers, status = outcome.iterate.x, outcome.iterate.multipliers, outcome.status
    costs, rows = transcribed.program.evaluate(x)
    terms: dict[str, float] = {}
    for block, values in zip(transcribed.blocks, costs, strict=True):
        for k, term in enumerate(block.terms):
            key = f"{block.name}: {term}"
            terms[key] = terms.get(key, 0.0) + float(values[:, k].sum())
    phases, begin = [], 0.0
    for layout in transcribed.layouts:
        phase = _phase_solution(transcribed, layout, x, begin)
        phases.append(phase)
        begin = float(phase.time[-1])
    violations = tuple(
        replace(violation, location=solved_location(violation.location, phases))
        for violation in _violations(transcribed, x, rows, multipliers)
    )
    if not np.isfinite(x).all() or not np.isfinite(rows).all():
        status = SolveStatus.NOT_A_NUMBER
    elif violations and status.success:
        status = SolveStatus.FAILED
    return SolverResult(
        transcribed,
        x,
        status,
        tuple(phases),
        {name: float(x[index]) for name, index in transcribed.parameters.items()},
        terms,
        violations,
        tuple(transcribed.names[k] for k in active_bound_entries(transcribed, x)),
        outcome.iterations,
        timings,
        outcome.message,
        multipliers,
        outcome.iterate.bound_multipliers,
    )


def active_bound_entries(transcribed: TranscribedProblem, x: np.ndarray) -> np.ndarray:
    """Indices of the free variables that lie on a bound."""
    lower, upper = transcribed.lower, transcribed.upper
    width = np.where(np.isfinite(upper - lower), upper - lower, transcribed.scale)
    near = np.minimum(x - lower, upper - x) <= ACTIVE_BOUND_TOLERANCE * width
    return np.flatnonzero((lower < upper) & near)


def _phase_solution(
    transcribed: TranscribedProblem, layout: PhaseLayout, x: np.ndarray, begin: float
) -> PhaseSolution:
    index, fractions = layout.index, layout.fractions
    phase = layout.phase
    duration = float(x[layout.duration])
    nv = transcribed.model.nv
    tau = np.zeros((len(fractions["tau"]), nv))
    tau[:, layout.actuated] = x[index["tau"]]
    muscles = None
    if layout.muscles is not None:
        muscles = MuscleSolution(
            *(x[index[key]] for key in (*MUSCLE_STATES, *MUSCLE_CONTROLS)),
            *(_at_controls(layout, x, key) for key in MUSCLE_STATES),
        )
    names = entry_names(transcribed.model, phase.contacts, "force")
    impulse = transcribed.impulses.get(phase.name, np.zeros(0, dtype=int))
    return PhaseSolution(
        phase.name,
        begin + duration * fractions["q"],
        x[index["q"]],
        x[index["v"]],
        begin + duration * fractions["tau"],
        x[index["a"]] if "a" in index else np.zeros((0, nv)),
        tau,
        x[index["force"]] if "force" in index else np.zeros((0, len(names))),
        names,
        x[impulse],
        muscles,
    )


def _at_controls(layout: PhaseLayout, x: np.ndarray, state: str) -> np.ndarray:
    """A state of muscles at the times of the controls."""
    inside = layout.index.get(f"{state}{INTERIOR_SUFFIX}")
    if inside is not None:
        return np.asarray(x[inside])
    values = x[layout.index[state]]
    # States at the nodes, controls there or in the middle of the intervals.
    if len(values) == len(layout.fractions["tau"]):
        return np.asarray(values)
    return np.asarray((values[1:] + values[:-1]) / 2)


def _violations(
    transcribed: TranscribedProblem, x: np.ndarray, rows: np.ndarray, multipliers: np.ndarray
) -> tuple[ConstraintViolation, ...]:
    """Violated rows and bounds, the worst (in scaled units) first."""
    program = transcribed.program
    violations: list[tuple[float, ConstraintViolation]] = []
    excess = np.maximum(program.lower - rows, rows - program.upper)
    # Written so that NaN counts as a violation.
    for row in np.flatnonzero(~(excess * program.row_scale <= VIOLATION_TOLERANCE)):
        location, constraint = program.row_label(int(row))
        amount = float(excess[row])
        scaled = float(amount * program.row_scale[row])
        violation = ConstraintViolation(location, constraint, amount, float(multipliers[row]))
        violations.append((scaled, violation))
    beyond = np.maximum(transcribed.lower - x, x - transcribed.upper)
    for entry in np.flatnonzero(~(beyond / transcribed.scale <= VIOLATION_TOLERANCE)):
        amount = float(beyond[entry])
        violation = ConstraintViolation(transcribed.names[entry], "bound", amount)
        violations.append((amount / float(transcribed.scale[entry]), violation))
    return tuple(v for _, v in sorted(violations, key=lambda pair: -pair[0]))
