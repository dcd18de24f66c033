"""The event-driven law as one of those that `homodyn.simulate.run` can be asked for.

The steps of a run are stretches between the times at which torques from outside may change; within
one the law goes from event to event by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics import Constraint, kinetic_energy, potential_energy
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.model.traced import parameter_array
from homodyn.simulate.actuation import parts_of, torque_kernel
from homodyn.simulate.events import Event
from homodyn.simulate.geometry import Scene
from homodyn.simulate.joint_rows import JointLimits, spring_energies
from homodyn.simulate.keeping import made_record
from homodyn.simulate.loops import held_where
from homodyn.simulate.marching import March, Point
from homodyn.simulate.outside import sampled_change
from homodyn.simulate.record import Happening, Record, Status
from homodyn.simulate.rigid.event_driven import EventDriven
from homodyn.simulate.rigid.event_loop import EventLoop
from homodyn.simulate.rigid.event_run import WORKS, Ending, Failure
from homodyn.simulate.rigid.modes import Modes
from homodyn.simulate.setup import Setup
from homodyn.simulate.start import checked_state, start_point, time_grid
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel

STATUS = {
    Ending.OVERLAP: Status.NOT_CONVERGED,
    Ending.TORQUES: Status.NOT_FINITE,
    Ending.SINGULAR: Status.NOT_FINITE,
    Ending.CONTACTS: Status.NOT_CONVERGED,
    Ending.EVENTS: Status.STALLED,
    Ending.STALLED: Status.STALLED,
}


class EventStepper:
    """Stretches of an event-driven run, each from a point that holds the modes in its memory."""

    def __init__(self, setup: Setup, lane: Mapping[str, float]) -> None:
        self.setup = setup
        self.loop = EventLoop(setup.law, setup.scene, self._torque, setup.constraints, lane)
        self.message = ""
        self._torques = torque_kernel(setup.model, setup.traced, setup.lane, setup.limited)
        self._change = sampled_change(setup)
        self._lane: np.ndarray | None = None
        self._point: Point | None = None
        self._step = 1e-3

    def _torque(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        assert self._point is not None
        given = self._point.torque + self._change(self._point.t, t)
        return np.asarray(self._torques(np.asarray(t), q, v, given, self._point.lane))

    def _at(self, point: Point) -> None:
        """Take torques and numbers of the lane from a point."""
        self._point = point
        if self._lane is None or not np.array_equal(self._lane, point.lane):
            self._lane = point.lane
            self.loop.take(dict(zip(self.setup.lane, map(float, point.lane), strict=True)))

    def __call__(self, point: Point, h: float) -> Point:
        """The point ``h`` later; with a status, and a message, if it could not be reached."""
        self._at(point)
        loop = self.loop
        # A stretch may be tried again with another length: forget what came of the last try.
        loop.events = [event for event in loop.events if event.time <= point.t]
        loop.instants = [t for t in loop.instants if t <= point.t]
        try:
            y, reached = self._entered(point), point.t + h
            y, self._step = loop.integrated(point.t, reached, y, self._step)
        except Failure as failure:
            self.message = f"{failure.ending.value} {failure}"
            return replace(point, status=STATUS[failure.ending].value)
        nq, nv = self.setup.model.nq, self.setup.model.nv
        smooth, struck = y[nq + nv : -2], y[-2:]
        work = point.work + smooth + np.concatenate([[0.0], struck])
        return replace(
            point, t=reached, q=y[:nq], v=y[nq : nq + nv], z=loop.modes.packed(), work=work
        )

    def _entered(self, point: Point) -> np.ndarray:
        y = np.concatenate([point.q, point.v, np.zeros(WORKS)])
        if not point.z[0]:
            return self.loop.begun(y)
        state = self.loop.at(point.q, point.v)
        self.loop.modes = Modes.unpacked(point.z, self.loop.contacts, len(state.gap))
        # An action of an event may have moved the state.
        return self.loop.struck(point.t, y, state)

    def forces(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Forces on the contacts at a point (N, normal and tangents), and of the constraints."""
        self._at(point)
        state = self.loop.at(point.q, point.v)
        if point.z[0]:
            self.loop.modes = Modes.unpacked(point.z, self.loop.contacts, len(state.gap))
        else:
            self.loop.modes = Modes.of(state, self.loop.contacts)
        return self.loop.forces(point.t, state)

    def torque(self, point: Point) -> np.ndarray:
        """Torques that act at a point (N m, N)."""
        self._at(point)
        return self._torque(point.t, point.q, point.v)


