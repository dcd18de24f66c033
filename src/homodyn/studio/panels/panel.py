"""The base class of panels: controls that are created once and updated by the drawing loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import viser

from homodyn.studio.background_tasks import BackgroundTask
from homodyn.studio.session import Session, SessionView
from homodyn.studio.studio_page import StudioPage


class Panel:
    """A group of controls. Subclasses create them in `build` and update them in `refresh`.

    Callbacks run in threads of viser and change only the session; the drawing loop of the studio
    calls `refresh` and `tick`.
    """

    title = ""
    expanded = False
    """Whether the panel is open when the page is loaded."""

    def __init__(self, studio: StudioPage, container: Any) -> None:
        self.studio = studio
        self.container = container
        """The folder or tab of the panel; a ``with`` block adds controls to it."""

    @property
    def session(self) -> Session:
        """The session that the panel shows and changes."""
        return self.studio.session

    @property
    def gui(self) -> viser.GuiApi:
        """The interface that creates controls."""
        return self.studio.server.gui

    def build(self) -> None:
        """Create the controls, inside the container."""

    def refresh(self, view: SessionView) -> None:
        """Update the controls after a change of the document."""

    def tick(self, view: SessionView) -> None:
        """Update the controls to the current instant."""

    def show(self, item: object) -> bool:
        """Show an opened item that is not part of the document; False for other items."""
        return False

    def on_task_update(self, task: BackgroundTask) -> None:
        """Show the progress or the end of a background task."""

    def close(self) -> None:
        """End all work of the panel, because the studio ends."""

    def on_click(self, handle: Any) -> Callable[[Callable[[], None]], Callable[[], None]]:
        """Decorate the action of a button; its errors are shown on the page."""

        def register(work: Callable[[], None]) -> Callable[[], None]:
            handle.on_click(lambda event: self.studio.attempt(work))
            return work

        return register

    def on_choice(self, handle: Any) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
        """Decorate the action of a control that runs when the user, not the program, sets it."""

        def register(work: Callable[[Any], None]) -> Callable[[Any], None]:
            def on_update(event: Any) -> None:
                if event.client_id is not None:
                    value = event.target.value
                    self.studio.attempt(lambda: work(value))

            handle.on_update(on_update)
            return work

        return register


def assign(handle: Any, value: Any) -> None:
    """Set the value of a control; an unchanged value is not sent to the pages."""
    if handle.value != value:
        handle.value = value


def set_text(handle: Any, content: str) -> None:
    """Set the content of a text; unchanged content is not sent to the pages."""
    if handle.content != content:
        handle.content = content


def set_visible(handle: Any, visible: bool) -> None:
    """Show or hide a control; an unchanged state is not sent to the pages."""
    if handle.visible != visible:
        handle.visible = visible


def offer(handle: Any, options: tuple[str, ...], default: str) -> None:
    """Set the options of a menu; the choice stays if it is still offered, else the default."""
    if tuple(handle.options) != options:
        previous = handle.value
        handle.options = options
        assign(handle, previous if previous in options else default)
