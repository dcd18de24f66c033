"""Functions of OpenSim for joint axes, coordinate couplers and moving path points."""

from __future__ import annotations

from homodyn.errors import FormatError, ModelError
from homodyn.model.formats.osim_document import number, numbers, property_object, unsupported_error
from homodyn.model.formats.xml import Element
from homodyn.model.functions import (
    Constant,
    Linear,
    Polyline,
    Polynomial,
    ScalarFunction,
    ScaledFunction,
    Spline,
)

_SPLINES = ("SimmSpline", "NaturalCubicSpline", "natCubicSpline")
"""Current and former names of the same function; none of them has natural end conditions."""
SUPPORTED_FUNCTIONS = (
    "Constant, LinearFunction, PolynomialFunction, SimmSpline, PiecewiseLinearFunction, "
    "MultiplierFunction"
)
MAX_FUNCTION_DEPTH = 32


def read_function(element: Element, depth: int = 0) -> ScalarFunction:
    """The function that an element describes.

    Raises:
        FormatError: The function cannot be represented.
    """
    kind = element.tag
    if kind == "Constant":
        return Constant(number(element, "value", 0.0))
    if kind == "LinearFunction":
        coefficients = numbers(element, "coefficients", default=(1.0, 0.0))
        if len(coefficients) != 2:
            raise element.error(
                f"a LinearFunction of one coordinate has 2 coefficients, got {len(coefficients)}"
            )
        return Linear(*coefficients)
    if kind == "PolynomialFunction":
        highest_first = numbers(element, "coefficients")
        return Polynomial(tuple(reversed(highest_first)))
    if kind in _SPLINES or kind == "PiecewiseLinearFunction":
        return _knots(element)
    if kind == "MultiplierFunction":
        return _scaled_function(element, depth)
    raise unsupported_error(element, "the function", SUPPORTED_FUNCTIONS)


def is_constant(function: ScalarFunction) -> bool:
    """Whether a function is constant."""
    return isinstance(function, Constant)


def _knots(element: Element) -> ScalarFunction:
    x, y = tuple(numbers(element, "x")), tuple(numbers(element, "y"))
    if len(x) == len(y) == 1:
        return Constant(y[0])
    try:
        return Spline(x, y, "simm") if element.tag in _SPLINES else Polyline(x, y)
    except ModelError as error:
        raise element.error(str(error)) from None


def _scaled_function(element: Element, depth: int) -> ScalarFunction:
    inner = property_object(element, "function", unnamed=True)
    if inner is None:
        raise element.error("a MultiplierFunction needs a <function> inside")
    if depth > MAX_FUNCTION_DEPTH:
        raise FormatError("its functions are nested too deeply", element.path)
    factor, function = number(element, "scale", 1.0), read_function(inner, depth + 1)
    if factor == 1:
        return function
    if isinstance(function, Constant):
        return Constant(factor * function.number)
    if isinstance(function, Linear):
        return Linear(factor * function.factor, factor * function.offset)
    return ScaledFunction(function, factor)
