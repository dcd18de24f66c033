"""The server of the page: viser on one address, behind the gate, and quiet on the terminal."""

from __future__ import annotations

import contextlib
import io
import socket
from importlib.resources import files

import viser

from homodyn.errors import HomodynError
from homodyn.studio.access_gate import LOOPBACK, AccessGate, guard_server, new_token

DEFAULT_PORT = 8421
"""Where the page is looked for first."""


class Server(viser.ViserServer):
    """A server of viser that never asks another machine for anything."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refused: the page would be seen from outside through a machine of others."""
        return None


def start_server(
    host: str = "127.0.0.1", port: int | None = None, token: str | None = None
) -> tuple[Server, AccessGate]:
    """Start serving; without a port on the first free one from `DEFAULT_PORT` on.

    On any address but the loopback a token is needed to come in; one is made up when left out.
    """
    if host not in LOOPBACK and token is None:
        token = new_token()
    if port is not None:
        _refuse_taken(host, port)
    gate = AccessGate(host, token, page_addition())
    with contextlib.redirect_stdout(io.StringIO()), guard_server(gate):
        server = Server(host=host, port=DEFAULT_PORT if port is None else port, verbose=False)
    if not gate.engaged:
        server.stop()
        raise HomodynError(
            "this version of viser starts its server in a way that cannot be guarded; install one "
            "that is known to work: pip install 'homodyn[studio]'"
        )
    return server, gate


def page_addition() -> str:
    """What the page of viser lacks: our name, our style, and files dropped on it."""
    assets = files("homodyn.studio").joinpath("assets")
    style, script = (
        assets.joinpath(name).read_text(encoding="utf-8") for name in ("studio.css", "studio.js")
    )
    return f"<style>{style}</style><script>{script}</script>"


def stop_server(server: Server) -> None:
    """Stop serving and free the port."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def _refuse_taken(host: str, port: int) -> None:
    """Say so when a port cannot be had: viser would silently take another."""
    if not 0 <= port <= 65535:
        raise HomodynError(f"port {port} does not exist; ports go from 1 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise HomodynError(
            f"{host}:{port} cannot be listened on: {error.strerror}; "
            "choose another --port, or leave it out"
        ) from error
