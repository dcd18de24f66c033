"""Direct multiple shooting as stated by Felis (2015): shared nodes, stages for impacts.

The decision variables are those of section 5.2: a state at each node, of which neighboring phases
share the one between them, and two values of each torque per interval, at its start and its end. A
touchdown is a stage of one interval without duration: its node has the state before the impact, and
the state after it follows from the impact without impulses as variables. Torques are continuous
over the whole movement, from phase to phase too, which the other transcriptions do not require.
Counted like this, the problems have the sizes printed in table 6.2 of the thesis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np

from homodyn.catalog import mirror_map
from homodyn.dynamics import impact
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.wrenches import as_column
from homodyn.errors import HomodynError
from homodyn.model import Model
from homodyn.optimal.statement.muscle_drive import MuscleDrive
from homodyn.optimal.statement.phase import Phase, bound_arrays
from homodyn.optimal.statement.time_point import TimePoint
from homodyn.optimal.transcription.block import Block
from homodyn.optimal.transcription.boundary_points import phase_blocks
from homodyn.optimal.transcription.constraint_rows import ConstraintRowList
from homodyn.optimal.transcription.contact_dynamics import is_anchored
from homodyn.optimal.transcription.independent_constraints import new_independent_rows
from homodyn.optimal.transcription.interface import (
    PointEquations,
    Symbols,
    TimeSample,
    Transcription,
)
from homodyn.optimal.transcription.layout import DecisionVariables, PhaseLayout, quantity_layout
from homodyn.optimal.transcription.multiple_shooting import MultipleShooting
from homodyn.optimal.transcription.phase_coupling import (
    PhaseCoupling,
    ProblemLayout,
    impulse_rows,
)
from homodyn.optimal.transcription.phase_transcriber import PhaseTranscriber
from homodyn.optimal.transcription.time_point_builder import TimePointBuilder
from homodyn.spatial import Array

END_TORQUE = "tau end"
"""Torques at the end of each interval, beside ``"tau"`` at its start."""


class Felis2015(MultipleShooting):
    """Multiple shooting with separate torques at both ends of each interval."""

    name = "felis2015"

    def window(self, k: int) -> dict[str, list[int]]:
        """Both nodes, and both torques of the interval between them."""
        return {"q": [k, k + 1], "v": [k, k + 1], "tau": [k], END_TORQUE: [k]}

    def samples(self, builder: TimePointBuilder, symbols: Symbols) -> list[TimeSample]:
        """As in multiple shooting between the two torques."""
        return super().samples(builder, _join_torques(symbols))

    def equations(self, builder: TimePointBuilder, symbols: Symbols) -> PointEquations:
        """As in multiple shooting between the two torques."""
        return super().equations(builder, _join_torques(symbols))


def _join_torques(symbols: Symbols) -> Symbols:
    """Symbols of an interval with both torques under one name."""
    if END_TORQUE not in symbols:
        return symbols
    others = {key: group for key, group in symbols.items() if key != END_TORQUE}
    return {**others, "tau": [symbols["tau"][0], symbols[END_TORQUE][0]]}


class SharedNodes(PhaseCoupling):
    """Neighboring phases share a node; impacts and mirror images are stages of their own."""

    def lay_out(
        self,
        variables: DecisionVariables,
        model: Model,
        phases: Sequence[Phase],
        transcription: Transcription,
        actuated: np.ndarray,
        muscles: MuscleDrive | None = None,
    ) -> ProblemLayout:
        """Nodes, torques and stages in the order of time, then the durations."""
        entries: list[dict[str, list[np.ndarray]]] = []
        stages: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for k, phase in enumerate(phases):
            last = k + 1 == len(phases)
            nodes = _PhaseNodes(variables, model, phase, actuated, phases[k - 1] if k else None)
            own: dict[str, list[np.ndarray]] = {"q": [], "v": [], "tau": [], END_TORQUE: []}
            for n in range(phase.intervals):
                for key, at in (("q", n), ("v", n), ("tau", n), (END_TORQUE, n + 1)):
                    own[key].append(nodes.add(key, at / phase.intervals))
            if phase.transition == "separate":
                raise HomodynError(
                    f"phase {phase.name!r} ends a movement of its own, and the transcription "
                    "'felis2015' joins all phases; use 'midpoint' or 'collocation'"
                )
            if last or phase.transition != "continuous":
                for key in ("q", "v", "tau"):
                    own[key].append(nodes.add(key, 1.0))
                if not last:
                    stages[phase.name] = (own["tau"][-1], nodes.add(END_TORQUE, 1.0))
            entries.append(own)
        for one, two in pairwise(entries):
            for key in ("q", "v", "tau"):
                # The node after the last interval is the first of the next phase.
                if len(one[key]) == len(one[END_TORQUE]):
                    one[key].append(two[key][0])
        layouts = [
            _phase_layout(variables, phase, own, actuated)
            for phase, own in zip(phases, entries, strict=True)
        ]
        return ProblemLayout(tuple(layouts), stages=stages)

    def blocks(
        self, transcribers: list[PhaseTranscriber], layout: ProblemLayout, guess: np.ndarray
    ) -> list[Block]:
        """Blocks of each phase, continuity of its torques, its transition and its contacts."""
        blocks: list[Block] = []
        for k, transcriber in enumerate(transcribers):
            blocks += [*phase_blocks(transcriber), _torque_continuity_block(transcriber)]
            before = transcribers[k - 1] if k else None
            stage = layout.stages.get(before.phase.name) if before is not None else None
            if before is not None and stage is not None:
                blocks.append(_stage_block(before, transcriber, *stage))
            blocks.append(_new_contacts_block(before, transcriber, guess))
        return blocks


def _phase_layout(
    variables: DecisionVariables,
    phase: Phase,
    own: dict[str, list[np.ndarray]],
    actuated: np.ndarray,
) -> PhaseLayout:
    shortest, longest = phase.duration_bounds
    guess = phase.duration_guess
    duration = variables.add(
        [f"phase {phase.name!r}, duration"],
        *(np.array([x]) for x in (shortest, longest, guess, guess)),
    )
    index = {key: np.array(rows, dtype=int) for key, rows in own.items()}
    lows, highs = np.concatenate(variables.lower), np.concatenate(variables.upper)
    first = np.concatenate([index["q"][0], index["v"][0]])
    start_is_fixed = bool((lows[first] == highs[first]).all())
    parts = np.arange(phase.intervals + 1) / phase.intervals
    fractions = {"q": parts, "v": parts, "tau": parts, END_TORQUE: parts[1:]}
    return PhaseLayout(phase, index, fractions, int(duration[0]), actuated, start_is_fixed)


@dataclass(frozen=True, eq=False)
class _PhaseNodes:
    """Adds the decision variables of one phase."""

    variables: DecisionVariables
    model: Model
    phase: Phase
    actuated: np.ndarray
    before: Phase | None

    def add(self, key: str, fraction: float) -> np.ndarray:
        """Add a quantity at a fraction of the phase; returns its indices."""
        quantity = "tau" if key == END_TORQUE else key
        names, lower, upper, guess, scale = quantity_layout(
            self.model, self.phase, quantity, np.array([fraction]), self.actuated
        )
        low, high = lower, upper
        for own, label in self._boundary_bounds(fraction):
            if quantity in ("q", "v"):
                where = f"phase {self.phase.name!r}, {label}, {quantity}"
                low, high = bound_arrays(own.get(quantity), names, low, high, where)
        labels = [f"phase {self.phase.name!r}, {fraction:.1%}, {key} of {n}" for n in names]
        return self.variables.add(labels, low, high, guess[0], scale)

    def _boundary_bounds(self, fraction: float) -> list[tuple[Mapping[str, object], str]]:
        """Bounds at a boundary of the phase, also those of a node that two phases share."""
        if fraction == 1.0:
            return [(self.phase.end, "end")]
        if fraction > 0.0:
            return []
        bounds: list[tuple[Mapping[str, object], str]] = [(self.phase.start, "start")]
        if self.before is not None and self.before.transition == "continuous":
            bounds.append((self.before.end, "start, as the end of the phase before"))
        return bounds


def _torque_continuity_block(transcriber: PhaseTranscriber) -> Block:
    """The torque at the end of each interval is that at the start of the next."""
    index = transcriber.layout.index
    size = index["tau"].shape[1]
    one, two = ca.SX.sym("end", size), ca.SX.sym("begin", size)
    indices = np.concatenate([index[END_TORQUE], index["tau"][1:]], axis=1)
    names = tuple(f"torque continues [{k}]" for k in range(size))
    count = transcriber.phase.intervals
    zero = np.zeros((count, size))
    return Block(
        transcriber.phase.name,
        ca.vertcat(one, two),
        ca.SX(0, 1),
        ca.SX(0, 1),
        one - two,
        (),
        names,
        indices,
        np.zeros((count, 0)),
        zero,
        zero,
        tuple(transcriber.point_label(n + 1) for n in range(count)),
    )


def _stage_block(
    before: PhaseTranscriber,
    after: PhaseTranscriber,
    begin_index: np.ndarray,
    end_index: np.ndarray,
) -> Block:
    """State and torques over a touchdown, or into the mirror image."""
    model = before.model
    bounded = ConstraintRowList()
    q0, v0 = ca.SX.sym("q0", model.nq), ca.SX.sym("v0", model.nv)
    q, v = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    begin, end, after_torque = (ca.SX.sym(n, len(begin_index)) for n in ("begin", "end", "on"))
    if before.phase.transition == "mirror":
        image = mirror_map(model)
        rows: list[tuple[str, Array]] = [
            ("q mirrored", image.position(q0) - q),
            ("v mirrored", image.velocity(v0) - v),
        ]
        actuated = before.layout.actuated.tolist()
        full = ca.SX.zeros(model.nv)
        full[actuated] = end
        torque = image.velocity(full)[actuated]
    else:
        torque = end
        collision = impact(model, q0, v0, after.phase.contacts)
        rows = [("q continues", q0 - q), ("impact v", ca.SX(collision.velocity) - v)]
        if after.phase.impulse_constraints:
            bounded = impulse_rows(after, q0, v0, ca.SX(collision.impulse))
    rows += [("torque within the stage", begin - end), ("torque continues", torque - after_torque)]
    index = np.concatenate(
        [
            before.layout.index["q"][-1],
            before.layout.index["v"][-1],
            after.layout.index["q"][0],
            after.layout.index["v"][0],
            begin_index,
            end_index,
            after.layout.index["tau"][0],
        ]
    )
    symbols = [q0, v0, q, v, begin, end, after_torque]
    return after.equation_block("start", symbols, index, rows, bounded)


def _new_contacts_block(
    before: PhaseTranscriber | None, transcriber: PhaseTranscriber, guess: np.ndarray
) -> Block:
    """New contacts in place, and at rest where no impact brings that about."""
    model, phase, layout = transcriber.model, transcriber.phase, transcriber.layout
    q, v = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    contacts = ConstraintRows(TimePoint(model, q, v, v, v, ca.SX(0, 1)).tree, phase.contacts)
    known = before.phase.contacts if before is not None else None
    new_rows = new_independent_rows(model, guess[layout.index["q"][0]], known, phase.contacts)
    resting = new_rows
    if before is None:
        resting = list(transcriber.independent_rows)
        if layout.start_is_fixed or phase.periodic_start:
            resting = new_rows = []
    elif before.phase.transition == "mirror":
        resting = new_rows = []
    elif before.phase.transition == "impact":
        resting = []
    names = [row.name for row in phase.contacts.rows]
    errors, anchored = as_column(contacts.errors), is_anchored(contacts)
    rate = as_column(contacts.matrix.times(v))
    index = np.concatenate([layout.index["q"][0], layout.index["v"][0]])
    rows = [(f"{names[n]} placed", errors[n]) for n in new_rows if anchored[n]]
    rows += [(f"{names[n]} at rest", rate[n]) for n in resting]
    return transcriber.equation_block("start", [q, v], index, rows)
