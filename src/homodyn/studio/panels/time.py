"""Time: play, pause, step, speed and loop; the time slider with events and stance phases."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.playback_clock import SPEEDS, PlaybackClock
from homodyn.studio.session import SessionView
from homodyn.studio.timeline import phase_strip, slider_marks

MIN_REDRAW_S = 0.12
"""Time (s) between two positions of the slider during playback, which are slow in a browser."""
FIRST, BACK, PLAY, FORWARD = "|◀", "◀", "▶ / ❚❚", "▶|"
SLOWER, FASTER, LOOP = "slower", "faster", "loop"
BUTTONS = (FIRST, BACK, PLAY, FORWARD, SLOWER, FASTER, LOOP)


class TimePanel(Panel):
    """The time line."""

    title = "Time"

    def build(self) -> None:
        """Create the controls."""
        self.phase_strip = self.gui.add_html("")
        self._create_slider((), 1)
        self.buttons = self.gui.add_button_group("Play", BUTTONS)
        self.buttons.on_click(
            lambda event: self.session.update_clock(
                lambda clock: press_button(clock, event.target.value)
            )
        )
        self._add_command("Previous frame", "arrowleft", BACK)
        self._add_command("Next frame", "arrowright", FORWARD)
        self._add_command("Play or pause", "space", PLAY)
        self._key: Any = None
        self._redrawn = 0.0

    def refresh(self, view: SessionView) -> None:
        """Show the events and stance phases of the document."""
        document, clock = view.document, view.clock
        key = (id(clock.time), document.events)
        if self._key == key:
            return
        self._key = key
        self.phase_strip.content = phase_strip(document.events, clock.time)
        self.slider.remove()
        with self.container:
            self._create_slider(slider_marks(document.events, clock.time), clock.frames)
        self._shown = -1

    def tick(self, view: SessionView) -> None:
        """Show the current instant and the speed."""
        clock = view.clock
        now = perf_counter()
        due = not clock.playing or now - self._redrawn > MIN_REDRAW_S
        if clock.frame != self._shown and due:
            self._shown, self._redrawn = clock.frame, now
            assign(self.slider, clock.frame)
            self.slider.label = f"{clock.now:.2f} s"
        label = f"{clock.speed:g} ×, {'loop' if clock.loop else 'once'}"
        if self.buttons.label != label:
            self.buttons.label = label

    def _create_slider(self, marks: tuple[tuple[int, str], ...], frames: int) -> None:
        self.slider = self.gui.add_slider(
            "0.00 s",
            min=0,
            max=max(frames - 1, 1),
            step=1,
            initial_value=0,
            marks=marks or None,
            order=self.phase_strip.order + 0.5,
            disabled=frames < 2,
        )
        self.on_choice(self.slider)(self._seek)
        self._shown = 0

    def _seek(self, frame: float) -> None:
        self._shown = int(frame)
        self.session.update_clock(lambda clock: clock.at_frame(int(frame)).pause())

    def _add_command(self, label: str, key: Any, button: str) -> None:
        self.gui.add_command(label, hotkey=key).on_trigger(
            lambda event: self.session.update_clock(lambda clock: press_button(clock, button))
        )


def press_button(clock: PlaybackClock, button: str) -> PlaybackClock:
    """The clock after a button of the time line is pressed."""
    if button == FIRST:
        return clock.at_frame(0)
    if button in (BACK, FORWARD):
        return clock.step(1 if button == FORWARD else -1)
    if button == LOOP:
        return replace(clock, loop=not clock.loop)
    if button in (SLOWER, FASTER):
        index = SPEEDS.index(clock.speed) + (1 if button == FASTER else -1)
        return replace(clock, speed=SPEEDS[min(max(index, 0), len(SPEEDS) - 1)])
    return clock.pause() if clock.playing else clock.play()
