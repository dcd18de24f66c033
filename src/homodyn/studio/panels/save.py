"""Save: files of what is open, pictures and films of the view, and what is in no file yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from viser import Icon

from homodyn.errors import HomodynError
from homodyn.studio import video
from homodyn.studio.background_tasks import BackgroundTask
from homodyn.studio.document import Actor
from homodyn.studio.export import FILES, ExportedFile, file_name, replay
from homodyn.studio.panels.panel import Panel
from homodyn.studio.session import SessionView
from homodyn.studio.session_store import session_archive

REPLAY, PICTURE, GIF, MP4 = "Replay page (.html)", "Image (.png)", "Video (.gif)", "Video (.mp4)"
WORDS = (*FILES, REPLAY, PICTURE, GIF, MP4)
VIDEO_WIDTH_PX = 640
"""Pixels that a film is wide at most."""
RENDER_TIMEOUT_S = 60.0
"""s that a page may take to draw one picture."""
LABEL = "Homodyn studio"
FILMING = "Recording video"


class SavePanel(Panel):
    """Files go to the browser, which puts them where it puts downloads."""

    title = "Save"

    def build(self) -> None:
        """Make the controls."""
        self.state = self.gui.add_markdown("")
        self.all = self.gui.add_button(
            "Save everything",
            icon=Icon.DEVICE_FLOPPY,
            hint="All bodies, motions and recordings in one file; drop it on the page to go on",
        )
        self.what = self.gui.add_dropdown("One file", WORDS, hint="Of the active body or the view")
        self.one = self.gui.add_button("Save file", icon=Icon.DOWNLOAD, color="gray")
        self.cancel = self.gui.add_button("Cancel video", color="red", visible=False)
        self.on_click(self.cancel)(self._cancel)
        self.all.on_click(lambda event: self._attempt(event, self._everything))
        self.one.on_click(lambda event: self._attempt(event, self._one))
        self.gui.add_command("Save everything", hotkey="S", modifier="cmd/ctrl").on_trigger(
            lambda event: self._attempt(event, self._everything)
        )
        self._label = ""

    def refresh(self, view: SessionView) -> None:
        """Say what is in no file yet."""
        sentence = saved_sentence(view)
        if self.state.content != sentence:
            self.state.content = sentence
        label = f"{LABEL} (unsaved work)" if view.unsaved else LABEL
        if self._label != label:
            self._label = label
            self.gui.set_panel_label(label)

    def on_task_update(self, task: BackgroundTask) -> None:
        """A film can be stopped while it is made."""
        filming = task.name == FILMING and not task.done.is_set()
        if self.cancel.visible != filming:
            self.cancel.visible = filming

    def _cancel(self) -> None:
        task = self.studio.tasks.current
        if task is not None and task.name == FILMING:
            task.cancel()

    def _attempt(self, event: Any, work: Callable[[Any], None]) -> None:
        self.studio.attempt(lambda: work(event.client))

    def _everything(self, client: Any) -> None:
        self._send(client, session_archive(self.session.document))

    def _one(self, client: Any) -> None:
        word = self.what.value
        if word == PICTURE:
            self._picture(client)
        elif word in (GIF, MP4):
            self._film(client, word)
        else:
            actor = self._actor()
            trial = self.session.document.trial
            self._send(client, replay(actor, trial) if word == REPLAY else FILES[word](actor))

    def _actor(self) -> Actor:
        actor = self.session.document.actor
        if actor is None:
            raise HomodynError("no body is open that could be saved; add one under Open")
        return actor

    def _picture(self, client: Any) -> None:
        width, height = size_of(client)
        self._send(
            client,
            ExportedFile(f"{self._stem()}.png", video.png(self._render(client, width, height))),
        )

    def _film(self, client: Any, word: str) -> None:
        """Draw instant after instant, and put them together beside the page."""
        if word == MP4 and video.ffmpeg() is None:
            video.mp4([])
        clock = self.session.clock
        rate = video.GIF_RATE if word == GIF else video.MP4_RATE
        first, last = float(clock.time[0]), float(clock.time[-1])
        if last <= first:
            raise HomodynError("nothing moves that could be filmed; save a picture instead")
        times = video.frame_times(first, last, clock.speed, rate)
        width, height = size_of(client)
        scale = min(1.0, VIDEO_WIDTH_PX / width)
        size = 2 * round(width * scale / 2), 2 * round(height * scale / 2)

        def work(task: BackgroundTask) -> None:
            pictures = []
            try:
                for k, instant in enumerate(times):
                    task.tell(f"picture {k + 1} of {len(times)}", k / len(times))
                    self.session.update_clock(lambda c, t=instant: c.pause().at(t))  # type: ignore[misc]
                    self.studio.wait_until_drawn()
                    pictures.append(self._render(client, *size))
            finally:
                self.session.update_clock(lambda c: c.at(clock.now))
            task.tell("putting them together", 1.0)
            content = video.gif(pictures) if word == GIF else video.mp4(pictures)
            suffix = "gif" if word == GIF else "mp4"
            self._send(client, ExportedFile(f"{self._stem()}.{suffix}", content))

        self.studio.tasks.start(FILMING, work)

    def _render(self, client: Any, width: int, height: int) -> np.ndarray:
        try:
            picture = client.get_render(
                height, width, transport_format="png", timeout=RENDER_TIMEOUT_S
            )
        except (TimeoutError, RuntimeError, ConnectionError) as error:
            raise HomodynError("the page did not send its picture; is it still open?") from error
        return video.flatten(np.asarray(picture), self.studio.view_options.dark)

    def _stem(self) -> str:
        actor, trial = self.session.document.actor, self.session.document.trial
        name = actor.name if actor is not None else trial.name if trial is not None else "view"
        return file_name(name)

    def _send(self, client: Any, saved: ExportedFile) -> None:
        client.send_file_download(saved.name, saved.content, save_immediately=True)
        self.session.mark_saved(saved.document_parts)
        lost = f"; it has no place for: {'; '.join(saved.lost)}" if saved.lost else ""
        self.studio.notify("Saved", f"{saved.name}{lost}", color="yellow" if lost else None)


def saved_sentence(view: SessionView) -> str:
    """What would be lost, in Markdown."""
    if not view.document.actors and not view.document.trials:
        return "Nothing is open yet."
    if not view.unsaved:
        return "Everything that was made here is saved."
    return "**Not saved yet:** " + ", ".join(piece.sentence for piece in view.pending) + "."


def size_of(client: Any) -> tuple[int, int]:
    """Width and height of the picture in a page, pixels."""
    return int(client.camera.image_width), int(client.camera.image_height)
