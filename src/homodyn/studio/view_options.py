"""Options of the view: which parts of the scene are drawn, and how."""

from __future__ import annotations

from dataclasses import dataclass

BODY_STYLES = ("solid", "see-through", "bones", "hidden")
"""Ways to draw a body."""
LABELS = ("none", "markers", "segments", "joints")
"""Parts whose names are shown."""
SYSTEM, LIGHT, DARK = "system", "light", "dark"
THEMES = (SYSTEM, LIGHT, DARK)
"""Colors of the page: as the system of the viewer prefers, light, or dark."""


@dataclass(frozen=True)
class ViewOptions:
    """The options of the View panel, and the selection of markers."""

    body: str = "solid"
    joints: bool = False
    capsules: bool = False
    muscles: bool = True
    """Whether muscles are drawn as lines along their paths."""
    center_of_mass: bool = True
    support_polygon: bool = True
    forces: bool = True
    plate_forces: bool = False
    """Whether forces of plates are drawn in addition to those on the feet of bodies."""
    measured_markers: bool = True
    model_markers: bool = True
    marker_errors: bool = True
    labels: str = "none"
    follow: bool = True
    body_spacing: float = 0.0
    """Lateral distance (m) between bodies; 0 overlays them."""
    theme: str = SYSTEM
    selected_markers: frozenset[str] = frozenset()
    """Selected markers of the active recording."""
    error_threshold: float = 0.03
    """Marker error (m) above which a marker is highlighted."""

    @property
    def opacity(self) -> float | None:
        """Opacity of solid parts; None is opaque."""
        return 0.35 if self.body == "see-through" else None
