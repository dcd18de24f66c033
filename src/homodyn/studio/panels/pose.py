"""Pose: sliders of all coordinates; mirror, zero and random poses; pose files; a drag handle."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from viser import Icon

from homodyn.errors import HomodynError
from homodyn.foundation.markup import escape_markup
from homodyn.model import Model
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.panels.panel import Panel, assign, set_text
from homodyn.studio.pose_editing import (
    CoordinateSlider,
    load_pose,
    mirror_pose,
    random_pose,
    save_pose,
    sliders_by_limb,
    with_value,
    zero_pose,
)
from homodyn.studio.pose_handle import DragHandle
from homodyn.studio.session import SessionView

NO_TARGET = "(nothing)"
NOTHING_OPEN = "Open a body to pose it."
ANGLE_STEP_DEG, SLIDE_STEP_M = 0.1, 0.001


class PosePanel(Panel):
    """The pose of the active body."""

    title = "Pose"

    def build(self) -> None:
        """Create the controls."""
        self.state = MarkdownText(self.gui, NOTHING_OPEN)
        self.resume = self.gui.add_button("Resume motion", icon=Icon.PLAYER_PLAY, visible=False)
        self.presets = self.gui.add_button_group("Set", ("Mirror", "Zero", "Random"))
        self.target = self.gui.add_dropdown(
            "Drag target",
            (NO_TARGET,),
            hint="Shows a handle; the body follows by inverse kinematics",
        )
        self.root = self.gui.add_checkbox("Move root", False, hint="Otherwise the root stays fixed")
        self.save = self.gui.add_button("Save pose", icon=Icon.DOWNLOAD, color="gray")
        self.load = self.gui.add_upload_button("Load pose ...", icon=Icon.UPLOAD, color="gray")
        self.sliders: dict[str, Any] = {}
        """Slider controls by coordinate name."""
        self.folders: list[Any] = []
        self.coordinates: dict[str, CoordinateSlider] = {}
        self.model: Model | None = None
        self._shown: np.ndarray | None = None
        self._random = np.random.default_rng(0)
        self.handle = DragHandle(self.studio)
        self.on_click(self.resume)(self._resume)
        self.presets.on_click(
            lambda event: self.studio.attempt(lambda: self._set_preset(event.target.value))
        )
        self.on_choice(self.target)(self._attach)
        self.on_choice(self.root)(self.handle.set_root_free)
        self.save.on_click(lambda event: self.studio.attempt(lambda: self._save(event.client)))
        self.load.on_upload(
            lambda event: self.studio.attempt(lambda: self._load(event.target.value))
        )
        self.studio.on_segment.append(self._on_segment_click)
        self.studio.on_simulation_control.append(self.handle.detach)

    def refresh(self, view: SessionView) -> None:
        """Show the sliders of the active body."""
        actor = view.document.actor
        self.resume.visible = actor is not None and actor.posed
        if actor is None:
            self._create_sliders(None)
            set_text(self.state, NOTHING_OPEN)
            return
        if self.model is None or self.model != actor.model:
            self._create_sliders(actor.model)
            markers = [marker.name for marker in actor.model.markers]
            self.target.options = (NO_TARGET, *actor.model.body_names, *markers)
            assign(self.target, NO_TARGET)
            self.handle.detach()
        set_text(self.state, pose_sentence(actor))

    def tick(self, view: SessionView) -> None:
        """Show the coordinates of the current pose, except during playback."""
        actor = view.document.actor
        if actor is None:
            self.handle.detach()
            return
        self.handle.follow(actor, view.clock.now)
        if view.clock.playing and actor.moving:
            return
        q = actor.position(view.clock.now)
        if self._shown is not None and np.array_equal(q, self._shown):
            return
        self._shown = np.array(q)
        for name, slider in self.sliders.items():
            coordinate = self.coordinates[name]
            low, high = coordinate.range
            value = float(np.clip(q[coordinate.index] * coordinate.scale, low, high))
            assign(slider, round(value, 1 if coordinate.is_angle else 3))

    def _create_sliders(self, model: Model | None) -> None:
        if model is not None and self.model is not None and _same_sliders(model, self.model):
            self.model = model
            return
        for folder in self.folders:
            folder.remove()
        self.folders, self.sliders, self.coordinates = [], {}, {}
        self.model, self._shown = model, None
        if model is None:
            return
        for group, members in sliders_by_limb(model).items():
            with self.container:
                folder = self.gui.add_folder(group, expand_by_default=False)
            self.folders.append(folder)
            with folder:
                for coordinate in members:
                    self._create_slider(coordinate)

    def _create_slider(self, coordinate: CoordinateSlider) -> None:
        step = ANGLE_STEP_DEG if coordinate.is_angle else SLIDE_STEP_M
        low, high = (round(x, 1) for x in coordinate.range)
        slider = self.gui.add_slider(
            coordinate.title,
            min=low,
            max=max(high, low + step),
            step=step,
            initial_value=float(np.clip(0.0, low, high)),
            hint=slider_hint(coordinate),
        )
        self.sliders[coordinate.name] = slider
        self.coordinates[coordinate.name] = coordinate
        self.on_choice(slider)(partial(self._on_slider, coordinate))

    def _on_slider(self, coordinate: CoordinateSlider, shown: float) -> None:
        value = float(np.clip(shown / coordinate.scale, coordinate.lower, coordinate.upper))
        self._change_pose(
            f"set {coordinate.title}",
            lambda model, q: with_value(q, coordinate, value),
            merge=True,
        )

    def _set_preset(self, preset: str) -> None:
        functions: dict[str, Callable[[Model, np.ndarray], np.ndarray]] = {
            "Mirror": mirror_pose,
            "Zero": zero_pose,
            "Random": lambda model, q: random_pose(model, q, self._random),
        }
        self._change_pose(f"{preset.lower()} pose", functions[preset])

    def _change_pose(
        self,
        label: str,
        function: Callable[[Model, np.ndarray], np.ndarray],
        *,
        merge: bool = False,
    ) -> None:
        """Replace the pose of the active body by a function of model and pose, and pause."""
        now = self.session.clock.now

        def change(document: StudioDocument) -> StudioDocument:
            actor = document.actor
            if actor is None:
                raise HomodynError("no body is open to pose; add one under Open")
            pose = function(actor.model, actor.position(now))
            return document.with_active(actor.with_pose(pose))

        self.session.change(label, change, merge=merge)
        self.session.update_clock(lambda clock: clock.pause() if clock.playing else clock)

    def _resume(self) -> None:
        def change(document: StudioDocument) -> StudioDocument:
            actor = document.actor
            return document if actor is None else document.with_active(actor.resume_motion())

        self.session.change("resume motion", change)

    def _attach(self, name: str) -> None:
        actor = self.session.document.actor
        if name == NO_TARGET or actor is None:
            self.handle.detach()
        else:
            self.handle.attach(actor, name, self.session.clock.now)

    def _on_segment_click(self, body: str, segment: str) -> None:
        if self.studio.view_options.selected_markers:
            # While markers are selected, a click chooses the segment for them.
            return
        document = self.session.document
        if document.actor is None or document.actor.name != body:
            self.session.change(f"activate {body}", lambda d: d.activate(body))
            self.studio.wait_until_drawn()
        assign(self.target, segment)
        self._attach(segment)

    def _save(self, client: Any) -> None:
        actor = self.session.document.actor
        if actor is None:
            raise HomodynError("no body is open whose pose could be saved; add one under Open")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pose.csv"
            save_pose(actor.model, actor.position(self.session.clock.now), path)
            content = path.read_bytes()
        if client is not None:
            client.send_file_download("pose.csv", content, save_immediately=True)

    def _load(self, file: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / Path(file.name).name
            path.write_bytes(file.content)
            try:
                self._change_pose(f"load {file.name}", lambda model, q: load_pose(model, path))
            except HomodynError as error:
                raise HomodynError(str(error).replace(f"{folder}/", "")) from error


def pose_sentence(actor: Actor) -> str:
    """What the sliders do, in Markdown."""
    if actor.posed:
        return f"**{escape_markup(actor.name)}** is fixed in this pose."
    if actor.motion is not None:
        return f"**{escape_markup(actor.name)}** shows its motion; moving a slider fixes a pose."
    return f"**{escape_markup(actor.name)}**: click a segment to drag it, or move a slider."


def slider_hint(coordinate: CoordinateSlider) -> str:
    """Unit and coordinate of a slider, with its sign in the model."""
    unit = "degrees" if coordinate.is_angle else "meters"
    sign = "−" if coordinate.sign < 0 else ""
    return f"{sign}{coordinate.name}, {unit}"


def _same_sliders(one: Model, other: Model) -> bool:
    """Whether two models have the same coordinates with the same ranges."""
    return sliders_by_limb(one) == sliders_by_limb(other)
