"""From continuous time to finitely many unknowns: three ways that agree in the limit.

``"shooting"`` holds accelerations, torques and contact forces over each interval and asks for the
equations of motion in its middle (second order; forward dynamics is never formed).
``"collocation"`` has polynomials of degree 4 through Legendre points, with the same equations at
each of them (order 8). ``"forward"`` has torques that are linear over each interval, accelerations
from forward dynamics under the contacts, and steps of Runge and Kutta (Felis 2015, section 5.2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import casadi as ca
import numpy as np

from homodyn.dynamics import forward_dynamics
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.kkt_methods import solve_constrained
from homodyn.dynamics.rnea import newton_euler, passive_force
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import as_column
from homodyn.integrate import RK4, runge_kutta
from homodyn.model import Model
from homodyn.model.configuration import integrate, rates
from homodyn.optimal.instant import Instant
from homodyn.optimal.phase import Phase
from homodyn.spatial import Array

RUNGE_KUTTA_STEPS = 2
"""Steps of order 4 in each interval of forward shooting."""

Symbols = Mapping[str, list[ca.SX]]
"""By quantity, its symbols at a place, or at each place within one interval."""


@dataclass(frozen=True, eq=False)
class Sample:
    """An instant of a place: where in it, and how much of it it stands for."""

    instant: Instant
    part: float
    """Of the place that has passed."""
    share: float
    """Of the place that it stands for in an integral."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where a phase is looked at: its intervals, or points within them that stand for parts."""

    windows: tuple[Mapping[str, list[int]], ...]
    """For each place, which of the entries of each quantity it sees."""
    passed: np.ndarray
    """(places,): part of the phase that has passed where each begins."""
    part: np.ndarray
    """(places,): part of the phase that each stands for."""
    nodes: np.ndarray
    """(places,): where each is in numbers of nodes, for its name."""


@dataclass(frozen=True, eq=False)
class Written:
    """What a transcription says at one place."""

    samples: list[Sample]
    rows: list[tuple[str, ca.SX]]
    """Equations, by quantity."""


class Transcription(Protocol):
    """A way to write a phase with finitely many unknowns."""

    name: str
    shares_motion: bool
    """Whether contact forces are unknowns, so that phases can share their laws of motion."""

    def order(self, intervals: int) -> list[tuple[str, np.ndarray]]:
        """Quantities and parts of the phase at which they are unknown, in the order of time."""

    def window(self, k: int) -> dict[str, list[int]]:
        """For interval ``k``, which of the places of each quantity it sees."""

    def places(self, intervals: int) -> Places:
        """Where terms, conditions and laws of motion are written down, in the order of time."""

    def samples(self, maker: Maker, symbols: Symbols) -> list[Sample]:
        """The instants of one place that terms and conditions look at."""

    def written(self, maker: Maker, symbols: Symbols) -> Written:
        """The same with the equations of the place."""

    def ties(self, maker: Maker, symbols: Symbols) -> list[tuple[str, ca.SX]]:
        """Equations that tie the places of one interval together, from its ``window``."""

    def edge(self, at: float) -> np.ndarray:
        """Weights of the controls of an interval, in the order of time, at its begin or end."""


class Maker(Protocol):
    """Makes instants of a phase out of symbols."""

    @property
    def model(self) -> Model:
        """What moves."""

    @property
    def phase(self) -> Phase:
        """The phase the instants are of."""

    @property
    def resting(self) -> Sequence[int]:
        """Rows of the contacts that are told to stay where they are; the others then do."""

    @property
    def step(self) -> ca.SX:
        """How long a place lasts (s)."""

    def __call__(
        self, q: Array, v: Array, a: Array, tau: Array, force: Array, part: float
    ) -> Instant:
        """The instant at a part of the place; ``tau`` has an entry for each motor."""

    def torques(self, tau: Array) -> Array:
        """Torques of the motors as entries of v."""

    def besides(self, q: Array, v: Array, part: float) -> Array:
        """What springs and known loads do at a part of the place, as entries of v."""


class Intervals(ABC):
    """Places are intervals, and nothing ties parts of them together."""

    @abstractmethod
    def window(self, k: int) -> dict[str, list[int]]:
        """For interval ``k``, which of the places of each quantity it sees."""

    def places(self, intervals: int) -> Places:
        """The intervals."""
        windows = tuple(self.window(k) for k in range(intervals))
        nodes, part = np.arange(intervals), np.full(intervals, 1 / intervals)
        return Places(windows, nodes / intervals, part, nodes + 0.5)

    def ties(self, maker: Maker, symbols: Symbols) -> list[tuple[str, ca.SX]]:
        """None."""
        return []

    def edge(self, at: float) -> np.ndarray:
        """The nearest."""
        return np.ones(1)


