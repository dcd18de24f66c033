"""Errors of functions that are traced over symbols and branch on their values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from homodyn.errors import KernelError

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
        KernelError: The function branches on a symbol.
    """
    try:
        yield
    except Exception as error:
        if _TRUTH_VALUE not in str(error) or isinstance(error, KernelError):
            raise
        raise KernelError(
            f"{what} branches on the value of a symbol: it is called once with CasADi symbols, so "
            "`if`, `and`, `max`, `min` and `while` cannot decide; use ca.if_else(condition, a, b), "
            "ca.logic_and, ca.fmax and ca.fmin"
        ) from error
