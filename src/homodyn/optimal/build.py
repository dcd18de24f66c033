"""A problem written with finitely many unknowns: which blocks it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import casadi as ca
import numpy as np

from homodyn.catalog import mirror_map
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.rnea import armature, newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import as_column
from homodyn.errors import NoSolution
from homodyn.model import Model
from homodyn.optimal.block import Block
from homodyn.optimal.conditions import Link
from homodyn.optimal.edges import boundary
from homodyn.optimal.independent import independent_rows, resting_rows
from homodyn.optimal.instant import Instant
from homodyn.optimal.layout import PhaseLayout, Unknowns, actuated_entries, lay_out
from homodyn.optimal.motion import motion_blocks
from homodyn.optimal.phase import Phase
from homodyn.optimal.program import Program
from homodyn.optimal.springs import Spring
from homodyn.optimal.transcription import Transcription, held
from homodyn.optimal.writing import Writer
from homodyn.spatial import Array
from homodyn.symbolic.build_queue import map_two_at_a_time
from homodyn.symbolic.lazy_kernel import LazyKernel


@dataclass(frozen=True, eq=False)
class Built:
    """Unknowns with bounds, guess and units; blocks that make objective and rows."""

    model: Model
    phases: tuple[Phase, ...]
    transcription: Transcription
    layouts: tuple[PhaseLayout, ...]
    parameters: dict[str, int]
    impulses: dict[str, np.ndarray]
    """By name of the phase that begins with an impact, the places of its impulses."""
    names: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    guess: np.ndarray
    scale: np.ndarray
    blocks: tuple[Block, ...]
    springs: tuple[Spring, ...] = ()

    @cached_property
    def program(self) -> Program:
        """Objective and rows in units in which their derivatives at the guess are about one."""
        plain = Program(list(self.blocks), len(self.names), self.scale)
        self._check(plain)
        return plain.scaled_by_jacobian(self.guess)

    def compile(self) -> None:
        """Build native code for all that a search calls now, where there is a compiler.

        Without this it is built in the background while the first search goes on without it.
        """
        from homodyn.optimal.between import laws

        map_two_at_a_time(LazyKernel.compile, [*self.program.kernels, *laws(self)])

    @property
    def compiled(self) -> bool:
        """Whether native code is there for all of it."""
        from homodyn.optimal.between import laws

        return all(kernel.compiled for kernel in (*self.program.kernels, *laws(self)))

    def _check(self, program: Program) -> None:
        """Refuse a start at which a term or a row is not a number, and say which."""
        costs, rows = program.evaluate(self.guess)
        for block, values in zip(program.blocks, costs, strict=True):
            for place, term in np.argwhere(~np.isfinite(values)):
                raise NoSolution(
                    f"{block.places[place]}: term {block.terms[term]!r} is {values[place, term]} "
                    "at the guess; a root or a quotient without a derivative there is the usual "
                    "cause"
                )
        for row in np.flatnonzero(~np.isfinite(rows)):
            where, what = program.row_name(int(row))
            raise NoSolution(f"{where}: {what} is {rows[row]} at the guess")

    def describe(self) -> str:
        """Sizes, sparsity, units and terms, in lines."""
        program = self.program
        equal = int((program.lower == program.upper).sum())
        jacobian, hessian = program.nonzeros
        fixed = int((self.lower == self.upper).sum())
        lines = [
            f"{self.model.name}, {len(self.phases)} phases, transcription "
            f"{self.transcription.name}",
            f"{len(self.names)} unknowns ({fixed} fixed), {equal} equations, "
            f"{program.rows - equal} inequalities",
            f"entries that can differ from zero: {jacobian} in the Jacobian "
            f"({jacobian / max(1, program.rows * program.size):.2%}), {hessian} in the Hessian",
            f"units of unknowns from {self.scale.min():.3g} to {self.scale.max():.3g}, "
            f"of rows from {1 / program.row_scale.max(initial=1e-300):.3g} to "
            f"{1 / program.row_scale.min(initial=1e300):.3g}",
        ]
        for phase in self.phases:
            low, high = phase.duration_bounds
            lasting = f"{low:g} s" if low == high else f"{low:g} to {high:g} s"
            terms = ", ".join(f"{t.weight:g} x {t.name} ({t.when})" for t in phase.terms)
            conditions = ", ".join(f"{c.name} ({c.when})" for c in phase.conditions)
            lines += [
                f"phase {phase.name!r}: {lasting}, {phase.intervals} intervals, "
                f"{len(phase.contacts.rows)} contact rows, then {phase.then}",
                f"  terms: {terms or 'none'}",
                f"  conditions: {conditions or 'none'}",
            ]
            if phase.loads:
                lines.append(f"  known loads: {', '.join(load.frame for load in phase.loads)}")
        return "\n".join(lines)


def build(
    model: Model,
    phases: tuple[Phase, ...],
    parameters: Mapping[str, tuple[float, float, float]],
    links: tuple[Link, ...],
    actuated: tuple[str, ...] | None,
    transcription: Transcription,
    springs: tuple[Spring, ...] = (),
) -> Built:
    """Lay out the unknowns, then write all blocks."""
    unknowns = Unknowns()
    motors = actuated_entries(model, actuated)
    layouts = tuple(
        lay_out(unknowns, model, phase, transcription.order(phase.intervals), motors)
        for phase in phases
    )
    impulses = {}
    for before, after in pairwise(phases):
        if before.then == "impact":
            rows = after.contacts.rows
            labels = [f"phase {after.name!r}, impulse of {row.name}" for row in rows]
            free = np.full(len(rows), np.inf)
            impulses[after.name] = unknowns.add(
                labels,
                -free,
                free,
                np.asarray(after.guess.get("impulse", np.zeros(len(rows))), dtype=float),
                np.full(len(rows), model.mass / 10),
            )
    places = {}
    for name, (low, high, guess) in parameters.items():
        scale = max(abs(guess), 0.1)
        added = unknowns.add(
            [f"parameter {name}"], *(np.array([x]) for x in (low, high, guess, scale))
        )
        places[name] = int(added[0])
    guess_vector = np.concatenate(unknowns.guess)
    blocks: list[Block] = []
    writers = [
        Writer(model, at, transcription, places, springs, _resting(model, at, guess_vector))
        for at in layouts
    ]
    motion = motion_blocks(writers) if transcription.shares_motion else []
    for k, writer in enumerate(writers):
        blocks += [*motion[k : k + 1], *writer.blocks()]
        blocks += _beginning(model, writers, k, impulses, guess_vector)
    blocks += [_link(model, writers, link) for link in links]
    return Built(
        model,
        phases,
        transcription,
        layouts,
        places,
        impulses,
        tuple(unknowns.names),
        np.concatenate(unknowns.lower),
        np.concatenate(unknowns.upper),
        guess_vector,
        np.concatenate(unknowns.scale),
        tuple(block for block in blocks if block.rows.shape[0] or block.costs.shape[0]),
        springs,
    )


def _resting(model: Model, layout: PhaseLayout, guess: np.ndarray) -> list[int]:
    """Rows of the contacts of a phase that are told to rest, as its guess stands half-way."""
    poses = guess[layout.index["q"]]
    return resting_rows(model, poses[len(poses) // 2], layout.phase.contacts)


def _beginning(
    model: Model,
    writers: list[Writer],
    k: int,
    impulses: dict[str, np.ndarray],
    guess: np.ndarray,
) -> list[Block]:
    """How phase ``k`` follows the one before, and its contacts at rest where that is news."""
    writer = writers[k]
    phase, layout = writer.layout.phase, writer.layout
    before = writers[k - 1].layout if k else None
    q, v = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    z, index = [q, v], [layout.index["q"][0], layout.index["v"][0]]
    rows: list[tuple[str, Array]] = []
    contacts = ConstraintRows(Instant(model, q, v, v, v, ca.SX(0, 1)).tree, phase.contacts)
    pose = guess[layout.index["q"][0]]
    known = before.phase.contacts if before is not None else None
    fresh = independent_rows(model, pose, known, phase.contacts)
    rate = as_column(contacts.matrix.times(v))
    resting = list(writer.resting) if before is None else fresh
    if before is not None:
        q0, v0 = ca.SX.sym("q0", model.nq), ca.SX.sym("v0", model.nv)
        z += [q0, v0]
        index += [before.index["q"][-1], before.index["v"][-1]]
        then = before.phase.then
        if then == "mirror":
            image = mirror_map(model)
            rows += [("q mirrored", image.position(q0) - q), ("v mirrored", image.velocity(v0) - v)]
            resting = fresh = []
        elif then == "impact":
            push = ca.SX.sym("impulse", len(phase.contacts.rows))
            z.append(push)
            index.append(impulses[phase.name])
            jump = _pushed(model, q, v - v0) - contacts.matrix.jacobian.T @ push
            rows += [("q continues", q0 - q), ("impact", jump)]
            resting = list(writer.resting)
        else:
            rows += [("q continues", q0 - q), ("v continues", v0 - v)]
    elif layout.settled or phase.inherits:
        resting = fresh = []
    names = [row.name for row in phase.contacts.rows]
    errors, holds = as_column(contacts.errors), held(contacts)
    placed = [n for n in fresh if holds[n]]
    return [
        writer.block(
            "start",
            z,
            np.concatenate(index),
            [
                *rows,
                *((f"{names[n]} placed", errors[n]) for n in placed),
                *((f"{names[n]} at rest", rate[n]) for n in resting),
            ],
        )
    ]


def _pushed(model: Model, q: Array, change: Array) -> Array:
    """M(q) times a change of velocities (N s, N m s): inverse dynamics at rest, without weight.

    A third of the instructions that the matrix itself would take.
    """
    weightless = replace(model, gravity=np.zeros(3))
    return newton_euler(Tree(weightless, q), change) + armature(model) * change


def _link(model: Model, writers: list[Writer], link: Link) -> Block:
    """A link between the first instant of the movement and the last."""
    first, last = boundary(writers[0], "start"), boundary(writers[-1], "end")
    lasting, symbols, places = [], [first.symbols, last.symbols], [first.index, last.index]
    for writer in writers:
        low, high = writer.phase.duration_bounds
        lasting.append(ca.SX(low) if low == high else ca.SX.sym("duration"))
        if low < high:
            symbols.append(lasting[-1])
            places.append(np.array([writer.layout.duration]))
    value = ca.SX(link.value(first.instant, last.instant, sum(lasting)))
    names = link.labels(model) if callable(link.labels) else link.labels
    return writers[0].plain_block(
        "whole movement",
        ca.vertcat(*symbols),
        np.concatenate(places),
        link.name,
        value,
        link.lower,
        link.upper,
        names,
        [*first.numbers, *last.numbers],
    )
