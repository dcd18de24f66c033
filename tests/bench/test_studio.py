"""The benchmark of the studio."""

from homodyn.bench import studio
from homodyn.studio.file_opening import open_path


def test_the_long_motion_opens_as_a_result_and_a_recording(tmp_path, monkeypatch):
    monkeypatch.setattr(studio, "FRAMES", 40)
    result, recording = studio.long_motion(tmp_path)
    actor, trial = open_path(result), open_path(recording)
    assert actor.motion.q.shape == (40, actor.model.nq)
    assert actor.model.nv - 6 == 48
    assert trial.positions.shape == (40, 60, 3)
    assert trial.rate == studio.MOTION_RATE_HZ


def test_a_missing_browser_is_named(monkeypatch):
    monkeypatch.setattr(studio.shutil, "which", lambda name: None)
    (row,) = studio.studio(quick=True)
    assert row.ours is None
    assert row.note
