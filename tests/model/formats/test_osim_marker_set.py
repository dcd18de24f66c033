"""Markers of an OpenSim marker set on a model."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import FormatError
from homodyn.model.formats.osim_marker_set import add_marker_set

SET = """<OpenSimDocument Version="30000"><MarkerSet name="m"><objects>
<Marker name="{name}"><body>{body}</body><location>0.1 0.2 0.3</location>
<fixed>true</fixed></Marker>
<Marker name="New"><socket_parent_frame>/bodyset/{body}</socket_parent_frame>
<location>0 0 1</location></Marker>
</objects></MarkerSet></OpenSimDocument>"""


def test_markers_are_added_and_replaced(tmp_path):
    model = hd.catalog.heiman()
    first = model.markers[0]
    path = tmp_path / "set.xml"
    path.write_text(SET.format(name=first.name, body=first.body))
    found = add_marker_set(model, path)
    markers = {marker.name: marker for marker in found.markers}
    assert len(markers) == len(model.markers) + 1
    np.testing.assert_array_equal(markers[first.name].position, [0.1, 0.2, 0.3])
    assert markers[first.name].fixed is True
    assert markers["New"].fixed is None
    assert "1 marker added, 1 replaced" in found.notes[-1]


def test_unknown_bodies_and_other_files_are_refused(tmp_path):
    path = tmp_path / "set.xml"
    path.write_text(SET.format(name="A", body="Tail"))
    with pytest.raises(FormatError, match="Tail"):
        add_marker_set(hd.catalog.heiman(), path)
    path.write_text("<OpenSimDocument/>")
    with pytest.raises(FormatError, match="no <MarkerSet>"):
        add_marker_set(hd.catalog.heiman(), path)


def test_a_real_marker_set(shared_data):
    folder = shared_data / "rajagopal_walk"
    model = hd.load(folder / "Rajagopal2016.osim")
    found = add_marker_set(model, folder / "markerset_walk_preScale.xml")
    head = next(marker for marker in found.markers if marker.name == "Head")
    assert head.body == "torso"
    np.testing.assert_array_equal(head.position, [0.0, 0.67, 0.0])
