"""A sender of markers of a body that sways and swings its arms, as a process of its own.

``python -m homodyn.bench.live_sender PORT RATE`` sends JSON packets over UDP until killed. The
time in the packets is that of the monotonic clock of the machine.
"""

from __future__ import annotations

import socket
import sys
import time

import numpy as np

from homodyn import catalog
from homodyn.dynamics import marker_positions
from homodyn.model import Model
from homodyn.simulate import place_on_ground
from homodyn.track.streams.json_messages import format_message

SWAY_RAD = 0.25
SWAY_HZ = 0.5
CYCLE_S = 4.0


def swaying_markers(model: Model, rate: float) -> np.ndarray:
    """Markers of a person who stands and swings the arms, for one period.

    Args:
        model: The model.
        rate: Frames per second (Hz).

    Returns:
        (frames, markers, 3), m.
    """
    times = np.arange(round(CYCLE_S * rate)) / rate
    arms = [
        index
        for index, name in zip(model.position_index, model.coordinate_names, strict=True)
        if index is not None and ("elbow" in name or "shoulder" in name)
    ]
    standing = place_on_ground(model, model.neutral(), 0.0)
    poses = np.tile(standing, (len(times), 1))
    poses[:, arms] += SWAY_RAD * np.sin(2.0 * np.pi * SWAY_HZ * times)[:, None]
    return np.asarray(marker_positions(model, poses)).reshape(len(times), -1, 3)


def main(port: int, rate: float) -> None:
    """Send packets at a rate until the process is killed.

    Args:
        port: UDP port on this machine.
        rate: Packets per second (Hz).
    """
    model = catalog.hdm()
    labels = tuple(marker.name for marker in model.markers)
    frames = swaying_markers(model, rate)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        start, number = time.perf_counter(), 0
        while True:
            due = start + number / rate
            time.sleep(max(due - time.perf_counter(), 0.0))
            positions = frames[number % len(frames)]
            now = time.perf_counter()
            # The stamp is taken before the packet is written: writing it counts as latency.
            message = format_message(now, labels, positions, number)
            sender.sendto(message.encode(), ("127.0.0.1", port))
            number += 1


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
