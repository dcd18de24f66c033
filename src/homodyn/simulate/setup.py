"""The setup of a simulation: model, geometry, contact law, actuation and method of its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from homodyn.dynamics.constraints import Constraint, row_names
from homodyn.errors import ModelError
from homodyn.integrate import Integrator
from homodyn.model import Model
from homodyn.simulate.actuation import Actuation, ActuationPart, Controller, SampledTorques
from homodyn.simulate.constants import check_contact_names
from homodyn.simulate.event_actions import changed_names
from homodyn.simulate.events import StateEvent
from homodyn.simulate.external_forces import BodyForce
from homodyn.simulate.geometry import ContactGeometry
from homodyn.simulate.laws import ContactLaw, EventDrivenLaw, StepLaw
from homodyn.simulate.measures import Measure
from homodyn.simulate.motion_system import WORK_SIZE
from homodyn.simulate.rows.joint_rows import DEFAULT_JOINT_LIMITS, JointLimits
from homodyn.simulate.rows.targets import TargetRows
from homodyn.simulate.servos import PD
from homodyn.simulate.signals import Signal
from homodyn.simulate.step_memory import StepMemory

SOLVED_METHODS = ("dormand_prince", "implicit_midpoint")
"""Integration methods whose steps are taken in Python."""


@dataclass(frozen=True, eq=False)
class SimulationSetup:
    """Everything that determines a step, except values that may differ between batch elements."""

    model: Model
    geometry: ContactGeometry
    law: ContactLaw | None
    actuation: tuple[ActuationPart, ...] = ()
    integrator: str | Integrator = "semi_implicit_euler"
    joint_limits: JointLimits | None = DEFAULT_JOINT_LIMITS
    torque_limits: bool = True
    batch_names: tuple[str, ...] = ()
    """Names of the batch parameters."""
    energy: bool = True
    """Whether the work of all forces is integrated."""
    end_events: tuple[StateEvent, ...] = ()
    """Events that end a batch element or change its state within the kernel."""
    constraints: Constraint | None = None
    signals: Mapping[str, Signal] = field(default_factory=dict)
    """Values of controllers by name, some with memory."""
    measures: Mapping[str, Measure] = field(default_factory=dict)
    external_forces: tuple[BodyForce, ...] = ()
    rows: tuple[TargetRows, ...] = ()
    """Rows of the user."""

    def __post_init__(self) -> None:
        if not self.model.nv:
            raise ModelError(
                f"model {self.model.name!r} has no degree of freedom: all joints are fixed"
            )
        if isinstance(self.law, StepLaw) and self.integrator_name != "semi_implicit_euler":
            raise ModelError(
                f"contact law {self.law.name!r} solves for velocities at the end of a step and "
                f"needs semi_implicit_euler, not {self.integrator_name}"
            )
        self._check_implicit()
        if self.law is not None:
            check_contact_names(self.law, [shape.name for shape in self.model.contacts])
        if self.solves_steps and (self.step_memory.stateful_signals or self.measures):
            raise ModelError(
                f"{self.integrator_name} has no steps of fixed length; measures and signals with "
                f"memory ({', '.join((*self.step_memory.stateful_signals, *self.measures))}) need "
                "them"
            )

    def _check_implicit(self) -> None:
        """Refuse what is evaluated at the end of a step where the method cannot do this.

        Raises:
            ModelError: There are rows or stable servos, and the method or the law takes none.
        """
        law, name = self.law, self.integrator_name
        refused = None
        if name != "semi_implicit_euler":
            refused = f"semi_implicit_euler, not {name}"
        elif self.rows and isinstance(law, StepLaw) and not law.takes_rows:
            refused = f"a law that takes rows; {law.name!r} has takes_rows=False"
        elif self.rows and isinstance(law, EventDrivenLaw):
            refused = f"steps of fixed length, which {law.name!r} does not have"
        if refused and self.rows:
            raise ModelError(f"rows are evaluated at the end of a step, which needs {refused}")
        if refused and any(isinstance(part, PD) and part.stable for part in self.actuation):
            raise ModelError(
                f"PD(stable=True) is evaluated at the end of a step, which needs {refused}; use "
                "stable=False for servos that act as forces"
            )
        known = (*(row_names(self.constraints) if self.constraints else ()), *self.row_names)
        twice = [one for k, one in enumerate(known) if one in known[:k]]
        if self.rows and twice:
            raise ModelError(f"two rows are called {twice[0]!r}; names of rows must differ")

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows of the user."""
        return tuple(name for rows in self.rows for name in rows.names(self.model))

    @cached_property
    def target_size(self) -> int:
        """Number of sampled targets in the inputs of a step."""
        return sum(rows.sampled_size for rows in self.rows)

    def sample_targets(self, times: np.ndarray) -> np.ndarray:
        """Sampled targets at the starts of steps, (n, size) or (batch, n, size)."""
        parts = [rows.sample(times) for rows in self.rows if rows.sampled_size]
        lead = np.broadcast_shapes(*(part.shape[:-2] for part in parts))
        shaped = [np.broadcast_to(part, (*lead, *part.shape[-2:])) for part in parts]
        return np.concatenate(shaped, axis=-1)

    @property
    def integrator_name(self) -> str:
        """Name of the integration method."""
        return self.integrator if isinstance(self.integrator, str) else self.integrator.name

    @property
    def solves_steps(self) -> bool:
        """Whether the method has adaptive or implicit steps, which run in Python."""
        return self.integrator in SOLVED_METHODS

    @cached_property
    def step_memory(self) -> StepMemory:
        """What is carried from step to step besides the state."""
        names, signals = self.batch_names, self.signals
        carried = StepMemory(self.model, names, signals, dict(self.measures))
        changed = [
            name
            for event in self.end_events
            for name in changed_names(event, self.model, names, carried)
        ]
        return replace(carried, variables=tuple(name for name in names if name in changed))

    @cached_property
    def law_memory(self) -> int:
        """Number of values that the law stores."""
        return int(self.law.memory_size(self.geometry)) if self.law is not None else 0

    @cached_property
    def actuator_states(self) -> tuple[str, ...]:
        """Names of the states of all actuations."""
        return tuple(n for part in self.traced_actuation for n in part.state_names(self.model))

    @property
    def memory(self) -> int:
        """Number of values besides positions and velocities: of the law, then of actuations."""
        return self.law_memory + len(self.actuator_states)

    def initial_memory(
        self, q: np.ndarray, v: np.ndarray, parameters: np.ndarray | None
    ) -> np.ndarray:
        """Those values at the start: zeros for the law, initial states of the actuations.

        Args:
            q: Positions, (..., nq).
            v: Velocities, (..., nv).
            parameters: Values of the parameters of the model.
        """
        parts = [
            np.asarray(part.initial_state(self.model, q, v, parameters), dtype=float)
            for part in self.traced_actuation
            if part.state_names(self.model)
        ]
        lead = np.broadcast_shapes((), *(part.shape[:-1] for part in parts))
        parts = [np.zeros(self.law_memory), *parts]
        return np.concatenate(
            [np.broadcast_to(part, (*lead, part.shape[-1])) for part in parts], axis=-1
        )

    @cached_property
    def gap_count(self) -> int:
        """Number of gaps."""
        return len(self.geometry.names) if self.law is not None else 0

    @property
    def traced_actuation(self) -> tuple[Actuation, ...]:
        """Actuations that are part of the kernel."""
        return tuple(part for part in self.actuation if isinstance(part, Actuation))

    @property
    def sampled_torques(self) -> tuple[SampledTorques, ...]:
        """Actuations that come from tables."""
        return tuple(part for part in self.actuation if isinstance(part, SampledTorques))

    @property
    def controllers(self) -> tuple[Controller, ...]:
        """Actuations that call Python functions."""
        return tuple(part for part in self.actuation if isinstance(part, Controller))

    def sizes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs of a step."""
        model = self.model
        sizes: dict[str, tuple[int, ...]] = {
            "q": (model.nq,),
            "v": (model.nv,),
            "z": (self.memory,),
            "t": (),
            "work": (WORK_SIZE,),
            "status": (),
            "dt": (),
            "torque": (model.nv,),
            "batch": (len(self.batch_names),),
            "memory": (self.step_memory.size,),
        }
        if self.target_size:
            sizes["targets"] = (self.target_size,)
        if model.parameters:
            sizes["parameters"] = (len(model.parameters),)
        return sizes
