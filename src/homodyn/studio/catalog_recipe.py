"""How the catalog built a body: its name, and the parameters that differ from their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import lru_cache
from inspect import signature
from typing import Any

from homodyn import catalog
from homodyn.catalog.heiman_tables import heiman_parameters
from homodyn.catalog.human36 import human36_lengths
from homodyn.errors import ModelError
from homodyn.foundation import Record, record, unknown_name
from homodyn.model import Model


@record(eq=True)
class CatalogRecipe(Record):
    """A body of the catalog and its parameters that differ from the defaults (m, kg)."""

    body: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def values(self) -> dict[str, float]:
        """All parameters by name: stature and mass first, then those of the segments."""
        defaults = _default_arguments(self.body)
        whole = defaults | {n: value for n, value in self.numbers.items() if n in defaults}
        return whole | _segment_parameters(self.body, whole) | dict(self.numbers)

    def with_number(self, name: str, value: float) -> CatalogRecipe:
        """The recipe with one parameter set."""
        known = self.values()
        if name not in known:
            raise ModelError(f"{self.body} has {unknown_name('parameter', name, tuple(known))}")
        return replace(self, numbers={**self.numbers, name: float(value)})

    def build(self) -> Model:
        """The model with these parameters."""
        defaults = _default_arguments(self.body)
        whole = {name: value for name, value in self.numbers.items() if name in defaults}
        segments = {name: value for name, value in self.numbers.items() if name not in whole}
        table: dict[str, Any] = {_segment_argument(self.body): segments} if segments else {}
        return catalog.build(self.body, **whole, **table)


def unit_of(name: str) -> str:
    """The unit of a parameter, from its name."""
    if name == "density":
        return "kg/m3"
    return "kg" if name.lower().endswith("mass") else "m"


@lru_cache(maxsize=32)
def _default_arguments(body: str) -> dict[str, float]:
    """Numeric arguments of the function that builds the body, with their defaults."""
    entry = next((entry for entry in catalog.entries() if entry.name == body), None)
    if entry is None:
        known = [entry.name for entry in catalog.entries()]
        raise ModelError(f"the catalog has {unknown_name('body', body, known)}")
    return {
        name: float(argument.default)
        for name, argument in signature(entry.build).parameters.items()
        if isinstance(argument.default, float)
    }


def _segment_argument(body: str) -> str:
    """The argument that takes the parameters of segments by name."""
    return "lengths" if body == "human36" else "overrides"


def _segment_parameters(body: str, whole: Mapping[str, float]) -> dict[str, float]:
    """Lengths and masses of the segments for a stature and mass."""
    if body == "heiman":
        parameters = heiman_parameters(whole["height"], whole["mass"])
        return {
            name: float(value)
            for name, value in parameters.items()
            if name != "height" and not name.endswith(("COM", "Gyration")) and value
        }
    if body == "human36":
        return {name: float(value) for name, value in human36_lengths(whole["size"]).items()}
    return {}
