"""What of the scene is drawn, and how: choices of the viewer that change nothing that is open."""

from __future__ import annotations

from dataclasses import dataclass

BODIES = ("solid", "see-through", "bones", "hidden")
"""Ways to draw a body."""
LABELS = ("none", "markers", "segments", "joints")
"""What names are written beside."""


@dataclass(frozen=True)
class ViewOptions:
    """The choices of the View panel."""

    body: str = "solid"
    joints: bool = False
    capsules: bool = False
    center_of_mass: bool = True
    support_polygon: bool = True
    forces: bool = True
    plate_forces: bool = False
    """Forces of plates also beside those on the feet of bodies."""
    measured_markers: bool = True
    model_markers: bool = True
    marker_errors: bool = True
    labels: str = "none"
    follow: bool = True
    body_spacing: float = 0.0
    """Distance (m) between bodies, to the left of each other; 0 puts them over each other."""
    dark: bool = False
    selected_markers: frozenset[str] = frozenset()
    """Markers of the recording that are worked on."""
    error_threshold: float = 0.03
    """Marker error (m) from which on a marker fits badly."""

    @property
    def opacity(self) -> float | None:
        """Of solid parts; None is opaque."""
        return 0.35 if self.body == "see-through" else None
