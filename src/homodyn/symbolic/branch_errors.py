"""Errors of functions that are traced over symbols and branch on their values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from homodyn.errors import KernelError
from homodyn.foundation.text import unknown_name

_TRUTH_VALUE = "truth value"
"""Part of CasADi's message when Python asks whether a symbol is true."""


@contextmanager
def explain_branches(what: str) -> Iterator[None]:
    """Explain the error of a function of the user that branches on a symbol.

    Args:
        what: The function, such as ``"objective term 'upright'"``.

    Yields:
        Nothing; calls of the function are in the body of the ``with`` statement.

    Raises:
        KernelError: The function branches on a symbol, or uses an attribute that does not exist.
    """
    try:
        yield
    except AttributeError as error:
        if error.obj is None or not error.name:
            raise
        names = [name for name in dir(error.obj) if not name.startswith("_")]
        kind = type(error.obj).__name__
        raise KernelError(
            f"{what}: {kind} has {unknown_name('attribute', error.name, names)}"
        ) from error
    except Exception as error:
        if _TRUTH_VALUE not in str(error) or isinstance(error, KernelError):
            raise
        raise KernelError(
            f"{what} branches on the value of a symbol: it is called once with CasADi symbols, so "
            "`if`, `and`, `max`, `min` and `while` cannot decide; use ca.if_else(condition, a, b), "
            "ca.logic_and, ca.fmax and ca.fmin"
        ) from error
