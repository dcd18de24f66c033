"""``homodyn studio``: the page in the browser."""

from __future__ import annotations

import os
import signal
import sys
import threading
import webbrowser
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homodyn.cli.json_output import print_json
from homodyn.cli.models import CATALOG_PREFIX, find
from homodyn.cli.option_groups import AsJson

if TYPE_CHECKING:
    from homodyn.studio.file_opening import OpenedItem


def studio(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL|TRIAL|RESULT",
            help="Models, catalog names, recordings, result folders, saved sessions, networks and "
            "studies, in any order.",
        ),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Open the bundled walk.")] = False,
    port: Annotated[
        int | None, typer.Option(metavar="PORT", help="Port to listen on; a free one by default.")
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on.",
        ),
    ] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The token; a random one by default.")
    ] = None,
    no_token: Annotated[
        bool,
        typer.Option("--no-token", help="Let every user of this machine open the page."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Open the studio: view, pose, fit and compare models and motions in the browser.

    The page is served to this machine only, until Ctrl-C, and needs the token in the printed
    address. With --json, the object with the address is printed when the page is ready.

    Example: `homodyn studio --demo`
    """
    _require_viser()
    from homodyn.studio import Session
    from homodyn.studio import demo as demonstration
    from homodyn.studio.autosave import default_home
    from homodyn.studio.studio import Studio

    session = Session()
    items = [(source, _open_existing(source)) for source in sources or ()]
    if demo:
        demonstration.open_recording(session)
    page = Studio(
        session,
        host=host,
        port=port,
        token=token,
        needs_token=not no_token,
        home=default_home(),
    )
    stop = threading.Event()
    before = {
        kind: signal.signal(kind, lambda *_: stop.set()) for kind in (signal.SIGINT, signal.SIGTERM)
    }
    page.start()
    try:
        for source, item in items:
            page.open(item, source)
        typer.echo(f"The studio is at {page.address} (Ctrl-C ends it)")
        if as_json:
            print_json({"address": page.address})
        if demo:
            page.tasks.start(
                demonstration.NAME,
                lambda task: demonstration.analyze_recording(session, task),
            )
        if browser and _has_screen():
            webbrowser.open(_private_link(page.address, page.uploads))
        _wait(stop)
    finally:
        page.stop()
        for kind, handler in before.items():
            signal.signal(kind, handler)
    if pending := session.view().pending:
        names = ", ".join(piece.sentence for piece in pending)
        typer.echo(f"Not saved: {names}. The next homodyn studio offers to restore it.")
    typer.echo("The studio has ended.")


def _open_existing(source: str) -> OpenedItem:
    """The item that an argument names: a file, a result folder, or a model of the catalog."""
    from homodyn.studio.file_opening import open_path, standing_actor

    if source.startswith(CATALOG_PREFIX) or not (Path(source).suffix or Path(source).exists()):
        return standing_actor(find(source))
    return open_path(source)


def _private_link(address: str, folder: Path) -> str:
    """Address of a page that opens the studio, for the command line of a browser.

    All users of a machine see the arguments of its processes, so the token is not among them.
    """
    link = folder / "open.html"
    link.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(address)}">',
        encoding="utf-8",
    )
    return link.as_uri()


def _wait(stop: threading.Event) -> None:
    """Wait for the event with a timeout, so that signals are delivered on every system."""
    while not stop.wait(0.5):
        pass


def _has_screen() -> bool:
    """Whether a browser would open in a window and not in this terminal."""
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
