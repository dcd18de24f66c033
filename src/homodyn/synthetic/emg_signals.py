"""EMG signals: noise in the band of surface EMG, modulated by the joint torques.

The drive of a muscle is proportional to the joint torques that it can produce. The eight muscles of
the right leg are those of Felis (2015), table 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy

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
"""Coordinates whose torques a muscle produces, with signs and weights. Plantarflexion, knee flexion
and hip extension are positive in HeiMan."""

EMG_LEAD_S = 0.05
"""Time by which EMG precedes torque."""
RESTING_DRIVE = 0.02
"""Drive of a muscle at rest."""
MAX_EMG_SD_V = 0.4e-3
"""Standard deviation (V) of the signal at full drive."""
AMPLIFIER_NOISE_SD_V = 4e-6
"""Standard deviation (V) of the amplifier noise."""
EMG_BAND_HZ = (20.0, 450.0)
"""Frequency band of surface EMG."""


def emg_drive(model: Model, tau: np.ndarray) -> np.ndarray:
    """Drive of each muscle, (times, 8), from `RESTING_DRIVE` to 1, for torques (times, nv)."""
    columns = []
    for parts in MUSCLE_TORQUES.values():
        torque = sum(weight * tau[:, model.coordinate_index(name)] for name, weight in parts)
        positive = np.maximum(torque, 0.0)
        columns.append(
            RESTING_DRIVE + (1 - RESTING_DRIVE) * positive / max(float(positive.max()), 1.0)
        )
    return np.stack(columns, -1)


def emg_signals(drive: np.ndarray, rate: float, rng: np.random.Generator) -> Signals:
    """EMG channels (V) for drives sampled at a rate (Hz)."""
    high = min(EMG_BAND_HZ[1], 0.45 * rate)
    band = scipy.signal.butter(4, (EMG_BAND_HZ[0], high), "bandpass", fs=rate, output="sos")
    carrier = scipy.signal.sosfiltfilt(band, rng.normal(size=drive.shape), axis=0)
    carrier /= carrier.std(axis=0)
    values = MAX_EMG_SD_V * drive * carrier + AMPLIFIER_NOISE_SD_V * rng.normal(size=drive.shape)
    return Signals(tuple(MUSCLE_TORQUES), rate, values, ("V",) * len(MUSCLE_TORQUES))
