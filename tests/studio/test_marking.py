"""Markers given to segments, renamed, removed and weighed, and chosen by a box in the picture."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn import dynamics
from homodyn.errors import CaptureError, HomodynError, ModelError
from homodyn.studio.bars import error_bars, legend
from homodyn.studio.fitting import error_now
from homodyn.studio.marking import (
    Camera,
    assigned,
    errors_at,
    framed,
    matched,
    removed,
    renamed,
    root_mean_square,
    weighted,
)
from homodyn.studio.panels.health import headline, summary


def test_assigned_markers_are_on_the_segment_where_the_frame_shows_them(walk_document):
    time = 1.5
    document = assigned(walk_document, {"LKNE", "LTIB"}, "ThighLeft", time)
    actor, trial = document.actor, document.trial
    frame = int(np.argmin(np.abs(trial.time - time)))
    places = dynamics.marker_positions(actor.model, actor.position(time))
    for name in ("LKNE", "LTIB"):
        marker = next(m for m in actor.model.markers if m.name == name)
        assert marker.body == "ThighLeft"
        k = actor.model.markers.index(marker)
        np.testing.assert_allclose(places[k], trial.marker(name)[frame], atol=1e-9)
    errors = errors_at(actor, trial, places, time)
    assert errors["LKNE"] < 1e-9 < errors["RKNE"]


def test_a_label_the_body_does_not_know_becomes_a_marker_of_it(walk_document):
    document = removed(walk_document, {"LKNE", "LANK"}, "body")
    assert "LKNE" not in {m.name for m in document.actor.model.markers}
    again = assigned(document, {"LKNE"}, "ShankLeft", 0.0)
    assert {m.name: m.body for m in again.actor.model.markers}["LKNE"] == "ShankLeft"


def test_what_cannot_be_assigned_is_refused_in_words(walk_document):
    with pytest.raises(HomodynError, match="no marker is chosen"):
        assigned(walk_document, (), "ShankLeft", 0.0)
    with pytest.raises(ModelError, match="ShinLeft"):
        assigned(walk_document, {"LKNE"}, "ShinLeft", 0.0)
    with pytest.raises(HomodynError, match="no recording"):
        assigned(replace(walk_document, trials=()), {"LKNE"}, "ShankLeft", 0.0)


@pytest.mark.parametrize(
    ("where", "in_recording", "on_body"),
    [("recording", True, False), ("body", False, True), ("both", True, True)],
)
def test_markers_are_renamed_and_removed_where_it_was_said(
    walk_document, where, in_recording, on_body
):
    def names(document):
        return document.trial.markers, [m.name for m in document.actor.model.markers]

    changed = weighted(walk_document, {"LKNE"}, 2.0)
    labels, markers = names(renamed(changed, "LKNE", " knee ", where))
    assert ("knee" in labels, "knee" in markers) == (in_recording, on_body)
    weights = renamed(changed, "LKNE", "knee", where).actor.weights
    assert weights == {"knee" if on_body else "LKNE": 2.0}
    labels, markers = names(removed(changed, {"LKNE"}, where))
    assert ("LKNE" in labels, "LKNE" in markers) == (not in_recording, not on_body)


def test_names_that_are_taken_or_missing_are_refused(walk_document):
    with pytest.raises(CaptureError, match="'RKNE' already"):
        renamed(walk_document, "LKNE", "RKNE")
    with pytest.raises(HomodynError, match="new name"):
        renamed(walk_document, "LKNE", " ")
    with pytest.raises(CaptureError, match="nose"):
        renamed(walk_document, "nose", "tip")
    with pytest.raises(ModelError, match="nose"):
        removed(walk_document, {"nose"}, "body")


def test_weights_are_kept_by_marker_and_one_is_none(walk_document):
    document = weighted(walk_document, {"LKNE", "RKNE"}, 0.0)
    assert document.actor.weights == {"LKNE": 0.0, "RKNE": 0.0}
    assert weighted(document, {"LKNE"}, 1.0).actor.weights == {"RKNE": 0.0}
    with pytest.raises(ModelError, match="nose"):
        weighted(document, {"nose"}, 2.0)
    with pytest.raises(CaptureError, match="0 or more"):
        weighted(document, {"LKNE"}, -1.0)


def test_labels_are_matched_to_the_names_of_the_body(walk_document):
    odd = walk_document.trial_changed(walk_document.trial.renamed({"LKNE": "Ann:L_KNE"}))
    document, matching = matched(odd)
    assert document.trial.markers == walk_document.trial.markers
    assert matching.matched["LKNE"] == "Ann:L_KNE"
    same, _ = matched(walk_document)
    assert same is walk_document


def test_a_box_in_the_picture_holds_what_is_seen_through_it():
    # A camera at x = -4 that looks along x: its right is -y, its down is -z.
    turn = np.array([0.5, -0.5, 0.5, -0.5])
    camera = Camera(np.array([-4.0, 0.0, 1.0]), turn, np.pi / 2, 2.0)
    points = np.array([[0.0, 0.0, 1.0], [0.0, -2.0, 2.0], [0.0, 2.0, 0.0], [-8.0, 0.0, 1.0]])
    np.testing.assert_allclose(
        camera.seen_at(points)[:3], [[0.5, 0.5], [0.625, 0.375], [0.375, 0.625]]
    )
    inside = framed(camera, points, (0.4, 0.3), (0.7, 0.6))
    assert inside.tolist() == [True, True, False, False]


def test_bars_tell_the_errors_the_largest_first():
    errors = {"<b>": 0.05, **{f"M{k}": 0.001 * k for k in range(20)}}
    page = error_bars(errors, 0.03)
    assert page.index("&lt;b&gt;") < page.index("M19")
    assert "<b>:" not in page
    assert f"{1000 * root_mean_square(errors):.1f} mm" in page
    assert "7 more" in page
    assert "No marker" in error_bars({}, 0.03)
    assert "3 without one" in legend(29, 3, 1, 0)


def test_the_true_body_fits_its_own_recording(walk_document):
    assert error_now(walk_document.actor, walk_document.trial, 1.0) < 0.01


def test_the_recording_that_is_worked_on_can_be_another(walk_document):
    document = walk_document.with_trial(replace(walk_document.trial, name="later"))
    assert document.trial.name == "later"
    first = walk_document.trial.name
    assert document.working_on(first).trial.name == first
    with pytest.raises(CaptureError, match="nothing"):
        document.working_on("nothing")


def test_findings_are_told_in_a_few_words(walk_document):
    from homodyn import capture

    found = capture.health(walk_document.trial)
    assert "warning" in summary(found)
    assert headline(found.findings[0]).startswith("gap: LELB, LWRA")
