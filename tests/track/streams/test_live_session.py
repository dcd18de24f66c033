"""Live sessions: faults of streams, and torques of a known movement."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import CaptureError, FormatError
from homodyn.track.streams import LiveOptions, LiveSession, LiveState, MarkerFrame, StreamError
from homodyn.track.streams.outputs import LiveOutput, MarkerFile, ResultFiles
from homodyn.track.streams.sample_tracker import SampleTracker
from support.live_arm import LABELS, RATE, ListSource, arm, arm_frame, true_state, true_torques

MODEL = arm()
DIRECT = LiveOptions(calibration_s=0.0, max_waiting=0)
WAIT_S = 300.0


class PacedSession(LiveSession):
    """Asks for the next frame when one was computed."""

    def _process(self, frame, **named):
        super()._process(frame, **named)
        self.source.ready.release()


def run(steps, options=DIRECT, **named):
    samples, sentences = [], []
    session = PacedSession(
        MODEL,
        ListSource(steps),
        options,
        on_sample=samples.append,
        on_sentence=sentences.append,
        **named,
    )
    session.start()
    assert session.wait(WAIT_S)
    return session, samples, sentences


def frames(first, last, labels=LABELS):
    return [arm_frame(MODEL, k, labels) for k in range(first, last)]


def hidden(frame):
    return MarkerFrame(frame.time, frame.labels, np.full_like(frame.positions, np.nan), 0.0)


def test_torques_of_a_known_movement():
    session, samples, _ = run(frames(0, 200))
    assert session.state is LiveState.ENDED
    # The delay of the filter is part of the time of the results.
    late = [sample for sample in samples if sample.time > 5.5]
    angles = np.stack([sample.q for sample in late])
    truth = np.stack([true_state(sample.time)[0] for sample in late])
    assert np.sqrt(np.mean((angles - truth) ** 2)) < np.deg2rad(1.0)
    torques = np.stack([sample.torques for sample in late])
    expected = np.stack([true_torques(MODEL, sample.time) for sample in late])
    assert np.sqrt(np.mean((torques - expected) ** 2)) < 0.1 * np.abs(expected).max()
    assert all(sample.status == "" for sample in late)
    assert session.summary().filter_delay_ms == 25.0


def test_no_marker_for_two_seconds():
    steps = frames(0, 80) + [hidden(f) for f in frames(80, 280)] + frames(280, 380)
    session, samples, sentences = run(steps)
    assert session.summary().frames == 380
    assert any("no marker of the model is seen for 0.5 s; tracking pauses" in s for s in sentences)
    assert any("markers are seen again" in s for s in sentences)
    after = [sample for sample in samples if sample.time > 5.0 + 300 / RATE]
    assert np.sqrt(np.mean([(s.q - true_state(s.time)[0]) ** 2 for s in after])) < 0.02
    # Nothing is computed from nothing.
    assert all(np.isfinite(sample.q).all() for sample in samples)


def test_faults_are_said_and_the_session_goes_on():
    steps = frames(0, 60)
    exchanged = [
        MarkerFrame(f.time, f.labels, f.positions[[0, 1, 2, 3, 5, 4, 6, 7]], 0.0, f.number)
        for f in frames(60, 90)
    ]
    nan = arm_frame(MODEL, 90)
    nan.positions.setflags(write=True)
    nan.positions[2, 1] = np.nan
    steps += [*exchanged, nan, *frames(91, 100)]
    steps += [StreamError("list: the cable was pulled"), *frames(140, 180)]
    steps += frames(170, 173)  # late
    steps += [arm_frame(MODEL, k, LABELS[::-1]) for k in range(180, 200)]
    steps += [arm_frame(MODEL, k, LABELS[:6]) for k in range(200, 220)]
    session, samples, sentences = run(steps)
    text = " ".join(sentences)
    for part in (
        "8 of 8 markers of arm",
        "FRM, WRA are exchanged",
        "the cable was pulled",
        "open again",
        "no frame for 0.41 s",
        "the labels changed: 6 of 8 markers are there; without WRB, FIN",
    ):
        assert part in text
    assert session.summary().late >= 3
    assert samples[-1].time > 5.0 + 210 / RATE
    last = [s for s in samples if s.time > 5.0 + 190 / RATE]
    assert np.sqrt(np.mean([(s.q - true_state(s.time)[0]) ** 2 for s in last])) < 0.03


def test_a_clock_that_is_set_back():
    again = [MarkerFrame(f.time - 4.0, f.labels, f.positions, 0.0, f.number) for f in frames(0, 60)]
    _, samples, sentences = run(frames(0, 60) + again)
    assert any("stepped back" in sentence for sentence in sentences)
    last = samples[-1]
    assert last.time < 2.0
    np.testing.assert_allclose(last.q, true_state(last.time + 4.0)[0], atol=0.03)


def test_another_rate():
    half = frames(0, 60) + frames(60, 260)[::2]
    session, samples, sentences = run(half)
    assert any("the rate changed from 100 to 50 Hz" in sentence for sentence in sentences)
    assert session.summary().rate_hz == pytest.approx(50.0)
    assert np.abs(samples[-1].q - true_state(samples[-1].time)[0]).max() < 0.03


def test_files_are_whole(tmp_path):
    results = ResultFiles(tmp_path)
    session, samples, _ = run(frames(0, 50), outputs=[results], markers=MarkerFile(tmp_path))
    names = {path.rsplit("/", 1)[-1] for path in session.summary().files}
    assert names == {"markers.trc", "motion.mot", "frames.csv"}
    assert len(hd.capture.read_table(tmp_path / "motion.mot").time) == len(samples)
    recorded = hd.capture.read(tmp_path / "markers.trc")
    assert recorded.frames == 50
    np.testing.assert_allclose(recorded.positions, [f.positions for f in frames(0, 50)], atol=1e-6)


def test_a_slow_machine_skips_frames_and_keeps_the_body(tmp_path):
    """Two seconds of frames arrive at once: the body is not placed again, no gap is reported."""
    options = LiveOptions(calibration_s=0.0, max_waiting=2)
    source, sentences, samples = ListSource(frames(0, 60)), [], []
    session = LiveSession(
        MODEL,
        source,
        options,
        markers=MarkerFile(tmp_path),
        on_sample=samples.append,
        on_sentence=sentences.append,
    )
    session._tracker = SampleTracker(MODEL)
    for frame in frames(0, 30):
        session._process(frame)
    for frame in frames(30, 260):
        session._queue.add(frame)
    skipped, frame = session._queue.take(0.0)
    assert len(skipped) == 228
    for old in skipped:
        session._process(old, skipped=True)
    session._process(frame)
    last = samples[-1]
    assert last.status == ""
    assert last.number < 30 + 40
    assert np.abs(last.q - true_state(last.time)[0]).max() < 0.05
    assert not [sentence for sentence in sentences if "no frame" in sentence]
    session._markers.close()
    assert session._markers.frames == 259


class FailingOutput(LiveOutput):
    def start(self, model):
        pass

    def write(self, sample):
        raise FormatError("the disk is full")

    def close(self):
        pass


def test_an_output_that_fails_does_not_end_the_session():
    session, samples, sentences = run(frames(0, 40), outputs=[FailingOutput()])
    assert len(samples) > 30
    assert [s for s in sentences if "disk" in s] == ["an output failed: the disk is full"]
    assert "times)" in " ".join(session.summary().sentences)


def test_a_calibration_that_fails_leaves_the_model():
    """Eight markers move too little for the sizes of an arm: the session says so and goes on."""
    options = LiveOptions(calibration_s=0.05, max_waiting=0)
    session, _, sentences = run(frames(0, 60), options)
    assert any(s.startswith("calibration: stand still") for s in sentences)
    assert any("the calibration failed, the model stays as it is" in s for s in sentences)
    assert session.model is MODEL


@pytest.mark.parametrize(
    "wrong",
    [{"calibration_s": -1.0}, {"max_waiting": -1}, {"lost_after_s": 0.0}, {"patience_s": 0.0}],
)
def test_options_out_of_range_are_refused(wrong):
    with pytest.raises(CaptureError, match=next(iter(wrong))):
        LiveOptions(**wrong)


def test_the_summary_in_one_sentence():
    session, _, _ = run(frames(0, 30))
    headline = session.summary().headline()
    assert headline.startswith("list: 30 frames, ")
    assert "latency" in headline
