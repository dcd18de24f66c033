"""How an analysis shares torques among muscles, checked when it is made."""

from __future__ import annotations

from dataclasses import fields
from typing import Literal

import numpy as np

from homodyn.errors import CaptureError, HomodynError
from homodyn.foundation import Record, record
from homodyn.muscle import StaticOptimizationOptions
from homodyn.muscle.redundancy.options import RESERVE_STRENGTH
from homodyn.muscle.strength_scaling import LAWS

EMG_USES = ("compare", "informed", "tracking")
EMG_SIDES = ("auto", "right", "left")
DEFAULT_EMG_WEIGHT = 10.0
"""Weight of squared deviations from measured activations."""
DEFAULT_EMG_DELAY_S = 0.04
"""Time from an envelope to the activation: excitation and calcium; 10 to 100 ms are published
(Buchanan et al. 2004, J. Appl. Biomech. 20:367)."""


@record(eq=True)
class MuscleSettings(Record):
    """Static optimization in an analysis.

    Raises:
        CaptureError: A value is out of range, or two contradict each other.
    """

    tendon: Literal["rigid", "compliant"] = "rigid"
    """``"rigid"``, or ``"compliant"``: in equilibrium with the fibers."""
    weights: Literal["equal", "volume"] = "equal"
    """Weights of efforts: the same for all muscles, or by volume."""
    power: float = 2.0
    """Power of activations in the effort; 1 or more."""
    reserves: float = RESERVE_STRENGTH
    """Strength of the reserve of every coordinate (N m, N); zero: no reserves."""
    smoothness: float = 0.0
    """Weight of squared rates of activations (s2)."""
    emg: Literal["compare", "informed", "tracking"] = "compare"
    """``"compare"``: EMG is shown beside activations and does not change them; ``"informed"``:
    measured muscles cost their effort and their deviation from EMG; ``"tracking"``: they cost their
    deviation alone."""
    emg_weight: float = DEFAULT_EMG_WEIGHT
    """Weight of squared deviations from EMG."""
    emg_delay: float = DEFAULT_EMG_DELAY_S
    """Time (s) by which activations follow EMG where EMG changes them."""

    emg_side: Literal["auto", "right", "left"] = "auto"
    """The leg of channels whose names have no side; ``"auto"``: the one that agrees better."""
    strength: Literal["mass", "volume", "keep"] = "mass"
    """Law of the maximal isometric forces of a model that is scaled; see
    `homodyn.muscle.scale_strengths`."""

    def __post_init__(self) -> None:
        if self.emg_side not in EMG_SIDES:
            raise CaptureError(
                f"no side of EMG {self.emg_side!r}; accepted: {', '.join(EMG_SIDES)}"
            )
        if self.emg not in EMG_USES:
            raise CaptureError(f"no use of EMG {self.emg!r}; accepted: {', '.join(EMG_USES)}")
        if self.strength not in LAWS:
            raise CaptureError(
                f"no law of strengths {self.strength!r}; accepted: {', '.join(LAWS)}"
            )
        if not (np.isfinite(self.emg_weight) and self.emg_weight > 0):
            raise CaptureError(
                f"the weight of EMG is {self.emg_weight:g}; a weight above zero is accepted"
            )
        if not 0 <= self.emg_delay <= 0.2:
            raise CaptureError(f"the delay of EMG is {self.emg_delay:g} s; 0 to 0.2 s are accepted")
        try:
            self.options()
        except HomodynError as error:
            raise CaptureError(str(error)) from None

    def options(self) -> StaticOptimizationOptions:
        """The options of static optimization.

        Returns:
            Effort, tendons and reserves.
        """
        return StaticOptimizationOptions(
            power=self.power,
            tendon=self.tendon,
            weights=self.weights,
            reserves=self.reserves,
            smoothness=self.smoothness,
        )

    def command_words(self) -> list[str]:
        """The options of ``homodyn analyze`` that make these settings.

        Returns:
            ``--muscles`` and the options that are not at their defaults.
        """
        words = ["--muscles"]
        for entry in fields(self):
            value = getattr(self, entry.name)
            if value != entry.default:
                name = entry.name.replace("_", "-")
                text = f"{value:g}" if isinstance(value, float) else str(value)
                words.append(f"--muscle-{name} {text}")
        return words
