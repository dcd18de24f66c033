"""Marker labels: matching the labels of a recording to the markers of a model."""

from homodyn.capture.labeling.geometric_matching import match_geometry
from homodyn.capture.labeling.label_matching import (
    LabelMatching,
    match_labels,
    read_label_map,
    write_label_map,
)
from homodyn.capture.labeling.marker_sets import (
    MARKER_SETS,
    MarkerSetMatch,
    identify_marker_set,
)

__all__ = [
    "MARKER_SETS",
    "LabelMatching",
    "MarkerSetMatch",
    "identify_marker_set",
    "match_geometry",
    "match_labels",
    "read_label_map",
    "write_label_map",
]
