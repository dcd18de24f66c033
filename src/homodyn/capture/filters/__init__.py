"""Filters and derivatives of sampled signals."""

from homodyn.capture.filters.butterworth_filter import (
    bandpass,
    butterworth,
    highpass,
    lowpass,
    opensim_lowpass,
)
from homodyn.capture.filters.residual_analysis import (
    CutoffChoice,
    choose_cutoff,
    suggest_cutoff,
)
from homodyn.capture.filters.signal_derivatives import (
    SignalDerivatives,
    derivatives,
    opensim_derivatives,
)

__all__ = [
    "CutoffChoice",
    "SignalDerivatives",
    "bandpass",
    "butterworth",
    "choose_cutoff",
    "derivatives",
    "highpass",
    "lowpass",
    "opensim_derivatives",
    "opensim_lowpass",
    "suggest_cutoff",
]
