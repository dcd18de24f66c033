"""A transcribed problem: decision variables with bounds, guess and scale, and its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homodyn.errors import HomodynError, NoSolution
from homodyn.foundation.text import count_of
from homodyn.model import Model
from homodyn.optimal.nlp.nonlinear_program import NonlinearProgram
from homodyn.optimal.statement.muscle_drive import TENDON_FORCE, MuscleDrive
from homodyn.optimal.statement.phase import Phase
from homodyn.optimal.statement.problem_statement import ProblemStatement
from homodyn.optimal.statement.springs import Spring
from homodyn.optimal.transcription.block import Block
from homodyn.optimal.transcription.contact_dynamics import phase_dynamics_kernels
from homodyn.optimal.transcription.felis2015 import SharedNodes
from homodyn.optimal.transcription.independent_constraints import independent_rows
from homodyn.optimal.transcription.interface import Transcription
from homodyn.optimal.transcription.layout import DecisionVariables, PhaseLayout, actuated_entries
from homodyn.optimal.transcription.muscle_dynamics import MuscleDynamics, muscle_dynamics
from homodyn.optimal.transcription.phase_coupling import boundary_constraint_block
from homodyn.optimal.transcription.phase_transcriber import PhaseTranscriber
from homodyn.optimal.transcription.registry import coupling_of
from homodyn.symbolic.build_queue import map_two_at_a_time
from homodyn.symbolic.lazy_kernel import LazyKernel


@dataclass(frozen=True, eq=False)
class TranscribedProblem:
    """The finite-dimensional form of a problem, to inspect before it is solved.

    Attributes:
        model: The model.
        phases: The phases.
        transcription: The discretization.
        layouts: Indices of the decision variables of each phase.
        parameters: Indices of the parameters by name.
        impulses: By name of the phase that begins with an impact, the indices of its impulses.
        names: A name for each decision variable.
        lower: Lower bounds.
        upper: Upper bounds.
        guess: Initial guess.
        scale: Typical sizes, by which the solver divides the variables.
        blocks: Functions that make up objective and constraint rows.
        springs: Springs of the problem.
        muscles: How muscles act.
    """

    model: Model
    phases: tuple[Phase, ...]
    transcription: Transcription
    layouts: tuple[PhaseLayout, ...]
    parameters: dict[str, int]
    impulses: dict[str, np.ndarray]
    names: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    guess: np.ndarray
    scale: np.ndarray
    blocks: tuple[Block, ...]
    springs: tuple[Spring, ...] = ()
    muscles: MuscleDrive | None = None

    def __repr__(self) -> str:
        """Sizes, in one line."""
        return (
            f"TranscribedProblem({self.model.name}, {self.transcription.name}, "
            f"{count_of(len(self.names), 'variable')}, {count_of(len(self.blocks), 'block')})"
        )

    @cached_property
    def program(self) -> NonlinearProgram:
        """Objective and rows, scaled so that their derivatives at the guess are about one."""
        plain = NonlinearProgram(list(self.blocks), len(self.names), self.scale)
        self._check(plain)
        return plain.scaled_by_jacobian(self.guess)

    @cached_property
    def muscle_dynamics(self) -> MuscleDynamics | None:
        """The muscles as a function of state and excitation; None where they do not act."""
        if self.muscles is None:
            return None
        return muscle_dynamics(self.model, self.muscles)

    def compile(self) -> None:
        """Compile all functions of a solve now, where there is a compiler.

        Otherwise they are compiled in the background while the first solve is running.
        """
        map_two_at_a_time(LazyKernel.compile, self._kernels())

    @property
    def compiled(self) -> bool:
        """Whether all functions are compiled."""
        return all(kernel.compiled for kernel in self._kernels())

    def _kernels(self) -> list[LazyKernel]:
        """Functions of the nonlinear program, and of the resimulation of its solution."""
        dynamics = phase_dynamics_kernels(self.model, self.phases, self.springs)
        return [*self.program.kernels, *dynamics]

    def _check(self, program: NonlinearProgram) -> None:
        """Refuse a guess at which a term or a row is NaN or infinite."""
        costs, rows = program.evaluate(self.guess)
        for block, values in zip(program.blocks, costs, strict=True):
            for point, term in np.argwhere(~np.isfinite(values)):
                raise NoSolution(
                    f"{block.point_labels[point]}: term {block.terms[term]!r} is "
                    f"{values[point, term]} at the guess; a root or a quotient without a "
                    "derivative there is the usual cause"
                )
        for row in np.flatnonzero(~np.isfinite(rows)):
            where, what = program.row_label(int(row))
            raise NoSolution(f"{where}: {what} is {rows[row]} at the guess")

    def describe(self) -> str:
        """Sizes, sparsity, scales, terms and constraints.

        Returns:
            Several lines of text.
        """
        program = self.program
        equal = int((program.lower == program.upper).sum())
        jacobian, hessian = program.nonzeros
        fixed = int((self.lower == self.upper).sum())
        driven = "" if self.muscles is None else f", {self.muscles.headline()}"
        lines = [
            f"{self.model.name}, {count_of(len(self.phases), 'phase')}, transcription "
            f"{self.transcription.name}{driven}",
            f"{count_of(len(self.names), 'variable')} ({fixed} fixed), {equal} equations, "
            f"{program.rows - equal} inequalities",
            f"nonzeros: {jacobian} in the Jacobian "
            f"({jacobian / max(1, program.rows * program.size):.2%}), {hessian} in the Hessian",
            f"scales of variables from {self.scale.min():.3g} to {self.scale.max():.3g}, "
            f"of rows from {1 / program.row_scale.max(initial=1e-300):.3g} to "
            f"{1 / program.row_scale.min(initial=1e300):.3g}",
        ]
        for phase in self.phases:
            low, high = phase.duration_bounds
            duration = f"{low:g} s" if low == high else f"{low:g} to {high:g} s"
            terms = ", ".join(f"{t.weight:g} x {t.name} ({t.when})" for t in phase.terms)
            constraints = ", ".join(f"{c.name} ({c.when})" for c in phase.constraints)
            lines += [
                f"phase {phase.name!r}: {duration}, {count_of(phase.intervals, 'interval')}, "
                f"{count_of(len(phase.contacts.rows), 'contact row')}, then {phase.transition}",
                f"  terms: {terms or 'none'}",
                f"  constraints: {constraints or 'none'}",
            ]
            if phase.external_loads:
                frames = ", ".join(load.frame for load in phase.external_loads)
                lines.append(f"  external loads: {frames}")
        return "\n".join(lines)


def transcribe(statement: ProblemStatement, transcription: Transcription) -> TranscribedProblem:
    """Lay out the decision variables of a problem, then make all blocks."""
    model, springs = statement.model, tuple(statement.springs)
    yielding = [phase.name for phase in statement.phases if phase.compliant]
    if yielding and not transcription.has_contact_forces:
        raise HomodynError(
            f"phase {yielding[0]!r} has compliant contacts, whose forces are variables: use the "
            f"transcription 'midpoint' or 'collocation' instead of {transcription.name!r}"
        )
    _check_muscles(statement, transcription)
    variables = DecisionVariables()
    coupling = coupling_of(transcription)
    muscles = statement.muscles
    actuated = actuated_entries(model, statement.actuated, muscles)
    layout = coupling.lay_out(variables, model, statement.phases, transcription, actuated, muscles)
    parameters = {}
    for name, parameter in statement.parameters.items():
        scale = max(abs(parameter.guess), 0.1)
        numbers = (parameter.lower, parameter.upper, parameter.guess, scale)
        index = variables.add([f"parameter {name}"], *(np.array([x]) for x in numbers))
        parameters[name] = int(index[0])
    guess = np.concatenate(variables.guess)
    transcribers = [
        PhaseTranscriber(
            model, own, transcription, parameters, springs, _independent_rows(model, own, guess)
        )
        for own in layout.phases
    ]
    blocks = coupling.blocks(transcribers, layout, guess)
    for constraint in statement.boundary_constraints:
        blocks.append(boundary_constraint_block(transcribers, constraint))
    return TranscribedProblem(
        model,
        tuple(statement.phases),
        transcription,
        layout.phases,
        parameters,
        layout.impulses,
        tuple(variables.names),
        np.concatenate(variables.lower),
        np.concatenate(variables.upper),
        guess,
        np.concatenate(variables.scale),
        tuple(block for block in blocks if block.rows.shape[0] or block.costs.shape[0]),
        springs,
        muscles,
    )


def _check_muscles(statement: ProblemStatement, transcription: Transcription) -> None:
    """Refuse what a transcription cannot do with muscles or a prescribed movement."""
    muscles = statement.muscles
    given = [phase.name for phase in statement.phases if phase.prescribed]
    if given and not transcription.has_contact_forces:
        raise HomodynError(
            f"phase {given[0]!r} has a prescribed movement, for which accelerations are variables: "
            f"use the transcription 'midpoint' or 'collocation' instead of {transcription.name!r}"
        )
    if muscles is None:
        return
    if isinstance(coupling_of(transcription), SharedNodes):
        raise HomodynError(
            f"the transcription {transcription.name!r} has no states of muscles; use 'midpoint', "
            "'collocation' or 'multiple_shooting'"
        )
    compliant = muscles.variable_names(statement.model, TENDON_FORCE)
    if compliant and not transcription.has_contact_forces:
        raise HomodynError(
            f"muscle {compliant[0]!r} has a compliant tendon, whose equations are stiff: use the "
            f"transcription 'midpoint' or 'collocation' instead of {transcription.name!r}, or "
            "tendon='rigid'"
        )


def _independent_rows(model: Model, layout: PhaseLayout, guess: np.ndarray) -> list[int]:
    """Independent contact rows of a phase, in the pose of its guess half-way.

    Compliant contacts prevent no movement and have none.
    """
    if layout.phase.compliant:
        return []
    poses = guess[layout.index["q"]]
    return independent_rows(model, poses[len(poses) // 2], layout.phase.contacts)
