"""How the phases of a problem share decision variables and follow each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import casadi as ca
import numpy as np

from homodyn.catalog import mirror_map
from homodyn.catalog.mirror import mirrored_entries
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.rnea import armature, newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import as_column
from homodyn.model import Model
from homodyn.optimal.statement.muscle_drive import MUSCLE_STATES, MuscleDrive
from homodyn.optimal.statement.path_constraints import BoundaryConstraint
from homodyn.optimal.statement.phase import Phase
from homodyn.optimal.statement.time_point import TimePoint
from homodyn.optimal.transcription.block import Block
from homodyn.optimal.transcription.boundary_points import boundary_point, phase_blocks
from homodyn.optimal.transcription.constraint_rows import ConstraintRowList
from homodyn.optimal.transcription.contact_dynamics import is_anchored
from homodyn.optimal.transcription.costs import CostSums
from homodyn.optimal.transcription.independent_constraints import new_independent_rows
from homodyn.optimal.transcription.interface import Transcription
from homodyn.optimal.transcription.layout import DecisionVariables, PhaseLayout, lay_out_phase
from homodyn.optimal.transcription.phase_transcriber import PhaseTranscriber, bounded_rows
from homodyn.optimal.transcription.shared_dynamics import dynamics_blocks
from homodyn.spatial import Array
from homodyn.symbolic.branch_errors import explain_branches


@dataclass(frozen=True, eq=False)
class ProblemLayout:
    """Indices of the decision variables of all phases.

    Attributes:
        phases: One layout per phase.
        impulses: By name of the phase that begins with an impact, the indices of its impulses.
        stages: By name of the phase before a transition, indices of the torques at its start and
            end, where transitions are stages of their own.
    """

    phases: tuple[PhaseLayout, ...]
    impulses: dict[str, np.ndarray] = field(default_factory=dict)
    stages: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)


class PhaseCoupling(ABC):
    """Layout of the phases of a problem, and the equations between them."""

    @abstractmethod
    def lay_out(
        self,
        variables: DecisionVariables,
        model: Model,
        phases: Sequence[Phase],
        transcription: Transcription,
        actuated: np.ndarray,
        muscles: MuscleDrive | None = None,
    ) -> ProblemLayout:
        """Add the variables of all phases, in the order of time."""

    @abstractmethod
    def blocks(
        self, transcribers: list[PhaseTranscriber], layout: ProblemLayout, guess: np.ndarray
    ) -> list[Block]:
        """All blocks of the phases and of the transitions between them."""


class SeparateNodes(PhaseCoupling):
    """Each phase has nodes of its own; equations join the phases, impulses are variables."""

    def lay_out(
        self,
        variables: DecisionVariables,
        model: Model,
        phases: Sequence[Phase],
        transcription: Transcription,
        actuated: np.ndarray,
        muscles: MuscleDrive | None = None,
    ) -> ProblemLayout:
        """Phase by phase, then the impulses of impacts."""
        layouts = tuple(
            lay_out_phase(
                variables,
                model,
                phase,
                transcription.variable_order(phase.intervals),
                actuated,
                muscles,
            )
            for phase in phases
        )
        impulses = {}
        for before, after in pairwise(phases):
            if before.transition == "impact":
                rows = after.contacts.rows
                labels = [f"phase {after.name!r}, impulse of {row.name}" for row in rows]
                free = np.full(len(rows), np.inf)
                impulses[after.name] = variables.add(
                    labels,
                    -free,
                    free,
                    np.asarray(after.guess.get("impulse", np.zeros(len(rows))), dtype=float),
                    np.full(len(rows), model.mass / 10),
                )
        return ProblemLayout(layouts, impulses)

    def blocks(
        self, transcribers: list[PhaseTranscriber], layout: ProblemLayout, guess: np.ndarray
    ) -> list[Block]:
        """Equations of motion, blocks of the phase and its transition, phase by phase."""
        share = transcribers[0].transcription.has_contact_forces
        dynamics = dynamics_blocks(transcribers) if share else []
        blocks: list[Block] = []
        for k, transcriber in enumerate(transcribers):
            blocks += [*dynamics[k : k + 1], *phase_blocks(transcriber)]
            blocks.append(_transition_block(transcribers, k, layout.impulses, guess))
        return blocks


def _transition_block(
    transcribers: list[PhaseTranscriber],
    k: int,
    impulses: dict[str, np.ndarray],
    guess: np.ndarray,
) -> Block:
    """How phase ``k`` follows the one before, and its new contacts in place and at rest."""
    transcriber = transcribers[k]
    model, phase, layout = transcriber.model, transcriber.phase, transcriber.layout
    follows = k > 0 and transcribers[k - 1].phase.transition != "separate"
    before = transcribers[k - 1].layout if follows else None
    q, v = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    z, index = [q, v], [layout.index["q"][0], layout.index["v"][0]]
    rows: list[tuple[str, Array]] = []
    bounded = ConstraintRowList()
    contacts = ConstraintRows(TimePoint(model, q, v, v, v, ca.SX(0, 1)).tree, phase.contacts)
    pose = guess[layout.index["q"][0]]
    rigid = before is not None and not before.phase.compliant
    known = before.phase.contacts if before is not None and rigid else None
    new_rows = [] if phase.compliant else new_independent_rows(model, pose, known, phase.contacts)
    rate = as_column(contacts.matrix.times(v))
    resting = list(transcriber.independent_rows) if before is None else new_rows
    if before is not None:
        q0, v0 = ca.SX.sym("q0", model.nq), ca.SX.sym("v0", model.nv)
        z += [q0, v0]
        index += [before.index["q"][-1], before.index["v"][-1]]
        transition = before.phase.transition
        if transition == "mirror":
            image = mirror_map(model)
            rows += [("q mirrored", image.position(q0) - q), ("v mirrored", image.velocity(v0) - v)]
            resting = new_rows = []
        elif transition == "impact":
            impulse = ca.SX.sym("impulse", len(phase.contacts.rows))
            z.append(impulse)
            index.append(impulses[phase.name])
            change = _momentum_change(model, q, v - v0) - contacts.matrix.jacobian.T @ impulse
            rows += [("q continues", q0 - q), ("impact", change)]
            bounded = impulse_rows(transcriber, q, v, impulse)
            resting = list(transcriber.independent_rows)
        else:
            rows += [("q continues", q0 - q), ("v continues", v0 - v)]
        for key in (k for k in MUSCLE_STATES if k in layout.index):
            own, earlier = (ca.SX.sym(key, layout.index[key].shape[1]) for _ in range(2))
            z += [own, earlier]
            index += [layout.index[key][0], before.index[key][-1]]
            if transition == "mirror":
                earlier = earlier[_mirrored_entries(transcriber, key)]
            rows.append((f"{key} continues", earlier - own))
    elif layout.start_is_fixed or phase.periodic_start:
        resting = new_rows = []
    names = [row.name for row in phase.contacts.rows]
    errors, anchored = as_column(contacts.errors), is_anchored(contacts)
    rows += [(f"{names[n]} placed", errors[n]) for n in new_rows if anchored[n]]
    rows += [(f"{names[n]} at rest", rate[n]) for n in resting]
    return transcriber.equation_block("start", z, np.concatenate(index), rows, bounded)


def _mirrored_entries(transcriber: PhaseTranscriber, quantity: str) -> list[int]:
    """Entries of the muscles of the other side, in the order of the muscles."""
    muscles = transcriber.layout.muscles
    assert muscles is not None
    return mirrored_entries(muscles.variable_names(transcriber.model, quantity))


def impulse_rows(
    transcriber: PhaseTranscriber, q: Array, v: Array, impulse: Array
) -> ConstraintRowList:
    """Constraints of the impulses of the impact with which a phase begins."""
    phase = transcriber.phase
    rest = ca.SX.zeros(transcriber.model.nv)
    time_point = TimePoint(transcriber.model, q, v, rest, rest, impulse, phase.contacts)
    rows = ConstraintRowList()
    where = f"{transcriber.phase_label}, impact"
    rows.add_constraints(phase.impulse_constraints, time_point, where)
    return rows


def _momentum_change(model: Model, q: Array, change: Array) -> Array:
    """M(q) times a change of velocity (N s, N m s): inverse dynamics at rest, without gravity.

    A third of the instructions that the mass matrix itself would take.
    """
    weightless = replace(model, gravity=np.zeros(3))
    return newton_euler(Tree(weightless, q), change) + armature(model) * change


def boundary_constraint_block(
    transcribers: Sequence[PhaseTranscriber], constraint: BoundaryConstraint
) -> Block:
    """A constraint between the first time point of the movement and the last."""
    model = transcribers[0].model
    first = boundary_point(transcribers[0], "start")
    last = boundary_point(transcribers[-1], "end")
    durations, symbols, indices = [], [first.symbols, last.symbols], [first.index, last.index]
    for transcriber in transcribers:
        low, high = transcriber.phase.duration_bounds
        durations.append(ca.SX(low) if low == high else ca.SX.sym("duration"))
        if low < high:
            symbols.append(durations[-1])
            indices.append(np.array([transcriber.layout.duration]))
    with explain_branches(f"boundary constraint {constraint.name!r}"):
        value = ca.SX(constraint.value(first.time_point, last.time_point, sum(durations)))
    labels = constraint.labels(model) if callable(constraint.labels) else constraint.labels
    rows = bounded_rows(constraint.name, value, constraint.lower, constraint.upper, labels)
    return transcribers[0].assemble_block(
        ca.vertcat(*symbols),
        [*first.data, *last.data],
        CostSums(),
        rows,
        np.concatenate(indices)[None, :],
        ("whole movement",),
    )
