"""Who is let in: hosts, origins and tokens."""

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from homodyn.studio.access_gate import COOKIE, AccessGate


def asked(path="/", **headers) -> Request:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request(path, Headers(names))


@pytest.mark.parametrize("host", ["127.0.0.1:80", "localhost:8421", "[::1]:80"])
def test_the_own_machine_is_let_in(host):
    assert AccessGate("127.0.0.1", None).refusal(asked(Host=host)) == ""


def test_names_that_only_lead_here_are_not():
    assert "evil.example" in AccessGate("127.0.0.1", None).refusal(asked(Host="evil.example:80"))
    assert AccessGate("127.0.0.1", None).refusal(asked())


def test_pages_of_others_are_not_answered():
    gate = AccessGate("127.0.0.1", None)
    own = asked(Host="localhost:80", Origin="http://localhost:80")
    assert gate.refusal(own) == ""
    for origin in ("http://evil.example", "http://localhost:81", "null"):
        assert gate.refusal(asked(Host="localhost:80", Origin=origin))


def test_other_addresses_need_the_token():
    gate = AccessGate("0.0.0.0", "secret")
    assert "token" in gate.refusal(asked(Host="lab:80"))
    assert "token" in gate.refusal(asked("/?token=wrong", Host="lab:80"))
    assert gate.refusal(asked("/?token=secret", Host="lab:80")) == ""
    assert gate.refusal(asked(Host="lab:80", Cookie=f"a=b; {COOKIE}=secret")) == ""
    assert "?token=secret" in gate.address(80)
