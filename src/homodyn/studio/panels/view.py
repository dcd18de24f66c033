"""View: what of the scene is drawn, labels, the camera and the theme."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from homodyn.studio.look import BODIES, LABELS
from homodyn.studio.panels.panel import Panel

CHECKS = (
    ("joints", "Joints"),
    ("capsules", "Capsules"),
    ("com", "Centre of mass"),
    ("support", "Support polygon"),
    ("forces", "Forces"),
    ("plates", "Plate forces too"),
    ("measured", "Measured markers"),
    ("model_markers", "Model markers"),
    ("errors", "Marker errors"),
    ("follow", "Follow the body"),
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
        look = self.studio.look
        self.body = self.gui.add_dropdown("Body", BODIES, initial_value=look.body)
        self.on_choice(self.body)(lambda word: self.studio.set_look(body=word))
        self.labels = self.gui.add_dropdown("Labels", LABELS, initial_value=look.labels)
        self.on_choice(self.labels)(lambda word: self.studio.set_look(labels=word))
        self.checks = {}
        for name, label in CHECKS:
            box = self.checks[name] = self.gui.add_checkbox(label, bool(getattr(look, name)))
            self.on_choice(box)(partial(self._check, name))
        self.sides = self.gui.add_button_group("Look from", tuple(SIDES))
        self.sides.on_click(self._look)

    def _check(self, name: str, on: bool) -> None:
        self.studio.set_look(**{name: on})

    def _look(self, event: Any) -> None:
        client = event.client
        if client is None:
            return
        middle = np.array([0.0, 0.0, 0.9])
        document = self.session.document
        if document.actor is not None and not self.studio.look.follow:
            poses, row = self.studio.stage.bodies[document.actor.name].at(self.session.clock.now)
            middle[:2] = poses.com[row][:2]
        with client.atomic():
            client.camera.position = middle + SIDES[event.target.value]
            client.camera.look_at = middle