class MidpointShooting(Intervals):
    """Piecewise constant accelerations, torques and contact forces; equations at the middles."""

    name = "shooting"
    shares_motion = True

    def order(self, intervals: int) -> list[tuple[str, np.ndarray]]:
        """State, then controls, interval by interval."""
        order = []
        for k in range(intervals):
            node, middle = np.array([k / intervals]), np.array([(k + 0.5) / intervals])
            order += [("q", node), ("v", node), ("a", middle), ("force", middle), ("tau", middle)]
        return [*order, ("q", np.ones(1)), ("v", np.ones(1))]

    def window(self, k: int) -> dict[str, list[int]]:
        """Both states, the controls between them."""
        return {"q": [k, k + 1], "v": [k, k + 1], "a": [k], "force": [k], "tau": [k]}

    def samples(self, maker: Maker, symbols: Symbols) -> list[Sample]:
        """One in the middle."""
        step = maker.step
        q, v, a = symbols["q"][0], symbols["v"][0], symbols["a"][0]
        middle = integrate(maker.model, q, step / 2 * v + step**2 / 8 * a)
        tau, force = symbols["tau"][0], symbols["force"][0]
        return [Sample(maker(middle, v + step / 2 * a, a, tau, force, 0.5), 0.5, 1.0)]

    def written(self, maker: Maker, symbols: Symbols) -> Written:
        """The equations of motion in the middle; the state at the end."""
        step = maker.step
        (q, q_end), (v, v_end), (a,) = symbols["q"], symbols["v"], symbols["a"]
        samples = self.samples(maker, symbols)
        reached = integrate(maker.model, q, step * v + step**2 / 2 * a)
        rows = [
            ("step of q", reached - q_end),
            ("step of v", v + step * a - v_end),
            *motion_rows(samples[0].instant, maker.phase, maker.resting),
        ]
        return Written(samples, rows)


class LegendreCollocation:
    """States are polynomials of degree 4; the equations hold at 4 Legendre points."""

    name = "collocation"
    shares_motion = True
    degree = 4

    def __init__(self) -> None:
        points = ca.collocation_points(self.degree, "legendre")
        C, D, B = ca.collocation_coeff(points)
        self.points = np.array(points)
        self.C, self.D, self.B = np.array(C), np.array(D)[:, 0], np.array(B)[:, 0]
        others = [[b for b in points if b != a] for a in points]
        shapes = [np.polynomial.Polynomial.fromroots(rest) for rest in others]
        self.bases = [shape / shape(a) for a, shape in zip(points, shapes, strict=True)]

    def order(self, intervals: int) -> list[tuple[str, np.ndarray]]:
        """State at the node, then state and controls at each point of the interval."""
        order = []
        for k in range(intervals):
            node = np.array([k / intervals])
            order += [("q", node), ("v", node)]
            for point in self.points:
                at = np.array([(k + point) / intervals])
                order += [("q inside", at), ("v inside", at)]
                order += [("a", at), ("force", at), ("tau", at)]
        return [*order, ("q", np.ones(1)), ("v", np.ones(1))]

    def window(self, k: int) -> dict[str, list[int]]:
        """Both states at the nodes and everything between them."""
        inside = list(range(self.degree * k, self.degree * (k + 1)))
        keys = ("q inside", "v inside", "a", "force", "tau")
        return {"q": [k, k + 1], "v": [k, k + 1], **dict.fromkeys(keys, inside)}

    def places(self, intervals: int) -> Places:
        """The points of all intervals."""
        keys = ("q inside", "v inside", "a", "force", "tau")
        count = self.degree * intervals
        windows = tuple({key: [n] for key in keys} for n in range(count))
        nodes = np.repeat(np.arange(intervals), self.degree) + np.tile(self.points, intervals)
        return Places(windows, nodes / intervals, np.tile(self.B, intervals) / intervals, nodes)

    def samples(self, maker: Maker, symbols: Symbols) -> list[Sample]:
        """The point."""
        keys = ("q inside", "v inside", "a", "tau", "force")
        q, v, a, tau, force = (symbols[key][0] for key in keys)
        return [Sample(maker(q, v, a, tau, force, 0.0), 0.0, 1.0)]

    def written(self, maker: Maker, symbols: Symbols) -> Written:
        """The equations of motion at the point."""
        samples = self.samples(maker, symbols)
        return Written(samples, motion_rows(samples[0].instant, maker.phase, maker.resting))

    def ties(self, maker: Maker, symbols: Symbols) -> list[tuple[str, ca.SX]]:
        """Slopes at each point; the state at the end by extrapolation."""
        model, step = maker.model, maker.step
        q = [symbols["q"][0], *symbols["q inside"]]
        v = [symbols["v"][0], *symbols["v inside"]]
        rows: list[tuple[str, ca.SX]] = []
        for j in range(self.degree):
            slope_q = sum(self.C[i, j] * part for i, part in enumerate(q))
            slope_v = sum(self.C[i, j] * part for i, part in enumerate(v))
            rows += [
                ("slope of q", step * rates(model, q[j + 1], v[j + 1]) - slope_q),
                ("slope of v", step * symbols["a"][j] - slope_v),
            ]
        end_q = sum(self.D[i] * part for i, part in enumerate(q))
        end_v = sum(self.D[i] * part for i, part in enumerate(v))
        rows += [("step of q", end_q - symbols["q"][1]), ("step of v", end_v - symbols["v"][1])]
        return rows

    def edge(self, at: float) -> np.ndarray:
        """Those of the polynomial through all points of the interval."""
        return self.weights(at)

    def weights(self, part: float) -> np.ndarray:
        """What each point contributes to the polynomial of controls at a part of the interval."""
        return np.array([basis(part) for basis in self.bases])

    def gone(self, part: float) -> np.ndarray:
        """What each point contributes to its integral from the begin of the interval to there."""
        return np.array([basis.integ()(part) for basis in self.bases])


