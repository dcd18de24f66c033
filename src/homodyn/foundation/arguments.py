"""Checks of the arguments of public functions."""

from __future__ import annotations

from homodyn.errors import HomodynError
from homodyn.foundation.text import enumerate_names


def require_type(name: str, value: object, *accepted: type) -> None:
    """Check the type of an argument, so that exchanged arguments are reported at the call.

    Args:
        name: Name of the argument.
        value: The argument.
        accepted: Accepted types.

    Raises:
        HomodynError: The argument has another type.
    """
    if not isinstance(value, accepted):
        names = enumerate_names([each.__name__ for each in accepted])
        # Results of simulations, solutions and syntheses hold their motion.
        inner = isinstance(getattr(value, "motion", None), accepted)
        advice = ", such as its field 'motion'" if inner else ""
        raise HomodynError(f"{name} is of type {type(value).__name__}; accepted: {names}{advice}")
