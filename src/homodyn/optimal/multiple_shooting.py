"""Forward multiple shooting as Felis (2015) states it: shared nodes, stages for impacts.

The unknowns are those of section 5.2: a state at each node, of which neighbouring phases share the
one between them, and two values of each torque for each interval, at its begin and its end. A
touchdown is a stage of one interval that takes no time: its node has the state before it, and the
state after it follows from the impact without any impulse as unknown. Torques are continuous over
the whole movement, from phase to phase too, which the other transcriptions do not ask for. Counted
like this, his problems have the sizes that his table 6.2 prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np

from homodyn.catalog import mirror_map
from homodyn.dynamics import impact
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.wrenches import as_column
from homodyn.model import Model
from homodyn.optimal.block import Block
from homodyn.optimal.build import Built, _link, _resting
from homodyn.optimal.conditions import Link
from homodyn.optimal.costs import Costs
from homodyn.optimal.demands import Demands
from homodyn.optimal.independent import independent_rows
from homodyn.optimal.instant import Instant
from homodyn.optimal.layout import PhaseLayout, Unknowns, actuated_entries, planned
from homodyn.optimal.phase import Phase, bound_arrays
from homodyn.optimal.springs import Spring
from homodyn.optimal.transcription import (
    ForwardShooting,
    Maker,
    Sample,
    Symbols,
    Written,
    held,
    moved,
)
from homodyn.optimal.writing import Writer
from homodyn.spatial import Array

ENDING = "tau end"
"""Torques at the end of each interval, beside ``"tau"`` at its begin."""


class SharedNodes(ForwardShooting):
    """Forward shooting with a torque of its own at each end of each interval."""

    def window(self, k: int) -> dict[str, list[int]]:
        """Both nodes, and both torques of the interval between them."""
        return {"q": [k, k + 1], "v": [k, k + 1], "tau": [k], ENDING: [k]}

    def samples(self, maker: Maker, symbols: Symbols) -> list[Sample]:
        """As in forward shooting between the two torques."""
        return super().samples(maker, _both(symbols))

    def written(self, maker: Maker, symbols: Symbols) -> Written:
        """As in forward shooting between the two torques."""
        return super().written(maker, _both(symbols))


def _both(symbols: Symbols) -> Symbols:
    """Symbols of an interval with both torques under one name."""
    if ENDING not in symbols:
        return symbols
    others = {key: group for key, group in symbols.items() if key != ENDING}
    return {**others, "tau": [symbols["tau"][0], symbols[ENDING][0]]}


@dataclass(frozen=True, eq=False)
class ShootingWriter(Writer):
    """Writes a phase whose conditions may hold at inner nodes only."""

    def blocks(self) -> list[Block]:
        """Those of any phase, and conditions strictly inside it."""
        made = super().blocks()
        inside = [c for c in self.phase.conditions if c.when == "inside"]
        if inside and self.phase.intervals > 1:
            made.append(self._inside())
        return made

    def _inside(self) -> Block:
        count = self.phase.intervals
        maker, extra, shared = self.maker()
        keys = ("q", "v", "tau")
        parts = {k: ca.SX.sym(k, self.layout.index[k].shape[1]) for k in keys}
        q, v, tau = parts.values()
        drive = maker.torques(tau) + maker.besides(q, v, 0.0)
        a, force = moved(self.model, self.phase, q, v, drive)
        asked = Demands()
        chosen = [c for c in self.phase.conditions if c.when == "inside"]
        asked.obey(chosen, maker(q, v, a, tau, force, 0.0), self.called)
        nodes = range(1, count)
        index = [np.concatenate([*(self.layout.index[k][n] for k in keys), shared]) for n in nodes]
        return self.made(
            ca.vertcat(*parts.values(), *extra),
            maker.numbers(np.arange(1, count) / count, np.full(count - 1, 1 / count)),
            Costs(),
            asked,
            np.array(index, dtype=int),
            tuple(self.place(n) for n in nodes),
        )


def build_shooting(
    model: Model,
    phases: tuple[Phase, ...],
    parameters: Mapping[str, tuple[float, float, float]],
    links: tuple[Link, ...],
    actuated: tuple[str, ...] | None,
    springs: tuple[Spring, ...] = (),
) -> Built:
    """Lay out nodes, torques and stages, then write all blocks."""
    unknowns = Unknowns()
    motors = actuated_entries(model, actuated)
    layouts, stages = _laid_out(unknowns, model, phases, motors)
    places = {}
    for name, (low, high, guess) in parameters.items():
        scale = max(abs(guess), 0.1)
        added = unknowns.add(
            [f"parameter {name}"], *(np.array([x]) for x in (low, high, guess, scale))
        )
        places[name] = int(added[0])
    guess_vector = np.concatenate(unknowns.guess)
    transcription = SharedNodes()
    writers = [
        ShootingWriter(model, at, transcription, places, springs, _resting(model, at, guess_vector))
        for at in layouts
    ]
    blocks: list[Block] = []
    for k, writer in enumerate(writers):
        blocks += [*writer.blocks(), _torques_continue(writer)]
        before = writers[k - 1] if k else None
        if before is not None and (stage := stages.get(before.phase.name)) is not None:
            blocks.append(_stage(model, before, writer, stage))
        blocks.append(_placed(model, before, writer, guess_vector))
    blocks += [_link(model, list(writers), link) for link in links]
    return Built(
        model,
        phases,
        transcription,
        layouts,
        places,
        {},
        tuple(unknowns.names),
        np.concatenate(unknowns.lower),
        np.concatenate(unknowns.upper),
        guess_vector,
        np.concatenate(unknowns.scale),
        tuple(block for block in blocks if block.rows.shape[0] or block.costs.shape[0]),
        springs,
    )


@dataclass(frozen=True, eq=False)
class _Stage:
    """Places of the torques of a touchdown, at its begin and its end."""

    begin: np.ndarray
    end: np.ndarray


def _laid_out(
    unknowns: Unknowns, model: Model, phases: tuple[Phase, ...], motors: np.ndarray
) -> tuple[tuple[PhaseLayout, ...], dict[str, _Stage]]:
    """Places of everything, in the order of time."""
    own: list[dict[str, list[np.ndarray]]] = []
    stages: dict[str, _Stage] = {}
    for k, phase in enumerate(phases):
        last = k + 1 == len(phases)
        nodes = _Nodes(unknowns, model, phase, motors, phases[k - 1] if k else None)
        found: dict[str, list[np.ndarray]] = {"q": [], "v": [], "tau": [], ENDING: []}
        for n in range(phase.intervals):
            for key, at in (("q", n), ("v", n), ("tau", n), (ENDING, n + 1)):
                found[key].append(nodes.add(key, at / phase.intervals))
        if last or phase.then != "continuous":
            for key in ("q", "v", "tau"):
                found[key].append(nodes.add(key, 1.0))
            if not last:
                stages[phase.name] = _Stage(found["tau"][-1], nodes.add(ENDING, 1.0))
        own.append(found)
    for one, two in pairwise(own):
        for key in ("q", "v", "tau"):
            # The node after the last interval is the first of the next phase.
            if len(one[key]) == len(one[ENDING]):
                one[key].append(two[key][0])
    layouts = []
    for phase, found in zip(phases, own, strict=True):
        shortest, longest = phase.duration_bounds
        duration = unknowns.add(
            [f"phase {phase.name!r}, duration"],
            *(
                np.array([x])
                for x in (shortest, longest, phase.duration_guess, phase.duration_guess)
            ),
        )
        index = {key: np.array(rows, dtype=int) for key, rows in found.items()}
        lows, highs = np.concatenate(unknowns.lower), np.concatenate(unknowns.upper)
        first = np.concatenate([index["q"][0], index["v"][0]])
        settled = bool((lows[first] == highs[first]).all())
        parts = np.arange(phase.intervals + 1) / phase.intervals
        fractions = {"q": parts, "v": parts, "tau": parts, ENDING: parts[1:]}
        layouts.append(PhaseLayout(phase, index, fractions, int(duration[0]), motors, settled))
    return tuple(layouts), stages


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Adds the unknowns of one phase."""

    unknowns: Unknowns
    model: Model
    phase: Phase
    motors: np.ndarray
    before: Phase | None

    def add(self, key: str, fraction: float) -> np.ndarray:
        """A quantity at a part of the phase; returns its places."""
        quantity = "tau" if key == ENDING else key
        names, lower, upper, guess, scale = planned(
            self.model, self.phase, quantity, np.array([fraction]), self.motors
        )
        low, high = lower, upper
        for own, label in self._edges(fraction):
            if quantity in ("q", "v"):
                where = f"phase {self.phase.name!r}, {label}, {quantity}"
                low, high = bound_arrays(own.get(quantity), names, low, high, where)
        labels = [f"phase {self.phase.name!r}, {fraction:.1%}, {key} of {n}" for n in names]
        return self.unknowns.add(labels, low, high, guess[0], scale)

    def _edges(self, fraction: float) -> list[tuple[Mapping[str, object], str]]:
        """Bounds of the boundary that a part of the phase is, also of one that is shared."""
        if fraction == 1.0:
            return [(self.phase.end, "end")]
        if fraction > 0.0:
            return []
        edges: list[tuple[Mapping[str, object], str]] = [(self.phase.start, "start")]
        if self.before is not None and self.before.then == "continuous":
            edges.append((self.before.end, "start, as the end of the phase before"))
        return edges


