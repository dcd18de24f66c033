"""Marker maps are applied to another body, and refused if invalid."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.errors import FormatError, HomodynError
from homodyn.studio import StudioDocument
from homodyn.studio.export import (
    marker_map,
)
from homodyn.studio.file_opening import (
    open_path,
)
from homodyn.studio.marker_map import read_map, with_map


@pytest.fixture
def walker(walk_document):
    return walk_document.actor


def test_a_marker_map_is_applied_to_the_active_body(walker, studio, tmp_path):
    first, *rest = walker.model.markers
    shifted = replace(first, position=first.position + 0.01)
    changed = replace(walker.model, markers=(shifted, *rest[:9]))
    saved = marker_map(replace(walker, model=changed, weights={first.name: 0.5}))
    (tmp_path / "markers.csv").write_bytes(saved.content)
    studio.open(open_path(tmp_path / "markers.csv"), "markers.csv")
    actor = studio.session.document.actor
    assert [marker.name for marker in actor.model.markers] == [m.name for m in changed.markers]
    np.testing.assert_allclose(actor.model.markers[0].position, shifted.position, atol=1e-8)
    assert actor.weights == {first.name: 0.5}
    studio.session.undo()
    assert len(studio.session.document.actor.model.markers) == len(walker.model.markers)


def test_an_invalid_marker_map_is_refused(walker, tmp_path):
    text = marker_map(walker).content.decode()
    path = tmp_path / "markers.csv"
    path.write_text(text.replace("\n", "\nA,Nowhere,0,0,0,1\n", 1))
    with pytest.raises(HomodynError, match=r"'A'.*'Nowhere'"):
        with_map(StudioDocument().with_actor(walker), read_map(path))
    path.write_text(text.replace("\n", "\nA,Head,0,zero,0,1\n", 1))
    with pytest.raises(FormatError, match="line 2"):
        read_map(path)
    path.write_text(text)
    found = read_map(path)
    with pytest.raises(HomodynError, match="needs a body"):
        with_map(StudioDocument(), found)
