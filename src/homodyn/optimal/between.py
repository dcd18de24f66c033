"""What happens between the nodes: the torques of an answer, integrated without its equations.

The unknowns of a transcription meet the laws of motion at finitely many instants. Here each
interval is run again from its first node, with forward dynamics under the contacts and small steps;
how far it arrives from the next node is the error of the mesh there, and conditions are looked at
on the way (`lapses`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from homodyn.model import Model
from homodyn.model.configuration import difference, rates
from homodyn.optimal.applied import SIZE, load_force
from homodyn.optimal.derivatives import NOWHERE, VERSION
from homodyn.optimal.phase import Phase
from homodyn.optimal.springs import Spring, spring_force
from homodyn.optimal.transcription import TRANSCRIPTIONS, LegendreCollocation, moved
from homodyn.symbolic.lazy_kernel import DerivedGraph, LazyKernel
from homodyn.symbolic.trace import Port

if TYPE_CHECKING:
    from homodyn.optimal.build import Built
    from homodyn.optimal.solution import PhaseSolution

STEPS = 4
"""Steps of order 4 for each control of an interval."""


@dataclass(frozen=True, eq=False)
class Arrival:
    """How far from its last node each interval of a phase arrives."""

    phase: str
    time: np.ndarray
    """(intervals,), s: where each begins."""
    q: np.ndarray
    """(intervals, nv), rad or m."""
    v: np.ndarray
    """(intervals, nv), rad/s or m/s."""
    coordinates: tuple[str, ...]

    @property
    def worst(self) -> float:
        """The largest error of a coordinate (rad, m)."""
        return float(np.abs(self.q).max())

    def __str__(self) -> str:
        interval, entry = np.unravel_index(int(np.argmax(np.abs(self.q))), self.q.shape)
        return (
            f"phase {self.phase!r}, interval {interval + 1} of {len(self.time)} "
            f"({self.time[interval]:.3f} s): {self.coordinates[entry]} arrives "
            f"{self.worst:.3g} from the next node"
        )


@dataclass(frozen=True, eq=False)
class Again:
    """The intervals of a phase run again: (instants, intervals, entries) of each quantity.

    The first instant is the node that each interval begins with, the last but one where it arrives,
    and the last one the node where it should, under the torques that it ends with.
    """

    phase: Phase
    arrival: Arrival
    time: np.ndarray
    """(instants, intervals), s."""
    part: np.ndarray
    """(instants, intervals): part of the phase that has passed."""
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    force: np.ndarray


def run_again(
    built: Built,
    phases: tuple[PhaseSolution, ...],
    parameters: Mapping[str, float] = MappingProxyType({}),
) -> tuple[Again, ...]:
    """All intervals of all phases; ``parameters`` are those of springs."""
    return tuple(_again(built, k, phase, parameters) for k, phase in enumerate(phases))


def laws(built: Built) -> list[LazyKernel]:
    """Forward dynamics in the contacts of each phase, as intervals are run again with it."""
    made = [law_of(built.model, phase, built.springs).kernel for phase in built.phases]
    return list({law.identity: law for law in made}.values())


def _again(built: Built, k: int, phase: PhaseSolution, parameters: Mapping[str, float]) -> Again:
    model, count = built.model, built.phases[k].intervals
    loads = built.phases[k].loads
    law = law_of(model, built.phases[k], built.springs)
    torque = _torque(built.transcription.name, phase, count)
    numbers = np.array([[parameters[name] for name in law.parameters]], dtype=float)

    def slope(state: list[np.ndarray], part: float) -> list[np.ndarray]:
        at = (np.arange(count) + part) / count
        known = np.hstack([np.zeros((count, 0)), *(load.sampled(at) for load in loads)])
        return law.kernel(*state, torque(part), numbers, known)

    steps = STEPS * max(len(phase.tau) // count, 1)
    step = phase.duration / count / steps
    state = [phase.q[:-1], phase.v[:-1]]
    seen = []
    for n in range(steps + 1):
        begin, half, end = ((n + s) / steps for s in (0.0, 0.5, 1.0))
        *one, force = slope(state, begin)
        seen.append((*state, one[1], torque(begin), force))
        if n == steps:
            break
        two = slope([x + step / 2 * d for x, d in zip(state, one, strict=True)], half)[:2]
        three = slope([x + step / 2 * d for x, d in zip(state, two, strict=True)], half)[:2]
        four = slope([x + step * d for x, d in zip(state, three, strict=True)], end)[:2]
        state = [
            x + step / 6 * (a + 2 * b + 2 * c + d)
            for x, a, b, c, d in zip(state, one, two, three, four, strict=True)
        ]
    off = np.asarray(difference(model, phase.q[1:], state[0])), state[1] - phase.v[1:]
    arrival = Arrival(phase.name, phase.time[:-1], *off, model.coordinate_names)
    nodes = [phase.q[1:], phase.v[1:]]
    _, a, force = slope(nodes, 1.0)
    seen.append((*nodes, a, torque(1.0), force))
    parts = np.append(np.arange(steps + 1) / steps, 1.0)[:, None]
    passed = (np.arange(count) + parts) / count
    time = phase.time[0] + phase.duration * passed
    arrays = map(np.array, zip(*seen, strict=True))
    return Again(built.phases[k], arrival, time, passed, *arrays)


@dataclass(frozen=True, eq=False)
class Law:
    """Forward dynamics in the contacts of a phase."""

    kernel: LazyKernel
    """Of q, v, torques, parameters and wrenches of loads: rates of q and v, contact forces."""
    parameters: tuple[str, ...]
    """Names of those that springs have."""


KNOWN = 16
"""Laws that are kept, so that later searches need not derive them again."""
_known: dict[tuple[str, ...], Law] = {}


def law_of(model: Model, phase: Phase, springs: Sequence[Spring]) -> Law:
    """The law under which the intervals of a phase are run again."""
    given = (n for s in springs for n in (s.stiffness, s.rest, s.damping))
    names = tuple(dict.fromkeys(name for name in given if isinstance(name, str)))
    law = Law(_kernel(model, phase, springs, names), names)
    known = _known.setdefault(law.kernel.identity, law)
    if len(_known) > KNOWN:
        del _known[next(iter(_known))]
    return known


def _kernel(
    model: Model, phase: Phase, springs: Sequence[Spring], parameters: tuple[str, ...]
) -> LazyKernel:
    """Rates of q and v under torques, and forces of the contacts of a phase."""

    def derive() -> DerivedGraph:
        q, v, tau = (ca.SX.sym(n, s) for n, s in zip("qvt", sizes[:3], strict=True))
        numbers = ca.SX.sym("numbers", len(parameters))
        known = dict(zip(parameters, ca.vertsplit(numbers), strict=True))
        wrenches = ca.SX.sym("wrenches", sizes[4])
        drive = tau + spring_force(springs, model, q, v, known)
        drive = drive + load_force(phase.loads, model, q, wrenches)
        acceleration, force = moved(model, phase, q, v, drive)
        rows = [ca.densify(ca.SX(x)) for x in (rates(model, q, v), acceleration, force)]
        return DerivedGraph(ca.Function("law", [q, v, tau, numbers, wrenches], rows), NOWHERE)

    loaded = tuple(load.frame for load in phase.loads)
    sizes = (model.nq, model.nv, model.nv, len(parameters), SIZE * len(loaded))
    names = ("q", "v", "tau", "numbers", "wrenches")
    ports = [Port(name, (size,)) for name, size in zip(names, sizes, strict=True)]
    said = (phase.contacts.rows, phase.stabilization, tuple(springs), parameters, loaded)
    text = ("law and forces", str(VERSION), model.digest, *map(repr, said))
    return LazyKernel(f"forward dynamics in {phase.name}", text, ports, derive)


def _torque(name: str, phase: PhaseSolution, count: int) -> Callable[[float], np.ndarray]:
    """Torques of all intervals at a part of them, as the transcription means them."""
    tau = phase.tau
    if name == "forward":
        return lambda part: (1 - part) * tau[:-1] + part * tau[1:]
    if name == "shooting":
        return lambda part: tau
    scheme = TRANSCRIPTIONS[name]
    assert isinstance(scheme, LegendreCollocation)
    inside = tau.reshape(count, scheme.degree, -1)
    return lambda part: np.einsum("p,kpj->kj", scheme.weights(part), inside)
