"""Writing of C3D files: reals in Intel byte order, in the axes of the recording."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from homodyn.capture.formats.c3d import HOMODYN_GROUP, PROPERTY_PARAMETERS
from homodyn.capture.formats.c3d_content import header_bytes
from homodyn.capture.formats.c3d_numbers import Processor, float_bytes
from homodyn.capture.formats.c3d_parameters import BLOCK_BYTES, ParameterValue, parameter_bytes
from homodyn.capture.formats.c3d_plates import moment_unit, plate_wrench
from homodyn.capture.formats.missing_markers import METERS_PER_UNIT
from homodyn.capture.formats.up_axis import ROTATION_BY_UP_AXIS
from homodyn.capture.mask_runs import true_runs
from homodyn.capture.trial import FRAMES_PER_PIECE, Trial
from homodyn.errors import FormatError
from homodyn.foundation.files import atomic_file
from homodyn.motion import (
    ForcePlate,
    PlateChannels,
)

MAX_COUNT = 65535
"""Largest unsigned count of 16 bits."""
METERS_PER_MM = 1e-3
"""Meters per unit of the file."""

_Groups = dict[str, dict[str, ParameterValue | Sequence[str]]]


def write_c3d(trial: Trial, path: Path) -> None:
    """Write a trial; what C3D has no field for goes into an additional parameter group."""
    if not trial.frames:
        raise FormatError("the trial has no frames", str(path))
    if not trial.markers and not trial.analog.names and not trial.plates:
        raise FormatError("the trial has no markers, plates or analog channels", str(path))
    if len(trial.markers) > MAX_COUNT:
        raise FormatError(
            f"the trial has {len(trial.markers)} markers; C3D stores up to {MAX_COUNT}", str(path)
        )
    channels = _AnalogChannels(trial, str(path))
    groups = _groups(trial, channels)
    # The parameter section contains the block at which the data begin, which depends on its length.
    block = 2 + len(parameter_bytes(groups)) // BLOCK_BYTES
    groups["POINT"]["DATA_START"] = np.array([block])
    parameters = parameter_bytes(groups)
    first = _first_frame(trial)
    header = header_bytes(
        points=len(trial.markers),
        analog_per_frame=channels.per_frame * len(channels.names),
        first=first,
        last=first + trial.frames - 1,
        data_block=block,
        samples_per_frame=channels.per_frame,
        rate=trial.rate,
    )
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        file.write(header + parameters)
        for piece in _data(trial, channels):
            file.write(float_bytes(piece, Processor.INTEL))
        file.write(b"\x00" * (-file.tell() % BLOCK_BYTES))


def _up_axis(trial: Trial) -> str:
    """The vertical axis of the file: as recorded, or Z if the trial was rotated since."""
    return next(
        (name for name, axes in ROTATION_BY_UP_AXIS.items() if np.array_equal(axes, trial.axes)),
        "z",
    )


def _first_frame(trial: Trial) -> int:
    """Number of the first frame: frame 1 is at 0 s."""
    return max(1, round(trial.start * trial.rate) + 1)


def _data(trial: Trial, channels: _AnalogChannels) -> Iterator[np.ndarray]:
    """Pieces of (frames, words): four numbers per marker, then the samples of the frame."""
    axes = ROTATION_BY_UP_AXIS[_up_axis(trial)]
    samples = channels.values.reshape(trial.frames, -1)
    for first in range(0, trial.frames, FRAMES_PER_PIECE):
        piece = slice(first, first + FRAMES_PER_PIECE)
        positions = (trial.positions[piece] @ axes) / METERS_PER_MM
        seen = np.isfinite(positions).all(-1)
        points = np.zeros((*seen.shape, 4), dtype=np.float32)
        points[..., :3] = np.where(seen[..., None], positions, 0.0)
        points[..., 3] = np.where(seen, 0.0, -1.0)
        words = points.reshape(len(points), -1)
        yield np.concatenate([words, samples[piece].astype(np.float32)], axis=1)


def _groups(trial: Trial, channels: _AnalogChannels) -> _Groups:
    up = _up_axis(trial)
    first = _first_frame(trial)
    last = first + trial.frames - 1
    groups: _Groups = {
        "TRIAL": {
            "ACTUAL_START_FIELD": np.array(divmod(first, 65536)[::-1]),
            "ACTUAL_END_FIELD": np.array(divmod(last, 65536)[::-1]),
            "CAMERA_RATE": np.array([trial.rate]),
        },
        "POINT": {
            "USED": np.array([len(trial.markers)]),
            "FRAMES": np.array([min(trial.frames, 65535)]),
            "LONG_FRAMES": np.array([float(trial.frames)]),
            "SCALE": np.array([-1.0]),
            "RATE": np.array([trial.rate]),
            "DATA_START": np.array([0]),
            "UNITS": ("mm",),
            "X_SCREEN": ("+X" if up[-1] != "x" else "+Y",),
            "Y_SCREEN": (up.upper() if up[0] == "-" else f"+{up.upper()}",),
            **_split_parameter("LABELS", trial.markers),
            **_split_parameter("DESCRIPTIONS", [""] * len(trial.markers)),
        },
        "ANALOG": channels.parameters(trial.rate),
        "FORCE_PLATFORM": channels.plates(),
        "EVENT": _events(trial),
    }
    for key, (group, name) in PROPERTY_PARAMETERS.items():
        if trial.properties.get(key):
            groups.setdefault(group, {"USED": np.array([1])} if group == "SUBJECTS" else {})
            groups[group][name] = (trial.properties[key],)
    if measures := _processing(trial):
        groups["PROCESSING"] = {key.split(":")[1]: value for key, value in measures.items()}
    groups[HOMODYN_GROUP] = _homodyn_parameters(trial, up, channels)
    return groups


def _processing(trial: Trial) -> dict[str, np.ndarray]:
    """Numbers of the group in which Vicon stores mass, height and lengths, by property."""
    found = {}
    for key, value in trial.properties.items():
        if re.fullmatch(r"PROCESSING:[A-Z0-9_ ]{1,100}", key):
            try:
                number = np.float32(value)
            except ValueError:
                continue
            if str(number) == value:
                found[key] = np.array([float(number)])
    return found


def _homodyn_parameters(
    trial: Trial, up: str, channels: _AnalogChannels
) -> dict[str, ParameterValue | Sequence[str]]:
    """The additional parameters: axes, exact start, filled samples, other properties."""
    others = {
        key: value
        for key, value in trial.properties.items()
        if key not in PROPERTY_PARAMETERS and key not in _processing(trial) and value
    }
    own: dict[str, ParameterValue | Sequence[str]] = {
        "UP": (up,),
        "START": (repr(trial.start),),
        "PLATE_SIGN": np.array([layout.sign for layout in channels.layouts], dtype=int),
        "PLATE_NAMES": tuple(plate.name for plate in trial.plates),
        "PLATE_BODIES": tuple(plate.body for plate in trial.plates),
        **_split_parameter("KEYS", list(others)),
        **_split_parameter("VALUES", list(others.values())),
    }
    if trial.filled.any():
        own |= _split_parameter("FILLED", _filled_runs(trial.filled))
    return own


def _filled_runs(filled: np.ndarray) -> list[str]:
    """``marker first count`` of every run of frames whose positions were computed."""
    return [
        f"{marker} {start} {end - start}"
        for marker in np.flatnonzero(filled.any(axis=0))
        for start, end in true_runs(filled[:, marker])
    ]


def _events(trial: Trial) -> dict[str, ParameterValue | Sequence[str]]:
    events = trial.events
    minutes = np.floor([event.time / 60.0 for event in events])
    times = np.array([minutes, [event.time for event in events] - 60.0 * minutes])
    return {
        "USED": np.array([len(events)]),
        **_split_parameter("LABELS", [event.label for event in events]),
        **_split_parameter("CONTEXTS", [event.context for event in events]),
        **_split_parameter("SUBJECTS", [event.subject for event in events]),
        **_split_parameter("DESCRIPTIONS", [event.description for event in events]),
        **{
            f"TIMES{_continuation(k)}": times[:, 255 * k : 255 * (k + 1)]
            for k in range(max(1, -(-len(events) // 255)))
        },
    }


def _continuation(piece: int) -> str:
    return str(piece + 1) if piece else ""


def _split_parameter(name: str, texts: Sequence[str]) -> dict[str, Sequence[str]]:
    """A parameter of many texts in pieces of 255, the C3D limit: LABELS, LABELS2."""
    count = max(1, -(-len(texts) // 255))
    return {f"{name}{_continuation(k)}": texts[255 * k : 255 * (k + 1)] for k in range(count)}


class _AnalogChannels:
    """The analog channels of a file: those of the trial, and additional ones for its plates."""

    def __init__(self, trial: Trial, path: str) -> None:
        self.path = path
        self.frames = trial.frames
        self.axes = ROTATION_BY_UP_AXIS[_up_axis(trial)]
        self.per_frame = self._samples_per_frame(trial)
        self.names = list(trial.analog.names)
        units = trial.analog.units
        self.units = [units[k] if k < len(units) else "" for k in range(len(self.names))]
        self.columns = (
            list(self._fit_to_frames("the analog channels", trial.analog.values).T)
            if self.names
            else []
        )
        self.layouts = [
            self._recorded_channels(trial, plate) or self._new_channels(plate, number)
            for number, plate in enumerate(trial.plates, start=1)
        ]

    @property
    def values(self) -> np.ndarray:
        """(samples, channels)."""
        if not self.columns:
            return np.zeros((self.frames * self.per_frame, 0))
        return np.stack(self.columns, axis=-1)

    def _samples_per_frame(self, trial: Trial) -> int:
        """Samples per frame: C3D has one rate for all channels, a multiple of the frame rate."""
        sampled = {plate.name: (plate.rate, plate.start) for plate in trial.plates}
        if trial.analog.names:
            sampled["the analog channels"] = (trial.analog.rate, trial.analog.start)
        if not sampled:
            return 1
        ratios = {name: rate / trial.rate for name, (rate, _) in sampled.items()}
        ratio = round(next(iter(ratios.values())))
        for name, found in ratios.items():
            if ratio < 1 or abs(found - ratio) > 1e-4 * ratio:
                raise FormatError(
                    f"rate of {name}: {sampled[name][0]:g} Hz, of the frames: {trial.rate:g} Hz; "
                    "C3D stores one rate for all channels and plates, a multiple of the frame "
                    "rate: resample, or write forces with write_plates",
                    self.path,
                )
            if abs(sampled[name][1] - trial.start) * trial.rate > 1e-3:
                raise FormatError(
                    f"start of {name}: {sampled[name][1]:g} s, of the frames: {trial.start:g} s; "
                    "C3D stores one start for all: crop them with Trial.crop",
                    self.path,
                )
        return ratio

    def _fit_to_frames(self, name: str, values: np.ndarray) -> np.ndarray:
        """Samples for complete frames; an incomplete last frame repeats its last sample."""
        expected = self.frames * self.per_frame
        if not expected - self.per_frame < len(values) <= expected:
            raise FormatError(
                f"samples of {name}: {len(values)}; {self.frames} frames with {self.per_frame} "
                f"samples each need {expected}; crop both to one interval with Trial.crop",
                self.path,
            )
        return np.concatenate([values, np.repeat(values[-1:], expected - len(values), axis=0)])

    def _recorded_channels(self, trial: Trial, plate: ForcePlate) -> PlateChannels | None:
        """The channels of a plate, if those of the trial still give its forces."""
        layout = plate.channels
        if layout is None or not set(layout.names) <= set(trial.analog.names):
            return None
        columns = [trial.analog.names.index(name) for name in layout.names]
        readings = trial.analog.values[:, columns]
        if len(readings) != len(plate.force) or not np.isfinite(readings).all():
            return None
        units = [self.units[column] for column in columns]
        moment = moment_unit(units[5:] if layout.kind == 1 else units[3:], METERS_PER_MM)
        length = METERS_PER_UNIT.get(units[3].lower(), METERS_PER_MM)
        if moment != layout.moment_unit or (layout.kind == 1 and length != layout.length_unit):
            return None
        computed = [part @ self.axes.T for part in plate_wrench(layout, readings)]
        stored = (plate.force, plate.point, plate.torque)
        same = all(
            np.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(computed, stored, strict=True)
        )
        return layout if same else None

    def _new_channels(self, plate: ForcePlate, number: int) -> PlateChannels:
        """New channels for a plate without recorded ones: force and moment."""
        corners = _corners(plate) @ self.axes
        force, point, torque = (
            np.nan_to_num(part) @ self.axes for part in (plate.force, plate.point, plate.torque)
        )
        x, y = corners[0] - corners[1], corners[0] - corners[3]
        z = np.cross(x, y)
        frame = np.stack([axis / np.linalg.norm(axis) for axis in (x, np.cross(z, x), z)], axis=-1)
        moment = torque + np.cross(point - corners.mean(axis=0), force)
        readings = np.concatenate([force @ frame, moment @ frame / METERS_PER_MM], axis=1)
        names = []
        for label in ("Force.Fx", "Force.Fy", "Force.Fz", "Moment.Mx", "Moment.My", "Moment.Mz"):
            name = f"{label}{number}"
            while name in self.names:
                name += "'"
            names.append(name)
            self.names.append(name)
            self.units.append("N" if label.startswith("Force") else "Nmm")
        self.columns += list(self._fit_to_frames(plate.name, readings).T)
        return PlateChannels(2, tuple(names), corners, np.zeros(3), METERS_PER_MM, METERS_PER_MM)

    def parameters(self, rate: float) -> dict[str, ParameterValue | Sequence[str]]:
        """The group ANALOG."""
        count = len(self.names)
        pieces = range(max(1, -(-count // 255)))
        sizes = [min(255, count - 255 * k) for k in pieces]
        return {
            "USED": np.array([count]),
            "RATE": np.array([rate * self.per_frame]),
            "GEN_SCALE": np.array([1.0]),
            **{f"SCALE{_continuation(k)}": np.ones(size) for k, size in enumerate(sizes)},
            **{
                f"OFFSET{_continuation(k)}": np.zeros(size, dtype=int)
                for k, size in enumerate(sizes)
            },
            **_split_parameter("UNITS", self.units),
            **_split_parameter("LABELS", self.names),
            **_split_parameter("DESCRIPTIONS", [""] * count),
        }

    def plates(self) -> dict[str, ParameterValue | Sequence[str]]:
        """The group FORCE_PLATFORM."""
        count = len(self.layouts)
        width = max([6, *(len(layout.names) for layout in self.layouts)])
        corners, origin = np.zeros((3, 4, count)), np.zeros((3, count))
        channel = np.zeros((width, count), dtype=int)
        calibration = np.zeros((width, width, count))
        correction = np.zeros((6, 2, count))
        for number, layout in enumerate(self.layouts):
            corners[..., number] = layout.corners.T / METERS_PER_MM
            origin[:, number] = layout.origin / METERS_PER_MM
            for row, name in enumerate(layout.names):
                channel[row, number] = self.names.index(name) + 1
            if layout.calibration is not None:
                rows, columns = layout.calibration.shape
                calibration[:rows, :columns, number] = layout.calibration
            if layout.correction is not None:
                correction[..., number] = layout.correction.T
        group: dict[str, ParameterValue | Sequence[str]] = {
            "USED": np.array([count]),
            "TYPE": np.array([layout.kind for layout in self.layouts], dtype=int),
            "ZERO": np.array([1, 0]),
            "CORNERS": corners,
            "ORIGIN": origin,
            "CHANNEL": channel,
        }
        if calibration.any():
            group["CAL_MATRIX"] = calibration
        if correction.any():
            group["FPCOPPOLY"] = correction
        return group


def _corners(plate: ForcePlate) -> np.ndarray:
    """The corners of a plate in Z-up axes; a square of 1 m at the origin if they are not known."""
    if plate.corners is not None:
        return plate.corners
    loaded = np.linalg.norm(np.nan_to_num(plate.force), axis=-1) > 0.0
    heights = plate.point[loaded, 2]
    height = float(np.median(heights[np.isfinite(heights)])) if np.isfinite(heights).any() else 0.0
    # In this order the third axis of the plate points into the floor, as C3D defines it.
    square = [(0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)]
    return np.array([(x, y, height) for x, y in square])
