"""The studio without a browser: it draws changes, and its memory does not grow."""

import os
import resource

import numpy as np
import pytest

from homodyn import catalog
from homodyn.capture import Trial
from homodyn.motion import Motion
from homodyn.studio import Actor, Session, StudioDocument
from homodyn.studio.studio import Studio
from support.waiting import until


def test_an_error_in_one_frame_does_not_end_the_studio(studio, monkeypatch, capsys):
    monkeypatch.setattr(studio.stage, "draw", lambda clock, view_options: 1 / 0)
    studio.wait_until_drawn()
    monkeypatch.undo()
    frames_drawn = studio.frames_drawn
    studio.wait_until_drawn()
    assert studio.frames_drawn > frames_drawn
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.fixture(scope="module")
def long_session():
    """10 000 frames of a body with 54 degrees of freedom, and 60 markers."""
    model = catalog.hdm()
    rng = np.random.default_rng(0)
    frames = 10_000
    swing = 0.3 * np.sin(np.linspace(0, 200, frames))[:, None] * rng.standard_normal(model.nv)
    q = model.integrate(np.tile(model.neutral(), (frames, 1)), swing)
    still = np.zeros((frames, model.nv))
    motion = Motion(model, np.arange(frames) / 100, q, still, still)
    markers = np.cumsum(1e-3 * rng.standard_normal((frames, 60, 3)), axis=0)
    trial = Trial("long", tuple(f"M{k}" for k in range(60)), markers, 100.0)
    actor = Actor("long", model, q[0], motion)
    return Session(StudioDocument().with_trial(trial).with_actor(actor))


def test_a_long_motion_is_drawn_without_growth_of_memory_and_buffers(long_session):
    studio = Studio(long_session, port=0)
    studio.start()
    studio.wait_until_drawn()
    try:
        options, clock = studio.view_options, long_session.clock
        with studio.pause_drawing():
            for frame in range(500):
                studio.stage.draw(clock.at_frame(frame), options)
            memory = _memory()
            for frame in range(0, 10_000, 4):
                studio.stage.draw(clock.at_frame(frame), options)
            growth = _memory() - memory
        buffered = len(studio.server._websock_server._broadcast_buffer.message_from_id)
    finally:
        studio.stop()
    assert growth < 20e6
    assert buffered < 5_000


def test_playback_draws_frames_at_the_time_of_the_clock(long_session):
    studio = Studio(long_session, port=0)
    studio.start()
    studio.wait_until_drawn()
    first = studio.frames_drawn
    try:
        long_session.update_clock(lambda clock: clock.at_frame(0).play())
        until(lambda: studio.frames_drawn >= first + 30, "30 frames")
        until(lambda: long_session.clock.now > 0.5, "half a second of the motion")
        long_session.update_clock(lambda clock: clock.pause())
        studio.wait_until_drawn()
        drawn, _ = studio.stage._last
        assert drawn == long_session.clock.now
    finally:
        studio.stop()


def _memory() -> int:
    """Resident memory of this process (bytes)."""
    try:
        with open("/proc/self/statm") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
