"""EMG-like channels: noise in the band of surface EMG, as strong as the torques ask for.

A muscle is driven by the part of a joint torque that it can make. Eight muscles of the right leg
out of Felis (2015), table 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.signal import butter, sosfiltfilt

from homodyn.capture import Signals
from homodyn.model import Model

MUSCLE_TORQUES: Mapping[str, tuple[tuple[str, float], ...]] = {
    "Soleus": (("AnkleRight_RY", 1.0),),
    "Gastrocnemius Lateralis": (("AnkleRight_RY", 0.7), ("KneeRight_RY", 0.6)),
    "Tibialis Anterior": (("AnkleRight_RY", -1.0),),
    "Peroneus Longus": (("AnkleRight_RY", 0.6), ("AnkleRight_RX", -1.0)),
    "Biceps Femoris": (("KneeRight_RY", 0.6), ("HipRight_RY", 0.7)),
    "Vastus Lateralis": (("KneeRight_RY", -1.0),),
    "Vastus Medialis": (("KneeRight_RY", -1.0), ("KneeRight_RY", -0.2)),
    "Gluteus Maximus": (("HipRight_RY", 1.0),),
}
"""Coordinates whose torque a muscle makes, and in which sense; HeiMan's angles are positive in
plantarflexion, flexion of the knee and extension of the hip."""

EMG_LEAD_S = 0.05
"""Activity comes before its torque (s)."""
RESTING_DRIVE = 0.02
"""Drive of a muscle that does nothing."""
MAX_EMG_SD_V = 0.4e-3
"""Standard deviation (V) of the signal at full drive."""
AMPLIFIER_NOISE_SD_V = 4e-6
"""Standard deviation (V) of what the amplifier adds."""
EMG_BAND_HZ = (20.0, 450.0)
"""Hz."""


def emg_drive(model: Model, tau: np.ndarray) -> np.ndarray:
    """Drive of each muscle from torques (instants, nv), between REST and one, (instants, 8)."""
    columns = []
    for parts in MUSCLE_TORQUES.values():
        pull = sum(weight * tau[:, model.coordinate_index(name)] for name, weight in parts)
        positive = np.maximum(pull, 0.0)
        columns.append(
            RESTING_DRIVE + (1 - RESTING_DRIVE) * positive / max(float(positive.max()), 1.0)
        )
    return np.stack(columns, -1)


def emg_signals(drive: np.ndarray, rate: float, rng: np.random.Generator) -> Signals:
    """Channels of EMG (V) for drives sampled at that rate (Hz)."""
    high = min(EMG_BAND_HZ[1], 0.45 * rate)
    band = butter(4, (EMG_BAND_HZ[0], high), "bandpass", fs=rate, output="sos")
    carrier = sosfiltfilt(band, rng.normal(size=drive.shape), axis=0)
    carrier /= carrier.std(axis=0)
    values = MAX_EMG_SD_V * drive * carrier + AMPLIFIER_NOISE_SD_V * rng.normal(size=drive.shape)
    return Signals(tuple(MUSCLE_TORQUES), rate, values, ("V",) * len(MUSCLE_TORQUES))
