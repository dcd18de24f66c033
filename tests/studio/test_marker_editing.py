"""Markers are assigned, renamed, removed, weighted and selected."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn import dynamics
from homodyn.errors import CaptureError, HomodynError, ModelError
from homodyn.studio.marker_editing import (
    Camera,
    assign_markers,
    marker_errors,
    match_marker_labels,
    points_in_rectangle,
    remove_markers,
    rename_marker,
    set_marker_weights,
)


def test_assigned_markers_are_on_the_segment_where_the_frame_shows_them(walk_document):
    time = 1.5
    document = assign_markers(walk_document, {"LKNE", "LTIB"}, "ThighLeft", time)
    actor, trial = document.actor, document.trial
    frame = int(np.argmin(np.abs(trial.time - time)))
    places = dynamics.marker_positions(actor.model, actor.position(time))
    for name in ("LKNE", "LTIB"):
        marker = next(m for m in actor.model.markers if m.name == name)
        assert marker.body == "ThighLeft"
        k = actor.model.markers.index(marker)
        np.testing.assert_allclose(places[k], trial.marker(name)[frame], atol=1e-9)
    errors = marker_errors(actor, trial, places, time)
    assert errors["LKNE"] < 1e-9 < errors["RKNE"]


def test_a_label_the_body_does_not_know_becomes_a_marker_of_it(walk_document):
    document = remove_markers(walk_document, {"LKNE", "LANK"}, "body")
    assert "LKNE" not in {m.name for m in document.actor.model.markers}
    again = assign_markers(document, {"LKNE"}, "ShankLeft", 0.0)
    assert {m.name: m.body for m in again.actor.model.markers}["LKNE"] == "ShankLeft"


def test_invalid_assignments_are_refused(walk_document):
    with pytest.raises(HomodynError, match="no marker is selected"):
        assign_markers(walk_document, (), "ShankLeft", 0.0)
    with pytest.raises(ModelError, match="ShinLeft"):
        assign_markers(walk_document, {"LKNE"}, "ShinLeft", 0.0)
    with pytest.raises(HomodynError, match="no recording"):
        assign_markers(replace(walk_document, trials=()), {"LKNE"}, "ShankLeft", 0.0)


@pytest.mark.parametrize(
    ("scope", "in_recording", "on_body"),
    [("recording", True, False), ("body", False, True), ("both", True, True)],
)
def test_markers_are_renamed_and_removed_in_their_scope(
    walk_document, scope, in_recording, on_body
):
    def names(document):
        return document.trial.markers, [m.name for m in document.actor.model.markers]

    changed = set_marker_weights(walk_document, {"LKNE"}, 2.0)
    labels, markers = names(rename_marker(changed, "LKNE", " knee ", scope))
    assert ("knee" in labels, "knee" in markers) == (in_recording, on_body)
    weights = rename_marker(changed, "LKNE", "knee", scope).actor.weights
    assert weights == {"knee" if on_body else "LKNE": 2.0}
    labels, markers = names(remove_markers(changed, {"LKNE"}, scope))
    assert ("LKNE" in labels, "LKNE" in markers) == (not in_recording, not on_body)


def test_existing_and_unknown_names_are_refused(walk_document):
    with pytest.raises(CaptureError, match="already has a marker 'RKNE'"):
        rename_marker(walk_document, "LKNE", "RKNE")
    with pytest.raises(HomodynError, match="new name"):
        rename_marker(walk_document, "LKNE", " ")
    with pytest.raises(CaptureError, match="nose"):
        rename_marker(walk_document, "nose", "tip")
    with pytest.raises(ModelError, match="nose"):
        remove_markers(walk_document, {"nose"}, "body")


def test_weights_of_one_are_not_stored(walk_document):
    document = set_marker_weights(walk_document, {"LKNE", "RKNE"}, 0.0)
    assert document.actor.weights == {"LKNE": 0.0, "RKNE": 0.0}
    assert set_marker_weights(document, {"LKNE"}, 1.0).actor.weights == {"RKNE": 0.0}
    with pytest.raises(ModelError, match="nose"):
        set_marker_weights(document, {"nose"}, 2.0)
    with pytest.raises(CaptureError, match="0 or more"):
        set_marker_weights(document, {"LKNE"}, -1.0)


def test_labels_are_matched_to_the_names_of_the_body(walk_document):
    odd = walk_document.with_active_trial(walk_document.trial.rename_markers({"LKNE": "Ann:L_KNE"}))
    document, matching = match_marker_labels(odd)
    assert document.trial.markers == walk_document.trial.markers
    assert matching.matched["LKNE"] == "Ann:L_KNE"
    same, _ = match_marker_labels(walk_document)
    assert same is walk_document


def test_a_box_in_the_image_contains_the_points_projected_into_it():
    # A camera at x = -4 that looks along x: its right is -y, its down is -z.
    turn = np.array([0.5, -0.5, 0.5, -0.5])
    camera = Camera(np.array([-4.0, 0.0, 1.0]), turn, np.pi / 2, 2.0)
    points = np.array([[0.0, 0.0, 1.0], [0.0, -2.0, 2.0], [0.0, 2.0, 0.0], [-8.0, 0.0, 1.0]])
    np.testing.assert_allclose(
        camera.project(points)[:3], [[0.5, 0.5], [0.625, 0.375], [0.375, 0.625]]
    )
    inside = points_in_rectangle(camera, points, (0.4, 0.3), (0.7, 0.6))
    assert inside.tolist() == [True, True, False, False]
