"""What holds at the ends of intervals: boundaries of a phase, and its inner nodes.

States are unknowns there, controls need not be: they are those of the interval, carried on to its
end as the transcription means them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from homodyn.optimal.block import Block
from homodyn.optimal.conditions import Condition
from homodyn.optimal.costs import Costs
from homodyn.optimal.demands import Demands
from homodyn.optimal.instant import Instant
from homodyn.optimal.instant_maker import Numbers
from homodyn.optimal.transcription import moved

if TYPE_CHECKING:
    from homodyn.optimal.writing import Writer

CONTROLS = ("a", "force", "tau")


@dataclass(frozen=True, eq=False)
class Boundary:
    """The first or last instant of a phase, its symbols and their places."""

    instant: Instant
    symbols: ca.SX
    controls: ca.SX
    """Those of the symbols that are controls."""
    index: np.ndarray
    numbers: list[Numbers]


def boundary(writer: Writer, at: str) -> Boundary:
    """The instant at the ``"start"`` or the ``"end"``."""
    maker, extra, shared = writer.maker()
    n = 0 if at == "start" else -1
    weights = writer.transcription.edge(float(at == "end"))
    keys = [k for k in ("q", "v", *CONTROLS) if k in writer.layout.index]
    window: dict[str, list[int]] = {k: [n] for k in keys}
    for k in CONTROLS:
        if k in window and len(weights) > 1:
            known = range(len(writer.layout.index[k]))
            window[k] = list(known[: len(weights)] if n == 0 else known[-len(weights) :])
    symbols = writer.symbols(window)
    made = {k: _mixed(symbols[k], weights) for k in CONTROLS if k in window}
    q, v, tau = symbols["q"][0], symbols["v"][0], made["tau"]
    if "a" in made:
        a, force = made["a"], made["force"]
    else:
        drive = maker.torques(tau) + maker.besides(q, v, 0.0)
        a, force = moved(writer.model, writer.phase, q, v, drive)
    elapsed = ca.SX(0) if n == 0 else maker.duration
    instant = replace(maker(q, v, a, tau, force, 0.0), elapsed=elapsed)
    index = np.array([*writer.seen(window), *shared], dtype=int)
    part = np.array([1 / writer.phase.intervals])
    numbers = maker.numbers(np.array([0.0 if n == 0 else 1.0]), part)
    controls = ca.vertcat(*(s for k in CONTROLS for s in symbols.get(k, ())))
    return Boundary(instant, ca.vertcat(*_all(symbols), *extra), controls, index, numbers)


def boundary_block(writer: Writer, at: str) -> Block:
    """Terms and conditions at the start or the end of a phase."""
    edge, phase = boundary(writer, at), writer.phase
    costs, asked = Costs(), Demands()
    for term in (t for t in phase.terms if t.when == at):
        target = None
        if term.target is not None:
            target = writer.target(term, np.array([0.0 if at == "start" else 1.0]))[0]
        costs.add(term, writer.value(term, edge.instant, target), target)
    chosen = [c for c in phase.conditions if c.when == at]
    if at == "end" and writer.transcription.name == "forward":
        chosen += [c for c in phase.conditions if c.when == "path"]
    asked.obey(chosen, edge.instant, writer.called)
    asked += _reached(writer, edge)
    place = (writer.place(0 if at == "start" else phase.intervals),)
    return writer.made(edge.symbols, edge.numbers, costs, asked, edge.index[None, :], place)


def _reached(writer: Writer, edge: Boundary) -> Demands:
    """Inequalities along the phase that see controls, where these are carried on to its ends."""
    asked = Demands()
    if len(writer.transcription.edge(0.0)) > 1:
        chosen = [c for c in _inequalities(writer) if c.when == "path"]
        asked.obey(chosen, edge.instant, writer.called)
    return asked.seeing(edge.controls)


def _inequalities(writer: Writer) -> list[Condition]:
    return [c for c in writer.along if not np.array_equal(c.lower, c.upper)]


def node_blocks(writer: Writer) -> list[Block]:
    """Inequalities at inner nodes, where controls are polynomials that reach beyond their points.

    They are asked for from both sides as far as controls stand in them, which may jump there.
    """
    count, many = writer.phase.intervals, len(writer.transcription.edge(0.0))
    chosen = _inequalities(writer)
    if many == 1 or count == 1 or not chosen:
        return []
    maker, extra, shared = writer.maker()
    state = writer.symbols({"q": [0], "v": [0]})
    before, after = (writer.symbols(dict.fromkeys(CONTROLS, range(many))) for _ in range(2))
    sides = []
    for side, at in ((after, 0.0), (before, 1.0)):
        a, force, tau = (_mixed(side[key], writer.transcription.edge(at)) for key in CONTROLS)
        asked = Demands()
        instant = maker(state["q"][0], state["v"][0], a, tau, force, 0.0)
        asked.obey(chosen, instant, writer.called)
        sides.append(asked)
    asked = sides[0] + sides[1].seeing(ca.vertcat(*_all(before)))
    z = ca.vertcat(*_all(state), *_all(before), *_all(after), *extra)
    index = [
        [
            *writer.seen({"q": [k], "v": [k]}),
            *writer.seen(dict.fromkeys(CONTROLS, range(many * (k - 1), many * k))),
            *writer.seen(dict.fromkeys(CONTROLS, range(many * k, many * (k + 1)))),
            *shared,
        ]
        for k in range(1, count)
    ]
    numbers = maker.numbers(np.arange(1, count) / count, np.full(count - 1, 1 / count))
    names = tuple(writer.place(k) for k in range(1, count))
    return [writer.made(z, numbers, Costs(), asked, np.array(index, dtype=int), names)]


def _all(symbols: dict[str, list[ca.SX]]) -> list[ca.SX]:
    return [symbol for group in symbols.values() for symbol in group]


def _mixed(parts: Sequence[ca.SX], weights: np.ndarray) -> ca.SX:
    """A weighted sum; one part alone is itself."""
    if len(parts) == 1:
        return parts[0]
    return sum((w * part for w, part in zip(weights, parts, strict=True)), ca.SX(0))
