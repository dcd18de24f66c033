"""One simulation from a state over a time, with everything kept that happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from homodyn.dynamics import Constraint, row_names
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.model.traced import parameter_array
from homodyn.simulate.actuation import Controller, SampledTorques, parts_of
from homodyn.simulate.adaptive import DormandPrince, ImplicitMidpoint
from homodyn.simulate.events import Event
from homodyn.simulate.faults import fault, made_energy
from homodyn.simulate.geometry import Scene, gap_distances
from homodyn.simulate.integrators import INTEGRATORS
from homodyn.simulate.joint_rows import USUAL_LIMITS, JointLimits, spring_energies
from homodyn.simulate.loops import held_where
from homodyn.simulate.marching import March, Point, Stepper
from homodyn.simulate.record import Happening, Ledger, Record, Status
from homodyn.simulate.rigid import EventDriven, TimeStepping
from homodyn.simulate.setup import Setup
from homodyn.simulate.soft import Soft
from homodyn.simulate.springs import ImplicitSprings
from homodyn.simulate.step import STATES, step_kernel
from homodyn.symbolic import Iteration, Kernel
from homodyn.symbolic.kernel import COMPILED, INTERPRETED

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
DEEP = 0.01
"""Penetration (m) at the start that is worth a note."""


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
    notes = _notes(setup)(start.q) if law is not None and not model.parameters else ()
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


def time_grid(duration: float, dt: float, record: float | None) -> tuple[np.ndarray, int]:
    """Times of all steps, and how many steps lie between records."""
    if not (dt > 0 and duration > 0 and np.isfinite(dt) and np.isfinite(duration)):
        raise ModelError(f"duration {duration} and dt {dt} (s) must be positive numbers")
    if record is not None and not record > 0:
        raise ModelError(f"what is kept is kept every so many seconds > 0, got {record}")
    steps = max(1, int(np.ceil(duration / dt - 1e-9)))
    every = 1 if record is None else max(1, round(record / (duration / steps)))
    return np.linspace(0.0, duration, steps + 1), every


def start_point(setup: Setup, q0: Any, v0: Any, lane: Mapping[str, float]) -> Point:
    """The checked first point of a run."""
    model = setup.model
    q = checked_state(model, q0, "q0")
    v = np.zeros(model.nv) if v0 is None else checked_state(model, v0, "v0")
    numbers = np.array([float(value) for value in lane.values()])
    wrong = [name for name, number in zip(lane, numbers, strict=True) if not np.isfinite(number)]
    if wrong:
        raise ModelError(f"lane parameters must be finite; {', '.join(wrong)} is not")
    return Point(0.0, q, v, np.zeros(setup.memory), np.zeros(3), numbers, np.zeros(model.nv))


def checked_state(model: Model, given: Any, name: str) -> np.ndarray:
    """Positions ("q0") or velocities ("v0") as an array of finite numbers."""
    size = model.nq if name == "q0" else model.nv
    array = np.array(given, dtype=float)
    if array.shape != (size,):
        raise ModelError(f"{name} of model {model.name!r} has {size} entries, got {array.shape}")
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{name} must be finite numbers")
    return unit_quaternions(model, array) if name == "q0" else array


def unit_quaternions(model: Model, q: np.ndarray) -> np.ndarray:
    """Positions with their quaternions made of length one, over leading axes.

    Those that are off by more than rounding in a file would be are refused.
    """
    made = q.copy()
    for joint, slots in zip(model.joints, model.joint_slots, strict=True):
        if not joint.quaternion:
            continue
        turn = made[..., slots.q.stop - 4 : slots.q.stop]
        length = np.linalg.norm(turn, axis=-1, keepdims=True)
        off = np.abs(length - 1)
        if np.any(off > 1e-3):
            worst = float(np.ravel(length)[np.nanargmax(off)])
            raise ModelError(
                f"the quaternion of joint {joint.name!r} has length {worst:.4g}; it must be 1"
            )
        np.divide(turn, length, out=turn, where=off > 1e-12)
    return made


def _notes(setup: Setup) -> Any:
    kernel = gap_distances(setup.scene)

    def notes(q: np.ndarray) -> tuple[str, ...]:
        distances = kernel(q)["distance"]
        return tuple(
            f"{name} starts {-d * 1e3:.0f} mm inside what it touches"
            for name, d in zip(setup.scene.names, distances, strict=True)
            if d < -DEEP
        )

    return notes


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
    iteration = Iteration(kernel, STATES, stop="status")
    # Records fall on multiples of ``every``; the last time is one of them if it can be.
    apart = every if steps % every == 0 else 1
    course = iteration(
        steps + 1,
        inputs,
        sampled=sampled,
        record=[f"{n}_now" for n in names],
        every=apart,
        native=steps * INTERPRETED > COMPILED if compiled is None else compiled,
        look=True,
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


def sampled_torques(setup: Setup, grid: np.ndarray) -> np.ndarray | None:
    """Sum of all sampled torques on the grid; None without any."""
    parts = [part for part in setup.actuation if isinstance(part, SampledTorques)]
    if not parts:
        return None
    total = sum(part.at(grid) for part in parts)
    if total.shape[-1] != setup.model.nv:  # type: ignore[union-attr]
        raise ModelError(
            f"sampled torques have {total.shape[-1]} columns; model "  # type: ignore[union-attr]
            f"{setup.model.name!r} has {setup.model.nv} degrees of freedom"
        )
    return np.asarray(total)


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


def made_record(
    setup: Setup,
    kept: dict[str, np.ndarray],
    happenings: tuple[Happening, ...],
    status: Status,
    message: str,
    steps: int,
    notes: tuple[str, ...],
    parameters: np.ndarray | None = None,
) -> Record:
    """The record of what was kept, under values for the parameters of the model."""
    kept = _finite(kept)
    unstable = (
        made_energy(setup, kept, steps) if status in (Status.FINISHED, Status.ENDED) else None
    )
    if unstable is not None:
        last, message = unstable
        status = Status.UNSTABLE
        kept = {name: array[: last + 1] for name, array in kept.items()}
        happenings = tuple(event for event in happenings if event.time <= kept["t"][-1])
    residuals = kept.get("residual", np.zeros(len(kept["t"])))
    return Record(
        setup.model,
        kept["t"],
        kept["q"],
        kept["v"],
        kept["torques"],
        kept["forces"],
        setup.scene.names if setup.law is not None else (),
        kept["distances"],
        ledger(setup.model, kept, parameters),
        happenings,
        status,
        message,
        steps,
        float(np.max(residuals, initial=0.0)),
        residuals,
        notes,
        setup.scene,
        kept["held"],
        () if setup.constraints is None else row_names(setup.constraints),
    )


def _finite(kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What was kept before the first state at which something is no number.

    That is where a run broke: what acts in a step that cannot be taken is not known. A run that
    broke in its first step keeps the state it began with, and nothing that acts there.
    """
    rows = len(kept["t"])
    sound = np.all([np.isfinite(a.reshape(rows, -1)).all(axis=1) for a in kept.values()], axis=0)
    if sound.all():
        return kept
    last = int(np.argmin(sound))
    if last == 0:
        return {n: np.nan_to_num(a[:1], nan=0.0, posinf=0.0, neginf=0.0) for n, a in kept.items()}
    return {name: array[:last] for name, array in kept.items()}


def ledger(
    model: Model, kept: dict[str, np.ndarray], parameters: np.ndarray | None = None
) -> Ledger:
    """The energy books of recorded states; time is the last axis, lanes may lie before it."""
    kinetic, potential, work = kept["kinetic"], kept["potential"], kept["work"]
    actuators, contacts, joints = work[..., 0], work[..., 1], work[..., 2]
    springs = spring_energies(model, kept["q"], parameters) - kept.get("sprung", 0.0)
    dissipated = -(joints + springs - springs[..., :1])
    change = kinetic + potential - (kinetic + potential)[..., :1]
    error = change - actuators - contacts + dissipated - kept["jumped"]
    return Ledger(kinetic, potential, actuators, contacts, dissipated, kept["jumped"], error)
