"""Pose: a slider for each coordinate, mirror, zero, random, files, and a handle to pull at."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from viser import Icon

from homodyn.errors import HomodynError
from homodyn.model import Model
from homodyn.motion.clinical import CoordinateName, clinical_names
from homodyn.studio.document import StudioDocument
from homodyn.studio.panels.panel import Panel, assign
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


class PosePanel(Panel):
    """The pose of the active body."""

    title = "Pose"

    def build(self) -> None:
        """Make the controls."""
        self.state = self.gui.add_markdown("Open a body to pose it.")
        self.release = self.gui.add_button("Resume motion", icon=Icon.PLAYER_PLAY, visible=False)
        self.ways = self.gui.add_button_group("Set", ("Mirror", "Zero", "Random"))
        self.pull = self.gui.add_dropdown(
            "Drag target",
            (NO_TARGET,),
            hint="Shows a handle; the body follows by inverse kinematics",
        )
        self.root = self.gui.add_checkbox("Move root", False, hint="Otherwise the root stays fixed")
        self.save = self.gui.add_button("Save pose", icon=Icon.DOWNLOAD, color="gray")
        self.load = self.gui.add_upload_button("Load pose ...", icon=Icon.UPLOAD, color="gray")
        self.sliders: dict[str, Any] = {}
        self.folders: list[Any] = []
        self.slots: dict[str, CoordinateSlider] = {}
        self.model: Model | None = None
        self._readings: dict[str, CoordinateName] = {}
        self._shown: np.ndarray | None = None
        self._random = np.random.default_rng(0)
        self.handle = DragHandle(self.studio)
        self.on_click(self.release)(
            lambda: self._change(
                "back to the motion", lambda d: d.with_active(d.actor.resume_motion())
            )
        )
        self.ways.on_click(lambda event: self.studio.attempt(lambda: self._set(event.target.value)))
        self.on_choice(self.pull)(self._pull)
        self.on_choice(self.root)(self.handle.carry_root)
        self.save.on_click(lambda event: self.studio.attempt(lambda: self._save(event.client)))
        self.load.on_upload(
            lambda event: self.studio.attempt(lambda: self._load(event.target.value))
        )
        self.studio.on_segment.append(self._on_segment_click)
        self.studio.on_simulation_control.append(self.handle.drop)

    def refresh(self, view: SessionView) -> None:
        """Bring the sliders to the active body."""
        actor = view.document.actor
        self.release.visible = actor is not None and actor.posed
        if actor is None:
            self._make_sliders(None)
            self.state.content = "Open a body to pose it."
            return
        if self.model is None or self.model != actor.model:
            self._make_sliders(actor.model)
            markers = [marker.name for marker in actor.model.markers]
            self.pull.options = (NO_TARGET, *actor.model.body_names, *markers)
            assign(self.pull, NO_TARGET)
            self.handle.drop()
        self.state.content = (
            f"**{actor.name}** is fixed in this pose."
            if actor.posed
            else f"**{actor.name}** in motion: moving a slider fixes a pose."
            if actor.motion is not None
            else f"**{actor.name}**: click a segment to drag it, or move a slider."
        )

    def tick(self, view: SessionView) -> None:
        """Show the coordinates of the pose that is drawn, unless it moves too fast to read."""
        actor = view.document.actor
        if actor is None:
            self.handle.drop()
            return
        self.handle.follow(actor, view.clock.now)
        if view.clock.playing and actor.moving:
            return
        q = actor.position(view.clock.now)
        if self._shown is not None and np.array_equal(q, self._shown):
            return
        self._shown = np.array(q)
        for name, slider in self.sliders.items():
            slot = self.slots[name]
            value = float(np.clip(q[slot.place], slot.lower, slot.upper)) * slot.scale
            assign(slider, round(value, 1 if slot.turns else 3))

    def _make_sliders(self, model: Model | None) -> None:
        if model is not None and self.model is not None and _same_sliders(model, self.model):
            self.model = model
            return
        for folder in self.folders:
            folder.remove()
        self.folders, self.sliders, self.slots = [], {}, {}
        self.model, self._shown = model, None
        if model is None:
            return
        self._readings = {name.coordinate: name for name in clinical_names(model).values()}
        for group, members in sliders_by_limb(model).items():
            with self.container:
                folder = self.gui.add_folder(group, expand_by_default=False)
            self.folders.append(folder)
            with folder:
                for slot in members:
                    self._make_slider(slot)

    def _make_slider(self, slot: CoordinateSlider) -> None:
        step = 0.1 if slot.turns else 0.001
        low, high = round(slot.lower * slot.scale, 1), round(slot.upper * slot.scale, 1)
        slider = self.gui.add_slider(
            slot.name,
            min=low,
            max=max(high, low + step),
            step=step,
            initial_value=float(np.clip(0.0, low, high)),
            hint=slider_hint(slot, self._readings),
        )
        self.sliders[slot.name] = slider
        self.slots[slot.name] = slot
        self.on_choice(slider)(partial(self._slide, slot))

    def _slide(self, slot: CoordinateSlider, value: float) -> None:
        wanted = float(np.clip(value / slot.scale, slot.lower, slot.upper))
        self._pose(f"set {slot.name}", lambda model, q: with_value(q, slot, wanted), merge=True)

    def _set(self, word: str) -> None:
        ways: dict[str, Callable[[Model, np.ndarray], np.ndarray]] = {
            "Mirror": mirror_pose,
            "Zero": zero_pose,
            "Random": lambda model, q: random_pose(model, q, self._random),
        }
        self._pose(f"{word.lower()} pose", ways[word])

    def _pose(
        self,
        label: str,
        way: Callable[[Model, np.ndarray], np.ndarray],
        *,
        merge: bool = False,
    ) -> None:
        now = self.session.clock.now

        def posed(document: StudioDocument) -> StudioDocument:
            actor = document.actor
            if actor is None:
                raise HomodynError("no body is open to pose; add one under Open")
            return document.with_active(actor.with_pose(way(actor.model, actor.position(now))))

        self.session.change(label, posed, merge=merge)
        self.session.update_clock(lambda clock: clock.pause() if clock.playing else clock)

    def _change(self, label: str, function: Callable[[Any], StudioDocument]) -> None:
        self.session.change(label, function)

    def _pull(self, name: str) -> None:
        actor = self.session.document.actor
        if name == NO_TARGET or actor is None:
            self.handle.drop()
        else:
            self.handle.grip(actor, name, self.session.clock.now)

    def _on_segment_click(self, body: str, segment: str) -> None:
        if self.studio.view_options.selected_markers:
            # Markers are chosen: the click says which segment they are on.
            return
        document = self.session.document
        if document.actor is None or document.actor.name != body:
            self.session.change(f"choose {body}", lambda d: d.activate(body))
            self.studio.wait_until_drawn()
        assign(self.pull, segment)
        self._pull(segment)

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

    def _load(self, sent: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / Path(sent.name).name
            path.write_bytes(sent.content)
            try:
                self._pose(f"load {sent.name}", lambda model, q: load_pose(model, path))
            except HomodynError as error:
                raise HomodynError(str(error).replace(f"{folder}/", "")) from error


def slider_hint(slot: CoordinateSlider, readings: dict[str, CoordinateName]) -> str:
    """Unit and clinical name of a coordinate, with the sign in which the coordinate counts it."""
    unit = "degrees" if slot.turns else "meters"
    found = readings.get(slot.name)
    if found is None:
        return unit
    sense = "positive" if found.sign > 0 else "negative"
    return f"{found.title} is {sense}; {unit}"


def _same_sliders(one: Model, other: Model) -> bool:
    """Whether two models have the same coordinates with the same ranges."""
    return sliders_by_limb(one) == sliders_by_limb(other)
