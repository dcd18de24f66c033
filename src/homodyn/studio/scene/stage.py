"""The stage keeps the nodes of viser in step with a session: what is open, and the instant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import viser

from homodyn.capture import Trial
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.force_arrows import contact_arrows, plate_arrows, weight_of
from homodyn.studio.playback_clock import PlaybackClock
from homodyn.studio.scene.body import BodyNodes, Ray
from homodyn.studio.scene.ground import Ground
from homodyn.studio.scene.instances import Arrows
from homodyn.studio.scene.labels import Labels
from homodyn.studio.scene.markers import MarkerClicked, ModelMarkerNodes, TrialNodes
from homodyn.studio.view_options import ViewOptions

ROOT = "/scene"
"""Everything hangs here: following a body moves this node, and no camera."""
FORCE = (40, 150, 90)
PLATE = (232, 112, 24)
"""Colour of what plates measured, where forces on feet are known besides."""
MAX_AIM_DISTANCE_M = 0.025
"""Distance (m) from a ray at which a marker behind a see-through segment is meant."""

SegmentClicked = Callable[[str, str], None]
"""Told the name of a body of the scene and of its segment."""


class SceneStage:
    """All nodes of the scene. Only one thread may call it."""

    def __init__(
        self,
        server: viser.ViserServer,
        segment_clicked: SegmentClicked,
        marker_clicked: MarkerClicked,
    ) -> None:
        self._server = server
        self._scene = server.scene
        # Shadows, reflections and more lights cost a machine without a graphics card its frames.
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
        self._chosen = Labels(self._scene, f"{ROOT}/chosen")
        self._forces = Arrows(self._scene, f"{ROOT}/forces", FORCE)
        self._plates = Arrows(self._scene, f"{ROOT}/plate forces", PLATE)
        self.bodies: dict[str, BodyNodes] = {}
        self._markers: dict[str, ModelMarkerNodes] = {}
        self._trials: dict[str, TrialNodes] = {}
        self._document = StudioDocument()
        self._known: frozenset[str] = frozenset()
        self._drawn = (0.0, ViewOptions())

    def show(self, document: StudioDocument) -> None:
        """Make nodes for what came, remove those of what went, keep the others."""
        with self._server.atomic():
            self._keep_bodies(document)
            self._keep_trials(document.trials)
            self._known = (
                frozenset()
                if document.actor is None
                else frozenset(marker.name for marker in document.actor.model.markers)
            )
            self._ground.outline(document.trials)
            self._document = document

    def draw(self, clock: PlaybackClock, options: ViewOptions) -> None:
        """Show the scene at the instant of the clock."""
        document, time = self._document, clock.now
        self._drawn = (time, options)
        trial = None if document.trial is None else self._trials[document.trial.name]
        with self._server.atomic():
            self._ground.paint(options.dark)
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
                nodes.tell_apart(self._known, options.selected_markers, bad, nodes is not trial)
                nodes.draw(time, options.measured_markers)
            contacts, plates = self._arrows(time, options)
            self._forces.place(contacts, visible=options.forces)
            self._plates.place(plates, visible=options.forces)
            self._label(time, options)
            self._follow(time, options)

    @property
    def errors(self) -> dict[str, float]:
        """Distance (m) of each marker of the active body from the measured one, as drawn last."""
        actor = self._document.actor
        return {} if actor is None else self._markers[actor.name].errors

    def visible_markers(self, time: float) -> tuple[tuple[str, ...], np.ndarray]:
        """Markers of the recording that is worked on, seen at an instant (s): names and places.

        Places (n, 3), m, are those of the picture, which may be moved to follow a body.
        """
        trial = self._document.trial
        if trial is None or not trial.frames:
            return (), np.zeros((0, 3))
        places, seen = self._trials[trial.name].at(time)
        names = tuple(name for name, there in zip(trial.markers, seen, strict=True) if there)
        return names, places[seen] + np.asarray(self.root.position)

    def offset(self, place: int, options: ViewOptions) -> np.ndarray:
        """How far (m) a body stands from where it was measured; the active one stays."""
        return np.array([0.0, options.body_spacing * (place - self._document.active), 0.0])

    def _hit(self, body: str, segment: str, ray: Ray, held: bool) -> None:
        """A segment was clicked: itself is meant, or a marker that is seen through it."""
        time, options = self._drawn
        trial = self._document.trial
        if trial is not None and options.body == "see-through" and options.measured_markers:
            names, places = self.visible_markers(time)
            if len(names):
                away = distance_to_ray(places, ray)
                nearest_one = int(np.argmin(away))
                if away[nearest_one] < MAX_AIM_DISTANCE_M:
                    self._marker_clicked(trial.name, names[nearest_one], held)
                    return
        if not held:
            self._segment_clicked(body, segment)

    def _keep_bodies(self, document: StudioDocument) -> None:
        kept: dict[str, BodyNodes] = {}
        for actor in document.actors:
            nodes = self.bodies.pop(actor.name, None)
            if nodes is not None and not same_drawing(nodes.actor, actor):
                nodes.remove()
                nodes = None
            if nodes is None:
                nodes = BodyNodes(self._scene, ROOT, actor, self._hit)
                self._markers[actor.name] = ModelMarkerNodes(self._scene, nodes)
            nodes.actor = actor
            kept[actor.name] = nodes
        for nodes in self.bodies.values():
            nodes.remove()
        self.bodies = kept
        self._markers = {name: self._markers[name] for name in kept}

    def _keep_trials(self, trials: tuple[Trial, ...]) -> None:
        kept: dict[str, TrialNodes] = {}
        for trial in trials:
            nodes = self._trials.pop(trial.name, None)
            if nodes is not None and nodes.trial is not trial:
                nodes.remove()
                nodes = None
            kept[trial.name] = nodes or TrialNodes(
                self._scene, f"{ROOT}/recorded", trial, self._marker_clicked
            )
        for nodes in self._trials.values():
            nodes.remove()
        self._trials = kept

    def _arrows(self, time: float, options: ViewOptions) -> tuple[np.ndarray, np.ndarray]:
        """Of the ground on the bodies, and of the plates where those are not known or asked for."""
        none = np.zeros((0, 2, 3))
        if not options.forces:
            return none, none
        document = self._document
        shown = [(k, actor) for k, actor in enumerate(document.actors) if actor.shown]
        contacts = [
            contact_arrows(actor, self.bodies[actor.name].body_geometry, time)
            + self.offset(k, options)
            for k, actor in shown
        ]
        plates = []
        if options.plate_forces or not any(actor.loads is not None for _, actor in shown):
            weight = weight_of(document.actor)
            plates = [plate_arrows(trial.plates, time, weight) for trial in document.trials]
        return np.concatenate([none, *contacts]), np.concatenate([none, *plates])

    def _label(self, time: float, options: ViewOptions) -> None:
        names: tuple[str, ...] = ()
        places = np.zeros((0, 3))
        seen = np.zeros(0, dtype=bool)
        actor = self._document.actor
        trial = self._document.trial
        if options.labels == "markers" and trial is not None and trial.frames:
            names = trial.markers
            places, seen = self._trials[trial.name].at(time)
        elif options.labels != "none" and actor is not None:
            nodes = self.bodies[actor.name]
            poses, row = nodes.at(time)
            names, places = {
                "markers": (nodes.body_geometry.marker_names, poses.markers[row]),
                "segments": (nodes.body_geometry.bodies, poses.middles(row)),
                "joints": (nodes.body_geometry.joint_names, poses.joints[row]),
            }[options.labels]
            seen = np.ones(len(names), dtype=bool)
        self._labels.place(names, places, seen)
        self._label_chosen(time, options)

    def _label_chosen(self, time: float, options: ViewOptions) -> None:
        """Markers that are worked on are named, also where the body hides them."""
        trial = self._document.trial
        names: tuple[str, ...] = ()
        places, seen = np.zeros((0, 3)), np.zeros(0, dtype=bool)
        if trial is not None and trial.frames and options.labels != "markers":
            rows = [k for k, name in enumerate(trial.markers) if name in options.selected_markers]
            names = tuple(trial.markers[k] for k in rows)
            places, seen = (part[rows] for part in self._trials[trial.name].at(time))
        self._chosen.place(names, places, seen & options.measured_markers)

    def _follow(self, time: float, options: ViewOptions) -> None:
        document = self._document
        middle = np.zeros(3)
        if document.actor is not None:
            poses, row = self.bodies[document.actor.name].at(time)
            middle[:2] = poses.com[row][:2]
        elif document.trial is not None:
            middle[:2] = self._trials[document.trial.name].middle[:2]
        self._ground.lie_under(middle)
        place = -middle if options.follow else np.zeros(3)
        if not np.array_equal(place, np.asarray(self.root.position)):
            self.root.position = place


def distance_to_ray(points: np.ndarray, ray: Ray) -> np.ndarray:
    """(n,), m: how far points (n, 3) are from a ray; infinite behind where it begins."""
    origin, direction = ray
    unit = direction / np.linalg.norm(direction)
    along = (points - origin) @ unit
    away = np.linalg.norm(points - origin - np.outer(along, unit), axis=1)
    return np.where(along > 0, away, np.inf)


def same_drawing(one: Actor, other: Actor) -> bool:
    """Whether the nodes of one body can go on as those of another."""
    return one.model == other.model and one.motion is other.motion and one.color == other.color
