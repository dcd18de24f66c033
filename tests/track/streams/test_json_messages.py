import json
import random

import numpy as np
import pytest

from homodyn.track.streams import PacketError
from homodyn.track.streams.json_messages import format_message, parse_message

MESSAGE = '{"time": 2.5, "frame": 7, "markers": {"LASI": [0.1, 0.2, 0.9], "RASI": null}}'


def test_a_message_is_a_frame():
    frame = parse_message(MESSAGE, 11.0)
    assert (frame.time, frame.number, frame.arrival) == (2.5, 7, 11.0)
    assert frame.labels == ("LASI", "RASI")
    np.testing.assert_array_equal(frame.positions, [[0.1, 0.2, 0.9], [np.nan] * 3])


def test_units_and_axes_are_converted():
    text = '{"time": 0, "units": "mm", "up": "y", "markers": {"A": [100, 900, -200]}}'
    np.testing.assert_allclose(parse_message(text, 0.0).positions, [[0.1, 0.2, 0.9]])


def test_round_trip():
    rng = np.random.default_rng(1)
    positions = rng.normal(size=(5, 3))
    positions[2] = np.nan
    frame = parse_message(format_message(3.25, "ABCDE", positions, 9), 0.0)
    np.testing.assert_allclose(frame.positions, positions, atol=5e-7)
    assert (frame.time, frame.number, frame.labels) == (3.25, 9, tuple("ABCDE"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense", "not JSON"),
        ("[1, 2]", "not a JSON object"),
        ('{"markers": {"A": [0, 0, 0]}}', "no 'time'"),
        ('{"time": true, "markers": {"A": [0, 0, 0]}}', "no 'time'"),
        ('{"time": NaN, "markers": {"A": [0, 0, 0]}}', "no 'time'"),
        ('{"time": 1}', "no 'markers'"),
        ('{"time": 1, "markers": {}}', "no 'markers'"),
        ('{"time": 1, "markers": {"A": [0, 0]}}', "three coordinates"),
        ('{"time": 1, "markers": {"A": ["x", 0, 0]}}', "not a number"),
        ('{"time": 1, "markers": {" ": [0, 0, 0]}}', "label"),
        ('{"time": 1, "markers": {"A": [1, 2000, 0]}}', '"units": "mm"'),
        ('{"time": 1, "units": "feet", "markers": {"A": [0, 0, 0]}}', '"m", "mm"'),
        ('{"time": 1, "frame": 1.5, "markers": {"A": [0, 0, 0]}}', "not an integer"),
        ("[" * 100_000, "not JSON"),
        (json.dumps({"time": 1, "markers": {str(k): None for k in range(1001)}}), "limit is 1000"),
        ("9" * 2_000_000, "too long"),
    ],
)
def test_what_is_wrong_is_said(text, reason):
    with pytest.raises(PacketError, match=reason):
        parse_message(text, 0.0)


def test_ten_thousand_mutated_messages_are_frames_or_packet_errors():
    rng = random.Random(3)
    content = format_message(1.0, ("LASI", "RASI", "C7"), np.full((3, 3), 0.5), 4).encode()
    refused = 0
    for _ in range(10_000):
        mutated = bytearray(content)
        for _ in range(rng.randint(1, 6)):
            place = rng.randrange(len(mutated))
            match rng.randrange(3):
                case 0:
                    mutated[place] = rng.randrange(256)
                case 1:
                    del mutated[place]
                case 2:
                    mutated[place:place] = bytes([rng.randrange(256)])
        try:
            frame = parse_message(bytes(mutated), 0.0)
        except PacketError:
            refused += 1
            continue
        assert np.isfinite(frame.time)
        seen = np.isfinite(frame.positions)
        assert (seen.all(-1) == seen.any(-1)).all()
    assert 5_000 < refused < 10_000
