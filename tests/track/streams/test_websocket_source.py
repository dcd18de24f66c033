import threading

import numpy as np
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.sync.server import serve

from homodyn.track.streams import StreamError, WebSocketClientSource, WebSocketServerSource
from homodyn.track.streams.json_messages import format_message


def message(time):
    return format_message(time, ("A", "B"), np.ones((2, 3)))


@pytest.fixture
def server_source():
    source = WebSocketServerSource(0)
    source.open()
    yield source
    source.close()


def test_senders_may_come_and_go(server_source):
    times = []
    for time in (1.0, 2.0, 3.0):
        with connect(f"ws://127.0.0.1:{server_source.port}", proxy=None) as sender:
            sender.send(message(time))
            times += [frame.time for frame in server_source.read(10.0)]
    assert times == [1.0, 2.0, 3.0]


def test_malformed_messages_are_counted(server_source):
    with connect(f"ws://127.0.0.1:{server_source.port}", proxy=None) as sender:
        sender.send("{")
        assert server_source.read(10.0) == ()
        sender.send(message(4.0))
        assert server_source.read(10.0)[0].time == 4.0
    assert server_source.malformed == 1


def test_web_pages_may_not_send(server_source):
    with pytest.raises(InvalidStatus):
        connect(f"ws://127.0.0.1:{server_source.port}", origin="http://evil.example", proxy=None)


def test_a_port_in_use_is_an_error(server_source):
    with pytest.raises(StreamError, match="not available"):
        WebSocketServerSource(server_source.port).open()


def test_a_client_reads_and_reports_the_loss():
    def send_two(connection):
        connection.send(message(1.0))
        connection.send(message(2.0))

    with serve(send_two, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        source = WebSocketClientSource(f"ws://127.0.0.1:{server.socket.getsockname()[1]}")
        source.open()
        assert [source.read(10.0)[0].time for _ in range(2)] == [1.0, 2.0]
        with pytest.raises(StreamError, match="lost"):
            source.read(10.0)
        source.close()
        server.shutdown()


def test_no_server_is_an_error():
    with pytest.raises(StreamError, match="does not answer"):
        WebSocketClientSource("ws://127.0.0.1:9").open()
