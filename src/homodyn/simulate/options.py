"""Options of a simulation: scene, events, constraints, limits, integration and recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from homodyn.dynamics import Constraint
from homodyn.errors import ModelError
from homodyn.foundation import Record, record, unknown_name
from homodyn.integrate import METHODS, Integrator
from homodyn.simulate.contact_geometry import ContactGeometry
from homodyn.simulate.events import StateEvent
from homodyn.simulate.joint_rows import DEFAULT_JOINT_LIMITS, JointLimits

RECORDABLE = ("q", "v", "forces", "distances", "torques", "energy", "residual")
"""Quantities that a rollout can record over time."""


@record
class SimulationOptions(Record):
    """Everything about a run or a rollout besides model, state, time, contact law and actuation.

    Raises:
        ModelError: An integrator or a quantity to record is unknown.
    """

    scene: ContactGeometry | None = None
    """Which contact shapes may touch what; None: all shapes and level ground."""
    events: Sequence[StateEvent] = ()
    """Functions of the state whose zero crossings are located and acted upon."""
    constraints: Constraint | None = None
    """Closed loops and pinned points (`homodyn.dynamics`); without an anchor they hold the frame
    where the first pose has it."""
    joint_limits: JointLimits | None = DEFAULT_JOINT_LIMITS
    """Spring-dampers that stop joints at their limits; None: joints have no limits."""
    torque_limits: bool = True
    """Whether motors stay within the ``max_force`` and ``max_velocity`` of their coordinate."""
    integrator: str | Integrator = "semi_implicit_euler"
    """Name of an integration method (`homodyn.integrate.METHODS`), or a method of your own."""
    tolerance: float = 1e-9
    """Error of a step that ``"dormand_prince"`` accepts, relative to the state."""
    parameters: ArrayLike | Mapping[str, ArrayLike] | None = None
    """Values of the parameters of the model; in a rollout one or one per batch element."""
    batch_parameters: Mapping[str, ArrayLike] | None = None
    """Values that contact laws, actuations and events look up by name; in a rollout one or one per
    batch element."""
    record_interval: float | None = None
    """Time (s) between records; None: every step."""
    recorded_quantities: Sequence[str] = ()
    """What a rollout records over time, of q, v, forces, distances, torques, energy and residual;
    a run records all of it."""
    compiled: bool | None = None
    """Whether a run builds native code; None: where its steps pay for that. A rollout always
    does."""
    threads: int | None = None
    """Threads of a rollout; None: all."""

    def __post_init__(self) -> None:
        if isinstance(self.integrator, str) and self.integrator not in METHODS:
            raise ModelError(unknown_name("integrator", self.integrator, METHODS))
        unknown = [name for name in self.recorded_quantities if name not in RECORDABLE]
        if unknown:
            raise ModelError(
                f"rollouts cannot record {', '.join(unknown)}; they can record "
                f"{', '.join(RECORDABLE)}"
            )
        object.__setattr__(self, "events", tuple(self.events))
        object.__setattr__(self, "recorded_quantities", tuple(self.recorded_quantities))

    @property
    def integrator_name(self) -> str:
        """Name of the integration method."""
        return self.integrator if isinstance(self.integrator, str) else self.integrator.name


DEFAULT_OPTIONS = SimulationOptions()

_HINTS = {
    "controller": "pass a controller as actuation=, in homodyn.simulate.Controller",
    "control": "pass a controller as actuation=, in homodyn.simulate.Controller",
    "torques": "pass torques as actuation=: an array, SampledTorques or a function of the state",
    "torque": "pass torques as actuation=: an array, SampledTorques or a function of the state",
    "tau": "pass torques as actuation=: an array, SampledTorques or a function of the state",
    "law": "pass a contact law as contact=",
    "method": "choose the integration method by options=SimulationOptions(integrator=...)",
    "t_end": "the third time argument is duration= (s)",
    "h": "the step is dt= (s)",
    "lane": "name batch parameters by options=SimulationOptions(batch_parameters=...)",
    "limits": "choose joint limits by options=SimulationOptions(joint_limits=...)",
    "record": "record by options=SimulationOptions(record_interval=..., recorded_quantities=...)",
    "every": "record by options=SimulationOptions(record_interval=...)",
}


def reject_unknown_arguments(function: str, unknown: Mapping[str, Any]) -> None:
    """Raise a ``TypeError`` that says where an unknown argument belongs."""
    for name in unknown:
        fields = SimulationOptions.__dataclass_fields__
        if name in fields:
            hint = f"it is an option: options=SimulationOptions({name}=...)"
        else:
            hint = _HINTS.get(name, f"options are {', '.join(fields)}")
        raise TypeError(f"{function}() has no argument {name!r}; {hint}")


def batch_values(options: SimulationOptions) -> dict[str, float]:
    """The batch parameters of a single run."""
    values = {}
    for name, value in (options.batch_parameters or {}).items():
        number = np.asarray(value, dtype=float)
        if number.ndim:
            raise ModelError(
                f"batch parameter {name!r} of a run is one number, got shape {number.shape}; a "
                "rollout takes one per batch element"
            )
        values[name] = float(number)
    return values
