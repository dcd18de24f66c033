"""Access control of the page: host, origin of requests, a token, and what the page may load.

The server listens on the loopback address, but any web page in the same browser and any user of
this machine can send requests to it. Therefore a request must name this server as its host and, if
it has an origin, as its origin, and it must contain the token: in the address the first time, in a
cookie afterwards. The Content-Security-Policy of the page allows its own scripts only, by a nonce.
"""

from __future__ import annotations

import hmac
import http
import logging
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import websockets.asyncio.server
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "homodyn_studio"
"""Beginning of the name of the cookie; the port follows, because ports share their cookies."""
CONTENT_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src 'self' data: blob:; media-src data: blob:; "
    "font-src data:; connect-src 'self' ws://{host} wss://{host} data: blob:; "
    "worker-src blob: data:; frame-src 'none'; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of the page.

Elements that a text could create run nothing and load nothing from elsewhere. viser sets styles of
elements and creates a sorter of points with ``new Function``, so both stay allowed.
"""

_SCRIPT = re.compile(r"<script(?=[\s>])")
_HOST = re.compile(r"[A-Za-z0-9.\-_]+(:[0-9]+)?|\[[0-9A-Fa-f:.]+\](:[0-9]+)?")

Answer = Callable[[Any, Request], Response | None]


class AccessGate:
    """Accepts or refuses requests to a server, and extends its page.

    Args:
        host: The address on which the server listens.
        token: The token that requests need; None accepts every user of this machine.
        addition: HTML that is inserted before ``</head>``.
    """

    def __init__(self, host: str, token: str | None, addition: str = "") -> None:
        self.host = host
        self.token = token
        self.addition = addition
        self.engaged = False
        """Whether a server uses this gate."""
        self.routes: dict[str, Callable[[], None]] = {}
        """Functions that are called when the page requests a path."""

    @property
    def local(self) -> bool:
        """Whether the page is reachable from this machine only."""
        return self.host in LOOPBACK

    def address(self, port: int) -> str:
        """The URL of the page."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        query = f"?token={self.token}" if self.token else ""
        return f"http://{host}:{port}/{query}"

    def refusal(self, request: Request) -> str:
        """Why a request is refused; empty if it is accepted."""
        target = urlsplit(f"//{request.headers.get('Host', '')}")
        if self.local and target.hostname not in LOOPBACK:
            return f"this page is available as localhost, not as {target.hostname}"
        origin = request.headers.get("Origin")
        if origin and urlsplit(origin).netloc != target.netloc:
            return f"requests from {origin} are refused"
        if self.token is not None and not self._has_token(request):
            return "this page needs the token that homodyn studio printed: add ?token=... to it"
        return ""

    def wrap(self, serve: Answer) -> Answer:
        """The request handler of a server with access control."""
        self.engaged = True

        def answer(connection: Any, request: Request) -> Response | None:
            reason = self.refusal(request)
            if reason:
                return _plain(http.HTTPStatus.FORBIDDEN, reason)
            path = urlsplit(request.path).path
            if path in self.routes:
                self.routes[path]()
                return _plain(http.HTTPStatus.OK, "")
            is_page = path in ("/", "/index.html")
            if is_page and request.headers.get("Upgrade", "").lower() != "websocket":
                request.headers.pop("Accept-Encoding", None)
            response = serve(connection, request)
            if response is None or not is_page or response.status_code != http.HTTPStatus.OK:
                return response
            return self._extend(response, request.headers.get("Host", ""))

        return answer

    def _has_token(self, request: Request) -> bool:
        assert self.token is not None
        given = parse_qs(urlsplit(request.path).query).get("token", [])
        cookies = read_cookies(request.headers.get_all("Cookie"))
        given += cookies.get(_cookie_name(request.headers.get("Host", "")), [])
        return any(hmac.compare_digest(text.encode(), self.token.encode()) for text in given)

    def _extend(self, response: Response, host: str) -> Response:
        # Only scripts of the page have the nonce: that of viser, and the addition.
        nonce = secrets.token_urlsafe(18)
        page = bytes(response.body or b"").decode("utf-8")
        page = page.replace("</head>", f"{self.addition}</head>", 1)
        body = _SCRIPT.sub(rf'<script nonce="{nonce}"', page).encode("utf-8")
        headers = Headers(response.headers)
        for name, value in (("Content-Length", str(len(body))), ("Cache-Control", "no-store")):
            headers.pop(name, None)
            headers[name] = value
        if self.token is not None:
            headers["Set-Cookie"] = (
                f"{_cookie_name(host)}={self.token}; HttpOnly; SameSite=Strict; Path=/"
            )
        policy_host = host if _HOST.fullmatch(host) else "localhost"
        headers["Content-Security-Policy"] = CONTENT_POLICY.format(nonce=nonce, host=policy_host)
        headers["X-Content-Type-Options"] = "nosniff"
        headers["X-Frame-Options"] = "DENY"
        headers["Referrer-Policy"] = "no-referrer"
        return Response(response.status_code, response.reason_phrase, headers, body)


def read_cookies(headers: Iterable[str]) -> dict[str, list[str]]:
    """Values of the cookies of a request, by name; what is not a cookie is left out.

    Args:
        headers: Values of the ``Cookie`` headers.

    Returns:
        All values of each name: a name may occur several times.
    """
    found: dict[str, list[str]] = {}
    for pair in ";".join(headers).split(";"):
        name, _, value = pair.strip().partition("=")
        found.setdefault(name, []).append(value.strip('"'))
    return found


def _cookie_name(host: str) -> str:
    """Name of the cookie of a server: two studios on two ports have different ones."""
    port = host.rpartition(":")[2]
    return f"{COOKIE}_{port}" if port.isdigit() else COOKIE


def new_token() -> str:
    """A random token."""
    return secrets.token_urlsafe(18)


@contextmanager
def guard_server(gate: AccessGate) -> Iterator[None]:
    """Put websocket servers that start inside this context behind the gate.

    viser has no interface for this, so the function that starts its server is replaced meanwhile;
    ``gate.engaged`` shows whether this worked.
    """
    original = websockets.asyncio.server.serve

    def serve(*arguments: Any, process_request: Answer, **options: Any) -> Any:
        options.setdefault("logger", _connection_logger())
        return original(*arguments, process_request=gate.wrap(process_request), **options)

    websockets.asyncio.server.serve = serve  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = original  # type: ignore[misc]


def _connection_logger() -> logging.Logger:
    """A logger without output: browsers open connections that they do not use.

    The library would print a traceback for each of them, and for every request that is not HTTP.
    """
    logger = logging.getLogger("homodyn.studio.connections")
    logger.setLevel(logging.CRITICAL + 1)
    return logger


def _plain(status: http.HTTPStatus, sentence: str) -> Response:
    body = f"{sentence}\n".encode()
    headers = Headers(
        {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}
    )
    return Response(status, status.phrase, headers, body)
