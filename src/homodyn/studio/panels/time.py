"""Time: play, pause, step, speed, loop, and the frame with its events and phases."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.playback_clock import SPEEDS, PlaybackClock
from homodyn.studio.session import SessionView
from homodyn.studio.timeline import phase_strip, slider_marks

PLAY = "▶ / ❚❚"
MIN_REDRAW_S = 0.12
"""s between two places of the slider while playing: a browser is slower at it than at the body."""
FIRST, BACK, ON, SLOWER, FASTER, LOOP = "|◀", "◀", "▶|", "slower", "faster", "loop"
BUTTONS = (FIRST, BACK, PLAY, ON, SLOWER, FASTER, LOOP)


class TimePanel(Panel):
    """The time line."""

    title = "Time"

    def build(self) -> None:
        """Make the controls."""
        self.phase_strip = self.gui.add_html("")
        self._slider((), 1)
        self.buttons = self.gui.add_button_group("Play", BUTTONS)
        self.buttons.on_click(
            lambda event: self.session.update_clock(
                lambda clock: press_button(clock, event.target.value)
            )
        )
        for label, key, frames in (("Frame back", "arrowleft", -1), ("Frame on", "arrowright", 1)):
            self._command(label, key, lambda clock, n=frames: clock.step(n))
        self._command(
            "Play or pause",
            "space",
            lambda clock: press_button(clock, PLAY),
        )
        self._drawn: Any = None
        self._moved = 0.0

    def refresh(self, view: SessionView) -> None:
        """Mark the events and phases of what is open."""
        document, clock = view.document, view.clock
        key = (id(clock.time), document.events)
        if self._drawn == key:
            return
        self._drawn = key
        self.phase_strip.content = phase_strip(document.events, clock.time)
        self.slider.remove()
        with self.container:
            self._slider(slider_marks(document.events, clock.time), clock.frames)
        self._shown = -1

    def tick(self, view: SessionView) -> None:
        """Follow the clock."""
        clock = view.clock
        now = perf_counter()
        if clock.frame != self._shown and (not clock.playing or now - self._moved > MIN_REDRAW_S):
            self._shown, self._moved = clock.frame, now
            assign(self.slider, clock.frame)
            self.slider.label = f"{clock.now:.2f} s"
        label = f"{clock.speed:g} ×, {'loop' if clock.loop else 'once'}"
        if self.buttons.label != label:
            self.buttons.label = label

    def _slider(self, marked: tuple[tuple[int, str], ...], frames: int) -> None:
        self.slider = self.gui.add_slider(
            "0.00 s",
            min=0,
            max=max(frames - 1, 1),
            step=1,
            initial_value=0,
            marks=marked or None,
            order=self.phase_strip.order + 0.5,
            disabled=frames < 2,
        )
        self.on_choice(self.slider)(self._seek)
        self._shown = 0

    def _seek(self, frame: float) -> None:
        self._shown = int(frame)
        self.session.update_clock(lambda clock: clock.at_frame(int(frame)).pause())

    def _command(self, label: str, key: Any, turn: Any) -> None:
        self.gui.add_command(label, hotkey=key).on_trigger(
            lambda event: self.session.update_clock(turn)
        )


def press_button(clock: PlaybackClock, button: str) -> PlaybackClock:
    """The clock after a button of the time line."""
    if button == FIRST:
        return clock.at_frame(0)
    if button in (BACK, ON):
        return clock.step(1 if button == ON else -1)
    if button == LOOP:
        return replace(clock, loop=not clock.loop)
    if button in (SLOWER, FASTER):
        place = SPEEDS.index(clock.speed) + (1 if button == FASTER else -1)
        return replace(clock, speed=SPEEDS[min(max(place, 0), len(SPEEDS) - 1)])
    return clock.pause() if clock.playing else clock.play()
