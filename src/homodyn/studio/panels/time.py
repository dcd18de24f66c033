"""Time: play, pause, step, speed, loop, and the frame with its events and phases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from homodyn.studio.clock import SPEEDS
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.session import View
from homodyn.studio.timeline import marks, strip

PLAY, PAUSE = "▶", "❚❚"
BUTTONS = ("|◀", "◀", PLAY + " / " + PAUSE, "▶|")
WORDS = {speed: f"{speed:g} ×" for speed in SPEEDS}


class TimePanel(Panel):
    """The time line."""

    title = "Time"

    def build(self) -> None:
        """Make the controls."""
        self.strip = self.gui.add_html("")
        self._slider((), 1)
        self.buttons = self.gui.add_button_group("Play", BUTTONS)
        self.speed = self.gui.add_dropdown("Speed", tuple(WORDS.values()), initial_value=WORDS[1.0])
        self.loop = self.gui.add_checkbox("Loop", initial_value=True)
        self.buttons.on_click(lambda event: self.studio.attempt(lambda: self._press(event)))
        self.on_choice(self.speed)(self._set_speed)
        self.on_choice(self.loop)(
            lambda on: self.session.tune(lambda clock: replace(clock, loop=on))
        )
        for label, key, frames in (("Frame back", "arrowleft", -1), ("Frame on", "arrowright", 1)):
            self._command(label, key, lambda clock, n=frames: clock.stepped(n))
        self._command(
            "Play or pause",
            "space",
            lambda clock: clock.stopped() if clock.playing else clock.started(),
        )
        self._drawn: Any = None

    def refresh(self, view: View) -> None:
        """Mark the events and phases of what is open."""
        document, clock = view.document, view.clock
        key = (id(clock.time), document.events)
        if self._drawn == key:
            return
        self._drawn = key
        self.strip.content = strip(document.events, clock.time)
        self.slider.remove()
        with self.container:
            self._slider(marks(document.events, clock.time), clock.frames)
        self._shown = -1

    def tick(self, view: View) -> None:
        """Follow the clock."""
        clock = view.clock
        if clock.frame != self._shown:
            self._shown = clock.frame
            self.slider.value = clock.frame
            self.slider.label = f"{clock.now:.2f} s"
        assign(self.loop, clock.loop)
        assign(self.speed, WORDS.get(clock.speed, WORDS[1.0]))

    def _slider(self, marked: tuple[tuple[int, str], ...], frames: int) -> None:
        self.slider = self.gui.add_slider(
            "0.00 s",
            min=0,
            max=max(frames - 1, 1),
            step=1,
            initial_value=0,
            marks=marked or None,
            order=self.strip.order + 0.5,
            disabled=frames < 2,
        )
        self.on_choice(self.slider)(self._seek)
        self._shown = 0

    def _seek(self, frame: float) -> None:
        self._shown = int(frame)
        self.session.tune(lambda clock: clock.at_frame(int(frame)).stopped())

    def _press(self, event: Any) -> None:
        pressed = BUTTONS.index(event.target.value)
        if pressed == 0:
            self.session.tune(lambda clock: clock.at_frame(0))
        elif pressed == 2:
            self.session.tune(
                lambda clock: clock.stopped() if clock.playing else clock.started()
            )
        else:
            self.session.tune(lambda clock: clock.stepped(pressed - 2))

    def _set_speed(self, word: str) -> None:
        speed = next(speed for speed, known in WORDS.items() if known == word)
        self.session.tune(lambda clock: replace(clock, speed=speed))

    def _command(self, label: str, key: Any, turn: Any) -> None:
        self.gui.add_command(label, hotkey=key).on_trigger(lambda event: self.session.tune(turn))
