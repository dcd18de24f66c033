"""The studio: a session, the page that shows it, and the loop that draws it."""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import viser

from homodyn.capture import Trial
from homodyn.errors import HomodynError, ModelError
from homodyn.studio.autosave import Autosave, find_recoverable_work
from homodyn.studio.background_tasks import BackgroundTask, TaskRunner
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.file_opening import OpenedItem, add_to_document, open_upload_content
from homodyn.studio.marker_map import MarkerMap, with_map
from homodyn.studio.page_theme import PageThemes
from homodyn.studio.panels import PanelLayout
from homodyn.studio.prompts import ask, offer_recovery
from homodyn.studio.scene import SceneStage
from homodyn.studio.server import start_server, stop_server
from homodyn.studio.session import Session, SessionView
from homodyn.studio.upload_limit import MAX_UPLOAD_BYTES, limit_uploads
from homodyn.studio.view_options import ViewOptions

FRAME_RATE_HZ = 30.0
"""Frames per second during playback."""
AS_MEASURED = "as_measured=True"
"""Part of the message of a model that can be opened with invalid inertias."""
CAMERA_POSITION, CAMERA_TARGET = (3.3, -4.6, 1.3), (0.0, 0.0, 0.72)
"""Initial camera (m): the body is above the time line."""
CAMERA_FOV_RAD = 0.62
MESSAGE_DURATION_S = 6.0
"""Time (s) for which a message is shown; errors stay until they are closed."""


