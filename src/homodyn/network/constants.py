"""Formulas without variables, and the numbers they stand for."""

from __future__ import annotations

from math import isfinite
from typing import Any

import casadi as ca
import numpy as np

from homodyn.network.evaluate import CONSTANTS, evaluate
from homodyn.network.formula import Expression, Formula, expression
from homodyn.network.functions import NAMES, size
from homodyn.network.scope import World
from homodyn.network.source import Place


class _Nothing(World):
    pass


def calculated(text: str, place: Place) -> str:
    """The number a formula without variables stands for, as text."""
    value = evaluate(expression(text, place, shifted=True), _Nothing(), None)
    if value.shape != (1, 1) or not value.is_constant():
        raise place.error(f"{text!r} is {size(value)}; one number is needed")
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
            known = len(one.value) == 1 and one.value[0] in NAMES
            if not known or one.value[0] == "rand":
                return False
        waiting += one.parts
    return True


def constant(given: Expression) -> np.ndarray | None:
    """The value of a formula without variables; None if there are some."""
    if not is_constant(given.formula):
        return None
    value = evaluate(given, _Nothing(), None)
    return np.array(ca.DM(value)) if value.is_constant() else None
