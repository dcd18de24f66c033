import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from homodyn.track.streams import QtmSource, StreamError
from support.qtm_server import EVENT, QtmServer, data_packet, packet, settings

POSITIONS = np.array([[0.1, 0.2, 0.9], [np.nan] * 3])
WAIT_S = 20.0


@pytest.fixture
def server():
    running = QtmServer(("LASI", "RASI"))
    yield running
    running.close()


@pytest.fixture
def source(server):
    client = QtmSource("127.0.0.1", server.port)
    yield client
    client.close()


def read_one(source):
    for _ in range(200):
        frames = source.read(0.1)
        if frames:
            return frames[0]
    raise AssertionError("no frame arrived")


def test_markers_of_a_measurement(server, source):
    source.open()
    assert server.streaming.wait(WAIT_S)
    server.send(data_packet(3.5, 17, POSITIONS))
    frame = read_one(source)
    assert (frame.time, frame.number, frame.labels) == (3.5, 17, ("LASI", "RASI"))
    np.testing.assert_allclose(frame.positions, POSITIONS, atol=1e-7)


def test_axes_are_turned_up():
    server = QtmServer(("A",), "+Y")
    source = QtmSource("127.0.0.1", server.port)
    source.open()
    assert server.streaming.wait(WAIT_S)
    server.send(data_packet(0.0, 1, np.array([[0.1, 0.9, -0.2]])))
    np.testing.assert_allclose(read_one(source).positions, [[0.1, 0.2, 0.9]], atol=1e-7)
    source.close()
    server.close()


def test_labels_may_change_during_a_measurement(server, source):
    source.open()
    assert server.streaming.wait(WAIT_S)
    server.labels = ("LASI", "RASI", "SACR")
    server.send(packet(EVENT, bytes([3])))
    frames, number = (), 0
    deadline = time.monotonic() + WAIT_S
    while not frames and time.monotonic() < deadline:
        number += 1
        server.send(data_packet(float(number), number, np.zeros((3, 3))))
        frames = source.read(0.1)
        time.sleep(0.01)  # The server answers in a thread of its own.
    assert frames[0].labels == ("LASI", "RASI", "SACR")


def test_damaged_packets_are_counted(server, source):
    source.open()
    assert server.streaming.wait(WAIT_S)
    server.send(packet(3, b"short") + packet(77, b"unknown") + data_packet(1.0, 1, POSITIONS))
    assert read_one(source).time == 1.0
    assert source.malformed == 1


def test_a_lost_connection_can_be_opened_again(server, source):
    source.open()
    assert server.streaming.wait(WAIT_S)
    server.disconnect()
    with pytest.raises(StreamError):
        source.read(WAIT_S)
    source.open()
    assert server.streaming.wait(WAIT_S)
    server.send(data_packet(2.0, 5, POSITIONS))
    assert read_one(source).number == 5


def test_without_labels_the_error_says_what_to_do():
    server = QtmServer(())
    with pytest.raises(StreamError, match="label the trajectories"):
        QtmSource("127.0.0.1", server.port).open()
    server.close()


def test_no_server_is_an_error():
    with pytest.raises(StreamError, match="does not answer"):
        QtmSource("127.0.0.1", 9).open()


def test_the_server_of_the_tests_serves_the_client_of_the_manufacturer(server):
    qtm_rt = pytest.importorskip("qtm_rt")

    async def read():
        arrived = asyncio.get_running_loop().create_future()
        connection = await qtm_rt.connect("127.0.0.1", server.port, version="1.13")
        document = await connection.get_parameters(["3d"])
        connection._protocol.set_on_packet(lambda each: arrived.done() or arrived.set_result(each))
        stream = asyncio.ensure_future(
            connection.stream_frames(
                components=["3d"],
                on_packet=lambda each: arrived.done() or arrived.set_result(each),
            )
        )
        await asyncio.to_thread(server.streaming.wait, WAIT_S)
        server.send(data_packet(1.0, 4, POSITIONS))
        found = await asyncio.wait_for(arrived, WAIT_S)
        stream.cancel()
        connection.disconnect()
        return document, found

    # A browser fixture of other tests may keep an event loop in the thread of the tests.
    with ThreadPoolExecutor(1) as thread:
        document, found = thread.submit(lambda: asyncio.run(read())).result()
    assert document.rstrip(b"\0") == settings(("LASI", "RASI"))[8:-1]
    assert found.framenumber == 4
    np.testing.assert_allclose(1e-3 * np.array(found.get_3d_markers()[1]), POSITIONS, atol=1e-7)
