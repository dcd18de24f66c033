"""Search spaces: named parameters, pools of exclusive groups of parameters, linear constraints.

Optimizers work in the *unit cube*: every parameter is scaled from 0 to 1 between its bounds, on a
linear or logarithmic scale. A *pool* is a set of mutually exclusive *groups* of parameters. One
group of every pool together is a *subspace* (a structure); parameters that are in no pool belong to
all subspaces. Subspaces are rows of group numbers, one column per pool; they are never enumerated.
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
from homodyn.foundation import register_codec
from homodyn.search.validated_model import ValidatedModel

CONSTRAINT_TOLERANCE = 1e-9
"""Violation of a constraint by a repaired candidate, in ranges of the parameters."""
_MAX_PROJECTION_SWEEPS = 500


class SearchParameter(ValidatedModel):
    """A continuous parameter between two bounds.

    Attributes:
        name: Name of the parameter.
        lower: Lower bound.
        upper: Upper bound.
        unit: Unit of the values.
        scale: ``"linear"`` or ``"log"``.
        start: Interval from which the first candidates are drawn; by default that of the bounds.
    """

    positional: ClassVar[tuple[str, ...]] = ("name", "lower", "upper", "unit")
    name: str = Field(min_length=1)
    lower: float
    upper: float
    unit: str = ""
    scale: Literal["linear", "log"] = "linear"
    start: tuple[float, float] | None = None

    # One validator per field, so that one error does not hide another.

    @field_validator("upper")
    @classmethod
    def _check_upper(cls, upper: float, known: ValidationInfo) -> float:
        lower = known.data.get("lower")
        if lower is not None and not lower < upper:
            raise ValueError(f"lower ({lower:g}) must be below upper ({upper:g})")
        return upper

    @field_validator("scale")
    @classmethod
    def _check_scale(cls, scale: str, known: ValidationInfo) -> str:
        lower = known.data.get("lower")
        if scale == "log" and lower is not None and lower <= 0:
            raise ValueError(f"a log scale needs a lower bound above 0, not {lower:g}")
        return scale

    @field_validator("start")
    @classmethod
    def _check_start(
        cls, start: tuple[float, float] | None, known: ValidationInfo
    ) -> tuple[float, float] | None:
        low, high = known.data.get("lower", -math.inf), known.data.get("upper", math.inf)
        if start and not low <= start[0] <= start[1] <= high:
            raise ValueError(f"start {list(start)} must be an interval within the bounds")
        return start


class Pool(ValidatedModel):
    """A set of mutually exclusive groups of parameters.

    Attributes:
        name: Name of the pool.
        groups: Names of parameters by name of the group; groups may be empty and may overlap.
    """

    positional: ClassVar[tuple[str, ...]] = ("name", "groups")
    name: str = Field(min_length=1)
    groups: Mapping[str, tuple[str, ...]] = Field(min_length=1)


class LinearConstraint(ValidatedModel):
    """Bounds of a weighted sum of parameters: lower <= sum of factor * value <= upper.

    It applies in the subspaces that have all its parameters.

    Attributes:
        terms: Factors by parameter name.
        upper: Upper bound; None for none.
        lower: Lower bound; None for none.
    """

    positional: ClassVar[tuple[str, ...]] = ("terms", "upper")
    terms: Mapping[str, float] = Field(min_length=1)
    upper: float | None = None
    lower: float | None = None

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
    """A search space.

    Attributes:
        parameters: The parameters, or their bounds by name: ``{"x": (-2, 2)}``.
        pools: Sets of mutually exclusive groups of parameters.
        constraints: Linear constraints.
    """

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
        errors = space_errors(self.model_dump())
        if errors:
            raise ValueError("; ".join(sentence for _, sentence in errors))
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters, in the order of the columns of values."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return len(self.parameters)

    @cached_property
    def lower(self) -> np.ndarray:
        """(parameters,), lower bounds."""
        return np.array([parameter.lower for parameter in self.parameters])

    @cached_property
    def upper(self) -> np.ndarray:
        """(parameters,), upper bounds."""
        return np.array([parameter.upper for parameter in self.parameters])

    @cached_property
    def pool_sizes(self) -> tuple[int, ...]:
        """Number of groups of each pool."""
        return tuple(len(pool.groups) for pool in self.pools)

    @property
    def subspaces(self) -> int:
        """Number of subspaces."""
        return math.prod(self.pool_sizes)

    @cached_property
    def _group_masks(self) -> tuple[np.ndarray, ...]:
        """For each pool (groups, parameters): whether the group has the parameter."""
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
        """(parameters,), whether the parameter is in no pool."""
        pooled = np.zeros(self.size, dtype=bool)
        for mask in self._group_masks:
            pooled |= mask.any(axis=0)
        return ~pooled

    def active(self, groups: np.ndarray) -> np.ndarray:
        """Which parameters exist in subspaces.

        Args:
            groups: (subspaces, pools), group numbers.

        Returns:
            (subspaces, parameters), True where the subspace has the parameter.
        """
        active = np.tile(self._common, (len(groups), 1))
        for column, mask in enumerate(self._group_masks):
            active |= mask[groups[:, column]]
        return active

    def structure(self, groups: Sequence[int] | np.ndarray) -> dict[str, str]:
        """The group of every pool, by name.

        Args:
            groups: (pools,), group numbers.

        Returns:
            Names of groups by name of the pool.
        """
        return {
            pool.name: list(pool.groups)[int(group)]
            for pool, group in zip(self.pools, groups, strict=True)
        }

    def subspace_name(self, groups: Sequence[int] | np.ndarray) -> str:
        """The name of a subspace: each pool with its group.

        Args:
            groups: (pools,), group numbers.

        Returns:
            One line of text.
        """
        return ", ".join(f"{pool} {group}" for pool, group in self.structure(groups).items())

    def group_numbers(self, structure: Mapping[str, str]) -> np.ndarray:
        """Group numbers of a structure.

        Args:
            structure: Names of groups by name of the pool; the first group by default.

        Returns:
            (pools,), int32.

        Raises:
            SearchError: A pool has no such group.
        """
        row = []
        for pool in self.pools:
            names = list(pool.groups)
            group = structure.get(pool.name, names[0])
            if group not in names:
                raise SearchError(f"pool {pool.name!r} has no group {group!r}; it has {names}")
            row.append(names.index(group))
        return np.array(row, dtype=np.int32)

    def structures(self) -> Iterator[tuple[int, ...]]:
        """Group numbers of all subspaces; the last pool varies fastest."""
        return product(*(range(size) for size in self.pool_sizes))

    @cached_property
    def _log(self) -> np.ndarray:
        return np.array([parameter.scale == "log" for parameter in self.parameters], dtype=bool)

    def values(self, unit: np.ndarray) -> np.ndarray:
        """Parameter values of points of the unit cube.

        Args:
            unit: (points, parameters), 0 to 1.

        Returns:
            (points, parameters), values within the bounds.
        """
        linear = self.lower + unit * (self.upper - self.lower)
        if self._log.any():
            k = self._log
            ratio = self.upper[k] / self.lower[k]
            linear[:, k] = self.lower[k] * np.exp(unit[:, k] * np.log(ratio))
        return np.clip(linear, self.lower, self.upper)

    def unit(self, values: np.ndarray) -> np.ndarray:
        """Points of the unit cube of parameter values.

        Args:
            values: (points, parameters).

        Returns:
            (points, parameters), 0 to 1.
        """
        cube = (values - self.lower) / (self.upper - self.lower)
        if self._log.any():
            k = self._log
            cube[:, k] = np.log(values[:, k] / self.lower[k]) / np.log(
                self.upper[k] / self.lower[k]
            )
        return np.clip(cube, 0.0, 1.0)

    @cached_property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner, in the unit cube, of the box of the first candidates."""
        corners = np.array(
            [p.start if p.start is not None else (p.lower, p.upper) for p in self.parameters]
        ).reshape(-1, 2)
        low, high = self.unit(corners.T.copy())
        return low, high

    @cached_property
    def _halfspaces(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows a and limits b of the constraints a @ s <= b on linearly scaled values s, 0 to 1."""
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
        """Largest violation of a constraint.

        Args:
            values: (points, parameters).
            groups: (points, pools), group numbers.

        Returns:
            (points,), in ranges of the parameters; 0 where all constraints are met.
        """
        if not self.constraints:
            return np.zeros(len(values))
        scaled = (values - self.lower) / (self.upper - self.lower)
        return self._excess(np.nan_to_num(scaled), self._applies(groups))

    def _applies(self, groups: np.ndarray) -> np.ndarray:
        """(points, half spaces), whether the point has all parameters of the constraint."""
        rows, _ = self._halfspaces
        absent = ~self.active(groups)
        return ~(absent[:, None, :] & (rows != 0)[None]).any(axis=2)

    def _excess(self, scaled: np.ndarray, applies: np.ndarray) -> np.ndarray:
        rows, limits = self._halfspaces
        violation = np.where(applies, scaled @ rows.T - limits, 0.0)
        return np.maximum(violation.max(axis=1, initial=0.0), 0.0)

    def repair(self, unit: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Project points onto the constraints.

        The distance is measured in values divided by their ranges. Dykstra's algorithm projects
        cyclically onto the half spaces and the box of bounds.

        Args:
            unit: (points, parameters), in the unit cube.
            groups: (points, pools), group numbers.

        Returns:
            (points, parameters): points that violate a constraint are replaced by the nearest
            point that does not. ``unit`` itself where no point violates any.

        Raises:
            SearchError: No point within the bounds meets all constraints.
        """
        if not self.constraints:
            return unit
        applies = self._applies(groups)
        scaled = (self.values(unit) - self.lower) / (self.upper - self.lower)
        violating = np.flatnonzero(self._excess(scaled, applies) > 0.0)
        if not len(violating):
            return unit
        repaired = unit.copy()
        point = self._project(scaled[violating], applies[violating])
        repaired[violating] = self.unit(self.lower + point * (self.upper - self.lower))
        return repaired

    def _project(self, point: np.ndarray, applies: np.ndarray) -> np.ndarray:
        """Nearest points (scaled linearly) that meet the constraints (Dykstra)."""
        rows, limits = self._halfspaces
        corrections = np.zeros((len(rows), *point.shape))
        box_correction = np.zeros_like(point)
        for _ in range(_MAX_PROJECTION_SWEEPS):
            for k, (row, limit) in enumerate(zip(rows, limits, strict=True)):
                corrected = point + corrections[k]
                # Half the tolerance inside, so that rounding to values stays within it.
                depth = corrected @ row - limit + CONSTRAINT_TOLERANCE / 2
                depth = np.where(applies[:, k], np.maximum(depth, 0), 0.0)
                point = corrected - depth[:, None] * row
                corrections[k] = corrected - point
            corrected = point + box_correction
            point = np.clip(corrected, 0.0, 1.0)
            box_correction = corrected - point
            if self._excess(point, applies).max() <= CONSTRAINT_TOLERANCE:
                return point
        raise SearchError(
            "no values within the bounds meet all linear constraints; the smallest violation found "
            f"is {self._excess(point, applies).max():.3g} of the ranges; widen a bound or a limit"
        )


def space_errors(data: Mapping[str, Any]) -> list[tuple[tuple[str | int, ...], str]]:
    """Inconsistencies between parameters, pools and constraints.

    Args:
        data: The space as plain data. Values of a wrong type are skipped, so that all errors of a
            file can be reported at once.

    Returns:
        Keys and indices that lead to each error, and a sentence.
    """
    errors: list[tuple[tuple[str | int, ...], str]] = []
    names: list[str] = []
    for k, parameter in enumerate(_items(data, "parameters")):
        name = parameter.get("name")
        if name in names:
            errors.append((("parameters", k, "name"), f"two parameters are named {name!r}"))
        names.append(str(name))
    if not names:
        errors.append((("parameters",), "expected at least one parameter"))
    pool_names: list[str] = []
    for k, pool in enumerate(_items(data, "pools")):
        if pool.get("name") in pool_names:
            errors.append((("pools", k, "name"), f"two pools are named {pool['name']!r}"))
        pool_names.append(str(pool.get("name")))
        groups = pool.get("groups")
        for group, members in groups.items() if isinstance(groups, Mapping) else ():
            for name in members if isinstance(members, list | tuple) else ():
                if name not in names:
                    message = f"group {group!r} has an unknown parameter {name!r}; known: {names}"
                    errors.append((("pools", k, "groups", group), message))
    for k, constraint in enumerate(_items(data, "constraints")):
        terms = constraint.get("terms")
        for name in terms if isinstance(terms, Mapping) else ():
            if name not in names:
                message = f"unknown parameter {name!r}; known: {names}"
                errors.append((("constraints", k, "terms", name), message))
    return errors


register_codec(Space, lambda space: space.model_dump(mode="json"), Space.model_validate)


def _items(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    items = data.get(key)
    if not isinstance(items, list | tuple):
        return []
    return [item for item in items if isinstance(item, Mapping)]
