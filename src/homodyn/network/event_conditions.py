"""Conditions of events: trees of comparisons over zero functions.

``a > b`` becomes Z = a - b and ``a < b`` becomes Z = b - a. An event fires when its condition was
false and is true. Its position in the step is estimated linearly, -Z0 / (Z1 - Z0) (van den Kieboom
2014, eq. 2.7). ``||`` fires with either side; ``&&`` when one side becomes true while the other is
true, or both become true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from homodyn.integrate import crosses_zero, is_reached, secant_fraction
from homodyn.network.formula import Formula

NEGATED_OPERATORS = {">": "<=", "<=": ">", "<": ">=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True)
class ConditionLeaf:
    """One comparison."""

    index: int
    """Index of its zero function Z."""
    strict: bool
    """Whether the comparison is false at Z = 0."""


@dataclass(frozen=True)
class ConditionBranch:
    """Two conditions joined by ``&&`` or ``||``."""

    both: bool
    """Whether both must be true."""
    a: ConditionLeaf | ConditionBranch
    b: ConditionLeaf | ConditionBranch


@dataclass(frozen=True)
class ConditionCrossing:
    """Change of a condition in a step; the other fields are valid where ``crossed``."""

    crossed: ca.SX
    """Whether the condition became true."""
    fraction: ca.SX
    """Estimated position of the zero, as a share of the step."""
    overshoot: ca.SX
    """Value of the zero function beyond its zero."""


def condition_tree(
    formula: Formula, value: Callable[[Formula], ca.SX], zeros: list[ca.SX], negated: bool = False
) -> ConditionLeaf | ConditionBranch:
    """The tree of a condition.

    Args:
        formula: The condition.
        value: Evaluates a formula.
        zeros: Zero functions; those of the comparisons are appended.
        negated: Whether the condition is negated.

    Returns:
        The tree.
    """
    if formula.kind == "unary" and formula.value == "!":
        return condition_tree(formula.parts[0], value, zeros, not negated)
    if formula.kind == "binary" and formula.value in ("||", "&&"):
        a, b = (condition_tree(part, value, zeros, negated) for part in formula.parts)
        return ConditionBranch((formula.value == "&&") != negated, a, b)
    if formula.kind == "binary" and formula.value in NEGATED_OPERATORS:
        operator = NEGATED_OPERATORS[formula.value] if negated else formula.value
        a, b = formula.parts
        difference = value(Formula("binary", "-", (a, b), formula.at))
        if operator in ("<", "<="):
            difference = -difference
        elif operator == "==":
            difference = -ca.fabs(difference)
        elif operator == "!=":
            difference = ca.fabs(difference)
        strict = operator in (">", "<", "!=")
    else:
        difference = value(formula)
        strict = not negated
        if negated:
            difference = -difference
    zeros.append(difference)
    return ConditionLeaf(len(zeros) - 1, strict)


def is_true(tree: ConditionLeaf | ConditionBranch, z: ca.SX) -> ca.SX:
    """Whether a condition is true for values of the zero functions."""
    if isinstance(tree, ConditionLeaf):
        return is_reached(z[tree.index], tree.strict)
    join = ca.logic_and if tree.both else ca.logic_or
    return join(is_true(tree.a, z), is_true(tree.b, z))


def is_within_tolerance(tree: ConditionLeaf | ConditionBranch, z: ca.SX, tolerance: float) -> ca.SX:
    """Whether a condition is true, or would be if zero functions were larger by a tolerance."""
    if isinstance(tree, ConditionLeaf):
        return z[tree.index] >= -tolerance
    join = ca.logic_and if tree.both else ca.logic_or
    return join(
        is_within_tolerance(tree.a, z, tolerance), is_within_tolerance(tree.b, z, tolerance)
    )


def detect_crossing(
    tree: ConditionLeaf | ConditionBranch, z0: ca.SX, z1: ca.SX
) -> ConditionCrossing:
    """The change of a condition from the zero functions before a step to those after it."""
    if isinstance(tree, ConditionLeaf):
        a, b = z0[tree.index], z1[tree.index]
        crossed = crosses_zero(a, b, tree.strict)
        fraction = ca.if_else(crossed, secant_fraction(a, ca.if_else(crossed, b - a, 1)), 1)
        return ConditionCrossing(crossed, fraction, ca.if_else(crossed, ca.fabs(b), 0))
    crossed = ca.logic_and(ca.logic_not(is_true(tree, z0)), is_true(tree, z1))
    a_side, b_side = detect_crossing(tree.a, z0, z1), detect_crossing(tree.b, z0, z1)
    fraction = ca.fmin(
        ca.if_else(a_side.crossed, a_side.fraction, 1),
        ca.if_else(b_side.crossed, b_side.fraction, 1),
    )
    return ConditionCrossing(crossed, fraction, ca.fmax(a_side.overshoot, b_side.overshoot))
