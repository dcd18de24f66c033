"""A recorded movement from whatever holds one: a recording, a result of analyze, a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from homodyn.analysis.pipeline import analyze
from homodyn.analysis.result_tables import MEASURED_COLUMN, position_columns
from homodyn.analysis.settings import Settings
from homodyn.capture import (
    Table,
    filter_motion,
    inverse_dynamics,
    read_plates,
    read_table,
)
from homodyn.errors import FormatError
from homodyn.foundation import Record, record
from homodyn.gait import complete_steps
from homodyn.model import Model, load
from homodyn.model.side import side_of
from homodyn.motion import (
    ContactForce,
    Event,
    Loads,
    Motion,
)

RECORDING_SUFFIXES = (".c3d", ".trc")
TABLE_SUFFIXES = (".mot", ".sto", ".csv")
RESULT_FILES_NEEDED = ("model.toml", "motion.csv")
"""Files that make a folder a result of ``homodyn analyze``."""


@record
class RecordedMotion(Record):
    """Smooth coordinates of a model, what plates measured, and events where they are known."""

    name: str
    motion: Motion
    loads: Loads | None = None
    events: tuple[Event, ...] | None = None

    @property
    def measured_step(self) -> tuple[float, float] | None:
        """The first step (s) over which plates measured both feet; None where there is none."""
        if self.loads is None or not self.events:
            return None
        time, covered = self.motion.time, self.loads.covered
        for begin, end in complete_steps(self.events):
            inside = (time >= begin) & (time <= end)
            if covered[inside].all():
                return begin, end
        return None


def read_motion(
    source: str | Path, settings: Settings, *, progress: Callable[[str], None] = lambda stage: None
) -> RecordedMotion:
    """Read a motion from a recording, from a result folder of ``homodyn analyze``, or from a table.

    A recording is analysed first. A table is low-pass filtered and differentiated. Force plates in
    ``settings.forces`` give loads for a table, and replace the stored loads of a result folder.

    Args:
        source: A recording (``.c3d``, ``.trc``), a result folder, or a table (``.mot``, ``.sto``,
            ``.csv``) with one column per position coordinate of ``settings.model``.
        settings: Model, subject, force file and cutoff frequency (Hz). A result folder brings its
            own model.
        progress: Called with the name of each stage when the stage begins.

    Returns:
        The motion in SI units, with measured loads and gait events where they are known.

    Raises:
        FormatError: The source does not exist, has an unknown suffix, lacks a file or a column, or
            has fewer than two rows of finite coordinates.
        ModelError: The model file does not describe a valid model.
        CaptureError: A recording cannot be analysed; see `analyze`.
    """
    path = Path(source)
    if path.is_dir():
        progress("reading")
        return _read_result(path, settings)
    if not path.exists():
        raise FormatError("there is no such file", str(path))
    if path.suffix.lower() in RECORDING_SUFFIXES:
        found = analyze(path, settings, progress=progress)
        motion = found.motion
        if found.loads is None:
            motion = filter_motion(motion, cutoff=settings.cutoff)
        return RecordedMotion(found.name, motion, found.loads, found.events or None)
    if path.suffix.lower() in TABLE_SUFFIXES:
        progress("reading")
        model = settings.build_model()
        motion = filter_motion(_motion(read_table(path), model, path), cutoff=settings.cutoff)
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
    plates = read_plates(settings.forces, setup=settings.setup, up=settings.up or "y")
    return inverse_dynamics(motion, tuple(plates), cutoff=None, force_cutoff=settings.cutoff)


def _read_result(folder: Path, settings: Settings) -> RecordedMotion:
    absent = [name for name in RESULT_FILES_NEEDED if not (folder / name).is_file()]
    if absent:
        raise FormatError(
            f"it is not a result of homodyn analyze: {' and '.join(absent)} is missing", str(folder)
        )
    model = load(folder / "model.toml")
    table = _plain(read_table(folder / "motion.csv"))
    motion = _motion(table, model, folder / "motion.csv")
    v, a = (
        np.column_stack([_column(table, f"{n} {word}", folder) for n in model.coordinate_names])
        for word in ("speed", "acceleration")
    )
    motion = Motion(model, motion.time, motion.q, v, a)
    measured = _loads_from_plates(motion, settings) or _stored_loads(motion, folder)
    return RecordedMotion(folder.name, motion, measured, _stored_events(folder))


def _stored_loads(motion: Motion, folder: Path) -> Loads | None:
    """Forces that the analysis took from plates; None where they measured no frame in whole."""
    if not (folder / "forces.csv").is_file() or not (folder / "torques.csv").is_file():
        return None
    forces = _plain(read_table(folder / "forces.csv"))
    torques = _plain(read_table(folder / "torques.csv"))
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
    tau = torques.select(list(model.coordinate_names))
    none = np.zeros((len(motion.time), 3))
    known = np.isfinite(tau).all(axis=1) & np.all([np.isfinite(f.force).all(1) for f in feet], 0)
    if MEASURED_COLUMN in forces.names:
        known &= forces.column(MEASURED_COLUMN) > 0
    if not feet or not known.any():
        return None
    return Loads(motion, tau, (), none, none, tuple(feet), usable=known)


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
    table = _plain(table)
    names, kinds = position_columns(model)
    absent = [name for name in names if name not in table.names]
    if absent:
        shown = ", ".join(absent[:4]) + (f" and {len(absent) - 4} more" if absent[4:] else "")
        raise FormatError(
            f"there is no column for {shown} of the model {model.name!r}; name the model the "
            "coordinates belong to with --model",
            str(path),
        )
    turning = np.array([kind == "turn" for kind in kinds])
    factor = np.where(turning & table.degrees, np.deg2rad(1.0), 1.0)
    q = table.select(names) * factor
    if len(q) < 2 or not np.isfinite(q).all():
        raise FormatError("coordinates must be finite in two rows at least", str(path))
    still = np.zeros((len(q), model.nv))
    return Motion(model, table.time, q, still, still)


def _plain(table: Table) -> Table:
    """Columns without the units in their headings."""
    names = tuple(name.rsplit(" (", 1)[0] for name in table.names)
    return Table(names, table.time, table.values, table.degrees, table.title)


def _column(table: Table, name: str, folder: Path) -> np.ndarray:
    if name not in table.names:
        raise FormatError(f"motion.csv has no column {name!r}; analyze again", str(folder))
    return table.column(name)
