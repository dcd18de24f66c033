"""Functions of a model's state, written over symbols and callable on numbers.

A decorated function is plain recursive Python over symbolic arrays. Called with symbols it runs as
it is, so it can be part of a larger traced function. Called with numbers it is traced once per
model, and the kernel evaluates any leading batch shape.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from itertools import takewhile
from typing import Any, ParamSpec, Protocol, TypeVar, cast

import casadi as ca

from homodyn.errors import ModelError
from homodyn.foundation.record import Record
from homodyn.model.model_cache import ModelCache
from homodyn.model.model_parts import ModelParts
from homodyn.spatial import is_symbolic
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

WRENCHES = "wrenches"
"""Marks an input that maps frame names to 6-vectors."""

PLAIN_CALL = "plain"
"""Marks the key of a kernel for calls with nothing but leading arrays and fixed arguments."""

OPTIONS = ("parameters", "out")
"""Keyword arguments of every function of state that its body does not see."""


STATE_KERNELS: ModelCache[Kernel] = ModelCache("kernels of functions of state")
"""Kernels by function and fixed arguments."""
kernels_of = STATE_KERNELS.of


P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class StateFunction(Protocol[P, R_co]):
    """A function of a model and its state, on arrays of any batch shape or on symbols.

    Its parameters and its result are those of the decorated function.
    """

    __name__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Evaluate."""

    def kernel(self, *args: P.args, **kwargs: P.kwargs) -> Kernel:
        """The kernel of a call with these arguments; arrays need only be present."""


class _Arguments:
    """The arguments of a function of state after the model: arrays, wrenches and fixed ones."""

    def __init__(self, function: Callable[..., Any], inputs: Mapping[str, Any]) -> None:
        self.signature = inspect.signature(function)
        self.inputs = inputs
        self.names = [name for name in self.signature.parameters if name not in OPTIONS][1:]
        self.defaults = [self.signature.parameters[name].default for name in self.names]
        self.required = sum(default is inspect.Parameter.empty for default in self.defaults)
        self.is_array = [name in inputs for name in self.names]
        self.is_wrench = [inputs.get(name) is WRENCHES for name in self.names]

    def plain_counts(self) -> tuple[int, int]:
        """Number of leading arrays, and of them with the fixed arguments that follow.

        Most calls have these arguments only and find their kernel at once. The second number is -1
        where a later array has a value by default.
        """
        names, inputs = self.names, self.inputs
        lead = len(
            list(takewhile(lambda name: name in inputs and inputs[name] is not WRENCHES, names))
        )
        last = lead + len(list(takewhile(lambda name: name not in inputs, names[lead:])))
        later = zip(self.is_array[lead:], self.defaults[lead:], strict=True)
        return lead, -1 if any(array and default is not None for array, default in later) else last

    def bind(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Sequence[Any]:
        """One value per name: that of the call or the default."""
        if not named and self.required <= len(arguments) <= len(self.names):
            return (*arguments, *self.defaults[len(arguments) :])
        given = self.signature.bind(None, *arguments, **named).arguments
        return [given.get(n, d) for n, d in zip(self.names, self.defaults, strict=True)]

    def check(
        self,
        checks: Mapping[str, Callable[[Any, Any], None]],
        model: ModelParts,
        arguments: tuple[Any, ...],
        named: dict[str, Any],
    ) -> None:
        """Apply checks to the numbers of a call."""
        for name, value in zip(self.names, self.bind(arguments, named), strict=True):
            if name in checks and value is not None and not is_symbolic(value):
                checks[name](model, value)

    def separate(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], bool]:
        """What selects the kernel, the numbers it takes, and whether any of them is symbolic."""
        statics: list[Any] = []
        numbers: list[Any] = []
        symbolic = False
        for value, is_array, is_wrench in zip(values, self.is_array, self.is_wrench, strict=True):
            if not is_array:
                statics.append(value)
            elif value is None:
                statics.append(None)
            elif is_wrench:
                statics.append(tuple(value))
                numbers.extend(value.values())
                symbolic = symbolic or is_symbolic(*value.values())
            else:
                statics.append(True)
                numbers.append(value)
                symbolic = symbolic or isinstance(value, (ca.SX, ca.MX))
        return statics, numbers, symbolic


