"""The stage keeps the nodes of the scene in step with the session."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import viser

from homodyn.capture import Trial
from homodyn.model.side import side_of
from homodyn.report.colors import SIDE_COLORS, Rgb, rgb_from_hex
from homodyn.report.posed_geometry import marker_sides
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.force_arrows import ForceArrows, contact_arrows, plate_arrows, weight_of
from homodyn.studio.playback_clock import PlaybackClock
from homodyn.studio.scene.body import BodyNodes, Ray, distance_to_ray
from homodyn.studio.scene.ground import Ground
from homodyn.studio.scene.instances import Arrows
from homodyn.studio.scene.labels import Labels
from homodyn.studio.scene.markers import MarkerClicked, ModelMarkerNodes, TrialNodes
from homodyn.studio.view_options import ViewOptions

ROOT = "/scene"
"""Root of all nodes: to follow a body, this node moves and not the camera."""
FORCE_COLORS: dict[str, Rgb] = {
    "right": rgb_from_hex(SIDE_COLORS["right"]),
    "left": rgb_from_hex(SIDE_COLORS["left"]),
    "middle": (40, 150, 90),
}
"""Of forces on bodies, by side."""
PLATE_COLOR: Rgb = (232, 152, 24)
"""Of forces that plates measured."""
MAX_AIM_DISTANCE_M = 0.025
"""Distance (m) from a ray within which a marker behind a see-through segment is clicked."""

SegmentClicked = Callable[[str, str], None]
"""Called with the name of a body and of its segment."""


class SceneStage:
    """All nodes of the scene. Only one thread may use it at a time."""

    def __init__(
        self,
        server: viser.ViserServer,
        segment_clicked: SegmentClicked,
        marker_clicked: MarkerClicked,
    ) -> None:
        self._server = server
        self._scene = server.scene
        # Shadows, reflections and more lights reduce the frame rate without a graphics card.
        self._scene.configure_default_lights(enabled=False, cast_shadow=False)
        self._scene.configure_environment_map(None)
        self._scene.add_light_directional(
            "/sun", intensity=3.0, cast_shadow=False, position=(-0.2, 0.2, 1.0)
        )
        self._scene.add_light_hemisphere(
            "/light", sky_color=(255, 255, 255), ground_color=(150, 150, 160), intensity=2.2
        )
        self._segment_clicked = segment_clicked
        self._marker_clicked = marker_clicked
        self.root = self._scene.add_frame(ROOT, show_axes=False)
        self._ground = Ground(self._scene, ROOT)
        self._labels = Labels(self._scene, f"{ROOT}/labels")
        self._selected_labels = Labels(self._scene, f"{ROOT}/selected")
        self._forces = Arrows(self._scene, f"{ROOT}/forces", FORCE_COLORS["middle"])
        self._plates = Arrows(self._scene, f"{ROOT}/plate forces", PLATE_COLOR)
        self.bodies: dict[str, BodyNodes] = {}
        self._markers: dict[str, ModelMarkerNodes] = {}
        self._trials: dict[str, TrialNodes] = {}
        self._document = StudioDocument()
        self._assigned: frozenset[str] = frozenset()
        self._marker_sides: dict[str, str] = {}
        self._last = (0.0, ViewOptions())
        """Instant (s) and options of the last frame."""

    def show(self, document: StudioDocument) -> None:
        """Create, keep and remove nodes to match a document."""
        actor, trial = document.actor, document.trial
        with self._server.atomic():
            self._update_bodies(document)
            self._update_trials(document.trials)
            self._assigned = (
                frozenset()
                if actor is None
                else frozenset(marker.name for marker in actor.model.markers)
            )
            labels = () if trial is None else trial.markers
            self._marker_sides = (
                {name: str(side_of(name) or "middle") for name in labels}
                if actor is None
                else marker_sides(actor.model, labels)
            )
            self._ground.outline_plates(document.trials)
            self._document = document

    def draw(self, clock: PlaybackClock, options: ViewOptions) -> None:
        """Draw the scene at the instant of the clock."""
        document, time = self._document, clock.now
        self._last = (time, options)
        trial = None if document.trial is None else self._trials[document.trial.name]
        with self._server.atomic():
            for k, actor in enumerate(document.actors):
                offset = self.offset(k, options)
                self.bodies[actor.name].draw(time, options, offset)
                self._markers[actor.name].draw(
                    time,
                    trial,
                    visible=options.model_markers,
                    errors=k == document.active and not np.any(offset),
                    lines=options.marker_errors,
                )
            bad = frozenset(
                name for name, error in self.errors.items() if error > options.error_threshold
            )
            for nodes in self._trials.values():
                nodes.set_states(
                    self._assigned,
                    options.selected_markers,
                    bad,
                    self._marker_sides,
                    active=nodes is trial,
                )
                nodes.draw(time, options.measured_markers)
            self._draw_forces(time, options)
            self._draw_labels(time, options)
            self._draw_selected_labels(time, options)
            self._follow(time, options)

    @property
    def errors(self) -> dict[str, float]:
        """Marker errors (m) of the active body in the last frame that was drawn, by name."""
        actor = self._document.actor
        return {} if actor is None else self._markers[actor.name].errors

    def visible_markers(self, time: float) -> tuple[tuple[str, ...], np.ndarray]:
        """Names and scene positions (n, 3), m, of the active recording's markers at an instant (s).

        Scene positions include the shift of the view that follows a body.
        """
        trial = self._document.trial
        if trial is None or not trial.frames:
            return (), np.zeros((0, 3))
        positions, present = self._trials[trial.name].at(time)
        names = tuple(name for name, there in zip(trial.markers, present, strict=True) if there)
        return names, positions[present] + np.asarray(self.root.position)

    def offset(self, index: int, options: ViewOptions) -> np.ndarray:
        """(3,), m: displacement of a body from its true position; zero for the active body."""
        return np.array([0.0, options.body_spacing * (index - self._document.active), 0.0])

    def _on_hit(self, body: str, segment: str | None, ray: Ray, modified: bool) -> None:
        """Handle a click on a segment: on itself, or on a marker that is visible through it."""
        time, options = self._last
        trial = self._document.trial
        if trial is not None and options.body == "see-through" and options.measured_markers:
            names, positions = self.visible_markers(time)
            if len(names):
                distances = distance_to_ray(positions, ray)
                nearest = int(np.argmin(distances))
                if distances[nearest] < MAX_AIM_DISTANCE_M:
                    self._marker_clicked(trial.name, names[nearest], modified)
                    return
        if modified:
            return
        if segment is None:
            nodes = self.bodies[body]
            shift = np.asarray(self.root.position) + np.asarray(nodes.frame.position)
            segment = nodes.nearest_segment(time, (ray[0] - shift, ray[1]))
        self._segment_clicked(body, segment)

    def _update_bodies(self, document: StudioDocument) -> None:
        current: dict[str, BodyNodes] = {}
        for actor in document.actors:
            nodes = self.bodies.pop(actor.name, None)
            if nodes is not None and not same_drawing(nodes.actor, actor):
                nodes.remove()
                nodes = None
            if nodes is None:
                nodes = BodyNodes(self._scene, ROOT, actor, self._on_hit)
                self._markers[actor.name] = ModelMarkerNodes(self._scene, nodes)
            nodes.actor = actor
            current[actor.name] = nodes
        for nodes in self.bodies.values():
            nodes.remove()
        self.bodies = current
        self._markers = {name: self._markers[name] for name in current}

    def _update_trials(self, trials: tuple[Trial, ...]) -> None:
        current: dict[str, TrialNodes] = {}
        for trial in trials:
            nodes = self._trials.pop(trial.name, None)
            if nodes is not None and nodes.trial is not trial:
                nodes.remove()
                nodes = None
            current[trial.name] = nodes or TrialNodes(
                self._scene, f"{ROOT}/recorded", trial, self._marker_clicked
            )
        for nodes in self._trials.values():
            nodes.remove()
        self._trials = current

    def _draw_forces(self, time: float, options: ViewOptions) -> None:
        """Forces on the bodies; forces of plates if the others are unknown, or on request."""
        document = self._document
        shown = [(k, actor) for k, actor in enumerate(document.actors) if actor.shown]
        contacts, plates = [], []
        if options.forces:
            for k, actor in shown:
                geometry = self.bodies[actor.name].body_geometry
                arrows = contact_arrows(actor, geometry, time)
                contacts.append(ForceArrows(arrows.ends + self.offset(k, options), arrows.sides))
            if options.plate_forces or not any(actor.loads is not None for _, actor in shown):
                weight = weight_of(document.actor)
                plates = [plate_arrows(trial.plates, time, weight) for trial in document.trials]
        none = np.zeros((0, 2, 3))
        colors = [FORCE_COLORS[side] for arrows in contacts for side in arrows.sides]
        self._forces.place(
            np.concatenate([none, *(arrows.ends for arrows in contacts)]),
            np.array(colors, dtype=np.uint8).reshape(-1, 3),
        )
        self._plates.place(np.concatenate([none, *(arrows.ends for arrows in plates)]))

    def _draw_labels(self, time: float, options: ViewOptions) -> None:
        names: tuple[str, ...] = ()
        positions = np.zeros((0, 3))
        visible = np.zeros(0, dtype=bool)
        actor = self._document.actor
        trial = self._document.trial
        if options.labels == "markers" and trial is not None and trial.frames:
            names = trial.markers
            positions, visible = self._trials[trial.name].at(time)
        elif options.labels != "none" and actor is not None:
            nodes = self.bodies[actor.name]
            poses, row = nodes.at(time)
            names, positions = {
                "markers": (nodes.body_geometry.marker_names, poses.markers[row]),
                "segments": (nodes.body_geometry.bodies, poses.centers(row)),
                "joints": (nodes.body_geometry.joint_names, poses.joints[row]),
            }[options.labels]
            visible = np.ones(len(names), dtype=bool)
        self._labels.place(names, positions, visible)

    def _draw_selected_labels(self, time: float, options: ViewOptions) -> None:
        """Names of the selected markers, also of those that the body covers."""
        trial = self._document.trial
        names: tuple[str, ...] = ()
        positions, visible = np.zeros((0, 3)), np.zeros(0, dtype=bool)
        if trial is not None and trial.frames and options.labels != "markers":
            rows = [k for k, name in enumerate(trial.markers) if name in options.selected_markers]
            names = tuple(trial.markers[k] for k in rows)
            positions, visible = (part[rows] for part in self._trials[trial.name].at(time))
        self._selected_labels.place(names, positions, visible & options.measured_markers)

    def _follow(self, time: float, options: ViewOptions) -> None:
        document = self._document
        center = np.zeros(3)
        if document.actor is not None:
            poses, row = self.bodies[document.actor.name].at(time)
            center[:2] = poses.com[row][:2]
        elif document.trial is not None:
            center[:2] = self._trials[document.trial.name].center[:2]
        self._ground.center_at(center)
        position = -center if options.follow else np.zeros(3)
        if not np.array_equal(position, np.asarray(self.root.position)):
            self.root.position = position


def same_drawing(one: Actor, other: Actor) -> bool:
    """Whether the nodes of one body can be used for another."""
    return one.model == other.model and one.motion is other.motion and one.color == other.color
