"""Setup files of OpenSim's ScaleTool: which markers measure which bodies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from homodyn.errors import FormatError
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.model.formats.osim_document import flag, members, name_of, number, numbers, text
from homodyn.model.formats.xml import Element, read_xml

MEASUREMENTS = "measurements"
MANUAL_SCALES = "manualScale"
SCALING_STEPS = (MEASUREMENTS, MANUAL_SCALES)
"""What ``<scaling_order>`` may list."""
UNNAMED_FILES = ("", "unassigned")
"""Contents of elements for files that name none."""


@record
class ScaleMeasurement(Record):
    """Bodies that are scaled by the mean ratio of the lengths of marker pairs."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    """Names of the markers."""
    axes: Mapping[str, str]
    """By name of the body, the axes that are scaled: ``"xyz"``."""


@record
class ScaleSetup(Record):
    """What a setup file of OpenSim's ScaleTool asks for."""

    source: str
    """The file."""
    mass: float | None
    """Mass of the subject (kg); None where the file gives none."""
    order: tuple[str, ...]
    """``"measurements"`` and ``"manualScale"``; the later one decides on bodies that both name."""
    measurements: tuple[ScaleMeasurement, ...]
    manual_scales: Mapping[str, np.ndarray]
    """Factors (3,) by name of the body."""
    keep_shares: bool
    """Whether each segment keeps its share of the mass (``preserve_mass_distribution``)."""
    measured_interval: tuple[float, float] | None
    """Start and end (s) of the frames that lengths are averaged over; None takes all."""
    move_markers: bool
    """Whether markers move to their measured positions."""
    pose_interval: tuple[float, float] | None
    """Start and end (s) of the frames that the static pose is averaged over; None takes all."""
    marker_set: str = ""
    """The marker set that the file names."""

    def headline(self) -> str:
        """The file and the number of measurements."""
        return (
            f"ScaleSetup {Path(self.source).name}: "
            f"{count_of(len(self.measurements), 'measurement')}, "
            f"{len(self.manual_scales)} scaled by hand"
        )


@guarded_reader("scale setup")
def read_scale_setup(path: str | Path) -> ScaleSetup:
    """Read a setup file of OpenSim's ScaleTool.

    Measurements and scales that the file disables are left out. The tasks of the static pose are
    read by `read_tasks`.

    Args:
        path: The file.

    Returns:
        Measurements, scales by hand, intervals and mass.

    Raises:
        FormatError: The file has no ``<ScaleTool>``, or an entry is not valid.
    """
    root = read_xml(Path(path))
    tools = [element for element in root.walk() if element.tag == "ScaleTool"]
    if not tools:
        raise FormatError(
            "the file has no <ScaleTool>; expected is a setup file of OpenSim's scale tool",
            str(path),
        )
    tool = tools[0]
    scaler, placer, maker = (
        tool.find(tag) for tag in ("ModelScaler", "MarkerPlacer", "GenericModelMaker")
    )
    mass = number(tool, "mass", 0.0)
    scales = scaler is not None and flag(scaler, "apply", True)
    order = _order(scaler) if scaler is not None and scales else ()
    marker_set = "" if maker is None else text(maker, "marker_set_file", default="")
    return ScaleSetup(
        source=str(path),
        mass=mass if mass > 0 else None,
        order=order,
        measurements=_measurements(scaler) if scaler is not None and MEASUREMENTS in order else (),
        manual_scales=_manual_scales(scaler)
        if scaler is not None and MANUAL_SCALES in order
        else {},
        keep_shares=scaler is not None and flag(scaler, "preserve_mass_distribution", False),
        measured_interval=_interval(scaler),
        move_markers=placer is not None
        and flag(placer, "apply", True)
        and flag(placer, "move_model_markers", True),
        pose_interval=_interval(placer),
        marker_set="" if marker_set.lower() in UNNAMED_FILES else marker_set,
    )


def _order(scaler: Element) -> tuple[str, ...]:
    words = tuple(text(scaler, "scaling_order", default="").split())
    for word in words:
        if word not in SCALING_STEPS:
            raise scaler.require("scaling_order").error(
                f"{word!r} is no step of scaling; accepted: {', '.join(SCALING_STEPS)}"
            )
    return words


def _measurements(scaler: Element) -> tuple[ScaleMeasurement, ...]:
    found = []
    for element in members(scaler, "MeasurementSet"):
        if not flag(element, "apply", True):
            continue
        pairs = []
        for pair in members(element, "MarkerPairSet"):
            names = text(pair, "markers").split()
            if len(names) != 2:
                raise pair.error(f"two names of markers are expected, got {' '.join(names)!r}")
            pairs.append((names[0], names[1]))
        axes = {name_of(body): "".join(_axes(body)) for body in members(element, "BodyScaleSet")}
        found.append(ScaleMeasurement(name_of(element), tuple(pairs), axes))
    return tuple(found)


def _axes(body: Element) -> list[str]:
    axes = [word.lower() for word in text(body, "axes").split()]
    if not axes or not set(axes) <= set("xyz"):
        raise body.error(f"axes X, Y or Z are expected, got {' '.join(axes)!r}")
    return axes


def _manual_scales(scaler: Element) -> dict[str, np.ndarray]:
    factors = {}
    for element in members(scaler, "ScaleSet"):
        if not flag(element, "apply", True):
            continue
        values = numbers(element, "scales", 3)
        if (values <= 0).any():
            raise element.error(f"scale factors above 0 are expected, got {values}")
        factors[text(element, "segment")] = values
    return factors


def _interval(element: Element | None) -> tuple[float, float] | None:
    """Start and end (s); None where the file leaves them open."""
    if element is None or element.find("time_range") is None:
        return None
    values = numbers(element, "time_range")
    if len(values) != 2:
        raise element.require("time_range").error("two times (s) are expected")
    return (float(values[0]), float(values[1])) if values[1] >= 0 else None
