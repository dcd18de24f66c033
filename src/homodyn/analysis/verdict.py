"""A verdict: the grade of one aspect of a result, with its reason."""

from __future__ import annotations

from enum import StrEnum

from homodyn.foundation import Record, record


class QualityLight(StrEnum):
    """Grade of one aspect of a result, the best first."""

    NOTE = "note"
    """Worth knowing; it does not count for the overall light."""
    GOOD = "good"
    """Within the limits."""
    FAIR = "fair"
    """Usable with care."""
    POOR = "poor"
    """Not reliable."""

    @property
    def rank(self) -> int:
        """0 for notes up to 3 for poor: the order from best to worst."""
        return list(QualityLight).index(self)


@record(eq=True)
class QualityVerdict(Record):
    """The quality of one aspect of a result."""

    light: QualityLight
    """Good, fair or poor; note where there is nothing to grade."""
    subject: str
    """The aspect, such as ``"fit"`` or ``"residuals"``."""
    sentence: str
    """The numbers behind it, with limits and remedies."""

    def headline(self) -> str:
        """Light, subject and sentence."""
        return f"{self.light}: {self.subject}: {self.sentence}"


def overall_light(verdicts: tuple[QualityVerdict, ...]) -> QualityLight:
    """The worst light of several verdicts; notes do not count.

    Args:
        verdicts: The verdicts, in any order.

    Returns:
        Good, fair or poor; good if there are no verdicts.
    """
    lights = [verdict.light for verdict in verdicts if verdict.light is not QualityLight.NOTE]
    return max(lights, key=lambda light: light.rank, default=QualityLight.GOOD)


def full_sentence(text: str) -> str:
    """Text with a capital and a full stop."""
    end = "" if text.endswith((".", "?", "!")) else "."
    return f"{text[:1].upper()}{text[1:]}{end}"
