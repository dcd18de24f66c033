"""Save: files of bodies and sessions, images and videos of the view, and unsaved work."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from viser import Icon

from homodyn.errors import HomodynError
from homodyn.foundation.markup import escape_markup
from homodyn.studio import video
from homodyn.studio.background_tasks import BackgroundTask
from homodyn.studio.document import Actor
from homodyn.studio.export import EXPORTS, ExportedFile, file_name, replay
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.panels.panel import Panel, set_text, set_visible
from homodyn.studio.session import SessionView
from homodyn.studio.session_store import session_archive

REPLAY, IMAGE, GIF, MP4 = "Replay page (.html)", "Image (.png)", "Video (.gif)", "Video (.mp4)"
FILE_KINDS = (*EXPORTS, REPLAY, IMAGE, GIF, MP4)
VIDEO_WIDTH_PX = 640
"""Largest width of a video (pixels)."""
RENDER_TIMEOUT_S = 60.0
"""Time (s) within which a page must return an image."""
MAX_RENDER_RETRIES, RENDER_RETRY_S = 20, 0.1
"""Further requests for an image of a body that moved, and the time (s) before each."""
MIN_POSE_CHANGE = 1e-3
"""Change of a coordinate (rad or m) that an image shows."""
PAGE_LABEL = "Homodyn studio"
RECORDING_TASK = "Recording video"


class SavePanel(Panel):
    """Sends files to the browser as downloads."""

    title = "Save"

    def build(self) -> None:
        """Create the controls."""
        self.state = MarkdownText(self.gui, "")
        self.all = self.gui.add_button(
            "Save everything",
            icon=Icon.DEVICE_FLOPPY,
            hint="All bodies, motions and recordings in one file; drop it on the page to continue",
        )
        self.kind = self.gui.add_dropdown("File", FILE_KINDS, hint="Of the active body or the view")
        self.one = self.gui.add_button("Save file", icon=Icon.DOWNLOAD, color="gray")
        self.cancel = self.gui.add_button("Cancel video", color="red", visible=False)
        self.on_click(self.cancel)(self._cancel)
        self.all.on_click(lambda event: self._attempt(event, self._save_all))
        self.one.on_click(lambda event: self._attempt(event, self._save_one))
        self.gui.add_command("Save everything", hotkey="S", modifier="cmd/ctrl").on_trigger(
            lambda event: self._attempt(event, self._save_all)
        )
        self._label = ""

    def refresh(self, view: SessionView) -> None:
        """Show the unsaved parts."""
        set_text(self.state, saved_sentence(view))
        label = f"{PAGE_LABEL} (unsaved work)" if view.unsaved else PAGE_LABEL
        if self._label != label:
            self._label = label
            self.gui.set_panel_label(label)

    def on_task_update(self, task: BackgroundTask) -> None:
        """Show the cancel button while a video is recorded."""
        set_visible(self.cancel, task.name == RECORDING_TASK and not task.done.is_set())

    def _cancel(self) -> None:
        task = self.studio.tasks.current
        if task is not None and task.name == RECORDING_TASK:
            task.cancel()

    def _attempt(self, event: Any, work: Callable[[Any], None]) -> None:
        self.studio.attempt(lambda: work(event.client))

    def _save_all(self, client: Any) -> None:
        self._send(client, session_archive(self.session.document))

    def _save_one(self, client: Any) -> None:
        kind = self.kind.value
        if kind == IMAGE:
            self._save_image(client)
        elif kind in (GIF, MP4):
            self._record_video(client, kind)
        else:
            actor = self._actor()
            trial = self.session.document.trial
            self._send(client, replay(actor, trial) if kind == REPLAY else EXPORTS[kind](actor))

    def _actor(self) -> Actor:
        actor = self.session.document.actor
        if actor is None:
            raise HomodynError("no body is open to save; add one under Open")
        return actor

    def _save_image(self, client: Any) -> None:
        width, height = size_of(client)
        self._send(
            client,
            ExportedFile(f"{self._stem()}.png", video.png(self._render(client, width, height))),
        )

    def _record_video(self, client: Any, kind: str) -> None:
        """Draw the frames one by one and encode them in a background task."""
        if kind == MP4:
            video.require_ffmpeg()
        clock = self.session.clock
        rate = video.GIF_RATE_HZ if kind == GIF else video.MP4_RATE_HZ
        first, last = float(clock.time[0]), float(clock.time[-1])
        if last <= first:
            raise HomodynError("there is no motion to record; save an image instead")
        times = video.frame_times(first, last, clock.speed, rate)
        width, height = size_of(client)
        scale = min(1.0, VIDEO_WIDTH_PX / width)
        size = 2 * round(width * scale / 2), 2 * round(height * scale / 2)

        def work(task: BackgroundTask) -> None:
            images: list[np.ndarray] = []
            try:
                for k, instant in enumerate(times):
                    task.report(f"frame {k + 1} of {len(times)}", k / len(times))
                    self.session.update_clock(lambda c, t=instant: c.pause().at(t))  # type: ignore[misc]
                    self.studio.wait_until_drawn()
                    moved = k > 0 and self._has_moved(times[k - 1], instant)
                    images.append(self._render_frame(client, size, images[-1] if moved else None))
            finally:
                self.session.update_clock(lambda c: c.at(clock.now))
            task.report("encoding", 1.0)
            content = video.gif(images) if kind == GIF else video.mp4(images)
            suffix = "gif" if kind == GIF else "mp4"
            self._send(client, ExportedFile(f"{self._stem()}.{suffix}", content))

        self.studio.tasks.start(RECORDING_TASK, work)

    def _has_moved(self, before: float, now: float) -> bool:
        """Whether a visible body has different poses at two instants (s)."""
        return any(
            np.abs(actor.position(now) - actor.position(before)).max(initial=0.0) > MIN_POSE_CHANGE
            for actor in self.session.document.actors
            if actor.shown and actor.motion is not None
        )

    def _render_frame(
        self, client: Any, size: tuple[int, int], previous: np.ndarray | None
    ) -> np.ndarray:
        """An image that differs from the previous one, if there is a previous one.

        A busy page can receive the request for an image before the new pose.
        """
        image = self._render(client, *size)
        for _ in range(MAX_RENDER_RETRIES):
            if previous is None or not np.array_equal(image, previous):
                break
            time.sleep(RENDER_RETRY_S)
            image = self._render(client, *size)
        return image

    def _render(self, client: Any, width: int, height: int) -> np.ndarray:
        try:
            image = client.get_render(
                height, width, transport_format="png", timeout=RENDER_TIMEOUT_S
            )
        except (TimeoutError, RuntimeError, ConnectionError) as error:
            raise HomodynError("the page did not return an image; is it still open?") from error
        return video.flatten(np.asarray(image), self.studio.themes.is_dark(client))

    def _stem(self) -> str:
        actor, trial = self.session.document.actor, self.session.document.trial
        name = actor.name if actor is not None else trial.name if trial is not None else "view"
        return file_name(name)

    def _send(self, client: Any, saved: ExportedFile) -> None:
        client.send_file_download(saved.name, saved.content, save_immediately=True)
        self.session.mark_saved(saved.document_parts)
        lost = f"; not included: {'; '.join(saved.losses)}" if saved.losses else ""
        self.studio.notify("Saved", f"{saved.name}{lost}", color="yellow" if lost else None)


def saved_sentence(view: SessionView) -> str:
    """The unsaved parts, in Markdown."""
    if not view.document.actors and not view.document.trials:
        return "Nothing is open."
    if not view.unsaved:
        return "All changes are saved."
    return (
        "**Not saved:** " + escape_markup(", ".join(part.sentence for part in view.pending)) + "."
    )


def size_of(client: Any) -> tuple[int, int]:
    """Width and height of the view of a page (pixels)."""
    return int(client.camera.image_width), int(client.camera.image_height)
