"""Calls in a form that another process can load."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import cloudpickle

from homodyn.foundation.executors.interface import ExecutorError


def portable_call(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[Callable[..., Any], tuple[Any, ...], bool]:
    """A task in a form that worker processes can load, and whether its result comes by value.

    Functions of Homodyn are sent by reference. Others, with their arguments, are sent by value
    where they are part of a script, because workers do not run the script again.
    """
    module = getattr(function, "__module__", None) or ""
    if module.startswith("homodyn.") and "<" not in getattr(function, "__qualname__", "<"):
        return function, arguments, False
    try:
        return _call_by_value, (cloudpickle.dumps((function, arguments)),), True
    except Exception as error:
        raise ExecutorError(
            f"{getattr(function, '__qualname__', function)!r} cannot be sent to other processes "
            f"({error}); define it in a module, or run it in this process (serial)"
        ) from None


def _call_by_value(payload: bytes) -> bytes:
    """Value and error of a function that was sent by value, in a worker process."""
    function, arguments = pickle.loads(payload)
    try:
        return bytes(cloudpickle.dumps((function(*arguments), None)))
    except Exception as error:
        return bytes(cloudpickle.dumps((None, error)))
