"""The parameters of HeiMan by name: lengths, masses, centers of mass, gyration, ranges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from homodyn.catalog.data_tables import table_rows
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model.side import Side, side_of
from homodyn.spatial import Array

HeimanParameters = dict[str, Any]
SIDE_TITLES = tuple(side.title for side in Side)
"""``"Right"`` and ``"Left"``, as in the names of HeiMan."""
SEXES = ("male", "female")
LIMIT_SETS = ("anatomical", "reconstruction", "synthesis")
FOOT_KINDS = ("thesis", "anatomical")
MAX_COORDINATE_RATE = 15.0
"""Largest rate of every coordinate (rad/s, m/s), Felis section 5.3."""

_PAIRED_SEGMENTS = (
    "Clavicula",
    "Foot",
    "Hand",
    "Hip",
    "LowerArm",
    "Shank",
    "Shoulder",
    "Thigh",
    "UpperArm",
)
_SYNONYMS = {"LowerTrunkHeight": "PelvisHeight"}
_MIRRORED_AXES = ("TY", "RX", "RZ")


def side_title(name: str) -> str:
    """``"Right"``, ``"Left"`` or an empty string: the side in the name of a segment."""
    side = side_of(name)
    return "" if side is None else side.title


def stem(name: str) -> str:
    """The name without its side."""
    return name.replace(side_title(name), "") if side_title(name) else name


def heiman_parameters(
    height: Array,
    mass: Array,
    sex: str = "male",
    overrides: Mapping[str, Any] | None = None,
    foot: str = "thesis",
) -> HeimanParameters:
    """All parameters of HeiMan by name.

    Args:
        height: Stature (m).
        mass: Body mass (kg).
        sex: ``"male"`` or ``"female"``.
        overrides: Values that replace those of the tables; see `heiman`.
        foot: ``"thesis"`` or ``"anatomical"``.

    Returns:
        Lengths (m), masses (kg), and ``...COM`` and ``...Gyration`` as fractions of the segment's
        length (of the foot's height for its COM).

    Raises:
        ModelError: An option or a name in ``overrides`` is unknown.
    """
    _accept("sex", sex, SEXES)
    _accept("foot", foot, FOOT_KINDS)
    values: HeimanParameters = {"height": height}
    for row in table_rows("heiman_lengths"):
        for name in _side_names(row["parameter"]):
            values[name] = float(row[sex]) * height
    segments = [row for row in table_rows("heiman_segments") if row["sex"] == sex]
    # The shares of women add up to 0.9999, because of rounding.
    total = sum(float(row["mass"]) * len(_side_names(row["segment"])) for row in segments)
    for row in segments:
        for name in _side_names(row["segment"]):
            values[f"{name}Mass"] = float(row["mass"]) / total * mass
            values[f"{name}COM"] = float(row["com_z"])
            values[f"{name}Gyration"] = tuple(float(row[f"gyration_{axis}"]) for axis in "xyz")
    replaced = _resolve_overrides(overrides or {}, values)
    values |= replaced
    if foot == "anatomical":
        values |= {k: v for k, v in _anatomical_feet(values).items() if k not in replaced}
    return values


def coordinate_numbers(name: str, limits: str = "anatomical") -> dict[str, Any]:
    """Range (rad, m), default, rate limit and torque limit (N m) of a coordinate."""
    _accept("limits", limits, LIMIT_SETS)
    lower, upper, torque = -np.inf, np.inf, np.inf
    joint, _, dof = name.rpartition("_")
    ranges = {(row["joint"], row["dof"]): row for row in table_rows("heiman_ranges")}
    known = ranges.get((stem(joint), dof))
    if joint == "Pelvis":
        torque = 0.0
    if known:
        lower, upper = np.deg2rad([float(known["lower"]), float(known["upper"])])
        torque = float(known["torque"])
        if side_of(name) is Side.LEFT and dof in _MIRRORED_AXES:
            lower, upper = -upper, -lower
    if limits != "anatomical" and name in walking_bounds(limits):
        lower, upper = walking_bounds(limits)[name]
    default = min(max(0.0, lower), upper)
    return {
        "lower": float(lower),
        "upper": float(upper),
        "default": default,
        "max_velocity": MAX_COORDINATE_RATE,
        "max_force": torque,
    }


@cache
def walking_bounds(which: str) -> Mapping[str, tuple[float, float]]:
    """Bounds of the HeiMan coordinates in walking, from Felis (2015).

    Args:
        which: ``"reconstruction"`` (positions, table 5.1), ``"synthesis"`` (positions, table 5.3)
            or ``"torque"`` (table 5.2).

    Returns:
        Lower and upper bound by coordinate name: positions in m or rad, torques in N m. The base
        has no torque bounds.

    Raises:
        ModelError: ``which`` is unknown.
    """
    _accept("bounds", which, ("reconstruction", "synthesis", "torque"))
    return {
        row["coordinate"]: (float(row[f"{which}_lower"]), float(row[f"{which}_upper"]))
        for row in table_rows("heiman_bounds")
        if row[f"{which}_lower"]
    }


@cache
def typical_torques() -> Mapping[str, float]:
    """Typical joint torques in walking, from table 6.3 of Felis (2015).

    Returns:
        Torque (N m) by coordinate name; the base has none.
    """
    return {
        row["coordinate"]: float(row["typical_torque"])
        for row in table_rows("heiman_bounds")
        if row["typical_torque"]
    }


def subject_lengths(subject: str) -> dict[str, float]:
    """Lengths (m) of ``"Subject1"`` or ``"Subject3"``, Felis (2015), table 6.1."""
    return {row["parameter"]: float(row[subject]) for row in table_rows("heiman_subjects")}


def _side_names(name: str) -> tuple[str, ...]:
    """``ThighLength`` as ``ThighRightLength`` and ``ThighLeftLength``; others as they are."""
    for pair in _PAIRED_SEGMENTS:
        if name.startswith(pair):
            return tuple(f"{pair}{side}{name[len(pair) :]}" for side in SIDE_TITLES)
    return (name,)


def _resolve_overrides(overrides: Mapping[str, Any], known: Iterable[str]) -> HeimanParameters:
    """The overrides with full names; a name without a side applies to both sides."""
    names = [name for name in known if name != "height"]
    replaced: HeimanParameters = {}
    for key, value in overrides.items():
        name = _SYNONYMS.get(key, key)
        found = [name] if name in names else [full for full in _side_names(name) if full in names]
        if not found:
            raise ModelError(f"HeiMan has {unknown_name('number', key, names)}")
        replaced |= dict.fromkeys(found, value)
    return replaced


def _anatomical_feet(n: HeimanParameters) -> HeimanParameters:
    """The foot of de Leva with its long axis along x and its center of mass beyond the heel."""
    feet: HeimanParameters = {}
    for side in SIDE_TITLES:
        forward = -n[f"Foot{side}COM"] * n[f"Foot{side}Length"] - n[f"Foot{side}PosteriorPoint"]
        sagittal, transverse, longitudinal = n[f"Foot{side}Gyration"]
        feet[f"Foot{side}COM"] = [forward / n[f"Foot{side}Height"], 0.0, -0.5]
        feet[f"Foot{side}Gyration"] = (longitudinal, transverse, sagittal)
    return feet


def _accept(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ModelError(f"HeiMan has {unknown_name(what, value, known)}")
