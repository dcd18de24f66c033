"""Edit: lengths and masses by name, and joint frames by numbers or with a handle."""

from __future__ import annotations

from typing import Any

import numpy as np
from viser import Icon

from homodyn.errors import HomodynError
from homodyn.foundation.markup import escape_markup
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.joint_handle import JointHandle
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.model_editing import (
    axes_from_angles,
    editable_parameters,
    joint_placement,
    set_parameter,
    with_joint,
    with_model,
)
from homodyn.studio.panels.panel import Panel, assign, offer, set_text
from homodyn.studio.session import SessionView

NOTHING = "(nothing)"
NOTHING_OPEN = "Open a body to edit it."


class EditPanel(Panel):
    """Segment parameters and joint frames of the active body."""

    title = "Edit"

    def build(self) -> None:
        """Create the controls."""
        self.state = MarkdownText(self.gui, NOTHING_OPEN)
        self.parameter = self.gui.add_dropdown(
            "Parameter", (NOTHING,), hint="A length (m) or mass (kg) of the body"
        )
        self.value = self.gui.add_number("Value", 0.0, step=0.001, min=0.0)
        self.both = self.gui.add_checkbox("Symmetric (left and right)", True)
        self.mass_text = MarkdownText(self.gui, "")
        self.gui.add_divider()
        self.joint = self.gui.add_dropdown(
            "Joint", (NOTHING,), hint="A handle appears at its frame; drag or turn it"
        )
        self.position = self.gui.add_vector3(
            "Position (m)", (0.0, 0.0, 0.0), step=0.001, hint="Of the joint frame in its parent"
        )
        self.angles = self.gui.add_vector3(
            "Rotation (deg)", (0.0, 0.0, 0.0), step=0.1, hint="About x, then the new y, then z"
        )
        self.keep = self.gui.add_checkbox(
            "Move joint only", False, hint="Segments stay where they are in this pose"
        )
        self.release = self.gui.add_button("Release joint", icon=Icon.CHECK, color="gray")
        self.handle = JointHandle(self.studio)
        self.on_choice(self.parameter)(lambda name: self.session.changed.set())
        self.on_choice(self.value)(self._set_parameter)
        self.on_choice(self.joint)(self._attach)
        self.on_choice(self.position)(lambda value: self._set_joint())
        self.on_choice(self.angles)(lambda value: self._set_joint())
        self.on_choice(self.keep)(lambda on: setattr(self.handle, "keep", on))
        self.on_click(self.release)(lambda: self._attach(NOTHING))
        self._parameters: dict[str, tuple[float, str]] = {}
        self._model: Any = None

    def refresh(self, view: SessionView) -> None:
        """Offer the parameters and joints of the active body."""
        actor = view.document.actor
        if actor is None:
            self._model, self._parameters = None, {}
            self.parameter.options = self.joint.options = (NOTHING,)
            self.handle.detach()
            self.state.content, self.mass_text.content = NOTHING_OPEN, ""
            return
        if self._model is not actor.model:
            self._model = actor.model
            self._parameters = editable_parameters(actor)
            offer(self.parameter, (NOTHING, *self._parameters), NOTHING)
            offer(self.joint, (NOTHING, *actor.model.joint_names), NOTHING)
            if self.joint.value == NOTHING:
                self.handle.detach()
        source = "the catalog" if actor.recipe is not None else "its segments"
        self.state.content = (
            f"**{escape_markup(actor.name)}**, {actor.model.mass:.1f} kg. Parameters of "
            f"{source}; inertias are "
            "updated."
        )
        self.mass_text.content = inertia_sentence(actor, self.parameter.value)

    def tick(self, view: SessionView) -> None:
        """Show the values of the chosen parameter and joint frame."""
        actor = view.document.actor
        if actor is None:
            return
        value, unit = self._parameters.get(self.parameter.value, (0.0, ""))
        label = f"Value ({unit})" if unit else "Value"
        if self.value.label != label:
            self.value.label = label
        assign(self.value, round(value, 4))
        set_text(self.mass_text, inertia_sentence(actor, self.parameter.value))
        self.handle.follow(actor, view.clock.now)
        if self.joint.value in actor.model.joint_names:
            position, angles = joint_placement(actor.model, self.joint.value)
            assign(self.position, tuple(round(float(x), 4) for x in position))
            assign(self.angles, tuple(round(float(x), 2) for x in angles))

    def _set_parameter(self, value: float) -> None:
        name, both = self.parameter.value, self.both.value
        if name == NOTHING:
            return

        def change(document: StudioDocument) -> StudioDocument:
            return document.with_active(set_parameter(_active(document), name, value, both=both))

        self.session.change(f"set {name}", change, merge=True)

    def _attach(self, joint: str) -> None:
        actor = self.session.document.actor
        if joint == NOTHING or actor is None:
            assign(self.joint, NOTHING)
            self.handle.detach()
        else:
            self.handle.attach(actor, joint, self.session.clock.now)
        self.session.changed.set()

    def _set_joint(self) -> None:
        joint, position, angles = self.joint.value, self.position.value, self.angles.value
        if joint == NOTHING:
            return
        now, keep = self.session.clock.now, self.keep.value

        def change(document: StudioDocument) -> StudioDocument:
            actor = _active(document)
            model = with_joint(
                actor.model,
                joint,
                np.array(position),
                axes_from_angles(angles),
                keep=actor.position(now) if keep else None,
            )
            return document.with_active(with_model(actor, model, actor.recipe))

        self.session.change(f"move joint {joint}", change, merge=True)


def inertia_sentence(actor: Actor, parameter: str) -> str:
    """Mass, center and moments of inertia of the segment of a parameter, in Markdown."""
    owners = [body for body in actor.model.bodies if parameter.startswith(body.name)]
    if not owners:
        return ""
    body = max(owners, key=lambda owner: len(owner.name))
    com = ", ".join(f"{x:.3f}" for x in np.asarray(body.com, dtype=float))
    moments = ", ".join(f"{x:.4g}" for x in np.diag(np.asarray(body.inertia, dtype=float)))
    return (
        f"{escape_markup(body.name)}: {float(body.mass):.3f} kg, center of mass ({com}) m, "
        "moments of inertia "
        f"({moments}) kg m²"
    )


def _active(document: StudioDocument) -> Actor:
    if document.actor is None:
        raise HomodynError("no body is open to edit; add one under Open")
    return document.actor
