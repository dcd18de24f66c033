"""Thousands of simulations at once: lanes of one kernel, each with its own numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from homodyn.dynamics import Constraint
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.simulate.actuation import Controller, parts_of
from homodyn.simulate.events import Event
from homodyn.simulate.geometry import Scene
from homodyn.simulate.integrators import INTEGRATORS
from homodyn.simulate.joint_rows import USUAL_LIMITS, JointLimits
from homodyn.simulate.keeping import ledger
from homodyn.simulate.record import Ledger, Status
from homodyn.simulate.run import chosen_law
from homodyn.simulate.setup import Setup
from homodyn.simulate.start import sampled_torques, time_grid, unit_quaternions
from homodyn.simulate.step import STATES, step_kernel
from homodyn.symbolic import Scan

RECORDABLE = ("q", "v", "forces", "distances", "torques", "energy", "residual")
"""What lanes can keep over time."""

BOOKS = ("q", "work", "kinetic", "potential")
"""What the energy of lanes is worked out from."""


@dataclass(frozen=True, eq=False)
class Rollout:
    """What became of all lanes; lanes come first, then times.

    ``q`` and ``v`` are the last states; ``end_time`` (s) is when a lane stopped; ``status`` holds
    one number of `Status` each. ``records`` has what was asked for, at ``time``; a lane that ended
    keeps its last state, one that broke the last that was known of it.
    """

    model: Model
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    status: np.ndarray
    end_time: np.ndarray
    records: dict[str, Any]
    contact_names: tuple[str, ...]
    steps: int

    @property
    def lanes(self) -> int:
        """How many simulations there were."""
        return len(self.status)

    @property
    def nbytes(self) -> int:
        """Memory (bytes) of all that is kept."""
        arrays = [self.q, self.v, self.status, self.end_time]
        for kept in self.records.values():
            arrays += list(vars(kept).values()) if isinstance(kept, Ledger) else [kept]
        return sum(array.nbytes for array in arrays)

    @cached_property
    def message(self) -> str:
        """How the lanes ended, in one sentence."""
        told = [
            f"{int(np.sum(self.status == status.value))} {status.sentence}"
            for status in Status
            if np.any(self.status == status.value)
        ]
        return f"of {self.lanes} lanes {', '.join(told)}"

    def __repr__(self) -> str:
        return f"Rollout of {self.model.name!r}: {self.message}, {self.nbytes / 1e6:.1f} MB kept"


class Rollouts:
    """A rollout prepared once and run for other numbers again and again."""

    def __init__(
        self,
        model: Model,
        *,
        contact: Any = "implicit",
        actuation: Any = None,
        events: Sequence[Event] = (),
        record: Sequence[str] = (),
        scene: Scene | None = None,
        integrator: str = "semi_implicit_euler",
        limits: JointLimits | None = USUAL_LIMITS,
        torque_limits: bool = True,
        lane: Sequence[str] = (),
        constraints: Constraint | None = None,
    ) -> None:
        law = chosen_law(contact)
        if hasattr(law, "simulate"):
            raise ModelError(
                f"contact law {law.name!r} goes from event to event, in each lane at its own "
                "times, while lanes take their steps together; for rigid contacts in a rollout "
                "take 'time_stepping', for this law one run after the other"
            )
        if integrator not in INTEGRATORS:
            raise ModelError(f"rollouts integrate by {', '.join(INTEGRATORS)}, not {integrator!r}")
        unknown = [name for name in record if name not in RECORDABLE]
        if unknown:
            raise ModelError(
                f"rollouts cannot record {', '.join(unknown)}; they can {', '.join(RECORDABLE)}"
            )
        parts = parts_of(actuation)
        if any(isinstance(part, Controller) for part in parts):
            raise ModelError(
                "a Python controller cannot be called inside a rollout; give a function of "
                "(t, q, v, lane) over symbols, which becomes part of its kernel"
            )
        acting = [event.name for event in events if event.action != "end"]
        if acting:
            raise ModelError(
                f"in a rollout events end their lane; {', '.join(acting)} ask for something else"
            )
        self.record = tuple(record)
        self.setup = Setup(
            model, scene or Scene(model), law, parts, integrator, limits, torque_limits,
            tuple(lane), "energy" in record, tuple(events), constraints,
        )  # fmt: skip
        names = [name for name in record if name != "energy"]
        if "energy" in record:
            names += [name for name in BOOKS if name not in names]
        self._names = tuple(names)
        self._iteration = Scan(step_kernel(self.setup, self._names), STATES, stop="status")

    def compile(self, lanes: int | None = None) -> Rollouts:
        """Build the native code now, that of many lanes or that of a single one."""
        self._iteration.compile(single=lanes == 1)
        return self

    @property
    def instructions(self) -> int:
        """Length of one step, as the virtual machine sees it."""
        return self._iteration.kernel.instructions

    def __call__(
        self,
        q0: Any,
        v0: Any = None,
        duration: float = 1.0,
        dt: float = 1e-3,
        *,
        every: float | None = None,
        parameters: Any = None,
        lane: Mapping[str, Any] | None = None,
        threads: int | None = None,
    ) -> Rollout:
        """Run all lanes; see `rollout`."""
        model, setup = self.setup.model, self.setup
        given = dict(lane or {})
        if set(given) != set(setup.lane):
            raise ModelError(
                f"lane parameters are {', '.join(setup.lane) or 'none'}; values were given for "
                f"{', '.join(given) or 'none'}"
            )
        grid, apart = time_grid(duration, dt, every)
        steps = len(grid) - 1
        inputs: dict[str, Any] = {
            "q": _states(q0, model.nq, "q0", model),
            "v": np.zeros(model.nv) if v0 is None else _states(v0, model.nv, "v0", model),
            "z": np.zeros(setup.memory),
            "t": 0.0,
            "work": np.zeros(3),
            "status": 0.0,
            "dt": float(grid[-1]) / steps,
            "lane": _columns(given, setup.lane),
        }
        if model.parameters:
            inputs["parameters"] = _model_parameters(model, parameters)
        elif parameters is not None:
            raise ModelError(f"model {model.name!r} has no parameters to give values to")
        broken = _broken(inputs)
        if broken is not None:
            inputs["status"] = np.where(broken, float(Status.NOT_FINITE.value), 0.0)
        torque = sampled_torques(setup, grid)
        sampled = {} if torque is None else {"torque": torque}
        if torque is None:
            inputs["torque"] = np.zeros(model.nv)
        if not self._names:
            # Nothing over time is asked for, so no look beyond the last state is needed.
            sampled = {name: array[..., :steps, :] for name, array in sampled.items()}
            course = self._iteration(steps, inputs, sampled=sampled, threads=threads)
            return self._gathered(course, {}, np.array([grid[0], grid[-1]]), steps, None)
        if steps % apart:
            raise ModelError(
                f"{steps} steps cannot be kept every {apart} of them with the last one; choose an "
                "interval that divides the duration"
            )
        course = self._iteration(
            steps + 1,
            inputs,
            sampled=sampled,
            record=[f"{name}_now" for name in self._names],
            every=apart,
            threads=threads,
            peek_last_step=True,
        )
        kept = {name.removesuffix("_now"): array for name, array in course.records.items()}
        return self._gathered(course, kept, grid[::apart], steps, inputs.get("parameters"))

    def _gathered(
        self,
        course: Any,
        kept: dict[str, np.ndarray],
        time: np.ndarray,
        steps: int,
        parameters: np.ndarray | None,
    ) -> Rollout:
        status = course.states["status"].astype(int)
        kept = _as_last_known(kept, status == Status.NOT_FINITE.value)
        records: dict[str, Any] = {name: kept[name] for name in self.record if name != "energy"}
        if "energy" in self.record:
            jumps = np.zeros(kept["kinetic"].shape)
            records["energy"] = ledger(self.setup.model, {**kept, "jumped": jumps}, parameters)
        states = course.states
        ended = np.minimum(states["t"], time[-1])
        names = self.setup.scene.names if self.setup.law is not None else ()
        return Rollout(
            self.setup.model,
            time,
            states["q"],
            states["v"],
            status,
            ended,
            records,
            names,
            steps,
        )


def rollout(
    model: Model,
    q0: Any,
    v0: Any = None,
    duration: float = 1.0,
    dt: float = 1e-3,
    *,
    contact: Any = "implicit",
    actuation: Any = None,
    events: Sequence[Event] = (),
    record: Sequence[str] = (),
    every: float | None = None,
    scene: Scene | None = None,
    integrator: str = "semi_implicit_euler",
    limits: JointLimits | None = USUAL_LIMITS,
    torque_limits: bool = True,
    parameters: Any = None,
    lane: Mapping[str, Any] | None = None,
    constraints: Constraint | None = None,
    threads: int | None = None,
) -> Rollout:
    """Simulate many lanes at once: `run` over leading axes, in native code.

    ``q0`` and ``v0`` have one row for each lane, or one for all. ``parameters`` gives numbers to
    the parameters of the model, ``lane`` to names that laws and traced controllers use: one for all
    or one for each lane. ``record`` names what is kept over time, every ``every`` seconds (None:
    each step): q, v, forces, distances, torques, energy, residual. Events end their lane, at the
    end of the step in which they are met. The bits of a lane depend neither on the other lanes nor
    on threads.
    """
    prepared = Rollouts(
        model,
        contact=contact,
        actuation=actuation,
        events=events,
        record=record,
        scene=scene,
        integrator=integrator,
        limits=limits,
        torque_limits=torque_limits,
        lane=tuple(lane or {}),
        constraints=constraints,
    )
    return prepared(
        q0, v0, duration, dt, every=every, parameters=parameters, lane=lane, threads=threads
    )


def _states(given: Any, size: int, name: str, model: Model) -> np.ndarray:
    array = np.asarray(given, dtype=float)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise ModelError(
            f"{name} of model {model.name!r} needs (lanes, {size}) numbers, got shape {array.shape}"
        )
    return unit_quaternions(model, array) if name == "q0" else array


def _broken(inputs: Mapping[str, Any]) -> np.ndarray | None:
    """Which lanes begin with something that is no number; None where none does."""
    wrong = [~np.isfinite(np.asarray(array)).reshape(np.shape(array)) for array in inputs.values()]
    lanes = [np.any(mark, axis=-1) if mark.ndim else mark for mark in wrong]
    return np.any(np.broadcast_arrays(*lanes), axis=0) if any(map(np.any, lanes)) else None


def _as_last_known(kept: dict[str, np.ndarray], lost: np.ndarray) -> dict[str, np.ndarray]:
    """What was kept, where lanes that broke go on with the last that was known, or zero.

    What would act in a step that cannot be taken is no number.
    """
    if not lost.any():
        return kept
    made = {}
    for name, array in kept.items():
        array = array.copy()
        for lane in np.flatnonzero(lost):
            rows = array[lane].reshape(array.shape[1], -1)
            known = np.isfinite(rows).all(axis=1)
            last = np.maximum.accumulate(np.where(known, np.arange(len(rows)), -1))
            rows[:] = np.where(last[:, None] < 0, 0.0, rows[np.maximum(last, 0)])
        made[name] = array
    return made


def _columns(given: Mapping[str, Any], names: Sequence[str]) -> np.ndarray:
    """Named numbers, one or one per lane each, side by side."""
    if not names:
        return np.zeros(0)
    columns = np.broadcast_arrays(*[np.asarray(given[name], dtype=float) for name in names])
    return np.stack(columns, axis=-1)


def _model_parameters(model: Model, parameters: Any) -> np.ndarray:
    if not isinstance(parameters, Mapping):
        return np.asarray(model.parameter_values if parameters is None else parameters, float)
    unknown = [name for name in parameters if name not in model.parameter_names]
    if unknown:
        raise ModelError(
            f"model {model.name!r} has no parameter {', '.join(unknown)}; it has "
            f"{', '.join(model.parameter_names)}"
        )
    usual = dict(zip(model.parameter_names, model.parameter_values, strict=True))
    return _columns({**usual, **parameters}, model.parameter_names)
