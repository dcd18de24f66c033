"""Nodes of measured markers, of model markers, and of the errors between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
import viser

from homodyn.capture import Trial
from homodyn.report.colors import ALERT_COLOR, SIDE_COLORS, Rgb, mix_colors, rgb_from_hex
from homodyn.studio.document import nearest_frame
from homodyn.studio.meshes import bead
from homodyn.studio.scene.body import BodyNodes
from homodyn.studio.scene.instances import InstancedMesh, LineSegments

MARKER_COLORS: dict[str, Rgb] = {
    "right": (214, 40, 34),
    "left": (24, 92, 214),
    "middle": (92, 98, 110),
}
"""Of measured markers, by side: stronger than the colors of the segments they are on."""
UNASSIGNED_COLOR: Rgb = (240, 190, 30)
"""Of measured markers that the active body does not have."""
BAD_FIT_COLOR: Rgb = rgb_from_hex(ALERT_COLOR)
"""Of measured markers with a large error."""
SELECTED_COLOR: Rgb = (40, 200, 90)
INACTIVE_COLOR: Rgb = (170, 174, 182)
"""Of markers of recordings that are not active."""
HIGHLIGHT_SCALE = 1.5
"""Relative size of selected, badly fitting and unassigned markers."""
MEASURED_RADIUS_M, MODEL_RADIUS_M = 0.014, 0.011
MODEL_MARKER_TINT = 0.5
"""Share of white in the colors of model markers."""
WHITE: Rgb = (255, 255, 255)

MarkerClicked = Callable[[str, str, bool], None]
"""Called with recording, marker, and whether it extends the selection."""


class TrialNodes:
    """The measured markers of one recording; missing markers are not drawn."""

    def __init__(
        self, scene: viser.SceneApi, root: str, trial: Trial, on_click: MarkerClicked
    ) -> None:
        self.trial = trial
        self._state: tuple[object, ...] | None = None
        self.balls = InstancedMesh(
            scene,
            f"{root}/{trial.name.replace('/', '_')}",
            bead(),
            np.full(len(trial.markers), MEASURED_RADIUS_M),
            np.tile(np.array(MARKER_COLORS["middle"], dtype=np.uint8), (len(trial.markers), 1)),
        )

        def handle(event: viser.SceneNodePointerEvent, extend: bool) -> None:
            if event.instance_index is not None:
                on_click(trial.name, trial.markers[event.instance_index], extend)

        self.balls.on_click(lambda event: handle(event, False))
        for keys in ("cmd/ctrl", "shift"):
            self.balls.on_click(lambda event: handle(event, True), modifier=keys)

    @cached_property
    def center(self) -> np.ndarray:
        """(3,), m: mean of all measured positions; the origin if there are none."""
        if not self.trial.seen.any():
            return np.zeros(3)
        return np.asarray(np.nanmean(self.trial.positions, axis=(0, 1)))

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Positions (markers, 3), m, and visibility (markers,) at an instant (s)."""
        row = nearest_frame(self.trial.time, time)
        return self.trial.positions[row], self.trial.seen[row]

    def set_states(
        self,
        assigned: frozenset[str],
        selected: frozenset[str],
        bad: frozenset[str],
        sides: Mapping[str, str],
        *,
        active: bool,
    ) -> None:
        """Color the markers by side, and highlight selected, unassigned and badly fitting ones.

        Args:
            assigned: Markers that the active body has.
            selected: Selected markers.
            bad: Markers with a large error.
            sides: Side of each marker.
            active: Whether this is the active recording; the markers of others are gray.
        """
        state = (assigned, selected, bad, tuple(sides.items()), active)
        if state == self._state:
            return
        self._state = state

        def color(name: str) -> Rgb:
            if not active:
                return INACTIVE_COLOR
            if name in selected:
                return SELECTED_COLOR
            if name not in assigned:
                return UNASSIGNED_COLOR
            return BAD_FIT_COLOR if name in bad else MARKER_COLORS[sides.get(name, "middle")]

        colors = [color(name) for name in self.trial.markers]
        self.balls.set_colors(np.array(colors, dtype=np.uint8).reshape(-1, 3))
        highlighted = np.array(
            [c in (SELECTED_COLOR, BAD_FIT_COLOR, UNASSIGNED_COLOR) for c in colors], dtype=bool
        )
        scale = np.where(highlighted, HIGHLIGHT_SCALE, 1.0)
        self.balls.scales = (MEASURED_RADIUS_M * scale).astype(np.float32)

    def draw(self, time: float, visible: bool) -> None:
        """Draw the markers at an instant (s)."""
        if self.trial.frames:
            positions, present = self.at(time)
            self.balls.place(positions, visible=visible, present=present)

    def remove(self) -> None:
        """Remove the node from the scene."""
        self.balls.remove()


class ModelMarkerNodes:
    """The markers of one body, and lines to the measured markers of the same name."""

    def __init__(self, scene: viser.SceneApi, body: BodyNodes) -> None:
        self.body = body
        sides = body.body_geometry.marker_sides
        tints = {
            side: mix_colors(rgb_from_hex(color), WHITE, MODEL_MARKER_TINT)
            for side, color in SIDE_COLORS.items()
        }
        self.balls = InstancedMesh(
            scene,
            f"{body.name}/markers",
            bead(),
            np.full(len(sides), MODEL_RADIUS_M),
            np.array([tints[side] for side in sides], dtype=np.uint8).reshape(-1, 3),
        )
        self.lines = LineSegments(scene, f"{body.name}/errors", BAD_FIT_COLOR, 2.5)
        self.errors: dict[str, float] = {}
        """Marker errors (m) of the last frame that was drawn, by name."""

    def draw(
        self,
        time: float,
        trial: TrialNodes | None,
        *,
        visible: bool,
        errors: bool,
        lines: bool,
    ) -> None:
        """Draw the markers at an instant (s); ``errors`` are computed, and drawn with ``lines``."""
        if not self.body.actor.shown:
            self.errors = {}
            return
        poses, row = self.body.at(time)
        positions = poses.markers[row]
        self.balls.place(positions, visible=visible)
        ends = np.zeros((0, 2, 3))
        self.errors = {}
        if errors and trial is not None and trial.trial.frames:
            names = self.body.body_geometry.marker_names
            measured, present = trial.at(time)
            index = {name: k for k, name in enumerate(trial.trial.markers)}
            pairs = [
                (k, index[name])
                for k, name in enumerate(names)
                if name in index and present[index[name]]
            ]
            if pairs:
                own, other = np.array(pairs).T
                ends = np.stack([positions[own], measured[other]], axis=1)
                distance = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
                self.errors = {names[k]: float(d) for k, d in zip(own, distance, strict=True)}
        self.lines.place(ends, visible=errors and lines)
