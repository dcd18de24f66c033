"""The studio: a session, the page that shows it, and the loop that keeps both together."""

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
from homodyn.studio.panels import PanelLayout
from homodyn.studio.prompts import ask, offer_recovery
from homodyn.studio.scene import SceneStage
from homodyn.studio.server import start_server, stop_server
from homodyn.studio.session import Session, SessionView
from homodyn.studio.view_options import ViewOptions

FRAME_RATE_HZ = 30.0
"""Pictures a second while playing (Hz)."""
AS_MEASURED = "as_measured=True"
"""What a refusal says when a model could be taken as it was measured."""
BRAND_COLOR = (64, 110, 180)


class Studio:
    """One page over one session; any number of browsers may look at it.

    Panels and clicks change the session from whatever thread they come in; only the loop of the
    studio draws. ``selected`` is the segment (body of the scene, segment) that was clicked last.
    """

    def __init__(
        self,
        session: Session | None = None,
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        token: str | None = None,
        home: Path | None = None,
    ) -> None:
        self.session = session or Session()
        self.autosave = None if home is None else Autosave(self.session, home)
        self.server, self.gate = start_server(host, port, token)
        self.uploads = Path(tempfile.mkdtemp(prefix="homodyn-studio-"))
        self.view_options = ViewOptions()
        self.tasks = TaskRunner(self._show_progress)
        self.selected: tuple[str, str] | None = None
        self.frames_drawn = 0
        """Pictures sent so far."""
        self._notes: dict[int, viser.NotificationHandle] = {}
        self.ended = threading.Event()
        """Set when the studio ends."""
        self._drawn_condition = threading.Condition()
        self._asked = self._answered = 0
        self._drawing = threading.Lock()
        self.stage = SceneStage(self.server, self._segment_clicked, self._marker_clicked)
        self.on_segment: list[Callable[[str, str], None]] = []
        """Told (body of the scene, segment) when a segment is clicked."""
        self.on_marker: list[Callable[[str, str, bool], None]] = []
        """Told (recording, marker, whether it joins the chosen ones) when a marker is clicked."""
        self.on_simulation_control: list[Callable[[], None]] = []
        """Called when a live simulation takes control of the active body."""
        self._theme()
        camera = self.server.initial_camera
        camera.position, camera.look_at, camera.up = (3.2, -5.0, 1.15), (0.0, 0.0, 0.15), (0, 0, 1)
        camera.fov = 0.75
        self.layout = PanelLayout(self)
        self._loop = threading.Thread(target=self._run, daemon=True, name="studio")

    @property
    def address(self) -> str:
        """What to type into a browser."""
        return self.gate.address(self.server.get_port())

    def start(self) -> None:
        """Begin to draw and, with a ``home``, to keep unsaved work there and offer what is left."""
        if self.autosave is not None:
            try:
                left = find_recoverable_work(self.autosave.home)
                self.autosave.start()
                offer_recovery(self, left)
            except OSError as error:
                print(f"Unsaved work is not kept: {error}", file=sys.stderr)
                self.autosave = None
        self.session.changed.set()
        self._loop.start()

    def stop(self) -> None:
        """End the loop, keep unsaved work, free the port, and forget uploaded files."""
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
        """Keep the loop from drawing, so that another thread may."""
        with self._drawing:
            yield

    def wait_until_drawn(self, timeout: float = 30.0) -> None:
        """Wait until what was changed before this call is drawn."""
        with self._drawn_condition:
            self._asked += 1
            ticket = self._asked
            self.session.changed.set()
            if not self._drawn_condition.wait_for(lambda: self._answered >= ticket, timeout):
                raise TimeoutError("the studio did not draw in time")

    def set_view_options(self, **choices: Any) -> None:
        """Change how the scene is drawn."""
        self.view_options = replace(self.view_options, **choices)
        if "dark" in choices:
            self._theme()
        self.session.changed.set()

    def attempt(self, work: Callable[[], None]) -> None:
        """Do something that may be refused; a refusal is shown on the page in its own words."""
        try:
            work()
        except HomodynError as error:
            self.show_error(error)
        except Exception as error:
            traceback.print_exc()
            self.notify("Something went wrong", f"{type(error).__name__}: {error}", color="red")

    def watch(self, event: threading.Event, work: Callable[[], None]) -> None:
        """Do something, which may be refused, when an event comes."""

        def waiting() -> None:
            event.wait()
            if not self.ended.is_set():
                self.attempt(work)

        threading.Thread(target=waiting, daemon=True, name="watch").start()

    def show_error(self, error: HomodynError) -> None:
        """Show a refusal: the sentence that the command line would print."""
        self.notify("Error", " ".join(str(error).split()), color="red")

    def notify(self, title: str, sentence: str, *, color: Any = None) -> None:
        """Show a sentence on every page."""
        for client in self.server.get_clients().values():
            client.add_notification(
                title,
                sentence,
                color=color,
                auto_close_seconds=None if color == "red" else 6.0,
            )

    def open_upload(self, name: str, content: bytes, *, as_measured: bool | None = None) -> None:
        """Open a file that came through the page.

        A model that is refused for inertias which no rigid body has can be opened all the same.
        """
        try:
            thing = open_upload_content(name, content, self.uploads, as_measured=as_measured)
        except ModelError as error:
            if as_measured is None and AS_MEASURED in str(error):
                ask(
                    self,
                    f"Open {name} all the same?",
                    "It has inertias that no rigid body can have, as models of others do. Poses "
                    "and fits do not need them; torques and simulations follow them as they are.",
                    {
                        "Leave it": lambda: None,
                        "Open it": lambda: self.open_upload(name, content, as_measured=True),
                    },
                )
            raise
        self.open(thing, name)

    def open(self, thing: OpenedItem, name: str) -> None:
        """Show something that was opened: in the scene, or in the panel that it is for."""
        if isinstance(thing, Actor | Trial | StudioDocument):
            self.session.change(f"open {name}", lambda d: add_to_document(d, thing), in_file=True)
            self.notify("Opened", name)
            return
        if isinstance(thing, MarkerMap):
            self.session.change(f"open {name}", lambda d: with_map(d, thing))
            self.notify("Opened", name)
            return
        taken = next(panel.title for panel in self.layout.panels if panel.show(thing))
        self.notify("Opened", f"{name}; it is under Studies, {taken}")

    def _theme(self) -> None:
        self.server.gui.configure_theme(
            dark_mode=self.view_options.dark,
            show_logo=False,
            show_share_button=False,
            brand_color=BRAND_COLOR,
            control_width="large",
        )

    def _segment_clicked(self, body: str, segment: str) -> None:
        self.selected = (body, segment)
        for callback in self.on_segment:
            self.attempt(lambda callback=callback: callback(body, segment))  # type: ignore[misc]

    def _marker_clicked(self, trial: str, marker: str, more: bool) -> None:
        for callback in self.on_marker:
            self.attempt(lambda callback=callback: callback(trial, marker, more))  # type: ignore[misc]

    def _show_progress(self, task: BackgroundTask) -> None:
        """Show how work goes on, on every page: one note each, closed when it is done."""
        sentence = f"{task.stage} ({task.share:.0%})" if task.share else task.stage
        for number, client in self.server.get_clients().items():
            note = self._notes.get(number)
            if task.done.is_set():
                if note is not None:
                    note.remove()
                continue
            if note is None:
                self._notes[number] = client.add_notification(
                    task.name, sentence, loading=True, with_close_button=False
                )
            else:
                note.title, note.body = task.name, sentence
        if task.done.is_set():
            self._notes.clear()
            if task.error:
                self.notify(task.name, task.error, color="red")
        self.layout.on_task_update(task)
        self.session.changed.set()

    def _run(self) -> None:
        shown: int | None = None
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
            ticket = self._asked
            now = perf_counter()
            if playing:
                elapsed = now - last
                self.session.update_clock(lambda clock, dt=elapsed: clock.advance(dt))  # type: ignore[misc]
                self.session.changed.clear()
            last = now
            try:
                with self._drawing:
                    shown = self._draw(self.session.view(), shown)
            except Exception:
                # A picture that fails must not end all that follow.
                traceback.print_exc()
            with self._drawn_condition:
                self._answered = ticket
                self._drawn_condition.notify_all()

    def _draw(self, view: SessionView, shown: int | None) -> int:
        fresh = view.version != shown
        if fresh:
            self.stage.show(view.document)
        # The picture goes out first: panels take their time over what a long motion comes to.
        self.stage.draw(view.clock, self.view_options)
        if fresh:
            self.layout.refresh(view)
        self.layout.tick(view)
        self.frames_drawn += 1
        return view.version
