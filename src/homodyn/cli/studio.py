"""``homodyn studio``: the page to see, pose, fit and compare."""

from __future__ import annotations

import os
import signal
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homodyn.cli.models import CATALOG, find

if TYPE_CHECKING:
    from homodyn.studio.file_opening import OpenedItem


def studio(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL] [TRIAL] [RESULT...]",
            help="Models, bodies of the catalog, recordings, folders of results, saved sessions, "
            "networks and studies, in any order.",
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Open the walk that ships with Homodyn.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; a free one when left out.")
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on. Any but the loopback needs the token it prints."),
    ] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(help="The token, instead of one that is made up.")
    ] = None,
) -> None:
    """Open the studio: a page of the browser to see, pose, fit and compare.

    It is served to this machine alone until Ctrl-C.

    Example: `homodyn studio --demo`
    """
    _require_viser()
    from homodyn.studio import Session
    from homodyn.studio import demo as demonstration
    from homodyn.studio.autosave import default_home
    from homodyn.studio.studio import Studio

    session = Session()
    things = [(source, _open_existing(source)) for source in sources or ()]
    if demo:
        demonstration.open_recording(session)
    page = Studio(session, host=host, port=port, token=token, home=default_home())
    ended = threading.Event()
    before = {
        kind: signal.signal(kind, lambda *_: ended.set())
        for kind in (signal.SIGINT, signal.SIGTERM)
    }
    page.start()
    try:
        for source, thing in things:
            page.open(thing, source)
        typer.echo(f"The studio is at {page.address} (Ctrl-C ends it)")
        if demo:
            page.tasks.start(demonstration.NAME, lambda task: demonstration.analyse(session, task))
        if browser and _has_screen():
            webbrowser.open(page.address)
        _stay(ended)
    finally:
        page.stop()
        for kind, handler in before.items():
            signal.signal(kind, handler)
    if pending := session.view().pending:
        names = ", ".join(piece.sentence for piece in pending)
        typer.echo(f"Not saved: {names}. It is kept, and the next homodyn studio offers it.")
    typer.echo("The studio has ended.")


def _open_existing(source: str) -> OpenedItem:
    """What a word of the command line means: a file, a folder of results, or a ready body."""
    from homodyn.studio.file_opening import open_path, standing_actor

    if source.startswith(CATALOG) or not (Path(source).suffix or Path(source).exists()):
        return standing_actor(find(source))
    return open_path(source)


def _stay(ended: threading.Event) -> None:
    """Wait for the end, in pieces, so that signals are heard on every system."""
    while not ended.wait(0.5):
        pass


def _has_screen() -> bool:
    """Whether a browser would open in a window of its own, and not in this terminal."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _require_viser() -> None:
    from importlib.util import find_spec

    from homodyn.errors import HomodynError

    if find_spec("viser") is None:
        raise HomodynError(
            "the studio needs viser, which is not installed: pip install 'homodyn[studio]'"
        )
