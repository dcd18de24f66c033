"""Marker maps as CSV tables: marker, segment, position on it (m) and weight."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, replace
from pathlib import Path

from homodyn.errors import FormatError, HomodynError, ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Marker
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.model_editing import with_model

HEADER = ("marker", "segment", "x (m)", "y (m)", "z (m)", "weight")


@dataclass(frozen=True, eq=False)
class MarkerMap:
    """Markers on segments, and their weights in a fit."""

    markers: tuple[Marker, ...]
    weights: dict[str, float]


def map_text(actor: Actor) -> str:
    """The markers of a body as CSV text."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADER)
    for marker in actor.model.markers:
        position = [f"{x:.9g}" for x in marker.position]
        weight = f"{actor.weights.get(marker.name, 1.0):.9g}"
        writer.writerow([marker.name, marker.body, *position, weight])
    return stream.getvalue()


def is_map(text: str) -> bool:
    """Whether CSV text has the header of a marker map."""
    return text.lstrip("\ufeff").startswith(",".join(HEADER[:2]))


def read_map(path: Path) -> MarkerMap:
    """The marker map in a file."""
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"the file cannot be read: {error}", str(path)) from error
    if not rows or tuple(rows[0][:5]) != HEADER[:5]:
        raise FormatError(f"the columns must be {', '.join(HEADER)}", str(path), "line 1")
    markers, weights = [], {}
    for number, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        try:
            name, segment, *numbers = row
            x, y, z, *rest = map(float, numbers)
        except ValueError as error:
            raise FormatError(
                f"a name, a segment and three or four numbers are required: {error}",
                str(path),
                f"line {number}",
            ) from error
        if not all(map(math.isfinite, (x, y, z, *rest))) or min(rest, default=1.0) < 0.0:
            raise FormatError(
                f"position and weight of {name!r} must be finite, and the weight 0 or more",
                str(path),
                f"line {number}",
            )
        markers.append(Marker(name, segment, (x, y, z)))
        if rest and rest[0] != 1.0:
            weights[name] = rest[0]
    if not markers:
        raise FormatError("the file contains no markers", str(path))
    return MarkerMap(tuple(markers), weights)


def with_map(document: StudioDocument, marker_map: MarkerMap) -> StudioDocument:
    """The document whose active body has the markers of a map instead of its own."""
    actor = document.actor
    if actor is None:
        raise HomodynError("a marker map needs a body; open or add one first")
    for marker in marker_map.markers:
        if marker.body not in actor.model.body_names:
            reason = unknown_name("segment", marker.body, actor.model.body_names)
            raise ModelError(f"marker {marker.name!r}: {actor.name} has {reason}")
    model = replace(actor.model, markers=marker_map.markers)
    changed = with_model(replace(actor, weights={}), model, actor.recipe)
    return document.with_active(replace(changed, weights=dict(marker_map.weights)))
