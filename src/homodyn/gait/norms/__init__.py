"""Published normative curves of walking."""

from homodyn.gait.norms.normative_curve import (
    NORM_SOURCES,
    NormativeCurve,
    normative_curve,
    normative_curves,
)

__all__ = ["NORM_SOURCES", "NormativeCurve", "normative_curve", "normative_curves"]
