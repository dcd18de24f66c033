"""What a panel is: controls that are made once, and brought up to date by the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import viser

from homodyn.studio.session import Session, View
from homodyn.studio.tasks import Task

if TYPE_CHECKING:
    from homodyn.studio.studio import Studio


class Panel:
    """A group of controls. Subclasses build them in `build` and keep them true in `refresh`.

    Callbacks come from threads of viser and change the session alone; `refresh` and `tick` come
    from the loop of the studio.
    """

    title = ""
    unfolded = False
    """Whether it is open when the page is."""

    def __init__(self, studio: Studio, container: Any) -> None:
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

    def refresh(self, view: View) -> None:
        """The document changed."""

    def tick(self, view: View) -> None:
        """Another instant is shown, or the document changed."""

    def show(self, thing: object) -> bool:
        """Take over something that was opened and is no part of the document; False if not ours."""
        return False

    def told(self, task: Task) -> None:
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
