"""Markers: those that cameras saw, those of the models, and lines between what should be one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import viser

from homodyn.capture import Trial
from homodyn.studio.document import nearest
from homodyn.studio.scene.body import BodyNodes
from homodyn.studio.scene.many import Lines, Many
from homodyn.studio.shapes import ball

MEASURED = (225, 60, 60)
UNASSIGNED = (240, 190, 30)
"""Colour of measured markers that the active body has no marker for."""
ERROR = (225, 60, 60)
MEASURED_RADIUS = 0.014
MODEL_RADIUS = 0.011

MarkerClicked = Callable[[str, str], None]
"""Told the name of a recording and of its marker."""


class TrialNodes:
    """The measured markers of one recording; those nobody saw at a frame are not drawn."""

    def __init__(
        self, scene: viser.SceneApi, root: str, trial: Trial, clicked: MarkerClicked
    ) -> None:
        self.trial = trial
        self.known: frozenset[str] | None = None
        self.balls = Many(
            scene,
            f"{root}/{trial.name.replace('/', '_')}",
            ball(6, 12),
            np.full(len(trial.markers), MEASURED_RADIUS),
            np.tile(np.array(MEASURED, dtype=np.uint8), (len(trial.markers), 1)),
        )

        def tell(event: viser.SceneNodePointerEvent) -> None:
            if event.instance_index is not None:
                clicked(trial.name, trial.markers[event.instance_index])

        self.balls.on_click(tell)

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Places (markers, 3), m, and which are seen, at an instant (s)."""
        row = nearest(self.trial.time, time)
        return self.trial.positions[row], self.trial.seen[row]

    def tell_apart(self, known: frozenset[str]) -> None:
        """Colour the markers by whether the active body knows them."""
        if known == self.known:
            return
        self.known = known
        self.balls.colour(
            np.array(
                [MEASURED if name in known else UNASSIGNED for name in self.trial.markers],
                dtype=np.uint8,
            ).reshape(-1, 3)
        )

    def draw(self, time: float, visible: bool) -> None:
        """Show them at an instant (s)."""
        if self.trial.frames:
            places, seen = self.at(time)
            self.balls.place(places, visible=visible, seen=seen)

    def remove(self) -> None:
        """Take them out of the scene."""
        self.balls.remove()


class ModelMarkerNodes:
    """The markers of one body, and lines to the measured ones of the same name."""

    def __init__(self, scene: viser.SceneApi, body: BodyNodes) -> None:
        self.body = body
        names = body.figure.marker_names
        self.balls = Many(
            scene,
            f"{body.name}/markers",
            ball(6, 12),
            np.full(len(names), MODEL_RADIUS),
            body.actor.colour,
        )
        self.lines = Lines(scene, f"{body.name}/errors", ERROR, 2.5)

    def draw(self, time: float, trial: TrialNodes | None, visible: bool, errors: bool) -> None:
        """Show them at an instant (s)."""
        if not self.body.actor.shown:
            return
        poses, row = self.body.at(time)
        places = poses.markers[row]
        self.balls.place(places, visible=visible)
        ends = np.zeros((0, 2, 3))
        if errors and trial is not None and trial.trial.frames:
            names = self.body.figure.marker_names
            measured, seen = trial.at(time)
            order = {name: k for k, name in enumerate(trial.trial.markers)}
            pairs = [
                (k, order[name])
                for k, name in enumerate(names)
                if name in order and seen[order[name]]
            ]
            if pairs:
                ours, theirs = np.array(pairs).T
                ends = np.stack([places[ours], measured[theirs]], axis=1)
        self.lines.place(ends, visible=errors)
