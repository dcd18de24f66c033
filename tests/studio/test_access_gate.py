"""Access control: hosts, origins and tokens."""

import socket

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from homodyn.studio.access_gate import COOKIE, AccessGate, read_cookies


def request(path="/", **headers) -> Request:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request(path, Headers(names))


@pytest.mark.parametrize("host", ["127.0.0.1:80", "localhost:8421", "[::1]:80"])
def test_the_own_machine_is_accepted(host):
    assert AccessGate("127.0.0.1", None).refusal(request(Host=host)) == ""


def test_other_host_names_are_refused():
    assert "evil.example" in AccessGate("127.0.0.1", None).refusal(request(Host="evil.example:80"))
    assert AccessGate("127.0.0.1", None).refusal(request())


def test_requests_of_other_sites_are_refused():
    gate = AccessGate("127.0.0.1", None)
    own = request(Host="localhost:80", Origin="http://localhost:80")
    assert gate.refusal(own) == ""
    for origin in ("http://evil.example", "http://localhost:81", "null"):
        assert gate.refusal(request(Host="localhost:80", Origin=origin))


def test_other_addresses_need_the_token():
    gate = AccessGate("0.0.0.0", "secret")
    assert "token" in gate.refusal(request(Host="lab:80"))
    assert "token" in gate.refusal(request("/?token=wrong", Host="lab:80"))
    assert gate.refusal(request("/?token=secret", Host="lab:80")) == ""
    assert gate.refusal(request(Host="lab:80", Cookie=f"a=b; {COOKIE}_80=secret")) == ""
    assert gate.refusal(request(Host="lab:81", Cookie=f"{COOKIE}_80=secret"))
    assert "?token=secret" in gate.address(80)


def test_cookies_that_no_parser_accepts_do_not_hide_the_token():
    assert read_cookies(["a=b; {}=x; c", 'd="e"; a=f']) == {
        "a": ["b", "f"],
        "{}": ["x"],
        "c": [""],
        "d": ["e"],
    }
    gate = AccessGate("127.0.0.1", "secret")
    cookie = f"j[]=1; @; {COOKIE}_80=other; {COOKIE}_80=secret"
    assert gate.refusal(request(Host="localhost:80", Cookie=cookie)) == ""


def page_of(gate, host="localhost:80"):
    body = b"<head><script data-p=1>run()</script></head><script>more()</script>"
    answer = gate.wrap(lambda connection, asked: Response(200, "OK", Headers(), body))
    return answer(None, request(f"/?token={gate.token}", Host=host))


def test_only_scripts_with_a_fresh_nonce_run():
    gate = AccessGate("127.0.0.1", "secret", "<script>own()</script>")
    first, second = page_of(gate), page_of(gate)
    policy = first.headers["Content-Security-Policy"]
    nonce = policy.split("'nonce-")[1].split("'")[0]
    assert first.body.decode().count(f'<script nonce="{nonce}"') == 3
    assert nonce not in second.body.decode()
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    assert "ws://localhost:80 " in policy


def test_a_host_cannot_add_to_the_policy():
    gate = AccessGate("0.0.0.0", "secret")
    policy = page_of(gate, "lab; script-src *").headers["Content-Security-Policy"]
    assert "script-src *" not in policy


def test_connections_without_a_request_print_nothing(studio, capfd):
    """Browsers open connections ahead of need, and scanners send anything."""
    for content in (b"", b"\x16\x03\x01 not HTTP\r\n\r\n", b"GET / HTTP/1.1\r\nHost"):
        with socket.create_connection(("127.0.0.1", studio.server.get_port())) as connection:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass
    output = capfd.readouterr()
    assert "Traceback" not in output.err + output.out
