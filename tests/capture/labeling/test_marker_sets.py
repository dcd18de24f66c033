"""Marker sets in common use are recognized by their labels, as laboratories write them."""

from dataclasses import replace

import pytest

import homodyn as hd
from homodyn.capture.labeling import MARKER_SETS, identify_marker_set
from homodyn.capture.labeling.landmarks import Landmark, is_known_landmark, landmark
from homodyn.capture.scaling import MarkerKind, marker_kinds

CLUSTERS = ("TH", "SK", "SH")
"""Beginnings of numbered members of clusters, which are at no landmark."""


@pytest.mark.parametrize("name", MARKER_SETS)
def test_each_set_is_recognized_with_subject_case_and_separators_changed(name):
    labels = [f"Anna:{label.upper()}" for label in MARKER_SETS[name]]
    found = identify_marker_set(labels)
    assert found is not None
    assert found.name == name
    assert found.missing == ()


def test_a_few_markers_may_be_missing_but_not_most():
    labels = MARKER_SETS["IOR"]
    found = identify_marker_set([label for label in labels if label not in ("LHF", "RTT")])
    assert found is not None
    assert (found.name, set(found.missing)) == ("IOR", {"LHF", "RTT"})
    assert found.share == pytest.approx(24 / 26)
    assert identify_marker_set(labels[:8]) is None
    assert identify_marker_set(["*1", "*2"]) is None


@pytest.mark.parametrize("name", [n for n in MARKER_SETS if n != "OpenCap keypoints"])
def test_labels_of_each_set_are_landmarks_or_clusters(name):
    for label in MARKER_SETS[name]:
        bare = label.lstrip("LRlr").strip("._")
        assert is_known_landmark(label) or bare.startswith(CLUSTERS), label


@pytest.mark.parametrize(
    ("label", "side", "place"),
    [
        ("r knee 1", "r", "knee"),
        ("sacrum", "", "sacrum"),
        ("V.Sacral", "", "sacrum"),
        ("L_mankle_study", "l", "ankle medial"),
        ("RHJC_study", "r", "hip center"),
        ("LKNM", "l", "knee medial"),
        ("RMED", "r", "ankle medial"),
        ("LVM", "l", "fifth metatarsal"),
        ("RGT", "r", "trochanter"),
        ("left malleolus lateral", "l", "ankle"),
        ("RTHAP", "r", "thigh proximal"),
    ],
)
def test_aliases_of_laboratories(label, side, place):
    assert landmark(label) == Landmark(side, place)


def test_numbers_of_cluster_markers_remain():
    assert landmark("r thigh 1") != landmark("r thigh 2")
    assert landmark("r thigh 1").place not in ("thigh", "knee")


def test_markers_of_cgm_2_on_soft_tissue_are_tracking_markers():
    model = hd.catalog.heiman()
    names = {"RTHI": "RTHAP", "RTIB": "RTIAD", "RKNE": "RKNM"}
    renamed = tuple(replace(m, name=names.get(m.name, m.name)) for m in model.markers)
    kinds = marker_kinds(replace(model, markers=renamed))
    assert kinds["RTHAP"] is kinds["RTIAD"] is MarkerKind.TRACKING
    assert kinds["RKNM"] is MarkerKind.LANDMARK
