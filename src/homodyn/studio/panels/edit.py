"""Edit: lengths and masses by name, and joint frames by numbers or with a handle."""

from __future__ import annotations

from typing import Any

import numpy as np
from viser import Icon

from homodyn.errors import HomodynError
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.joint_handle import JointHandle
from homodyn.studio.model_editing import (
    editable_numbers,
    from_angles,
    in_parent,
    set_number,
    with_joint,
    with_model,
)
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.session import SessionView

NOTHING = "(nothing)"


class EditPanel(Panel):
    """The measures of the active body."""

    title = "Edit"

    def build(self) -> None:
        """Make the controls."""
        self.state = self.gui.add_markdown("Open a body to edit it.")
        self.number = self.gui.add_dropdown(
            "Number", (NOTHING,), hint="A length (m) or mass (kg) of the body"
        )
        self.value = self.gui.add_number("Value", 0.0, step=0.001, min=0.0)
        self.both = self.gui.add_checkbox("Symmetric (left and right)", True)
        self.mass_text = self.gui.add_markdown("")
        self.gui.add_divider()
        self.joint = self.gui.add_dropdown(
            "Joint", (NOTHING,), hint="A handle appears at its frame; drag or turn it"
        )
        self.place = self.gui.add_vector3(
            "Place (m)", (0.0, 0.0, 0.0), step=0.001, hint="Of the joint frame in its parent"
        )
        self.turn = self.gui.add_vector3(
            "Turn (deg)", (0.0, 0.0, 0.0), step=0.1, hint="About x, then the new y, then z"
        )
        self.keep = self.gui.add_checkbox(
            "Move joint only", False, hint="Segments stay where they are in this pose"
        )
        self.done = self.gui.add_button("Release joint", icon=Icon.CHECK, color="gray")
        self.handle = JointHandle(self.studio)
        self.on_choice(self.number)(lambda name: self.session.changed.set())
        self.on_choice(self.value)(self._set_number)
        self.on_choice(self.joint)(self._take)
        self.on_choice(self.place)(lambda value: self._set_joint())
        self.on_choice(self.turn)(lambda value: self._set_joint())
        self.on_choice(self.keep)(lambda on: setattr(self.handle, "keep", on))
        self.on_click(self.done)(lambda: self._take(NOTHING))
        self._known: dict[str, tuple[float, str]] = {}
        self._of: Any = None

    def refresh(self, view: SessionView) -> None:
        """Offer the numbers and joints of the active body."""
        actor = view.document.actor
        if actor is None:
            self._of, self._known = None, {}
            self.number.options = self.joint.options = (NOTHING,)
            self.handle.drop()
            self.state.content, self.mass_text.content = "Open a body to edit it.", ""
            return
        if self._of is not actor.model:
            self._of = actor.model
            self._known = editable_numbers(actor)
            self._offer(self.number, (NOTHING, *self._known))
            self._offer(self.joint, (NOTHING, *actor.model.joint_names))
            if self.joint.value == NOTHING:
                self.handle.drop()
        self.state.content = f"**{actor.name}**, {actor.model.mass:.1f} kg. " + (
            "Numbers are those of the catalog; inertias follow them."
            if actor.recipe is not None
            else "Numbers are those of its segments; inertias follow them."
        )
        self.mass_text.content = inertia_sentence(actor, self.number.value)

    def tick(self, view: SessionView) -> None:
        """Show the number and the joint frame that are chosen, as they are."""
        actor = view.document.actor
        if actor is None:
            return
        value, unit = self._known.get(self.number.value, (0.0, ""))
        label = f"Value ({unit})" if unit else "Value"
        if self.value.label != label:
            self.value.label = label
        assign(self.value, round(value, 4))
        sentence = inertia_sentence(actor, self.number.value)
        if self.mass_text.content != sentence:
            self.mass_text.content = sentence
        self.handle.follow(actor, view.clock.now)
        if self.joint.value in actor.model.joint_names:
            place, turn = in_parent(actor.model, self.joint.value)
            assign(self.place, tuple(round(float(x), 4) for x in place))
            assign(self.turn, tuple(round(float(x), 2) for x in turn))

    def _offer(self, control: Any, names: tuple[str, ...]) -> None:
        if tuple(control.options) != names:
            before = control.value
            control.options = names
            assign(control, before if before in names else NOTHING)

    def _set_number(self, value: float) -> None:
        name, both = self.number.value, self.both.value
        if name == NOTHING:
            return

        def changed(document: StudioDocument) -> StudioDocument:
            return document.with_active(set_number(_active(document), name, value, both=both))

        self.session.change(f"set {name}", changed, merge=True)

    def _take(self, joint: str) -> None:
        actor = self.session.document.actor
        if joint == NOTHING or actor is None:
            assign(self.joint, NOTHING)
            self.handle.drop()
        else:
            self.handle.show(actor, joint, self.session.clock.now)
        self.session.changed.set()

    def _set_joint(self) -> None:
        joint, place, turn = self.joint.value, self.place.value, self.turn.value
        if joint == NOTHING:
            return
        now, keep = self.session.clock.now, self.keep.value

        def changed(document: StudioDocument) -> StudioDocument:
            actor = _active(document)
            model = with_joint(
                actor.model,
                joint,
                np.array(place),
                from_angles(turn),
                keep=actor.position(now) if keep else None,
            )
            return document.with_active(with_model(actor, model, actor.recipe))

        self.session.change(f"move joint {joint}", changed, merge=True)


def inertia_sentence(actor: Actor, number: str) -> str:
    """Mass, centre and moments of inertia of the segment that a number belongs to, in Markdown."""
    owners = [body for body in actor.model.bodies if number.startswith(body.name)]
    if not owners:
        return ""
    body = max(owners, key=lambda one: len(one.name))
    com = ", ".join(f"{x:.3f}" for x in np.asarray(body.com, dtype=float))
    moments = ", ".join(f"{x:.4g}" for x in np.diag(np.asarray(body.inertia, dtype=float)))
    return (
        f"{body.name}: {float(body.mass):.3f} kg, centre ({com}) m, moments of inertia "
        f"({moments}) kg m²"
    )


def _active(document: StudioDocument) -> Actor:
    if document.actor is None:
        raise HomodynError("no body is open to be edited; add one under Open")
    return document.actor
