import socket

import numpy as np
import pytest

from homodyn.track.streams import StreamError, UdpSource
from homodyn.track.streams.json_messages import format_message


@pytest.fixture
def source():
    opened = UdpSource(0)
    opened.open()
    yield opened
    opened.close()


def send(source, content):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(content, ("127.0.0.1", source.port))


def test_a_packet_is_a_frame(source):
    send(source, format_message(1.5, ("A",), np.ones((1, 3))).encode())
    (frame,) = source.read(10.0)
    assert frame.time == 1.5
    assert frame.labels == ("A",)


def test_a_malformed_packet_is_counted(source):
    send(source, b"\xff\x00garbage")
    assert source.read(10.0) == ()
    assert source.malformed == 1
    assert "JSON" in source.complaint


def test_nothing_arrives(source):
    assert source.read(0.01) == ()


def test_a_port_in_use_is_an_error(source):
    with pytest.raises(StreamError, match="not available"):
        UdpSource(source.port).open()


def test_a_closed_source_is_an_error():
    with pytest.raises(StreamError, match="not open"):
        UdpSource(0).read(0.0)
