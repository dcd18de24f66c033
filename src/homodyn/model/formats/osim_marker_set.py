"""Marker sets of OpenSim in a file of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from homodyn.errors import FormatError
from homodyn.foundation.text import count_of, unknown_name
from homodyn.model.formats.osim_document import flag, name_of, numbers, text
from homodyn.model.formats.osim_parts import SOCKET
from homodyn.model.formats.xml import read_xml
from homodyn.model.model import Model
from homodyn.model.shapes import Marker


def add_marker_set(model: Model, path: str | Path) -> Model:
    """The model with the markers of a MarkerSet file; markers of the same name are replaced.

    Args:
        model: The model.
        path: The file: a ``<MarkerSet>`` whose markers name bodies of the model and positions (m)
            in their axes.

    Returns:
        The model, with a note of how many markers are new and how many are replaced.

    Raises:
        FormatError: The file has no ``<MarkerSet>`` with markers, or names a body that the model
            does not have.
    """
    path = Path(path)
    sets = [element for element in read_xml(path).walk() if element.tag == "MarkerSet"]
    elements = [e for each in sets for e in each.walk() if e.tag == "Marker"]
    if not elements:
        raise FormatError(
            "the file contains no <MarkerSet> with markers; expected is a marker set as OpenSim "
            "writes it",
            str(path),
        )
    markers = {marker.name: marker for marker in model.markers}
    before = set(markers)
    names = []
    for element in elements:
        body = text(element, *SOCKET).rsplit("/", 1)[-1]
        if body not in model.body_names:
            raise element.error(unknown_name("body", body, model.body_names))
        stated = element.find("fixed") is not None
        fixed = flag(element, "fixed", False) if stated else None
        name = name_of(element)
        position = numbers(element, "location", 3, (0.0, 0.0, 0.0))
        markers[name] = Marker(name, body, position, fixed)
        names.append(name)
    replaced = len(before & set(names))
    added = len(set(names) - before)
    note = f"{path.name}: {count_of(added, 'marker')} added, {replaced} replaced"
    return replace(model, markers=tuple(markers.values()), notes=(*model.notes, note))
