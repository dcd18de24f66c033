"""Names for the numbers of a model: ``"thigh.com.z"`` and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from homodyn.model.model import Model


def parametrized(model: Model, names: tuple[str, ...]) -> Model:
    """The model with the named numbers turned into parameters."""
    return model