class ForwardShooting(Intervals):
    """Continuous, piecewise linear torques; the state at the end by Runge and Kutta."""

    name = "forward"
    shares_motion = False

    def order(self, intervals: int) -> list[tuple[str, np.ndarray]]:
        """State and torques at each node."""
        order = []
        for k in range(intervals + 1):
            node = np.array([k / intervals])
            order += [("q", node), ("v", node), ("tau", node)]
        return order

    def window(self, k: int) -> dict[str, list[int]]:
        """Both nodes."""
        return {key: [k, k + 1] for key in ("q", "v", "tau")}

    def samples(self, maker: Maker, symbols: Symbols) -> list[Sample]:
        """One at each end, for half of the interval each."""
        model, phase = maker.model, maker.phase
        q, v, tau = symbols["q"], symbols["v"], symbols["tau"]
        samples = []
        for k, part in enumerate((0.0, 1.0)):
            drive = maker.torques(tau[k]) + maker.besides(q[k], v[k], part)
            a, force = moved(model, phase, q[k], v[k], drive)
            samples.append(Sample(maker(q[k], v[k], a, tau[k], force, part), part, 0.5))
        return samples

    def written(self, maker: Maker, symbols: Symbols) -> Written:
        """The state at the end by steps of Runge and Kutta."""
        model, phase = maker.model, maker.phase
        q, v, tau = symbols["q"], symbols["v"], symbols["tau"]
        small = maker.step / RUNGE_KUTTA_STEPS

        def slope(state: tuple[Array, ...], part: float) -> tuple[Array, ...]:
            drive = maker.torques((1 - part) * tau[0] + part * tau[1])
            drive = drive + maker.besides(state[0], state[1], part)
            q_now, v_now = state
            return rates(model, q_now, v_now), moved(model, phase, q_now, v_now, drive)[0]

        state: tuple[Array, ...] = (q[0], v[0])
        for k in range(RUNGE_KUTTA_STEPS):

            def rate(share: float, at: tuple[Array, ...], k: int = k) -> tuple[Array, ...]:
                return slope(at, (k + share) / RUNGE_KUTTA_STEPS)

            state = runge_kutta(RK4, rate, state, small)
        rows = [("step of q", state[0] - q[1]), ("step of v", state[1] - v[1])]
        return Written(self.samples(maker, symbols), rows)


TRANSCRIPTIONS: dict[str, Transcription] = {
    each.name: each for each in (MidpointShooting(), LegendreCollocation(), ForwardShooting())
}


def motion_rows(instant: Instant, phase: Phase, resting: Sequence[int]) -> list[tuple[str, ca.SX]]:
    """The equations of motion, and ``resting`` rows of contacts that stay where they are."""
    rows = [("balance of forces", instant.imbalance)]
    if len(phase.contacts.rows):
        G, gamma = instant.contact_jacobian, as_column(instant.rows.bias)
        stay = G @ instant.a - gamma + restoring(instant.rows, G @ instant.v, phase)
        rows.append(("contact", stay[list(resting)]))
    return rows


def restoring(rows: ConstraintRows, rate: Array, phase: Phase) -> Array:
    """What brings rows back that have drifted: damping of their rate, stiffness where they hold."""
    errors = as_column(rows.errors)
    return phase.stabilization.damping * rate + phase.stabilization.stiffness * held(rows) * errors


def held(rows: ConstraintRows) -> np.ndarray:
    """1 for rows that know where they hold: anchored ones, and heights above the ground."""
    return np.array(
        [
            float(r.measure != "none" and (r.has_anchor or r.slide == (0.0, 0.0, 1.0)))
            for r in rows.rows
        ]
    )


def moved(model: Model, phase: Phase, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
    """Accelerations and contact forces under torques, by forward dynamics."""
    drive = tau + passive_force(model, q, v)
    if not len(phase.contacts.rows):
        return forward_dynamics(model, q, v, drive), ca.SX(0, 1)
    tree = Tree(model, q, v)
    rows = ConstraintRows(tree, phase.contacts)
    back = restoring(rows, as_column(rows.matrix.times(v)), phase)
    target = [gamma - back[k] for k, gamma in enumerate(rows.bias)]
    acceleration, force, _ = solve_constrained(
        rows, drive - newton_euler(tree, None), target, "range"
    )
    return acceleration, force
