"""Values that are computed once per model, such as kernels, and live as long as the model."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from homodyn.model.model_parts import ModelParts

V = TypeVar("V")


class ModelCache(Generic[V]):
    """A typed dictionary per model, private to the module that defines the cache.

    Args:
        name: Name of the cache; unique in the package.
    """

    def __init__(self, name: str) -> None:
        self._attribute = f"_cache of {name}"

    def of(self, model: ModelParts) -> dict[Hashable, V]:
        """The dictionary of a model; empty at first."""
        values = model.__dict__.get(self._attribute)
        if values is None:
            values = model.__dict__[self._attribute] = {}
        return values

    def get(self, model: ModelParts, key: Hashable, compute: Callable[[], V]) -> V:
        """The value of a key, computed at the first request.

        Args:
            model: The model that the value belongs to.
            key: Identifies the value in this cache.
            compute: Returns the value.

        Returns:
            The same object for the same model and key.
        """
        values = self.of(model)
        if key not in values:
            values[key] = compute()
        return values[key]
