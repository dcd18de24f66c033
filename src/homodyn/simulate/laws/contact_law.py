"""The interface of contact laws: force laws, step laws and event-driven laws.

A contact law determines the forces in the gaps of a `ContactGeometry`. There are three kinds, and a
law of your own derives from one of them:

- a `ForceLaw` computes forces as a function of the state; any integrator can use it,
- a `StepLaw` solves for the velocities at the end of a step together with the forces; it advances
  with semi-implicit Euler,
- an `EventDrivenLaw` runs a whole simulation with its own steps and events.

Force laws and step laws are traced: they are written over symbols, must not branch on values, and
become part of the kernel of a step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import casadi as ca
from numpy.typing import ArrayLike

from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.simulate.actuation import ActuationArgument
from homodyn.simulate.constants import BatchParameters
from homodyn.simulate.geometry import ContactGeometry, Gap
from homodyn.simulate.options import SimulationOptions
from homodyn.simulate.result import SimulationResult
from homodyn.simulate.rows import JointRow, LoopRow
from homodyn.simulate.rows.target_forces import StepRows
from homodyn.simulate.rows.targets import IsotropicSpring, TargetRow
from homodyn.spatial import Array


class ContactLaw(ABC):  # noqa: B024, abstract by its three kinds
    """Base of all contact laws; derive from one of the three kinds below.

    Attributes:
        name: Name of the law in messages.
    """

    name: str = "contact law"

    def memory_size(self, geometry: ContactGeometry) -> int:
        """Number of values that the law stores from step to step.

        Args:
            geometry: The gaps that the law acts in.

        Returns:
            Entries of its memory, 0 for a law without memory.
        """
        return 0


@dataclass(frozen=True, eq=False)
class ContactForces:
    """Contact forces at a state, over symbols."""

    gaps: list[Gap]
    """All gaps, in the order of ``geometry.names``."""
    forces: list[Array]
    """Force on the body of each gap (N, world), (3,) each; the other body gets its negative."""
    memory_rate: Array = field(default_factory=lambda: ca.SX(0, 1))
    """Rate of the memory of the law (1/s), (memory_size,); left out by laws without memory."""


class ForceLaw(ContactLaw):
    """A law that computes contact forces as a function of the state."""

    def begin_step(
        self, geometry: ContactGeometry, tree: Tree, memory: Array, batch: BatchParameters
    ) -> Array:
        """Memory at the start of a step; within the step it follows its rate.

        Args:
            geometry: The gaps that the law acts in.
            tree: The model at the state of the start.
            memory: Memory after the last step, (memory_size,).
            batch: Batch parameters by name.

        Returns:
            The memory to start the step with, (memory_size,).
        """
        return memory

    @abstractmethod
    def forces(
        self, geometry: ContactGeometry, tree: Tree, memory: Array, batch: BatchParameters
    ) -> ContactForces:
        """Contact forces at a state.

        Args:
            geometry: The gaps that the law acts in; ``geometry.gaps(tree)`` evaluates them.
            tree: The model at the state.
            memory: Memory of the law, (memory_size,).
            batch: Batch parameters by name.

        Returns:
            Gaps, forces and the rate of the memory.
        """


@dataclass(frozen=True, eq=False)
class StepProblem:
    """The problem that a `StepLaw` solves: one step from a state, over symbols."""

    geometry: ContactGeometry
    tree: Tree
    """The model at the state before the step."""
    tau: Array
    """Generalized forces besides contacts, joint rows, loops and bias (N m, N), (nv,)."""
    joints: Sequence[JointRow]
    """Limits, dry friction, springs, dampers and servos along coordinates."""
    h: Array
    """Length of the step (s)."""
    memory: Array
    """Memory of the law, (memory_size,)."""
    batch: BatchParameters
    """Batch parameters by name."""
    loops: Sequence[LoopRow] = ()
    """Rows of the constraints."""
    targets: Sequence[TargetRow | IsotropicSpring] = ()
    """Rows of the user; only laws with ``takes_rows`` get any."""

    @cached_property
    def rows(self) -> StepRows:
        """Constraints and rows of the user together: inertia, load, and rows with bounds."""
        return StepRows(self.tree, self.h, self.loops, self.targets)


@dataclass(frozen=True, eq=False)
class VelocityStep:
    """The solution of a `StepLaw`: the end of a step, over symbols."""

    v: Array
    """Velocities at the end, (nv,)."""
    gaps: list[Gap]
    """All gaps, in the order of ``geometry.names``."""
    forces: list[Array]
    """Force on the body of each gap (N, world), (3,) each."""
    joint: list[Array]
    """Force of each joint row (N m, N)."""
    memory: Array
    """Memory after the step, (memory_size,)."""
    residual: Array
    """Remaining error of the solver, in the unit ``residual_unit`` of the law."""
    bounded: list[Array] = field(default_factory=list)
    """Force of each of the rows with bounds, ``problem.rows.bounded`` (N m, N)."""
    failed: Array = field(default_factory=lambda: ca.SX(0.0))
    """1 where the step could not be solved, which ends the simulation as ``NOT_CONVERGED``; left
    out by laws that always continue."""


class StepLaw(ContactLaw):
    """A law that solves for the velocities at the end of a step together with the forces.

    Attributes:
        residual_unit: Unit of the residual: ``"m/s"`` (of contacts) or ``"kg m/s"`` (of the model).
        takes_rows: Whether the law solves for ``problem.rows.bounded`` and uses the inertia and the
            load of ``problem.rows``; other laws are refused together with rows of the user.
        refinement: What reduces the residual if there is more of it, such as ``"iterations"``.
    """

    residual_unit: ClassVar[str] = "m/s"
    refinement: ClassVar[str] = "iterations"
    takes_rows: ClassVar[bool] = False

    @abstractmethod
    def step(self, problem: StepProblem) -> VelocityStep:
        """Solve one step.

        Args:
            problem: State, loads and rows of the step.

        Returns:
            Velocities, forces and memory at its end.
        """


class EventDrivenLaw(ContactLaw):
    """A law that runs a whole simulation from event to event."""

    @abstractmethod
    def simulate(
        self,
        model: Model,
        q0: ArrayLike,
        v0: ArrayLike | None,
        duration: float,
        dt: float,
        actuation: ActuationArgument,
        options: SimulationOptions,
    ) -> SimulationResult:
        """Run a simulation; the arguments are those of `homodyn.simulate.run`.

        Args:
            model: What moves.
            q0: Positions at the start, (nq,).
            v0: Velocities at the start, (nv,); None for rest.
            duration: Time to simulate (s).
            dt: Maximum step (s).
            actuation: Actuation of the joints.
            options: Everything else; the integrator and its tolerance do not apply.

        Returns:
            The result.
        """
