"""The server of the page: viser behind the access gate, without terminal output."""

from __future__ import annotations

import contextlib
import io
import re
import socket
from importlib.resources import files

import viser

from homodyn.errors import HomodynError
from homodyn.studio.access_gate import LOOPBACK, AccessGate, guard_server, new_token

DEFAULT_PORT = 8421
"""The first port that is tried."""
MIN_TOKEN_CHARACTERS = 8

_TOKEN = re.compile(rf"[A-Za-z0-9_-]{{{MIN_TOKEN_CHARACTERS},}}")


class Server(viser.ViserServer):
    """A viser server that never contacts another machine."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Return None: a shared page would be accessible through a third-party server."""
        return None


def start_server(
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    *,
    needs_token: bool = True,
) -> tuple[Server, AccessGate]:
    """Start the server.

    Args:
        host: Address to listen on.
        port: Port; the first free one from `DEFAULT_PORT` if omitted.
        token: Token that requests need; a random one if omitted.
        needs_token: False accepts requests of every user of this machine.

    Returns:
        The server and its access gate.

    Raises:
        HomodynError: The port is not available, the token is too short or missing, or viser cannot
            be put behind the gate.
    """
    if not needs_token and host not in LOOPBACK:
        raise HomodynError(
            f"--no-token would open the studio to everyone who reaches {host}; it is for "
            f"{' and '.join(LOOPBACK)} only"
        )
    if token is not None and not _TOKEN.fullmatch(token):
        raise HomodynError(
            f"the token is not safe; use {MIN_TOKEN_CHARACTERS} or more letters, digits, - and _"
        )
    token = (token or new_token()) if needs_token else None
    if port is not None:
        _check_port(host, port)
    gate = AccessGate(host, token, page_addition())
    with contextlib.redirect_stdout(io.StringIO()), guard_server(gate):
        server = Server(host=host, port=DEFAULT_PORT if port is None else port, verbose=False)
    if not gate.engaged:
        server.stop()
        raise HomodynError(
            "access control does not work with this version of viser; install a supported one: "
            "pip install 'homodyn[studio]'"
        )
    return server, gate


def page_addition() -> str:
    """The style and script that the studio adds to the page of viser."""
    assets = files("homodyn.studio").joinpath("assets")
    style, script = (
        assets.joinpath(name).read_text(encoding="utf-8") for name in ("studio.css", "studio.js")
    )
    return f"<style>{style}</style><script>{script}</script>"


def stop_server(server: Server) -> None:
    """Stop the server and release its port."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def _check_port(host: str, port: int) -> None:
    """Raise if a port is not available; viser would silently use another one."""
    if not 0 <= port <= 65535:
        raise HomodynError(f"port {port} is invalid; ports are 1 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise HomodynError(
            f"{host}:{port} is not available: {error.strerror}; choose another --port, or omit it"
        ) from error
