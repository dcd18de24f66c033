"""Live: the active body follows a stream of markers, with torques, effort and delays."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np
from viser import Icon

from homodyn.errors import HomodynError
from homodyn.foundation.markup import escape_markup
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.motion import Motion
from homodyn.report.replay import ARROW_LENGTH_M
from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.force_arrows import weight_of
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.meshes import bead
from homodyn.studio.panels.panel import Panel
from homodyn.studio.scene.instances import Arrows, InstancedMesh
from homodyn.studio.scene.markers import MEASURED_RADIUS_M, UNASSIGNED_COLOR
from homodyn.studio.session import SessionView
from homodyn.studio.torque_bars import SCALE_NM, largest_torques, torque_bars
from homodyn.track.streams import (
    LiveOptions,
    LiveSample,
    LiveSession,
    LiveState,
    SourceOptions,
    open_source,
)

UNDO_LABEL = "live"
SOURCE_EXAMPLE = "file:walk.c3d"
MIN_POSE_S = 1.0 / 35.0
"""Time (s) between two poses that are drawn."""
MIN_TEXT_S = 0.25
"""Time (s) between two updates of texts and bars."""
MAX_RECORDED_FRAMES = 200_000
MAX_SENTENCES = 4
PEAK_DECAY = 0.995
"""Share of the largest torque so far that remains after a frame."""
MAX_SCALE_NM = 250.0
"""Largest torque (N m) of a bar of full length: larger ones are cut."""
GROUND_COLOR = (40, 150, 90)
MAX_NAMES = 8


class LivePanel(Panel):
    """The controls of a live session, bars of torques, and the health of the markers."""

    title = "Live"
    expanded = True

    def build(self) -> None:
        """Create the controls."""
        self.state = MarkdownText(self.gui, "")
        self.source = self.gui.add_text(
            "Source",
            SOURCE_EXAMPLE,
            hint="file:walk.c3d, lsl:NAME, qtm:HOST, ws:PORT or udp:PORT",
        )
        self.calibration = self.gui.add_number(
            "Calibration (s)",
            4.0,
            min=0.0,
            max=60.0,
            step=0.5,
            hint="Stand still, then move all joints; 0: use the body as it is",
        )
        self.window = self.gui.add_number(
            "Filter window (ms)",
            50.0,
            min=0.0,
            max=500.0,
            step=10.0,
            hint="Half of it is the delay",
        )
        self.loop = self.gui.add_checkbox("Repeat a recording", False)
        self.run = self.gui.add_button("Start", icon=Icon.PLAYER_PLAY)
        self.end = self.gui.add_button("Stop", icon=Icon.PLAYER_STOP, color="red", visible=False)
        self.again = self.gui.add_button("Calibrate again", icon=Icon.REFRESH, visible=False)
        self.record = self.gui.add_button("Record", icon=Icon.PLAYER_RECORD, visible=False)
        self.numbers = MarkdownText(self.gui, "")
        self.health = MarkdownText(self.gui, "")
        self.bars = self.gui.add_html("")
        self.live: LiveSession | None = None
        self._owner = ""
        self._kept: list[LiveSample] | None = None
        self._peaks = np.zeros(0)
        self._posed_at = self._texted_at = 0.0
        self._markers: InstancedMesh | None = None
        self._arrows: Arrows | None = None
        self.on_click(self.run)(self.start)
        self.on_click(self.end)(self.stop)
        self.on_click(self.again)(self._calibrate_again)
        self.on_click(self.record)(self.toggle_recording)

    def refresh(self, view: SessionView) -> None:
        """Offer to start if a body is open."""
        if self.live is None:
            actor = view.document.actor
            self.run.visible = actor is not None
            self.state.content = start_sentence(actor)

    def tick(self, view: SessionView) -> None:
        """Show the newest result."""
        live = self.live
        if live is None:
            return
        sample = live.sample
        if sample is not None:
            self._draw(view.document, live, sample)
        if perf_counter() - self._texted_at > MIN_TEXT_S:
            self._texted_at = perf_counter()
            self._show_texts(live, sample)

    def start(self) -> None:
        """Start a session with the active body.

        Raises:
            HomodynError: No body is open, a session is running, or the source is invalid.
        """
        actor = self.session.document.actor
        if actor is None:
            raise HomodynError("no body is open that could follow markers; add one under Open")
        if self.live is not None:
            raise HomodynError("a live session is running; stop it first")
        source = open_source(self.source.value.strip(), SourceOptions(loop=bool(self.loop.value)))
        options = LiveOptions(
            calibration_s=float(self.calibration.value),
            filter_window_s=1e-3 * float(self.window.value),
        )
        live = LiveSession(actor.model, source, options, on_sample=self._on_sample)
        self.session.update_clock(lambda clock: clock.pause())
        self._owner, self._kept, self._peaks = actor.name, None, np.zeros(actor.model.nv)
        self.state.content = f"Preparing **{escape_markup(actor.name)}** ..."
        self.run.visible, self.end.visible = False, True
        self.again.visible = self.record.visible = True
        self.live = live
        try:
            live.start()
        except HomodynError:
            self.live = None
            self._show_idle()
            raise
        self.studio.watch(live.ended, self._on_end)

    def stop(self) -> None:
        """End the session."""
        if self.live is not None:
            self.live.stop()

    def close(self) -> None:
        """End a running session."""
        self.stop()

    def toggle_recording(self) -> None:
        """Begin to record, or end it: the recorded frames become a body with its motion."""
        if self._kept is None:
            self._kept = []
            self.record.label = "End recording"
            return
        self._finish_recording()

    def _calibrate_again(self) -> None:
        if self.live is not None:
            self.live.recalibrate()

    def _on_sample(self, sample: LiveSample) -> None:
        """Pose the body; called in the thread of the session."""
        live, kept = self.live, self._kept
        if live is None:
            return
        if kept is not None and not sample.status and len(kept) < MAX_RECORDED_FRAMES:
            kept.append(sample)
        if len(self._peaks) == len(sample.torques):
            self._peaks = np.maximum(PEAK_DECAY * self._peaks, np.abs(sample.torques))
        now = perf_counter()
        if now - self._posed_at < MIN_POSE_S:
            return
        self._posed_at = now
        model = live.model

        def change(document: StudioDocument) -> StudioDocument:
            if self._owner not in document.names:
                return document
            index = document.index(self._owner)
            actor = document.actors[index]
            if actor.model is not model:
                # The calibrated body has no motion of the generic one.
                actor = replace(actor, model=model, motion=None, loads=None, recipe=None)
            return document.with_actor_at(index, actor.with_pose(sample.q))

        self.session.change(UNDO_LABEL, change, merge=True)

    def _on_end(self) -> None:
        live, self.live = self.live, None
        if live is None:
            return
        if self._kept:
            self._finish_recording(live)
        self._kept = None
        self._show_idle()
        self.numbers.content = escape_markup(live.summary().headline())
        with self.studio.pause_drawing():
            if self._markers is not None:
                self._markers.place(np.zeros((len(self._markers.scales), 3)), visible=False)
            if self._arrows is not None:
                self._arrows.place(np.zeros((0, 2, 3)), visible=False)
        self.session.changed.set()

    def _show_idle(self) -> None:
        self.run.visible, self.end.visible = True, False
        self.again.visible = self.record.visible = False
        self.record.label = "Record"
        self.state.content = start_sentence(self.session.document.actor)

    def _finish_recording(self, live: LiveSession | None = None) -> None:
        """Open the recorded frames as a body with its motion."""
        kept, self._kept = self._kept or [], None
        self.record.label = "Record"
        session = live or self.live
        if session is None:
            return
        frames = increasing([s for s in kept if len(s.q) == session.model.nq])
        if len(frames) < 2:
            self.studio.notify("Recording", "no frame was tracked while recording")
            return
        actor = actor_from_samples(session, frames, f"{self._owner} live")
        self.session.change("record", lambda document: document.with_actor(actor))
        self.studio.notify("Recording", f"{count_of(len(frames), 'frame')} as {actor.name}")

    def _show_texts(self, live: LiveSession, sample: LiveSample | None) -> None:
        self.state.content = state_sentence(live)
        self.health.content = health_sentence(live)
        if sample is None or len(self._peaks) != live.model.nv:
            return
        self.numbers.content = number_sentence(live, sample)
        columns = largest_torques(live.model, sample.torques, self._peaks)
        peak = float(self._peaks[columns].max(initial=0.0))
        scale = min(max(SCALE_NM, peak), MAX_SCALE_NM)
        names = [live.model.coordinate_names[k] for k in columns]
        self.bars.content = torque_bars(names, sample.torques[columns].tolist(), scale)

    def _draw(self, document: StudioDocument, live: LiveSession, sample: LiveSample) -> None:
        """Draw the measured markers and the forces of the ground."""
        scene = self.studio.server.scene
        if self._markers is None or len(self._markers.scales) != len(sample.markers):
            scales = np.full(len(sample.markers), MEASURED_RADIUS_M)
            self._markers = InstancedMesh(
                scene, "/scene/live/markers", bead(), scales, UNASSIGNED_COLOR
            )
        if self._arrows is None:
            self._arrows = Arrows(scene, "/scene/live/ground", GROUND_COLOR)
        seen = np.isfinite(sample.markers).all(-1)
        self._markers.place(np.nan_to_num(sample.markers), present=seen)
        if self._owner not in document.names:
            return
        actor = document.actors[document.index(self._owner)]
        rotation = body_geometry(live.model).rotation
        scale = ARROW_LENGTH_M / max(weight_of(actor), 1e-9)
        arrows = [
            (rotation @ contact.point, rotation @ (contact.point + scale * contact.force))
            for contact in sample.ground.values()
            if np.isfinite(contact.point).all()
        ]
        self._arrows.place(np.array(arrows).reshape(-1, 2, 3))


def increasing(samples: list[LiveSample]) -> list[LiveSample]:
    """The samples whose times increase.

    Args:
        samples: Results of a session.

    Returns:
        Those that are later than all before.
    """
    found: list[LiveSample] = []
    for sample in samples:
        if not found or sample.time > found[-1].time:
            found.append(sample)
    return found


def actor_from_samples(live: LiveSession, samples: list[LiveSample], name: str) -> Actor:
    """The body of a session with its recorded motion and torques.

    Args:
        live: The session.
        samples: Results with increasing times, two or more.
        name: Name of the body.

    Returns:
        The body.
    """
    motion = Motion(
        live.model,
        np.array([sample.time for sample in samples]),
        np.stack([sample.q for sample in samples]),
        np.stack([sample.v for sample in samples]),
        np.stack([sample.accelerations for sample in samples]),
        tau=np.stack([sample.torques for sample in samples]),
        method=f"tracked live from {live.source.address}",
    )
    return Actor.from_motion(motion, name)


def start_sentence(actor: Actor | None) -> str:
    """How to start a session, in Markdown."""
    if actor is None:
        return "Open or add a body that follows the markers."
    return (
        f"**{escape_markup(actor.name)}** follows the markers of a source: a recording "
        "(file:walk.c3d), LSL, Qualisys, WebSocket or UDP."
    )


def state_sentence(live: LiveSession) -> str:
    """What the session does, and what it found last, in Markdown."""
    text = f"**{live.state.value.capitalize()}** {escape_markup(live.source.address)}"
    if live.state is LiveState.CALIBRATING:
        text += ": stand still, then move all joints."
    for sentence in live.log.sentences[-MAX_SENTENCES:]:
        text += f"\n\n- {escape_markup(sentence)}"
    return text


def number_sentence(live: LiveSession, sample: LiveSample) -> str:
    """Effort, power, marker error and delays of a result, in Markdown."""
    total = live.ledger.stages["total"].summary()
    text = (
        f"Effort **{sample.effort:.0f} N m**, power **{sample.power:.0f} W**, marker error "
        f"{1e3 * sample.marker_error:.0f} mm\n\n"
        f"Latency {total.median_ms:.1f} ms median, {total.p99_ms:.1f} ms p99, and "
        f"{live.summary().filter_delay_ms:.0f} ms of the filter"
    )
    return f"{text}\n\n*{escape_markup(sample.status)}*" if sample.status else text


def health_sentence(live: LiveSession) -> str:
    """Which markers are not seen, in Markdown."""
    names = [marker.name for marker in live.model.markers]
    if len(live.seen) != len(names):
        return ""
    absent = [name for name, seen in zip(names, live.seen, strict=True) if not seen]
    text = f"Markers: {len(names) - len(absent)} of {len(names)} are seen"
    if not absent:
        return text
    more = f" and {len(absent) - MAX_NAMES} more" if len(absent) > MAX_NAMES else ""
    return f"{text}; not {escape_markup(enumerate_names(absent[:MAX_NAMES]))}{more}"
