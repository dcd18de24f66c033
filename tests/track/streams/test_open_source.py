import pytest

from homodyn.errors import CaptureError
from homodyn.track.streams import (
    FilePlayer,
    LslSource,
    QtmSource,
    SourceOptions,
    UdpSource,
    WebSocketClientSource,
    WebSocketServerSource,
    open_source,
)

TRC = """PathFileType\t4\t(X/Y/Z)\tt.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
100\t100\t2\t1\tmm\t100\t1\t2
Frame#\tTime\tC7\t\t
\t\tX1\tY1\tZ1

1\t0\t0\t1400\t0
2\t0.01\t0\t1401\t0
"""


def test_a_file(tmp_path):
    path = tmp_path / "t.trc"
    path.write_text(TRC)
    for address in (f"file:{path}", str(path)):
        player = open_source(address, SourceOptions(speed=2.0, loop=True))
        assert isinstance(player, FilePlayer)
        assert (player.speed, player.loop, player.trial.markers) == (2.0, True, ("C7",))


@pytest.mark.parametrize(
    ("address", "kind", "attributes"),
    [
        ("lsl:Vicon markers", LslSource, {"name": "Vicon markers"}),
        ("qtm:lab-pc", QtmSource, {"host": "lab-pc", "port": 22223}),
        ("qtm:10.0.0.2:22224", QtmSource, {"host": "10.0.0.2", "port": 22224}),
        ("ws:9764", WebSocketServerSource, {"port": 9764, "host": "127.0.0.1"}),
        ("ws://lab-pc:9764", WebSocketClientSource, {"address": "ws://lab-pc:9764"}),
        ("udp:9763", UdpSource, {"port": 9763, "host": "127.0.0.1"}),
        ("udp:0.0.0.0:9763", UdpSource, {"port": 9763, "host": "0.0.0.0"}),
    ],
)
def test_addresses(address, kind, attributes):
    source = open_source(address)
    assert isinstance(source, kind)
    assert {name: getattr(source, name) for name in attributes} == attributes


@pytest.mark.parametrize("address", ["", "lsl:", "ftp:x", "markers", "udp:lab", "ws:abc", "qtm::1"])
def test_other_texts_list_the_accepted_forms(address):
    with pytest.raises(CaptureError, match="lsl:NAME"):
        open_source(address)


def test_ports_have_a_range():
    with pytest.raises(CaptureError, match="1 to 65535"):
        open_source("udp:70000")
