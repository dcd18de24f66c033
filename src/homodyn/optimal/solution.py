"""The answer to an optimal-control problem, and what stands in its way when there is none."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from homodyn.errors import HomodynError
from homodyn.optimal.between import Arrival, run_again
from homodyn.optimal.build import Built
from homodyn.optimal.explanation import Explanation, as_text, explained, saturated_entries
from homodyn.optimal.lapses import Lapse, lapses
from homodyn.optimal.layout import PhaseLayout
from homodyn.optimal.phase import entry_names
from homodyn.optimal.warm import with_guess

if TYPE_CHECKING:
    from homodyn.optimal.problem import Problem

VIOLATED = 1e-4
"""Rows and bounds that are missed by more, in the units of the problem, are told."""


class Status(StrEnum):
    """How the search ended."""

    SOLVED = "solved"
    ACCEPTABLE = "acceptable"
    """Met, but for a last digit of the optimality."""
    INFEASIBLE = "infeasible"
    """No way was found to obey all conditions at once."""
    OUT_OF_ITERATIONS = "out of iterations"
    OUT_OF_TIME = "out of time"
    COARSE = "too coarse"
    """Met at the nodes, but the torques lead elsewhere between them."""
    NOT_A_NUMBER = "not a number"
    """A term or row could not be computed somewhere."""
    FAILED = "failed"

    @property
    def good(self) -> bool:
        """Whether the numbers are an answer."""
        return self in (Status.SOLVED, Status.ACCEPTABLE)


@dataclass(frozen=True)
class Violation:
    """A condition that is not obeyed: where, what, and by how much in its own unit."""

    place: str
    what: str
    amount: float
    multiplier: float = 0.0

    def __str__(self) -> str:
        return f"{self.place}: {self.what} is off by {self.amount:.3g}"


@dataclass(frozen=True, eq=False)
class PhaseSolution:
    """One phase of the answer: states at the nodes, controls at the instants they are for."""

    name: str
    time: np.ndarray
    """(nodes,), s, from the start of the movement."""
    q: np.ndarray
    v: np.ndarray
    control_time: np.ndarray
    """(instants,), s."""
    a: np.ndarray
    """(instants, nv); nothing when forward dynamics made them."""
    tau: np.ndarray
    """(instants, nv), N m or N."""
    force: np.ndarray
    """(instants, contact rows), N or N m; nothing when forward dynamics made them."""
    force_names: tuple[str, ...]
    impulse: np.ndarray
    """(contact rows,), N s, of the impact the phase begins with; nothing without one."""

    @property
    def duration(self) -> float:
        """Of the phase (s)."""
        return float(self.time[-1] - self.time[0])


@dataclass(frozen=True, eq=False)
class Solution:
    """Numbers, how they were come by, and what is wrong with them."""

    built: Built
    x: np.ndarray
    status: Status
    phases: tuple[PhaseSolution, ...]
    parameters: dict[str, float]
    terms: dict[str, float]
    """By phase and name of the term, its part of the objective."""
    violations: tuple[Violation, ...]
    saturated: tuple[str, ...]
    """Names of the unknowns that lie on a bound which is not an equation."""
    iterations: int
    seconds: dict[str, float]
    """``preparing``, ``solving`` (of which ``functions`` and ``linear algebra``), ``checking``."""
    ending: str
    """The word of the solver."""
    arrivals: tuple[Arrival, ...] = ()
    """How far each interval, run again by forward dynamics, arrives from its last node."""
    lapses: tuple[Lapse, ...] = ()
    """Conditions that are missed between nodes, in the same run; the worst first."""
    multipliers: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(rows,): by how much the objective would fall if a row had one unit of its own more room."""
    bound_multipliers: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(unknowns,): the same for their bounds."""

    @property
    def between_nodes(self) -> float:
        """The largest error of a coordinate (rad, m) in the arrivals."""
        return max((arrival.worst for arrival in self.arrivals), default=0.0)

    @property
    def objective(self) -> float:
        """The sum of all terms."""
        return float(sum(self.terms.values()))

    @property
    def sentence(self) -> str:
        """What happened, for a person."""
        spent = sum(self.seconds[part] for part in ("preparing", "solving", "checking"))
        text = (
            f"{self.status}: objective {self.objective:.6g} after {self.iterations} iterations "
            f"and {spent:.1f} s"
        )
        if self.violations:
            text += f"; {len(self.violations)} conditions missed, worst {self.violations[0]}"
        if self.status is Status.COARSE:
            text += f"; {self._coarsest}"
        return text

    @property
    def _coarsest(self) -> Arrival | Lapse:
        """What is worst between the nodes."""
        if self.lapses and not self.lapses[0].share <= 1.0:
            return self.lapses[0]
        return max(self.arrivals, key=lambda a: a.worst)

    def phase(self, name: str) -> PhaseSolution:
        """The phase of that name."""
        for phase in self.phases:
            if phase.name == name:
                return phase
        raise HomodynError(f"no phase {name!r}; there are {', '.join(p.name for p in self.phases)}")

    def joined(self, quantity: str) -> tuple[np.ndarray, np.ndarray]:
        """Times and values of ``q``, ``v``, ``a`` or ``tau`` over all phases."""
        states = quantity in ("q", "v")
        times = [p.time if states else p.control_time for p in self.phases]
        return np.concatenate(times), np.concatenate([getattr(p, quantity) for p in self.phases])

    @cached_property
    def explanation(self) -> Explanation:
        """What is missed and where, what holds the answer back, and what to try."""
        return explained(self)

    def explain(self, most: int = 8) -> str:
        """The explanation in lines, at most so many of each kind."""
        return as_text(self, self.explanation, most)

    def guess_for(self, problem: Problem) -> Problem:
        """The problem with this solution for its guess, whatever its mesh."""
        return with_guess(problem, self.phases, self.parameters)


def solution_of(
    built: Built,
    x: np.ndarray,
    *,
    multipliers: np.ndarray,
    bound_multipliers: np.ndarray,
    status: Status,
    ending: str,
    iterations: int,
    seconds: dict[str, float],
    between: float | None = None,
) -> Solution:
    """Read an answer: phases by name, terms, and everything that is missed.

    ``between`` is how far intervals may arrive from the next node (rad, m).
    """
    costs, rows = built.program.evaluate(x)
    terms: dict[str, float] = {}
    for block, values in zip(built.blocks, costs, strict=True):
        for k, term in enumerate(block.terms):
            key = f"{block.name}: {term}"
            terms[key] = terms.get(key, 0.0) + float(values[:, k].sum())
    violations = _violations(built, x, rows, multipliers)
    if not np.isfinite(x).all() or not np.isfinite(rows).all():
        status = Status.NOT_A_NUMBER
    elif violations and status.good:
        status = Status.FAILED
    phases, begin = [], 0.0
    for layout in built.layouts:
        phase = _phase(built, layout, x, begin)
        phases.append(phase)
        begin = float(phase.time[-1])
    parameters = {name: float(x[place]) for name, place in built.parameters.items()}
    arrived: tuple[Arrival, ...] = ()
    lapsed: tuple[Lapse, ...] = ()
    began = time.perf_counter()
    if status.good and between is not None:
        ran = run_again(built, tuple(phases), parameters)
        arrived = tuple(again.arrival for again in ran)
        lapsed = lapses(built.model, ran, parameters)
        # Written so that a number that is none does not pass.
        near = all(arrival.worst <= between for arrival in arrived)
        if not near or not all(lapse.share <= 1.0 for lapse in lapsed):
            status = Status.COARSE
    seconds = {**seconds, "checking": time.perf_counter() - began}
    return Solution(
        built,
        x,
        status,
        tuple(phases),
        parameters,
        terms,
        violations,
        tuple(built.names[k] for k in saturated_entries(built, x)),
        iterations,
        seconds,
        ending,
        arrived,
        lapsed,
        multipliers,
        bound_multipliers,
    )


def _phase(built: Built, layout: PhaseLayout, x: np.ndarray, begin: float) -> PhaseSolution:
    index, fractions = layout.index, layout.fractions
    phase = layout.phase
    duration = float(x[layout.duration])
    nv = built.model.nv
    tau = np.zeros((len(fractions["tau"]), nv))
    tau[:, layout.actuated] = x[index["tau"]]
    names = entry_names(built.model, phase.contacts, "force")
    impulse = built.impulses.get(phase.name, np.zeros(0, dtype=int))
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
    )


def _violations(
    built: Built, x: np.ndarray, rows: np.ndarray, multipliers: np.ndarray
) -> tuple[Violation, ...]:
    """Everything missed by more than a little, the worst (in scaled units) first."""
    program = built.program
    found: list[tuple[float, Violation]] = []
    off = np.maximum(program.lower - rows, rows - program.upper)
    for row in np.flatnonzero(~(off * program.row_scale <= VIOLATED)):
        place, what = program.row_name(int(row))
        amount = float(off[row])
        worst = float(amount * program.row_scale[row])
        found.append((worst, Violation(place, what, amount, float(multipliers[row]))))
    beyond = np.maximum(built.lower - x, x - built.upper)
    for entry in np.flatnonzero(~(beyond / built.scale <= VIOLATED)):
        amount = float(beyond[entry])
        where = Violation(built.names[entry], "bound", amount)
        found.append((amount / float(built.scale[entry]), where))
    return tuple(v for _, v in sorted(found, key=lambda pair: -pair[0]))
