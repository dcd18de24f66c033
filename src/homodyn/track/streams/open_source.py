"""Sources by address: ``file:walk.c3d``, ``lsl:NAME``, ``qtm:HOST``, ``ws:PORT``, ``udp:PORT``."""

from __future__ import annotations

from pathlib import Path

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.track.streams.file_player import FilePlayer
from homodyn.track.streams.lsl_source import LslSource
from homodyn.track.streams.marker_source import MarkerSource
from homodyn.track.streams.qtm_source import DEFAULT_PORT, QtmSource
from homodyn.track.streams.udp_source import UdpSource
from homodyn.track.streams.websocket_source import WebSocketClientSource, WebSocketServerSource

ADDRESS_FORMS = (
    "file:walk.c3d (a recording at its own rate)",
    "lsl:NAME (a stream of the Lab Streaming Layer)",
    "qtm:HOST or qtm:HOST:PORT (Qualisys Track Manager)",
    "ws:PORT (senders connect here) or ws://HOST:PORT (a server)",
    "udp:PORT or udp:ADDRESS:PORT (JSON packets)",
)


@record
class SourceOptions(Record):
    """Options of sources; those that a source does not have are ignored."""

    speed: float = 1.0
    """Of a recording, as a multiple of its own speed."""
    loop: bool = False
    """Whether a recording begins again at its end."""
    up: str = "z"
    """Vertical axis of an LSL stream: z or y."""


def open_source(address: str, options: SourceOptions | None = None) -> MarkerSource:
    """The source of an address; `MarkerSource.open` connects it.

    Args:
        address: One of `ADDRESS_FORMS`; the name of a file is enough.
        options: Options of the source.

    Returns:
        The source.

    Raises:
        CaptureError: The address is invalid; the message lists the accepted forms.
        FormatError: A file cannot be read.
    """
    chosen = options or SourceOptions()
    kind, mark, rest = address.partition(":")
    if not mark and Path(address).suffix:
        kind, rest = "file", address
    if not rest:
        raise _invalid(address)
    match kind:
        case "file":
            return FilePlayer(rest, speed=chosen.speed, loop=chosen.loop)
        case "lsl":
            return LslSource(rest, chosen.up)
        case "qtm":
            host, port = _host_and_port(rest, address, DEFAULT_PORT)
            return QtmSource(host, port)
        case "ws" | "wss" if rest.startswith("//"):
            return WebSocketClientSource(address)
        case "ws" if rest.isdigit():
            return WebSocketServerSource(_port(rest, address))
        case "udp":
            if rest.isdigit():
                return UdpSource(_port(rest, address))
            host, port = _host_and_port(rest, address, None)
            return UdpSource(port, host)
    if Path(address).exists():
        return FilePlayer(address, speed=chosen.speed, loop=chosen.loop)
    raise _invalid(address)


def _host_and_port(text: str, address: str, default: int | None) -> tuple[str, int]:
    host, mark, port = text.rpartition(":")
    if not mark:
        if default is None:
            raise _invalid(address)
        return text, default
    if not host:
        raise _invalid(address)
    return host, _port(port, address)


def _port(text: str, address: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise CaptureError(f"{address!r}: {text!r} is not a port; ports are 1 to 65535")
    return int(text)


def _invalid(address: str) -> CaptureError:
    return CaptureError(f"{address!r} is not a source; accepted: {'; '.join(ADDRESS_FORMS)}")
