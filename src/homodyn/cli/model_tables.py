"""``homodyn model info``: a model as tables, or as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from homodyn.foundation.text import count_of
from homodyn.model import Coordinate, Model

LIMITS = ("max_velocity", "max_force", "stiffness", "damping", "armature")
COUNTED_PARTS = ("frames", "markers", "contacts", "capsules", "couplers", "muscles", "ligaments")
_NAMES = ("on", "joint", "type", "markers", "contacts")
SIGNIFICANT_DIGITS = 4
"""Significant digits of numbers in tables."""


def describe(model: Model) -> dict[str, Any]:
    """The model as plain data; None where a range or limit is missing."""
    plain = model.at(model.parameter_values) if model.parameters else model
    return {
        "name": model.name,
        "nq": model.nq,
        "nv": model.nv,
        "mass": model.mass,
        "gravity": plain.gravity.tolist(),
        "parameters": {p.name: p.value for p in model.parameters},
        "bodies": [
            {
                "name": body.name,
                "mass": body.mass,
                "com": body.com.tolist(),
                "inertia": body.inertia.tolist(),
                "parent": joint.parent,
                "joint": joint.name,
                "kind": joint.kind,
                "coordinates": [c.name for c in joint.coordinates],
            }
            for body, joint in zip(plain.bodies, plain.joints, strict=True)
        ],
        "coordinates": [_coordinate(c) for c in plain.coordinates],
        "couplers": [{"coordinate": c.coordinate, "of": c.of} for c in model.couplers],
        "markers": [
            {"name": m.name, "body": m.body, "position": m.position.tolist()} for m in plain.markers
        ],
        "contacts": [
            {
                "name": c.name,
                "body": c.body,
                "kind": c.kind,
                "position": c.position.tolist(),
                "radius": c.radius,
            }
            for c in plain.contacts
        ],
        "frames": [frame.name for frame in model.frames],
        "muscles": [muscle.name for muscle in model.muscles],
        "notes": list(model.notes),
    }


def tables(model: Model) -> Iterator[RenderableType]:
    """The model as tables for a terminal."""
    data = describe(model)
    counts = [
        f"{len(getattr(model, part))} {part}" for part in COUNTED_PARTS if getattr(model, part)
    ]
    sizes = [
        count_of(len(model.bodies), "body", "bodies"),
        count_of(model.nv, "degree of freedom", "degrees of freedom"),
        f"{model.mass:.5g} kg",
    ]
    yield Text.assemble((model.name, "bold"), ": ", ", ".join([*sizes, *counts]))
    yield _bodies(data)
    yield _coordinates(data)
    if model.parameters:
        yield Text("parameters: " + ", ".join(f"{p.name} = {p.value:g}" for p in model.parameters))
    for part in ("markers", "contacts"):
        if data[part]:
            yield _attachments(part, data[part])
    for note in model.notes:
        yield Text(f"note: {note}")


def _coordinate(coordinate: Coordinate) -> dict[str, Any]:
    return {
        "name": coordinate.name,
        **{
            key: _finite(getattr(coordinate, key)) for key in ("lower", "upper", "default", *LIMITS)
        },
        "locked": coordinate.locked,
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _bodies(data: dict[str, Any]) -> Table:
    table = _table("body", "mass (kg)", "center of mass (m)", "on", "joint", "type", "dofs")
    for body in data["bodies"]:
        com = " ".join(f"{x + 0.0:.3f}" for x in body["com"])
        count = len(body["coordinates"])
        table.add_row(
            body["name"],
            f"{body['mass']:.{SIGNIFICANT_DIGITS}g}",
            com,
            body["parent"],
            body["joint"],
            body["kind"],
            str(count) if count else "-",
        )
    return table


def _coordinates(data: dict[str, Any]) -> Table:
    shown = [key for key in LIMITS if any(c[key] for c in data["coordinates"])]
    table = _table(
        "coordinate (rad, m)", "lower", "upper", "default", *(_heading(key) for key in shown)
    )
    for c in data["coordinates"]:
        name = f"{c['name']} (locked)" if c["locked"] else c["name"]
        table.add_row(name, *(_number(c[key]) for key in ("lower", "upper", "default", *shown)))
    return table


def _attachments(part: str, records: list[dict[str, Any]]) -> Table:
    """Markers or contacts, one row per body."""
    table = _table("body", part)
    by_body: dict[str, list[str]] = {}
    for record in records:
        kind = f" ({record['kind']})" if "kind" in record else ""
        by_body.setdefault(record["body"], []).append(record["name"] + kind)
    for body, names in by_body.items():
        table.add_row(body, ", ".join(names))
    return table


def _table(*headings: str) -> Table:
    """A table after an empty line; the first column and columns of names are left-aligned."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", title="")
    for k, heading in enumerate(headings):
        left = k == 0 or heading in _NAMES
        table.add_column(heading, justify="left" if left else "right", overflow="fold")
    return table


def _heading(key: str) -> str:
    return key.replace("max_", "max ")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.{SIGNIFICANT_DIGITS}g}"
