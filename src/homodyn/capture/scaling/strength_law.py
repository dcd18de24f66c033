"""The law by which the muscles of a scaled model are as strong as those of its person."""

from __future__ import annotations

from homodyn.capture.scaling.stature import stature
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.muscle.strength_scaling import KEEP_LAW, MASS_LAW, VOLUME_LAW, scale_strengths

SENTENCES = {
    MASS_LAW: "as the body mass to the power 2/3",
    VOLUME_LAW: "as the muscle volume by mass and stature over the fiber length",
}
MIN_RATIO_DIFFERENCE = 1e-3
"""Smaller differences of ratios of forces are not stated."""


@record
class StrengthLaw(Record):
    """How the maximal isometric forces of muscles follow a subject."""

    law: str = KEEP_LAW
    """``"mass"``, ``"volume"`` or ``"keep"``; see `homodyn.muscle.scale_strengths`."""
    height: float | None = None
    """Height of the subject (m); by the hips of the scaled model if None."""

    def headline(self) -> str:
        """The law in words."""
        return f"StrengthLaw: forces {SENTENCES.get(self.law, 'of the generic model')}"

    def apply(self, generic: Model, scaled: Model) -> Model:
        """The scaled model with the forces of its person.

        Args:
            generic: The generic model.
            scaled: The same model scaled, with the mass of the person.

        Returns:
            A new model; the scaled model itself without muscles.

        Raises:
            CaptureError: The law needs a stature that cannot be determined.
        """
        if not scaled.muscles:
            return scaled
        if self.law != VOLUME_LAW:
            return scale_strengths(generic, scaled, self.law)
        heights = stature(generic), self.height or stature(scaled)
        if heights[0] is None or heights[1] is None:
            raise CaptureError(
                f"strength: the stature of model {generic.name!r} cannot be determined, because "
                f"it has no hips; the laws {MASS_LAW!r} and {KEEP_LAW!r} do not need it"
            )
        return scale_strengths(generic, scaled, self.law, heights=(heights[0], heights[1]))

    def notes(self, generic: Model, scaled: Model) -> tuple[str, ...]:
        """What happened to the forces, in one sentence; none without muscles.

        Args:
            generic: The generic model.
            scaled: The scaled model with its forces.
        """
        if not scaled.muscles or self.law == KEEP_LAW:
            return ()
        ratios = sorted(
            float(after.max_isometric_force / before.max_isometric_force)
            for before, after in zip(generic.muscles, scaled.muscles, strict=True)
        )
        change = f"{ratios[0]:.3f}"
        if ratios[-1] - ratios[0] > MIN_RATIO_DIFFERENCE:
            change += f" to {ratios[-1]:.3f}"
        return (f"maximal isometric forces times {change}, {SENTENCES[self.law]}",)