def simulated(
    law: EventDriven,
    model: Model,
    q0: Any,
    v0: Any,
    duration: float,
    dt: float,
    *,
    actuation: Any = None,
    events: Sequence[Event] = (),
    record: float | None = None,
    scene: Scene | None = None,
    limits: JointLimits | None = None,
    torque_limits: bool = True,
    parameters: Any = None,
    lane: Mapping[str, float] | None = None,
    constraints: Constraint | None = None,
) -> Record:
    """A run under the event-driven law; without ``limits`` it has no rigid ones either."""
    scene = scene or Scene(model)
    if model.parameters:
        model = model.at(np.asarray(parameter_array(model, parameters), dtype=float))
        scene = replace(scene, model=model)
    elif parameters is not None:
        raise ModelError(f"model {model.name!r} has no parameters to give values to")
    if limits is None:
        law = replace(law, limits=False)
    numbers = dict(lane or {})
    setup = Setup(
        model,
        scene,
        law,
        parts_of(actuation),
        limits=None,
        limited=torque_limits,
        lane=tuple(numbers),
        constraints=held_where(model, checked_state(model, q0, "q0"), constraints),
    )
    start = start_point(setup, q0, v0, numbers)
    grid, every = time_grid(duration, dt, record)
    stepper = EventStepper(setup, numbers)
    march = March(setup, stepper, events, {}, adaptive=True)
    march.along(grid, start, every)
    points, local, held = _forces(stepper, march.points)
    kept = {
        name: np.array([getattr(p, name) for p in points])
        for name in ("q", "v", "t", "work", "jumped", "sprung")
    }
    kept["kinetic"] = kinetic_energy(model, kept["q"], kept["v"])
    kept["potential"] = potential_energy(model, kept["q"]) + spring_energies(model, kept["q"])
    states = [stepper.loop.at(p.q, p.v) for p in points]
    kept["distances"] = np.array([s.gap[: len(scene.names)] for s in states])
    kept["torques"] = np.array([stepper.torque(p) for p in points])
    kept["held"] = held
    axes = _axes_kernel(scene)(kept["q"]) if len(scene.names) else np.zeros((len(points), 0, 3))
    axes = axes.reshape(len(points), len(scene.names), 3, 3)
    kept["forces"] = np.einsum("tck,tckx->tcx", local, axes)
    happened = tuple(march.happenings) + tuple(
        Happening(f"{e.name} {e.kind}", e.time, e.impulse, e.q, e.v) for e in stepper.loop.events
    )
    message = march.message
    if march.status is not Status.FINISHED and stepper.message:
        message = stepper.message
    return made_record(
        setup,
        kept,
        tuple(sorted(happened, key=lambda happening: happening.time)),
        march.status,
        message,
        stepper.loop.steps,
        (),
    )


def _forces(
    stepper: EventStepper, points: Sequence[Point]
) -> tuple[list[Point], np.ndarray, np.ndarray]:
    """Points with their contact and constraint forces.

    A last point at which a run failed because there are no such forces is left out; where that is
    the first one it is kept with none.
    """
    kept: list[Point] = []
    local, held = [], []
    for point in points:
        try:
            found = stepper.forces(point)
        except Failure:
            if kept:
                continue
            constraints = stepper.setup.constraints
            rows = 0 if constraints is None else len(constraints.rows)
            found = np.zeros((stepper.loop.contacts, 3)), np.zeros(rows)
            point = replace(point, torque=np.nan_to_num(point.torque))
        kept.append(point)
        local.append(found[0])
        held.append(found[1])
    return kept, np.array(local), np.array(held)


def _axes_kernel(scene: Scene) -> Kernel:
    """Normals and tangents of the gaps, as rows."""

    def axes(q: Array) -> Array:
        gaps = scene.gaps(Tree(scene.model, q))
        return ca.horzcat(*[ca.SX(d) for gap in gaps for d in (gap.normal, *gap.tangents)]).T

    count = 3 * len(scene.names)
    return kernel(
        axes, q=scene.model.nq, outputs={"axes": (count, 3)}, name=f"axes of {scene.model.name}"
    )
