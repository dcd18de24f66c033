"""One simulation from a state over a time, with everything kept that happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from homodyn.dynamics import Constraint
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.model.traced import parameter_array
from homodyn.simulate.actuation import Controller, parts_of
from homodyn.simulate.adaptive import DormandPrince, ImplicitMidpoint
from homodyn.simulate.events import Event
from homodyn.simulate.faults import fault
from homodyn.simulate.geometry import Scene
from homodyn.simulate.integrators import INTEGRATORS
from homodyn.simulate.joint_rows import USUAL_LIMITS, JointLimits
from homodyn.simulate.keeping import made_record
from homodyn.simulate.loops import held_where
from homodyn.simulate.marching import March, Point, Stepper
from homodyn.simulate.record import Record, Status
from homodyn.simulate.rigid import EventDriven, TimeStepping
from homodyn.simulate.setup import Setup
from homodyn.simulate.soft import Soft
from homodyn.simulate.springs import ImplicitSprings
from homodyn.simulate.start import (
    checked_state,
    inside_at_start,
    sampled_torques,
    start_point,
    time_grid,
)
from homodyn.simulate.step import STATES, step_kernel
from homodyn.symbolic import Kernel, Scan
from homodyn.symbolic.kernel import (
    COMPILE_SECONDS_PER_INSTRUCTION,
    INTERPRETED_SECONDS_PER_INSTRUCTION,
)

LAWS: dict[str, type] = {
    "soft": Soft,
    "implicit": ImplicitSprings,
    "time_stepping": TimeStepping,
    "event_driven": EventDriven,
}
"""Contact laws by the name that stands for their usual constants."""

MARCHED = ("dormand_prince", "implicit_midpoint")
"""Integrators whose steps are taken in Python."""

KEPT = ("q", "v", "t", "work", "status", "forces", "distances", "torques", "kinetic", "potential")


def run(
    model: Model,
    q0: Any,
    v0: Any = None,
    duration: float = 1.0,
    dt: float = 1e-3,
    *,
    contact: Any = "implicit",
    actuation: Any = None,
    events: Sequence[Event] = (),
    record: float | None = None,
    scene: Scene | None = None,
    integrator: str = "semi_implicit_euler",
    tolerance: float = 1e-9,
    limits: JointLimits | None = USUAL_LIMITS,
    torque_limits: bool = True,
    parameters: Any = None,
    lane: Mapping[str, float] | None = None,
    constraints: Constraint | None = None,
    compiled: bool | None = None,
) -> Record:
    """Simulate ``model`` from positions ``q0`` and velocities ``v0`` (None: at rest).

    ``dt`` (s) is the step, for ``"dormand_prince"`` the longest; ``record`` (s) the interval of
    what is kept (None: every step). ``contact`` is a law or the name of one, None for no contact;
    ``scene`` says what may touch what (None: all contact shapes and level ground). ``limits`` are
    the stops of joints, None for none; ``torque_limits`` hold motors in what the model says they
    can do. ``parameters`` are values for the parameters of the model, ``lane`` those of other named
    numbers, which laws, controllers and events may use. ``constraints`` close loops or hold points
    (see `homodyn.dynamics`); those without an anchor hold where ``q0`` has them. ``compiled``
    builds native code or leaves it; by default it is built where the steps asked for pay for that.
    The event-driven law takes its own steps, to its own tolerance, and builds nothing.
    """
    law = chosen_law(contact)
    if hasattr(law, "simulate"):
        if integrator != "semi_implicit_euler":
            raise ModelError(
                f"contact law {law.name!r} takes its own steps, as its tolerance asks for; leave "
                f"the integrator out, got {integrator!r}"
            )
        return law.simulate(
            model, q0, v0, duration, dt, actuation=actuation, events=events, record=record,
            scene=scene, limits=limits, torque_limits=torque_limits, parameters=parameters,
            lane=lane, constraints=constraints,
        )  # fmt: skip
    if integrator not in (*INTEGRATORS, *MARCHED):
        raise ModelError(
            f"no integrator {integrator!r}; there are {', '.join((*INTEGRATORS, *MARCHED))}"
        )
    numbers = dict(lane or {})
    setup = Setup(
        model,
        scene or Scene(model),
        law,
        parts_of(actuation),
        integrator,
        limits,
        torque_limits,
        tuple(numbers),
        constraints=held_where(model, checked_state(model, q0, "q0"), constraints),
    )
    start = start_point(setup, q0, v0, numbers)
    given = {"parameters": np.asarray(parameter_array(model, parameters), dtype=float)}
    given = given if model.parameters else {}
    if not model.parameters and parameters is not None:
        raise ModelError(f"model {model.name!r} has no parameters to give values to")
    grid, every = time_grid(duration, dt, record)
    notes: tuple[str, ...] = ()
    if law is not None:
        at = replace(setup.scene, model=model.at(given["parameters"])) if given else setup.scene
        notes = inside_at_start(at, start.q)
    steady = not any(isinstance(part, Controller) for part in setup.actuation)
    if not events and steady and integrator in INTEGRATORS:
        return _looped(setup, start, grid, every, given, notes, compiled)
    return _marched(setup, start, grid, every, given, tuple(events), tolerance, dt, notes)


def chosen_law(contact: Any) -> Any:
    """A contact law from its name, or the law itself."""
    if isinstance(contact, str):
        if contact == "none":
            return None
        if contact not in LAWS:
            raise ModelError(f"no contact law {contact!r}; there are {', '.join((*LAWS, 'none'))}")
        return LAWS[contact]()
    return contact


def _looped(
    setup: Setup,
    start: Point,
    grid: np.ndarray,
    every: int,
    given: dict[str, np.ndarray],
    notes: tuple[str, ...],
    compiled: bool | None,
) -> Record:
    """All steps in one call; one more is taken to see what acts at the last time."""
    names = (*KEPT, "residual", "held")
    kernel = step_kernel(setup, names)
    steps = len(grid) - 1
    h = float(grid[-1]) / steps
    inputs: dict[str, Any] = {
        "q": start.q, "v": start.v, "z": start.z, "t": 0.0, "work": start.work, "status": 0.0,
        "dt": h, "lane": start.lane, **given,
    }  # fmt: skip
    sampled = {}
    torque = sampled_torques(setup, grid)
    if torque is None:
        inputs["torque"] = np.zeros(setup.model.nv)
    else:
        sampled["torque"] = torque
    iteration = Scan(kernel, STATES, stop="status")
    # Records fall on multiples of ``every``; the last time is one of them if it can be.
    apart = every if steps % every == 0 else 1
    course = iteration(
        steps + 1,
        inputs,
        sampled=sampled,
        record=[f"{n}_now" for n in names],
        every=apart,
        native=steps * INTERPRETED_SECONDS_PER_INSTRUCTION > COMPILE_SECONDS_PER_INSTRUCTION
        if compiled is None
        else compiled,
        peek_last_step=True,
    )
    kept = {name: course.records[f"{name}_now"][0] for name in names}
    # Sums of steps drift from the times that were asked for.
    kept["t"] = grid[::apart]
    if apart != every:
        chosen = sorted({*range(0, steps + 1, every), steps})
        kept = {name: array[chosen] for name, array in kept.items()}
    status = Status(int(course.states["status"][0]))
    message = f"ran to {float(grid[-1]):.6g} s"
    if status is not Status.FINISHED:
        standing = kept["status"] == 0
        last = max(1, int(np.count_nonzero(standing)))
        kept = {name: array[:last] for name, array in kept.items()}
        t = float(course.states["t"][0])
        at = replace(start, t=t, q=course.states["q"][0], v=course.states["v"][0])
        if torque is not None:
            at = replace(at, torque=torque[min(round(t / h), steps)])
        message = fault(
            setup, status.value, at.t, h, at.q, at.v, at.torque, at.lane, given.get("parameters")
        )
    kept["jumped"] = np.zeros(len(kept["t"]))
    return made_record(setup, kept, (), status, message, steps, notes, given.get("parameters"))


class FixedStep:
    """The step kernel as a stepper."""

    def __init__(self, setup: Setup, parameters: Mapping[str, np.ndarray]) -> None:
        self._kernel: Kernel = step_kernel(setup)
        self._parameters = dict(parameters)
        self._zero = np.asarray(0.0)

    def __call__(self, point: Point, h: float) -> Point:
        """The point ``h`` later."""
        result = self._kernel(
            q=point.q,
            v=point.v,
            z=point.z,
            t=np.asarray(point.t),
            work=point.work,
            status=self._zero,
            dt=np.asarray(h),
            torque=point.torque,
            lane=point.lane,
            **self._parameters,
        )
        return replace(
            point,
            t=point.t + h,
            q=result["q"],
            v=result["v"],
            z=result["z"],
            work=result["work"],
            status=int(result["status"]),
        )


def _marched(
    setup: Setup,
    start: Point,
    grid: np.ndarray,
    every: int,
    given: dict[str, np.ndarray],
    events: tuple[Event, ...],
    tolerance: float,
    dt: float,
    notes: tuple[str, ...],
) -> Record:
    """Steps in Python, then one look at all kept states for what acted there."""
    stepper: Stepper
    if setup.integrator in MARCHED:
        if setup.stepping:
            raise ModelError(
                f"contact law {setup.law.name!r} goes with semi_implicit_euler, not with "
                f"{setup.integrator}"
            )
        looking = replace(setup, integrator="explicit_euler")
        if setup.integrator == "dormand_prince":
            stepper = DormandPrince(setup, given, tolerance, dt)
        else:
            stepper = ImplicitMidpoint(setup, given)
    else:
        looking = setup
        stepper = FixedStep(setup, given)
    marched = March(setup, stepper, events, given, setup.integrator in MARCHED)
    marched.along(grid, start, every)
    points = marched.points
    look = step_kernel(
        looking, ("forces", "distances", "torques", "kinetic", "potential", "residual", "held")
    )
    h = float(grid[1] - grid[0])
    looked = look(
        q=np.array([p.q for p in points]),
        v=np.array([p.v for p in points]),
        z=np.array([p.z for p in points]),
        t=np.array([p.t for p in points]),
        work=np.array([p.work for p in points]),
        status=0.0,
        dt=h,
        torque=np.array([p.torque for p in points]),
        lane=np.array([p.lane for p in points]),
        **given,
    )
    kept = {name.removesuffix("_now"): array for name, array in looked.items()}
    kept.update(
        {
            name: np.array([getattr(p, name) for p in points])
            for name in ("q", "v", "t", "work", "jumped", "sprung")
        }
    )
    return made_record(
        setup,
        kept,
        tuple(marched.happenings),
        marched.status,
        marched.message,
        marched.steps,
        notes,
        given.get("parameters"),
    )
