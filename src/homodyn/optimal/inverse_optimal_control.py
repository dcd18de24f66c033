"""Inverse optimal control: the weights of criteria for which a movement is optimal.

A movement that minimizes ``sum_j w_j f_j`` under constraints satisfies the conditions of Karush,
Kuhn and Tucker: the weighted gradients are a combination of the gradients of active constraints.
Weights and multipliers for which the remainder is smallest follow from least squares, without
solving the problem (inverse KKT; Keshavarz, Wang and Boyd 2011; Englert, Vien and Toussaint 2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import casadi as ca
import numpy as np
import scipy

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.optimal.nlp.nonlinear_program import NonlinearProgram
from homodyn.optimal.nlp.transcribed_problem import TranscribedProblem, transcribe
from homodyn.optimal.problem import Problem
from homodyn.optimal.statement.objective_terms import ObjectiveTerm
from homodyn.optimal.transcription.block import Block
from homodyn.optimal.transcription.interface import Transcription
from homodyn.optimal.transcription.registry import find_transcription
from homodyn.optimal.verify.solution import Solution

ACTIVE_DISTANCE = 1e-3
"""Scaled distance from a bound at which its multiplier is half as costly as the remainder."""
MULTIPLIER_REGULARIZATION = 1e-10
"""Regularization of multipliers, which makes those of redundant rows unique."""
MIN_WEIGHT_SHARE = 1e-9
"""Weights below this share of the largest are zero."""
MAX_CRITERIA = 12
"""Largest number of criteria: all their subsets are tried."""


@record
class InferredWeights(Record):
    """Weights of criteria that explain a movement."""

    weights: Mapping[str, float]
    """By criterion, not negative; one for the criterion with the largest share."""
    remainder: float
    """0 to 1: length of the weighted sum of gradients that constraints do not balance, relative to
    that of the weighted gradients one by one. 0: the movement is optimal for the weights."""
    single: Mapping[str, float]
    """By criterion, the same for this criterion alone."""
    shares: Mapping[str, float]
    """By criterion, its share of the lengths of the weighted gradients; they add up to 1."""

    def headline(self) -> str:
        """Weights and remainder."""
        found = ", ".join(f"{w:.3g} {name}" for name, w in self.weights.items() if w)
        return f"InferredWeights: {found}; remainder {self.remainder:.3f}"


def infer_weights(
    problem: Problem,
    criteria: Mapping[str, ObjectiveTerm],
    transcription: str | Transcription = "midpoint",
    *,
    movement: Solution | None = None,
) -> InferredWeights:
    """The weights of criteria for which a movement is nearest to optimal.

    Signs of multipliers are not checked. Criteria whose gradients the constraints balance alone
    cannot be distinguished: their remainder alone (``single``) is near 0.

    Args:
        problem: The problem with its constraints; its objective terms are ignored. Its guess is the
            movement, which should satisfy the constraints.
        criteria: Objective terms by name, each applied to all phases.
        transcription: See `Problem.transcribe`.
        movement: A solution of a problem with the same phases, on any mesh, instead of the guess.

    Returns:
        Weights and remainders.

    Raises:
        HomodynError: There are no criteria, or too many, or the movement has no variables that a
            criterion depends on.
    """
    if not 1 <= len(criteria) <= MAX_CRITERIA:
        raise HomodynError(
            f"{len(criteria)} criteria; inverse optimal control takes 1 to {MAX_CRITERIA}"
        )
    if movement is not None:
        problem = movement.warm_start(problem)
    scheme = find_transcription(transcription)
    terms = [replace(term, name=name) for name, term in criteria.items()]
    phases = [replace(phase, terms=terms) for phase in problem.phases]
    transcribed = transcribe(replace(problem, phases=phases), scheme)
    balance = _Balance.of(transcribed)
    found = [criterion_gradient(transcribed, name) for name in criteria]
    gradients = [float(np.linalg.norm(gradient)) for gradient in found]
    remainders = [balance.remainder(gradient) for gradient in found]
    idle = [name for name, size in zip(criteria, gradients, strict=True) if not size > 0]
    if idle:
        raise HomodynError(f"criterion {idle[0]!r} does not depend on the movement; leave it out")
    lengths = np.array(gradients)
    units = np.column_stack(remainders) / lengths
    shares = smallest_combination(units)
    weights = shares / lengths
    names = tuple(criteria)
    single = np.linalg.norm(units, axis=0)
    unit = weights[shares.argmax()]
    return InferredWeights(
        dict(zip(names, map(float, weights / unit), strict=True)),
        float(np.linalg.norm(units @ shares)),
        dict(zip(names, map(float, single), strict=True)),
        dict(zip(names, map(float, shares), strict=True)),
    )


def smallest_combination(vectors: np.ndarray) -> np.ndarray:
    """The convex combination of vectors with the smallest length.

    Args:
        vectors: (size, count), one vector per column.

    Returns:
        (count,), not negative, with the sum 1.
    """
    count = vectors.shape[1]
    products = vectors.T @ vectors
    best, shortest = np.full(count, 1.0 / count), np.inf
    for size in range(1, count + 1):
        for chosen in combinations(range(count), size):
            own = np.array(chosen)
            system = np.ones((size + 1, size + 1))
            system[:size, :size] = products[np.ix_(own, own)]
            system[size, size] = 0.0
            known = np.append(np.zeros(size), 1.0)
            found = np.linalg.lstsq(system, known, rcond=None)[0][:size]
            if found.min() < -MIN_WEIGHT_SHARE or not np.isclose(found.sum(), 1.0):
                continue
            shares = np.zeros(count)
            shares[own] = np.maximum(found, 0.0)
            length = float(shares @ products @ shares)
            if length < shortest * (1 - MIN_WEIGHT_SHARE):
                best, shortest = shares, length
    return best


def criterion_gradient(transcribed: TranscribedProblem, term: str) -> np.ndarray:
    """The gradient of one objective term at the guess, in scaled variables.

    Args:
        transcribed: The problem.
        term: Name of the term.

    Returns:
        (variables,).
    """
    blocks = []
    for block in transcribed.blocks:
        own = [k for k, name in enumerate(block.terms) if name == term]
        if own:
            costs = {**_NO_COSTS, "terms": (term,), "costs": block.costs[own]}
            blocks.append(replace(block, **costs, **_no_rows(block)))
    program = NonlinearProgram(blocks, len(transcribed.guess), transcribed.scale)
    entries, _ = program.first_derivatives(transcribed.guess)
    return np.asarray(program.gradient_sums @ entries)


_NO_COSTS: dict[str, Any] = {
    "terms": (),
    "costs": ca.SX(0, 1),
    "residuals": ca.SX(0, 1),
    "plain": ca.SX(0),
}


def _no_rows(block: Block) -> dict[str, Any]:
    """A block without constraint rows."""
    bounds = np.zeros((block.count, 0))
    return {"rows": ca.SX(0, 1), "row_names": (), "lower": bounds, "upper": bounds}


class _Balance:
    """What the constraints of a problem can balance at a point, in scaled variables."""

    def __init__(self, jacobian: scipy.sparse.csr_array, slack: np.ndarray, distance: np.ndarray):
        self.jacobian = jacobian
        far = np.isinf(distance)
        nearness = np.where(far, 1.0, distance) / ACTIVE_DISTANCE
        self.freedom = np.where(far, 1.0, nearness**2 / (1 + nearness**2))
        with np.errstate(over="ignore"):
            cost = np.minimum((slack / ACTIVE_DISTANCE) ** 2, 1.0 / MULTIPLIER_REGULARIZATION)
        weighted = jacobian * self.freedom[None, :]
        normal = weighted @ jacobian.T + scipy.sparse.diags_array(cost + MULTIPLIER_REGULARIZATION)
        self.weighted = scipy.sparse.csr_array(weighted)
        self.solve = scipy.sparse.linalg.splu(scipy.sparse.csc_array(normal)).solve

    @staticmethod
    def of(transcribed: TranscribedProblem) -> _Balance:
        """The balance at the guess of a problem."""
        blocks = [replace(block, **_NO_COSTS) for block in transcribed.blocks]
        x = transcribed.guess
        plain = NonlinearProgram(blocks, len(x), transcribed.scale)
        program = plain.scaled_by_jacobian(x)
        values = program.first_derivatives(x)[1]
        rows, columns = program.jacobian_entries
        scaled = values * program.scale[columns] * program.row_scale[rows]
        shape = (program.rows, program.size)
        jacobian = scipy.sparse.csr_array((scaled, (rows, columns)), shape=shape)
        at = program.evaluate(x)[1]
        slack = np.minimum(np.abs(at - program.lower), np.abs(program.upper - at))
        slack = np.where(program.lower == program.upper, 0.0, slack * program.row_scale)
        distance = np.minimum(np.abs(x - transcribed.lower), np.abs(transcribed.upper - x))
        distance = np.where(transcribed.lower == transcribed.upper, 0.0, distance / program.scale)
        return _Balance(jacobian, slack, distance)

    def remainder(self, gradient: np.ndarray) -> np.ndarray:
        """The part of a gradient that no multipliers balance."""
        multipliers = self.solve(-(self.weighted @ gradient))
        return np.sqrt(self.freedom) * (gradient + self.jacobian.T @ multipliers)
