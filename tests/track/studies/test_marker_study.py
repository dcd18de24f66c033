"""Document 001, check 27: tracking with fewer markers."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.track.studies import marker_study
from homodyn.track.studies.marker_study import end_markers, spread_markers

pytestmark = pytest.mark.usefixtures("interpreted")


def test_errors_grow_as_markers_are_left_out(figure, tracked):
    names = [marker.name for marker in figure.markers]
    sets = {"most": names[:-1], "ends": end_markers(figure)}
    study = marker_study(tracked, sets=sets)
    assert study.names == ("all", "most", "ends")
    assert study.complete.all()
    means = study.errors.mean(axis=1)
    assert means[0] == 0.0
    assert 0 < means[1] < means[2] < np.radians(10)
    assert study.angles.shape == (3, 60, len(study.coordinates))
    with pytest.raises(hd.CaptureError, match="3 or more"):
        marker_study(tracked, sets={"two": names[:2]})
    with pytest.raises(hd.CaptureError, match="marker"):
        marker_study(tracked, sets={"wrong": ["P0", "P1", "P9"]})


def test_sets_are_spread_over_the_bodies(figure):
    chosen = spread_markers(figure, 9)
    bodies = {figure.locate(name)[0] for name in chosen}
    assert len(bodies) == 9
    assert len(spread_markers(figure, 12)) == 12
    assert set(end_markers(figure)) == {
        marker.name for marker in figure.markers if "hand" in marker.name or "foot" in marker.name
    }