def state_function(
    *,
    returns: Mapping[str, Any],
    record: Callable[..., Any] | None = None,
    checks: Mapping[str, Callable[[Any, Any], None]] | None = None,
    **inputs: Any,
) -> Callable[[Callable[P, R_co]], StateFunction[P, R_co]]:
    """Make a symbolic function of (model, arrays, fixed arguments) batched and differentiable.

    The decorated function may declare the keyword-only parameters ``parameters`` and ``out``. Its
    body does not use them: ``parameters`` are values for the parameters of the model, ``out`` the
    arrays that receive the results.

    Args:
        returns: Names of the outputs with their shapes: extents, or a function of the model and
            the fixed arguments. An extent is a number or the name of a property of the model.
        record: Class of the returned record, whose fields are the outputs.
        checks: By array argument, a function of the model and the numbers given, which refuses
            those out of range. Symbols are not checked.
        inputs: Shape of each array argument: an extent, a tuple of extents, or ``WRENCHES``. The
            extent of an input may also be a function of the model. All other arguments are fixed:
            they select the kernel and must be hashable.

    Returns:
        A decorator that keeps the signature of the function.
    """

    def decorate(function: Callable[P, R_co]) -> StateFunction[P, R_co]:
        expected = _Arguments(function, inputs)
        lead, last = expected.plain_counts()
        evaluate: Callable[..., Any] = function

        @wraps(function)
        def call(
            model: ModelParts,
            *arguments: Any,
            parameters: Any = None,
            out: Any = None,
            **named: Any,
        ) -> Any:
            if checks:
                expected.check(checks, model, arguments, named)
            plain = None
            if not named and parameters is None and lead <= len(arguments) <= last:
                plain = (call, PLAIN_CALL, *arguments[lead:])
                kernel = kernels_of(model).get(plain)
                if kernel is not None and out is None:
                    result = kernel.run_single(arguments[:lead])
                    if result is not None:
                        return record(*result) if record is not None else result
            values = expected.bind(arguments, named)
            statics, numbers, symbolic = expected.separate(values)
            if symbolic or is_symbolic(parameters):
                result = evaluate(model, *values)
                return (
                    result
                    if parameters is None
                    else _substitute_parameters(model, result, parameters)
                )
            kernel = STATE_KERNELS.get(
                model,
                (call, *statics),
                lambda: _trace_kernel(evaluate, expected, returns, model, values),
            )
            if model.parameters:
                numbers.append(parameter_array(model, parameters))
            elif parameters is not None:
                raise ModelError(f"model {model.name!r} has no parameters")
            elif plain is not None:
                kernels_of(model)[plain] = kernel
            result = kernel(*numbers, out=out)
            return record(*result) if record is not None else result

        def kernel(model: ModelParts, *arguments: Any, **named: Any) -> Kernel:
            values = expected.bind(arguments, named)
            return _trace_kernel(evaluate, expected, returns, model, values)

        typed = cast(StateFunction[P, R_co], call)
        typed.kernel = kernel  # type: ignore[method-assign, assignment]
        return typed

    return decorate


def _trace_kernel(
    evaluate: Callable[..., Any],
    expected: _Arguments,
    returns: Mapping[str, Any],
    model: ModelParts,
    values: Sequence[Any],
) -> Kernel:
    """Trace a function of state for the given arguments."""
    names, inputs = expected.names, expected.inputs
    shapes: dict[str, tuple[int, ...]] = {}
    fixed = {}
    for name, value in zip(names, values, strict=True):
        if name not in inputs:
            fixed[name] = value
        elif value is not None and inputs[name] is WRENCHES:
            shapes.update({f"{name}.{frame}": (6,) for frame in value})
        elif value is not None:
            shapes[name] = _shape(model, inputs[name])
    given = {}
    if model.parameters:
        shapes["parameters"] = (len(model.parameters),)
        given["parameters"] = model.parameter_symbols

    def body(*symbols: ca.SX) -> Any:
        by_name = dict(zip(shapes, symbols, strict=True))
        full: list[Any] = []
        for name, value in zip(names, values, strict=True):
            if name not in inputs or value is None:
                full.append(value)
            elif inputs[name] is WRENCHES:
                full.append({frame: by_name[f"{name}.{frame}"] for frame in value})
            else:
                full.append(by_name[name])
        result = evaluate(model, *full)
        return _field_values(result) if isinstance(result, Record) else result

    outputs = {
        name: _shape(model, shape(model, **fixed) if callable(shape) else shape)
        for name, shape in returns.items()
    }
    label = f"{evaluate.__name__} of {model.name}"
    return Kernel(trace(body, shapes, outputs, label, given=given))


def parameter_array(model: ModelParts, parameters: Any) -> Any:
    """Values of all parameters as one array, from an array, a mapping or None."""
    if parameters is None:
        return model.parameter_values
    if not isinstance(parameters, Mapping):
        return parameters
    unknown = [name for name in parameters if name not in model.parameter_names]
    if unknown:
        raise ModelError(
            f"model {model.name!r} has no parameter {', '.join(unknown)}; "
            f"it has {', '.join(model.parameter_names) or 'none'}"
        )
    values = model.parameter_values.copy()
    for name, value in parameters.items():
        values[model.parameter_names.index(name)] = value
    return values


def _shape(model: ModelParts, spec: Any) -> tuple[int, ...]:
    extents = spec if isinstance(spec, tuple) else (spec,)
    return tuple(
        getattr(model, e) if isinstance(e, str) else int(e(model) if callable(e) else e)
        for e in extents
    )


def _field_values(result: Record) -> tuple[Any, ...]:
    return tuple(getattr(result, field.name) for field in dataclasses.fields(cast(Any, result)))


def _substitute_parameters(model: ModelParts, result: Any, parameters: Any) -> Any:
    """A symbolic result with the parameters of the model replaced by other expressions."""
    if isinstance(parameters, Mapping):
        given = parameters
        values = [given.get(p.name, p.symbol) for p in model.parameters]
        parameters = ca.vertcat(*values)
    old, new = model.parameter_symbols, ca.SX(parameters)
    if not isinstance(result, Record):
        return ca.substitute(ca.SX(result), old, new)
    return type(result)(*(ca.substitute(ca.SX(x), old, new) for x in _field_values(result)))