def _torques_continue(writer: ShootingWriter) -> Block:
    """The torque at the end of each interval is that at the begin of the next."""
    index = writer.layout.index
    size = index["tau"].shape[1]
    one, two = ca.SX.sym("end", size), ca.SX.sym("begin", size)
    places = np.concatenate([index[ENDING], index["tau"][1:]], axis=1)
    names = tuple(f"torque continues [{k}]" for k in range(size))
    count = writer.phase.intervals
    zero = np.zeros((count, size))
    return Block(
        writer.phase.name,
        ca.vertcat(one, two),
        ca.SX(0, 1),
        ca.SX(0, 1),
        one - two,
        (),
        names,
        places,
        np.zeros((count, 0)),
        zero,
        zero,
        tuple(writer.place(n + 1) for n in range(count)),
    )


def _stage(model: Model, before: Writer, after: Writer, stage: _Stage) -> Block:
    """State and torques over a touchdown, or into the mirror image."""
    q0, v0 = ca.SX.sym("q0", model.nq), ca.SX.sym("v0", model.nv)
    q, v = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    size = len(stage.begin)
    begin, end, on = (ca.SX.sym(name, size) for name in ("begin", "end", "on"))
    if before.phase.then == "mirror":
        image = mirror_map(model)
        rows: list[tuple[str, Array]] = [
            ("q mirrored", image.position(q0) - q),
            ("v mirrored", image.velocity(v0) - v),
        ]
        motors = before.layout.actuated.tolist()
        full = ca.SX.zeros(model.nv)
        full[motors] = end
        passed_on = image.velocity(full)[motors]
    else:
        passed_on = end
        fast = ca.SX(impact(model, q0, v0, after.phase.contacts).velocity)
        rows = [("q continues", q0 - q), ("impact v", fast - v)]
    rows += [("torque within the stage", begin - end), ("torque continues", passed_on - on)]
    index = np.concatenate(
        [
            before.layout.index["q"][-1],
            before.layout.index["v"][-1],
            after.layout.index["q"][0],
            after.layout.index["v"][0],
            stage.begin,
            stage.end,
            after.layout.index["tau"][0],
        ]
    )
    return after.block("start", [q0, v0, q, v, begin, end, on], index, rows)


def _placed(model: Model, before: Writer | None, writer: Writer, guess: np.ndarray) -> Block:
    """New contacts in place; at rest too, where no impact brings that about."""
    phase, layout = writer.phase, writer.layout
    q, v = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    contacts = ConstraintRows(Instant(model, q, v, v, v, ca.SX(0, 1)).tree, phase.contacts)
    known = before.phase.contacts if before is not None else None
    fresh = independent_rows(model, guess[layout.index["q"][0]], known, phase.contacts)
    resting = fresh
    if before is None:
        resting = list(writer.resting)
        if layout.settled or phase.inherits:
            resting = fresh = []
    elif before.phase.then == "mirror":
        resting = fresh = []
    elif before.phase.then == "impact":
        resting = []
    names = [row.name for row in phase.contacts.rows]
    errors, holds = as_column(contacts.errors), held(contacts)
    rate = as_column(contacts.matrix.times(v))
    index = np.concatenate([layout.index["q"][0], layout.index["v"][0]])
    rows = [(f"{names[n]} placed", errors[n]) for n in fresh if holds[n]]
    rows += [(f"{names[n]} at rest", rate[n]) for n in resting]
    return writer.block("start", [q, v], index, rows)
