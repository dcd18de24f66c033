"""A live session: a source, checks, calibration, filter, tracking and outputs, in one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from homodyn.capture import ScalingResult
from homodyn.errors import HomodynError
from homodyn.model import Model
from homodyn.track.streams.causal_filter import CausalFilter, FilteredMarkers
from homodyn.track.streams.frame_queue import FrameQueue
from homodyn.track.streams.label_order import LabelOrder
from homodyn.track.streams.latency import LatencyLedger
from homodyn.track.streams.live_options import LiveOptions
from homodyn.track.streams.live_sample import LiveSample, LiveState
from homodyn.track.streams.live_summary import LiveSummary
from homodyn.track.streams.marker_frame import MarkerFrame
from homodyn.track.streams.marker_source import MarkerSource
from homodyn.track.streams.outputs import LiveOutput, MarkerFile
from homodyn.track.streams.sample_tracker import SampleTracker
from homodyn.track.streams.sender_clock import SenderClock
from homodyn.track.streams.session_log import SessionLog
from homodyn.track.streams.spot_calibration import calibrate_on_the_spot
from homodyn.track.streams.stream_checks import StreamChecks
from homodyn.track.streams.stream_receiver import StreamReceiver

TAKE_TIMEOUT_S = 0.05
STAGES = ("waiting", "computing", "output", "total")
MAX_CALIBRATION_FRAMES = 20_000
MAX_SKIPPED_S = 0.1
"""Time (s) that the body advances in one step where frames are skipped."""


class LiveSession:
    """Tracks the markers of a source frame by frame until `stop`, or until the source ends.

    A receiving thread puts frames into a queue of limited length; a computing thread takes them.
    Errors of an output or of a calibration become sentences, and the session goes on.

    Args:
        model: The model; the calibration fits it to the person.
        source: The source of markers.
        options: Calibration, filter and limits.
        outputs: Receive every result.
        markers: Records every frame that arrived, also skipped ones.
        on_sample: Called with each result in the computing thread.
        on_sentence: Called with each new sentence.
    """

    def __init__(
        self,
        model: Model,
        source: MarkerSource,
        options: LiveOptions | None = None,
        *,
        outputs: Sequence[LiveOutput] = (),
        markers: MarkerFile | None = None,
        on_sample: Callable[[LiveSample], None] | None = None,
        on_sentence: Callable[[str], None] | None = None,
    ) -> None:
        self.options = options or LiveOptions()
        self.generic, self.model = model, model
        self.source = source
        self.state = LiveState.WAITING
        self.calibration: ScalingResult | None = None
        """The last calibration."""
        self.sample: LiveSample | None = None
        """The newest result."""
        self.seen = np.zeros(len(model.markers), dtype=bool)
        """(markers,): which markers of the model the last frame shows."""
        self.ledger = LatencyLedger(STAGES)
        self.clock = SenderClock()
        self.log = SessionLog(on_sentence)
        self.ended = threading.Event()
        """Set at the end of the session."""
        self.outputs = list(outputs)
        self._markers = markers
        self._on_sample = on_sample
        self._queue = FrameQueue(self.options.max_waiting)
        self._receiver = StreamReceiver(source, self._queue, self.log.add, self.options.patience_s)
        self._filter = CausalFilter(self.options.filter_window_s, self.options.filter_delay_s)
        self._order = LabelOrder(model)
        self._checks = StreamChecks(self._order.markers)
        self._late = 0
        self._tracker: SampleTracker | None = None
        self._collected: list[MarkerFrame] = []
        self._fitting: threading.Thread | None = None
        self._calibrate = threading.Event()
        self._stop = threading.Event()
        self._seen_at: tuple[float, float] | None = None
        self._stepped_at = -np.inf
        self._tracked = self._unreliable = 0
        self._thread = threading.Thread(target=self._run, daemon=True, name="live")
        if self.options.calibration_s > 0.0:
            self._calibrate.set()

    def start(self) -> None:
        """Start both threads; without calibration, the kernels of the model are built before."""
        for output in self.outputs:
            output.start(self.model)
        if not self._calibrate.is_set():
            self._tracker = SampleTracker(self.model)
        self._receiver.start()
        self._thread.start()

    def stop(self) -> None:
        """End the session and complete the outputs."""
        self._stop.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=30.0)

    def recalibrate(self) -> None:
        """Record a calibration again, for example of another person."""
        self._calibrate.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end of the session.

        Args:
            timeout_s: Longest time to wait (s); None: without limit.

        Returns:
            Whether the session has ended.
        """
        return self.ended.wait(timeout_s)

    def summary(self) -> LiveSummary:
        """Frames, delays and findings so far."""
        counts = self._receiver.counts
        files = [path for output in self.outputs for path in getattr(output, "paths", ())]
        files += self._markers.paths if self._markers is not None else []
        return LiveSummary(
            source=self.source.address,
            state=self.state.value,
            frames=counts.frames,
            tracked=self._tracked,
            skipped=self._queue.skipped,
            late=self._late + self._checks.late,
            malformed=counts.malformed,
            connections=counts.connections,
            rate_hz=self._checks.rate or 0.0,
            unreliable=self._unreliable,
            filter_delay_ms=1e3 * self._filter.delay_s,
            latency=self.ledger.summary() | {"jitter": self.clock.jitter.summary()},
            files=tuple(str(path) for path in files),
            sentences=self.log.sentences,
        )

    def _run(self) -> None:
        deadline = None
        if self.options.duration_s is not None:
            deadline = perf_counter() + self.options.duration_s
        complaints = 0
        try:
            while not self._stop.is_set() and not self._queue.ended:
                if deadline is not None and perf_counter() > deadline:
                    break
                skipped, frame = self._queue.take(TAKE_TIMEOUT_S)
                for old in skipped:
                    self._process(old, skipped=True)
                if frame is not None:
                    self._process(frame)
                elif self._seen_at is not None and self._is_long(perf_counter() - self._seen_at[1]):
                    self._lose("no frame arrives")
                counts = self._receiver.counts
                if counts.malformed >= max(10 * complaints, 1):
                    self.log.add(f"malformed packets are left out: {counts.complaint}")
                    complaints = counts.malformed
        except Exception as error:
            self.log.add(f"the session ended by an unexpected error: {error}")
            raise
        finally:
            self._finish()

    def _finish(self) -> None:
        self._receiver.stop()
        self.state = LiveState.ENDED
        for output in self.outputs:
            self._attempt(output.close)
        if self._markers is not None:
            self._attempt(self._markers.close)
        self.ended.set()

    def _process(self, frame: MarkerFrame, *, skipped: bool = False) -> None:
        """Compute one frame; a skipped one is only checked, or bridges a long gap."""
        begin = perf_counter()
        self._record(frame)
        self.clock.add(frame.time, frame.arrival)
        new_labels = self._order.update(frame.labels)
        for sentence in new_labels:
            self.log.add(sentence)
        checked = self._checks.check(frame, self._order.pick(frame.labels, frame.positions))
        for sentence in checked.sentences:
            self.log.add(sentence)
        if not checked.usable:
            return
        if checked.restart:
            self._restart()
        self.seen = np.isfinite(checked.positions).all(-1)
        if not self.seen.any():
            if self._seen_at is not None and self._is_long(frame.time - self._seen_at[0]):
                self._lose("no marker of the model is seen")
            if self.state is not LiveState.TRACKING:
                return
        else:
            self._seen_at = (frame.time, frame.arrival)
        if self._needs_calibration(frame):
            return
        if self.state is not LiveState.TRACKING:
            if self.state is LiveState.LOST:
                self.log.add(f"markers are seen again at {frame.time:.3f} s; tracking begins again")
            self._restart()
            self.state = LiveState.TRACKING
        filtered = self._filter.add(frame.time, checked.positions)
        if skipped and frame.time - self._stepped_at < MAX_SKIPPED_S:
            return
        # The body follows long runs of skipped frames in long steps: it would be placed again.
        self._stepped_at = frame.time
        self._track(frame, filtered, begin, shown=not skipped)

    def _track(
        self, frame: MarkerFrame, filtered: FilteredMarkers, begin: float, *, shown: bool
    ) -> None:
        """Advance the body, and pass the result on."""
        assert self._tracker is not None
        sample = self._tracker.step(frame, filtered)
        if sample is None or not shown:
            return
        computed = perf_counter()
        self._tracked += 1
        self._unreliable += bool(sample.status)
        self.sample = sample
        for output in self.outputs:
            self._attempt(lambda output=output: output.write(sample))  # type: ignore[misc]
        if self._on_sample is not None:
            self._on_sample(sample)
        end = perf_counter()
        self.ledger.add(
            waiting=begin - frame.arrival,
            computing=computed - begin,
            output=end - computed,
            total=end - frame.arrival,
        )

    def _needs_calibration(self, frame: MarkerFrame) -> bool:
        """Collect frames of a calibration; whether the frame belongs to one."""
        if self._fitting is not None:
            if self._fitting.is_alive():
                return True
            self._fitting = None
            self._restart()
        if not self._calibrate.is_set():
            return False
        if self.state is not LiveState.CALIBRATING:
            self.log.add(
                f"calibration: stand still, then move all joints; {self.options.calibration_s:g} s"
            )
            self.state, self._collected = LiveState.CALIBRATING, []
        if not self._collected or frame.time > self._collected[-1].time:
            self._collected.append(frame)
        recorded_s = frame.time - self._collected[0].time
        enough = recorded_s >= self.options.calibration_s
        if enough or len(self._collected) >= MAX_CALIBRATION_FRAMES:
            self._calibrate.clear()
            self.state = LiveState.FITTING
            self._fitting = threading.Thread(target=self._fit, daemon=True, name="calibration")
            self._fitting.start()
        return True

    def _fit(self) -> None:
        """Fit the generic model to the collected frames, in a thread of its own."""
        begin = perf_counter()
        options = self.options
        try:
            result = calibrate_on_the_spot(
                self.generic, self._collected, mass=options.mass, height=options.height
            )
            self.calibration, self.model = result, result.model
            self.log.add(f"calibration in {perf_counter() - begin:.1f} s: {result.headline()}")
            for output in self.outputs:
                self._attempt(lambda output=output: output.start(result.model))  # type: ignore[misc]
        except HomodynError as error:
            self.log.add(f"the calibration failed, the model stays as it is: {error}")
        finally:
            self._collected = []
        begin = perf_counter()
        if self._tracker is None or self._tracker.model is not self.model:
            self._tracker = SampleTracker(self.model)
            self.log.add(
                f"the equations of the body are ready after {perf_counter() - begin:.1f} s"
            )

    def _is_long(self, hidden_s: float) -> bool:
        """Whether the person counts as away after a time without markers."""
        return hidden_s > self.options.lost_after_s

    def _lose(self, reason: str) -> None:
        if self.state is LiveState.TRACKING:
            self.log.add(f"{reason} for {self.options.lost_after_s:g} s; tracking pauses")
            self.state = LiveState.LOST

    def _restart(self) -> None:
        """Forget the past: the next frame is the first one of a movement."""
        self._filter.reset()
        self._stepped_at = -np.inf
        if self._tracker is not None:
            self._tracker.restart()

    def _record(self, frame: MarkerFrame) -> None:
        if self._markers is not None:
            markers = self._markers
            self._attempt(lambda: markers.write(frame))

    def _attempt(self, work: Callable[[], None]) -> None:
        """Call a function of an output; its error becomes a sentence."""
        try:
            work()
        except (HomodynError, OSError) as error:
            self.log.add(f"an output failed: {error}")
