"""Weights of markers and coordinates from the task files of OpenSim's inverse kinematics."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from homodyn.errors import FormatError
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.model import Model


@guarded_reader("file of tasks")
def read_tasks(
    path: str | Path, model: Model
) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """Read marker and coordinate weights from an IKTaskSet of OpenSim, or a setup file with one.

    Markers that the file does not list or disables have weight zero, as in OpenSim. OpenSim divides
    the marker term by the sum of the weights, so the weights are divided by it where coordinates
    are tracked.

    Args:
        path: The file.
        model: The model.

    Returns:
        ``weights`` and ``track`` for `inverse_kinematics`.

    Raises:
        FormatError: The file contains no valid IKTaskSet, or a coordinate follows a motion file.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror}", str(path)) from error
    # OpenSim reads files whose tags around the set do not match, and some are in use.
    found = re.search(r"<IKTaskSet\b.*?</IKTaskSet>", text, re.DOTALL)
    if found is None and "<IKTaskSet" in text:
        raise FormatError("its <IKTaskSet> has no end; the file is not complete", str(path))
    if found is None:
        raise FormatError(
            "the file contains no <IKTaskSet>; expected is a task set or a setup file of OpenSim's "
            "inverse kinematics",
            str(path),
        )
    try:
        tasks = ElementTree.fromstring(found.group(0))
    except ElementTree.ParseError as error:
        raise FormatError(f"its <IKTaskSet> is not valid XML: {error}", str(path)) from error
    weights = dict.fromkeys((marker.name for marker in model.markers), 0.0)
    track: dict[str, tuple[float, float]] = {}
    for task in tasks.iter():
        name = task.get("name", "")
        if task.findtext("apply", "true").strip().lower() != "true":
            continue
        if task.tag == "IKMarkerTask" and name in weights:
            weights[name] = _number(task, "weight", path)
        if task.tag == "IKCoordinateTask" and name in model.coordinate_names:
            track[name] = (_number(task, "weight", path), _target_value(task, model, path))
    total = sum(weights.values())
    if track and total:
        weights = {name: weight / total for name, weight in weights.items()}
    return weights, track


def _target_value(task: ElementTree.Element, model: Model, path: Path) -> float:
    """The value (rad, m) that a coordinate task asks for."""
    name = task.get("name", "")
    kind = task.findtext("value_type", "default_value").strip()
    if kind == "default_value":
        index = model.coordinate_index(name)
        return float(model.coordinates[index].default)
    if kind == "manual_value":
        return _number(task, "value", path)
    raise FormatError(
        f"coordinate {name!r} follows a motion file, which is not supported; give it a manual "
        "value (in Python, pass its values to inverse_kinematics as track)",
        str(path),
    )


def _number(task: ElementTree.Element, tag: str, path: Path) -> float:
    text = task.findtext(tag, "").strip()
    try:
        return float(text)
    except ValueError:
        raise FormatError(
            f"<{tag}> is {text!r}, expected a number", str(path), f"task {task.get('name')!r}"
        ) from None
