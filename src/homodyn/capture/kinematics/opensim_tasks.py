"""Weights of markers and coordinates from the task files of OpenSim's inverse kinematics."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from homodyn.errors import FormatError
from homodyn.model import Model


def read_tasks(
    path: str | Path, model: Model
) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """``weights`` and ``track`` for `fit`, from an IKTaskSet or a setup file that holds one.

    Markers that the file does not name or switches off weigh nothing, as in OpenSim. Coordinates
    are drawn to their default or to the number in the file; those that are to follow a motion file
    are refused, since the values belong to the call of `fit`. OpenSim divides what it takes from
    the markers by the sum of their weights, so the weights here are divided by it too where
    coordinates are tracked.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror}", str(path)) from error
    # OpenSim reads files whose tags around the set do not match, and some are in use.
    found = re.search(r"<IKTaskSet\b.*?</IKTaskSet>", text, re.DOTALL)
    if found is None:
        raise FormatError("there is no <IKTaskSet> in it", str(path))
    try:
        tasks = ElementTree.fromstring(found.group(0))
    except ElementTree.ParseError as error:
        raise FormatError(f"its <IKTaskSet> is no XML: {error}", str(path)) from error
    weights = dict.fromkeys((marker.name for marker in model.markers), 0.0)
    track: dict[str, tuple[float, float]] = {}
    for task in tasks.iter():
        name = task.get("name", "")
        if task.findtext("apply", "true").strip().lower() != "true":
            continue
        if task.tag == "IKMarkerTask" and name in weights:
            weights[name] = _number(task, "weight", path)
        if task.tag == "IKCoordinateTask" and name in model.coordinate_names:
            track[name] = (_number(task, "weight", path), _goal(task, model, path))
    total = sum(weights.values())
    if track and total:
        weights = {name: weight / total for name, weight in weights.items()}
    return weights, track


def _goal(task: ElementTree.Element, model: Model, path: Path) -> float:
    name = task.get("name", "")
    kind = task.findtext("value_type", "default_value").strip()
    if kind == "default_value":
        index = model.coordinate_index(name)
        return float(model.coordinates[index].default)
    if kind == "manual_value":
        return _number(task, "value", path)
    raise FormatError(
        f"coordinate {name!r} is to follow a motion file; give its values to fit as track",
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
