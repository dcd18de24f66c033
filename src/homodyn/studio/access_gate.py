"""Access control of the page: host, origin of requests, and a token.

The server listens on the loopback address, but any web page in the same browser can send requests
to it. Therefore a request must name this server as its host and, if it has an origin, as its
origin. For other machines it must also contain the token: in the address the first time, in a
cookie afterwards.
"""

from __future__ import annotations

import hmac
import http
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

import websockets.asyncio.server
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "homodyn_studio"

Answer = Callable[[Any, Request], Response | None]


class AccessGate:
    """Accepts or refuses requests to a server, and extends its page.

    Args:
        host: The address on which the server listens.
        token: The token that requests need; None on the loopback address.
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
            return self._extend(response)

        return answer

    def _has_token(self, request: Request) -> bool:
        assert self.token is not None
        given = parse_qs(urlsplit(request.path).query).get("token", [])
        cookie = SimpleCookie(request.headers.get("Cookie", "")).get(COOKIE)
        if cookie is not None:
            given.append(cookie.value)
        return any(hmac.compare_digest(text.encode(), self.token.encode()) for text in given)

    def _extend(self, response: Response) -> Response:
        body = bytes(response.body or b"").replace(
            b"</head>", self.addition.encode() + b"</head>", 1
        )
        headers = Headers(response.headers)
        for name, value in (("Content-Length", str(len(body))), ("Cache-Control", "no-store")):
            headers.pop(name, None)
            headers[name] = value
        if self.token is not None:
            headers["Set-Cookie"] = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        headers["X-Frame-Options"] = "DENY"
        headers["Referrer-Policy"] = "no-referrer"
        return Response(response.status_code, response.reason_phrase, headers, body)


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
        return original(*arguments, process_request=gate.wrap(process_request), **options)

    websockets.asyncio.server.serve = serve  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = original  # type: ignore[misc]


def _plain(status: http.HTTPStatus, sentence: str) -> Response:
    body = f"{sentence}\n".encode()
    headers = Headers(
        {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}
    )
    return Response(status, status.phrase, headers, body)
