"""Reading of a recorded motion: from a recording, a result folder or a table of coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from homodyn.analysis.pipeline import analyze
from homodyn.analysis.result_tables import MEASURED_COLUMN, column_name, torque_columns
from homodyn.analysis.settings import Settings
from homodyn.capture import Table, filter_motion, inverse_dynamics, read_plates, read_table
from homodyn.capture.kinetics.motion_filter import resolve_cutoff
from homodyn.capture.kinetics.motion_table import coordinate_columns
from homodyn.dynamics import marker_positions
from homodyn.errors import FormatError
from homodyn.foundation import Record, enumerate_names, record
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.gait.contact_schedule import complete_steps
from homodyn.model import Model, load
from homodyn.model.side import side_of
from homodyn.motion import (
    ContactForce,
    Event,
    Loads,
    Motion,
    MotionSource,
    motion_from_poses,
)
from homodyn.motion.clinical import coordinate_label
from homodyn.motion.coordinate_columns import position_columns

RECORDING_SUFFIXES = (".c3d", ".trc")
TABLE_SUFFIXES = (".mot", ".sto", ".csv")
RESULT_FILES_NEEDED = ("model.toml", "motion.csv")
"""Files that make a folder a result of ``homodyn analyze``."""


@record
class RecordedMotion(Record):
    """A filtered motion, with loads and events where they are known."""

    name: str
    """Name of the recording."""
    motion: Motion
    loads: Loads | None = None
    """Loads under measured ground forces."""
    events: tuple[Event, ...] | None = None

    def headline(self) -> str:
        """Name and motion."""
        return f"RecordedMotion {self.name!r}: {self.motion.headline()}"

    @property
    def measured_step(self) -> tuple[float, float] | None:
        """Start and end (s) of the first step on plates; None if there is none."""
        if self.loads is None or not self.events:
            return None
        time, covered = self.motion.time, self.loads.covered
        for begin, end in complete_steps(self.events):
            inside = (time >= begin) & (time <= end)
            if covered[inside].all():
                return begin, end
        return None


@guarded_reader("motion")
def read_motion(
    source: str | Path, settings: Settings, *, progress: Callable[[str], None] = lambda stage: None
) -> RecordedMotion:
    """Read a motion from a recording, from a result folder of ``homodyn analyze``, or from a table.

    A recording is analyzed first. A table is low-pass filtered and differentiated. Force plates in
    ``settings.forces`` give loads for a table, and replace the stored loads of a result folder.

    Args:
        source: A recording (``.c3d``, ``.trc``), a result folder, or a table (``.mot``, ``.sto``,
            ``.csv``) with one column per position coordinate of ``settings.model``, by its name in
            the model, its clinical name or its OpenSim name.
        settings: Model, subject, force file and cutoff frequency (Hz). A result folder contains its
            own model.
        progress: Called with the name of each stage when the stage begins.

    Returns:
        The motion in SI units, with measured loads and gait events where they are known.

    Raises:
        FormatError: The source does not exist, has an unknown suffix, lacks a file or a column, or
            has fewer than two rows of finite coordinates.
        ModelError: The model file does not describe a valid model.
        CaptureError: A recording cannot be analyzed; see `analyze`.
    """
    path = Path(source)
    if path.is_dir():
        progress("reading")
        return _read_result(path, settings)
    if not path.exists():
        raise FormatError("there is no such file", str(path))
    if path.suffix.lower() in RECORDING_SUFFIXES:
        analysis = analyze(path, settings, progress=progress)
        motion = analysis.motion
        if analysis.loads is None:
            motion = filter_motion(motion, cutoff=resolve_cutoff(motion, settings.cutoff))
        return RecordedMotion(analysis.name, motion, analysis.loads, analysis.events or None)
    if path.suffix.lower() in TABLE_SUFFIXES:
        progress("reading")
        model = settings.build_model()
        motion = _motion(read_table(path), model, path)
        motion = filter_motion(motion, cutoff=resolve_cutoff(motion, settings.cutoff))
        return RecordedMotion(path.stem, motion, _loads_from_plates(motion, settings))
    raise FormatError(
        f"cannot read a motion from {path.suffix!r}; accepted: a recording "
        f"({', '.join(RECORDING_SUFFIXES)}), a table of coordinates "
        f"({', '.join(TABLE_SUFFIXES)}), or a folder written by homodyn analyze",
        str(path),
    )


def _loads_from_plates(motion: Motion, settings: Settings) -> Loads | None:
    if settings.forces is None:
        return None
    plates = read_plates(settings.forces, setup=settings.external_loads, up=settings.up or "y")
    cutoff = resolve_cutoff(motion, settings.cutoff)
    return inverse_dynamics(motion, tuple(plates), cutoff=None, force_cutoff=cutoff)


def _absent_files(folder: Path) -> list[str]:
    """Files of a result that a folder does not have."""
    return [name for name in RESULT_FILES_NEEDED if not (folder / name).is_file()]


def _read_result(folder: Path, settings: Settings) -> RecordedMotion:
    """The motion of a trial in a result folder of analyze, or of the only trial in it."""
    absent = _absent_files(folder)
    if absent:
        trials = sorted(p.name for p in folder.iterdir() if p.is_dir() and not _absent_files(p))
        if len(trials) == 1:
            return _read_result(folder / trials[0], settings)
        if trials:
            raise FormatError(
                f"it has the results of several trials: {enumerate_names(trials)}; name one of "
                "them",
                str(folder),
            )
        are = "is" if len(absent) == 1 else "are"
        raise FormatError(
            f"it is not a result of homodyn analyze: {' and '.join(absent)} {are} missing",
            str(folder),
        )
    model = load(folder / "model.toml")
    table = _with_column_names(read_table(folder / "motion.csv"))
    motion = _motion(table, model, folder / "motion.csv")
    v, a = (
        np.column_stack([_column(table, f"{n} {word}", folder) for n in model.coordinate_names])
        for word in ("speed", "acceleration")
    )
    unobserved = _unobserved_coordinates(model, folder)
    motion = replace(motion, v=v, a=a, source=MotionSource.RECORDED, unobserved=unobserved)
    motion = _with_seen_markers(motion, folder)
    measured = _loads_from_plates(motion, settings) or _stored_loads(motion, folder)
    return RecordedMotion(folder.name, motion, measured, _stored_events(folder))


def _with_seen_markers(motion: Motion, folder: Path) -> Motion:
    """The motion with the markers that a result lists, in the frames in which they were seen.

    A result has their distances from the model, not their places: those are the ones on the model.
    """
    path = folder / "markers.csv"
    if not path.is_file() or "," not in path.read_text(encoding="utf-8").partition("\n")[0]:
        return motion
    table = _with_column_names(read_table(path))
    order = [marker.name for marker in motion.model.markers]
    names = tuple(name for name in table.names if name in order)
    if not names or len(table.time) != len(motion.time):
        return motion
    residual = table.select(list(names))
    places = np.asarray(marker_positions(motion.model, motion.q))[
        :, [order.index(n) for n in names]
    ]
    measured = np.where(np.isfinite(residual)[:, :, None], places, np.nan)
    return replace(motion, markers=names, measured=measured, residual=residual)


def _unobserved_coordinates(model: Model, folder: Path) -> tuple[str, ...]:
    """Coordinates that no marker showed: the table of torques leaves them out."""
    if not (folder / "torques.csv").is_file():
        return ()
    known = _with_column_names(read_table(folder / "torques.csv")).names
    return tuple(name for name in model.coordinate_names if name not in known)


def _stored_loads(motion: Motion, folder: Path) -> Loads | None:
    """The loads under measured forces in a folder; None if no frame is measured."""
    if not (folder / "forces.csv").is_file() or not (folder / "torques.csv").is_file():
        return None
    forces = _with_column_names(read_table(folder / "forces.csv"))
    torques = _with_column_names(read_table(folder / "torques.csv"))
    model = motion.model
    bodies = sorted({n.rsplit(" force x", 1)[0] for n in forces.names if n.endswith(" force x")})
    bodies = [body for body in bodies if body in model.body_names]
    feet = []
    for body in bodies:
        force, point, moment = (
            forces.select([f"{body} {word} {axis}" for axis in "xyz"])
            for word in ("force", "point", "moment")
        )
        feet.append(ContactForce(body, side_of(body), force, point, moment))
    shown = torque_columns(torques.names, motion, folder / "torques.csv")
    tau = np.zeros((len(motion.time), model.nv))
    tau[:, shown] = torques.select([model.coordinate_names[k] for k in shown])
    zeros = np.zeros((len(motion.time), 3))
    known = np.isfinite(tau).all(axis=1) & np.all([np.isfinite(f.force).all(1) for f in feet], 0)
    if MEASURED_COLUMN in forces.names:
        known &= forces.column(MEASURED_COLUMN) > 0
    if not feet or not known.any():
        return None
    return Loads(motion, tau, (), zeros, zeros, tuple(feet), usable=known)


def _stored_events(folder: Path) -> tuple[Event, ...] | None:
    path = folder / "events.csv"
    if not path.is_file():
        return None
    events = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        words = line.split(",")
        if len(words) >= 3:
            events.append(Event(float(words[0]), words[1], words[2].capitalize()))
    return tuple(events) or None


def _motion(table: Table, model: Model, path: Path) -> Motion:
    table = _with_column_names(table)
    columns = position_columns(model)
    known = {name: (name, 1.0) for name in table.names} | coordinate_columns(model, table.names)
    absent = [column.name for column in columns if column.name not in known]
    if absent:
        listed = enumerate_names([coordinate_label(model, name) for name in absent], 4)
        raise FormatError(
            f"there is no column for {listed} of model {model.name!r}; pass the model of the "
            "coordinates with --model",
            str(path),
        )
    angular = np.array([column.unit == "rad" for column in columns])
    factor = np.where(angular & table.degrees, np.deg2rad(1.0), 1.0)
    signs = np.array([known[column.name][1] for column in columns])
    q = table.select([known[column.name][0] for column in columns]) * factor * signs
    if len(q) < 2 or not np.isfinite(q).all():
        raise FormatError("two or more rows of finite coordinates are needed", str(path))
    return motion_from_poses(model, table.time, q, source=MotionSource.FILE)


def _with_column_names(table: Table) -> Table:
    """The table with names instead of headings, without clinical names and units."""
    names = tuple(column_name(heading) for heading in table.names)
    return Table(names, table.time, table.values, table.degrees, table.title)


def _column(table: Table, name: str, folder: Path) -> np.ndarray:
    if name not in table.names:
        raise FormatError(f"motion.csv has no column {name!r}; analyze again", str(folder))
    return table.column(name)
