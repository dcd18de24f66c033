"""The transcriptions by name."""

from __future__ import annotations

from homodyn.errors import HomodynError
from homodyn.foundation.text import unknown_name
from homodyn.optimal.transcription.collocation import LegendreCollocation
from homodyn.optimal.transcription.felis2015 import Felis2015, SharedNodes
from homodyn.optimal.transcription.interface import Transcription
from homodyn.optimal.transcription.midpoint import Midpoint
from homodyn.optimal.transcription.multiple_shooting import MultipleShooting
from homodyn.optimal.transcription.phase_coupling import PhaseCoupling, SeparateNodes

TRANSCRIPTIONS: dict[str, Transcription] = {
    each.name: each for each in (Midpoint(), LegendreCollocation(), MultipleShooting(), Felis2015())
}
"""``"midpoint"`` (order 2), ``"collocation"`` (order 8), ``"multiple_shooting"`` and
``"felis2015"`` (forward dynamics and RK4)."""


def find_transcription(name: str | Transcription) -> Transcription:
    """Look up a transcription by name; an instance is returned unchanged.

    Raises:
        HomodynError: There is no such transcription.
    """
    if isinstance(name, Transcription):
        return name
    if name not in TRANSCRIPTIONS:
        raise HomodynError(f"there is {unknown_name('transcription', name, TRANSCRIPTIONS)}")
    return TRANSCRIPTIONS[name]


def coupling_of(transcription: Transcription) -> PhaseCoupling:
    """How a transcription couples the phases of a problem."""
    return SharedNodes() if isinstance(transcription, Felis2015) else SeparateNodes()
