"""View: drawn parts of the scene, labels, camera and theme."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from homodyn.studio.panels.panel import Panel
from homodyn.studio.view_options import BODY_STYLES, LABELS, THEMES

CHECKBOXES = (
    ("joints", "Joints"),
    ("capsules", "Capsules"),
    ("muscles", "Muscles"),
    ("center_of_mass", "Center of mass"),
    ("support_polygon", "Support polygon"),
    ("forces", "Forces"),
    ("plate_forces", "Force plate vectors"),
    ("measured_markers", "Measured markers"),
    ("model_markers", "Model markers"),
    ("marker_errors", "Marker errors"),
    ("follow", "Follow body"),
)
"""Options of the view and their labels."""
CAMERAS_M = {
    "Right": (0.0, -4.2, 0.2),
    "Left": (0.0, 4.2, 0.2),
    "Front": (4.2, 0.0, 0.2),
    "Above": (0.01, 0.0, 5.0),
}
"""Position of the camera (m) relative to the center of the body."""


class ViewPanel(Panel):
    """Options of the view."""

    title = "View"

    def build(self) -> None:
        """Create the controls."""
        options = self.studio.view_options
        self.body = self.gui.add_dropdown("Body", BODY_STYLES, initial_value=options.body)
        self.on_choice(self.body)(lambda style: self.studio.set_view_options(body=style))
        self.labels = self.gui.add_dropdown("Labels", LABELS, initial_value=options.labels)
        self.on_choice(self.labels)(lambda kind: self.studio.set_view_options(labels=kind))
        themes = tuple(theme.capitalize() for theme in THEMES)
        self.theme = self.gui.add_dropdown(
            "Theme",
            themes,
            initial_value=options.theme.capitalize(),
            hint="System follows the light or dark mode of your system",
        )
        self.on_choice(self.theme)(lambda theme: self.studio.set_view_options(theme=theme.lower()))
        self.checkboxes = {}
        for name, label in CHECKBOXES:
            box = self.checkboxes[name] = self.gui.add_checkbox(label, bool(getattr(options, name)))
            self.on_choice(box)(partial(self._set_option, name))
        self.cameras = self.gui.add_button_group("Camera", tuple(CAMERAS_M))
        self.cameras.on_click(self._move_camera)

    def _set_option(self, name: str, on: bool) -> None:
        self.studio.set_view_options(**{name: on})

    def _move_camera(self, event: Any) -> None:
        client = event.client
        if client is None:
            return
        center = np.array([0.0, 0.0, 0.9])
        document = self.session.document
        if document.actor is not None and not self.studio.view_options.follow:
            poses, row = self.studio.stage.bodies[document.actor.name].at(self.session.clock.now)
            center[:2] = poses.com[row][:2]
        with client.atomic():
            client.camera.position = center + CAMERAS_M[event.target.value]
            client.camera.look_at = center
