"""Markers given to segments, renamed, removed and weighed, and chosen by a box in the picture."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn import dynamics
from homodyn.errors import CaptureError, HomodynError, ModelError
from homodyn.studio.fit_tasks import current_error
from homodyn.studio.marker_editing import (
    Camera,
    assign_markers,
    marker_errors,
    match_marker_labels,
    points_in_rectangle,
    remove_markers,
    rename_marker,
    root_mean_square,
    set_marker_weights,
)
from homodyn.studio.marker_error_bars import error_bars, marker_legend
from homodyn.studio.panels.health import headline, summary


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


def test_what_cannot_be_assigned_is_refused_in_words(walk_document):
    with pytest.raises(HomodynError, match="no marker is chosen"):
        assign_markers(walk_document, (), "ShankLeft", 0.0)
    with pytest.raises(ModelError, match="ShinLeft"):
        assign_markers(walk_document, {"LKNE"}, "ShinLeft", 0.0)
    with pytest.raises(HomodynError, match="no recording"):
        assign_markers(replace(walk_document, trials=()), {"LKNE"}, "ShankLeft", 0.0)


@pytest.mark.parametrize(
    ("where", "in_recording", "on_body"),
    [("recording", True, False), ("body", False, True), ("both", True, True)],
)
def test_markers_are_renamed_and_removed_where_it_was_said(
    walk_document, where, in_recording, on_body
):
    def names(document):
        return document.trial.markers, [m.name for m in document.actor.model.markers]

    changed = set_marker_weights(walk_document, {"LKNE"}, 2.0)
    labels, markers = names(rename_marker(changed, "LKNE", " knee ", where))
    assert ("knee" in labels, "knee" in markers) == (in_recording, on_body)
    weights = rename_marker(changed, "LKNE", "knee", where).actor.weights
    assert weights == {"knee" if on_body else "LKNE": 2.0}
    labels, markers = names(remove_markers(changed, {"LKNE"}, where))
    assert ("LKNE" in labels, "LKNE" in markers) == (not in_recording, not on_body)


def test_names_that_are_taken_or_missing_are_refused(walk_document):
    with pytest.raises(CaptureError, match="'RKNE' already"):
        rename_marker(walk_document, "LKNE", "RKNE")
    with pytest.raises(HomodynError, match="new name"):
        rename_marker(walk_document, "LKNE", " ")
    with pytest.raises(CaptureError, match="nose"):
        rename_marker(walk_document, "nose", "tip")
    with pytest.raises(ModelError, match="nose"):
        remove_markers(walk_document, {"nose"}, "body")


def test_weights_are_kept_by_marker_and_one_is_none(walk_document):
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


def test_a_box_in_the_picture_holds_what_is_seen_through_it():
    # A camera at x = -4 that looks along x: its right is -y, its down is -z.
    turn = np.array([0.5, -0.5, 0.5, -0.5])
    camera = Camera(np.array([-4.0, 0.0, 1.0]), turn, np.pi / 2, 2.0)
    points = np.array([[0.0, 0.0, 1.0], [0.0, -2.0, 2.0], [0.0, 2.0, 0.0], [-8.0, 0.0, 1.0]])
    np.testing.assert_allclose(
        camera.seen_at(points)[:3], [[0.5, 0.5], [0.625, 0.375], [0.375, 0.625]]
    )
    inside = points_in_rectangle(camera, points, (0.4, 0.3), (0.7, 0.6))
    assert inside.tolist() == [True, True, False, False]


def test_bars_tell_the_errors_the_largest_first():
    errors = {"<b>": 0.05, **{f"M{k}": 0.001 * k for k in range(20)}}
    page = error_bars(errors, 0.03)
    assert page.index("&lt;b&gt;") < page.index("M19")
    assert "<b>:" not in page
    assert f"{1000 * root_mean_square(errors):.1f} mm" in page
    assert "7 more" in page
    assert "No marker" in error_bars({}, 0.03)
    assert "3 without one" in marker_legend(29, 3, 1, 0)


def test_the_true_body_fits_its_own_recording(walk_document):
    assert current_error(walk_document.actor, walk_document.trial, 1.0) < 0.01


def test_the_recording_that_is_worked_on_can_be_another(walk_document):
    document = walk_document.with_trial(replace(walk_document.trial, name="later"))
    assert document.trial.name == "later"
    first = walk_document.trial.name
    assert document.activate_trial(first).trial.name == first
    with pytest.raises(CaptureError, match="nothing"):
        document.activate_trial("nothing")


def test_findings_are_told_in_a_few_words(walk_document):
    from homodyn import capture

    found = capture.check_health(walk_document.trial)
    assert "warning" in summary(found)
    assert headline(found.findings[0]).startswith("gap: LELB, LWRA")
