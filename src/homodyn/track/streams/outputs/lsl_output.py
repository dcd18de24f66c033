"""Results of live tracking as streams of the Lab Streaming Layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from homodyn.model import Model
from homodyn.model.formats.osim_coordinates import osim_coordinates
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.track.streams.live_sample import LiveSample
from homodyn.track.streams.lsl_source import require_pylsl
from homodyn.track.streams.outputs.live_output import LiveOutput

MEASURES = (("power", "W"), ("effort", "N m"), ("marker_error", "m"), ("latency", "s"))


class LslOutput(LiveOutput):
    """Sends two streams: ``NAME_coordinates`` and ``NAME_torques``; the latter has measures too.

    The time stamps are those of the arrival of the markers.

    Args:
        name: Beginning of the names of the streams.

    Raises:
        StreamError: pylsl is missing.
    """

    def __init__(self, name: str = "homodyn") -> None:
        self.name = name
        self._pylsl = require_pylsl()
        self._model: Model | None = None
        self._outlets: tuple[Any, ...] = ()

    def start(self, model: Model) -> None:
        """Announce the streams of a model; see `LiveOutput.start`.

        Args:
            model: The model.
        """
        self.close()
        self._model = model
        angular = angular_coordinates(model)
        angles = [
            (name, "rad" if turns else "m")
            for name, turns in zip(model.coordinate_names, angular, strict=True)
        ]
        torques = [
            (f"{name}_torque", "N m" if turns else "N")
            for name, turns in zip(model.coordinate_names, angular, strict=True)
        ]
        self._outlets = (
            self._outlet("coordinates", angles),
            self._outlet("torques", [*torques, *MEASURES]),
        )

    def write(self, sample: LiveSample) -> None:
        """Send a result; see `LiveOutput.write`.

        Args:
            sample: The result.
        """
        assert self._model is not None
        stamp = self._pylsl.local_clock() - sample.latency_s
        values = osim_coordinates(self._model, sample.q[None])[0]
        measures = [sample.power, sample.effort, sample.marker_error, sample.latency_s]
        self._outlets[0].push_sample(values, stamp)
        self._outlets[1].push_sample(np.concatenate([sample.torques, measures]), stamp)

    def close(self) -> None:
        """Withdraw the streams."""
        self._outlets = ()

    def _outlet(self, kind: str, columns: list[tuple[str, str]]) -> Any:
        pylsl = self._pylsl
        name = f"{self.name}_{kind}"
        info = pylsl.StreamInfo(
            name, "MoCap", len(columns), pylsl.IRREGULAR_RATE, pylsl.cf_double64, f"homodyn-{name}"
        )
        channels = info.desc().append_child("channels")
        for label, unit in columns:
            channel = channels.append_child("channel")
            channel.append_child_value("label", label)
            channel.append_child_value("unit", unit)
        return pylsl.StreamOutlet(info)
