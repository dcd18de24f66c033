"""Ground forces in tables: columns of force, point and torque with the names of OpenSim."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from homodyn.capture.formats.missing_markers import METERS_PER_UNIT
from homodyn.capture.formats.time_base import TimeBase, fit_time_base
from homodyn.capture.formats.up_axis import parse_up_axis
from homodyn.capture.table import Table
from homodyn.errors import CaptureError, FormatError
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.model.formats.xml import Element, read_xml
from homodyn.motion import STANCE_THRESHOLD, ForcePlate

_MAX_POINT_DISTANCE_M = 50.0
"""Implausible distance (m) of a point of application from the origin."""


@dataclass(frozen=True)
class _ForceColumns:
    """The columns of one force."""

    name: str
    force: tuple[str, ...]
    point: tuple[str, ...]
    torque: tuple[str, ...] = ()
    body: str = ""


def plates_from_table(
    table: Table,
    path: str,
    *,
    setup: str | Path | None = None,
    up: str = "y",
    unit: str = "m",
) -> tuple[ForcePlate, ...]:
    """One plate per force, by the names of the columns or by an ExternalLoads file.

    Args:
        table: The table.
        path: Its file, for messages.
        setup: ExternalLoads file of OpenSim that names the columns of each force.
        up: Axis of the file that points up.
        unit: Unit of length of the file.

    Raises:
        CaptureError: The unit is unknown, or the forces contradict ``up`` or ``unit``.
        FormatError: No columns are a force, or columns are missing.
    """
    length = METERS_PER_UNIT.get(unit.strip().lower())
    if length is None:
        raise CaptureError(f"unit={unit!r} is not a unit of length; accepted: m, cm, mm, in, ft")
    if setup is not None:
        groups = list(_columns_from_setup(Path(setup), table.names, path))
    else:
        groups = list(_columns_by_name(table.names, path))
    if not groups:
        raise FormatError(
            "no columns are a force; expected are names such as ground_force_vx, ground_force_px "
            "and ground_torque_x, or the ExternalLoads file (--external-loads, in Python "
            f"setup=); the table has {enumerate_names(table.names, 12)}",
            path,
        )
    axes = parse_up_axis(up).axes
    clock = fit_time_base(table.time, path)
    plates = [_plate(table, group, clock, length) for group in groups]
    _check_forces(plates, axes, up, unit, path)
    return tuple(plate.rotate(axes) for plate in plates)


def _plate(table: Table, group: _ForceColumns, clock: TimeBase, length: float) -> ForcePlate:
    # Programs write blanks or NaN where a plate is not loaded.
    force, point = (
        np.nan_to_num(clock.expand_rows(table.select(names)))
        for names in (group.force, group.point)
    )
    torque = (
        np.nan_to_num(clock.expand_rows(table.select(group.torque)))
        if group.torque
        else np.zeros_like(force)
    )
    return ForcePlate(
        group.name,
        clock.rate,
        force,
        point * length,
        torque * length,
        clock.start,
        body=group.body,
    )


def _check_forces(
    plates: Sequence[ForcePlate], axes: np.ndarray, up: str, unit: str, path: str
) -> None:
    """Refuse forces that no ground does to a person, with the argument that would help."""
    total = sum(np.abs(plate.force).sum(axis=0) for plate in plates)
    lift = sum(float((plate.force @ axes[2]).sum()) for plate in plates)
    strongest = int(np.argmax(total))
    upward = int(np.argmax(np.abs(axes[2])))
    if total[strongest] > 3.0 * total[upward]:
        raise CaptureError(
            f"{path}: the forces are largest along {'xyz'[strongest]}, but up is {up}; "
            f"state the vertical axis: --up {'xyz'[strongest]} (in Python, up={'xyz'[strongest]!r})"
        )
    if lift < 0.0 and -lift > 0.5 * total[upward]:
        raise CaptureError(
            f"{path}: the vertical force along {up} is negative; the file stores the force on the "
            "plate (multiply its forces and torques by -1), or the axis points "
            "down (--up, in Python up=)"
        )
    for plate in plates:
        loaded = np.abs(plate.force).max(axis=-1) > STANCE_THRESHOLD.contact_n
        if loaded.any():
            distance = float(np.median(np.abs(plate.point[loaded]).max(axis=-1)))
            if distance > _MAX_POINT_DISTANCE_M:
                raise CaptureError(
                    f"{path}: the points of {plate.name!r} are {distance:.0f} m from the origin "
                    f"when read in {unit}; pass the unit of the file, such as unit='mm'"
                )


def force_table(plates: Sequence[ForcePlate], *, up: str = "y") -> Table:
    """The table of plates with one start and rate, with the column names of OpenSim.

    Raises:
        CaptureError: There are no plates, or they differ in rate, start or length.
    """
    if not plates:
        raise CaptureError("there are no plates to write")
    axes = parse_up_axis(up).axes
    first = plates[0]
    for plate in plates:
        if (plate.rate, plate.start, len(plate.force)) != (
            first.rate,
            first.start,
            len(first.force),
        ):
            raise CaptureError(
                f"plates {first.name!r} and {plate.name!r} differ in rate, start or length; "
                "one file stores plates that were sampled together"
            )
    names: list[str] = []
    values = []
    for number, plate in enumerate(plates, start=1):
        stem = f"{number}_ground" if len(plates) > 1 else "ground"
        for kind, vectors in (
            ("force_v", plate.force),
            ("force_p", plate.point),
            ("torque_", plate.torque),
        ):
            names += [f"{stem}_{kind}{axis}" for axis in "xyz"]
            values.append(vectors @ axes)
    return Table(tuple(names), first.time, np.concatenate(values, axis=1), title="ground forces")


def _columns_by_name(names: Sequence[str], path: str) -> Iterator[_ForceColumns]:
    """Groups of columns by their names."""
    present = set(names)
    for name in names:
        if match := re.fullmatch(r"(.*)v[xX]", name):
            axes = "XYZ" if name[-1] == "X" else "xyz"
            stem = match[1]
            force = tuple(f"{stem}v{axis}" for axis in axes)
            point = tuple(f"{stem}p{axis}" for axis in axes)
            torques = [
                tuple(f"{torque_stem}{kind}{axis}" for axis in axes)
                for torque_stem in _torque_stems(stem)
                for kind in ("", "m", "t")
                if kind or torque_stem != stem
            ]
        elif match := re.fullmatch(r"(.*?)f(\d*)_1", name):
            # Names of the C3D reader of OpenSim: f1_1 f1_2 f1_3, p1_1 ..., m1_1 ...
            force, point, torque = (
                tuple(f"{match[1]}{kind}{match[2]}_{axis}" for axis in (1, 2, 3)) for kind in "fpm"
            )
            stem, torques = f"{match[1]}f{match[2]}", [torque]
        else:
            continue
        if not present.issuperset(force):
            continue
        if not present.issuperset(point):
            raise FormatError(
                f"the force {name!r} has no point of application; "
                f"columns {', '.join(point)} are expected",
                path,
            )
        torque = next((names for names in torques if present.issuperset(names)), ())
        yield _ForceColumns(stem.strip("_"), force, point, torque)


def _torque_stems(stem: str) -> list[str]:
    stems = [stem]
    for word in ("torque", "moment", "free_moment"):
        stems.append(re.sub("force", word, stem, count=1, flags=re.IGNORECASE))
    return list(dict.fromkeys(stems))


def _columns_from_setup(path: Path, names: Sequence[str], table: str) -> Iterator[_ForceColumns]:
    """Groups of columns by an ExternalLoads file."""
    root = read_xml(path)
    forces = [element for element in root.walk() if element.tag == "ExternalForce"]
    if not forces:
        raise FormatError(
            "it has no ExternalForce; an ExternalLoads file of OpenSim is expected", str(path)
        )
    for force in forces:
        if (
            _element_text(force, "isDisabled") == "true"
            or _element_text(force, "appliesForce") == "false"
        ):
            continue
        for tag in ("force_expressed_in_body", "point_expressed_in_body"):
            if (_element_text(force, tag) or "ground").removeprefix("/") != "ground":
                raise force.error(
                    f"{tag} is {_element_text(force, tag)!r}; only ground is supported"
                )
        yield _ForceColumns(
            force.attributes.get("name") or _element_text(force, "force_identifier"),
            _columns_by_identifier(force, "force_identifier", names, table),
            _columns_by_identifier(force, "point_identifier", names, table),
            _columns_by_identifier(force, "torque_identifier", names, table, optional=True),
            _element_text(force, "applied_to_body").rsplit("/", maxsplit=1)[-1],
        )


def _element_text(element: Element, tag: str) -> str:
    child = element.find(tag)
    return child.text.strip() if child is not None else ""


def _columns_by_identifier(
    force: Element, tag: str, names: Sequence[str], table: str, *, optional: bool = False
) -> tuple[str, ...]:
    """The three columns whose names begin with an identifier, by the rules of OpenSim."""
    identifier = _element_text(force, tag)
    if not identifier or identifier.lower() == "unassigned":
        if optional:
            return ()
        raise force.error(f"it needs a <{tag}>, the beginning of the names of three columns")
    found = tuple(name for name in names if name.startswith(identifier))
    exact = tuple(name for name in found if re.fullmatch(r"_?[xyzXYZ123]", name[len(identifier) :]))
    chosen = exact if len(exact) == 3 else found
    if len(chosen) != 3:
        raise force.error(
            f"{tag} {identifier!r} matches {count_of(len(chosen), 'column')} of {table}, three are "
            f"expected; it has {enumerate_names(names, 20)}"
        )
    return chosen
