"""What is searched: named parameters, pools of exclusive groups of them, linear constraints.

Optimisers move in the *unit cube*: every parameter runs from 0 to 1 between its bounds, on a linear
or logarithmic scale. A *pool* is a set of mutually exclusive *groups* of parameters; one group of
every pool together is a *subspace* (a structure), and the parameters that no pool mentions belong
to all of them. Subspaces are never listed: they are rows of group numbers, one column a pool.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator

from homodyn.errors import SearchError
from homodyn.search.validated_model import ValidatedModel

CONSTRAINT_TOLERANCE = 1e-9
"""How far beyond a constraint a repaired candidate may be, in ranges of the parameters."""
_MAX_PROJECTION_SWEEPS = 500


class SearchParameter(ValidatedModel):
    """A continuous parameter between two bounds; ``start`` is where first candidates are drawn."""

    positional: ClassVar[tuple[str, ...]] = ("name", "lower", "upper", "unit")
    name: str = Field(min_length=1)
    lower: float
    upper: float
    unit: str = ""
    scale: Literal["linear", "log"] = "linear"
    start: tuple[float, float] | None = None

    # Field by field, so that one mistake does not hide another.

    @field_validator("upper")
    @classmethod
    def _above(cls, upper: float, known: ValidationInfo) -> float:
        lower = known.data.get("lower")
        if lower is not None and not lower < upper:
            raise ValueError(f"lower ({lower:g}) must be below upper ({upper:g})")
        return upper

    @field_validator("scale")
    @classmethod
    def _positive(cls, scale: str, known: ValidationInfo) -> str:
        lower = known.data.get("lower")
        if scale == "log" and lower is not None and lower <= 0:
            raise ValueError(f"a log scale needs a lower bound above 0, not {lower:g}")
        return scale

    @field_validator("start")
    @classmethod
    def _within(
        cls, start: tuple[float, float] | None, known: ValidationInfo
    ) -> tuple[float, float] | None:
        low, high = known.data.get("lower", -math.inf), known.data.get("upper", math.inf)
        if start and not low <= start[0] <= start[1] <= high:
            raise ValueError(f"start {list(start)} must rise within the bounds")
        return start


class Pool(ValidatedModel):
    """Mutually exclusive groups of parameters by name; groups may be empty and may overlap."""

    positional: ClassVar[tuple[str, ...]] = ("name", "groups")
    name: str = Field(min_length=1)
    groups: Mapping[str, tuple[str, ...]] = Field(min_length=1)


class LinearConstraint(ValidatedModel):
    """Bounds of a weighted sum of parameters: lower <= sum of factor * value <= upper.

    It holds in the subspaces that have all its parameters.
    """

    positional: ClassVar[tuple[str, ...]] = ("terms", "upper")
    terms: Mapping[str, float] = Field(min_length=1)
    lower: float | None = None
    upper: float | None = None

    @model_validator(mode="after")
    def _check(self) -> LinearConstraint:
        if self.lower is None and self.upper is None:
            raise ValueError("a constraint needs lower, upper or both")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise ValueError(f"lower ({self.lower:g}) must not exceed upper ({self.upper:g})")
        if not any(self.terms.values()):
            raise ValueError("a constraint needs a factor other than 0")
        return self


class Space(ValidatedModel):
    """Parameters, pools and constraints; ``{"x": (-2, 2)}`` is short for a list of parameters."""

    positional: ClassVar[tuple[str, ...]] = ("parameters", "pools", "constraints")
    parameters: tuple[SearchParameter, ...]
    pools: tuple[Pool, ...] = ()
    constraints: tuple[LinearConstraint, ...] = ()

    @field_validator("parameters", mode="before")
    @classmethod
    def _from_mapping(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return [
            {"name": name, "lower": bounds[0], "upper": bounds[1]} for name, bounds in given.items()
        ]

    @model_validator(mode="after")
    def _check(self) -> Space:
        faults = space_errors(self.model_dump())
        if faults:
            raise ValueError("; ".join(told for _, told in faults))
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The parameters by name, in the order of the columns of values."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return len(self.parameters)

    @cached_property
    def lower(self) -> np.ndarray:
        """Lower bounds."""
        return np.array([parameter.lower for parameter in self.parameters])

    @cached_property
    def upper(self) -> np.ndarray:
        """Upper bounds."""
        return np.array([parameter.upper for parameter in self.parameters])

    @cached_property
    def pool_sizes(self) -> tuple[int, ...]:
        """How many groups each pool has."""
        return tuple(len(pool.groups) for pool in self.pools)

    @property
    def subspaces(self) -> int:
        """How many subspaces there are; they are counted, never listed."""
        return math.prod(self.pool_sizes)

    @cached_property
    def _group_masks(self) -> tuple[np.ndarray, ...]:
        """For each pool, which parameters each of its groups brings: groups by parameters."""
        index = {name: k for k, name in enumerate(self.names)}
        masks = []
        for pool in self.pools:
            mask = np.zeros((len(pool.groups), self.size), dtype=bool)
            for row, members in enumerate(pool.groups.values()):
                mask[row, [index[name] for name in members]] = True
            masks.append(mask)
        return tuple(masks)

    @cached_property
    def _common(self) -> np.ndarray:
        pooled = np.zeros(self.size, dtype=bool)
        for mask in self._group_masks:
            pooled |= mask.any(axis=0)
        return ~pooled

    def active(self, groups: np.ndarray) -> np.ndarray:
        """Which parameters each row of group numbers has: rows by parameters."""
        held = np.tile(self._common, (len(groups), 1))
        for column, mask in enumerate(self._group_masks):
            held |= mask[groups[:, column]]
        return held

    def structure(self, groups: Sequence[int] | np.ndarray) -> dict[str, str]:
        """The group of every pool by name, of one row of group numbers."""
        return {
            pool.name: list(pool.groups)[int(group)]
            for pool, group in zip(self.pools, groups, strict=True)
        }

    def subspace_name(self, groups: Sequence[int] | np.ndarray) -> str:
        """A subspace for a person: each pool with its group."""
        return ", ".join(f"{pool} {group}" for pool, group in self.structure(groups).items())

    def group_numbers(self, structure: Mapping[str, str]) -> np.ndarray:
        """The row of group numbers of a structure by name; pools left out take their first."""
        row = []
        for pool in self.pools:
            known = list(pool.groups)
            wanted = structure.get(pool.name, known[0])
            if wanted not in known:
                raise SearchError(f"pool {pool.name!r} has no group {wanted!r}; it has {known}")
            row.append(known.index(wanted))
        return np.array(row, dtype=np.int32)

    def structures(self) -> Iterator[tuple[int, ...]]:
        """All subspaces in turn, the last pool fastest."""
        return product(*(range(size) for size in self.pool_sizes))

    @cached_property
    def _log(self) -> np.ndarray:
        return np.array([parameter.scale == "log" for parameter in self.parameters], dtype=bool)

    def values(self, unit: np.ndarray) -> np.ndarray:
        """Values of the parameters at points of the unit cube (rows)."""
        linear = self.lower + unit * (self.upper - self.lower)
        if self._log.any():
            k = self._log
            ratio = self.upper[k] / self.lower[k]
            linear[:, k] = self.lower[k] * np.exp(unit[:, k] * np.log(ratio))
        return np.clip(linear, self.lower, self.upper)

    def unit(self, values: np.ndarray) -> np.ndarray:
        """Points of the unit cube at values of the parameters (rows)."""
        cube = (values - self.lower) / (self.upper - self.lower)
        if self._log.any():
            k = self._log
            cube[:, k] = np.log(values[:, k] / self.lower[k]) / np.log(
                self.upper[k] / self.lower[k]
            )
        return np.clip(cube, 0.0, 1.0)

    @cached_property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners, in the unit cube, of the box that first candidates are drawn from."""
        corners = np.array(
            [p.start if p.start is not None else (p.lower, p.upper) for p in self.parameters]
        ).reshape(-1, 2)
        low, high = self.unit(corners.T.copy())
        return low, high

    @cached_property
    def _halfspaces(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows a and limits b of a @ s <= b, in the box where ranges are 1 and lower bounds 0."""
        index = {name: k for k, name in enumerate(self.names)}
        rows, limits = [], []
        for constraint in self.constraints:
            row = np.zeros(self.size)
            for name, factor in constraint.terms.items():
                row[index[name]] = factor
            offset = row @ self.lower
            scaled = row * (self.upper - self.lower)
            if constraint.upper is not None:
                rows.append(scaled)
                limits.append(constraint.upper - offset)
            if constraint.lower is not None:
                rows.append(-scaled)
                limits.append(offset - constraint.lower)
        matrix = np.array(rows).reshape(-1, self.size)
        length = np.linalg.norm(matrix, axis=1)
        return matrix / length[:, None], np.array(limits) / length

    def excess(self, values: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """How far each row of values is beyond the worst constraint, in ranges; 0 within all."""
        if not self.constraints:
            return np.zeros(len(values))
        scaled = (values - self.lower) / (self.upper - self.lower)
        return self._excess(np.nan_to_num(scaled), self._holds(groups))

    def _holds(self, groups: np.ndarray) -> np.ndarray:
        rows, _ = self._halfspaces
        absent = ~self.active(groups)
        return ~(absent[:, None, :] & (rows != 0)[None]).any(axis=2)

    def _excess(self, scaled: np.ndarray, holds: np.ndarray) -> np.ndarray:
        rows, limits = self._halfspaces
        beyond = np.where(holds, scaled @ rows.T - limits, 0.0)
        return np.maximum(beyond.max(axis=1, initial=0.0), 0.0)

    def repair(self, unit: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Each point, or where it breaks constraints the nearest one that keeps them.

        Nearest in values divided by their ranges, by Dykstra's cyclic projections onto the half
        spaces and the box. A space without a point that keeps all of them is refused.
        """
        if not self.constraints:
            return unit
        holds = self._holds(groups)
        scaled = (self.values(unit) - self.lower) / (self.upper - self.lower)
        broken = np.flatnonzero(self._excess(scaled, holds) > 0.0)
        if not len(broken):
            return unit
        rows, limits = self._halfspaces
        point, holds = scaled[broken], holds[broken]
        memory = np.zeros((len(rows), *point.shape))
        memory_box = np.zeros_like(point)
        for _ in range(_MAX_PROJECTION_SWEEPS):
            for k, (row, limit) in enumerate(zip(rows, limits, strict=True)):
                moved = point + memory[k]
                # Half the slack inside, so that rounding on the way to values stays within it.
                depth = np.where(
                    holds[:, k], np.maximum(moved @ row - limit + CONSTRAINT_TOLERANCE / 2, 0), 0.0
                )
                point = moved - depth[:, None] * row
                memory[k] = moved - point
            moved = point + memory_box
            point = np.clip(moved, 0.0, 1.0)
            memory_box = moved - point
            if self._excess(point, holds).max() <= CONSTRAINT_TOLERANCE:
                break
        else:
            raise SearchError(
                "no values within the bounds keep all linear constraints (the nearest are off by "
                f"{self._excess(point, holds).max():.3g} of the ranges); widen a bound or a limit"
            )
        kept = unit.copy()
        kept[broken] = self.unit(self.lower + point * (self.upper - self.lower))
        return kept


def space_errors(data: Mapping[str, Any]) -> list[tuple[tuple[str | int, ...], str]]:
    """What does not fit together in parameters, pools and constraints, with places.

    ``data`` is plain and may be damaged elsewhere: whatever cannot be understood is passed over,
    so that all faults of a file can be told at once.
    """
    faults: list[tuple[tuple[str | int, ...], str]] = []
    names: list[str] = []
    for k, parameter in enumerate(_items(data, "parameters")):
        name = parameter.get("name")
        if name in names:
            faults.append((("parameters", k, "name"), f"two parameters are named {name!r}"))
        names.append(str(name))
    if not names:
        faults.append((("parameters",), "there is no parameter to search"))
    seen: list[str] = []
    for k, pool in enumerate(_items(data, "pools")):
        if pool.get("name") in seen:
            faults.append((("pools", k, "name"), f"two pools are named {pool['name']!r}"))
        seen.append(str(pool.get("name")))
        groups = pool.get("groups")
        for group, members in groups.items() if isinstance(groups, Mapping) else ():
            for name in members if isinstance(members, list | tuple) else ():
                if name not in names:
                    told = f"group {group!r} has an unknown parameter {name!r}; known: {names}"
                    faults.append((("pools", k, "groups", group), told))
    for k, constraint in enumerate(_items(data, "constraints")):
        terms = constraint.get("terms")
        for name in terms if isinstance(terms, Mapping) else ():
            if name not in names:
                told = f"unknown parameter {name!r}; known: {names}"
                faults.append((("constraints", k, "terms", name), told))
    return faults


def _items(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = data.get(key)
    if not isinstance(found, list | tuple):
        return []
    return [item for item in found if isinstance(item, Mapping)]
