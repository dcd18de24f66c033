"""The marker map of a body as a table, and back: marker, segment, place on it (m) and weight."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from pathlib import Path

from homodyn.errors import FormatError, HomodynError, ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Marker
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.model_editing import with_model

HEADS = ("marker", "segment", "x (m)", "y (m)", "z (m)", "weight")


@dataclass(frozen=True, eq=False)
class MarkerMap:
    """Markers on segments, and how much they count when a body is fitted."""

    markers: tuple[Marker, ...]
    weights: dict[str, float]


def map_text(actor: Actor) -> str:
    """The markers of a body as comma-separated text."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADS)
    for marker in actor.model.markers:
        place = [f"{x:.9g}" for x in marker.position]
        weight = f"{actor.weights.get(marker.name, 1.0):.9g}"
        writer.writerow([marker.name, marker.body, *place, weight])
    return stream.getvalue()


def is_map(text: str) -> bool:
    """Whether a table of comma-separated values begins as a marker map does."""
    return text.lstrip("\ufeff").startswith(",".join(HEADS[:2]))


def read_map(path: Path) -> MarkerMap:
    """The marker map in a file."""
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"it cannot be read: {error}", str(path)) from error
    if not rows or tuple(rows[0][:5]) != HEADS[:5]:
        raise FormatError(f"the headings must be {', '.join(HEADS)}", str(path), "line 1")
    markers, weights = [], {}
    for number, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        try:
            name, segment, *numbers = row
            x, y, z, *rest = map(float, numbers)
        except ValueError as error:
            raise FormatError(
                f"a name, a segment and three or four numbers are needed: {error}",
                str(path),
                f"line {number}",
            ) from error
        markers.append(Marker(name, segment, (x, y, z)))
        if rest and rest[0] != 1.0:
            weights[name] = rest[0]
    if not markers:
        raise FormatError("there are no markers in it", str(path))
    return MarkerMap(tuple(markers), weights)


def with_map(document: StudioDocument, found: MarkerMap) -> StudioDocument:
    """The active body with these markers instead of its own."""
    actor = document.actor
    if actor is None:
        raise HomodynError("a marker map needs a body to go on; open or add one first")
    for marker in found.markers:
        if marker.body not in actor.model.body_names:
            what = unknown_name("segment", marker.body, actor.model.body_names)
            raise ModelError(f"marker {marker.name!r}: {actor.name} has {what}")
    model = replace(actor.model, markers=found.markers)
    made = with_model(replace(actor, weights={}), model, actor.recipe)
    return document.with_active(replace(made, weights=dict(found.weights)))
