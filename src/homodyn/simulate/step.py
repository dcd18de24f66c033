"""One step of time as a kernel: from the state of a lane to the next, with what is to be kept.

Inputs: ``q``, ``v``, ``z`` (memory of the contact law), ``t`` (s), ``work`` (J: actuators,
contacts, joints), ``status`` (0: running, else the lane stands still), ``dt`` (s), ``torque``
(N m, N, from outside), ``lane`` (named parameters) and, for a model that has them, ``parameters``.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from homodyn.dynamics import kinetic_energy, potential_energy
from homodyn.errors import ModelError
from homodyn.simulate.advance import Step, advance
from homodyn.simulate.integrators import State
from homodyn.simulate.joint_rows import spring_energy
from homodyn.simulate.record import Status
from homodyn.simulate.setup import Setup
from homodyn.spatial import Array
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

FAR = 1e6
"""Sum of |q| and |v| (SI units) beyond which a lane counts as lost."""

STATES = ("q", "v", "z", "t", "work", "status")
"""Inputs that a step hands on."""


def step_kernel(setup: Setup, record: Sequence[str] = ()) -> Kernel:
    """The kernel of a step; ``record`` names what else it gives, at the state it starts from."""
    model, sizes = setup.model, setup.sizes()
    count = setup.gap_count

    def body(*symbols: ca.SX) -> dict[str, Array]:
        given = dict(zip(sizes, symbols, strict=True))
        lane = {name: given["lane"][k] for k, name in enumerate(setup.lane)}
        x = State(given["q"], given["v"], given["z"], given["work"])
        t, h = given["t"], given["dt"]
        done = advance(setup, t, x, h, given["torque"], lane)
        size = ca.sum1(ca.fabs(done.x.q)) + ca.sum1(ca.fabs(done.x.v))
        running = given["status"] == 0
        sound = ca.logic_and(running, size < FAR)
        fault = ca.if_else(size < FAR, 0.0, float(Status.NOT_FINITE.value))
        ended = ca.SX(0.0)
        for stop in setup.stops:
            crossed = stop.crossed(model, t, x, done.x, h, lane)
            ended = ca.if_else(crossed, float(Status.ENDED.value), ended)
        status = ca.if_else(fault > 0, fault, ended)
        after = {
            "q": ca.if_else(sound, done.x.q, x.q),
            "v": ca.if_else(sound, done.x.v, x.v),
            "z": ca.if_else(sound, done.x.z, x.z) if setup.memory else x.z,
            "t": ca.if_else(sound, t + h, t),
            "work": ca.if_else(sound, done.x.w, x.w),
            "status": ca.if_else(running, status, given["status"]),
        }
        now = {"q": x.q, "v": x.v, "t": t, "work": x.w, "status": given["status"]}
        kept = {name: now[name] if name in now else _acted(name, setup, x, done) for name in record}
        return {**after, **{f"{name}_now": value for name, value in kept.items()}}

    shapes: dict[str, tuple[int, ...]] = {
        "q": (model.nq,),
        "v": (model.nv,),
        "t": (),
        "work": (3,),
        "status": (),
        "forces": (count, 3),
        "distances": (count,),
        "torques": (model.nv,),
        "kinetic": (),
        "potential": (),
        "residual": (),
        "held": (len(setup.constraints.rows) if setup.constraints else 0,),
    }
    unknown = [name for name in record if name not in shapes]
    if unknown:
        raise ModelError(
            f"nothing called {', '.join(unknown)} to record; there are {', '.join(shapes)}"
        )
    outputs = {name: sizes[name] for name in STATES}
    outputs.update({f"{name}_now": shapes[name] for name in record})
    known = {"parameters": model.parameter_symbols} if model.parameters else {}
    return Kernel(trace(body, sizes, outputs, f"step of {model.name}", given=known), mapping=True)


def _acted(name: str, setup: Setup, x: State, done: Step) -> Array:
    """What a record keeps besides the state itself."""
    if name == "forces":
        return ca.horzcat(ca.SX(3, 0), *done.forces).T
    if name == "distances":
        return ca.vertcat(ca.SX(0, 1), *[gap.distance for gap in done.gaps])
    if name == "torques":
        return done.torque
    if name == "kinetic":
        return kinetic_energy(setup.model, x.q, x.v)
    if name == "potential":
        return potential_energy(setup.model, x.q) + spring_energy(setup.model, x.q)
    return done.held if name == "held" else done.residual
