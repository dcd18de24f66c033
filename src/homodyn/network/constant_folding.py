"""Evaluation of formulas without variables."""

from __future__ import annotations

from math import isfinite
from typing import Any

import casadi as ca
import numpy as np

from homodyn.network.evaluation import CONSTANTS, evaluate
from homodyn.network.formula import Formula, ParsedFormula, parse_formula
from homodyn.network.functions import FUNCTION_NAMES, size_text
from homodyn.network.scope import Environment
from homodyn.network.source import SourceLocation


class _EmptyEnvironment(Environment):
    pass


def fold_text(text: str, place: SourceLocation) -> str:
    """The number of a formula without variables.

    Args:
        text: The formula.
        place: Its place, for messages.

    Returns:
        The number as text.

    Raises:
        NetworkError: The formula has variables, or is not a finite number.
    """
    value = evaluate(parse_formula(text, place, expanded=True), _EmptyEnvironment(), None)
    if value.shape != (1, 1) or not value.is_constant():
        raise place.error(f"{text!r} is {size_text(value)}; expected a single number")
    number = float(value)
    if not isfinite(number):
        raise place.error(f"{text!r} is {number}; expected a finite number")
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def is_constant(formula: Any) -> bool:
    """Whether a formula has only numbers, built-in constants and built-in functions."""
    pending = [formula]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            pending += part
            continue
        if not isinstance(part, Formula):
            continue
        if part.kind in ("symbolic", "prime"):
            return False
        if part.kind == "name" and (len(part.value) > 1 or part.value[0] not in CONSTANTS):
            return False
        if part.kind == "call":
            is_builtin = len(part.value) == 1 and part.value[0] in FUNCTION_NAMES
            if not is_builtin or part.value[0] == "rand":
                return False
        pending += part.parts
    return True


def constant_value(formula: ParsedFormula) -> np.ndarray | None:
    """The value of a formula; None if it depends on variables."""
    if not is_constant(formula.formula):
        return None
    value = evaluate(formula, _EmptyEnvironment(), None)
    return np.array(ca.DM(value)) if value.is_constant() else None
