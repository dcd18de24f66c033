"""The live benchmark: its parts, without its duration."""

import os
import socket

import numpy as np

from homodyn import catalog
from homodyn.bench.live import free_port, resident_mb
from homodyn.bench.live_sender import swaying_markers


def test_the_markers_are_those_of_a_standing_person_who_moves():
    model = catalog.hdm()
    frames = swaying_markers(model, 60.0)
    assert frames.shape == (240, len(model.markers), 3)
    steps = np.linalg.norm(np.diff(frames, axis=0), axis=-1)
    assert 0.0 < steps.max() < 0.02
    assert np.linalg.norm(frames[0] - frames[-1], axis=-1).max() < 0.02


def test_ports_are_free():
    port = free_port(socket.SOCK_STREAM)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", port))


def test_memory_of_this_process():
    assert resident_mb(os.getpid()) > 10.0
    assert resident_mb(2**30) is None
