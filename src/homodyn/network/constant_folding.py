"""Formulas without variables, and the numbers they stand for."""

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
    """The number a formula without variables stands for, as text."""
    value = evaluate(parse_formula(text, place, expanded=True), _EmptyEnvironment(), None)
    if value.shape != (1, 1) or not value.is_constant():
        raise place.error(f"{text!r} is {size_text(value)}; one number is needed")
    number = float(value)
    if not isfinite(number):
        raise place.error(f"{text!r} gives {number}")
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def is_constant(formula: Any) -> bool:
    """Whether a formula has no names but those of built-in functions and constants."""
    waiting = [formula]
    while waiting:
        one = waiting.pop()
        if isinstance(one, tuple):
            waiting += one
            continue
        if not isinstance(one, Formula):
            continue
        if one.kind in ("symbolic", "prime"):
            return False
        if one.kind == "name" and (len(one.value) > 1 or one.value[0] not in CONSTANTS):
            return False
        if one.kind == "call":
            known = len(one.value) == 1 and one.value[0] in FUNCTION_NAMES
            if not known or one.value[0] == "rand":
                return False
        waiting += one.parts
    return True


def constant_value(given: ParsedFormula) -> np.ndarray | None:
    """The value of a formula without variables; None if there are some."""
    if not is_constant(given.formula):
        return None
    value = evaluate(given, _EmptyEnvironment(), None)
    return np.array(ca.DM(value)) if value.is_constant() else None
