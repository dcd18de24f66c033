"""Reading of C3D files: from the content of the file to a trial in SI units, Z up.

Files are parsed here, in all three byte orders, so that damaged files give an error message, and
events, long recordings and unusual parameters are not lost.

Frames, samples and events have one clock: frame number 1 is at 0 s, so the first frame of a file is
at ``(first_frame - 1) / rate``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from homodyn.capture.formats.c3d_content import C3dContent, read_c3d_content
from homodyn.capture.formats.c3d_parameters import C3dParameters
from homodyn.capture.formats.c3d_plates import (
    CHANNEL_COUNTS,
    moment_unit,
    plate_axes,
    plate_from_channels,
)
from homodyn.capture.formats.file_content import open_slices
from homodyn.capture.formats.missing_markers import (
    METERS_PER_UNIT,
    detect_length_unit,
    mark_missing,
)
from homodyn.capture.formats.unique_names import unique_names
from homodyn.capture.formats.up_axis import (
    ROTATION_BY_UP_AXIS,
    UpAxis,
    detect_up_axis,
    parse_up_axis,
)
from homodyn.capture.model_outputs import (
    DEFAULT_UNITS,
    KIND_BY_GROUP,
    ModelOutput,
    OutputKind,
    model_output_kinds,
)
from homodyn.capture.trial import Signals, Trial, rotate_points, rotate_rows
from homodyn.errors import FormatError
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.motion import STANCE_THRESHOLD, Event, ForcePlate, PlateChannels
from homodyn.motion.arrays import transfer_ownership

HOMODYN_GROUP = "HOMODYN"
"""Parameter group for what C3D has no field for."""

PROPERTY_PARAMETERS = {
    "subject": ("SUBJECTS", "NAMES"),
    "marker set": ("SUBJECTS", "MARKER_SETS"),
    "maker": ("MANUFACTURER", "COMPANY"),
    "software": ("MANUFACTURER", "SOFTWARE"),
    "version": ("MANUFACTURER", "VERSION_LABEL"),
}
"""Group and parameter of each property of a trial."""


def read_c3d(path: Path, *, up: str | None = None, partial: bool = False) -> Trial:
    """The trial in a C3D file; see `homodyn.capture.read`."""
    with open_slices(path) as data:
        content = read_c3d_content(data, str(path), partial=partial)
    parameters = content.parameters
    labels, label_notes = unique_names(
        parameters.texts("POINT", "LABELS"), content.points.shape[1], "unlabeled"
    )
    kinds = _output_kinds(parameters, labels)
    kept = [k for k, label in enumerate(labels) if label not in kinds]
    # The positions are scaled, marked and rotated in place: long recordings are large.
    points = content.points if len(kept) == len(labels) else content.points[:, kept]
    unit = parameters.text("POINT", "UNITS")
    length, unit_notes = detect_length_unit(unit, points)
    outputs = _model_outputs(content, labels, kinds, length)
    labels = tuple(labels[k] for k in kept)
    points *= length
    positions, missing_notes = mark_missing(points)
    rate, start = _shortest_decimal(content.rate), _start_time(content)
    analog, analog_notes = _analog(content, rate, start)
    plates, plate_notes = _plates(content, analog, length)
    direction = _up_axis(up, parameters, positions, labels, plates)
    signed, sign_notes = _forces_on_person(plates, direction.axes[2], parameters)
    events, event_notes = _events(content, start, rate)
    if not labels and not signed and not analog.names:
        raise FormatError(
            "the file contains neither markers nor plates nor analog channels", str(path)
        )
    if labels and not np.isfinite(positions).any():
        raise FormatError(
            "no marker is visible in any frame; export the recording with reconstructed points",
            str(path),
        )
    rotate_rows(positions, direction.axes)
    return Trial(
        name=path.stem,
        markers=labels,
        positions=transfer_ownership(positions),
        rate=rate,
        start=start,
        first_frame=content.first_frame,
        plates=tuple(plate.rotate(direction.axes) for plate in signed),
        analog=analog,
        events=events,
        filled=_filled_mask(content, kept),
        source=str(path),
        properties=_properties(parameters),
        axes=direction.axes,
        model_outputs=rotate_points(outputs, direction.axes),
        notes=(
            *content.notes,
            *label_notes,
            *_output_notes(kinds),
            *unit_notes,
            *missing_notes,
            *analog_notes,
            *plate_notes,
            direction.note,
            *sign_notes,
            *event_notes,
        ),
    )


def _up_axis(
    up: str | None,
    parameters: C3dParameters,
    positions: np.ndarray,
    labels: tuple[str, ...],
    plates: list[ForcePlate],
) -> UpAxis:
    """The vertical axis: as requested, as the file states, or detected."""
    if up:
        return parse_up_axis(up)
    stated = parameters.text(HOMODYN_GROUP, "UP")
    if stated in ROTATION_BY_UP_AXIS:
        return UpAxis(stated, "as the file was written")
    return detect_up_axis(
        positions,
        labels,
        corners=[plate.corners for plate in plates if plate.corners is not None],
        screen=parameters.text("POINT", "Y_SCREEN"),
    )


def _shortest_decimal(number: float) -> float:
    """The shortest decimal that is this 32-bit number: 59.94 for 59.939998626708984."""
    return float(str(np.float32(number)))


def _start_time(content: C3dContent) -> float:
    stated = content.parameters.text(HOMODYN_GROUP, "START")
    if stated:
        try:
            return float(stated)
        except ValueError:
            pass
    return (content.first_frame - 1) / _shortest_decimal(content.rate)


def _output_kinds(parameters: C3dParameters, labels: tuple[str, ...]) -> dict[str, OutputKind]:
    """Points that are results of a model, by the groups of the file and by name."""
    named = model_output_kinds(labels)
    groups = dict(KIND_BY_GROUP)
    types = parameters.texts("POINT", "TYPE_GROUPS")
    for group, kind in zip(types[::2], types[1::2], strict=False):
        stated = kind.strip().lower()
        known = stated if stated in list(OutputKind) else "scalar"
        groups.setdefault(group.strip().upper().replace(" ", "_"), OutputKind(known))
    listed = {
        label: kind for group, kind in groups.items() for label in parameters.texts("POINT", group)
    }
    return {
        label: named.get(label) or listed[label]
        for label in labels
        if label and (label in named or label in listed)
    }


def _model_outputs(
    content: C3dContent, labels: tuple[str, ...], kinds: dict[str, OutputKind], length: float
) -> dict[str, ModelOutput]:
    """The results of a model, points in meters, the others in the unit of the file."""
    found = {}
    for k, label in enumerate(labels):
        if label not in kinds:
            continue
        kind = kinds[label]
        values = content.points[:, k]
        unit = content.parameters.text("POINT", f"{kind.upper()}_UNITS") or DEFAULT_UNITS[kind]
        if kind is OutputKind.POINT:
            values, unit = mark_missing(values[:, None] * length)[0][:, 0], "m"
        found[label] = ModelOutput(label, kind, unit, values)
    return found


def _output_notes(kinds: dict[str, OutputKind]) -> list[str]:
    if not kinds:
        return []
    return [
        f"{count_of(len(kinds), 'point')} with results of a model (virtual points, angles, forces, "
        f"moments or powers) read as model_outputs, not as markers: {enumerate_names([*kinds], 4)}"
    ]


def _analog(content: C3dContent, rate: float, start: float) -> tuple[Signals, list[str]]:
    parameters = content.parameters
    channels = content.analog.shape[1]
    if not channels:
        return Signals(), []
    names, notes = unique_names(parameters.texts("ANALOG", "LABELS"), channels, "channel")
    units = parameters.texts("ANALOG", "UNITS")[:channels]
    sampled = rate * content.samples_per_frame
    stated = parameters.number("ANALOG", "RATE")
    if stated is None:
        notes.append(f"ANALOG:RATE is absent; {sampled:g} Hz follows from the samples per frame")
    elif abs(stated - sampled) > 1e-4 * sampled:
        notes.append(
            f"ANALOG:RATE is {stated:g} Hz; {sampled:g} Hz follows from the samples per frame"
        )
    padded = (*units, *("" for _ in range(channels - len(units))))
    return Signals(names, sampled, content.analog, padded, start), notes


def _plates(
    content: C3dContent, analog: Signals, length: float
) -> tuple[list[ForcePlate], list[str]]:
    """The plates in the axes of the file, and notes on those that cannot be computed."""
    parameters = content.parameters
    used = parameters.count("FORCE_PLATFORM", "USED") or 0
    types = parameters.numbers("FORCE_PLATFORM", "TYPE").ravel(order="F")
    named, bodies = (
        parameters.texts(HOMODYN_GROUP, f"PLATE_{what}") for what in ("NAMES", "BODIES")
    )
    plates, notes = [], []
    for number in range(min(used, 1000)):
        name = named[number] if number < len(named) else f"plate {number + 1}"
        try:
            if number >= len(types):
                raise _UnusablePlateError("FORCE_PLATFORM:TYPE has no entry for it")
            layout, columns = _plate_channels(
                parameters, analog, number, int(types[number]), length
            )
        except _UnusablePlateError as reason:
            notes.append(f"{name} is omitted: {reason}")
            continue
        readings = analog.values[:, columns]
        if not np.isfinite(readings).all():
            notes.append(f"{name} has NaN samples; they are read as zero")
            readings = np.nan_to_num(readings, nan=0.0, posinf=0.0, neginf=0.0)
        body = bodies[number] if number < len(bodies) else ""
        plates.append(
            replace(
                plate_from_channels(name, layout, readings, analog.rate, analog.start), body=body
            )
        )
        if layout.correction is not None:
            notes.append(f"the center of pressure of {name} is corrected by FPCOPPOLY")
    return plates, notes


class _UnusablePlateError(Exception):
    """Why a plate cannot be computed."""


def _plate_channels(
    parameters: C3dParameters, analog: Signals, number: int, kind: int, length: float
) -> tuple[PlateChannels, list[int]]:
    if kind not in CHANNEL_COUNTS:
        accepted = ", ".join(map(str, CHANNEL_COUNTS))
        raise _UnusablePlateError(f"its type {kind} is not supported; types {accepted} are")
    corners = _plate_parameter(parameters, "CORNERS", (3, 4), number)
    if corners is None:
        raise _UnusablePlateError("FORCE_PLATFORM:CORNERS has no corners for it")
    corners = corners.T * length
    if plate_axes(corners) is None:
        raise _UnusablePlateError("its corners are not a rectangle")
    origin = _plate_parameter(parameters, "ORIGIN", (3,), number)
    if origin is None:
        origin = np.zeros(3)
    table = parameters.numbers("FORCE_PLATFORM", "CHANNEL")
    count = CHANNEL_COUNTS[kind]
    if table.ndim != 2 or table.shape[0] < count or table.shape[1] <= number:
        raise _UnusablePlateError(f"FORCE_PLATFORM:CHANNEL lacks its {count} channels")
    columns = [int(channel) % 65536 - 1 for channel in table[:count, number]]
    if min(columns) < 0 or max(columns) >= len(analog.names):
        raise _UnusablePlateError(
            f"it uses channels up to {max(columns) + 1}, the file has {len(analog.names)}"
        )
    units = [analog.units[column] for column in columns]
    return (
        PlateChannels(
            kind=kind,
            names=tuple(analog.names[column] for column in columns),
            corners=corners,
            origin=origin * length,
            length_unit=METERS_PER_UNIT.get(units[3].lower(), length),
            moment_unit=moment_unit(units[5:] if kind == 1 else units[3:], length),
            calibration=_calibration(parameters, kind, number),
            correction=_plate_parameter(parameters, "FPCOPPOLY", (6, 2), number, transposed=True),
        ),
        columns,
    )


def _plate_parameter(
    parameters: C3dParameters,
    name: str,
    shape: tuple[int, ...],
    number: int,
    *,
    transposed: bool = False,
) -> np.ndarray | None:
    """The part of a parameter for one plate; None if it is absent, or zero where transposed."""
    values = parameters.numbers("FORCE_PLATFORM", name).ravel(order="F")
    size = int(np.prod(shape))
    part = values[number * size : (number + 1) * size]
    if len(part) < size or not np.isfinite(part).all():
        return None
    if transposed:
        return part.reshape(shape, order="F").T if part.any() else None
    return part.reshape(shape, order="F")


def _calibration(parameters: C3dParameters, kind: int, number: int) -> np.ndarray | None:
    if kind not in (4, 5, 7):
        return None
    rows, columns = {4: (6, 6), 5: (6, 8), 7: (8, 8)}[kind]
    values = parameters.numbers("FORCE_PLATFORM", "CAL_MATRIX")
    matrix = (
        values[..., number] if values.ndim == 3 and number < values.shape[2] else np.zeros((0, 0))
    )
    if parameters.text("FORCE_PLATFORM", "MATRIX_STORE").upper() == "BYROW":
        matrix = matrix.T
    if matrix.shape[0] < rows or matrix.shape[1] < columns:
        if not matrix.any() and rows == columns:
            return None
        raise _UnusablePlateError(
            f"FORCE_PLATFORM:CAL_MATRIX has no {rows} x {columns} matrix for it"
        )
    matrix = matrix[:rows, :columns]
    # A zero matrix means none: the channels are calibrated already.
    if matrix.any():
        return matrix
    if rows == columns:
        return None
    raise _UnusablePlateError("its calibration matrix is zero")


def _forces_on_person(
    plates: list[ForcePlate], up: np.ndarray, parameters: C3dParameters
) -> tuple[tuple[ForcePlate, ...], list[str]]:
    """Plates whose force is that on the person, with a positive vertical component.

    C3D defines it as the reaction of the plate, but some systems store the force on the plate.
    """
    signs = parameters.numbers(HOMODYN_GROUP, "PLATE_SIGN").ravel()
    notes, corrected = [], []
    for number, plate in enumerate(plates):
        vertical = plate.force @ up
        stated = signs[number] if len(signs) == len(plates) else 0
        is_reversed = stated < 0 or (
            not stated
            and np.abs(vertical).max(initial=0.0) > STANCE_THRESHOLD.plate_check_n
            and (vertical * np.abs(vertical)).sum() < 0
        )
        if is_reversed and plate.channels is not None:
            notes.append(
                f"{plate.name} has a negative vertical force: the file stores the force on the "
                "plate; its sign is reversed to get the force on the person"
            )
            channels = replace(plate.channels, sign=-1)
            plate = replace(plate, force=-plate.force, torque=-plate.torque, channels=channels)
        corrected.append(plate)
    return tuple(corrected), notes


def _events(content: C3dContent, start: float, rate: float) -> tuple[tuple[Event, ...], list[str]]:
    """Events of the EVENT group and of the header, in the order of time."""
    parameters = content.parameters
    times = _event_times(parameters)
    used = parameters.count("EVENT", "USED")
    count = len(times) if used is None else min(used, len(times))
    columns = [
        parameters.texts("EVENT", name)
        for name in ("LABELS", "CONTEXTS", "SUBJECTS", "DESCRIPTIONS")
    ]
    found = [
        Event(
            times[k],
            *(column[k] if k < len(column) else "" for column in columns),
        )
        for k in range(count)
    ]
    known = {(round(event.time * rate), event.label[:4]) for event in found}
    for event in content.header_events:
        time = _shortest_decimal(event.time)
        if (round(time * rate), event.label) not in known:
            found.append(Event(time, event.label))
    notes = []
    if used and used > len(times):
        notes.append(f"EVENT:USED is {used}; the file has times of {count_of(len(times), 'event')}")
    end = start + (len(content.points) - 1) / rate
    inside = [start - 1 / rate <= event.time <= end + 1 / rate for event in found]
    if found and start > 0.0 and not any(inside):
        shifted = [replace(event, time=event.time + start) for event in found]
        if all(event.time <= end + 1 / rate for event in shifted):
            found = shifted
            notes.append(
                f"event times are relative to the first frame of the file; {start:g} s is added to "
                "put them on the clock of the frames"
            )
            inside = [True] * len(found)
    if not all(inside):
        outside = inside.count(False)
        is_ = "is" if outside == 1 else "are"
        notes.append(
            f"{outside} of {count_of(len(found), 'event')} {is_} outside the frames of the file"
        )
    return tuple(sorted(found, key=lambda event: event.time)), notes


def _event_times(parameters: C3dParameters) -> list[float]:
    """Times of all events (s): TIMES, TIMES2, ... have minutes and seconds per event."""
    found: list[float] = []
    number = 1
    while (
        value := parameters.get("EVENT", "TIMES" if number == 1 else f"TIMES{number}")
    ) is not None:
        number += 1
        if isinstance(value, tuple):
            continue
        if value.ndim == 1:
            # One event is sometimes stored without its second dimension.
            value = value.reshape(2, 1) if value.size == 2 else value.reshape(1, -1)
        if value.shape[0] >= 2:
            found.extend(
                60.0 * float(minutes) + _shortest_decimal(seconds)
                for minutes, seconds in zip(value[0], value[1], strict=True)
            )
        else:
            found.extend(_shortest_decimal(seconds) for seconds in value[0])
    return [time for time in found if np.isfinite(time)]


def _filled_mask(content: C3dContent, kept: list[int]) -> np.ndarray:
    """(frames, markers): where positions were filled; only files of Homodyn store it."""
    runs = content.parameters.texts(HOMODYN_GROUP, "FILLED")
    frames, markers, _ = content.points.shape
    filled = np.zeros((frames, markers), dtype=bool)
    for run in runs:
        try:
            marker, first, count = map(int, run.split())
        except ValueError:
            continue
        if 0 <= marker < markers and first >= 0:
            filled[first : first + count, marker] = True
    return filled[:, kept]


def _properties(parameters: C3dParameters) -> dict[str, str]:
    found = {
        key: ", ".join(text for text in parameters.texts(*names) if text)
        for key, names in PROPERTY_PARAMETERS.items()
    }
    # Vicon stores mass, height and lengths of the subject here.
    for name, value in parameters.groups.get("PROCESSING", {}).items():
        if isinstance(value, tuple):
            found[f"PROCESSING:{name}"] = ", ".join(value)
        elif value.size == 1:
            found[f"PROCESSING:{name}"] = str(np.float32(value.ravel()[0]))
    keys, values = (parameters.texts(HOMODYN_GROUP, name) for name in ("KEYS", "VALUES"))
    found.update(zip(keys, values, strict=False))
    return {key: value for key, value in found.items() if value}
