"""When conditions of events come true: trees of comparisons over values that cross zero.

``a > b`` becomes Z = a - b and ``a < b`` Z = b - a. An event fires when its condition was false and
is true; where in the step is estimated on a straight line, -Z0 / (Z1 - Z0) (eq. 2.7). ``||`` fires
with either side; ``&&`` when one side comes true while the other is, or both do.
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
    """One comparison: which Z it watches, and whether Z = 0 is not yet true."""

    index: int
    strict: bool


@dataclass(frozen=True)
class ConditionBranch:
    """Two conditions joined."""

    both: bool
    a: ConditionLeaf | ConditionBranch
    b: ConditionLeaf | ConditionBranch


@dataclass(frozen=True)
class ConditionCrossing:
    """What a condition did in a step; ``fraction`` and ``miss`` count where ``crossed`` is."""

    crossed: ca.SX
    fraction: ca.SX
    overshoot: ca.SX
    """How far beyond its zero the comparison that crossed is."""


def condition_tree(
    formula: Formula, value: Callable[[Formula], ca.SX], zeros: list[ca.SX], negated: bool = False
) -> ConditionLeaf | ConditionBranch:
    """The tree of a condition; the Z of its comparisons are appended to ``zeros``."""
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
    """Whether a condition holds."""
    if isinstance(tree, ConditionLeaf):
        return is_reached(z[tree.index], tree.strict)
    join = ca.logic_and if tree.both else ca.logic_or
    return join(is_true(tree.a, z), is_true(tree.b, z))


def is_within_tolerance(tree: ConditionLeaf | ConditionBranch, z: ca.SX, tolerance: float) -> ca.SX:
    """Whether a condition holds or all it takes is within the tolerance."""
    if isinstance(tree, ConditionLeaf):
        return z[tree.index] >= -tolerance
    join = ca.logic_and if tree.both else ca.logic_or
    return join(
        is_within_tolerance(tree.a, z, tolerance), is_within_tolerance(tree.b, z, tolerance)
    )


def detect_crossing(
    tree: ConditionLeaf | ConditionBranch, z0: ca.SX, z1: ca.SX
) -> ConditionCrossing:
    """How a condition went from one end of a step to the other."""
    if isinstance(tree, ConditionLeaf):
        a, b = z0[tree.index], z1[tree.index]
        crossed = crosses_zero(a, b, tree.strict)
        fraction = ca.if_else(crossed, secant_fraction(a, ca.if_else(crossed, b - a, 1)), 1)
        return ConditionCrossing(crossed, fraction, ca.if_else(crossed, ca.fabs(b), 0))
    crossed = ca.logic_and(ca.logic_not(is_true(tree, z0)), is_true(tree, z1))
    one, other = detect_crossing(tree.a, z0, z1), detect_crossing(tree.b, z0, z1)
    fraction = ca.fmin(
        ca.if_else(one.crossed, one.fraction, 1), ca.if_else(other.crossed, other.fraction, 1)
    )
    return ConditionCrossing(crossed, fraction, ca.fmax(one.overshoot, other.overshoot))
