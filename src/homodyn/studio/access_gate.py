"""Who may see the page: the address it is reached under, the origin of requests, and a token.

The server listens on the loopback address, but every web page that a person visits can send
requests there too. So a request must name this server as its host, and as its origin where a
browser tells one. When other machines are let in, it must bring the token besides: in the address
the first time, in a cookie from then on.
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
    """Lets requests through to a server, or not, and adds to its page.

    ``host`` is the address that is listened on; ``token`` is needed when it is not the loopback.
    ``addition`` goes into the page before ``</head>``.
    """

    def __init__(self, host: str, token: str | None, addition: str = "") -> None:
        self.host = host
        self.token = token
        self.addition = addition
        self.engaged = False
        """Whether a server asks this gate."""

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the page."""
        return self.host in LOOPBACK

    def address(self, port: int) -> str:
        """What to type into a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        query = f"?token={self.token}" if self.token else ""
        return f"http://{host}:{port}/{query}"

    def refusal(self, request: Request) -> str:
        """Why a request is not let in; nothing when it is."""
        named = urlsplit(f"//{request.headers.get('Host', '')}")
        if self.local and named.hostname not in LOOPBACK:
            return f"this page is reached as localhost, not as {named.hostname}"
        origin = request.headers.get("Origin")
        if origin and urlsplit(origin).netloc != named.netloc:
            return f"requests from {origin} are not answered"
        if self.token is not None and not self._known(request):
            return "this page needs the token that homodyn studio printed: add ?token=... to it"
        return ""

    def wrap(self, serve: Answer) -> Answer:
        """The answer of a server, behind the gate."""
        self.engaged = True

        def answer(connection: Any, request: Request) -> Response | None:
            reason = self.refusal(request)
            if reason:
                return _plain(http.HTTPStatus.FORBIDDEN, reason)
            path = urlsplit(request.path).path
            page = path in ("/", "/index.html")
            if page and request.headers.get("Upgrade", "").lower() != "websocket":
                request.headers.pop("Accept-Encoding", None)
            response = serve(connection, request)
            if response is None or not page or response.status_code != http.HTTPStatus.OK:
                return response
            return self._page(response)

        return answer

    def _known(self, request: Request) -> bool:
        assert self.token is not None
        given = parse_qs(urlsplit(request.path).query).get("token", [])
        cookie = SimpleCookie(request.headers.get("Cookie", "")).get(COOKIE)
        if cookie is not None:
            given.append(cookie.value)
        return any(hmac.compare_digest(word.encode(), self.token.encode()) for word in given)

    def _page(self, response: Response) -> Response:
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
    """A word nobody guesses."""
    return secrets.token_urlsafe(18)


@contextmanager
def guard_server(gate: AccessGate) -> Iterator[None]:
    """Servers of websockets that start meanwhile ask the gate first.

    viser offers no place for this, so the function with which it starts its server is replaced
    while it does; ``gate.engaged`` tells whether that worked.
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
