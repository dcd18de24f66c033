"""Access control: hosts, origins and tokens."""

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from homodyn.studio.access_gate import COOKIE, AccessGate


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
    assert gate.refusal(request(Host="lab:80", Cookie=f"a=b; {COOKIE}=secret")) == ""
    assert "?token=secret" in gate.address(80)
