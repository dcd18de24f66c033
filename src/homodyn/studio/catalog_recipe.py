"""How the catalog built a body: which one, and the numbers that were chosen by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from inspect import signature
from typing import Any

from homodyn import catalog
from homodyn.catalog.heiman_tables import heiman_parameters
from homodyn.catalog.human36 import human36_lengths
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model

SIZES = ("height", "size")
"""Arguments of the catalog that mean the stature (m)."""


@dataclass(frozen=True)
class CatalogRecipe:
    """A body of the catalog and the numbers that differ from its usual ones, in m and kg."""

    body: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def values(self) -> dict[str, float]:
        """Every number that can be chosen, by name: stature and mass first, then the segments."""
        plain = _number_arguments(self.body) | {
            name: value
            for name, value in self.numbers.items()
            if name in _number_arguments(self.body)
        }
        return plain | _segment_numbers(self.body, plain) | dict(self.numbers)

    def with_number(self, name: str, value: float) -> CatalogRecipe:
        """With one number chosen."""
        known = self.values()
        if name not in known:
            raise ModelError(f"{self.body} has {unknown_name('number', name, tuple(known))}")
        return replace(self, numbers={**self.numbers, name: float(value)})

    def build(self) -> Model:
        """The model of these numbers."""
        plain = {
            name: value
            for name, value in self.numbers.items()
            if name in _number_arguments(self.body)
        }
        own = {name: value for name, value in self.numbers.items() if name not in plain}
        table: dict[str, Any] = {_segment_argument(self.body): own} if own else {}
        return catalog.build(self.body, **plain, **table)


def unit_of(name: str) -> str:
    """The unit of a number by its name."""
    if name == "density":
        return "kg/m3"
    return "kg" if name.lower().endswith("mass") else "m"


@lru_cache(maxsize=32)
def _number_arguments(body: str) -> dict[str, float]:
    """Arguments of the body that are numbers, with their usual values."""
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
    """The argument of a body that takes numbers of its segments by name."""
    return "lengths" if body == "human36" else "overrides"


def _segment_numbers(body: str, plain: Mapping[str, float]) -> dict[str, float]:
    """Lengths and masses of the segments that follow from stature and mass."""
    if body == "heiman":
        made = heiman_parameters(plain["height"], plain["mass"])
        return {
            name: float(value)
            for name, value in made.items()
            if name != "height" and not name.endswith(("COM", "Gyration")) and value
        }
    if body == "human36":
        return {name: float(value) for name, value in human36_lengths(plain["size"]).items()}
    return {}
