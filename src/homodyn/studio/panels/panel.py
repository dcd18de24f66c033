"""What a panel is: controls that are made once, and brought up to date by the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import viser

from homodyn.studio.background_tasks import BackgroundTask
from homodyn.studio.session import Session, SessionView
from homodyn.studio.studio_page import StudioPage


class Panel:
    """A group of controls. Subclasses build them in `build` and keep them true in `refresh`.

    Callbacks come from threads of viser and change the session alone; `refresh` and `tick` come
    from the loop of the studio.
    """

    title = ""
    expanded = False
    """Whether it is open when the page is."""

    def __init__(self, studio: StudioPage, container: Any) -> None:
        self.studio = studio
        self.container = container
        """The folder or tab of the panel: controls that are made later go ``with`` it."""

    @property
    def session(self) -> Session:
        """What the panel shows and changes."""
        return self.studio.session

    @property
    def gui(self) -> viser.GuiApi:
        """Where controls are made."""
        return self.studio.server.gui

    def build(self) -> None:
        """Make the controls; the container is open."""

    def refresh(self, view: SessionView) -> None:
        """The document changed."""

    def tick(self, view: SessionView) -> None:
        """Another instant is shown, or the document changed."""

    def show(self, thing: object) -> bool:
        """Take over something that was opened and is no part of the document; False if not ours."""
        return False

    def on_task_update(self, task: BackgroundTask) -> None:
        """A piece of work went on, or ended."""

    def close(self) -> None:
        """The studio ends: let go of work that goes on beside it."""

    def on_click(self, handle: Any) -> Callable[[Callable[[], None]], Callable[[], None]]:
        """Decorate what a button does; refusals are shown on the page."""

        def register(work: Callable[[], None]) -> Callable[[], None]:
            handle.on_click(lambda event: self.studio.attempt(work))
            return work

        return register

    def on_choice(self, handle: Any) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
        """Decorate what follows when a person, and not the program, sets a control."""

        def register(work: Callable[[Any], None]) -> Callable[[Any], None]:
            def heard(event: Any) -> None:
                if event.client_id is not None:
                    value = event.target.value
                    self.studio.attempt(lambda: work(value))

            handle.on_update(heard)
            return work

        return register


def assign(handle: Any, value: Any) -> None:
    """Set a control, without a word to the pages when it has that value already."""
    if handle.value != value:
        handle.value = value
