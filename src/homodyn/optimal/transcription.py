"""From continuous time to finitely many unknowns: three ways that agree in the limit.

``"shooting"`` holds accelerations, torques and contact forces over each interval and asks for the
equations of motion in its middle (second order; forward dynamics is never formed).
``"collocation"`` has polynomials of degree 4 through Legendre points, with the same equations at
each of them (order 8). ``"forward"`` has torques that are linear over each interval, accelerations
from forward dynamics under the contacts, and steps of Runge and Kutta (Felis 2015, section 5.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import casadi as ca
import numpy as np

from homodyn.dynamics import forward_dynamics
from homodyn.dynamics.methods import solved
from homodyn.dynamics.rnea import newton_euler, passive_force
from homodyn.dynamics.rows import ConstraintRows
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import as_column
from homodyn.model import Model
from homodyn.model.configuration import integrate, rates
from homodyn.optimal.instant import Instant
from homodyn.optimal.phase import Phase
from homodyn.spatial import Array

RUNGE_KUTTA_STEPS = 2
"""Steps of order 4 in each interval of forward shooting."""

Symbols = Mapping[str, list[ca.SX]]
"""By quantity, its symbols at each place within one interval."""


@dataclass(frozen=True, eq=False)
class Sample:
    """An instant within an interval: where, and how much of the interval it stands for."""

    instant: Instant
    part: float
    """Of the interval that has passed."""
    share: float
    """Of the interval that it stands for in an integral."""


@dataclass(frozen=True, eq=False)
class Interval:
    """What a transcription says about one interval."""

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

    def samples(self, maker: Maker, symbols: Symbols, step: ca.SX) -> list[Sample]:
        """The instants of one interval of ``step`` seconds that terms and conditions look at."""

    def interval(self, maker: Maker, symbols: Symbols, step: ca.SX) -> Interval:
        """The same with the equations of the interval."""


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

    def __call__(
        self, q: Array, v: Array, a: Array, tau: Array, force: Array, part: float
    ) -> Instant:
        """The instant at a part of the interval; ``tau`` has an entry for each motor."""

    def torques(self, tau: Array) -> Array:
        """Torques of the motors as entries of v."""

    def besides(self, q: Array, v: Array, part: float) -> Array:
        """What springs and known loads do at a part of the interval, as entries of v."""


class MidpointShooting:
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

    def samples(self, maker: Maker, symbols: Symbols, step: ca.SX) -> list[Sample]:
        """One in the middle."""
        q, v, a = symbols["q"][0], symbols["v"][0], symbols["a"][0]
        middle = integrate(maker.model, q, step / 2 * v + step**2 / 8 * a)
        tau, force = symbols["tau"][0], symbols["force"][0]
        return [Sample(maker(middle, v + step / 2 * a, a, tau, force, 0.5), 0.5, 1.0)]

    def interval(self, maker: Maker, symbols: Symbols, step: ca.SX) -> Interval:
        """The equations of motion in the middle; the state at the end."""
        (q, q_end), (v, v_end), (a,) = symbols["q"], symbols["v"], symbols["a"]
        samples = self.samples(maker, symbols, step)
        reached = integrate(maker.model, q, step * v + step**2 / 2 * a)
        rows = [
            ("step of q", reached - q_end),
            ("step of v", v + step * a - v_end),
            *motion_rows(samples[0].instant, maker.phase, maker.resting),
        ]
        return Interval(samples, rows)


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

    def samples(self, maker: Maker, symbols: Symbols, step: ca.SX) -> list[Sample]:
        """One at each point."""
        keys = ("q inside", "v inside", "a", "tau", "force")
        made = []
        for j, point in enumerate(self.points):
            q, v, a, tau, force = (symbols[key][j] for key in keys)
            instant = maker(q, v, a, tau, force, float(point))
            made.append(Sample(instant, float(point), float(self.B[j])))
        return made

    def interval(self, maker: Maker, symbols: Symbols, step: ca.SX) -> Interval:
        """Slopes and equations of motion at each point; the state at the end by extrapolation."""
        model = maker.model
        q = [symbols["q"][0], *symbols["q inside"]]
        v = [symbols["v"][0], *symbols["v inside"]]
        samples = self.samples(maker, symbols, step)
        rows: list[tuple[str, ca.SX]] = []
        for j, sample in enumerate(samples):
            slope_q = sum(self.C[i, j] * part for i, part in enumerate(q))
            slope_v = sum(self.C[i, j] * part for i, part in enumerate(v))
            rows += [
                ("slope of q", step * rates(model, q[j + 1], v[j + 1]) - slope_q),
                ("slope of v", step * symbols["a"][j] - slope_v),
                *motion_rows(sample.instant, maker.phase, maker.resting),
            ]
        end_q = sum(self.D[i] * part for i, part in enumerate(q))
        end_v = sum(self.D[i] * part for i, part in enumerate(v))
        rows += [("step of q", end_q - symbols["q"][1]), ("step of v", end_v - symbols["v"][1])]
        return Interval(samples, rows)


class ForwardShooting:
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

    def samples(self, maker: Maker, symbols: Symbols, step: ca.SX) -> list[Sample]:
        """One at each end, for half of the interval each."""
        model, phase = maker.model, maker.phase
        q, v, tau = symbols["q"], symbols["v"], symbols["tau"]
        samples = []
        for k, part in enumerate((0.0, 1.0)):
            drive = maker.torques(tau[k]) + maker.besides(q[k], v[k], part)
            a, force = moved(model, phase, q[k], v[k], drive)
            samples.append(Sample(maker(q[k], v[k], a, tau[k], force, part), part, 0.5))
        return samples

    def interval(self, maker: Maker, symbols: Symbols, step: ca.SX) -> Interval:
        """The state at the end by steps of Runge and Kutta."""
        model, phase = maker.model, maker.phase
        q, v, tau = symbols["q"], symbols["v"], symbols["tau"]
        small = step / RUNGE_KUTTA_STEPS

        def slope(state: tuple[Array, Array], part: float) -> tuple[Array, Array]:
            drive = maker.torques((1 - part) * tau[0] + part * tau[1])
            drive = drive + maker.besides(*state, part)
            return rates(model, *state), moved(model, phase, *state, drive)[0]

        state = q[0], v[0]
        for k in range(RUNGE_KUTTA_STEPS):
            begin, half, end = ((k + s) / RUNGE_KUTTA_STEPS for s in (0.0, 0.5, 1.0))
            one = slope(state, begin)
            two = slope(_ahead(state, one, small / 2), half)
            three = slope(_ahead(state, two, small / 2), half)
            four = slope(_ahead(state, three, small), end)
            mean = tuple(
                (a + 2 * b + 2 * c + d) / 6
                for a, b, c, d in zip(one, two, three, four, strict=True)
            )
            state = _ahead(state, mean, small)
        rows = [("step of q", state[0] - q[1]), ("step of v", state[1] - v[1])]
        return Interval(self.samples(maker, symbols, step), rows)


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
        [float(r.measure != "none" and (r.held or r.slide == (0.0, 0.0, 1.0))) for r in rows.rows]
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
    acceleration, force, _ = solved(rows, drive - newton_euler(tree, None), target, "range")
    return acceleration, force


def _ahead(
    state: tuple[Array, Array], slope: tuple[Array, Array], step: Array
) -> tuple[Array, Array]:
    return state[0] + step * slope[0], state[1] + step * slope[1]
