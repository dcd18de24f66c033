"""View: what of the scene is drawn, labels, the camera and the theme."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from homodyn.studio.panels.panel import Panel
from homodyn.studio.view_options import BODIES, LABELS

CHECKS = (
    ("joints", "Joints"),
    ("capsules", "Capsules"),
    ("center_of_mass", "Center of mass"),
    ("support_polygon", "Support polygon"),
    ("forces", "Forces"),
    ("plate_forces", "Force plate vectors"),
    ("measured_markers", "Measured markers"),
    ("model_markers", "Model markers"),
    ("marker_errors", "Marker errors"),
    ("follow", "Follow body"),
    ("dark", "Dark"),
)
SIDES = {
    "Right": (0.0, -4.2, 0.2),
    "Left": (0.0, 4.2, 0.2),
    "Front": (4.2, 0.0, 0.2),
    "Above": (0.01, 0.0, 5.0),
}
"""Where the camera goes from the middle of the body (m)."""


class ViewPanel(Panel):
    """Choices of the viewer."""

    title = "View"

    def build(self) -> None:
        """Make the controls."""
        view_options = self.studio.view_options
        self.body = self.gui.add_dropdown("Body", BODIES, initial_value=view_options.body)
        self.on_choice(self.body)(lambda word: self.studio.set_view_options(body=word))
        self.labels = self.gui.add_dropdown("Labels", LABELS, initial_value=view_options.labels)
        self.on_choice(self.labels)(lambda word: self.studio.set_view_options(labels=word))
        self.checks = {}
        for name, label in CHECKS:
            box = self.checks[name] = self.gui.add_checkbox(
                label, bool(getattr(view_options, name))
            )
            self.on_choice(box)(partial(self._check, name))
        self.sides = self.gui.add_button_group("Camera", tuple(SIDES))
        self.sides.on_click(self._look)

    def _check(self, name: str, on: bool) -> None:
        self.studio.set_view_options(**{name: on})

    def _look(self, event: Any) -> None:
        client = event.client
        if client is None:
            return
        middle = np.array([0.0, 0.0, 0.9])
        document = self.session.document
        if document.actor is not None and not self.studio.view_options.follow:
            poses, row = self.studio.stage.bodies[document.actor.name].at(self.session.clock.now)
            middle[:2] = poses.com[row][:2]
        with client.atomic():
            client.camera.position = middle + SIDES[event.target.value]
            client.camera.look_at = middle
