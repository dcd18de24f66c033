"""Options of a simulation: scene, events, constraints, limits, integration and recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from homodyn.dynamics.constraints import Constraint
from homodyn.errors import ModelError
from homodyn.foundation import Record, record, unknown_name
from homodyn.foundation.options import change_options
from homodyn.integrate import METHODS, Integrator
from homodyn.simulate.events import StateEvent
from homodyn.simulate.external_forces import BodyForce
from homodyn.simulate.geometry import SceneArgument
from homodyn.simulate.measures import Measure
from homodyn.simulate.rows.joint_rows import DEFAULT_JOINT_LIMITS, JointLimits
from homodyn.simulate.rows.targets import TargetRows
from homodyn.simulate.signals import Quantity, Signal

RECORDABLE = (
    *("q", "v", "forces", "distances", "torques", "energy", "residual", "constraint_forces"),
    "signals",
)
"""Quantities that a rollout can record over time."""


@record
class SimulationOptions(Record):
    """Options of a run or a rollout besides model, state, time, contact law and actuation.

    Raises:
        ModelError: An integrator or a quantity to record is unknown.
    """

    scene: SceneArgument = None
    """A scene or obstacles that all contact shapes can touch, or a `ContactGeometry` that selects
    shapes and pairs; None: level ground."""
    events: Sequence[StateEvent] = ()
    """Functions of the state whose zero crossings are located, with their actions."""
    constraints: Constraint | None = None
    """Closed loops and pinned points (`homodyn.dynamics`); those without an anchor are anchored at
    the initial pose."""
    rows: Sequence[TargetRows] = ()
    """Springs from coordinates, points and loops to targets, evaluated at the end of the step
    (`homodyn.simulate.rows`)."""
    joint_limits: JointLimits | None = DEFAULT_JOINT_LIMITS
    """Spring-dampers that stop joints at their limits; None: joints have no limits."""
    torque_limits: bool = True
    """Whether motors stay within the ``max_force`` and ``max_velocity`` of their coordinate."""
    integrator: str | Integrator = "semi_implicit_euler"
    """Name of an integration method (`homodyn.integrate.METHODS`), or your own method."""
    tolerance: float = 1e-9
    """Largest error of a step of ``"dormand_prince"``, relative to the state."""
    parameters: ArrayLike | Mapping[str, ArrayLike] | None = None
    """Values of the parameters of the model; in a rollout one or one per batch element."""
    batch_parameters: Mapping[str, ArrayLike] | None = None
    """Values that contact laws, actuations and events look up by name; in a rollout one or one per
    batch element."""
    signals: Mapping[str, Signal | Quantity] | None = None
    """Values of controllers by name, computed at each step in their order: functions
    ``f(t, q, v, batch)`` over symbols, or signals with memory (`homodyn.simulate.signals`).
    Everything that looks up batch parameters finds them."""
    measures: Mapping[str, Measure] | None = None
    """Numbers about the whole simulation by name, such as ``Integral(f)`` with ``f(step)``."""
    external_forces: Sequence[BodyForce] = ()
    """Forces and pushes on bodies."""
    record_interval: float | None = None
    """Time (s) between records; None: every step."""
    recorded_quantities: Sequence[str] = ()
    """What a rollout records over time, of q, v, forces, distances, torques, energy, residual and
    constraint_forces, signals; a run records all of it."""
    compiled: bool | None = None
    """Whether a run builds native code; None: if it has enough steps. A rollout always does."""
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
        forces: object = self.external_forces
        if not isinstance(forces, Sequence) or any(not isinstance(f, BodyForce) for f in forces):
            raise ModelError(f"external_forces is a sequence of BodyForce, got {forces!r}")
        object.__setattr__(self, "external_forces", tuple(forces))
        object.__setattr__(self, "events", tuple(self.events))
        rows = self.rows if isinstance(self.rows, (tuple, list)) else (self.rows,)
        wrong = [one for one in rows if not isinstance(one, TargetRows)]
        if wrong:
            raise ModelError(
                f"rows are JointSpring, PointSpring, LoopSpring, MarkerSprings or ResidualJoint; "
                f"got {wrong[0]!r}"
            )
        object.__setattr__(self, "rows", tuple(rows))
        object.__setattr__(self, "recorded_quantities", tuple(self.recorded_quantities))

    @property
    def integrator_name(self) -> str:
        """Name of the integration method."""
        return self.integrator if isinstance(self.integrator, str) else self.integrator.name


DEFAULT_OPTIONS = SimulationOptions()
RUN_ARGUMENTS = ("model", "q0", "v0", "duration", "dt", "contact", "actuation", "options")
"""Arguments of `run` and `rollout` besides the fields of the options."""


class SimulationKeywords(TypedDict, total=False):
    """The fields of `SimulationOptions` as keywords of `run` and `rollout`."""

    scene: SceneArgument
    events: Sequence[StateEvent]
    constraints: Constraint | None
    rows: Sequence[TargetRows]
    joint_limits: JointLimits | None
    torque_limits: bool
    integrator: str | Integrator
    tolerance: float
    parameters: ArrayLike | Mapping[str, ArrayLike] | None
    batch_parameters: Mapping[str, ArrayLike] | None
    signals: Mapping[str, Signal | Quantity] | None
    measures: Mapping[str, Measure] | None
    external_forces: Sequence[BodyForce]
    record_interval: float | None
    recorded_quantities: Sequence[str]
    compiled: bool | None
    threads: int | None


_HINTS = {
    "controller": "pass a controller as actuation=, in homodyn.simulate.Controller",
    "control": "pass a controller as actuation=, in homodyn.simulate.Controller",
    "torques": "pass torques as actuation=: an array, SampledTorques or a function of the state",
    "torque": "pass torques as actuation=: an array, SampledTorques or a function of the state",
    "tau": "pass torques as actuation=: an array, SampledTorques or a function of the state",
    "law": "pass a contact law as contact=",
    "method": "choose the integration method by integrator=",
    "t_end": "the third time argument is duration= (s)",
    "h": "the step is dt= (s)",
    "ground": "pass obstacles as scene=",
    "geometry": "pass a ContactGeometry as scene=",
    "lane": "name batch parameters by batch_parameters=",
    "limits": "choose joint limits by joint_limits=",
    "record": "record by record_interval= and recorded_quantities=",
    "every": "record by record_interval=",
}


def resolve_options(
    function: str, options: SimulationOptions | None, changes: SimulationKeywords
) -> SimulationOptions:
    """The options of a call with its keyword changes.

    Args:
        function: Name of the called function, for messages.
        options: The options; the defaults when left out.
        changes: Fields to change.

    Returns:
        The options.

    Raises:
        TypeError: An argument is not an option; the message says where it belongs.
    """
    return change_options(
        function, options or DEFAULT_OPTIONS, changes, arguments=RUN_ARGUMENTS, hints=_HINTS
    )


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
