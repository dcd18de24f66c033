"""Random pushes on the swing foot, one in every swing.

Van den Kieboom (2014), section 4.2.4: a horizontal force of N(80, 5) N for N(0.15, 0.05) s, from an
instant that is uniform within the swing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from homodyn.dynamics import position
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.simulate import BodyForce
from homodyn.simulate.signals import Pulse, Quantity, RandomNumber, Signal

SEED = "push seed"
"""Batch parameter with the seed of the pushes."""
MIN_CLEARANCE_M = 0.002
"""A foot swings when all its contact points are higher."""
MIN_PUSH_S = 0.01
"""Shorter random durations are lengthened to this."""


@record(eq=True)
class SwingPushes(Record):
    """Pushes against walking on the foot in swing, drawn from a seed."""

    right: str
    """Body of the right foot."""
    left: str
    """Body of the left foot."""
    force: tuple[float, float] = (80.0, 5.0)
    """Mean and standard deviation (N)."""
    lasts: tuple[float, float] = (0.15, 0.05)
    """Mean and standard deviation (s)."""
    latest_onset: float = 0.5
    """Onsets are uniform from lift-off to this time after it (s); foot strikes end pushes."""
    direction: float = -1.0
    """Along X: -1 is against walking."""

    def signals(self, model: Model) -> dict[str, Signal | Quantity]:
        """Pulses of both feet, with a new draw at every lift-off.

        Args:
            model: The model that walks.

        Returns:
            Signals of a simulation with the batch parameter `SEED`.
        """
        found: dict[str, Signal | Quantity] = {}
        for side, body in (("right", self.right), ("left", self.left)):
            swings = _swings(model, body)

            def draw(kind: str, numbers: tuple[float, float], what: str) -> RandomNumber:
                return RandomNumber(kind, *numbers, seed=SEED, redraw=swings, stream=what)  # noqa: B023

            names = {what: f"{side} push {what}" for what in ("force", "delay", "duration")}
            found[names["force"]] = draw("normal", self.force, names["force"])
            found[names["delay"]] = draw("uniform", (0.0, self.latest_onset), names["delay"])
            found[names["duration"]] = draw("normal", self.lasts, names["duration"])
            found[f"{side} push"] = Pulse(
                swings, _at_least(names["duration"], MIN_PUSH_S), names["delay"]
            )
        return found

    def forces(self, model: Model) -> tuple[BodyForce, ...]:
        """The forces on both feet.

        Args:
            model: The model that walks.

        Returns:
            External forces of a simulation with these `signals`.
        """
        return tuple(
            BodyForce(body, _push(model, side, body, self.direction))
            for side, body in (("right", self.right), ("left", self.left))
        )


def _swings(model: Model, body: str) -> Callable[..., Any]:
    """Whether all contact points of a foot and its toes are above the ground."""
    own = {body, *(joint.child for joint in model.joints if joint.parent == body)}
    points = [shape for shape in model.contacts if shape.body in own]

    def condition(t: Any, q: Any, v: Any, batch: Any) -> Any:
        lowest = ca.SX(1.0)
        for shape in points:
            lowest = ca.fmin(lowest, position(model, q, shape.name)[2] - shape.radius)
        return lowest > MIN_CLEARANCE_M

    return condition


def _at_least(name: str, limit: float) -> Callable[..., Any]:
    return lambda t, q, v, batch: ca.fmax(batch[name], limit)


def _push(model: Model, side: str, body: str, direction: float) -> Callable[..., Any]:
    """Force of the pulse while the foot swings."""
    swings = _swings(model, body)

    def force(t: Any, q: Any, v: Any, batch: Any) -> Any:
        size = batch[f"{side} push"] * batch[f"{side} push force"] * swings(t, q, v, batch)
        return ca.vertcat(direction * size, 0.0, 0.0)

    return force