class Studio:
    """One page of one session, which any number of browsers may show.

    Panels and clicks change the session from any thread; only the loop of the studio draws.

    Args:
        session: The session; a new one if omitted.
        host: Address to listen on.
        port: Port; the first free one if omitted.
        token: Token that browsers need; a random one if omitted.
        needs_token: False lets every user of this machine in.
        home: Folder of unsaved work; None disables autosave.
    """

    def __init__(
        self,
        session: Session | None = None,
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        token: str | None = None,
        needs_token: bool = True,
        home: Path | None = None,
    ) -> None:
        self.session = session or Session()
        self.autosave = None if home is None else Autosave(self.session, home)
        self.server, self.gate = start_server(host, port, token, needs_token=needs_token)
        limit_uploads(self.server, self._refuse_upload)
        self.themes = PageThemes(self.server, self.gate)
        self.uploads = Path(tempfile.mkdtemp(prefix="homodyn-studio-"))
        self.view_options = ViewOptions()
        self.tasks = TaskRunner(self._show_progress)
        self.frames_drawn = 0
        """Number of frames sent so far."""
        self._progress_notes: dict[int, viser.NotificationHandle] = {}
        self.ended = threading.Event()
        """Set when the studio ends."""
        self._drawn_condition = threading.Condition()
        self._requested = self._completed = 0
        """Numbers of the last requested and the last completed frame of `wait_until_drawn`."""
        self._drawing = threading.Lock()
        self.stage = SceneStage(self.server, self._segment_clicked, self._marker_clicked)
        self.on_segment: list[Callable[[str, str], None]] = []
        """Called with (body, segment) when a segment is clicked."""
        self.on_marker: list[Callable[[str, str, bool], None]] = []
        """Called with (recording, marker, whether it extends the selection)."""
        self.on_simulation_control: list[Callable[[], None]] = []
        """Called when a live simulation takes control of the active body."""
        camera = self.server.initial_camera
        camera.position, camera.look_at, camera.up = CAMERA_POSITION, CAMERA_TARGET, (0, 0, 1)
        camera.fov = CAMERA_FOV_RAD
        self.layout = PanelLayout(self)
        self._loop = threading.Thread(target=self._run, daemon=True, name="studio")

    @property
    def address(self) -> str:
        """The URL of the page."""
        return self.gate.address(self.server.get_port())

    def start(self) -> None:
        """Start the drawing loop and autosave, and offer unsaved work of earlier sessions."""
        if self.autosave is not None:
            try:
                works = find_recoverable_work(self.autosave.home)
                self.autosave.start()
                offer_recovery(self, works)
            except OSError as error:
                print(f"Unsaved work is not kept: {error}", file=sys.stderr)
                self.autosave = None
        self.session.changed.set()
        self._loop.start()

    def stop(self) -> None:
        """End the loop, write unsaved work, release the port, and delete uploaded files."""
        self.tasks.end()
        for panel in self.layout.panels:
            panel.close()
        if self.autosave is not None:
            self.autosave.stop()
        self.ended.set()
        self.session.changed.set()
        if self._loop.is_alive():
            self._loop.join(timeout=5.0)
        stop_server(self.server)
        shutil.rmtree(self.uploads, ignore_errors=True)

    @contextmanager
    def pause_drawing(self) -> Iterator[None]:
        """Keep the loop from drawing, so that another thread may change the scene."""
        with self._drawing:
            yield

    def wait_until_drawn(self, timeout: float = 30.0) -> None:
        """Wait until all changes made before this call are drawn.

        Raises:
            TimeoutError: The loop did not draw within the timeout (s).
        """
        with self._drawn_condition:
            self._requested += 1
            number = self._requested
            self.session.changed.set()
            if not self._drawn_condition.wait_for(lambda: self._completed >= number, timeout):
                raise TimeoutError("the studio did not draw in time")

    def set_view_options(self, **choices: Any) -> None:
        """Change options of the view, by the names of `ViewOptions`."""
        self.view_options = replace(self.view_options, **choices)
        if "theme" in choices:
            self.themes.choose(self.view_options.theme)
        self.session.changed.set()

    def attempt(self, work: Callable[[], None]) -> None:
        """Call a function and show its error on the page."""
        try:
            work()
        except HomodynError as error:
            self.show_error(error)
        except Exception as error:
            traceback.print_exc()
            self.notify("Unexpected error", f"{type(error).__name__}: {error}", color="red")

    def watch(self, event: threading.Event, work: Callable[[], None]) -> None:
        """Call a function once an event is set, and show its error on the page."""

        def wait() -> None:
            event.wait()
            if not self.ended.is_set():
                self.attempt(work)

        threading.Thread(target=wait, daemon=True, name="watch").start()

    def show_error(self, error: HomodynError) -> None:
        """Show the message of an error on every page."""
        self.notify("Error", " ".join(str(error).split()), color="red")

    def notify(self, title: str, sentence: str, *, color: Any = None) -> None:
        """Show a message on every page."""
        for client in self.server.get_clients().values():
            client.add_notification(
                title,
                sentence,
                color=color,
                auto_close_seconds=None if color == "red" else MESSAGE_DURATION_S,
            )

    def _refuse_upload(self, name: str, size: int) -> None:
        """Say on every page why an upload was not accepted."""
        self.notify(
            "Error",
            f"{name[:100]} has {size / 2**20:.0f} MB or more; the limit of uploads is "
            f"{MAX_UPLOAD_BYTES // 2**20} MB. Open it from the command line: homodyn studio FILE",
            color="red",
        )

    def open_upload(self, name: str, content: bytes, *, as_measured: bool | None = None) -> None:
        """Open a file that was sent by the browser.

        For a model with inertias that no rigid body can have, a dialog offers to open it anyway.
        """
        try:
            item = open_upload_content(name, content, self.uploads, as_measured=as_measured)
        except ModelError as error:
            if as_measured is None and AS_MEASURED in str(error):
                ask(
                    self,
                    f"Open {name} anyway?",
                    "Some inertias of this model are not possible for a rigid body. Poses and fits "
                    "do not use them; torques and simulations use them unchanged.",
                    {
                        "Do not open": lambda: None,
                        "Open anyway": lambda: self.open_upload(name, content, as_measured=True),
                    },
                )
            raise
        self.open(item, name)

    def open(self, item: OpenedItem, name: str) -> None:
        """Show an opened item in the scene, or in the panel that displays it."""
        if isinstance(item, Actor | Trial | StudioDocument):
            self.session.change(f"open {name}", lambda d: add_to_document(d, item), in_file=True)
            self.notify("Opened", name)
            return
        if isinstance(item, MarkerMap):
            self.session.change(f"open {name}", lambda d: with_map(d, item))
            self.notify("Opened", name)
            return
        title = next(panel.title for panel in self.layout.panels if panel.show(item))
        self.notify("Opened", f"{name}; see Studies, {title}")

    def _segment_clicked(self, body: str, segment: str) -> None:
        for callback in self.on_segment:
            self.attempt(lambda callback=callback: callback(body, segment))  # type: ignore[misc]

    def _marker_clicked(self, trial: str, marker: str, extend: bool) -> None:
        for callback in self.on_marker:
            self.attempt(lambda callback=callback: callback(trial, marker, extend))  # type: ignore[misc]

    def _show_progress(self, task: BackgroundTask) -> None:
        """Show the progress of a task on every page, in one note that closes at the end."""
        sentence = f"{task.stage} ({task.share:.0%})" if task.share else task.stage
        for number, client in self.server.get_clients().items():
            note = self._progress_notes.get(number)
            if task.done.is_set():
                if note is not None:
                    note.remove()
                continue
            if note is None:
                self._progress_notes[number] = client.add_notification(
                    task.name, sentence, loading=True, with_close_button=False
                )
            else:
                note.title, note.body = task.name, sentence
        if task.done.is_set():
            self._progress_notes.clear()
            if task.error:
                self.notify(task.name, task.error, color="red")
        self.layout.on_task_update(task)
        self.session.changed.set()

    def _run(self) -> None:
        version: int | None = None
        last = due = perf_counter()
        while not self.ended.is_set():
            playing = self.session.clock.playing
            if playing:
                due = max(due + 1 / FRAME_RATE_HZ, perf_counter() - 1 / FRAME_RATE_HZ)
                self.ended.wait(max(due - perf_counter(), 0.0))
            else:
                self.session.changed.wait()
                due = perf_counter()
            self.session.changed.clear()
            if self.ended.is_set():
                return
            number = self._requested
            now = perf_counter()
            if playing:
                elapsed = now - last
                self.session.update_clock(lambda clock, dt=elapsed: clock.advance(dt))  # type: ignore[misc]
                self.session.changed.clear()
            last = now
            try:
                with self._drawing:
                    version = self._draw(self.session.view(), version)
            except Exception:
                # An error in one frame must not end the loop.
                traceback.print_exc()
            with self._drawn_condition:
                self._completed = number
                self._drawn_condition.notify_all()

    def _draw(self, view: SessionView, version: int | None) -> int:
        is_new = view.version != version
        if is_new:
            self.stage.show(view.document)
        # The scene is sent first, because panels take longer to evaluate a long motion.
        self.stage.draw(view.clock, self.view_options)
        if is_new:
            self.layout.refresh(view)
        self.layout.tick(view)
        self.frames_drawn += 1
        return view.version
