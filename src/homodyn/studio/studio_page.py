"""The interface of the studio that panels, handles and dialogs use.

They depend on this interface and not on the class `Studio`, which creates them, so that imports
have one direction.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import viser

from homodyn.errors import HomodynError
from homodyn.studio.autosave import Autosave
from homodyn.studio.background_tasks import TaskRunner
from homodyn.studio.page_theme import PageThemes
from homodyn.studio.scene import SceneStage
from homodyn.studio.session import Session
from homodyn.studio.view_options import ViewOptions


class StudioPage(Protocol):
    """One page of one session, as its controls use it."""

    on_segment: list[Callable[[str, str], None]]
    """Called with (body, segment) when a segment is clicked."""
    on_marker: list[Callable[[str, str, bool], None]]
    """Called with (recording, marker, whether it extends the selection) when one is clicked."""
    on_simulation_control: list[Callable[[], None]]
    """Called when a live simulation takes control of the active body."""

    @property
    def session(self) -> Session:
        """The open document and the playback clock."""

    @property
    def server(self) -> viser.ViserServer:
        """The server that draws the scene and the controls."""

    @property
    def stage(self) -> SceneStage:
        """The nodes of the scene."""

    @property
    def tasks(self) -> TaskRunner:
        """Runs tasks that take seconds."""

    @property
    def themes(self) -> PageThemes:
        """Light and dark pages."""

    @property
    def view_options(self) -> ViewOptions:
        """Options of the view."""

    @property
    def uploads(self) -> Path:
        """Folder of uploaded files; deleted when the studio ends."""

    @property
    def autosave(self) -> Autosave | None:
        """Writes unsaved work to disk; None if disabled."""

    @property
    def ended(self) -> threading.Event:
        """Set when the studio ends."""

    def set_view_options(self, **choices: Any) -> None:
        """Change options of the view."""

    def attempt(self, work: Callable[[], None]) -> None:
        """Call a function and show its error on the page."""

    def watch(self, event: threading.Event, work: Callable[[], None]) -> None:
        """Call a function once an event is set."""

    def show_error(self, error: HomodynError) -> None:
        """Show the message of an error on every page."""

    def notify(self, title: str, sentence: str, *, color: Any = None) -> None:
        """Show a message on every page."""

    def pause_drawing(self) -> AbstractContextManager[None]:
        """Keep the loop from drawing while another thread changes the scene."""

    def wait_until_drawn(self, timeout: float = 30.0) -> None:
        """Wait until all changes made before this call are drawn."""

    def open_upload(self, name: str, content: bytes, *, as_measured: bool | None = None) -> None:
        """Open a file that was sent by the browser."""
