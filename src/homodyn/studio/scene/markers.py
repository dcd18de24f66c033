"""Markers: those that cameras saw, those of the models, and lines between what should be one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import viser

from homodyn.capture import Trial
from homodyn.studio.document import nearest_frame
from homodyn.studio.meshes import bead
from homodyn.studio.scene.body import BodyNodes
from homodyn.studio.scene.instances import InstancedMesh, LineSegments

MEASURED_COLOR = (225, 60, 60)
UNASSIGNED_COLOR = (240, 190, 30)
"""Colour of measured markers that the active body has no marker for."""
BAD_FIT_COLOR = (190, 30, 200)
"""Colour of those that are far from where the active body has them."""
SELECTED_COLOR = (30, 200, 230)
"""Colour of those that are worked on."""
IDLE = (190, 160, 160)
"""Colour of those of other recordings than the one that is worked on."""
STANDS_OUT = 1.5
"""How much larger chosen markers, bad ones and those without a segment are."""
ERROR = (225, 60, 60)
MEASURED_RADIUS = 0.014
MODEL_RADIUS = 0.011

MarkerClicked = Callable[[str, str, bool], None]
"""Told the name of a recording, of its marker, and whether it joins those that are chosen."""


class TrialNodes:
    """The measured markers of one recording; those nobody saw at a frame are not drawn."""

    def __init__(
        self, scene: viser.SceneApi, root: str, trial: Trial, clicked: MarkerClicked
    ) -> None:
        self.trial = trial
        self._painted: tuple[object, ...] | None = None
        self.balls = InstancedMesh(
            scene,
            f"{root}/{trial.name.replace('/', '_')}",
            bead(),
            np.full(len(trial.markers), MEASURED_RADIUS),
            np.tile(np.array(MEASURED_COLOR, dtype=np.uint8), (len(trial.markers), 1)),
        )

        def tell(event: viser.SceneNodePointerEvent, more: bool) -> None:
            if event.instance_index is not None:
                clicked(trial.name, trial.markers[event.instance_index], more)

        self.balls.on_click(lambda event: tell(event, False))
        for keys in ("cmd/ctrl", "shift"):
            self.balls.on_click(lambda event: tell(event, True), modifier=keys)

    @cached_property
    def middle(self) -> np.ndarray:
        """(3,), m: of all that was seen; the origin where nothing was."""
        if not self.trial.seen.any():
            return np.zeros(3)
        return np.asarray(np.nanmean(self.trial.positions, axis=(0, 1)))

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Places (markers, 3), m, and which are seen, at an instant (s)."""
        row = nearest_frame(self.trial.time, time)
        return self.trial.positions[row], self.trial.seen[row]

    def tell_apart(
        self, known: frozenset[str], chosen: frozenset[str], bad: frozenset[str], idle: bool
    ) -> None:
        """Colour the markers: those that are chosen, bad, or unknown to the active body stand out.

        With ``idle`` another recording is worked on.
        """
        if (state := (known, chosen, bad, idle)) == self._painted:
            return
        self._painted = state
        names = self.trial.markers

        def color(name: str) -> tuple[int, int, int]:
            if idle:
                return IDLE
            if name in chosen:
                return SELECTED_COLOR
            if name not in known:
                return UNASSIGNED_COLOR
            return BAD_FIT_COLOR if name in bad else MEASURED_COLOR

        colors = [color(name) for name in names]
        self.balls.color(np.array(colors, dtype=np.uint8).reshape(-1, 3))
        large = np.array(
            [c in (SELECTED_COLOR, BAD_FIT_COLOR, UNASSIGNED_COLOR) for c in colors], dtype=bool
        )
        self.balls.scales = (MEASURED_RADIUS * np.where(large, STANDS_OUT, 1.0)).astype(np.float32)

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
        names = body.body_geometry.marker_names
        self.balls = InstancedMesh(
            scene,
            f"{body.name}/markers",
            bead(),
            np.full(len(names), MODEL_RADIUS),
            body.actor.color,
        )
        self.lines = LineSegments(scene, f"{body.name}/errors", ERROR, 2.5)
        self.errors: dict[str, float] = {}
        """Distance (m) of each marker from the measured one, as it was drawn last."""

    def draw(
        self,
        time: float,
        trial: TrialNodes | None,
        *,
        visible: bool,
        errors: bool,
        lines: bool,
    ) -> None:
        """Show them at an instant (s); ``errors`` are measured, and drawn with ``lines``."""
        if not self.body.actor.shown:
            self.errors = {}
            return
        poses, row = self.body.at(time)
        places = poses.markers[row]
        self.balls.place(places, visible=visible)
        ends = np.zeros((0, 2, 3))
        self.errors = {}
        if errors and trial is not None and trial.trial.frames:
            names = self.body.body_geometry.marker_names
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
                distance = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
                self.errors = {names[k]: float(d) for k, d in zip(ours, distance, strict=True)}
        self.lines.place(ends, visible=errors and lines)
