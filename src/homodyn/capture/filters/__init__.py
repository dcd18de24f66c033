"""Filters and derivatives of sampled signals."""

from homodyn.capture.filters.butterworth_filter import (
    bandpass,
    butterworth,
    highpass,
    lowpass,
    opensim_lowpass,
)
from homodyn.capture.filters.residual_analysis import suggest_cutoff
from homodyn.capture.filters.signal_derivatives import (
    SignalDerivatives,
    derivatives,
    opensim_derivatives,
)

__all__ = [
    "SignalDerivatives",
    "bandpass",
    "butterworth",
    "derivatives",
    "highpass",
    "lowpass",
    "opensim_derivatives",
    "opensim_lowpass",
    "suggest_cutoff",
]
