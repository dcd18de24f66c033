import json
import socket

import numpy as np
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import homodyn as hd
from homodyn.track.streams import StreamError
from homodyn.track.streams.outputs import WebSocketOutput
from support.live_samples import live_sample


@pytest.fixture(scope="module")
def model():
    return hd.catalog.hdm()


@pytest.fixture
def output(model):
    running = WebSocketOutput(0)
    running.start(model)
    yield running
    running.close()


def test_clients_receive_the_model_and_then_results(output, model):
    with connect(f"ws://127.0.0.1:{output.port}", proxy=None) as client:
        greeting = json.loads(client.recv(timeout=20))
        assert greeting["coordinates"] == list(model.coordinate_names)
        sample = live_sample(model, 4)
        output.write(sample)
        data = json.loads(client.recv(timeout=20))
    np.testing.assert_array_equal(data["torques"], sample.torques)
    assert data["ground"]["right_heel"]["point"] == [None] * 3
    assert data["time"] == sample.time


def test_web_pages_may_not_read(output):
    with pytest.raises(InvalidStatus):
        connect(f"ws://127.0.0.1:{output.port}", origin="http://evil.example", proxy=None)


def test_a_client_that_does_not_read_does_not_stop_the_session(output, model):
    address = f"ws://127.0.0.1:{output.port}"
    with connect(address, proxy=None, close_timeout=0.1) as client:
        client.recv(timeout=20)
        for k in range(2000):
            output.write(live_sample(model, k % 5))
        client.socket.shutdown(socket.SHUT_RDWR)
    # Others are served after it: nothing waits for the client that is gone.
    with connect(address, proxy=None, close_timeout=0.1) as other:
        other.recv(timeout=20)
        output.write(live_sample(model, 1))
        assert other.recv(timeout=20)


def test_a_port_in_use_is_an_error(output):
    with pytest.raises(StreamError, match="not available"):
        WebSocketOutput(output.port)
